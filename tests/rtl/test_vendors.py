# SPDX-License-Identifier: Apache-2.0
"""The rules for the vendors' synthesis find what they are for, and the sources have none of it."""

import re

import pytest

import filelist
import vendors

CONSTRUCTS = {
    "set membership": "assign a = b inside {One, Two};",
    "case inside": "always_comb case (b) inside\n  default: a = 1'b0;\nendcase",
    "streaming": "assign a = {<<8{b}};",
    "a string": 'parameter string Style = "auto"',
    "unique if": "always_comb unique if (a) b = c;",
    "priority if": "always_comb priority if (a) b = c;",
    "unique0": "unique0 case (a)",
    "a case of 1": "case (1'b1)\n  a: b = c;\nendcase",
    "a union": "typedef union packed { a_t a; b_t b; } c_t;",
    "a type parameter": "module m #(parameter type data_t = logic) ();",
    "the type operator": "localparam type (a) b = 0;",
    "a cast": "initial $cast(a, b);",
    "an alias": "alias a = b;",
}
NO_CONSTRUCTS = {
    "for verification": "`ifdef FORMAL\nassert (a inside {One, Two});\n`endif",
    "in a comment": "// inside of a union, unique if\n/* {<<{a}} */",
    "in a text": '$error("a string inside");',
    "unique case": "unique case (a)\n  1'b1: b = c;\nendcase",
    "shifts": "assign a = {b << 3, c >> 2};",
    "names": "logic inside_q, union_of; assign a = my_type(b);",
}
HEAD = """module m
  import a_pkg::*;
#(
    parameter int A = f(3),
    {0} int B = A
) (
    input wire logic [B-1:0] b_i
);
  localparam C = 1;
"""
FUNCTION = """function automatic logic f(logic [2:0] a, logic b);
  automatic logic d = a[0];
  word_t e;
  e = word_t'({{d, b}});
{0}
endfunction
"""


@pytest.mark.parametrize("text", CONSTRUCTS.values(), ids=CONSTRUCTS)
def test_a_construct_is_found(text):
    findings = vendors.constructs("x.sv", f"\n{text}")
    assert len(findings) == 1 and re.match(r"x\.sv:2: .*: \S", findings[0])


@pytest.mark.parametrize("text", NO_CONSTRUCTS.values(), ids=NO_CONSTRUCTS)
def test_what_is_no_such_construct_is_not(text):
    assert vendors.constructs("x.sv", text) == []


def test_what_is_not_for_verification_is_found():
    text = "`ifdef FORMAL\n`else\nassign a = b inside {C};\n`endif\n`ifndef FORMAL\nassign a = b inside {C};\n`endif"
    assert [finding[:7] for finding in vendors.constructs("x.sv", text)] == ["x.sv:3:", "x.sv:6:"]


def test_a_localparam_among_parameters_is_found():
    assert vendors.localparams("x.sv", HEAD.format("localparam"))[0].startswith("x.sv:5: ")
    assert vendors.localparams("x.sv", HEAD.format("parameter")) == []


@pytest.mark.parametrize("line", ["return c_q & b;", "return g(a, c_q);", "if (state_q == StIdle) return b;",
                                  "return {b, c_i[2:0]};"])
def test_a_function_that_reads_its_module_is_found(line):
    assert [finding[:7] for finding in vendors.outer_names("x.sv", FUNCTION.format(line))] == ["x.sv:5:"]


@pytest.mark.parametrize("line", ["return a == Three && b;", "return e.valid ^ d;", "return spate_pkg::f(b);", "return word_t'(a);",
                                  "unique case (a)\n    3'd1: return 1'b0;\n    default: return b;\n  endcase"])
def test_a_function_of_its_arguments_is_not(line):
    assert vendors.outer_names("x.sv", FUNCTION.format(line)) == []


def test_a_wide_parameter_is_found(tmp_path):
    (tmp_path / "m.sv").write_text("""
module sub #(parameter logic [255:0] Table[5] = '{default: '0}, parameter logic [1023:0] Edge = '0, parameter Name = "auto") (
    output logic a_o);
  localparam logic [4095:0] Own = '0;
  assign a_o = Table[0][3] ^ Edge[1] ^ Own[2];
endmodule
module m (output logic a_o);
  sub u_sub (.a_o);
endmodule
""")
    findings = vendors.wide_parameters("m", {}, [str(tmp_path / "m.sv")])
    assert len(findings) == 1 and findings[0].startswith("sub: the parameter Table has 1280 bits")


def test_the_sources_keep_the_rules():
    assert vendors.findings([*filelist.sources(), *(path for paths in filelist.boards().values() for path in paths)]) == []


def test_no_parameter_of_a_top_is_wide():
    """make lint-rtl looks at each top."""
    assert vendors.wide_parameters("spate_nvme_usp", {}, filelist.needed_by("spate_nvme_usp")) == []
