# SPDX-License-Identifier: Apache-2.0
"""Which module of the design a primitive of the flat netlist belongs to, as far as what is left of the names allows.

A memory has the name of its instance. A register has the file that describes it, and the name of the net that it drives. A LUT
lost both in the mapping: it counts for the module whose registers or memories it leads to first, or else comes from.
"""

import collections
import pathlib
import re

import synth
from place import wrapper

WRAPPER = "wrapper"
UNKNOWN = "unknown"
FLATTENED = "$flatten"  # before the path of a primitive without a name, with a backslash before each instance
THROUGH = re.compile(r"(.*)\$(?:LUT\d+|feed\$.*)")  # what nextpnr inserts for a net


def instances_of(modules: dict) -> dict[str, str]:
    """{path of an instance in the wrapper: its module}, from the elaborated design."""
    found = {}

    def walk(module: str, path: str) -> None:
        found[path] = synth.plain(module)
        for name, cell in modules[module]["cells"].items():
            if cell["type"] in modules:
                walk(cell["type"], f"{path}.{name}")

    walk(wrapper.top_of(modules), wrapper.INSTANCE)
    return found


class Owners:
    def __init__(self, netlist: dict, instances: dict[str, str]):
        """`netlist`: the wrapper's module in Yosys's JSON."""
        self.cells, self.instances, self.modules = netlist["cells"], instances, set(instances.values())
        self.nets: dict[int, str] = {}  # the name of each bit
        self.bits: dict[str, int] = {}  # of each name, hidden ones too
        for name, net in netlist["netnames"].items():
            for place, bit in enumerate(net["bits"], net.get("offset", 0)):
                self._name(bit, f"{name}[{place}]" if len(net["bits"]) > 1 else name, net["hide_name"])
        self.readers, self.drivers = self._ends("input"), self._ends("output")
        self.known = {name: owner for name, cell in self.cells.items() if (owner := self._by_name(name, cell))}
        self.found = dict(self.known)

    def _name(self, bit: int, name: str, hidden: int) -> None:
        """The deepest name tells most about where a net comes from."""
        self.bits[name] = bit
        if not hidden and name.count(".") >= self.nets.get(bit, "").count("."):
            self.nets[bit] = name

    @staticmethod
    def _bits(cell: dict, direction: str) -> list:
        return [bit for port, bits in cell["connections"].items() if cell["port_directions"][port] == direction
                for bit in bits if isinstance(bit, int)]

    def _ends(self, direction: str) -> dict[int, list[str]]:
        found = collections.defaultdict(list)
        for name, cell in self.cells.items():
            for bit in self._bits(cell, direction):
                found[bit].append(name)
        return found

    def _of_path(self, name: str) -> str | None:
        """The module of the instance in which a name stands."""
        while "." in name:
            name = name.rpartition(".")[0]
            if name in self.instances:
                return self.instances[name]
        return None

    def _by_name(self, name: str, cell: dict) -> str | None:
        for source in cell["attributes"].get("src", "").split("|"):
            path = pathlib.PurePosixPath(source.partition(":")[0])
            if path.stem in self.modules:
                return path.stem
            if path.name == "wrapper.v":
                return WRAPPER
        if not name.startswith("$"):
            return self._of_path(name) or WRAPPER
        if name.startswith(FLATTENED):
            return self._of_path(name.removeprefix(FLATTENED).replace("\\", ""))
        if cell["type"].startswith("FD"):
            return next((owner for bit in self._bits(cell, "output") if (owner := self._of_path(self.nets.get(bit, "")))), None)
        return None

    def signal(self, name: str) -> str:
        """The name of a net that a primitive drives, without the wrapper's; of a memory, its own; or nothing."""
        cell = self._original(name)
        names = [self.nets.get(bit, "") for bit in self._bits(self.cells[cell], "output")] if cell else []
        own = cell if cell and not cell.startswith("$") else ""
        return next((net.removeprefix(f"{wrapper.INSTANCE}.") for net in (*names, own) if net), "")

    def fan_out(self, name: str) -> int:
        """The most inputs that one output of a primitive drives."""
        cell = self._original(name)
        return max((len(self.readers[bit]) for bit in self._bits(self.cells[cell], "output")), default=0) if cell else 0

    def _original(self, name: str) -> str | None:
        """The primitive of the netlist behind one that nextpnr has made. It appends to the names of what it divides, and passes a
        net through a LUT or a carry chain, which have the net's name."""
        if through := THROUGH.fullmatch(name):
            return next(iter(self.drivers.get(self.bits.get(through[1]), ())), None)
        while name not in self.cells and re.search(r"[/$.]", name[1:]):
            name = name[:max(name.rfind(mark) for mark in "/$.")]
        return name if name in self.cells else None

    def __getitem__(self, name: str) -> str:
        """The module of a primitive."""
        cell = self._original(name)
        if cell is None:
            return UNKNOWN
        if cell not in self.found:
            self.found[cell] = (self._nearest(cell, "output", self.readers) or self._nearest(cell, "input", self.drivers)
                                or WRAPPER)
        return self.found[cell]

    def _nearest(self, name: str, direction: str, others: dict[int, list[str]]) -> str | None:
        """The module of most of the nearest primitives with a known module other than the wrapper's, in one direction."""
        level, seen = [name], {name}
        while level:
            level = sorted({other for cell in level for bit in self._bits(self.cells[cell], direction) for other in others[bit]} - seen)
            seen.update(level)
            counts = collections.Counter(self.known[cell] for cell in level if self.known.get(cell, WRAPPER) != WRAPPER)
            if counts:
                return counts.most_common(1)[0][0]
            level = [cell for cell in level if cell not in self.known]
        return None
