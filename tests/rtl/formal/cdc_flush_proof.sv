// SPDX-License-Identifier: Apache-2.0
//
// spate_cdc_flush between two clocks that run, stop and are reset at any time.
module cdc_flush_proof (
    input logic a_clk,
    input logic a_rst_n,
    input logic a_stop,
    input logic a_idle,
    input logic b_clk,
    input logic b_rst_n
);

  logic a_run, a_clear, b_run, b_clear;

  spate_cdc_flush u_flush (
      .a_clk_i(a_clk),
      .a_rst_ni(a_rst_n),
      .a_stop_i(a_stop),
      .a_idle_i(a_idle),
      .a_run_o(a_run),
      .a_clear_o(a_clear),
      .b_clk_i(b_clk),
      .b_rst_ni(b_rst_n),
      .b_run_o(b_run),
      .b_clear_o(b_clear)
  );

  // Both are in reset until the flip-flops' initial values are gone: b for 3 edges, then a for 3 edges. After that,
  // resets come at any time and have any length.
  logic [1:0] a_edges_q = '0, b_edges_q = '0;
  logic past_power_up;

  always_ff @(posedge a_clk) a_edges_q <= a_edges_q + 2'(b_edges_q == 2'd3 && a_edges_q != 2'd3);
  always_ff @(posedge b_clk) b_edges_q <= b_edges_q + 2'(b_edges_q != 2'd3);
  assign past_power_up = a_edges_q == 2'd3;
  always_comb begin
    if (!past_power_up) assume (!a_rst_n && !b_rst_n);
  end

  // How often each side has cleared, and the two counts when each side last ran.
  logic a_clear_q = 1'b0, b_clear_q = 1'b0, a_ran_q = 1'b0, b_ran_q = 1'b0;
  logic [3:0] a_clears_q = '0, b_clears_q = '0;
  logic [7:0] clears_when_a_ran_q = '0, clears_when_b_ran_q = '0;

  always_ff @(posedge a_clk) begin
    a_ran_q <= a_run;
    a_clear_q <= a_clear;
    if (a_clear && !a_clear_q) a_clears_q <= a_clears_q + 1'b1;
    if (a_run) clears_when_a_ran_q <= {a_clears_q, b_clears_q};
  end
  always_ff @(posedge b_clk) begin
    b_ran_q <= b_run;
    b_clear_q <= b_clear;
    if (b_clear && !b_clear_q) b_clears_q <= b_clears_q + 1'b1;
    if (b_run) clears_when_b_ran_q <= {a_clears_q, b_clears_q};
  end

  always_comb begin
    if (past_power_up) begin
      assert (!(a_clear && b_run));
      assert (!(b_clear && a_run));
      // A side runs again only after both sides cleared since it last ran.
      if (a_run && !a_ran_q) begin
        assert (a_clears_q != clears_when_a_ran_q[7:4]);
        assert (b_clears_q != clears_when_a_ran_q[3:0]);
      end
      if (b_run && !b_ran_q) assert (b_clears_q != clears_when_b_ran_q[3:0]);
      cover (a_run && b_run);
      cover (a_run && b_run && a_clears_q == 4'd2 && b_clears_q == 4'd2);
    end
  end

endmodule
