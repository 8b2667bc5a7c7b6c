# SPDX-License-Identifier: Apache-2.0
"""spate_drive when its drive goes and another one comes: commands for the old drive are not sent to the new one, whichever module
holds them, and the blocks done so far are counted with the old drive's block size."""

import random

import cocotb
from cocotb.triggers import RisingEdge
from spate_sim.controller import LOST

from core_drive import STREAM
from drive_bench import BEAT, GONE, Testbench

OTHER = "SPATE-00002"
BLOCK = 512


def case(function):
    return cocotb.test(timeout_time=6, timeout_unit="ms")(function)


async def lose(tb: Testbench) -> None:
    """The drive is given up."""
    drive = tb.drive
    drive.any_access_fault = "error"
    drive.drop_link(30)
    await drive.until(lambda: drive.gone, what="gone")
    drive.any_access_fault = None


async def other_drive(tb: Testbench, **profile) -> None:
    """Another drive is plugged in, and a restart finds it."""
    drive = tb.drive
    become_another(tb, **profile)
    drive.put(op="restart", tag=0x7000, from_registers=1)
    await drive.until(lambda: drive.ready, what="ready")


def become_another(tb: Testbench, **profile) -> None:
    drive = tb.drive
    for name, value in ({"serial": OTHER} | profile).items():
        setattr(drive.profile, name, value)
    drive.block = 1 << drive.profile.block_shift
    drive.bad_blocks.clear()
    drive.io_log.clear()
    drive.media.clear()


def stall_reader(tb: Testbench, on: bool) -> None:
    tb.sink.stall.share, tb.sink.stall.left = float(on), 0


def put_write(tb: Testbench, lba: int, blocks: int, tag: int) -> None:
    tb.drive.put(op="write", lba=lba, blocks=blocks, source=STREAM, tag=tag)
    for _ in range(blocks * BLOCK // BEAT):
        tb.source.put(data=random.getrandbits(8 * BEAT))


def answers(tb: Testbench) -> dict:
    return {answer["tag"]: (answer["status"], answer["done"]) for answer in tb.drive.responses}


@case
@cocotb.parametrize(block_shift=[9, 12])
async def what_stood_behind_a_stalled_reader_is_not_asked_of_the_next(dut, block_shift):
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    stall_reader(tb, True)
    drive.put(op="read", lba=0, blocks=8, source=STREAM, tag=1)
    put_write(tb, 64, 8, 2)
    drive.bad_blocks[64] = [LOST, 1000]
    await drive.until(lambda: len(drive.io_log) == 2, what="both asked")
    await drive.cycles(200)
    await lose(tb)
    await other_drive(tb, block_shift=block_shift)
    await drive.cycles(1000)
    stall_reader(tb, False)
    await drive.until(lambda: len(drive.responses) == 3, what="all answers")
    assert not drive.io_log and not drive.media, f"the next drive got commands: {drive.io_log}"
    assert answers(tb) == {1: (0, 8), 2: (GONE, 0), 0x7000: (0, 0)}


@case
async def what_was_done_is_counted_in_the_blocks_of_then(dut):
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    stall_reader(tb, True)
    drive.put(op="read", lba=0, blocks=8, source=STREAM, tag=1)
    put_write(tb, 64, 8, 2)
    await drive.until(lambda: len(drive.media) == 8, what="written")
    await drive.cycles(200)
    await lose(tb)
    await other_drive(tb, block_shift=12)
    stall_reader(tb, False)
    await drive.until(lambda: len(drive.responses) == 3, what="all answers")
    assert answers(tb) == {1: (0, 8), 2: (0, 8), 0x7000: (0, 0)}
    assert int(dut.written_blocks_o.value) == 8


@case
@cocotb.parametrize(low_cycles=[1, 3, 40])
async def a_short_change_of_enable_lets_nothing_through(dut, low_cycles):
    """The oldest commands must not end with the old drive while the younger ones go to the new one."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    count = 40
    for tag in range(1, count + 1):
        drive.bad_blocks[8 * tag] = [LOST, 1000]
        put_write(tb, 8 * tag, 1, tag)
    await drive.until(lambda: len(drive.io_log) == count, what="all asked")
    become_another(tb)
    await RisingEdge(dut.clk_i)
    dut.enable_i.value = 0
    for _ in range(low_cycles):
        await RisingEdge(dut.clk_i)
    dut.enable_i.value = 1
    await drive.until(lambda: not drive.ready, what="not ready")
    await drive.until(lambda: drive.ready, what="ready")
    await drive.until(lambda: len(drive.responses) == count, what="all answers")
    assert not drive.io_log, f"the next drive got {len(drive.io_log)} of the commands"
    assert {status for status, _ in answers(tb).values()} == {GONE}


@case
async def a_short_drop_of_the_link_is_seen(dut):
    """A link drop of any length: the adapter has dropped its accesses."""
    tb = Testbench(dut, stall=0.0)
    drive = tb.drive
    await tb.ready()
    for number in range(1, 9):
        await drive.cycles(random.randint(900, 1000))  # the core looks each 400: the drive was well, so it is not given up
        drive.link_up = False
        await drive.cycles(random.randint(8, 16))
        drive.link_up = True
        await drive.until(lambda: drive.events["recovery"] == number, 2000, "recovery")
        await drive.until(lambda: drive.ready, what="ready again")
