# SPDX-License-Identifier: Apache-2.0
"""The words and addresses of rtl/boards' console are those of the pages and of the logic."""

import re
import subprocess

import filelist

DOCS = filelist.ROOT / "docs"
CONSOLE = filelist.BOARDS / "console.tcl"


def variable(name: str) -> dict[str, str]:
    """A dictionary of the namespace `spate`: {key: the first word of its value}."""
    script = f'source {{{CONSOLE}}}; dict for {{key value}} $spate::{name} {{ puts "$key|[lindex $value 0]" }}'
    run = subprocess.run(["tclsh"], input=script, capture_output=True, text=True, check=True)
    return dict(line.split("|") for line in run.stdout.splitlines())


def plain(name: str) -> dict[str, int]:
    return {key: int(value, 16) for key, value in variable(name).items()}


def rows(page: str, section: str) -> dict[str, str]:
    """{first cell: the row} of the tables of a section."""
    text = (DOCS / page).read_text()
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    return dict(re.findall(r"^\| (\d+) (\|.*)$", text, re.M))


def test_steps_are_those_of_the_page():
    page, console = rows("reference/gateware-bringup.md", "Steps"), variable("steps")
    assert page.keys() == console.keys()
    assert [step for step, name in console.items() if name not in page[step]] == []


def test_errors_are_those_of_the_page():
    page, console = rows("reference/gateware-bringup.md", "Errors"), variable("errors")
    assert page.keys() == console.keys()
    assert {error: page[error] for error, meaning in console.items() if not page[error].startswith(f"| {meaning} |")} == {}


def test_statuses_are_those_of_the_page():
    page = re.findall(r"^\| (8\d{3})h (\w+) \|", (DOCS / "use/gateware.md").read_text(), re.M)
    assert len(page) > 7
    assert dict(page) == variable("statuses")


def test_registers_of_the_core_are_those_of_the_page():
    page = {name: int(address, 16) for address, name in
            re.findall(r"^\| ([0-9a-f]{4})h \| \[`(\w+)`\]", (DOCS / "reference/registers.md").read_text(), re.M)}
    counters = {name: address for name, address in plain("core_registers").items() if address >= page["counters"]}
    assert list(counters.values()) == [page["counters"] + 4 * index for index in range(16)]
    others = {name: address for name, address in plain("core_registers").items() if name not in counters}
    assert len(others) > 20
    assert {name: address for name, address in others.items() if page.get(name) != address} == {}
    written = {int(address, 16) for address in re.findall(r"write(?:64)? (0x00\w\w)", CONSOLE.read_text())}
    assert written == {page[name] for name in ("command_lba_low", "command_blocks", "command", "response_take")}


def test_registers_of_the_board_are_those_of_the_logic():
    head = (filelist.BOARDS / "spate_board_console.sv").read_text().partition("`default_nettype")[0]
    logic = {name: int(address, 16) for address, name in re.findall(r"(4[0-9A-F]{3})h(?: 4[0-9A-F]{3}h)?\s+([a-z]\w+)", head)}
    assert plain("board_registers") == logic
    pairs = re.findall(r"4[0-9A-F]{3}h 4[0-9A-F]{3}h\s+(\w+)", head)
    assert sorted(pairs) == sorted(word for word in re.search(r"variable wide \{(.*?)\}", CONSOLE.read_text(), re.S)[1].split())
