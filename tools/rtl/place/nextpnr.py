# SPDX-License-Identifier: Apache-2.0
"""Runs nextpnr, which setup/install place has unpacked below build/place: a program of Debian's unstable release, with its own
loader, libraries and Python."""

import json
import os
import pathlib
import re
from typing import NamedTuple

import program
from place import made, wrapper

PACKAGES = program.ROOT / "setup" / "place.sha256"
ROOT = program.BUILD / "place" / "root" / "usr"
LIBRARIES = ROOT / "lib" / "x86_64-linux-gnu"
WORDS = (LIBRARIES / "ld-linux-x86-64.so.2", "--library-path", LIBRARIES, ROOT / "bin" / "nextpnr-himbaechel-xilinx")
DATABASE = ROOT / "share" / "nextpnr" / "himbaechel" / "xilinx" / "chipdb-xc7a200t.bin"
DEVICE = "xc7a200tfbg484-2"
PINS = {"clk": "R4", "si": "AA1", "so": "Y4"}
AIMED_MHZ = 125  # what the placer aims at; the result may be less or more


PLACE = re.compile(r"X(\d+)Y(\d+)/")


class Cell(NamedTuple):
    site: str  # such as SLICE_LUTX
    primitive: str  # such as LUT6
    column: int | None  # of tiles; constants have none
    row: int | None


class Files(NamedTuple):
    report: pathlib.Path  # timing and use, JSON
    placed: pathlib.Path  # {primitive: Cell}, JSON
    log: pathlib.Path


def files(folder: pathlib.Path, seed: int) -> Files:
    return Files(*(folder / f"{name}-{seed}.{end}" for name, end in (("report", "json"), ("placed", "json"), ("nextpnr", "log"))))


def cell(written: dict) -> Cell:
    """A primitive as nextpnr writes it."""
    place = PLACE.match(written["attributes"].get("NEXTPNR_BEL", ""))
    primitive = written["attributes"].get("X_ORIG_TYPE", written["type"]).strip()
    return Cell(written["type"], primitive, *((int(place[1]), int(place[2])) if place else (None, None)))


def reduce(placed: pathlib.Path) -> None:
    """Keeps of the written design what is read here: each wire of each net makes 50 MB of a seed."""
    cells = json.loads(placed.read_text())["modules"]["top"]["cells"]
    placed.write_text(json.dumps({name: cell(written) for name, written in cells.items()}))


def placed_cells(files: Files) -> dict[str, Cell]:
    return {name: Cell(*values) for name, values in json.loads(files.placed.read_text()).items()}


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONHOME": str(ROOT)}


def version() -> str:
    said = program.run(*WORDS, "--version", env=environment())
    return (said.stdout + said.stderr).partition("(Version ")[2].rstrip(")\n")


def pins() -> str:
    return "".join(f"set_property LOC {pin} [get_ports {port}]\nset_property IOSTANDARD LVCMOS33 [get_ports {port}]\n"
                   for port, pin in PINS.items())


def run(netlist: pathlib.Path, seed: int) -> Files:
    """Places and routes, unless this was done with the same netlist and tools. One thread: the result must not depend on the
    machine."""
    target, constraints = files(netlist.parent, seed), netlist.parent / "pins.xdc"
    options = ("--device", DEVICE, "--top", wrapper.TOP, "--freq", str(AIMED_MHZ), "--timing-allow-fail", "--router", "router2",
               "--threads", "1", "--seed", str(seed), "--detailed-timing-report")
    source = made.digest(netlist.read_bytes(), PACKAGES.read_text(), pins(), *options)
    if made.is_from(target.report, source):
        return target
    made.begin(target.report)
    constraints.write_text(pins())
    try:
        program.run(*WORDS, "--chipdb", DATABASE, "--json", netlist, "-o", f"xdc={constraints}", *options, "--report", target.report,
                    "--write", target.placed, "--log", target.log, "--quiet", env=environment())
    except program.Failed as failed:
        raise SystemExit(f"{netlist.parent.name}, seed {seed}: {failed}") from failed
    reduce(target.placed)
    made.end(target.report, source)
    return target
