# SPDX-License-Identifier: Apache-2.0
"""Framed writes to a stripe: a piece for each chunk that the clip reaches, and members that go, return, or differ."""

import random

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from stripe_bench import CHUNK_BYTES, DRIVES, Request, Testbench, beat_data, response_to
from stripe_member import BEAT_BYTES, FLUSH, GONE, INVALID, OK, READ, WRITE

FRAME = 3


def frame(tb: Testbench, lba: int, most: int, beats: int, tag: int, *, null: bool = False) -> tuple[Request, dict, int]:
    """A framed write of at most `most` blocks. Returns it, what each block must be, and how many blocks are written."""
    request = Request(WRITE, lba, most, tag, source=FRAME, first_beat=tb.beats)
    tb.give(request)
    first = tb.beats
    for beat in range(beats):
        tb.put_beat(last=not null and beat == beats - 1)
    if null:
        tb.put_beat(last=True, null=True)
        tb.beats -= 1
    wanted = -(-beats * BEAT_BYTES // tb.block_bytes)
    blocks = min(most, -(-(lba + wanted) // tb.chunk_blocks) * tb.chunk_blocks - lba) if wanted else 0
    data = b"".join(beat_data(first + beat).to_bytes(BEAT_BYTES, "little") for beat in range(beats)).ljust(blocks * tb.block_bytes, b"\0")
    return request, {tb.place(lba + i): data[i * tb.block_bytes:(i + 1) * tb.block_bytes] for i in range(blocks)}, blocks


def media(tb: Testbench) -> dict:
    return {(i, lba): data for i, member in enumerate(tb.members) for lba, data in member.medium.items()}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(block_bytes=[512, 4096], stall=[0.0, 0.4])
async def clips_that_end_anywhere_are_filled_to_the_end_of_a_chunk(dut, block_bytes, stall):
    tb = Testbench(dut, [stall, 0.0, 0.7 * bool(stall)], stall=stall, block_bytes=block_bytes)
    await tb.start()
    expected, answers, lba = {}, [], random.randrange(3)
    chunk_beats = CHUNK_BYTES // BEAT_BYTES
    for tag, beats in enumerate((1, chunk_beats, 2 * chunk_beats + 3, random.randint(1, 3 * chunk_beats), 0)):
        request, contents, blocks = frame(tb, lba, 6 * tb.chunk_blocks, beats, tag, null=beats in (0, chunk_beats))
        expected |= contents
        answers.append(response_to(request, OK, blocks))
        lba += blocks + random.choice((0, 1, tb.chunk_blocks))
    assert await tb.answers(len(answers)) == answers
    assert dut.idle_o.value and media(tb) == expected
    assert int(dut.written_blocks_o.value) == sum(answer["done"] for answer in answers)
    flush = tb.ask(Request(FLUSH, 0, 0, 77))
    assert await tb.answers(1) == [response_to(flush, OK, int(dut.written_blocks_o.value))]
    read = tb.ask(Request(READ, 0, 5, 78))
    assert await tb.answers(1) == [response_to(read, OK, 5)]
    assert not tb.data.words


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def members_are_never_waited_for_between_pieces(dut):
    """Nearly a beat each cycle, over many chunks, while members carry a clip's chunks out at the same time."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    moved = []

    async def watch():
        cycle = 0
        while True:
            await ReadOnly()
            if any(int(dut.member_data_valid_o.value) >> i & int(dut.member_data_ready_i.value) >> i & 1 for i in range(DRIVES)):
                moved.append(cycle)
            await RisingEdge(dut.clk_i)
            cycle += 1

    cocotb.start_soon(watch())
    chunks = 2 * DRIVES
    beats = chunks * CHUNK_BYTES // BEAT_BYTES
    plain = tb.ask(Request(WRITE, 0, chunks * tb.chunk_blocks, 1))
    assert await tb.answers(1) == [response_to(plain, OK, plain.blocks)]
    plain_cycles = moved[-1] - moved[0] + 1
    moved.clear()
    request, contents, blocks = frame(tb, 0, chunks * tb.chunk_blocks, beats, 2)
    assert await tb.answers(1) == [response_to(request, OK, blocks)]
    assert media(tb) == contents and len(moved) == beats
    cycles = moved[-1] - moved[0] + 1
    assert cycles <= plain_cycles + 4 * chunks, f"a plain write took {plain_cycles} cycles, a frame {cycles}"


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(returns=[False, True])
async def a_member_that_goes_ends_the_frame(dut, returns):
    """The frame takes its data. The member, or the next drive in its place, gets no later part; the next frame reaches all."""
    tb = Testbench(dut, [0.0])
    lost = tb.members[1]
    await tb.start()
    request = Request(WRITE, 0, 40 * DRIVES * tb.chunk_blocks, 1, source=FRAME)
    tb.give(request)
    for _ in range(2 * DRIVES * CHUNK_BYTES // BEAT_BYTES + 20):
        tb.put_beat()
    while tb.data.words:
        await RisingEdge(dut.clk_i)
    await tb.cycles(3000)
    before = [len(member.log) for member in tb.members]
    lost.gone = True
    tb.comes_up(lost)
    await tb.cycles(30)
    if returns:
        lost.gone = False
        tb.comes_up(lost)
        await tb.cycles(30)
    for beat in range(3 * DRIVES * CHUNK_BYTES // BEAT_BYTES):
        tb.put_beat(last=beat == 3 * DRIVES * CHUNK_BYTES // BEAT_BYTES - 1)
    answer, = await tb.answers(1)
    assert (answer["tag"], answer["status"]) == (1, GONE) and answer["done"] >= 2 * DRIVES * tb.chunk_blocks
    assert [len(member.log) for member in tb.members] == before, "a part reached a member after one was lost"
    await tb.cycles(300)
    assert not tb.data.words
    if returns:
        for member in tb.members:
            member.medium.clear()
        request, contents, blocks = frame(tb, 5, 4 * tb.chunk_blocks, 300, 2)
        assert await tb.answers(1) == [response_to(request, OK, blocks)]
        assert media(tb) == contents


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def without_an_array_a_frame_is_refused_and_takes_its_data(dut):
    """The members' block sizes differ."""
    tb = Testbench(dut, [0.0])
    tb.members[-1].block_bytes = 4096
    await tb.start()
    answers = []
    for tag, beats in enumerate((1, 9, CHUNK_BYTES // BEAT_BYTES, 3 * CHUNK_BYTES // BEAT_BYTES + 5, 30)):
        request, _, _ = frame(tb, tag * 7, 5 * tb.chunk_blocks, beats, tag)
        answers.append(response_to(request, INVALID, 0))
    assert await tb.answers(len(answers)) == answers
    await tb.cycles(2 * CHUNK_BYTES // BEAT_BYTES)
    assert not tb.data.words and not any(member.log for member in tb.members)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(next_bytes=[512, 4096])
async def all_members_go_and_return_with_other_blocks(dut, next_bytes):
    tb = Testbench(dut, [0.0])
    await tb.start()
    tb.give(Request(WRITE, 0, 1000, 1, source=FRAME))
    for _ in range(30):
        tb.put_beat()
    await tb.cycles(200)
    for member in tb.members:
        member.gone = True
        tb.comes_up(member)
    await tb.cycles(100)
    tb.put_beat(last=True)  # the frame ends, and the next one begins without any member
    tb.give(Request(WRITE, 0, 1000, 2, source=FRAME))
    tb.put_beat()
    await tb.cycles(CHUNK_BYTES // BEAT_BYTES)
    for member in tb.members:
        tb.set("drive_gone_i", member.index, 0)
    await tb.cycles(50)
    for member in tb.members:
        member.gone, member.block_bytes = False, next_bytes
        tb.comes_up(member)
    await tb.cycles(50)
    tb.put_beat(last=True)
    answers = await tb.answers(2)
    # The first one ended with a piece that its member had taken before.
    assert answers[0]["tag"] == 1 and answers[0]["status"] in (OK, GONE)
    assert (answers[1]["tag"], answers[1]["status"], answers[1]["done"]) == (2, GONE, 0)
    tb.block_bytes, tb.chunk_blocks = next_bytes, CHUNK_BYTES // next_bytes
    for member in tb.members:
        member.medium.clear()
    request, contents, blocks = frame(tb, 3, 30, 200, 3)
    assert await tb.answers(1) == [response_to(request, OK, blocks)]
    assert media(tb) == contents
