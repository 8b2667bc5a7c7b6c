# SPDX-License-Identifier: Apache-2.0
"""The pages on installation, taken literally: the shell commands of each are run in their order, in a copy of the repository,
by a user with an empty home."""

import os
import re
import shutil

import make_commands
import pytest

from conftest import ROOT, run

SITE = next((ROOT / "build" / "venv" / "lib").glob("python*/site-packages"))
# What would help an installed program to find its library.
HELP = ("LD_LIBRARY_PATH", "LD_RUN_PATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "SPATE_RING_LIBRARY", "DESTDIR", "PREFIX")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository, without what is built. The pages share it, so that each does not build the command again."""
    folder = tmp_path_factory.mktemp("pages") / "spate"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    return folder


@pytest.fixture
def environment(tmp_path):
    """That of a new user. pip takes NumPy and cffi from build/venv instead of the network."""
    home = tmp_path / "home"
    home.mkdir()
    others = {name: value for name, value in os.environ.items() if name not in HELP}
    return others | {"HOME": str(home), "PYTHONPATH": str(SITE), "PIP_NO_INDEX": "1"}


def commands(page, heading=None):
    """The shell commands of a page, or of the section with this heading, as one script."""
    text = (ROOT / page).read_text()
    if heading is not None:
        text = re.search(rf"^#+ {heading}\n(.*?)(?=^#+ |\Z)", text, re.M | re.S)[1]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    assert blocks, f"{page} has no shell commands"
    return "".join(blocks)


def files(folder):
    """All files of the copy that a build does not make."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.relative_to(folder).parts[0] != "build"}


def run_page(copy, environment, *section):
    """Runs the commands. They must leave nothing outside of build/ and the home. Returns what they said."""
    before = files(copy)
    said = run("sh", "-eu", "-c", commands(*section), cwd=copy, env=environment).stdout
    assert files(copy) == before
    return said


@pytest.mark.thorough
def test_any_linux(copy, environment):
    assert run_page(copy, environment, "docs/use/linux.md", "Any Linux").splitlines()[-1].startswith("spate ")
    assert (copy / "build/linux/command/spate.1").exists()


@pytest.mark.thorough
def test_the_page_of_the_library(copy, environment):
    said = run_page(copy, environment, "docs/use/install-library.md")
    assert said.count(": volume MEMORY, ") == 4  # added, found by CMake, found by pkg-config, from the list
    assert (copy / "build/for-board/lib/libspate.a").exists()


def test_the_page_of_the_virtual_drive(copy, environment):
    page = (ROOT / "docs/use/virtual-drive.md").read_text()
    said = run_page(copy, environment, "docs/use/virtual-drive.md")
    assert said == re.search(r"^```\n(Samsung .*?)^```$", page, re.M | re.S)[1]


@pytest.mark.thorough
def test_the_page_of_programs_as_sources(copy, environment):
    said = run_page(copy, environment, "docs/use/programs.md")
    for name in ("c.raw", "python.raw"):
        assert re.search(rf"\b{30 * (2 << 20)}\b.* {re.escape(name)}$", said, re.M), said


@pytest.mark.thorough
def test_the_first_recording_on_linux(copy, environment, tmp_path):
    page = (ROOT / "docs/start/first-recording.md").read_text()
    install = re.search(r"`(make install PREFIX=\S+)` builds the command", page)[1]
    run("sh", "-eu", "-c", install, cwd=copy, env=environment)
    said = run("sh", "-eu", "-c", commands("docs/start/first-recording.md", "On Linux"), cwd=tmp_path, env=environment).stdout
    assert "954 chunks intact" in said and (tmp_path / "out.raw").stat().st_size > 500_000_000


@pytest.mark.parametrize("page", sorted((ROOT / "docs/start").glob("*.md")), ids=lambda page: page.stem)
def test_the_commands_of_the_first_pages_exist(page):
    """Those in a sentence, too: each is a command of make help, which test_suite.py checks that make test-all runs."""
    named = set(re.findall(r"`make ([a-z-]+)", page.read_text())) | set(re.findall(r"^make ([a-z-]+)", page.read_text(), re.M))
    assert named <= make_commands.commands().keys(), page
