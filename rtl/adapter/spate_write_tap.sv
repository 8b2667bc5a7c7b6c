// SPDX-License-Identifier: Apache-2.0
//
// Memory mode: watches the write channels of the bridge's master port, before the interconnect that separates the
// windows from the memory, and tells spate_fence when all writes accepted before its question have a response. It
// drives none of the channels. Writes to the windows pass here too and are counted like all others; the core answers
// them independently.
//
// Guarantee: `fence_answer_o` becomes equal to `fence_request_i` only after each write whose address was accepted
// before the question has its response. The answer may also wait for writes accepted during the first pass over the
// ids, up to 2^IdWidth + 4 cycles later. It comes at most 2 · 2^IdWidth + 3 cycles after that, or after the last
// response of all these writes if that is later. Responses of different ids may come in any order; AXI keeps those of
// one id in order. `idle_o` is high only while every accepted write has its response.
//
// For each id, LUTRAM holds two positions: the number of writes accepted, and the number of responses. A question walks
// over the ids. The first pass records the writes accepted; later passes compare the responses with that, until no id
// is behind. Each id is visited often enough that its position never wraps unnoticed.
//
// Contract: fewer than 2^OutstandingBits writes are without a response at a time. If there are more, or a response too
// many, `lost_o` rises until the next reset, no question is answered, and `idle_o` stays low. After a reset the tables
// are cleared for 2^IdWidth cycles; writes in that time have the same effect. A question from before a reset is
// answered after it: spate_fence must have been reset by then.
`default_nettype none

module spate_write_tap #(
    parameter int unsigned IdWidth = 4,
    parameter int unsigned OutstandingBits = 6
) (
    input wire logic clk_i,  // the bridge's
    input wire logic rst_ni,

    input wire logic               tap_awvalid_i,
    input wire logic               tap_awready_i,
    input wire logic [IdWidth-1:0] tap_awid_i,
    input wire logic               tap_bvalid_i,
    input wire logic               tap_bready_i,
    input wire logic [IdWidth-1:0] tap_bid_i,

    input  wire logic fence_request_i,
    output logic      fence_answer_o,
    output logic      idle_o,           // a level, from a flop
    output logic      lost_o            // likewise
);

  if (IdWidth < 1 || OutstandingBits <= IdWidth || OutstandingBits > 12) begin : gen_parameters
    $error("spate_write_tap: OutstandingBits must be above IdWidth, which is at least 1, and at most 12");
  end

  typedef logic [OutstandingBits:0] position_t;  // twice the range, so that the sign of a difference is known

  position_t accepted[2**IdWidth];
  position_t answered[2**IdWidth];
  position_t target[2**IdWidth];

  // The channels, a cycle late, so that nothing here is in the bridge's paths.
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

  // ---- the total of all ids ----

  logic [OutstandingBits-1:0] outstanding_q;
  logic lost_q, idle_q;

  assign lost_o = lost_q;
  assign idle_o = idle_q;

  always_ff @(posedge clk_i) begin
    idle_q <= rst_ni && !clearing_q && !lost_q && outstanding_q == '0 && !aw_q && !tap_awvalid_i;
    if (!rst_ni) begin
      outstanding_q <= '0;
      lost_q <= 1'b0;
    end else begin
      outstanding_q <= outstanding_q + OutstandingBits'(aw_q) - OutstandingBits'(b_q);
      if (aw_q && (clearing_q || (outstanding_q == '1 && !b_q))) lost_q <= 1'b1;
      if (b_q && !aw_q && outstanding_q == '0) lost_q <= 1'b1;
    end
  end

  // ---- the question ----

  logic request, answer_q;
  logic asking_q, noting_q;  // a question is open; its first pass
  logic behind_q;  // the pass found an id with writes that have no response
  logic passed_q;  // a pass has ended, a cycle ago
  logic [OutstandingBits:0] missing;
  logic behind, last_id, done;

  spate_cdc_bit u_request (
      .clk_i,
      .level_i(fence_request_i),
      .level_o(request)
  );

  // A signed number: above 0 while responses are missing. The target of an id that is not behind follows its responses,
  // so it stays within one pass of them.
  assign missing = target[walk_q] - answered[walk_q];
  assign behind = noting_q || (missing != '0 && !missing[OutstandingBits]);
  assign last_id = &walk_q;
  // Often no write at all is without a response: then no id needs to be visited.
  assign done = asking_q && !lost_q && ((passed_q && !behind_q) || (outstanding_q == '0 && !aw_q));
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
      passed_q <= 1'b0;
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
      behind_q <= behind || (behind_q && walk_q != '0);
      noting_q <= noting_q && !last_id;
      passed_q <= last_id && !done;
      asking_q <= !done;
    end
  end

  // Not reset: the fence must not see an answer that was not given. The initial value is for simulators with X.
  initial answer_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (rst_ni && done) answer_q <= request;
  end

endmodule

`default_nettype wire
