# SPDX-License-Identifier: Apache-2.0
"""Targets that need no emulated machine: virtual drives under the library's driver, and stripes; and commands that the other
test files do not use."""

import json
import os
import random
import re
import resource
import subprocess
import sys
import time

import program
import pytest
import volume as judge

from seccomp import PREADV, PWRITEV2, failing_calls
from spate_command import FAILED, LOST, MIB, REFUSED, SPATE, USAGE, answer, digest, spate


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(random.Random(1).randbytes(9 * MIB + 1234))
    return path


# A process inherits the peak memory count of its parent. So a small process starts the command.
MEASURE = """
import os, subprocess, sys
left = int(sys.argv[1])
command = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
while left > 0 and (got := len(command.stdout.read(min(left, 1 << 20)))) > 0:
    left -= got
command.stdout.close()
print(os.wait4(command.pid, 0)[2].ru_maxrss * 1024)
"""


def memory_peak_bytes(*words, take_bytes):
    """The peak memory of a command that is stopped after `take_bytes` of its output were read."""
    return int(program.run(sys.executable, "-c", MEASURE, take_bytes, SPATE, *words, timeout_s=120).stdout)


# ---- virtual drives ----


def test_a_virtual_drive_keeps_its_contents_in_a_file(tmp_path, data):
    kept = tmp_path / "kept.img"
    drive = f"sim:990pro:{kept}"
    spate("format", drive, "--yes")
    spate("record", drive, "clip", "--from", data)
    spate("record", drive, "run", "--from", "synthetic", "--size", "30MB")
    assert answer("verify", drive, "run")["whole"]
    assert spate("extract", drive, "clip", "-", text=False).stdout == data.read_bytes()
    before = kept.stat()  # two terabytes, sparse: too long for a digest
    for command in (("ls", drive), ("info", drive), ("check", drive), ("verify", drive, "run"), ("health", drive)):
        spate(*command)
    assert (kept.stat().st_mtime_ns, kept.stat().st_blocks) == (before.st_mtime_ns, before.st_blocks)
    # Other tools can read the file as an image of the drive.
    assert spate("extract", kept, "clip", "-", text=False).stdout == data.read_bytes()
    judge.partition_offset_bytes(kept)


def test_the_contents_of_a_virtual_drive_survive_a_full_disk(tmp_path, data):
    kept = tmp_path / "kept.img"
    drive = f"sim:990pro:{kept}"
    spate("format", drive, "--yes")
    spate("record", drive, "clip", "--from", data)
    kept.chmod(0o640)
    files = set(tmp_path.iterdir())
    full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 * MIB, 64 * MIB))}
    said = spate("record", drive, "more", "--from", data, status=FAILED, **full).stderr
    assert "cannot be saved" in said and str(kept) in said and set(tmp_path.iterdir()) == files
    assert [entry["path"] for entry in answer("ls", drive)["entries"]] == ["clip"]
    assert spate("extract", drive, "clip", "-", text=False).stdout == data.read_bytes()
    # A link stays a link, and its file keeps its mode.
    link = tmp_path / "link.img"
    link.symlink_to(kept.name)
    spate("rm", f"sim:990pro:{link}", "clip")
    assert link.is_symlink() and answer("ls", drive)["entries"] == [] and kept.stat().st_mode & 0o777 == 0o640
    assert set(tmp_path.iterdir()) == files | {link}


def test_a_virtual_drive_without_a_file_is_new_each_time():
    assert "serial SPATE0001" in spate("health", "sim:970evoplus").stdout
    spate("format", "sim:ideal", "--yes")
    assert "has no volume" in spate("info", "sim:ideal", status=FAILED).stderr


@pytest.mark.parametrize("words", [("info", ""), ("format", "", "--size", "64MiB"), ("record", "", "run", "--from", "synthetic")])
def test_an_empty_argument_is_refused(words):
    assert "variable" in spate(*words, status=USAGE).stderr


def test_wrong_virtual_drives(tmp_path):
    assert "990pro" in spate("health", "sim:nonsense", status=USAGE).stderr
    spate("format", f"sim:990pro:{tmp_path}/kept", "--yes")
    assert "not from a virtual drive of this profile" in spate("info", f"sim:ideal:{tmp_path}/kept", status=REFUSED).stderr
    spate("info", f"sim:990pro:{tmp_path}/none/kept", status=FAILED)


def test_speed_in_virtual_time():
    """The test measures the rates of the drive's profile, on any machine."""
    said = answer("speedtest", "sim:990pro", "--for", "50ms")
    jobs = {job["job options"]["bs"]: job["read"] for job in said["jobs"]}
    assert set(jobs) == {"4k", "128k", "1024k"}
    assert jobs["1024k"]["bw_bytes"] == pytest.approx(7.0e9, rel=0.03)
    for job in jobs.values():
        latency = job["lat_ns"]
        shares = list(latency["percentile"].values())
        assert shares == sorted(shares) and latency["min"] <= latency["mean"] <= latency["max"] == max(latency["max"], shares[-1])
        assert job["iops"] == pytest.approx(job["total_ios"] / job["runtime"] * 1000, rel=0.01)
        # Little's law: requests in flight = rate × latency.
        assert job["iops"] * latency["mean"] / 1e9 == pytest.approx(32, rel=0.1)


def test_the_speed_test_leaves_the_volume_as_it_was(tmp_path, data):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256MiB")
    spate("record", image, "clip", "--from", data)
    free = answer("info", image)["volume"]["free_bytes"]
    said = answer("speedtest", image, "--write", "--block", "4KiB", "--block", "64KiB", "--size", "1MiB")
    assert [job["write"]["io_bytes"] for job in said["jobs"]] == [MIB, MIB]
    assert answer("info", image)["volume"]["free_bytes"] == free
    assert spate("extract", image, "clip", "-", text=False).stdout == data.read_bytes()
    before = digest(image)
    spate("speedtest", image, "--for", "50ms")
    assert digest(image) == before
    spate("speedtest", image, "--block", "1000", status=USAGE)
    spate("speedtest", image, "--block", "513", status=USAGE)


@pytest.mark.parametrize("block,words,status", [(4096, ("--block", "4KiB", "--block", "512"), USAGE),
                                                (512, ("--block", "4MiB"), USAGE)])
def test_an_impossible_speed_test_leaves_the_volume_as_it_was(tmp_path, block, words, status):
    image, most = tmp_path / "rec.img", tmp_path / "most"
    spate("format", image, "--size", "64MiB", "--block", block)
    if "4MiB" in words:
        most.write_bytes(bytes(answer("info", image)["volume"]["free_bytes"] - 2 * MIB))
        spate("record", image, "most", "--from", most)
    before = digest(image)
    spate("speedtest", image, "--write", *words, status=status)
    assert digest(image) == before


def test_a_speed_test_that_fails_leaves_no_file(tmp_path):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "64MiB")
    before = answer("info", image)["volume"]
    failing = {"preexec_fn": lambda: failing_calls(PWRITEV2, 40 * MIB, 64 * MIB - 8 * MIB)}
    said = spate("speedtest", image, "--write", "--block", "1MiB", "--size", "64MiB", status=FAILED, **failing).stderr
    assert "MEDIA" in said
    checked = answer("check", image)
    assert (checked["files"], checked["reservations"], checked["dirty"]) == (0, 0, False)
    assert answer("info", image)["volume"] == before


def test_a_speed_test_leaves_a_file_of_its_name_alone(tmp_path, data):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "64MiB")
    spate("record", image, "spate-speedtest.tmp", "--from", data)
    before = digest(image)
    said = spate("speedtest", image, "--write", "--size", "1MiB", status=REFUSED).stderr
    assert "spate-speedtest.tmp" in said and digest(image) == before


def test_a_speed_test_only_takes_memory_for_requests_in_flight(tmp_path):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "64MiB")
    peak_bytes = memory_peak_bytes("speedtest", image, "--depth", "256", "--block", "4MiB", "--size", "8MiB", take_bytes=MIB)
    assert peak_bytes < 700 * MIB  # 128 MiB plus the sanitizer's memory; 1 GiB would be 256 requests of 4 MiB


# ---- stripes ----


@pytest.fixture
def pair(tmp_path):
    for name in "ab":
        with open(tmp_path / f"{name}.img", "wb") as file:
            file.truncate(128 * MIB)
    return tmp_path / "a.img", tmp_path / "b.img"


@pytest.mark.parametrize("kind", ["", "sim:ideal:"])
def test_a_stripe(tmp_path, data, kind):
    names = [f"{kind}{tmp_path}/{name}.img" for name in "ab"]
    for name in "ab":
        with open(tmp_path / f"{name}.img", "wb") as file:
            file.truncate(0 if kind else 128 * MIB)
    stripe = f"stripe:{names[0]},{names[1]}"
    assert "not members of an array" in spate("info", stripe, status=FAILED).stderr
    spate("format", stripe, "--yes")
    spate("record", stripe, "clip", "--from", data)
    spate("record", stripe, "run", "--from", "synthetic", "--size", "20MB")
    turned = f"stripe:{names[1]},{names[0]}"
    assert answer("verify", turned, "run")["whole"]
    assert spate("extract", turned, "clip", "-", text=False).stdout == data.read_bytes()
    assert answer("check", stripe)["bad"] == 0


def test_wrong_stripes(pair, tmp_path):
    a, b = pair
    spate("info", "stripe:", status=USAGE)
    spate("info", f"stripe:{a}", status=USAGE)
    spate("info", f"stripe:{a},", status=USAGE)
    spate("info", f"stripe:{a},stripe:{b},{b}", status=USAGE)
    spate("format", f"stripe:{a},{tmp_path}/absent", "--yes", status=FAILED)
    spate("format", f"stripe:{a},{a}", "--yes", status=REFUSED)
    program.run("mkfs.ext4", "-q", "-L", "theirs", b)
    before = digest(b)
    said = spate("format", f"stripe:{a},{b}", "--yes", status=REFUSED).stderr
    assert 'ext4 "theirs"' in said and "--erase" in said and digest(b) == before
    spate("format", f"stripe:{a},{b}", "--erase", status=REFUSED)  # no terminal, and no --yes
    assert digest(b) == before
    spate("format", f"stripe:{a},{b}", "--erase", "--yes")
    spate("info", f"stripe:{a},{b}")


def test_a_size_is_for_an_image_file_only(tmp_path):
    """It is refused even if the members do not exist, because --size does not apply to them."""
    for target in (f"stripe:{tmp_path}/a,{tmp_path}/b", "sim:ideal"):
        assert "for a new image file" in spate("format", target, "--size", "64MiB", status=USAGE).stderr


def test_a_stripe_that_is_too_small_is_not_made(tmp_path):
    members = [tmp_path / name for name in ("a", "b")]
    for member in members:
        with open(member, "wb") as file:
            file.truncate(32 * MIB)
    program.run("mkfs.ext4", "-q", members[1])
    before = [digest(member) for member in members]
    words = ("format", f"stripe:{members[0]},{members[1]}", "--erase", "--yes")
    assert "nothing was written" in spate(*words, "--cluster", "32MiB", status=USAGE).stderr
    assert [digest(member) for member in members] == before
    spate(*words)


# ---- before data are lost ----


def test_an_unreadable_target_can_be_erased(pair):
    image, _ = pair
    failing = {"preexec_fn": lambda: failing_calls(PREADV, 0, 4 * MIB)}
    said = spate("format", image, "--yes", status=FAILED, **failing).stderr
    assert "cannot be read" in said
    said = spate("trim", image, "--yes", **failing).stderr
    assert said.count("cannot be read") == 1 and "no known contents" not in said
    program.run("mkfs.ext4", "-q", image)
    tail = {"preexec_fn": lambda: failing_calls(PREADV, 127 * MIB, 128 * MIB)}
    said = spate("format", image, "--erase", "--yes", **tail).stderr
    assert said.count("cannot be read") == 1 and "ext4" in said
    assert answer("check", image)["bad"] == 0


def test_the_contents_of_a_target_are_named(pair):
    a, b = pair
    program.run("mkfs.exfat", "-L", "theirs", b)
    said = spate("format", b, status=REFUSED).stderr
    assert 'exfat "theirs"' in said and "128 MiB" in said
    program.run("sfdisk", "--quiet", a, input="label: gpt\n,32M\n,64M\n")
    program.run("mkfs.ext4", "-q", "-L", "second", "-E", f"offset={33 * MIB}", a, "64M")
    said = spate("format", a, "--erase", status=REFUSED).stderr
    assert "a partition table (gpt)" in said and "partition 1: 33.6 MB, no known contents" in said
    assert 'partition 2: 67.1 MB, ext4 "second"' in said
    # The root directory, which has the label, lies far behind the bytes that are read for other file systems.
    spate("format", b, "--label", "FLIGHT", "--cluster", "4MiB", "--erase", "--yes")
    assert 'exfat "FLIGHT"' in spate("format", b, status=REFUSED).stderr
    for command in (("trim", a), ("format", a, "--erase")):
        assert "without a terminal" in spate(*command, status=REFUSED).stderr


def test_trim_and_erase(tmp_path, pair):
    image, _ = pair
    spate("format", image, "--yes")
    spate("record", image, "run", "--from", "synthetic", "--size", "20MB")
    blocks = image.stat().st_blocks
    spate("trim", image, "--yes")
    assert "has no volume" in spate("info", image, status=FAILED).stderr and image.stat().st_blocks < blocks / 10
    assert "not an NVMe drive" in spate("erase", image, "--yes", status=REFUSED).stderr
    drive = f"sim:980pro:{tmp_path}/kept"
    spate("format", drive, "--yes")
    assert "Samsung SSD 980 PRO" in spate("erase", drive, status=REFUSED).stderr
    spate("info", drive)
    spate("erase", drive, "--yes")
    assert "has no volume" in spate("info", drive, status=FAILED).stderr
    assert (tmp_path / "kept").stat().st_blocks == 0


def test_sanitize(tmp_path):
    drive = f"sim:980pro:{tmp_path}/kept"
    for words in ((), ("--method", "crypto"), ("--method", "overwrite")):
        spate("format", drive, "--yes")
        assert "without a terminal" in spate("erase", drive, "--sanitize", *words, status=REFUSED).stderr
        spate("info", drive)
        said = spate("erase", drive, "--yes", "--sanitize", *words).stderr
        assert "neither Ctrl-C nor a power cut" in said and (words[1] if words else "block") in said
        assert (tmp_path / "kept").stat().st_blocks == 0
    spate("format", drive, "--yes")
    assert "never sanitized" in spate("erase", drive, "--sanitize", "--status").stderr
    spate("info", drive)
    spate("erase", drive, "--status", status=USAGE)
    spate("erase", drive, "--sanitize", "--status", "--method", "block", status=USAGE)
    assert "no failed state to exit" in spate("erase", drive, "--yes", "--sanitize", "--method", "exit", status=REFUSED).stderr
    spate("erase", drive, "--yes", "--sanitize", "--method", "shred", status=USAGE)
    spate("erase", drive, "--yes", "--method", "block", status=USAGE)
    spate("erase", drive, "--yes", "--sanitize", "--crypto", status=USAGE)


# ---- check, replay, health ----


def test_check_finds_damage(tmp_path, data):
    """Each kind of damage to an entry set: a wrong checksum, a cluster of another file, a chain that ends too early."""
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256MiB")
    for name in ("one", "two"):
        spate("record", image, name, "--from", data)
    good = answer("check", image)
    assert (good["files"], good["bad"], good["findings"]) == (2, 0, [])
    content = image.read_bytes()
    first, second = (stream_entry(content, name) for name in ("one", "two"))
    first_cluster = content[first + 20 : first + 24]

    def damaged(at, value, stream=second):
        wrong = bytearray(content)
        wrong[at : at + len(value)] = value
        begin = stream - 32
        wrong[begin + 2 : begin + 4] = entry_checksum(wrong[begin : begin + 96])
        image.write_bytes(wrong)
        return answer("check", image, status=FAILED)

    assert "shares a cluster" in damaged(second + 20, first_cluster)["findings"][0]["finding"]
    # Clusters past the valid length belong to the file as well: those of the first file now overlap the second file.
    lengths = (4096).to_bytes(8, "little") + content[first + 16 : first + 24] + (20 * MIB).to_bytes(8, "little")
    assert "shares a cluster" in damaged(first + 8, lengths, first)["findings"][0]["finding"]
    far = (1 << 30).to_bytes(4, "little")
    assert damaged(second + 20, far)["bad"] == 1
    wrong = bytearray(content)
    wrong[second + 8] ^= 1  # without a new checksum
    image.write_bytes(wrong)
    assert "the root directory: an entry set in it is damaged" in spate("check", image, status=FAILED).stdout


def stream_entry(content, name):
    """The offset of the stream extension entry of a file with a short name (exFAT 7.6)."""
    for match in re.finditer(re.escape(name.encode("utf-16-le") + b"\0\0"), content):
        at = match.start() - 2 - 32
        if at % 32 == 0 and content[at] == 0xC0 and content[at - 32] == 0x85:
            return at
    raise AssertionError(f"no entry of {name}")


def entry_checksum(entries):
    """exFAT 6.3.3."""
    checksum = 0
    for i, byte in enumerate(entries):
        if i not in (2, 3):
            checksum = ((checksum << 15 | checksum >> 1) + byte) & 0xFFFF
    return checksum.to_bytes(2, "little")


def test_replay_keeps_the_rate(tmp_path, data):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "64MiB")
    spate("record", image, "clip", "--from", data)
    assert spate("replay", image, "clip", text=False).stdout == data.read_bytes()
    # It must not be faster than the given rate. It may be slower on a slow machine.
    begun = time.monotonic()
    assert len(spate("replay", image, "clip", "--rate", "8MB/s", text=False).stdout) == data.stat().st_size
    assert time.monotonic() - begun >= data.stat().st_size / 8e6 * 0.95
    spate("replay", image, "clip", "--rate", "none", status=USAGE)
    assert "No space left" in spate("replay", image, "clip", "--to", "/dev/full", status=FAILED).stderr


def test_replay_refuses_files(tmp_path, data):
    image, other = tmp_path / "rec.img", tmp_path / "other"
    spate("format", image, "--size", "64MiB")
    spate("record", image, "clip", "--from", data)
    other.write_bytes(b"theirs")
    before = digest(image)
    for to in (image, other):
        assert "FIFO" in spate("replay", image, "clip", "--to", to, status=REFUSED).stderr
    assert digest(image) == before and other.read_bytes() == b"theirs"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with open(tmp_path / "played", "wb") as played, subprocess.Popen(["cat", fifo], stdout=played):
        spate("replay", image, "clip", "--to", fifo)
    assert (tmp_path / "played").read_bytes() == data.read_bytes()


def test_replay_takes_its_memory_once(tmp_path):
    drive, small = f"sim:ideal:{tmp_path}/kept", tmp_path / "small"
    small.write_bytes(bytes(8 * MIB))
    spate("format", drive, "--yes")
    spate("record", drive, "clip", "--from", small)
    once, often = (memory_peak_bytes("replay", drive, "clip", "--loop", take_bytes=turns * 8 * MIB) for turns in (2, 30))
    assert often - once < 50 * MIB


# ---- extract ----


def test_extract_over_a_file(tmp_path, data, pair):
    kept, out = tmp_path / "kept", tmp_path / "out"
    stripe = f"stripe:{pair[0]},{pair[1]}"
    for target, own in ((f"sim:ideal:{kept}", kept), (stripe, pair[1])):
        spate("format", target, "--yes")
        spate("record", target, "clip", "--from", data)
        out.write_bytes(b"theirs")
        spate("extract", target, "clip", out, status=REFUSED)
        spate("extract", target, "clip", out, "--force")
        assert out.read_bytes() == data.read_bytes()
        # The files of the target itself are never overwritten.
        assert "the target itself" in spate("extract", target, "clip", own, "--force", status=REFUSED).stderr
        assert spate("extract", target, "clip", "-", text=False).stdout == data.read_bytes()


def test_extract_is_the_same_to_a_file_and_to_a_pipe(tmp_path, data):
    """The file is valid only up to the middle of a block, as after a power cut: the rest reads as zeros."""
    image, out = tmp_path / "rec.img", tmp_path / "out"
    spate("format", image, "--size", "64MiB")
    spate("record", image, "clip", "--from", data)
    content = bytearray(image.read_bytes())
    stream = stream_entry(content, "clip")
    valid = 3 * MIB + 1000
    content[stream + 8 : stream + 16] = valid.to_bytes(8, "little")
    content[stream - 30 : stream - 28] = entry_checksum(content[stream - 32 : stream + 64])
    image.write_bytes(content)
    wanted = data.read_bytes()[:valid].ljust(data.stat().st_size, b"\0")
    assert spate("extract", image, "clip", "-", text=False).stdout == wanted
    spate("extract", image, "clip", out)
    assert out.read_bytes() == wanted
    assert answer("verify", image, "clip", "--against", out)["whole"]
    out.write_bytes(wanted + b"\0")
    assert answer("verify", image, "clip", "--against", out, status=LOST)["first_difference"] == len(wanted)
    out.write_bytes(wanted[:-1] + b"x")
    assert answer("verify", image, "clip", "--against", out, status=LOST)["first_difference"] == len(wanted) - 1


def test_health_of_an_image_is_refused(tmp_path):
    spate("format", tmp_path / "rec.img", "--size", "64MiB")
    assert "not an NVMe drive" in spate("health", tmp_path / "rec.img", status=FAILED).stderr


def test_progress_as_json(tmp_path):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256MiB")
    words = ("record", image, "run", "--from", "synthetic", "--rate", "20MB/s", "--size", "50MB")
    lines = [json.loads(line) for line in spate(*words, "--progress", "json").stderr.splitlines() if line.startswith("{")]
    assert lines and all(line["total_bytes"] == 50_000_000 and line["pressure"] in ("calm", "watch", "slow", "critical")
                         for line in lines)
    assert [line["bytes"] for line in lines] == sorted(line["bytes"] for line in lines)
    quiet = spate("verify", image, "run", "--progress", "none")
    assert quiet.stderr == ""
    spate("ls", image, "--progress", "loud", status=USAGE)
