# SPDX-License-Identifier: Apache-2.0
"""Each board's constraints against its elaborated netlist, with the vendor's modules as black boxes: every path between two
clocks is covered, and a fault that is put into a copy of the files is found."""

import re
import shutil

import pytest

import constraints
import filelist

BOARDS = [pytest.param(board, marks=[pytest.mark.thorough] if board != "as02mc04" else []) for board in sorted(filelist.boards())]
BLOCK = {"ac701": ("axi_aclk_out", "axi_aresetn"), "as02mc04": ("user_clk", "sys_reset"), "zcu106": ("user_clk", "sys_reset")}


@pytest.fixture(scope="module", params=BOARDS)
def board(request):
    return request.param, constraints.board_netlist(request.param)


def findings(board, folder) -> list[str]:
    return constraints.check_board(*board, folder).findings


@pytest.mark.thorough
def test_each_finding_that_is_accepted_is_made(board, monkeypatch):
    has_status = BLOCK[board[0]][0] == "user_clk"  # the bridge has no outputs that the first two patterns name
    for pattern in constraints.ACCEPTED[0 if has_status else 2:]:
        monkeypatch.setattr(constraints, "ACCEPTED", tuple(other for other in constraints.ACCEPTED if other is not pattern))
        assert findings(board, None), pattern.pattern
        monkeypatch.undo()


def changed(board, tmp_path, file: str, old: str, new: str) -> list[str]:
    """The findings with one file changed."""
    folder = shutil.copytree(filelist.BOARDS / board[0], tmp_path / "board", ignore=shutil.ignore_patterns("build"))
    path = folder / file.format(board=board[0])
    text = path.read_text()
    path.write_text(re.sub(old, new, text, flags=re.M))
    assert path.read_text() != text
    return findings(board, folder)


def test_each_crossing_of_a_board_is_covered(board):
    result = constraints.check_board(*board)
    assert result.findings == []
    assert result.crossings > 900


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "old", "new", "message"), [
    ("crossings.xdc", r"u_pcie/CLOCK\b", "u_pcie/clk", "no pin is u_board/u_pcie/clk"),
    ("crossings.xdc", r"u_mmcm/CLKOUT0", "u_mmcm/LOCKED", "no clock is"),
    ("crossings.xdc", r"^set_(max_delay|false_path).*$", "", "u_board/u_pcie/RESET/CLR (block): no constraint covers it"),
    ("crossings.xdc", r"u_pcie/RESET\]", "u_pcie/resets]", "no pin is u_board/u_pcie/resets"),
    ("crossings.xdc", r"-datapath_only", "-datapaths_only", "unknown option"),
    ("{board}.xdc", r"PACKAGE_PIN", "PACKAGE_PINS", "PACKAGE_PIN?"),
    ("{board}.xdc", r"pcie_refclk_pi", "pcie_refclk_p", "no port is pcie_refclk_p"),
    ("{board}.xdc", r"\Z", "set_clock_groups -asynchronous -group core -group block\n", "set_clock_groups overrules"),
    ("{board}.xdc", r"\Z", "set_false_path -to [get_ports pcie_refclk_pi]\n", "covers no path"),
])
def test_a_fault_is_found(board, tmp_path, file, old, new, message):
    clock, reset = BLOCK[board[0]]
    old, message = (text.replace("CLOCK", clock).replace("RESET", reset) for text in (old, message))
    found = changed(board, tmp_path, file, old, new)
    assert any(message in finding for finding in found), "\n".join(found) or "nothing was found"


@pytest.mark.thorough
def test_without_the_constraints_of_a_module_its_crossings_are_found(board, tmp_path, monkeypatch):
    """The board's constraints bound paths between its clocks. They cover neither skew nor asynchronous resets."""
    folder = shutil.copytree(constraints.FOLDER, tmp_path / "constraints")
    (folder / "spate_cdc_fifo.xdc").write_text("")
    monkeypatch.setattr(constraints, "FOLDER", folder)
    assert any("no set_bus_skew covers it" in finding for finding in findings(board, None))


@pytest.mark.thorough
def test_the_constraints_of_the_modules_cover_all_but_the_reset(board, tmp_path):
    """The board's own constraints bound all other paths a second time, in case a tool does not find a module's names."""
    found = changed(board, tmp_path, "crossings.xdc", r"^set_(max_delay|false_path).*$", "")
    assert len(found) == 1 and f"u_pcie/{BLOCK[board[0]][1]}/CLR" in found[0]
