# SPDX-License-Identifier: Apache-2.0
"""A board's build.tcl and its constraints, run in tclsh with Vivado's commands replaced: they name what is there, and no bitstream is
written when anything went wrong."""

import functools
import pathlib
import re

import pytest

import filelist
from board_build import (BLOCKS, BOARDS, CHANNELS, PCIE_BLOCK, WRONG, build, calls, copied, folder, instances, known, module, number,
                         pins_of_ports, ports, settings, tcl, top)

BLOCK_HZ = 125_000_000  # of the block's user clock; of the bridge of 7-series at most
OSCILLATOR_HZ = {"as02mc04": 100e6, "zcu106": 125e6, "ac701": 200e6}
VCO_HZ = {"MMCME4_BASE": (800e6, 1600e6), "MMCME2_BASE": (600e6, 1440e6)}  # DS922, DS925; DS181, speed grade 2
CLOCK_PIN = {"pcie4_uscale_plus": "user_clk", "axi_pcie": "axi_aclk_out"}  # of the block's user clock
QUADS = {"as02mc04": ("GTY_Quad_225", "X0Y0"), "zcu106": ("GTH_Quad_226", "X0Y1")}  # and its block
ROOT_PORT = {"pcie4_uscale_plus": ("usp.tcl", "device_port_type"), "axi_pcie": ("axi_pcie.tcl", "INCLUDE_RC")}


@pytest.fixture(scope="module", params=BOARDS)
def board(request):
    return request.param


@pytest.fixture(scope="module")
def built(board):
    run = build(board)
    assert run.returncode == 0, run.stderr
    return run


def test_every_port_has_a_pin_of_its_own(board, built):
    placed, wanted = pins_of_ports(built), set(ports(top(board)))
    lanes = {port for port in wanted if port.startswith(("pcie_rx", "pcie_tx"))}
    assert len(lanes) >= 8
    assert set(placed) == (wanted - lanes if board in CHANNELS else wanted)
    assert len(set(placed.values())) == len(placed)
    standards = set(re.findall(r"^CALL set_property port:(\S+) IOSTANDARD", built.stdout, re.M))
    assert standards == {port for port in wanted if not port.startswith("pcie_")}


def test_lanes_in_the_order_of_the_channels():
    """A pair of a transceiver: negative is the ball beside positive, and lanes come in the order of the channels."""
    placed = pins_of_ports(build("as02mc04"))
    for positive, negative in (("rx_pi", "rx_ni"), ("tx_po", "tx_no")):
        rows = []
        for lane in range(4):
            row, column = re.fullmatch(r"([A-Z]+)(\d+)", placed[f"pcie_{positive}[{lane}]"]).groups()
            assert placed[f"pcie_{negative}[{lane}]"] == f"{row}{int(column) - 1}"
            rows.append(row)
        assert rows == sorted(rows, key=lambda row: (len(row), row))


@pytest.mark.parametrize("board", CHANNELS)
def test_lanes_in_another_order(board):
    run = build(board)
    assert dict(re.findall(r"^CALL set_property cell:(\S*channel_inst\S*) LOC (\w+)$", run.stdout, re.M)) == CHANNELS[board]
    assert f"CALL set_property cell:{PCIE_BLOCK} LOC PCIE40E4_X0Y1" in run.stdout
    assert settings(run, "pcie4_uscale_plus_0")["pcie_blk_locn"] == "X0Y1"
    assert "lanes.xdc used_in implementation" in run.stdout


def test_clocks_and_crossings(board, built):
    names = [call.split()[0] for call in calls(built, "create_clock")]
    assert names == ["board_clk", "pcie_refclk"]
    one, other = "clock_at:u_mmcm/CLKOUT0", f"clock_at:u_board/u_pcie/{CLOCK_PIN[BLOCKS[board]]}"
    period = re.match(r"\S+ \S+ ([\d.]+) 1$", calls(built, "set_max_delay")[0])[1]
    assert calls(built, "set_max_delay") == [f"{one} {other} {period} 1", f"{other} {one} {period} 1"]
    hertz = number(r"ClockHz = ([\d_]+)", top(board))
    assert hertz > BLOCK_HZ, "the core is slower than the block"
    assert 0 <= 1e9 / hertz - float(period) < 0.001, "not the shorter period"
    assert "crossings.xdc used_in implementation" in built.stdout
    modules = set(calls(built, "read_xdc"))
    assert "spate_cdc_fifo" in modules and modules <= {path.stem for path in (filelist.ROOT / "rtl").glob("*/spate_*.sv")}


def test_the_core_has_the_clock_that_it_is_told(board, built):
    text = top(board)
    period = float(calls(built, "create_clock")[0].split()[1])
    assert 1e9 / period == OSCILLATOR_HZ[board] and number(r"CLKIN1_PERIOD\((\d+)", text) == period
    vco = OSCILLATOR_HZ[board] / number(r"DIVCLK_DIVIDE\((\d+)", text) * number(r"CLKFBOUT_MULT_F\((\d+)", text)
    lowest, highest = VCO_HZ[instances(text)["u_mmcm"][0]]
    assert lowest <= vco <= highest
    assert vco / number(r"CLKOUT0_DIVIDE_F\((\d+)", text) == number(r"ClockHz = ([\d_]+)", text)


def test_every_source_is_added(board, built):
    assert calls(built, "source") == [str(filelist.ROOT / path) for path in (*filelist.sources(), *filelist.boards()[board])]
    assert calls(built, "set_property sources_1 top") == [f"spate_{board}"]


def test_modules_of_the_vendor_are_those_of_the_sources(board, built):
    created = set(calls(built, "create_ip"))
    text = "".join((filelist.ROOT / path).read_text() for path in filelist.boards()[board])
    assert created == {name for name in re.findall(r"^  (\w+_0) u_\w+ \(", text, re.M)}
    assert created <= {pathlib.PurePath(path).stem for path in filelist.vendor()}


def test_probes_are_those_of_the_stand_in(built):
    ila = settings(built, "ila_0")
    probes = {name: width for name, width in ila.items() if re.fullmatch(r"C_PROBE\d_WIDTH", name)}
    stand_in = (filelist.VENDOR / "ila_0.sv").read_text()
    assert probes == {f"C_PROBE{name}_WIDTH": str(int(high) + 1) for high, name in re.findall(r"\[ ?(\d+):0\] probe(\d)", stand_in)}
    assert ila["C_NUM_OF_PROBES"] == str(len(probes))


@pytest.mark.parametrize("board", [board for board in BOARDS if BLOCKS[board] == "pcie4_uscale_plus"])
def test_the_block_is_what_the_core_wants(board, file=None):
    block = settings(build(board, file), "pcie4_uscale_plus_0")
    width = number(r"DataWidth = (\d+);", module("spate_board_usp"))
    assert block["axisten_if_width"] == f"{width}_bit"
    assert int(block["axisten_freq"]) * 1_000_000 == BLOCK_HZ
    assert (block["AXISTEN_IF_CQ_ALIGNMENT_MODE"], block["AXISTEN_IF_RQ_ALIGNMENT_MODE"]) == ("Address_Aligned", "DWORD_Aligned")
    assert (block["AXISTEN_IF_RC_STRADDLE"], block["axisten_if_enable_client_tag"]) == ("false", "true")
    assert block["device_port_type"].startswith("Root_Port")
    assert [block[f"pf0_class_code_{part}"] for part in ("base", "sub", "interface")] == ["06", "04", "00"], "no PCI-PCI bridge"
    assert (block["PL_LINK_CAP_MAX_LINK_WIDTH"], block["PL_LINK_CAP_MAX_LINK_SPEED"]) == ("X4", "8.0_GT/s")
    assert number(r"\[(\d+):0\] pcie_rx_pi", module("spate_board_usp")) + 1 == 4
    assert (block["select_quad"], block["pcie_blk_locn"]) == QUADS[board] and block["REF_CLK_FREQ"] == "100_MHz"
    assert block["pf0_dev_cap_max_payload"] == "512_bytes" and block["pf0_bar0_enabled"] == "false"


@pytest.mark.parametrize("board", [board for board in BOARDS if BLOCKS[board] == "axi_pcie"])
def test_the_bridge_is_what_the_core_wants(board, file=None):
    bridge, text = settings(build(board, file), "axi_pcie_0"), module("spate_board_axi_pcie")
    assert bridge["S_AXI_DATA_WIDTH"] == bridge["M_AXI_DATA_WIDTH"] == str(number(r"DataWidth = (\d+);", text))
    bar = int(re.search(r"Bar = 32'h([\d_a-f]+);", text)[1].replace("_", ""), 16)
    assert int(bridge["AXIBAR_0"], 16) == int(bridge["AXIBAR2PCIEBAR_0"], 16) == bar
    assert int(bridge["AXIBAR_HIGHADDR_0"], 16) == bar + 2**20 - 1
    assert int(bridge["BASEADDR"], 16) == 0 and int(bridge["HIGHADDR"], 16) >= 2 * 2**20 - 1, "bus 1 is not reached"
    assert (bridge["BAR0_SIZE"], bridge["BAR0_SCALE"], int(bridge["PCIEBAR2AXIBAR_0"], 16)) == ("4", "Gigabytes", 0)
    assert bridge["S_AXI_SUPPORTS_NARROW_BURST"] == "true", "the core's accesses have 4 bytes"
    assert bridge["INCLUDE_RC"].startswith("Root_Port")
    assert int(bridge["CLASS_CODE"], 16) == 0x060400 and bridge["rp_bar_hide"] == "true"
    assert (bridge["MAX_LINK_SPEED"], bridge["REF_CLK_FREQ"], bridge["PCIE_BLK_LOCN"]) == ("2.5_GT/s", "100_MHz", "X0Y0")
    assert int(bridge["NO_OF_LANES"].removeprefix("X")) == number(r"\[(\d+):0\] pcie_rx_pi", text) + 1


OTHER = {
    "usp.tcl": {
        "Root_Port_of_PCI_Express_Root_Complex": "PCI_Express_Endpoint_device", "WIDTH X4": "WIDTH X8", "8.0_GT/s": "5.0_GT/s",
        "256_bit": "128_bit", "axisten_freq 125": "axisten_freq 250", "client_tag true": "client_tag false",
        "STRADDLE false": "STRADDLE true", "Address_Aligned": "DWORD_Aligned",
        "RQ_ALIGNMENT_MODE DWORD": "RQ_ALIGNMENT_MODE Address",
        "512_bytes": "1024_bytes", "class_code_sub 04": "class_code_sub 00", "100_MHz": "250_MHz",
        "bar0_enabled false": "bar0_enabled true"},
    "axi_pcie.tcl": {
        "Root_Port_of_PCI_Express_Root_Complex": "PCI_Express_Endpoint_device", "LANES X2": "LANES X4", "2.5_GT/s": "5.0_GT/s",
        "0x060400": "0x060000", "M_AXI_DATA_WIDTH 128": "M_AXI_DATA_WIDTH 64", "0xE0000000": "0xD0000000",
        "bar_hide true": "bar_hide false", "NARROW_BURST true": "NARROW_BURST false", "100_MHz": "250_MHz"},
}


@pytest.mark.parametrize(("file", "old"), [(file, old) for file, values in OTHER.items() for old in values])
def test_another_value_of_a_property_is_seen(file, old, tmp_path):
    board, check = ("as02mc04", test_the_block_is_what_the_core_wants) if file == "usp.tcl" else (
        "ac701", test_the_bridge_is_what_the_core_wants)
    boards = copied(tmp_path)
    text = (boards / file).read_text()
    (boards / file).write_text(re.sub(rf"^(    .*?){re.escape(old)}", rf"\g<1>{OTHER[file][old]}", text, flags=re.M))
    assert (boards / file).read_text() != text
    with pytest.raises(AssertionError):
        check(board, boards / board / "build.tcl")


def test_the_bitstream_is_the_last_thing(board, built):
    assert len(calls(built, "write_bitstream")) == len(calls(built, "write_debug_probes")) == 1
    assert calls(built, "launch_runs") == ["synth_1", "impl_1"]
    assert set(calls(built, "report")) == {"timing_summary", "utilization", "cdc", "bus_skew", "methodology", "drc"}
    bitstream = calls(built, "write_bitstream")[0]
    assert bitstream.endswith(f"{board}/build/spate_{board}.bit")
    assert built.stdout.rstrip().endswith(bitstream)
    assert f"build spate_{board}.bit" in (folder(board) / "console.tcl").read_text()


@pytest.mark.parametrize(("design", "error"), WRONG, ids=[error for _, error in WRONG])
def test_what_goes_wrong_is_an_error(board, design, error):
    run = build(board, **design)
    assert run.returncode == 1
    assert error in run.stderr
    assert calls(run, "write_bitstream") == []


@pytest.mark.parametrize(("board", "missing"), [*((board, "PRIMITIVE_TYPE =~ ADVANCED.GT.GTHE4_CHANNEL") for board in CHANNELS),
                                                ("ac701", "REF_NAME == GTPE2_COMMON")])
def test_a_lane_that_is_not_found_is_an_error(board, missing):
    run = build(board, cells=tcl([PCIE_BLOCK, "ADVANCED.PCIE.PCIE40E4", "block", "HARD_IP.pcie.PCIE_2_1"]))
    assert run.returncode == 1 and f"no cell: {missing}" in run.stderr


CHANGED = {
    "a misspelt property": ("BLOCK.tcl", "ROOT_PORT ", "ROOT_PORTS ", "has no property ROOT_PORTS"),
    "a misspelt pin": ("BOARD/crossings.xdc", "u_pcie/CLOCK]", "u_pcie/CLOCKS]", "no pin u_board/u_pcie/CLOCKS"),
    "a misspelt port": ("BOARD/BOARD.xdc", "get_ports pcie_refclk_pi", "get_ports pcie_refclk_p", "no port pcie_refclk_p"),
    "a command that does not exist": ("BOARD/crossings.xdc", "set_max_delay", "set_maximum_delay", "not known to the test: set_maximum"),
    "an option that does not exist": ("BOARD/crossings.xdc", "-datapath_only", "-datapaths_only", "no option -datapaths_only"),
    "a source that is not there": ("project.tcl", "rtl/spate.f", "rtl/spate.g", "no such file"),
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_mistake_in_a_file_is_an_error(board, change, tmp_path):
    """In a copy of the boards, at its place in a copy of what they read."""
    block = BLOCKS[board]
    names = {"BOARD": board, "BLOCK.tcl": ROOT_PORT[block][0], "ROOT_PORT": ROOT_PORT[block][1], "CLOCK": CLOCK_PIN[block]}
    name, old, new, error = (functools.reduce(lambda text, pair: text.replace(*pair), names.items(), word) for word in CHANGED[change])
    file = copied(tmp_path) / name
    text = file.read_text()
    file.write_text(text.replace(old, new))
    assert file.read_text() != text
    run = build(board, tmp_path / "rtl" / "boards" / board / "build.tcl")
    assert run.returncode == 1
    assert error in run.stderr
    assert calls(run, "write_bitstream") == []


@pytest.mark.parametrize("direction", (0, 1))
def test_a_crossing_that_was_removed_is_seen(board, direction, tmp_path):
    """The test of the crossings compares both directions: without one of them it fails."""
    file = copied(tmp_path) / board / "crossings.xdc"
    delays = [line for line in file.read_text().splitlines() if line.startswith("set_max_delay")]
    file.write_text(file.read_text().replace(f"{delays[direction]}\n", ""))
    run = build(board, tmp_path / "rtl" / "boards" / board / "build.tcl")
    assert run.returncode == 0, run.stderr
    with pytest.raises(AssertionError):
        test_clocks_and_crossings(board, run)


def test_a_property_that_this_vivado_does_not_have_is_named(board):
    ip = BLOCKS[board]
    name = ROOT_PORT[ip][1]
    run = build(board, ips={ip: [known_name for known_name in known()[ip] if known_name != f"CONFIG.{name}"]})
    assert run.returncode == 1
    assert f"{ip} of this Vivado has no property {name}: report_property of {ip}_0 lists" in run.stderr


def test_a_property_that_need_not_be_there_is_left():
    run = build("as02mc04")
    assert run.returncode == 0
    assert "pcie4_uscale_plus has no property sys_reset_polarity: left as it is" in run.stdout
    assert settings(build("as02mc04", ips={"pcie4_uscale_plus": [*known()["pcie4_uscale_plus"], "CONFIG.sys_reset_polarity"]}),
                    "pcie4_uscale_plus_0")["sys_reset_polarity"] == "ACTIVE_LOW"


def test_every_board_is_tested():
    assert set(BOARDS) == set(filelist.boards())
