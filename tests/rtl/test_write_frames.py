# SPDX-License-Identifier: Apache-2.0
"""Writes that end with the stream's tlast."""

import pytest

import runner


@pytest.mark.parametrize("width, piece_bytes", [(512, 4096), (128, 4096)])
def test_write_frames(width, piece_bytes):
    runner.run("spate_write_frames_flat", "testbench_write_frames", parameters={"DataWidth": width, "PieceBytes": piece_bytes, "Commands": 16},
               env={"DATA_WIDTH": str(width), "PIECE_BYTES": str(piece_bytes)})


def test_with_the_splitter():
    runner.run("write_frames_top", "testbench_write_frames_splitter", extra=("tests/rtl/cocotb/write_frames_top.sv",))


@pytest.mark.parametrize("drives, width, ram_bytes", [(2, 128, 24576), (3, 512, 32768)])
def test_stripe(drives, width, ram_bytes):
    runner.run("stripe_top", "testbench_stripe_frames", extra=("tests/rtl/cocotb/stripe_top.sv",),
               parameters={"Drives": drives, "DataWidth": width, "ChunkBytes": 8192, "MemberRamBytes": ram_bytes, "WriteFrames": 1},
               env={"DRIVES": str(drives), "DATA_WIDTH": str(width), "CHUNK_BYTES": "8192", "RAM_BYTES": str(ram_bytes)})


def test_ring_in_memory():
    runner.run("ring_ddr_top", "testbench_ring_frames", extra=("tests/rtl/cocotb/ring_ddr_top.sv",),
               parameters={"DataWidth": 256, "PartBytes": 8192, "WriteFrames": 1}, env={"DATA_WIDTH": "256", "PART_BYTES": "8192"})
