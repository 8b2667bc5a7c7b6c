# SPDX-License-Identifier: Apache-2.0
"""spate_write_frames between a user and a model of the core: the core takes one command ahead, as the splitter does, takes exactly the
beats of the writes that it took, and answers in order. What is on the model's disk, and each response, is compared with a reference.
"""

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Source, Stall

import records

FLUSH, WRITE, READ = 0, 1, 2
STREAM, MAILBOX, FRAME = 0, 2, 3
GONE, INVALID, MEDIA = 0x8004, 0x8001, 0x0280
WIDTH = int(os.environ["DATA_WIDTH"])
PIECE_BYTES = int(os.environ["PIECE_BYTES"])
BEAT_BYTES = WIDTH // 8
ZERO = 0


class Core:
    """The core and its drive. `stall` is the share of cycles in which it pauses."""

    def __init__(self, dut, block_bytes: int, stall: float):
        self.dut, self.block_bytes, self.stall = dut, block_bytes, stall
        self.disk: dict[int, list[int]] = {}  # block: its beats, as last written
        self.commands: list = []  # those of the data lane, as they were taken
        self.bad: set[int] = set()  # blocks that cannot be written
        self.gone = False
        self.refuses = False  # each write ends with StatusInvalid and takes no beat
        self.beat_cycles: list[int] = []
        self.cycle = self.stray = 0
        self.answers: deque = deque()
        self.side: deque = deque()
        self.response_latency = 40
        dut.ready_i.value, dut.gone_i.value, dut.lost_i.value, dut.block_4096_i.value = 1, 0, 0, int(block_bytes == 4096)
        cocotb.start_soon(self.run())

    def blocks_of(self, command) -> int:
        moves = command.op == WRITE and command.source == STREAM and not self.refuses
        return command.blocks if moves else 0

    async def run(self) -> None:  # noqa: C901: one cycle of all ports
        dut, following, current, wait, pauses = self.dut, None, None, 0, [Stall(self.stall) for _ in range(4)]
        while True:
            dut.command_ready_i.value = int(following is None and not pauses[0].next())
            dut.data_ready_i.value = int(current is not None and wait == 0 and not pauses[1].next())
            dut.side_ready_i.value = int(not pauses[2].next())
            self.show_response(pauses[3].next())
            await ReadOnly()
            taken = records.unpack("command_t", int(dut.command_o.value)) if dut.command_valid_o.value and dut.command_ready_i.value else None
            beat = int(dut.data_o.value) if dut.data_valid_o.value and dut.data_ready_i.value else None
            side = records.unpack("command_t", int(dut.side_o.value)) if dut.side_valid_o.value and dut.side_ready_i.value else None
            answered = dut.response_valid_i.value and dut.response_ready_o.value
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            wait = max(0, wait - 1)
            if answered:
                self.shown.popleft()
                self.shown = None
            if side is not None:
                assert not self.side, "a side command before the response of the one before"
                self.side.append((self.cycle + random.randint(1, 60), side, 0, 0))
            if taken is not None:
                self.commands.append(taken)
                following = (self.cycle + 4, taken, self.blocks_of(taken) * self.block_bytes // BEAT_BYTES, self.gone)
            if beat is not None:
                self.beat_cycles.append(self.cycle)
                current[1].append(beat)
                if len(current[1]) == current[2]:
                    self.end(current)
                    current, wait = None, 1
            if current is None and following is not None and self.cycle >= following[0]:
                current, following, wait = [following[1], [], following[2], following[3]], None, max(wait, 1)
                if current[2] == 0:
                    self.end(current)
                    current = None

    shown = None

    def show_response(self, pause: bool) -> None:
        """A response that is shown stays until it is taken."""
        if self.shown is None and not pause:
            ready = [queue for queue in (self.answers, self.side) if queue and queue[0][0] <= self.cycle]
            self.shown = random.choice(ready) if ready else None
        self.dut.response_valid_i.value = int(self.shown is not None)
        if self.shown is not None:
            _, command, status, done = self.shown[0]
            self.dut.response_i.value = records.pack("response_t", from_registers=command.from_registers, tag=command.tag,
                                                     status=status, done=done)

    def end(self, current) -> None:
        command, beats, _, dead = current
        status, done = 0, command.blocks
        if command.source not in (STREAM, MAILBOX) or command.blocks == 0 or (self.refuses and command.op == WRITE):
            status, done = INVALID, 0
        elif dead:
            status, done = GONE, 0
        elif command.op == WRITE:
            each = self.block_bytes // BEAT_BYTES
            for block in range(command.blocks):
                if command.lba + block in self.bad and status == 0:
                    status, done = MEDIA, block
                else:
                    self.disk[command.lba + block] = beats[block * each:(block + 1) * each]
        self.answers.append((self.cycle + random.randint(1, self.response_latency), command, status, done))


class Testbench:
    def __init__(self, dut, block_bytes: int, stall: float):
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value = 0
        self.dut, self.block_bytes = dut, block_bytes
        self.core = Core(dut, block_bytes, stall)
        clock = (dut.clk_i, dut.rst_ni)
        self.commands = Source(*clock, dut.command_valid_i, dut.command_ready_o, {"command": dut.command_i}, stall)
        self.sides = Source(*clock, dut.side_valid_i, dut.side_ready_o, {"command": dut.side_i}, stall)
        self.beats = Source(*clock, dut.data_valid_i, dut.data_ready_o,
                            {"data": dut.data_i, "last": dut.data_last_i, "null": dut.data_null_i}, stall)
        self.responses: list = []
        self.expected: list = []  # of the data lane, in order
        self.sides_expected: set = set()
        self.disk: dict[int, list[int]] = {}
        self.tag = 0
        cocotb.start_soon(self.take_responses(Stall(stall)))

    async def take_responses(self, pauses: Stall) -> None:
        while True:
            self.dut.response_ready_i.value = int(not pauses.next())
            await ReadOnly()
            if self.dut.rst_ni.value and self.dut.response_valid_o.value and self.dut.response_ready_i.value:
                self.responses.append(records.unpack("response_t", int(self.dut.response_o.value)))
            await RisingEdge(self.dut.clk_i)

    async def reset(self) -> None:
        for _ in range(4):
            await RisingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    def command(self, **fields) -> int:
        self.tag = self.tag + 1 & 0xFFFF
        registers = random.getrandbits(1)
        word = records.pack("command_t", from_registers=registers, tag=self.tag, **fields)
        (self.sides if fields["op"] == FLUSH else self.commands).put(command=word)
        if fields["op"] == FLUSH:
            self.sides_expected.add((registers, self.tag))
        return registers << 16 | self.tag

    def flush(self) -> None:
        self.command(op=FLUSH)

    def read(self, blocks: int) -> None:
        self.expect(self.command(op=READ, source=STREAM, lba=5, blocks=blocks), 0, blocks)

    def expect(self, who: int, status: int, done: int) -> None:
        self.expected.append((who >> 16, who & 0xFFFF, status, done))

    def plain(self, lba: int, blocks: int) -> None:
        """A plain write. Its beats may have any `last`."""
        who = self.command(op=WRITE, source=STREAM, lba=lba, blocks=blocks)
        self.written(who, lba, [self.put_beat(random.random() < 0.1) for _ in range(blocks * self.block_beats)], blocks)

    @property
    def block_beats(self) -> int:
        return self.block_bytes // BEAT_BYTES

    def put_beat(self, last: bool, null: bool = False) -> int:
        data = 0 if null else random.getrandbits(64) << WIDTH - 64 | random.getrandbits(32) | 1
        self.beats.put(data=data, last=int(last), null=int(null))
        return data

    def frame(self, lba: int, most: int, beats: int, null: bool = False) -> None:
        """A framed write of at most `most` blocks with so many beats of data, the last one marked, or a null beat after them. With as
        many beats as fit there is no mark."""
        who = self.command(op=WRITE, source=FRAME, lba=lba, blocks=most, fua=random.getrandbits(1))
        full = beats == most * self.block_beats
        data = [self.put_beat(not null and not full and i == beats - 1) for i in range(beats)]
        if null:
            self.put_beat(True, null=True)
        piece, wanted = PIECE_BYTES // self.block_bytes, -(-beats // self.block_beats)
        covered = min(most, -(-(lba + wanted) // piece) * piece - lba) if wanted else 0
        self.written(who, lba, data + [ZERO] * (covered * self.block_beats - beats), covered)

    def written(self, who: int, lba: int, data: list[int], blocks: int) -> None:
        good = 0
        while good < blocks and lba + good not in self.core.bad:
            good += 1
        for block in range(blocks):
            self.disk[lba + block] = data[block * self.block_beats:(block + 1) * self.block_beats]
        self.expect(who, 0 if good == blocks else MEDIA, good)

    async def done(self, cycles: int = 60000) -> None:
        dut = self.dut
        for _ in range(cycles):
            if len(self.responses) == len(self.expected) + len(self.sides_expected) and not self.beats.words:
                break
            await RisingEdge(dut.clk_i)
        for _ in range(100):
            await RisingEdge(dut.clk_i)
        sides = [(r.from_registers, r.tag) for r in self.responses if (r.from_registers, r.tag) in self.sides_expected]
        answers = [(r.from_registers, r.tag, r.status, r.done) for r in self.responses
                 if (r.from_registers, r.tag) not in self.sides_expected]
        assert answers == self.expected, next((a, b) for a, b in zip(answers + [None] * 9, self.expected + [None] * 9) if a != b)
        assert sorted(sides) == sorted(self.sides_expected)
        assert not self.beats.words, f"{len(self.beats.words)} beats were not taken"

    def same_disk(self) -> None:
        for block, beats in self.disk.items():
            if block not in self.core.bad:
                assert self.core.disk.get(block) == beats, f"block {block}"
        assert set(self.core.disk) <= set(self.disk)


async def start(dut, block_bytes: int, stall: float) -> Testbench:
    tb = Testbench(dut, block_bytes, stall)
    await tb.reset()
    return tb


def anything(tb: Testbench, lba: int) -> int:
    """A random command; returns the first block behind it."""
    kind, piece = random.random(), PIECE_BYTES // tb.block_bytes
    blocks = random.choice((1, 2, random.randint(1, 3 * piece + 1)))
    if kind < 0.15:
        tb.plain(lba, blocks)
    elif kind < 0.2:
        tb.read(blocks)
    else:
        most = blocks * tb.block_beats
        beats = random.choice((0, 1, most - 1, most, most // 2, random.randint(0, most)))
        tb.frame(lba, blocks, beats, null=beats == 0 or (beats < most and random.random() < 0.3))
    if random.random() < 0.2:
        tb.flush()
    return lba + blocks + random.randint(0, piece)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(block_bytes=[512, 4096], stall=[0.0, 0.5])
async def each_command_is_answered_and_each_beat_is_written(dut, block_bytes, stall):
    tb = await start(dut, block_bytes, stall)
    tb.core.bad = {random.randint(0, 2000) for _ in range(60)}
    lba = random.randint(0, 9)
    for _ in range(80 if WIDTH == 512 else 25):
        lba = anything(tb, lba)
    await tb.done()
    tb.same_disk()
    piece = PIECE_BYTES // block_bytes
    for command in tb.core.commands:
        if command.op == WRITE and command.tag == 0 and command.blocks > piece:
            return  # plain writes pass whole
    assert WIDTH != 512, "no plain write was longer than a piece"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def pieces_end_at_multiples_of_a_piece(dut):
    tb = await start(dut, 512, 0.3)
    piece = PIECE_BYTES // 512
    tb.frame(3, 5 * piece, 4 * piece * tb.block_beats + 1)
    await tb.done()
    tb.same_disk()
    assert [(c.lba, c.blocks) for c in tb.core.commands] == [(3, piece - 3)] + [(i * piece, piece) for i in range(1, 5)]


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(blocks=[1, 3])
async def frames_follow_each_other_at_full_rate(dut, blocks):
    """Frames of one piece each, back to back, and frames of many pieces. The core pauses two cycles between commands: nothing else may."""
    tb = await start(dut, 512, 0.0)
    tb.core.response_latency = 1000  # no frame waits for the response of the one before
    tb.core.beat_cycles.clear()
    piece, count = PIECE_BYTES // 512, 14  # fewer than may be in the core
    for index in range(count):
        tb.frame(index * piece * 4 + piece - blocks, blocks, blocks * tb.block_beats - 1)
    await tb.done()
    cycles, beats = tb.core.beat_cycles[-1] - tb.core.beat_cycles[0] + 1, count * blocks * tb.block_beats
    assert len(tb.core.beat_cycles) == beats
    assert cycles <= beats + 2 * count, f"{beats} beats of {count} frames took {cycles} cycles"
    tb.core.beat_cycles.clear()
    tb.frame(piece * 1000, 10 * piece, 10 * piece * tb.block_beats - 1)
    await tb.done()
    cycles, beats = tb.core.beat_cycles[-1] - tb.core.beat_cycles[0] + 1, 10 * piece * tb.block_beats
    assert cycles <= beats + 2 * 10 + 8, f"{beats} beats of 10 pieces took {cycles} cycles"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def commands_wait_for_the_end_of_a_frame_and_a_flush_does_not(dut):
    tb = await start(dut, 512, 0.0)
    who = tb.command(op=WRITE, source=FRAME, lba=0, blocks=100)
    first = [tb.put_beat(False) for _ in range(12)]
    tb.plain(500, 1)
    plain = [tb.beats.words.pop() for _ in range(tb.block_beats)][::-1]
    tb.flush()
    for _ in range(300):
        await RisingEdge(dut.clk_i)
    assert [c.lba for c in tb.core.commands] == [0], "a command came between the pieces of a frame"
    assert len(tb.responses) == 1, "the flush waited for the frame"
    last = tb.put_beat(True)
    tb.beats.words.extend(plain)
    plain_expected = tb.expected.pop()
    blocks = PIECE_BYTES // 512
    tb.written(who, 0, first + [last] + [ZERO] * (blocks * tb.block_beats - 13), blocks)
    tb.expected.append(plain_expected)
    await tb.done()
    tb.same_disk()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_frame_waits_for_the_plain_writes_before_it(dut):
    tb = await start(dut, 512, 0.0)
    tb.core.response_latency = 400
    for index in range(6):
        tb.plain(index * 100, 2)
        tb.frame(index * 100 + 50, 9, 11)
    await tb.done()
    tb.same_disk()


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(entered=[0, 5, 40, 200], other=[512, 4096])
async def a_frame_whose_drive_goes_ends_with_its_data(dut, entered, other):
    """The drive goes after some beats, and another one with blocks of another size comes. No later piece reaches it. The frame after
    this one does."""
    tb = await start(dut, 512, 0.0)
    who = tb.command(op=WRITE, source=FRAME, lba=1, blocks=10000)
    for _ in range(entered):
        tb.put_beat(False)
    for _ in range(entered + 60):
        await RisingEdge(dut.clk_i)
    before = len(tb.core.commands)
    tb.core.gone = True
    dut.ready_i.value, dut.gone_i.value, dut.lost_i.value = 0, 1, 1
    for _ in range(40):
        await RisingEdge(dut.clk_i)
    dut.gone_i.value = dut.lost_i.value = 0
    tb.core.gone, tb.core.block_bytes = False, other if entered == 0 else 512
    for _ in range(40):
        await RisingEdge(dut.clk_i)
    dut.ready_i.value = 1
    dut.block_4096_i.value = int(other == 4096)
    for _ in range(3 * PIECE_BYTES // BEAT_BYTES):
        tb.put_beat(False)
    tb.put_beat(True)
    good = sum(c.blocks for c in tb.core.commands[:before])
    for _ in range(600 + 5 * PIECE_BYTES // BEAT_BYTES):
        await RisingEdge(dut.clk_i)
    assert len(tb.core.commands) == before, "a piece reached the next drive"
    response, = tb.responses
    assert (response.from_registers << 16 | response.tag, response.status) == (who, GONE) and response.done <= good
    assert not tb.beats.words
    tb.responses.clear()
    tb.core.disk.clear()
    tb.block_bytes = tb.core.block_bytes = other
    tb.frame(7, 60, 100)
    await tb.done()
    tb.same_disk()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_frame_begins_only_when_there_is_a_drive_or_none_any_more(dut):
    tb = await start(dut, 512, 0.0)
    dut.ready_i.value = 0
    tb.frame(0, 4, 9)
    for _ in range(50):
        await RisingEdge(dut.clk_i)
    assert not tb.core.commands and len(tb.beats.words) == 9
    dut.gone_i.value = 1
    tb.expected[-1] = (*tb.expected[-1][:2], GONE, 0)
    await tb.done()
    assert not tb.core.commands


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.5])
async def pieces_that_are_refused_take_their_beats_all_the_same(dut, stall):
    tb = await start(dut, 512, stall)
    tb.frame(0, 3, 20)
    await tb.done()
    tb.same_disk()
    tb.core.refuses = True
    for index in range(12):
        blocks = random.randint(1, 30)
        tb.frame(random.randint(0, 9), blocks, random.randint(1, blocks * tb.block_beats - 1))
        tb.expected[-1] = (*tb.expected[-1][:2], INVALID, 0)
    await tb.done()
    tb.core.refuses = False
    tb.disk.clear()
    tb.core.disk.clear()
    tb.frame(1000, 30, 100)
    await tb.done()
    tb.same_disk()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def what_is_no_framed_write_is_refused_by_the_core(dut):
    tb = await start(dut, 512, 0.0)
    tb.expect(tb.command(op=WRITE, source=FRAME, lba=0, blocks=0), INVALID, 0)
    tb.expect(tb.command(op=READ, source=FRAME, lba=0, blocks=7), INVALID, 0)
    tb.frame(0, 3, 20)
    await tb.done()
    tb.same_disk()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def block_numbers_do_not_begin_again_at_0(dut):
    tb = await start(dut, 512, 0.0)
    piece = PIECE_BYTES // 512
    for lba in ((1 << 64) - 2, (1 << 40) - 2):
        tb.core.commands.clear()
        tb.frame(lba, 100, 3 * piece * tb.block_beats)
        tb.beats.words[-1]["last"] = 1
        await tb.done()
        assert len(tb.core.commands) == 4
        beyond = tb.core.commands if lba >> 40 else tb.core.commands[1:]
        assert all(c.lba >= 1 << 40 for c in beyond)
