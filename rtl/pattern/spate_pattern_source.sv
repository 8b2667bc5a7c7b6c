// SPDX-License-Identifier: Apache-2.0
//
// For first light: a stream of known content (its formula is in spate_pattern_words.sv) at an adjustable rate, with
// counters that tell which side waited.
//
// Guarantee: after `start_i`, exactly `beats_i` beats of the pattern from its beginning, the last one marked; fewer
// after `stop_i`, but a beat that was shown is never withdrawn. At most `rate_i` of 256 cycles bring a new beat.
`default_nettype none

module spate_pattern_source #(
    parameter int unsigned DataWidth = 128,  // a multiple of 64
    parameter int unsigned CountWidth = 48  // of the counters
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic                  start_i,  // a pulse while `busy_o` is low: counters to zero, and begin
    input  wire logic                  stop_i,   // a pulse
    input  wire logic [          63:0] seed_i,
    input  wire logic [CountWidth-1:0] beats_i,  // at least 1
    input  wire logic [           8:0] rate_i,   // 256: a beat each cycle
    output logic                       busy_o,

    output logic                      data_valid_o,
    input  wire logic                 data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,

    output logic [CountWidth-1:0] beats_o,         // taken
    output logic [CountWidth-1:0] stall_cycles_o,  // cycles in which a beat was shown and not taken
    output logic [CountWidth-1:0] cycles_o         // from the first beat to the latest one
);

  logic [CountWidth-1:0] left_q;  // beats that were not taken yet
  logic start, taken, go;

  assign start = start_i && !busy_o;
  assign busy_o = left_q != '0;
  assign taken = data_valid_o && data_ready_i;
  assign data_last_o = left_q == CountWidth'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
      data_valid_o <= 1'b0;
    end else begin
      // A beat that is shown when it must stop is still delivered.
      if (start) left_q <= beats_i;
      else if (stop_i) left_q <= data_valid_o && !data_ready_i ? CountWidth'(1) : '0;
      else if (taken) left_q <= left_q - 1'b1;
      if (!data_valid_o || data_ready_i) data_valid_o <= go && busy_o && !stop_i && !(taken && data_last_o);
    end
  end

  spate_pattern_words #(
      .DataWidth(DataWidth)
  ) u_words (
      .clk_i,
      .start_i(start),
      .seed_i,
      .next_i(taken),
      .data_o
  );

  spate_pattern_rate #(
      .CountWidth(CountWidth)
  ) u_rate (
      .clk_i,
      .rst_ni,
      .start_i(start),
      .valid_i(data_valid_o),
      .ready_i(data_ready_i),
      .rate_i,
      .go_o(go),
      .beats_o,
      .beat_waits_o(stall_cycles_o),
      .taker_waits_o(),
      .cycles_o
  );

endmodule

`default_nettype wire
