# SPDX-License-Identifier: Apache-2.0
"""The commands of a file of constraints, as far as ours need them. What is not here is an unknown command, and an error."""

import pathlib
from collections.abc import Callable

from . import filters, managed, properties
from .interpreter import Interpreter, Place, Wrong
from .objects import Clock, Objects
from .options import Words, is_number, parse
from .timing import PathException, Named, Timing
from .words import split

STARTS = ("clock", "cell", "pin", "port")
FILE = ("PROCESSING_ORDER", "USED_IN_SYNTHESIS", "SCOPED_TO_REF")


class Commands:
    def __init__(self, objects: Objects):
        self.objects, self.timing = objects, Timing()
        self.interpreter: Interpreter | None = None
        self.files: list[str] = []

    def table(self) -> dict[str, Callable]:
        gets = {f"get_{kind}s": lambda place, words, kind=kind: self.get(kind, words)
                for kind in ("cell", "pin", "port", "net", "clock")}
        paths = {f"set_{kind}": lambda place, words, kind=kind: self.path(kind, place, words)
                 for kind in ("max_delay", "false_path", "bus_skew")}
        edges = {f"set_{kind}_delay": lambda place, words, kind=kind: self.edge(kind, words) for kind in ("input", "output")}
        return gets | paths | edges | {
            "all_clocks": lambda place, words: self.get("clock", words), "filter": self.filter, "get_property": self.get_property,
            "set_property": self.set_property, "create_clock": self.create_clock, "set_clock_groups": self.clock_groups,
            "current_design": self.current_design, "current_instance": self.current_instance, "read_xdc": self.read_xdc,
            "get_files": self.get_files}

    # ---- objects ----

    def get(self, kind: str, words: list[str]) -> list[str]:
        said = parse(words, ("-hierarchical", "-quiet", "-regexp", "-leaf"), ("-filter", "-of_objects"))
        if of := said.values.get("-of_objects"):
            found = self._of(kind, split(of))
        else:
            patterns = [pattern for word in said.rest for pattern in split(word)] or ["*"]
            found = self.objects.find(kind, patterns, "-hierarchical" in said.flags, "-regexp" in said.flags)
        if expression := said.values.get("-filter"):
            found = list(filter(filters.matcher(expression, lambda name, prop: self.value(kind, name, prop)), found))
        if not found and "-quiet" not in said.flags:
            where = f" in {self.objects.scope}" if self.objects.scope else ""
            why = (f" of {of}" if of else "") + (f" with {expression}" if expression else "")
            raise Wrong(f"no {kind} is {' '.join(said.rest) or 'there'}{where}{why}")
        return self.objects.given(kind, found)

    def _of(self, kind: str, names: list[str]) -> list[str]:
        objects, found = self.objects, {}
        for name in names:
            of = objects.kind(name, ("pin", "port", "net", "cell", "clock"))
            if kind == "clock" and of == "cell":
                found |= dict.fromkeys(objects.clocks_of(self._flop(name).clock))
            elif kind == "clock":
                found |= dict.fromkeys(objects.clocks_of(objects.bit(of, name)))
            elif kind == "cell" and of == "pin":
                found[name.rpartition("/")[0]] = None
            elif kind == "pin" and of == "cell":
                found |= dict.fromkeys(pin for pin in (*objects.pins, *objects.instance_pins) if pin.rpartition("/")[0] == name)
            elif kind == "port" and of == "clock":
                found |= dict.fromkeys(objects.clocks[name].ports)
            else:
                raise Wrong(f"-of_objects: a {kind} of a {of} is not supported")
        return list(found)

    def _flop(self, name: str):
        if name not in self.objects.design.cells:
            raise Wrong(f"{name} is no flip-flop and no memory")
        return self.objects.design.cells[name]

    def value(self, kind: str, name: str, prop: str) -> str:
        """A property of an object, for -filter and get_property."""
        design = self.objects.design
        known = {"NAME": name, "CLASS": kind, "PARENT": name.rpartition("/")[0], "REF_PIN_NAME": name.rpartition("/")[2]}
        if kind == "cell":
            instance, cell = design.instances.get(name), design.cells.get(name)
            module = instance.module if instance else ""
            known |= {"REF_NAME": module, "ORIG_REF_NAME": module, "IS_SEQUENTIAL": str(int(cell is not None)),
                      "ASYNC_REG": cell.attributes.get("ASYNC_REG", "FALSE") if cell else "FALSE",
                      "DONT_TOUCH": cell.attributes.get("DONT_TOUCH", "FALSE") if cell else "FALSE"}
        if kind == "clock":
            known |= {"PERIOD": f"{self.objects.clocks[name].period_ns:.3f}"}
        if kind == "port":
            known |= {"DIRECTION": {"input": "IN", "output": "OUT"}.get(design.ports[name].direction, "INOUT")}
        if prop.upper() not in known:
            raise Wrong(f"{prop} is no property of a {kind} that can be asked for here")
        return known[prop.upper()]

    def filter(self, place: Place, words: list[str]) -> list[str]:
        if len(words) != 2:
            raise Wrong("needs objects and an expression")
        names = split(words[0])
        kinds = {name: self.objects.kind(name, ("cell", "pin", "port", "net", "clock")) for name in names}
        found = list(filter(filters.matcher(words[1], lambda name, prop: self.value(kinds[name], name, prop)), names))
        if not found:
            raise Wrong(f"nothing is left by {words[1]}")
        return found

    # ---- properties ----

    def get_property(self, place: Place, words: list[str]) -> str | list[str]:
        said = parse(words, ("-quiet", "-min", "-max"))
        if len(said.rest) != 2 or not said.rest[1]:
            raise Wrong("needs a property and at least one object")
        prop, names = said.rest[0], split(said.rest[1])
        values = [self.value(self.objects.kind(name, ("clock", "cell", "pin", "port", "net")), name, prop) for name in names]
        if "-min" in said.flags or "-max" in said.flags:
            return (min if "-min" in said.flags else max)(values, key=float)
        return values[0] if len(values) == 1 else values

    def set_property(self, place: Place, words: list[str]) -> str:
        said = parse(words, (), ("-dict",))
        pairs = split(said.values["-dict"]) if "-dict" in said.values else said.rest[:2]
        objects = said.rest[0 if "-dict" in said.values else 2:]
        if len(pairs) % 2 or not pairs or len(objects) != 1 or not objects[0]:
            raise Wrong("needs properties with their values, and at least one object")
        for name in split(objects[0]):
            kind = self.objects.kind(name, ("cell", "pin", "port", "net", "clock", "design", "file"))
            for prop, value in zip(pairs[::2], pairs[1::2]):
                properties.check(kind, prop)
                if kind == "cell" and name in self.objects.design.cells:
                    cell = self.objects.design.cells[name]
                    cell.attributes = cell.attributes | {prop.upper(): value.upper()}
        return ""

    # ---- clocks ----

    def create_clock(self, place: Place, words: list[str]) -> str:
        said = parse(words, ("-add",), ("-name", "-period", "-waveform"))
        if "-period" not in said.values or not is_number(said.values["-period"]):
            raise Wrong("-period needs a time in ns")
        begins = split(said.one("list of ports or pins"))
        kinds = {begin: self.objects.kind(begin, ("port", "pin")) for begin in begins}
        name = said.values.get("-name", begins[0] if begins else "")
        if not name or name in self.objects.clocks:
            raise Wrong(f"the clock needs a name that no other clock has, not {name!r}")
        ports = [begin for begin in begins if kinds[begin] == "port"]
        bits = frozenset(self.objects.bit(kinds[begin], begin) for begin in begins) - {None}
        self.objects.clocks[name] = Clock(name, float(said.values["-period"]), ports, place, bits)
        return self.objects.given("clock", [name])[0]

    def clock_groups(self, place: Place, words: list[str]) -> str:
        self.timing.groups.append(place)
        return ""

    def edge(self, kind: str, words: list[str]) -> str:
        """set_input_delay and set_output_delay: which clock's edges a port belongs to."""
        said = parse(words, ("-min", "-max", "-add_delay", "-clock_fall"), ("-clock",))
        if len(said.rest) != 2 or not is_number(said.rest[0]) or "-clock" not in said.values:
            raise Wrong("needs -clock, a time in ns and ports")
        for clock in split(said.values["-clock"]):
            self.objects.kind(clock, ("clock",))
            for port in split(said.rest[1]):
                self.objects.kind(port, ("port",))
                if self.objects.design.ports[port].direction != kind:
                    raise Wrong(f"{port} is no {kind}")
                (self.timing.inputs if kind == "input" else self.timing.outputs).setdefault(port, set()).add(clock)
        return ""

    # ---- paths ----

    def path(self, kind: str, place: Place, words: list[str]) -> str:
        flags = {"max_delay": ("-datapath_only", "-quiet"), "false_path": ("-setup", "-hold"), "bus_skew": ()}[kind]
        said = parse(words, flags, ("-from", "-to", "-through") if kind == "false_path" else ("-from", "-to"))
        if "-quiet" in said.flags and not all(split(names) for names in said.values.values()):
            return ""
        starts, ends = self._ends(said, "-from"), self._ends(said, "-to")
        if "-through" in said.values:
            starts, ends = self._through(split(said.values["-through"]), starts + ends)
        if not starts and not ends:
            raise Wrong("needs -from or -to")
        if kind == "max_delay" and "-datapath_only" in said.flags and not starts:
            raise Wrong("-datapath_only needs -from")
        if kind == "bus_skew":
            self._check_skew(starts, ends)
        ns = None if kind == "false_path" else self._time(said)
        self.timing.exceptions.append(PathException(kind, place, self.objects.scope, starts, ends, ns, "-datapath_only" in said.flags))
        return ""

    @staticmethod
    def _time(said: Words) -> float:
        time = said.one("time in ns")
        if not is_number(time) or float(time) <= 0:
            raise Wrong(f"{time!r} is no time in ns")
        return float(time)

    def _ends(self, said: Words, option: str) -> list[Named]:
        if option not in said.values:
            return []
        names = split(said.values[option])
        if not names:
            raise Wrong(f"{option} is empty")
        ends = [(self.objects.kind(name, STARTS), name) for name in names]
        for kind, name in ends:
            if kind == "pin" and option == "-from" and name in self.objects.pins and not name.endswith(("/C", "/CLK")):
                raise Wrong(f"-from: {name} is no start of a path: name the cell, or its clock's pin")
            if kind == "pin" and option == "-to" and name in self.objects.pins and name.endswith(("/C", "/CLK", "/Q", "/DO")):
                raise Wrong(f"-to: {name} is no end of a path: name the cell, or a pin of data")
        return ends

    def _through(self, names: list[str], others: list[Named]) -> tuple[list[Named], list[Named]]:
        """Pins of a vendor's module, in which all paths through them begin or end."""
        cells = [self.objects.design.cells.get(name) for name in names if self.objects.kind(name, ("pin",))]
        if others or len(cells) != 1 or cells[0] is None or cells[0].kind != "box":
            raise Wrong("-through: only one pin of a vendor's module, without -from and -to")
        named = [("cell", cells[0].name)]
        return (named, []) if cells[0].outputs else ([], named)

    @staticmethod
    def _check_skew(starts: list[Named], ends: list[Named]) -> None:
        for option, side in (("-from", starts), ("-to", ends)):
            if len(side) < 2 or any(kind in ("clock", "port") for kind, _ in side):
                raise Wrong(f"{option} needs at least two cells or pins")

    # ---- scope and files ----

    def current_design(self, place: Place, words: list[str]) -> list[str]:
        parse(words, ("-quiet",))
        return self.objects.given("design", [self.objects.design.top])

    def current_instance(self, place: Place, words: list[str]) -> str:
        said = parse(words, ("-quiet",))
        name = said.rest[0] if said.rest else ""
        if name and name not in self.objects.design.instances:
            raise Wrong(f"{name} is no instance")
        self.objects.scope = name
        return name

    def read_xdc(self, place: Place, words: list[str]) -> list[str]:
        said = parse(words, ("-unmanaged",), ("-ref",))
        file, module = pathlib.Path(said.one("file")), said.values.get("-ref")
        if not file.is_file():
            raise Wrong(f"there is no file {file}")
        if file.suffix == ".tcl" and "-unmanaged" not in said.flags:
            raise Wrong(f"{file.name} needs -unmanaged: a managed file may not have if or foreach")
        if file.suffix == ".xdc" and (other := managed.others(file.read_text())):
            raise Wrong(f"{file.name} has {', '.join(other)}: a managed file must not; see managed.py")
        instances = self.objects.design.instances.values()
        scopes = [instance.name for instance in instances if instance.module == module] if module else [""]
        if not scopes:
            raise Wrong(f"no instance is of the module {module}")
        outer = self.objects.scope
        for self.objects.scope in scopes:
            self.interpreter.run(file, nested=True)
        self.objects.scope = outer
        self.files.append(str(file))
        return self.objects.given("file", [str(file)])

    def get_files(self, place: Place, words: list[str]) -> list[str]:
        said = parse(words, ("-quiet",))
        names = [name for word in said.rest for name in split(word) if name in self.files]
        if not names:
            raise Wrong(f"no file is {' '.join(said.rest)}")
        return self.objects.given("file", names)
