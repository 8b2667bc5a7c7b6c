# SPDX-License-Identifier: Apache-2.0
"""Reads a device tree: the one that lopper makes for a processor (hw_artifacts/*.dts in the BSP), or a system device tree with
its includes carried out. The parser is dtlib of the Zephyr project (pip install devicetree)."""

import re

from hardware import PORT_TYPES, Bridge, Dma, Hardware, Unusable, Window, is_bridge, is_root_port

FAMILIES = {"xlnx,zynq-7000": "zynq7000", "xlnx,zynqmp": "zynqmp", "xlnx,versal": "versal"}
MEMORY_MIN_BYTES = 16 << 20  # what is smaller is on-chip memory
RANGE_64_BIT, RANGE_MEMORY = 0x03000000, 0x02000000


def strings(node, name):
    return node.props[name].to_strings() if name in node.props else []


def numbers(node, name):
    """The cells of a property."""
    if name not in node.props:
        return []
    value = node.props[name].value
    return [int.from_bytes(value[at:at + 4], "big") for at in range(0, len(value) - 3, 4)]


def number(node, name, otherwise):
    """The first cell. A property without a value counts as 1."""
    if name not in node.props:
        return otherwise
    if not node.props[name].value:
        return 1
    cells = numbers(node, name)
    if not cells:
        raise Unusable(f"{node.path}: {name} is not a number of 32 bits. Take the tree that the tools made.")
    return cells[0]


def joined(cells):
    value = 0
    for cell in cells:
        value = value << 32 | cell
    return value


def cells_of(node, name, otherwise):
    return number(node, name, otherwise) if node is not None else otherwise


def rows(node, name, *widths):
    cells = numbers(node, name)
    for at in range(0, len(cells) - sum(widths) + 1, sum(widths) or 1):
        row, begin = [], at
        for width in widths:
            row.append(joined(cells[begin:begin + width]))
            begin += width
        yield row


def to_root(node, address):
    """An address on the bus of `node`, as the processor sees it: through `ranges` of each bus above."""
    while node is not None and node.parent is not None:
        child, parent, size = (cells_of(node, "#address-cells", 2), cells_of(node.parent, "#address-cells", 2),
                               cells_of(node, "#size-cells", 1))
        for inside, outside, length in rows(node, "ranges", child, parent, size):
            if inside <= address < inside + length:
                address += outside - inside
                break
        node = node.parent
    return address


def registers(node):
    """[(address, size)] of `reg`."""
    pairs = rows(node, "reg", cells_of(node.parent, "#address-cells", 2), cells_of(node.parent, "#size-cells", 1))
    return [(to_root(node.parent, address), size) for address, size in pairs]


def first_registers(node):
    found = registers(node)
    if not found:
        raise Unusable(f"{node.path} has a reg property with too few cells: an address and a size are needed, of as many cells as its "
                       "bus says (#address-cells, #size-cells). Take the tree that the tools made.")
    return found[0]


def name_of(node):
    return node.labels[0] if node.labels else node.path


def windows(node):
    """The entries of `ranges` that are memory. The first of their three PCI cells has flags."""
    found = []
    for flags, bus, cpu, size in rows(node, "ranges", 1, 2, cells_of(node.parent, "#address-cells", 2),
                                      cells_of(node, "#size-cells", 2)):
        if flags & RANGE_64_BIT >= RANGE_MEMORY:
            found.append(Window(to_root(node.parent, cpu), bus, size, f"{name_of(node)}, ranges"))
    return found


def port_types(node):
    """What the tree says of the bridge's port: numbers, or words."""
    said = {}
    for name in PORT_TYPES:
        for written in (f"xlnx,{name}", f"xlnx,{name.replace('-', '_')}"):
            if written in node.props:
                prop = node.props[written]
                said[name] = prop.to_string() if prop.value[:1].isalpha() else number(node, written, None)
    return said


def bridge(node):
    named = dict(zip(strings(node, "reg-names"), registers(node)))
    control, size = named["cfg"] if "cfg" in named else first_registers(node)
    own, own_bytes = named.get("breg") or (named.get("cpm_csr", (None, None))[0], None)
    if own is None and "xlnx,versal-cpm-host-1.00" in strings(node, "compatible"):
        own = control
    return Bridge(name_of(node), control, size, windows(node), is_root_port(port_types(node)), own, own_bytes,
                  "-cpm" not in " ".join(strings(node, "compatible")))


def dma(node):
    channels = [text for child in node.nodes.values() for text in strings(child, "compatible")]
    s2mm = "xlnx,axi-dma-s2mm-channel" in channels if channels else bool(number(node, "xlnx,include-s2mm", 1))
    return Dma(name_of(node), first_registers(node)[0], s2mm, bool(number(node, "xlnx,include-sg", 0)),
               number(node, "xlnx,sg-length-width", 14), number(node, "xlnx,addrwidth", number(node, "xlnx,addr-width", 32)))


def console(tree):
    if not tree.has_node("/chosen"):
        return None
    path = "".join(strings(tree.get_node("/chosen"), "stdout-path")).split(":")[0]
    if tree.has_node("/aliases") and path in tree.get_node("/aliases").props:
        path = tree.get_node("/aliases").props[path].to_path().path
    if not tree.has_node(path) or not path:
        return None
    found = registers(tree.get_node(path))
    return found[0][0] if found else None


def clocks(tree):
    """{processor: Hz, or None where its nodes have none}."""
    found = {}
    for node in tree.node_iter():
        if "cpu" in strings(node, "device_type"):
            for processor in re.findall(r"\barm,(cortex-[a-z]\d+)f?\b", " ".join(strings(node, "compatible"))):
                hz = number(node, "xlnx,cpu-clk-freq-hz", number(node, "clock-frequency", None))
                found[processor] = found.get(processor) or hz
    return found


def parsed(path):
    try:
        from devicetree import dtlib
    except ImportError as missing:
        raise Unusable("Device trees are read with dtlib: pip install --no-deps devicetree==0.0.2. Or give xparameters.h of the "
                       "BSP.") from missing
    with open(path, encoding="utf-8", errors="replace") as file:
        if re.search(r"^\s*#\s*include\b", file.read(), re.M):
            raise Unusable(f"{path} includes other files. Carry the includes out first (cpp -nostdinc -undef -x assembler-with-cpp -P "
                           f"-I FOLDER {path} all.dts), or give the tree that lopper made: hw_artifacts/*.dts in the BSP's folder.")
    try:
        return dtlib.DT(path)
    except (dtlib.DTError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} is no device tree in text form: {error}. A .dtb becomes text by dtc -I dtb -O dts.") from error


def read(path: str) -> Hardware:
    tree = parsed(path)
    from devicetree import dtlib
    try:
        return hardware(path, tree)
    except dtlib.DTError as error:
        raise Unusable(f"{path} has a property of another form than expected: {error}. Take the tree that the tools made.") from error


def hardware(path, tree) -> Hardware:
    nodes = [node for node in tree.node_iter() if strings(node, "status") not in (["disabled"], ["reserved"])]

    def compatible(node, names):
        return any(name in names for name in strings(node, "compatible"))

    memory = [pair for node in nodes if "memory" in strings(node, "device_type") for pair in registers(node)]
    return Hardware(
        path=path,
        families={family for node in nodes if node.parent is None for text in strings(node, "compatible")
                  for prefix, family in FAMILIES.items() if text == prefix or text.startswith(prefix + "-")},
        bridges=[bridge(node) for node in nodes if any(map(is_bridge, strings(node, "compatible"))) and "reg" in node.props],
        memory=sorted(pair for pair in memory if pair[1] >= MEMORY_MIN_BYTES),
        uart=console(tree),
        dmas=[dma(node) for node in nodes if any(text.startswith("xlnx,axi-dma-") and "channel" not in text
                                                 for text in strings(node, "compatible"))],
        gpios={name_of(node): first_registers(node)[0] for node in nodes if compatible(node, {"xlnx,xps-gpio-1.00.a"})},
        clocks=clocks(tree))
