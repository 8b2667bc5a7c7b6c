// SPDX-License-Identifier: Apache-2.0
//
// The rule of a stream into the hard block: an output does not change until it is taken, and a packet that began
// continues without a pause.
module packet_rule #(
    parameter int unsigned Width = 1
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic             ready_i,
    input logic             last_i,
    input logic [Width-1:0] payload_i
);

  stream_rule #(
      .Width(Width + 1)
  ) u_stream (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_i,
      .payload_i({payload_i, last_i})
  );

  logic inside_q = 1'b0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
    end else begin
      if (valid_i && ready_i) inside_q <= !last_i;
      assert (!inside_q || valid_i);
    end
  end

endmodule
