# SPDX-License-Identifier: Apache-2.0
"""The list of gateware sources, rtl/spate.f, and the lists of the boards, rtl/boards/*/sources.f, for all tools that read them.

A file is named like its module or package, so the sources that a module needs are found by the names in its text.
As a program (for CMake), it prints the sources of a module: filelist.py spate_fifo
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "rtl" / "spate.f"
BOARDS = ROOT / "rtl" / "boards"
VENDOR = ROOT / "tests" / "rtl" / "vendor"  # stand-ins for the vendor's modules that boards use
NAME = re.compile(r"\bspate_\w+\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def listed(file: pathlib.Path) -> tuple[str, ...]:
    """The paths that a list has, relative to the repository, in its order."""
    lines, name = (line.strip() for line in file.read_text().splitlines()), file.relative_to(ROOT)
    paths = [line for line in lines if line and not line.startswith("//")]
    absent = [path for path in paths if not (ROOT / path).is_file()]
    if absent:
        raise SystemExit(f"{name} lists files that do not exist: {', '.join(absent)}")
    twice = sorted({path for path in paths if paths.count(path) > 1})
    if twice:
        raise SystemExit(f"{name} lists files twice: {', '.join(twice)}")
    return tuple(paths)


@functools.cache
def sources() -> tuple[str, ...]:
    return listed(LIST)


@functools.cache
def boards() -> dict[str, tuple[str, ...]]:
    """{board: the sources that it has besides rtl/spate.f}. Boards may share some."""
    return {file.parent.name: listed(file) for file in sorted(BOARDS.glob("*/sources.f"))}


def wrappers() -> tuple[str, ...]:
    """The generated Verilog around the tops."""
    return tuple(str(path.relative_to(ROOT)) for path in sorted((ROOT / "rtl" / "ip").glob("*/*.v")))


def board_top(board: str) -> str:
    return f"spate_{board}"


def vendor() -> tuple[str, ...]:
    return tuple(str(path.relative_to(ROOT)) for path in sorted(VENDOR.glob("*.sv")))


def flat() -> tuple[str, ...]:
    """The generated modules around modules with records, for testbenches (tops_flat.py)."""
    return tuple(str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests" / "rtl" / "generated").glob("*.sv")))


def names_used(path: str) -> set[str]:
    return set(NAME.findall(COMMENT.sub(" ", (ROOT / path).read_text())))


def needed_by(top: str, extra: tuple[str, ...] = ()) -> list[str]:
    """The sources of a module and of all modules and packages that it uses, in the order of the list, and after them flat modules
    for testbenches; then the files of `extra`, which are not on the list: a testbench's wrapper, which may itself be the top."""
    known = (*sources(), *flat())
    path_of = {pathlib.PurePath(path).stem: path for path in known}
    if top not in {pathlib.PurePath(path).stem for path in (*path_of.values(), *extra)}:
        raise SystemExit(f"no file of rtl/spate.f is named {top}.sv")
    wanted, found = [top, *(name for path in extra for name in names_used(path))], set()
    while wanted:
        path = path_of.get(wanted.pop())
        if path and path not in found:
            found.add(path)
            wanted += names_used(path)
    return [path for path in known if path in found] + list(extra)


def unlisted() -> list[str]:
    """Sources below rtl/ that are missing from the lists: no tool would read them. The example in rtl/sim is a user's design."""
    present = {str(path.relative_to(ROOT)) for path in (ROOT / "rtl").rglob("*.sv") if ROOT / "rtl/sim" not in path.parents}
    return sorted(present - set(sources()) - {path for paths in boards().values() for path in paths})


if __name__ == "__main__":
    print("\n".join(needed_by(sys.argv[1], tuple(sys.argv[2:]))))
