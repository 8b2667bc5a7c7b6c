# SPDX-License-Identifier: Apache-2.0
"""An NVMe drive with one namespace: the controller of controller.py, and an I/O queue pair. It reads entries as a drive may: in
several reads, repeatedly, at odd addresses. It carries commands out in any order, and makes faults on request.

`Drive` knows no pins. A class that inherits from it says how the drive reads and writes (`port`) and how the host reaches its
registers: hard_block.py and bridge.py.
"""

import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.utils import get_sim_time

from . import prp
from .controller import CSTS, DNR, DOUBLE, LOST, STEP_NS, Controller, Profile

ADMIN_CQ, RANGE, SQ, CQ, PRP = 0x1000, 0x4000, 0x10000, 0x20000, 0x100000
WRITE, READ, FLUSH, DEALLOCATE = 1, 2, 0, 9
WRONG_ID, WRONG_PHASE, WRONG_HEAD, LATE = "wrong id", "wrong phase", "wrong head", "late"
AHEAD = "ahead"  # its completion is written before the one in the place before it
MEDIA_ERROR = 0x0281  # transient: DNR is clear
PATH_ERROR = 0x0300  # transient: its code is 0, only its type tells that it is an error


@dataclass
class Queue:
    entries: int
    head: int = 0  # SQ: fetched up to here
    tail: int = 0  # SQ: as rung; CQ: the next entry to write
    phase: int = 1
    released: int = 0  # CQ: the host's head
    reported: int = 0  # SQ: the head in the last completion
    ahead: bool = False  # CQ: the place after the next entry is written already

    def step(self) -> None:
        self.tail = (self.tail + 1) % self.entries
        self.phase ^= self.tail == 0


@dataclass
class Counts:
    """What the drive was asked for, and did."""
    bring_ups: int = 0
    admin_commands: int = 0
    reads: int = 0
    writes: int = 0
    flushes: int = 0
    deallocates: int = 0
    blocks_read: int = 0
    blocks_written: int = 0
    errors: int = 0  # completions with a status
    unanswered: int = 0  # commands without a completion, because of a fault
    link_drops: int = 0


class Drive(Controller):
    """`blocks` and `block_bytes` are those of the namespace. `stall` is the share of cycles in which each stream pauses.
    `properties` are those of Profile, by their names."""

    def __init__(self, port, *, blocks: int = 1 << 20, block_bytes: int = 512, stall: float = 0.0, **properties):
        assert block_bytes in (512, 4096), f"block_bytes must be 512 or 4096, not {block_bytes}"
        self.port, self.stall = port, stall
        self.sq = self.cq = None
        self.block = block_bytes
        self.media = {}  # block → its bytes; a block that was never written reads as zeros
        self.in_flight = {}  # identifier → entry
        self.io_log = []
        self.counts = Counts()
        self.io_faults, self.flush_faults = deque(), deque()
        self.bad_blocks = {}  # first block of a command → [status or LOST, number of times]
        self.failing = {}  # any block of a command → [status, number of times]
        self.silent = False  # no command is answered
        self.fault_log = []
        self.latency_ns, self.rereads = (STEP_NS, 60 * STEP_NS), 0.2
        self.heads = "true"  # or "zero", "tail": what completions say of the submission queue's head
        self.reset_is_due = False  # entries may read as zeros: the adapter answers for a core that will reset the drive
        super().__init__(Profile(blocks=blocks, block_shift=block_bytes.bit_length() - 1, **properties))

    # ---- the user's interface ----

    def read(self, lba: int, blocks: int) -> bytes:
        """What the drive has stored."""
        return b"".join(self.media.get(lba + i, bytes(self.block)) for i in range(blocks))

    def write(self, lba: int, data: bytes) -> None:
        """Stores whole blocks without a command."""
        assert len(data) % self.block == 0, f"{len(data)} bytes are no whole blocks of {self.block}"
        for i in range(len(data) // self.block):
            self.media[lba + i] = bytes(data[i * self.block:][:self.block])

    def fail(self, lba: int, status: int, times: int = 1) -> None:
        """The next `times` reads and writes that contain the block end with this status (bits 10:8 the type, 7:0 the code, 14 do
        not retry)."""
        self.failing[lba] = [status, times]

    def lose(self, count: int = 1) -> None:
        """The next `count` I/O commands are carried out, but get no completion."""
        self.io_faults.extend([LOST] * count)

    def disconnect(self, down_ns: int) -> None:
        """The link drops. After this time it is up again, with a drive that was reset."""
        self.drop_link(down_ns // STEP_NS)

    def remove(self) -> None:
        """The drive is pulled out."""
        self.present = False
        self.silence()

    def insert(self) -> None:
        """The drive is put in again, with its contents."""
        self.present = True
        if not self.in_reset:
            self.train_in(self.profile.link_cycles)

    async def until(self, condition, limit_ns: int, what: str = "") -> None:
        """Waits until the condition is true, and fails after the limit."""
        end = get_sim_time("ns") + limit_ns
        while not condition():
            if get_sim_time("ns") >= end:
                raise AssertionError(f"not in {limit_ns} ns: {what}; {self.counts}")
            await self.cycles(8)

    # ---- the controller ----

    def enable(self, on: bool) -> None:
        super().enable(on)
        if on:
            self.counts.bring_ups += 1
            self.admin_cq = Queue(4)

    def silence(self) -> None:
        self.counts.link_drops += self.link_up
        super().silence()

    def reset_controller(self) -> None:
        super().reset_controller()
        self.sq = self.cq = None
        self.in_flight = {}

    def doorbell(self, address: int, data: int) -> None:
        number, left = divmod(address - 0x1000, 4 << self.profile.stride)
        assert left == 0 and number < 4, f"a doorbell at {address:#x}"
        if number < 2:
            super().doorbell(address, data)
        elif not self.registers[CSTS] & 1:
            return  # a host that has not noticed the drive's reset may still ring
        elif number == 2:
            assert self.sq and data < self.sq.entries, "a doorbell for a queue that does not exist"
            added, room = (data - self.sq.tail) % self.sq.entries, (self.sq.head - self.sq.tail - 1) % self.sq.entries
            assert 0 < added <= room, f"tail {self.sq.tail} → {data}, head {self.sq.head}: over entries not yet read"
            self.sq.tail = data
        else:
            freed = (data - self.cq.released) % self.cq.entries
            assert 0 < freed <= (self.cq.tail - self.cq.released) % self.cq.entries, "a completion head beyond the tail"
            self.cq.released = data

    def execute(self, opcode: int, sqe: list):
        answer = super().execute(opcode, sqe)
        if opcode == 5:
            self.cq = Queue(self.queues["cq"])
        elif opcode == 1:
            self.sq = Queue(self.queues["sq"])
        return answer

    def to_page(self, sqe: list, dwords: dict) -> None:
        assert sqe[6] | sqe[7] << 32 == self.base + 0x2000, "PRP1 is not the admin page"
        for start in range(0, 1024, 128):  # in any order of the stretches that are not zero
            if any(start <= dword < start + 128 for dword in dwords) or start == 0:
                stretch = b"".join(dwords.get(start + i, 0).to_bytes(4, "little") for i in range(128))
                self.port.write(self.base + 0x2000 + start * 4, stretch)
        # Zeros must be written as well, because the page may hold an earlier command's data.
        held = {dword // 128 for dword in dwords} | {0}
        for start in set(range(8)) - held:
            self.port.write(self.base + 0x2000 + start * 512, bytes(512))

    def fetch(self) -> None:
        cocotb.start_soon(self.fetch_admin(self.life))

    async def fetch_admin(self, life: int) -> None:
        data = await self.port.read(self.base + self.admin_head * 64, 64)
        if life != self.life:
            return
        self.entry_valid, self.entry_index = True, self.admin_head
        self.entries[0] = [int.from_bytes(data[i * 4:i * 4 + 4], "little") for i in range(16)]
        before = len(self.admin_done)
        self.counts.admin_commands += 1
        super().fetch()
        if self.silent:
            self.counts.unanswered += 1
            self.admin_done.clear()
        while len(self.admin_done) > before:
            cid, status, result = self.admin_done.pop()
            self.admin_given += 1
            self.post(self.admin_cq, ADMIN_CQ, self.admin_head, 0, cid, status, result)

    # ---- the I/O queue ----

    def post(self, queue: Queue, offset: int, sq_head: int, sq_id: int, cid: int, status: int, result: int = 0, *,
             phase: int | None = None, base: int | None = None, advance: bool = True) -> None:
        if queue is self.cq:
            assert (queue.tail + 1) % queue.entries != queue.released, "the completion queue overflows"
        entry = result | random.getrandbits(32) << 32 | sq_head << 64 | sq_id << 80 | cid << 96
        entry |= (queue.phase if phase is None else phase) << 112 | status << 113
        self.port.write((self.base if base is None else base) + offset + queue.tail * 16, entry.to_bytes(16, "little"))
        if advance:
            queue.step()

    async def io(self) -> None:
        """Fetches what was rung, forever."""
        while True:
            await self.cycles(2)
            sq = self.sq
            if not sq or sq.head == sq.tail or not self.link_up or random.random() < 0.3 * self.stall:
                continue
            life, index = self.life, sq.head
            data = await self.port.read(self.base + SQ + index * 64, 64)
            if life != self.life:
                continue
            if self.reset_is_due and not any(data):
                continue
            if random.random() < self.rereads:  # again, in odd stretches, before the head tells that it was read
                first = random.randrange(0, 64, 4)
                length = random.randrange(4, 68 - first, 4)
                again = await self.port.read(self.base + SQ + index * 64 + first, length)
                assert life != self.life or again == data[first:first + length], "an entry changed while it was read"
            if life != self.life:
                continue
            sq.head = (index + 1) % sq.entries
            sqe = [int.from_bytes(data[i * 4:i * 4 + 4], "little") for i in range(16)]
            cid = sqe[0] >> 16
            assert cid not in self.in_flight, f"identifier {cid:#x} twice"
            self.in_flight[cid] = sqe
            self.io_log.append(sqe)
            cocotb.start_soon(self.carry_out(life, cid, sqe))

    async def carry_out(self, life: int, cid: int, sqe: list) -> None:
        opcode = sqe[0] & 0xFF
        assert sqe[0] >> 8 & 0xFF == 0 and sqe[1] == 1, f"flags {sqe[0]:#x}, namespace {sqe[1]}"
        low, high = self.latency_ns
        await self.cycles(random.randint(max(1, low // STEP_NS), max(1, high // STEP_NS)))
        if self.silent:
            self.counts.unanswered += 1
            return
        status, result = 0, 0x51DE
        if life == self.life:
            if opcode in (READ, WRITE):
                status = await self.data(life, sqe, opcode)
            elif opcode == DEALLOCATE:
                await self.deallocate(sqe)
            else:
                assert opcode == FLUSH, f"the model has no I/O command with opcode {opcode:#x}"
                self.counts.flushes += 1
                status = self.flush_faults.popleft() if self.flush_faults else 0
        if life == self.life and status != LOST:
            await self.complete(life, cid, status, result)

    async def complete(self, life: int, cid: int, status: int, result: int) -> None:
        fault = self.io_faults.popleft() if self.io_faults else None
        if fault:
            self.fault_log.append(fault)
        if fault == LOST:
            self.counts.unanswered += 1
            return  # it stays in flight until the host gives up
        self.counts.errors += bool(status)
        cq, old = self.cq, self.base
        while (cq.released - cq.tail - 1) % cq.entries < 3:  # room for forged ones as well
            await self.cycles(4)
            if life != self.life:
                return
        if fault == LATE:  # after the reset that it caused, at the queue's old place
            while self.base == old:
                await self.cycles(16)
            stale = Queue(cq.entries, tail=cq.tail, phase=cq.phase)
            self.post(stale, CQ, 0, 1, cid, 0, base=old)
            return
        if fault in (WRONG_ID, DOUBLE):
            self.sq.reported = self.sq.head
        if fault == WRONG_ID:
            for wrong in (cid ^ 1 << random.randint(9, 14), random.choice((cid ^ 0x8000, cid ^ 0x100, cid | 0xFF))):
                self.post(cq, CQ, self.sq.head, 1, wrong, MEDIA_ERROR | DNR)
        if fault == WRONG_PHASE:  # the old phase: the host must ignore it
            self.post(cq, CQ, self.sq.head, 1, cid, MEDIA_ERROR | DNR, phase=cq.phase ^ 1, advance=False)
        head = self.reported_head()
        if fault == WRONG_HEAD:  # backwards, or beyond the tail
            head = random.choice(((self.sq.reported - 1) % self.sq.entries, self.sq.entries + head))
        else:
            self.sq.reported = head
        self.in_flight.pop(cid)
        if fault == AHEAD and not cq.ahead:
            place = (cq.tail + 1) % cq.entries
            self.post(Queue(cq.entries, tail=place, phase=cq.phase ^ (place == 0)), CQ, head, 1, cid, status, result)
            cq.ahead = True
            return
        self.post(cq, CQ, head, 1, cid, status, result)
        if cq.ahead:
            cq.step()
            cq.ahead = False
        if fault == DOUBLE:
            self.post(cq, CQ, self.sq.head, 1, cid, status, result)
            self.sq.reported = self.sq.head

    def reported_head(self) -> int:
        return {"true": self.sq.head, "zero": 0, "tail": self.sq.tail}[self.heads]

    async def data(self, life: int, sqe: list, opcode: int) -> int:
        lba, blocks = sqe[10] | sqe[11] << 32, (sqe[12] & 0xFFFF) + 1
        assert lba + blocks <= self.profile.blocks, "beyond the namespace"
        length = blocks * self.block
        prp1, prp2 = sqe[6] | sqe[7] << 32, sqe[8] | sqe[9] << 32
        found = await prp.segments(prp1, prp2, length, self.bus_read)
        if len(found) > 2 and random.random() < self.rereads and life == self.life:
            await self.reread_list(life, prp2, found)
        if life != self.life:
            return 0
        fault = self.bad_blocks.get(lba)
        if fault and fault[1]:
            fault[1] -= 1
            return fault[0]
        for block, (status, times) in self.failing.items():
            if times and lba <= block < lba + blocks:
                self.failing[block][1] -= 1
                return status
        if opcode == WRITE:
            data = b"".join([await self.bus_read(address, count) for address, count in found])
            if life == self.life:
                self.write(lba, data)
                self.counts.writes, self.counts.blocks_written = self.counts.writes + 1, self.counts.blocks_written + blocks
        else:
            data = self.read(lba, blocks)
            self.counts.reads, self.counts.blocks_read = self.counts.reads + 1, self.counts.blocks_read + blocks
            for address, count in found:
                self.bus_write(address, data[:count])
                data = data[count:]
        return 0

    async def reread_list(self, life: int, prp2: int, found: list) -> None:
        """Reads a list again, from an odd dword on and beyond its end, where it must read zeros."""
        whole = b"".join(address.to_bytes(8, "little") for address, _ in found[1:])
        whole += bytes(4096 - len(whole))
        first = random.randrange(0, min(len(whole), len(found) * 8 + 64), 4)
        length = random.randrange(4, min(256, 4096 - first) + 4, 4)
        again = await self.port.read(prp2 + first, length)
        assert life != self.life or again == whole[first:first + length], f"the list at {prp2:#x} + {first:#x} differs"

    async def deallocate(self, sqe: list) -> None:
        assert sqe[10] == 0 and sqe[11] == 4 and sqe[6] | sqe[7] << 32 == self.base + RANGE
        data = await self.port.read(self.base + RANGE, 16)
        lba, blocks = int.from_bytes(data[8:], "little"), int.from_bytes(data[4:8], "little")
        self.counts.deallocates += 1
        for i in range(blocks):
            self.media.pop(lba + i, None)

    # ---- data: what an address means, the port's other end knows ----

    async def bus_read(self, address: int, length: int) -> bytes:
        return await self.port.read(address, length)

    def bus_write(self, address: int, data: bytes) -> None:
        self.port.write(address, data)
