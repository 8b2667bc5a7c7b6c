# SPDX-License-Identifier: Apache-2.0
"""tools/rtl/flat.py: a port for each field of a record, with what connects it. The modules that it writes are compared with the
sources by test_templates.py."""

import pytest

import filelist
import flat
import tops_described
import tops_design
import tops_flat
from flat import Shape

ONE = """// SPDX-License-Identifier: Apache-2.0
//
// One.
`default_nettype none

module one
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned Lanes = 2,
    parameter int unsigned IdWidth = 4  // of the bus
) (
    input wire logic clk_i,  // the clock

    // The bus.
    input  wire axi_read_request_t [Lanes-1:0]       bus_i,
    output axi_read_response_t     [Lanes-1:0]       bus_o,
    output logic                   [Lanes-1:0][31:0] bus_rdata_o,

    // A command.
    input wire command_t cmd_i
);
endmodule

`default_nettype wire
"""
IDS = {"arid": "IdWidth", "rid": "IdWidth"}


def flattened(tmp_path, monkeypatch, shapes=None, text=ONE, all_records=True):
    path = tmp_path / "one.sv"
    path.write_text(text)
    listed = filelist.sources()
    monkeypatch.setattr(filelist, "sources", lambda: (*listed, str(path)))
    return flat.text("two", flat.inner("one"), shapes or {}, "// Two.\n", all_records)


def lines(text):
    return [" ".join(line.split()) for line in text.split("\n")]


def test_a_record_becomes_a_port_for_each_field_in_the_order_of_the_channels(tmp_path, monkeypatch):
    text = lines(flattened(tmp_path, monkeypatch))
    names = [line.rstrip(",").split()[-1] for line in text if line.startswith(("input", "output")) and "bus_" in line]
    assert names == [f"bus_{name}" for name in ("arid_i", "araddr_i", "arlen_i", "arsize_i", "arburst_i", "arvalid_i", "arready_o",
                                                "rid_o", "rdata_o", "rresp_o", "rlast_o", "rvalid_o", "rready_i")]
    assert "output logic [Lanes-1:0][31:0] bus_rdata_o," in text and "input wire logic [Lanes-1:0][7:0] bus_arlen_i," in text
    assert "for (genvar i = 0; i < Lanes; i++) begin : gen_lanes" in text
    assert "assign bus_i[i].arlen = bus_arlen_i[i];" in text and "assign bus_rresp_o[i] = bus_o[i].rresp;" in text


def test_comments_and_parameters_are_those_of_the_inner_module(tmp_path, monkeypatch):
    text = lines(flattened(tmp_path, monkeypatch))
    assert {"// The bus.", "input wire logic clk_i, // the clock", "parameter int unsigned IdWidth = 4 // of the bus"} <= set(text)
    assert {".Lanes(Lanes),", ".IdWidth(IdWidth)", ".bus_i,", ".bus_rdata_o,"} <= set(text)


def test_a_field_may_have_fewer_bits_outside(tmp_path, monkeypatch):
    text = lines(flattened(tmp_path, monkeypatch, {"bus": Shape("bus_", IDS)}))
    assert "input wire logic [Lanes-1:0][IdWidth-1:0] bus_arid_i," in text
    assert "assign bus_i[i].arid = 16'(bus_arid_i[i]);" in text and "assign bus_rid_o[i] = bus_o[i].rid[IdWidth-1:0];" in text


def test_a_field_may_be_absent_outside_and_is_zero_inside(tmp_path, monkeypatch):
    text = "\n".join(lines(flattened(tmp_path, monkeypatch, {"bus": Shape("bus_", {}, ("arid", "rlast"))})))
    assert "assign bus_i[i].arid = '0;" in text and "bus_arid_i" not in text and "rlast" not in text


def test_an_enumeration_is_a_number_outside(tmp_path, monkeypatch):
    text = lines(flattened(tmp_path, monkeypatch))
    assert "input wire logic [3:0] cmd_op_i," in text and "assign cmd_i.op = op_e'(cmd_op_i);" in text


def test_for_a_testbench_only_buses_are_divided(tmp_path, monkeypatch):
    text = lines(flattened(tmp_path, monkeypatch, {"bus": Shape("")}, all_records=False))
    assert "input wire command_t cmd_i" in text and "output logic [Lanes-1:0][1:0] rresp_o," in text


@pytest.mark.parametrize("old, new, message", [
    ("// SPDX-License-Identifier: Apache-2.0\n", "", "its head has another form"),
    ("clk_i,  // the clock", "clk_i, rst_ni,", "a port of another form"),
])
def test_what_cannot_be_read_is_an_error(old, new, message, tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match=message):
        flattened(tmp_path, monkeypatch, text=ONE.replace(old, new, 1))


def test_what_the_description_says_of_fields_that_do_not_exist_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="bus has no field awid"):
        flattened(tmp_path, monkeypatch, {"bus": Shape("bus_", {}, ("awid",))})


def test_the_tops_elaborate_with_the_parameters_of_the_modules_inside_them():
    said = tops_described.read(tops_described.FILE.read_text())
    for top, entry in said["top"].items():
        inner, outer = tops_design.compile_top(entry["inner"], {}, ()), tops_design.elaborate(top)
        names = [symbol.name for symbol in inner.getRoot().topInstances[0].body.parameters if not symbol.isLocalParam]
        assert list(outer.parameters) == names
    assert set(tops_described.TOPS) == set(said["top"]) and tops_flat.texts()
