// SPDX-License-Identifier: Apache-2.0
//
// Brings one bit from another clock domain: two flops.
//
// Guarantee: a level that lasts longer than two cycles of clk_i is seen, two or three cycles after it came. There is no
// reset: the output follows the input. Put one on each level or toggle that crosses, and never two on the same bit.
//
// Constraints: set_false_path -to [get_pins -hier *spate_cdc_bit*/level_q_reg[0]/D], or set_max_delay -datapath_only.
module spate_cdc_bit (
    input  logic clk_i,
    input  logic level_i,
    output logic level_o
);

  (* ASYNC_REG = "TRUE" *) logic [1:0] level_q;

  always_ff @(posedge clk_i) level_q <= {level_q[0], level_i};

  assign level_o = level_q[1];

endmodule
