// SPDX-License-Identifier: Apache-2.0
//
// spate_cdc_reset with a clock that runs and stops at any time, and a reset that comes and ends at any time.
module cdc_reset_proof (
    input logic clk,
    input logic rst_n
);

  logic released;

  spate_cdc_reset u_reset (
      .clk_i(clk),
      .rst_ni(rst_n),
      .rst_no(released)
  );

  // The edges of the clock since the end of the last reset, up to 2. It begins in reset.
  logic [1:0] edges_q = '0;
  logic begun_q = 1'b0;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) edges_q <= '0;
    else if (edges_q != 2'd2) edges_q <= edges_q + 1'b1;
  end
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begun_q <= 1'b1;
    else begun_q <= begun_q;
  end
  always_comb begin
    if (!begun_q) assume (!rst_n);
    if (begun_q) assert (released == (rst_n && edges_q == 2'd2));
    cover (begun_q && released);
    cover (begun_q && rst_n && edges_q == 2'd1);
  end

endmodule
