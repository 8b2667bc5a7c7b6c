# SPDX-License-Identifier: Apache-2.0
"""spate_user_side: all four streams with several ratios of the clocks, and a reset of the user's side in between. The core
answers each command later. A response that it could not give at once would block others.
"""

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from spate_sim.streams import Sink, Source, Stall

STREAMS = os.environ["STREAMS"] == "1"
FRAMES = os.environ["FRAMES"] == "1"
RESPONSES = int(os.environ["RESPONSES"])
WORDS = 400
WRITE, READ, STREAM, ADDRESS, FRAME = 1, 2, 0, 1, 3


class Testbench:
    def __init__(self, dut, stall: float):
        user, core = (dut.app_clk_i, dut.app_rst_ni), (dut.clk_i, dut.rst_ni)
        self.dut = dut
        self.commands_in = Source(*user, dut.cmd_valid_i, dut.cmd_ready_o, {
            "from_registers": dut.cmd_from_registers_i, "op": dut.cmd_op_i, "source": dut.cmd_source_i, "fua": dut.cmd_fua_i, "tag": dut.cmd_tag_i,
            "lba": dut.cmd_lba_i, "blocks": dut.cmd_blocks_i, "address": dut.cmd_address_i}, stall)
        self.lanes_out = [Sink(*core, valid, ready, {"command": command}, stall) for valid, ready, command in (
            (dut.command_valid_o, dut.command_ready_i, dut.command_o), (dut.side_valid_o, dut.side_ready_i, dut.side_o))]
        self.responses: deque[int] = deque()  # to the commands that come out, in order
        self.answers_at_once = True
        self.dropped = 0  # commands that were taken and dropped from the sink
        cocotb.start_soon(self.answer(stall))
        self.responses_out = Sink(*user, dut.rsp_valid_o, dut.rsp_ready_i,
                                  {"tag": dut.rsp_tag_o, "status": dut.rsp_status_o, "done": dut.rsp_done_o}, stall)
        self.written_in = Source(*user, dut.s_axis_tvalid_i, dut.s_axis_tready_o,
                                 {"data": dut.s_axis_tdata_i, "keep": dut.s_axis_tkeep_i, "last": dut.s_axis_tlast_i}, stall)
        self.written_out = Sink(*core, dut.data_valid_o, dut.data_ready_i,
                                {"data": dut.data_o, "last": dut.data_last_o, "null": dut.data_null_o}, stall)
        self.read_in = Source(*core, dut.data_valid_i, dut.data_ready_o,
                              {"data": dut.data_i, "last": dut.data_last_i, "error": dut.data_error_i}, stall)
        self.read_out = Sink(*user, dut.m_axis_tvalid_o, dut.m_axis_tready_i,
                             {"data": dut.m_axis_tdata_o, "last": dut.m_axis_tlast_o, "error": dut.m_axis_tuser_o}, stall)

    def put(self, count: int) -> list[list[dict]]:
        """Random words into all sources; returns what must come out of each sink."""
        lanes, expected = [[], []], [[], [], []]
        for _ in range(count):
            word = {"from_registers": bits(1), "op": random.choice((WRITE, READ, bits(4))), "source": bits(2), "fua": bits(1),
                    "tag": bits(16), "lba": bits(64), "blocks": bits(32), "address": bits(64)}
            self.commands_in.put(**word)
            command = 0  # from_registers: the registers must not get its response
            for name, width in (("op", 4), ("source", 2), ("fua", 1), ("tag", 16), ("lba", 64), ("blocks", 32), ("address", 64)):
                command = command << width | word[name]
            is_data = word["op"] in (WRITE, READ) and word["source"] in (STREAM, ADDRESS, FRAME)
            lanes[not is_data].append({"command": command})
            response = {"tag": bits(16), "status": bits(16), "done": bits(43)}
            self.responses.append(response["tag"] << 80 | response["status"] << 64 | response["done"])
            expected[0].append(response)
            if STREAMS:
                data, keep, last = bits(128), random.choice((0, bits(16), 0xFFFF)), bits(1)
                self.written_in.put(data=data, keep=keep, last=last)
                kept = sum(data & 0xFF << 8 * i for i in range(16) if keep >> i & 1)
                expected[1].append({"data": kept, "last": last, "null": int(keep == 0)} if FRAMES else {"data": data, "last": 0, "null": 0})
                beat = {"data": bits(128), "last": bits(1), "error": bits(1)}
                self.read_in.put(**beat)
                expected[2].append(beat)
        return [*lanes, *expected]

    async def answer(self, stall: float) -> None:
        """A response for each command that the core has taken, in a random cycle. It never waits."""
        dut, waits, owed, answered = self.dut, Stall(stall), 0, 0
        dut.response_valid_i.value = 0
        while True:
            taken = self.taken + self.dropped
            owed = taken - answered
            give = bool(dut.rst_ni.value) and owed > 0 and self.answers_at_once and not waits.next()
            dut.response_valid_i.value = int(give)
            if give:
                answered += 1
                dut.response_i.value = self.responses.popleft() if self.responses else bits(96)
            await RisingEdge(dut.clk_i)

    @property
    def sinks(self) -> list[Sink]:
        return [*self.lanes_out, self.responses_out, self.written_out, self.read_out]

    @property
    def taken(self) -> int:
        return sum(len(lane.words) for lane in self.lanes_out)


def bits(count: int) -> int:
    return random.getrandbits(count)


async def start(dut, user_ns: float, stall: float) -> Testbench:
    Clock(dut.clk_i, 4, unit="ns").start()
    Clock(dut.app_clk_i, user_ns, unit="ns").start()
    dut.rst_ni.value = 0
    dut.app_rst_ni.value = 0
    tb = Testbench(dut, stall)
    for _ in range(8):
        await RisingEdge(dut.app_clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.app_clk_i)
    dut.app_rst_ni.value = 1
    return tb


async def arrives(tb: Testbench, expected: list[list[dict]]) -> None:
    while any(len(sink.words) < len(words) for sink, words in zip(tb.sinks, expected)):
        await RisingEdge(tb.dut.clk_i)
    for _ in range(60):
        await RisingEdge(tb.dut.clk_i)
    for sink, words in zip(tb.sinks, expected):
        assert list(sink.words) == words


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(user_ns=[2.0, 4.0, 10.0], stall=[0.0, 0.6])
async def everything_crosses_in_order(dut, user_ns, stall):
    tb = await start(dut, user_ns, stall)
    await arrives(tb, tb.put(WORDS))


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(user_ns=[2.0, 10.0])
async def after_a_reset_of_the_user_nothing_old_comes(dut, user_ns):
    tb = await start(dut, user_ns, 0.5)
    tb.put(WORDS)
    for _ in range(300):
        await RisingEdge(dut.app_clk_i)
    for sink in tb.sinks:
        sink.stall = Stall(0.0)  # a reset withdraws words that wait: from here on none waits, except those on the way
    for _ in range(40):
        await RisingEdge(dut.app_clk_i)
    dut.app_rst_ni.value = 0
    tb.responses.clear()
    for source in (tb.commands_in, tb.written_in, tb.read_in):
        while len(source.words) > 1:  # the word that is shown stays until it is taken
            source.words.pop()
    for _ in range(60):
        await RisingEdge(dut.clk_i)
        await RisingEdge(dut.app_clk_i)
    dut.app_rst_ni.value = 1
    for _ in range(300):
        await RisingEdge(dut.app_clk_i)
    tb.dropped += tb.taken
    for sink in tb.sinks:
        sink.words.clear()
    await arrives(tb, tb.put(100))


@cocotb.test(timeout_time=100, timeout_unit="us", skip=not STREAMS)
async def a_beat_every_cycle(dut):
    tb = await start(dut, 4.0, 0.0)
    for _ in range(1000):
        tb.written_in.put(data=bits(128), keep=0xFFFF, last=0)
        tb.read_in.put(data=bits(128), last=0, error=0)
    while len(tb.written_out.words) < 10 or len(tb.read_out.words) < 10:
        await RisingEdge(dut.clk_i)
    written, read = len(tb.written_out.words), len(tb.read_out.words)
    for _ in range(900):
        await RisingEdge(dut.clk_i)
    assert len(tb.written_out.words) - written >= 899 and len(tb.read_out.words) - read >= 899


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_user_that_takes_no_response_blocks_no_other_port(dut):
    """The core gets as many commands as there is room for responses, and no more; the rest come when the user takes responses
    again."""
    tb = await start(dut, 4.0, 0.0)
    tb.responses_out.stall = Stall(1.0)
    count = 3 * RESPONSES
    expected = tb.put(count)
    for _ in range(10 * count):
        await RisingEdge(dut.clk_i)
        assert dut.response_ready_o.value
    assert tb.taken == RESPONSES + 1  # one response is at the output
    tb.responses_out.stall = Stall(0.0)
    await arrives(tb, expected)


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(user_ns=[2.0, 10.0])
async def resets_lose_no_place(dut, user_ns):
    """Resets of the user's side while commands wait for the core's responses, which come before, during and after the reset. In
    the end there is as much room as at the start."""
    tb = await start(dut, user_ns, 0.0)
    for _ in range(6):
        tb.put(random.randint(1, 2 * RESPONSES))
        tb.responses.clear()
        tb.answers_at_once = random.random() < 0.5
        for _ in range(random.randint(20, 120)):
            await RisingEdge(dut.clk_i)
        tb.answers_at_once = random.random() < 0.5
        dut.app_rst_ni.value = 0
        for source in (tb.commands_in, tb.written_in, tb.read_in):
            while len(source.words) > 1:
                source.words.pop()
        for _ in range(random.randint(60, 100)):
            await RisingEdge(dut.clk_i)
            await RisingEdge(dut.app_clk_i)
        dut.app_rst_ni.value = 1
    tb.answers_at_once = True
    tb.responses_out.stall = Stall(0.0)
    for _ in range(400):
        await RisingEdge(dut.app_clk_i)
    tb.dropped += tb.taken
    for sink in tb.sinks:
        sink.words.clear()
    tb.responses_out.stall = Stall(1.0)
    tb.answers_at_once = False
    expected = tb.put(2 * RESPONSES)
    for _ in range(20 * RESPONSES):
        await RisingEdge(dut.app_clk_i)
        await RisingEdge(dut.clk_i)
    assert tb.taken == RESPONSES
    tb.answers_at_once = True
    tb.responses_out.stall = Stall(0.0)
    await arrives(tb, expected)
