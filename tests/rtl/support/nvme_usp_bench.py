# SPDX-License-Identifier: Apache-2.0
"""The complete spate_nvme_usp with a drive behind it: what its testbenches share."""

import random
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster
from spate_sim.streams import Sink, Source

from checked_drive import CheckedDrive
from core_drive import MAILBOX, OPS, STREAM

WINDOW, BAR = 0x12_4000_0000, 0xA000_0000
BLOCKS, BLOCK = 0xA5_2DB7_96C3, 512
OTHER_BLOCKS = BLOCKS ^ 0xFF_FFFF_FFFF  # each bit is 1 in one of the two
STATUS, BRING_UP, BLOCKS_LOW, NSID = 0x1C, 0x20, 0x28, 0x34
COMMAND_LBA, COMMAND_BLOCKS, COMMAND = 0x40, 0x48, 0x54
RESPONSE, DONE_LOW, TAKE, WRITTEN, COUNTERS, MAILBOX_PAGE = 0x58, 0x5C, 0x64, 0x78, 0xC0, 0x1000
READY, GONE, RESPONSE_VALID, START = 1, 2, 1 << 9, 1 << 7
COUNTS = ("stray_read", "stray_write", "stale_access", "cq_phase", "cq_index", "cq_id", "sq_head", "retry", "recovery",
          "command_error")
SHUTDOWN_STEP, SHUT_DOWN, NAMESPACE_STEP, EMPTY = 19, 29, 14, 20  # docs/reference/gateware-bringup.md
REFUSED, POWER, NORMAL_SHUTDOWN = 0x8004, 0x8008, 0x0046_4001
IO_TAIL_DOORBELL = 0x1008  # of queue pair 1, with a stride of 4 bytes
SLOW_NS = 4, 12000  # of a command in the drive, so that some are in flight when something happens


@dataclass
class Request:
    op: str
    lba: int
    blocks: int
    data: bytes = b""
    status: int | None = None
    done: int = 0


class Testbench:
    def __init__(self, dut, stall: float = 0.0, **profile):
        self.dut, self.beat = dut, len(dut.s_axis_tdata) // 8
        for clock, period_ns in ((dut.clk, 4), (dut.app_clk, 10)):
            Clock(clock, period_ns, unit="ns").start()
        dut.app_rst_n.value = 0
        profile = {"blocks": BLOCKS, "mdts": 3, "payload": 1} | profile
        self.drive = CheckedDrive(dut, bar=BAR, clock=Clock(dut.user_clk, 4100, unit="ps"), stall=stall,
                                  window=(WINDOW, int(dut.WindowBits.value)), **profile)
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst_n,
                                       reset_active_level=False)
        app = dut.app_clk, dut.app_rst_n
        fields = ("op", "source", "fua", "tag", "lba", "blocks", "address")
        self.commands = Source(*app, dut.cmd_valid, dut.cmd_ready,
                               {name: getattr(dut, f"cmd_{name}") for name in fields}, stall)
        self.responses = Sink(*app, dut.rsp_valid, dut.rsp_ready,
                              {name: getattr(dut, f"rsp_{name}") for name in ("tag", "status", "done")}, stall)
        self.data_in = Source(*app, dut.s_axis_tvalid, dut.s_axis_tready,
                              {"data": dut.s_axis_tdata, "keep": dut.s_axis_tkeep, "last": dut.s_axis_tlast}, stall)
        self.data_out = Sink(*app, dut.m_axis_tvalid, dut.m_axis_tready,
                             {"data": dut.m_axis_tdata, "last": dut.m_axis_tlast, "error": dut.m_axis_tuser}, stall)
        self.tags, self.asked = {}, []
        self.next_tag = self.next_lba = 0

    async def start(self) -> None:
        await ClockCycles(self.dut.app_clk, 12)
        self.dut.app_rst_n.value = 1
        await self.ready()

    async def ready(self, limit: int = 200) -> None:
        for _ in range(limit):
            status = await self.registers.read_dword(STATUS)
            if status & (READY | GONE):
                break
            await self.drive.cycles(64)
        bring_up = await self.registers.read_dword(BRING_UP)
        assert status & READY and not status & GONE, f"status {status:#x}, bring-up {bring_up:#x}"

    async def counts(self) -> dict:
        return {name: await self.registers.read_dword(COUNTERS + 4 * i) for i, name in enumerate(COUNTS)}

    async def expect_counts(self, **expected: int) -> None:
        counts = await self.counts()
        assert expected.items() <= counts.items(), counts

    # ---- commands by the user's port ----

    def give(self, op: str, lba: int = 0, data: bytes = b"", fua: int = 0) -> Request:
        request = Request(op, lba, len(data) // BLOCK, data)
        self.next_tag += 1
        self.tags[self.next_tag] = request
        self.asked.append(request)
        self.commands.put(op=OPS[op], source=STREAM, fua=fua, tag=self.next_tag, lba=lba, blocks=request.blocks,
                          address=0)
        return request

    def put(self, data: bytes, keep: bytes | None = None, last: bool | None = None) -> None:
        """Beats into the write stream. `keep` has a byte for each byte: 0, or 1. A `last` of None may be anything, as in a stream whose
        frames nobody asks for."""
        for at in range(0, len(data), self.beat):
            kept = keep[at:at + self.beat] if keep else bytes([1]) * self.beat
            self.data_in.put(data=int.from_bytes(data[at:at + self.beat], "little"), keep=sum(bit << i for i, bit in enumerate(kept)),
                             last=random.getrandbits(1) if last is None else int(last and at + self.beat == len(data)))

    def write(self, blocks: int) -> Request:
        data = random.randbytes(blocks * BLOCK)
        self.put(data)
        self.next_lba += blocks
        return self.give("write", self.next_lba - blocks, data, fua=random.getrandbits(1))

    def writes(self, count: int, blocks_max: int = 40) -> list[Request]:
        return [self.write(random.randint(1, blocks_max)) for _ in range(count)]

    async def start_reads(self) -> list[Request]:
        """Writes blocks, then makes the drive slow and reads them, so that reads are in flight. Returns the writes."""
        self.drive.latency_ns = SLOW_NS
        await self.start()
        written = self.writes(8, 8)
        await self.finish()
        for request in written:
            self.give("read", request.lba, request.data)
        await self.drive.until(lambda: len(self.drive.in_flight) > 2, what="reads in flight")
        return written

    async def finish(self, limit: int = 400000) -> None:
        """Every request is answered. Data that were read are compared in the order of the requests."""
        def answered() -> bool:
            while self.responses.words:
                word = self.responses.words.popleft()
                request = self.tags.pop(word["tag"])
                request.status, request.done = word["status"], word["done"]
            return not self.tags and len(self.data_out.words) >= beats
        # The last beats may come after the response, because the two cross into the application's clock independently.
        beats = sum(len(request.data) // self.beat for request in self.asked if request.op == "read")
        await self.drive.until(answered, limit, f"answers to {len(self.tags)} requests")
        for request in self.asked:
            if request.op == "write" and request.status == 0:
                assert request.done == request.blocks
                stored = b"".join(self.drive.media[request.lba + i] for i in range(request.blocks))
                assert stored == request.data, f"what is stored at {request.lba} is not what was written"
            elif request.op == "read":
                self.take(request)
        self.asked.clear()
        assert not self.data_in.words and not self.data_out.words, "beats are left"

    def take(self, request: Request) -> None:
        words = [self.data_out.words.popleft() for _ in range(len(request.data) // self.beat)]
        assert [word["last"] for word in words] == [0] * (len(words) - 1) + [1] and not any(w["error"] for w in words)
        found = b"".join(word["data"].to_bytes(self.beat, "little") for word in words)
        assert request.status == 0, f"a read of {request.lba} ended with {request.status:#x}"
        assert found == request.data, f"what was read from {request.lba} is not what is stored there"

    async def read_back(self, written: list[Request]) -> None:
        for request in written:
            first = random.randrange(request.blocks)
            self.give("read", request.lba + first, request.data[first * BLOCK:])
        await self.finish()

    # ---- commands by the registers ----

    async def command(self, op: str, *, lba: int = 0, blocks: int = 0, tag: int = 0x5A5A, source: int = MAILBOX) -> tuple:
        """→ (status, done)"""
        await self.registers.write_qword(COMMAND_LBA, lba)
        await self.registers.write_dword(COMMAND_BLOCKS, blocks)
        await self.registers.write_dword(COMMAND, OPS[op] | source << 4 | START | tag << 16)
        for _ in range(300):
            if await self.registers.read_dword(STATUS) & RESPONSE_VALID:
                break
            await self.drive.cycles(64)
        response, done = await self.registers.read_dword(RESPONSE), await self.registers.read_dword(DONE_LOW)
        await self.registers.write_dword(TAKE, 1)
        assert response & 0xFFFF == tag
        return response >> 16, done
