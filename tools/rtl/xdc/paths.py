# SPDX-License-Identifier: Apache-2.0
"""Paths of a design: from where the value of a bit comes without a clock edge, and where paths end."""

import dataclasses
from collections.abc import Iterator

from .netlist import Cell, Design
from .objects import Objects
from .timing import Timing

ANY = "no clock"  # of a port that no input delay names


@dataclasses.dataclass(frozen=True)
class Start:
    name: str  # a cell's or a port's
    clock: str  # or ANY


@dataclasses.dataclass(frozen=True)
class End:
    name: str
    pin: str  # of a cell; "" for a port
    clock: str
    asynchronous: bool = False

    def __str__(self) -> str:
        return f"{self.name}/{self.pin}" if self.pin else self.name


class Paths:
    def __init__(self, objects: Objects, timing: Timing):
        self.design: Design = objects.design
        self.starts_of_bit: dict[int, tuple[Start, ...]] = {}
        self.ends: list[tuple[End, list[int]]] = []
        self._clock: dict[int, str] = {}
        self._above: dict[int, frozenset[str]] = {}
        for cell in self.design.cells.values():
            self._add_cell(cell, objects)
        for port in self.design.ports.values():
            if port.direction == "input" and port.bit is not None:
                clocks = timing.inputs.get(port.name, (ANY,))
                self.starts_of_bit[port.bit] = tuple(Start(port.name, clock) for clock in clocks)
            elif port.bit is not None:
                self.ends += [(End(port.name, "", clock), [port.bit]) for clock in timing.outputs.get(port.name, ())]

    def _add_cell(self, cell: Cell, objects: Objects) -> None:
        if cell.clock not in self._clock:
            clocks = objects.clocks_of(cell.clock)
            if len(clocks) != 1:
                raise SystemExit(f"{cell.name}: {len(clocks) or 'no'} clocks reach its pin {cell.clock_pin}: "
                                 "create_clock must name the port that it comes from, once")
            self._clock[cell.clock] = clocks[0]
        clock = self._clock[cell.clock]
        for bits in cell.outputs.values():
            self.starts_of_bit.update((bit, (Start(cell.name, clock),)) for bit in bits if bit is not None)
        for pin, bits in cell.pins.items():
            self.ends.append((End(cell.name, pin, clock, pin in cell.asynchronous), [bit for bit in bits if bit is not None]))

    def clocks_above(self, bit: int) -> frozenset[str]:
        """The clocks from which the value of a bit comes."""
        order, seen = [bit], set()
        while order:
            top = order[-1]
            sources = self.design.sources.get(top, ())
            waiting = [source for source in sources if source not in self._above and source not in seen]
            if top in self._above:
                order.pop()
            elif waiting:
                seen.add(top)
                order += waiting
            else:
                own = {start.clock for start in self.starts_of_bit.get(top, ())}
                self._above[top] = frozenset(own.union(*(self._above.get(source, ()) for source in sources)))
                order.pop()
        return self._above[bit]

    def starts(self, bits: list[int], clocks: set[str]) -> Iterator[Start]:
        """From where the value of some bits comes, if it comes from these clocks."""
        waiting, seen = list(bits), set(bits)
        while waiting:
            bit = waiting.pop()
            yield from (start for start in self.starts_of_bit.get(bit, ()) if start.clock in clocks)
            for source in self.design.sources.get(bit, ()):
                if source not in seen and self.clocks_above(source) & clocks:
                    seen.add(source)
                    waiting.append(source)

    def crossings(self) -> Iterator[tuple[Start, End]]:
        """All paths between two clocks, and from ports without one."""
        for end, bits in self.ends:
            foreign = set().union(*(self.clocks_above(bit) for bit in bits)) - {end.clock}
            if end.asynchronous:
                foreign |= {end.clock}
            if foreign:
                yield from ((start, end) for start in dict.fromkeys(self.starts(bits, foreign)))
