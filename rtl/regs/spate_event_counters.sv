// SPDX-License-Identifier: Apache-2.0
//
// Sixteen counters of 32 bits in LUTRAM that share one adder. In each cycle one counter adds the events that it got
// since its last turn, and is written in the next cycle, so a count is at most 17 cycles late.
//
// Guarantee: no event is missed, even when all inputs are high in each cycle. All counts are 0 at most 17 cycles after
// the end of reset; until then they must not be read, and events are not counted.
`default_nettype none

module spate_event_counters (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic [15:0] event_i,   // one event for each cycle in which the bit is high
    input  wire logic [ 3:0] select_i,
    output logic      [31:0] count_o,   // of the selected counter, in the same cycle
    output logic             ready_o
);

  logic [31:0] counts[16];
  logic [3:0] turn_q;
  logic [4:0] waiting_q[16];  // events of a counter since its last turn, 16 cycles ago
  logic ready_q;

  // A counter is read in its turn, and written in the cycle after it.
  logic [31:0] count_q;
  logic [4:0] amount_q;
  logic [3:0] written_q;
  logic adds_q;  // otherwise the counter is cleared

  assign ready_o = adds_q;
  assign count_o = counts[select_i];

  always_ff @(posedge clk_i) begin
    count_q <= counts[turn_q];
    amount_q <= waiting_q[turn_q];
    written_q <= turn_q;
    adds_q <= rst_ni && ready_q;
    counts[written_q] <= adds_q ? count_q + 32'(amount_q) : '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= '0;
      ready_q <= 1'b0;
    end else begin
      turn_q <= turn_q + 1'b1;
      ready_q <= ready_q || turn_q == 4'd15;
    end
  end

  for (genvar i = 0; i < 16; i++) begin : gen_waiting
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !ready_q) waiting_q[i] <= '0;
      else if (turn_q == 4'(i)) waiting_q[i] <= 5'(event_i[i]);
      else waiting_q[i] <= waiting_q[i] + 5'(event_i[i]);
    end
  end

`ifdef FORMAL
  // One arbitrary counter. Its value and the events that wait for its turn are together all its events. No simulation
  // reaches the high bits. Resets come at any time.
  (* anyconst *) logic [3:0] chosen;
  logic past_reset_q = 1'b0;  // there was a reset
  logic past_q = 1'b0, was_in_reset_q, was_ready_q, was_adding_q, event_before_q;
  logic [3:0] turn_before_q, since_turn;
  logic [31:0] events, events_before_q;

  assign events = counts[chosen] + 32'(waiting_q[chosen]) + (adds_q && written_q == chosen ? 32'(amount_q) : 32'd0);
  assign since_turn = turn_q - chosen - 4'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) past_reset_q <= 1'b1;
    past_q <= 1'b1;
    was_in_reset_q <= !rst_ni;
    was_ready_q <= ready_q;
    was_adding_q <= adds_q;
    turn_before_q <= turn_q;
    event_before_q <= event_i[chosen];
    events_before_q <= events;
  end

  always_comb begin
    if (select_i == chosen) assert (count_o == counts[chosen]);
    if (past_reset_q) begin
      if (written_q == chosen && adds_q) assert (count_q == counts[chosen]);
      assert (!adds_q || ready_q);
      if (ready_q && !adds_q) assert (turn_q == '0 && written_q == '1);
      assert (32'(waiting_q[chosen]) <= 32'(since_turn) + 32'd1);
      if (!ready_q) assert (waiting_q[chosen] == '0 && (5'(chosen) + 5'd1 >= 5'(turn_q) || counts[chosen] == '0));
    end
    if (past_q) begin
      if (was_in_reset_q)
        assert (turn_q == '0 && !ready_q);
        else assert (turn_q == turn_before_q + 4'd1 && ready_q == (was_ready_q || turn_before_q == '1));
    end
    if (past_q && past_reset_q && !was_in_reset_q && ready_o) begin
      if (was_adding_q)
        assert (events == events_before_q + 32'(event_before_q));
        else assert (events == 32'(waiting_q[chosen]) && events <= 32'd1);
    end
    if (past_q && was_adding_q && !was_in_reset_q) cover (events_before_q == '1 && events == '0);
  end
`endif

endmodule

`default_nettype wire
