# SPDX-License-Identifier: Apache-2.0
"""Requests through the ring in a memory behind AXI: their data, errors of drive and memory, flushes, and drives that are gone."""

import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from ring_ddr_bench import (ADDRESS, BEAT_BYTES, DEALLOCATE, FLUSH, GONE, INVALID, MAILBOX, MEMORY, OK, PART_BYTES, RANGE, READ,
                                Request, Testbench, WIDTH, WRITE, beat_data, response_to)


@cocotb.test(timeout_time=300, timeout_unit="us")
@cocotb.parametrize(block_bytes=[512, 4096], stall=[0.0, 0.4])
async def what_is_written_is_read_back(dut, block_bytes, stall):
    """More data than the ring holds, with writes and reads interleaved. Each read covers blocks written before it."""
    tb = Testbench(dut, stall, block_bytes=block_bytes)
    await tb.start()
    ring_blocks = tb.ring_bytes // block_bytes
    requests, contents, expected, lba = [], {}, [], 0
    for tag in range(2 + 10 * WIDTH // 512):
        blocks = random.choice((1, random.randint(1, 4), random.randint(1, 2 * ring_blocks)))
        request = tb.ask(Request(WRITE, lba, blocks, 2 * tag, fua=random.getrandbits(1)))
        requests.append(request)
        contents.update({lba + block: tb.contents(request, block) for block in range(blocks)})
        lba += blocks
        first = random.randrange(lba)
        request = tb.ask(Request(READ, first, random.randint(1, min(lba - first, ring_blocks + 2)), 2 * tag + 1))
        requests.append(request)
        expected += [contents[request.lba + block] for block in range(request.blocks)]
    assert await tb.answers(len(requests)) == [response_to(request, OK, request.blocks) for request in requests]
    await tb.cycles(20)
    assert tb.drive.medium == contents
    beats = list(tb.out.words)
    assert b"".join(beat["data"].to_bytes(BEAT_BYTES, "little") for beat in beats) == b"".join(expected)
    lasts = []
    for request in requests:
        if request.op == READ:
            lasts += [0] * (request.blocks * block_bytes // BEAT_BYTES - 1) + [1]
    assert [beat["last"] for beat in beats] == lasts and not any(beat["error"] for beat in beats)
    check_parts(tb, requests)


def check_parts(tb: Testbench, requests: list[Request]) -> None:
    """The commands that the drive got cover each request once, in order, and are not larger than a part."""
    log = deque(tb.drive.log)
    for request in requests:
        lba = request.lba
        while lba < request.lba + request.blocks:
            command = log.popleft()
            assert (command["op"], command["lba"], command["fua"]) == (request.op, lba, request.fua)
            assert 0 < command["blocks"] * tb.block_bytes <= PART_BYTES
            lba += command["blocks"]
        assert lba == request.lba + request.blocks
    assert not log


@cocotb.test(timeout_time=300, timeout_unit="us")
async def errors_of_drive_and_memory(dut):
    """The first error is the request's. Data that the memory lost are not written to the drive; every beat is moved."""
    tb = Testbench(dut, 0.2, ring_pages=64)  # nothing wraps: the places are known
    await tb.start()
    part_blocks = PART_BYTES // 512
    first = tb.ask(Request(WRITE, 0, 16, 1))
    tb.drive.bad_blocks.add(103)
    second = tb.ask(Request(WRITE, 100, 2 * part_blocks, 2))
    place = 16 + 2 * part_blocks
    tb.memory.bad_write.add(place * 512)
    third = tb.ask(Request(WRITE, 300, 8, 4))
    fourth = tb.ask(Request(WRITE, 400, 3, 5))
    assert await tb.answers(4) == [response_to(first, OK, 16), response_to(second, 0x0281, 3),
                                      response_to(third, MEMORY, 0), response_to(fourth, OK, 3)]
    assert not any(lba in tb.drive.medium for lba in range(300, 308))
    assert [tb.drive.medium[400 + block] for block in range(3)] == [tb.contents(fourth, block) for block in range(3)]
    reads = [Request(READ, 400, 3, 6), Request(READ, 102, 2, 7), Request(READ, 400, 2, 8), Request(READ, 401, 2, 9)]
    tb.memory.bad_read.add((place + 8 + 3 + 3 + 2) * 512)  # of the third request: the drive had no error
    for read in reads:
        tb.ask(read)
    answers = await tb.answers(4)
    await tb.cycles(20)
    assert answers == [response_to(reads[0], OK, 3), response_to(reads[1], 0x0281, 1), response_to(reads[2], MEMORY, 0),
                       response_to(reads[3], OK, 2)]
    beats = [tb.beats_out(read.blocks) for read in reads]
    assert [{beat["error"] for beat in of_read} for of_read in beats] == [{0}, {1}, {1}, {0}]
    assert [of_read[-1]["last"] for of_read in beats] == [1, 1, 1, 1] and not tb.out.words


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_read_that_drive_and_memory_fail_has_no_good_block(dut):
    """The drive read three blocks and failed at the next one; the memory lost the burst that contains these blocks."""
    tb = Testbench(dut, 0.2, ring_pages=64)
    await tb.start()
    tb.drive.bad_blocks.add(103)
    tb.memory.bad_read.add(0)
    read = tb.ask(Request(READ, 100, 8, 1))
    assert await tb.answers(1) == [response_to(read, 0x0281, 0)]
    await tb.cycles(20)
    assert all(beat["error"] for beat in tb.beats_out(read.blocks)) and not tb.out.words


@cocotb.test(timeout_time=300, timeout_unit="us")
async def beats_wait_for_their_request(dut):
    """Beats that no request has asked for still belong to the user, who may withdraw them with a reset. None is taken before the
    first write, after a write, for a read, or for a request without beats."""
    tb = Testbench(dut, 0.2)
    await tb.start()
    for beat in range(1000, 3000):
        tb.data.put(data=beat_data(beat), last=0, null=0)
    await tb.cycles(100)
    assert tb.data.taken == 0
    for request in (Request(WRITE, 0, 0, 1), Request(WRITE, 0, 5, 2, source=ADDRESS), Request(READ, 0, 3, 3)):
        tb.give(request)
    await tb.answers(3)
    await tb.cycles(100)
    assert tb.data.taken == 0
    for tag, blocks in ((4, 1), (5, 11), (6, 2)):
        taken = tb.data.taken
        write = Request(WRITE, 10 * tag, blocks, tag, first_beat=1000 + taken)
        tb.give(write)
        assert await tb.answers(1) == [response_to(write, OK, blocks)]
        await tb.cycles(100)
        assert tb.data.taken == taken + blocks * 512 // BEAT_BYTES
        assert [tb.drive.medium[write.lba + i] for i in range(blocks)] == [tb.contents(write, i) for i in range(blocks)]


@cocotb.test(timeout_time=300, timeout_unit="us")
async def invalid_requests_are_refused(dut):
    tb = Testbench(dut, 0.2, ready=False)
    await tb.start()
    requests = [(Request(WRITE, tb.namespace_blocks - 3, 4, 1), RANGE), (Request(READ, 1 << 40, 2, 2), RANGE),
                (Request(READ, 0, 0, 3), INVALID), (Request(WRITE, 0, 5, 4, source=ADDRESS), INVALID),
                (Request(WRITE, tb.namespace_blocks - 3, 3, 5), OK)]
    for request, _ in requests:
        tb.ask(request)
    await tb.cycles(200)
    assert not tb.drive.log and not tb.response.words, "the request did not wait for the drive"
    tb.show_drive(ready=1)
    answers = await tb.answers(len(requests))
    assert answers == [response_to(request, status, request.blocks if status == OK else 0) for request, status in requests]
    await tb.cycles(20)
    good = requests[-1][0]
    assert tb.drive.medium == {good.lba + block: tb.contents(good, block) for block in range(3)}
    assert all(beat["error"] for beat in tb.beats_out(2)) and not tb.out.words


@cocotb.test(timeout_time=300, timeout_unit="us")
async def side_commands_pass_a_full_ring(dut):
    """A drive that does not answer and a full ring: a flush passes, and gets the drive's response."""
    tb = Testbench(dut, 0.0)
    await tb.start()
    tb.drive.stuck = True
    stream = tb.ask(Request(WRITE, 0, 3 * tb.ring_bytes // 512, 1))
    while tb.data.taken < tb.ring_bytes // BEAT_BYTES:
        await RisingEdge(dut.clk_i)
    await tb.cycles(300)
    assert tb.data.taken <= tb.ring_bytes // BEAT_BYTES + 2 * 4096 // BEAT_BYTES and not tb.response.words
    for request, status, done in ((Request(FLUSH, 0, 77, 2), OK, 0), (Request(DEALLOCATE, 5, 6, 3), 1, 6),
                                  (Request(READ, 9, 1, 4, source=MAILBOX), OK, 1)):
        tb.ask(request)
        assert await tb.answers(1) == [response_to(request, status, done)]
    tb.drive.stuck = False
    assert await tb.answers(1) == [response_to(stream, OK, stream.blocks)]


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_stalled_user_does_not_stall_the_memory(dut):
    """A source that stops within a burst has not started it; a reader that stops has room for what was requested."""
    tb = Testbench(dut, 0.0, delay_cycles=0)
    await tb.start()
    cocotb.start_soon(never_in_the_way(dut))
    tb.data.stall.share, tb.data.stall.run_cycles = 0.9, 200
    write = tb.ask(Request(WRITE, 0, 24, 1))
    assert await tb.answers(1) == [response_to(write, OK, 24)]
    tb.out.stall.share, tb.out.stall.run_cycles = 0.8, 200
    read = tb.ask(Request(READ, 0, 24, 2))
    assert await tb.answers(1) == [response_to(read, OK, 24)]


async def never_in_the_way(dut) -> None:
    """Once a burst's first beat is sent the others follow without a pause; data that are read are taken at once."""
    in_burst = False
    while True:
        await ReadOnly()
        assert not in_burst or dut.m_axi_wvalid_o.value, "a burst began without its data"
        assert not dut.m_axi_rvalid_i.value or dut.m_axi_rready_o.value, "a burst was requested without room"
        if dut.m_axi_wvalid_o.value and dut.m_axi_wready_i.value:
            in_burst = not dut.m_axi_wlast_o.value
        await RisingEdge(dut.clk_i)


@cocotb.test(timeout_time=300, timeout_unit="us")
@cocotb.parametrize(op=[WRITE, READ])
async def nearly_a_beat_each_cycle(dut, op):
    """Nothing stalls: a cycle or two are lost at each burst of 4 KiB."""
    tb = Testbench(dut, 0.0, ring_pages=64, delay_cycles=0)
    await tb.start()
    bursts = 10
    request = tb.ask(Request(op, 0, 8 * bursts, 1))
    moved = (lambda: tb.data.taken) if op == WRITE else (lambda: len(tb.out.words))
    while moved() < 3 * 4096 // BEAT_BYTES:  # until the memory in between is full
        await RisingEdge(dut.clk_i)
    begin, cycles = moved(), 5 * 4096 // BEAT_BYTES
    await tb.cycles(cycles)
    assert moved() - begin >= cycles - 5 * 3
    assert await tb.answers(1) == [response_to(request, OK, request.blocks)]


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_flush_that_cannot_be_taken_does_not_stop_the_stream(dut):
    """The drive takes no side command for now: parts continue, and the flush is taken when the drive can."""
    tb = Testbench(dut, 0.0)
    await tb.start()
    tb.drive.side_blocked = True
    first = tb.ask(Request(WRITE, 0, 2 * tb.ring_bytes // 512, 1))
    flush = tb.ask(Request(FLUSH, 0, 0, 2))
    assert await tb.answers(1) == [response_to(first, OK, first.blocks)]
    tb.drive.side_blocked = False
    assert await tb.answers(1) == [response_to(flush, OK, first.blocks)]


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_flush_counts_the_good_blocks_of_each_request(dut):
    """The drive does not know of data that the ring's memory lost: of a request of several parts, only those before the lost part
    count, although the drive has written those after it. The count is the sum of `done` in the responses, as in the core."""
    tb = Testbench(dut, 0.2, ring_pages=64)
    await tb.start()
    part_blocks = PART_BYTES // 512
    tb.memory.bad_write.add(2 * PART_BYTES)  # the second part of the second request
    tb.drive.bad_blocks.add(900 + 2)
    requests = [tb.ask(Request(WRITE, 0, part_blocks, 1)), tb.ask(Request(WRITE, 200, 4 * part_blocks, 2)),
                tb.ask(Request(WRITE, 600, 5, 3)), tb.ask(Request(WRITE, 900, 4, 4)), tb.ask(Request(READ, 0, 3, 5))]
    answers = await tb.answers(len(requests))
    assert [(answer["status"], answer["done"]) for answer in answers] == [
        (OK, part_blocks), (MEMORY, part_blocks), (OK, 5), (0x0281, 2), (OK, 3)]
    flush = tb.ask(Request(FLUSH, 0, 0, 6))
    assert await tb.answers(1) == [response_to(flush, OK, sum(answer["done"] for answer in answers[:4]))]
    assert tb.drive.written == sum(answer["done"] for answer in answers[:4]) + 2 * part_blocks, "other parts are missing"
    assert int(dut.written_blocks_o.value) == sum(answer["done"] for answer in answers[:4])


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_flush_counts_what_was_done_when_the_drive_took_it(dut):
    """A part that ends while the drive flushes may have come after the flush."""
    tb = Testbench(dut, 0.0)
    await tb.start()
    before = tb.ask(Request(WRITE, 0, 3, 1))
    assert await tb.answers(1) == [response_to(before, OK, 3)]
    tb.drive.side_stuck = True
    flush = tb.ask(Request(FLUSH, 0, 0, 2))
    await tb.cycles(20)
    after = tb.ask(Request(WRITE, 8, 5, 3))
    assert await tb.answers(1) == [response_to(after, OK, 5)]
    tb.drive.side_stuck = False
    assert await tb.answers(1) == [response_to(flush, OK, 3)]


@cocotb.test(timeout_time=300, timeout_unit="us")
async def responses_that_wait_are_not_lost(dut):
    """The next request's last beat waits. More requests that are not sent to the drive than there are places wait behind one for
    which the drive does not answer."""
    tb = Testbench(dut, 0.0)
    await tb.start()
    tb.response.stall.share = 1.0
    tb.drive.stuck = True
    reads = [tb.ask(Request(READ, tag, 2, tag)) for tag in range(3)]
    none = [tb.ask(Request(READ, 0, 0, tag)) for tag in range(3, 80)]
    await tb.cycles(700)
    tb.drive.stuck = False
    await tb.cycles(400)
    tb.response.stall.share = 0.0
    assert await tb.answers(80) == [response_to(r, OK, 2) for r in reads] + [response_to(r, INVALID, 0) for r in none]
    await tb.cycles(20)
    assert len(tb.out.words) == 3 * 2 * 512 // BEAT_BYTES


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_last_beat_stays_when_a_flush_responds(dut):
    """A reader may take its time over the last beat of a read. A flush's response that nobody takes does not withdraw it."""
    tb = Testbench(dut, 0.0)
    await tb.start()
    tb.response.stall.share = tb.out.stall.share = 1.0
    tb.out.stall.run_cycles = 1
    read = tb.ask(Request(READ, 0, 1, 1))
    while not (dut.data_valid_o.value and dut.data_last_o.value):  # one beat at a time, up to the last one
        await tb.cycles(3)
        tb.out.stall.share = 0.0 if dut.data_valid_o.value and not dut.data_last_o.value else 1.0
        await RisingEdge(dut.clk_i)
        tb.out.stall.share = 1.0
    assert len(tb.out.words) == 512 // BEAT_BYTES - 1
    flush = tb.ask(Request(FLUSH, 0, 0, 2))
    for _ in range(60):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert dut.data_valid_o.value and dut.data_last_o.value, "the last beat was withdrawn"
    assert dut.response_valid_o.value
    await RisingEdge(dut.clk_i)
    tb.response.stall.share = 0.0
    assert await tb.answers(1) == [response_to(flush, OK, 0)]
    tb.out.stall.share = 0.0
    assert await tb.answers(1) == [response_to(read, OK, 1)]


@cocotb.test(timeout_time=300, timeout_unit="us")
async def commands_wait_for_a_slow_memory(dut):
    """Until the memory has answered, there are at most 32 bursts, and the drive gets no command."""
    tb = Testbench(dut, 0.0, ring_pages=64, delay_cycles=0)
    await tb.start()
    tb.memory.b.stall.share = 1.0
    write = tb.ask(Request(WRITE, 0, 8 * 40, 1))
    await tb.cycles(50 * 4096 // BEAT_BYTES)
    assert len(tb.memory.b.words) == 32 and not tb.drive.log
    tb.memory.b.stall.share = 0.0
    assert await tb.answers(1) == [response_to(write, OK, write.blocks)]
    assert all(tb.drive.medium[block] == tb.contents(write, block) for block in range(write.blocks))


@cocotb.test(timeout_time=300, timeout_unit="us")
async def large_blocks_after_small_ones_lie_whole_in_the_ring(dut):
    """An odd number of sectors is used when a drive with larger blocks comes: a part at the ring's end still ends with a
    block."""
    tb = Testbench(dut, 0.1, ring_pages=16)
    await tb.start()
    small = tb.ask(Request(WRITE, 0, 3, 1))
    assert await tb.answers(1) == [response_to(small, OK, 3)]
    await tb.cycles(20)
    tb.show_drive(block_4096=1)
    tb.block_bytes = 4096
    blocks = 2 * tb.ring_bytes // 4096 + 3
    written, read = tb.ask(Request(WRITE, 7, blocks, 2)), tb.ask(Request(READ, 7, blocks, 3))
    assert await tb.answers(2) == [response_to(written, OK, blocks), response_to(read, OK, blocks)]
    for block in range(blocks):
        assert tb.drive.medium[7 + block] == tb.contents(written, block)
    await tb.cycles(20)
    assert len(tb.beats_out(blocks)) == blocks * 4096 // BEAT_BYTES and not tb.out.words


@cocotb.test(timeout_time=300, timeout_unit="us")
@cocotb.parametrize(op=[WRITE, READ])
async def requests_for_a_lost_drive_are_not_sent_to_the_next(dut, op):
    """A request is half split when the drive goes, and the next drive has larger blocks: every beat is moved, and the parts that
    the drive was not given are given to none."""
    tb = Testbench(dut, 0.1, ring_pages=16)
    await tb.start()
    if op == READ:
        tb.drive.stuck = True  # the others wait for room in the drive
    else:
        tb.data.stall.share = 1.0  # all of them wait for data
    request = tb.ask(Request(op, 0, 3 * tb.ring_bytes // 512, 1))
    await tb.cycles(400)
    asked = len(tb.drive.log)
    tb.show_drive(ready=0, gone=1)
    await tb.cycles(random.randint(1, 3))
    tb.show_drive(gone=0)
    await tb.cycles(40)
    tb.show_drive(ready=1, block_4096=1)
    tb.drive.stuck, tb.data.stall.share = False, 0.1
    answer, = await tb.answers(1)
    assert (answer["tag"], answer["status"]) == (1, GONE)
    assert len(tb.drive.log) <= asked + 1 and (op == READ or not tb.drive.log), "the new drive got parts of the request"
    await tb.cycles(20)
    if op == READ:
        beats = tb.beats_out(request.blocks)
        assert all(beat["error"] for beat in beats[answer["done"] * 512 // BEAT_BYTES:])
        assert [beat["last"] for beat in beats] == [0] * (len(beats) - 1) + [1]
    tb.block_bytes = 4096
    written, read = tb.ask(Request(WRITE, 7, 5, 2)), tb.ask(Request(READ, 7, 5, 3))
    assert await tb.answers(2) == [response_to(written, OK, 5), response_to(read, OK, 5)]
    assert [tb.drive.medium[7 + block] for block in range(5)] == [tb.contents(written, block) for block in range(5)]
    await tb.cycles(20)
    assert len(tb.beats_out(5)) == 5 * 4096 // BEAT_BYTES and not tb.out.words


async def comes_and_goes(tb: Testbench) -> None:
    """The drive is given up at any time, as briefly as possible, and comes back after a while."""
    while True:
        await tb.cycles(random.randint(50, 1000))
        tb.show_drive(ready=0, gone=1)
        tb.drive.gone = True
        await tb.cycles(random.choice((1, 2, 3, random.randint(4, 200))))
        tb.show_drive(gone=0)
        await tb.cycles(random.choice((0, 1, random.randint(2, 200))))
        tb.show_drive(ready=1)
        tb.drive.gone = False


@cocotb.test(timeout_time=400, timeout_unit="us")
async def the_drive_comes_and_goes_at_any_time(dut):
    """With a memory that fails now and then. Blocks written with StatusOk are stored. Of a read, the first `done` blocks have no
    flag, a block for which a drive was missing has one, and beats without a flag are right. No beat is missing, and none is
    surplus."""
    tb = Testbench(dut, 0.2)
    await tb.start()
    tb.memory.bad_write, tb.memory.bad_read = {4096}, {3 * 4096}
    chaos = cocotb.start_soon(comes_and_goes(tb))
    ring_blocks = tb.ring_bytes // 512
    writes, lba = [], 0
    for tag in range(20):
        writes.append(tb.ask(Request(WRITE, lba, random.choice((1, 5, random.randint(1, 2 * ring_blocks))), tag)))
        lba += writes[-1].blocks
    written, statuses = {}, set()
    for write, answer in zip(writes, await tb.answers(len(writes))):
        assert answer["tag"] == write.tag and (answer["done"] == write.blocks) == (answer["status"] == OK)
        statuses.add(answer["status"])
        for block in range(answer["done"]):
            assert tb.drive.medium[write.lba + block] == tb.contents(write, block)
            written[write.lba + block] = tb.contents(write, block)
    assert not tb.data.words
    reads = [tb.ask(Request(READ, write.lba, write.blocks, 100 + write.tag)) for write in writes]
    answers = await tb.answers(len(reads))
    await tb.cycles(40)
    for read, answer in zip(reads, answers):
        assert answer["tag"] == read.tag and (answer["done"] == read.blocks) == (answer["status"] == OK)
        statuses.add(answer["status"])
        beats, block_beats = tb.beats_out(read.blocks), 512 // BEAT_BYTES
        assert [beat["last"] for beat in beats] == [0] * (len(beats) - 1) + [1]
        for block in range(read.blocks):
            of_block = beats[block * block_beats:(block + 1) * block_beats]
            good = not any(beat["error"] for beat in of_block)
            assert good or block >= answer["done"]
            assert not good or block != answer["done"] or answer["status"] == MEMORY  # the error may be of a later burst
            if good and read.lba + block in written:
                assert b"".join(beat["data"].to_bytes(BEAT_BYTES, "little") for beat in of_block) == written[read.lba + block]
    assert not tb.out.words and {OK, GONE} <= statuses <= {OK, GONE, MEMORY}
    chaos.cancel()
