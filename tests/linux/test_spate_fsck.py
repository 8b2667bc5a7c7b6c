# SPDX-License-Identifier: Apache-2.0
"""spate check and the newest fsck.exfat judge the same volumes: each kind of damage is damage to both, and a whole volume to
neither. fsck.exfat of 1.2 calls some of these clean."""

import json
import platform
import struct

import program
import pytest

from exfat_edit import edited
from spate_command import FAILED, MIB, SPATE, spate

pytestmark = pytest.mark.thorough

ROOT = program.BUILD / "new-judges" / "root" / "usr"
LIBRARIES = ROOT / "lib" / "x86_64-linux-gnu"
LOADER = LIBRARIES / "ld-linux-x86-64.so.2"


def judge(name, *words, statuses=(0,)):
    """A program of Debian's unstable release, with its own libraries."""
    return program.run(LOADER, "--library-path", LIBRARIES, ROOT / "sbin" / name, *words, statuses=statuses)


def fsck_calls_clean(card):
    return judge("fsck.exfat", "-n", card, statuses=(0, 1, 4)).returncode == 0


def check_calls_clean(card):
    """The answer is a whole document, and its findings decide the exit status."""
    done = program.run(SPATE, "check", card, "--output-format=json", statuses=(0, FAILED))
    bad = json.loads(done.stdout)["bad"]
    assert (bad > 0) == (done.returncode == FAILED)
    return bad == 0


@pytest.fixture
def card(tmp_path):
    """A volume with files in one extent, in several, empty ones, and folders."""
    if platform.machine() != "x86_64":
        pytest.skip("the judge is a program for x86-64")
    path = tmp_path / "card.img"
    with open(path, "wb") as file:
        file.truncate(64 * MIB)
    judge("mkfs.exfat", "-c", "4K", path)
    for name in ("one", "two", "me", "folder/three", "folder/four"):
        spate("record", path, name, input=b"x" * 20_000, text=False)
    return path


def system_entry(volume, kind):
    root = volume.offset(volume.root)
    return next(at for at in range(root, root + volume.cluster_bytes, 32) if volume.read(at, 1)[0] == kind)


def fat(volume):
    boot = volume.read(0, 512)
    return struct.unpack_from("<I", boot, 80)[0] << boot[108]


def chained(volume, name, links):
    """The file is no longer contiguous: its clusters follow each other as the list says."""
    changed = volume.find(name)
    changed.data[33] &= ~2
    changed.seal()
    volume.put(changed)
    for cluster, following in links(changed.first_cluster):
        volume.write(fat(volume) + 4 * cluster, struct.pack("<I", following))


def free_bits(volume):
    volume.mark(volume.find("two").first_cluster + 1, False)


def bitmap_too_small(volume):
    at = system_entry(volume, 0x81) + 24
    volume.write(at, struct.pack("<Q", struct.unpack("<Q", volume.read(at, 8))[0] - 1))


def root_bits_free(volume):
    volume.mark(volume.root, False)


def bitmap_bits_free(volume):
    volume.mark(2, False)


def root_loop(volume):
    volume.write(fat(volume) + 4 * volume.root, struct.pack("<I", volume.root))


def file_loop(volume):
    chained(volume, "one", lambda first: [(first, first + 1), (first + 1, first)])


def chain_too_short(volume):
    chained(volume, "one", lambda first: [(first, first + 1), (first + 1, 0xFFFFFFFF)])


def folder_chain_too_short(volume):
    folder = volume.find("folder")
    struct.pack_into("<QQ", folder.data, 40, 3 * 4096, 0)
    struct.pack_into("<Q", folder.data, 56, 3 * 4096)
    folder.data[33] &= ~2
    folder.seal()
    volume.put(folder)
    volume.write(fat(volume) + 4 * folder.first_cluster, struct.pack("<I", 0xFFFFFFFF))


def chain_too_long(volume):
    first = volume.find("two").first_cluster
    links = [(cluster, cluster + 1) for cluster in range(first, first + 5)]
    for cluster in range(first, first + 6):
        volume.mark(cluster, True)
    chained(volume, "two", lambda _: [*links, (first + 5, 0xFFFFFFFF)])


def empty_with_a_cluster(volume):
    one = volume.find("one")
    struct.pack_into("<Q", one.data, 40, 0)
    struct.pack_into("<Q", one.data, 56, 0)
    one.seal()
    volume.put(one)


def shared_clusters(volume):
    two = volume.find("two")
    struct.pack_into("<I", two.data, 52, volume.find("one").first_cluster)
    two.seal()
    volume.put(two)


def folder_over_a_file(volume):
    folder = volume.find("folder")
    struct.pack_into("<I", folder.data, 52, volume.find("one").first_cluster)
    folder.seal()
    volume.put(folder)


def folder_in_itself(volume):
    folder = volume.find("folder")
    inner = volume.find("three", folder.first_cluster)
    struct.pack_into("<H", inner.data, 4, 0x10)
    struct.pack_into("<I", inner.data, 52, folder.first_cluster)
    struct.pack_into("<Q", inner.data, 40, 4096)
    struct.pack_into("<Q", inner.data, 56, 4096)
    inner.seal()
    volume.put(inner)


def beyond_the_heap(volume):
    one = volume.find("one")
    struct.pack_into("<Q", one.data, 40, 1 << 40)
    struct.pack_into("<Q", one.data, 56, 1 << 40)
    one.seal()
    volume.put(one)


def first_cluster_outside(volume):
    one = volume.find("one")
    struct.pack_into("<I", one.data, 52, volume.count + 2)
    one.seal()
    volume.put(one)


def valid_beyond_length(volume):
    one = volume.find("one")
    struct.pack_into("<Q", one.data, 40, 30_000)
    one.seal()
    volume.put(one)


def dot_entry(volume):
    changed = volume.find("me")
    changed.rename("..")
    changed.seal()
    volume.put(changed)


def upcase_damaged(volume):
    at = system_entry(volume, 0x82)
    cluster = struct.unpack("<I", volume.read(at + 20, 4))[0]
    volume.write(volume.offset(cluster) + 40, b"\xff\xff")


def upcase_missing(volume):
    volume.write(system_entry(volume, 0x82), b"\x02")


def bitmap_missing(volume):
    volume.write(system_entry(volume, 0x81), b"\x01")


def set_checksum(volume):
    one = volume.find("one")
    one.data[2] ^= 1
    volume.put(one)


KINDS = (free_bits, folder_chain_too_short, chain_too_long, empty_with_a_cluster, bitmap_too_small, root_loop, dot_entry, file_loop, chain_too_short, shared_clusters,
         folder_over_a_file, folder_in_itself, beyond_the_heap, first_cluster_outside, valid_beyond_length, upcase_damaged,
         upcase_missing, bitmap_missing, set_checksum)


def test_a_whole_volume_is_clean_to_both(card):
    assert fsck_calls_clean(card) and check_calls_clean(card)


@pytest.mark.parametrize("damage", KINDS, ids=lambda kind: kind.__name__.replace("_", " "))
def test_damage_is_damage_to_both(card, damage):
    with edited(card) as volume:
        damage(volume)
    assert not fsck_calls_clean(card), "the judge"
    assert not check_calls_clean(card), "spate check"


@pytest.mark.parametrize("damage", [root_bits_free, bitmap_bits_free], ids=["root", "bitmap"])
def test_what_fsck_calls_clean_and_repairs(card, damage):
    """It does not compare the clusters of the volume itself with the bitmap, but writes them."""
    with edited(card) as volume:
        damage(volume)
    assert fsck_calls_clean(card) and not check_calls_clean(card)
    judge("fsck.exfat", "-p", card)
    assert check_calls_clean(card)


@pytest.mark.parametrize("damage", [bitmap_too_small, upcase_damaged, upcase_missing], ids=lambda kind: kind.__name__)
def test_what_fsck_repairs_is_written_again(card, damage):
    """The sentences name fsck.exfat for these."""
    with edited(card) as volume:
        damage(volume)
    assert "READ_ONLY" in spate("record", card, "new", input="x", status=FAILED).stderr
    judge("fsck.exfat", "-y", card, statuses=(1,))
    spate("record", card, "new", input="x")
    assert check_calls_clean(card)


def test_each_hole_in_the_bitmap_is_named(card):
    with edited(card) as volume:
        first = volume.find("one").first_cluster
        for cluster in (first, first + 2, first + 3):
            volume.mark(cluster, False)
    said = spate("check", card, status=FAILED).stdout
    assert f"clusters {first} to {first} are free" in said and f"clusters {first + 2} to {first + 3} are free" in said


def test_a_loop_is_one_finding(card):
    with edited(card) as volume:
        changed = volume.find("one")
        struct.pack_into("<Q", changed.data, 40, 8 << 20)
        struct.pack_into("<Q", changed.data, 56, 8 << 20)
        volume.put(changed)
        chained(volume, "one", lambda first: [(first, first)])
    assert spate("check", card, status=FAILED).stdout.count("one: it shares a cluster with one") == 1
