# SPDX-License-Identifier: Apache-2.0
"""Elements of IP-XACT 1685-2009 with the vendor's extensions of Vivado."""

import re
import xml.etree.ElementTree as tree

from tops_described import Wrong

SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
XILINX = "http://www.xilinx.com"
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|[-+*/()]")

# Elements that are written on one line, because there are many.
SHORT = ("portMap", "parameter", "modelParameter", "wire", "vendorExtensions", "file")

tree.register_namespace("spirit", SPIRIT)
tree.register_namespace("xilinx", XILINX)


def element(name: str, /, *inside: "tree.Element | str | None", **attributes: str) -> tree.Element:
    """spirit:name, or another namespace's with x_name. Attributes are of the same namespace."""
    space = XILINX if name.startswith("x_") else SPIRIT
    made = tree.Element(f"{{{space}}}{name.removeprefix('x_')}", {f"{{{space}}}{key}": value for key, value in attributes.items()})
    for one in inside:
        if isinstance(one, str):
            made.text = one
        elif one is not None:
            made.append(one)
    return made


def some(name: str, inside: list[tree.Element]) -> tree.Element | None:
    """A list, which must not be empty in IP-XACT."""
    return element(name, *inside) if inside else None


def value_of(parameter: str) -> str:
    return f"spirit:decode(id('MODELPARAM_VALUE.{parameter}'))"


def xpath(expression: str) -> str:
    """An expression over parameters, as Vivado computes it: only numbers, names, + - * / and brackets."""
    tokens = TOKEN.findall(expression)
    if "".join(tokens) != expression.replace(" ", ""):
        raise Wrong(f"{expression}: an IP packager computes only numbers, parameters, + - * / and brackets")
    return "".join(" div " if token == "/" else value_of(token) if token[0].isalpha() else token for token in tokens)


def dependent(name: str, expression: str, now: int) -> tree.Element:
    return element(name, str(now), format="long", resolve="dependent", dependency=expression)


def vlnv(name: str, said: str) -> tree.Element:
    vendor, library, bus, version = said.split(":")
    return element(name, vendor=vendor, library=library, name=bus, version=version)


def enabled(kind: str, name: str, condition: str, now: bool) -> tree.Element:
    """Vivado's condition for a port (PORT) or an interface (BUSIF) to be there."""
    said = element("x_isEnabled", str(now).lower(), resolve="dependent", id=f"{kind}_ENABLEMENT.{name}", dependency=condition)
    info = "x_portInfo" if kind == "PORT" else "x_busInterfaceInfo"
    return element("vendorExtensions", element(info, element("x_enablement", said)))


def on_one_line(root: tree.Element) -> None:
    for one in root.iter():
        if one.tag.partition("}")[2] in SHORT:
            for inside in one.iter():
                inside.text = (inside.text or "").strip() or None
                if inside is not one:
                    inside.tail = None


def text(root: tree.Element, comment: str) -> str:
    tree.indent(root)
    on_one_line(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {comment} -->\n{tree.tostring(root, encoding="unicode")}\n'
