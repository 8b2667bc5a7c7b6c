// SPDX-License-Identifier: Apache-2.0
//
// Moves a stream of words up by a number of lanes that is constant for a packet: what moves past the last lane appears
// in the first lanes of the next word. To move down, move up by Lanes less and only keep the first word.
//
// Guarantee: lane k of the output is lane k - amount of this word, if that exists, otherwise lane k - amount + Lanes of
// the word that was kept last.
`default_nettype none

module spate_pcie_usp_rotate #(
    parameter int unsigned Lanes = 4,  // a power of two
    parameter int unsigned LaneWidth = 32,
    localparam int unsigned AmountWidth = $clog2(Lanes)
) (
    input  wire logic                                  clk_i,
    input  wire logic                                  keep_i,    // keep this word as the previous one of the next
    input  wire logic [AmountWidth-1:0]                amount_i,
    input  wire logic [      Lanes-1:0][LaneWidth-1:0] word_i,
    output logic      [      Lanes-1:0][LaneWidth-1:0] word_o
);

  logic [Lanes-1:0][LaneWidth-1:0] rotated, kept_q;

  always_comb begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      rotated[lane] = word_i[AmountWidth'(lane)-amount_i];
      word_o[lane] = AmountWidth'(lane) < amount_i ? kept_q[lane] : rotated[lane];
    end
  end

  always_ff @(posedge clk_i) begin
    if (keep_i) kept_q <= rotated;
  end

endmodule

`default_nettype wire
