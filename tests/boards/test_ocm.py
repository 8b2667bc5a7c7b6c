# SPDX-License-Identifier: Apache-2.0
"""The firmware of ports/zynqmp/ocm fits into the on-chip memory, and its README says what it takes."""

import json
import os
import re
import sys

import pytest

import program
from conftest import ROOT

pytestmark = pytest.mark.thorough

TOLERANCE = 0.02  # a share: a fix of a few hundred bytes needs no new page
README = (ROOT / "ports/zynqmp/README.md").read_text()
ROWS = {  # of the README, by what a row begins with: the figures that it adds up
    "both stacks": ["stack of the program and of the fault handler"],
    "code, constants and variables": ["code", "constants", "variables"],
    "page tables of the processor": ["page tables of the processor"],
    "controller and a queue": ["queue memory: the controller", "queue memory: a queue of 32 commands"],
    "table of a ring of 8 MiB": ["queue memory: the table of a ring of 8 MiB"],
    "bitmap window of 12 KiB": ["window on the allocation bitmap", "file system's blocks, 512 bytes each"],
    "together": ["recorder_only with all of this, blocks of 512 bytes"],
    "the same for `recorder_checked`": ["recorder_checked (recorder and doctor) with all of this, blocks of 512 bytes"],
    "`recorder_checked` with queue memory in DDR": ["recorder_checked, queue memory in DDR, blocks of 512 bytes"],
}


@pytest.fixture(scope="module")
def figures():
    """As `make bench-ocm`, with what is built."""
    program.run(sys.executable, ROOT / "bench/ocm.py", env=os.environ | {"PYTHONPATH": str(ROOT / "tools")}, timeout_s=120)
    return {each["name"]: each for each in json.loads((ROOT / "build/bench/ocm.json").read_text())["figures"]}


def test_all_of_it_fits(figures):
    with_aims = {name: each for name, each in figures.items() if each.get("aim_is") == "max"}
    assert len(with_aims) == 4
    assert {name: each["value"] for name, each in with_aims.items() if each["value"] > each["aim"]} == {}
    assert {each["aim"] for each in with_aims.values()} == {256 * 1024}


def test_the_table_has_no_other_rows():
    rows = re.findall(r"^\| (.*?) \| (\d+)(?: of 262144)? \|$", README, re.M)
    assert len(rows) == len(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_the_readme_says_what_is_measured(row, figures):
    said = re.search(rf"^\| {re.escape(row)}.*? \| (\d+)(?: of 262144)? \|$", README, re.M)
    now = sum(figures[name]["value"] for name in ROWS[row])
    assert said and abs(int(said[1]) - now) <= TOLERANCE * now, f"ports/zynqmp/README.md: {row}: {now}"
