# SPDX-License-Identifier: Apache-2.0
"""Targets that need no machine of their own: virtual drives under the library's driver, and stripes; and the commands on
them that others have no use for."""

import json
import random
import re
import time

import program
import pytest
import volume as judge

from test_spate_image import FAILED, REFUSED, USAGE, answer, digest, spate

MIB = 1 << 20


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(random.Random(1).randbytes(9 * MIB + 1234))
    return path


# ---- virtual drives ----


def test_a_virtual_drive_keeps_what_is_on_it_in_a_file(tmp_path, data):
    kept = tmp_path / "kept.img"
    drive = f"sim:990pro:{kept}"
    spate("format", drive, "--yes")
    spate("record", drive, "clip", "--from", data)
    spate("record", drive, "run", "--from", "synthetic", "--size", "30MB")
    assert answer("verify", drive, "run")["whole"]
    assert spate("extract", drive, "clip", "-", text=False).stdout == data.read_bytes()
    before = kept.stat()  # two terabytes, sparse: nobody reads it whole
    for command in (("ls", drive), ("info", drive), ("check", drive), ("verify", drive, "run"), ("health", drive)):
        spate(*command)
    assert (kept.stat().st_mtime_ns, kept.stat().st_blocks) == (before.st_mtime_ns, before.st_blocks)
    # The file is the drive as others see it.
    assert spate("extract", kept, "clip", "-", text=False).stdout == data.read_bytes()
    judge.partition_offset_bytes(kept)


def test_a_virtual_drive_without_a_file_is_new_each_time():
    assert "serial SPATE0001" in spate("health", "sim:970evoplus").stdout
    spate("format", "sim:ideal", "--yes")
    assert "holds no volume" in spate("info", "sim:ideal", status=FAILED).stderr


def test_wrong_virtual_drives(tmp_path):
    assert "990pro" in spate("health", "sim:nonsense", status=USAGE).stderr
    spate("format", f"sim:990pro:{tmp_path}/kept", "--yes")
    assert "not kept by a virtual drive of this profile" in spate("info", f"sim:ideal:{tmp_path}/kept", status=REFUSED).stderr
    spate("info", f"sim:990pro:{tmp_path}/none/kept", status=FAILED)


def test_speed_in_virtual_time():
    """The rates of the drive's profile come out, whatever the machine is."""
    said = answer("speedtest", "sim:990pro", "--for", "50ms")
    jobs = {job["job options"]["bs"]: job["read"] for job in said["jobs"]}
    assert set(jobs) == {"4k", "128k", "1024k"}
    assert jobs["1024k"]["bw_bytes"] == pytest.approx(7.0e9, rel=0.03)
    for job in jobs.values():
        latency = job["lat_ns"]
        shares = list(latency["percentile"].values())
        assert shares == sorted(shares) and latency["min"] <= latency["mean"] <= latency["max"] == max(latency["max"], shares[-1])
        assert job["iops"] == pytest.approx(job["total_ios"] / job["runtime"] * 1000, rel=0.01)
        # Little's law: what is in flight is rate times latency.
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


# ---- before something is lost ----


def test_what_is_on_a_target_is_named(pair):
    a, b = pair
    program.run("mkfs.exfat", "-L", "theirs", b)
    said = spate("format", b, status=REFUSED).stderr
    assert "exfat" in said and "128 MiB" in said
    program.run("sfdisk", "--quiet", a, input="label: gpt\n,32M\n,64M\n")
    program.run("mkfs.ext4", "-q", "-L", "second", "-E", f"offset={33 * MIB}", a, "64M")
    said = spate("format", a, "--erase", status=REFUSED).stderr
    assert "a partition table (gpt)" in said and "partition 1: 33.6 MB, nothing that is known" in said
    assert 'partition 2: 67.1 MB, ext4 "second"' in said
    for command in (("trim", a), ("format", a, "--erase")):
        assert "without a question" in spate(*command, status=REFUSED).stderr


def test_trim_and_erase(tmp_path, pair):
    image, _ = pair
    spate("format", image, "--yes")
    spate("record", image, "run", "--from", "synthetic", "--size", "20MB")
    blocks = image.stat().st_blocks
    spate("trim", image, "--yes")
    assert "holds no volume" in spate("info", image, status=FAILED).stderr and image.stat().st_blocks < blocks / 10
    assert "no NVMe drive" in spate("erase", image, "--yes", status=USAGE).stderr
    drive = f"sim:980pro:{tmp_path}/kept"
    spate("format", drive, "--yes")
    assert "Samsung SSD 980 PRO" in spate("erase", drive, status=REFUSED).stderr
    spate("info", drive)
    spate("erase", drive, "--yes")
    assert "holds no volume" in spate("info", drive, status=FAILED).stderr
    assert (tmp_path / "kept").stat().st_blocks == 0


# ---- check, replay, health ----


def test_check_finds_what_is_wrong(tmp_path, data):
    """Of each kind of damage to the directory's entries: a checksum, a cluster of somebody else's, a chain that ends."""
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256MiB")
    for name in ("one", "two"):
        spate("record", image, name, "--from", data)
    good = answer("check", image)
    assert (good["files"], good["bad"], good["findings"]) == (2, 0, [])
    content = image.read_bytes()
    first, second = (stream_entry(content, name) for name in ("one", "two"))
    first_cluster = content[first + 20 : first + 24]

    def damaged(at, value):
        wrong = bytearray(content)
        wrong[at : at + len(value)] = value
        begin = second - 32
        wrong[begin + 2 : begin + 4] = entry_checksum(wrong[begin : begin + 96])
        image.write_bytes(wrong)
        return answer("check", image, status=FAILED)

    assert "shares a cluster" in damaged(second + 20, first_cluster)["findings"][0]["finding"]
    far = (1 << 30).to_bytes(4, "little")
    assert damaged(second + 20, far)["bad"] == 1
    wrong = bytearray(content)
    wrong[second + 8] ^= 1  # and the checksum stays
    image.write_bytes(wrong)
    assert "contradicts itself" in spate("check", image, status=FAILED).stdout


def stream_entry(content, name):
    """Where the stream extension entry of a file with a short name is (exFAT 7.6)."""
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


def test_replay_keeps_the_pace(tmp_path, data):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "64MiB")
    spate("record", image, "clip", "--from", data)
    assert spate("replay", image, "clip", text=False).stdout == data.read_bytes()
    # Not faster than asked: two seconds for two seconds' bytes. How much slower it was is the machine's affair.
    begun = time.monotonic()
    assert len(spate("replay", image, "clip", "--rate", "8MB/s", text=False).stdout) == data.stat().st_size
    assert time.monotonic() - begun >= data.stat().st_size / 8e6 * 0.95
    spate("replay", image, "clip", "--rate", "none", status=USAGE)
    assert "No space left" in spate("replay", image, "clip", "--to", "/dev/full", status=FAILED).stderr


def test_health_of_what_has_none(tmp_path):
    spate("format", tmp_path / "rec.img", "--size", "64MiB")
    assert "no NVMe drive" in spate("health", tmp_path / "rec.img", status=FAILED).stderr


def test_progress_for_programs(tmp_path):
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


def test_plan():
    assert answer("plan", "--profile", "980pro", "--rate", "1GB/s")["sustained"]
    spate("plan", status=USAGE)
