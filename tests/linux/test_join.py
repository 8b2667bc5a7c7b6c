# SPDX-License-Identifier: Apache-2.0
"""examples/linux/join.py joins the clips of several recorders into one file of chunks, and reports what is missing."""

import importlib.util
import random
import struct
import subprocess
import sys

import program
import pytest

from conftest import ROOT
from spate_command import MIB, SPATE, answer, spate

JOIN = ROOT / "examples" / "linux" / "join.py"
CHUNK_BYTES = 4096
STREAM = bytes(range(16))

specification = importlib.util.spec_from_file_location("join", JOIN)
join = importlib.util.module_from_spec(specification)
sys.modules["join"] = join
specification.loader.exec_module(join)


def chunk(number, stream=STREAM, time_ns=0, size_bytes=CHUNK_BYTES, lost_pieces=0):
    """A chunk as spate_chunk_seal() and spate_chunk_stamp() make it."""
    data = random.Random(number).randbytes(size_bytes - 64)
    header = struct.pack("<8s16sQIIQQ4x", b"SPATECHK", stream, number, size_bytes, join.crc32c(data), lost_pieces, time_ns)
    return header + struct.pack("<I", join.crc32c(header)) + data


def joined(folder, *clips, status=0):
    """Returns the content of the joined file, and the program's output."""
    paths = []
    for number, content in enumerate(clips):
        paths.append(folder / f"clip{number}.raw")
        paths[-1].write_bytes(content)
    to = folder / "joined.raw"
    done = program.run(sys.executable, JOIN, to, *paths, statuses=(status,))
    return to.read_bytes() if to.exists() else None, done.stdout + done.stderr


def test_one_stream_over_several_recorders(tmp_path):
    """spate verify accepts the result, so this file's headers and CRCs are the same as the library's."""
    chunks = [chunk(number) for number in range(30)] + [chunk(30, size_bytes=1000)]
    content, said = joined(tmp_path, *(b"".join(chunks[first::3]) for first in range(3)))
    assert content == b"".join(chunks) and "missing" not in said
    spate("format", tmp_path / "rec.img", "--size", "64MiB")
    spate("record", tmp_path / "rec.img", "joined", "--from", tmp_path / "joined.raw")
    assert answer("verify", tmp_path / "rec.img", "joined")["chunks_good"] == 31


def test_missing_chunks_are_reported(tmp_path):
    chunks = [chunk(number) for number in range(20)]
    damaged = bytearray(chunks[12])
    damaged[30] ^= 1
    one, two = chunks[0:20:2], chunks[1:20:2]
    one[6] = bytes(damaged)
    del two[3:5]  # numbers 7 and 9
    content, said = joined(tmp_path, b"".join(one), b"".join(two), status=1)
    assert content == b"".join(chunks[n] for n in range(20) if n not in (7, 9, 12))
    for number in (7, 9, 12):
        assert f"numbers {number} to {number} are missing" in said
    assert f"clip0.raw: at byte {6 * CHUNK_BYTES}: a header is damaged" in said


def test_a_chunk_that_two_recorders_have_is_written_once(tmp_path):
    chunks = [chunk(number) for number in range(8)]
    content, said = joined(tmp_path, b"".join(chunks[:6]), b"".join(chunks[3:]))
    assert content == b"".join(chunks) and "differs" not in said
    other = chunk(9)[64:]
    header = struct.pack("<8s16sQII8xQ4x", b"SPATECHK", STREAM, 4, CHUNK_BYTES, join.crc32c(other), 0)
    wrong = header + struct.pack("<I", join.crc32c(header)) + other
    (tmp_path / "joined.raw").unlink()
    content, said = joined(tmp_path, b"".join(chunks), wrong, status=1)
    assert content == b"".join(chunks) and "chunk 4 differs" in said


def test_several_streams_by_their_times(tmp_path):
    second = bytes(16)
    left = [chunk(number, time_ns=1000 + 10 * number) for number in range(10)]
    right = [chunk(number, second, time_ns=1005 + 10 * number) for number in range(10)]
    content, _ = joined(tmp_path, b"".join(left), b"".join(right))
    assert content == b"".join(one for pair in zip(left, right) for one in pair)


@pytest.mark.parametrize("clips,words", [
    ((chunk(0), chunk(0, bytes(16), 7)), "chunk 0 has no time"),
    ((b"x" * CHUNK_BYTES,), "does not begin with a chunk"),
    ((b"",), "the clips are empty"),
])
def test_clips_that_cannot_be_joined(clips, words, tmp_path):
    content, said = joined(tmp_path, *clips, status=2)
    assert content is None and words in said


def test_a_clock_that_goes_back_is_reported(tmp_path):
    content, said = joined(tmp_path, chunk(0, time_ns=2000) + chunk(1, time_ns=1000), status=1)
    assert content is not None and "went back by 1000 ns" in said


def test_losses_of_the_source_are_reported(tmp_path):
    _, said = joined(tmp_path, chunk(0) + chunk(1, lost_pieces=3) + chunk(2, lost_pieces=3), status=1)
    assert said.count("the source lost 3 pieces before chunk 1") == 1


def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / "joined.raw").write_bytes(b"theirs")
    content, _ = joined(tmp_path, chunk(0), status=1)
    assert content == b"theirs"


def test_two_recorders_at_once(tmp_path):
    """The synthetic sensors of both recorders stamp their chunks with the clock of this machine."""
    images = [tmp_path / f"{name}.img" for name in ("left", "right")]
    for image in images:
        spate("format", image, "--size", "64MiB")
    words = ("clip", "--from", "synthetic", "--rate", "10MB/s", "--size", 10 * MIB)
    recorders = [subprocess.Popen([str(word) for word in (SPATE, "record", image, *words)]) for image in images]
    assert [recorder.wait(timeout=60) for recorder in recorders] == [0, 0]
    clips = []
    for image in images:
        clips.append(tmp_path / f"{image.stem}.raw")
        spate("extract", image, "clip", clips[-1])
    said = program.run(sys.executable, JOIN, tmp_path / "joined.raw", *clips).stdout
    assert "20 chunks" in said and "missing" not in said
    whole = join.chunks_of(tmp_path / "joined.raw", join.Report())
    times = [found.time_ns for found in whole]
    assert times == sorted(times) and len({found.stream for found in whole}) == 2
    # The recorders ran at the same time, so the chunks of the two streams alternate.
    assert sum(a.stream != b.stream for a, b in zip(whole, whole[1:])) > 3
