# SPDX-License-Identifier: Apache-2.0
"""A drive with partitions of which one is for spate: how to make it, what is outside of that partition, and its judge."""

import os
import random

import program
import volume as judge

from spate_command import MIB

TABLE = """label: gpt
start=1MiB, size=64MiB, type=linux
start=65MiB, size=256MiB, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7
start=321MiB, size=64MiB, type=linux
"""
SECOND = (65 * MIB, 256 * MIB)  # start and length of the second partition, in bytes
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
    """Makes a drive with three partitions. Every partition but the second has data, and so has the space behind them."""
    with open(path, "wb") as file:
        file.truncate(size_bytes)
    program.run("sfdisk", "--quiet", path, input=TABLE)
    noise = random.Random(4)
    with open(path, "r+b") as file:
        for at in (1 * MIB, 64 * MIB, 321 * MIB, 384 * MIB, 400 * MIB):  # both ends of the other partitions, and behind them
            file.seek(at)
            file.write(noise.randbytes(MIB))
    return path


def judged_partition(image, folder, start, length):
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
