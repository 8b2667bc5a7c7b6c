# SPDX-License-Identifier: Apache-2.0
"""A board's build.tcl and its constraints, run in tclsh with Vivado's commands replaced: they name what is there, and no bitstream is
written when anything went wrong."""

import pathlib
import re
import subprocess

import filelist
import pytest
from xdc import properties

BOARD = "as02mc04"
FOLDER = filelist.BOARDS / BOARD
TOP = (FOLDER / f"spate_{BOARD}.sv").read_text()
FAKE = pathlib.Path(__file__).parent / "support" / "vivado_build.tcl"
PORTS = {"clk_100mhz_pi", "clk_100mhz_ni", "pcie_refclk_pi", "pcie_refclk_ni", "perst_no", "led_o[0]", "led_o[1]", "led_o[2]", "led_o[3]",
         *(f"pcie_{port}[{lane}]" for port in ("rx_pi", "rx_ni", "tx_po", "tx_no") for lane in range(4))}


def instances() -> dict[str, str]:
    """{instance of the top: its text}"""
    return {name: text for name, text in re.findall(r"^  (?:\w+ (?:#\(.*?\n  \) )?|\) )(u_\w+) \((.*?)^  \);", TOP, re.M | re.S)}


def pins() -> list[str]:
    return [f"{name}/{pin}" for name, text in instances().items() for pin in re.findall(r"^      \.(\w+)\(", text, re.M)]


def settings(name: str) -> dict[str, str]:
    block = re.search(rf"^set {name} \{{(.*?)\}}", (FOLDER / "build.tcl").read_text(), re.M | re.S)
    words = block[1].split()
    return dict(zip(words[::2], words[1::2]))


def known() -> list[str]:
    return [f"CONFIG.{name}" for block in ("pcie", "pcie_if_present", "jtag", "ila") for name in settings(block)]


def build(**design) -> subprocess.CompletedProcess:
    design = {"ports": " ".join(f"{{{port}}}" for port in sorted(PORTS)), "pins": " ".join(pins()), "properties": " ".join(known())} | design
    words = [word for pair in design.items() for word in pair]
    return subprocess.run(["tclsh", FAKE, FOLDER / "build.tcl", *words], capture_output=True, text=True, check=False)


def calls(run: subprocess.CompletedProcess, name: str) -> list[str]:
    return re.findall(rf"^CALL {name} (.*)$", run.stdout, re.M)


def pins_of_ports(run: subprocess.CompletedProcess) -> dict[str, str]:
    return dict(re.findall(r"^CALL set_property port:(\S+) PACKAGE_PIN (\w+)$", run.stdout, re.M))


@pytest.fixture(scope="module")
def built():
    run = build()
    assert run.returncode == 0, run.stderr
    return run


def test_the_ports_are_those_of_the_top():
    header = TOP[TOP.index(") ("):TOP.index(");")]
    found = re.findall(r"^    (?:input|output) +(?:wire )?logic +(?:\[3:0\] )? *(\w+)", header, re.M)
    assert {port.partition("[")[0] for port in PORTS} == set(found)


def test_every_port_has_a_pin_of_its_own(built):
    placed = pins_of_ports(built)
    assert set(placed) == PORTS
    assert len(set(placed.values())) == len(PORTS)
    standards = set(re.findall(r"^CALL set_property port:(\S+) IOSTANDARD", built.stdout, re.M))
    assert standards == {port for port in PORTS if not port.startswith("pcie_")}


def test_lanes_are_those_of_the_quad(built):
    """A pair of a transceiver: negative is the ball beside positive, and lanes come in the order of the channels."""
    placed = pins_of_ports(built)
    for positive, negative in (("rx_pi", "rx_ni"), ("tx_po", "tx_no")):
        rows = []
        for lane in range(4):
            row, column = re.fullmatch(r"([A-Z]+)(\d+)", placed[f"pcie_{positive}[{lane}]"]).groups()
            assert placed[f"pcie_{negative}[{lane}]"] == f"{row}{int(column) - 1}"
            rows.append(row)
        assert rows == sorted(rows, key=lambda row: (len(row), row))


def test_clocks_and_crossings(built):
    assert calls(built, "create_clock") == ["board_clk 10.000 port:clk_100mhz_pi", "pcie_refclk 10.000 port:pcie_refclk_pi"]
    one, other = "clock_at:u_mmcm/CLKOUT0", "clock_at:u_pcie/user_clk"
    assert calls(built, "set_max_delay") == [f"{one} {other} 7.936 1", f"{other} {one} 7.936 1"]
    hertz = int(re.search(r"ClockHz = ([\d_]+)", TOP)[1].replace("_", ""))
    assert 7.936 <= 1e9 / hertz < 7.937, "not the shorter period"
    vco = 100e6 / int(re.search(r"DIVCLK_DIVIDE\((\d+)", TOP)[1]) * int(re.search(r"CLKFBOUT_MULT_F\((\d+)", TOP)[1])
    assert vco / int(re.search(r"CLKOUT0_DIVIDE_F\((\d+)", TOP)[1]) == hertz
    assert 800e6 <= vco <= 1600e6  # of the MMCM of UltraScale+ (DS922)
    assert "crossings.xdc used_in implementation" in built.stdout
    modules = set(calls(built, "read_xdc"))
    assert "spate_cdc_fifo" in modules and modules <= {path.stem for path in (filelist.ROOT / "rtl").glob("*/spate_*.sv")}


def test_every_source_is_added(built):
    assert calls(built, "source") == [str(filelist.ROOT / path) for path in (*filelist.sources(), *filelist.boards()[BOARD])]
    assert calls(built, "set_property sources_1 top") == [f"spate_{BOARD}"]


def test_modules_of_the_vendor_are_those_of_the_top():
    script = (FOLDER / "build.tcl").read_text()
    created = set(re.findall(r"^create_checked \w+ (\w+) ", script, re.M))
    assert created == {name for name in re.findall(r"^  (\w+_0) u_\w+ \(", TOP, re.M)}
    assert created <= {pathlib.PurePath(path).stem for path in filelist.vendor()}


def test_probes_are_those_of_the_stand_in():
    probes = dict(re.findall(r"C_PROBE(\d)_WIDTH (\d+)", (FOLDER / "build.tcl").read_text()))
    stand_in = (filelist.VENDOR / "ila_0.sv").read_text()
    assert probes == {name: str(int(high) + 1) for high, name in re.findall(r"\[ ?(\d+):0\] probe(\d)", stand_in)}
    assert settings("ila")["C_NUM_OF_PROBES"] == str(len(probes))


def test_the_block_is_what_the_core_wants():
    block = settings("pcie")
    width = int(re.search(r"DataWidth = (\d+);", TOP)[1])
    assert block["axisten_if_width"] == f"{width}_bit"
    assert int(block["axisten_freq"]) * 1_000_000 <= int(re.search(r"ClockHz = ([\d_]+)", TOP)[1].replace("_", "")), "the core is slower"
    assert (block["AXISTEN_IF_CQ_ALIGNMENT_MODE"], block["AXISTEN_IF_RQ_ALIGNMENT_MODE"]) == ("Address_Aligned", "DWORD_Aligned")
    assert (block["AXISTEN_IF_RC_STRADDLE"], block["axisten_if_enable_client_tag"]) == ("false", "true")
    assert block["device_port_type"].startswith("Root_Port")
    for name in block:
        properties.check("ip.pcie4_uscale_plus", name)


def test_the_bitstream_is_the_last_thing(built):
    assert len(calls(built, "write_bitstream")) == len(calls(built, "write_debug_probes")) == 1
    assert calls(built, "launch_runs") == ["synth_1", "impl_1"]
    assert set(calls(built, "report")) == {"timing_summary", "utilization", "cdc", "methodology", "drc"}
    bitstream = calls(built, "write_bitstream")[0]
    assert bitstream.endswith(f"as02mc04/build/spate_{BOARD}.bit")
    assert f"build spate_{BOARD}.bit" in (FOLDER / "console.tcl").read_text()


@pytest.mark.parametrize(("design", "error"), [
    ({"WNS": "-0.001"}, "timing is not met: setup, slack -0.001 ns"),
    ({"WHS": "-0.2"}, "timing is not met: hold"),
    ({"TPWS": "-1"}, "timing is not met: pulse width"),
    ({"WNS": ""}, "timing is not met: setup"),
    ({"progress": "33%"}, "synth_1 failed: the first ERROR in /build/synth_1/runme.log says why"),
    ({"no_clock": "u_pcie/user_clk"}, "no clock is found at pin u_pcie/user_clk"),
    ({"corrected": "CONFIG.select_quad GTY_Quad_224"}, "pcie4_uscale_plus: select_quad is GTY_Quad_224, not GTY_Quad_225"),
    ({"pins": "u_mmcm/CLKOUT0"}, "no pin u_pcie/user_clk"),
    ({"ports": "led_o[0]"}, "no port clk_100mhz_pi"),
])
def test_what_goes_wrong_is_an_error(design, error):
    run = build(**design)
    assert run.returncode == 1
    assert error in run.stderr
    assert calls(run, "write_bitstream") == []


def test_a_property_that_this_vivado_does_not_have_is_named():
    run = build(properties=" ".join(name for name in known() if name != "CONFIG.device_port_type"))
    assert run.returncode == 1
    assert "pcie4_uscale_plus of this Vivado has no property device_port_type: report_property [get_ips pcie4_uscale_plus_0]" in run.stderr


def test_a_property_that_need_not_be_there_is_left():
    run = build(properties=" ".join(name for name in known() if name != "CONFIG.sys_reset_polarity"))
    assert run.returncode == 0
    assert "pcie4_uscale_plus has no property sys_reset_polarity: left as it is" in run.stdout
