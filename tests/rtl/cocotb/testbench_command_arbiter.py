# SPDX-License-Identifier: Apache-2.0
"""spate_command_arbiter with three requesters, a drive that takes commands at random, and responses that return to their
requester."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from streams import Source

REQUESTERS = ("user", "data", "side")
FLUSH, WRITE = 0, 1
DATA_LANE, SIDE_LANE = 1, 2
COMMANDS = 200
PATIENCE_CYCLES = 8


async def start(dut, stall: float) -> dict[str, Source]:
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    dut.welcome_i.value = 0
    dut.response_valid_i.value = 0
    dut.response_from_registers_i.value = 0
    dut.user_response_ready_i.value = 0
    sources = {name: Source(dut.clk_i, dut.rst_ni, getattr(dut, f"{name}_valid_i"), getattr(dut, f"{name}_ready_o"),
                            {"command": getattr(dut, f"{name}_i")}, stall) for name in REQUESTERS}
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return sources


def word(requester: str, number: int, op: int = WRITE) -> int:
    """A command: `op`, its requester in the low bits of `lba`, its number in `blocks`."""
    return op << 163 | REQUESTERS.index(requester) << 32 | number


def op_of(requester: str) -> int:
    return {"user": random.choice((WRITE, FLUSH)), "data": WRITE, "side": FLUSH}[requester]


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.6], ready_share=[0.2, 1.0])
async def each_command_once_and_in_order(dut, stall, ready_share):
    sources = await start(dut, stall)
    for name, source in sources.items():
        for number in range(COMMANDS):
            source.put(command=word(name, number, op_of(name)))
    taken = {name: [] for name in REQUESTERS}
    while any(len(numbers) < COMMANDS for numbers in taken.values()):
        dut.welcome_i.value = random.choice((1, 2, 3)) if random.random() < ready_share else 0
        await ReadOnly()
        if dut.command_valid_o.value and dut.command_ready_o.value:
            command = int(dut.command_o.value)
            taken[REQUESTERS[command >> 32 & 3]].append(command & 0xFFFFFFFF)
        await RisingEdge(dut.clk_i)
    assert all(numbers == list(range(COMMANDS)) for numbers in taken.values())


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(lane=[DATA_LANE, SIDE_LANE], user_op=[WRITE, FLUSH])
async def a_lane_that_is_welcome_does_not_wait_for_the_other(dut, lane, user_op):
    """The drive takes commands of one lane only, as it takes side commands while the splitter is busy. Each requester of that
    lane makes progress, and none of the other lane does."""
    sources = await start(dut, 0.0)
    ops = {"user": user_op, "data": WRITE, "side": FLUSH}
    for name, source in sources.items():
        for number in range(20):
            source.put(command=word(name, number, ops[name]))
    dut.welcome_i.value = lane
    welcome = [name for name in REQUESTERS if (ops[name] == WRITE) == (lane == DATA_LANE)]
    waited, before = dict.fromkeys(REQUESTERS, 0), dict.fromkeys(REQUESTERS, 0)
    while any(sources[name].words for name in welcome):
        await RisingEdge(dut.clk_i)
        for name in welcome:
            got_on = sources[name].taken > before[name] or not sources[name].words
            waited[name] = 0 if got_on else waited[name] + 1
            before[name] = sources[name].taken
            assert waited[name] < PATIENCE_CYCLES, f"{name} waits"
    for name, source in sources.items():
        assert source.taken == (20 if name in welcome else 0)


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(period_cycles=[2, 3, 4, 6])
async def no_rhythm_of_the_drive_starves_a_requester(dut, period_cycles):
    """A splitter that takes a command every `period_cycles`. The user's stream and the registers always have a command."""
    sources = await start(dut, 0.0)
    for name in ("user", "data"):
        for number in range(COMMANDS):
            sources[name].put(command=word(name, number))
    for cycle in range(40 * period_cycles):
        dut.welcome_i.value = DATA_LANE if cycle % period_cycles == 0 else 0
        await RisingEdge(dut.clk_i)
    assert abs(sources["user"].taken - sources["data"].taken) <= 1 and sources["user"].taken >= 15


@cocotb.test(timeout_time=20, timeout_unit="us")
async def one_requester_alone_gives_a_command_every_cycle(dut):
    sources = await start(dut, 0.0)
    dut.welcome_i.value = DATA_LANE
    for number in range(40):
        sources["data"].put(command=word("data", number))
    for _ in range(44):
        await RisingEdge(dut.clk_i)
    assert sources["data"].taken == 40


@cocotb.test(timeout_time=20, timeout_unit="us")
async def responses_go_back_by_their_origin(dut):
    await start(dut, 0.0)
    for _ in range(100):
        valid, registers, ready = (random.getrandbits(1) for _ in range(3))
        dut.response_valid_i.value = valid
        dut.response_from_registers_i.value = registers
        dut.user_response_ready_i.value = ready
        await ReadOnly()
        assert int(dut.registers_response_valid_o.value) == (valid & registers)
        assert int(dut.user_response_valid_o.value) == (valid & ~registers & 1)
        assert int(dut.response_ready_o.value) == (registers | ready)
        await RisingEdge(dut.clk_i)
