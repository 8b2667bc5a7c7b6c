# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/errors.md: each error of the library with the sentence that spate_error_help() gives. With --check,
say whether the page is what would be written."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/errors.md"
TEXT = """<!-- Written by tools/errors_page.py from src/core/error.c: do not edit. -->
# Errors

Every function of the library that can fail returns `enum spate_error`. `spate_error_name()` gives the name in this table,
`spate_error_help()` the sentence. An error names one cause. A layer that cannot recover from an error passes it up
unchanged. What an error means for a recording: [families of errors](../use/events.md#families-of-errors).

Errors of the gateware's bring-up have numbers of their own: [bring-up](gateware-bringup.md#errors).
"""
FAMILIES = {"any layer": "Any layer", "pcie": "PCIe", "nvme": "NVMe", "stripe": "Stripe", "partition": "Partition",
            "exfat": "exFAT", "recorder": "Recorder and player"}


def families(header: str) -> list[tuple[str, list[str]]]:
    """(family, its errors), in the order of the enumeration."""
    body = re.search(r"enum spate_error \{(.*?)\n\};", header, re.S)[1]
    found: list[tuple[str, list[str]]] = []
    for family, error in re.findall(r"^  /\* ([a-z ]+) \*/$|^  SPATE_E_(\w+),", body, re.M):
        if family:
            found.append((family, []))
        elif error != "COUNT":
            found[-1][1].append(error)
    return found


def sentences(source: str) -> dict[str, str]:
    strings = r'"(?:[^"\\]|\\.)*"'
    found = {}
    for name, text in re.findall(rf'\[SPATE_E_\w+\]\s*=\s*\{{\s*"(\w+)",\s*((?:{strings}\s*)+)\}}', source):
        found[name] = "".join(part[1:-1] for part in re.findall(strings, text)).replace('\\"', '"').replace("\\\\", "\\")
    return found


def page() -> str:
    said = sentences((ROOT / "src/core/error.c").read_text())
    lines = [TEXT]
    for family, errors in families((ROOT / "include/spate/error.h").read_text()):
        lines += [f"## {FAMILIES[family]}", "", "| error | what it means, and what to do |", "|---|---|"]
        cells = [said[error].replace("|", "\\|").replace("<", "&lt;") for error in errors]
        lines += [f"| `{error}` | {cell} |" for error, cell in zip(errors, cells)] + [""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit("docs/reference/errors.md is not what tools/errors_page.py writes: run it")


if __name__ == "__main__":
    main()
