# SPDX-License-Identifier: Apache-2.0
"""spate_write_frames before the real splitter: at which rate beats move, and that both count the same beats while drives with blocks
of different sizes come and go."""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Sink, Source

import records

WRITE, FRAME, GONE = 1, 3, 0x8004
BEAT_BYTES, PIECE_BYTES, BLOCKS = 64, 4096, 1 << 30


class Testbench:
    def __init__(self, dut, stall: float = 0.0):
        self.dut, self.drive = dut, {"blocks": BLOCKS, "command_sectors_max": 16}
        Clock(dut.clk_i, 4, unit="ns").start()
        dut.rst_ni.value, dut.room_i.value = 0, 1
        self.show(ready=1)
        clock = dut.clk_i, dut.rst_ni
        self.commands = Source(*clock, dut.command_valid_i, dut.command_ready_o, {"command": dut.command_i}, stall)
        self.data = Source(*clock, dut.data_valid_i, dut.data_ready_o,
                           {"data": dut.data_i, "last": dut.data_last_i, "null": dut.data_null_i}, stall)
        self.responses = Sink(*clock, dut.response_valid_o, dut.response_ready_i, {"response": dut.response_o}, stall)
        self.issued = Sink(*clock, dut.issue_valid_o, dut.issue_ready_i, {"issue": dut.issue_o}, stall / 2)
        self.retired = Source(*clock, dut.retire_valid_i, dut.retire_ready_o, {"response": dut.retire_i}, stall)
        self.fills: list[int] = []  # the cycles of the beats
        self.cycle = 0
        for task in (self.slots(), self.watch()):
            cocotb.start_soon(task)

    def show(self, **fields) -> None:
        self.drive |= fields
        records.put(self.dut.drive_i, "drive_t", **self.drive)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    async def start(self) -> None:
        await self.cycles(4)
        self.dut.rst_ni.value = 1

    async def watch(self) -> None:
        self.dut.fill_ready_i.value = 1
        while True:
            await ReadOnly()
            if self.dut.fill_valid_o.value and self.dut.fill_ready_i.value:
                self.fills.append(self.cycle)
            await RisingEdge(self.dut.clk_i)
            self.cycle += 1

    async def slots(self) -> None:
        status, done, queue = 0, 0, deque()
        while True:
            await RisingEdge(self.dut.clk_i)
            while self.issued.words:
                issue = records.unpack("slot_issue_t", self.issued.words.popleft()["issue"])
                if status == 0:
                    status, done = issue.status, done + (0 if issue.status else issue.sectors // (8 if issue.block_4096 else 1))
                if issue.last:
                    queue.append((self.cycle + random.randint(2, 60), records.pack(
                        "response_t", from_registers=issue.from_registers, tag=issue.tag, status=status, done=done)))
                    status = done = 0
            while queue and queue[0][0] <= self.cycle:
                self.retired.put(response=queue.popleft()[1])

    def frame(self, tag: int, lba: int, blocks: int, beats: int) -> None:
        self.commands.put(command=records.pack("command_t", tag=tag, op=WRITE, source=FRAME, lba=lba, blocks=blocks))
        for beat in range(beats):
            self.data.put(data=beat, last=int(beat == beats - 1), null=0)

    async def answers(self, count: int) -> list:
        for _ in range(40000):
            if len(self.responses.words) >= count:
                break
            await RisingEdge(self.dut.clk_i)
        assert len(self.responses.words) >= count, f"{len(self.responses.words)} of {count} responses came"
        return [records.unpack("response_t", self.responses.words.popleft()["response"]) for _ in range(count)]


@cocotb.test(timeout_time=400, timeout_unit="us")
@cocotb.parametrize(blocks=[1, 2, 8, 40])
async def two_cycles_are_lost_between_commands_and_no_more(dut, blocks):
    """Frames that end a beat before the end of their last block, back to back. Commands have 16 sectors at most, pieces 8."""
    tb = Testbench(dut)
    await tb.start()
    beats_of_block, piece, count = 512 // BEAT_BYTES, PIECE_BYTES // 512, 24
    for tag in range(count):
        first = 1000 * piece * tag + -blocks % piece
        tb.frame(tag, first, blocks, blocks * beats_of_block - 1)
    assert [(answer.tag, answer.status, answer.done) for answer in await tb.answers(count)] == [(tag, 0, blocks) for tag in range(count)]
    beats, pieces = count * blocks * beats_of_block, count * -(-blocks // piece)
    cycles = tb.fills[-1] - tb.fills[0] + 1
    assert len(tb.fills) == beats
    assert cycles <= beats + 2 * pieces + 8, f"{beats} beats in {pieces} commands took {cycles} cycles"
    gaps = [b - a - 1 for a, b in zip(tb.fills, tb.fills[1:])]
    assert max(gaps[beats // 4:]) <= 2, f"{max(gaps[beats // 4:])} cycles without a beat"


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def drives_with_other_blocks_come_and_go(dut, stall):
    """A drive is ready, recovers, and is gone, for any number of cycles, the shortest too. The next one has another block size from some
    cycles after `gone` on. Each frame takes its data, and the last one, which nothing disturbs, is written as it should be."""
    tb = Testbench(dut, stall)
    await tb.start()
    rounds, tag = 60, 0
    for _ in range(rounds):
        for _ in range(random.randint(1, 4)):
            blocks = random.randint(1, 40)
            tb.frame(tag, random.randint(0, 1000), blocks, random.randint(1, 8 * blocks))
            tag += 1
        await tb.cycles(random.choice((0, 1, 3, random.randint(0, 60), random.randint(0, 300))))
        tb.show(ready=0)
        await tb.cycles(random.randint(2, 6))
        if random.random() < 0.7:
            tb.dut.room_i.value = random.getrandbits(1)  # the splitter stands meanwhile, perhaps until the next drive is ready
            tb.show(gone=1)
            await tb.cycles(random.choice((1, 2, 4, 50)))
            tb.show(gone=0)
            await tb.cycles(random.randint(4, 30))
            tb.show(block_4096=random.getrandbits(1))
            await tb.cycles(4)
        tb.show(ready=1)
        await tb.cycles(random.randint(4, 20))
        tb.dut.room_i.value = 1
    answers = await tb.answers(tag)
    assert [answer.tag for answer in answers] == list(range(tag)) and {answer.status for answer in answers} == {0, GONE}
    assert not tb.data.words, f"{len(tb.data.words)} beats were not taken"
    tb.show(block_4096=0)  # nothing is in the core
    tb.fills.clear()
    tb.frame(tag, 5, 30, 100)
    answer, = await tb.answers(1)
    assert (answer.tag, answer.status, answer.done) == (tag, 0, 19) and len(tb.fills) == 19 * 8
