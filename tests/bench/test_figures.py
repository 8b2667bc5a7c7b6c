# SPDX-License-Identifier: Apache-2.0
"""Measures those figures of the figures page again that are cheap to measure, and compares each number with the benchmark, if the
compiler is of the version that the page names. With any compiler the aims are met, but for those that the page says are missed. The
README has the same figures as the page."""

import os
import sys

import crash_counts
import page_lines
import program
import pytest

from conftest import ROOT

pytestmark = pytest.mark.thorough

CHEAP = ["size", "instructions"]
PAGE = page_lines.figures_page.PAGE.read_text().splitlines()
TEMPLATE = page_lines.figures_page.TEMPLATE.read_text().splitlines()


@pytest.fixture(scope="module")
def fields():
    for preset in ("qemu-virt-size", "qemu-virt-size-lto"):
        assert (ROOT / "build" / preset / "libspate.a").exists(), f"make build-{preset}"
    for name in CHEAP:
        program.run(sys.executable, ROOT / f"bench/{name}.py", env=os.environ | {"PYTHONPATH": str(ROOT / "tools")}, timeout_s=300)
    return page_lines.figures_page.fields(ROOT / "build/bench")


def is_cheap(line):
    return 0 < len(page_lines.benches_of(line)) and page_lines.benches_of(line) <= set(CHEAP) and not page_lines.names_compiler(line)


CHEAP_LINES = [number for number, line in enumerate(TEMPLATE) if is_cheap(line)]


def test_the_page_has_the_lines_of_its_template():
    assert len(PAGE) == len(TEMPLATE), "make figures"
    different = [line for number, line in enumerate(TEMPLATE) if not page_lines.benches_of(line) and line != PAGE[number]]
    assert different == [], "make figures"
    assert len(CHEAP_LINES) >= 15


def row(number):
    return TEMPLATE[number].split("|")[1].strip()[:40]


@pytest.mark.parametrize("number", CHEAP_LINES, ids=row)
def test_a_line_is_what_is_measured_now(number, fields):
    line = page_lines.values(TEMPLATE[number], PAGE[number], fields)
    assert line, "make figures"
    (bench,) = page_lines.benches_of(TEMPLATE[number])
    page_made_by = page_lines.compiler_on(TEMPLATE, PAGE, bench)
    wrong, columns = page_lines.judge(line, bench == "instructions", page_made_by, fields[bench].compiler)
    assert wrong == [], f"docs/reference/figures.md: make bench, or write {TEMPLATE[number].format_map(fields)}"
    if columns:
        pytest.skip(f"another compiler, so only the aims are tested: {row(number)}: {columns}")


@pytest.mark.parametrize("bench", CHEAP)
def test_no_aim_is_missed_by_more_than_the_page_says(bench, fields):
    missed = page_lines.aims_missed(fields[bench].path, page_lines.documented(TEMPLATE, PAGE, bench))
    assert missed == [], f"{fields[bench].compiler}; the page is by {page_lines.compiler_on(TEMPLATE, PAGE, bench)}"


def cells(line):
    return [cell.strip().strip("*") for cell in line.strip("|").split("|")]


README_ROWS = {  # what a row of the README begins with: what the page's row begins with
    "instructions for each command": "in all, 4 KiB",
    "rate of files ÷ rate of raw writes": "rate of files ÷ rate of raw writes",
    "share of the link that the host core uses": "share of what the link can carry",
    "host core placed on an Artix-7": "clock of the host core behind a bridge",
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
