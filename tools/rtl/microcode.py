# SPDX-License-Identifier: Apache-2.0
"""Assembles the program of spate_admin, rtl/core/spate_microcode.asm, and checks it.

    microcode.py            writes the module with its block RAM, the tables of the bring-up page, and a listing with addresses in
                            build/rtl/spate_microcode.lst (make generate)
    microcode.py --check    compares them with the files in the repository; prints the different ones and ends with status 1

The instruction set is read from rtl/core/spate_microcode_pkg.sv. What is checked: assembler/paths.py, lives.py, loops.py, spaces.py
and usage.py.
"""

import argparse
import pathlib
import sys

import program  # noqa: F401: makes Ctrl-C end this program like the others
from assembler import lives, loops, machine, output, parse, paths, spaces, usage
from assembler.listing import Finding, Program

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "rtl/core/spate_microcode.asm"
PACKAGES = ("rtl/spate_pkg.sv", "rtl/core/spate_microcode_pkg.sv")
MODULE = "rtl/core/generated/spate_microcode.sv"
PAGE = "docs/reference/gateware-bringup.md"
LISTING = "build/rtl/spate_microcode.lst"
ORIGIN = f"Generated from {SOURCE} by tools/rtl/microcode.py: do not edit."


def read_machine() -> machine.Machine:
    return machine.read(*((ROOT / path).read_text() for path in PACKAGES))


def check(assembled: Program, kind: machine.Machine) -> tuple[paths.Paths, list[Finding]]:
    explored = paths.explore(assembled, kind)
    findings = list(explored.findings)
    if not findings:  # the others need paths that are right
        findings = (lives.check(explored, kind.error_register) + loops.check(explored, kind)
                    + spaces.check(explored, kind) + usage.unreachable(assembled, explored.reached))
    return explored, sorted(findings + usage.unused(assembled), key=lambda finding: finding.line)


def stop_at(findings: list[Finding], source: str = SOURCE) -> None:
    if findings:
        raise SystemExit("\n".join(f"{source}:{finding.line}: {finding.text}" for finding in findings))


def assemble(text: str, kind: machine.Machine) -> tuple[Program, paths.Paths]:
    assembled, findings = parse.parse(text, kind)
    stop_at(findings)
    explored, findings = check(assembled, kind)
    stop_at(findings)
    return assembled, explored


def main() -> int:
    parser = argparse.ArgumentParser(description="Assembles the program of spate_admin")
    parser.add_argument("--check", action="store_true", help="compare only")
    only_check, kind = parser.parse_args().check, read_machine()
    assembled, explored = assemble((ROOT / SOURCE).read_text(), kind)
    texts = {MODULE: output.module(assembled, kind, ORIGIN, "spate_microcode"),
             PAGE: output.tables(assembled, (ROOT / PAGE).read_text())}
    different = [path for path, text in texts.items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text]
    if not only_check:
        for path, text in (texts | {LISTING: output.listing(assembled, kind, explored, SOURCE)}).items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text)
    for path in different:
        print(f"{path}: {'differs from' if only_check else 'generated from'} {SOURCE}")
    return 1 if only_check and different else 0


if __name__ == "__main__":
    sys.exit(main())
