# SPDX-License-Identifier: Apache-2.0
"""build/programs, the PATH of every command, has the programs that the packages of setup/packages.txt install, and no others."""

import importlib.machinery
import importlib.util
import os
import shutil
import sys

import program

from conftest import ROOT

SCRIPT = ROOT / "setup" / "programs"
LOADER = importlib.machinery.SourceFileLoader("programs", str(SCRIPT))
programs = importlib.util.module_from_spec(importlib.util.spec_from_loader("programs", LOADER))
LOADER.exec_module(programs)


def package(name, depends="", *, essential="no", priority="optional", provides="", before=""):
    return {"Package": name, "Essential": essential, "Priority": priority, "Provides": provides, "Pre-Depends": before,
            "Depends": depends}


def test_which_packages_count():
    packages = [
        package("base", essential="yes"),
        package("init", priority="required", before="libc (>= 2)"),
        package("apt", "gpgv"), package("gpgv"),
        package("libc"),
        package("wanted", "lib:any (>= 1.2) | other, virtual [amd64]"),
        package("lib"), package("other"),
        package("maker", provides="virtual (= 3)"),
        package("stray", "straylib"), package("straylib"),
    ]
    assert programs.counting(packages, {"wanted"}) == {"base", "init", "apt", "gpgv", "libc", "wanted", "lib", "maker"}


def test_the_first_alternative_may_be_absent():
    packages = [package("wanted", "absent | lib | other"), package("lib"), package("other")]
    assert programs.counting(packages, {"wanted"}) == {"wanted", "lib"}


def test_a_program_of_a_package_that_no_list_names_is_absent(tmp_path):
    text = programs.LIST.read_text()
    assert "\npsmisc " in text and shutil.which("fuser")
    shorter = tmp_path / "list.txt"
    shorter.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("psmisc ")))
    folder = tmp_path / "programs"
    program.run(SCRIPT, folder)
    assert (folder / "fuser").is_symlink() and (folder / "sh").exists() and (folder / "awk").exists()
    program.run(SCRIPT, folder, "--list", shorter)
    assert not (folder / "fuser").is_symlink() and (folder / "sh").exists()


def test_every_command_of_make_has_this_path_and_these_caches():
    show = 'show:;@echo "$$PATH"; echo "$$XDG_CACHE_HOME"; echo "$$MPLCONFIGDIR"'
    dirty = {"PATH": f"/usr/local/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": "/nowhere", "MPLCONFIGDIR": "/nowhere"}
    said = program.run("make", "--no-print-directory", f"--eval={show}", "show", cwd=ROOT, env=dirty).stdout
    build = ROOT / "build"
    assert said.splitlines() == [str(build / "programs"), str(build / "cache"), str(build / "cache" / "matplotlib")]


def test_scripts_without_make_have_the_same():
    script = "import os, program; print(os.environ['PATH'], os.environ['XDG_CACHE_HOME'], sep='\\n')"
    dirty = {"PATH": f"/usr/local/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "tools")}
    said = program.run(sys.executable, "-c", script, env=dirty).stdout
    assert said.splitlines() == [str(ROOT / "build" / "programs"), str(ROOT / "build" / "cache")]
