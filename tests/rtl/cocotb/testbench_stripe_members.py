# SPDX-License-Identifier: Apache-2.0
"""Members of a stripe that stop, are gone, return, or differ in their block size: no beat is lost, and nothing waits
indefinitely."""

import cocotb

from stripe_bench import CHUNK_BYTES, DRIVES, Request, Testbench, beat_data, response_to
from stripe_member import BEAT_BYTES, DEALLOCATE, FLUSH, GONE, INVALID, OK, READ, RING_BYTES, STREAMS, WRITE


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_stuck_member_stops_the_others_only_when_its_ring_is_full(dut):
    """The stream stops when the ring of the member that does not answer is full, and the others have received everything before
    it."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    stuck = tb.members[1]
    stuck.stuck = True
    tb.ask(Request(WRITE, 0, tb.array_blocks, 1))
    await tb.cycles(DRIVES * 6 * CHUNK_BYTES // BEAT_BYTES)
    assert stuck.beats_taken == RING_BYTES // BEAT_BYTES
    ring_chunks, rest = divmod(RING_BYTES, CHUNK_BYTES)
    assert rest == 0
    for member in tb.members:
        chunks = ring_chunks + (1 if member.index < 1 else 0)
        assert member.beats_taken == chunks * CHUNK_BYTES // BEAT_BYTES
        if member is not stuck:
            assert len(member.medium) == chunks * tb.chunk_blocks


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_member_that_never_came_up_blocks_nothing(dut):
    """A member that never came up has no known block size; the array has the others'. Its parts end with StatusGone and move as
    many beats as the array's block size gives, flagged. The others' parts are carried out, and what follows is in its place."""
    tb = Testbench(dut, [0.0, 0.2], block_bytes=4096)
    gone = tb.members[-1]
    gone.gone, gone.block_bytes = True, 512
    await tb.start()
    whole = DRIVES * tb.chunk_blocks
    first = tb.ask(Request(WRITE, 0, whole + 1, 1))
    on_it = tb.ask(Request(WRITE, whole - 1, 1, 2))
    elsewhere = tb.ask(Request(WRITE, 2 * whole, 1, 3))
    answers = await tb.answers(3)
    assert answers == [response_to(first, GONE, whole - tb.chunk_blocks), response_to(on_it, GONE, 0),
                       response_to(elsewhere, OK, 1)]
    reads = [tb.ask(Request(READ, 0, whole + 1, 4)), tb.ask(Request(READ, 2 * whole, 1, 5))]
    answers = await tb.answers(2)
    assert answers == [response_to(reads[0], GONE, whole - tb.chunk_blocks), response_to(reads[1], OK, 1)]
    block_beats = 4096 // BEAT_BYTES
    beats = await tb.beats_out((whole + 2) * block_beats)
    for block in range(whole + 2):
        of_block = beats[block * block_beats:(block + 1) * block_beats]
        request, number = (first, block) if block <= whole else (elsewhere, 0)
        if tb.place(request.lba + number)[0] == gone.index:
            assert all(beat["error"] for beat in of_block)
        else:
            assert not any(beat["error"] for beat in of_block)
            assert b"".join(beat["data"].to_bytes(BEAT_BYTES, "little") for beat in of_block) == tb.contents(request, number)
    assert [number for number, beat in enumerate(beats) if beat["last"]] == [(whole + 1) * block_beats - 1,
                                                                            (whole + 2) * block_beats - 1]
    assert not tb.out.words and not gone.medium
    flush = tb.ask(Request(FLUSH, 0, 0, 6))
    assert (await tb.answers(1))[0]["status"] == GONE


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def parts_of_members_that_are_gone_are_answered_after_their_beats(dut):
    tb = Testbench(dut, [0.0])
    for member in tb.members:
        member.gone = True
    await tb.start()
    tb.data.stall.share = 1.0  # the source stops
    write = tb.ask(Request(WRITE, 3, 2 * tb.chunk_blocks, 1))
    read = tb.ask(Request(READ, 3, 1, 2))
    await tb.cycles(200)
    assert not tb.response.words
    tb.data.stall.share = 0.0
    assert await tb.answers(2) == [response_to(write, GONE, 0), response_to(read, GONE, 0)]
    beats = await tb.beats_out(512 // BEAT_BYTES)
    assert all(beat["error"] for beat in beats) and [beat["last"] for beat in beats] == [0] * (len(beats) - 1) + [1]
    assert not tb.data.words


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
@cocotb.parametrize(which=range(DRIVES), op=[WRITE, READ])
async def parts_that_a_member_lost_are_answered_after_their_beats(dut, which, op):
    """A member is given up before it takes its part. The request's beats move all the same, and the response waits for them."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    lost = tb.members[which]
    lost.data_blocked = True
    stream = tb.data if op == WRITE else tb.out
    stream.stall.share = 1.0
    request = tb.ask(Request(op, which * tb.chunk_blocks, tb.chunk_blocks, 1))
    await tb.cycles(100)
    lost.gone = True
    tb.comes_up(lost)
    await tb.cycles(300)
    assert not tb.response.words, "answered before its beats have moved"
    stream.stall.share = 0.0
    assert await tb.answers(1) == [response_to(request, GONE, 0)]
    assert not tb.data.words and not lost.log
    if op == READ:
        beats = await tb.beats_out(CHUNK_BYTES // BEAT_BYTES)
        assert all(beat["error"] for beat in beats)


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_member_is_given_up_during_a_stream_and_returns(dut):
    """A member answers the parts that it was given before itself; later ones are not given to it until it is ready again."""
    tb = Testbench(dut, [0.0, 0.2])
    await tb.start()
    lost = tb.members[1]
    lost.stuck = True
    stream = tb.ask(Request(WRITE, 0, 12 * DRIVES * tb.chunk_blocks, 1))
    await tb.cycles(2 * RING_BYTES // BEAT_BYTES)
    lost.gone, lost.stuck = True, False
    tb.comes_up(lost)
    answers = await tb.answers(1)
    assert answers[0]["status"] == GONE and answers[0]["done"] < stream.blocks
    after = tb.ask(Request(WRITE, 20 * DRIVES * tb.chunk_blocks, 1, 2))
    assert await tb.answers(1) == [response_to(after, OK, 1)]
    lost.gone = False
    tb.comes_up(lost)
    await tb.cycles(4)
    back = tb.ask(Request(WRITE, 21 * DRIVES * tb.chunk_blocks, 2 * tb.chunk_blocks, 3))
    assert await tb.answers(1) == [response_to(back, OK, back.blocks)]
    for request in (after, back):
        for block in range(request.blocks):
            member, lba = tb.place(request.lba + block)
            assert tb.members[member].medium[lba] == tb.contents(request, block)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def members_of_different_block_sizes_are_no_array(dut):
    """Nothing reaches a member, no beat moves, and each command's status tells why."""
    tb = Testbench(dut, [0.0])
    tb.members[-1].block_bytes = 4096
    await tb.start()
    requests = [tb.ask(Request(READ, 0, 3 * tb.chunk_blocks, 1)), tb.ask(Request(WRITE, 5, 2, 2))]
    requests += [tb.ask(Request(FLUSH, 0, 0, 3)), tb.ask(Request(DEALLOCATE, 0, 8, 4))]
    answers = await tb.answers(4)
    assert sorted(answer["tag"] for answer in answers) == [1, 2, 3, 4]
    assert all(answer["status"] == INVALID and answer["done"] == 0 for answer in answers)
    await tb.cycles(50)
    assert not any(member.log for member in tb.members) and not tb.out.words
    assert all(member.beats_taken == 0 for member in tb.members)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def the_array_waits_for_its_last_member(dut):
    tb = Testbench(dut, [0.0])
    await tb.start()
    dut.rst_ni.value = 0
    tb.set("drive_ready_i", 0, 0)
    await tb.cycles(2)
    dut.rst_ni.value = 1
    request = tb.ask(Request(FLUSH, 0, 0, 1))
    await tb.cycles(100)
    assert not any(member.log for member in tb.members)
    tb.comes_up(tb.members[0])
    assert await tb.answers(1) == [response_to(request, OK, 0)]


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def nothing_blocks_a_members_responses(dut):
    """A user that takes no response, and a member that does not answer: there is room for the others' responses, even when one
    member could end more parts before it than there are places for their responses."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    tb.response.stall.share = 1.0
    tb.members[0].stuck = True
    requests = [tb.ask(Request(WRITE, (tag % 40 * DRIVES + (tag > 0)) * tb.chunk_blocks, 1, tag)) for tag in range(150)]
    await tb.cycles(5000)
    assert len(tb.members[1].log) == 64, "the number of commands is not the number of places"
    tb.response.stall.share = 0.0
    tb.members[0].stuck = False
    assert await tb.answers(len(requests)) == [response_to(request, OK, 1) for request in requests]


@cocotb.test(timeout_time=250, timeout_unit="us", skip=not STREAMS)
async def a_member_that_returns_with_other_blocks_leaves_no_beats(dut):
    """A member that was given up comes back with another block size in the middle of a write: all beats of the write are
    moved."""
    tb = Testbench(dut, [0.0])
    lost = tb.members[-1]
    lost.gone = True
    await tb.start()
    tb.ask(Request(WRITE, 0, 30 * DRIVES * tb.chunk_blocks, 1))
    await tb.cycles(1500)
    lost.gone, lost.block_bytes = False, 4096
    tb.comes_up(lost)
    assert (await tb.answers(1))[0]["status"] == GONE
    await tb.cycles(3000)
    assert not tb.data.words, "beats of the request were not moved"


@cocotb.test(timeout_time=250, timeout_unit="us", skip=not STREAMS)
async def members_that_were_all_gone_return(dut):
    tb = Testbench(dut, [0.0], block_bytes=4096)
    for member in tb.members:
        member.gone = True
    await tb.start()
    await tb.cycles(50)
    for member in tb.members:
        member.gone = False
        tb.comes_up(member)
    await tb.cycles(50)
    write = tb.ask(Request(WRITE, 0, 2, 1))
    assert await tb.answers(1) == [response_to(write, OK, 2)]


@cocotb.test(timeout_time=100, timeout_unit="us", skip=not STREAMS)
async def a_refused_write_takes_no_beat(dut):
    """The beats belong to the next write, or the user may withdraw them."""
    tb = Testbench(dut, [0.0])
    tb.members[-1].block_bytes = 4096
    await tb.start()
    tb.give(Request(WRITE, 0, 2, 1))
    for _ in range(4):
        tb.data.put(data=beat_data(tb.beats), last=0, null=0)
        tb.beats += 1
    assert await tb.answers(1) == [response_to(Request(WRITE, 0, 2, 1), INVALID, 0)]
    await tb.cycles(50)
    assert len(tb.data.words) == tb.beats, "beats without a request were taken"
