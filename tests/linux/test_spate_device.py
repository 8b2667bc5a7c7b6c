# SPDX-License-Identifier: Apache-2.0
"""The command spate on block devices of the kernel. The tests use loop devices, which only root may set up."""

import contextlib
import json
import os
import pathlib
import random
import stat

import needs
import program
import pytest

from spate_command import LOST, MIB, REFUSED, answer, digest, spate

pytestmark = pytest.mark.skipif(not os.access("/dev/loop-control", os.R_OK | os.W_OK),
                                reason="loop devices are for root: run make test-system as root, too")


@contextlib.contextmanager
def loop(path, *options):
    device = program.run("losetup", "--find", "--show", *options, path).stdout.strip()
    try:
        yield device
    finally:
        program.run("losetup", "--detach", device)


@contextlib.contextmanager
def mounted(device, folder):
    folder.mkdir()
    program.run("mount", device, folder)
    try:
        yield
    finally:
        program.run("umount", folder)


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    with open(path, "wb") as file:
        file.truncate(256 * MIB)
    return path


@pytest.mark.parametrize("block", [512, 4096])
def test_a_recording_on_a_device(disk, block):
    data = random.Random(block).randbytes(5 * MIB + 4321)
    with loop(disk, "--sector-size", block) as device:
        spate("format", device, "--yes")
        info = answer("info", device)
        assert info["block_bytes"] == block and info["bytes"] == 256 * MIB
        spate("record", device, "clip", input=data, text=False)
        spate("record", device, "run", "--from", "synthetic", "--size", "20MB")
        assert spate("extract", device, "clip", "-", text=False).stdout == data
        assert answer("verify", device, "run")["whole"]
        spate("rm", device, "clip")
        assert [entry["path"] for entry in answer("ls", device)["entries"]] == ["run"]


def test_an_image_on_a_disk_of_larger_blocks(disk, tmp_path):
    """O_DIRECT cannot write the image's blocks of 512 bytes there."""
    with loop(disk, "--sector-size", 4096) as device:
        program.run("mkfs.ext4", "-q", device)
        with mounted(device, tmp_path / "mnt"):
            image = tmp_path / "mnt" / "rec.img"
            spate("format", image, "--size", "64MiB")
            spate("record", image, "run", "--from", "synthetic", "--size", "5MB")
            assert answer("verify", image, "run")["whole"]


def test_a_disk_that_is_full_below_the_image(disk, tmp_path):
    program.run("mkfs.ext4", "-q", disk)
    with loop(disk) as device, mounted(device, tmp_path / "mnt"):
        image = tmp_path / "mnt" / "rec.img"
        spate("format", image, "--size", "1GiB")
        done = spate("record", image, "run", "--from", "synthetic", "--size", "500MB", "--output-format=json", status=LOST)
        report = json.loads(done.stdout)["files"][0]
        assert f"the file system of {image} is full" in done.stderr
        assert report["lost_bytes"] > 0 and report["error"] == "NO_SPACE" and "COMMAND" not in done.stderr


def test_a_mounted_device_is_refused(disk, tmp_path):
    program.run("mkfs.ext4", "-q", disk)
    with loop(disk) as device, mounted(device, tmp_path / "mnt"):
        said = spate("format", device, "--erase", "--yes", status=REFUSED).stderr
        assert f"is mounted on {tmp_path}/mnt" in said and "nothing was written" in said


def partition_of(device):
    """The folder in /sys of a loop device's first partition."""
    name = os.path.basename(device)
    folder = pathlib.Path(f"/sys/block/{name}/{name}p1")
    if not folder.exists():
        pytest.skip("this kernel looks for no partitions on loop devices")
    return folder


@needs.sysfs
def test_a_device_with_a_mounted_partition_is_refused(disk, tmp_path):
    program.run("sfdisk", "--quiet", disk, input="start=2048, type=83\n")
    with loop(disk, "--partscan") as device:
        numbers = (partition_of(device) / "dev").read_text().split(":")
        part = tmp_path / "part"  # a node of our own, because udev may not be running here
        os.mknod(part, 0o600 | stat.S_IFBLK, os.makedev(*map(int, numbers)))
        program.run("mkfs.ext4", "-q", part)
        with mounted(part, tmp_path / "mnt"):
            said = spate("format", device, "--erase", "--yes", status=REFUSED).stderr
            assert f"has a partition {device}p1 that is mounted on {tmp_path}/mnt" in said


@needs.sysfs
def test_the_kernel_sees_the_new_partition(disk):
    with loop(disk, "--partscan") as device:
        program.run("sfdisk", "--quiet", device, input="start=4096, type=83\n")
        assert (partition_of(device) / "start").read_text() == "4096\n"
        spate("format", device, "--erase", "--yes")
        assert (partition_of(device) / "start").read_text() == "2048\n"


def test_a_foreign_file_system_is_refused_and_stays(disk):
    program.run("mkfs.ext4", "-q", disk)
    with loop(disk) as device:
        before = digest(disk)
        assert "--erase" in spate("format", device, "--yes", status=REFUSED).stderr
        assert "has no exFAT volume" in spate("ls", device, status=1).stderr
        assert digest(disk) == before


def test_reading_commands_write_nothing(disk):
    with loop(disk) as device:
        spate("format", device, "--yes")
        spate("record", device, "run", "--from", "synthetic", "--size", "3MB")
    before = digest(disk)
    with loop(disk, "--read-only") as device:
        spate("ls", device)
        spate("info", device)
        assert answer("verify", device, "run")["whole"]
    assert digest(disk) == before
