// SPDX-License-Identifier: Apache-2.0
//
// Makes a reset for one clock domain from a reset that comes at any time, also while the clock is stopped.
//
// Guarantee: rst_no falls at once when rst_ni does, and rises with the second edge of clk_i after rst_ni has risen. So
// a reset during which a stopped clock had no edge is still active when the clock returns.
//
// Constraint: rtl/constraints/spate_cdc_reset.xdc. The path to the flip-flops' clear is a false path.
`default_nettype none

module spate_cdc_reset (
    input  wire logic clk_i,
    input  wire logic rst_ni,  // asynchronous
    output logic      rst_no
);

  (* ASYNC_REG = "TRUE" *) logic [1:0] released_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) released_q <= '0;
    else released_q <= {released_q[0], 1'b1};
  end

  assign rst_no = released_q[1];

endmodule

`default_nettype wire
