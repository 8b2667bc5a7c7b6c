# SPDX-License-Identifier: Apache-2.0
"""Framed writes through the ring in memory: a part for each piece."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from ring_ddr_bench import BEAT_BYTES, GONE, OK, PART_BYTES, READ, WRITE, Request, Testbench, beat_data, response_to

FRAME = 3


def frame(tb: Testbench, lba: int, most: int, beats: int, tag: int, last: bool = True) -> tuple[Request, bytes, int]:
    request = Request(WRITE, lba, most, tag, source=FRAME, first_beat=tb.beats)
    tb.give(request)
    first, piece = tb.beats, PART_BYTES // tb.block_bytes
    for beat in range(beats):
        tb.put_beat(last=last and beat == beats - 1)
    wanted = -(-beats * BEAT_BYTES // tb.block_bytes)
    blocks = min(most, -(-(lba + wanted) // piece) * piece - lba)
    data = b"".join(beat_data(first + beat).to_bytes(BEAT_BYTES, "little") for beat in range(beats))
    return request, data.ljust(blocks * tb.block_bytes, b"\0"), blocks


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(block_bytes=[512, 4096], stall=[0.0, 0.3])
async def clips_are_read_back_as_data_and_zeros(dut, block_bytes, stall):
    tb = Testbench(dut, stall, block_bytes=block_bytes, ring_pages=16)
    await tb.start()
    lba, frames = random.randrange(9), []
    for tag in range(5):
        frames.append(frame(tb, lba, 3 * PART_BYTES // block_bytes, random.randint(1, 2 * PART_BYTES // BEAT_BYTES), tag))
        lba += frames[-1][2] + random.randrange(20)
    assert await tb.answers(5) == [response_to(request, OK, blocks) for request, _, blocks in frames]
    for request, data, blocks in frames:
        read = tb.ask(Request(READ, request.lba, blocks, 9))
        assert await tb.answers(1) == [response_to(read, OK, blocks)]
        await tb.cycles(40)
        assert b"".join(beat["data"].to_bytes(BEAT_BYTES, "little") for beat in tb.beats_out(blocks)) == data
    assert int(dut.written_blocks_o.value) == sum(blocks for _, _, blocks in frames)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def nearly_a_beat_each_cycle(dut):
    """As for a plain write: a cycle or two are lost at each burst of 4 KiB, and at each piece."""
    tb = Testbench(dut, 0.0, ring_pages=64, delay_cycles=0)
    await tb.start()
    beats = 12 * 4096 // BEAT_BYTES
    request, _, blocks = frame(tb, 0, 1000, beats, 1)
    while tb.data.taken < 3 * 4096 // BEAT_BYTES:  # until the memory in between is full
        await RisingEdge(dut.clk_i)
    begin, cycles = tb.data.taken, 5 * 4096 // BEAT_BYTES
    await tb.cycles(cycles)
    assert tb.data.taken - begin >= cycles - 5 * 5
    assert await tb.answers(1) == [response_to(request, OK, blocks)]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_ring_is_idle_when_the_drive_has_all_parts(dut):
    """Not while a frame is open, nor while a part waits; also not for a source that has stopped. A frame whose drive went is none."""
    tb = Testbench(dut, 0.0, ring_pages=16)
    await tb.start()
    for tag, (beats, goes) in enumerate(((9, False), (0, False), (0, True))):
        asked = len(tb.drive.log)
        frame(tb, 0, 1000, PART_BYTES // BEAT_BYTES + beats, tag, last=False)
        await tb.cycles(1500)
        assert len(tb.drive.log) == asked + 1 and not dut.idle_o.value
        if goes:
            tb.show_drive(ready=0, gone=1)
            await tb.cycles(40)
            assert dut.idle_o.value
        tb.put_beat(last=True)
        await tb.answers(1)
        assert dut.idle_o.value


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(gone_cycles=[1, 3, 40])
async def no_part_of_a_frame_reaches_the_next_drive(dut, gone_cycles):
    """The drive goes in the middle, and the next one has larger blocks."""
    tb = Testbench(dut, 0.1, ring_pages=16)
    await tb.start()
    frame(tb, 0, 1000, PART_BYTES // BEAT_BYTES + 9, 1, last=False)
    await tb.cycles(1000)
    asked = len(tb.drive.log)
    tb.show_drive(ready=0)
    await tb.cycles(3)
    tb.show_drive(gone=1)
    await tb.cycles(gone_cycles)
    tb.show_drive(gone=0)
    await tb.cycles(40)
    tb.show_drive(ready=1, block_4096=1)
    for beat in range(3 * PART_BYTES // BEAT_BYTES):
        tb.put_beat(last=beat == 3 * PART_BYTES // BEAT_BYTES - 1)
    answer, = await tb.answers(1)
    assert (answer["tag"], answer["status"]) == (1, GONE) and len(tb.drive.log) == asked
    await tb.cycles(50)
    assert not tb.data.words
    tb.block_bytes = 4096
    request, data, blocks = frame(tb, 7, 10, 5 * 4096 // BEAT_BYTES + 1, 2)
    assert await tb.answers(1) == [response_to(request, OK, blocks)]
    assert b"".join(tb.drive.medium[7 + block] for block in range(blocks)) == data
