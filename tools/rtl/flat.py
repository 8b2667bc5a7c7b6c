# SPDX-License-Identifier: Apache-2.0
"""Modules with a port for each signal, around modules whose ports are records: tools that package a design, and models of buses,
know no records. What is written comes from the text of the inner module: its parameters, ports, and the comments on them.

A port that is a record becomes a port for each of its fields: `s_axi_i` of type axi_request_t becomes s_axi_awid_i, s_axi_awaddr_i
and so on. AXI's signals come in the order of the channels.
"""

import re
from typing import NamedTuple

import filelist
import tops_design
from pyslang import ast

PACKAGE = "spate_bus_pkg"
HEAD = re.compile(r"\A// SPDX[^\n]*\n//\n(?P<comment>.*?)`default_nettype none\n\nmodule \w+\n(?P<imports>(?:  import [^\n]*\n)*)"
                  r"(?:#\(\n(?P<parameters>.*?)\n\) \(|\()\n(?P<ports>.*?)\n\);\n", re.S)
PORT = re.compile(r"    (?P<way>input\s+wire|output)\s+(?P<type>\w+)\s*(?P<dimensions>(?:\[[^]]*\]\s*)*)\s*(?P<name>\w+),?\s*"
                  r"(?P<what>//.*)?")
PARAMETER = re.compile(r"^    parameter [^=]*?(\w+) = ", re.M)
AXI = re.compile(r"(aw|w|b|ar|r)(id|addr|len|size|burst|data|strb|resp|last|valid|ready)")
CHANNELS = ("aw", "w", "b", "ar", "r")
SIGNALS = ("id", "addr", "len", "size", "burst", "data", "strb", "resp", "last", "valid", "ready")


class Shape(NamedTuple):
    """How an interface differs from its records."""

    prefix: str  # of its signals
    widths: dict[str, str] = {}  # of fields that have fewer bits: an expression over the parameters
    absent: tuple[str, ...] = ()  # fields without a port; the inner module gets zero


class Port(NamedTuple):
    way: str  # "input", "output"
    kind: str  # of the elements: "logic", or a record that stays one
    dimensions: str
    name: str
    what: str  # the comment behind it
    field: str = ""  # of which record it is which field


class Leaf(NamedTuple):
    path: str
    kind: str  # "logic", or the name of a record
    bits: int
    cast: str  # of a value that is assigned to it: the name of an enumeration, or ""


class Inner(NamedTuple):
    """A module's text, and the types of its ports."""

    name: str
    comment: str
    imports: str
    parameters: str
    ports: str
    types: dict[str, ast.Type]


def inner(name: str) -> Inner:
    path = next(path for path in filelist.sources() if path.endswith(f"/{name}.sv"))
    match = HEAD.match((filelist.ROOT / path).read_text())
    if not match:
        raise SystemExit(f"{path}: its head has another form than tools/rtl/flat.py reads")
    body = tops_design.compile_top(name, {}, ()).getRoot().topInstances[0].body
    return Inner(name, match["comment"], match["imports"], match["parameters"] or "", match["ports"],
                 {symbol.name: symbol.type for symbol in body.portList})


def element(kind: ast.Type, dimensions: str) -> ast.Type:
    for _ in range(dimensions.count("[")):
        kind = kind.elementType
    return kind


def leaves(record: ast.Type, path: str = "") -> list[Leaf]:
    """The fields. Those of a bus's records in a bus's record are fields, too."""
    found = []
    for field in record.canonicalType:
        kind, here = field.type, f"{path}.{field.name}"
        if kind.isStruct and is_bus(kind):
            found += leaves(kind, here)
        elif kind.isStruct:
            found.append(Leaf(here, kind.name, 1, ""))
        else:
            found.append(Leaf(here, "logic", kind.bitWidth, kind.name if kind.isEnum else ""))
    return found


def is_bus(kind: ast.Type) -> bool:
    return str(kind).startswith(f"{PACKAGE}::")


def order(field: str) -> tuple[int, int]:
    match = AXI.fullmatch(field)
    return (CHANNELS.index(match[1]), SIGNALS.index(match[2])) if match else (0, 0)


def dimension(bits: int) -> str:
    return f"[{bits - 1}:0]" if bits > 1 else ""


def block_lines(block: list[Port | str], last: Port) -> list[str]:
    """Ports and comments as text, in columns. No comma is behind the module's last port."""
    ports = [port for port in block if isinstance(port, Port)]
    both = len({port.way for port in ports}) > 1
    words = {"input": "input  wire" if both else "input wire", "output": "output"}
    head = max((len(f"{words[port.way]} {port.kind}") for port in ports), default=0)
    wide = max((len(port.dimensions) for port in ports), default=0)
    name = max((len(port.name) for port in ports), default=0) + 1
    lines = []
    for port in block:
        if isinstance(port, Port):
            dimensions = f"{port.dimensions:<{wide}} " if wide else ""
            comma = "" if port is last else ","
            text = f"    {f'{words[port.way]} {port.kind}':<{head}} {dimensions}{f'{port.name}{comma}':<{name}}"
            port = f"{text}  {port.what}" if port.what else text.rstrip()
        lines.append(port)
    return lines


class Flat:
    """The flat module: its ports in the order of the inner one's, and what connects them."""

    def __init__(self, one: Inner, shapes: dict[str, Shape], all_records: bool) -> None:
        self.inner, self.shapes, self.all_records = one, shapes, all_records
        self.blocks: list[list[Port | str]] = [[]]  # ports and comments; blocks are separated by an empty line
        self.records: list[str] = []  # declarations
        self.assignments: dict[str, list[str]] = {"": []}  # by the outer dimension, which is a loop's range
        self.connected: list[str] = []
        self.fields: dict[str, set[str]] = {}  # of the records, by their interface
        for line in one.ports.split("\n"):
            if not line.strip():
                self.blocks.append([])
            elif line.strip().startswith("//"):
                self.blocks[-1].append(line)
            else:
                self.port(line)
        self.blocks = [self.in_order(block) for block in self.blocks]
        for stem, fields in self.fields.items():
            shape = shapes.get(stem, Shape(""))
            if unknown := {*shape.widths, *shape.absent} - fields:
                raise SystemExit(f"{one.name}: the interface {stem} has no field {', '.join(sorted(unknown))}")

    def port(self, line: str) -> None:
        match = PORT.fullmatch(line)
        if not match:
            raise SystemExit(f"{self.inner.name}: {line.strip()}: a port of another form than tools/rtl/flat.py reads")
        way, name, dimensions = match["way"].split()[0], match["name"], re.sub(r"\s", "", match["dimensions"])
        kind = element(self.inner.types[name], dimensions)
        self.connected.append(name)
        stem = name[:-2]
        if kind.isStruct and (is_bus(kind) or self.all_records or stem in self.shapes):
            self.record(way, name, match["type"], dimensions, kind)
        else:
            self.blocks[-1].append(Port(way, match["type"], dimensions, name, match["what"] or ""))

    def record(self, way: str, name: str, kind: str, dimensions: str, record: ast.Type) -> None:
        stem, side = name[:-2], name[-1]
        shape = self.shapes.get(stem, Shape(f"{stem}_"))
        self.fields.setdefault(stem, set()).update(leaf.path.rpartition(".")[2] for leaf in leaves(record))
        self.records.append(f"  {kind} {f'{dimensions} ' if dimensions else ''}{name};")
        for leaf in leaves(record):
            field = leaf.path.rpartition(".")[2]
            inside, width = f"{name}{{}}{leaf.path}", shape.widths.get(field)
            if field in shape.absent:
                if way == "input":
                    self.assign(dimensions, inside, "'0")
                continue
            outside = f"{shape.prefix}{field}_{side}"
            chosen = (f"[{width}-1:0]" if not width.isdigit() else dimension(int(width))) if width else dimension(leaf.bits)
            self.blocks[-1].append(Port(way, leaf.kind, dimensions + chosen, outside, "", name))
            if way == "input":
                cast = f"{leaf.bits}" if width else leaf.cast
                self.assign(dimensions, inside, f"{cast}'({outside}{{}})" if cast else f"{outside}{{}}")
            else:
                self.assign(dimensions, f"{outside}{{}}", inside + (chosen if width else ""))

    def assign(self, dimensions: str, left: str, right: str) -> None:
        self.assignments.setdefault(dimensions, []).append((left, right))

    def in_order(self, block: list[Port | str]) -> list[Port | str]:
        """AXI's signals by channels, those beside the records among them."""
        stems = {port.field[:-2] for port in block if isinstance(port, Port) and port.field}
        for stem in stems:
            prefix = self.shapes.get(stem, Shape(f"{stem}_")).prefix
            mine = [port for port in block if isinstance(port, Port) and prefix
                    and port.name.startswith(prefix) and AXI.fullmatch(port.name[len(prefix):-2])]
            if len(mine) > 1:
                first = block.index(mine[0])
                rest = [port for port in block if port not in mine]
                mine.sort(key=lambda port: order(port.name[len(prefix):-2]))
                block = rest[:first] + mine + rest[first:]
        return block

    def port_lines(self) -> list[str]:
        last = [port for block in self.blocks for port in block if isinstance(port, Port)][-1]
        return [line for block in self.blocks for line in [*block_lines(block, last), ""]][:-1]

    def body(self) -> list[str]:
        lines = [*self.records, ""]
        for dimensions, pairs in self.assignments.items():
            if dimensions and pairs:
                size = re.fullmatch(r"\[(\w+)-1:0\]", dimensions)[1]
                lines.append(f"  for (genvar i = 0; i < {size}; i++) begin : gen_{size.lower()}")
                lines += [f"    assign {left.format('[i]')} = {right.format('[i]')};" for left, right in pairs]
                lines.append("  end")
            else:
                lines += [f"  assign {left.format('')} = {right.format('')};" for left, right in pairs]
        given = self.inner.parameters.partition("    // Derived")[0]
        names = PARAMETER.findall(given)
        values = ",\n".join(f"      .{name}({name})" for name in names)
        instance = f"  {self.inner.name} " + (f"#(\n{values}\n  ) u_inner (" if names else "u_inner (")
        return [*lines, "", instance, ",\n".join(f"      .{name}" for name in self.connected), "  );"]


def text(module: str, one: Inner, shapes: dict[str, Shape], comment: str, all_records: bool) -> str:
    flat = Flat(one, shapes, all_records)
    parameters = f"#(\n{one.parameters}\n) (" if one.parameters else "("
    lines = ["// SPDX-License-Identifier: Apache-2.0", "//", comment.rstrip("\n"), "`default_nettype none", "",
             f"module {module}", one.imports.rstrip("\n"), parameters, *flat.port_lines(), ");", "", *flat.body(), "",
             "endmodule", "", "`default_nettype wire", ""]
    return "\n".join(lines)
