# SPDX-License-Identifier: Apache-2.0
"""Resources of a module on an UltraScale+ device, by Yosys: primitives, logic levels, and the kind of each memory.

Yosys maps carry chains to CARRY4 and does not place, so its LUT counts show a trend: they are comparable between versions of
this core, not with Vivado's.

A logic level is a LUT, a wide multiplexer, or the asynchronous read of a LUTRAM or shift register; a carry chain of any
length is one more. Levels are counted from a flip-flop, block RAM or input to a flip-flop, block RAM or output.
"""

import collections
import dataclasses
import json
import pathlib
import re

import filelist
import yowasp
from tops import Area

FOLDER = filelist.ROOT / "build" / "rtl" / "synth"

# LUT sites of the primitives that are LUTs, are made of LUTs, or are not absorbed by anything else (INV).
LUT_SITES = {f"LUT{inputs}": 1 for inputs in range(1, 7)} | {
    "INV": 1, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1,
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
    "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8,
}
FLOPS = {"FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "FDSE_1", "FDCE_1", "FDPE_1"}
BRAM18 = {"RAMB18E2": 1, "RAMB36E2": 2}
LUTRAM = {kind for kind in LUT_SITES if kind.startswith(("RAM", "SRL"))}
OTHERS = {"CARRY4", "MUXF7", "MUXF8", "MUXF9", "URAM288"}
# Primitives whose outputs follow an input within the cycle. count() refuses primitives that it does not know.
THROUGH = {*LUT_SITES, "CARRY4", "MUXF7", "MUXF8", "MUXF9"}
CLOCKED_INPUTS = re.compile(r"^(D|DI[A-H]?|CE|WE|CLK|WCLK)$")
# The port that supplies the write address; it is a read port, too, if its output is used.
WRITE_PORT = {"RAM32M": "D", "RAM64M": "D", "RAM32M16": "H", "RAM64M8": "H"}
UNITS = ("LUT", "of which LUTRAM", "FF", "BRAM18", "URAM", "CARRY4", "MUXF")


@dataclasses.dataclass
class Result:
    total: collections.Counter
    levels: int
    path: list[str]  # one longest path: its start, the primitives with the nets that they drive, its end
    memories: dict[str, str]  # memory → the primitive that it became
    blocks: dict[str, tuple[int, collections.Counter, collections.Counter]]  # module → instances, own counts, total counts


def count(primitives: collections.Counter, where: str) -> collections.Counter:
    known = {*LUT_SITES, *FLOPS, *BRAM18, *OTHERS}
    if strange := set(primitives) - known:
        raise SystemExit(f"{where}: primitives that are not counted: {', '.join(sorted(strange))}")
    units = collections.Counter({unit: 0 for unit in UNITS})
    for kind, number in primitives.items():
        units["LUT"] += LUT_SITES.get(kind, 0) * number
        units["of which LUTRAM"] += LUT_SITES[kind] * number if kind in LUTRAM else 0
        units["FF"] += number if kind in FLOPS else 0
        units["BRAM18"] += BRAM18.get(kind, 0) * number
        units["URAM"] += number if kind == "URAM288" else 0
        units["CARRY4"] += number if kind == "CARRY4" else 0
        units["MUXF"] += number if kind.startswith("MUXF") else 0
    return units


def yosys(area: Area, name: str, hierarchy: bool) -> tuple[dict, str]:
    """Runs Yosys. Returns the netlist of each module, and the log."""
    netlist, log = FOLDER / f"{name}.json", FOLDER / f"{name}.log"
    values = " ".join(f"-G{parameter}={value}" for parameter, value in area.parameters.items())
    files = " ".join(filelist.needed_by(area.module))
    flatten = "" if hierarchy else "-flatten"
    uram = "-uram" if area.uram else ""
    script = (f"read_slang --threads 1 --ignore-assertions --keep-hierarchy --top {area.module} {values} {files}; "
              f"synth_xilinx -family xcup -noiopad -noclkbuf {flatten} {uram} -top {area.module}; "
              f"opt_clean -purge; "
              f"write_json {netlist.relative_to(filelist.ROOT)}")
    yowasp.run(script, log, area.name)
    modules = json.loads(netlist.read_text())["modules"]
    return {key: value for key, value in modules.items() if "blackbox" not in value["attributes"]}, log.read_text()


def longest_path(netlist: dict) -> tuple[int, list[str]]:
    """The logic levels of a flat netlist, and one path that has them. A carry chain costs one level at its entry and none from
    one CARRY4 to the next."""
    cells = netlist["cells"]
    driver = {bit: name for name, cell in cells.items() for port, bits in cell["connections"].items()
              if cell["port_directions"][port] == "output" for bit in bits}
    used = {bit for port in netlist["ports"].values() for bit in port["bits"]}
    used |= {bit for cell in cells.values() for port, bits in cell["connections"].items()
             if cell["port_directions"][port] == "input" for bit in bits}
    before = {name: {driver[bit] for port in inputs_through(cell, used) for bit in cell["connections"].get(port, ())
                     if bit in driver and cells[driver[bit]]["type"] in THROUGH}
              for name, cell in cells.items() if cell["type"] in THROUGH}
    best: dict[str, tuple[int, str | None]] = {}
    for name in topological(before):
        carry = cells[name]["type"] == "CARRY4"
        steps = [(best[source][0] + (0 if carry and cells[source]["type"] == "CARRY4" else 1), source)
                 for source in before[name]]
        best[name] = max(steps, default=(1, None))
    # A path to a clocked input of a LUTRAM was counted at its driver.
    name = max(best, key=lambda cell: best[cell][0], default=None)
    levels, path = (best[name][0] if name else 0), []
    while name:
        path.append(name)
        name = best[name][1]
    return levels, described(netlist, path[::-1])


def described(netlist: dict, path: list[str]) -> list[str]:
    """The primitives of a path with the nets that they drive, after the path's start and before its end, as far as these have
    names."""
    if not path:
        return []
    cells = netlist["cells"]
    nets = {bit: net for net, value in netlist["netnames"].items() if not value["hide_name"] for bit in value["bits"]}

    def named(cell: dict, direction: str) -> list[str]:
        return sorted({nets[bit] for port, bits in cell["connections"].items()
                       if cell["port_directions"][port] == direction for bit in bits if bit in nets} - {"clk_i"})

    last = {bit for port, bits in cells[path[-1]]["connections"].items()
            if cells[path[-1]]["port_directions"][port] == "output" for bit in bits}
    ends = sorted({net for cell in cells.values() if cell["type"] not in THROUGH
                   and any(last & set(bits) for port, bits in cell["connections"].items()
                           if cell["port_directions"][port] == "input") for net in named(cell, "output")})
    words = [cells[name]["type"] + "".join(f"({net})" for net in named(cells[name], "output")[:1]) for name in path]
    return [*named(cells[path[0]], "input")[:1], *words, *ends[:1]]


def inputs_through(cell: dict, used: set) -> list[str]:
    """The inputs that an output depends on combinationally."""
    inputs = [port for port, direction in cell["port_directions"].items() if direction == "input"]
    if cell["type"] not in LUTRAM:
        return inputs
    write = WRITE_PORT.get(cell["type"])
    only_writes = write and not used & set(cell["connections"].get(f"DO{write}", ()))
    return [port for port in inputs
            if not CLOCKED_INPUTS.match(port) and not (only_writes and port == f"ADDR{write}")]


def topological(before: dict[str, set[str]]) -> list[str]:
    after = collections.defaultdict(list)
    for name, sources in before.items():
        for source in sources:
            after[source].append(name)
    missing = {name: len(sources) for name, sources in before.items()}
    order = [name for name, number in missing.items() if number == 0]
    for name in order:
        for follower in after[name]:
            missing[follower] -= 1
            if missing[follower] == 0:
                order.append(follower)
    if len(order) != len(before):
        raise SystemExit(f"combinational loop through {len(before) - len(order)} cells")
    return order


def memories(log: str) -> dict[str, str]:
    """From the log of the mapping: {memory: the kind of RAM, or FLOPS}."""
    found = {}
    for name, kind in re.findall(r"^mapping memory (\S+) via (\S+)$", log, re.M):
        found[name.replace("\\", "")] = kind.replace("$__XILINX_", "").strip("_")
    for name in re.findall(r"^using FF mapping for memory (\S+)$", log, re.M):
        found[name.replace("\\", "")] = "FLOPS"
    # Constant tables have no name of their own, only a number that changes. A block RAM for one is counted nevertheless.
    return {name: kind for name, kind in found.items() if "$auto$" not in name}


def plain(module: str) -> str:
    """A module's name without the place of the instance, which slang appends."""
    return re.split(r"[$\\]", module.lstrip("\\"))[0]


def blocks(netlists: dict, where: str) -> dict:
    """For each module of the hierarchy: the number of instances, and its own and total counts, summed over them."""
    def tally(module: str) -> collections.Counter:
        kinds = [cell["type"] for cell in netlists[module]["cells"].values()]
        mine = count(collections.Counter(kind for kind in kinds if kind not in netlists), where)
        total = mine.copy()
        for inside in (kind for kind in kinds if kind in netlists):
            total.update(tally(inside))
        number, own_before, total_before = found.get(plain(module), (0, collections.Counter(), collections.Counter()))
        found[plain(module)] = (number + 1, own_before + mine, total_before + total)
        return total

    found: dict = {}
    inner = {cell["type"] for netlist in netlists.values() for cell in netlist["cells"].values()}
    for top in set(netlists) - inner:
        tally(top)
    return found


def synthesise(area: Area) -> Result:
    FOLDER.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "-", area.name)
    flat, log = yosys(area, name, hierarchy=False)
    netlist = flat[area.module]
    levels, path = longest_path(netlist)
    total = count(collections.Counter(cell["type"] for cell in netlist["cells"].values()), area.name)
    several = len([path for path in filelist.needed_by(area.module) if not path.endswith("_pkg.sv")]) > 1
    parts = blocks(yosys(area, f"{name}-blocks", hierarchy=True)[0], area.name) if several else {}
    return Result(total, levels, path, memories(log), parts)
