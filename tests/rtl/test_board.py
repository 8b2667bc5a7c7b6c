# SPDX-License-Identifier: Apache-2.0
"""Each board's whole top with stand-ins for the vendor's modules, a drive behind the block, and the board's console.tcl in tclsh."""

import re

import pytest

import filelist
import runner

PAGES = filelist.ROOT / "docs" / "use" / "boards"
BOARDS = {"as02mc04": "xcku3p_0", "zcu106": "xczu7_0", "ac701": "xc7a200t_0"}  # → the device that the cable sees
USP = ("as02mc04", "zcu106")
SIZES = [("as02mc04", "64K"), *((board, "1024K") for board in BOARDS)]  # what all have in common is in the first


@pytest.mark.parametrize(("board", "size"), [
    pytest.param(board, size, marks=[pytest.mark.thorough] if size != "64K" else []) for board, size in SIZES])
def test_the_console_records_and_verifies(board, size):
    top, same = ("board_usp_top", USP) if board in USP else ("board_axi_top", (board,))
    sources = dict.fromkeys(path for name in same for path in filelist.boards()[name])
    console = filelist.BOARDS / board / "console.tcl"
    runner.run(top, "testbench_board", parameters={"Board": USP.index(board)} if board in USP else {}, name=f"{board}-{size}",
               extra=(*sources, *filelist.vendor(), f"tests/rtl/cocotb/{top}.sv"),
               env={"CONSOLE": str(console), "BYTES": size, "PAGES": " ".join(str(PAGES / f"{page}.md") for page in ("console", board)),
                    "TOP": top, "DEVICE": BOARDS[board],
                    "REFERENCE": re.search(r'^  variable reference "(.*)"$', console.read_text(), re.M)[1]})
