# SPDX-License-Identifier: Apache-2.0
"""A user who only wants the command spate installs one group of setup/debian-12.txt, and no more."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, run

LIST = ROOT / "setup" / "debian-12.txt"


def group(*names):
    """{package: minimum version} of these groups."""
    found, current = {}, None
    for line in LIST.read_text().splitlines():
        if line.startswith("["):
            current = line.strip("[]")
        elif current in names and not line.startswith("#"):
            package, minimum = line.split()[:2]
            found[package] = minimum
    return found


@pytest.fixture
def copy(tmp_path):
    """A copy of the repository whose list has no other packages that exist."""
    folder = tmp_path / "a copy"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    text = LIST.read_text()
    begin = text.index("[command]\n")
    end = text.index("[", begin + 1)
    (folder / "setup" / "debian-12.txt").write_text(text[:end] + "[all]\nno-such-package 1 nothing\n")
    return folder


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


@pytest.mark.slow
def test_make_install_needs_the_group_command_only(copy, tmp_path):
    """The PATH has only the programs of these packages. make test-fresh also checks that their headers suffice."""
    run(ROOT / "setup" / "programs", tmp_path / "programs", "--list", copy / "setup" / "debian-12.txt")
    environment = {"PATH": str(tmp_path / "programs"), "HOME": str(tmp_path)}
    assert not any(shutil.which(name, path=environment["PATH"]) for name in ("clang", "qemu-img", "lintian"))
    run("make", "install", f"PREFIX={tmp_path}/prefix", cwd=copy, env=environment)
    prefix = tmp_path / "prefix"
    installed = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    version = run(prefix / "bin/spate", "--version").stdout.split()[1]
    assert installed == {
        "bin/spate", "share/man/man1/spate.1", "share/bash-completion/completions/spate",
        "include/spate/ring.h", "lib/libspate-ring.a", "lib/pkgconfig/spate-ring.pc",
        *(f"lib/libspate-ring.so{end}" for end in ("", f".{version.split('.')[0]}", f".{version}")),
        *(f"include/{path.relative_to(ROOT / 'include')}" for path in (ROOT / "include").rglob("*.h")), "lib/libspate.a", "lib/pkgconfig/spate.pc",
        "include/spate/port/linux_port.h", "include/spate/port/spate_board.h",
        *(f"lib/cmake/{name}/{name}-config{end}.cmake" for name in ("spate", "spate-ring")
          for end in ("", "-relwithdebinfo", "-version"))}
    assert not {"venv", "fatfs-source", "linux-guest", "programs"} & {path.name for path in (copy / "build").iterdir()}
    check_what_is_said(copy, environment, tmp_path)


def test_existing_links_are_kept_complete(copy):
    links = copy / "build" / "programs"
    links.mkdir(parents=True)
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
    control = (ROOT / "packaging/debian/control").read_text()
    field = re.search(r"^Build-Depends: (.*(?:\n .*)*)", control, re.MULTILINE)[1]
    field = field.replace("debhelper-compat (= 13)", "debhelper")
    asked = dict(re.findall(r"([a-z0-9-]+)(?: \(>= ([^)]+)\))?(?:,|$)", field))
    have = group("command", "deb")
    assert asked.keys() == have.keys() - {"build-essential", "lintian"}
    assert all(have[package] == minimum for package, minimum in asked.items() if minimum)
