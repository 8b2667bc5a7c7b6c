# SPDX-License-Identifier: Apache-2.0
"""A stripe above drives that are models: each has media, a ring of a few chunks, its own speed, and errors.

The place of a block is computed here from md's definition alone, block by block.
"""

import os
import random
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from spate_sim.streams import Sink, Source

import records
from stripe_member import ADDRESS, BEAT_BYTES, STREAM, STREAMS, WRITE, Member

DRIVES = int(os.environ["DRIVES"])
CHUNK_BYTES = int(os.environ["CHUNK_BYTES"])


@dataclass
class Request:
    op: int
    lba: int
    blocks: int
    tag: int
    fua: int = 0
    source: int = STREAM if STREAMS else ADDRESS
    address: int = 0
    first_beat: int = 0  # of a write, in the stream


class Testbench:
    def __init__(self, dut, stalls: list[float], *, stall=0.0, block_bytes=512, member_chunks=40):
        self.dut, self.block_bytes = dut, block_bytes
        self.chunk_blocks = CHUNK_BYTES // block_bytes
        self.member_blocks = member_chunks * self.chunk_blocks
        self.array_blocks = DRIVES * self.member_blocks
        self.data_lbas = [random.randrange(1 << 20) for _ in range(DRIVES)]
        self.drive_blocks = 1 << 30
        self.values: dict[str, int] = {}
        self.beats, self.requests = 0, []
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value = 0
        dut.array_valid_i.value = 0
        for name in ("drive_ready_i", "drive_gone_i", "drive_block_4096_i"):
            getattr(dut, name).value = 0
        dut.data_lba_i.value = sum(lba << 40 * i for i, lba in enumerate(self.data_lbas))
        dut.member_blocks_i.value = self.member_blocks
        for name in ("member_command_ready_i", "member_side_ready_i", "member_response_valid_i", "member_data_ready_i",
                     "member_data_valid_i", "member_response_i", "member_data_i", "member_data_error_i"):
            getattr(dut, name).value = 0
        self.members = [Member(self, i, stalls[i % len(stalls)]) for i in range(DRIVES)]
        self.command = Source(dut.clk_i, dut.rst_ni, dut.command_valid_i, dut.command_ready_o, {"command": dut.command_i}, stall)
        self.data = Source(dut.clk_i, dut.rst_ni, dut.data_valid_i, dut.data_ready_o,
                           {"data": dut.data_i, "last": dut.data_last_i, "null": dut.data_null_i}, stall)
        self.out = Sink(dut.clk_i, dut.rst_ni, dut.data_valid_o, dut.data_ready_i,
                        {"data": dut.data_o, "last": dut.data_last_o, "error": dut.data_error_o}, stall)
        self.response = Sink(dut.clk_i, dut.rst_ni, dut.response_valid_o, dut.response_ready_i, {"response": dut.response_o}, stall)

    def set(self, name: str, index: int, value: int, width: int = 1) -> None:
        """One member's part of a vector."""
        mask = (1 << width) - 1 << index * width
        self.values[name] = self.values.get(name, 0) & ~mask | int(value) << index * width
        getattr(self.dut, name).value = self.values[name]

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    async def start(self) -> None:
        await self.cycles(4)
        self.dut.rst_ni.value = 1
        await self.cycles(2)
        self.dut.array_valid_i.value = 1
        for member in self.members:
            self.comes_up(member)
        await self.cycles(4)

    def comes_up(self, member: Member) -> None:
        self.set("drive_gone_i", member.index, member.gone)
        self.set("drive_ready_i", member.index, not member.gone)
        self.set("drive_block_4096_i", member.index, member.block_bytes == 4096)

    def place(self, lba: int) -> tuple[int, int]:
        """md: chunk c is on member c mod N, at chunk c / N of its data area."""
        chunk, rest = divmod(lba, self.chunk_blocks)
        return chunk % DRIVES, self.data_lbas[chunk % DRIVES] + chunk // DRIVES * self.chunk_blocks + rest

    def ask(self, request: Request) -> Request:
        self.requests.append(request)
        request.first_beat = self.beats
        self.give(request)
        if request.op == WRITE and request.source == STREAM and STREAMS:
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
            address=request.address, lba=request.lba, blocks=request.blocks))

    def contents(self, request: Request, block: int) -> bytes:
        """The data that a write puts into its block of that number."""
        first = request.first_beat + block * self.block_bytes // BEAT_BYTES
        return b"".join(beat_data(first + i).to_bytes(BEAT_BYTES, "little") for i in range(self.block_bytes // BEAT_BYTES))

    async def beats_out(self, count: int) -> list[dict]:
        """The last beats may come after the response."""
        while len(self.out.words) < count:
            await RisingEdge(self.dut.clk_i)
        await self.cycles(20)
        return [self.out.words.popleft() for _ in range(count)]

    async def answers(self, count: int) -> list[dict]:
        while len(self.response.words) < count:
            await RisingEdge(self.dut.clk_i)
        return [vars(records.unpack("response_t", self.response.words.popleft()["response"])) for _ in range(count)]

    async def check_out(self, expected: bytes, requests: list[Request]) -> None:
        beats = await self.beats_out(len(expected) // BEAT_BYTES)
        assert b"".join(beat["data"].to_bytes(BEAT_BYTES, "little") for beat in beats) == expected
        lasts = []
        for request in requests:
            lasts += [0] * (request.blocks * self.block_bytes // BEAT_BYTES - 1) + [1]
        assert [beat["last"] for beat in beats] == lasts
        assert not any(beat["error"] for beat in beats) and not self.out.words


def beat_data(beat: int) -> int:
    return int.from_bytes(((beat * 0x9E3779B97F4A7C15 + 3) % (1 << 64)).to_bytes(8, "little") * (BEAT_BYTES // 8), "little")


def response_to(request: Request, status: int, done: int) -> dict:
    return {"from_registers": request.tag & 1, "tag": request.tag, "status": status, "done": done}
