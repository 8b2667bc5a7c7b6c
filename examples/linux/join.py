#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins the clips of several recorders into one file of chunks (spate/chunk.h), in order, and reports what is missing.

    spate extract one.img clip.raw one.raw
    spate extract two.img clip.raw two.raw
    python3 join.py joined.raw one.raw two.raw

If one stream was distributed over several recorders, its chunks are ordered by their numbers. Clips of several streams
are ordered by the times in the chunk headers, so the recorders' clocks must agree. A chunk that two recorders have is
written once.

This program checks the headers, not the data: `spate verify` checks the data on the volume.
Exit status: 0 nothing is missing; 1 something is missing, or a file cannot be read; 2 the clips cannot be joined.
"""

import argparse
import collections
import dataclasses
import pathlib
import struct
import sys

HEADER = struct.Struct("<8s16sQIIQQ4xI")  # magic, stream, number, bytes, CRC of the data, lost pieces, time, CRC of the header
MAGIC = b"SPATECHK"
COPY_BYTES = 16 << 20


def crc_table() -> list[int]:
    """The CRC-32C (Castagnoli) of each byte value."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


@dataclasses.dataclass(frozen=True)
class Chunk:
    stream: bytes
    number: int
    time_ns: int
    clip: pathlib.Path
    offset_bytes: int
    bytes: int
    data_crc: int
    lost_pieces: int  # how many pieces the source has lost before this chunk; chunk numbers do not count them


def chunk_at(raw: bytes, clip: pathlib.Path, offset_bytes: int) -> Chunk | None:
    """Returns None if `raw` is not a header, or a damaged one."""
    if len(raw) < HEADER.size or raw[:8] != MAGIC:
        return None
    _, stream, number, length, data_crc, lost_pieces, time_ns, crc = HEADER.unpack(raw)
    if crc != crc32c(raw[:60]) or length < HEADER.size:
        return None
    return Chunk(stream, number, time_ns, clip, offset_bytes, length, data_crc, lost_pieces)


class Report:
    """Prints a line for each defect, and counts the lines."""

    def __init__(self):
        self.lines = 0

    def say(self, text: str) -> None:
        print(text)
        self.lines += 1


def chunks_of(clip: pathlib.Path, report: Report) -> list[Chunk]:
    """Returns the chunks of a clip. All chunks but the last have one size, so the header after a damaged one is found
    one chunk further on."""
    chunks: list[Chunk] = []
    at, end = 0, clip.stat().st_size
    with open(clip, "rb") as file:
        while at < end:
            file.seek(at)
            chunk = chunk_at(file.read(HEADER.size), clip, at)
            if chunk is not None and at + chunk.bytes <= end:
                chunks.append(chunk)
                at += chunk.bytes
                continue
            what = "a header is damaged" if chunk is None else f"chunk {chunk.number} is cut short"
            report.say(f"{clip}: at byte {at}: {what}")
            if not chunks:
                raise ValueError(f"{clip} does not begin with a chunk: only recordings of chunks can be joined")
            at += chunks[0].bytes
    return chunks


def without_duplicates(chunks: list[Chunk], report: Report) -> list[Chunk]:
    """Keeps one copy of each chunk that several recorders have."""
    kept: dict[tuple[bytes, int], Chunk] = {}
    for chunk in chunks:
        first = kept.setdefault((chunk.stream, chunk.number), chunk)
        if (first.bytes, first.data_crc) != (chunk.bytes, chunk.data_crc):
            report.say(f"{chunk.clip}: chunk {chunk.number} differs from the one in {first.clip}, which is used")
    return list(kept.values())


def ordered(chunks: list[Chunk]) -> list[Chunk]:
    if len({chunk.stream for chunk in chunks}) == 1:
        return sorted(chunks, key=lambda chunk: chunk.number)
    for chunk in chunks:
        if chunk.time_ns == 0:
            raise ValueError(f"{chunk.clip}: chunk {chunk.number} has no time, so clips of several streams cannot be ordered")
    return sorted(chunks, key=lambda chunk: (chunk.time_ns, chunk.stream, chunk.number))


def check_streams(chunks: list[Chunk], report: Report) -> None:
    """Reports the numbers that are missing between a stream's first and last chunk, and times that go back."""
    streams = collections.defaultdict(list)
    for chunk in chunks:
        streams[chunk.stream].append(chunk)
    for stream, own in streams.items():
        own.sort(key=lambda chunk: chunk.number)
        name = f"stream {stream.hex()}"
        print(f"{name}: {len(own)} chunks, numbers {own[0].number} to {own[-1].number}")
        for before, after in zip(own, own[1:]):
            if after.number != before.number + 1:
                report.say(f"{name}: numbers {before.number + 1} to {after.number - 1} are missing")
            if after.lost_pieces > before.lost_pieces:
                report.say(f"{name}: the source lost {after.lost_pieces - before.lost_pieces} pieces before chunk {after.number}")
            if 0 < after.time_ns < before.time_ns:
                report.say(f"{name}: the clock went back by {before.time_ns - after.time_ns} ns before chunk {after.number}")


def write(chunks: list[Chunk], to: pathlib.Path) -> None:
    files = {clip: open(clip, "rb") for clip in {chunk.clip for chunk in chunks}}
    try:
        with open(to, "xb") as out:
            for chunk in chunks:
                files[chunk.clip].seek(chunk.offset_bytes)
                left = chunk.bytes
                while left > 0:
                    data = files[chunk.clip].read(min(left, COPY_BYTES))
                    if not data:
                        raise OSError(f"{chunk.clip} became shorter while it was read")
                    out.write(data)
                    left -= len(data)
    finally:
        for file in files.values():
            file.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="Joins clips of chunks into one file, and reports what is missing.")
    parser.add_argument("joined", type=pathlib.Path, help="the file to make; it must not exist yet")
    parser.add_argument("clips", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    report = Report()
    try:
        found = [chunk for clip in arguments.clips for chunk in chunks_of(clip, report)]
        if not found:
            raise ValueError("the clips are empty")
        chunks = ordered(without_duplicates(found, report))
        check_streams(chunks, report)
        write(chunks, arguments.joined)
    except (ValueError, OSError) as error:
        print(f"join: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    print(f"{arguments.joined}: {len(chunks)} chunks, {sum(chunk.bytes for chunk in chunks)} bytes")
    return 1 if report.lines else 0


if __name__ == "__main__":
    sys.exit(main())
