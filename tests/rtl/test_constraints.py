# SPDX-License-Identifier: Apache-2.0
"""tools/rtl/constraints.py finds nothing in rtl/constraints, and finds each fault that is put into a copy of it, of a module, or
of a script that creates IP."""

import pathlib
import re
import shutil

import pytest

import constraints
import filelist
from xdc import build_script, check, elaborate, names

TOP = "spate_user_side"
MODULES = ("spate_cdc_bit", "spate_cdc_fifo", "spate_cdc_reset")
CLOCKS = """
set core [create_clock -name core -period 4.0 [get_ports clk_i]]
set user [create_clock -name user -period 6.4 [get_ports app_clk_i]]
set user_ports {cmd_* rsp_* s_axis_* m_axis_*}
set core_ports {rst_ni user_up_o lanes_* data_*}
foreach {clock ports} [list $core $core_ports $user $user_ports] {
  set_input_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == IN} $ports]
  set_output_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == OUT} $ports]
}
"""
READ = "".join(f"read_xdc -ref {module} [file join [file dirname [info script]] {module}.xdc]\n" for module in MODULES)


@pytest.fixture(scope="module")
def netlist() -> dict:
    return elaborate.elaborate(TOP, {}, f"test-{TOP}")


def run(modules: dict, folder: pathlib.Path, file: str = "", change=lambda text: text) -> list[str]:
    """The findings with a changed file: one of MODULES, "clocks", or none."""
    texts = {module: (constraints.FOLDER / f"{module}.xdc").read_text() for module in MODULES} | {"clocks": CLOCKS, "read": READ}
    if file:
        before, texts[file] = texts[file], change(texts[file])
        assert texts[file] != before
    for name, text in texts.items():
        (folder / f"{name}.{'xdc' if name in MODULES else 'tcl'}").write_text(text)
    return check.check(modules, TOP, [folder / "clocks.tcl", folder / "read.tcl"]).findings


def replaced(old: str, new: str):
    return lambda text: text.replace(old, new)


def without_dont_touch(text: str) -> str:
    """The highest bit of the Gray code is that of the position, so one register is enough for both."""
    for old, new in (('(* DONT_TOUCH = "TRUE" *) ', ""), ("tail_gray_q <= tail_next_gray_q;", "tail_gray_q <= gray(tail_d);")):
        assert old in text
        text = text.replace(old, new)
    return text


def added(line: str):
    return lambda text: f"{text}{line}\n"


def without(module: str):
    return lambda text: "".join(line for line in text.splitlines(keepends=True) if module not in line)


def test_a_top_is_covered():
    result = constraints.check_top("spate_nvme_usp", {})
    assert result.findings == []
    assert result.crossings > 1000


LINES = [(path.name, number) for path in sorted(constraints.FOLDER.glob("spate_*.xdc"))
         for number, line in enumerate(path.read_text().splitlines()) if line.strip().startswith("set_")]


@pytest.fixture(scope="module")
def top_netlists() -> dict[str, dict]:
    return {top: elaborate.elaborate(top, {}, f"test-{top}") for top in ("spate_nvme_axi", "spate_nvme_usp")}


@pytest.mark.parametrize(("name", "number"), LINES, ids=str)
def test_every_constraint_is_needed(top_netlists, tmp_path, name, number):
    """Without any one line of a file, a path of a top is not covered."""
    top = "spate_nvme_usp" if "usp" in name else "spate_nvme_axi"
    folder = shutil.copytree(constraints.FOLDER, tmp_path / "constraints")
    lines = (folder / name).read_text().splitlines()
    (folder / name).write_text("\n".join(lines[:number] + lines[number + 1:]))
    files = [folder / path.relative_to(constraints.FOLDER) for path in constraints.files_of(top)]
    found = check.check(top_netlists[top], top, files).findings
    assert found and all("cover" in finding or "longer than the shorter period" in finding for finding in found)


def test_every_file_is_read():
    assert constraints.unread() == []


def test_a_module_is_covered(netlist, tmp_path):
    assert run(netlist, tmp_path) == []


def test_two_sides_may_have_one_clock(netlist, tmp_path):
    """Then only the resets need a constraint, and the others do no harm."""
    clocks = CLOCKS.replace("[get_ports clk_i]", "[get_ports {clk_i app_clk_i}]")
    clocks = re.sub(r"set user \[.*\]", "set user $core", clocks)
    assert run(netlist, tmp_path, "clocks", lambda text: clocks) == []


SKEW = "set_bus_skew -from $tail -to $tail_far $period\n"
DELAY = "set_max_delay -datapath_only -from $tail -to $tail_far $period\n"
WORDS = "set_max_delay -quiet -datapath_only -from [get_cells -quiet words_reg*] -to [get_cells -quiet out_data_q_reg*] $period\n"
FILES = {
    "a misspelt cell": ("spate_cdc_bit", replaced("get_cells {level", "get_cells {levels"), "no cell is levels_q_reg"),
    "a misspelt cell, quietly": ("spate_cdc_fifo", replaced("out_data_q", "out_date_q"), "no constraint covers it"),
    "a misspelt instance": ("spate_cdc_fifo", replaced("gen_far[0].u_head", "gen_near[0].u_head"), "no pin is gen_near"),
    "a pin of another name": ("spate_cdc_reset", replaced("/CLR", "/PRE"), "no pin is released_q_reg"),
    "a module that is not there": ("read", replaced("-ref spate_cdc_reset", "-ref spate_cdc_rest"), "no instance is of the module"),
    "a command that does not exist": ("clocks", replaced("set_output_delay", "set_outputs_delay"), "unknown command"),
    "a command that XDC does not have": ("spate_cdc_bit", replaced("set_max_delay", "set_maximum_delay"), "has set_maximum_delay"),
    "an option that does not exist": ("spate_cdc_bit", replaced("-datapath_only", "-datapaths_only"), "unknown option"),
    "a condition": ("spate_cdc_bit", lambda text: text.replace("set_max", "if {$clock ne {}} { set_max", 1).rstrip() + " }\n",
                    "spate_cdc_bit.xdc has if: a managed file must not"),
    "a loop in a condition": ("spate_cdc_reset", added("set x [foreach y {1 2} { expr $y }]"), "has foreach"),
    "a variable of another file": ("spate_cdc_reset", added("set x $clock"), "no such variable"),
    "a property that does not exist": ("clocks", added("set_property PACKAGE_PINS A1 [get_ports clk_i]"), "PACKAGE_PIN?"),
    "a property of another kind": ("clocks", added("set_property IOSTANDARD LVCMOS18 [get_cells u_up]"), "no property of cell"),
    "a name instead of an object": ("spate_cdc_bit", replaced("[get_cells {level_q_reg[0]}]", "{level_q_reg[0]}"),
                                    "use get_clocks or"),
    "a delay without a start": ("spate_cdc_bit", replaced("-from [all_clocks] ", ""), "-datapath_only needs -from"),
    "a start at an output": ("spate_cdc_bit", replaced("[all_clocks]", "[get_pins {level_q_reg[1]/Q}]"), "no start of a path"),
    "a delay that counts skew": ("spate_cdc_fifo", replaced("set_max_delay -quiet -datapath_only", "set_max_delay -quiet"),
                                 "it needs -datapath_only"),
    "no delay of words": ("spate_cdc_fifo", replaced(WORDS, ""), "no constraint covers it"),
    "no delay of bits": ("read", without("spate_cdc_bit"), "cleared_q_reg (user)"),
    "no delay of a Gray code": ("spate_cdc_fifo", replaced(DELAY, ""), "is longer than the shorter period, 4.0 ns"),
    "no skew of a Gray code": ("spate_cdc_fifo", replaced(SKEW, ""), "no set_bus_skew covers it"),
    "a skew of the longer period": ("spate_cdc_fifo", replaced(SKEW, SKEW.replace("$period", "6.4")), "a skew of 6.4 ns"),
    "a skew of one bit": ("spate_cdc_fifo", replaced("tail_gray_q_reg[*]", "tail_gray_q_reg[0]"), "needs at least two cells"),
    "words in the longer period": ("spate_cdc_fifo", replaced(WORDS, WORDS.replace("$period", "6.4")), "6.4 ns is longer than"),
    "a false path over a Gray code": ("spate_cdc_bit", added("set_false_path -to [get_cells {level_q_reg[0]}]"),
                                      "overrules its maximum delay"),
    "clock groups": ("clocks", added("set_clock_groups -asynchronous -group $core -group $user"), "set_clock_groups"),
    "no constraint of a reset": ("read", without("spate_cdc_reset"), "no constraint covers it from each clock"),
    "ends that are not connected": ("spate_cdc_fifo",
                                    added("set_max_delay 4 -from [get_cells head_q_reg*] -to [get_cells tail_q_reg*]"), "covers no path"),
    "a port without a clock": ("clocks", replaced("s_axis_* m_axis_*", "m_axis_*"), "a port without a clock"),
    "a clock that is not there": ("clocks", replaced("[get_ports app_clk_i]", "[get_ports rst_ni]"), "no clock is there"),
}


@pytest.mark.parametrize(("file", "change", "message"), FILES.values(), ids=FILES)
def test_a_fault_of_a_file_is_found(netlist, tmp_path, file, change, message):
    found = run(netlist, tmp_path, file, change)
    assert any(message in finding for finding in found), "\n".join(found) or "nothing was found"


def test_a_finding_names_file_and_line(netlist, tmp_path):
    found = run(netlist, tmp_path, "spate_cdc_reset", replaced("released", "released_"))
    assert found == [f"{tmp_path}/spate_cdc_reset.xdc:4: get_pins: no pin is released__q_reg[*]/CLR in u_reset"]


MODULES_CHANGED = {
    "a synchroniser of one flop": ("spate_cdc_bit", replaced("assign level_o = level_q[1];", "assign level_o = level_q[0];"),
                                   "must go to one other with ASYNC_REG"),
    "its first flop is also read": ("spate_cdc_bit", replaced("assign level_o = level_q[1];", "assign level_o = |level_q;"),
                                    "must go to one other with ASYNC_REG"),
    "no attribute": ("spate_cdc_bit", replaced('(* ASYNC_REG = "TRUE" *) ', ""), "level_q_reg[0]"),
    "logic before it": ("spate_cdc_fifo", replaced("(tail_gray_q[bit_index])", "(tail_gray_q[bit_index] ^ tail_q[0])"),
                        "logic comes before a synchroniser"),
    "a removed crossing": ("spate_cdc_fifo", lambda text: re.sub(r"spate_cdc_bit u_tail \(.*?\);",
                                                                 "assign tail_gray_far[bit_index] = 1'b0;", text, flags=re.S),
                           "no pin is gen_far[0].u_tail"),
    "no synchroniser": ("spate_cdc_flush", replaced("a_stop_i) state_d = StIsolate", "a_stop_i || cleared_q) state_d = StIsolate"),
                        "cleared_q_reg (user)"),
    "two of one bit": ("spate_cdc_flush", replaced("level_i(up_q)", "level_i(cleared_q)"), "2 synchronisers of core may disagree"),
    "a register that is merged": ("spate_cdc_fifo", without_dont_touch, "it needs DONT_TOUCH"),
}


@pytest.mark.parametrize(("module", "change", "message"), MODULES_CHANGED.values(), ids=MODULES_CHANGED)
def test_a_fault_of_a_crossing_is_found(tmp_path, module, change, message):
    """Yosys reads only below the repository, so the changed module is there."""
    folder = elaborate.FOLDER / "test-changed"
    folder.mkdir(parents=True, exist_ok=True)
    sources = filelist.needed_by(TOP)
    path = next(path for path in sources if pathlib.PurePath(path).stem == module)
    text = (filelist.ROOT / path).read_text()
    changed = folder / f"{module}.sv"
    changed.write_text(change(text))
    assert changed.read_text() != text
    sources[sources.index(path)] = str(changed.relative_to(filelist.ROOT))
    found = run(elaborate.elaborate(TOP, {}, "test-changed", sources), tmp_path)
    assert any(message in finding for finding in found), "\n".join(found) or "nothing was found"


def test_names_are_those_of_vivado():
    assert names.registers("x_q", 1) == ["x_q_reg"]
    assert names.registers("x_q", 2) == ["x_q_reg[0]", "x_q_reg[1]"]
    assert names.registers("x_q.cid.slot", 2) == ["x_q_reg[cid][slot][0]", "x_q_reg[cid][slot][1]"]
    assert names.registers("x_q[5:4]", 2) == ["x_q_reg[4]", "x_q_reg[5]"]
    assert [name for name, _ in names.memory("words", 16, 20)] == ["words_reg_0_15_0_13", "words_reg_0_15_14_19"]


BUILD = """
create_ip -name pcie4_uscale_plus -vendor xilinx.com -library ip -module_name pcie
set_property -dict [list CONFIG.axisten_if_width {128_bit} CONFIG.PL_LINK_CAP_MAX_LINK_WIDTH {X4}] [get_ips pcie]
"""


@pytest.mark.parametrize(("text", "message"), [
    (BUILD, ""),
    ("puts {IP}\nfile delete -force [info script]\n" + BUILD, ""),
    (BUILD.replace("axisten_if_width", "AXISTEN_IF_WIDTH"), ""),
    (BUILD.replace("axisten_if_width", "axisten_if_widht"), "did you mean axisten_if_width?"),
    (BUILD.replace("axisten_if_width", "AXISTEN_IF_DATA_WIDTH"), "no property of ip.pcie4_uscale_plus"),
    (BUILD.replace("pcie4_uscale_plus", "pcie9"), "has no section [ip.pcie9]"),
    (BUILD.replace("get_ips pcie", "get_ips pci"), "nothing is pci"),
    (BUILD.replace("create_ip", "make_ip"), "unknown command"),
])
def test_a_property_of_an_ip_is_checked(tmp_path, text, message):
    file = tmp_path / "build.tcl"
    file.write_text(text)
    found = build_script.findings(file)
    assert file.exists()
    assert bool(found) == bool(message) and all(message in finding for finding in found)
