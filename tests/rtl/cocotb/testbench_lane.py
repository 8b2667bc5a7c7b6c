# SPDX-License-Identifier: Apache-2.0
"""Splitter, buffer and retire. The testbench acts as the slots between them, and as a drive that carries commands out in any
order, reads write data more than once, and fails some commands.

What is expected of a request is computed from the request alone: its commands, the places of its beats, and its response.
"""

import os
import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Sink, Source, Stall

WIDTH = int(os.environ["DATA_WIDTH"])
RAM_BYTES = int(os.environ["RAM_BYTES"])
BEAT_BYTES = WIDTH // 8
SECTOR_BEATS = 512 // BEAT_BYTES
RING_SECTORS = (RAM_BYTES - 8192) // 512
RING_BEATS = RING_SECTORS * SECTOR_BEATS
STREAM_MODE = RING_SECTORS > 0

FLUSH, WRITE, READ, DEALLOCATE = 0, 1, 2, 3
STREAM, ADDRESS, MAILBOX = 0, 1, 2
OK, INVALID, RANGE, GONE = 0, 0x8001, 0x8002, 0x8004
DRIVE_ERRORS = (0x0281, 0x4004)
PAGE_CYCLES_MAX = 100  # the drive pauses more often than this


@dataclass
class Command:
    """A command of a request: what the splitter should issue, and what the drive did with it."""

    request: "Request"
    lba: int
    sectors: int
    base: int
    last: bool
    status: int
    first_beat: int  # index of its first beat in its stream
    done: bool = False
    popped: bool = False
    contents: list[int] = field(default_factory=list)  # of a read: what the drive wrote

    @property
    def beats(self) -> int:
        return self.sectors * SECTOR_BEATS if self.request.moves else 0

    def ring_beat(self, beat: int) -> int:
        return (self.base * SECTOR_BEATS + beat) % RING_BEATS


@dataclass
class Request:
    op: int
    source: int
    lba: int
    blocks: int
    tag: int
    address: int = 0
    fua: int = 0
    from_registers: int = 0
    commands: list[Command] = field(default_factory=list)

    @property
    def moves(self) -> bool:
        """Whether it has beats, good or not."""
        return STREAM_MODE and self.source == STREAM and self.blocks > 0


class Testbench:
    def __init__(self, dut, stall: float, *, block_4096=False, blocks=1 << 30, command_sectors_max=8, error_share=0.0,
                 ready=True, gone=False):
        self.dut, self.block_sectors = dut, 8 if block_4096 else 1
        self.namespace_blocks, self.command_sectors_max = blocks, command_sectors_max
        self.error_share, self.gone, self.stall = error_share, gone, stall
        self.written_beats, self.ring_sector = 0, 0  # in the data stream; in the order of allocation
        self.expected_issues: deque[Command] = deque()
        self.issued: deque[Command] = deque()  # not popped yet
        self.live: deque[Command] = deque()  # with space in the ring that was not freed yet
        self.requests: list[Request] = []
        self.side_tags: list[int] = []
        self.errors_seen = 0
        self.hold = False  # show no command to retire
        self.target_reads, self.target_writes = deque(), deque()
        self.page_accesses = 0
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value = 0
        dut.drive_ready_i.value = int(ready)
        dut.drive_gone_i.value = int(gone)
        dut.drive_block_4096_i.value = int(block_4096)
        dut.drive_blocks_i.value = blocks
        dut.drive_command_sectors_max_i.value = command_sectors_max
        for name in ("head_valid", "target_read", "target_write", "target_drop", "page_valid", "page_write"):
            getattr(dut, f"{name}_i").value = 0
        self.data = self.source("data", {"data": dut.data_i})
        self.command = self.source("command", self.fields("command", "i", "from_registers tag op source fua address lba "
                                                                         "blocks"))
        self.side = self.sink("side", self.fields("side", "o", "tag"))
        self.issue = self.sink("issue", self.fields("issue", "o", "write fua lba sectors base stream last tag "
                                                                  "from_registers status"))
        self.out = self.sink("out", self.fields("out", "o", "data last error"))
        self.response = self.sink("response", self.fields("response", "o", "from_registers tag status done"))
        for task in (self.slots(), self.head(), self.drive(), self.reads(), self.writes(), self.frees()):
            cocotb.start_soon(task)

    def fields(self, prefix: str, suffix: str, names: str) -> dict:
        return {name: getattr(self.dut, f"{prefix}_{name}_{suffix}") for name in names.split()}

    def source(self, name: str, signals: dict) -> Source:
        dut = self.dut
        return Source(dut.clk_i, dut.rst_ni, getattr(dut, f"{name}_valid_i"), getattr(dut, f"{name}_ready_o"), signals,
                      self.stall)

    def sink(self, name: str, signals: dict) -> Sink:
        dut = self.dut
        return Sink(dut.clk_i, dut.rst_ni, getattr(dut, f"{name}_valid_o"), getattr(dut, f"{name}_ready_i"), signals,
                    self.stall)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    async def start(self) -> None:
        await self.cycles(4)
        self.dut.rst_ni.value = 1

    # ---- requests, and the commands that they should become ----

    def ask(self, request: Request) -> None:
        self.requests.append(request)
        self.command.put(**{name: getattr(request, name) for name in
                            ("from_registers", "tag", "op", "source", "fua", "address", "lba", "blocks")})
        if request.op not in (READ, WRITE) or request.source == MAILBOX:
            self.side_tags.append(request.tag)
            return
        for command in self.cut(request, self.status_of(request)):
            request.commands.append(command)
            self.expected_issues.append(command)
            if request.op == WRITE:
                for _ in range(command.beats):
                    self.data.put(data=pattern(self.written_beats))
                    self.written_beats += 1

    def status_of(self, request: Request) -> int:
        if request.blocks == 0 or request.source != (STREAM if STREAM_MODE else ADDRESS):
            return INVALID
        if not STREAM_MODE and request.address % 4:
            return INVALID
        if self.gone:
            return GONE
        return RANGE if request.lba + request.blocks > self.namespace_blocks else OK

    def cut(self, request: Request, status: int) -> list[Command]:
        left = request.blocks * self.block_sectors
        if not request.moves and status != OK:
            left = 0
        lba, address, position, commands = request.lba, request.address >> 2, self.written_beats, []
        while True:
            sectors = min(left, 8 if self.gone else self.command_sectors_max)
            left -= sectors
            base = self.ring_sector if STREAM_MODE else address
            commands.append(Command(request, lba, sectors, base, left == 0, status, position))
            if request.moves:
                self.ring_sector = (self.ring_sector + sectors) % RING_SECTORS
            lba, address = lba + sectors // self.block_sectors, address + sectors * 128
            position += sectors * SECTOR_BEATS
            if left == 0:
                return commands

    def expected_response(self, request: Request) -> dict:
        done, status = 0, OK
        for command in request.commands:
            if command.status != OK:
                status = command.status
                break
            done += command.sectors // self.block_sectors
        return {"from_registers": request.from_registers, "tag": request.tag, "status": status, "done": done}

    # ---- slots ----

    async def slots(self) -> None:
        """Takes the commands that are issued, and compares them."""
        while True:
            await RisingEdge(self.dut.clk_i)
            while self.issue.words:
                word, command = self.issue.words.popleft(), self.expected_issues.popleft()
                request = command.request
                expected = {"write": int(request.op == WRITE), "stream": int(request.moves), "sectors": command.sectors,
                            "last": int(command.last), "tag": request.tag, "from_registers": request.from_registers,
                            "status": command.status, "fua": request.fua}
                if command.status == OK:
                    expected["lba"] = command.lba & (1 << 40) - 1
                if command.status == OK or request.moves:
                    expected["base"] = command.base
                assert {name: word[name] for name in expected} == expected
                if request.moves:
                    self.live.append(command)
                    assert sum(command.sectors for command in self.live) <= RING_SECTORS, "ring space was allocated twice"
                command.done = command.status != OK
                if self.gone:
                    command.status, command.done = GONE, True
                self.issued.append(command)

    async def head(self) -> None:
        """Shows the oldest command to retire when it is done. It stays for one pop, sometimes with a pause afterwards."""
        dut, stall, showing = self.dut, Stall(self.stall), None
        while True:
            await ReadOnly()
            popped = showing is not None and bool(dut.head_pop_o.value)
            await RisingEdge(dut.clk_i)
            if popped:
                showing.popped = True
                assert self.issued.popleft() is showing
                showing = None
            if showing is None and self.issued and self.issued[0].done and not self.hold and not stall.next():
                showing = self.issued[0]
                request = showing.request
                dut.head_write_i.value = int(request.op == WRITE)
                dut.head_stream_i.value = int(request.moves)
                dut.head_last_i.value = int(showing.last)
                dut.head_from_registers_i.value = request.from_registers
                dut.head_tag_i.value = request.tag
                dut.head_sectors_i.value = showing.sectors
                dut.head_status_i.value = showing.status
            dut.head_valid_i.value = int(showing is not None)

    async def frees(self) -> None:
        """Space is freed in order, and for a read not before its last beat has left the buffer."""
        dut = self.dut
        while True:
            await ReadOnly()
            freed = bool(dut.rst_ni.value) and bool(dut.free_valid_o.value)
            sectors = int(dut.free_sectors_o.value) if freed else 0
            self.errors_seen += int(bool(dut.rst_ni.value) and bool(dut.command_error_o.value))
            await RisingEdge(dut.clk_i)
            if freed:
                command = self.live.popleft()
                assert sectors == command.sectors
                assert command.done, "space was freed before the command was done"

    # ---- the drive ----

    async def drive(self) -> None:
        """Carries out one command at a time, in any order; a write's data are read once or twice."""
        while True:
            await RisingEdge(self.dut.clk_i)
            waiting = [command for command in self.issued if not command.done]
            if not waiting or random.random() < 0.3:
                continue
            command = random.choice(waiting)
            if STREAM_MODE:
                await (self.take(command) if command.request.op == WRITE else self.give(command))
            if random.random() < self.error_share:
                command.status = random.choice(DRIVE_ERRORS)
            command.done = True

    async def take(self, command: Command) -> None:
        for _ in range(random.choice((1, 1, 2))):
            order = list(range(command.beats))
            if random.random() < 0.3:
                random.shuffle(order)
            for beat in order:
                self.target_reads.append((command.ring_beat(beat), pattern(command.first_beat + beat)))
            while self.target_reads:
                await RisingEdge(self.dut.clk_i)
        await self.cycles(3)

    async def give(self, command: Command) -> None:
        command.contents = [random.getrandbits(WIDTH) for _ in range(command.beats)]
        for beat, data in enumerate(command.contents):
            strobe = random.getrandbits(BEAT_BYTES) if random.random() < 0.1 else (1 << BEAT_BYTES) - 1
            self.target_writes.append((command.ring_beat(beat), data, strobe))
            if strobe != (1 << BEAT_BYTES) - 1:  # the rest in a second write; the lanes of the first write are random
                self.target_writes.append((command.ring_beat(beat), scramble(data, strobe), strobe ^ (1 << BEAT_BYTES) - 1))
        while self.target_writes:
            await RisingEdge(self.dut.clk_i)

    async def reads(self) -> None:
        """Puts the drive's reads on the port in most cycles, and compares the data three cycles after each."""
        dut, stall, pipe = self.dut, Stall(max(self.stall, 0.3), 3), deque([None] * 3)
        while True:
            await RisingEdge(dut.clk_i)
            dut.target_read_i.value = 0
            due = None
            if self.target_reads and not stall.next():
                beat, due = self.target_reads.popleft()
                dut.target_read_i.value = 1
                dut.target_read_beat_i.value = beat
            pipe.append(due)
            expected = pipe.popleft()
            await ReadOnly()
            if expected is not None:
                assert int(dut.target_read_data_o.value) == expected, "the drive read other data than were written"

    async def writes(self) -> None:
        dut, stall = self.dut, Stall(max(self.stall, 0.3), 3)
        while True:
            await RisingEdge(dut.clk_i)
            dut.target_write_i.value = 0
            if self.target_writes and not stall.next():
                drop = random.random() < 0.1  # a beat of the other epoch comes first, to anywhere
                beat, data, strobe = random.randrange(RAM_BYTES // BEAT_BYTES), random.getrandbits(WIDTH), (1 << BEAT_BYTES) - 1
                if not drop:
                    beat, data, strobe = self.target_writes.popleft()
                dut.target_write_i.value = 1
                dut.target_drop_i.value = int(drop)
                dut.target_write_beat_i.value = beat
                dut.target_write_data_i.value = data
                dut.target_write_strobe_i.value = strobe

    # ---- the pages ----

    async def pages(self) -> None:
        """Reads and writes dwords of both pages, some of them written by the drive, and compares."""
        dut, memory = self.dut, {}
        while True:
            dword, data = random.randrange(2048), random.getrandbits(32)
            lane = dword % (BEAT_BYTES // 4)
            kind = random.choice(("drive", "write", "read", "read", "pause"))
            if kind == "pause":
                dut.page_valid_i.value = 0
                await self.cycles(random.randint(1, 4))
                continue
            if kind == "drive":
                dut.page_valid_i.value = 0
                beat = (RING_SECTORS * 512 + 4 * dword) // BEAT_BYTES
                self.target_writes.append((beat, data << 32 * lane, 0xF << 4 * lane))
                memory[dword] = data
                while self.target_writes:
                    await RisingEdge(dut.clk_i)
                await RisingEdge(dut.clk_i)  # the port has taken it
                continue
            if kind == "read" and memory and random.random() < 0.8:
                dword = random.choice(list(memory))
            dut.page_valid_i.value, dut.page_write_i.value = 1, int(kind == "write")
            dut.page_dword_i.value, dut.page_data_i.value = dword, data
            for cycle in range(PAGE_CYCLES_MAX + 1):
                await ReadOnly()
                done, read = bool(dut.page_done_o.value), int(dut.page_data_o.value)
                await RisingEdge(dut.clk_i)
                if done:
                    break
            assert done, "an access to a page does not end"
            if kind == "write":
                memory[dword] = data
            elif dword in memory:
                assert read == memory[dword]
            self.page_accesses += 1

    # ---- the end ----

    async def finish(self) -> None:
        data_requests = [request for request in self.requests if request.commands]
        while len(self.response.words) < len(data_requests) or len(self.side.words) < len(self.side_tags):
            await RisingEdge(self.dut.clk_i)
        await self.cycles(20)
        assert list(self.response.words) == [self.expected_response(request) for request in data_requests]
        assert [word["tag"] for word in self.side.words] == self.side_tags
        assert not self.data.words and not self.live and not self.issued
        self.check_out(data_requests)
        commands = [command for request in data_requests for command in request.commands]
        assert self.errors_seen == sum(command.status != OK for command in commands)
        assert int(self.dut.written_blocks_o.value) == self.written_blocks(commands)

    def check_out(self, requests: list[Request]) -> None:
        for request in requests:
            if request.op != READ or not request.moves:
                continue
            for command in request.commands:
                for beat in range(command.beats):
                    word = self.out.words.popleft()
                    assert word["last"] == int(command.last and beat == command.beats - 1)
                    assert word["error"] == int(command.status != OK)
                    if command.status == OK:
                        assert word["data"] == command.contents[beat]
        assert not self.out.words, "beats that were not requested"

    def written_blocks(self, commands: list[Command]) -> int:
        blocks, failed = 0, None
        for command in commands:
            if command.request.op == WRITE:
                if command.status != OK:
                    failed = command.request
                if command.request is not failed:
                    blocks += command.sectors // self.block_sectors
        return blocks


def pattern(beat: int) -> int:
    return int.from_bytes(((beat * 0x9E3779B97F4A7C15 + 1) % (1 << 64)).to_bytes(8, "little") * (BEAT_BYTES // 8), "little")


def scramble(data: int, strobe: int) -> int:
    """`data` with the bytes in `strobe` inverted."""
    return data ^ sum(0xFF << 8 * lane for lane in range(BEAT_BYTES) if strobe >> lane & 1)


def some_request(tb: Testbench, tag: int, *, sectors_max: int) -> Request:
    op, source = random.choice((READ, WRITE)), STREAM if STREAM_MODE else ADDRESS
    blocks = random.randint(1, sectors_max // tb.block_sectors)
    lba = random.choice((0, random.randrange(tb.namespace_blocks - blocks), tb.namespace_blocks - blocks))
    address = random.getrandbits(50) << 2
    kind = random.random()
    if kind < 0.08:
        source = random.choice((STREAM, ADDRESS))
    elif kind < 0.12:
        blocks = 0
    elif kind < 0.20:
        lba = random.choice((tb.namespace_blocks - blocks + 1, tb.namespace_blocks, 1 << 40, (1 << 64) - blocks))
    elif kind < 0.25:
        address += random.randint(1, 3)
    elif kind < 0.35:
        op, source = random.choice(((FLUSH, STREAM), (READ, MAILBOX), (WRITE, MAILBOX), (DEALLOCATE, ADDRESS)))
    return Request(op, source, lba, blocks, tag, address, random.getrandbits(1), random.getrandbits(1))


def some_good_request(op: int, blocks: int, tag: int) -> Request:
    return Request(op, STREAM if STREAM_MODE else ADDRESS, random.randrange(1 << 20), blocks, tag, 4096)


@cocotb.test(timeout_time=600, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.4], block_4096=[False, True])
async def requests_of_all_kinds(dut, stall, block_4096):
    most = min(RING_SECTORS, 24) if STREAM_MODE else 24
    command_sectors_max = random.choice((8, most // 8 * 8)) if block_4096 else random.randint(1, most)
    tb = Testbench(dut, stall, block_4096=block_4096, blocks=random.choice((1 << 20, (1 << 40) - 1)),
                  command_sectors_max=command_sectors_max, error_share=0.1)
    await tb.start()
    cocotb.start_soon(tb.pages())
    for tag in range(10 + 30 * WIDTH // 512):
        tb.ask(some_request(tb, tag, sectors_max=3 * command_sectors_max if not block_4096 else 40))
    await tb.finish()
    assert tb.page_accesses > 10


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_request_waits_for_the_drive(dut):
    tb = Testbench(dut, 0.0, ready=False)
    await tb.start()
    for tag in range(3):
        tb.ask(some_good_request(random.choice((READ, WRITE)), 8, tag))
    await tb.cycles(100)
    assert not tb.issued and len(tb.expected_issues) == 3 and tb.data.taken == 0
    dut.drive_ready_i.value = 1
    await tb.finish()


@cocotb.test(timeout_time=500, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.4])
async def without_a_drive_each_request_ends_and_moves_its_beats(dut, stall):
    """The namespace's size is unknown: nothing is beyond it, but an invalid request is still invalid."""
    tb = Testbench(dut, stall, ready=False, gone=True, blocks=0, command_sectors_max=0)
    await tb.start()
    for tag in range(12):
        tb.ask(some_good_request(random.choice((READ, WRITE)), random.randint(0, 40), tag))
    await tb.finish()


@cocotb.test(timeout_time=200, timeout_unit="us", skip=not STREAM_MODE)
async def a_side_command_passes_a_stream_that_stands(dut):
    tb = Testbench(dut, 0.0)
    await tb.start()
    tb.ask(some_good_request(WRITE, 8, 1))
    tb.data.stall.share, held = 1.0, tb.data.words  # the data do not come
    tb.ask(Request(FLUSH, STREAM, 0, 0, 2))
    await tb.cycles(100)
    assert held and [word["tag"] for word in tb.side.words] == [2] and not tb.response.words
    tb.data.stall.share = 0.0
    await tb.finish()


async def longest_pause(dut, valid, ready, beats: int) -> int:
    """The longest run of cycles in which no beat moved, between the first of `beats` beats and the last."""
    pause, longest, seen = 0, 0, 0
    while seen < beats:
        await ReadOnly()
        if valid.value and ready.value:
            longest, pause, seen = max(longest, pause if seen else 0), 0, seen + 1
        else:
            pause += 1
        await RisingEdge(dut.clk_i)
    return longest


@cocotb.test(timeout_time=200, timeout_unit="us", skip=not STREAM_MODE)
@cocotb.parametrize(sectors=[2, 6])
async def at_most_two_cycles_between_commands(dut, sectors):
    """Space for one request and for two is granted as long as there is any."""
    tb = Testbench(dut, 0.0, command_sectors_max=2)
    await tb.start()
    for op, valid, ready in ((WRITE, dut.data_valid_i, dut.data_ready_o), (READ, dut.out_valid_o, dut.out_ready_i)):
        tb.hold = True
        watch = cocotb.start_soon(longest_pause(dut, valid, ready, 6 * SECTOR_BEATS))
        for tag in range(6 // sectors):
            tb.ask(some_good_request(op, sectors, tag))
        while len(tb.issued) < 3 or not all(command.done for command in tb.issued):
            await RisingEdge(dut.clk_i)
        tb.hold = False
        assert await watch <= 2
        while tb.issued:
            await RisingEdge(dut.clk_i)
    await tb.finish()
