# SPDX-License-Identifier: Apache-2.0
"""Records 64 KiB onto a model of a drive and reads them back: python3 -m pytest test_recorder.py"""

import os
import pathlib

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge
from spate_sim import DNR, HardBlockDrive, Sink
from spate_sim.verilator import Verilator

FIRST, BLOCKS, BLOCK_BYTES = 2048, 128, 512
PATTERN = b"".join(((1 + i * 0x9E3779B97F4A7C15) % 2**64).to_bytes(8, "little") for i in range(BLOCKS * BLOCK_BYTES // 8))


class Bench:
    def __init__(self, dut):
        self.dut = dut
        Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
        dut.rst_ni.value = dut.record_i.value = dut.play_i.value = 0
        self.drive = HardBlockDrive(dut, "pcie_", blocks=4096, block_bytes=BLOCK_BYTES)
        self.played = Sink(dut.clk_i, dut.rst_ni, dut.play_valid_o, dut.play_ready_i,
                           {"data": dut.play_data_o, "last": dut.play_last_o, "error": dut.play_error_o})

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 20)
        self.dut.rst_ni.value = 1
        await ClockCycles(self.dut.clk_i, 20)

    async def do(self, button) -> int:
        """Presses a button, waits until the recorder has finished, and returns its status."""
        button.value = 1
        await ClockCycles(self.dut.clk_i, 1)
        button.value = 0
        await FallingEdge(self.dut.busy_o)
        return int(self.dut.status_o.value)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def what_was_recorded_is_played(dut):
    bench = Bench(dut)
    await bench.reset()
    assert await bench.do(dut.record_i) == 0
    assert bench.drive.read(FIRST, BLOCKS) == PATTERN
    assert bench.drive.counts.flushes == 1 and bench.drive.counts.errors == 0
    assert await bench.do(dut.play_i) == 0
    await bench.drive.until(lambda: len(bench.played.words) == BLOCKS * 32, 10_000, "all beats")  # they may come after the response
    words = list(bench.played.words)
    assert b"".join(word["data"].to_bytes(16, "little") for word in words) == PATTERN
    assert words[-1]["last"] and not any(word["error"] for word in words)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_block_that_cannot_be_written_is_reported(dut):
    bench = Bench(dut)
    await bench.reset()
    bench.drive.fail(FIRST + 70, status=0x0280 | DNR)
    assert await bench.do(dut.record_i) == 0x0280 | DNR
    assert bench.drive.counts.flushes == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_link_that_drops_loses_nothing(dut):
    bench = Bench(dut)
    bench.drive.latency_ns = 2000, 9000  # so that commands are under way when the link drops
    await bench.reset()
    recording = cocotb.start_soon(bench.do(dut.record_i))
    await bench.drive.until(lambda: len(bench.drive.in_flight) > 2, 500_000, "commands in flight")
    bench.drive.disconnect(5000)
    assert await recording in (0, 0x8008)  # 8008h: the drive may have lost power, and what had completed
    assert bench.drive.read(FIRST, BLOCKS) == PATTERN
    assert bench.drive.counts.link_drops == 1 and bench.drive.counts.bring_ups == 2


def test_recorder():
    spate = pathlib.Path(os.environ["SPATE"])
    listed = (spate / "rtl/spate.f").read_text().splitlines()
    runner = Verilator()
    sources = [spate / "rtl/lint/waivers.vlt", *(spate / line for line in listed if line.startswith("rtl/")), "recorder.sv"]
    runner.build(sources=sources, hdl_toplevel="recorder", parameters={"ClockHz": 1_000_000, "UsPerMs": 16, "DeadlineMs": 4000},
                 timescale=("1ns", "1ps"), build_args=["--x-initial", "unique"])
    # Ports begin with random values, too. With this seed the clocks and the reset begin low: an edge before the reset would
    # meet registers with random values.
    runner.test("test_recorder", hdl_toplevel="recorder", test_args=["+verilator+rand+reset+2", "+verilator+seed+3"])
