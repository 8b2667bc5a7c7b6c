# SPDX-License-Identifier: Apache-2.0
"""The rules of lint-rtl that are written here find what they are for, and the sources have none of it."""

import pytest

import filelist
import rules

SELECTS = {
    "a bit of a call": "assign a = f(b) [3];",
    "a range of a call": "assign a = f(b, g(c))[3:0];",
    "a field of a call": "if (line(i).operation != DoLabel) count++;",
    "over two lines": "assign a = number_of(\n    slot\n)\n[SlotBits];",
    "of a cast": "assign a = word_t'(b)[3:0];",
    "of parentheses": "assign a = (b + c)[3];",
    "behind a comment": "assign a = f(b) /* why */ [3];",
}
NO_SELECTS = {
    "a field of a signal": "assign a = b[f(c)].d;",
    "of a concatenation": "assign a = {b, c}[3:0];",
    "ports": "spate_fifo #(.Depth(4)) u_fifo (.clk_i, .in_valid_i(f(b)), .out_data_o());",
    "a method": "assign a = b.find(c).size();",
    "in a comment": "// f(x)[3:0], (see [1])\n/* f(x).y */",
    "in a string": 'initial $error("f(x)[3]");',
    "a range behind a condition": "logic [$clog2(A)-1:0] b; always_ff @(posedge clk_i) b[0] <= c;",
}
MODULE = "// A comment.\n`default_nettype none\n\nmodule m (\n    input wire logic a_i,\n    output logic b_o\n);\nendmodule\n\n`default_nettype wire\n"


@pytest.mark.parametrize("text", SELECTS.values(), ids=SELECTS)
def test_a_select_of_a_call_is_found(text):
    assert len(rules.selects("x.sv", text)) == 1


@pytest.mark.parametrize("text", NO_SELECTS.values(), ids=NO_SELECTS)
def test_what_is_no_such_select_is_not(text):
    assert rules.selects("x.sv", text) == []


def test_a_finding_names_its_line():
    assert rules.selects("x.sv", "/* two\nlines */\n\nassign a = f(b)[0];")[0].startswith("x.sv:4: ")


def test_a_file_without_implicit_nets():
    assert rules.nettype("x.sv", MODULE) == []
    assert rules.nettype("x.sv", MODULE.replace("module m", "(* keep_hierarchy *)\nmodule m")) == []


@pytest.mark.parametrize("old,new", [("`default_nettype none\n", ""), ("`default_nettype wire\n", ""), ("wire\n", "none\n"),
                                     ("none\n", "wire\n"), ("// A", "`timescale 1ns / 1ps\n// A")])
def test_a_file_with_implicit_nets_is_found(old, new):
    assert len(rules.nettype("x.sv", MODULE.replace(old, new, 1))) == 1


@pytest.mark.parametrize("port", ["input logic a_i", "input a_i", "input command_t a_i", "inout logic a_io", "input [7:0] a_i",
                                  "input\tlogic a_i", "output logic c_o, input logic a_i"])
def test_an_input_without_a_net_type_is_found(port):
    text = MODULE.replace("input wire logic a_i", port)
    assert rules.nettype("x.sv", text)[0].startswith("x.sv:5: ")
    assert rules.nettype("x.sv", rules.with_nettype(text.replace(rules.NONE, "").replace(rules.WIRE, ""))) == []


def test_a_file_before_one_that_it_uses_is_found():
    listed = filelist.sources()
    swapped = (*listed[:4], listed[5], listed[4], *listed[6:])
    first = ("rtl/top/spate_host.sv", *(path for path in listed if path != "rtl/top/spate_host.sv"))
    assert rules.order(swapped) == [] and any("spate_ring_ddr.sv" in finding for finding in rules.order(first))


def test_the_sources_keep_the_rules():
    assert rules.findings(filelist.sources()) == []


def test_the_list_is_in_its_order():
    assert rules.order(filelist.sources()) == []
