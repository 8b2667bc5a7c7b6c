# SPDX-License-Identifier: Apache-2.0
"""The command spate on volumes that others have made or damaged: it records beside what it cannot read, lists the rest, and says
what is wrong."""

import json
import struct

import program
import pytest

from exfat_edit import edited
from spate_command import DONE, FAILED, MIB, answer, spate


@pytest.fixture
def card(tmp_path):
    """A volume of mkfs.exfat without a partition table, and without our reservation record."""
    path = tmp_path / "card.img"
    with open(path, "wb") as file:
        file.truncate(64 * MIB)
    program.run("mkfs.exfat", "-c", "4K", path)
    return path


def put(card, name, size=10_000, byte=b"x"):
    spate("record", card, name, input=byte * size, text=False)


def paths(card, **options):
    return [entry["path"] for entry in answer("ls", card, **options)["entries"]]


@pytest.mark.parametrize("cluster", ["512", "4K", "32K"])
def test_a_fresh_card_takes_the_first_recording(tmp_path, cluster):
    card = tmp_path / "card.img"
    with open(card, "wb") as file:
        file.truncate(64 * MIB)
    program.run("mkfs.exfat", "-c", cluster, card)
    for number in range(12):  # the folder grows meanwhile
        put(card, f"folder/a name that takes some entries {number}.raw")
    assert len(paths(card)) == 13
    assert answer("check", card)["bad"] == 0


def test_beside_a_damaged_entry_set_everything_goes_on(card):
    for name in ("one", "two", "three"):
        put(card, name)
    with edited(card) as volume:
        damaged = volume.find("two")
        damaged.data[2] ^= 1  # its checksum
        volume.put(damaged)
    said = spate("record", card, "four", input="data")
    assert "damaged entries" in said.stderr
    listed = spate("ls", card, status=FAILED)
    assert "three" in listed.stdout and "four" in listed.stdout and "the root directory: an entry set in it is damaged" in listed.stderr
    document = json.loads(spate("ls", card, "--output-format=json", status=FAILED).stdout)
    assert [entry["path"] for entry in document["entries"]] == ["one", "three", "four"] and document["damaged"] == 1
    found = json.loads(spate("check", card, "--output-format=json", status=FAILED).stdout)
    assert found["files"] == 3 and [finding["path"] for finding in found["findings"]] == ["the root directory"]
    assert spate("extract", card, "four", "-").stdout == "data"


@pytest.mark.parametrize(("name", "shown"), [("A:B", "A:B"), ("a?c", "a?c"), ("a\x01c", "a\ufffdc"), ("a\x9bc", "a\ufffdc"),
                                            ("a\ud800c", "a\ufffdc"), ("a/c", "a\ufffdc")])
def test_names_that_are_listed_can_be_used(card, name, shown):
    put(card, "abc", 5000, b"y")
    put(card, "other")
    with edited(card) as volume:
        renamed = volume.find("abc")
        renamed.rename(name)
        renamed.seal()
        volume.put(renamed)
    assert paths(card) == [shown, "other"]
    assert spate("extract", card, shown, "-", text=False).stdout == b"y" * 5000
    spate("rm", card, shown)
    assert paths(card) == ["other"]


def test_impossible_times_are_unknown(card):
    for name in ("never", "month13"):
        put(card, name)
    with edited(card) as volume:
        for name, stamp in (("never", 0), ("month13", 46 << 25 | 13 << 21 | 1 << 16)):
            changed = volume.find(name)
            struct.pack_into("<I", changed.data, 12, stamp)
            changed.seal()
            volume.put(changed)
    assert [entry["modified"] for entry in answer("ls", card)["entries"]] == [None, None]
    assert spate("ls", card).stdout.count("unknown") == 2


def test_rm_goes_on_behind_a_missing_file(card):
    for name in ("a", "c", "d"):
        put(card, name)
    assert "b: NOT_FOUND" in spate("rm", card, "a", "b", "c", status=FAILED).stderr
    assert paths(card) == ["d"]


# ---- check ----


def findings(card):
    return [(finding["path"], finding["finding"])
            for finding in json.loads(spate("check", card, "--output-format=json", status=FAILED).stdout)["findings"]]


def test_check_compares_files_with_the_bitmap(card):
    for name in ("one", "two"):
        put(card, name, 30_000)
    spate("record", card, "folder/three", input="x")
    assert answer("check", card)["lost_bytes"] == 0
    with edited(card) as volume:
        first = volume.find("two").first_cluster
        folder = volume.find("folder").first_cluster
        for cluster in (first + 2, first + 3, folder):
            volume.mark(cluster, False)
    free = "are free in the bitmap, so the next file may get them"
    assert sorted(findings(card)) == [("folder", f"its clusters {folder} to {folder} {free}"),
                                      ("two", f"its clusters {first + 2} to {first + 3} {free}")]


def test_check_finds_clusters_that_belong_to_nothing(card):
    put(card, "one")
    with edited(card) as volume:
        volume.mark(volume.count - 5, True)
    said = answer("check", card)
    assert said["bad"] == 0 and said["lost_bytes"] == 4096
    assert "4 KiB are allocated, but belong to no file or directory" in spate("check", card).stdout


def test_check_finds_shared_clusters_of_files_and_directories(card):
    put(card, "one")
    spate("record", card, "folder/two", input="x")
    with edited(card) as volume:
        one, folder = volume.find("one"), volume.find("folder")
        struct.pack_into("<I", folder.data, 52, one.first_cluster)
        folder.seal()
        volume.put(folder)
    assert any("shares a cluster with" in what for _, what in findings(card))


def test_check_names_dot_entries(card):
    put(card, "ab")
    with edited(card) as volume:
        dots = volume.find("ab")
        dots.rename("..")
        dots.seal()
        volume.put(dots)
    assert findings(card) == [("..", "no file or directory may have this name")]


def test_a_loop_of_folders_ends(card):
    spate("record", card, "a/b/c", input="x")
    with edited(card) as volume:
        a = volume.find("a")
        b = volume.find("b", a.first_cluster)
        b.data[52:56] = a.data[52:56]
        b.seal()
        volume.put(b)
    listed = json.loads(spate("ls", card, "--output-format=json", status=FAILED).stdout)
    assert [entry["path"] for entry in listed["entries"]] == ["a", "a/b"] and listed["damaged"] == 1
    assert ("a/b", "it has the clusters of another directory") in findings(card)


def test_folders_may_be_deep(card):
    path = "/".join(f"{depth}" for depth in range(60)) + "/clip"
    spate("record", card, path, input="x")
    assert paths(card)[-1] == path
    assert answer("check", card)["directories"] == 60


def test_a_folder_of_ten_thousand_files(card):
    """Opened by their entries: by their names it took minutes."""
    spate("record", card, "many/first", input="x")
    with edited(card) as volume:
        many = volume.find("many")
        clusters = 10_000 * 96 // volume.cluster_bytes + 1
        start = volume.count - clusters
        entries = bytearray(clusters * volume.cluster_bytes)
        template = next(volume.sets(many.first_cluster))
        for number in range(10_000):
            one = type(template)(0, bytearray(template.data[:96]))
            one.data[35] = 5
            one.rename(f"{number:05}")
            one.data[33] = 1  # no clusters
            one.data[40:48] = one.data[56:64] = bytes(8)
            one.data[52:56] = bytes(4)
            one.seal()
            entries[96 * number:96 * number + 96] = one.data
        volume.write(volume.offset(start), entries)
        for cluster in range(start, start + clusters):
            volume.mark(cluster, True)
        volume.mark(many.first_cluster, False)
        many.data[33] |= 2  # contiguous
        struct.pack_into("<Q", many.data, 40, len(entries))
        struct.pack_into("<I", many.data, 52, start)
        struct.pack_into("<Q", many.data, 56, len(entries))
        many.seal()
        volume.put(many)
    said = json.loads(spate("check", card, "--output-format=json").stdout)
    assert said["files"] == 10_000 and said["bad"] == 0
    assert len(paths(card)) == 10_001
    assert spate("ls", card, status=DONE).stdout.count("many/") == 10_001
