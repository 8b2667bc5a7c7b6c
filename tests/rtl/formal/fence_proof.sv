// SPDX-License-Identifier: Apache-2.0
//
// spate_fence with whoever answers its questions, whenever he likes. One completion is chosen, any of them: it leaves
// once, unchanged and in its place, after the answer to a question that was put when it had arrived. The fence may be
// reset at any time, and then forgets. How many may leave is compared with a count that is kept from the ports.
module fence_proof
  import spate_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic completion_valid_i,
    input logic completion_ready_i,
    input logic mark_i,
    input logic choose_i,
    input logic reply_i
);

  localparam int unsigned CommandsMax = 5;  // as with slots: one more than a power of two

  logic completion_ready, completion_valid, request, answer_q;
  completion_t completion, completion_out;

  assign completion = {$bits(completion_t) {mark_i}};

  spate_fence #(
      .CommandsMax(CommandsMax)
  ) u_fence (
      .clk_i,
      .rst_ni,
      .completion_valid_i,
      .completion_ready_o(completion_ready),
      .completion_i(completion),
      .completion_valid_o(completion_valid),
      .completion_ready_i,
      .completion_o(completion_out),
      .fence_request_o(request),
      .fence_answer_i(answer_q)
  );

  initial answer_q = 1'b0;
  always_ff @(posedge clk_i) if (reply_i) answer_q <= request;

  logic past_reset_q = 1'b0;
  logic arrives, leaves;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb if (!past_reset_q) assume (!rst_ni);
  assign arrives = completion_valid_i && completion_ready;
  assign leaves = completion_valid && completion_ready_i;

  logic [2:0] inside_q, ahead_q;
  logic chosen_q, mark_q, asked, asked_q, replied_q, request_before_q;
  logic was_there_q;  // it had arrived in the cycle before
  // A question is seen a cycle after it was put: one that is seen as the completion arrives was put before.
  assign asked = asked_q || (was_there_q && request != request_before_q);
  always_ff @(posedge clk_i) begin
    request_before_q <= request;
    if (!rst_ni) begin
      inside_q <= '0;
      ahead_q <= '0;
      {chosen_q, asked_q, replied_q} <= '0;
    end else begin
      inside_q <= inside_q + 3'(arrives) - 3'(leaves);
      if (arrives && choose_i && !chosen_q) begin
        chosen_q <= 1'b1;
        ahead_q <= inside_q + 3'd1 - 3'(leaves);
        mark_q <= mark_i;
      end else if (chosen_q && ahead_q != '0) begin
        ahead_q <= ahead_q - 3'(leaves);
        asked_q <= asked;
        replied_q <= replied_q || (asked && reply_i);
      end
    end
  end
  always_ff @(posedge clk_i) was_there_q <= rst_ni && chosen_q;

  // The oldest ones that the question is about, and those that may leave: all that were inside when it was put.
  logic [2:0] about_q, may_leave_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      about_q <= '0;
      may_leave_q <= '0;
    end else begin
      about_q <= (u_fence.ask ? inside_q : about_q) - 3'(leaves);
      may_leave_q <= (u_fence.granted ? about_q : may_leave_q) - 3'(leaves);
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (3'(u_fence.waiting) == inside_q);
      assert (3'(u_fence.free_q) == may_leave_q && may_leave_q <= inside_q);
      // what may leave is shown, as soon as it stands at the front; what may not never is
      assert (completion_valid == (u_fence.first_valid_q && may_leave_q != '0));
      // what came after a question is asked about as soon as it is answered
      if (u_fence.answered && !u_fence.asking_q && inside_q != may_leave_q) assert (u_fence.ask);
    end
    cover (past_reset_q && rst_ni && u_fence.granted && about_q == 3'd2 && may_leave_q == '0 && inside_q == 3'd3);
  end

  always_comb begin
    if (rst_ni && inside_q == 3'(CommandsMax)) assume (!completion_valid_i);
    if (past_reset_q && rst_ni) begin
      assert (completion_ready || inside_q == 3'(CommandsMax));  // there is room for all that can be in flight
      assert (!completion_valid || inside_q != '0);  // nothing comes out that did not go in
      if (chosen_q && ahead_q == 3'd1 && leaves) begin
        assert (completion_out == {$bits(completion_t) {mark_q}});
        assert (replied_q);
      end
      cover (chosen_q && ahead_q == 3'd1 && leaves && inside_q == 3'd2);
    end
  end

endmodule
