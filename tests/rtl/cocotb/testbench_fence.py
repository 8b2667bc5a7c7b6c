# SPDX-License-Identifier: Apache-2.0
"""The fence and its tap: data writes are answered late and in any order between ids, and completions must not pass them."""

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from spate_sim.streams import Stall

CORE_PS = int(os.environ.get("CORE_PS", "4000"))
BRIDGE_PS = int(os.environ.get("BRIDGE_PS", "4000"))
COMMANDS = 150
UNANSWERED_MAX = 63
NOTED_CYCLES = 30  # from a completion until the tap has noted what its question covers: a crossing and a pass
LEAVES_CYCLES = 60  # from the last answer until the completion leaves: two passes and a crossing
CROSSING_CYCLES = 3  # through the bridge, from a completion's address until the core sees the completion


class Memory:
    """The bridge's master port: addresses are issued; the memory answers each id in order, but ids in any order, late."""

    def __init__(self, dut, latency_cycles: int, frozen: set[int] | None = None):
        self.dut, self.latency_cycles, self.frozen = dut, latency_cycles, frozen or set()
        self.wanted: deque[int] = deque()  # ids of writes to issue
        self.accepted = self.answered = 0  # totals
        self.waiting: dict[int, deque] = {}  # per id: (number of the write, first cycle in which it may be answered)
        self.unanswered: set[int] = set()  # numbers of writes
        self.cycle = 0
        for signal in (dut.awvalid, dut.awready, dut.awid, dut.bvalid, dut.bready, dut.bid):
            signal.value = 0
        self.running = cocotb.start_soon(self._run())

    async def _run(self):
        dut, aw_stall, b_stall, shown_b, shown_aw = self.dut, Stall(0.3), Stall(0.3), None, False
        while True:
            await ReadOnly()
            taken_aw = bool(dut.awvalid.value and dut.awready.value)
            taken_b = bool(dut.bvalid.value and dut.bready.value)
            await RisingEdge(dut.axi_clk)
            self.cycle += 1
            if taken_aw:
                due = self.cycle + random.randint(1, self.latency_cycles)
                self.waiting.setdefault(self.wanted.popleft(), deque()).append((self.accepted, due))
                self.unanswered.add(self.accepted)
                self.accepted += 1
                shown_aw = False
            if taken_b:
                self.unanswered.remove(self.waiting[shown_b].popleft()[0])
                self.answered += 1
                shown_b = None
            shown_aw = shown_aw or bool(self.wanted and len(self.unanswered) < UNANSWERED_MAX - 1)
            if shown_b is None:
                due = [name for name, writes in self.waiting.items()
                       if writes and writes[0][1] <= self.cycle and name not in self.frozen]
                shown_b = random.choice(due) if due else None
            dut.awvalid.value, dut.awid.value = int(shown_aw), self.wanted[0] if shown_aw else random.getrandbits(4)
            dut.awready.value = int(not aw_stall.next())
            dut.bvalid.value, dut.bid.value = int(shown_b is not None), random.getrandbits(4) if shown_b is None else shown_b
            dut.bready.value = int(not b_stall.next())

    async def give_out(self, count: int, ids: int) -> int:
        """Issues the writes, and returns how many were accepted when the last one was."""
        target = self.accepted + len(self.wanted) + count
        self.wanted.extend(random.randrange(ids) for _ in range(count))
        while self.accepted < target:
            await RisingEdge(self.dut.axi_clk)
        return target


class Core:
    """Gives completions to the fence and takes them from it: none before the writes that came before it."""

    def __init__(self, dut, memory: Memory, stall: float):
        self.dut, self.memory, self.stall = dut, memory, Stall(stall)
        self.sent: deque = deque()
        self.taken = 0
        dut.in_valid.value = dut.out_ready.value = 0
        self.running = cocotb.start_soon(self._take())

    async def complete(self, writes_before: int) -> None:
        """A completion arrives that the drive sent after this many writes."""
        dut, result = self.dut, random.getrandbits(32)
        self.sent.append((result, writes_before))
        await RisingEdge(dut.clk)
        dut.in_valid.value, dut.in_result.value = 1, result
        while True:
            await ReadOnly()
            assert dut.in_ready.value, "the fence blocks a completion, which may deadlock"
            await RisingEdge(dut.clk)
            break
        dut.in_valid.value, dut.in_result.value = 0, random.getrandbits(32)

    async def _take(self):
        dut, waiting = self.dut, None
        while True:
            await ReadOnly()
            shown = int(dut.out_result.value) if dut.rst_n.value and dut.out_valid.value else None
            assert waiting is None or shown == waiting, "a completion changed or vanished before it was taken"
            if shown is not None:
                assert self.sent, "a completion that was not sent"
                result, writes_before = self.sent[0]
                assert shown == result, "completions are out of order"
                late = sorted(number for number in self.memory.unanswered if number < writes_before)
                assert not late, f"a completion came before the answers to writes {late}"
            taken = shown is not None and bool(dut.out_ready.value)
            waiting = None if taken else shown
            await RisingEdge(dut.clk)
            if taken:
                self.sent.popleft()
                self.taken += 1
            dut.out_ready.value = int(not self.stall.next())


async def begin(dut, latency_cycles: int, stall: float = 0.3) -> tuple[Memory, Core]:
    dut.rst_n.value = dut.axi_rst_n.value = 0
    Clock(dut.clk, CORE_PS, unit="ps").start()
    Clock(dut.axi_clk, BRIDGE_PS, unit="ps").start()
    memory = Memory(dut, latency_cycles)
    core = Core(dut, memory, stall)
    await ClockCycles(dut.axi_clk, 4)
    dut.axi_rst_n.value = 1
    await ClockCycles(dut.clk, 4)
    dut.rst_n.value = 1
    await ClockCycles(dut.axi_clk, 20)
    return memory, core


@cocotb.test(timeout_time=3000, timeout_unit="us")
@cocotb.parametrize(ids=[1, 3, 16], latency_cycles=[2, 60, 400])
async def no_completion_passes_its_data(dut, ids, latency_cycles):
    memory, core = await begin(dut, latency_cycles)
    for _ in range(COMMANDS):
        before = await memory.give_out(random.randint(0, 5), ids)
        await ClockCycles(dut.axi_clk, CROSSING_CYCLES)
        while len(core.sent) >= 60:
            await RisingEdge(dut.clk)
        if random.random() < 0.9:
            await core.complete(before)
        if random.random() < 0.1:
            await ClockCycles(dut.clk, random.randint(1, 100))
    sent = core.taken + len(core.sent)
    while core.taken < sent:
        await RisingEdge(dut.clk)
    assert not dut.lost.value


@cocotb.test(timeout_time=3000, timeout_unit="us")
async def writes_of_other_ids_that_never_end_do_not_starve_it(dut):
    """Writes come without a pause; a completion still leaves soon after the writes that its question covers are answered."""
    memory, core = await begin(dut, 30)
    slower = max(1, CORE_PS // BRIDGE_PS)  # the factor by which the round trip takes longer
    for _ in range(40):
        before = await memory.give_out(3, 16)
        memory.wanted.extend(random.randrange(16) for _ in range(800 * slower))  # at most one is issued in a cycle
        await ClockCycles(dut.axi_clk, CROSSING_CYCLES)
        await core.complete(before)
        await ClockCycles(dut.axi_clk, NOTED_CYCLES * slower)
        covered = memory.accepted
        while core.sent and memory.unanswered and min(memory.unanswered) < covered:
            await RisingEdge(dut.axi_clk)
        cycles = 0
        while core.sent:
            await RisingEdge(dut.axi_clk)
            cycles += 1
            assert cycles < LEAVES_CYCLES * slower
        assert memory.wanted, "there was a pause between writes, so the test proves nothing"
        while memory.wanted:
            await RisingEdge(dut.axi_clk)


@cocotb.test(timeout_time=300, timeout_unit="us")
@cocotb.parametrize(others=[180, 260, 400, 700])
async def one_late_write_holds_it_while_others_go_round(dut, others):
    """One id is not answered while the positions of others wrap; where they stop makes no difference."""
    memory, core = await begin(dut, 4)
    memory.frozen = {5}
    memory.wanted.append(5)
    before = await memory.give_out(2, 4)
    await ClockCycles(dut.axi_clk, CROSSING_CYCLES)
    await core.complete(before)
    await memory.give_out(others, 4)
    assert core.sent and not core.taken
    memory.frozen = set()
    while core.sent:
        await RisingEdge(dut.clk)


@cocotb.test(timeout_time=300, timeout_unit="us")
async def idle_is_only_said_when_nothing_is_unanswered(dut):
    memory, _ = await begin(dut, 40)
    said = 0
    for _ in range(1500):
        if random.random() < 0.02:
            memory.wanted.extend(random.randrange(16) for _ in range(random.randint(1, 8)))
        await RisingEdge(dut.axi_clk)
        accepted_before = memory.accepted
        await ReadOnly()
        if dut.idle.value:
            said += 1
            assert not memory.unanswered and accepted_before == memory.accepted
    assert said > 50
    while memory.wanted or memory.unanswered:
        await RisingEdge(dut.axi_clk)
    await ClockCycles(dut.axi_clk, 4)
    assert dut.idle.value


@cocotb.test(timeout_time=300, timeout_unit="us")
async def the_fence_forgets_in_a_reset_of_its_own(dut):
    memory, core = await begin(dut, 50)
    for _ in range(20):
        for _ in range(random.randint(1, 4)):
            await core.complete(await memory.give_out(random.randint(1, 3), 16))
        await ClockCycles(dut.clk, random.randint(0, 30))
        dut.rst_n.value = 0
        core.sent.clear()
        core.running.cancel()
        await ClockCycles(dut.clk, random.randint(1, 12))
        core = Core(dut, memory, 0.3)
        dut.rst_n.value = 1
        await core.complete(await memory.give_out(4, 16))
        while core.sent:
            await RisingEdge(dut.clk)


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_reset_of_both_leaves_nothing_behind(dut):
    memory, core = await begin(dut, 50)
    for _ in range(20):
        await core.complete(await memory.give_out(random.randint(1, 20), 16))
        await ClockCycles(dut.clk, random.randint(0, 20))
        dut.rst_n.value = dut.axi_rst_n.value = 0
        core.running.cancel()
        memory.running.cancel()
        await ClockCycles(dut.axi_clk, random.randint(2, 5))
        memory = Memory(dut, 50)
        memory.running.cancel()
        dut.axi_rst_n.value = 1
        await ClockCycles(dut.axi_clk, 20)
        memory = Memory(dut, 50)
        core = Core(dut, memory, 0.3)
        dut.rst_n.value = 1
        await core.complete(await memory.give_out(4, 16))
        while core.sent:
            await RisingEdge(dut.clk)
        assert not dut.lost.value


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_write_too_many_is_said_and_nothing_is_let_through(dut):
    memory, core = await begin(dut, 4)
    memory.frozen = set(range(16))
    before = await memory.give_out(UNANSWERED_MAX - 1, 16)
    await ClockCycles(dut.axi_clk, 3)
    assert not dut.lost.value
    memory.running.cancel()
    dut.bvalid.value, dut.awvalid.value, dut.awready.value = 0, 1, 1
    await ClockCycles(dut.axi_clk, 3)
    dut.awvalid.value = 0
    await ClockCycles(dut.axi_clk, 3)
    assert dut.lost.value
    await core.complete(before)
    await ClockCycles(dut.clk, 300)
    assert not core.taken and not dut.idle.value
