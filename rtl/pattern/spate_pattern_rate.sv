// SPDX-License-Identifier: Apache-2.0
//
// Watches a stream and counts, for rates: beats, cycles in which a beat waited to be taken, cycles in which the taker
// waited for a beat, and cycles from the first beat to the last one, both of them included: beats_o / cycles_o of a beat
// per clock is the rate. All are zero after `start_i`, and stand still at their end instead of beginning again.
//
// It also paces: `go_o` is high in rate_i of 256 cycles, evenly spread.
module spate_pattern_rate #(
    parameter int unsigned CountWidth = 48  // 2^48 beats of 16 bytes are 4.5 PB
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic valid_i,
    input logic ready_i,

    input  logic [8:0] rate_i,  // 0 ... 256
    output logic       go_o,

    output logic [CountWidth-1:0] beats_o,
    output logic [CountWidth-1:0] beat_waits_o,   // cycles
    output logic [CountWidth-1:0] taker_waits_o,
    output logic [CountWidth-1:0] cycles_o
);

  logic [8:0] pace_q;
  logic [CountWidth-1:0] since_q;  // cycles that are over since the first beat
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

endmodule
