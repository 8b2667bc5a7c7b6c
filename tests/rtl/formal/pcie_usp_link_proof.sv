// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_usp_link with both clocks at the same rate, seen from its ports: a reset that the core requests waits until
// everything for the block has left, and then comes. The crossings have proofs of their own.
module pcie_usp_link_proof (
    input logic clk_i,
    input logic rst_ni,
    input logic adapter_reset_i,
    input logic broken_i,
    input logic idle_i,
    input logic sent_i,
    input logic pcie_reset_i,
    input logic pcie_lnk_up_i,
    input logic pcie_busy_i
);

  localparam int unsigned SettledCycles = 8;  // as long nothing may be left
  logic listen, run, clear, link_up;

  spate_pcie_usp_link u_link (
      .clk_i,
      .rst_ni,
      .adapter_reset_i,
      .broken_i,
      .idle_i,
      .sent_i,
      .listen_o(listen),
      .run_o(run),
      .clear_o(clear),
      .link_up_o(link_up),
      .pcie_clk_i(clk_i),
      .pcie_reset_i,
      .pcie_lnk_up_i,
      .pcie_busy_i,
      .pcie_link_rst_no(),
      .pcie_run_o(),
      .pcie_clear_o()
  );

  logic past_reset_q = 1'b0;
  logic checked;
  assign checked = past_reset_q && rst_ni;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);

  // A level of the block is known two cycles later.
  logic [1:0] busy_q, up_q;
  logic [2:0] undisturbed_q;  // cycles in which both sides ran and the block had no reset
  logic [3:0] settled_q, settled_then_q;  // cycles in which nothing was left; the same a cycle ago, when it was decided
  logic requested_q, broken_q, run_q;
  always_ff @(posedge clk_i) begin
    busy_q <= {busy_q[0], pcie_busy_i};
    up_q <= {up_q[0], pcie_lnk_up_i};
    run_q <= rst_ni && run;
    if (!rst_ni || pcie_reset_i || !run) undisturbed_q <= '0;
    else if (undisturbed_q != '1) undisturbed_q <= undisturbed_q + 3'd1;
    if (!rst_ni || !idle_i || !sent_i || busy_q[1] || !requested_q) settled_q <= '0;
    else if (settled_q != '1) settled_q <= settled_q + 4'd1;
    settled_then_q <= rst_ni ? settled_q : '0;
    requested_q <= rst_ni && run && (requested_q || adapter_reset_i);
    broken_q <= rst_ni && listen && (broken_q || broken_i);
  end

  always_comb begin
    if (checked) begin
      if (run_q && !run && undisturbed_q == '1) assert (settled_then_q >= 4'(SettledCycles));
      if (run && undisturbed_q == '1) assert (settled_q <= 4'(SettledCycles));
      assert (!clear || !run);
      assert (listen == (run && !requested_q));
      assert (link_up == (listen && up_q[1] && !broken_q));
    end
    cover (checked && run_q && !run && undisturbed_q == '1 && settled_then_q == 4'(SettledCycles));
    cover (checked && link_up);
    cover (checked && run && requested_q && settled_q == '0 && undisturbed_q == '1);
  end

endmodule
