# SPDX-License-Identifier: Apache-2.0
"""Measures those figures of the figures page again that are cheap to measure, and compares each number with the benchmark. The
README has the same figures as the page."""

import os
import re
import sys

import crash_counts
import program
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import figures_page  # noqa: E402 - the path comes first

pytestmark = pytest.mark.thorough

CHEAP = {"size", "instructions"}
SIZE_TOLERANCE = 0.02  # a share: a fix of a few hundred bytes needs no new page
SIZE_TOLERANCE_KB = 0.3
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
PAGE = figures_page.PAGE.read_text().splitlines()
TEMPLATE = figures_page.TEMPLATE.read_text().splitlines()


def benches_of(line):
    """The names of the benchmarks that a line of the template needs."""
    return {name for name in figures_page.COMMANDS if re.search(rf"\{{{name}\[|\[{name}\|", line)}


@pytest.fixture(scope="module")
def fields():
    for preset in ("qemu-virt-size", "qemu-virt-size-lto"):
        assert (ROOT / "build" / preset / "libspate.a").exists(), f"make build-{preset}"
    for name in CHEAP:
        program.run(sys.executable, ROOT / f"bench/{name}.py", env=os.environ | {"PYTHONPATH": str(ROOT / "tools")}, timeout_s=300)
    return figures_page.fields(ROOT / "build/bench")


def agree(said, now, exactly):
    """Two numbers as they are written."""
    if exactly:
        return said == now
    tolerance = max(SIZE_TOLERANCE * abs(float(now)), SIZE_TOLERANCE_KB if "." in now else 0.0)
    return abs(float(said) - float(now)) <= tolerance


CHEAP_LINES = [number for number, line in enumerate(TEMPLATE) if benches_of(line) and benches_of(line) <= CHEAP]


def test_the_page_has_the_lines_of_its_template():
    assert len(PAGE) == len(TEMPLATE), "make figures"
    different = [line for number, line in enumerate(TEMPLATE) if not benches_of(line) and line != PAGE[number]]
    assert different == [], "make figures"
    assert len(CHEAP_LINES) >= 15


@pytest.mark.parametrize("number", CHEAP_LINES, ids=lambda number: TEMPLATE[number].split("|")[1].strip()[:40])
def test_a_line_is_what_is_measured_now(number, fields):
    now, said = TEMPLATE[number].format_map(fields), PAGE[number]
    exactly = benches_of(TEMPLATE[number]) == {"instructions"}
    assert NUMBER.sub("", now) == NUMBER.sub("", said), "make figures"
    pairs = list(zip(NUMBER.findall(said), NUMBER.findall(now)))
    assert pairs and all(agree(*pair, exactly) for pair in pairs), f"docs/reference/figures.md: make bench, or write {now}"


def cells(line):
    return [cell.strip().strip("*") for cell in line.strip("|").split("|")]


README_ROWS = {  # what a row of the README begins with: what the page's row begins with
    "instructions for each command": "in all, 4 KiB",
    "rate of files ÷ rate of raw writes": "rate of files ÷ rate of raw writes",
    "share of the link that the host core uses": "share of what the link can carry",
    "code and data to mount, record and close": "code and data to mount, record and close",
}


def only_row(lines, begins):
    found = [cells(line) for line in lines if line.startswith("|") and cells(line)[0].startswith(begins)]
    assert len(found) == 1, begins
    return found[0]


@pytest.mark.parametrize("begins", README_ROWS)
def test_the_readme_says_what_the_page_says(begins):
    readme = (ROOT / "README.md").read_text().splitlines()
    assert only_row(readme, begins)[1] == only_row(PAGE, README_ROWS[begins])[1]


def test_the_counts_of_power_cuts_are_found():
    """tools/crash_counts.py compares them after the power cuts."""
    for page, all_of_it in crash_counts.PAGES.items():
        for what in all_of_it:
            assert len(crash_counts.claims((ROOT / page).read_text(), what)) == 1, f"{page}: {what}"


def test_the_readme_compares_power_cuts_as_the_page_does():
    row = only_row((ROOT / "README.md").read_text().splitlines(), "power cuts in")
    share = only_row(PAGE, "FatFs, f_sync each 800 KiB")[1]
    assert share in row[2] and row[1].startswith("0, "), row
    assert only_row(PAGE, "Spate, checkpoint each 800 KiB")[1] == "0"
