# SPDX-License-Identifier: Apache-2.0
"""Draws the sample of the mutants of rtl/, and reads the recorded equivalent mutants.

A module's share of the sample is in proportion to its lines that became logic, and at least one. Within a module, mutants are
sorted by a hash of the seed and of the mutant, and mutants on different lines come first. The hash does not depend on line
numbers: an edit in one file changes the sample of that file, and hardly that of others."""

import dataclasses
import hashlib
import pathlib
import re
import tomllib

import filelist
from mutants import rtl_netlist

RECORDED = filelist.ROOT / "tests" / "mutants-rtl.toml"
TEXT = re.compile(r"bit (?P<bit>\d+) of (?:the result|(?:input|port) (?P<port>\w+)) of (?P<kind>\S+?)(?: \((?P<number>\d+)\))? "
                  r"(?P<meaning>inverted|always [01]|inverted while bit \d+ is [01])$")


@dataclasses.dataclass(frozen=True)
class Recorded:
    module: str
    original: str
    mutated: str
    reason: str

    def is_of(self, mutant: rtl_netlist.Mutant) -> bool:
        return (self.module, self.original, self.mutated) == (mutant.module, mutant.original, mutant.mutated)


def modules() -> list[str]:
    """All modules that are written by hand, without those that are generated."""
    return [pathlib.PurePath(path).stem for path in filelist.sources()
            if not path.endswith("_pkg.sv") and "/generated/" not in path]


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """How many of `count` each module gets. If there are fewer than modules, the largest get one each."""
    if count < len(sizes):
        return dict.fromkeys(sorted(sizes, key=lambda name: (-sizes[name], name))[:count], 1)
    total = sum(sizes.values())
    wanted = {name: count * size / total for name, size in sizes.items()}
    given = {name: max(1, int(wanted[name])) for name in sizes}
    for name in sorted(sizes, key=lambda name: (given[name] - wanted[name], name)):
        if sum(given.values()) >= count:
            break
        given[name] += 1
    return given


def size(pool: list[rtl_netlist.Mutant]) -> int:
    """The number of lines that became logic."""
    return len({mutant.line for mutant in pool})


def chosen(pool: list[rtl_netlist.Mutant], count: int, seed: int) -> list[rtl_netlist.Mutant]:
    def key(mutant: rtl_netlist.Mutant) -> str:
        return hashlib.sha256(f"{seed}\0{mutant.module}\0{mutant.original}\0{mutant.mutated}".encode()).hexdigest()

    first, later, lines = [], [], set()
    for mutant in sorted(pool, key=key):
        (later if mutant.line in lines else first).append(mutant)
        lines.add(mutant.line)
    return (first + later)[:count]


def recorded(path: pathlib.Path = RECORDED) -> list[Recorded]:
    tables = tomllib.loads(path.read_text()).get("equivalent", [])
    entries = []
    for table in tables:
        if set(table) != {"module", "original", "mutated", "reason"} or not all(table.values()):
            raise SystemExit(f"{path.name}: an entry needs module, original, mutated and reason, but has {sorted(table)}")
        entries.append(Recorded(**table))
    return entries


def check_recorded(entries: list[Recorded], home) -> None:
    """SystemExit if the mutant of an entry cannot be generated any more. home(name) is the module with its parameters."""
    for entry in entries:
        if not _can_be_made(entry, home):
            raise SystemExit(f"{RECORDED.relative_to(filelist.ROOT)}: {entry.module} no longer has the mutant\n"
                             f"  {entry.original}\n  {entry.mutated}\n"
                             "Check the changed lines, and change or delete the entry.")


def _can_be_made(entry: Recorded, home) -> bool:
    found = TEXT.match(entry.mutated)
    if not found or entry.module not in modules():
        return False
    module = home(entry.module)
    netlist = rtl_netlist.netlist(module)
    for name, cell in rtl_netlist.cells(netlist).items():
        if (cell.kind, cell.number) != (found["kind"], int(found["number"] or 1)):
            continue
        if rtl_netlist.source(cell.src, entry.module)[2] != entry.original:
            continue
        ports = [found["port"]] if found["port"] else ["Y", "Q", "DATA"]
        if any(int(found["bit"]) < len(netlist["cells"][name]["connections"].get(port, ())) for port in ports):
            return True
    return False
