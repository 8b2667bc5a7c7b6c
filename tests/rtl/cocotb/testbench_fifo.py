# SPDX-License-Identifier: Apache-2.0
"""spate_fifo with random stalls: order, nothing lost or invented, the count, and its full depth."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Sink, Source

WORDS = 2000


async def start(dut, source_stall: float, sink_stall: float) -> tuple[Source, Sink]:
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    source = Source(dut.clk_i, dut.rst_ni, dut.in_valid_i, dut.in_ready_o, {"data": dut.in_data_i}, source_stall)
    sink = Sink(dut.clk_i, dut.rst_ni, dut.out_valid_o, dut.out_ready_i, {"data": dut.out_data_o}, sink_stall)
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return source, sink


async def count_is_what_is_inside(dut, source: Source, sink: Sink) -> None:
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert int(dut.count_o.value) == source.taken - len(sink.words)


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(source_stall=[0.0, 0.7], sink_stall=[0.0, 0.7])
async def words_come_out_in_order(dut, source_stall, sink_stall):
    source, sink = await start(dut, source_stall, sink_stall)
    cocotb.start_soon(count_is_what_is_inside(dut, source, sink))
    words = [random.getrandbits(len(dut.in_data_i)) for _ in range(WORDS)]
    for word in words:
        source.put(data=word)
    while len(sink.words) < WORDS:
        await RisingEdge(dut.clk_i)
    assert [word["data"] for word in sink.words] == words
    for _ in range(2 * int(os.environ["DEPTH"])):
        await RisingEdge(dut.clk_i)
    assert len(sink.words) == WORDS, "the number of words that came out is wrong"


@cocotb.test(timeout_time=20, timeout_unit="us")
async def all_of_its_depth_is_used(dut):
    source, sink = await start(dut, 0.0, 1.0)
    depth = int(os.environ["DEPTH"])
    for word in range(depth + 1):
        source.put(data=word)
    for _ in range(4 * depth + 8):
        await RisingEdge(dut.clk_i)
    await ReadOnly()
    assert source.taken == depth == int(dut.count_o.value) and not dut.in_ready_o.value


@cocotb.test(timeout_time=20, timeout_unit="us")
async def a_word_every_cycle(dut):
    """Neither side stalls: after the first word, each cycle moves one word."""
    source, sink = await start(dut, 0.0, 0.0)
    for word in range(100):
        source.put(data=word)
    while not sink.words:
        await RisingEdge(dut.clk_i)
    for _ in range(99):
        await RisingEdge(dut.clk_i)
    await ReadOnly()
    assert len(sink.words) == 100
