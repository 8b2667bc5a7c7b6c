// SPDX-License-Identifier: Apache-2.0
//
// Brings one bit from another clock domain through two flip-flops.
//
// Guarantee: a level that lasts longer than two cycles of clk_i is seen two or three cycles after it came. There is no
// reset: the output follows the input. Use one for each level or toggle that crosses, and never two on the same bit.
//
// Constraint: rtl/constraints/spate_cdc_bit.xdc. The path to level_q[0] is no longer than a period of clk_i, so that
// bits side by side are seen at most one cycle apart. The user of a Gray code bounds it more closely.
`default_nettype none

module spate_cdc_bit (
    input  wire logic clk_i,
    input  wire logic level_i,
    output logic      level_o
);

  (* ASYNC_REG = "TRUE" *) logic [1:0] level_q;

  always_ff @(posedge clk_i) level_q <= {level_q[0], level_i};

  assign level_o = level_q[1];

endmodule

`default_nettype wire
