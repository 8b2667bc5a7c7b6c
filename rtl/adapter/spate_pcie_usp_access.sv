// SPDX-License-Identifier: Apache-2.0
//
// Carries the core's register and configuration accesses, one at a time, into the block's clock, and their responses
// back. The values are stable while a toggle announces them.
//
// Guarantee: each access that was taken is answered once: with the result of the block's side or, as soon as the two
// sides are separated, with an error. A result that arrives after such an error is dropped.
`default_nettype none

module spate_pcie_usp_access
  import spate_pkg::*;
(
    input  wire logic          clk_i,
    input  wire logic          rst_ni,
    input  wire logic          run_i,
    input  wire logic          request_valid_i,
    output logic               request_ready_o,
    input  wire mmio_request_t request_i,
    output logic               response_valid_o,  // a pulse
    output mmio_response_t     response_o,

    input  wire logic         pcie_clk_i,
    input  wire logic         pcie_rst_ni,
    output logic              pcie_start_o,    // a pulse; `request` is stable until it is answered
    output mmio_request_t     pcie_request_o,
    input  wire logic         pcie_done_i,     // a pulse, with the result
    input  wire mmio_result_t pcie_result_i
);

  mmio_request_t request_q;
  logic busy_q, asked_q, fail;
  logic answered, answered_q;

  // ---- the block's side ----

  logic pcie_asked, pcie_asked_q;
  logic pcie_answered_q;
  mmio_result_t pcie_result_q;

  spate_cdc_bit u_asked (
      .clk_i(pcie_clk_i),
      .level_i(asked_q),
      .level_o(pcie_asked)
  );
  spate_cdc_bit u_answered (
      .clk_i,
      .level_i(pcie_answered_q),
      .level_o(answered)
  );

  always_ff @(posedge pcie_clk_i) begin
    pcie_asked_q <= pcie_asked;
    if (!pcie_rst_ni) pcie_answered_q <= 1'b0;
    else if (pcie_done_i) pcie_answered_q <= !pcie_answered_q;
    if (pcie_done_i) pcie_result_q <= pcie_result_i;
  end

  assign pcie_start_o = pcie_rst_ni && pcie_asked_q != pcie_asked;
  assign pcie_request_o = request_q;

  // ---- the core's side ----

  logic take, arrived;

  assign take = request_valid_i && request_ready_o;
  assign arrived = run_i && answered_q != answered;
  assign fail = busy_q && !run_i;
  assign request_ready_o = !busy_q;
  assign response_valid_o = busy_q && (arrived || fail);
  assign response_o = '{id: request_q.id, result: fail ? '{error: 1'b1, data: '1} : pcie_result_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      asked_q <= 1'b0;
    end else begin
      if (take) busy_q <= 1'b1;
      else if (response_valid_o) busy_q <= 1'b0;
      // An access that is taken while the other side does not listen is not passed on.
      if (take && run_i) asked_q <= !asked_q;
    end
    answered_q <= answered;
    if (take) request_q <= request_i;
  end

endmodule

`default_nettype wire
