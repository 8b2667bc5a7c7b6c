# SPDX-License-Identifier: Apache-2.0
"""Is each synchroniser built so that it works? Its first flip-flop gets one bit, directly from a flip-flop or a port, because
logic may glitch. Its output goes to one other flip-flop, and nowhere else, because each that looks may see another value. No bit
goes into two synchronisers of one clock, because they may disagree."""

import collections
from collections.abc import Iterator

from .coverage import Coverage, is_synchroniser
from .netlist import Cell
from .paths import End, Start


class Structure:
    def __init__(self, coverage: Coverage):
        self.coverage, self.design = coverage, coverage.objects.design
        self._loads = collections.defaultdict(list)
        for end, bits in coverage.paths.ends:
            for bit in bits:
                self._loads[bit].append(end)
        self._next = collections.defaultdict(list)
        for bit, sources in self.design.sources.items():
            for source in sources:
                self._next[source].append(bit)

    def findings(self) -> Iterator[str]:
        firsts: dict[End, list[Start]] = collections.defaultdict(list)
        for start, end in self.coverage.crossings:
            if is_synchroniser(self.coverage.objects, end):
                firsts[end].append(start)
        for end, starts in firsts.items():
            yield from self._of_input(end, starts)
            yield from self._of_output(self.design.cells[end.name], end)
        yield from self._shared(firsts)

    def _of_input(self, end: End, starts: list[Start]) -> Iterator[str]:
        cell = self.design.cells[end.name]
        bit = cell.pins["D"][0]
        while bit is not None and bit not in self.coverage.paths.starts_of_bit:
            sources = self.design.sources.get(bit, [])
            if len(sources) != 1 or self.design.formulas[bit][0] not in ("$buf", "$pos"):
                names = ", ".join(sorted(start.name for start in starts))
                yield (f"{end}: logic comes before a synchroniser, and may glitch: put a flip-flop of {starts[0].clock} "
                       f"before it ({names})")
                return
            bit = sources[0]

    def _of_output(self, cell: Cell, end: End) -> Iterator[str]:
        loads = self._loads_of(cell.outputs["Q"][0])
        seconds = [load for load in loads if isinstance(load, End) and is_synchroniser(self.coverage.objects, load)
                   and load.clock == end.clock and load.name != cell.name]
        if len(loads) != 1 or len(seconds) != 1:
            names = ", ".join(sorted(map(str, loads))) or "nothing"
            yield (f"{cell.name}: the first flip-flop of a synchroniser must go to one other with ASYNC_REG and nowhere else, "
                   f"not to {names}")

    def _loads_of(self, bit: int) -> list[End | str]:
        """What looks at a bit: ends of paths, through wires, and "logic"."""
        found, waiting = [], [bit]
        while waiting:
            here = waiting.pop()
            found += self._loads[here]
            for after in self._next[here]:
                if self.design.formulas[after][0] in ("$buf", "$pos"):
                    waiting.append(after)
                else:
                    found.append("logic")
        return found

    @staticmethod
    def _shared(firsts: dict[End, list[Start]]) -> Iterator[str]:
        places = collections.defaultdict(list)
        for end, starts in firsts.items():
            for start in starts:
                places[start.name, end.clock].append(end)
        for (name, clock), ends in places.items():
            if len(ends) > 1:
                yield f"{name}: {len(ends)} synchronisers of {clock} may disagree about it: {', '.join(sorted(map(str, ends)))}"
