// SPDX-License-Identifier: Apache-2.0
//
// Tells whether a clock runs, as seen from one that always does.
//
// Guarantee: `stopped_o` rises when the watched clock has had no edge for 2^LimitBits cycles of clk_i, within as many
// more, and falls after 16 edges of it. A clock that is faster than 2^(5 - LimitBits) of clk_i is never called stopped.
module spate_cdc_watch #(
    parameter int unsigned LimitBits = 8  // log2 of the cycles without an edge of the watched clock divided by 16
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic watched_clk_i,
    output logic stopped_o
);

  if (LimitBits < 4 || LimitBits > 16) begin : gen_parameters
    $error("spate_cdc_watch: LimitBits must be 4 to 16");
  end

  // Divided by 16: a watched clock that is a multiple of clk_i must not look as if it stood still. Nothing resets the
  // divider, as only its changes count; the first value is for simulators that know of X.
  logic [3:0] divider_q;
  initial divider_q = '0;
  logic level, level_q;
  logic [LimitBits:0] still_q;  // cycles without a change, up to 2^LimitBits

  always_ff @(posedge watched_clk_i) divider_q <= divider_q + 1'b1;

  spate_cdc_bit u_level (
      .clk_i,
      .level_i(divider_q[3]),
      .level_o(level)
  );

  assign stopped_o = still_q[LimitBits];

  always_ff @(posedge clk_i) begin
    level_q <= level;
    if (!rst_ni) begin
      still_q <= {1'b1, LimitBits'(0)};
    end else if (level != level_q) begin
      still_q <= '0;
    end else if (!still_q[LimitBits]) begin
      still_q <= still_q + 1'b1;
    end
  end

endmodule
