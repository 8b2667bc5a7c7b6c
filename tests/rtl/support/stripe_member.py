# SPDX-License-Identifier: Apache-2.0
"""A member of a stripe, as the stripe sees it: a drive with media, a ring, its own speed, and errors."""

import os
import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Stall

import records

WIDTH = int(os.environ["DATA_WIDTH"])
RING_BYTES = int(os.environ["RAM_BYTES"]) - 8192
STREAMS = RING_BYTES > 0
BEAT_BYTES = WIDTH // 8

FLUSH, WRITE, READ, DEALLOCATE, FORMAT = 0, 1, 2, 3, 4
STREAM, ADDRESS, MAILBOX = 0, 1, 2
OK, INVALID, RANGE, GONE = 0, 0x8001, 0x8002, 0x8004
IDLE_CYCLES = 4  # for which spate_host wants `idle_o`, before a format may begin


@dataclass
class Taken:
    """A command that a member has taken."""

    op: int
    lba: int
    blocks: int
    fua: int
    source: int
    address: int
    tag: int
    block_bytes: int  # at the time it was taken; the next drive's may differ


class Member:
    """A drive. It takes commands like the core's splitter (one is filled, one waits), moves beats through a ring of
    RING_BYTES, and answers in order; flush and deallocate pass the others. A drive that was given up ends everything with
    StatusGone, and counts beats with its last block size, or with 512 if it never came up.

    It uses the testbench's `dut`, `set()` for its part of a vector, `block_bytes` and `drive_blocks`."""

    def __init__(self, tb: "Testbench", index: int, stall: float):
        self.tb, self.index, self.stall = tb, index, stall
        self.medium: dict[int, bytes] = {}
        self.queue: deque[Taken] = deque()  # data commands; the first is being filled
        self.ring: deque = deque()  # commands with space in the ring: [command, bytes, ready in the ring]
        self.side: deque[Taken] = deque()
        self.responses: deque[tuple] = deque()
        self.out: deque[tuple] = deque()  # beats, with their error flags
        self.log: list[Taken] = []
        self.bad_blocks: set[int] = set()
        self.flush_status, self.stuck, self.beats_taken, self.written = OK, False, 0, 0
        self.side_blocked = self.data_blocked = False  # takes no side command; takes no data command
        self.gone, self.block_bytes = False, tb.block_bytes
        cocotb.start_soon(self.commands())
        cocotb.start_soon(self.data_in())
        cocotb.start_soon(self.work())
        cocotb.start_soon(self.data_out())
        cocotb.start_soon(self.answer())

    def seen(self, name: str, width: int) -> int:
        """The member's part of a vector."""
        return int(getattr(self.tb.dut, name).value) >> self.index * width & (1 << width) - 1

    def bit(self, name: str) -> bool:
        return bool(self.seen(name, 1))

    def command(self, name: str) -> Taken:
        shown = records.unpack("command_t", self.seen(f"member_{name}_o", records.width("command_t")))
        return Taken(shown.op, shown.lba, shown.blocks, shown.fua, shown.source, shown.address, shown.tag, self.block_bytes)

    async def commands(self) -> None:
        stall, idle = Stall(self.stall), deque(maxlen=IDLE_CYCLES)
        while True:
            await ReadOnly()
            taken = [(lane, self.command(name)) for lane, name in ((self.queue, "command"), (self.side, "side"))
                     if self.bit(f"member_{name}_valid_o") and self.bit(f"member_{name}_ready_i")]
            idle.append(bool(self.tb.dut.idle_o.value))
            await RisingEdge(self.tb.dut.clk_i)
            for lane, command in taken:
                assert (command.op in (READ, WRITE)) == (lane is self.queue)
                assert not any(idle) or lane is self.side, "a format of the member might not have waited for this"
                self.log.append(command)
                lane.append(command)
            waits = stall.next()
            self.tb.set("member_command_ready_i", self.index, len(self.queue) < 2 and not (self.data_blocked or waits))
            self.tb.set("member_side_ready_i", self.index, not self.side and not self.side_blocked and not waits)

    def ring_used(self) -> int:
        return sum(size for _, size, _ in self.ring)

    def bytes_of(self, command: Taken) -> int:
        return command.blocks * command.block_bytes

    def beyond(self, command: Taken) -> bool:
        return command.lba + command.blocks > self.tb.drive_blocks

    async def data_in(self) -> None:
        """Takes the first command's data when there is space; a read only takes space. Commands have at most 4 KiB, like those of
        a drive with a small MDTS."""
        stall = Stall(self.stall)
        while True:
            if not self.queue:
                await RisingEdge(self.tb.dut.clk_i)
                continue
            command = self.queue[0]
            left, block = self.bytes_of(command), command.lba
            moves = STREAMS and command.source == STREAM and command.blocks > 0
            status = INVALID if command.blocks == 0 or moves != STREAMS else RANGE if self.beyond(command) else OK
            if self.gone and status == OK:
                status = GONE
            entry = {"command": command, "status": status, "left": 0, "done": 0}
            if not moves:
                left = 0
                self.ring.append((entry, 0, [None, b"", 0]))
                entry["left"] = 1
            sizes = [min(4096, left - start) for start in range(0, left, 4096)]
            entry["left"] += len(sizes)
            for size in sizes:
                while self.ring_used() + size > RING_BYTES:
                    await RisingEdge(self.tb.dut.clk_i)
                if command.op == READ:
                    self.ring.append((entry, size, [block, None, size]))
                else:
                    self.ring.append((entry, size, [block, await self.fill(size, stall), size]))
                block += size // command.block_bytes
            self.queue.popleft()

    async def fill(self, size: int, stall: Stall) -> bytes:
        """Reserves space before it is filled, so that it counts as used meanwhile."""
        data = b""
        while len(data) < size:
            self.tb.set("member_data_ready_i", self.index, not stall.next())
            await ReadOnly()
            if self.bit("member_data_valid_o") and self.bit("member_data_ready_i"):
                data += self.seen("member_data_o", WIDTH).to_bytes(BEAT_BYTES, "little")
                self.beats_taken += 1
            await RisingEdge(self.tb.dut.clk_i)
        self.tb.set("member_data_ready_i", self.index, 0)
        return data

    async def work(self) -> None:
        """Carries out the oldest command in the ring, after a while, and side commands when they come."""
        while True:
            await RisingEdge(self.tb.dut.clk_i)
            if self.side and random.random() < 0.3:
                command = self.side.popleft()
                self.responses.append((command.tag, GONE if self.gone else self.flush_status if command.op == FLUSH else OK,
                                       self.written if command.op == FLUSH else 0))
            if self.stuck or not self.ring or random.random() < self.stall:
                continue
            entry, size, (block, data, _) = self.ring[0]
            for _ in range(size // 512):
                await RisingEdge(self.tb.dut.clk_i)
            self.carry_out(entry, size, block, data)
            while entry["command"].op == READ and self.out:
                await RisingEdge(self.tb.dut.clk_i)
            self.ring.popleft()
            entry["left"] -= 1
            if entry["left"] == 0:
                self.responses.append((entry["command"].tag, entry["status"], entry["done"]))

    def carry_out(self, entry: dict, size: int, block: int, data: bytes) -> None:
        block_bytes, command = entry["command"].block_bytes, entry["command"]
        blocks = range(block, block + size // block_bytes) if size else ()
        failed = entry["status"] not in (OK,) or any(b in self.bad_blocks for b in blocks)
        bad_here = any(b in self.bad_blocks for b in blocks)
        if entry["status"] == OK and bad_here:
            entry["status"] = 0x0281
        if entry["status"] == OK:
            entry["done"] += len(blocks)
        for number, b in enumerate(blocks):
            if command.op == WRITE and not failed:
                self.medium[b] = data[number * block_bytes:(number + 1) * block_bytes]
        if command.op == WRITE and not failed:
            self.written += len(blocks)
        if not STREAMS and entry["status"] == OK:
            entry["done"] = command.blocks
        if command.op == READ and size:
            content = b"".join(self.medium.get(b, bytes(block_bytes)) for b in blocks)
            for at in range(0, size, BEAT_BYTES):
                self.out.append((int.from_bytes(content[at:at + BEAT_BYTES], "little"), failed))

    async def data_out(self) -> None:
        stall, showing = Stall(self.stall), False
        while True:
            await ReadOnly()
            taken = showing and self.bit("member_data_ready_o")
            await RisingEdge(self.tb.dut.clk_i)
            if taken:
                self.out.popleft()
                showing = False
            if not showing and self.out and not stall.next():
                showing = True
                self.tb.set("member_data_i", self.index, self.out[0][0], WIDTH)
                self.tb.set("member_data_error_i", self.index, self.out[0][1])
            self.tb.set("member_data_valid_i", self.index, showing)

    async def answer(self) -> None:
        showing = False
        while True:
            await ReadOnly()
            taken = showing and self.bit("member_response_ready_o")
            await RisingEdge(self.tb.dut.clk_i)
            if taken:
                self.responses.popleft()
                showing = False
            if not showing and self.responses:
                showing = True
                tag, status, done = self.responses[0]
                response = records.pack("response_t", tag=tag, status=status, done=done)
                self.tb.set("member_response_i", self.index, response, records.width("response_t"))
            self.tb.set("member_response_valid_i", self.index, showing)
