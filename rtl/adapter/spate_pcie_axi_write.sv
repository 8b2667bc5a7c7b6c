// SPDX-License-Identifier: Apache-2.0
//
// The write half of spate_pcie_axi, in the core's clock. AXI write addresses and data from their clock crossings become
// beats with an address each. The response goes into the crossing back when the core has taken the burst's last beat.
// WLAST ends a burst. WRAP, which no PCIe bridge issues, is treated as INCR.
//
// Guarantee: each beat once, in order, aligned to the data width, with its own strobes; one response with the id of
// each burst. While `run` is low nothing new is shown. A beat that waits stays until it is taken; its burst is dropped.
`default_nettype none

module spate_pcie_axi_write
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned IdWidth = 4,
    parameter int unsigned WindowBits = 21
) (
    input  wire logic clk_i,
    input  wire logic rst_ni,
    input  wire logic run_i,
    input  wire logic drop_i,  // beats shown now are strays and are not written
    output logic      idle_o,  // no beat waits to be taken

    input  wire logic                  aw_valid_i,
    output logic                       aw_ready_o,
    input  wire logic [   IdWidth-1:0] aw_id_i,
    input  wire logic [WindowBits-1:0] aw_address_i,
    input  wire logic                  aw_stray_i,
    input  wire logic [           2:0] aw_size_i,
    input  wire logic                  aw_fixed_i,

    input  wire logic                   w_valid_i,
    output logic                        w_ready_o,
    input  wire logic                   w_last_i,
    input  wire logic [DataWidth/8-1:0] w_strobe_i,
    input  wire logic [  DataWidth-1:0] w_data_i,

    output logic                            write_valid_o,
    input  wire logic                       write_ready_i,
    output window_write_t                   write_o,
    output logic          [  DataWidth-1:0] write_data_o,
    output logic          [DataWidth/8-1:0] write_strobe_o,

    output logic                    b_valid_o,
    input  wire logic               b_ready_i,
    output logic      [IdWidth-1:0] b_id_o
);

  localparam int unsigned BeatShift = $clog2(DataWidth / 8);

  logic begun_q;  // not the burst's first beat: `next_q` is valid
  logic [11:0] next_q, position, step, after;  // a burst stays within 4 KiB
  logic standing_q, drop_q, drop, taken;

  assign position = begun_q ? next_q : aw_address_i[11:0];
  assign step = 12'd1 << aw_size_i;
  // AXI aligns the later beats to their size (A3.4.1), and this address is not aligned. The core uses only the bits
  // above the size, which are the same.
  assign after = aw_fixed_i ? position : position + step;

  // Each beat checks that there is room for the response. Only this half uses that room, so it stays.
  assign write_valid_o = standing_q || (run_i && aw_valid_i && w_valid_i && b_ready_i);
  assign taken = write_valid_o && write_ready_i;
  assign drop = standing_q ? drop_q : drop_i;

  assign write_o = '{
          stray: aw_stray_i || drop,
          address: 32'({aw_address_i[WindowBits-1:12], position[11:BeatShift], BeatShift'(0)})
      };
  assign write_data_o = w_data_i;
  assign write_strobe_o = w_strobe_i;
  assign aw_ready_o = taken && w_last_i;
  assign w_ready_o = taken;
  assign b_valid_o = taken && w_last_i;
  assign b_id_o = aw_id_i;
  assign idle_o = !standing_q;

  always_ff @(posedge clk_i) begin
    drop_q <= drop;
    if (!rst_ni) begin
      standing_q <= 1'b0;
      begun_q <= 1'b0;
    end else begin
      standing_q <= write_valid_o && !write_ready_i;
      // A beat that waits keeps its address until it is taken.
      if (taken) begun_q <= run_i && !w_last_i;
      else if (!run_i && !standing_q) begun_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) next_q <= after;
  end

endmodule

`default_nettype wire
