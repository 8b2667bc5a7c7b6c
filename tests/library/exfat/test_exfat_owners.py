# SPDX-License-Identifier: Apache-2.0
"""A volume by mkfs.exfat on which two files own the same clusters. Other implementations read it after a deletion."""

import os
import random
import re
import struct

import program
import pytest

from exfat_tools import Failed, Volume, fsck

MIB = 1 << 20
CLUSTER = 32 << 10


@pytest.fixture(scope="session")
def volume_tool(tool):
    return os.environ.get("SPATE_VOLUME") or tool("volume")


def checksum(entry_set):
    value = 0
    for index, byte in enumerate(entry_set):
        if index not in (2, 3):
            value = ((value >> 1) + (value << 15) + byte) & 0xFFFF
    return value


def set_first_cluster(path, name, move):
    """Make the file in the root directory begin `move` clusters later."""
    with open(path, "r+b") as image:
        boot = image.read(512)
        (heap,) = struct.unpack_from("<I", boot, 88)
        (root,) = struct.unpack_from("<I", boot, 96)
        start = heap * 512 + (root - 2) * CLUSTER
        image.seek(start)
        directory = image.read(CLUSTER)
        for at in range(0, CLUSTER, 32):
            entries = directory[at + 1] + 1
            if directory[at] != 0x85 or directory[at + 66 : at + 66 + 2 * len(name)] != name.encode("utf-16-le"):
                continue
            changed = bytearray(directory[at : at + entries * 32])
            (first,) = struct.unpack_from("<I", changed, 52)
            struct.pack_into("<I", changed, 52, first + move)
            struct.pack_into("<H", changed, 2, checksum(changed))
            image.seek(start + at)
            image.write(changed)
            return
    raise AssertionError(f"no {name}")


def by_sleuthkit(path, name):
    listing = program.run("fls", "-p", "-u", path).stdout
    inode = re.search(rf"r/r (\d+):\t{re.escape(name)}$", listing, re.M)[1]
    return program.run("icat", path, inode, text=False).stdout


@pytest.mark.parametrize("window_bytes", [None, 4096])
def test_the_other_file_stays(volume_tool, tmp_path, window_bytes):
    path = tmp_path / "a.img"
    with open(path, "wb") as image:
        image.truncate(64 * MIB)
    program.run("mkfs.exfat", "-c", "32K", path)
    volume = Volume(volume_tool, path, window_bytes=window_bytes)
    first, second, third = (random.Random(name).randbytes(20 * CLUSTER) for name in ("first", "second", "third"))
    volume.put("first", first)
    volume.put("second", second)
    volume.put("third", third)
    set_first_cluster(path, "second", -5) # a quarter of its clusters are the first one's
    expected = first[15 * CLUSTER :] + second[: 15 * CLUSTER]
    assert volume.get("second") == expected == by_sleuthkit(path, "second")

    with pytest.raises(Failed, match="CORRUPT"): # it is deleted, and unmount reports that the volume was damaged
        volume.run("rm", "first")
    assert "first" not in volume.tree()
    taken = 0
    while (longest := int(volume.info()["longest"])) > 0: # record over everything that is free
        volume.put(f"new {taken}", random.Random(taken).randbytes(longest))
        taken += 1
    assert int(volume.info()["free"]) == 0
    for name, data in (("second", expected), ("third", third)):
        assert volume.get(name) == data
        assert by_sleuthkit(path, name) == data
    assert volume.info()["dirty"] == "1"

    program.run("fsck.exfat", "-y", path, statuses=(0, 1)) # the rest of the damage is left to a checker
    fsck(path)
    assert volume.get("second") == expected
