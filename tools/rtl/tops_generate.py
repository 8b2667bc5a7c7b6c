# SPDX-License-Identifier: Apache-2.0
"""Generates the tops, from the modules with records inside them and rtl/top/interfaces.toml (tops_flat.py), and then the files with
which other tools and people use the tops, from their elaborated sources and the same file: instantiation templates, the FuseSoC
core file, clocks for rtl/constraints, the page of ports, and for block designs wrappers in Verilog and IP-XACT components.

    tops_generate.py            writes them (make generate)
    tops_generate.py --check    compares them with the files in the repository; prints the different ones and ends with status 1
"""

import argparse
import sys

import filelist
import program  # noqa: F401: makes Ctrl-C end this program like the others
import tops_clocks
import tops_core
import tops_described
import tops_flat
import tops_ipxact
import tops_page
import tops_templates
import tops_verilog

OUTPUTS = (tops_templates, tops_core, tops_clocks, tops_page, tops_verilog, tops_ipxact)
FOLDERS = ("rtl/templates", "rtl/ip", "rtl/constraints/ooc", "rtl/top/generated", "tests/rtl/generated")


def described() -> dict[str, str]:
    """What is generated from the tops: {path in the repository: text}."""
    return {path: text for output in OUTPUTS for path, text in output.texts(tops_described.tops()).items()}


def texts() -> dict[str, str]:
    """All that is generated."""
    return tops_flat.texts() | described()


def differing(wanted: dict[str, str]) -> list[str]:
    return [path for path, text in wanted.items()
            if not (filelist.ROOT / path).is_file() or (filelist.ROOT / path).read_text() != text]


def write(paths: list[str], wanted: dict[str, str]) -> None:
    for path in paths:
        (filelist.ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (filelist.ROOT / path).write_text(wanted[path])


def leftovers(wanted: set[str]) -> list[str]:
    """Files of an earlier version in the folders that have only generated ones."""
    there = {str(path.relative_to(filelist.ROOT)) for folder in FOLDERS for path in (filelist.ROOT / folder).rglob("*")
             if path.is_file()}
    return sorted(there - wanted)


def main() -> int:
    parser = argparse.ArgumentParser(description="What tools and people need to use the tops")
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    try:
        wanted = tops_flat.texts()
        different = differing(wanted)
        if not check:
            write(different, wanted)  # first: the others read the tops
        others = described()
    except tops_described.Wrong as wrong:
        raise SystemExit(f"rtl/top/interfaces.toml: {wrong}") from wrong
    different += differing(others)
    wanted |= others
    stale = leftovers(set(wanted))
    for path in stale:
        print(f"{path}: is not generated any more: remove it")
    for path in different:
        print(f"{path}: {'differs from' if check else 'generated from'} the tops and rtl/top/interfaces.toml")
    if not check:
        write(different, wanted)
    return 1 if stale or (check and different) else 0


if __name__ == "__main__":
    sys.exit(main())
