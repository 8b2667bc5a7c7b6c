// SPDX-License-Identifier: Apache-2.0
//
// Isolates the core from a block whose clock and reset come and go.
//
// Guarantee: the core stops listening as soon as it knows of the block's reset or stopped clock, without needing that
// clock. The crossings between the clocks are cleared before both sides communicate again. When the core requests a
// reset while the block runs, nothing new begins, and packets that were promised to the block leave whole before
// anything is cleared. After a write that cannot be trusted the link is shown as down until the core resets the adapter
// or the link drops.
`default_nettype none

module spate_pcie_usp_link (
    // the core's clock
    input  wire logic clk_i,
    input  wire logic rst_ni,
    input  wire logic adapter_reset_i,
    input  wire logic broken_i,         // a pulse: a write arrived that cannot be trusted
    input  wire logic idle_i,           // the core owes nothing to the adapter
    input  wire logic sent_i,           // all words for the block have crossed
    output logic      listen_o,         // accesses from the block are valid
    output logic      run_o,            // words for the block arrive there
    output logic      clear_o,
    output logic      link_up_o,

    // the block's clock
    input  wire logic pcie_clk_i,
    input  wire logic pcie_reset_i,
    input  wire logic pcie_lnk_up_i,
    input  wire logic pcie_busy_i,       // words for the block have not left yet; from a flop
    output logic      pcie_link_rst_no,  // the block's own reset
    output logic      pcie_run_o,
    output logic      pcie_clear_o
);

  logic reset, stopped, up, busy;
  logic wanted_q;  // the core requested a reset
  logic broken_q;
  // Counts some cycles, because the last word's `busy` may arrive late: by two cycles and a period of pcie_clk_i, which
  // is at most six cycles.
  logic [7:0] drained_q;
  logic stop;

  spate_cdc_bit u_reset_bit (
      .clk_i,
      .level_i(pcie_reset_i),
      .level_o(reset)
  );
  spate_cdc_bit u_up_bit (
      .clk_i,
      .level_i(pcie_lnk_up_i),
      .level_o(up)
  );
  spate_cdc_bit u_busy_bit (
      .clk_i,
      .level_i(pcie_busy_i),
      .level_o(busy)
  );
  spate_cdc_watch u_watch (
      .clk_i,
      .rst_ni,
      .watched_clk_i(pcie_clk_i),
      .stopped_o(stopped)
  );
  spate_cdc_reset u_pcie_reset (
      .clk_i(pcie_clk_i),
      .rst_ni(!pcie_reset_i),
      .rst_no(pcie_link_rst_no)
  );
  spate_cdc_flush u_flush (
      .a_clk_i(clk_i),
      .a_rst_ni(rst_ni),
      .a_stop_i(stop),
      .a_idle_i(idle_i),
      .a_run_o(run_o),
      .a_clear_o(clear_o),
      .b_clk_i(pcie_clk_i),
      .b_rst_ni(pcie_link_rst_no),
      .b_run_o(pcie_run_o),
      .b_clear_o(pcie_clear_o)
  );

  assign stop = reset || stopped || (run_o ? drained_q[7] : adapter_reset_i);
  assign listen_o = run_o && !wanted_q;
  assign link_up_o = listen_o && up && !broken_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wanted_q <= 1'b0;
      broken_q <= 1'b0;
      drained_q <= '0;
    end else begin
      wanted_q <= run_o && (wanted_q || adapter_reset_i);
      broken_q <= listen_o && (broken_q || broken_i);
      drained_q <= wanted_q && idle_i && sent_i && !busy ? {drained_q[6:0], 1'b1} : '0;
    end
  end

endmodule

`default_nettype wire
