# SPDX-License-Identifier: Apache-2.0
"""Cells, pins, ports, nets and clocks by name, in the scope of an instance, as get_cells and its like answer."""

import bisect
import dataclasses
import re

from . import filters
from .interpreter import Place, Wrong
from .netlist import Design

OUTPUTS = {"flop": ("Q",), "memory": ("DO",)}


@dataclasses.dataclass
class Clock:
    name: str
    period_ns: float
    ports: list[str]
    place: Place
    bits: frozenset[int]  # where it begins: at ports, or at pins of a vendor's module


class Objects:
    """What a file of constraints can name. `kinds` remembers as what a name was given out: names alone would not tell a port from
    a net."""

    def __init__(self, design: Design):
        self.design = design
        self.clocks: dict[str, Clock] = {}
        self.scope = ""
        self.kinds: dict[str, set[str]] = {}
        cells = [cell for cell in design.cells.values() if cell.kind != "box"]
        self.pins = {f"{cell.name}/{pin}": (cell, pin) for cell in cells
                     for pin in (*cell.pins, cell.clock_pin, *OUTPUTS[cell.kind])}
        self.instance_pins = {self._pin_name(instance.name, port, index, len(bits)): bit
                              for instance in design.instances.values()
                              for port, bits in instance.ports.items() for index, bit in enumerate(bits)}
        self._sorted = {"cell": sorted((*(cell.name for cell in cells), *design.instances)),
                        "pin": sorted((*self.pins, *self.instance_pins)),
                        "net": sorted(design.nets)}

    @staticmethod
    def _pin_name(instance: str, port: str, index: int, width: int) -> str:
        return f"{instance}/{port}" if width == 1 else f"{instance}/{port}[{index}]"

    def all(self, kind: str) -> list[str]:
        """All names of a kind in the scope."""
        if kind == "clock":
            return list(self.clocks)
        if kind == "port":
            if self.scope:
                raise Wrong("in a scope, get_ports depends on how the file is read: name the clock's pin of a flip-flop")
            return list(self.design.ports)
        names = self._sorted[kind]
        if not self.scope:
            return names
        return names[bisect.bisect_left(names, f"{self.scope}/"):bisect.bisect_left(names, f"{self.scope}0")]  # 0 comes after /

    def find(self, kind: str, patterns: list[str], deep: bool, regexp: bool) -> list[str]:
        before = f"{self.scope}/" if self.scope and kind != "clock" else ""
        found: dict[str, None] = {}
        for pattern in patterns:
            if deep and "/" in pattern and not regexp:
                raise Wrong(f"with -hierarchical a pattern has no /: {pattern}")
            test = re.compile(pattern) if regexp else filters.glob(pattern, True)
            names = self.all(kind)
            local = {name: self._last(kind, name) if deep else name[len(before):] for name in names}
            matches = [name for name in names if test.fullmatch(local[name])]
            found.update(dict.fromkeys(matches))
        return list(found)

    @staticmethod
    def _last(kind: str, name: str) -> str:
        """The part of a name that -hierarchical compares: a cell's own name, a pin's with that of its cell."""
        return "/".join(name.split("/")[-2 if kind == "pin" else -1:])

    def given(self, kind: str, names: list[str]) -> list[str]:
        """Names for a file, which are objects of this kind from now on."""
        for name in names:
            self.kinds.setdefault(name, set()).add(kind)
        return names

    def kind(self, name: str, wanted: tuple[str, ...]) -> str:
        """As what a name was given out, among the kinds that a command takes."""
        kinds = self.kinds.get(name, set())
        fitting = [kind for kind in wanted if kind in kinds]
        if not fitting:
            what = " or ".join(f"get_{kind}s" for kind in wanted)
            raise Wrong(f"{name or '{}'} is no object that it takes: use {what}" +
                        (f" (it is a {'/'.join(sorted(kinds))})" if kinds else ""))
        return fitting[0]

    # ---- bits and clocks ----

    def bit(self, kind: str, name: str) -> int | None:
        """The bit of a port, a net or a pin."""
        if kind == "port" and name in self.design.ports:
            return self.design.ports[name].bit
        if kind == "net":
            return self.design.nets[name]
        if name in self.instance_pins:
            return self.instance_pins[name]
        cell, pin = self.pins[name]
        bits = [cell.clock] if pin == cell.clock_pin else cell.pins.get(pin) or cell.outputs[pin]
        return bits[0] if len(bits) == 1 else None

    def clocks_of(self, bit: int | None) -> list[str]:
        """The clocks that reach a bit through nothing but wires."""
        seen = set()
        while bit is not None and bit not in seen:
            if found := [clock.name for clock in self.clocks.values() if bit in clock.bits]:
                return found
            seen.add(bit)
            sources = self.design.sources.get(bit, [])
            bit = sources[0] if len(sources) == 1 else None
        return []
