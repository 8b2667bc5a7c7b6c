# SPDX-License-Identifier: Apache-2.0
"""Runs a board's build.tcl in tclsh with Vivado's commands replaced, and reads what the boards' sources have."""

import functools
import itertools
import pathlib
import re
import subprocess

import filelist
from xdc import properties

BOARDS = ("as02mc04", "zcu106", "ac701")
FAKE = pathlib.Path(__file__).parent / "vivado_build.tcl"
BLOCKS = {"as02mc04": "pcie4_uscale_plus", "zcu106": "pcie4_uscale_plus", "ac701": "axi_pcie"}  # the IP behind the core
# FMC pin of each lane → channel, of the boards whose lanes are not in the order of the channels.
CHANNELS = {"zcu106": {"u_board/u_pcie/inst/gt_top_i/diablo_gt.diablo_gt_phy_wrapper/gt_wizard.gtwizard_top_i/pcie4_uscale_plus_0_gt_i/"
                       "inst/gen_gtwizard_gthe4_top.pcie4_uscale_plus_0_gt_gtwizard_gthe4_inst/gen_gtwizard_gthe4."
                       "gen_channel_container[3].gen_enabled_channel.gthe4_channel_wrapper_inst/channel_inst/gthe4_channel_gen."
                       f"gen_gthe4_channel_inst[{lane}].GTHE4_CHANNEL_PRIM_INST": f"GTHE4_CHANNEL_X0Y{12 + channel}"
                       for lane, channel in enumerate((2, 1, 3, 0))}}
PCIE_BLOCK = "u_board/u_pcie/inst/pcie_4_0_pipe_inst/pcie_4_0_e4_inst"
SERIES7 = "u_board/u_pcie/inst/comp_axi_enhanced_pcie/comp_enhanced_core_top_wrap/axi_pcie_enhanced_core_top_i/pcie_7x_v3_3_20_inst/inst/"
SERIES7_CELLS = {f"{SERIES7}pcie_top_i/pcie_7x_i/pcie_block_i": "HARD_IP.pcie.PCIE_2_1",
                 f"{SERIES7}gt_top_i/pipe_wrapper_i/pipe_lane[0].pipe_quad.gt_common_enabled.gt_common_int.gt_common_i/qpll_wrapper_i/"
                 "gtp_common.gtpe2_common_i": "IO.gt.GTPE2_COMMON"}


def folder(board: str) -> pathlib.Path:
    return filelist.BOARDS / board


@functools.cache
def module(name: str) -> str:
    return next(filelist.BOARDS.rglob(f"{name}.sv")).read_text()


def top(board: str) -> str:
    return module(filelist.board_top(board))


def ports(text: str) -> list[str]:
    header = text[text.index(") ("):text.index(");")]
    found = re.findall(r"^    (?:input|output) +(?:wire )?logic +(?:\[(\d+):0\] )? *(\w+)", header, re.M)
    return [f"{name}[{bit}]" if high else name for high, name in found for bit in range(int(high or 0) + 1)]


def instances(text: str) -> dict[str, tuple[str, str]]:
    """{instance: its module, its ports' text}"""
    found = re.findall(r"^  (\w+) (?:#\(.*?\n  \) )?(u_\w+) \((.*?)^  \);", text, re.M | re.S)
    return {name: (kind, connections) for kind, name, connections in found}


def pins(text: str, path: str = "") -> list[str]:
    """Those of all instances below a module, with their paths."""
    found = []
    for name, (kind, connections) in instances(text).items():
        found += [f"{path}{name}/{pin}" for pin in re.findall(r"^      \.(\w+)", connections, re.M)]
        if kind.startswith("spate_board_"):
            found += pins(module(kind), f"{path}{name}/")
    return found


def expanded(name: str) -> list[str]:
    """pf[0-1]_x → pf0_x, pf1_x"""
    parts = re.split(r"\[(\d)-(\d)\]", name)
    digits = [[str(digit) for digit in range(int(low), int(high) + 1)] for low, high in zip(parts[1::3], parts[2::3])]
    return ["".join(itertools.chain(*itertools.zip_longest(parts[::3], chosen, fillvalue=""))) for chosen in itertools.product(*digits)]


@functools.cache
def known() -> dict[str, list[str]]:
    """{IP: the properties that properties.toml knows}"""
    return {ip: [f"CONFIG.{each}" for name in section["names"] for each in expanded(name)] for ip, section in properties.KNOWN["ip"].items()}


def tcl(words) -> str:
    return " ".join(f"{{{word}}}" for word in words)


def cells(board: str) -> str:
    types = {name: "ADVANCED.GT.GTHE4_CHANNEL" for name in CHANNELS.get(board, {})} | {PCIE_BLOCK: "ADVANCED.PCIE.PCIE40E4"}
    types = SERIES7_CELLS if BLOCKS[board] == "axi_pcie" else types
    return tcl(word for pair in types.items() for word in pair)


def script(board: str) -> pathlib.Path:
    return folder(board) / "build.tcl"


def build(board: str, file: pathlib.Path | None = None, ips: dict[str, list[str]] | None = None, **design) -> subprocess.CompletedProcess:
    ips = known() | (ips or {})
    design = {"ports": tcl(sorted(ports(top(board)))), "pins": tcl(pins(top(board))), "cells": cells(board),
              "properties": tcl(word for ip, names in ips.items() for word in (ip, tcl(names)))} | design
    words = [word for pair in design.items() for word in pair]
    return subprocess.run(["tclsh", FAKE, file or script(board), *words], capture_output=True, text=True, check=False)


def calls(run: subprocess.CompletedProcess, name: str) -> list[str]:
    return re.findall(rf"^CALL {name} (.*)$", run.stdout, re.M)


def pins_of_ports(run: subprocess.CompletedProcess) -> dict[str, str]:
    return dict(re.findall(r"^CALL set_property port:(\S+) PACKAGE_PIN (\w+)$", run.stdout, re.M))


def settings(run: subprocess.CompletedProcess, ip: str) -> dict[str, str]:
    return dict(re.findall(rf"^CALL set_property {ip} CONFIG\.(\w+) (.*)$", run.stdout, re.M))


def number(pattern: str, text: str) -> int:
    return int(re.search(pattern, text)[1].replace("_", ""))


WRONG = [
    ({"WNS": "-0.001"}, "timing is not met: setup, slack -0.001 ns"),
    ({"WHS": "-0.2"}, "timing is not met: hold"),
    ({"TPWS": "-1"}, "timing is not met: pulse width"),
    ({"WNS": ""}, "timing is not met: setup"),
    ({"progress": "33%"}, "synth_1 failed: the first ERROR in /build/synth_1/runme.log says why"),
    ({"no_clock": "u_mmcm/CLKOUT0"}, "no clock is found at pin u_mmcm/CLKOUT0"),
    ({"corrected": "CONFIG.C_NUM_OF_PROBES 1"}, "ila: C_NUM_OF_PROBES is 1, not 7"),
    ({"pins": "u_mmcm/CLKOUT0"}, "no pin u_board/u_pcie/"),
    ({"ports": "led_o[0]"}, "no port clk_"),
]


def copied(place: pathlib.Path) -> pathlib.Path:
    """rtl/ below `place`: the boards are copies, all else are links. Returns the boards' folder."""
    (place / "rtl" / "boards").mkdir(parents=True)
    for path in (filelist.ROOT / "rtl").iterdir():
        if path.name != "boards":
            (place / "rtl" / path.name).symlink_to(path)
    for path in filelist.BOARDS.rglob("*"):
        if path.is_file() and "build" not in path.relative_to(filelist.BOARDS).parts[:-1]:
            target = place / "rtl" / "boards" / path.relative_to(filelist.BOARDS)
            target.parent.mkdir(exist_ok=True)
            target.write_text(path.read_text())
    return place / "rtl" / "boards"
