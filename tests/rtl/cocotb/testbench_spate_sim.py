# SPDX-License-Identifier: Apache-2.0
"""The package that users simulate their designs with, rtl/sim/spate_sim, directly at the ports of the two tops: contents, faults,
and the counts."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from spate_sim import DNR, MEDIA_ERROR, BridgeDrive, HardBlockDrive, Sink, Source

BLOCKS, BLOCK = 4096, int(os.environ["BLOCK_BYTES"])
FLUSH, WRITE, READ, DEALLOCATE, RESTART = 0, 1, 2, 3, 7
GONE, POWER = 0x8004, 0x8008
OTHERS = ("s_axil_", "tap_", "ring_axi_")  # inputs that these tests leave alone


class Bench:
    def __init__(self, dut, stall: float = 0.0, **properties):
        self.dut, self.beat_bytes, self.tag = dut, len(dut.s_axis_tdata_i) // 8, 0
        Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
        Clock(dut.app_clk_i, 7, unit="ns").start(start_high=False)
        for port in dut:
            if port._name.startswith(OTHERS) and port._name.endswith("_i"):
                port.value = 0
        dut.rst_ni.value = dut.app_rst_ni.value = 0
        kind = {"hard block": HardBlockDrive, "bridge": BridgeDrive}[os.environ["WAY"]]
        self.drive = kind(dut, stall=stall, blocks=BLOCKS, block_bytes=BLOCK, **properties)
        app = dut.app_clk_i, dut.app_rst_ni
        self.commands = Source(*app, dut.cmd_valid_i, dut.cmd_ready_o, {name: getattr(dut, f"cmd_{name}_i") for name in (
            "op", "source", "fua", "tag", "lba", "blocks", "address")}, stall)
        self.responses = Sink(*app, dut.rsp_valid_o, dut.rsp_ready_i,
                              {name: getattr(dut, f"rsp_{name}_o") for name in ("tag", "status", "done")}, stall)
        self.data_in = Source(*app, dut.s_axis_tvalid_i, dut.s_axis_tready_o, {"data": dut.s_axis_tdata_i}, stall)
        self.data_out = Sink(*app, dut.m_axis_tvalid_o, dut.m_axis_tready_i,
                             {"data": dut.m_axis_tdata_o, "error": dut.m_axis_tuser_o}, stall)

    async def start(self) -> None:
        await ClockCycles(self.dut.clk_i, 20)
        self.dut.rst_ni.value = self.dut.app_rst_ni.value = 1

    def put(self, op: int, lba: int = 0, blocks: int = 0, data: bytes = b"") -> None:
        self.tag += 1
        for at in range(0, len(data), self.beat_bytes):
            self.data_in.put(data=int.from_bytes(data[at:at + self.beat_bytes], "little"))
        self.commands.put(op=op, source=0, fua=0, tag=self.tag, lba=lba, blocks=blocks, address=0)

    async def response(self) -> tuple[int, int]:
        while not self.responses.words:
            await RisingEdge(self.dut.app_clk_i)
        word = self.responses.words.popleft()
        return word["status"], word["done"]

    async def do(self, *command) -> tuple[int, int]:
        self.put(*command)
        return await self.response()

    async def beats(self, blocks: int) -> bytes:
        count = blocks * BLOCK // self.beat_bytes
        await self.drive.until(lambda: len(self.data_out.words) >= count, 10_000, f"{count} beats")
        words = [self.data_out.words.popleft() for _ in range(count)]
        assert not self.data_out.words and not any(word["error"] for word in words)
        return b"".join(word["data"].to_bytes(self.beat_bytes, "little") for word in words)


def case(function):
    return cocotb.test(timeout_time=4, timeout_unit="ms")(function)


@case
async def contents_are_written_and_read(dut):
    bench = Bench(dut, stall=0.2)
    drive, data = bench.drive, random.randbytes(64 << 10)
    blocks = len(data) // BLOCK
    await bench.start()
    assert await bench.do(WRITE, 100, blocks, data) == (0, blocks)
    assert drive.read(100, blocks) == data and drive.read(100 + blocks, 1) == bytes(BLOCK)
    assert await bench.do(FLUSH) == (0, blocks)
    drive.write(3000, data[::-1])
    assert await bench.do(READ, 3000, blocks) == (0, blocks)
    assert await bench.beats(blocks) == data[::-1]
    assert (await bench.do(DEALLOCATE, 100, blocks))[0] == 0 and drive.read(100, 1) == bytes(BLOCK)
    counts = drive.counts
    assert (counts.blocks_written, counts.blocks_read, counts.flushes, counts.deallocates) == (blocks, blocks, 1, 1)
    assert counts.bring_ups == 1 and counts.writes > 1 and counts.errors == counts.unanswered == counts.link_drops == 0


@case
async def a_block_fails_until_it_does_not(dut):
    bench = Bench(dut)
    drive, data = bench.drive, random.randbytes(40 * BLOCK)
    await bench.start()
    drive.fail(7, MEDIA_ERROR, times=2)
    assert await bench.do(WRITE, 0, 40, data) == (0, 40) and drive.counts.errors == 2
    drive.fail(7, MEDIA_ERROR | DNR)
    status, done = await bench.do(WRITE, 0, 40, data)
    assert status == MEDIA_ERROR | DNR and done <= 7


@case
async def what_has_no_answer_is_done_again(dut):
    bench = Bench(dut)
    drive, data = bench.drive, random.randbytes(4 * BLOCK)
    await bench.start()
    assert (await bench.do(WRITE, 0, 4, data))[0] == 0
    drive.lose(1)
    assert (await bench.do(WRITE, 8, 4, data))[0] == 0 and drive.read(8, 4) == data
    assert drive.counts.unanswered >= 1 and drive.counts.bring_ups == 2


@case
async def a_link_that_drops_loses_nothing(dut):
    bench = Bench(dut)
    drive, data = bench.drive, random.randbytes(32 << 10)
    drive.latency_ns = 4000, 12000
    await bench.start()
    bench.put(WRITE, 0, len(data) // BLOCK, data)
    await drive.until(lambda: drive.in_flight, 1_000_000, "a command in flight")
    drive.disconnect(3000)
    assert await bench.response() == (0, len(data) // BLOCK) and drive.read(0, len(data) // BLOCK) == data
    assert drive.counts.link_drops == 1 and drive.counts.bring_ups == 2


@case
async def a_drive_that_is_pulled_out_is_given_up_and_found_again(dut):
    bench = Bench(dut)
    drive, data = bench.drive, random.randbytes(4 * BLOCK)
    await bench.start()
    assert (await bench.do(WRITE, 0, 4, data))[0] == 0
    drive.remove()
    assert (await bench.do(WRITE, 8, 4, data))[0] == GONE
    drive.insert()
    assert (await bench.do(RESTART))[0] == 0
    assert await bench.do(READ, 0, 4) == (0, 4) and await bench.beats(4) == data


@case
async def a_drive_that_answers_nothing_is_given_up(dut):
    bench = Bench(dut)
    await bench.start()
    bench.drive.silent = True
    assert (await bench.do(WRITE, 0, 1, bytes(BLOCK)))[0] == GONE
    assert bench.drive.counts.unanswered >= 3
