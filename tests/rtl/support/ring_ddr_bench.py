# SPDX-License-Identifier: Apache-2.0
"""The ring in a memory behind AXI. The model of the memory stores data only with its response, which comes at any time, and
returns random data where nothing was written. The drive reads and writes the memory directly, as a real drive does. So a command
that comes too early reads random data, and space that is used again too early is detected.
"""

import os
import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Sink, Source, Stall

import records

WIDTH = int(os.environ["DATA_WIDTH"])
PART_BYTES = int(os.environ["PART_BYTES"])
BEAT_BYTES = WIDTH // 8
RING_BASE, DRIVE_BASE = 0x4000_3000, 0x17_0000_5000  # the ring, as the memory sees it and as the drive sees it

FLUSH, WRITE, READ, DEALLOCATE = 0, 1, 2, 3
STREAM, ADDRESS, MAILBOX = 0, 1, 2
OK, INVALID, RANGE, GONE, MEMORY = 0, 0x8001, 0x8002, 0x8004, 0x8007
ERRORS = 2, 3  # SLVERR, DECERR
IDLE_CYCLES = 4  # for which spate_host wants `idle_o`, before a format may begin


@dataclass
class Request:
    op: int
    lba: int
    blocks: int
    tag: int
    source: int = STREAM
    fua: int = 0
    first_beat: int = 0


class Memory:
    """The AXI side. Bursts are answered in order, each after a random time."""

    def __init__(self, tb: "Testbench", stall: float, delay_cycles: int):
        dut = tb.dut
        self.tb, self.bytes, self.delay_cycles = tb, bytearray(os.urandom(tb.ring_bytes)), delay_cycles
        self.bad_write, self.bad_read = set(), set()  # places of bursts that are answered with an error
        self.aw = Sink(dut.clk_i, dut.rst_ni, dut.m_axi_awvalid_o, dut.m_axi_awready_i,
                       {"at": dut.m_axi_awaddr_o, "len": dut.m_axi_awlen_o}, stall)
        self.w = Sink(dut.clk_i, dut.rst_ni, dut.m_axi_wvalid_o, dut.m_axi_wready_i,
                      {"data": dut.m_axi_wdata_o, "strobe": dut.m_axi_wstrb_o, "last": dut.m_axi_wlast_o}, stall)
        self.b = Source(dut.clk_i, dut.rst_ni, dut.m_axi_bvalid_i, dut.m_axi_bready_o, {"resp": dut.m_axi_bresp_i}, stall)
        self.ar = Sink(dut.clk_i, dut.rst_ni, dut.m_axi_arvalid_o, dut.m_axi_arready_i,
                       {"at": dut.m_axi_araddr_o, "len": dut.m_axi_arlen_o}, stall)
        self.r = Source(dut.clk_i, dut.rst_ni, dut.m_axi_rvalid_i, dut.m_axi_rready_o,
                        {"data": dut.m_axi_rdata_i, "resp": dut.m_axi_rresp_i}, stall)
        cocotb.start_soon(self.writes())
        cocotb.start_soon(self.reads())

    def burst(self, word: dict) -> tuple[int, int]:
        """The place of the burst in the ring and its number of beats. Checks that it is within 4 KiB, of whole beats, within the
        ring."""
        at, size = word["at"] - RING_BASE, (word["len"] + 1) * BEAT_BYTES
        assert at % BEAT_BYTES == 0 and 0 <= at and at + size <= len(self.bytes)
        assert word["at"] // 4096 == (word["at"] + size - 1) // 4096, "a burst crosses 4 KiB"
        return at, word["len"] + 1

    async def writes(self) -> None:
        while True:
            await RisingEdge(self.tb.dut.clk_i)
            if not self.aw.words:
                continue
            at, beats = self.burst(self.aw.words[0])
            cycles = 0
            while len(self.w.words) < beats:
                await RisingEdge(self.tb.dut.clk_i)
                cycles += 1
            words = [self.w.words.popleft() for _ in range(beats)]
            assert [word["last"] for word in words] == [0] * (beats - 1) + [1]
            assert all(word["strobe"] == (1 << BEAT_BYTES) - 1 for word in words)
            await self.tb.cycles(random.randint(0, self.delay_cycles))
            self.aw.words.popleft()
            bad = at in self.bad_write
            if not bad:
                self.bytes[at:at + beats * BEAT_BYTES] = b"".join(w["data"].to_bytes(BEAT_BYTES, "little") for w in words)
            self.b.put(resp=random.choice(ERRORS) if bad else 0)

    async def reads(self) -> None:
        while True:
            await RisingEdge(self.tb.dut.clk_i)
            if not self.ar.words:
                continue
            at, beats = self.burst(self.ar.words.popleft())
            await self.tb.cycles(random.randint(0, self.delay_cycles))
            resp = random.choice(ERRORS) if at in self.bad_read else 0
            for beat in range(at, at + beats * BEAT_BYTES, BEAT_BYTES):
                self.r.put(data=int.from_bytes(self.bytes[beat:beat + BEAT_BYTES], "little"), resp=resp)


class Drive:
    """A drive in memory mode: commands of any size, in order; side commands pass them."""

    def __init__(self, tb: "Testbench", stall: float):
        dut = tb.dut
        self.tb, self.medium, self.log, self.bad_blocks, self.stuck = tb, {}, [], set(), False
        self.gone = self.side_stuck = False
        self.stall = stall
        self.data, self.side = deque(), deque()
        self.written, self.side_blocked = 0, False
        self.response = Source(dut.clk_i, dut.rst_ni, dut.drive_response_valid_i, dut.drive_response_ready_o,
                               {"response": dut.drive_response_i}, stall)
        cocotb.start_soon(self.commands())
        cocotb.start_soon(self.work())

    async def commands(self) -> None:
        """Of both lanes, from a port each."""
        dut, stall, idle = self.tb.dut, Stall(self.stall), deque(maxlen=IDLE_CYCLES)
        ports = ((self.data, dut.drive_command_valid_o, dut.drive_command_ready_i, dut.drive_command_o),
                 (self.side, dut.drive_side_valid_o, dut.drive_side_ready_i, dut.drive_side_o))
        dut.drive_command_ready_i.value = dut.drive_side_ready_i.value = 0
        while True:
            await ReadOnly()
            taken = [(lane, vars(records.get(command, "command_t"))) for lane, valid, ready, command in ports
                     if dut.rst_ni.value and valid.value and ready.value]
            idle.append(bool(dut.idle_o.value))
            assert not any(idle) or not any(lane is self.data for lane, _ in taken), "a format might not have waited for this"
            await RisingEdge(dut.clk_i)
            for lane, command in taken:
                self.log.append(command)
                is_data = command["op"] in (READ, WRITE) and command["source"] != MAILBOX
                assert is_data == (lane is self.data) and (not is_data or command["source"] == ADDRESS)
                lane.append(command)
            waits = stall.next()
            dut.drive_command_ready_i.value = int(len(self.data) < 8 and not waits)
            dut.drive_side_ready_i.value = int(not self.side and not self.side_blocked and not waits)

    async def work(self) -> None:
        while True:
            await RisingEdge(self.tb.dut.clk_i)
            if self.side and not self.side_stuck:
                command = self.side.popleft()
                self.answer(command, status=0x0001 if command["op"] == DEALLOCATE else OK,
                            done=self.written if command["op"] == FLUSH else command["blocks"])
            if self.stuck or not self.data or random.random() < 0.5 * self.stall:
                continue
            command = self.data.popleft()
            await self.tb.cycles(random.randint(0, 40))
            answer = self.carry_out(command)
            self.written += answer["done"] if command["op"] == WRITE else 0
            self.answer(command, **answer)

    def answer(self, command: dict, status: int, done: int) -> None:
        self.response.put(response=records.pack("response_t", tag=command["tag"], status=status, done=done))

    def carry_out(self, command: dict) -> dict:
        block_bytes, memory = self.tb.block_bytes, self.tb.memory.bytes
        if self.gone:
            return {"status": GONE, "done": 0}
        if command["lba"] + command["blocks"] > self.tb.namespace_blocks:
            return {"status": RANGE, "done": 0}
        for number in range(command["blocks"]):
            at, lba = command["address"] - DRIVE_BASE + number * block_bytes, command["lba"] + number
            assert 0 <= at and at + block_bytes <= len(memory)
            if lba in self.bad_blocks:
                return {"status": 0x0281, "done": number}
            if command["op"] == WRITE:
                self.medium[lba] = bytes(memory[at:at + block_bytes])
            else:
                memory[at:at + block_bytes] = self.medium.get(lba, bytes(block_bytes))
        return {"status": OK, "done": command["blocks"]}


class Testbench:
    def __init__(self, dut, stall: float, *, block_bytes=512, ring_pages=5, delay_cycles=60, ready=True):
        self.dut, self.block_bytes, self.ring_bytes = dut, block_bytes, ring_pages * 4096
        self.namespace_blocks, self.beats, self.requests = 1 << 20, 0, []
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value = 0
        dut.ring_base_i.value, dut.ring_drive_base_i.value, dut.ring_pages_i.value = RING_BASE, DRIVE_BASE, ring_pages
        self.drive_fields = {"blocks": self.namespace_blocks}
        self.show_drive(ready=ready, block_4096=block_bytes == 4096)
        self.memory, self.drive = Memory(self, stall, delay_cycles), Drive(self, stall)
        self.command = Source(dut.clk_i, dut.rst_ni, dut.command_valid_i, dut.command_ready_o, {"command": dut.command_i}, stall)
        self.data = Source(dut.clk_i, dut.rst_ni, dut.data_valid_i, dut.data_ready_o,
                           {"data": dut.data_i, "last": dut.data_last_i, "null": dut.data_null_i}, stall)
        self.out = Sink(dut.clk_i, dut.rst_ni, dut.data_valid_o, dut.data_ready_i,
                        {"data": dut.data_o, "last": dut.data_last_o, "error": dut.data_error_o}, stall)
        self.response = Sink(dut.clk_i, dut.rst_ni, dut.response_valid_o, dut.response_ready_i, {"response": dut.response_o}, stall)

    def show_drive(self, **fields) -> None:
        """Changes fields of what bring-up has found."""
        self.drive_fields |= fields
        records.put(self.dut.drive_i, "drive_t", **self.drive_fields)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    async def start(self) -> None:
        await self.cycles(4)
        self.dut.rst_ni.value = 1

    def ask(self, request: Request) -> Request:
        request.first_beat = self.beats
        self.give(request)
        if request.op == WRITE and request.source == STREAM:
            for _ in range(request.blocks * self.block_bytes // BEAT_BYTES):
                self.put_beat()
        return request

    def put_beat(self, last: bool = False, null: bool = False) -> None:
        self.data.put(data=0 if null else beat_data(self.beats), last=int(last), null=int(null))
        self.beats += 1

    def give(self, request: Request) -> None:
        """The command alone, without a write's data."""
        self.command.put(command=records.pack(
            "command_t", from_registers=request.tag & 1, tag=request.tag, op=request.op, source=request.source, fua=request.fua,
            lba=request.lba, blocks=request.blocks))

    def contents(self, request: Request, block: int) -> bytes:
        first = request.first_beat + block * self.block_bytes // BEAT_BYTES
        return b"".join(beat_data(first + i).to_bytes(BEAT_BYTES, "little") for i in range(self.block_bytes // BEAT_BYTES))

    async def answers(self, count: int) -> list[dict]:
        while len(self.response.words) < count:
            await RisingEdge(self.dut.clk_i)
        return [vars(records.unpack("response_t", self.response.words.popleft()["response"])) for _ in range(count)]

    def beats_out(self, blocks: int) -> list[dict]:
        return [self.out.words.popleft() for _ in range(blocks * self.block_bytes // BEAT_BYTES)]


def beat_data(beat: int) -> int:
    return int.from_bytes(((beat * 0x9E3779B97F4A7C15 + 3) % (1 << 64)).to_bytes(8, "little") * (BEAT_BYTES // 8), "little")


def response_to(request: Request, status: int, done: int) -> dict:
    return {"from_registers": request.tag & 1, "tag": request.tag, "status": status, "done": done}
