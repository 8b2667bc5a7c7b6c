// SPDX-License-Identifier: Apache-2.0
//
// Memory mode: watches the write channels of the bridge's master port, before the interconnect that parts the windows
// from the memory, and tells spate_fence when all writes accepted before its question are answered. It drives none of
// them. Writes to the windows pass here and are counted like all others: the core answers them by itself.
//
// Guarantee: `fence_answer_o` becomes equal to `fence_request_i` only after each write whose address had been accepted
// when the question was put has its response. Those accepted while the ids are gone over for the first time, up to
// 2^IdWidth + 4 cycles later, may be waited for too. At most 2 · 2^IdWidth + 3 cycles after that, or after the last
// response of all these if it is later, the answer is there. Responses of different ids may come in any order; AXI keeps
// those of one id in order. `idle_o` is high only while no accepted write is without its response.
//
// Two positions are kept for each id, in LUTRAM: how many writes were accepted, and how many answered. A question walks
// over the ids: the first time round it notes what was accepted, then it looks whether that many are answered, until all
// are. Each id is looked at often enough that a position is never taken for one a turn of the counter away.
//
// Contract: fewer than 2^UnansweredBits writes are unanswered at a time. Otherwise, or when there is a response too many,
// `lost_o` rises until the next reset, no question is answered, and `idle_o` stays low. The tables take 2^IdWidth cycles
// from the reset on to clear; writes in that time have the same effect. A question from before a reset is answered after
// it: spate_fence must have been told to forget by then.
module spate_write_tap #(
    parameter int unsigned IdWidth = 4,
    parameter int unsigned UnansweredBits = 6
) (
    input logic clk_i,  // the bridge's
    input logic rst_ni,

    input logic               tap_awvalid_i,
    input logic               tap_awready_i,
    input logic [IdWidth-1:0] tap_awid_i,
    input logic               tap_bvalid_i,
    input logic               tap_bready_i,
    input logic [IdWidth-1:0] tap_bid_i,

    input  logic fence_request_i,
    output logic fence_answer_o,
    output logic idle_o,           // a level, from a flop
    output logic lost_o            // likewise
);

  if (IdWidth < 1 || UnansweredBits <= IdWidth || UnansweredBits > 12) begin : gen_parameters
    $error("spate_write_tap: UnansweredBits must be above IdWidth, which is at least 1, and at most 12");
  end

  typedef logic [UnansweredBits:0] position_t;  // differences of up to half its range are told apart

  position_t accepted[2**IdWidth];
  position_t answered[2**IdWidth];
  position_t target[2**IdWidth];

  // What happened, a cycle late, so that nothing here is in the bridge's paths.
  logic aw_q, b_q;
  logic [IdWidth-1:0] aw_id_q, b_id_q;

  always_ff @(posedge clk_i) begin
    aw_id_q <= tap_awid_i;
    b_id_q <= tap_bid_i;
    aw_q <= rst_ni && tap_awvalid_i && tap_awready_i;
    b_q <= rst_ni && tap_bvalid_i && tap_bready_i;
  end

  // ---- positions ----

  logic clearing_q;
  logic [IdWidth-1:0] walk_q, aw_index, b_index;

  assign aw_index = clearing_q ? walk_q : aw_id_q;
  assign b_index = clearing_q ? walk_q : b_id_q;

  always_ff @(posedge clk_i) begin
    if (clearing_q || aw_q) accepted[aw_index] <= clearing_q ? '0 : accepted[aw_index] + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (clearing_q || b_q) answered[b_index] <= clearing_q ? '0 : answered[b_index] + 1'b1;
  end

  // ---- all together ----

  logic [UnansweredBits-1:0] unanswered_q;
  logic lost_q, idle_q;

  assign lost_o = lost_q;
  assign idle_o = idle_q;

  always_ff @(posedge clk_i) begin
    idle_q <= rst_ni && !clearing_q && !lost_q && unanswered_q == '0 && !aw_q && !tap_awvalid_i;
    if (!rst_ni) begin
      unanswered_q <= '0;
      lost_q <= 1'b0;
    end else begin
      unanswered_q <= unanswered_q + UnansweredBits'(aw_q) - UnansweredBits'(b_q);
      if (aw_q && (clearing_q || (unanswered_q == '1 && !b_q))) lost_q <= 1'b1;
      if (b_q && !aw_q && unanswered_q == '0) lost_q <= 1'b1;
    end
  end

  // ---- the question ----

  logic request, answer_q;
  logic asking_q, noting_q;  // a question is out; it is the first time round
  logic behind_q;  // an id was found, this time round, whose writes are not all answered
  logic [UnansweredBits:0] missing;
  logic behind, last_id, done;

  spate_cdc_bit u_request (
      .clk_i,
      .level_i(fence_request_i),
      .level_o(request)
  );

  // In two's complement: above 0 while writes are missing. A target that was reached stays behind by at least one round
  // of ids, and is moved along then.
  assign missing = target[walk_q] - answered[walk_q];
  assign behind = noting_q || (missing != '0 && !missing[UnansweredBits]);
  assign last_id = &walk_q;
  // Often nothing is unanswered at all: then no id needs to be looked at.
  assign done = asking_q && !lost_q && ((last_id && !behind_q && !behind) || (unanswered_q == '0 && !aw_q));
  assign fence_answer_o = answer_q;

  always_ff @(posedge clk_i) begin
    if (noting_q) target[walk_q] <= accepted[walk_q];
    else if (asking_q && !behind) target[walk_q] <= answered[walk_q];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q <= 1'b1;
      asking_q <= 1'b0;
      noting_q <= 1'b0;
      walk_q <= '0;
    end else if (clearing_q) begin
      walk_q <= walk_q + 1'b1;
      clearing_q <= !last_id;
    end else if (!asking_q) begin
      asking_q <= request != answer_q && !lost_q;
      noting_q <= request != answer_q && !lost_q;
      walk_q <= '0;
    end else begin
      walk_q <= walk_q + 1'b1;
      behind_q <= !last_id && (behind_q || behind);
      noting_q <= noting_q && !last_id;
      asking_q <= !done;
    end
  end

  // No reset: the other end must not see an answer that nobody gave. The first value is for simulators that know of X.
  initial answer_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (rst_ni && done) answer_q <= request;
  end

endmodule
