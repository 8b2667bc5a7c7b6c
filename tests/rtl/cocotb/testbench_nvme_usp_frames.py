# SPDX-License-Identifier: Apache-2.0
"""Writes that end with the stream's tlast, through the complete spate_nvme_usp to the drive's media: clips that end anywhere, writes that
are abandoned, and everything that may happen meanwhile."""

import random

import cocotb
from cocotb.triggers import ClockCycles
from spate_sim.controller import DNR
from spate_sim.nvme import MEDIA_ERROR

from core_drive import OPS
from nvme_usp_bench import BLOCK, BLOCKS, GONE, READY, SLOW_NS, STATUS, WRITTEN, Request, Testbench

FRAME, STATUS_GONE, INVALID, BUSY = 3, 0x8004, 0x8001, 0x8006
PARAMETERS, CONTROL, COUNTERS, FRAMES, WRITE_FRAMES = 0x08, 0x10, 0xC0, 0x100, 1 << 30
PIECE = 65536 // BLOCK
FORMAT_NVM = 0x80


class FramesTestbench(Testbench):
    frames = 0  # beats with tlast

    def open(self, lba: int, most: int) -> Request:
        """The command of a framed write. The data follow."""
        return self.give("write", lba, source=FRAME, blocks=most)

    def give(self, op: str, lba: int = 0, data: bytes = b"", fua: int = 0, source: int = 0, blocks: int | None = None) -> Request:
        request = Request(op, lba, len(data) // BLOCK if blocks is None else blocks, data)
        self.next_tag += 1
        self.tags[self.next_tag] = request
        if blocks is None:
            self.asked.append(request)
        self.commands.put(op=OPS[op], source=source, fua=fua, tag=self.next_tag, lba=lba, blocks=request.blocks, address=0)
        return request

    def put(self, data: bytes, keep: bytes | None = None, last: bool | None = False) -> None:
        super().put(data, keep, last)
        self.frames += bool(last)

    def end(self, data: bytes) -> bytes:
        """The last bytes of a frame, any number: the rest of the last beat is not kept."""
        rest = -len(data) % self.beat
        self.put(data + random.randbytes(rest), bytes([1]) * len(data) + bytes(rest), last=True)
        return data

    def null(self) -> None:
        self.put(random.randbytes(self.beat), bytes(self.beat), last=True)

    def expect(self, request: Request, data: bytes, status: int = 0) -> None:
        """`data`, then zeros up to a multiple of 64 KiB or the most blocks of the request."""
        wanted = -(-len(data) // BLOCK)
        blocks = min(request.blocks, -(-(request.lba + wanted) // PIECE) * PIECE - request.lba) if wanted else 0
        assert (request.status, request.done) == (status, blocks)
        stored = b"".join(self.drive.media[request.lba + i] for i in range(blocks))
        assert stored == data.ljust(blocks * BLOCK, b"\0"), f"what is stored at {request.lba} is not the frame and zeros"
        assert request.done == request.blocks or request.lba + blocks not in self.drive.media


def case(**more) -> dict:
    return {"timeout_time": 8, "timeout_unit": "ms"} | more


@cocotb.test(**case())
async def clips_end_anywhere(dut):
    tb = FramesTestbench(dut, 0.1)
    await tb.start()
    assert await tb.registers.read_dword(PARAMETERS) & WRITE_FRAMES
    clips, lba = [], 5
    for size in (1, 31, 511, 512, 513, 5 * BLOCK + 77, 65536 - 5 * BLOCK, 65536 + 1000):
        request = tb.open(lba, 3 * PIECE)
        clips.append((request, tb.end(random.randbytes(size))))
        lba += 3 * PIECE + random.randrange(40)
    flush = tb.give("flush")
    whole = tb.open(lba, 3)  # no tlast: it ends as a write does
    data = random.randbytes(3 * BLOCK)
    tb.put(data)
    await tb.finish()
    for request, clip in clips:
        tb.expect(request, clip)
    tb.expect(whole, data)
    assert flush.status == 0
    assert await tb.registers.read_dword(FRAMES) == tb.frames == len(clips)
    beats = sum(-(-len(clip) // tb.beat) for _, clip in clips) + len(data) // tb.beat
    assert await tb.registers.read_dword(COUNTERS + 4 * 11) == beats, "zeros count as beats of the stream"
    for request, clip in clips[4:6]:
        blocks = min(12, request.done)
        tb.give("read", request.lba, clip[:blocks * BLOCK].ljust(blocks * BLOCK, b"\0"))
    await tb.finish()
    assert not any((await tb.counts()).values())


@cocotb.test(**case())
async def a_write_is_abandoned_at_any_point(dut):
    tb = FramesTestbench(dut)
    await tb.start()
    begun, lba = [], 3
    # before the first beat, within a block, at a block's end, at a piece's end, in the piece after
    for size in (0, 3 * tb.beat, 2 * BLOCK, 65536 - 3 * BLOCK, 65536 + tb.beat):
        request, data = tb.open(lba, 1000), random.randbytes(size)
        tb.put(data)
        tb.null()
        begun.append((request, data))
        lba += 10 * PIECE
    await tb.finish()
    for request, data in begun:
        tb.expect(request, data)
    assert begun[0][0].done == 0 and await tb.registers.read_dword(FRAMES) == len(begun)


@cocotb.test(**case())
async def plain_writes_keep_what_is_kept_and_count_frames(dut):
    tb = FramesTestbench(dut)
    await tb.start()
    data, keep = random.randbytes(4 * BLOCK), bytes(random.getrandbits(1) for _ in range(4 * BLOCK))
    request = tb.give("write", 900, bytes(a * b for a, b in zip(data, keep)))
    tb.put(data[:2 * BLOCK], keep[:2 * BLOCK], last=True)
    tb.put(data[2 * BLOCK:], keep[2 * BLOCK:], last=True)
    frame = tb.open(2000, 10)
    clip = tb.end(random.randbytes(700))
    await tb.finish()
    tb.expect(frame, clip)
    assert request.status == 0 and await tb.registers.read_dword(FRAMES) == 3


@cocotb.test(**case())
async def an_error_of_the_drive_ends_the_count(dut):
    tb = FramesTestbench(dut)
    await tb.start()
    request = tb.open(0, 4 * PIECE)
    tb.drive.bad_blocks[PIECE] = [MEDIA_ERROR | DNR, 1 << 30]
    clip = tb.end(random.randbytes(3 * 65536 - 100))
    after = tb.open(10 * PIECE, 9)
    more = tb.end(random.randbytes(100))
    await tb.finish()
    assert (request.status & 0x7FF, request.done) == (MEDIA_ERROR & 0x7FF, PIECE)
    assert b"".join(tb.drive.media[i] for i in range(PIECE)) == clip[:65536]
    tb.expect(after, more)


@cocotb.test(**case())
async def the_drive_goes_in_a_frame_and_returns(dut):
    tb = FramesTestbench(dut)
    await tb.start()
    request = tb.open(0, 10000)
    tb.put(random.randbytes(65536 + 8 * BLOCK))
    while await tb.registers.read_dword(WRITTEN) < PIECE:
        await tb.drive.cycles(64)
    await tb.registers.write_dword(CONTROL, 0)
    while not await tb.registers.read_dword(STATUS) & GONE:
        await tb.drive.cycles(64)
    tb.put(random.randbytes(65536))
    await tb.registers.write_dword(CONTROL, 1)
    while await tb.registers.read_dword(STATUS) & GONE:
        await tb.drive.cycles(64)
    await tb.ready()
    before = dict(tb.drive.media)
    tb.put(random.randbytes(2 * 65536))
    tb.end(random.randbytes(100))
    after = tb.open(50 * PIECE, 20)
    clip = tb.end(random.randbytes(5000))
    await tb.finish()
    assert request.status == STATUS_GONE and request.done >= PIECE
    tb.expect(after, clip)
    assert {lba: data for lba, data in tb.drive.media.items() if lba < 50 * PIECE} == before, "the frame continued after restart"


@cocotb.test(**case())
async def a_link_that_goes_in_a_frame_loses_nothing(dut):
    tb = FramesTestbench(dut)
    drive = tb.drive
    drive.way, drive.latency_ns = "reset", SLOW_NS
    await tb.start()
    frames = []
    for index in range(3):
        request = tb.open(index * 3 * PIECE + 7, 2 * PIECE)
        frames.append((request, tb.end(random.randbytes(65536 + index * 777))))
    await drive.until(lambda: len(drive.in_flight) > 2, what="commands in flight")
    drive.drop_link(random.randint(40, 1500))
    await tb.finish(800000)
    for request, clip in frames:
        tb.expect(request, clip)
    await tb.expect_counts(recovery=1, command_error=0)


def formats(tb: FramesTestbench) -> int:
    return sum(sqe[0] & 0xFF == FORMAT_NVM for sqe in tb.drive.admin_log)


async def between_two_pieces(tb: FramesTestbench) -> tuple[Request, bytes]:
    """A frame whose first piece was written, and whose stream pauses."""
    request, data = tb.open(0, 10 * PIECE), random.randbytes(65536)
    tb.put(data)
    while await tb.registers.read_dword(WRITTEN) < PIECE:
        await tb.drive.cycles(64)
    return request, data


@cocotb.test(**case())
@cocotb.parametrize(op=["format", "shutdown"])
async def a_format_waits_for_the_end_of_a_frame(dut, op):
    tb = FramesTestbench(dut)
    await tb.start()
    request, data = await between_two_pieces(tb)
    after = tb.give(op)
    await tb.drive.cycles(2000)
    assert not formats(tb) and not tb.responses.words and await tb.registers.read_dword(STATUS) & READY, f"{op} began in the frame"
    data += tb.end(random.randbytes(65536 + 100))
    await tb.finish()
    tb.expect(request, data)
    assert after.status == 0 and formats(tb) == (op == "format")
    assert bool(await tb.registers.read_dword(STATUS) & READY) == (op == "format")


@cocotb.test(**case())
async def a_frame_that_does_not_end_stops_a_format_with_a_status(dut):
    """As a plain write does whose data do not come. The frame continues."""
    tb = FramesTestbench(dut)
    await tb.start()
    request, data = await between_two_pieces(tb)
    after = tb.give("format")
    await tb.drive.until(lambda: tb.responses.words, 400000, "an answer to the format")
    assert tb.responses.words[0]["status"] == BUSY and not formats(tb)
    data += tb.end(random.randbytes(700))
    await tb.finish()
    tb.expect(request, data)
    plain = tb.give("write", 20 * PIECE, random.randbytes(4 * BLOCK))
    tb.put(plain.data[:2 * BLOCK])
    again = tb.give("format")
    await tb.drive.until(lambda: tb.responses.words, 400000, "an answer to the format")
    assert tb.responses.words[0]["status"] == BUSY and not formats(tb)
    tb.put(plain.data[2 * BLOCK:])
    await tb.finish()
    assert (after.status, plain.status, again.status) == (BUSY, 0, BUSY)


@cocotb.test(**case())
async def after_a_reset_of_the_application_a_null_beat_ends_the_frame(dut):
    tb = FramesTestbench(dut)
    await tb.start()
    tb.open(0, 1000)
    tb.put(random.randbytes(3 * BLOCK))
    while tb.data_in.words or tb.commands.words:
        await ClockCycles(dut.app_clk, 1)
    await ClockCycles(dut.app_clk, 200)
    dut.app_rst_n.value = 0
    await ClockCycles(dut.app_clk, 20)
    dut.app_rst_n.value = 1
    await ClockCycles(dut.app_clk, 20)
    tb.null()
    after = tb.open(10 * PIECE, 9)
    clip = tb.end(random.randbytes(700))
    await tb.finish()
    tb.expect(after, clip)
    assert PIECE - 1 in tb.drive.media and PIECE not in tb.drive.media


@cocotb.test(**case())
async def the_registers_write_frames_too(dut):
    tb = FramesTestbench(dut)
    await tb.start()
    clip = tb.end(random.randbytes(1300))
    assert await tb.command("write", lba=40, blocks=500, source=FRAME) == (0, PIECE - 40)
    stored = b"".join(tb.drive.media[40 + i] for i in range(PIECE - 40))
    assert stored == clip.ljust((PIECE - 40) * BLOCK, b"\0")
    assert (await tb.command("read", lba=40, blocks=5, source=FRAME))[0] == INVALID
    assert (await tb.command("write", lba=40, blocks=0, source=FRAME))[0] == INVALID
    request = tb.open(BLOCKS - 2, 100)  # beyond the namespace's end
    tb.end(random.randbytes(300))
    await tb.finish()
    assert request.status == 0x8002 and request.done == 0
    assert await tb.registers.read_dword(STATUS) & READY
