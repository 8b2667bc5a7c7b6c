# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian packages for an emulated machine, with the shared libraries that they need. Releases differ in where
packages have their files and in what a program needs: the packages say it."""

import pathlib
import re
from collections.abc import Iterable

import program

LIBRARIES = "lib/aarch64-linux-gnu"
SEPARATE = f"{LIBRARIES}/ceph"  # fio's libraries


def unpack(packages: Iterable[pathlib.Path], root: pathlib.Path) -> None:
    """Unpacks packages as one root file system on this machine."""
    for path in packages:
        program.run("dpkg-deb", "--extract", path, root)


def unpacked(root: pathlib.Path, *places: str) -> pathlib.Path:
    """The file for the first of these places. Packages of some releases have in usr/ what others have in /."""
    paths = [path for place in places for path in (root / place, root / "usr" / place) if path.exists()]
    assert paths, f"no package has {places[0]}"
    return paths[0]


def needed_libraries(path: pathlib.Path) -> list[str]:
    text = program.run("readelf", "--wide", "--dynamic", path).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def library(root: pathlib.Path, name: str) -> tuple[str, pathlib.Path]:
    """The place of a shared library in the machine, and its file. Programs name the loader's place."""
    if name.startswith("ld-linux"):
        return f"lib/{name}", unpacked(root, f"lib/{name}")
    place = f"{LIBRARIES}/{name}"
    return place, unpacked(root, place, f"{SEPARATE}/{name}")


def with_libraries(root: pathlib.Path, programs: Iterable[str]) -> dict[str, bytes]:
    """Programs and what they need: {path in the machine: content}."""
    files = {place: unpacked(root, place) for place in programs}
    waiting = list(files.values())
    while waiting:
        for name in needed_libraries(waiting.pop()):
            place, path = library(root, name)
            if place not in files:
                files[place] = path
                waiting.append(path)
    return {place: path.read_bytes() for place, path in files.items()}
