# SPDX-License-Identifier: Apache-2.0
"""Other implementations read our volumes, and we read theirs."""

import os
import random
import re

import program
import pytest
from dissect.fat import exfat

from exfat_tools import Failed, Volume, fsck, fuse_mount, loop_device, why_no_fuse

MIB = 1 << 20
NO_FUSE = why_no_fuse()
needs_fuse = pytest.mark.skipif(NO_FUSE is not None, reason=str(NO_FUSE))

NAMES = [
    "plain.bin",
    "Größe äöü ÄÖÜ.mov",
    "録画_カメラ１.mov",
    "Видео №7.mp4",
    "ελληνικά.dat",
    "🎬🎥 take 3.mov",
    ".hidden",
    "a b  c.txt",
    "x" * 200,
]


@pytest.fixture(scope="session")
def volume_tool(tool):
    return os.environ.get("SPATE_VOLUME") or tool("volume")


def content(name, size):
    return random.Random(name).randbytes(size)


def fill(volume):
    """A tree of files of many sizes; returns {path: bytes}."""
    files = {}
    volume.run("mkdir", "sub")
    volume.run("mkdir", "sub/deeper dir")
    for index, name in enumerate(NAMES):
        for folder in ("", "sub/", "sub/deeper dir/"):
            size = [0, 1, 511, 512, 4096, 70000, MIB, MIB + 1, 3 * MIB][(index + len(folder)) % 9]
            files[folder + name] = content(folder + name, size)
            volume.put(folder + name, files[folder + name], checkpoints=index % 3)
    volume.run("rm", "plain.bin")
    volume.run("mv", "sub/plain.bin", "moved plain.bin")
    del files["plain.bin"]
    files["moved plain.bin"] = files.pop("sub/plain.bin")
    return files


@pytest.fixture(scope="session", params=[512, 4096])
def ours(request, volume_tool, tmp_path_factory):
    volume = Volume(volume_tool, tmp_path_factory.mktemp("ours") / f"{request.param}.img", request.param)
    volume.format(256 * MIB, "-l", "Spate ß")
    return volume, fill(volume)


def test_ours_by_fsck(ours):
    volume, files = ours
    text = fsck(volume.path, volume.block_bytes)
    assert f"files {len(files) + 1}" in text


def test_ours_by_ourselves(ours):
    volume, files = ours
    tree = volume.tree()
    assert {path for path, entry in tree.items() if not entry[0]} == set(files)
    for path, data in files.items():
        assert tree[path][1:3] == (len(data), len(data))
        assert volume.get(path) == data


def test_ours_by_sleuthkit(ours):
    volume, files = ours
    sector = ["-b", str(volume.block_bytes)]
    stat = program.run("fsstat", *sector, volume.path).stdout
    assert "File System Type: exFAT" in stat and "Spate ß" in stat
    listing = program.run("fls", *sector, "-r", "-p", "-u", volume.path)
    seen = {}
    for line in listing.stdout.splitlines():
        match = re.match(r"r/r (\d+):\t(.*)", line)
        if match and not match[2].startswith("$") and "Volume Label" not in match[2] and match[2] != ".spate":
            seen[match[2]] = match[1]
    assert set(seen) == set(files)
    for path, inode in seen.items():
        data = program.run("icat", *sector, volume.path, inode, text=False).stdout
        assert data == files[path], path


def test_ours_by_dissect(ours):
    volume, files = ours
    seen = {}

    def walk(entries, prefix):
        for name, (entry, children) in entries.items():
            if children is not None:
                walk(children, f"{prefix}{name}/")
                continue
            seen[prefix + name] = entry

    with open(volume.path, "rb") as image:
        view = exfat.ExFAT(image)
        walk(view.files["/"][1], "")
        seen = {path: entry for path, entry in seen.items() if not path.startswith("$") and path != ".spate"}
        assert set(seen) == set(files)
        for path, entry in seen.items():
            stream = entry.stream
            assert stream.data_length == stream.valid_data_length == len(files[path])
            if files[path]:
                assert entry.stream.flags.not_fragmented


@needs_fuse
def test_ours_by_fuse(ours, tmp_path):
    volume, files = ours
    with fuse_mount(volume.path, tmp_path / "mnt", volume.block_bytes, read_only=True) as folder:
        seen = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} - {".spate"}
        assert seen == set(files)
        for path, data in files.items():
            assert (folder / path).read_bytes() == data


@needs_fuse
def test_ours_written_by_fuse(volume_tool, tmp_path):
    """Another system writes to our volume, and then we continue writing to it."""
    volume = Volume(volume_tool, tmp_path / "a.img")
    volume.format(128 * MIB)
    volume.put("ours.bin", content("ours", 100000))
    with fuse_mount(volume.path, tmp_path / "mnt") as folder:
        (folder / "theirs").mkdir()
        (folder / "theirs" / "file").write_bytes(content("theirs", 200000))
        (folder / "ours.bin").rename(folder / "theirs" / "OURS.bin")
    fsck(volume.path)
    assert volume.get("theirs/file") == content("theirs", 200000)
    assert volume.get("theirs/ours.bin") == content("ours", 100000)
    volume.put("theirs/more", b"more")
    volume.run("rm", "theirs/file")
    fsck(volume.path)


def test_large_file(volume_tool, tmp_path):
    """Lengths beyond 32 bits: others read the end of the file."""
    volume = Volume(volume_tool, tmp_path / "a.img", 4096)
    volume.format(8 << 30)
    size = (5 << 30) + 12345
    volume.run("put-zeros", size, "five.bin")
    volume.put("after", b"after")
    fsck(volume.path, 4096)
    assert volume.tree()["five.bin"][1] == size
    assert volume.run("cat", "five.bin", size - 5, 100) == bytes(5)
    inode = re.search(r"r/r (\d+):\tfive.bin", program.run("fls", "-b", "4096", volume.path).stdout)[1]
    stat = program.run("istat", "-b", "4096", volume.path, inode)
    assert f"Size: {size}" in stat.stdout


def test_interrupted(volume_tool, tmp_path):
    """Clips that were never closed: other implementations accept the volume at once, and the next mount frees the reservations."""
    volume = Volume(volume_tool, tmp_path / "a.img")
    volume.format(64 * MIB)
    free = volume.info()["free"]
    volume.batch([["arm", "one", 5 * MIB], ["arm", "two", 7 * MIB]])
    done = program.run("fsck.exfat", "-n", volume.path, statuses=(0, 1, 4))
    assert "corrupt" not in (done.stdout + done.stderr).lower()
    info = volume.info()
    assert info["reservations"] == "2" and info["reclaimed"] == str(12 * MIB) and info["free"] == free
    fsck(volume.path)


@pytest.mark.parametrize("cluster", ["512", "1K", "4K", "32K", "128K", "1M", "32M"])
def test_mkfs_volumes(volume_tool, tmp_path, cluster):
    path = tmp_path / "a.img"
    size = 2 << 30 if cluster == "32M" else 256 * MIB
    with open(path, "wb") as image:
        image.truncate(size)
    program.run("mkfs.exfat", "-c", cluster, "-L", "THEIRS", path)
    volume = Volume(volume_tool, path, window_bytes=4096)
    info = volume.info()
    assert info["label"] == "THEIRS"
    files = fill(volume)
    fsck(path)
    for name, data in files.items():
        assert volume.get(name) == data
    volume.batch([["arm", "lost", 3 * MIB], ["arm", "sub/lost", 3 * MIB]])
    assert volume.info()["reservations"] == "2"
    fsck(path)


def mkfs_4096(path, size):
    with open(path, "wb") as image:
        image.truncate(size)
    with loop_device(path, 4096) as device:
        program.run("mkfs.exfat", "-c", "32K", device)


@needs_fuse
def test_mkfs_4096(volume_tool, tmp_path):
    path = tmp_path / "a.img"
    mkfs_4096(path, 128 * MIB)
    volume = Volume(volume_tool, path, 4096)
    with fuse_mount(path, tmp_path / "mnt", 4096) as folder:
        (folder / "theirs").write_bytes(content("theirs", 100000))
    assert volume.get("theirs") == content("theirs", 100000)
    fill(volume)
    fsck(path, 4096)
    in_small_blocks = Volume(volume_tool, path, 512)  # a power cut could tear a sector: it is only read
    assert in_small_blocks.get("theirs") == content("theirs", 100000)
    with pytest.raises(Failed, match="READ_ONLY"):
        in_small_blocks.put("ours", b"data")


@needs_fuse
@pytest.mark.parametrize("cluster", ["512", "4K", "64K"])
def test_theirs(volume_tool, tmp_path, cluster):
    """A volume that another implementation wrote: fragments, hundreds of entries, long and non-Latin names."""
    path = tmp_path / "a.img"
    with open(path, "wb") as image:
        image.truncate(64 * MIB)
    program.run("mkfs.exfat", "-c", cluster, path)
    files = {}
    with fuse_mount(path, tmp_path / "mnt") as folder:
        pieces = {name: content(name, 300000) for name in ("left", "right")}
        for at in range(0, 300000, 30000):  # in turn, so that neither is contiguous
            for name, data in pieces.items():
                with open(folder / name, "ab") as file:
                    file.write(data[at : at + 30000])
                    file.flush()
                    os.fsync(file.fileno())
        files.update(pieces)
        (folder / "many").mkdir()
        for index in range(400):
            name = f"many/{index:04d} {NAMES[index % 8]}"
            files[name] = content(name, index)
            (folder / name).write_bytes(files[name])
        for name in NAMES + ["ф" * 127, "y" * 255]:
            files[name] = name.encode()
            (folder / name).write_bytes(files[name])
    volume = Volume(volume_tool, path)
    tree = volume.tree()
    assert {name for name, entry in tree.items() if not entry[0]} == set(files)
    assert not tree["left"][3]
    for name, data in list(files.items())[::7] + [("left", files["left"]), ("right", files["right"])]:
        assert volume.get(name) == data, name
    # Continue with it: grow their directories, delete their fragments, look up their names in other case.
    commands = [["mkdir", f"many/new {index}"] for index in range(100)]
    commands += [["rm", "LEFT"], ["rm", "many/0007 " + "x" * 200], ["mv", "RIGHT", "many/right"], ["rm", "y" * 255]]
    answers = volume.batch(commands)
    expected_miss = answers.pop(101)
    assert expected_miss == "NOT_FOUND" and set(answers) <= {"OK", "UNSUPPORTED"}, answers
    fsck(path)
    assert volume.get("many/Right") == files["right"]
    with fuse_mount(path, tmp_path / "mnt", read_only=True) as folder:
        assert (folder / "many" / "right").read_bytes() == files["right"]
        assert len(list((folder / "many").iterdir())) == 400 + sum(answer == "OK" for answer in answers[:100]) + 1


def test_backup_boot(volume_tool, tmp_path):
    volume = Volume(volume_tool, tmp_path / "a.img")
    volume.format(64 * MIB)
    volume.put("file", b"data")
    with open(volume.path, "r+b") as image:
        image.write(bytes(512))
    assert volume.info()["backup_boot"] == "1"
    volume.put("second", b"data")
    assert volume.info()["backup_boot"] == "0"
    assert volume.get("file") == b"data"
    program.run("fsck.exfat", "-y", volume.path, statuses=(0, 1))
    fsck(volume.path)
