// SPDX-License-Identifier: Apache-2.0
//
// Time: a pulse every microsecond, every millisecond, and every four milliseconds.
`default_nettype none

module spate_ticks #(
    parameter int unsigned ClockHz = 250_000_000,  // frequency of clk_i; whole megahertz
    parameter int unsigned UsPerMs = 1000  // 2 … 1000. Testbenches shorten the waits of bring-up with less
) (
    input  wire logic clk_i,
    input  wire logic rst_ni,
    output logic      us_tick_o,
    output logic      ms_tick_o,
    output logic      retry_tick_o
);

  localparam int unsigned Cycles = ClockHz / 1_000_000;
  localparam int unsigned CyclesBits = Cycles > 1 ? $clog2(Cycles) : 1;

  if (Cycles < 1 || Cycles * 1_000_000 != ClockHz) begin : gen_check
    $error("spate_ticks: ClockHz must be whole megahertz");
  end
  if (UsPerMs < 2 || UsPerMs > 1000) begin : gen_check_us
    $error("spate_ticks: UsPerMs must be 2 to 1000");
  end

  logic [CyclesBits-1:0] cycles_q;
  logic [9:0] us_q;
  logic [1:0] ms_q;
  logic us, ms;
  assign us = cycles_q == CyclesBits'(Cycles - 1);
  assign ms = us && us_q == 10'(UsPerMs - 1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycles_q <= '0;
      us_q <= '0;
      ms_q <= '0;
      {us_tick_o, ms_tick_o, retry_tick_o} <= '0;
    end else begin
      cycles_q <= us ? '0 : cycles_q + 1'b1;
      if (us) us_q <= ms ? '0 : us_q + 1'b1;
      if (ms) ms_q <= ms_q + 1'b1;
      us_tick_o <= us;
      ms_tick_o <= ms;
      retry_tick_o <= ms && ms_q == '1;
    end
  end

`ifdef FORMAL
  // A counter of all cycles, beside the three counters: a pulse comes exactly at the multiples of its time.
  localparam int unsigned Period = 4 * UsPerMs * Cycles;
  logic past_reset_q = 1'b0, began_q;  // began_q: at least one cycle has passed since the reset
  logic [31:0] total_q;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    began_q <= rst_ni;
    total_q <= !rst_ni || total_q == Period - 1 ? '0 : total_q + 32'd1;
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (32'(cycles_q) < Cycles && 32'(us_q) < UsPerMs);
      assert (total_q == (32'(ms_q) * UsPerMs + 32'(us_q)) * Cycles + 32'(cycles_q));
      assert (us_tick_o == (began_q && cycles_q == '0));
      assert (ms_tick_o == (us_tick_o && us_q == '0));
      assert (retry_tick_o == (ms_tick_o && ms_q == '0));
      cover (us_tick_o && total_q != '0);
    end
  end
`endif

endmodule

`default_nettype wire
