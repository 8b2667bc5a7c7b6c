# SPDX-License-Identifier: Apache-2.0
"""Each row of docs/understand/assumptions.md names tests that exist, or says why there is none."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = {path.name: path for path in (ROOT / "tests").rglob("*") if path.is_file()}


def rows() -> list[tuple[str, str, str]]:
    """The assumption, its last cell, and the text of the files that this cell names: "the same" are those of the row before."""
    found, text = [], ""
    for line in (ROOT / "docs/understand/assumptions.md").read_text().splitlines():
        if not line.startswith("| ") or line.startswith("| assumption"):
            continue
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        files = [FILES[name.split("/")[-1]] for name in names(cells[3]) if name.split("/")[-1] in FILES]
        if files:
            text = "\n".join(path.read_text() for path in files)
        found.append((cells[0], cells[3], text))
    return found


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def exists(name: str, text: str) -> bool:
    if name.split("/")[-1] in FILES or (ROOT / f"tests/rtl/formal/{name}.toml").exists() or (ROOT / name).is_dir():
        return True
    return re.search(rf"{re.escape(name.removeprefix('…'))}\b", text) is not None


@pytest.mark.parametrize("assumption,test,text", rows(), ids=lambda value: value[:40].strip())
def test_a_row_names_tests_that_exist(assumption, test, text):
    if test.startswith("none"):
        assert re.fullmatch(r"none( here)?: .+", test), "a row without a test says why"
        return
    assert names(test)
    assert [name for name in names(test) if not exists(name, text)] == []


def test_the_page_has_rows():
    assert len(rows()) > 25
