# SPDX-License-Identifier: Apache-2.0
"""Is each path between two clocks bound by the right kind of constraint?

A bit into a synchroniser: a maximum delay or a false path. Bits of one register into synchronisers: a Gray code, with a maximum
delay and a bus skew of at most the shorter period. An asynchronous reset: a false path or a maximum delay. Any other register or
memory: a word that is stable while it is read, with a maximum delay of at most the shorter period. A port without a clock may
end in synchronisers and asynchronous resets only."""

import collections
import re
from collections.abc import Iterator

from .objects import Objects
from .paths import ANY, End, Paths, Start
from .timing import PathException, Timing

ADVICE = "see rtl/constraints"


def is_synchroniser(objects: Objects, end: End) -> bool:
    cell = objects.design.cells.get(end.name)
    return cell is not None and cell.attributes.get("ASYNC_REG") == "TRUE" and end.pin == "D"


class Sets:
    """The starts and ends that a constraint names, to tell quickly whether a path is one of its own."""

    def __init__(self, exception: PathException, objects: Objects):
        self.exception = exception
        self.starts = self._names(exception.starts, objects)
        self.ends = self._names(exception.ends, objects)
        self.paths = 0

    @staticmethod
    def _names(named: list[tuple[str, str]], objects: Objects) -> set[tuple[str, str]] | None:
        if not named:
            return None
        found = set()
        for kind, name in named:
            if kind == "pin" and name in objects.pins:
                cell, pin = objects.pins[name]
                found.add(("cell", cell.name) if pin == cell.clock_pin else ("pin", name))
            elif kind == "cell" and name in objects.design.instances:
                found |= {("cell", cell) for cell in objects.design.cells if cell.startswith(f"{name}/")}
            else:
                found.add((kind, name))
        return found

    def ends_at(self, end: End) -> bool:
        names = {("clock", end.clock), ("cell", end.name), ("port", end.name), ("pin", str(end))}
        return self.ends is None or not names.isdisjoint(self.ends)

    def has(self, start: Start, end: End) -> bool:
        names = {("clock", start.clock), ("cell", start.name), ("port", start.name)}
        return (self.starts is None or not names.isdisjoint(self.starts)) and self.ends_at(end)


class Coverage:
    def __init__(self, objects: Objects, timing: Timing):
        self.objects, self.timing, self.paths = objects, timing, Paths(objects, timing)
        self.sets = [Sets(exception, objects) for exception in timing.exceptions]
        self.crossings = list(self.paths.crossings())
        self._by_end = self._index()
        self.count = 0

    def _index(self) -> dict[str, list[Sets]]:
        """The constraints that can concern an end: by its name, its clock, or, under "", all ends."""
        index = collections.defaultdict(list)
        for sets in self.sets:
            for kind, name in sets.ends or {("", "")}:
                index[name.rpartition("/")[0] if kind == "pin" else name].append(sets)
        return index

    def of(self, start: Start, end: End) -> list[Sets]:
        near = [*self._by_end[end.name], *self._by_end[end.clock], *self._by_end[""]]
        return [sets for sets in dict.fromkeys(near) if sets.has(start, end)]

    def shorter_ns(self, start: Start, end: End) -> float:
        return min(self.objects.clocks[clock].period_ns for clock in (start.clock, end.clock))

    def findings(self) -> Iterator[str]:
        yield from (f"{place}: set_clock_groups overrules the constraints of all crossings" for place in self.timing.groups)
        yield from (f"{port.name}: an output without set_output_delay" for port in self.objects.design.ports.values()
                    if port.direction == "output" and port.bit is not None and port.name not in self.timing.outputs)
        buses = self._buses()
        for start, end in self.crossings:
            found = self.of(start, end)
            for sets in found:
                sets.paths += 1
            wrong = self._of_port(end) if start.clock == ANY else self._of_path(start, end, found, buses.get((start, end)))
            self.count += 1
            if wrong:
                yield f"{start.name} ({start.clock}) → {end} ({end.clock}): {wrong}"
        yield from self._useless()

    def _buses(self) -> dict[tuple[Start, End], str]:
        """The crossings into synchronisers that are bits of one register, with its name."""
        buses = collections.defaultdict(list)
        for start, end in self.crossings:
            if is_synchroniser(self.objects, end) and start.name in self.objects.design.cells:
                buses[re.sub(r"\[\d+\]$", "", start.name), end.clock].append((start, end))
        return {path: name for (name, _), paths in buses.items() if len({start for start, _ in paths}) > 1 for path in paths}

    def _of_port(self, end: End) -> str:
        """In a design the port belongs to some clock: a constraint from each clock must be there."""
        if not end.asynchronous and not is_synchroniser(self.objects, end):
            return "a port without a clock ends in no synchroniser; name its clock with set_input_delay, or add a spate_cdc_bit"
        clocks = {("clock", clock) for clock in self.objects.clocks}
        near = (*self._by_end[end.name], *self._by_end[end.clock], *self._by_end[""])
        if any(sets.ends_at(end) and (sets.starts is None or clocks <= sets.starts) for sets in near):
            return ""
        return f"no constraint covers it from each clock; {ADVICE}"

    def _of_path(self, start: Start, end: End, found: list[Sets], bus: str | None) -> str:
        false = [sets for sets in found if sets.exception.kind == "false_path"]
        delays = [sets.exception for sets in found if sets.exception.kind == "max_delay"]
        if start.clock == end.clock:
            return ""  # an asynchronous reset of the same clock: timed as any path
        if not false and not delays:
            return f"no constraint covers it; {ADVICE}"
        if end.asynchronous or (is_synchroniser(self.objects, end) and not bus):
            return ""
        if false:
            return f"the false path of {false[0].exception.place} overrules its maximum delay: bits that belong together need one"
        return self._of_delay(start, end, delays) or (self._of_bus(start, end, found, bus) if bus else "")

    def _of_delay(self, start: Start, end: End, delays: list[PathException]) -> str:
        holds = max(delays, key=lambda exception: (exception.rank(), self.timing.exceptions.index(exception)))
        period = self.shorter_ns(start, end)
        if not holds.datapath_only:
            return f"{holds.place}: it needs -datapath_only: clocks that do not know each other have no common edge"
        if holds.ns > period:
            return f"{holds.place}: {holds.ns} ns is longer than the shorter period, {period} ns"
        return ""

    def _of_bus(self, start: Start, end: End, found: list[Sets], bus: str) -> str:
        skews = [sets.exception for sets in found if sets.exception.kind == "bus_skew"]
        if not skews:
            return f"it is a bit of {bus}, of which others cross, too, and no set_bus_skew covers it; {ADVICE}"
        if skews[0].ns > self.shorter_ns(start, end):
            return f"{skews[0].place}: a skew of {skews[0].ns} ns is longer than the shorter period"
        return ""

    def _useless(self) -> Iterator[str]:
        """Constraints that cover no path. Some may be of an instance whose input is constant: then none of a line must do so."""
        by_line = collections.defaultdict(list)
        for sets in self.sets:
            by_line[str(sets.exception.place)].append(sets)
        for place, several in by_line.items():
            if not any(sets.paths for sets in several) and not any(map(self._reaches, several)):
                yield f"{place}: set_{several[0].exception.kind} covers no path: its ends are not connected"

    def _reaches(self, sets: Sets) -> bool:
        """Does a constraint cover a path within one clock?"""
        clocks = {*self.objects.clocks, ANY}
        return any(sets.has(start, end) for end, bits in self.paths.ends if sets.ends_at(end)
                   for start in self.paths.starts(bits, clocks))
