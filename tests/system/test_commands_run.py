# SPDX-License-Identifier: Apache-2.0
"""Commands of `make help` that no other test runs, each in its shortest useful form and judged by what it promises."""

import json
import os
import re
import shutil

import pytest

from conftest import ROOT, run
from make_commands import MAY_REFUSE, RESULTS, RUNS, WITHOUT_CHANGES

pytestmark = pytest.mark.thorough
BENCH = ROOT / "build" / "bench"
PAGES = ("docs/reference/figures.md", "docs/reference/board-figures.md", "docs/images")  # what some commands write

def make(*words, statuses=(0,), **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "SPATE_TEST"))}
    return run("make", "--no-print-directory", "-C", ROOT, *words, statuses=statuses, env=environment, **options)


@pytest.fixture
def kept():
    """Files that commands write into the tree are as before after the test."""
    files = [path for page in PAGES for path in ([ROOT / page] if (ROOT / page).is_file() else (ROOT / page).glob("*.svg"))]
    before = {path: path.read_bytes() for path in files}
    yield before
    for path, content in before.items():
        path.write_bytes(content)


def tracked():
    """What git says of changed files."""
    return run("git", "-C", ROOT, "status", "--porcelain").stdout


@pytest.mark.parametrize("command", RUNS)
def test_a_command(command, kept):
    words, shown = RUNS[command]
    before = tracked() if command in WITHOUT_CHANGES else None
    result = BENCH / f"{RESULTS[command]}.json" if command in RESULTS else None
    if result:
        result.unlink(missing_ok=True)
    done = make(command, *words, statuses=(0, 2) if command in MAY_REFUSE else (0,))
    assert re.search(shown, done.stdout + done.stderr, re.S), done.stdout[-2000:]
    if before is not None:
        assert tracked() == before
    if result:
        figures = json.loads(result.read_text())["figures"]
        assert figures and all({"name", "value", "unit"} <= set(figure) for figure in figures)


def test_clean(tmp_path):
    """It leaves what was installed."""
    shutil.copy2(ROOT / "Makefile", tmp_path)
    (tmp_path / "ports").mkdir()
    shutil.copy2(ROOT / "ports/boards.json", tmp_path / "ports")
    for name in ("linux", "bench", "venv", "venv-gateware", "cache"):
        (tmp_path / "build" / name).mkdir(parents=True)
    run("make", "-C", tmp_path, "clean")
    assert {path.name for path in (tmp_path / "build").iterdir()} == {"venv", "venv-gateware", "cache"}
