# SPDX-License-Identifier: Apache-2.0
"""FatFs, which most other firmware uses, and the library on the same volumes: each reads and changes what the other wrote,
and leaves it in order. tests/support/fatfs is FatFs as a program."""

import datetime
import os
import random
import shutil

import program
import pytest

from conftest import ROOT
from exfat_tools import Failed, Volume, fsck

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

NAMES = [
    "plain.bin",
    "Größe äöü ÄÖÜ ÿ.mov",
    "録画_カメラ１.mov",
    "Видео №7.mp4",
    "ελληνικά τέλος.dat",
    "🎬🎥 take 3.mov",
    "ქართული հայերեն.txt",
    ".hidden",
    "a b  c.txt",
    "x" * 200,
]

# Sizes of a sector and of a cluster in bytes. FatFs supports clusters up to 16 MiB; the library's begin at 1 MiB.
THEIR_VOLUMES = [(512, 512), (512, 4 * KIB), (512, 128 * KIB), (512, 16 * MIB), (4096, 4 * KIB), (4096, 1 * MIB)]
OUR_VOLUMES = [(512, 1 * MIB), (512, 8 * MIB), (4096, 1 * MIB), (4096, 32 * MIB)]


class FatFs(Volume):
    """An image file as FatFs sees it."""

    def tree(self):
        """{path: (is directory, bytes)} without the record's file."""
        found = {}
        for line in self.run("tree").decode().splitlines():
            kind, size, _, _, path = line.split(" ", 4)
            if path != ".spate":
                found[path] = (kind == "d", int(size))
        return found


class Shared:
    """One image, both implementations, and the expected contents. Changes are queued; run() says which of the two makes them."""

    def __init__(self, folder, volume_tool, fatfs_tool, sector, size):
        self.folder = folder
        self.path = folder / "a.img"
        self.ours = Volume(volume_tool, self.path, sector, window_bytes=4096)
        self.theirs = FatFs(fatfs_tool, self.path, sector)
        self.sector = sector
        self.size = size
        self.files, self.folders = {}, set()
        self.commands, self.sources = [], {}
        self.overhead = None

    def format(self, by, cluster, label="Spate ß"):
        by.format(self.size, "-c", cluster, "-l", label)
        # The record is made with the first clip. From then on the root directory and the record keep their size.
        self.mkdir("in")
        self.put("in/first", b"first")
        self.run(self.ours)
        self.overhead = self.unaccounted()

    def source(self, data):
        if data not in self.sources:
            self.sources[data] = self.folder / f"source{len(self.sources)}"
            self.sources[data].write_bytes(data)
        return self.sources[data]

    def mkdir(self, path):
        self.folders.add(path)
        self.commands.append(["mkdir", path])

    def put(self, path, data):
        self.files[path] = data
        self.commands.append(["put", self.source(data), path])

    def write(self, path, offset, data):
        """FatFs only: `offset` is at most the file's length."""
        before = self.files[path]
        self.files[path] = before[:offset] + data + before[offset + len(data) :]
        self.commands.append(["put", self.source(data), path, offset])

    def truncate(self, path, size):
        """FatFs only."""
        self.files[path] = self.files[path][:size]
        self.commands.append(["truncate", size, path])

    def weave(self, piece, files):
        """FatFs only: new files, written a part of each in turn."""
        self.files.update(files)
        words = [word for path, data in files.items() for word in (self.source(data), path)]
        self.commands.append(["weave", piece, *words])

    def rm(self, path):
        self.folders.discard(path)
        self.files.pop(path, None)
        self.commands.append(["rm", path])

    def mv(self, old, new, typed=None):
        """`typed`: the old name as given to the command, in other case."""
        self.commands.append(["mv", typed or old, new])

        def moved(path):
            return new + path[len(old) :] if path == old or path.startswith(old + "/") else path

        self.files = {moved(path): data for path, data in self.files.items()}
        self.folders = {moved(path) for path in self.folders}

    def run(self, by):
        answers = by.batch(self.commands)
        failed = [(answer, words) for answer, words in zip(answers, self.commands) if answer != "OK"]
        assert not failed and len(answers) == len(self.commands)
        self.commands = []

    def unaccounted(self):
        """Allocated clusters that belong to nothing below the root directory."""
        info = self.ours.info()
        cluster = int(info["cluster"])
        lines = self.ours.run("tree").decode().splitlines()
        used = sum(-(-int(line.split(" ", 2)[1]) // cluster) for line in lines)
        return (int(info["bytes"]) - int(info["free"])) // cluster - used

    def check(self):
        """Both implementations and fsck.exfat find exactly the expected contents."""
        text = fsck(self.path, self.sector)
        assert f"directories {len(self.folders) + 1}, files {len(self.files) + 1}" in text
        expected = {path: (False, len(data)) for path, data in self.files.items()}
        expected.update({path: (True, None) for path in self.folders})
        for reader in (self.ours, self.theirs):
            seen = {path: (entry[0], None if entry[0] else entry[1]) for path, entry in reader.tree().items()}
            assert seen == expected
            commands = "".join(f"cat\t{path}\t0\t{1 << 62}\n" for path in self.files)
            answers, at = reader.run("batch", data=commands.encode()), 0
            for path, data in self.files.items():
                assert answers.startswith(data + b"OK\n", at), path
                at += len(data) + 3
            assert at == len(answers)
        ours, theirs = self.ours.info(), self.theirs.info()
        assert {key: ours[key] for key in theirs} == theirs
        assert self.unaccounted() == self.overhead


@pytest.fixture(scope="session")
def fatfs_tool():
    assert (ROOT / "build/fatfs-source/ff.c").exists(), "FatFs is not there: setup/install fetches it"
    program.run("make", "-C", ROOT / "tests/support/fatfs")
    return ROOT / "build/fatfs/fatfs"


@pytest.fixture
def shared(tool, fatfs_tool, tmp_path):
    def make(sector, size):
        return Shared(tmp_path, os.environ.get("SPATE_VOLUME") or tool("volume"), fatfs_tool, sector, size)

    yield make
    shutil.rmtree(tmp_path)


def content(name, size):
    return random.Random(name).randbytes(size)


def fill(volume, cluster):
    """Many kinds of names and sizes, and a directory of hundreds of files; some are moved or deleted again."""
    sizes = [0, 1, 511, 512, 4096, 70000, MIB + 1, cluster - 1, cluster, cluster + 1]
    sizes = [size if size <= 2 * MIB else 3 for size in sizes]
    for depth, folder in enumerate(["in", "in/sub", "in/sub/Größer und tiefer"]):
        if depth > 0:
            volume.mkdir(folder)
        for index, name in enumerate(NAMES):
            path = f"{folder}/{name}"
            volume.put(path, content(path, sizes[(index + depth) % len(sizes)]))
    volume.mkdir("in/many")
    for index in range(300):
        name = f"in/many/{index:04d} {NAMES[index % 10][:180]}"
        volume.put(name, name.encode() if index % 10 == 0 else b"")
    volume.mkdir("in/empty")
    for index in range(0, 300, 3):
        volume.rm(f"in/many/{index:04d} {NAMES[index % 10][:180]}")
    volume.rm("in/sub/plain.bin")
    volume.mv("in/plain.bin", "in/sub/moved plain.bin")
    volume.mv("in/sub/Größer und tiefer", "in/tiefer")
    volume.mv("in/sub/.hidden", "in/sub/.HIDDEN")
    volume.mv("in/sub/Видео №7.mp4", "in/sub/кино", typed="IN/Sub/ВИДЕО №7.MP4")
    volume.mv("in/sub/ελληνικά τέλος.dat", "in/sub/τέλος", typed="in/SUB/ΕΛΛΗΝΙΚΆ ΤΈΛΟΣ.Dat")


@pytest.mark.thorough
@pytest.mark.parametrize("sector,cluster", THEIR_VOLUMES)
def test_theirs_read_by_ours(shared, sector, cluster):
    volume = shared(sector, max(128 * MIB, 500 * cluster))
    volume.format(volume.theirs, cluster)
    fill(volume, cluster)
    piece = min(cluster, 64 * KIB)
    volume.weave(piece, {f"in/woven {n}": content(n, piece * (7 + n) + n) for n in range(3)})
    for name in ("ф" * 255, "y" * 255, "🎬" * 127):
        volume.put(f"in/{name}", name.encode())
    volume.mkdir("in/row") # its clusters are consecutive; the library later adds one that is not
    for index in range(60):
        volume.put(f"in/row/{index}", b"")
    volume.run(volume.theirs)
    volume.check()
    assert volume.ours.info()["label"] == "Spate ß"
    tree = volume.ours.tree()
    assert tree["in/row"][3] and tree["in/row"][1] == -(-60 * 3 * 32 // cluster) * cluster
    assert cluster > piece or not tree["in/woven 1"][3]
    # Continue with it: delete their fragments, move their longest names, grow their directories.
    volume.rm("in/woven 1")
    volume.mv("in/" + "y" * 255, "in/sub/Y")
    volume.mv("in/" + "🎬" * 127, "in/short")
    volume.mv("in/woven 2", "in/sub/" + "w" * 200)
    for index in range(100):
        volume.put(f"in/many/ours {index}", b"ours" * index)
        volume.put(f"in/row/ours {index}", b"")
    volume.run(volume.ours)
    volume.check()


@pytest.mark.parametrize("sector,cluster", OUR_VOLUMES)
def test_ours_read_by_theirs(shared, sector, cluster):
    volume = shared(sector, max(128 * MIB, 500 * cluster))
    volume.format(volume.ours, cluster)
    fill(volume, cluster)
    volume.run(volume.ours)
    volume.check()
    # FatFs continues with it: it grows and shrinks our clips, and fills our directories.
    for path in ("in/sub/moved plain.bin", "in/tiefer/plain.bin", "in/first"):
        volume.write(path, len(volume.files[path]), content(path + " more", 2 * MIB + 5))
    volume.truncate("in/sub/moved plain.bin", 100)
    volume.write("in/tiefer/plain.bin", 1000, b"in the middle")
    volume.rm("in/" + "x" * 200)
    volume.mv("in/sub", "in/many/sub")
    for index in range(200):
        volume.put(f"in/many/{index} " + "t" * 240, b"theirs")
    volume.run(volume.theirs)
    volume.check()
    assert volume.theirs.tree()["in/many/sub/" + "x" * 200]


@pytest.mark.thorough
def test_cluster_of_32_mib_on_512_byte_sectors(shared):
    """The specification allows it, but its 65536 sectors do not fit FatFs's counter: FatFs sees no volume, and does not change it."""
    volume = shared(512, 1 * GIB)
    volume.format(volume.ours, 32 * MIB)
    with pytest.raises(Failed, match="NO_FILESYSTEM"):
        volume.theirs.info()


@pytest.mark.thorough
def test_fragments_beyond_4_gib(shared):
    """The library follows FatFs's chain of 36,000 links to offsets beyond 32 bits."""
    volume = shared(512, 12 * GIB)
    volume.format(volume.theirs, 128 * KIB)
    size = (9 * GIB >> 1) + 12345
    end, middle = volume.source(b"the end"), volume.source(b"middle")
    commands = [["expand", size, "in/long"], ["put", end, "in/behind it"], ["put", middle, "in/long", 4 * GIB - 3],
                ["put", volume.source(bytes(3 * MIB)), "in/long", size], ["put", end, "in/long", size + 3 * MIB]]
    assert set(volume.theirs.batch(commands)) == {"OK"}
    fsck(volume.path)
    assert volume.ours.tree()["in/long"] == (False, size + 3 * MIB + 7, size + 3 * MIB + 7, False)
    assert volume.ours.run("cat", "in/long", 4 * GIB - 3, 6) == b"middle"
    assert volume.ours.run("cat", "in/long", size + 3 * MIB, 100) == b"the end"
    volume.ours.run("rm", "in/long")
    volume.ours.run("rm", "in/behind it")
    fsck(volume.path)
    assert volume.unaccounted() == volume.overhead


@pytest.mark.thorough
@pytest.mark.parametrize("sector", [512, 4096])
def test_clip_beyond_4_gib(shared, sector):
    volume = shared(sector, 8 * GIB)
    volume.format(volume.ours, 4 * MIB)
    size = 5 * GIB + 12345
    volume.ours.run("put-zeros", size, "in/five")
    volume.theirs.run("put", volume.source(b"the end"), "in/five", size)
    assert volume.theirs.tree()["in/five"] == (False, size + 7)
    assert volume.theirs.run("cat", "in/five", size - 1, 100) == b"\0the end"
    assert volume.ours.run("cat", "in/five", size - 1, 100) == b"\0the end"
    fsck(volume.path, sector)
    volume.theirs.run("rm", "in/five")
    assert volume.unaccounted() == volume.overhead


@pytest.mark.thorough
def test_every_letter(shared):
    """A name is found by the hash of its upper case: FatFs's own table and the one that we write agree on all letters
    but one. U+1FF3 has no upper case in the specification's table, and has one in FatFs's."""
    letters = [chr(code) for code in range(0xA1, 0xFFFE) if not 0xD800 <= code < 0xE000 and code != 0x1FF3]
    letters = "".join(letter for letter in letters if letter.swapcase() != letter)
    names = [letters[at : at + 60] for at in range(0, len(letters), 60)]
    assert len(names) > 30
    for by in ("ours", "theirs"):
        volume = shared(512, 256 * MIB)
        volume.format(getattr(volume, by), 1 * MIB)
        for name in names[::2]:
            volume.put(f"in/{name}", name.encode())
        volume.run(volume.ours)
        for name in names[1::2]:
            volume.put(f"in/{name}", name.encode())
        volume.run(volume.theirs)
        volume.check()


@pytest.mark.thorough
def test_labels_and_times(shared):
    volume = shared(512, 64 * MIB)
    for formatter in (volume.ours, volume.theirs):
        for label in ("", "ELEVEN CHAR", "録画カメラ１２３４５６", "ß"):
            volume.files, volume.folders = {}, set()
            volume.format(formatter, 1 * MIB, label)
            assert volume.theirs.info()["label"] == volume.ours.info()["label"] == label
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    for line in volume.theirs.run("ls", "in").decode().splitlines():
        written = datetime.datetime.fromisoformat(line.split(" ")[3])
        assert abs(now - written) < datetime.timedelta(minutes=2)
    record = [line.split(" ") for line in volume.theirs.run("ls").decode().splitlines() if line.endswith(" .spate")]
    assert int(record[0][2]) & 2, "hidden"


@pytest.mark.thorough
def test_in_a_partition(shared):
    """FatFs finds our volume through the partition table; the library is given the block that the table names."""
    volume = shared(512, 64 * MIB)
    with open(volume.path, "wb") as image:
        image.truncate(volume.size)
    program.run("sfdisk", "--quiet", volume.path, input="start=2048, type=7\n")
    volume.ours.options += ["-o", "2048"]
    volume.ours.run("format", "-c", MIB)
    volume.mkdir("in")
    volume.put("in/ours", b"ours")
    volume.run(volume.ours)
    volume.put("in/theirs", b"theirs")
    volume.run(volume.theirs)
    for reader in (volume.ours, volume.theirs):
        assert reader.get("in/ours") == b"ours" and reader.get("in/theirs") == b"theirs"


@pytest.mark.thorough
@pytest.mark.parametrize("by,cluster", [("ours", 1 * MIB), ("theirs", 4 * KIB)])
def test_after_a_cut(shared, by, cluster):
    """A power cut left reservations, and FatFs uses the volume before the next mount: it fills the free space, deletes
    and moves the files. The mount then frees what was reserved, and nothing else."""
    volume = shared(512, 64 * MIB)
    volume.format(getattr(volume, by), cluster)
    volume.ours.batch([["arm", "in/one", 5 * MIB], ["arm", "in/two", 7 * MIB], ["arm", "in/three", 6 * MIB]])
    volume.files.update({"in/one": b"", "in/two": b"", "in/three": b""})
    volume.rm("in/one")
    volume.mkdir("in/elsewhere")
    volume.mv("in/two", "in/elsewhere/II")
    volume.put("in/theirs", content("theirs", 9 * MIB))
    volume.run(volume.theirs)
    volume.put("in/elsewhere/II", b"written by FatFs")
    volume.write("in/three", 0, content("three", 300000))
    volume.run(volume.theirs)
    info = volume.ours.info()
    assert info["reservations"] == "3"
    volume.check()


@pytest.mark.thorough
def test_reservation_in_use_by_others(shared):
    """A checker freed what a cut had left reserved, and FatFs gave it to files, while the record still lists it: the
    mount frees clusters without an owner, and there are none."""
    volume = shared(512, 64 * MIB)
    volume.format(volume.ours, 1 * MIB)
    volume.ours.batch([["arm", "in/one", 20 * MIB], ["arm", "in/two", 20 * MIB]])
    record = volume.source(volume.theirs.get(".spate"))
    assert volume.ours.info()["reclaimed"] == str(40 * MIB)
    volume.files.update({"in/one": b"", "in/two": b""})
    for index in range(15):
        volume.put(f"in/theirs {index}", content(f"theirs {index}", 3 * MIB))
    volume.commands.append(["put", record, ".spate", 0])
    volume.run(volume.theirs)
    info = volume.ours.info()
    assert info["reservations"] == "2" and info["reclaimed"] == "0"
    volume.check()


@pytest.mark.thorough
def test_without_the_record(shared):
    """FatFs deletes the record's file: the next clip makes another."""
    volume = shared(512, 64 * MIB)
    volume.format(volume.ours, 1 * MIB)
    volume.theirs.run("rm", ".spate")
    volume.put("in/after", b"after")
    volume.run(volume.ours)
    volume.check()


def one_change(volume, dice, ours):
    """Queue one change, for both implementations or for FatFs only."""
    folders = sorted(volume.folders)
    name = f"{dice.randrange(1 << 20):x} {dice.choice(NAMES)[:dice.randrange(1, 150)]}".rstrip(" .")
    new = f"{dice.choice(folders)}/{name}"
    files = sorted(path for path in volume.files if path != "in/first")
    kind = dice.choice(["put"] * 3 + ["rm", "mv", "write"] * 2 + ["mkdir", "mv folder", "truncate"])
    size = dice.choice([0, 1, 511, 4096, dice.randrange(300000)])
    if kind == "mkdir" and len(folders) < 12:
        volume.mkdir(new)
    elif kind == "rm" and files:
        volume.rm(dice.choice(files))
    elif kind == "mv" and files:
        volume.mv(dice.choice(files), new)
    elif kind == "mv folder":
        old = dice.choice(folders)
        if old != "in" and not new.startswith(old + "/"):
            volume.mv(old, new)
    elif kind == "write" and files and not ours:
        path = dice.choice(files)
        volume.write(path, dice.randint(0, len(volume.files[path])), dice.randbytes(size))
    elif kind == "truncate" and files and not ours:
        path = dice.choice(files)
        volume.truncate(path, dice.randint(0, len(volume.files[path])))
    else:
        volume.put(new, dice.randbytes(size))


@pytest.mark.parametrize("by,sector,cluster", [("ours", 512, 1 * MIB), ("ours", 4096, 1 * MIB), ("theirs", 512, 512),
                                               ("theirs", 512, 4 * KIB), ("theirs", 4096, 64 * KIB)])
def test_in_turns(shared, by, sector, cluster):
    """Random changes by either implementation; everything is checked after each turn."""
    dice = random.Random(f"{by} {sector} {cluster}")
    volume = shared(sector, 512 * MIB if cluster == MIB else 64 * MIB)
    volume.format(getattr(volume, by), cluster)
    for turn in range(6):
        ours = turn % 2 == 1
        for _ in range(40):
            one_change(volume, dice, ours)
        volume.run(volume.ours if ours else volume.theirs)
        volume.check()
