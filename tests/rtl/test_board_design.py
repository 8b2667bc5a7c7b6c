# SPDX-License-Identifier: Apache-2.0
"""zcu106-xdma's build.tcl with its block design, run in tclsh with Vivado's commands replaced: it names what is there, and its
addresses are those that the firmware gets from design.h."""

import re
import subprocess

import pytest

import filelist
from board_build import CHANNELS, FAKE, WRONG, calls, copied, known, pins_of_ports, settings, tcl

BOARD = "zcu106-xdma"
DESIGN = filelist.BOARDS / BOARD
# Pins and interfaces that the scripts named in design.tcl connect; and those that the design must connect.
PINS = {
    "zynq_ultra_ps_e": ("maxihpm0_fpd_aclk maxihpm1_fpd_aclk saxihp0_fpd_aclk pl_clk0 pl_resetn0 pl_ps_irq0 emio_gpio_o",
                        "maxihpm0_fpd_aclk maxihpm1_fpd_aclk saxihp0_fpd_aclk"),
    "xdma": ("sys_clk sys_clk_gt sys_rst_n axi_aclk axi_aresetn axi_ctl_aresetn interrupt_out", "sys_clk sys_clk_gt sys_rst_n"),
    "util_ds_buf": ("IBUF_DS_ODIV2 IBUF_OUT", ""), "xlconstant": ("dout", ""), "smartconnect": ("aclk aresetn", "aclk aresetn")}
INTERFACES = {"zynq_ultra_ps_e": "M_AXI_HPM0_FPD M_AXI_HPM1_FPD S_AXI_HP0_FPD", "xdma": "S_AXI_B S_AXI_LITE M_AXI_B pcie_mgt",
              "util_ds_buf": "CLK_IN_D", "smartconnect": "S00_AXI M00_AXI"}
SEGMENTS = {"zynq_ultra_ps_e": "Data SAXIGP2/HP0_DDR_LOW SAXIGP2/HP0_DDR_HIGH SAXIGP2/HP0_LPS_OCM SAXIGP2/HP0_QSPI",
            "xdma": "M_AXI_B S_AXI_B/BAR0 S_AXI_LITE/CTL0"}
CELLS = {"ps": "zynq_ultra_ps_e", "xdma_0": "xdma", "config": "smartconnect", "window": "smartconnect", "memory": "smartconnect",
         "refclk_buffer": "util_ds_buf"}
NEEDED = [f"{cell}/{name}" for cell, ip in CELLS.items() for name in [*PINS[ip][1].split(), *INTERFACES[ip].split()]]
LANES = {name.replace("u_board/u_pcie/", "spate_i/xdma_0/"): place for name, place in CHANNELS["zcu106"].items()}
BLOCK = "spate_i/xdma_0/inst/pcie4_ip_i/inst/pcie_4_0_pipe_inst/pcie_4_0_e4_inst"
LANE_PORTS = [f"pcie_{name}[{lane}]" for name in ("rxp", "rxn", "txp", "txn") for lane in range(4)]
PORTS = ["pcie_refclk_clk_p[0]", "pcie_refclk_clk_n[0]", "perst_o[0]", "ssd2_off_o"]
UNITS = {"M": 2**20, "G": 2**30}


def build(folder=DESIGN, **changes) -> subprocess.CompletedProcess:
    cells = {name: "ADVANCED.GT.GTHE4_CHANNEL" for name in LANES} | {BLOCK: "ADVANCED.PCIE.PCIE40E4"}
    table = {"ports": tcl(PORTS + LANE_PORTS), "cells": tcl(word for pair in cells.items() for word in pair), "needed": tcl(NEEDED),
             "properties": tcl(word for ip, names in known().items() for word in (ip, tcl(names))),
             "pins": tcl(word for ip, (names, _) in PINS.items() for word in (ip, names)),
             "interfaces": tcl(word for pair in INTERFACES.items() for word in pair),
             "segments": tcl(word for pair in SEGMENTS.items() for word in pair),
             "defaults": "CONFIG.pcie_blk_locn PCIE4C_X1Y0"} | changes
    words = [word for pair in table.items() for word in pair]
    return subprocess.run(["tclsh", FAKE, folder / "build.tcl", *words], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built():
    run = build()
    assert run.returncode == 0, run.stderr
    return run


def addresses(run) -> dict[str, tuple[str, int, int]]:
    """{segment: (address space, first byte, bytes)}"""
    found = [call.split() for call in calls(run, "address")]
    return {segment: (space, int(offset, 16), int(size[:-1]) * UNITS[size[-1]]) for space, segment, offset, size in found}


def header() -> dict[str, str]:
    return dict(re.findall(r"^#define (DESIGN_\w+) +(\w+)", (DESIGN / "design.h").read_text(), re.M))


def test_addresses_are_those_of_the_firmware(built):
    map_, design = addresses(built), {name: int(value, 0) for name, value in header().items() if value[0].isdigit()}
    space, control, size = map_["xdma_0/S_AXI_LITE/CTL0"]
    assert (space, control) == ("ps/Data", design["DESIGN_BRIDGE_CONTROL"])
    assert size >= (design["DESIGN_BRIDGE_LAST_BUS"] + 1) * 2**20
    window = (design["DESIGN_BRIDGE_WINDOW"], design["DESIGN_BRIDGE_WINDOW_BYTES"])
    assert map_["xdma_0/S_AXI_B/BAR0"] == ("ps/Data", *window)
    assert int(settings(built, "xdma_0")["axibar2pciebar_0"], 16) == design["DESIGN_BRIDGE_WINDOW_BUS"]
    assert window[0] + window[1] <= 2**32, "a window above 4 GiB is not enumerated (AR 70854)"
    low = map_["ps/SAXIGP2/HP0_DDR_LOW"]
    assert low[:2] == ("xdma_0/M_AXI_B", 0)
    for what in ("QUEUE", "MEMORY", "RING"):
        assert design[f"DESIGN_{what}"] + design[f"DESIGN_{what}_BYTES"] <= low[2], f"the drive does not reach {what}"
    assert map_["ps/SAXIGP2/HP0_LPS_OCM"] == ("xdma_0/M_AXI_B", 0xFF000000, 16 * 2**20), "an image in on-chip memory"
    assert {call.split()[-1] for call in calls(built, "exclude")} | set(map_) >= {
        f"ps/{name}" for name in SEGMENTS["zynq_ultra_ps_e"].split()[1:]}, "a segment that validation would complain of"


def test_a_window_is_behind_the_master_of_its_address(built):
    """UG1085, chapter 10: M_AXI_HPM0_FPD has 4_0000_0000h and A000_0000h, M_AXI_HPM1_FPD has B000_0000h, 256 MiB."""
    ways = [call.split() for call in calls(built, "interface")]
    behind = {one.split("/")[0]: other for one, other in ways if one.endswith("/M00_AXI")}
    masters = {master: behind[other.split("/")[0]] for master, other in ways if other.endswith("/S00_AXI")}
    assert masters == {"ps/M_AXI_HPM0_FPD": "xdma_0/S_AXI_LITE", "ps/M_AXI_HPM1_FPD": "xdma_0/S_AXI_B", "xdma_0/M_AXI_B": "ps/S_AXI_HP0_FPD"}
    map_ = addresses(built)
    assert map_["xdma_0/S_AXI_LITE/CTL0"][1] >> 32 == 4
    assert map_["xdma_0/S_AXI_B/BAR0"][1] >> 28 == 0xB


def test_perst_is_the_pin_of_the_firmware_and_not_the_bridge_s_reset(built):
    design, nets = header(), [call.split() for call in calls(built, "net")]
    assert (design["DESIGN_PERST"], design["DESIGN_PERST_PIN"], design["DESIGN_PERST_ACTIVE_HIGH"]) == ("PERST_BY_EMIO", "0", "true")
    assert ["ps/emio_gpio_o", "port:perst_o"] in nets
    assert [net for net in nets if "xdma_0/sys_rst_n" in net] == [["ps/pl_resetn0", "xdma_0/sys_rst_n"]]


def test_pins_and_lanes(built):
    placed = pins_of_ports(built)
    assert set(placed) == set(PORTS) and len(set(placed.values())) == len(PORTS)
    assert dict(re.findall(r"^CALL set_property cell:(\S*channel_inst\S*) LOC (\w+)$", built.stdout, re.M)) == LANES
    assert f"CALL set_property cell:{BLOCK} LOC PCIE40E4_X0Y1" in built.stdout
    assert settings(built, "xdma_0")["pcie_blk_locn"] == "PCIE4C_X0Y1"
    assert "lanes.xdc used_in implementation" in built.stdout


def test_what_it_makes(built):
    assert "CALL set_property project board_part xilinx.com:zcu106:part0:2.6" in built.stdout
    assert calls(built, "set_property sources_1 top") == ["spate_wrapper"]
    assert calls(built, "write_bitstream")[0].endswith(f"{BOARD}/build/spate_{BOARD}.bit")
    assert calls(built, "write_hw_platform")[0].endswith(f"{BOARD}/build/spate_{BOARD}.xsa")


@pytest.mark.parametrize(("changes", "error"), [case for case in WRONG if not {"pins", "ports", "no_clock", "corrected"} & set(case[0])],
                         ids=lambda value: value if isinstance(value, str) else "")
def test_what_goes_wrong_is_an_error(changes, error):
    run = build(**changes)
    assert run.returncode == 1 and error in run.stderr and calls(run, "write_bitstream") == []


CHANGED = {
    "a misspelt property": ("design.tcl", "axisten_freq 250", "axisten_frequency 250", "xdma of this Vivado has no property axisten_frequency"),
    "a property of the processing system": ("design.tcl", "PSU__USE__M_AXI_GP1", "PSU__USE__M_AXI_HPM1", "has no property PSU__USE__M_AXI_HPM1"),
    "a misspelt pin": ("design.tcl", "xdma_0/sys_rst_n", "xdma_0/sys_reset_n", "xdma has no sys_reset_n"),
    "a misspelt interface": ("design.tcl", "xdma_0/S_AXI_LITE x", "xdma_0/S_AXIL x", "xdma has no S_AXIL"),
    "a clock that is not connected": ("design.tcl", " \\\n  [get_bd_pins ps/saxihp0_fpd_aclk]", "", "nothing is at ps/saxihp0_fpd_aclk"),
    "an interface that is connected twice": ("design.tcl", "window ps/M_AXI_HPM1_FPD", "window ps/M_AXI_HPM0_FPD", "M_AXI_HPM0_FPD is connected twice"),
    "a misspelt segment": ("design.tcl", "SAXIGP2/HP0_DDR_LOW", "SAXIGP0/HP0_DDR_LOW", "zynq_ultra_ps_e has no SAXIGP0"),
    "a misspelt port": ("zcu106-xdma.xdc", "{perst_o[0]}", "{perst[0]}", "no port perst[0]"),
    "a cell that is not there": ("lanes.xdc", "*xdma_0*channel_inst[2]*", "*xdma_1*channel_inst[2]*", "no cell: "),
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_mistake_in_a_file_is_an_error(change, tmp_path):
    name, old, new, error = CHANGED[change]
    file = copied(tmp_path) / BOARD / name
    text = file.read_text()
    file.write_text(text.replace(old, new))
    assert file.read_text() != text
    run = build(file.parent)
    assert run.returncode == 1 and error in run.stderr, run.stderr
    assert calls(run, "write_bitstream") == []


MOVED = {"the control port": ("0x400000000", "0x480000000"), "the window": ("-offset 0xB0000000", "-offset 0xA0000000"),
         "its size": ("-range 16M -target_address_space $processor", "-range 1M -target_address_space $processor"),
         "the bus address": ("0x00000000B0000000", "0x00000000A0000000"), "the drive's reach": ("-range 2G", "-range 256M")}


@pytest.mark.parametrize("what", MOVED)
def test_another_address_is_seen(what, tmp_path):
    file = copied(tmp_path) / BOARD / "design.tcl"
    file.write_text(file.read_text().replace(*MOVED[what]))
    run = build(file.parent)
    assert run.returncode == 0, run.stderr
    with pytest.raises(AssertionError):
        test_addresses_are_those_of_the_firmware(run)
