# SPDX-License-Identifier: Apache-2.0
"""The test pattern's generator and checker: the bytes of the formula for every width, differences at the right place, the rate
limit and the counters."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

WIDTH = int(os.environ["DATA_WIDTH"])
LANES = WIDTH // 64


def pattern_bytes(seed: int, words: int) -> bytes:
    """As in the header of spate_pattern_words.sv."""
    return b"".join(((seed + i * 0x9e3779b97f4a7c15) % 2**64).to_bytes(8, "little") for i in range(words))


class Run:
    """Observes the wire from the start on, and computes the expected counters."""

    def __init__(self, dut):
        self.dut, self.beats, self.lasts = dut, [], []
        self.stalls = self.waits = self.first = self.last = self.cycle = 0
        dut.rst_ni.value = 0
        for name in ("start", "check_start", "stop", "flip", "hold", "error", "seed", "beats"):
            getattr(dut, f"{name}_i").value = 0
        dut.source_rate_i.value = dut.check_rate_i.value = 256
        Clock(dut.clk_i, 4, unit="ns").start()

    async def start(self, seed: int, beats: int) -> None:
        dut = self.dut
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        dut.seed_i.value, dut.beats_i.value = seed, beats
        await RisingEdge(dut.clk_i)
        dut.start_i.value = dut.check_start_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.start_i.value = dut.check_start_i.value = 0

    async def step(self, flips: dict[int, int] = {}) -> None:
        """Runs one cycle. `flips`: beat → bits to invert in it."""
        dut = self.dut
        dut.flip_i.value = flips.get(len(self.beats), 0)
        await ReadOnly()
        if dut.valid_o.value and dut.ready_o.value:
            self.beats.append(int(dut.data_o.value).to_bytes(WIDTH // 8, "little"))
            self.lasts.append(int(dut.last_o.value))
            self.first = self.first or self.cycle + 1
            self.last = self.cycle + 1
        self.stalls += int(bool(dut.valid_o.value) and not dut.ready_o.value)
        self.waits += int(bool(dut.ready_o.value) and not dut.valid_o.value)
        self.cycle += 1
        await RisingEdge(dut.clk_i)

    async def to_the_end(self, flips: dict[int, int] = {}) -> None:
        busy = True
        while busy:
            await self.step(flips)
            busy = bool(self.dut.busy_o.value)
        for _ in range(4):
            await self.step()


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(source_rate=[256, 77], check_rate=[256, 100])
async def the_bytes_of_the_formula(dut, source_rate, check_rate):
    run, seed, beats = Run(dut), random.getrandbits(64), 500
    dut.source_rate_i.value, dut.check_rate_i.value = source_rate, check_rate
    await run.start(seed, beats)
    await run.to_the_end()
    await ReadOnly()
    assert b"".join(run.beats) == pattern_bytes(seed, beats * LANES)
    assert run.lasts == [0] * (beats - 1) + [1]
    assert int(dut.source_beats_o.value) == int(dut.check_beats_o.value) == beats
    assert int(dut.wrong_beats_o.value) == 0
    assert int(dut.source_cycles_o.value) == int(dut.check_cycles_o.value) == run.last - run.first + 1
    assert int(dut.source_stalls_o.value) == run.stalls
    assert int(dut.check_stalls_o.value) == run.waits
    slowest = min(source_rate, check_rate)
    assert run.last - run.first + 1 >= (beats - 1) * 256 // slowest
    if max(source_rate, check_rate) == 256:
        assert run.last - run.first + 1 <= beats * 256 // slowest + 4


@cocotb.test(timeout_time=100, timeout_unit="us")
async def differences_are_found(dut):
    for _ in range(5):
        run, beats = Run(dut), 200
        flips = {random.randrange(beats): 1 << random.randrange(WIDTH) for _ in range(random.randint(1, 4))}
        await run.start(random.getrandbits(64), beats)
        await run.to_the_end(flips)
        first = min(flips)
        assert int(dut.wrong_beats_o.value) == len(flips)
        assert int(dut.wrong_word_o.value) == first * LANES + (flips[first].bit_length() - 1) // 64


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_lost_beat_makes_all_that_follow_wrong(dut):
    run = Run(dut)
    await run.start(1, 100)
    for _ in range(10):
        await run.step()
    before = len(run.beats)
    dut.check_rate_i.value = 0  # beats that are taken in this cycle and the next one still count
    await run.step()
    await run.step()
    dut.check_rate_i.value = 256
    dut.check_start_i.value = 1  # restarts in the middle of the stream
    await run.step()
    dut.check_start_i.value = 0
    await run.to_the_end()
    assert before > 0 and int(dut.wrong_beats_o.value) == int(dut.check_beats_o.value) > 80
    assert int(dut.wrong_word_o.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def flagged_beats_are_wrong(dut):
    run = Run(dut)
    await run.start(1, 50)
    dut.error_i.value = 1
    await run.to_the_end()
    assert int(dut.wrong_beats_o.value) == 50


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(held=[False, True])
async def it_stops(dut, held):
    """A beat that is shown is still delivered; the next start begins with the first word."""
    run = Run(dut)
    await run.start(7, 1000)
    for _ in range(20):
        await run.step()
    dut.hold_i.value = int(held)
    await run.step()
    dut.stop_i.value = 1
    await run.step()
    dut.stop_i.value = 0
    await run.step()
    assert bool(dut.busy_o.value) == held
    dut.hold_i.value = 0
    for _ in range(5):
        await run.step()
    assert not dut.busy_o.value
    assert b"".join(run.beats) == pattern_bytes(7, len(run.beats) * LANES)
    assert int(dut.source_beats_o.value) == len(run.beats) < 30
    again = Run(dut)
    await again.start(9, 3)
    await again.to_the_end()
    assert b"".join(again.beats) == pattern_bytes(9, 3 * LANES)
