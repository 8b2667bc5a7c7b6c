# SPDX-License-Identifier: Apache-2.0
"""spate_drive when its drive goes and another one comes: what waited for the one is not asked of the other, whoever holds
it up, and what was done by then is counted in the blocks of the drive that did it."""

import os
import random

import cocotb
from cocotb.triggers import RisingEdge

from admin_drive import LOST, STREAM
from bench_drive import BEAT, GONE, Bench

OTHER = "SPATE-00002"
BLOCK = 512


def case(function):
    return cocotb.test(timeout_time=6, timeout_unit="ms")(function)


async def lose(bench: Bench) -> None:
    """The drive is given up."""
    drive = bench.drive
    drive.any_access_fault = "error"
    drive.drop_link(30)
    await drive.until(lambda: drive.gone, what="gone")
    drive.any_access_fault = None


async def other_drive(bench: Bench, **profile) -> None:
    """Another one stands in its place, and a restart finds it."""
    drive = bench.drive
    become_another(bench, **profile)
    drive.put(op="restart", tag=0x7000, from_registers=1)
    await drive.until(lambda: drive.ready, what="ready")


def become_another(bench: Bench, **profile) -> None:
    drive = bench.drive
    for name, value in ({"serial": OTHER} | profile).items():
        setattr(drive.profile, name, value)
    drive.block = 1 << drive.profile.block_shift
    drive.bad_blocks.clear()
    drive.io_log.clear()
    drive.media.clear()


def stall_reader(bench: Bench, on: bool) -> None:
    bench.sink.stall.share, bench.sink.stall.left = float(on), 0


def put_write(bench: Bench, lba: int, blocks: int, tag: int) -> None:
    bench.drive.put(op="write", lba=lba, blocks=blocks, source=STREAM, tag=tag)
    for _ in range(blocks * BLOCK // BEAT):
        bench.source.put(data=random.getrandbits(8 * BEAT))


def answers(bench: Bench) -> dict:
    return {answer["tag"]: (answer["status"], answer["done"]) for answer in bench.drive.responses}


@case
@cocotb.parametrize(block_shift=[9, 12])
async def what_stood_behind_a_stalled_reader_is_not_asked_of_the_next(dut, block_shift):
    bench = Bench(dut, stall=0.0)
    drive = bench.drive
    await bench.ready()
    stall_reader(bench, True)
    drive.put(op="read", lba=0, blocks=8, source=STREAM, tag=1)
    put_write(bench, 64, 8, 2)
    drive.bad_blocks[64] = [LOST, 1000]
    await drive.until(lambda: len(drive.io_log) == 2, what="both asked")
    await drive.cycles(200)
    await lose(bench)
    await other_drive(bench, block_shift=block_shift)
    await drive.cycles(1000)
    stall_reader(bench, False)
    await drive.until(lambda: len(drive.responses) == 3, what="all answers")
    assert not drive.io_log and not drive.media, f"the next drive was asked: {drive.io_log}"
    assert answers(bench) == {1: (0, 8), 2: (GONE, 0), 0x7000: (0, 0)}


@case
async def what_was_done_is_counted_in_the_blocks_of_then(dut):
    bench = Bench(dut, stall=0.0)
    drive = bench.drive
    await bench.ready()
    stall_reader(bench, True)
    drive.put(op="read", lba=0, blocks=8, source=STREAM, tag=1)
    put_write(bench, 64, 8, 2)
    await drive.until(lambda: len(drive.media) == 8, what="written")
    await drive.cycles(200)
    await lose(bench)
    await other_drive(bench, block_shift=12)
    stall_reader(bench, False)
    await drive.until(lambda: len(drive.responses) == 3, what="all answers")
    assert answers(bench) == {1: (0, 8), 2: (0, 8), 0x7000: (0, 0)}
    assert int(dut.written_blocks_o.value) == 8


@case
@cocotb.parametrize(low_cycles=[1, 3, 40])
async def a_short_change_of_enable_lets_nothing_through(dut, low_cycles):
    """The oldest commands must not end with the old drive while the younger ones go to the new one."""
    bench = Bench(dut, stall=0.0)
    drive = bench.drive
    await bench.ready()
    count = 40
    for tag in range(1, count + 1):
        drive.bad_blocks[8 * tag] = [LOST, 1000]
        put_write(bench, 8 * tag, 1, tag)
    await drive.until(lambda: len(drive.io_log) == count, what="all asked")
    become_another(bench)
    await RisingEdge(dut.clk_i)
    dut.enable_i.value = 0
    for _ in range(low_cycles):
        await RisingEdge(dut.clk_i)
    dut.enable_i.value = 1
    await drive.until(lambda: not drive.ready, what="not ready")
    await drive.until(lambda: drive.ready, what="ready")
    await drive.until(lambda: len(drive.responses) == count, what="all answers")
    assert not drive.io_log, f"the next drive was asked for {len(drive.io_log)} of them"
    assert {status for status, _ in answers(bench).values()} == {GONE}


@case
async def a_short_drop_of_the_link_is_seen(dut):
    """However short: the adapter has forgotten what it was doing."""
    bench = Bench(dut, stall=0.0)
    drive = bench.drive
    await bench.ready()
    for number in range(1, 9):
        await drive.cycles(random.randint(400, 500))
        drive.link_up = False
        await drive.cycles(random.randint(8, 16))
        drive.link_up = True
        await drive.until(lambda: drive.events["recovery"] == number, 2000, "recovery")
        await drive.until(lambda: drive.ready, what="ready again")
