# SPDX-License-Identifier: Apache-2.0
"""Commands of `make help` that no step runs, each in its shortest useful form and judged by what it promises."""

import json
import os
import re
import shutil

import pytest

from conftest import ROOT, run
from make_commands import RUNS, WITHOUT_CHANGES

pytestmark = [pytest.mark.thorough, pytest.mark.commands]
# What commands write where a person's longer run may have left its own.
KEPT = ("docs/reference/figures.md", "docs/reference/board-figures.md", "docs/images/*.svg", "build/bench/*.json")
OPTIONS = re.findall(r"^([A-Z_]+) \?=", (ROOT / "Makefile").read_text(), re.M)


def make(*words, **options):
    """Without the options of a make that runs this test."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in OPTIONS and not name.startswith(("MAKE", "MFLAGS", "SPATE_TEST"))}
    return run("make", "--no-print-directory", "-C", ROOT, *words, env=environment, **options)


def contents(*patterns):
    return {path: path.read_bytes() for pattern in patterns for path in ROOT.glob(pattern)}


def put_back(before, after):
    for path, content in before.items():
        if after.get(path) != content:
            path.write_bytes(content)


@pytest.fixture
def kept():
    """These files are as before after the test."""
    before = contents(*KEPT)
    yield
    put_back(before, contents(*KEPT))


@pytest.fixture
def unchanged():
    """The sources are as before after the test, which fails if they were not, or if there are new files."""
    status = run("git", "-C", ROOT, "status", "--porcelain").stdout
    names = run("git", "-C", ROOT, "ls-files", "--", "*.[ch]", "*.[ch]pp", "*.sv", "*.core", "*.md", "*.json").stdout.splitlines()
    before = contents(*names)
    yield
    after = contents(*names)
    put_back(before, after)
    assert [path for path in before if after.get(path) != before[path]] == []
    assert run("git", "-C", ROOT, "status", "--porcelain").stdout == status


@pytest.mark.parametrize("command", sorted(RUNS.keys() - WITHOUT_CHANGES))
def test_a_command(command, kept):
    row = RUNS[command]
    for path in ROOT.glob(row.writes) if row.writes else ():
        path.unlink()
    done = make(command, *row.words, statuses=(0, 2) if row.may_refuse else (0,))
    output = done.stdout + done.stderr
    assert re.search(row.may_refuse if done.returncode else row.shows, output, re.S | re.M), output[-2000:]
    for path in (written := list(ROOT.glob(row.writes)) if row.writes else []):
        assert path.stat().st_size > 0
    assert bool(written) == bool(row.writes), f"{row.writes} was not written"
    for path in (path for path in written if path.suffix == ".json"):
        figures = json.loads(path.read_text())["figures"]
        assert figures and all({"name", "value", "unit"} <= set(figure) for figure in figures)


@pytest.mark.parametrize("command", sorted(WITHOUT_CHANGES))
def test_a_command_that_must_change_nothing(command, unchanged):
    make(command)


def test_clean(tmp_path):
    """It leaves what was installed."""
    shutil.copy2(ROOT / "Makefile", tmp_path)
    (tmp_path / "ports").mkdir()
    shutil.copy2(ROOT / "ports/boards.json", tmp_path / "ports")
    for name in ("linux", "bench", "venv", "venv-gateware", "cache"):
        (tmp_path / "build" / name).mkdir(parents=True)
    run("make", "-C", tmp_path, "clean")
    assert {path.name for path in (tmp_path / "build").iterdir()} == {"venv", "venv-gateware", "cache"}
