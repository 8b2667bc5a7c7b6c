# SPDX-License-Identifier: Apache-2.0
"""The test pattern's generator and checker, connected to each other."""

import pytest

import runner


@pytest.mark.parametrize("width", [64, 128, 512])
def test_pattern(width):
    runner.run("pattern_loop", "testbench_pattern", parameters={"DataWidth": width},
               extra=("tests/rtl/cocotb/pattern_loop.sv",), env={"DATA_WIDTH": str(width)})
