# SPDX-License-Identifier: Apache-2.0
"""The commands accept what people type, refuse wrong words before they begin, and print lines that fit a terminal."""

import io
import os
import re
import shlex
import sys

import program
import pytest
import qemu
from console import PLAIN_S, Console

ROOT = program.ROOT
BOARDS = list(qemu.BOARDS)
USAGE = 2


def make(*words, status=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return program.run("make", "--no-print-directory", "-C", ROOT, *words, statuses=(status,), env=environment, timeout_s=300)


def script(*words):
    """The words with which a recipe's last line starts its script, split as the shell splits them."""
    lines = [line for line in make("-n", *words).stdout.splitlines() if "python" in line and line.startswith("PYTHONPATH=")]
    return shlex.split(lines[-1])[2:]


# ---- what people type ----


@pytest.mark.parametrize("name", ["it's.mov", "a b.mov", "two''s", '"q".mov', "a;b.mov"])
def test_the_input_may_have_any_name(name):
    assert script("demo", f"INPUT={name}") == ["tools/demo.py", "--board", "qemu-virt", "--input", name]


def test_a_file_with_an_apostrophe_is_recorded(tmp_path):
    sent = tmp_path / "it's mine.bin"
    sent.write_bytes(os.urandom(300_000))
    given_back = program.BUILD / "demo" / "it_s_mine.bin"
    try:
        program.run(sys.executable, ROOT / "tools/demo.py", "--input", sent, timeout_s=300)
        assert given_back.read_bytes() == sent.read_bytes()
    finally:
        given_back.unlink(missing_ok=True)


@pytest.mark.parametrize(("word", "kept"), [("KEEP=1", True), ("KEEP=yes", True), ("KEEP=0", False), ("KEEP=no", False), ("KEEP=", False)])
def test_words_that_mean_yes_and_no(word, kept):
    assert ("--keep" in script("demo", word)) == kept
    assert ("--keep" in script("demo-linux", word)) == kept
    assert ("--quick" in script("lab", word.replace("KEEP", "QUICK"))) == kept


@pytest.mark.parametrize(
    ("goal", "word"),
    [("crash-soak", "N=abc"), ("crash-soak", "N=-1"), ("crash-soak", "N=1e3"), ("crash-soak", "SEED=x"), ("rtl-soak", "SEED=0x1"),
     ("rtl-soak", "RUNS=1.5"), ("fuzz", "SECONDS=1m"), ("loop-soak", "MINUTES=1h"), ("speedtest", "TOTAL_MIB=16MiB"), ("bench", "TOTAL_MIB=a")],
)
def test_a_wrong_number_is_refused_before_anything_is_built(goal, word):
    done = make(goal, word, status=USAGE)
    assert f"{word} is not a number: digits only" in done.stderr and done.stdout == ""
    assert make("-n", "help", word).stderr == "", "a goal that does not use the word must ignore it"


def test_an_unknown_board():
    for word in ("linux", "qemu", "qemu-virt qemu-boston", ""):
        done = make("speedtest", f"BOARD={word}", status=USAGE)
        assert done.stderr == make("demo", f"BOARD={word}", status=USAGE).stderr
        said = re.search(rf"BOARD={word} is not one of the boards: (.*)\.  Stop", done.stderr)
        assert said and said[1].split() == BOARDS, done.stderr
        assert done.stdout == ""
    done = program.run(sys.executable, ROOT / "tools/demo.py", "--board", "linux", statuses=(USAGE,))
    assert all(board in done.stderr for board in BOARDS)
    assert "|".join(BOARDS) in make("help").stdout


# ---- make plan ----


@pytest.mark.thorough
def test_a_no_is_an_answer_and_not_an_error_of_make():
    done = make("plan", "DRIVE=970evoplus", "RATE=2500mb", "RING=2GiB")
    assert "sustained    NO" in done.stdout and "GB/s is the most that your ring holds" in done.stdout
    assert "sustained    yes" in make("plan", "DRIVE=970evoplus", "RATE=1.5 GB/s").stdout


@pytest.mark.thorough
def test_a_wrong_drive_is_an_error_of_make():
    assert "970evoplus" in make("plan", "DRIVE=860evo", status=USAGE).stderr


def test_the_plan_installs_what_the_command_needs_and_no_more():
    installs = re.findall(r"^setup/install.*$", make("-n", "plan").stdout, re.M)
    assert installs == ["setup/install command"]


# ---- a full disk ----

FULL = """
import collections, runpy, shutil, sys
shutil.disk_usage = lambda folder: collections.namedtuple("usage", "free")(50_000_000)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("words", [["tools/demo.py"], ["tools/demo_linux.py"], ["tools/rtl_demo.py", "--clip-mib", "256"],
                                   ["bench/speedtest.py"], ["bench/lab.py", "--quick"]])
def test_a_full_disk_is_reported_before_anything_begins(words, tmp_path):
    environment = os.environ | {"PYTHONPATH": f"{ROOT}/tools:{ROOT}/bench", "TMPDIR": str(tmp_path)}
    done = program.run(sys.executable, "-c", FULL, *words, statuses=(1,), env=environment, cwd=ROOT, timeout_s=60)
    match = re.fullmatch(r"\s*FAILED at checking free disk space: .* needs up to (\d+) MB in .*, and 50 MB are free: .*\n", done.stdout)
    assert match and int(match[1]) > 50, done.stdout
    assert list(tmp_path.iterdir()) == []


# ---- lines ----


class Time:
    def __init__(self):
        self.s = 0.0

    def __call__(self):
        return self.s


def shown(parts, terminal):
    """The output of a console for a list of (seconds that pass before it, part of the input)."""
    out, time = io.BytesIO(), Time()
    console = Console(out, terminal, time)
    for seconds, part in parts:
        time.s += seconds
        console.see(part)
    console.end()
    return out.getvalue()


def test_a_line_that_is_rewritten_becomes_plain_lines():
    parts = [(0, b"begin\n"), (1, b"\r10 %  "), (1, b"\r20 %  "), (PLAIN_S, b"\r30"), (1, b" %  \r40 %  "), (1, b"\r50 %  "), (1, b"\ndone\r\n"),
              (1, b"a\r"), (0, b"\nlast")]
    assert shown(parts, terminal=False) == b"begin\n20 %\n50 %\ndone\na\nlast\n"
    assert shown(parts, terminal=True) == b"".join(part for _, part in parts)
