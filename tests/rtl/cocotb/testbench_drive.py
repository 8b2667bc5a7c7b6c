# SPDX-License-Identifier: Apache-2.0
"""spate_drive with a drive on its adapter's side, from PERST# on: streams or memory in, streams or memory out, every byte
compared. The drive reads at random, completes in any order, and loses, doubles and drops completions; resets and link drops come
at any time. The expected result of a request comes from the request and from the faults that the drive was asked to make."""

import os
import random

import cocotb
from spate_sim.controller import ALL_ONES, DNR, DOUBLE, LOST, STEP_NS
from spate_sim.nvme import AHEAD, CQ, LATE, MEDIA_ERROR, PATH_ERROR, PRP, RANGE, SQ, WRONG_HEAD, WRONG_ID, WRONG_PHASE

from core_drive import MAILBOX, STREAM
from drive_bench import (BEAT, BLOCK, BLOCKS, BLOCK_SHIFT, DEADLINE, GONE, RAM_BYTES, RETRIES_MAX, SLOTS, WINDOW,
                         WINDOW_BITS, Testbench)

REQUESTS = int(os.environ["REQUESTS"])
CASES = os.environ["CASES"].split()


def case(function):
    """A test that runs only with selected shapes of the core."""
    return cocotb.test(timeout_time=12, timeout_unit="ms", skip=function.__name__ not in CASES)(function)


@case
async def streams_go_through_whole(dut):
    tb = Testbench(dut, stall=0.2)
    await tb.ready()
    await tb.traffic(REQUESTS)
    await tb.finish()
    tb.read()
    await tb.finish()
    events = tb.drive.events
    assert not tb.failed and not any(events.values()), f"events of a drive without fault: {dict(events)}"
    log = tb.drive.io_log
    assert any(sqe[12] >> 30 & 1 for sqe in log) and any(sqe[0] & 0xFF == 2 for sqe in log)
    dut._log.info("%d commands in %d cycles", len(log), tb.drive.cycle)


@case
async def every_slot_has_a_list_of_its_own(dut):
    tb = Testbench(dut, stall=0.1)
    await tb.ready()
    for i in range(SLOTS):  # slots are used in rotation; one block needs no list, four pages do
        tb.write((16 << 10 if i % 11 == 0 else BLOCK) >> BLOCK_SHIFT)
        while len(tb.waiting) > 12:
            await tb.drive.cycles(16)
            tb.look()
    await tb.finish()
    drive = tb.drive
    lists = {sqe[8] - (drive.base + PRP & ALL_ONES): sqe[0] >> 16 & 0xFF for sqe in drive.io_log if sqe[12] & 0xFFFF >= 24}
    assert len(lists) > SLOTS // 12 and max(lists.values()) > SLOTS * 7 // 8
    assert all(offset == slot << 12 for offset, slot in lists.items()), f"lists at {lists}"
    assert not tb.failed and not any(drive.events.values()), f"events: {dict(drive.events)}"


@case
async def completions_that_are_none_end_nothing(dut):
    tb = Testbench(dut)
    drive = tb.drive
    drive.io_faults.extend((WRONG_ID, WRONG_PHASE, DOUBLE, WRONG_HEAD))
    kinds = (None, None, None, WRONG_ID, WRONG_PHASE, DOUBLE, WRONG_HEAD)
    drive.io_faults.extend(random.choices(kinds, k=2 * REQUESTS))
    await tb.ready()
    await tb.traffic(REQUESTS)
    await tb.finish()
    await drive.cycles(200)  # the double of the last completion comes after the last response
    injected = {fault: drive.fault_log.count(fault) for fault in (WRONG_ID, WRONG_PHASE, DOUBLE, WRONG_HEAD)}
    dut._log.info("faults %s, events %s", injected, dict(drive.events))
    assert min(injected.values()) > 0 and not tb.failed
    assert drive.events["cq_id"] == 2 * injected[WRONG_ID] + injected[DOUBLE], "identifiers"
    assert drive.events["cq_phase"] == injected[WRONG_PHASE], "phases"
    assert drive.events["sq_head"] == injected[WRONG_HEAD], "heads"
    assert drive.events["cq_index"] == drive.events["recovery"] == drive.events["retry"] == 0


async def no_head_is_needed(dut, heads):
    """Several rounds of the queue. The drive checks that the tail never passes what it has read, and that no entry changes while
    it is read."""
    tb = Testbench(dut)
    drive = tb.drive
    drive.heads = heads
    await tb.ready()
    while len(drive.io_log) < 3 * drive.sq.entries:
        await tb.traffic(REQUESTS)
        await tb.finish()
    assert not tb.failed and not any(drive.events.values()), f"events: {dict(drive.events)}"


@case
async def a_submission_head_that_stays_0_costs_nothing(dut):
    await no_head_is_needed(dut, "zero")


@case
async def a_submission_head_at_the_tail_costs_nothing(dut):
    await no_head_is_needed(dut, "tail")


@case
async def errors_are_tried_again_or_reported(dut):
    tb = Testbench(dut)
    drive = tb.drive
    await tb.ready()
    # Requests of one command each, so that a fault at a block is a fault of one request.
    expected = {}
    retries = 0
    for _ in range(24):
        request = tb.write(1)
        kind = random.choice(("good", "passes", "stays", "never"))
        count = {"good": 0, "passes": random.randint(1, RETRIES_MAX), "stays": RETRIES_MAX + 5, "never": 1}[kind]
        error = random.choice((MEDIA_ERROR, PATH_ERROR))
        status = error | DNR if kind == "never" else error
        if count:
            drive.bad_blocks[request.lba] = [status, count]
        expected[request.lba] = status if kind in ("stays", "never") else 0
        retries += {"good": 0, "passes": count, "stays": RETRIES_MAX, "never": 0}[kind]
        while len(tb.waiting) > 6:
            await drive.cycles(16)
            tb.look()
    await tb.finish()
    got = {request.lba: response["status"] for request, response in tb.failed}
    assert {lba: status for lba, status in expected.items() if status} == got
    assert drive.events["retry"] == retries and drive.events["recovery"] == 0
    assert drive.events["command_error"] == len(got)
    # A read of several commands whose second one fails: the first one's blocks are good.
    tb.failed.clear()
    whole = tb.write(max(3, (24 << 10) >> BLOCK_SHIFT))
    await tb.finish()
    tb.good = [(whole.lba, whole.blocks, whole.data)]
    before = len(drive.io_log)
    tb.give(tb.reading(whole.lba, whole.data))
    await tb.finish()
    second = sorted(sqe[10] for sqe in drive.io_log[before:])
    if len(second) > 1:
        drive.bad_blocks[second[1]] = [MEDIA_ERROR | DNR, 1]
        tb.give(tb.reading(whole.lba, whole.data))
        await tb.finish()
        assert [response["done"] for _, response in tb.failed] == [second[1] - whole.lba]


@case
async def what_is_lost_is_done_again(dut):
    tb = Testbench(dut, stall=0.2)
    drive = tb.drive
    await tb.ready()
    drive.io_faults.extend([None] * 3 + [LOST] + [None] * 5 + [LATE])
    await tb.traffic(14)
    await tb.finish(400000)
    assert drive.events["recovery"] >= 1 and not tb.failed, "the host did not notice the fault"
    await drive.until(lambda: not drive.io_faults, what="faults used")
    # The link drops during writes.
    recoveries = drive.events["recovery"]
    for _ in range(10):
        tb.write(random.randint(1, max(1, (12 << 10) >> BLOCK_SHIFT)))
    await drive.until(lambda: len(drive.in_flight) > 1, what="commands in flight")
    drive.drop_link(400)
    await tb.finish(400000)
    assert drive.events["recovery"] == recoveries + 1 and not tb.failed
    # One command that is never completed ends; the others are not affected.
    request = tb.write(1)
    drive.bad_blocks[request.lba] = [LOST, 1000]
    tb.write(2)
    await tb.finish(800000)
    assert [(r.lba, response["status"]) for r, response in tb.failed] == [(request.lba, DEADLINE)]
    await drive.until(lambda: drive.ready, what="ready again")
    assert drive.events["stale_access"] > 0, "the late completion was not counted as stale"


@case
async def completions_written_out_of_order_cost_a_recovery(dut):
    """The core keeps no completion queue: an entry that is not the next one is counted and dropped, and its command is given again
    after a reset. No request is lost by one of them."""
    tb = Testbench(dut)
    drive = tb.drive
    await tb.ready()
    drive.io_faults.extend([None] * 3 + [AHEAD])
    await tb.traffic(14)
    await tb.finish(400000)
    assert AHEAD in drive.fault_log and not tb.failed
    assert drive.events["cq_index"] > 0 and drive.events["recovery"] == 1


@case
async def whatever_is_read_is_answered(dut):
    """Reads and writes of any address and length, while commands are carried out: answered, and without effect."""
    tb = Testbench(dut)
    drive, port = tb.drive, tb.drive.port
    await tb.ready()
    half = 1 << WINDOW_BITS - 1
    stray = {"old": 0, "outside": 0} | ({"written": 0} if RAM_BYTES > 8192 else {})

    async def hostile():
        while True:
            kind, length = random.random(), random.choice((4, 4, 8, 16, 64, 200, 2048))
            if kind < 0.1 and RAM_BYTES > 8192:  # the other epoch: the ring keeps what it has
                address = ((drive.base - WINDOW) ^ half) + (half >> 1) + random.randrange(0, RAM_BYTES - 8192, 4096)
                port.write(WINDOW + address, random.randbytes(4096))
                stray["written"] += 1
            elif kind < 0.2:  # the other epoch
                start, size = random.choice(((SQ, 0x200), (0x2000, 8), (PRP, 16), (half >> 1, RAM_BYTES - 4096)))
                address = ((drive.base - WINDOW) ^ half) + start + random.randrange(0, size, 4)
                assert not any(await port.read(WINDOW + address, length)), "an address of the old epoch does not read as zeros"
                stray["old"] += 1
            elif kind < 0.4:  # no window
                assert not any(await port.read(WINDOW + 2 * half + random.randrange(0, 1 << 20, 4), length))
                stray["outside"] += 1
            else:
                start, size = random.choice(((SQ, 0x3000), (CQ, 0x1000), (PRP, 0x40000), (RANGE, 0x1000), (0, 0x5000),
                                             (half >> 1, min(half >> 1, 4 * RAM_BYTES))))
                address = drive.base + start + random.randrange(0, size, 4)
                await port.read(address, min(length, drive.base + half - address))
            await drive.cycles(random.randint(1, 40))

    readers = [cocotb.start_soon(hostile()) for _ in range(2)]
    await tb.traffic(REQUESTS)
    await tb.finish()
    for reader in readers:
        reader.cancel()
    await drive.until(lambda: port.idle, what="all reads answered")
    assert not tb.failed and min(stray.values()) > 0
    # Nothing is left in the queue and the lists when everything is done.
    for address in (SQ + drive.sq.tail * 64, SQ + 64 * ((drive.sq.tail + 5) % 128), PRP + 64, CQ, RANGE + 64):
        assert not any(await port.read(drive.base + address, 64)), f"{address:#x} does not read as zeros"
    events = drive.events
    assert events["stray_read"] > 0 and events["stale_access"] > 0
    assert not any(events[name] for name in ("cq_phase", "cq_index", "cq_id", "sq_head", "retry", "recovery"))


@case
async def side_commands_pass_the_stream(dut):
    tb = Testbench(dut)
    drive = tb.drive
    await tb.ready()
    tb.write(8 if BLOCK_SHIFT == 9 else 2)
    await tb.finish()
    # The mailbox: written by the registers, read by the drive, and the reverse.
    words = [random.getrandbits(32) for _ in range(1024)]
    for i, word in enumerate(words):
        await tb.page(True, 1024 + i, word)
    blocks = 4096 >> BLOCK_SHIFT
    tb.side("write", lba=BLOCKS - blocks, blocks=blocks)
    await tb.traffic(6)
    await tb.finish()
    stored = b"".join(drive.media[BLOCKS - blocks + i] for i in range(blocks))
    assert stored == b"".join(word.to_bytes(4, "little") for word in words)
    for i in range(1024):
        await tb.page(True, 1024 + i, 0)
    tb.side("read", lba=BLOCKS - blocks, blocks=blocks)
    await tb.finish()
    for i in random.sample(range(1024), 60):
        assert await tb.page(False, 1024 + i) == words[i]
    # A flush, with data before and after it; a deallocation.
    await tb.traffic(4)
    tb.side("flush")
    await tb.traffic(4)
    await tb.finish()
    assert tb.answered == int(dut.written_blocks_o.value)
    lba, blocks, _ = tb.good.pop()
    tb.side("deallocate", lba=lba, blocks=blocks)
    await tb.finish()
    assert all(lba + i not in drive.media for i in range(blocks))
    # A flush that is lost is detected, and given again after the reset; the stream is not affected.
    drive.flush_faults.append(LOST)
    tag = tb.side("flush")
    await tb.traffic(4)
    await tb.finish(400000)
    assert drive.events["recovery"] >= 1 and not tb.failed
    assert [response["status"] for response in drive.responses if response["tag"] == tag] == [0]


@case
async def a_command_that_kills_the_drive_ends(dut):
    """The command is lost each time, a while after the drive was ready and while other commands end: it ends at last."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    drive.latency_ns = STEP_NS, 3 * STEP_NS
    carry_out, kills = drive.carry_out, 0

    async def dies_of_writes(life, cid, sqe):
        nonlocal kills
        if sqe[0] & 0xFF != 1:
            await carry_out(life, cid, sqe)
            return
        kills += 1
        await drive.cycles(250)
        if life == drive.life:
            drive.drop_link(30)

    drive.carry_out = dies_of_writes
    tb.write(1)
    write, _ = tb.waiting[-1]
    for number in range(1, 9):
        drive.put(op="flush", tag=0x7000 + number, from_registers=1, source=MAILBOX)
        await drive.until(lambda: len(drive.responses) >= number or drive.gone, what="an answer")
        if any(answer["tag"] == write for answer in drive.responses):
            break
    ends = [answer["status"] for answer in drive.responses if answer["tag"] == write]
    assert ends == [0x8005] and kills == 3 and not drive.gone


@case
async def what_came_while_it_was_gone_stays_dead(dut):
    """A request is split while no drive is there, and a drive comes back in the middle of it: that drive never sees the
    request."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    drive.any_access_fault = "error"
    await drive.cycles(8)
    await drive.until(lambda: drive.gone, what="gone")
    blocks = 16
    drive.put(op="write", lba=64, blocks=blocks, source=STREAM, address=0, tag=5)
    beats = blocks * 512 // BEAT
    for number in range(beats // 4):
        tb.source.put(data=number)
    await drive.cycles(300)
    drive.any_access_fault = None
    drive.put(op="restart", tag=6, from_registers=1, source=MAILBOX)
    await drive.until(lambda: drive.ready, what="ready")
    for number in range(beats):
        tb.source.put(data=number)
    await drive.until(lambda: len(drive.responses) == 2, what="two answers")
    assert not drive.io_log, "the drive got a part of the request"
    assert {answer["tag"]: answer["status"] for answer in drive.responses} == {5: 0x8004, 6: 0}
    assert len(tb.source.words) == beats // 4, "the request did not move exactly its beats"


@case
async def what_was_asked_of_one_drive_is_not_asked_of_the_next(dut):
    """A write waits for its data when the drive goes; the data come when another drive is there."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    beats = 4 * BLOCK // BEAT
    drive.put(op="write", lba=64, blocks=4, source=STREAM, address=0, tag=5)
    early = BLOCK // 2 // BEAT
    for number in range(early):
        tb.source.put(data=number)
    await drive.until(lambda: not tb.source.words, what="half a block taken")
    drive.any_access_fault = "error"
    drive.drop_link(30)
    await drive.until(lambda: drive.gone, what="gone")
    drive.any_access_fault = None
    drive.put(op="restart", tag=6, from_registers=1, source=MAILBOX)
    await drive.until(lambda: drive.ready, what="ready")
    for number in range(beats - early):
        tb.source.put(data=number)
    await drive.until(lambda: len(drive.responses) == 2, what="two answers")
    assert not drive.io_log, "the next drive got the request"
    assert {answer["tag"]: answer["status"] for answer in drive.responses} == {5: GONE, 6: 0}
    assert not tb.source.words
    tb.write(3)
    tb.seen = len(drive.responses)
    await tb.finish()
    assert not tb.failed and len(drive.io_log) == 3


@case
async def a_late_double_of_a_flush_ends_no_other(dut):
    """The drive completes one flush a second time while it works on the next: the next one ends only when it is done."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    carry_out, flushes, done = drive.carry_out, [], []

    async def double(life, cid, sqe):
        flushes.append(cid)
        if len(flushes) == 2:
            drive.post(drive.cq, CQ, drive.sq.head, 1, flushes[0], 0)
            drive.sq.reported = drive.sq.head
            await drive.cycles(400)
        done.append(cid)
        await carry_out(life, cid, sqe)

    drive.carry_out = double
    for number in (1, 2):
        drive.put(op="flush", tag=number, from_registers=1, source=MAILBOX)
        await drive.until(lambda: len(drive.responses) == number, what="an answer")
        assert len(done) == number, "a flush was ended by the completion of another"
    assert [answer["status"] for answer in drive.responses] == [0, 0]
    assert drive.events["cq_id"] == 1


@case
async def a_controller_that_is_being_stopped_ends_nothing(dut):
    """The drive reports writes as done that it has not carried out, after the host has asked it to stop: they are done again."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    carry_out, enable, stuck, lies = drive.carry_out, drive.enable, drive.life, []

    async def carries_out_nothing_at_first(life, cid, sqe):
        if life != stuck:
            await carry_out(life, cid, sqe)

    def lies_when_it_is_stopped(on):
        if not on and drive.cq:
            for cid in drive.in_flight:
                drive.post(drive.cq, CQ, drive.sq.head, 1, cid, 0)
                lies.append(cid)
        enable(on)

    drive.carry_out, drive.enable = carries_out_nothing_at_first, lies_when_it_is_stopped
    for _ in range(4):
        tb.write(2)
    await tb.finish(400000)  # all blocks of the writes with a response are on the media
    assert lies and drive.events["recovery"] == 1 and not tb.failed
