// SPDX-License-Identifier: Apache-2.0
//
// The test pattern, a beat at a time. It is a sequence of 64-bit words, little endian, from byte 0 of the stream on:
//
//     word[i] = (seed + i * 0x9e3779b97f4a7c15) mod 2^64,  i = 0, 1, 2, ...
//
// The factor is odd, so no two words of a stream are the same, and a word in the wrong place reveals its index:
// i = (word - seed) * 0xf1de83e19937733d mod 2^64. In Python:
//
//     b"".join(((seed + i * 0x9e3779b97f4a7c15) % 2**64).to_bytes(8, "little") for i in range(words))
//
// Guarantee: `data_o` is the first beat in the cycle after `start_i`, and the next one after each `next_i`. The bytes
// are the same for every beat width.
`default_nettype none

module spate_pattern_words #(
    parameter int unsigned DataWidth = 128  // a multiple of 64
) (
    input  wire logic                 clk_i,
    input  wire logic                 start_i,
    input  wire logic [         63:0] seed_i,
    input  wire logic                 next_i,
    output logic      [DataWidth-1:0] data_o
);

  if (DataWidth < 64 || DataWidth % 64 != 0) begin : gen_data_width
    $error("spate_pattern_words: DataWidth must be a multiple of 64");
  end

  localparam int unsigned Lanes = DataWidth / 64;
  localparam logic [63:0] Factor = 64'h9e3779b97f4a7c15;

  // Each lane counts on its own, in steps of a beat. The products are constants.
  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lanes
    logic [63:0] word_q;
    assign data_o[64*lane+:64] = word_q;
    always_ff @(posedge clk_i) begin
      if (start_i) word_q <= seed_i + Factor * 64'(lane);
      else if (next_i) word_q <= word_q + Factor * 64'(Lanes);
    end
  end

endmodule

`default_nettype wire
