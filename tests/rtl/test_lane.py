# SPDX-License-Identifier: Apache-2.0
"""The data path: splitter, buffer and retire connected as in the core, with rings of all shapes."""

import pytest

import runner

# Rings of 16, 24 and 200 sectors: a power of two, no power of two, and one that holds many commands. 8192 bytes: memory mode.
SHAPES = [(128, 16384), (256, 20480), (512, 12288), (128, 110592), (128, 8192)]


@pytest.mark.parametrize("width,ram_bytes", SHAPES)
def test_lane(width, ram_bytes):
    base_bits = 62 if ram_bytes == 8192 else 20
    runner.run("lane", "testbench_lane", extra=("tests/rtl/cocotb/lane.sv",),
               parameters={"DataWidth": width, "RamBytes": ram_bytes, "BaseBits": base_bits},
               env={"DATA_WIDTH": str(width), "RAM_BYTES": str(ram_bytes)})
