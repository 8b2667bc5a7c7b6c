# SPDX-License-Identifier: Apache-2.0
"""rtl/top/interfaces.toml fits the tops: each mistake in it, or in a top, is an error that says what to change."""

import pytest

import tops
import tops_described
import tops_design

GOOD = tops_described.FILE.read_text()
S_AXI = '[interface.s_axi]\nkind = "axi4"\nrole = "slave"\nclock = "axi_aclk_i"'
WRONG = {
    "an interface is missing": (GOOD.replace("[interface.tap]", "[interface.tab]"),
                                "spate_nvme_axi: port tap_awid_i belongs to no interface: describe it once"),
    "an interface has no port": (GOOD + '[interface.led]\nkind = "signals"\nclock = "clk_i"\nwhat = "x"\n',
                                 r"\[interface.led\]: no top has such a port"),
    "two interfaces have a port": (GOOD + '[interface.s_axi_aw]\nkind = "signals"\nclock = "clk_i"\nwhat = "x"\n',
                                   r"\[interface.s_axi_aw\]: no top has such a port"),
    "a port is in two interfaces": (GOOD + '[interface.cmd_lba]\nkind = "signals"\nclock = "clk_i"\nwhat = "x"\n',
                                    "port cmd_lba_i belongs to 2 interfaces"),
    "a clock is misspelt": (GOOD.replace('clock = "axi_aclk_i"', 'clock = "axi_clk_i"', 1), r"there is no \[clock.axi_clk_i\]"),
    "a clock is another top's": (GOOD.replace(S_AXI, S_AXI.replace("axi_aclk_i", "pcie_clk_i")),
                                 "interface s_axi: the top has no clock pcie_clk_i"),
    "a role is the other one": (
        GOOD.replace(S_AXI, S_AXI.replace("slave", "master")), "s_axi_awid_i must be an output of a master"),
    "a handshake's role is the other one": (
        GOOD.replace('kind = "handshake"\nrole = "slave"', 'kind = "handshake"\nrole = "master"'),
        "cmd_valid_i must be an output of a master"),
    "a kind is another one": (
        GOOD.replace(S_AXI, S_AXI.replace("axi4", "axi4-lite")), "s_axi_awid_i is no signal of axi4-lite"),
    "a kind is unknown": (GOOD.replace(S_AXI, S_AXI.replace("axi4", "axi3")), "unknown kind axi3; known: axi4"),
    "a role is missing": (
        GOOD.replace(S_AXI, S_AXI.replace('role = "slave"\n', "")), "role must be one of master, slave, monitor"),
    "a parameter is misspelt": (GOOD.replace("RamBytes == 8192", "RamByte == 8192"), '"RamByte == 8192" is no condition'),
    "a condition is not understood": (
        GOOD.replace("MemoryRingBytes > 0", "MemoryRingBytes >= 1"), "is no condition: write PARAMETER"),
    "a key is misspelt": (GOOD.replace("constants = {", "constant = {"), "unknown: constant; known: "),
    "a constant is no signal": (
        GOOD.replace("AWCACHE = 2", "AWCASH = 2"), "constants has AWCASH, which the top drives or axi4 lacks"),
}


def designs():
    return {top: tops_design.elaborate(top) for top in tops_described.TOPS}


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_in_the_description_is_found(what):
    text, message = WRONG[what]
    assert text != GOOD
    with pytest.raises(tops_described.Wrong, match=message):
        tops_described.described(text, designs())


def changed(port, **fields):
    """The designs, with a port of spate_nvme_axi that is another one, or, without fields, not there."""
    axi = tops_design.elaborate("spate_nvme_axi")
    ports = {name: one._replace(**fields) if name == port else one for name, one in axi.ports.items() if fields or name != port}
    return designs() | {"spate_nvme_axi": axi._replace(ports={one.name: one for one in ports.values()})}


@pytest.mark.parametrize("port, fields, message", [
    ("s_axi_awlen_i", {}, "axi4 must have AWLEN, but the top has no such port"),
    ("m_axis_tready_i", {}, "axi4-stream must have TREADY"),
    ("cmd_ready_o", {}, "handshake must have READY"),
    ("s_axi_awlen_i", {"name": "s_axi_awln_i"}, "s_axi_awln_i is no signal of axi4"),
    ("s_axi_awlen_i", {"direction": "out"}, "s_axi_awlen_i must be an input of a slave"),
    ("s_axi_awlen_i", {"dimensions": (tops_design.Dimension("4", 4),)}, "s_axi_awlen_i has 4 bits, AWLEN of axi4 has 8"),
    ("s_axi_awlen_i", {"dimensions": (tops_design.Dimension("Drives", 2),)}, "some of its ports are one for each drive"),
    ("irq_o", {"name": "interrupt_o"}, "port interrupt_o belongs to no interface"),
])
def test_a_mistake_in_a_top_is_found(port, fields, message):
    with pytest.raises(tops_described.Wrong, match=message):
        tops_described.described(GOOD, changed(port, **fields))


def test_a_signal_that_a_bus_may_have_needs_no_line():
    port = tops_design.Port("s_axis_tkeep_i", "in", (tops_design.Dimension("DataWidth/8", 16),), "")
    axi = tops_design.elaborate("spate_nvme_axi")
    more = designs() | {"spate_nvme_axi": axi._replace(ports=axi.ports | {port.name: port})}
    assert tops_described.described(GOOD, more)["spate_nvme_axi"].interfaces["s_axis"].signals["TKEEP"] == port


@pytest.mark.parametrize("port, message", [
    ("input logic [Width:1] a_i", r"a port's range is \[Size-1:0\], where Size names only parameters"),
    ("input logic [$clog2(Width)-1:0] a_i", "Size names only parameters"),  # IP packagers refuse functions there
    ("input logic [Height-1:0] a_i", "use of undeclared identifier 'Height'"),
])
def test_a_width_that_cannot_be_passed_on_is_found(port, message, tmp_path):
    (tmp_path / "narrow.sv").write_text(f"module narrow #(parameter int unsigned Width = 3) ({port});\nendmodule\n")
    with pytest.raises(SystemExit, match=message):
        tops_design.elaborate("narrow", extra=(str(tmp_path / "narrow.sv"),))


def test_the_widths_of_the_expressions_are_those_of_slang():
    """For the parameter sets with which the tops are linted."""
    for top in tops_described.TOPS:
        for values in ({}, *tops.LINT.get(top, ())):
            design = tops_design.elaborate(top, values)
            numbers = {name: one.value for name, one in design.parameters.items()}
            for port in design.ports.values():
                for one in port.dimensions:
                    assert eval(one.text.replace("/", "//"), {}, numbers) == one.size, (top, values, port)
