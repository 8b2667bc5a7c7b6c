# SPDX-License-Identifier: Apache-2.0
"""spate join and spate protect on an image file. Programs of others read what they leave."""

import hashlib

import pytest
import volume as judge

from exfat_tools import fuse_mount, why_no_fuse
from spate_command import FAILED, LOST, MIB, REFUSED, USAGE, answer, judged, spate
from spate_command import image  # noqa: F401 (a fixture)

SIZES = [8 * MIB, 3 * MIB, 5 * MIB, 2 * MIB + 4711]


def record_parts(image, folder, sizes=SIZES):
    """Records parts of chunks of these sizes, with another file between each two. Returns their bytes."""
    parts = []
    for number, size in enumerate(sizes):
        path = f"{folder}/part_{number:04}.raw"
        spate("record", image, path, "--from", "synthetic", "--size", str(size))
        assert answer("verify", image, path)["whole"]
        parts.append(spate("extract", image, path, "-", text=False).stdout)
        assert len(parts[-1]) == size
        spate("record", image, f"between {number}", input="x")
    return parts


def test_parts_become_one_file(image, tmp_path):
    whole = b"".join(record_parts(image, "flight"))
    others = {path: found for path, found in judged(image, tmp_path).items() if not path.startswith("flight/")}
    free = answer("info", image)["volume"]["free_bytes"]
    joined = spate("join", image, "flight")
    assert joined.stdout == "flight: 4 parts, 18.9 MB\n"
    assert judged(image, tmp_path) == others | {"flight": (len(whole), hashlib.sha256(whole).hexdigest())}
    info = answer("info", image)["volume"]
    assert info["free_bytes"] == free + MIB and not info["dirty"] and info["reservations"] == 0  # the folder's cluster
    assert spate("extract", image, "flight", "-", text=False).stdout == whole
    (tmp_path / "whole").write_bytes(whole)
    verified = answer("verify", image, "flight", "--against", tmp_path / "whole", status=LOST)
    assert "first_difference" not in verified and verified["chunks_good"] == 8 + 3 + 5 + 3
    assert verified["chunks_wrong"] + verified["chunks_damaged_headers"] + verified["chunks_missing"] == 0
    assert verified["chunks_strange"] == 3 + 5 + 3  # of other recordings than the first part
    checked = answer("check", image)
    assert checked["bad"] == 0 and checked["lost_bytes"] == 0
    [entry] = [entry for entry in answer("ls", image)["entries"] if entry["path"] == "flight"]
    assert entry["kind"] == "file" and entry["bytes"] == len(whole) and not entry["contiguous"]
    spate("rm", image, "flight")
    assert judged(image, tmp_path) == others


def test_the_answer_for_a_program(image):
    record_parts(image, "a/deep/path", [2 * MIB, MIB])
    assert answer("join", image, "a/deep/path") == {"path": "a/deep/path", "parts": 2, "bytes": 3 * MIB}
    assert [entry["bytes"] for entry in answer("ls", image, "a/deep/path")["entries"]] == [3 * MIB]


@pytest.mark.parametrize("block", ["512", "4096"])
def test_another_file_system_driver_reads_it(tmp_path, block):
    reason = why_no_fuse()
    if reason:
        pytest.skip(reason)
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256MiB", "--block", block)
    whole = b"".join(record_parts(image, "flight", SIZES[1:]))
    spate("join", image, "flight")
    start, length = judge.partition_offset_bytes(image) if block == "512" else (MIB, 254 * MIB)
    part = tmp_path / "partition.img"
    judge.copy_sparse(image, start, length, part)
    with fuse_mount(part, tmp_path / "volume", int(block), read_only=True) as folder:
        assert (folder / "flight").read_bytes() == whole


# ---- what is not joined, and the advice ----


def refuses(image, folder, *words):
    before = answer("ls", image)["entries"]
    said = spate("join", image, folder, status=REFUSED).stderr
    for word in words:
        assert word in said, said
    assert answer("ls", image)["entries"] == before and not answer("info", image)["volume"]["dirty"]


def test_a_part_that_ends_within_a_cluster(image):
    record_parts(image, "flight", [MIB, MIB + 4096, MIB])
    refuses(image, "flight", "part_0001.raw ends within a cluster: only the last part may", str(MIB))


def test_a_folder_in_the_folder(image):
    record_parts(image, "flight", [MIB])
    spate("record", image, "flight/more/part", input="x")
    refuses(image, "flight", "flight: more is a folder")


def test_what_is_no_folder(image):
    record_parts(image, "flight", [MIB])
    refuses(image, "flight/part_0000.raw", "this is a file")
    spate("rm", image, "flight/part_0000.raw")
    refuses(image, "flight", "the folder is empty")
    assert "NOT_FOUND" in spate("join", image, "none", status=FAILED).stderr
    assert "the root directory" in spate("join", image, "/", status=REFUSED).stderr
    spate("join", image, status=USAGE)


def test_a_protected_folder(image):
    record_parts(image, "flight", [MIB, MIB])
    spate("protect", image, "flight", "flight/part_0000.raw")
    refuses(image, "flight", "the folder is protected", "spate protect --off")
    spate("protect", image, "--off", "flight")
    spate("join", image, "flight")  # a protected part is no obstacle
    assert [entry["bytes"] for entry in answer("ls", image, "flight")["entries"]] == [2 * MIB]


# ---- protection ----


def test_protected_files_stay(image, tmp_path):
    for name in ("first", "second"):
        spate("record", image, name, input=name)
    spate("protect", image, "first", "second")
    assert "PROTECTED" in spate("rm", image, "first", status=FAILED).stderr
    spate("protect", image, "--off", "first")
    spate("rm", image, "first")
    said = spate("protect", image, "none", "second", "--off", status=FAILED).stderr
    assert "none: NOT_FOUND" in said
    spate("rm", image, "second")
    assert judged(image, tmp_path) == {}
    spate("protect", image, status=USAGE)
