# SPDX-License-Identifier: Apache-2.0
"""spate record --from ring:NAME: another process fills the slots. The tests run both real programs."""

import os
import pathlib
import re
import signal
import struct
import subprocess
import time

import numpy
import pytest
import program

from ring_programs import SHM, SLOT, finish, recorder, started
from ring_programs import name  # noqa: F401 (a fixture)
from spate_command import FAILED, LOST, MIB, REFUSED, SPATE, USAGE, answer, judged, spate
from spate_command import image  # noqa: F401 (a fixture)

PRODUCER = SPATE.parent / "ring_producer"
SLOTS = 4
NOTHING = subprocess.DEVNULL


def producer(name, count, *words, slot=SLOT, slots=SLOTS, **options):
    return started(PRODUCER, name, slot, slots, count, *words, stdout=subprocess.PIPE, **{"stdin": NOTHING} | options)


def until(condition, limit_s=20):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.01)


def pieces(image, piece_bytes=SLOT, path="clip"):
    """Checks that each piece of a recording is as the producer made it. Returns the numbers of the pieces."""
    data = spate("extract", image, path, "-", text=False).stdout
    assert len(data) % piece_bytes == 0
    numbers = []
    for at in range(0, len(data), piece_bytes):
        words = numpy.frombuffer(data, numpy.uint64, piece_bytes // 8, at)
        index = int(words[0])
        assert (words[1:] == numpy.arange(1, len(words), dtype=numpy.uint64) + (index << 24)).all()
        assert data[at + piece_bytes - piece_bytes % 8 : at + piece_bytes] == bytes([index & 255]) * (piece_bytes % 8)
        numbers.append(index)
    return numbers


# ---- its memory ----


def huge_bytes(pid):
    """How much shared memory a process has in huge pages."""
    return sum(int(kib) << 10 for kib in re.findall(r"^ShmemPmdMapped: +(\d+)", pathlib.Path(f"/proc/{pid}/smaps").read_text(), re.M))


def kernel_makes_huge_pages():
    """Whether it does so on demand, with MADV_COLLAPSE."""
    release = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
    return release >= (6, 1) and pathlib.Path("/sys/kernel/mm/transparent_hugepage").exists()


def test_the_slots_are_huge_pages(name):
    """Pages of 4 KiB cost the recorder rate and processor time."""
    slot, slots = 4 * MIB, 4
    if not kernel_makes_huge_pages():
        pytest.skip("this kernel makes no huge pages of shared memory")
    with producer(name, 0, "--hold", slot=slot, slots=slots, stdin=subprocess.PIPE) as producing:
        until(lambda: (SHM / f"spate-{name}").exists())
        assert huge_bytes(producing.pid) == slot * slots
        finish(producing)


# ---- everything is recorded, or counted as lost ----


@pytest.mark.parametrize("slot,slots", [(65536, 2), (65536, 16), (MIB, 4), (4 * MIB, 2)])
def test_a_small_ring_goes_round_many_times(image, name, slot, slots):
    count = 300 * MIB // slot
    with recorder(image, name) as recording, producer(name, count, slot=slot, slots=slots) as producing:
        made, _ = finish(producing)
        report, said = finish(recording)
    assert made == {"published": count, "published_bytes": count * slot, "lost_bytes": 0}
    assert report["files"][0]["bytes"] == count * slot and "copied" not in said
    assert pieces(image, slot) == list(range(count))


@pytest.mark.parametrize("last", [1, 511, 4096, 65535])
def test_the_last_slot_has_any_length(image, name, tmp_path, last):
    with producer(name, 9, "--last", last) as producing, recorder(image, name) as recording:
        finish(producing)
        assert finish(recording)[0]["files"][0]["bytes"] == 8 * SLOT + last
    assert judged(image, tmp_path)["clip"][0] == 8 * SLOT + last


@pytest.mark.parametrize("frame", [77, 4095, 100_003, 200_001])
def test_frames_of_any_length_are_written_across_slots(image, name, frame):
    count = 12 * MIB // frame if frame > 1000 else 20_000
    with recorder(image, name) as recording, producer(name, count, "--write", "--piece", frame) as producing:
        finish(producing)
        finish(recording)
    assert pieces(image, frame) == list(range(count))


def test_slow_writes_are_on_the_drive_soon(image, name):
    """This source would need 25 seconds to fill a slot."""
    with producer(name, 30, "--write", "--piece", 4096, "--nap", 100_000, slot=MIB) as producing:
        with recorder(image, name) as recording:
            time.sleep(2.5)
            assert answer("ls", image)["entries"][0]["bytes"] >= 2 * 4096
            finish(producing)
            finish(recording)
    assert pieces(image, 4096) == list(range(30))


@pytest.mark.parametrize("words", [[], ["--write", "--piece", "10007"]])
def test_published_and_lost_bytes_add_up(image, name, words):
    """The recorder is stopped for a while, so that the source, which cannot wait, loses data."""
    piece = int(words[-1]) if words else SLOT
    with recorder(image, name) as recording, producer(name, 2000, "--live", "--await", "--nap", 500, *words) as producing:
        until(lambda: (SHM / f"spate-{name}").exists())
        time.sleep(0.3)
        recording.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        recording.send_signal(signal.SIGCONT)
        made, _ = finish(producing)
        report, said = finish(recording, LOST)
    assert made["lost_bytes"] > 0 and made["published_bytes"] + made["lost_bytes"] == 2000 * piece
    assert report["files"][0]["lost_bytes"] == made["lost_bytes"] and report["files"][0]["bytes"] == made["published_bytes"]
    assert "LOST" in said
    numbers = pieces(image, piece)
    assert len(numbers) == made["published"] and all(a < b for a, b in zip(numbers, numbers[1:]))


def test_a_source_much_faster_than_the_recorder(image, name):
    with recorder(image, name) as recording, producer(name, 20_000, "--live", "--await") as producing:
        made, _ = finish(producing)
        report, _ = finish(recording, LOST)
    assert made["published_bytes"] + made["lost_bytes"] == 20_000 * SLOT
    assert report["files"][0]["lost_bytes"] == made["lost_bytes"] and len(pieces(image)) == made["published"]


def test_several_rings_at_once(image, name):
    second = f"{name}-b"
    with producer(name, 500) as left, producer(second, 100, slot=MIB) as right:
        spate("record", image, "left", "right", "--from", f"ring:{name}", "--from", f"ring:{second}")
        finish(left)
        finish(right)
    assert pieces(image, path="left") == list(range(500)) and pieces(image, MIB, path="right") == list(range(100))
    assert not (SHM / f"spate-{second}").exists()


# ---- the end ----


def test_the_end_by_size_cuts_a_slot(image, name):
    with producer(name, 4, "--hold", stdin=subprocess.PIPE) as producing:
        with recorder(image, name, "--size", "100000", path="cut") as recording:
            assert finish(recording)[0]["files"][0]["bytes"] == 100_000
        producing.kill()
        producing.wait(60)
    (SHM / f"spate-{name}").unlink()  # it still holds data beyond --size


def test_the_end_by_a_signal_leaves_the_rest_to_the_next_recorder(image, name):
    with producer(name, 3000, "--nap", 500) as producing:
        with recorder(image, name, path="first") as recording:
            time.sleep(0.7)
            recording.send_signal(signal.SIGINT)
            finish(recording)
        with recorder(image, name, path="second") as recording:
            finish(producing)
            finish(recording)
    first, second = pieces(image, path="first"), pieces(image, path="second")
    assert first and second and first + second == list(range(3000))


def test_data_in_an_ended_ring_are_recorded_later(image, name):
    with producer(name, 3) as producing:
        finish(producing)
    assert (SHM / f"spate-{name}").stat().st_mode & 0o777 == 0o600
    with recorder(image, name) as recording:
        finish(recording)
    assert pieces(image) == [0, 1, 2]


def test_a_ring_that_was_left_is_listed_and_removed(image, name):
    with producer(name, 3, "--hold", stdin=subprocess.PIPE) as producing:
        until_made = time.monotonic() + 20
        while not (SHM / f"spate-{name}").exists() and time.monotonic() < until_made:
            time.sleep(0.02)
        assert f"ring:{name}" not in spate("release").stdout  # its producer has it
        assert "has a producer" in spate("release", f"ring:{name}", status=REFUSED).stderr
        time.sleep(0.3)
        producing.kill()
        producing.wait(60)
    assert f"ring:{name}  " in spate("release").stdout
    assert f"--from ring:{name} records them" in spate("release").stdout
    assert "removed ring:" in spate("release", f"ring:{name}").stderr
    assert "there is no ring" in spate("release", f"ring:{name}", status=FAILED).stderr
    assert "there is no ring" in spate("release", "ring:../etc", status=FAILED).stderr


def test_a_new_producer_replaces_the_ring_of_a_dead_one(image, name):
    for count in (3, 2):
        with producer(name, count) as producing:
            finish(producing)
    with recorder(image, name) as recording:
        finish(recording)
    assert pieces(image) == [0, 1]


# ---- a side that dies ----


@pytest.mark.parametrize("killed", [False, True])
def test_a_producer_that_goes_away_ends_the_recording(image, name, killed):
    """The producer is killed, or closes the ring without ending it."""
    with recorder(image, name) as recording:
        with producer(name, 50, "--leave", "--hold", stdin=subprocess.PIPE) as producing:
            until(lambda: (SHM / f"spate-{name}").exists())
            time.sleep(1)
            producing.kill() if killed else producing.stdin.close()
            report, said = finish(recording, FAILED)
    assert "went away without ending the ring" in said and report["files"][0]["bytes"] == 50 * SLOT
    assert pieces(image) == list(range(50)) and not answer("info", image)["volume"]["dirty"]


def test_a_producer_outlives_its_recorder(image, name):
    """The producer loses what does not fit, and continues with the next recorder, which reports the loss."""
    with producer(name, 3000, "--live", "--nap", 500) as producing:
        with recorder(image, name, path="killed") as recording:
            time.sleep(0.5)
            recording.kill()
            recording.wait(60)
        time.sleep(0.5)
        with recorder(image, name, path="next") as recording:
            made, _ = finish(producing)
            report, _ = finish(recording, LOST)
    numbers = pieces(image, path="next")
    assert made["lost_bytes"] > 0 and report["files"][0]["lost_bytes"] == made["lost_bytes"]
    assert numbers[-1] == 2999 and all(a < b for a, b in zip(numbers, numbers[1:]))


def test_a_loss_is_reported_once(image, name):
    with producer(name, 6, "--live", "--hold", stdin=subprocess.PIPE) as producing:
        until(lambda: (SHM / f"spate-{name}").exists())
        time.sleep(0.3)
        for path, status in ("first", LOST), ("second", FAILED):
            with recorder(image, name, "--for", "500ms", path=path) as recording:
                _, said = recording.communicate(timeout=60)
                assert recording.returncode == status and ("LOST" in said) == (status == LOST), said
        finish(producing)


def test_a_second_recorder_is_refused(image, name, tmp_path):
    other = tmp_path / "other.img"
    spate("format", other, "--size", "64MiB")
    with producer(name, 1000, "--nap", 3000) as producing, recorder(image, name) as recording:
        until(lambda: (SHM / f"spate-{name}").exists())
        time.sleep(0.3)
        with recorder(other, name) as second:
            _, said = second.communicate(timeout=60)
            assert second.returncode == REFUSED and "another recorder has this ring" in said, said
        finish(producing)
        finish(recording)
    assert pieces(image) == list(range(1000)) and answer("ls", other)["entries"] == []


def test_a_second_producer_is_refused(name):
    with producer(name, 3, "--hold", stdin=subprocess.PIPE) as producing:
        until(lambda: (SHM / f"spate-{name}").exists())
        said = program.run(PRODUCER, name, SLOT, SLOTS, 1, statuses=(1,)).stderr
        assert "another producer has this ring" in said
        producing.kill()
    (SHM / f"spate-{name}").unlink()


def test_no_producer_comes(image, name):
    with recorder(image, name) as recording:
        assert "waiting for a producer" in recording.stderr.readline()
        recording.send_signal(signal.SIGINT)
        _, said = recording.communicate(timeout=60)
        assert recording.returncode == FAILED and "no file was made" in said
    assert answer("ls", image)["entries"] == [] and not answer("info", image)["volume"]["dirty"]


# ---- paths, and targets that cannot write from the ring ----


def test_a_file_as_memory(image, tmp_path):
    ring = tmp_path / "memory"
    ring.touch()
    with recorder(image, ring) as recording, producer(ring, 200) as producing:
        finish(producing)
        finish(recording)
    assert pieces(image) == list(range(200)) and ring.exists()


def test_a_file_that_is_not_a_ring_is_refused(image, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine" * 4096)
    assert "the file is not a ring" in program.run(PRODUCER, precious, SLOT, SLOTS, 1, statuses=(1,)).stderr
    assert precious.read_text() == "mine" * 4096
    with recorder(image, precious) as recording:
        _, said = recording.communicate(timeout=60)
        assert recording.returncode == REFUSED and "does not begin with a ring's magic" in said
    program.run(PRODUCER, tmp_path / "none", SLOT, SLOTS, 1, statuses=(1,))
    assert not (tmp_path / "none").exists()


def test_a_virtual_drive_gets_copies(name, tmp_path):
    drive = f"sim:ideal:{tmp_path}/drive"
    spate("format", drive, "--yes")
    with producer(name, 100, "--last", 4321) as producing, recorder(drive, name) as recording:
        finish(producing)
        report, said = finish(recording)
    assert f"ring:{name} is copied" in said and report["files"][0]["bytes"] == 99 * SLOT + 4321
    data = spate("extract", drive, "clip", "-", text=False).stdout
    assert [struct.unpack_from("<Q", data, at)[0] for at in range(0, len(data), SLOT)] == list(range(100))


def test_invalid_names(image):
    for source in ("ring:", "ring:a/b"):
        assert "is not ring:NAME" in spate("record", image, "clip", "--from", source, status=USAGE).stderr


# ---- headers that lie ----


def header(slot_bytes=SLOT, slots=SLOTS, table=4096, start=8192, total=8192 + SLOT * SLOTS, filled=0, released=0, layout=1,
           pid=0, ended=0, magic=b"SPATERNG"):
    head = struct.pack("<8sIIIIQQQ", magic, layout, slot_bytes, slots, pid, table, start, total)
    return head.ljust(64, b"\0") + struct.pack("<QQI", filled, 0, ended).ljust(64, b"\0") + struct.pack("<Q", released)


GOOD_TABLE = struct.pack("<4I", *[SLOT] * 4)


def write_ring(path, head, table=GOOD_TABLE, length=8192 + SLOT * SLOTS):
    with open(path, "wb") as file:
        file.write(head.ljust(4096, b"\0") + table)
        file.truncate(length)


@pytest.mark.parametrize("lie,said", [
    ({"magic": b"SPATERNH"}, "does not begin"),
    ({"layout": 2}, "the version of its layout"),
    ({"slot_bytes": 65535}, "its slots are not"),
    ({"slot_bytes": 1 << 31}, "its slots are not"),
    ({"slots": 0}, "number of slots"),
    ({"slots": 1 << 31}, "number of slots"),
    ({"slots": 65536, "slot_bytes": 4 * MIB}, "larger than"),
    ({"table": 0}, "overlap or are out of order"),
    ({"table": (1 << 64) - 4}, "overlap or are out of order"),
    ({"table": 8188}, "overlap or are out of order"),
    ({"start": 8193}, "overlap or are out of order"),
    ({"start": (1 << 64) - 4096}, "overlap or are out of order"),
    ({"total": 8192}, "do not fit"),
    ({"total": 1 << 40}, "do not fit"),
    ({"slots": 8}, "do not fit"),
    ({"filled": 5}, "further apart"),
    ({"filled": 3, "released": 4}, "further apart"),
])
def test_an_invalid_header_is_refused(image, tmp_path, lie, said):
    write_ring(tmp_path / "ring", header(**lie))
    with recorder(image, tmp_path / "ring") as recording:
        _, error = recording.communicate(timeout=60)
        assert recording.returncode == REFUSED and said in error, error
    assert answer("ls", image)["entries"] == []


@pytest.mark.parametrize("lengths,said", [
    ([SLOT, SLOT + 4096, SLOT, SLOT], "more than fit"),
    ([SLOT, 0, SLOT, SLOT], "no bytes in it"),
    ([SLOT, 100, SLOT, SLOT], "follows a slot"),
])
def test_invalid_slots_end_the_recording(image, tmp_path, lengths, said):
    write_ring(tmp_path / "ring", header(filled=4), struct.pack("<4I", *lengths))
    with recorder(image, tmp_path / "ring") as recording:
        report, error = finish(recording, FAILED)
    assert said in error and report["files"][0]["bytes"] == (SLOT + 100 if 100 in lengths else SLOT)


@pytest.mark.parametrize("filled", [0, 1, 9, 1 << 40, (1 << 64) - 1])
def test_a_counter_that_jumps_ends_the_recording(image, tmp_path, filled):
    ring = tmp_path / "ring"
    write_ring(ring, header(filled=2))
    with recorder(image, ring) as recording:
        time.sleep(0.7)
        with open(ring, "r+b") as file:
            file.seek(64)
            file.write(struct.pack("<Q", filled))
        report, error = finish(recording, FAILED)
    assert "went backwards, or further" in error and report["files"][0]["bytes"] == 2 * SLOT


def test_a_truncated_ring_ends_the_recording(image, tmp_path):
    ring = tmp_path / "ring"
    write_ring(ring, header(filled=2))
    with recorder(image, ring) as recording:
        time.sleep(0.7)
        os.truncate(ring, 0)
        report, _ = finish(recording, FAILED)
    assert report["files"][0]["bytes"] == 2 * SLOT


def test_logic_fills_a_ring_through_its_counters_alone(image, tmp_path):
    """Writes data, length and counter in this order, and takes no lock, like an FPGA."""
    ring = tmp_path / "ring"
    write_ring(ring, header())
    memory = numpy.memmap(ring, numpy.uint8, "r+")
    filled, released = memory[64:72].view(numpy.uint64), memory[128:136].view(numpy.uint64)
    table, slots = memory[4096:4112].view(numpy.uint32), memory[8192:].reshape(SLOTS, SLOT)
    with recorder(image, ring) as recording:
        for number in range(40):
            until(lambda: number - int(released[0]) < SLOTS)
            slots[number % SLOTS] = number
            table[number % SLOTS] = SLOT
            filled[0] = number + 1
        memory[80] = 1
        finish(recording)
    data = numpy.frombuffer(spate("extract", image, "clip", "-", text=False).stdout, numpy.uint8).reshape(40, SLOT)
    assert (data == numpy.arange(40, dtype=numpy.uint8)[:, None]).all()


def test_a_detached_ring_stays_open(image, name):
    with recorder(image, name) as recording, producer(name, 5, "--detach") as producing:
        finish(producing)
        time.sleep(0.5)
        assert recording.poll() is None
        recording.send_signal(signal.SIGINT)
        finish(recording)
    assert pieces(image) == list(range(5))
    (SHM / f"spate-{name}").unlink(missing_ok=True)
