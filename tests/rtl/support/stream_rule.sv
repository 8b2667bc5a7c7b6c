// SPDX-License-Identifier: Apache-2.0
//
// The rule of every valid/ready channel, for testbenches and proofs: an output does not change until it is taken.
module stream_rule #(
    parameter int unsigned Width = 1
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic             ready_i,
    input logic [Width-1:0] payload_i
);

  logic waiting_q = 1'b0;
  logic [Width-1:0] payload_q;

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid_i && !ready_i;
    payload_q <= payload_i;
    if (rst_ni && waiting_q) begin
      assert (valid_i);
      assert (payload_i == payload_q);
    end
  end

endmodule
