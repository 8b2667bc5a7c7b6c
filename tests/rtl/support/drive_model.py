# SPDX-License-Identifier: Apache-2.0
"""A drive on the adapter's side of spate_drive: the root port and the controller of admin_drive, but queues are read and
completions written through the windows. It has an I/O queue pair with a namespace.

It reads entries as a drive may: in several reads, repeatedly, at odd addresses. It carries commands out in any order, and
makes faults in single commands on request: `faults` maps the kind of a command to the faults of the next ones of that kind.
"""

import random
from collections import defaultdict, deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer

import prp
import records
from admin_drive import ALL_ONES, CSTS, DNR, DOUBLE, LOST, AdminDrive, encode, port_of
from target_port import TargetPort

ADMIN_CQ, RANGE, SQ, CQ, PRP = 0x1000, 0x4000, 0x10000, 0x20000, 0x100000
WRITE, READ, FLUSH, DEALLOCATE = 1, 2, 0, 9
WRONG_ID, WRONG_PHASE, WRONG_HEAD, LATE = "wrong id", "wrong phase", "wrong head", "late"
AHEAD = "ahead"  # its completion is written before the one in the place before it
PERIOD_NS = 4  # of the clock
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


class DriveModel(AdminDrive):
    def __init__(self, dut, profile, *, window: int, bar: int, window_bits: int, stall: float, port=None):
        self.port = port or TargetPort(dut, window, window_bits, stall)
        self.window_shift, self.stall = window_bits - 1, stall
        self.sq = self.cq = None
        self.block = 1 << profile.block_shift
        self.media, self.memory = {}, bytearray()
        self.in_flight = {}  # identifier → entry
        self.io_log, self.events = [], defaultdict(int)
        self.io_faults, self.flush_faults = deque(), deque()
        self.bad_blocks = {}  # first block of a command → [status or LOST, number of times]
        self.fault_log = []
        self.latency_cycles, self.rereads = 60, 0.2
        self.heads = "true"  # or "zero", "tail": what completions say of the submission queue's head
        self.reset_is_due = False  # entries may read as zeros: the adapter answers for a core that will reset the drive
        super().__init__(dut, profile, window=window, bar=bar)

    # ---- ports of admin_drive that are windows here ----

    def enable(self, on: bool) -> None:
        old = getattr(self, "base", None)
        super().enable(on)
        if on:
            assert old is None or old != self.base, "the epoch is the old one"
            self.admin_cq = Queue(4)

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
        super().fetch()
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
        await self.cycles(random.randint(1, self.latency_cycles))
        status, result = 0, 0x51DE
        if life == self.life:
            if opcode in (READ, WRITE):
                status = await self.data(life, sqe, opcode)
            elif opcode == DEALLOCATE:
                await self.deallocate(sqe)
            else:
                assert opcode == FLUSH, f"opcode {opcode:#x}"
                status = self.flush_faults.popleft() if self.flush_faults else 0
        if life == self.life and status != LOST:
            await self.complete(life, cid, status, result)

    async def cycles(self, count: int) -> None:
        """One wake-up for any number of steps, because there are many commands."""
        await Timer(count * PERIOD_NS, unit="ns")

    async def complete(self, life: int, cid: int, status: int, result: int) -> None:
        fault = self.io_faults.popleft() if self.io_faults else None
        if fault:
            self.fault_log.append(fault)
        if fault == LOST:
            return  # it stays in flight until the host gives up
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
        if opcode == WRITE:
            data = b"".join([await self.bus_read(address, count) for address, count in found])
            for i in range(blocks if life == self.life else 0):
                self.media[lba + i] = data[i * self.block:][:self.block]
        else:
            data = b"".join(self.media.get(lba + i, bytes(self.block)) for i in range(blocks))
            for address, count in found:
                if self.in_window(address):
                    self.port.write(address, data[:count])
                else:
                    self.memory[address - self.memory_base:address - self.memory_base + count] = data[:count]
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
        for i in range(blocks):
            self.media.pop(lba + i, None)

    memory_base = 0x8_0000_0000

    def in_window(self, address: int) -> bool:
        return self.window <= address < self.window + (2 << self.window_shift)

    async def bus_read(self, address: int, length: int) -> bytes:
        if self.in_window(address):
            return await self.port.read(address, length)
        offset = address - self.memory_base
        assert 0 <= offset and offset + length <= len(self.memory), f"a read of {address:#x}, where nothing is mapped"
        return bytes(self.memory[offset:offset + length])

    # ---- a clock cycle ----

    async def run(self) -> None:
        d = self.dut
        d.rst_ni.value, d.enable_i.value = 0, 1
        for name in ("link_up_i", "adapter_quiet_i", "mmio_request_ready_i", "mmio_response_valid_i", "command_valid_i",
                     "side_valid_i", "response_ready_i", "page_valid_i", "fence_answer_i"):
            getattr(d, name).value = 0
        for _ in range(4):
            await RisingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.io())
        showing, access_wait, held, ready_before = {}, None, None, 0  # showing: the command at each port
        while True:
            await ReadOnly()
            self.cycle += 1
            self.fields = records.get(d.drive_o, "drive_t")
            self.ready, self.gone, self.epoch = self.fields.ready, self.fields.gone, self.fields.epoch
            self.ready_falls += ready_before and not self.ready
            ready_before = self.ready
            self.count_events(d.events_o.value.to_unsigned())
            self.see_perst(not d.perst_no.value)
            for action in self.later.pop(self.cycle, ()):
                action()
            done = None
            if access_wait is not None:
                access_wait[0] -= 1
                if access_wait[0] <= 0:
                    done, access_wait = access_wait[1], None
            elif d.mmio_request_valid_o.value and d.mmio_request_ready_i.value:
                access_wait = self.accessed(records.get(d.mmio_request_o, "mmio_request_t"))
            for port in [port for port in showing if getattr(d, f"{port}_ready_o").value]:
                self.commands.remove(showing.pop(port))
            held = self.see_response(held)
            fence, quiet = d.fence_request_o.value, self.port.idle
            self.port.settled()
            await RisingEdge(d.clk_i)
            self.port.edge()
            d.link_up_i.value = int(self.link_up)
            d.adapter_quiet_i.value = int(quiet)
            if random.random() < 0.2:
                d.fence_answer_i.value = fence
            d.mmio_request_ready_i.value = int(random.random() < 0.7)
            d.mmio_response_valid_i.value = int(done is not None)
            if done is not None:
                d.mmio_response_i.value = done
            for port in ("command", "side"):
                waiting = next((command for command in self.commands if port_of(**command) == port), None)
                if port not in showing and waiting and random.random() >= self.stall:
                    showing[port] = waiting
                    getattr(d, f"{port}_i").value = encode(**waiting)
                getattr(d, f"{port}_valid_i").value = int(port in showing)
            d.response_ready_i.value = int(random.random() >= self.stall)

    def accessed(self, request) -> list:
        """Returns [cycles until the response, the response]."""
        access = request.access
        error, value = self.access(access.space, access.write, access.address, access.data)
        result = records.pack("mmio_result_t", error=error, data=value)
        return [random.randint(1, 12), records.pack("mmio_response_t", id=request.id, result=result)]

    def see_response(self, held: int | None) -> int | None:
        d = self.dut
        if not d.response_valid_o.value:
            assert held is None, "a response vanished"
            return None
        shown = d.response_o.value.to_unsigned()
        assert held is None or held == shown, "a response changed before it was taken"
        if not d.response_ready_i.value:
            return shown
        self.responses.append(vars(records.unpack("response_t", shown)))
        return None

    def count_events(self, value: int) -> None:
        if value:
            for name, seen in vars(records.unpack("events_t", value)).items():
                self.events[name] += seen
