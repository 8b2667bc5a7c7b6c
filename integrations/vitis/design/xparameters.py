# SPDX-License-Identifier: Apache-2.0
"""Reads xparameters.h of both generations.

Classic (XSCT, to 2023.x): XPAR_XDMA_0_BASEADDR, XPAR_XDMA_0_AXIBAR_HIGHADDR_0, … and the same again under canonical names
(XPAR_XDMAPCIE_0_…). Since 2023.2 (SDT): XPAR_XDMA_0_COMPATIBLE, XPAR_XDMA_0_RANGES_BASEADDR_0, … and canonical names
(XPAR_XXDMAPCIE_0_…). A bridge for which the BSP has no driver has only XPAR_…_BASEADDR and HIGHADDR."""

import re

from hardware import PORT_TYPES, Bridge, Dma, Hardware, Unusable, Window, is_bridge, is_root_port

CANONICAL = re.compile(r"X?(XDMAPCIE|AXIPCIE|AXIDMA)_\d+")
RAW = re.compile(r"(XDMA|AXI_PCIE3?|QDMA)(_\d+)?")
FAMILIES = {"PS7": "zynq7000", "PSU": "zynqmp", "PSV": "versal", "PSX": "versal"}
# Registers of the memory controller, which have similar names.
NOT_MEMORY = re.compile(r"XMPU|QOS|PHY|DDRC|CTRL|CFG")
AXI_BARS = 6
# Base addresses of the interrupt controllers of a Zynq UltraScale+ (UG1085), and the most that its Cortex-R5F runs at (DS925).
INTERRUPT_CONTROLLERS = {0xF9000000: "cortex-r5", 0xF9010000: "cortex-a53"}
R5_MAX_HZ = 600_000_000


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def defined(text: str) -> dict[str, int | str]:
    """{name: number, or string}. A name that stands for another one has its value. A port type may be a word without quotation
    marks. Anything else is left out."""
    words = {}
    for name, value in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*?)[ \t\r]*$", without_comments(text), re.M):
        words[name] = value.strip("() \t")

    def resolve(value: str, depth: int = 0):
        if re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", value):
            return int(value.rstrip("uUlL"), 0 if value[:2] in ("0x", "0X") else 10)
        if re.fullmatch(r'"[^"]*"', value):
            return value[1:-1]
        return resolve(words[value], depth + 1) if value in words and depth < 8 else None

    values = {name: resolve(value) for name, value in words.items()}
    values |= {name: words[name] for name, value in values.items()
               if value is None and name.endswith("PORT_TYPE") and re.fullmatch(r"\w+", words[name])}
    return {name: value for name, value in values.items() if value is not None}


def labels(names: dict, suffix: str) -> set[str]:
    """The instances that have XPAR_<instance>_<suffix>."""
    return {name[len("XPAR_"):-len(suffix) - 1] for name in names if name.startswith("XPAR_") and name.endswith(f"_{suffix}")}


def own_names(found: set[str]) -> list[str]:
    """Without the canonical names, under which the same devices stand a second time."""
    own = {label for label in found if not CANONICAL.fullmatch(label)}
    return sorted(own or found)


def classic_windows(get) -> list[Window]:
    windows = []
    for i in range(min(get("AXIBAR_NUM") or AXI_BARS, AXI_BARS)):
        base, high, bus = get(f"AXIBAR_{i}"), get(f"AXIBAR_HIGHADDR_{i}"), get(f"AXIBAR2PCIEBAR_{i}")
        if high is None or (base is None and bus is None):
            continue
        if base is None:  # the driver of XDMA leaves it out: an AXI BAR is a power of two, at a multiple of its size
            size = high - bus + 1
            if size <= 0 or size & (size - 1) or bus % size:
                windows.append(Window(None, bus, 0, f"AXI BAR {i}"))
                continue
            base = bus
        if high > base:
            windows.append(Window(base, base if bus is None else bus, high - base + 1, f"AXI BAR {i}"))
    return windows


def newer_windows(get) -> list[Window]:
    windows = []
    for i in range(AXI_BARS):
        base, high = get(f"RANGES_BASEADDR_{i}"), get(f"RANGES_HIGHADDR_{i}")
        if base is not None and high is not None and high > base:
            windows.append(Window(base, base, high - base + 1, f"entry {i} of ranges, whose address is that on the bus"))
    return windows


def port_types(get, gen3: bool) -> dict:
    """What the file says of the bridge's port. A name that the newer tools ask for and that the design does not have is 0 there.
    AXI PCIe Gen3 has no port-type."""
    said = {name: get(name.upper().replace("-", "_")) for name in PORT_TYPES}
    return {name: value for name, value in said.items() if value is not None and not (gen3 and name == "port-type" and value == 0)}


def bridges(names: dict) -> list[Bridge]:
    found = {label for label in labels(names, "COMPATIBLE") if is_bridge(str(names[f"XPAR_{label}_COMPATIBLE"]))}
    with_base = labels(names, "BASEADDR")
    found |= labels(names, "INCLUDE_BAROFFSET_REG") & with_base
    found |= {label for label in with_base if RAW.fullmatch(label)}
    result = []
    for label in own_names(found & with_base):
        def get(suffix, label=label):
            return names.get(f"XPAR_{label}_{suffix}")

        kind = f"{get('COMPATIBLE')} {label}".lower()
        high = get("HIGHADDR")
        result.append(Bridge(name=label, control=get("BASEADDR"),
                             control_bytes=None if high is None else high - get("BASEADDR") + 1,
                             windows=newer_windows(get) or classic_windows(get),
                             root_port=is_root_port(port_types(get, re.search("axi.pcie3", kind) is not None)),
                             # Right for a CPM, which is at fixed addresses. Of a QDMA it is a default of the IP.
                             registers=get("CSR_SLCR"), in_logic="cpm" not in kind))
    return result


def memory(names: dict) -> list[tuple[int, int]]:
    ranges = set()
    for low, high in (("BASEADDR", "HIGHADDR"), ("BASEADDRESS", "HIGHADDRESS")):
        for label in labels(names, low):
            end = names.get(f"XPAR_{label}_{high}")
            if re.search(r"DDR|AXI_NOC", label) and not NOT_MEMORY.search(label) and end is not None:
                start = names[f"XPAR_{label}_{low}"]
                ranges.add((start, end - start + 1))
    return sorted(ranges)


def dmas(names: dict) -> list[Dma]:
    result = []
    for label in own_names(labels(names, "SG_LENGTH_WIDTH") & labels(names, "BASEADDR")):
        def get(suffix, otherwise, label=label):
            return names.get(f"XPAR_{label}_{suffix}", otherwise)

        s2mm = get("INCLUDE_S2MM", get("NUM_S2MM_CHANNELS", 1))
        result.append(Dma(label, get("BASEADDR", 0), bool(s2mm), bool(get("INCLUDE_SG", 0)), get("SG_LENGTH_WIDTH", 14),
                          get("ADDR_WIDTH", get("ADDRWIDTH", 32))))
    return result


def gpios(names: dict) -> dict[str, int]:
    found = labels(names, "BASEADDR")
    return {label: names[f"XPAR_{label}_BASEADDR"] for label in found if "GPIO" in label and not re.search(r"GPIOPS|PS[U7V]_", label)}


def processor_of(names: dict, hz: int) -> str:
    """Whose the newer file is, on a Zynq UltraScale+: it has one clock, without a processor's name. "": it does not say."""
    for name, value in names.items():
        if name.endswith("_INTERRUPT_PARENT") or name == "XPAR_XSCUGIC_0_BASEADDR":
            if value in INTERRUPT_CONTROLLERS:
                return INTERRUPT_CONTROLLERS[value]
    return "cortex-a53" if hz > R5_MAX_HZ else ""


def clocks(names: dict, families: set[str]) -> dict[str, int | None]:
    """Classic: names with the processor in them. XPAR_CPU_CORE_CLOCK_FREQ_HZ of the newer tools is of the processor that the
    BSP is for."""
    found = {}
    for name in names:
        match = re.match(r"XPAR_(?:CPU|PS[U7VX])_CORTEX([A-Z]+\d+)_\d+_", name)
        if match:
            found.setdefault(f"cortex-{match[1].lower()}", None)
            if name.endswith("_CPU_CLK_FREQ_HZ"):
                found[f"cortex-{match[1].lower()}"] = names[name]
    hz = names.get("XPAR_CPU_CORE_CLOCK_FREQ_HZ")
    if hz is not None and not found:
        found = {processor_of(names, hz) if "zynqmp" in families else "": hz}
    return found


def read(path: str) -> Hardware:
    with open(path, encoding="utf-8", errors="replace") as file:
        names = defined(file.read())
    if not any(name.startswith("XPAR_") for name in names):
        raise Unusable(f"{path} defines no XPAR_ name. Give xparameters.h of the BSP (its include folder), or a device tree (.dts).")
    families = {family for prefix, family in FAMILIES.items() if any(re.match(rf"XPAR_(\w+_)?{prefix}_", name) for name in names)}
    return Hardware(path, families, bridges(names), memory(names), names.get("STDOUT_BASEADDRESS"), dmas(names), gpios(names),
                    clocks(names, families))
