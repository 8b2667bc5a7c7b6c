# SPDX-License-Identifier: Apache-2.0
"""The ring in a memory behind AXI4."""

import pytest

import runner


@pytest.mark.parametrize("width,part_bytes", [(128, 8192), (256, 4096), (512, 16384)])
def test_ring_ddr(width, part_bytes):
    runner.run("ring_ddr_top", "testbench_ring_ddr", extra=("tests/rtl/cocotb/ring_ddr_top.sv",),
               parameters={"DataWidth": width, "PartBytes": part_bytes},
               env={"DATA_WIDTH": str(width), "PART_BYTES": str(part_bytes)})
