# SPDX-License-Identifier: Apache-2.0
"""The AS02MC04's whole top with stand-ins for the vendor's modules, a drive behind the block, and the board's console.tcl in
tclsh."""

import pytest

import filelist
import runner

BOARD = "as02mc04"
PAGE = filelist.ROOT / "docs" / "use" / "boards" / f"{BOARD}.md"
EXTRA = (*filelist.boards()[BOARD], *filelist.vendor(), "tests/rtl/cocotb/as02mc04_top.sv")


@pytest.mark.parametrize("size", ["64K", pytest.param("1024K", marks=pytest.mark.thorough)])
def test_the_console_records_and_verifies(size):
    runner.run("as02mc04_top", "testbench_as02mc04", extra=EXTRA, name=size,
               env={"CONSOLE": str(filelist.BOARDS / BOARD / "console.tcl"), "BYTES": size, "PAGE": str(PAGE)})
