# SPDX-License-Identifier: Apache-2.0
"""spate in a shell: its help, its manual page, completion in bash, and its output on a terminal."""

import os
import pathlib
import pty
import re
import shlex
import subprocess

import needs
import pytest

from conftest import ROOT, run
from spate_command import MANUAL_PAGE, SPATE, USAGE, spate

COMPLETION = ROOT / "linux/command/completion/spate.bash"
LISTED = re.findall(r"^  ([a-z][a-z-]*) ", run(SPATE, "--help").stdout, re.MULTILINE)
COMMANDS = [name for name in LISTED if name != "spate"]  # without the examples
CODE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


TERM = re.compile(r"^  (-[^ ,=]+(?:, -[^ ,=]+)*(?:=[^ ]+| [^ ]+(?=  |$)| [A-Z][A-Z0-9|.]*(?= |$))?)", re.MULTILINE)


def help_terms(command):
    """The options in the command's help: "-v, --verbose", "--block 512|4096"."""
    return TERM.findall(spate(command, "--help").stdout)


def names(terms):
    return {name for term in terms for name in re.findall(r"--[a-z][a-z-]*", term)}


def accepted(command):
    """The options that the program accepts. "--" followed by "=" abbreviates every option, and getopt lists the candidates."""
    said = spate(command, "--=", status=USAGE, env=os.environ | {"LC_ALL": "C"}).stderr
    return set(re.findall(r"'(--[a-z][a-z-]*)'", said))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_the_options_that_the_command_takes(command):
    assert names(help_terms(command)) == accepted(command)


# ---- the manual page ----


def test_the_page_describes_every_command_and_every_option():
    environment = os.environ | {"MANWIDTH": "300", "LC_ALL": "C.UTF-8"}
    done = run("man", "--warnings", "--encoding=UTF-8", "--local-file", MANUAL_PAGE, env=environment)
    assert done.stderr == ""
    found, shared, section = {}, {}, None
    for line in done.stdout.splitlines():
        if re.match(r" {0,3}[A-Za-z]", line):
            section = line.strip()
        elif line.startswith("       -"):
            found.setdefault(section, []).append(line.strip())
        elif line.startswith("       Common options: "):
            shared[section] = line
        else:
            found.setdefault(section, [])
    common = found["COMMON OPTIONS"]
    for name in COMMANDS:
        here = [term for term in common if term in shared.get(name, "")]
        assert sorted(found[name] + here) == sorted(help_terms(name)), name
    assert {"-h, --help", "-v, --verbose"} <= set(common)
    assert [name for name in found if name and name.islower() and name != "spate(1)"] == COMMANDS
    assert "spate prints no colours" in done.stdout
    overview = [line for line in spate("--help").stdout.splitlines() if line.startswith("  spate ")]
    assert overview and all(line.strip() in done.stdout for line in overview)


PAGES = ["docs/man/spate.1.scd", "README.md"]
PAGES += sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if "\nspate " in page.read_text())


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_on_the_pages_are_valid(page):
    lines = "".join(CODE.findall((ROOT / page).read_text())).splitlines()
    lines = [line.split("|")[-1].strip() for line in lines]
    for words in (shlex.split(line) for line in lines if re.match(r"spate \w", line)):
        assert words[1] in COMMANDS and names(words[2:]) <= accepted(words[1]), words


# ---- completion ----


TAB = """
source "$0"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_spate "$1"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(folder, *words, program=SPATE):
    """The completions that Tab offers for the last of these words."""
    done = run("bash", "-c", TAB, COMPLETION, program, *words, cwd=folder)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_commands_are_offered(tmp_path):
    offered = complete(tmp_path, "")
    assert offered[:-2] == COMMANDS and offered[-2:] == ["--help", "--version"]
    assert complete(tmp_path, "re") == [name for name in COMMANDS if name.startswith("re")]
    for option in offered[-2:]:
        spate(option)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_offered(tmp_path, command):
    assert {word.split("=")[0] for word in complete(tmp_path, command, "--")} == accepted(command)
    assert complete(tmp_path, "nothing", "--") == []


def test_values_are_offered(tmp_path):
    (tmp_path / "a file").touch()
    assert complete(tmp_path, "format", "x.img", "--block", "") == ["512", "4096"]
    assert complete(tmp_path, "format", "x.img", "--block", "=", "4") == ["4096"]
    assert complete(tmp_path, "format", "x.img", "--size", "") == []
    assert complete(tmp_path, "ls", "--output-format", "=") == ["json"]
    assert complete(tmp_path, "verify", "x.img", "x", "--against", "a") == ["a file"]


def block_devices():
    known = pathlib.Path("/sys/class/block").iterdir()
    return {f"/dev/{entry.name}" for entry in known if (entry / "size").read_text() != "0\n"}


@needs.sysfs
def test_targets_are_files_and_block_devices(tmp_path):
    (tmp_path / "rec 1.img").touch()
    before = block_devices()
    found = set(complete(tmp_path, "ls", ""))
    after = block_devices()  # other tests attach and detach loop devices meanwhile
    assert {"rec 1.img"} | before & after <= found <= {"rec 1.img"} | before | after


def test_targets_are_what_was_begun(tmp_path):
    (tmp_path / "rec 1.img").touch()
    (tmp_path / "run.raw").touch()
    assert complete(tmp_path, "format", "--block", "512", "re") == ["rec 1.img"]
    assert "/dev/null" not in complete(tmp_path, "ls", "/dev/n")
    below = {str(path) for path in pathlib.Path("/dev").iterdir() if path.is_block_device() or path.is_dir()}
    assert set(complete(tmp_path, "ls", "/dev/")) == below
    assert complete(tmp_path, "ls", "rec.img", "") == []
    assert complete(tmp_path, "extract", "x.img", "run.raw", "ru") == ["run.raw"]


def test_paths_are_those_on_the_volume(tmp_path):
    image = tmp_path / "rec 1.img"
    spate("format", image, "--size", "64MiB")
    hostile = "c$(touch made).raw"
    for path in ("a b.raw", hostile, "flight/x.raw"):
        spate("record", image, path, "--from", "synthetic", "--size", "1MB")
    assert complete(tmp_path, "verify", "rec\\ 1.img", "") == ["a b.raw", hostile, "flight", "flight/x.raw"]
    assert complete(tmp_path, "rm", '"rec 1.img"', "a b.raw", "--verbose", "fl") == ["flight", "flight/x.raw"]
    assert complete(tmp_path, "extract", "rec\\ 1.img", "a\\ ") == ["a b.raw"]
    assert complete(tmp_path, "verify", "absent.img", "") == [] and not (tmp_path / "made").exists()


NEW = r"""#!/bin/sh
case $1 in
--help)
  printf 'Usage: spate COMMAND\n\n  polish    make a target shine\n  speedtest says how fast\n\n'
  printf 'TARGET is one:\n\n  rec.img  a file\n\n  spate polish rec.img\n' ;;
polish)
  printf 'Usage: spate polish TARGET [FILE...] [options]\n\n  -s, --shine dull|bright  how\n'
  printf '      continued -- not an option\n  --left, --right where to\n  --json, --format=json  for programs\n' ;;
speedtest) printf 'Usage: spate speedtest [options]\n' ;;
esac
"""


def test_a_new_command_is_offered(tmp_path):
    program = tmp_path / "spate"
    program.write_text(NEW)
    program.chmod(0o755)
    assert complete(tmp_path, "", program=program) == ["polish", "speedtest", "--help", "--version"]
    assert complete(tmp_path, "polish", "-", program=program) == ["-s", "--shine", "--left", "--right", "--json",
                                                                  "--format=json"]
    assert complete(tmp_path, "polish", "--right", "sp", program=program) == ["spate"]
    assert complete(tmp_path, "polish", "-s", "b", program=program) == ["bright"]
    assert complete(tmp_path, "polish", "x", "one", "two", "sp", program=program) == ["spate"]
    assert complete(tmp_path, "speedtest", "", program=program) == []
    # A target with colons is one argument, and bash replaces only its end.
    assert complete(tmp_path, "polish", "sim", ":", "nowhere", "sp", program=program) == ["spate"]
    (tmp_path / "a:b").touch()
    assert complete(tmp_path, "polish", "a", ":", "", program=program) == ["b"]


# ---- a terminal ----


def on_a_terminal(*words):
    """The output of the program on a terminal with colours."""
    outer, inner = pty.openpty()
    with subprocess.Popen([str(word) for word in words], stdin=inner, stdout=inner, stderr=inner,
                          env=os.environ | {"TERM": "xterm-256color"}) as process:
        os.close(inner)
        shown = b""
        try:
            while part := os.read(outer, 65536):
                shown += part
        except OSError:  # the program has closed its side of the terminal
            pass
    os.close(outer)
    assert process.returncode == 0, shown
    return shown


@needs.terminals
def test_there_are_no_colours(tmp_path):
    image = tmp_path / "rec.img"
    shown = on_a_terminal(SPATE, "format", image, "--size", "64MiB", "--yes")
    sensor = ("--from", "synthetic", "--rate", "10MB/s", "--for", "1s")
    recorded = on_a_terminal(SPATE, "record", image, "run.raw", *sensor, "--verbose")
    assert b"\r\x1b[K" in recorded, "no progress was shown"
    for command in (["ls", image], ["info", image], ["verify", image, "run.raw"], ["--help"]):
        shown += on_a_terminal(SPATE, *command)
    sequences = set(re.findall(rb"\x1b\[[0-9;]*[A-Za-z]|\x1b", shown + recorded))
    assert sequences == {b"\x1b[K"}
