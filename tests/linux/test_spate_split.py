# SPDX-License-Identifier: Apache-2.0
"""spate record --split records into a file for each time or size, without a gap between them."""

import json
import os
import random
import re
import signal
import struct
import subprocess
import time

import pytest
import program
import ring_programs

from spate_command import DONE, LOST, MIB, SPATE, USAGE, answer, judged, spate
from spate_command import image  # noqa: F401 (a fixture)

CHUNK_TIME = 48  # of a chunk's header (spate/chunk.h): when it was made


def files(image, folder=None):
    """{path: bytes} in the order of names."""
    listed = answer("ls", image, *([folder] if folder else []))["entries"]
    return {file["path"]: file["bytes"] for file in sorted(listed, key=lambda file: file["path"]) if file["kind"] == "file"}


def contents(image, path):
    return program.run(SPATE, "extract", image, path, "-", text=False).stdout


def started(image, *words, **options):
    return ring_programs.started(SPATE, "record", image, *words, "--output-format=json", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 **options)


def fed(image, pieces, *words):
    """Records pieces of bytes that come through a pipe: (bytes, pause in seconds)."""
    with started(image, *words, stdin=subprocess.PIPE) as recorder:
        for piece, pause_s in pieces:
            recorder.stdin.buffer.write(piece)
            recorder.stdin.buffer.flush()
            time.sleep(pause_s)
        recorder.stdin.close()
        out, error = recorder.stdout.read(), recorder.stderr.read()
        assert recorder.wait(timeout=60) == DONE, error
    return json.loads(out)["files"][0]


def test_files_by_size_follow_each_other_without_a_gap(image, tmp_path):
    result = answer("record", image, "run.raw", "--from", "synthetic", "--rate", "100MB/s", "--size", "100MiB", "--split", "16MiB")
    parts = files(image)
    assert list(parts.values()) == [16 * MIB] * 6 + [4 * MIB]
    assert list(parts) == ["run.raw"] + [f"run_{number:04}.raw" for number in range(2, 8)]
    assert result["files"][0]["parts"] == 7 and result["files"][0]["bytes"] == 100 * MIB
    whole = answer("verify", image, *parts, "--parts")
    assert whole["whole"] and whole["chunks_good"] == 100
    found = judged(image, tmp_path)
    assert {path: size for path, (size, _) in found.items()} == parts


def test_a_missing_file_between_parts_is_found(image):
    answer("record", image, "run.raw", "--from", "synthetic", "--rate", "100MB/s", "--size", "40MiB", "--split", "16MiB")
    first, _, third = files(image)
    lost = answer("verify", image, first, third, "--parts", status=LOST)
    assert not lost["whole"] and lost["chunks_missing"] == 16
    disordered = answer("verify", image, third, first, "--parts", status=LOST)
    assert disordered["chunks_strange"] > 0


def test_names_have_the_time_in_utc_at_which_they_begin(image):
    begun = time.time()
    done = spate("record", image, "%Y%m%d/c_%H%M%SZ.raw", "--from", "synthetic", "--rate", "20MB/s", "--for", "5s", "--split", "2s",
                 env=os.environ | {"TZ": "Asia/Tokyo"})
    parts = files(image, time.strftime("%Y%m%d", time.gmtime(begun)))
    assert len(parts) == 3
    offsets = [(int(h) * 60 + int(m)) * 60 + int(s) - begun % 86400 for h, m, s in
               (re.search(r"/c_(\d\d)(\d\d)(\d\d)Z", path).groups() for path in parts)]
    assert all(abs(offset - wanted) < 1.6 for offset, wanted in zip(offsets, [0, 2, 4])), offsets
    assert answer("verify", image, *parts, "--parts")["whole"]
    assert "in 3 files" in done.stderr and all(f"{path}: " in done.stderr for path in parts)


@pytest.mark.thorough
def test_two_files_of_one_second_get_a_number(image):
    spate("record", image, "%Y.raw", "--from", "synthetic", "--rate", "100MB/s", "--size", "20MiB", "--split", "8MiB")
    year = time.strftime("%Y", time.gmtime())
    assert list(files(image)) == [f"{year}.raw", f"{year}_0002.raw", f"{year}_0003.raw"]


def first_chunk_ns(image, path):
    return struct.unpack_from("<Q", contents(image, path), CHUNK_TIME)[0]


def test_all_streams_are_cut_at_the_same_instant(image):
    """By the sensors' own clocks: the first chunks of parts of the same number were made within 100 ms."""
    spate("record", image, "a.raw", "b.raw", "--from", "synthetic", "--from", "synthetic", "--rate", "20MB/s", "--for", "5s",
          "--split", "2s")
    parts = list(files(image))
    assert parts == ["a.raw", "a_0002.raw", "a_0003.raw", "b.raw", "b_0002.raw", "b_0003.raw"]
    for a, b in zip(parts[1:3], parts[4:6]):
        assert abs(first_chunk_ns(image, a) - first_chunk_ns(image, b)) < 100_000_000
    for begin in (0, 3):
        assert answer("verify", image, *parts[begin:begin + 3], "--parts")["whole"]


@pytest.mark.thorough
def test_a_stream_that_fills_its_part_ends_the_parts_of_the_others(image, tmp_path):
    fifo = tmp_path / "slow"
    os.mkfifo(fifo)
    sent = b"".join(b"%09d\n" % number for number in range(3000))
    with started(image, "fast.raw", "slow.raw", "--from", "synthetic", "--rate", "40MB/s", "--from", fifo, "--split", "16MiB", "--for",
                 "60s") as recorder:
        with open(fifo, "wb") as slow:
            for at in range(0, len(sent), 500):
                slow.write(sent[at:at + 500])
                slow.flush()
                time.sleep(0.03)
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(timeout=60) == DONE
    parts = files(image)
    slow = [path for path in parts if path.startswith("slow")]
    fast = [path for path in parts if path.startswith("fast")]
    assert len(slow) > 2 and abs(len(slow) - len(fast)) <= 1
    assert b"".join(contents(image, path) for path in slow) == sent
    assert answer("verify", image, *fast, "--parts")["whole"]


def test_a_slow_source_is_cut_by_time_at_the_byte(image):
    lines = [b"%098d\n" % number for number in range(45)]
    result = fed(image, [(line, 0.1) for line in lines], "log.txt", "--split", "1s")
    parts = files(image)
    assert result["parts"] == len(parts) >= 4
    assert b"".join(contents(image, path) for path in parts) == b"".join(lines)
    assert all(size % 99 == 0 for size in parts.values()) and max(parts.values()) <= 15 * 99


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_any_amounts_are_cut_without_losing_a_byte(image, seed):
    chance = random.Random(seed)
    data = chance.randbytes(24 * MIB)
    pieces, at = [], 0
    while at < len(data):
        size = chance.choice([1, 17, 4096, 5000, 100_000, 1_500_000])
        pieces.append((data[at:at + size], chance.choice([0, 0, 0.02, 0.7]) if at % 3 == 0 else 0))
        at += size
    fed(image, pieces, "any.bin", "--split", chance.choice(["1s", "4MiB"]))
    parts = files(image)
    assert len(parts) > 1
    assert b"".join(contents(image, path) for path in parts) == data


def test_a_source_that_ends_at_a_cut_is_recorded_once(image):
    """More than a page, and a rest that is on the drive already when the recording is stopped at the cut."""
    data = random.Random(3).randbytes(5000)
    with started(image, "end.bin", "--split", "1s", "--for", "1s", stdin=subprocess.PIPE) as recorder:
        recorder.stdin.buffer.write(data)
        recorder.stdin.buffer.flush()
        assert recorder.wait(timeout=60) == DONE
        result = json.loads(recorder.stdout.read())["files"][0]
    assert b"".join(contents(image, path) for path in files(image)) == data
    assert result["bytes"] == len(data)


@pytest.mark.thorough
def test_a_second_without_data_makes_no_empty_file(image):
    fed(image, [(b"begin", 3.2), (b"end", 0)], "rare.txt", "--split", "1s")
    assert list(files(image).values()) == [5, 3]


def test_parts_that_are_closed_outlive_a_kill(image):
    with started(image, "run.raw", "--from", "synthetic", "--rate", "40MB/s", "--split", "8MiB") as recorder:
        time.sleep(2.5)
        recorder.kill()
        recorder.wait(timeout=60)
    spate("recover", image)
    parts = files(image)
    assert len(parts) > 4 and answer("verify", image, *parts, "--parts")["chunks_good"] > 32


def test_the_last_part_takes_what_is_left_of_the_volume(image):
    done = spate("record", image, "run.raw", "--from", "synthetic", "--split", "200MiB", status=LOST)
    assert "NO_SPACE" in done.stderr
    parts = files(image)
    assert sum(parts.values()) > 480 * MIB
    assert answer("verify", image, *parts, "--parts")["whole"]


@pytest.mark.thorough
def test_progress_as_json_names_each_part(image):
    done = spate("record", image, "run.raw", "--from", "synthetic", "--rate", "50MB/s", "--size", "24MiB", "--split", "8MiB",
                 "--progress", "json")
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    parts = [(event["what"], event["bytes"]) for event in events if event.get("event") == "part"]
    assert parts[:2] == [("run.raw", 8 * MIB), ("run_0002.raw", 8 * MIB)]


@pytest.mark.parametrize("words, says", [
    (["--split", "90"], "neither a time nor a size; examples are 10min and 16GiB"),
    (["--split", "100ms"], "at least a second"),
    (["--split", "1KiB"], "not between 4 MiB"),
    (["--split", "soon"], "neither a time nor a size"),
])
def test_a_wrong_split_is_told(image, words, says):
    assert says in spate("record", image, "x", *words, status=USAGE, input="").stderr


@pytest.mark.parametrize("path, says", [
    ("a%k.raw", "has a %k in it, which is no field of a time: write %% for a percent sign"),
    ("100%", "ends with a %"),
    ("%H:%M", "has a : in it"),
])
def test_a_wrong_field_is_told_before_anything_is_made(image, path, says):
    assert says in spate("record", image, path, status=USAGE, input="").stderr
    assert files(image) == {}


def test_a_percent_sign_is_written_twice(image):
    spate("record", image, "100%%.txt", input="x")
    assert list(files(image)) == ["100%.txt"]
