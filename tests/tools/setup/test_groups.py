# SPDX-License-Identifier: Apache-2.0
"""A command installs the groups of setup/packages.txt that it needs, and no others."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, run

LIST = ROOT / "setup" / "packages.txt"


def rows():
    """(names, lowest version, groups) of each line."""
    lines = (line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return [(words[0], words[1], set(words[2].split(","))) for words in lines]


def group(*names):
    """{package: lowest version} of these groups."""
    return {package: minimum for package, minimum, groups in rows() if groups & set(names)}


def copy_with(folder, *names):
    """A copy of the repository whose list has no other packages that exist."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    lines = LIST.read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.startswith("#") or not line.strip() or set(line.split()[2].split(",")) & set(names)]
    others = sorted(set().union(*(groups for _, _, groups in rows())) - set(names))
    (folder / "setup" / "packages.txt").write_text("".join(kept) + f"no-such-package 1 {','.join(others)} nothing\n")
    return folder


def environment_of(folder, home, *names):
    """A PATH with only the programs of these groups."""
    run(ROOT / "setup" / "programs", folder, "--groups", *names)
    return {"PATH": str(folder), "HOME": str(home)}


@pytest.fixture
def copy(tmp_path):
    return copy_with(tmp_path / "a copy", "command")


def check_what_is_said(copy, environment, tmp_path):
    """make install, with DESTDIR as well, names the file that it has installed, and the prefix that the file runs from."""
    staged = tmp_path / "staged here"
    for options, root in ((("PREFIX=/usr",), staged), ((f"PREFIX={tmp_path}/own prefix",), staged),
                          ((f"PREFIX={tmp_path}/own prefix",), "")):
        prefix = options[0].removeprefix("PREFIX=")
        said = run("make", "install", *options, f"DESTDIR={root}", cwd=copy, env=environment).stdout
        spate = f"{root}{prefix}/bin/spate"
        assert f"installed {root}{prefix}: {spate} --help\n" in said and run(spate, "--version").stdout.startswith("spate ")
        assert (f"It runs from {prefix}, on the machine whose root folder {root} becomes\n" in said) == bool(root)


@pytest.mark.thorough
def test_make_install_needs_the_group_command_only(copy, tmp_path):
    """The PATH has only the programs of these packages. make test-fresh also checks that their headers suffice."""
    environment = environment_of(tmp_path / "programs", tmp_path, "command")
    assert not any(shutil.which(name, path=environment["PATH"]) for name in ("clang", "qemu-img", "lintian"))
    run("make", "install", f"PREFIX={tmp_path}/prefix", cwd=copy, env=environment)
    prefix = tmp_path / "prefix"
    installed = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    version = run(prefix / "bin/spate", "--version").stdout.split()[1]
    assert installed == {
        "bin/spate", "share/man/man1/spate.1", "share/bash-completion/completions/spate",
        "lib/systemd/system/spate-record@.service", "lib/sysusers.d/spate.conf", "lib/udev/rules.d/65-spate.rules",
        "include/spate/ring.h", "lib/libspate-ring.a", "lib/pkgconfig/spate-ring.pc",
        *(f"lib/libspate-ring.so{end}" for end in ("", f".{version.split('.')[0]}", f".{version}")),
        *(f"include/{path.relative_to(ROOT / 'include')}" for path in (ROOT / "include").rglob("*.h")), "lib/libspate.a", "lib/pkgconfig/spate.pc",
        "include/spate/port/linux_port.h", "include/spate/port/spate_board.h",
        *(f"lib/cmake/{name}/{name}-config{end}.cmake" for name in ("spate", "spate-ring")
          for end in ("", "-relwithdebinfo", "-version"))}
    assert not {"venv", "fatfs-source", "linux-guest"} & {path.name for path in (copy / "build").iterdir()}
    check_what_is_said(copy, environment, tmp_path)


@pytest.mark.thorough
def test_make_demo_needs_the_groups_firmware_and_judges_only(tmp_path):
    copy = copy_with(tmp_path / "a copy", "firmware", "judges", "git")
    environment = environment_of(tmp_path / "programs", tmp_path, "firmware", "judges", "git")
    assert not any(shutil.which(name, path=environment["PATH"]) for name in ("gcc", "clang", "mdadm", "mips64el-linux-gnuabi64-gcc"))
    assert "demo   passed" in run("make", "demo", cwd=copy, env=environment).stdout
    assert not {"venv", "fatfs-source", "linux-guest"} & {path.name for path in (copy / "build").iterdir()}


def test_every_word_that_a_recipe_asks_for_is_a_group():
    """setup/install refuses an unknown word, so a recipe with one would fail where nothing is installed yet."""
    makefile = (ROOT / "Makefile").read_text()
    asked = {word for words in re.findall(r"groups-([a-z0-9+-]+)", makefile) for word in words.split("+")} - {"a", "b", ""}
    asked |= {word for words in re.findall(r"setup/install ([a-z -]+)\n", makefile) for word in words.split()}
    asked |= {word for words in re.findall(r"^needs-\S+ = (.*)$", makefile, re.M) for word in words.split()}
    script = (ROOT / "setup/install").read_text()
    known = set(re.search(r'^EVERYTHING="(.*?)"$', script, re.M | re.S)[1].replace("\\\n", "").split())
    known |= set(re.search(r'case " \$EVERYTHING ([a-z ]+) " in', script)[1].split())
    assert asked <= known, f"unknown groups: {asked - known}"
    assert set().union(*(groups for _, _, groups in rows())) <= known, "packages in a group that nothing installs"


def test_links_are_made_again_when_the_list_or_the_packages_have_changed(copy):
    links = copy / "build" / "programs"
    run(copy / "setup" / "install", "command")
    assert (links / "scdoc").is_symlink() and not (copy / "build" / "venv").exists()
    (links / "scdoc").unlink()
    run(copy / "setup" / "install", "command")
    assert not (links / "scdoc").exists(), "made again although nothing had changed"
    os.remove(copy / "build" / "programs-made-from")
    run(copy / "setup" / "install", "command")
    assert (links / "scdoc").is_symlink()


def test_an_unknown_group_is_refused(copy):
    done = subprocess.run([copy / "setup" / "install", "commands"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and '"commands"' in done.stderr and not (copy / "build").exists()


def test_the_package_is_built_with_what_make_deb_installs():
    control = (ROOT / "linux/packaging/debian/control").read_text()
    field = re.search(r"^Build-Depends: (.*(?:\n .*)*)", control, re.MULTILINE)[1]
    field = field.replace("debhelper-compat (= 13)", "debhelper").replace("dh-sequence-installsysusers, ", "")  # debhelper provides both
    asked = dict(re.findall(r"([a-z0-9-]+)(?: \(>= ([^)]+)\))?(?:,|$)", field))
    have = group("command", "deb")
    assert asked.keys() == have.keys() - {"build-essential", "lintian"}
    assert all(have[package] == minimum for package, minimum in asked.items() if minimum)


@pytest.mark.thorough  # make test-all runs setup/install first
def test_what_was_fetched_for_the_benchmark_is_not_fetched_again():
    """setup/install compares this file with the list, and fetches 300 MB if they differ."""
    fetched = ROOT / "build/linux-bench/fetched-from"
    if not fetched.exists():
        pytest.skip("setup/install linux-bench was not run")
    assert fetched.read_text() == "".join(f"{package} {minimum}\n".replace(":arm64", "") for package, minimum in group("linux-bench").items())
