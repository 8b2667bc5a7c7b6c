# SPDX-License-Identifier: Apache-2.0
"""make place: the wrapper, whose primitive is whose, what nextpnr's report says, and the gate. Nothing is placed here."""

import argparse
import json
import shlex

import pytest

import filelist
import only
import place_kept
import place_page
import place_ratio
import program
import rtl_place
import tops
from place import made, nextpnr, owners, picture, report, wrapper

# ---- the wrapper ----

PORTS = [wrapper.Port("clk_i", "input", 1), wrapper.Port("axi_aclk_i", "input", 2), wrapper.Port("data_i", "input", 8),
         wrapper.Port("clock_stop_i", "input", 1), wrapper.Port("out_o", "output", 3)]


def test_all_clocks_are_one_and_every_other_port_has_its_own_bits():
    text = wrapper.verilog("m", {"Width": "8"}, PORTS)
    for line in (".clk_i({1{clk}})", ".axi_aclk_i({2{clk}})", ".data_i(inputs[0 +: 8])", ".clock_stop_i(inputs[8 +: 1])",
                 ".out_o(outputs[0 +: 3])", "m #(.Width(8)) u_top", "Inputs = 9;", "Outputs = 3;"):
        assert line in text


@pytest.mark.parametrize("name", ["clk", "clk_i", "axi_aclk_i", "app_clk_i", "pcie_clk"])
def test_names_of_clocks(name):
    assert wrapper.is_clock(wrapper.Port(name, "input", 1)) and not wrapper.is_clock(wrapper.Port(name, "output", 1))


@pytest.mark.parametrize("ports", [PORTS[2:], PORTS[:2] + PORTS[4:], PORTS[:4], [*PORTS, wrapper.Port("pad", "inout", 1)]])
def test_a_design_that_cannot_stand_alone_is_refused(ports):
    with pytest.raises(SystemExit, match="cannot be placed alone"):
        wrapper.verilog("m", {}, ports)


# ---- whose primitive ----


def cell(kind, src="", **ports):
    """Ports in capitals; Q, O and DO are outputs."""
    return {"type": kind, "attributes": {"src": src}, "connections": {port: [bit] for port, bit in ports.items()},
            "port_directions": {port: "output" if port in ("Q", "O", "DO") else "input" for port in ports}}


FIFO, BUFFER = "rtl/common/spate_fifo.sv:1.1", "rtl/core/spate_buffer.sv:2.1|/share/xilinx/ff_map.v:1.1"
NETLIST = {
    "cells": {
        "$in": cell("FDRE", "build/rtl/place/x/wrapper.v:7.3", D=1, Q=2),
        "$near": cell("LUT2", "/share/xilinx/lut_map.v:1.1", A=2, O=3),
        "$far": cell("LUT2", A=3, O=4),
        "$fifo": cell("FDRE", FIFO, D=4, Q=5),
        "u_top.u_buffer.ram.0.0": cell("RAM32M", A=5, DO=6),
        "$last": cell("LUT1", A=6, O=7),
        "$named": cell("FDRE", A=6, Q=9),
        "$out": cell("FDRE", "build/rtl/place/x/wrapper.v:7.3", D=7, Q=8),
        "$fold": cell("LUT2", A=8, O=10),
        "$flatten\\u_top.\\u_buffer.\\u_fifo.$32.carry4": cell("CARRY4", A=6),
        "$buffer": cell("FDRE", BUFFER, D=6, Q=11),
    },
    "netnames": {"head": {"hide_name": 0, "bits": [5]}, "u_top.u_buffer.u_fifo.head_q": {"hide_name": 0, "bits": [12, 5]},
                 "$hidden": {"hide_name": 1, "bits": [7]}, "u_top.u_buffer.state_q": {"hide_name": 0, "bits": [9]}},
}
ELABORATED = {
    "top": {"attributes": {"top": "01"}, "cells": {"u_buffer": {"type": "spate_buffer$top.u_buffer"}, "a": {"type": "$add"}}},
    "spate_buffer$top.u_buffer": {"attributes": {}, "cells": {"u_fifo": {"type": "spate_fifo$top.u_buffer.u_fifo"}}},
    "spate_fifo$top.u_buffer.u_fifo": {"attributes": {}, "cells": {}},
}


@pytest.fixture
def known():
    return owners.Owners(NETLIST, owners.instances_of(ELABORATED))


def test_fan_out_is_that_of_the_output_with_most_readers(known):
    assert known.fan_out("u_top.u_buffer.ram.0.0") == 4 and known.fan_out("$fold") == 0 and known.fan_out("other") == 0


def test_instances_have_their_path_in_the_wrapper():
    assert owners.instances_of(ELABORATED) == {"u_top": "top", "u_top.u_buffer": "spate_buffer", "u_top.u_buffer.u_fifo": "spate_fifo"}


@pytest.mark.parametrize(("name", "module"), [
    ("$fifo", "spate_fifo"), ("$buffer", "spate_buffer"),  # registers, by their file
    ("$named", "spate_buffer"),  # a register without a file, by the net that it drives
    ("u_top.u_buffer.ram.0.0", "spate_buffer"), ("u_top.u_buffer.ram.0.0/DPO_A", "spate_buffer"),  # memories, by their instance
    ("$flatten\\u_top.\\u_buffer.\\u_fifo.$32.carry4", "spate_fifo"),
    ("$near", "spate_fifo"), ("$far", "spate_fifo"),  # LUTs, by what they lead to
    ("$last", "spate_buffer"),  # or come from
    ("$hidden$LUT12", "spate_buffer"), ("$hidden$feed$muxcy$PACKED_CARRY4$", "spate_buffer"),
    ("u_top.u_buffer.u_fifo.head_q[1]$LUT3", "spate_fifo"), ("$none$LUT3", owners.UNKNOWN),
    ("$in", owners.WRAPPER), ("$out", owners.WRAPPER), ("$fold", owners.WRAPPER), ("$PACKER_VCC", owners.UNKNOWN)])
def test_a_primitive_belongs_to_a_module(known, name, module):
    assert known[name] == module


def test_the_deepest_name_of_a_net_is_its_name(known):
    assert known.signal("$fifo") == "u_buffer.u_fifo.head_q[1]" and known.signal("$last") == "" and known.signal("other") == ""
    assert known.signal("u_top.u_buffer.ram.0.0/DPR3") == "u_buffer.ram.0.0"


# ---- the report ----


def part(kind, delay, begin, end=None):
    return {"type": kind, "delay": delay, "from": {"cell": begin}, "to": {"cell": end or begin}}


PATH = [part("clk-to-q", 0.35, "$in"), part("routing", 1.0, "$in", "$near"), part("logic", 0.125, "$near"),
        part("routing", 0.5, "$near", "c1"), part("logic", 0.3, "c1"), part("routing", 0.0, "c1", "c2"), part("logic", 0.1, "c2"),
        part("routing", 0.25, "c2", "$fifo"), part("setup", 0.1, "$fifo")]
TYPES = {"$in": "FDRE", "$near": "LUT2", "c1": "CARRY4", "c2": "CARRY4", "$fifo": "FDRE"}
REPORT = {
    "fmax": {"clk": {"achieved": 113.25, "constraint": 125}},
    "utilization": {name: {"used": used, "available": 9} for name, used in
                    (("SLICE_LUTX", 7), ("SLICE_FFX", 5), ("RAMB18E1_RAMB18E1", 2), ("RAMB36E1_RAMB36E1", 3))},
    "critical_paths": [{"from": "async", "to": "posedge clk", "path": [part("routing", 99.0, "$in")]},
                       {"from": "posedge clk", "to": "posedge clk", "path": PATH}],
    "detailed_net_timings": [{"endpoints": [{"cell": "$fifo", "port": "D", "delay": [0.1, number / 10]}]} for number in range(12)]
    + [{"endpoints": [{"cell": "$out", "port": "D", "delay": [0.1, 1.05]}]}],
}
LOG = """Info:     at iteration #8, type ALL: wirelen solved = 1186, spread = 5701, legal = 6932; time = 0.20s
Info:   at iteration #1: temp = 0.000000, timing cost = 16, wirelen = 4147
Info:   at iteration #24: temp = 0.000000, timing cost = 18, wirelen = 2061
"""


@pytest.fixture
def result(tmp_path, known):
    files = nextpnr.files(tmp_path, 1)
    files.report.write_text(json.dumps(REPORT))
    files.log.write_text(LOG)
    cells = {name: {"type": "SLICE", "attributes": {"X_ORIG_TYPE": f"{kind} "}} for name, kind in TYPES.items()}
    files.placed.write_text(json.dumps({"modules": {"top": {"cells": cells, "netnames": {}}}}))
    nextpnr.reduce(files.placed)
    return report.read(files, known)


def test_frequency_use_and_wire_length(result):
    assert result[:6] == (113.25, 7, 5, 2, 3, 2061)


def test_a_carry_chain_is_one_row_and_one_level(result):
    assert result.levels == 2
    assert [(row.primitive, row.module, row.signal, row.fan_out, round(row.routing_ns, 3), round(row.logic_ns, 3)) for row in report.rows(result.path)] == [
        ("FDRE", "wrapper", "", 0, 0, 0.35), ("LUT2", "spate_fifo", "", 1, 1, 0.125), ("CARRY4", "unknown", "", 1, 0.5, 0.4),
        ("FDRE", "spate_fifo", "u_buffer.u_fifo.head_q[1]", 0, 0.25, 0.1)]
    assert report.delay_ns(result.path) == pytest.approx(2.725) and report.delay_ns(result.path, "routing") == pytest.approx(1.75)


def test_an_end_is_the_latest_bit_of_a_register_and_ends_are_grouped_by_module(result):
    assert report.grouped(result.ends) == [("spate_fifo", ["head_q"], 1.1), ("wrapper", [""], 1.05)]


def test_primitives_are_drawn_where_they_are_the_wrapper_last(known):
    def placed(bel, kind="SLICE_LUTX"):
        return {"type": kind, "attributes": {"NEXTPNR_BEL": bel}}

    cells = {"$in": placed("X3Y4/SLICE_X0Y0.AFF"), "$out": placed("X3Y4/SLICE_X0Y0.BFF"), "$fifo": placed("X10Y20/SLICE_X0Y0.A6LUT"),
             "clk": placed("X1Y1/PAD", "PAD"), "$PACKER_VCC": {"type": "SLICE_LUTX", "attributes": {}}}
    cells = {name: nextpnr.cell(written) for name, written in cells.items()}
    assert cells["clk"] == ("PAD", "PAD", 1, 1) and cells["$PACKER_VCC"].column is None
    assert list(picture.places(cells, known).items()) == [("spate_fifo", [(10, 20)]), ("wrapper", [(3, 4), (3, 4)])]
    assert picture.spread([(3, 4)] * 5) == ([3, 3.25, 3.5, 3.75, 3], [4, 4, 4, 4, 4.25])


# ---- what is kept, and the gate ----


def kept(*frequencies_mhz, **changes):
    identity = {"commit": "a", "netlist": "n", "nextpnr": "0", "yosys": "0"} | changes
    seeds = {str(seed): {"fmax_mhz": value} for seed, value in enumerate(frequencies_mhz, 1)}
    return identity | {"seeds": seeds, "rows": [], "ends": []}


def test_the_spread_takes_eight_seeds():
    assert place_kept.spread(kept(*[100] * 7)) is None
    assert place_kept.spread(kept(95, *[100] * 6, 105)) == pytest.approx(0.1)


@pytest.mark.parametrize(("now_mhz", "worse"), [(100, False), (91, False), (90.1, False), (89.9, True)])
def test_a_median_may_be_less_by_what_seeds_differ(now_mhz, worse):
    before = {"a": kept(*[100] * 7, 110, 100)}  # a spread of 10 %
    assert bool(place_kept.worse(before, "a", [now_mhz - 20, now_mhz - 10, now_mhz, 200, 200])) == worse


def test_a_design_with_five_seeds_has_the_largest_spread_of_the_others():
    before = {"a": kept(*[100] * 5), "b": kept(*[100] * 7, 110), "c": kept(*[100] * 7, 120)}
    assert place_kept.tolerance(before, "a") == pytest.approx(0.2) and place_kept.tolerance(before, "b") == pytest.approx(0.1)
    place_kept.need(before, "a")


@pytest.mark.parametrize(("before", "why"), [({}, "does not have seeds 1 to 5 of a: make place TOP=a SEED=1-5 KEEP=1"),
                                             ({"a": kept(1, 2, 3, 4)}, "does not have seeds 1 to 5"),
                                             ({"a": kept(1, 2, 3, 4, 5)}, "make place TOP=a SEED=1-8 KEEP=1")])
def test_without_kept_results_the_gate_says_what_to_do(before, why):
    with pytest.raises(SystemExit, match=why):
        place_kept.need(before, "a")


def test_seeds_of_the_same_netlist_add_up():
    both = place_kept.merged(kept(100, 101), {**kept(), "seeds": {"3": {"fmax_mhz": 99}}, "commit": "b"})
    assert place_kept.frequencies(both) == [100, 101, 99] and both["commit"] == "b"


@pytest.mark.parametrize("name", ["netlist", "nextpnr", "yosys"])
def test_of_another_netlist_or_tool_the_old_seeds_are_dropped(name):
    assert place_kept.frequencies(place_kept.merged(kept(100, 101), kept(90, **{name: "other"}))) == [90]


def test_what_is_kept_is_read_again(result):
    identity = {"commit": "a", "netlist": "n", "nextpnr": "0", "yosys": "0"}
    results = {"stripe": place_kept.entry(identity, {2: result, 10: result})}
    text = place_kept.text(results)
    assert json.loads(text) == json.loads(json.dumps(results)) and text.index('"2"') < text.index('"10"')
    page = place_page.page(results, {})
    assert "`stripe`" in page and "| 1.48 | 1 | 1.00 | 0.12 | LUT2 | `spate_fifo` |  |" in page


def test_the_page_is_that_of_the_kept_results():
    page = place_page.page(place_kept.load(), place_kept.load(place_ratio.PATH))
    assert place_page.PAGE.read_text() == page, "make place KEEP=1 and make place-calibrate KEEP=1 write it"


def test_what_was_made_of_other_sources_is_made_again(tmp_path):
    file = tmp_path / "report.json"
    file.write_text("{}")
    made.end(file, made.digest(b"netlist", "options"))
    assert made.is_from(file, made.digest("netlist", b"options")) and not made.is_from(file, made.digest("netlistoptions"))
    made.begin(file)
    assert not made.is_from(file, made.digest("netlist", "options"))


# ---- the command ----


@pytest.mark.parametrize(("text", "seeds"), [("3", (3,)), ("1-4", (1, 2, 3, 4))])
def test_seeds_are_a_number_or_a_range(text, seeds):
    assert rtl_place.seeds_of(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "4-1", "1,2", "-1"])
def test_what_is_no_seed_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="a number such as 1, or a range"):
        rtl_place.seeds_of(text)


def test_a_design_is_chosen_by_its_name_or_the_beginning():
    assert [design.name for design in rtl_place.designs("usp")] == ["usp-128", "usp-256"]
    assert len(rtl_place.designs("")) == len(tops.PLACED)
    with pytest.raises(only.Unknown, match="TOP must be one of"):
        rtl_place.designs("nothing")


def test_litenvme_is_one_module_of_a_folder(tmp_path):
    with pytest.raises(SystemExit, match="must hold the Verilog of one module"):
        rtl_place.litenvme(tmp_path)
    (tmp_path / "core.v").write_text("module litenvme_core (input clk);\nendmodule\n")
    design = rtl_place.litenvme(tmp_path)
    assert design.module == "litenvme_core" and (filelist.ROOT / design.files[0]).read_text().startswith("module")


def test_what_people_type_reaches_the_script():
    done = program.run("make", "-n", "place", "TOP=usp-128", "SEED=1-8", "KEEP=1", cwd=filelist.ROOT)
    (line,) = (line for line in done.stdout.splitlines() if "bench/rtl_place.py" in line)
    assert shlex.split(line)[3:] == ["--seed", "1-8", "--top", "usp-128", "--keep"]
