// SPDX-License-Identifier: Apache-2.0
//
// spate_fence and spate_write_tap, each in its clock, connected as in a design.
module fence_top
  import spate_pkg::*;
#(
    parameter int unsigned CommandsMax = 65,
    parameter int unsigned IdWidth = 4,
    parameter int unsigned OutstandingBits = 6
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        in_valid,
    output logic        in_ready,
    input  logic [31:0] in_result,
    output logic        out_valid,
    input  logic        out_ready,
    output logic [31:0] out_result,

    input  logic               axi_clk,
    input  logic               axi_rst_n,
    input  logic               awvalid,
    input  logic               awready,
    input  logic [IdWidth-1:0] awid,
    input  logic               bvalid,
    input  logic               bready,
    input  logic [IdWidth-1:0] bid,
    output logic               idle,
    output logic               lost
);

  completion_t in_completion, out_completion;
  logic request, answer;

  assign in_completion = '{
          result: in_result,
          sq_head: in_result[15:0],
          cid: cid_t'(in_result[31:16]),
          status: in_result[14:0]
      };
  assign out_result = out_completion.result;

  always_ff @(posedge clk) begin
    if (rst_n && out_valid) begin
      assert (out_completion.sq_head == out_completion.result[15:0]);
      assert (out_completion.cid == cid_t'(out_completion.result[31:16]));
      assert (out_completion.status == out_completion.result[14:0]);
    end
  end

  spate_fence #(
      .CommandsMax(CommandsMax)
  ) u_fence (
      .clk_i(clk),
      .rst_ni(rst_n),
      .completion_valid_i(in_valid),
      .completion_ready_o(in_ready),
      .completion_i(in_completion),
      .completion_valid_o(out_valid),
      .completion_ready_i(out_ready),
      .completion_o(out_completion),
      .fence_request_o(request),
      .fence_answer_i(answer)
  );

  spate_write_tap #(
      .IdWidth(IdWidth),
      .OutstandingBits(OutstandingBits)
  ) u_tap (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .tap_awvalid_i(awvalid),
      .tap_awready_i(awready),
      .tap_awid_i(awid),
      .tap_bvalid_i(bvalid),
      .tap_bready_i(bready),
      .tap_bid_i(bid),
      .fence_request_i(request),
      .fence_answer_o(answer),
      .idle_o(idle),
      .lost_o(lost)
  );

endmodule
