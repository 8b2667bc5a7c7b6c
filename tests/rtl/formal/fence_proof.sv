// SPDX-License-Identifier: Apache-2.0
//
// spate_fence with an environment that answers its questions at any time. One arbitrary completion is followed: it
// leaves once, unchanged and in order, after the answer to a question that was asked when the completion had arrived.
// The fence may be reset at any time, and then drops what it holds. The number that may leave is compared with a count
// kept at the ports.
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

  localparam int unsigned CommandsMax = 5;  // as with slots: a power of two plus one

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
  logic was_there_q;  // it arrived a cycle earlier or before
  // A question is visible a cycle after it was asked: one that becomes visible as the completion arrives was asked
  // before.
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

  // The number of the oldest completions that the question covers, and that may leave: all that were inside when it was
  // asked.
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
      // a completion that may leave is shown as soon as it is the first, one that may not leave is never shown
      assert (completion_valid == (u_fence.first_valid_q && may_leave_q != '0));
      // a new question for later completions is asked as soon as the current one is answered
      if (u_fence.answered && !u_fence.asking_q && inside_q != may_leave_q) assert (u_fence.ask);
    end
    cover (past_reset_q && rst_ni && u_fence.granted && about_q == 3'd2 && may_leave_q == '0 && inside_q == 3'd3);
  end

  always_comb begin
    if (rst_ni && inside_q == 3'(CommandsMax)) assume (!completion_valid_i);
    if (past_reset_q && rst_ni) begin
      assert (completion_ready || inside_q == 3'(CommandsMax));  // there is room for all commands in flight
      assert (!completion_valid || inside_q != '0);  // nothing leaves that did not enter
      if (chosen_q && ahead_q == 3'd1 && leaves) begin
        assert (completion_out == {$bits(completion_t) {mark_q}});
        assert (replied_q);
      end
      cover (chosen_q && ahead_q == 3'd1 && leaves && inside_q == 3'd2);
    end
  end

endmodule
