# SPDX-License-Identifier: Apache-2.0
"""fsck.exfat reports no error on the volumes that an earlier version left open (images/) and that this version has recovered."""

from pathlib import Path

import pytest

from exfat_tools import Volume, fsck

IMAGES = Path(__file__).parent / "images"
NAMES = sorted(path.stem for path in IMAGES.glob("*.txt") if not path.stem.endswith("-formatted"))
ROW_BYTES = 32


def lines(name):
    return [line.split() for line in (IMAGES / f"{name}.txt").read_text().splitlines()]


def expand(name, path):
    """Writes the volume of the image `name` to `path`. Returns the block size, and {path of a file: its length}."""
    block_bytes, files = 0, {}
    for word, *words in lines(name):
        if word == "over":
            block_bytes, _ = expand(words[0], path)
        elif word == "volume":
            block_bytes = int(words[0])
            with open(path, "wb") as image:
                image.truncate(int(words[1]))
        elif word == "file":
            files[words[3]] = int(words[0])
        elif word == "row":
            row = bytes.fromhex(words[2])
            assert len(row) == ROW_BYTES
            with open(path, "r+b") as image:
                image.seek(int(words[0], 16))
                image.write(row * int(words[1]))
    return block_bytes, files


def test_there_are_images():
    assert len(NAMES) == 34


@pytest.mark.parametrize("name", NAMES)
def test_fsck_accepts_the_recovered_volume(tool, tmp_path, name):
    path = tmp_path / "image"
    block_bytes, files = expand(name, path)
    volume = Volume(tool("volume"), path, block_bytes)
    volume.options += ["-s", "1"]
    volume.run("recover")
    assert {path: size for path, (directory, size, *_) in volume.tree().items() if not directory} == files
    fsck(path, block_bytes)
