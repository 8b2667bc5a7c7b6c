# SPDX-License-Identifier: Apache-2.0
"""Targets that are a part of a drive: a partition as a window of a virtual drive, a partition device of the kernel, and another
namespace in an emulated machine. The rest of the drive stays unchanged, byte for byte."""

import os
import random
import shutil

import program
import pytest
import volume as judge
from conftest import ROOT

from test_spate_drive import VFIO, good, guest
from test_spate_image import FAILED, MIB, REFUSED, USAGE, answer, spate

TABLE = """label: gpt
start=1MiB, size=64MiB, type=linux
start=65MiB, size=256MiB, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7
start=321MiB, size=64MiB, type=linux
"""
SECOND = (65 * MIB, 256 * MIB)
SECTORS_PER_MIB = MIB // 512
PAGE = 4096


def outside(path, start, length):
    """All pages of a sparse file outside of this range that are not zero: {offset: content}."""
    found = {}
    with open(path, "rb") as file:
        at, size = 0, os.stat(path).st_size
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            for page in range(at // PAGE * PAGE, end, PAGE):
                if start <= page < start + length:
                    continue
                content = os.pread(file.fileno(), PAGE, page)
                if content.strip(b"\0"):
                    found[page] = content
            at = end
    return found


def partitioned(path, size_bytes):
    with open(path, "wb") as file:
        file.truncate(size_bytes)
    program.run("sfdisk", "--quiet", path, input=TABLE)
    noise = random.Random(4)
    with open(path, "r+b") as file:
        for at in (1 * MIB, 64 * MIB, 321 * MIB, 384 * MIB, 400 * MIB):  # both ends of the other partitions, and behind them
            file.seek(at)
            file.write(noise.randbytes(MIB))
    return path


@pytest.fixture
def kept(tmp_path):
    return partitioned(tmp_path / "kept.img", 2 * 10**12)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(random.Random(1).randbytes(9 * MIB + 1234))
    return path


def judged(image, folder, start, length):
    """Checks the volume in a partition with fsck.exfat, and its place in the boot sector. Returns the files that The Sleuth
    Kit finds."""
    part = folder / "part.img"
    judge.copy_sparse(image, start, length, part)
    judge.fsck(part)
    boot = part.read_bytes()[:512]
    assert int.from_bytes(boot[64:72], "little") * 512 == start  # PartitionOffset
    heap = int.from_bytes(boot[88:92], "little") * 512
    cluster = 1 << (boot[108] + boot[109])
    assert (start + heap) % cluster == 0  # clusters are aligned on the whole drive
    return set(judge.files(part))


# ---- windows ----


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
    assert judged(kept, tmp_path, *SECOND) >= {"clip", "run", "more"}
    assert outside(kept, *SECOND) == before
    spate("trim", window, "--yes")
    assert "holds no volume" in spate("info", window, status=FAILED).stderr
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


# ---- the kernel's partitions, and namespaces ----


def test_partitions_and_namespaces_of_a_drive_in_a_machine(make_image, tmp_path):
    """Through the kernel, and through the library's own driver."""
    drive, second = partitioned(make_image(1), 512 * MIB), make_image(256 * MIB)
    before = outside(drive, *SECOND)
    options = ("-drive", f"if=none,id=second,format=raw,cache=unsafe,discard=unmap,file={second}", "-device",
               "nvme-ns,drive=second,bus=nvme-rec,nsid=2")
    said = guest(f"""
      check device spate format /dev/nvme0n1p2 --yes
      mount -t exfat /dev/nvme0n1p2 /mnt
      dd if=/dev/urandom of=/mnt/theirs bs=1M count=7 2>/dev/null
      check theirs sha256sum /mnt/theirs
      for target in /dev/nvme0n1p2 /dev/nvme0n1; do
        check mounted-info-$(basename $target) spate info $target
        check mounted-check-$(basename $target) spate check $target
      done
      umount /mnt
      check record spate record vfio:{VFIO}/n1p2 run --from synthetic --size 40MB --bind
      spate extract vfio:{VFIO}/n1p2 theirs - --bind --progress none > /tmp/theirs
      check theirs-read sha256sum /tmp/theirs
      settle /dev/nvme0n1p2
      check verify spate verify /dev/nvme0n1p2 run
      check third spate format vfio:{VFIO}/n3 --bind --yes
      check format-second spate format vfio:{VFIO}/n2 --bind --yes
      check record-second spate record vfio:{VFIO}/n2 run2 --from synthetic --size 20MB --bind
      settle /dev/nvme0n2p1
      check verify-second spate verify /dev/nvme0n2 run2
      check erase spate erase vfio:{VFIO}/n2 --bind --yes
      settle /dev/nvme0n1p2
      check first-stays spate verify /dev/nvme0n1p2 run
      check type spate format /dev/nvme0n1p3 --erase --yes
    """, {"rec": drive}, tmp_path, iommu=True, options=options)
    good(said, "device", "record", "verify", "format-second", "record-second", "verify-second", "first-stays", "type")
    assert "Windows will not show" in said["type"].text and "Windows" not in said["device"].text
    for disk, what in ("nvme0n1p2", "it is mounted on /mnt"), ("nvme0n1", "has a partition /dev/nvme0n1p2 that is mounted"):
        for command in "info", "check":
            report = said[f"mounted-{command}-{disk}"]
            assert report.status == 0 and "in use just now" in report.text and what in report.text, report
            assert "not closed properly" not in report.text
    assert said["theirs"].text.split()[0] == said["theirs-read"].text.split()[0]
    assert said["third"].status == FAILED and "no active namespace 3" in said["third"].text
    assert judged(drive, tmp_path, *SECOND) >= {"run", "theirs"}
    third = range(321 * MIB, 385 * MIB)  # formatted by the last command
    assert outside(drive, SECOND[0], third.stop - SECOND[0]) == {at: page for at, page in before.items() if at not in third}
