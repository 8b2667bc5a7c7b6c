# SPDX-License-Identifier: Apache-2.0
"""Stripes with a member that is restarted, with streams and in memory mode."""

import pytest

import runner


@pytest.mark.parametrize("drives,width,chunk_bytes,ram_bytes", [(2, 128, 8192, 24576), (3, 128, 8192, 8192)])
def test_stripe_restart(drives, width, chunk_bytes, ram_bytes):
    runner.run("stripe_top", "testbench_stripe_restart", extra=("tests/rtl/cocotb/stripe_top.sv",),
               parameters={"Drives": drives, "DataWidth": width, "ChunkBytes": chunk_bytes, "MemberRamBytes": ram_bytes},
               env={"DRIVES": str(drives), "DATA_WIDTH": str(width), "CHUNK_BYTES": str(chunk_bytes),
                    "RAM_BYTES": str(ram_bytes)})
