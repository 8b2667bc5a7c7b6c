// SPDX-License-Identifier: Apache-2.0
//
// Counts the beats of a part's data: `last_o` is high in the cycle in which the last beat moves, and the count
// restarts. `blocks_i` must be stable from the first beat to the last one.
`default_nettype none

module spate_stripe_beats #(
    parameter int unsigned BlocksWidth = 8,
    parameter int unsigned SectorBeatBits = 5  // log2 of the beats of 512 bytes, at least 1
) (
    input  wire logic                   clk_i,
    input  wire logic                   rst_ni,
    input  wire logic                   block_4096_i,
    input  wire logic [BlocksWidth-1:0] blocks_i,
    input  wire logic                   move_i,
    output logic                        last_o
);

  logic [SectorBeatBits+2:0] beat_q;  // of the block
  logic [BlocksWidth-1:0] block_q;
  logic block_end_q;  // this beat is the last of its block: known a beat before
  logic final_q;  // this block is the last: known a cycle later, before the block's last beat
  logic [SectorBeatBits+2:0] next;

  assign next = beat_q + 1'b1;
  assign last_o = move_i && block_end_q && final_q;
  always_ff @(posedge clk_i) final_q <= block_q + 1'b1 == blocks_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q <= '0;
      block_end_q <= 1'b0;
      block_q <= '0;
    end else if (move_i) begin
      beat_q <= block_end_q ? '0 : next;
      block_end_q <= next[SectorBeatBits-1:0] == '1 && (next[SectorBeatBits+2:SectorBeatBits] == '1 || !block_4096_i);
      if (last_o) block_q <= '0;
      else if (block_end_q) block_q <= block_q + 1'b1;
    end
  end

endmodule

`default_nettype wire
