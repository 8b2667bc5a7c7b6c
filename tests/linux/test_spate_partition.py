# SPDX-License-Identifier: Apache-2.0
"""Targets that are a part of a drive: a partition as a range of blocks of a virtual drive. The rest of the drive stays unchanged,
byte for byte. qemu/test_spate_partition_guest.py tests partitions and namespaces in an emulated machine."""

import random
import shutil

import program
import pytest

from conftest import ROOT
from partitioned_drive import PAGE, SECOND, judged_partition, outside, partitioned
from spate_command import FAILED, MIB, REFUSED, USAGE, answer, spate


@pytest.fixture
def kept(tmp_path):
    return partitioned(tmp_path / "kept.img", 2 * 10**12)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(random.Random(1).randbytes(9 * MIB + 1234))
    return path


def test_a_partition_of_a_drive(kept, data, tmp_path):
    window, whole = f"sim:ideal/n1p2:{kept}", f"sim:ideal:{kept}"
    before = outside(kept, *SECOND)
    assert len(before) >= 5 * MIB // PAGE
    said = spate("format", window, "--yes").stderr
    assert "256 MiB" in said and "Windows" not in said
    spate("record", window, "clip", "--from", data)
    spate("record", window, "run", "--from", "synthetic", "--size", "30MB")
    assert answer("verify", window, "run")["whole"] and answer("check", window)["bad"] == 0
    assert answer("info", window)["bytes"] == SECOND[1]
    spate("speedtest", window, "--write", "--size", "1MiB", "--block", "64KiB")
    # The whole drive has one Basic Data partition, so both targets are the same volume.
    assert spate("extract", whole, "clip", "-", text=False).stdout == data.read_bytes()
    spate("record", whole, "more", "--from", data)
    assert spate("extract", window, "more", "-", text=False).stdout == data.read_bytes()
    assert judged_partition(kept, tmp_path, *SECOND) >= {"clip", "run", "more"}
    assert outside(kept, *SECOND) == before
    spate("trim", window, "--yes")
    assert "is blank and has no volume: spate format" in spate("info", window, status=FAILED).stderr
    assert outside(kept, *SECOND) == before
    assert "is a partition" in spate("erase", window, "--yes", status=REFUSED).stderr
    assert outside(kept, *SECOND) == before


def test_a_volume_of_mkfs_exfat_in_a_partition(kept, data, tmp_path):
    part = tmp_path / "theirs"
    with open(part, "wb") as file:
        file.truncate(SECOND[1])
    program.run("mkfs.exfat", "-L", "theirs", part)
    with open(kept, "r+b") as file:
        file.seek(SECOND[0])
        file.write(part.read_bytes())
    window = f"sim:ideal/n1p2:{kept}"
    said = spate("format", window, status=REFUSED).stderr
    assert 'exfat "theirs"' in said and "--erase" in said
    spate("record", window, "clip", "--from", data)
    assert spate("extract", window, "clip", "-", text=False).stdout == data.read_bytes()
    # The boot sector is damaged: the volume has a backup.
    with open(kept, "r+b") as file:
        file.seek(SECOND[0])
        file.write(bytes(512))
    assert spate("extract", window, "clip", "-", text=False).stdout == data.read_bytes()


def test_a_type_that_windows_does_not_show(kept):
    said = spate("format", f"sim:ideal/n1p1:{kept}", "--erase", "--yes").stderr
    assert "0FC63DAF-8483-4772-8E79-3D69D8477DE4" in said.upper() and "Windows will not show" in said


def test_places_that_do_not_exist(kept):
    for place in ("", "n", "n0", "n1p", "n1p0", "1p2", "n1p2x", "n1/p2", "n1/n1", "p1", "n4294967295"):
        assert "/n1p3" in spate("info", f"sim:ideal/{place}:{kept}", status=USAGE).stderr, place
    said = spate("info", f"sim:ideal/n2:{kept}", status=FAILED).stderr
    assert "no active namespace 2" in said and "these: 1" in said
    said = spate("info", f"sim:ideal/n1p4:{kept}", status=FAILED).stderr
    assert "no partition 4" in said and "partition 2: 268 MB" in said
    assert "Name one of these" in said
    said = spate("info", "sim:ideal/n1p1", status=FAILED).stderr
    assert "no known contents" in said and "sfdisk" in said


def test_places_of_a_drive_whose_profile_is_a_file(kept, tmp_path):
    profile = shutil.copy(ROOT / "sim" / "profiles" / "ideal.profile", tmp_path / "mine.profile")
    assert "no partition 4" in spate("info", f"sim:{profile}/n1p4:{kept}", status=FAILED).stderr
    for place in ("n1p", "p1", ""):
        assert "/n1p3" in spate("info", f"sim:{profile}/{place}:{kept}", status=USAGE).stderr, place
    assert "No such file" in spate("info", f"sim:{tmp_path}/yours.profile:{kept}", status=USAGE).stderr


def test_a_table_that_leads_outside_the_drive(kept):
    """The partition is longer than the drive, as after copying a drive onto a smaller one."""
    program.run("sfdisk", "--quiet", "--wipe", "always", kept,
                input="label: dos\nstart=2048, size=131072, type=7\n")
    with open(kept, "r+b") as file:
        file.seek(446 + 12)
        file.write((0xFFFFFFF0).to_bytes(4, "little"))
    assert "no partition 1" in spate("format", f"sim:ideal/n1p1:{kept}", "--yes", status=FAILED).stderr
