# SPDX-License-Identifier: Apache-2.0
"""Generates mutants of modules of rtl/ with Yosys's `mutate` pass, and sources in which they can be switched on.

A mutant is one change of one bit at one port of one cell: inverted, constant, or inverted while another bit has a value. The cell
is identified by its place in the source, its type, and its number among the cells of that place and type. So the same mutant is
found again in the module with other parameters, in a flat design, and under FORMAL.

`overlay()` writes sources that replace those of rtl/. A replacing module has the header of the original. Its body is the netlist
from Yosys with all its mutants and a selector, or the original for parameters without mutants. The modules inside it are those of
rtl/. The environment variable SPATE_MUTANT selects the mutant at the start of the simulation; 0 is none. So one build of a
testbench serves all mutants of all modules in it."""

import collections
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import threading

import filelist
import program
import yowasp

FOLDER = filelist.ROOT / "build" / "mutants" / "rtl"
WORK = FOLDER / f"work-{os.getpid()}"  # for this process; removed when its mutants are judged
SELECTOR, SELECTOR_BITS = "spate_mutant", 16
NOTICED = 2 ** SELECTOR_BITS - 1  # holds the replaced modules in reset: a bench that does not notice this notices no mutant
POOL = 400  # mutants per module that Yosys generates; the sample is drawn from them
# No mutants of clocks: a stopped or gated clock is not a realistic mistake, and a multiplexer in a clock would race.
CLOCKS = {"CLK", "RD_CLK", "WR_CLK"}
RESET_LOW, RESET_HIGH = re.compile(r"rst_n|resetn"), re.compile(r"reset_i$")
OPTION = re.compile(r"-(mode|cell|port|portbit|ctrlbit|wire|wirebit|src) (\S+)")
PLACE = re.compile(r"([\w.]+\.sv):(\d+)\.(\d+)(?:-(\d+)\.(\d+))?$")
MEANING = {"inv": "inverted", "const0": "always 0", "const1": "always 1", "cnot0": "inverted while bit {} is 0",
           "cnot1": "inverted while bit {} is 1"}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell, in any design that contains the module."""
    src: str  # with the files' names only
    kind: str  # type of the cell; for instances, the module
    number: int  # its number among the cells of this place and kind


@dataclasses.dataclass(frozen=True)
class Mutant:
    module: str
    cell: Cell
    mode: str
    port: str
    port_bit: int
    control_bit: int | None  # a bit of the same port
    file: str
    line: int
    original: str  # the source text of the cell
    mutated: str

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def command(self, module: str, cell: str, number: int = 0) -> str:
        """The Yosys command that applies it: always, or while the selector has this number."""
        control = f"-ctrlbit {self.control_bit} " if self.control_bit is not None else ""
        selected = f"-ctrl {SELECTOR} {SELECTOR_BITS} {number} " if number else ""
        return (f"mutate -mode {self.mode} {selected}-module {module} -cell {cell} -port {self.port} "
                f"-portbit {self.port_bit} {control}")


@dataclasses.dataclass(frozen=True)
class Module:
    """A module with parameters."""
    name: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def values(self) -> str:
        return " ".join(f"-G{name}={value}" for name, value in self.parameters)

    @property
    def label(self) -> str:
        return f"{self.name}-{digest(self.values, *contents(tuple(filelist.needed_by(self.name))))}"


@dataclasses.dataclass(frozen=True)
class Elaborated:
    """A design's modules with their parameters, and for each module its instances by place."""
    modules: tuple[Module, ...]
    inside: dict[Module, dict[str, Module]]


def digest(*words) -> str:
    return hashlib.sha256(repr(words).encode()).hexdigest()[:16]


@functools.cache
def contents(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple((filelist.ROOT / path).read_text() for path in paths)


def made(path: pathlib.Path, make) -> pathlib.Path:
    """Returns the file. make(path) writes it if it does not exist; its name identifies its sources."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        unfinished = path.with_name(f"{threading.get_ident()}-{path.name}")
        make(unfinished)
        unfinished.rename(path)
    return path


def yosys(script: str) -> None:
    # Started in the repository, which contains all that it reads: its sandbox sees no other folder.
    program.run(yowasp.YOSYS, "-q", "-p", script, cwd=filelist.ROOT, env=yowasp.environment(), stderr=subprocess.STDOUT)


def below(path: pathlib.Path) -> str:
    return str(path.relative_to(filelist.ROOT))


# ---- which modules with which parameters are in a design ----


@functools.cache
def elaborate(top: str, values: tuple[str, ...], extra: tuple[str, ...]) -> Elaborated:
    """The design as elaborated by Verilator."""
    files = filelist.needed_by(top, extra)

    def make(path: pathlib.Path) -> None:
        program.run("tools/rtl/verilator", "--json-only", "--json-only-output", below(path), "--Mdir", below(path.parent),
                    "--prefix", f"{top}_{threading.get_ident()}", "--top-module", top, "-Wno-lint", "-Wno-fatal", *values,
                    "rtl/lint/waivers.vlt", *files, cwd=filelist.ROOT, stderr=subprocess.STDOUT)

    tree = json.loads(made(FOLDER / "elaborated" / f"{top}-{digest(values, *contents(tuple(files)))}.json", make).read_text())
    nodes = {node["addr"]: node for node in tree["modulesp"] if node["type"] == "MODULE"}
    modules = {address: Module(node["name"].split("__")[0], _parameters(node)) for address, node in nodes.items()}
    inside = {modules[address]: {place: modules[module] for place, module in _instances(node, "")}
              for address, node in nodes.items()}
    return Elaborated(tuple(dict.fromkeys(modules.values())), inside)


def _parameters(node: dict) -> tuple[tuple[str, str], ...]:
    return tuple((each["name"], each["valuep"][0]["name"].replace("'s", "'")) for each in node["stmtsp"]
                 if each["type"] == "VAR" and each.get("varType") == "GPARAM")


def _instances(node: dict, before: str):
    for inside in (each for value in node.values() if isinstance(value, list) for each in value if isinstance(each, dict)):
        if inside["type"] == "CELL":
            yield before + inside["name"], inside["modp"]
        elif inside["type"] == "GENBLOCK" and inside.get("name"):
            yield from _instances(inside, f"{before}{inside['name']}.")
        elif inside["type"] != "VAR":
            yield from _instances(inside, before)


# ---- the cells of a module, and mutants of them ----


def read(module: Module) -> str:
    files = " ".join(filelist.needed_by(module.name))
    return (f"read_slang --threads 1 --ignore-assertions --keep-hierarchy --top {module.name} {module.values} {files}; "
            f"hierarchy -top {module.name}; proc")


def _bare(src: str) -> str:
    """Places with file names only, because SymbiYosys reads copies."""
    return "|".join(sorted(part.rpartition("/")[2] for part in src.split("|")))


def _kind(cell_type: str) -> str:
    """The type without the instance's path, which slang appends to a module's name."""
    return cell_type if cell_type.startswith("$") else cell_type.lstrip("\\").split("$")[0]


def _natural(name: str) -> list:
    return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", name)]


def cells(netlist: dict) -> dict[str, Cell]:
    """{name in the netlist: cell}. In a flat netlist, each instance of a module is counted separately."""
    seen: collections.Counter = collections.Counter()
    found = {}
    for name in sorted(netlist["cells"], key=_natural):
        cell = netlist["cells"][name]
        instance = name.partition("$")[0].rpartition(".")[0]
        key = _bare(cell["attributes"].get("src", "")), _kind(cell["type"])
        seen[instance, *key] += 1
        found[name] = Cell(*key, seen[instance, *key])
    return found


@functools.cache
def netlist(module: Module) -> dict:
    """The netlist of the module itself. Inner modules are cells."""
    path = made(FOLDER / "netlists" / f"{module.label}.json", lambda path: yosys(f"{read(module)}; write_json {below(path)}"))
    return json.loads(path.read_text())["modules"][module.name]


@functools.cache
def flat_netlist(top: str, values: str, extra: tuple[str, ...]) -> dict:
    """The flat netlist as SymbiYosys reads it."""
    files = filelist.needed_by(top, extra)
    script = f"read_slang --threads 1 -DFORMAL=1 --top {top} {values} {' '.join(files)}; hierarchy -check -top {top}; proc"
    path = made(FOLDER / "netlists" / f"{top}-flat-{digest(values, *contents(tuple(files)))}.json",
                lambda path: yosys(f"{script}; write_json {below(path)}"))
    return json.loads(path.read_text())["modules"][top]


def flat_name(mutant: Mutant, module: Module, flat: dict) -> str | None:
    """The name, in a flat design with one instance of the module, of the cell that the mutant changes. None if that place has
    another number of cells than in the module by itself: then the cells cannot be matched."""
    like = (mutant.cell.src, mutant.cell.kind)
    own = [cell for cell in cells(netlist(module)).values() if (cell.src, cell.kind) == like]
    there = [name for name, cell in cells(flat).items() if (cell.src, cell.kind) == like]
    if len(own) != len(there) or mutant.cell not in own:
        return None
    name = there[mutant.cell.number - 1]
    return name if is_there(mutant, flat, name) else None


def is_there(mutant: Mutant, netlist_: dict, cell: str) -> bool:
    """Whether a cell has the bits that the mutant changes, with these parameters."""
    width = len(netlist_["cells"][cell]["connections"].get(mutant.port, ()))
    return max(mutant.port_bit, mutant.control_bit or 0) < width


def pool(module: Module, seed: int) -> list[Mutant]:
    """Mutants of the module. They stay the same until the module changes."""
    known = cells(netlist(module))
    path = made(FOLDER / "netlists" / f"{module.label}-{seed}.list", lambda path: yosys(
        f"{read(module)}; mutate -list {POOL} -seed {seed} -module {module.name} -o {below(path)}"))
    found = {}
    for line in path.read_text().splitlines():
        options = collections.defaultdict(list)
        for name, value in OPTION.findall(line):
            options[name].append(value)
        cell = known.get(options["cell"][0].lstrip("\\")) if options["cell"] else None
        if cell and cell.src and options["port"][0].lstrip("\\") not in CLOCKS:
            mutant = _mutant(module.name, cell, options)
            found[mutant] = None
    return list(found)


def _mutant(module: str, cell: Cell, options: dict) -> Mutant:
    mode, port, bit = options["mode"][0], options["port"][0].lstrip("\\"), int(options["portbit"][0])
    control = int(options["ctrlbit"][0]) if options["ctrlbit"] else None
    file, line, text = source(cell.src, module)
    output = port in ("Y", "Q") or (port == "DATA" and cell.kind.startswith("$memrd"))
    of = "the result" if output else f"input {port}" if cell.kind.startswith("$") else f"port {port}"
    which = f" ({cell.number})" if cell.number > 1 else ""
    what = f"bit {bit} of {of} of {cell.kind}{which} {MEANING[mode].format(control)}"
    return Mutant(module, cell, mode, port, bit, control, file, line, text, what)


def source(src: str, module: str) -> tuple[str, int, str]:
    """File, line and text of a cell. If it has several places, the shortest in the module's own file."""
    own = next(path for path in filelist.sources() if path.endswith(f"/{module}.sv"))
    lines = (filelist.ROOT / own).read_text().splitlines()
    texts = []
    for part in src.split("|"):
        found = PLACE.match(part)
        if not found or found[1] != f"{module}.sv":
            continue
        first, last = int(found[2]), int(found[4] or found[2])
        if found[4] and first == last:
            text = lines[first - 1][int(found[3]) - 1:int(found[5]) - 1]
        else:
            text = lines[first - 1]
        texts.append((last - first, len(text), first, text.strip()))
    if not texts:
        return own, 0, ""
    _, _, line, text = min(texts)
    return own, line, text


# ---- sources with mutants in them ----


def overlay(mutants: dict[int, Mutant], design: Elaborated, folder: pathlib.Path) -> tuple[dict[str, str], set[int]]:
    """{path of a source: path of its replacement in this design}, and the numbers of the mutants in the replacements."""
    folder.mkdir(parents=True, exist_ok=True)
    by_module = collections.defaultdict(dict)
    for number, mutant in mutants.items():
        by_module[mutant.module][number] = mutant
    paths, present = {}, set()
    for name, own in by_module.items():
        path = next(path for path in filelist.sources() if path.endswith(f"/{name}.sv"))
        netlists = []
        for module in (module for module in design.modules if module.name == name):
            text, numbers = _netlist_with(module, own, design, len(netlists), folder)
            if numbers:
                netlists.append((module, text))
                present |= numbers
        if netlists:
            replaced = folder / f"{name}.sv"
            replaced.write_text(_replacement(name, (filelist.ROOT / path).read_text(), netlists))
            paths[path] = below(replaced)
    return paths, present


def _netlist_with(module: Module, mutants: dict[int, Mutant], design: Elaborated, index: int,
                  folder: pathlib.Path) -> tuple[str, set[int]]:
    own = netlist(module)
    by_cell = {cell: name for name, cell in cells(own).items()}
    wanted = {number: by_cell[mutant.cell] for number, mutant in mutants.items()
              if mutant.cell in by_cell and is_there(mutant, own, by_cell[mutant.cell])}
    if not wanted:
        return "", set()
    script = [read(module)]
    script += [mutants[number].command(module.name, cell, number) for number, cell in wanted.items()]
    written = [_netlist_name(module.name, index)]
    for name, cell in own["cells"].items():
        if cell["type"].startswith("$"):
            continue
        inside = design.inside[module][name]
        chosen = f"{module.name}/c:{re.sub(r'[^A-Za-z0-9_.]', '?', name)}"
        if inside.name in _generated():  # its ports are structs, which Verilog cannot connect: use a netlist, too
            written.append(f"{written[0]}_{len(written)}")
            script += [f"rename {cell['type']} {written[-1]}", f"chtype -set {written[-1]} {chosen}"]
        else:
            script += [f"setparam -set {parameter} {value} {chosen}" for parameter, value in inside.parameters]
            script += [f"chtype -set {inside.name} {chosen}"]
    path = folder / f"{module.name}-{index}.v"
    script += [f"rename {module.name} {written[0]}", f"select {' '.join(written)}",
               f"write_verilog -selected -noattr {below(path)}"]
    yosys("; ".join(script))
    return path.read_text(), set(wanted)


def _generated() -> set[str]:
    return {pathlib.PurePath(path).stem for path in filelist.sources() if "/generated/" in path}


def has_reset(module: Module) -> bool:
    return any(_held(port, seen) != port for port, seen in netlist(module)["ports"].items())


def _held(port: str, seen: dict) -> str:
    """The connection of a port. A reset input is held active while NOTICED is selected."""
    if seen["direction"] != "input":
        return port
    if RESET_LOW.search(port):
        return f"{port} && {SELECTOR} != {NOTICED}"
    return f"{port} || {SELECTOR} == {NOTICED}" if RESET_HIGH.search(port) else port


def _netlist_name(name: str, index: int) -> str:
    return f"{name}_netlist{index}"


def _replacement(name: str, original: str, netlists: list[tuple[Module, str]]) -> str:
    """A module with the header of the original. It contains the netlist for the parameters of the instance."""
    header = original[:original.index("\n);") + 4]
    ports = netlist(netlists[0][0])["ports"]
    joined = ", ".join(f".{port}({port})" for port in ports)
    held = ", ".join(f".{port}({_held(port, seen)})" for port, seen in ports.items())
    value = f'std::getenv(\\"{SELECTOR.upper()}\\")'
    lines = [header, f"  int unsigned {SELECTOR};", f'  initial {SELECTOR} = $c32("{value} ? std::atoi({value}) : 0");']
    for index, (module, _) in enumerate(netlists):
        same = " && ".join(f"{parameter} == {value}" for parameter, value in module.parameters) or "1"
        lines += [f"  {'else ' if index else ''}if ({same}) begin : gen_netlist{index}",
                  f"    {_netlist_name(name, index)} u_netlist (.{SELECTOR}({SELECTOR}[{SELECTOR_BITS - 1}:0]), {held});",
                  "  end"]
    parameters = ", ".join(f".{parameter}({parameter})" for parameter, _ in netlists[0][0].parameters)
    lines += ["  else begin : gen_original",
              f"    {name}_original #({parameters}) u_original ({joined});" if parameters
              else f"    {name}_original u_original ({joined});", "  end", "endmodule"]
    renamed = re.sub(rf"\bmodule {name}\b", f"module {name}_original", original)
    return "\n".join([*lines, renamed, *(text for _, text in netlists)])
