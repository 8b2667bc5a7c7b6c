// SPDX-License-Identifier: Apache-2.0
//
// spate_write_tap on a bus that keeps AXI's rules and is otherwise arbitrary, including more writes than the tap can
// count, and a fence that asks whenever it may. For each id, the proof counts the unanswered writes, and those of them
// that the question covers.
module write_tap_proof #(
    parameter int unsigned IdWidth = 1,
    parameter int unsigned OutstandingBits = 2
) (
    input logic               clk_i,
    input logic               rst_ni,
    input logic               awvalid_i,
    input logic               awready_i,
    input logic [IdWidth-1:0] awid_i,
    input logic               bvalid_i,
    input logic               bready_i,
    input logic [IdWidth-1:0] bid_i,
    input logic               ask_i
);

  localparam int unsigned Ids = 2 ** IdWidth;

  logic request_q, answer, idle, lost;

  spate_write_tap #(
      .IdWidth(IdWidth),
      .OutstandingBits(OutstandingBits)
  ) u_tap (
      .clk_i,
      .rst_ni,
      .tap_awvalid_i(awvalid_i),
      .tap_awready_i(awready_i),
      .tap_awid_i(awid_i),
      .tap_bvalid_i(bvalid_i),
      .tap_bready_i(bready_i),
      .tap_bid_i(bid_i),
      .fence_request_i(request_q),
      .fence_answer_o(answer),
      .idle_o(idle),
      .lost_o(lost)
  );

  typedef logic [OutstandingBits+IdWidth+1:0] count_t;

  logic past_reset_q = 1'b0;
  logic answer_past_q, lost_past_q, too_many_q;
  count_t open_q[Ids], open_d[Ids], asked_q[Ids];  // unanswered writes; of these, those accepted before the question
  count_t waited_q[Ids];  // likewise, including those accepted before the end of the first pass
  count_t open_all, asked_all, waited_all;
  logic noted;
  logic [7:0] free_cycles_q;  // cycles since then in which none of these was unanswered
  logic [Ids-1:0] answered;
  logic [2:0] answers_q;

  always_comb begin
    open_all = '0;
    asked_all = '0;
    waited_all = '0;
    for (int unsigned id = 0; id < Ids; id++) begin
      answered[id] = bvalid_i && bready_i && bid_i == IdWidth'(id);
      open_d[id] = open_q[id] + count_t'(awvalid_i && awready_i && awid_i == IdWidth'(id)) - count_t'(answered[id]);
      open_all += open_q[id];
      asked_all += asked_q[id];
      waited_all += waited_q[id];
    end
    assume (rst_ni == past_reset_q);
    assume (!bvalid_i || open_q[bid_i] != '0);
    assume (!awvalid_i || open_all < count_t'(2 ** OutstandingBits + 1));
  end

  // What the tap knows of each id: accepted writes without a response, events of the last cycle, how far its target is
  // ahead, and the cycles since its last visit.
  typedef logic signed [OutstandingBits+1:0] signed_t;
  logic [OutstandingBits:0] position[Ids];
  logic signed [OutstandingBits:0] ahead[Ids];
  signed_t missing[Ids];
  logic [Ids-1:0] accepting, answering;
  logic [IdWidth:0] since[Ids];
  count_t positions;
  always_comb begin
    positions = '0;
    for (int unsigned id = 0; id < Ids; id++) begin
      position[id] = u_tap.accepted[id] - u_tap.answered[id];
      positions += count_t'(position[id]);
      accepting[id] = u_tap.aw_q && u_tap.aw_id_q == IdWidth'(id);
      answering[id] = u_tap.b_q && u_tap.b_id_q == IdWidth'(id);
      ahead[id] = u_tap.target[id] - u_tap.answered[id];
      missing[id] = signed_t'(ahead[id]);
      since[id] = {1'b0, IdWidth'(u_tap.walk_q - IdWidth'(id))};
      if (since[id] == '0) since[id] = (IdWidth + 1)'(Ids);
    end
  end

  assign noted = u_tap.asking_q && !u_tap.noting_q;

  initial request_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    answer_past_q <= answer;
    lost_past_q <= rst_ni && lost;
    if (rst_ni && ask_i && request_q == answer) request_q <= !request_q;
    for (int unsigned id = 0; id < Ids; id++) begin
      open_q[id] <= rst_ni ? open_d[id] : '0;
      asked_q[id] <= !rst_ni ? '0 : request_q == answer ? open_d[id] : asked_q[id] - count_t'(answered[id] && asked_q[id] != '0);
      waited_q[id] <= !rst_ni ? '0 : !noted ? open_d[id] : waited_q[id] - count_t'(answered[id] && waited_q[id] != '0);
    end
    free_cycles_q <= rst_ni && noted && waited_all == '0 && !lost ? free_cycles_q + 8'd1 : 8'd0;
    if (!rst_ni) too_many_q <= 1'b0;
    else if (open_all > count_t'(2 ** OutstandingBits)) too_many_q <= 1'b1;
    if (!rst_ni) answers_q <= '0;
    else if (answer != answer_past_q) answers_q <= answers_q + 3'd1;
  end

  // Until a pass that finds nothing has ended, if all responses are there.
  logic [7:0] cycles_left;
  always_comb begin
    cycles_left = 8'(Ids) - 8'(u_tap.walk_q);
    if (u_tap.behind_q && u_tap.walk_q != '0) cycles_left += 8'(Ids);
    if (u_tap.passed_q && !u_tap.behind_q) cycles_left = 8'd0;
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // The answer comes only after the responses of the writes that the question covers, and then soon.
      if (answer != answer_past_q) assert (answer == request_q && asked_all == '0 && !lost_past_q);
      assert (free_cycles_q <= 8'(2 * Ids + 2));
      assert (!idle || (open_all == '0 && !lost));
      if (lost_past_q) assert (lost);
      assert (lost || !too_many_q);

      // Invariants for the induction: positions equal the unanswered writes, except for events of the last cycle. A
      // target is ahead of the responses by at least the number for which the question still waits, and never behind by
      // more than one pass.
      assert (count_t'(u_tap.outstanding_q) == positions || lost || u_tap.clearing_q);
      assert (open_all <= count_t'(2 ** OutstandingBits + 1));
      for (int unsigned id = 0; id < Ids; id++) begin
        assert (asked_q[id] <= open_q[id] && waited_q[id] <= open_q[id] && open_q[id] <= count_t'(2 ** OutstandingBits + 1));
        if (!lost && !u_tap.clearing_q) begin
          assert (count_t'(position[id]) + count_t'(accepting[id]) == open_q[id] + count_t'(answering[id]));
          if (u_tap.asking_q && (!u_tap.noting_q || IdWidth'(id) < u_tap.walk_q)) begin
            assert (missing[id] >= -signed_t'(since[id]) && missing[id] <= signed_t'(2 ** OutstandingBits));
            assert (asked_q[id] == '0 || signed_t'(asked_q[id]) + signed_t'(answering[id]) <= missing[id]);
            assert (missing[id] <= signed_t'(waited_q[id]) + signed_t'(answering[id]));
            if (!u_tap.noting_q && !u_tap.behind_q && (u_tap.passed_q || IdWidth'(id) < u_tap.walk_q))
              assert (asked_q[id] == '0);
          end
        end
        if (u_tap.clearing_q && !lost) assert (open_q[id] == count_t'(accepting[id]));
        if (u_tap.clearing_q && IdWidth'(id) < u_tap.walk_q)
          assert (u_tap.accepted[id] == '0 && u_tap.answered[id] == '0);
      end
      if (free_cycles_q != '0 && noted) assert (free_cycles_q + cycles_left <= 8'(2 * Ids + 1));
      if (u_tap.clearing_q) assert (!u_tap.asking_q && (lost || (u_tap.outstanding_q == '0 && !u_tap.b_q)));
      if (u_tap.asking_q) assert (request_q != answer && u_tap.request == request_q);
      if (u_tap.request == answer) assert (!u_tap.asking_q);
      if (u_tap.passed_q) assert (u_tap.asking_q && !u_tap.noting_q && u_tap.walk_q == '0);
      if (u_tap.asking_q && !u_tap.noting_q && u_tap.walk_q == '0) assert (u_tap.passed_q);
      if (u_tap.asking_q && u_tap.noting_q && u_tap.walk_q != '0) assert (u_tap.behind_q);

      cover (answers_q == 3'd2 && answer != answer_past_q && open_all != '0);
      cover (lost && request_q != answer);
    end
  end

endmodule
