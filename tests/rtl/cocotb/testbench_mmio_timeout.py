# SPDX-License-Identifier: Apache-2.0
"""spate_mmio with its default deadline: a response that comes after the root port's completion timeout is in time."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge

import records

COMPLETION_TIMEOUT_US = 50_000  # the longest of the default range: PCI Express base specification, Device Control 2
MARGIN_US = COMPLETION_TIMEOUT_US // 5  # for the round trip to the root port, and for clocks of different speed
BAR = 2


async def end(dut) -> None:
    await RisingEdge(dut.admin_done_o)
    await ReadOnly()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_answer_as_late_as_a_root_ports_is_in_time(dut):
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for name in ("us_tick_i", "doorbell_valid_i", "admin_valid_i", "request_ready_i", "response_valid_i", "response_i"):
        getattr(dut, name).value = 0
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value, dut.request_ready_i.value = 1, 1
    dut.us_tick_i.value = 1  # a microsecond is a cycle
    records.put(dut.admin_i, "mmio_access_t", space=BAR)
    dut.admin_valid_i.value = 1
    await RisingEdge(dut.request_valid_o)
    dut.admin_valid_i.value = 0
    await ReadOnly()
    number = records.get(dut.request_o, "mmio_request_t").id
    ended = cocotb.start_soon(end(dut))
    await ClockCycles(dut.clk_i, COMPLETION_TIMEOUT_US + MARGIN_US)
    assert not ended.done(), "the access was given up before the root port's timeout"
    records.put(dut.response_i, "mmio_response_t", id=number, result=records.pack("mmio_result_t", data=0x5A5A_A5A5))
    dut.response_valid_i.value = 1
    await ended
    result = records.get(dut.admin_result_o, "mmio_result_t")
    assert not result.error and result.data == 0x5A5A_A5A5
