# SPDX-License-Identifier: Apache-2.0
"""Registers that are always equal. Synthesis merges them, and keeps one of the names: a constraint that names the other one does
not find it, or finds fewer bits. In a Gray code the highest bit equals that of the binary position. DONT_TOUCH prevents it."""

import collections
from collections.abc import Iterator

from .coverage import Coverage
from .netlist import Cell, Design

DEPTH_MAX = 40


class Equal:
    def __init__(self, design: Design):
        self.design = design
        self._flops = collections.defaultdict(list)  # of an instance
        for cell in design.cells.values():
            if cell.kind == "flop":
                self._flops[cell.name.rpartition("/")[0]].append(cell)

    def form(self, bit: int | None, me: int, depth: int = DEPTH_MAX):
        """What a bit is computed from, with the register itself as "me". Equal registers have equal forms."""
        if bit == me:
            return "me"
        if bit is None or bit not in self.design.formulas or depth == 0:
            return bit
        kind, place, bits, constants = self.design.formulas[bit]
        if kind in ("$buf", "$pos"):
            return self.form(bits["A"][place], me, depth - 1) if place < len(bits["A"]) else bit
        if kind == "$xor" and len(bits["A"]) == len(bits["B"]):
            for one, other in (("A", "B"), ("B", "A")):
                if constants[one][place] == "0":
                    return self.form(bits[other][place], me, depth - 1)
        if kind == "$mux":
            inputs = [constants[port][place] if bits[port][place] is None else self.form(bits[port][place], me, depth - 1)
                      for port in ("A", "B")]
            return kind, self.form(bits["S"][0], me, depth - 1), *inputs
        return bit

    def of(self, cell: Cell) -> list[str]:
        """The registers of the same instance that are always equal to this one."""
        mine = self.form(cell.pins["D"][0], cell.outputs["Q"][0])
        return [other.name for other in self._flops[cell.name.rpartition("/")[0]]
                if other is not cell and other.clock == cell.clock and other.attributes.get("ASYNC_REG") != "TRUE"
                and self.form(other.pins["D"][0], other.outputs["Q"][0]) == mine]


def findings(coverage: Coverage) -> Iterator[str]:
    """The registers that constraints name, and that may be merged."""
    design, equal = coverage.objects.design, Equal(coverage.objects.design)
    named = {name for exception in coverage.timing.exceptions for kind, name in exception.starts if kind == "cell"}
    for name in sorted(named & set(design.cells)):
        cell = design.cells[name]
        if cell.kind == "flop" and cell.attributes.get("DONT_TOUCH") != "TRUE" and (others := equal.of(cell)):
            yield f"{name}: always equal to {', '.join(others)}: synthesis may keep only one of the names; it needs DONT_TOUCH"
