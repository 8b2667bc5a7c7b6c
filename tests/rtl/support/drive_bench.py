# SPDX-License-Identifier: Apache-2.0
"""spate_drive with a drive on its adapter's side: gives it requests, and checks each response, every byte and every beat. The
expected result of a request comes from the request and from the faults that the drive was asked to make."""

import os
import random
from collections import deque
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.controller import STEP_NS
from spate_sim.streams import Sink, Source

import records
from core_drive import MAILBOX, MEMORY, STREAM, CoreDrive

WIDTH, RAM_BYTES = int(os.environ["DATA_WIDTH"]), int(os.environ["RAM_BYTES"])
BLOCK_SHIFT = int(os.environ["BLOCK_SHIFT"])
WINDOW_BITS = int(os.environ["WINDOW_BITS"])
WINDOW, BAR = 0x12_4000_0000, 0xA000_0000
RING = RAM_BYTES > 8192
SLOTS = int(os.environ["SLOTS"])
BLOCK, BEAT = 1 << BLOCK_SHIFT, WIDTH // 8
BLOCKS = 1 << 14  # of the namespace
GONE, DEADLINE = 0x8004, 0x8005
RETRIES_MAX = 7
MEMORY_BYTES = 1 << 20


@dataclass
class Request:
    op: str
    lba: int
    blocks: int
    data: bytes = b""
    address: int = 0


class Testbench:
    def __init__(self, dut, stall: float = 0.3, **profile):
        Clock(dut.clk_i, STEP_NS, unit="ns").start()
        self.dut = dut
        profile = {"blocks": BLOCKS, "block_bytes": BLOCK, "mdts": 3} | profile
        self.drive = CoreDrive(dut, window=WINDOW, bar=BAR, window_bits=WINDOW_BITS, stall=stall, **profile)
        self.drive.memory = bytearray(random.randbytes(MEMORY_BYTES))
        self.source = Source(dut.clk_i, dut.rst_ni, dut.data_valid_i, dut.data_ready_o, {"data": dut.data_i}, stall)
        self.sink = Sink(dut.clk_i, dut.rst_ni, dut.data_valid_o, dut.data_ready_i,
                         {"data": dut.data_o, "last": dut.data_last_o, "error": dut.data_error_o}, stall)
        self.next_lba, self.next_tag, self.next_address = 0, 1, 0
        self.waiting, self.good = deque(), []  # requests of the data lane; ranges that can be read
        self.sides, self.seen = {}, 0
        self.asked = self.answered = 0  # blocks written
        self.failed = []  # (request, response)

    async def ready(self) -> None:
        await self.drive.cycles(8)
        await self.drive.until(lambda: self.drive.ready or self.drive.gone, what="ready")
        assert self.drive.ready, "the drive was refused"

    # ---- requests ----

    def tag(self) -> int:
        self.next_tag = (self.next_tag + 1) & 0xFFFF
        return self.next_tag

    def place(self, length: int) -> int:
        """Memory that no request uses."""
        self.next_address = (self.next_address + random.randrange(0, 4096, 4)) % (MEMORY_BYTES // 2)
        address, self.next_address = self.next_address, self.next_address + length
        return self.drive.memory_base + address

    def write(self, blocks: int, fua: int = 0) -> Request:
        request = Request("write", self.next_lba, blocks, random.randbytes(blocks * BLOCK))
        self.next_lba += blocks
        self.asked += blocks
        assert self.next_lba <= BLOCKS
        if RING:
            for i in range(0, len(request.data), BEAT):
                self.source.put(data=int.from_bytes(request.data[i:i + BEAT], "little"))
        else:
            request.address = self.place(len(request.data))
            offset = request.address - self.drive.memory_base
            self.drive.memory[offset:offset + len(request.data)] = request.data
        return self.give(request, fua=fua)

    def read(self) -> Request | None:
        if not self.good:
            return None
        lba, blocks, data = random.choice(self.good)
        first = random.randrange(blocks)
        count = random.randint(1, blocks - first)
        return self.give(self.reading(lba + first, data[first * BLOCK:][:count * BLOCK]))

    def reading(self, lba: int, data: bytes) -> Request:
        return Request("read", lba, len(data) // BLOCK, data, address=0 if RING else self.place(len(data)))

    def give(self, request: Request, **more) -> Request:
        tag = self.tag()
        self.waiting.append((tag, request))
        self.drive.put(op=request.op, lba=request.lba, blocks=request.blocks, source=STREAM if RING else MEMORY,
                       address=request.address, tag=tag, **more)
        return request

    def side(self, op: str, **more) -> int:
        tag = self.tag()
        self.sides[tag] = (op, self.answered)
        self.drive.put(op=op, tag=tag, from_registers=1, **({"source": MAILBOX} | more))
        return tag

    # ---- answers ----

    def look(self) -> None:
        """Checks the responses that came since the last call."""
        for response in self.drive.responses[self.seen:]:
            if response["tag"] in self.sides:
                op, answered = self.sides.pop(response["tag"])
                assert response["from_registers"] == 1
                if op == "flush" and response["status"] == 0 and not self.failed:
                    assert answered <= response["done"] <= self.asked, f"flushed {response}, {answered} … {self.asked}"
                continue
            assert self.waiting, f"a response without a request: {response}"
            tag, request = self.waiting.popleft()
            assert response["tag"] == tag and response["from_registers"] == 0, f"tag {response['tag']}, not {tag}"
            self.judge(request, response)
        self.seen = len(self.drive.responses)

    def judge(self, request: Request, response: dict) -> None:
        done, data = response["done"], request.data
        assert (response["status"] == 0) == (done == request.blocks), f"{request.op}: {response}"
        if response["status"]:
            self.failed.append((request, response))
        if request.op == "write":
            self.answered += done
            for i in range(done):
                assert self.drive.media[request.lba + i] == data[i * BLOCK:][:BLOCK], f"block {request.lba + i}"
            if done:
                self.good.append((request.lba, done, data[:done * BLOCK]))
        elif RING:
            self.take(request, response)
        else:
            offset = request.address - self.drive.memory_base
            assert self.drive.memory[offset:offset + done * BLOCK] == data[:done * BLOCK], f"memory after {request.op}"

    def take(self, request: Request, response: dict) -> None:
        beats = len(request.data) // BEAT
        assert len(self.sink.words) >= beats, "the response came before the last beat"
        for i in range(beats):
            word = self.sink.words.popleft()
            assert word["last"] == (i == beats - 1)
            if i * BEAT < response["done"] * BLOCK:
                assert not word["error"]
            if not word["error"]:
                assert word["data"] == int.from_bytes(request.data[i * BEAT:][:BEAT], "little"), f"beat {i} of {request}"
            if response["status"] and i * BEAT == response["done"] * BLOCK:
                assert word["error"], "a bad beat is not flagged"

    async def finish(self, limit: int = 200000) -> None:
        """Waits until every request has its response and every beat was taken."""
        for _ in range(limit // 16):
            self.look()
            if not self.waiting and not self.sides and not self.drive.commands:
                break
            await self.drive.cycles(16)
        else:
            oldest = self.waiting[0] if self.waiting else self.sides
            bring_up = self.drive.bring_up()
            raise AssertionError(f"no answer in {limit} cycles to {str(oldest)[:200]}; step {bring_up.step} error {bring_up.error}")
        assert not self.sink.words and not self.source.words, "beats are left"

    async def traffic(self, requests: int, blocks_max: int = 0, writes: float = 0.6) -> None:
        blocks_max = blocks_max or max(1, (20 << 10) >> BLOCK_SHIFT)
        for _ in range(requests):
            kind = random.random()
            if kind < writes or not self.good:
                self.write(random.randint(1, blocks_max), fua=random.getrandbits(1))
            elif kind < 0.97:
                self.read()
            elif not self.sides:
                self.side("flush")
            while len(self.waiting) > 12:
                await self.drive.cycles(16)
                self.look()

    # ---- the mailbox, as the registers use it ----

    async def page(self, write: bool, dword: int, data: int = 0) -> int:
        d = self.dut
        records.put(d.page_i, "page_access_t", write=write, dword=dword, data=data)
        d.page_valid_i.value = 1
        while True:
            await ReadOnly()
            done, read = bool(d.page_done_o.value), d.page_data_o.value.to_unsigned()
            await RisingEdge(d.clk_i)
            if done:
                d.page_valid_i.value = 0
                await RisingEdge(d.clk_i)
                return read
