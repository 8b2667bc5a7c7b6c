# SPDX-License-Identifier: Apache-2.0
"""spate_command_arbiter: three givers, a drive that takes what it likes, and responses that go back to where they belong."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from streams import Source

GIVERS = ("user", "data", "side")
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
                            {"command": getattr(dut, f"{name}_i")}, stall) for name in GIVERS}
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return sources


def word(giver: str, number: int) -> int:
    return GIVERS.index(giver) << 32 | number


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.6], ready_share=[0.2, 1.0])
async def each_command_once_and_in_order(dut, stall, ready_share):
    sources = await start(dut, stall)
    for name, source in sources.items():
        for number in range(COMMANDS):
            source.put(command=word(name, number))
    taken = {name: [] for name in GIVERS}
    while any(len(numbers) < COMMANDS for numbers in taken.values()):
        dut.welcome_i.value = 7 if random.random() < ready_share else 0
        await ReadOnly()
        if dut.command_valid_o.value and dut.command_ready_o.value:
            command = int(dut.command_o.value)
            taken[GIVERS[command >> 32]].append(command & 0xFFFFFFFF)
        await RisingEdge(dut.clk_i)
    assert all(numbers == list(range(COMMANDS)) for numbers in taken.values())


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(welcome=["user", "data", "side"])
async def one_that_would_be_taken_does_not_wait_for_another(dut, welcome):
    """The drive takes commands of one giver only, as it takes side commands while the splitter is busy."""
    sources = await start(dut, 0.0)
    for name, source in sources.items():
        for number in range(20):
            source.put(command=word(name, number))
    dut.welcome_i.value = 1 << GIVERS.index(welcome)
    waited, before = 0, 0
    while sources[welcome].words:
        await RisingEdge(dut.clk_i)
        waited = 0 if sources[welcome].taken > before else waited + 1
        before = sources[welcome].taken
        assert waited < PATIENCE_CYCLES
    assert sources[welcome].taken == 20
    assert all(source.taken == 0 for name, source in sources.items() if name != welcome)


@cocotb.test(timeout_time=20, timeout_unit="us")
async def one_giver_alone_gives_a_command_every_cycle(dut):
    sources = await start(dut, 0.0)
    dut.welcome_i.value = 7
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
