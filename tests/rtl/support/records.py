# SPDX-License-Identifier: Apache-2.0
"""The packed structs of rtl/spate_pkg.sv by the names of their fields. A simulator shows a port of such a type as one number. The
fields and their widths are read from the package, so that no testbench repeats them."""

import functools
import pathlib
import re
from types import SimpleNamespace

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "rtl" / "spate_pkg.sv"
COMMENT = re.compile(r"//[^\n]*")
CONSTANT = re.compile(r"localparam int unsigned (\w+) = (\d+);")
ENUM = re.compile(r"typedef enum logic \[(\d+):0\] \{[^}]*\} (\w+);")
STRUCT = re.compile(r"typedef struct packed \{([^}]*)\} (\w+);")
FIELD = re.compile(r"(\w+)\s*(?:\[(\w+?)(-1)?:0\])?\s*(\w+);")


@functools.cache
def structs() -> dict[str, tuple[tuple[str, str, int], ...]]:
    """The fields of each struct, the highest bits first: (name, type, bits)."""
    text = COMMENT.sub("", PACKAGE.read_text())
    constants = {name: int(value) for name, value in CONSTANT.findall(text)}
    bits_of = {"logic": 1} | {name: int(high) + 1 for high, name in ENUM.findall(text)}
    found = {}
    for body, name in STRUCT.findall(text):
        fields = []
        for kind, high, less_1, field in FIELD.findall(body):
            bits = (constants[high] if less_1 else int(high) + 1) if high else bits_of[kind]
            fields.append((field, kind, bits))
        assert len(fields) == body.count(";"), f"{name}: a field has an unknown form"
        found[name] = tuple(fields)
        bits_of[name] = sum(bits for _, _, bits in fields)
    return found


def width(struct: str) -> int:
    return sum(bits for _, _, bits in structs()[struct])


def pack(struct: str, **values) -> int:
    """Packs a record into a number. A field that is not given is 0; a nested struct is given packed."""
    packed = 0
    for name, _, bits in structs()[struct]:
        value = int(values.pop(name, 0))
        assert 0 <= value < 1 << bits, f"{struct}.{name} has {bits} bits, not room for {value:#x}"
        packed = packed << bits | value
    assert not values, f"{struct} has no {', '.join(values)}"
    return packed


def unpack(struct: str, packed: int) -> SimpleNamespace:
    """Unpacks the fields of a record, including nested structs."""
    fields = {}
    for name, kind, bits in reversed(structs()[struct]):
        value, packed = packed & (1 << bits) - 1, packed >> bits
        fields[name] = unpack(kind, value) if kind in structs() else value
    assert packed == 0, f"{struct} is shorter than the packed value"
    return SimpleNamespace(**fields)


def get(port, struct: str) -> SimpleNamespace:
    """The record that a port shows."""
    assert len(port) == width(struct), f"{port._name} has {len(port)} bits, {struct} {width(struct)}"
    return unpack(struct, port.value.to_unsigned())


def put(port, struct: str, **values) -> None:
    """Shows a record on a port."""
    assert len(port) == width(struct), f"{port._name} has {len(port)} bits, {struct} {width(struct)}"
    port.value = pack(struct, **values)
