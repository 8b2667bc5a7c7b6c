// SPDX-License-Identifier: Apache-2.0
//
// A queue from one clock domain to another. What enters leaves once, in order, and nothing else leaves, at any ratio of
// the clocks. The first word is shown at the output, in a register, before it is requested. The same clock edge that
// fills the register reads the LUTRAM behind it, so the path from one clock to the other ends there. No combinational
// path leads from an input to an output.
//
// Either side may be reset without the other, through the protocol of spate_cdc_flush. While a side's `run` is low, it
// moves nothing through the LUTRAM; a word at the output stays there and may be taken. `clear` empties a side, and
// comes only while neither side runs. So a pointer never jumps while the other side reads it.
//
// Full rate from Depth = 16 on: a pointer's round trip takes about ten cycles.
//
// Constraints: rtl/constraints/spate_cdc_fifo.xdc. One period of the faster clock, without clock skew, from tail_gray_q
// and head_gray_q to the other side, as delay and as skew, and from `words` to out_data_q.
`default_nettype none

module spate_cdc_fifo #(
    parameter int unsigned Width = 32,  // bits of a word
    parameter int unsigned Depth = 16  // words, without the one at the output; a power of two, at least 4
) (
    input wire logic in_clk_i,
    input wire logic in_run_i,
    input wire logic in_clear_i,
    input wire logic in_valid_i,
    output logic in_ready_o,
    input wire logic [Width-1:0] in_data_i,
    output logic in_empty_o,  // all words have reached the output register; two cycles late
    output logic in_left_o,  // a pulse for each word that has left; two cycles late, or later if they leave faster

    input  wire logic             out_clk_i,
    input  wire logic             out_run_i,
    input  wire logic             out_clear_i,
    output logic                  out_valid_o,
    input  wire logic             out_ready_i,
    output logic      [Width-1:0] out_data_o
);

  if (Width < 1 || Depth < 4 || (Depth & (Depth - 1)) != 0) begin : gen_parameters
    $error("spate_cdc_fifo: Width must be at least 1 and Depth a power of two, at least 4");
  end

  localparam int unsigned IndexWidth = $clog2(Depth);
  localparam int unsigned GrayWidth = IndexWidth + 1;
  // Gray codes of positions that are Depth apart differ in the two highest bits.
  localparam logic [GrayWidth-1:0] FullDifference = GrayWidth'(3) << (IndexWidth - 1);

  (* ram_style = "distributed" *) logic [Width-1:0] words[Depth];

  function automatic logic [GrayWidth-1:0] gray(logic [GrayWidth-1:0] position);
    return position ^ (position >> 1);
  endfunction

  // ---- in ----

  // The highest bit of a Gray code equals that of the position: without the attribute synthesis may keep only that one,
  // under a name that no constraint knows.
  (* DONT_TOUCH = "TRUE" *) logic [GrayWidth-1:0] tail_gray_q, head_gray_q;
  logic [GrayWidth-1:0] tail_q, tail_d, tail_next_gray_q, full_gray, head_gray_far, tail_gray_far, left_q;
  logic push, room_q;

  // The other side's position only advances. So a comparison that is a cycle old shows too little room, never too much.
  assign in_ready_o = in_run_i && room_q;
  assign in_empty_o = tail_gray_q == head_gray_far;
  assign in_left_o = in_run_i && gray(left_q) != head_gray_far;
  assign push = in_valid_i && in_ready_o;
  assign tail_d = tail_q + 1'b1;
  assign full_gray = head_gray_far ^ FullDifference;

  always_ff @(posedge in_clk_i) begin
    if (in_clear_i) begin
      tail_q <= '0;
      tail_gray_q <= '0;
      tail_next_gray_q <= GrayWidth'(1);
      left_q <= '0;
      room_q <= 1'b0;
    end else begin
      // Both comparisons, then the choice, because `push` comes late.
      room_q <= push ? tail_next_gray_q != full_gray : tail_gray_q != full_gray;
      if (push) begin
        tail_q <= tail_d;
        tail_gray_q <= tail_next_gray_q;
        tail_next_gray_q <= gray(tail_d + 1'b1);
      end
      if (in_left_o) left_q <= left_q + 1'b1;
    end
  end

  always_ff @(posedge in_clk_i) begin
    if (push) words[tail_q[IndexWidth-1:0]] <= in_data_i;
  end

  for (genvar bit_index = 0; bit_index < GrayWidth; bit_index++) begin : gen_far
    spate_cdc_bit u_head (
        .clk_i(in_clk_i),
        .level_i(head_gray_q[bit_index]),
        .level_o(head_gray_far[bit_index])
    );
    spate_cdc_bit u_tail (
        .clk_i(out_clk_i),
        .level_i(tail_gray_q[bit_index]),
        .level_o(tail_gray_far[bit_index])
    );
  end

  // ---- out ----

  logic [GrayWidth-1:0] head_q, head_d, head_next_gray_q;
  logic out_valid_q, load, there_q;
  logic [Width-1:0] out_data_q;

  assign load = out_run_i && there_q && (!out_valid_q || out_ready_i);
  assign head_d = head_q + 1'b1;
  assign out_valid_o = out_valid_q;
  assign out_data_o = out_data_q;

  always_ff @(posedge out_clk_i) begin
    if (out_clear_i) begin
      head_q <= '0;
      head_gray_q <= '0;
      head_next_gray_q <= GrayWidth'(1);
      out_valid_q <= 1'b0;
      there_q <= 1'b0;
    end else begin
      there_q <= load ? head_next_gray_q != tail_gray_far : head_gray_q != tail_gray_far;
      if (load) begin
        head_q <= head_d;
        head_gray_q <= head_next_gray_q;
        head_next_gray_q <= gray(head_d + 1'b1);
      end
      out_valid_q <= load || (out_valid_q && !out_ready_i);
    end
  end

  always_ff @(posedge out_clk_i) begin
    if (load) out_data_q <= words[head_q[IndexWidth-1:0]];
  end

endmodule

`default_nettype wire
