# SPDX-License-Identifier: Apache-2.0
"""Scripts that create IP, such as a board's build.tcl: does each CONFIG that they set belong to its IP?

create_ip, create_bd_cell and set_property are followed; all other commands of Vivado that such scripts use do nothing here."""

import pathlib

from . import properties
from .interpreter import Place, Wrong, interpreter
from .options import parse
from .words import split

NOTHING = tuple("""
    create_project current_project add_files import_files current_fileset get_filesets get_files update_compile_order set_param
    version set_msg_config generate_target synth_ip read_ip read_verilog read_xdc
    synth_design link_design opt_design place_design phys_opt_design route_design write_bitstream write_checkpoint
    report_timing_summary report_utilization report_cdc report_bus_skew report_drc report_methodology
    get_runs launch_runs wait_on_run open_run
    create_bd_design current_bd_design validate_bd_design save_bd_design make_wrapper assign_bd_address connect_bd_net
    connect_bd_intf_net create_bd_port create_bd_intf_port make_bd_pins_external make_bd_intf_pins_external
    get_bd_pins get_bd_intf_pins get_bd_ports get_bd_intf_ports get_bd_addr_spaces get_bd_addr_segs exclude_bd_addr_seg
    apply_bd_automation write_hw_platform write_debug_probes get_board_parts
""".split())


class Script:
    def __init__(self):
        self.ips: dict[str, str] = {}  # instance → IP

    def table(self) -> dict:
        return {name: lambda place, words: "" for name in NOTHING} | {
            "create_ip": self.create_ip, "create_bd_cell": self.create_bd_cell, "get_ips": self.get, "get_bd_cells": self.get,
            "set_property": self.set_property}

    def create_ip(self, place: Place, words: list[str]) -> str:
        said = parse(words, ("-force", "-quiet"), ("-name", "-vendor", "-library", "-version", "-vlnv", "-module_name", "-dir"))
        if "-module_name" not in said.values or not {"-name", "-vlnv"} & set(said.values):
            raise Wrong("needs -module_name, and -name or -vlnv")
        ip = said.values.get("-name") or said.values["-vlnv"].split(":")[2]
        self.ips[said.values["-module_name"]] = ip
        return said.values["-module_name"]

    def create_bd_cell(self, place: Place, words: list[str]) -> str:
        said = parse(words, (), ("-type", "-vlnv", "-reference"))
        name = said.one("name")
        self.ips[name] = said.values["-vlnv"].split(":")[2] if "-vlnv" in said.values else ""
        return name

    def get(self, place: Place, words: list[str]) -> list[str]:
        said = parse(words, ("-quiet",))
        if unknown := [name for name in said.rest if name not in self.ips]:
            raise Wrong(f"nothing is {' '.join(unknown)}")
        return said.rest

    def set_property(self, place: Place, words: list[str]) -> str:
        said = parse(words, ("-quiet",), ("-dict", "-name", "-value", "-objects"))
        pairs = split(said.values["-dict"]) if "-dict" in said.values else said.rest[:2]
        objects = split(" ".join(said.rest[0 if "-dict" in said.values else 2:]))
        for name in objects:
            for prop in pairs[::2] if self.ips.get(name) else ():
                if prop.upper().startswith("CONFIG."):
                    properties.check(f"ip.{self.ips[name]}", prop[len("CONFIG."):])
        return ""


def findings(file: pathlib.Path) -> list[str]:
    found = []
    with interpreter(Script().table(), lambda place, message: found.append(f"{place}: {message}")) as tcl:
        tcl.run(file)
    return found
