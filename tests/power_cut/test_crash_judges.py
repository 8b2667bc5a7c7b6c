# SPDX-License-Identifier: Apache-2.0
"""Programs of others read a sample of the states that power cuts leave, before our recovery and after it. The crash gate
keeps the images (tests/power_cut/keep.h), with what our own oracle reads in them; the others must read the same."""

import os
import re
import zlib

import program
import pytest

from conftest import ROOT
from exfat_tools import fsck, fuse_mount, why_no_fuse

pytestmark = pytest.mark.thorough

BUILD = ROOT / "build" / os.environ.get("SPATE_CRASH_BUILD", "host-release")

# About how many states of each program, and which share of them is kept.
PROGRAMS = {"crash_recording": (100, 45), "crash_volumes": (100, 45), "crash_join": (100, 30), "crash_stripe_recorder": (20, 30)}


class Kept:
    """An image and what the oracle read in it."""

    def __init__(self, image):
        self.image = image
        lines = image.with_suffix(".txt").read_text().splitlines()
        _, block_bytes, dirty, whole = lines[0].split()
        self.block_bytes, self.dirty, self.whole = int(block_bytes), dirty == "1", whole == "1"
        self.files = {}
        for line in lines[1:]:
            kind, size, crc, path = line.split(" ", 3)
            self.files[path] = (kind == "d", int(size), int(crc, 16))

    @property
    def recovered(self):
        return self.image.stem.endswith("-after")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    states = []
    for gate, (cuts, every) in PROGRAMS.items():
        folder = tmp_path_factory.mktemp(gate)
        environment = os.environ | {"SPATE_CUTS": str(cuts), "SPATE_KEEP": str(folder), "SPATE_KEEP_EVERY": str(every)}
        program.run(BUILD / "crash" / gate, env=environment, timeout_s=120)
        states += [Kept(image) for image in sorted(folder.glob("*.img"))]
    assert len(states) >= 60
    assert any(state.dirty and not state.recovered for state in states)
    return states


def test_fsck_finds_nothing(kept):
    """Also before recovery: clusters that no file owns yet are no error to fsck. Only a volume that is marked dirty, in the
    middle of a directory change, may have faults that it finds."""
    for state in kept:
        assert state.whole or (state.dirty and not state.recovered)
        if state.whole:
            fsck(state.image)
    assert sum(state.whole and not state.recovered for state in kept) >= 20


def sleuth(*words):
    return program.run(*words, text=False, timeout_s=60).stdout


def test_the_sleuth_kit_reads_the_same(kept):
    for state in kept:
        found = {}
        listed = sleuth("fls", "-r", "-p", "-u", "-f", "exfat", "-b", state.block_bytes, state.image)
        for line in listed.decode().splitlines():
            entry = re.fullmatch(r"([rd])/[rd] (\d+):\t(.*)", line)
            if entry and not entry[3].startswith(("$", "TEST (Volume")):
                found[entry[3]] = (entry[1], entry[2])
        assert set(found) == set(state.files), f"{state.image}"
        for path, (kind, address) in found.items():
            directory, size, crc = state.files[path]
            assert (kind == "d") == directory, f"{state.image}: {path}"
            if directory:
                continue
            content = sleuth("icat", "-f", "exfat", "-b", state.block_bytes, state.image, address) if size else b""
            assert (len(content), zlib.crc32(content)) == (size, crc), f"{state.image}: {path}"


def test_exfat_fuse_reads_the_same(kept, tmp_path):
    reason = why_no_fuse()
    if reason:
        pytest.skip(reason)
    for state in kept[:: len(kept) // 8]:
        with fuse_mount(state.image, tmp_path / "volume", state.block_bytes, read_only=True) as folder:
            found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
            assert set(found) == set(state.files), f"{state.image}"
            for name, path in found.items():
                directory, size, crc = state.files[name]
                assert path.is_dir() == directory, f"{state.image}: {name}"
                if not directory:
                    content = path.read_bytes()
                    assert (len(content), zlib.crc32(content)) == (size, crc), f"{state.image}: {name}"
