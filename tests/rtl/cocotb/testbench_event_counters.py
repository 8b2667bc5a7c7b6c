# SPDX-License-Identifier: Apache-2.0
"""spate_event_counters: every event is counted, at every rate."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

LATE_CYCLES = 17


async def count_of(dut, which: int) -> int:
    dut.select_i.value = which
    await Timer(1, "ns")
    return int(dut.count_o.value)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(share=[0.02, 0.5, 1.0])
async def no_event_is_missed(dut, share):
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    dut.event_i.value = 0xFFFF
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    dut.event_i.value = 0
    while not dut.ready_o.value:
        await RisingEdge(dut.clk_i)
    events = [0] * 16
    for _ in range(3000):
        now = [random.random() < share for _ in range(16)]
        dut.event_i.value = sum(bit << i for i, bit in enumerate(now))
        events = [count + bit for count, bit in zip(events, now)]
        await RisingEdge(dut.clk_i)
    dut.event_i.value = 0
    for _ in range(LATE_CYCLES):
        await RisingEdge(dut.clk_i)
    assert [await count_of(dut, i) for i in range(16)] == events
