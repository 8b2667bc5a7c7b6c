# SPDX-License-Identifier: Apache-2.0
"""spate_command_arbiter with two requesters and a drive that takes commands at random, or in a rhythm."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Source

REQUESTERS = ("a", "b")
COMMANDS = 200


async def start(dut, stall: float) -> dict[str, Source]:
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = dut.command_ready_i.value = 0
    sources = {name: Source(dut.clk_i, dut.rst_ni, getattr(dut, f"{name}_valid_i"), getattr(dut, f"{name}_ready_o"),
                            {"command": getattr(dut, f"{name}_i")}, stall) for name in REQUESTERS}
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return sources


def word(requester: str, number: int) -> int:
    """A command: its requester in the low bits of `lba`, its number in `blocks`."""
    return REQUESTERS.index(requester) << 32 | number


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.6], ready_share=[0.2, 1.0])
async def each_command_once_and_in_order(dut, stall, ready_share):
    sources = await start(dut, stall)
    for name, source in sources.items():
        for number in range(COMMANDS):
            source.put(command=word(name, number))
    taken = {name: [] for name in REQUESTERS}
    while any(len(numbers) < COMMANDS for numbers in taken.values()):
        dut.command_ready_i.value = int(random.random() < ready_share)
        await ReadOnly()
        if dut.command_valid_o.value and dut.command_ready_i.value:
            command = int(dut.command_o.value)
            taken[REQUESTERS[command >> 32 & 1]].append(command & 0xFFFFFFFF)
        await RisingEdge(dut.clk_i)
    assert all(numbers == list(range(COMMANDS)) for numbers in taken.values())


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(period_cycles=[1, 2, 3, 4, 6])
async def no_rhythm_of_the_drive_starves_a_requester(dut, period_cycles):
    """A splitter that takes a command every `period_cycles`. Both requesters always have a command."""
    sources = await start(dut, 0.0)
    for name, source in sources.items():
        for number in range(COMMANDS):
            source.put(command=word(name, number))
    for cycle in range(40 * period_cycles):
        dut.command_ready_i.value = int(cycle % period_cycles == 0)
        await RisingEdge(dut.clk_i)
    assert abs(sources["a"].taken - sources["b"].taken) <= 1 and sources["a"].taken >= 18


@cocotb.test(timeout_time=20, timeout_unit="us")
@cocotb.parametrize(name=REQUESTERS)
async def one_requester_alone_gives_a_command_every_cycle(dut, name):
    sources = await start(dut, 0.0)
    dut.command_ready_i.value = 1
    for number in range(40):
        sources[name].put(command=word(name, number))
    for _ in range(44):
        await RisingEdge(dut.clk_i)
    assert sources[name].taken == 40
