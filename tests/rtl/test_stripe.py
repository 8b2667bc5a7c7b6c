# SPDX-License-Identifier: Apache-2.0
"""Stripes of two to eight drives, with streams and in memory mode."""

import pytest

import runner

# Drives, width, chunk, the members' buffer. The ring has two chunks or more; 8192: memory mode.
SHAPES = [(2, 128, 8192, 24576), (3, 256, 8192, 32768), (4, 512, 16384, 40960), (3, 128, 8192, 8192), (7, 512, 8192, 24576)]


@pytest.mark.parametrize("testbench", ["testbench_stripe", "testbench_stripe_members"])
@pytest.mark.parametrize("drives,width,chunk_bytes,ram_bytes", SHAPES)
def test_stripe(drives, width, chunk_bytes, ram_bytes, testbench):
    runner.run("stripe_top", testbench, extra=("tests/rtl/cocotb/stripe_top.sv",),
               parameters={"Drives": drives, "DataWidth": width, "ChunkBytes": chunk_bytes, "MemberRamBytes": ram_bytes},
               env={"DRIVES": str(drives), "DATA_WIDTH": str(width), "CHUNK_BYTES": str(chunk_bytes),
                    "RAM_BYTES": str(ram_bytes)})
