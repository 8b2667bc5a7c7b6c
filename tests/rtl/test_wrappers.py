# SPDX-License-Identifier: Apache-2.0
"""The generated Verilog around the tops only renames ports, for any widths: Yosys elaborates it, and each bit is followed."""

import json
import re

import pytest

import filelist
import tops_described
import tops_design
import tops_outer
import tops_verilog
import yowasp

FOLDER = filelist.ROOT / "build" / "rtl" / "wrappers"
SETS = {"spate_nvme_axi": ({}, {"DataWidth": 512, "IdWidth": 3, "AddressWidth": 48, "AddressBits": 36}),
        "spate_nvme_usp": ({}, {"DataWidth": 256}),
        "spate_nvme_stripe_axi": ({}, {"DataWidth": 256, "IdWidth": 1, "AddressWidth": 40})}
CASES = [(name, values) for name, (top, _) in tops_outer.CORES.items() for values in SETS[top]]
USUAL = {"clk": "aclk", "rst_n": "aresetn", "app_clk": "app_aclk", "app_rst_n": "app_aresetn", "pcie_clk": "pcie_aclk"}
EACH = ("s_axil", "c_axil", "s_axi", "m_axi", "tap", "drive", "array")  # the groups that a stripe has for each drive
LOW = {f"a{letter}{name}": 0 for letter in "wr" for name in ("len", "lock", "cache", "prot")}
CONSTANTS = {"m_axi": LOW | {"awburst": 1, "arburst": 1, "wlast": 1}, "c_axil": {"awprot": 0, "arprot": 0},
             "ring_axi": {name: value for name, value in LOW.items() if "len" not in name} | {"awcache": 2, "arcache": 2}}


def netlist(name, values):
    """The ports of a wrapper and the cell of its top, in Yosys's JSON."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    top, _ = tops_outer.CORES[name]
    files = filelist.needed_by(f"{name}_wrapper", (tops_verilog.path(name),))
    chosen = " ".join(f"-G{parameter}={value}" for parameter, value in values.items())
    written = FOLDER / f"{name}.json"
    read = f"read_slang --threads 1 --ignore-assertions --top {name}_wrapper --blackboxed-module {top}"
    yowasp.run(f"{read} {chosen} {' '.join(files)}; opt_clean; write_json {written.relative_to(filelist.ROOT)}",
               FOLDER / f"{name}.log", name)
    wrapper = json.loads(written.read_text())["modules"][f"{name}_wrapper"]
    (cell,) = (one for one in wrapper["cells"].values() if one["type"] == top)
    return wrapper["ports"], cell


def usual(port, drive):
    """The name that a port of the top has outside."""
    name = re.sub(r"_n([io])$", r"_n_\1", port)[:-2]
    name = USUAL.get(name, name)
    if drive is None:
        return name
    if name in ("axi_aclk", "axi_aresetn"):
        return name.replace("axi_", f"axi_{drive}_")
    bus = name if name in ("perst_n", "user_link_up", "irq") else next(one for one in EACH if name.startswith(f"{one}_"))
    return f"{bus}_{drive}{name.removeprefix(bus)}"


@pytest.mark.parametrize("name, values", CASES, ids=str)
def test_each_bit_of_a_wrapper_is_that_of_its_top(name, values):
    top, drives = tops_outer.CORES[name]
    ports, cell = netlist(name, values)
    design = tops_design.elaborate(top, values | ({"Drives": drives} if drives else {}))
    left = dict(ports)
    for port in design.ports.values():
        is_array = drives and port.dimensions and port.dimensions[0].text == "Drives"
        names = [usual(port.name, drive) for drive in (range(drives) if is_array else [None])]
        assert cell["connections"][port.name] == [bit for one in names for bit in ports[one]["bits"]], port.name
        assert {left.pop(one)["direction"] for one in names} == {f"{port.direction}put"}, port.name
        assert sum(len(ports[one]["bits"]) for one in names) == port.bits, port.name
    constant = {bus if not drives else f"{bus}_{drive}": said for bus, said in CONSTANTS.items() for drive in range(max(drives, 1))
                if f"{bus}_awvalid_o" in design.ports}
    expected = {f"{bus}_{signal}": value for bus, said in constant.items() for signal, value in said.items()}
    assert {one: int("".join(reversed(left[one]["bits"])), 2) for one in left} == expected


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_each_parameter_is_passed_on(name):
    top, drives = tops_outer.CORES[name]
    text = (filelist.ROOT / tops_verilog.path(name)).read_text()
    declared = set(re.findall(r"^    parameter .*?(\w+) = ", text, re.M))
    assert declared | {"CommandSectorsLimit"} | ({"Drives"} if drives else set()) == set(tops_design.elaborate(top).parameters)
    assert declared == {one for one in re.findall(r"^      \.(\w+)\((\w+)\),?$", text, re.M) if one[0] == one[1] for one in one[:1]}


def attributes(name):
    """{port: {attribute: value}} of a wrapper."""
    text = (filelist.ROOT / tops_verilog.path(name)).read_text()
    found = re.findall(r"((?:^    \(\* \w+ = \"[^\"]*\" \*\)\n)+)^    (?:in|out)put wire (?:\[.*?\] )?(\w+),?$", text, re.M)
    return {port: dict(re.findall(r'(\w+) = "([^"]*)"', said)) for said, port in found}


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_the_attributes_name_each_interface_once(name):
    """Every port says where it belongs. Each bus has one clock, which names it, and one role. No clock names a frequency: it would
    be compared with the design's (BD 41-237)."""
    core, said = tops_outer.core(name, tops_described.tops()), attributes(name)
    assert set(said) == {port.name for port in core.ports}
    assert not [port for port, one in said.items() if "FREQ_HZ" in str(one)]
    assert [port for port in said if said[port].keys() & {"X_INTERFACE_INFO", "X_INTERFACE_IGNORE"} == set()] == []
    buses = {one["X_INTERFACE_INFO"].split()[1] for one in said.values() if ":interface:" in one.get("X_INTERFACE_INFO", "")}
    clocked = [bus for one in said.values() for bus in re.findall(r"ASSOCIATED_BUSIF ([\w:]+)", str(one))]
    assert sorted(":".join(clocked).split(":")) == sorted(buses)
    modes = [port for port, one in said.items() if "X_INTERFACE_MODE" in one and ":interface:" in one["X_INTERFACE_INFO"]]
    assert sorted(said[port]["X_INTERFACE_INFO"].split()[1] for port in modes) == sorted(buses)
    resets = {port for port, one in said.items() if ":reset:" in one.get("X_INTERFACE_INFO", "")}
    associated = {one for said_one in said.values() for one in re.findall(r"ASSOCIATED_RESET (\w+)", str(said_one))}
    assert associated == {port for port in resets if not port.startswith("perst_")}
    # A name that does not say its polarity is a warning (IP_Flow 19-3157).
    assert [port for port in associated if ("ACTIVE_LOW" in str(said[port])) != port.endswith("aresetn")] == []


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_an_axi_bus_is_not_taken_for_another_kind(name):
    """Without lengths a bus is inferred as AXI4-Lite, with 4 bits of length as AXI3."""
    said = attributes(name)
    text = (filelist.ROOT / tops_verilog.path(name)).read_text()
    for one in said.values():
        match = re.fullmatch(r"XIL_INTERFACENAME (\w+), PROTOCOL (AXI4|AXI4LITE)", one.get("X_INTERFACE_PARAMETER", ""))
        if match and one["X_INTERFACE_MODE"] != "monitor":
            lengths = re.findall(rf"put wire \[7:0\] {match[1]}_a[wr]len\b", text)
            assert len(lengths) == (2 if match[2] == "AXI4" else 0), match[1]
            assert bool(re.search(rf" {match[1]}_wlast\b", text)) == (match[2] == "AXI4")
