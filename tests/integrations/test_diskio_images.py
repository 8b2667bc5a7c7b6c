# SPDX-License-Identifier: Apache-2.0
"""Volumes that FatFs recorded through integrations/fatfs, judged by programs of others: fsck.exfat, fsck.fat, The Sleuth Kit, and
for exFAT the library."""

import re

import numpy
import program
import pytest

from exfat_tools import Volume, fsck

pytestmark = pytest.mark.thorough

KIB, MIB = 1 << 10, 1 << 20
VOLUMES = [("exfat", 512, 32 * KIB), ("exfat", 4096, 32 * KIB), ("fat32", 512, 4 * KIB), ("fat32", 4096, 4 * KIB)]


def content(number, size):
    """content() of diskio_fixture.h."""
    with numpy.errstate(over="ignore"):
        values = numpy.arange(size, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        values += numpy.uint64(number) * numpy.uint64(0xBF58476D1CE4E5B9)
    return (values >> numpy.uint64(56)).astype(numpy.uint8).tobytes()


def name_of(volume):
    return f"{volume[0]}-{volume[1]}"


@pytest.fixture(scope="module", params=VOLUMES, ids=name_of)
def recorded(request, tool, tmp_path_factory):
    """(format, size of a block, image, {path: contents})"""
    form, block, cluster = request.param
    image = tmp_path_factory.mktemp("diskio") / "image"
    lines = program.run(tool("diskio_image"), form, block, cluster, 512 * MIB, image, timeout_s=120).stdout.splitlines()
    files = {}
    for line in lines:
        number, size, path = line.split(" ", 2)
        files[path.lstrip("/")] = content(int(number), int(size))
    assert len(files) == 10
    yield form, block, image, files
    image.unlink()


def test_the_checker_finds_nothing(recorded):
    form, block, image, files = recorded
    if form == "exfat":
        text = fsck(image, block)
        assert f"directories 3, files {len(files)}" in text
    else:
        done = program.run("fsck.fat", "-n", "-v", image)  # its status is 0: no finding
        assert re.search(rf"{block} bytes per logical sector", done.stdout)
        assert re.search(rf": {len(files) + 2} files, ", done.stdout), done.stdout  # folders count as files


def test_the_sleuth_kit_reads_the_same(recorded):
    form, block, image, files = recorded
    options = ["-f", form, "-b", block]
    listing = program.run("fls", *options, "-r", "-p", "-u", image).stdout
    found = {path: inode for inode, path in re.findall(r"^r/r (\d+):\t(.+)$", listing, re.M)}
    assert set(files) <= set(found)
    assert {path for path in found if not path.startswith("$")} == set(files)
    for path, data in files.items():
        assert program.run("icat", *options, image, found[path], text=False).stdout == data, path


@pytest.mark.parametrize("recorded", VOLUMES[:2], ids=name_of, indirect=True)  # the library reads exFAT only
def test_the_library_reads_the_same(recorded, tool):
    _, block, image, files = recorded
    volume = Volume(tool("volume"), image, block)
    assert {path for path, entry in volume.tree().items() if not entry[0]} == set(files)
    for path, data in files.items():
        assert volume.get(path) == data, path
