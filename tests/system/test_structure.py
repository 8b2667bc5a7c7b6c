# SPDX-License-Identifier: Apache-2.0
"""The structure of the library as the linker sees it: the names of its functions, and which file uses which."""

import collections
import pathlib
import subprocess

import pytest

from conftest import HOST_BUILD, ROOT

OBJECTS = HOST_BUILD / "CMakeFiles/spate.dir/src"

# docs/understand/design.md, 2: the folders that each folder of src/ uses, besides the port. Calls to others go through pointers.
BELOW = {
    "core": set(), "pcie": set(), "nvme": {"core", "pcie"}, "gateware": set(), "stripe": {"core"}, "partition": {"core"},
    "exfat": {"core"}, "recorder": {"core", "exfat"}, "doctor": {"pcie"},
}
# These may call each other: an admin command's completion may change the controller's state, and states send admin commands.
CIRCULAR = {"nvme"}


@pytest.fixture(scope="module")
def symbols():
    """{file of src/ without .c: (names that it defines, names that it uses)}, for names that other files can see."""
    found = {}
    for source in sorted((ROOT / "src").rglob("*.c")):
        name = source.relative_to(ROOT / "src")
        compiled = OBJECTS / f"{name}.o"
        assert compiled.exists(), f"make build-{HOST_BUILD.name}"
        lines = subprocess.run(["nm", "--extern-only", "--format=posix", compiled], check=True, capture_output=True, text=True)
        kinds = [line.split()[:2] for line in lines.stdout.splitlines()]
        found[str(name.with_suffix(""))] = ({symbol for symbol, kind in kinds if kind != "U"},
                                            {symbol for symbol, kind in kinds if kind == "U"})
    return found


@pytest.fixture(scope="module")
def uses(symbols):
    """{file: files whose functions or objects it uses}."""
    home = {symbol: name for name, (defined, _) in symbols.items() for symbol in defined}
    return {name: {home[symbol] for symbol in used if symbol in home} - {name} for name, (_, used) in symbols.items()}


def reachable(uses, start):
    seen, waiting = set(), collections.deque([start])
    while waiting:
        for name in uses[waiting.popleft()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def folder(name):
    return pathlib.PurePath(name).parts[0]


def test_all_names_begin_with_spate(symbols):
    others = {f"{name}.c: {symbol}" for name, (defined, _) in symbols.items() for symbol in defined
              if not symbol.startswith(("spate_", "__asan_", "__odr_asan"))}
    assert not others, "a program that links the library may have these names itself: make them static, or spate_..."


def test_no_file_calls_itself_through_others(uses):
    circles = sorted(name for name in uses if name in reachable(uses, name) and folder(name) not in CIRCULAR)
    assert not circles, "these call each other in a circle"


def test_folders_use_only_what_is_below(uses):
    used = {part: {folder(other) for name, others in uses.items() if folder(name) == part for other in others} - {part}
            for part in BELOW}
    assert used == BELOW, "docs/understand/design.md says which folder may use which"
