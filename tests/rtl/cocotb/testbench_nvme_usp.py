# SPDX-License-Identifier: Apache-2.0
"""The complete spate_nvme_usp, from the user's streams and registers to packets on a link with a drive: every byte is compared in
both directions. The link, the function and the block's clock fail in the middle."""

import itertools
import os
import random

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from spate_sim.controller import BAR as BAR_SPACE
from spate_sim.controller import CC, DELETE_CQ, DELETE_SQ, LOCAL, LOST
from spate_sim.hard_block import ROOT_CONTROL
from spate_sim.nvme import MEDIA_ERROR
from spate_sim.root_port import POSTED

from core_drive import MAILBOX, STREAM
from nvme_usp_bench import (
    BAR, BLOCK, BLOCKS, BLOCKS_LOW, BRING_UP, EMPTY, GONE, IO_TAIL_DOORBELL, MAILBOX_PAGE, NAMESPACE_STEP, NORMAL_SHUTDOWN,
    NSID, OTHER_BLOCKS, POWER, READY, REFUSED, SHUTDOWN_STEP, SHUT_DOWN, SLOW_NS, STATUS, WRITTEN, Testbench)

CASES = os.environ["CASES"].split()


def case(name: str) -> dict:
    """Whether the test runs with this width."""
    return {"timeout_time": 8, "timeout_unit": "ms", "skip": name not in CASES}


async def mailbox(tb: Testbench, lba: int, blocks: int) -> None:
    """Metadata beside the stream, written and read back."""
    words = [random.getrandbits(32) for _ in range(blocks * BLOCK // 4)]
    for i, word in enumerate(words):
        await tb.registers.write_dword(MAILBOX_PAGE + 4 * i, word)
    assert await tb.command("write", lba=lba, blocks=blocks) == (0, blocks)
    stored = b"".join(tb.drive.media[lba + i] for i in range(blocks))
    assert stored == b"".join(word.to_bytes(4, "little") for word in words)
    for i in range(len(words)):
        await tb.registers.write_dword(MAILBOX_PAGE + 4 * i, 0)
    assert await tb.command("read", lba=lba, blocks=blocks) == (0, blocks)
    for i in random.sample(range(len(words)), 8):
        assert await tb.registers.read_dword(MAILBOX_PAGE + 4 * i) == words[i]


async def stream_by_the_registers(tb: Testbench, lba: int) -> None:
    """The registers command a write, and the user's port gives its data."""
    data, before = random.randbytes(2 * BLOCK), len(tb.drive.io_log)
    tb.put(data)
    assert await tb.command("write", lba=lba, blocks=2, source=STREAM) == (0, 2)
    assert tb.drive.media[lba] + tb.drive.media[lba + 1] == data
    assert len(tb.drive.io_log) == before + 1, "the command was carried out more than once"


async def the_user_sees_the_drive(dut, blocks: int) -> None:
    """In app_clk: ready comes once, with the drive's size."""
    await ClockCycles(dut.app_clk, 4)
    assert not dut.drive_ready.value, "ready at once"
    await RisingEdge(dut.drive_ready)
    while True:
        await RisingEdge(dut.app_clk)
        if dut.drive_ready.value:
            assert int(dut.drive_blocks.value) == blocks and not dut.drive_block_4096.value and not dut.drive_gone.value


async def from_perst_to_shutdown(dut, stall, size, payload, root_payload):
    tb = Testbench(dut, stall, blocks=size, payload=payload, root_payload=root_payload)
    drive = tb.drive
    watching = cocotb.start_soon(the_user_sees_the_drive(dut, size))
    await tb.start()
    # Both ends have the smaller payload size, and the drive its maximum read request. 8 GT/s on 4 lanes are reported.
    found, control = drive.function.pcie_cap, drive.configuration[LOCAL][ROOT_CONTROL]
    assert found.max_payload_size == min(payload, root_payload) == control >> 5 & 7
    assert found.max_read_request_size == 2 and found.extended_tag_field_enable and not found.enable_relaxed_ordering
    assert await tb.registers.read_dword(BRING_UP) >> 16 & 0x3FF == 0x43
    assert await tb.registers.read_dword(BLOCKS_LOW) == size & 0xFFFF_FFFF and await tb.registers.read_dword(NSID) == 1

    written = tb.writes(6)
    metadata = cocotb.start_soon(mailbox(tb, size - 1, 1))
    await tb.finish()
    await metadata
    blocks = sum(request.blocks for request in written)
    flush = tb.give("flush")
    await tb.finish()
    assert (flush.status, flush.done) == (0, blocks) and await tb.registers.read_dword(WRITTEN) == blocks
    assert drive.io_log[-1][0] & 0xFF == 0, "the drive saw no flush"
    await stream_by_the_registers(tb, size - 40)
    assert await tb.registers.read_dword(WRITTEN) == blocks + 2
    await tb.read_back(written)
    assert max((sqe[12] & 0xFFFF) + 1 for sqe in drive.io_log) * BLOCK > 8192, "no PRP list was used"
    assert not any((await tb.counts()).values()), f"events of a drive without fault: {await tb.counts()}"
    longest = max(len(tlp.data) for tlp in drive.root.completions)
    assert longest == 128 << min(payload, root_payload), f"completions of {longest} bytes"

    drive.write_log.clear()
    assert await tb.command("shutdown") == (0, 0)
    assert (BAR_SPACE, CC, NORMAL_SHUTDOWN) in drive.write_log, "no shutdown notification"
    assert [sqe[0] & 0xFF for sqe in drive.admin_log[-2:]] == [DELETE_SQ, DELETE_CQ]
    assert not dut.perst_n.value
    assert await tb.registers.read_dword(STATUS) & (READY | GONE) == GONE
    assert (await tb.command("write", lba=0, blocks=1))[0] == REFUSED
    refused = tb.give("flush")
    await tb.finish()
    assert refused.status == REFUSED
    watching.cancel()
    assert not dut.drive_ready.value and dut.drive_gone.value
    assert (int(dut.drive_step.value), int(dut.drive_error.value)) == (SHUTDOWN_STEP, SHUT_DOWN)


@cocotb.test(**case("smooth"))
async def smooth_from_perst_to_shutdown(dut):
    await from_perst_to_shutdown(dut, 0.0, BLOCKS, 1, 2)


@cocotb.test(**case("stalled"))
async def stalled_from_perst_to_shutdown(dut):
    await from_perst_to_shutdown(dut, 0.3, OTHER_BLOCKS, 2, 0)


@cocotb.test(**case("refused"))
async def a_drive_that_is_refused_says_why_without_a_processor(dut):
    """An empty namespace: in app_clk the ports have the step and the error when `gone` rises, and keep them while it is
    high, as the registers have them."""
    tb = Testbench(dut, blocks=0)
    await ClockCycles(dut.app_clk, 12)
    dut.app_rst_n.value = 1
    await RisingEdge(dut.drive_gone)
    for _ in range(20):
        await RisingEdge(dut.app_clk)
        assert (int(dut.drive_step.value), int(dut.drive_error.value)) == (NAMESPACE_STEP, EMPTY)
        assert dut.drive_gone.value and not dut.drive_ready.value
    assert await tb.registers.read_dword(BRING_UP) & 0xFFFF == NAMESPACE_STEP | EMPTY << 8


async def a_link_that_goes_loses_nothing(dut, way, stall):
    tb = Testbench(dut, stall)
    drive = tb.drive
    drive.way, drive.latency_ns = way, SLOW_NS
    await tb.start()
    epoch, before = drive.epoch, tb.writes(2)
    await tb.finish()
    tb.writes(10, 8)
    tb.give("read", before[0].lba, before[0].data)
    flush = tb.give("flush")
    more = tb.writes(3, 8)
    await drive.until(lambda: len(drive.in_flight) > 2, what="commands in flight")
    drive.drop_link(random.randint(40, 1500))
    await tb.finish()
    await tb.ready()
    # The registers were cleared, and the drive's counters have not risen: it may have lost power.
    assert flush.status == POWER and flush.done >= sum(request.blocks for request in before)
    assert drive.epoch != epoch
    await tb.read_back(before + more)
    await tb.expect_counts(recovery=1, command_error=0)


@cocotb.test(**case("link"))
async def a_link_alone_goes(dut):
    await a_link_that_goes_loses_nothing(dut, "link", 0.3)


@cocotb.test(**case("reset"))
async def a_link_goes_with_a_reset(dut):
    await a_link_that_goes_loses_nothing(dut, "reset", 0.0)


@cocotb.test(**case("clock"))
async def a_link_goes_with_the_clock(dut):
    await a_link_that_goes_loses_nothing(dut, "clock", 0.0)


@cocotb.test(**case("link"))
async def a_doorbell_that_waits_over_a_link_drop_finds_a_controller_that_is_off(dut):
    """The block takes no request while the link drops and returns, and is not reset: a doorbell from before goes out after the
    link has returned. It goes before bring-up's first access, to a function that does not answer memory requests yet."""
    tb = Testbench(dut)
    drive = tb.drive
    drive.way, drive.latency_ns = "link", SLOW_NS
    await tb.start()
    generation, taken = drive.generation, []
    drive.root.rq.pause = True
    written = tb.writes(4, 8)
    await drive.until(lambda: dut.rq_tvalid.value, what="a doorbell that waits")
    drive.root.on_request = lambda tlp: taken.append((tlp.fmt_type in POSTED and tlp.address - BAR,
                                                      drive.function.memory_space_enable, drive.registers[CC] & 1))
    drive.drop_link(200)
    await FallingEdge(dut.user_lnk_up)  # it may be low for less time than until() takes to look
    await drive.until(lambda: drive.generation > generation and dut.user_lnk_up.value, what="the link's return")
    assert dut.rq_tvalid.value and not taken, "the doorbell no longer waits"
    drive.root.rq.pause = False
    await tb.finish()
    await tb.ready()
    # One doorbell waited at the block; the next one may have waited for it in the core.
    old = list(itertools.takewhile(lambda request: request[0] == IO_TAIL_DOORBELL, taken))
    assert old and set(old) == {(IO_TAIL_DOORBELL, False, 0)}, f"the first requests after the link's return are {taken[:3]}"
    assert IO_TAIL_DOORBELL not in [place for place, memory, enabled in taken[len(old):] if not memory or not enabled]
    await tb.read_back(written)
    await tb.expect_counts(recovery=1, command_error=0)


@cocotb.test(**case("function"))
async def a_function_that_forgets_itself_is_found_out(dut):
    """The function has no BAR any more and must not read. The link stays up, doorbells vanish, a register read is unsupported."""
    tb = Testbench(dut)
    drive = tb.drive
    drive.latency_ns = SLOW_NS
    await tb.start()
    written = tb.writes(10, 8)
    await drive.until(lambda: len(drive.in_flight) > 2, what="commands in flight")
    drive.reset_function()
    await tb.finish()
    await tb.read_back(written)
    await tb.expect_counts(recovery=1, command_error=0)


@cocotb.test(**case("broken"))
async def a_write_that_came_broken_is_not_taken(dut):
    """Data that the block could not read from its memory, in the middle of a read: everything is read again."""
    tb = Testbench(dut)
    drive = tb.drive
    written = await tb.start_reads()
    generation = drive.generation
    drive.root.break_writes, drive.reset_is_due = 1, True
    await tb.finish()
    assert drive.root.break_writes == 0
    assert drive.generation == generation, "the drive was reset instead of the adapter only"
    await tb.read_back(written)
    await tb.expect_counts(recovery=1, command_error=0)


@cocotb.test(**case("broken"))
async def a_bring_up_that_fails_after_a_broken_write_costs_one_attempt(dut):
    """The link drops as the drive is enabled again: the next epoch is that of the broken write, and must be trusted."""
    tb = Testbench(dut)
    drive = tb.drive
    written = await tb.start_reads()
    drive.way, enable, enables = "link", drive.enable, 0

    def enable_and_drop(on):
        nonlocal enables
        enable(on)
        enables += on
        if on and enables == 1:
            drive.after(10, lambda: drive.drop_link(60))

    drive.enable, drive.profile.ready_cycles = enable_and_drop, 40
    drive.root.break_writes, drive.reset_is_due = 1, True
    await tb.finish()
    assert enables == 2, f"enabled {enables} times"
    await tb.read_back(written)


@cocotb.test(**case("lost"))
async def what_is_lost_or_fails_is_done_again(dut):
    tb = Testbench(dut)
    drive = tb.drive
    await tb.start()
    drive.bad_blocks[tb.next_lba] = [MEDIA_ERROR, 2]
    drive.io_faults.extend([None] * 4 + [LOST])
    written = tb.writes(6)
    await tb.finish()
    await tb.read_back(written)
    await tb.expect_counts(recovery=1, retry=2, command_error=0)


@cocotb.test(**case("long") | {"timeout_time": 60})
async def links_that_go_again_and_again(dut):
    tb = Testbench(dut, 0.2)
    drive = tb.drive
    await tb.start()
    for _ in range(20):
        written = tb.writes(random.randint(4, 24))
        tb.give("flush")
        await drive.cycles(random.randint(100, 4000))
        drive.way = random.choice(("link", "reset", "clock"))
        drive.drop_link(random.randint(20, 3000))
        await tb.finish()
        await tb.read_back(written)
    assert (await tb.counts())["command_error"] == 0
