// SPDX-License-Identifier: Apache-2.0
//
// Counts for the rate of a stream: beats, cycles in which a beat waited to be taken, cycles in which the receiver
// waited for a beat, and cycles from the first beat to the last one, both included. The rate is beats_o / cycles_o
// beats per clock. `start_i` clears all counters. They stop at their maximum instead of wrapping.
//
// It also limits the rate: `go_o` is high in rate_i of 256 cycles, evenly spread.
`default_nettype none

module spate_pattern_rate #(
    parameter int unsigned CountWidth = 48  // 2^48 beats of 16 bytes are 4.5 PB
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic start_i,
    input wire logic valid_i,
    input wire logic ready_i,

    input  wire logic [8:0] rate_i,  // 0 ... 256
    output logic            go_o,

    output logic [CountWidth-1:0] beats_o,
    output logic [CountWidth-1:0] beat_waits_o,   // cycles
    output logic [CountWidth-1:0] taker_waits_o,
    output logic [CountWidth-1:0] cycles_o
);

  logic [8:0] pace_q;
  logic [CountWidth-1:0] since_q;  // completed cycles since the first beat
  logic beat;

  assign beat = valid_i && ready_i;
  assign go_o = pace_q[8];

  function automatic logic [CountWidth-1:0] more(logic [CountWidth-1:0] count);
    return count == '1 ? count : count + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) pace_q <= '0;
    else pace_q <= {1'b0, pace_q[7:0]} + rate_i;

    if (!rst_ni || start_i) begin
      beats_o <= '0;
      beat_waits_o <= '0;
      taker_waits_o <= '0;
      cycles_o <= '0;
      since_q <= '0;
    end else begin
      if (beat) beats_o <= more(beats_o);
      if (valid_i && !ready_i) beat_waits_o <= more(beat_waits_o);
      if (!valid_i && ready_i) taker_waits_o <= more(taker_waits_o);
      if (beat) cycles_o <= more(since_q);
      if (beat || since_q != '0) since_q <= more(since_q);
    end
  end

`ifdef FORMAL
  // One cycle from any state, because no simulation counts to the end of a counter.
  logic past_q = 1'b0;
  logic was_cleared_q, was_in_reset_q, was_beat_q, was_beat_waits_q, was_taker_waits_q;
  logic [8:0] rate_q;
  logic [8:0] pace_before_q;
  logic [CountWidth-1:0] beats_before_q, beat_waits_before_q, taker_waits_before_q, cycles_before_q, since_before_q;

  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    was_in_reset_q <= !rst_ni;
    was_cleared_q <= !rst_ni || start_i;
    was_beat_q <= valid_i && ready_i;
    was_beat_waits_q <= valid_i && !ready_i;
    was_taker_waits_q <= !valid_i && ready_i;
    rate_q <= rate_i;
    pace_before_q <= pace_q;
    beats_before_q <= beats_o;
    beat_waits_before_q <= beat_waits_o;
    taker_waits_before_q <= taker_waits_o;
    cycles_before_q <= cycles_o;
    since_before_q <= since_q;
  end

  always_comb begin
    if (past_q) begin
      if (was_in_reset_q)
        assert (pace_q == '0);
        else assert (pace_q == (pace_before_q & 9'd255) + rate_q);
      assert (go_o == (pace_q > 9'd255));
      if (was_cleared_q) begin
        assert ({beats_o, beat_waits_o, taker_waits_o, cycles_o, since_q} == '0);
      end else begin
        assert (beats_o == beats_before_q + CountWidth'(was_beat_q && ~beats_before_q != '0));
        assert (beat_waits_o == beat_waits_before_q + CountWidth'(was_beat_waits_q && ~beat_waits_before_q != '0));
        assert (taker_waits_o == taker_waits_before_q + CountWidth'(was_taker_waits_q && ~taker_waits_before_q != '0));
        assert (since_q == since_before_q + CountWidth'((was_beat_q || since_before_q != '0) && ~since_before_q != '0));
        if (was_beat_q)
          assert (cycles_o == since_q);
          else assert (cycles_o == cycles_before_q);
      end
    end
  end
`endif

endmodule

`default_nettype wire
