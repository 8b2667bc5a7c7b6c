# SPDX-License-Identifier: Apache-2.0
"""Requests to a stripe: where their data are placed, what they report, and flushes beside them."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from stripe_bench import CHUNK_BYTES, DRIVES, Request, Testbench, response_to
from stripe_member import ADDRESS, BEAT_BYTES, DEALLOCATE, FLUSH, FORMAT, INVALID, MAILBOX, OK, RANGE, READ, STREAMS, WIDTH, WRITE


@cocotb.test(timeout_time=500, timeout_unit="us", skip=not STREAMS)
@cocotb.parametrize(block_bytes=[512, 4096], stall=[0.0, 0.4])
async def data_are_placed_as_by_linux_md(dut, block_bytes, stall):
    """Writes of all sizes at all places, then everything is read back. No two writes overlap."""
    tb = Testbench(dut, [stall, 0.0, 0.7 * bool(stall), 0.2], stall=stall, block_bytes=block_bytes)
    await tb.start()
    writes, lba = [], random.randrange(3)
    for tag in range((12 if block_bytes == 512 else 6) if WIDTH == 512 else 5):
        blocks = random.choice((1, random.randint(1, 4), random.randint(1, 2 * tb.chunk_blocks + 3)))
        if lba + blocks > tb.array_blocks:
            break
        writes.append(tb.ask(Request(WRITE, lba, blocks, tag, fua=random.getrandbits(1))))
        lba += blocks + random.choice((0, 0, 1, random.randrange(2 * tb.chunk_blocks)))
    answers = await tb.answers(len(writes))
    assert answers == [response_to(write, OK, write.blocks) for write in writes]
    written = {}
    for write in writes:
        for block in range(write.blocks):
            written[tb.place(write.lba + block)] = tb.contents(write, block)
    found = {(i, lba): data for i, member in enumerate(tb.members) for lba, data in member.medium.items()}
    assert found == written
    for member in tb.members:  # FUA is passed on with each part
        for command in member.log:
            assert command.fua == next(write.fua for write in writes for block in range(write.blocks)
                                       if tb.place(write.lba + block) == (member.index, command.lba))
    assert int(dut.written_blocks_o.value) == sum(write.blocks for write in writes)
    order = random.sample(writes, len(writes))
    reads = [tb.ask(Request(READ, write.lba, write.blocks, 100 + write.tag)) for write in order]
    answers = await tb.answers(len(reads))
    assert answers == [response_to(read, OK, read.blocks) for read in reads]
    expected = b"".join(tb.contents(write, block) for write in order for block in range(write.blocks))
    await tb.check_out(expected, reads)


@cocotb.test(timeout_time=300, timeout_unit="us", skip=STREAMS)
@cocotb.parametrize(block_bytes=[512, 4096])
async def addresses_advance_with_the_chunks(dut, block_bytes):
    tb = Testbench(dut, [0.0, 0.3], block_bytes=block_bytes)
    await tb.start()
    request = tb.ask(Request(WRITE, 5, 5 * tb.chunk_blocks, 7, address=0x12340000))
    assert await tb.answers(1) == [response_to(request, OK, request.blocks)]
    expected, address, lba = {i: [] for i in range(DRIVES)}, request.address, request.lba
    left = request.blocks
    while left:
        blocks = min(left, tb.chunk_blocks - lba % tb.chunk_blocks)
        member, member_lba = tb.place(lba)
        expected[member].append((member_lba, blocks, address, ADDRESS))
        address, lba, left = address + blocks * block_bytes, lba + blocks, left - blocks
    for member in tb.members:
        log = [(command.lba, command.blocks, command.address, command.source) for command in member.log]
        assert log == expected[member.index]


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_request_reports_its_first_error(dut):
    """`done` counts the blocks before the error, and the request's beats still move. A flush counts each write with its
    `done`."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    blocks = 3 * tb.chunk_blocks
    good = tb.ask(Request(WRITE, 0, 5, 1))
    bad_lba = tb.chunk_blocks + 9  # 9 blocks into the second chunk of the request: fails a command of 4 KiB
    member, lba = tb.place(8 + bad_lba)
    tb.members[member].bad_blocks.add(lba)
    member, lba = tb.place(8 + 2 * tb.chunk_blocks + 1)  # a later error, which must not be reported
    tb.members[member].bad_blocks.add(lba)
    bad = tb.ask(Request(WRITE, 8, blocks, 2))
    read = tb.ask(Request(READ, 8, blocks, 3))
    after = tb.ask(Request(WRITE, 4 * tb.chunk_blocks, 3, 4))
    answers = await tb.answers(4)
    first_part = tb.chunk_blocks - 8  # up to the end of its first chunk
    in_second = (8 + bad_lba - tb.chunk_blocks) // 8 * 8  # good blocks of the second chunk: whole commands of 4 KiB
    done = first_part + in_second
    assert answers[0] == response_to(good, OK, 5)
    assert answers[1] == response_to(bad, 0x0281, done)
    assert answers[2]["status"] == 0x0281 and answers[3] == response_to(after, OK, 3)
    beats = await tb.beats_out(blocks * tb.block_bytes // BEAT_BYTES)
    assert beats[-1]["last"] and sum(beat["last"] for beat in beats) == 1 and not tb.out.words
    assert any(beat["error"] for beat in beats) and not all(beat["error"] for beat in beats)
    assert int(dut.written_blocks_o.value) == 5 + done + 3
    flush = tb.ask(Request(FLUSH, 0, 0, 9))
    assert await tb.answers(1) == [response_to(flush, OK, 5 + done + 3)]
    del read


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def beyond_the_array_nothing_is_written(dut):
    """A request beyond the array still moves its beats: what follows is in its place. Members are larger than their data area."""
    tb = Testbench(dut, [0.0, 0.3])
    await tb.start()
    beyond = [Request(WRITE, tb.array_blocks - 3, 4, 1), Request(WRITE, 1 << 43, 2, 2), Request(READ, tb.array_blocks, 2, 3),
              Request(WRITE, (1 << 64) - 1, 2, 4)]
    for request in beyond:
        tb.ask(request)
    zero = tb.ask(Request(READ, 0, 0, 5))
    last = tb.ask(Request(WRITE, tb.array_blocks - 3, 3, 6))
    answers = await tb.answers(6)
    assert answers == [response_to(r, RANGE, 0) for r in beyond] + [response_to(zero, INVALID, 0), response_to(last, OK, 3)]
    beats = await tb.beats_out(2 * tb.block_bytes // BEAT_BYTES)
    assert not tb.out.words and all(beat["error"] for beat in beats)
    found = {(i, lba): data for i, member in enumerate(tb.members) for lba, data in member.medium.items()}
    assert found == {tb.place(last.lba + block): tb.contents(last, block) for block in range(3)}


@cocotb.test(timeout_time=300, timeout_unit="us")
@cocotb.parametrize(block_bytes=[512, 4096])
async def deallocate_covers_its_range_on_each_member(dut, block_bytes):
    tb = Testbench(dut, [0.3, 0.0], block_bytes=block_bytes)
    await tb.start()
    for tag in range(15):
        for member in tb.members:
            member.log.clear()
        lba = random.randrange(tb.array_blocks)
        blocks = random.choice((1, random.randint(1, 3 * tb.chunk_blocks), tb.array_blocks - lba))
        blocks = min(blocks, tb.array_blocks - lba)
        request = tb.ask(Request(DEALLOCATE, lba, blocks, tag))
        assert await tb.answers(1) == [response_to(request, OK, 0)]
        covered = []
        for member in tb.members:
            assert len(member.log) <= 1
            covered += [(member.index, command.lba + block) for command in member.log for block in range(command.blocks)]
        assert sorted(covered) == sorted(tb.place(lba + block) for block in range(blocks))
    for request, status in ((Request(DEALLOCATE, tb.array_blocks - 1, 2, 40), RANGE), (Request(DEALLOCATE, 0, 0, 41), INVALID),
                            (Request(FORMAT, 0, 0, 42), INVALID), (Request(READ, 0, 1, 43, source=MAILBOX), INVALID)):
        tb.ask(request)
        assert await tb.answers(1) == [response_to(request, status, 0)]


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_flush_goes_to_all_and_passes_the_stream(dut):
    tb = Testbench(dut, [0.0, 0.4])
    await tb.start()
    first = tb.ask(Request(WRITE, 0, 2 * tb.chunk_blocks, 1))
    assert await tb.answers(1) == [response_to(first, OK, first.blocks)]
    stuck = tb.members[2 % DRIVES]  # the member at which the stream begins
    stuck.stuck = True
    stream = tb.ask(Request(WRITE, first.blocks, 8 * tb.chunk_blocks, 2))
    await tb.cycles(300)
    flush = tb.ask(Request(FLUSH, 0, 0, 3))
    assert await tb.answers(1) == [response_to(flush, OK, first.blocks)]
    assert all(any(command.op == FLUSH for command in member.log) for member in tb.members)
    tb.members[-1].flush_status = 0x0006
    failing = tb.ask(Request(FLUSH, 0, 0, 4))
    assert await tb.answers(1) == [response_to(failing, 0x0006, first.blocks)]
    stuck.stuck = False
    assert await tb.answers(1) == [response_to(stream, OK, stream.blocks)]


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_beat_each_cycle(dut):
    """Members that are fast enough: within a stream of writes no cycle is lost."""
    tb = Testbench(dut, [0.0])
    for member in tb.members:
        member.carry_out = lambda entry, size, block, data: entry.update(done=entry["done"] + size // 512)
    await tb.start()
    tb.ask(Request(WRITE, 0, 8 * tb.chunk_blocks, 1))
    while tb.data.taken < 16:  # the first ones wait in the stripe
        await RisingEdge(dut.clk_i)
    begin, beats = tb.data.taken, 2 * CHUNK_BYTES // BEAT_BYTES
    await tb.cycles(beats)
    # The model itself pauses for a cycle at each command of 4 KiB.
    assert tb.data.taken - begin >= beats - 2 * CHUNK_BYTES // 4096 * 2


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def flushes_between_writes_lose_nothing(dut):
    """Data and side commands arrive at the members' ports at the same time."""
    tb = Testbench(dut, [0.0, 0.2])
    await tb.start()
    requests = []
    for tag in range(40):
        lba = tag * tb.chunk_blocks % tb.array_blocks
        requests.append(tb.ask(Request(FLUSH, 0, 0, tag) if tag % 3 == 2 else Request(WRITE, lba, 2, tag)))
    answers = await tb.answers(len(requests))
    assert sorted(answer["tag"] for answer in answers) == list(range(40))
    for write in (request for request in requests if request.op == WRITE):
        for block in range(2):
            member, lba = tb.place(write.lba + block)
            assert tb.members[member].medium[lba] == tb.contents(write, block)


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_flush_that_cannot_be_taken_does_not_stop_the_stream(dut):
    """A member takes no side command: the data commands continue, and the flush is taken when the member can."""
    tb = Testbench(dut, [0.0, 0.2])
    await tb.start()
    tb.members[0].side_blocked = True
    flush = tb.ask(Request(FLUSH, 0, 0, 1))
    await tb.cycles(30)
    requests = [tb.ask(Request(WRITE, tag * tb.chunk_blocks, 2, tag)) for tag in range(2, 22)]
    assert await tb.answers(len(requests)) == [response_to(request, OK, 2) for request in requests]
    tb.members[0].side_blocked = False
    assert await tb.answers(1) == [response_to(flush, OK, 0)]


@cocotb.test(timeout_time=300, timeout_unit="us", skip=not STREAMS)
async def a_flush_taken_while_parts_wait_loses_none(dut):
    """The members' lines are full of parts that wait, and each member takes a side command past them."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    for member in tb.members:
        member.stuck = True
    reads = [tb.ask(Request(READ, chunk * tb.chunk_blocks, tb.chunk_blocks, chunk)) for chunk in range(9 * DRIVES)]
    await tb.cycles(300)
    for tag in range(100, 103):
        flush = tb.ask(Request(FLUSH, 0, 0, tag))
        assert await tb.answers(1) == [response_to(flush, OK, 0)]
    for member in tb.members:
        member.stuck = False
    assert await tb.answers(len(reads)) == [response_to(read, OK, read.blocks) for read in reads]
    for member in tb.members:  # each part once, and the side commands
        taken = [command.lba for command in member.log if command.op == READ]
        assert taken == [tb.place(read.lba)[1] for read in reads if tb.place(read.lba)[0] == member.index]


@cocotb.test(timeout_time=300, timeout_unit="us", skip=STREAMS)
async def responses_that_are_ready_at_once_are_all_given(dut):
    """Writes wait for the first one, which a member holds. Then all end at once, while deallocations of no blocks end, too."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    tb.members[0].stuck = True
    writes = [tb.ask(Request(WRITE, tb.chunk_blocks * (tag > 0), 1, tag)) for tag in range(12)]
    await tb.cycles(1000)
    assert not tb.response.words
    tb.members[0].stuck = False
    others = [tb.ask(Request(DEALLOCATE, 0, 0, 100 + tag)) for tag in range(40)]
    answers = await tb.answers(len(writes) + len(others))
    assert [one for one in answers if one["tag"] < 100] == [response_to(write, OK, 1) for write in writes]
    assert [one for one in answers if one["tag"] >= 100] == [response_to(other, INVALID, 0) for other in others]
