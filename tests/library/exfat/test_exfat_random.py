# SPDX-License-Identifier: Apache-2.0
"""Random operations on a volume, compared with a dictionary; fsck.exfat checks the result."""

import os
import random

import program
import pytest

from exfat_tools import Volume, fsck

pytestmark = pytest.mark.thorough

MIB = 1 << 20
NAMES = ["a", "A", "b.mov", "B.MOV", "Ünïcödé", "üNÏCÖDÉ", "x" * 14, "y" * 31, "z" * 120, "録画" * 60, "d", "e", "f"]


@pytest.fixture(scope="session")
def volume_tool(tool):
    return os.environ.get("SPATE_VOLUME") or tool("volume")


class Model:
    """The expected answers of a volume. Keys are paths in upper case; values (name path, size; None: a directory)."""

    def __init__(self):
        self.entries = {"": ("", None)}

    def parent(self, path):
        above = path.upper().rpartition("/")[0]
        parts = above.split("/") if above else []
        for count in range(1, len(parts) + 1):
            entry = self.entries.get("/".join(parts[:count]))
            if entry is None:
                return "NOT_FOUND"
            if entry[1] is not None:
                return "NOT_DIRECTORY"
        return "OK"

    def below(self, path):
        return [key for key in self.entries if key.startswith(path.upper() + "/")]

    def real(self, path):
        """The path with its directories' names in their original case."""
        above, _, name = path.rpartition("/")
        return f"{self.entries[above.upper()][0]}/{name}" if above else name

    def add(self, path, size):
        answer = self.parent(path)
        if answer == "OK" and path.upper() in self.entries:
            answer = "EXISTS"
        if answer == "OK":
            self.entries[path.upper()] = (self.real(path), size)
        return answer

    def remove(self, path):
        answer = self.parent(path)
        if answer == "OK" and path.upper() not in self.entries:
            answer = "NOT_FOUND"
        if answer == "OK" and self.below(path):
            answer = "NOT_EMPTY"
        if answer == "OK":
            del self.entries[path.upper()]
        return answer

    def move(self, old, new):
        answer = self.parent(old)
        if answer == "OK" and old.upper() not in self.entries:
            answer = "NOT_FOUND"
        if answer == "OK" and self.entries[old.upper()][1] is None and new.upper().startswith(old.upper() + "/"):
            answer = "INVALID"
        if answer == "OK":
            answer = self.parent(new)
        if answer == "OK" and new.upper() in self.entries and new.upper() != old.upper():
            answer = "EXISTS"
        if answer != "OK":
            return answer
        moved = {key: self.entries.pop(key) for key in [old.upper(), *self.below(old)]}
        self.entries[new.upper()] = (self.real(new), moved.pop(old.upper())[1])
        for key, (_, size) in sorted(moved.items()):
            name = _.rpartition("/")[2]
            path = new.upper() + key[len(old) :]
            self.entries[path] = (f"{self.entries[path.rpartition('/')[0]][0]}/{name}", size)
        return "OK"

    def tree(self):
        return {name: size for name, size in self.entries.values() if name}


def random_path(source, model):
    directories = [name for name, size in model.entries.values() if size is None]
    above = source.choice(directories) if source.random() < 0.9 else source.choice(list(model.entries.values()))[0]
    if above.count("/") > 3:
        above = ""
    above = above.swapcase() if above.isascii() and source.random() < 0.3 else above
    return f"{above}/{source.choice(NAMES)}".lstrip("/")


def random_command(source, model):
    kind = source.choice(["mkdir", "put", "put", "rm", "mv", "mv"])
    path = random_path(source, model)
    if kind == "mkdir":
        return ["mkdir", path], model.add(path, None)
    if kind == "put":
        size = source.choice([0, 1, 512, 5000, 70000])
        return ["put-zeros", size, path], model.add(path, size)
    if kind == "rm":
        return ["rm", path], model.remove(path)
    to = random_path(source, model)
    return ["mv", path, to], model.move(path, to)


def make_volume(volume_tool, path, kind):
    block_bytes = 4096 if kind == "4096" else 512
    volume = Volume(volume_tool, path, block_bytes)
    if kind in ("ours", "4096"):
        volume.format(512 * MIB)
        return volume
    with open(path, "wb") as image:
        image.truncate(64 * MIB)
    program.run("mkfs.exfat", "-c", kind, path)
    return volume


@pytest.mark.parametrize("kind", ["ours", "4096", "512", "2K"])
@pytest.mark.parametrize("seed", range(6))
def test_random(volume_tool, tmp_path, kind, seed):
    source = random.Random(f"{kind} {seed}")
    volume = make_volume(volume_tool, tmp_path / "a.img", kind)
    model = Model()
    for _ in range(4):
        steps = [random_command(source, model) for _ in range(100)]
        answers = volume.batch([command for command, _ in steps])
        for (command, expected), answer in zip(steps, answers, strict=True):
            assert answer == expected, (command, answer, expected)
        tree = {path: None if entry[0] else entry[1] for path, entry in volume.tree().items()}
        assert tree == model.tree()
        fsck(volume.path, volume.block_bytes)
