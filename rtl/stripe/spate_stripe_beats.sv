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
  logic sector_end, block_end;
  logic final_q;  // it is the last block: known a cycle later, before the block's last beat

  assign sector_end = beat_q[SectorBeatBits-1:0] == '1;
  assign block_end = sector_end && (beat_q[SectorBeatBits+2:SectorBeatBits] == '1 || !block_4096_i);
  assign last_o = move_i && block_end && final_q;
  always_ff @(posedge clk_i) final_q <= block_q + 1'b1 == blocks_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q <= '0;
      block_q <= '0;
    end else if (move_i) begin
      beat_q <= block_end ? '0 : beat_q + 1'b1;
      if (last_o) block_q <= '0;
      else if (block_end) block_q <= block_q + 1'b1;
    end
  end

endmodule

`default_nettype wire
