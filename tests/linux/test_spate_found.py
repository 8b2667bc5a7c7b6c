# SPDX-License-Identifier: Apache-2.0
"""Volumes of others that are hard to find, or that may only be read. No message advises to format what may hold data."""

import os
import re
import signal
import struct
import subprocess
import time

import program
import pytest
import volume as judge

from exfat_edit import edited
from spate_command import DONE, FAILED, MIB, REFUSED, SPATE, USAGE, answer, spate

LINUX, BASIC_DATA = "0FC63DAF-8483-4772-8E79-3D69D8477DE4", "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"
START, SIZE = 20 * MIB, 64 * MIB
DATA = bytes(range(256)) * 100


def blank(path, size):
    with open(path, "wb") as file:
        file.truncate(size)
    return path


def formatted(path, size=SIZE, *words):
    """A volume of mkfs.exfat with one recording."""
    program.run("mkfs.exfat", *words, blank(path, size))
    spate("record", path, "clip", input=DATA, text=False)
    return path


def contents(target):
    return spate("extract", target, "clip", "-", text=False).stdout


def refused(target, why):
    """The volume can be read. It cannot be changed, and the command says why."""
    said = spate("info", target)
    assert f"the volume is mounted read only: {why}" in said.stderr, said.stderr
    assert contents(target) == DATA
    before = open(target, "rb").read()
    assert "READ_ONLY" in spate("record", target, "more", input="x", status=FAILED).stderr
    assert "READ_ONLY" in spate("rm", target, "clip", status=FAILED).stderr
    assert open(target, "rb").read() == before


def put(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


# ---- where the volume is ----


def table(path, script):
    program.run("sfdisk", "--quiet", "--wipe", "always", path, input=script)


PLACES = {
    "FAT32 in an MBR": f"label: dos\nstart=2048, size=2048, type=83\nstart={START // 512}, size={SIZE // 512}, type=c\n",
    "FAT32 CHS in an MBR": f"label: dos\nstart={START // 512}, size={SIZE // 512}, type=b\n",
    "Linux in an MBR": f"label: dos\nstart={START // 512}, size={SIZE // 512}, type=83\n",
    "a logical partition": "label: dos\nstart=2048, size=16384, type=7\nstart=20480, size=200000, type=f\n"
                           f"start=22528, size=10240, type=7\nstart={START // 512}, size={SIZE // 512}, type=7\n",
    "Linux in a GPT": f"label: gpt\nstart={START // 512}, size={SIZE // 512}, type={LINUX}\n",
    "after another of basic data": f"label: gpt\nstart=2048, size=20480, type={BASIC_DATA}\n"
                                   f"start={START // 512}, size={SIZE // 512}, type={BASIC_DATA}\n",
}


@pytest.mark.parametrize("place", PLACES)
def test_the_volume_of_a_drive_is_found(place, tmp_path):
    part = formatted(tmp_path / "part.img")
    drive = blank(tmp_path / "drive.img", 128 * MIB)
    table(drive, PLACES[place])
    put(drive, START, part.read_bytes())
    assert contents(drive) == DATA
    spate("record", drive, "more", input="x")
    assert answer("check", drive)["bad"] == 0
    # The partition by its number: the same volume.
    number = 6 if "logical" in place else PLACES[place].count("start")
    assert spate("extract", f"{drive}/p{number}", "more", "-").stdout == "x"
    other = spate("info", f"{drive}/p{number + 1}", status=FAILED).stderr
    assert f"no partition {number + 1}" in other and f"partition {number}: " in other and "exfat" in other


def test_a_partition_of_an_image(tmp_path):
    drive = blank(tmp_path / "drive.img", 128 * MIB)
    table(drive, f"label: gpt\nsize=40MiB, type={BASIC_DATA}\nsize=60MiB, type={BASIC_DATA}\n")
    for number in (1, 2):
        spate("format", f"{drive}/p{number}", "--label", f"PART{number}", "--yes")
        spate("record", f"{drive}/p{number}", "clip", input=str(number))
    assert [spate("extract", f"{drive}/p{number}", "clip", "-").stdout for number in (1, 2)] == ["1", "2"]
    assert answer("info", f"{drive}/p2")["volume"]["label"] == "PART2"
    assert answer("info", drive)["volume"]["label"] == "PART1"
    assert "holds data" in spate("format", f"{drive}/p2", status=REFUSED).stderr
    assert "cannot be recorded onto itself" in spate("record", f"{drive}/p2", "x", "--from", drive, status=2).stderr
    assert "Not a directory" in spate("info", f"{drive}/q2", status=FAILED).stderr
    assert "no such file" in spate("info", f"{tmp_path}/none/p2", status=FAILED).stderr
    folder = tmp_path / "folder"
    folder.mkdir()
    spate("format", folder / "p1", "--size", "32MiB")  # a file may have such a name
    assert answer("check", folder / "p1")["bad"] == 0


# ---- what is only read ----


def test_a_volume_that_was_cut_short(tmp_path):
    card = formatted(tmp_path / "card.img")
    os.truncate(card, SIZE - 10 * MIB)
    refused(card, "it says that it is longer than the partition or device")


def test_what_is_only_read_is_not_recovered(tmp_path):
    card = formatted(tmp_path / "card.img")
    run = subprocess.Popen([SPATE, "record", card, "killed", "--size", "4MiB"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    run.stdin.write(bytes(2 * MIB))
    run.stdin.flush()
    time.sleep(1)
    run.kill()
    run.communicate()
    os.truncate(card, SIZE - 10 * MIB)
    said = spate("recover", card, status=FAILED)
    assert "not repaired, because the volume is read only" in said.stdout
    assert "spate recover repairs" not in spate("check", card, status=FAILED).stdout


def test_a_file_behind_the_end_is_named(tmp_path):
    card = formatted(tmp_path / "card.img")
    spate("record", card, "far", input="far")
    with edited(card) as volume:
        far = volume.find("far")
        volume.mark(far.first_cluster, False)
        volume.mark(volume.count + 1, True)
        struct.pack_into("<I", far.data, 52, volume.count + 1)
        far.seal()
        volume.put(far)
    os.truncate(card, SIZE - 10 * MIB)
    assert "far: its clusters or its length are impossible" in spate("ls", card, status=FAILED).stderr
    assert "clip" in spate("ls", card, status=FAILED).stdout
    assert contents(card) == DATA


def test_sectors_that_are_several_blocks(tmp_path):
    """A volume of a drive of 4096-byte blocks, behind an adapter that has blocks of 512."""
    wide = tmp_path / "wide.img"
    spate("format", wide, "--size", "128MiB", "--block", "4096")
    spate("record", wide, "clip", input=DATA, text=False)
    start, size = judge.partition_offset_bytes(wide, 4096)
    part = tmp_path / "part.img"
    judge.copy_sparse(wide, start, size, part)
    drive = blank(tmp_path / "drive.img", 256 * MIB)
    table(drive, f"label: gpt\nstart={START // 512}, size={size // 512}, type={BASIC_DATA}\n")
    put(drive, START, part.read_bytes())
    refused(drive, "its sectors are larger than the device's blocks")


def test_a_backup_that_wipefs_left(tmp_path):
    card = formatted(tmp_path / "card.img")
    program.run("wipefs", "--all", card)
    refused(card, "its main boot region was overwritten")


def test_a_card_that_became_fat(tmp_path):
    """mkfs.fat may leave exFAT's backup boot region: the volume is FAT's."""
    card = formatted(tmp_path / "card.img")
    region = card.read_bytes()[12 * 512:24 * 512]
    program.run("mkfs.fat", card)
    put(card, 12 * 512, region)
    said = spate("info", card, status=FAILED).stderr
    assert "vfat" in said and "has no exFAT volume, but perhaps other data" in said


def test_a_damaged_boot_sector_of_a_volume_without_a_table(tmp_path):
    card = formatted(tmp_path / "card.img")
    put(card, 0, bytes(512 * 12))
    assert contents(card) == DATA
    spate("record", card, "more", input="x")
    program.run("fsck.exfat", "-n", card)


def test_a_root_directory_that_is_a_loop(tmp_path):
    card = formatted(tmp_path / "card.img")
    with edited(card) as volume:
        fat = struct.unpack_from("<I", volume.read(0, 512), 80)[0] * 512
        volume.write(fat + 4 * volume.root, struct.pack("<I", volume.root))
    refused(card, "the root directory's chain of clusters is broken")


@pytest.mark.parametrize("left", ["mkswap", "md"])
def test_a_boot_sector_that_swap_and_arrays_leave(left, tmp_path):
    """Their superblocks lie within the main boot region: it is not written again."""
    card = formatted(tmp_path / "card.img")
    if left == "mkswap":
        program.run("mkswap", card)
    else:
        put(card, 4096, struct.pack("<I", 0xA92B4EFC) + b"superblock of md" * 20)
    refused(card, "its main boot region was overwritten")


@pytest.mark.parametrize("kind", ["table", "bitmap"])
def test_a_volume_without_table_or_bitmap(kind, tmp_path):
    card = formatted(tmp_path / "card.img")
    with edited(card) as volume:
        root = volume.heap + (volume.root - 2) * volume.cluster_bytes
        for at in range(root, root + 512, 32):
            if volume.read(at, 1)[0] == (0x82 if kind == "table" else 0x81):
                volume.file.seek(at)
                volume.file.write(b"\x02" if kind == "table" else b"\x01")
    refused(card, "its up-case table is missing" if kind == "table" else "its allocation bitmap is missing")


# ---- what is no volume ----


def test_only_a_blank_target_is_one_to_format(tmp_path):
    target = blank(tmp_path / "target.img", 64 * MIB)
    assert "is blank and has no volume: spate format" in spate("info", target, status=FAILED).stderr
    put(target, 512 * 1024, b"x")
    said = spate("info", target, status=FAILED).stderr
    assert "perhaps other data" in said and "spate format" not in said
    program.run("mkfs.ext4", "-q", "-F", "-L", "notes", target)
    said = spate("info", target, status=FAILED).stderr
    assert 'ext4 "notes"' in said and "spate format" not in said
    table(target, f"label: gpt\nsize=40MiB, type={BASIC_DATA}\n")
    said = spate("info", target, status=FAILED).stderr
    assert "partition 1" in said and "spate format" not in said


def test_both_boot_regions_are_damaged(tmp_path):
    card = formatted(tmp_path / "card.img")
    for region in (0, 12):
        put(card, region * 512 + 120, b"damage")
    said = spate("info", card, status=FAILED).stderr
    assert "exfat" in said and "spate format" not in said


def test_a_damaged_gpt_is_not_one_to_format(tmp_path):
    target = tmp_path / "target.img"
    spate("format", target, "--size", "64MiB")
    put(target, 512, bytes(512))
    put(target, 64 * MIB - 512, bytes(512))
    said = spate("info", target, status=FAILED).stderr
    assert "TABLE" in said and "repair them with a PC" in said and "spate format" not in said


# ---- what a failure leaves ----


def folders(target):
    return [entry["path"] for entry in answer("ls", target)["entries"]]


def test_a_recording_that_fails_leaves_no_folder(tmp_path):
    card = formatted(tmp_path / "card.img")
    spate("record", card, "there/clip", input="x")
    kept = sorted(folders(card))
    spate("record", card, "clip/in/a/file", input="x", status=FAILED)  # a file is no folder
    assert sorted(folders(card)) == kept
    spate("record", card, "a/b/c", input="", status=FAILED)  # a source that sends nothing
    spate("record", card, "there/d/e", input="", status=FAILED)
    assert sorted(folders(card)) == kept
    spate("record", card, "a/b:c/clip", input="x", status=USAGE)  # no name of exFAT
    spate("record", card, f"a/{'n' * 256}", input="x", status=FAILED)  # too long
    spate("record", card, "a/clip", "--from", "synthetic", "--size", "1TB", status=FAILED)
    assert sorted(folders(card)) == kept
    spate("record", card, "a/b/c", input="x")
    assert sorted(folders(card)) == sorted([*kept, "a", "a/b", "a/b/c"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_format_leaves_no_file(number, tmp_path):
    target, interrupted = tmp_path / "new.img", False
    for delay_ms in (*20 * (0,), 1, 2, 5, 10, 20, 50, 100, 200, 400, 800):
        run = subprocess.Popen([SPATE, "format", target, "--size", "256GiB", "--cluster", "1MiB"], stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # under nohup SIGHUP is ignored
        while not target.exists() and run.poll() is None:
            pass
        time.sleep(delay_ms / 1000)
        run.send_signal(number)
        run.communicate()
        if run.returncode == DONE:  # on a busy machine also without a delay
            assert answer("check", target)["bad"] == 0
            target.unlink()
            if interrupted:
                return
        else:
            assert not target.exists() and run.returncode in (128 + number, -number)
            interrupted = True
    assert interrupted
