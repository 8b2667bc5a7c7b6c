# SPDX-License-Identifier: Apache-2.0
"""Maps a design in its wrapper to the primitives of a 7-series device, with Yosys."""

import json
import pathlib
from typing import NamedTuple

import filelist
import yowasp
from place import made, wrapper

FOLDER = filelist.ROOT / "build" / "rtl" / "place"
YOSYS_VERSION = filelist.ROOT / "setup" / "gateware.txt"


class Design(NamedTuple):
    name: str  # of its folder, too
    module: str
    parameters: dict[str, int | str]
    files: tuple[str, ...]  # relative to the repository, packages first
    open_ports: tuple[str, ...] = ()  # ports whose names begin so stay unconnected: Yosys removes all if one output has no value

    @property
    def folder(self) -> pathlib.Path:
        return FOLDER / self.name


def read(top: str, values: str, files: list[str]) -> str:
    """The command that elaborates a module. --keep-hierarchy: the instances keep their names."""
    return f"read_slang --threads 1 --ignore-assertions --keep-hierarchy --top {top} {values} {' '.join(files)}; "


def elaborate(design: Design) -> dict:
    """All modules of the hierarchy, as Yosys writes them to JSON."""
    values = " ".join(f"-G{name}={value}" for name, value in design.parameters.items())
    path = design.folder / "elaborated.json"
    yowasp.run(read(design.module, values, list(design.files)) + f"write_json {path.relative_to(filelist.ROOT)}",
               design.folder / "elaborate.log", design.name)
    return json.loads(path.read_text())["modules"]


def script(files: list[str], netlist: pathlib.Path) -> str:
    """nextpnr cannot route the shift registers of LUTs: -nosrl."""
    return (read(wrapper.TOP, "", files) + f"synth_xilinx -family xc7 -flatten -abc9 -nosrl -top {wrapper.TOP}; "
            "setattr -mod -unset keep_hierarchy *; flatten; opt_clean -purge; "
            f"write_json {netlist.relative_to(filelist.ROOT)}")


def connected(design: Design, modules: dict) -> list[wrapper.Port]:
    """The ports that the wrapper connects. `modules`: the elaborated design."""
    return [port for port in wrapper.ports_of(modules[wrapper.top_of(modules)]) if not port.name.startswith(design.open_ports)]


def synthesise(design: Design) -> pathlib.Path:
    """The netlist of the wrapped design, made again if the sources have changed."""
    design.folder.mkdir(parents=True, exist_ok=True)
    modules = elaborate(design)
    text = wrapper.verilog(design.module, design.parameters, connected(design, modules))
    wrapped, netlist = design.folder / "wrapper.v", design.folder / "netlist.json"
    commands = script([*design.files, str(wrapped.relative_to(filelist.ROOT))], netlist)
    source = made.digest(commands, text, YOSYS_VERSION.read_text(), *((filelist.ROOT / path).read_bytes() for path in design.files))
    if not made.is_from(netlist, source):
        made.begin(netlist)
        wrapped.write_text(text)
        yowasp.run(commands, design.folder / "synthesis.log", design.name)
        made.end(netlist, source)
    return netlist
