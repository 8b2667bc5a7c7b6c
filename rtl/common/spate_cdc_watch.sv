// SPDX-License-Identifier: Apache-2.0
//
// Detects from a clock that always runs whether another clock runs.
//
// Guarantee: `stopped_o` rises when the watched clock has had no edge for 2^LimitBits cycles of clk_i, within as many
// more, and falls after 16 edges of it. A clock faster than 2^(5 - LimitBits) of clk_i is never reported as stopped.
`default_nettype none

module spate_cdc_watch #(
    parameter int unsigned LimitBits = 8  // log2 of the cycles without an edge of the watched clock divided by 16
) (
    input  wire logic clk_i,
    input  wire logic rst_ni,
    input  wire logic watched_clk_i,
    output logic      stopped_o
);

  if (LimitBits < 4 || LimitBits > 16) begin : gen_parameters
    $error("spate_cdc_watch: LimitBits must be 4 to 16");
  end

  // Divided by 16, because a watched clock that is a multiple of clk_i would look constant when it is sampled. The
  // divider has no reset, because only its changes matter; the initial value is for simulators with X.
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

`default_nettype wire
