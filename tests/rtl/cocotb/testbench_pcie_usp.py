# SPDX-License-Identifier: Apache-2.0
"""spate_pcie_usp between a block that keeps the product guide's rules and a memory in the core's place. Completions are judged by
the PCI Express rules (usp_packets), not by a model."""

import os
import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

from core_model import BAR, DEVICE, LOCAL, CoreModel, Registers
from usp_block import Block, StoppableClock
from usp_packets import (COMPARE_SWAP, FETCH_ADD, IO_READ, IO_WRITE, LOCKED_READ, MEMORY_READ, MEMORY_WRITE, MESSAGE,
                         SWAP, Judge, Request)

CORE_PS = int(os.environ.get("CORE_PS", "4000"))
USER_PS = int(os.environ.get("USER_PS", "4000"))
WINDOW_BASE, WINDOW_BITS, BAR_BASE = 0x8_0020_0000, 21, 0x9000_0000
ENABLES_FIRST = [0b1111, 0b1110, 0b1100, 0b1000]
ENABLES_LAST = [0b1111, 0b0111, 0b0011, 0b0001]


class Testbench:
    def __init__(self, dut, stall: float = 0.0, payload: int = 1):
        self.dut, self.payload = dut, payload
        dut.rst_n.value = dut.adapter_reset.value = dut.epoch.value = dut.user_lnk_up.value = 0
        dut.user_reset.value = 1
        self.core_clock, self.user_clock = StoppableClock(dut.clk, CORE_PS), StoppableClock(dut.user_clk, USER_PS)
        self.core, self.registers, self.block = CoreModel(dut, stall), Registers(dut), Block(dut, stall)
        self.core.memory[:] = random.randbytes(len(self.core.memory))
        self.expected = bytearray(self.core.memory)  # the result of the writes
        self.judge = Judge(self.byte, 128 << payload)
        self.block.on_shown, self.block.on_completion = self.on_shown, self.judge.answer
        self.stray = 0
        self.tag = 0

    def byte(self, address: int) -> int:
        inside = address >> WINDOW_BITS == WINDOW_BASE >> WINDOW_BITS
        return self.core.memory[address - WINDOW_BASE] if inside else 0

    def on_shown(self, request: Request) -> None:
        if not request.posted:
            self.judge.ask(request)
        elif request.kind != MEMORY_WRITE:
            self.stray += 1

    async def start(self):
        dut = self.dut
        await ClockCycles(dut.clk, 4)
        dut.rst_n.value = 1
        dut.cfg_max_payload.value = self.payload
        await ClockCycles(dut.user_clk, 8)
        dut.user_reset.value = 0
        dut.user_lnk_up.value = 1
        await self.until(lambda: dut.link_up.value)

    async def until(self, condition, cycles: int = 20000):
        for _ in range(cycles):
            if condition():
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError("the condition was not reached")

    async def finished(self):
        await self.until(lambda: not self.block.requests and not self.block.words and not self.judge.waiting, 100000)
        await ClockCycles(self.dut.user_clk, 8)  # `quiet` is reported late
        await ClockCycles(self.dut.clk, 8)
        await self.until(lambda: self.dut.quiet.value)

    def read(self, offset: int, dwords: int, first: int = 0xf, last: int = 0xf, **named) -> None:
        self.tag = (self.tag + 1) % 256
        self.block.show(Request(MEMORY_READ, WINDOW_BASE + offset, dwords, first, last, self.tag,
                                random.getrandbits(16), random.randrange(8), random.randrange(8), **named))

    def write(self, offset: int, dwords: int, first: int = 0xf, last: int = 0xf, broken: bool = False, cut: int = 0) -> None:
        data = [random.getrandbits(32) for _ in range(dwords)]
        request = Request(MEMORY_WRITE, WINDOW_BASE + offset, dwords, first, last, data=data, broken=broken, cut=cut)
        self.block.show(request)
        if not broken:
            for dword, value in enumerate(data):
                for b in range(4):
                    if request.enables(dword) >> b & 1:
                        self.expected[offset + 4 * dword + b] = value >> 8 * b & 0xff

    def written(self) -> None:
        found, expected = self.core.memory, self.expected
        differ = [k for k in range(len(found)) if found[k] != expected[k]] if found != expected else []
        assert not differ, f"{len(differ)} bytes differ from what was written, from {differ[0]:#x} to {differ[-1]:#x}"


def any_span(limit_dwords: int) -> tuple[int, int]:
    """Offset and dwords of an access within 4 KiB."""
    dwords = min(int(2 ** random.uniform(0, 10.01)), limit_dwords)
    place = random.randrange(0, 1025 - dwords)
    return random.randrange(1 << WINDOW_BITS - 12) * 4096 + 4 * place, dwords


@cocotb.test(timeout_time=900, timeout_unit="us")
@cocotb.parametrize(payload=[0, 1, 2, 3], stall=[0.0, 0.5])
async def reads_are_completed_by_the_rules(dut, payload, stall):
    tb = Testbench(dut, stall, payload)
    await tb.start()
    for _ in range(60):
        offset, dwords = any_span(1024)
        if dwords == 1:
            tb.read(offset, 1, random.randrange(16))
        elif dwords == 2:
            tb.read(offset, 2, random.randrange(1, 16), random.randrange(1, 16))
        else:
            tb.read(offset, dwords, random.choice(ENABLES_FIRST), random.choice(ENABLES_LAST))
    await tb.finished()
    assert tb.judge.done == 60


@cocotb.test(timeout_time=600, timeout_unit="us")
async def every_place_and_length(dut):
    """Each lane and each length around the sizes of a packet and a beat, from a boundary and up to one."""
    tb = Testbench(dut, 0.2, 0)
    await tb.start()
    count = 0
    for lane in range(8):
        for dwords in [*range(1, 18), 31, 32, 33, 40]:
            for place in (4 * lane, 128 - 4 * lane, 4096 - 4 * dwords):
                tb.read(8192 + place, dwords)
                count += 1
    await tb.finished()
    assert tb.judge.done == count


@cocotb.test(timeout_time=600, timeout_unit="us")
async def a_read_of_nothing_gets_a_dword(dut):
    tb = Testbench(dut)
    await tb.start()
    for place in range(0, 64, 4):
        tb.read(place, 1, 0)
    await tb.finished()
    assert tb.judge.done == tb.judge.packets == 16


@cocotb.test(timeout_time=900, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.5])
async def writes_arrive_byte_by_byte(dut, stall):
    tb = Testbench(dut, stall)
    await tb.start()
    for lane in range(8):
        for dwords in range(1, 20):
            tb.write(4096 * random.randrange(256) + 4 * lane, dwords, random.choice(ENABLES_FIRST) if dwords > 1
                        else random.randrange(16), random.choice(ENABLES_LAST))
    for _ in range(60):
        offset, dwords = any_span(128)
        tb.write(offset, dwords)
    await tb.finished()
    tb.written()


@cocotb.test(timeout_time=900, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.6])
async def everything_at_once(dut, stall):
    """Reads (of addresses that are not written), writes, and unsupported requests, in any order."""
    tb = Testbench(dut, stall, 0)
    await tb.start()
    half = 1 << WINDOW_BITS - 1
    kinds = [IO_READ, IO_WRITE, FETCH_ADD, SWAP, COMPARE_SWAP, LOCKED_READ]
    for number in range(120):
        choice = random.randrange(12)
        offset, dwords = any_span(128)
        if choice < 5:
            tb.write(offset % half, dwords)
        elif choice < 10:
            tb.read(half + offset % half, dwords)
        elif choice == 10:
            kind = random.choice(kinds)
            data = [random.getrandbits(32) for _ in range({IO_WRITE: 1, FETCH_ADD: 2, SWAP: 1, COMPARE_SWAP: 4}.get(kind, 0))]
            length = {IO_READ: 1, IO_WRITE: 1, LOCKED_READ: dwords}.get(kind, len(data))
            tb.block.show(Request(kind, WINDOW_BASE + offset, length, tag=number, data=data, traffic_class=3))
        else:
            tb.block.show(Request(MESSAGE + random.randrange(3), random.getrandbits(40), 2, data=[1, 2]))
    await tb.finished()
    tb.written()
    assert tb.core.stray_writes == tb.stray


@cocotb.test(timeout_time=200, timeout_unit="us")
async def what_is_outside_is_stray(dut):
    tb = Testbench(dut)
    await tb.start()
    for base in (0, WINDOW_BASE - 4096, WINDOW_BASE + (1 << WINDOW_BITS), WINDOW_BASE | 1 << 63):
        tb.block.show(Request(MEMORY_READ, base + 16, 20, tag=7))
        tb.block.show(Request(MEMORY_WRITE, base + 32, 4, data=[1, 2, 3, 4]))
    tb.block.show(Request(MEMORY_READ, WINDOW_BASE, 4, tag=9, address_type=1))
    await tb.finished()
    assert tb.core.stray_reads == 4
    beats = {128: 1, 256: 1}[tb.block.width]
    assert tb.core.stray_writes == 4 * beats
    tb.written()


@cocotb.test(timeout_time=200, timeout_unit="us")
async def writes_do_not_wait_for_reads(dut):
    """The core takes no read for a long time: credits run out, and writes continue."""
    tb = Testbench(dut)
    await tb.start()
    tb.core.read_stall.share = 1.0
    await ClockCycles(dut.clk, 16)
    for _ in range(40):
        tb.read(0, 16)
    for number in range(40):
        tb.write(4096 + 64 * number, 16)
    await tb.until(lambda: tb.core.memory == tb.expected, 3000)
    assert len(tb.judge.waiting) == 32 and tb.judge.done == 0
    tb.core.read_stall.share = 0.0
    await tb.finished()
    assert tb.judge.done == 40


@cocotb.test(timeout_time=400, timeout_unit="us")
@cocotb.parametrize(payload=[0, 1, 2])
async def completions_at_full_rate(dut, payload):
    """Aligned reads: every cycle on CC has a word, except for the effect of a slower core clock."""
    tb = Testbench(dut, 0.0, payload)
    await tb.start()
    for number in range(16):
        tb.read(4096 * number, 1024)
    await tb.finished()
    cycles = tb.block.cc_cycles
    lanes, size = tb.block.lanes, 32 << payload
    words = 16 * (1024 // size) * (1 + size // lanes)
    assert len(cycles) == words
    share = words / (cycles[-1] - cycles[0] + 1)
    bytes_a_cycle = 16 * 4096 / (cycles[-1] - cycles[0] + 1)
    dut._log.info("completions: %d bytes of payload a packet, %.4f of cycles used, %.2f bytes of payload a cycle of %d",
                  128 << payload, share, bytes_a_cycle, 4 * lanes)
    assert share > min(0.99, USER_PS / CORE_PS * 0.97), "too many cycles without a word"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def small_reads_at_full_rate(dut):
    """Submission entries: 64 bytes, aligned."""
    tb = Testbench(dut)
    await tb.start()
    for number in range(200):
        tb.read(64 * number, 16)
    await tb.finished()
    cycles = tb.block.cc_cycles
    share = len(cycles) / (cycles[-1] - cycles[0] + 1)
    dut._log.info("64-byte reads: %.4f of cycles used", share)
    assert share > min(0.97, USER_PS / CORE_PS * 0.9), "too many cycles without a word"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def writes_at_full_rate(dut):
    """Whole payloads, aligned: CQ never waits."""
    if CORE_PS > USER_PS:
        return  # a slower core clock cannot take them
    tb = Testbench(dut)
    await tb.start()
    for number in range(100):
        tb.write(256 * number, 64)
    await tb.finished()
    tb.written()
    assert tb.block.cq_waits == 0


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(dwords=[1, 4, 64], cut=[0, 1, 2])
async def a_broken_write_takes_the_link_down(dut, dwords, cut):
    tb = Testbench(dut)
    await tb.start()
    tb.write(0, 16)
    tb.write(4096, dwords, broken=True, cut=cut)
    await tb.until(lambda: not dut.link_up.value)
    before = bytes(tb.core.memory)
    for number in range(8):
        tb.block.show(Request(MEMORY_WRITE, WINDOW_BASE + 8192 + 64 * number, 4, data=[0, 0, 0, 0]))
        tb.read(64 * number, 16)
    await tb.finished()
    assert tb.core.memory == before, "a write after a broken one was taken"
    assert tb.judge.done == 8 and not dut.link_up.value
    dut.adapter_reset.value = 1
    await ClockCycles(dut.clk, 2)
    dut.adapter_reset.value = 0
    await tb.until(lambda: dut.link_up.value)
    # The lost write is not repaired: a completion of that epoch would be for data that are missing.
    tb.expected = bytearray(tb.core.memory)
    tb.block.show(Request(MEMORY_WRITE, WINDOW_BASE + 8192, 4, data=[0, 0, 0, 0]))
    tb.block.show(Request(MEMORY_WRITE, WINDOW_BASE + (1 << WINDOW_BITS - 1), 4, data=[0, 0, 0, 0]))
    await tb.finished()
    tb.written()
    dut.epoch.value = 1
    await ClockCycles(dut.clk, 2)
    tb.write(64, 16)
    await tb.finished()
    tb.written()


# ---- registers ----


async def ask(tb: Testbench, space: int, write: bool, address: int, data: int = 0):
    task = cocotb.start_soon(tb.registers.write(space, address, data) if write
                             else tb.registers.read(space, address))
    return task, *(await tb.block.rq_request())


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.5])
async def registers_of_each_space(dut, stall):
    tb = Testbench(dut, stall)
    await tb.start()
    for _ in range(20):
        value, offset = random.getrandbits(32), 4 * random.randrange(1024)
        assert await tb.registers.read(LOCAL, offset) == (False, tb.block.config[offset // 4])
        assert not await tb.registers.write(LOCAL, offset, value)
        assert tb.block.config[offset // 4] == value
        task, request, _ = await ask(tb, BAR, True, offset, value)
        assert (request.kind, request.address, request.data) == (MEMORY_WRITE, BAR_BASE + offset, [value])
        assert not await task
        task, request, _ = await ask(tb, BAR, False, offset)
        assert (request.kind, request.address, request.data) == (MEMORY_READ, BAR_BASE + offset, [])
        tb.block.answer(request.tag, [value])
        assert await task == (False, value)
        task, request, function = await ask(tb, DEVICE, False, offset)
        assert (request.kind, request.address, function) == (8, offset, 0x0100)
        tb.block.answer(request.tag ^ 1, [0])  # a completion without a request
        tb.block.answer(request.tag, [value])
        assert await task == (False, value)
        task, request, function = await ask(tb, DEVICE, True, offset, value)
        assert (request.kind, request.address, function, request.data) == (10, offset, 0x0100, [value])
        tb.block.answer(request.tag)
        assert not await task
    assert tb.block.config_accesses == 40


@cocotb.test(timeout_time=200, timeout_unit="us")
async def what_fails_is_an_error(dut):
    tb = Testbench(dut)
    await tb.start()
    failures = [{"status": 1, "error": 2}, {"status": 2, "error": 2}, {"status": 4, "error": 2}, {"error": 9},
                {"error": 1, "poisoned": True, "data": [1]}, {"poisoned": True, "data": [1]},
                {"broken": True, "data": [1]}, {"error": 3}, {"status": 1}, {}]
    for failure in failures:
        for space in (DEVICE, BAR):
            task, request, _ = await ask(tb, space, False, 16)
            tb.block.answer(request.tag, **failure)
            error, _ = await task
            assert error, failure
    for failure in failures[:4]:
        task, request, _ = await ask(tb, DEVICE, True, 16, 5)
        tb.block.answer(request.tag, **failure)
        assert await task, failure
    task, request, _ = await ask(tb, BAR, False, 16)
    tb.block.answer(request.tag, [77])
    assert await task == (False, 77)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def without_a_link_accesses_end(dut):
    tb = Testbench(dut)
    await tb.start()
    task, request, _ = await ask(tb, BAR, False, 16)
    dut.user_lnk_up.value = 0
    assert (await task)[0]
    await tb.until(lambda: not dut.link_up.value)
    assert (await tb.registers.read(DEVICE, 0))[0] and (await tb.registers.read(BAR, 0))[0]
    assert not (await tb.registers.read(LOCAL, 0))[0], "the root port answers without a link"
    tb.block.answer(request.tag, [1])  # too late
    dut.user_lnk_up.value = 1
    await tb.until(lambda: dut.link_up.value)
    task, again, _ = await ask(tb, BAR, False, 16)
    assert again.tag != request.tag
    tb.block.answer(again.tag, [2])
    assert await task == (False, 2)


# ---- resets and clocks ----


async def traffic(tb: Testbench, count: int = 30):
    half = 1 << WINDOW_BITS - 1
    for _ in range(count):
        offset, dwords = any_span(128)
        tb.write(offset % half, dwords)
        offset, dwords = any_span(1024)
        tb.read(half + offset % half, dwords)


@cocotb.test(timeout_time=900, timeout_unit="us")
@cocotb.parametrize(clock_stops=[False, True], stall=[0.0, 0.4])
async def the_block_resets_at_any_time(dut, clock_stops, stall):
    tb = Testbench(dut, stall)
    await tb.start()
    for _ in range(6):
        await traffic(tb)
        asking = cocotb.start_soon(tb.registers.read(BAR, 8))
        await ClockCycles(dut.clk, random.randrange(1, 400))
        if clock_stops:
            tb.user_clock.running = False
            await ClockCycles(dut.clk, random.randrange(0, 20))
        dut.user_reset.value = 1
        dut.user_lnk_up.value = 0
        error, _ = await with_timeout(asking, 3, "us")
        assert error
        await tb.until(lambda: not dut.link_up.value, 10)
        # The core finishes its responses without the block's clock.
        await tb.until(lambda: not tb.core.owed, 4000)
        assert (await with_timeout(cocotb.start_soon(tb.registers.read(LOCAL, 0)), 1, "us"))[0]
        tb.user_clock.running = True
        await ClockCycles(dut.user_clk, random.randrange(4, 40))
        tb.judge.waiting.clear()
        tb.judge.at = None
        dut.user_reset.value = 0
        dut.user_lnk_up.value = 1
        await tb.until(lambda: dut.link_up.value)
        await ClockCycles(dut.clk, 20)
        tb.expected = bytearray(tb.core.memory)
        before = tb.judge.done
        await traffic(tb, 8)
        await tb.finished()
        tb.written()
        assert tb.judge.done == before + 8


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_clock_that_stops_is_noticed(dut):
    """The clock stops without a reset: accesses still end, and everything works when it runs again."""
    tb = Testbench(dut)
    await tb.start()
    asking = cocotb.start_soon(tb.registers.read(BAR, 8))
    tb.read(0, 1024)
    await ClockCycles(dut.clk, 40)
    tb.user_clock.running = False
    error, _ = await with_timeout(asking, 4, "us")
    assert error and not dut.link_up.value
    tb.user_clock.running = True
    dut.user_reset.value = 1
    await ClockCycles(dut.user_clk, 10)
    tb.judge.waiting.clear()
    tb.judge.at = None
    dut.user_reset.value = 0
    await tb.until(lambda: dut.link_up.value)
    await traffic(tb, 8)
    await tb.finished()
    tb.written()


@cocotb.test(timeout_time=900, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.4])
async def the_core_resets_the_adapter_at_any_time(dut, stall):
    """The block is not reset with the adapter: packets that began end, and accesses that arrive meanwhile are dropped."""
    tb = Testbench(dut, stall)
    await tb.start()
    tb.block.on_completion = lambda packet: None  # some requests get no completion
    for _ in range(6):
        await traffic(tb, 20)
        await ClockCycles(dut.clk, random.randrange(1, 600))
        dut.adapter_reset.value = 1
        await ClockCycles(dut.clk, random.choice([1, 5, 40]))
        if random.random() < 0.5:
            await ClockCycles(dut.clk, 40)  # the core has taken by then what it was shown
            before = bytes(tb.core.memory)
            await ClockCycles(dut.clk, 200)
            assert not dut.link_up.value and tb.core.memory == before, "a write came through during reset"
        dut.adapter_reset.value = 0
        await tb.until(lambda: dut.link_up.value and not tb.block.requests and not tb.block.words)
        await tb.until(lambda: dut.quiet.value)
    await ClockCycles(dut.clk, 200)
    # Nothing old is left: all credits are back, and all requests get their completions.
    tb.judge = Judge(tb.byte, 256)
    tb.block.on_completion = tb.judge.answer
    tb.expected = bytearray(tb.core.memory)
    await traffic(tb, 50)
    await tb.finished()
    tb.written()
    assert tb.judge.done == 50
