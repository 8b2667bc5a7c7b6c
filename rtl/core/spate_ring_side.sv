// SPDX-License-Identifier: Apache-2.0
//
// The side lane of a spate_ring_ddr: flushes and other commands that move no stream data pass to the drive, one at a
// time. The drive's response tells by its tag that it belongs to one of them.
//
// Guarantee: each command gets one response, with its own tag. A flush's `done` is what `written_blocks_i` was when the
// drive took the flush, because the drive does not know of parts that it was not given.
`default_nettype none

module spate_ring_side
  import spate_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [LbaWidth-1:0] written_blocks_i,

    input  wire logic     side_valid_i,
    output logic          side_ready_o,
    input  wire command_t side_i,

    output logic           drive_side_valid_o,
    input  wire logic      drive_side_ready_i,
    output command_t       drive_side_o,            // its tag is 1, that of the parts 0
    input  wire logic      drive_response_valid_i,
    input  wire response_t drive_response_i,

    output logic      response_valid_o,
    input  wire logic response_ready_i,
    output response_t response_o
);

  logic busy_q, take, flush_q;
  logic [LbaWidth-1:0] written_q;

  assign drive_side_valid_o = side_valid_i && !busy_q;
  assign side_ready_o = drive_side_ready_i && !busy_q;
  assign take = side_valid_i && side_ready_o;
  always_comb begin
    drive_side_o = side_i;
    drive_side_o.tag = 16'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      response_valid_o <= 1'b0;
    end else begin
      if (take) busy_q <= 1'b1;
      else if (response_valid_o && response_ready_i) busy_q <= 1'b0;
      if (drive_response_valid_i) response_valid_o <= 1'b1;
      else if (response_ready_i) response_valid_o <= 1'b0;
    end
    if (take) begin
      flush_q <= side_i.op == OpFlush;
      written_q <= written_blocks_i;
      response_o.from_registers <= side_i.from_registers;
      response_o.tag <= side_i.tag;
    end
    if (drive_response_valid_i) begin
      response_o.status <= drive_response_i.status;
      response_o.done <= flush_q ? 64'(written_q) : drive_response_i.done;
    end
  end

endmodule

`default_nettype wire
