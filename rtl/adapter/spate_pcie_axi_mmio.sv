// SPDX-License-Identifier: Apache-2.0
//
// Registers and configuration space through an AXI-PCIe bridge: one access of 4 bytes at a time, to the bridge's slave
// (SpaceBar) or control port (the other spaces). Requests are registers in the core's clock, responses in the bridge's.
// Only a toggle crosses in each direction; the values that it announces are stable until it is answered.
//
// Guarantee: one response for each request taken, provided that the bridge responds or `broken` is high: then the
// response is an error. A transaction that the bridge had begun by then is finished by the rules and its response
// dropped; the next request waits for that. Nothing else waits for a bridge that does not respond.
`default_nettype none

module spate_pcie_axi_mmio
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter logic [63:0] BarAxiBase = 64'h0,
    parameter logic [31:0] DeviceConfigOffset = 32'h0010_0000,
    parameter logic [31:0] LocalConfigOffset = 32'h0
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic clear_i,
    input wire logic broken_i,

    input  wire logic          request_valid_i,
    output logic               request_ready_o,
    input  wire mmio_request_t request_i,
    output logic               response_valid_o,
    output mmio_response_t     response_o,

    input wire logic axi_clk_i,
    input wire logic axi_run_i,
    input wire logic axi_clear_i,

    output axi_request_t                         m_axi_o,
    input  wire axi_response_t                   m_axi_i,
    output logic               [  DataWidth-1:0] m_axi_wdata_o,
    output logic               [DataWidth/8-1:0] m_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] m_axi_rdata_i,

    output axil_request_t       c_axil_o,
    input  wire axil_response_t c_axil_i
);

  localparam int unsigned Lanes = DataWidth / 32;
  localparam int unsigned LaneBits = $clog2(Lanes);

  // ---- the core's clock ----

  // The access at the bridge. Stable while `flight` is high.
  logic bar_q, write_q;
  logic [31:0] address_q, data_q, base;
  logic ask_q, answered, flight;  // toggles: they differ while the bridge has the access
  logic answer_q;
  logic answer_error_q;
  logic [31:0] answer_data_q;

  logic waiting_q, launched_q, id_q;  // the core waits for a response; the bridge was given the access; its identifier
  logic take, respond;

  spate_cdc_bit u_answered (
      .clk_i,
      .level_i(answer_q),
      .level_o(answered)
  );

  assign flight = ask_q != answered;
  assign request_ready_o = !waiting_q && (broken_i || !flight);
  assign take = request_valid_i && request_ready_o;
  assign respond = waiting_q && (broken_i || !launched_q || !flight);

  always_comb begin
    unique case (request_i.access.space)
      SpaceBar: base = BarAxiBase[31:0];
      SpaceDevice: base = DeviceConfigOffset;
      default: base = LocalConfigOffset;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      response_valid_o <= 1'b0;
    end else begin
      waiting_q <= take || (waiting_q && !respond);
      response_valid_o <= respond;
    end
  end

  // A reset of the core leaves the toggle unchanged. It is cleared together with its other end.
  always_ff @(posedge clk_i) begin
    if (clear_i) ask_q <= 1'b0;
    else if (take && !broken_i) ask_q <= !ask_q;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      id_q <= request_i.id;
      launched_q <= !broken_i;
    end
    if (take && !broken_i) begin
      bar_q <= request_i.access.space == SpaceBar;
      write_q <= request_i.access.write;
      address_q <= base + request_i.access.address;
      data_q <= request_i.access.data;
    end
    if (respond) begin
      response_o.id <= id_q;
      response_o.result.error <= broken_i || !launched_q || answer_error_q;
      response_o.result.data <= answer_data_q;
    end
  end

  // ---- the bridge's clock ----

  logic asked, begin_access, end_access, busy_q;
  logic aw_q, w_q, ar_q;  // not taken yet
  logic to_bar, to_control;
  logic [1:0] b_resp, r_resp;
  logic [31:0] lane_data;

  spate_cdc_bit u_asked (
      .clk_i(axi_clk_i),
      .level_i(ask_q),
      .level_o(asked)
  );

  assign begin_access = axi_run_i && !busy_q && asked != answer_q;
  assign to_bar = busy_q && bar_q;
  assign to_control = busy_q && !bar_q;
  assign b_resp = bar_q ? m_axi_i.write.bresp : c_axil_i.bresp;
  assign r_resp = bar_q ? m_axi_i.read.rresp : c_axil_i.rresp;
  assign end_access =
      (m_axi_i.write.bvalid && m_axi_o.write.bready) || (m_axi_i.read.rvalid && m_axi_o.read.rready) ||
      (c_axil_i.bvalid && c_axil_o.bready) || (c_axil_i.rvalid && c_axil_o.rready);

  always_ff @(posedge axi_clk_i) begin
    if (!axi_run_i) begin
      busy_q <= 1'b0;
      aw_q <= 1'b0;
      w_q <= 1'b0;
      ar_q <= 1'b0;
    end else begin
      busy_q <= begin_access || (busy_q && !end_access);
      aw_q <= (begin_access && write_q) || (aw_q && !(bar_q ? m_axi_i.write.awready : c_axil_i.awready));
      w_q <= (begin_access && write_q) || (w_q && !(bar_q ? m_axi_i.write.wready : c_axil_i.wready));
      ar_q <= (begin_access && !write_q) || (ar_q && !(bar_q ? m_axi_i.read.arready : c_axil_i.arready));
    end
  end

  always_ff @(posedge axi_clk_i) begin
    if (axi_clear_i) answer_q <= 1'b0;
    else if (axi_run_i && end_access) answer_q <= asked;
  end

  if (Lanes > 1) begin : gen_lane
    logic [LaneBits-1:0] lane;
    assign lane = address_q[2+:LaneBits];
    assign lane_data = m_axi_rdata_i[32*lane+:32];
    for (genvar index = 0; index < Lanes; index++) begin : gen_strobe
      assign m_axi_wstrb_o[4*index+:4] = {4{lane == LaneBits'(index)}};
    end
  end else begin : gen_one_lane
    assign lane_data = m_axi_rdata_i;
    assign m_axi_wstrb_o = '1;
  end

  always_ff @(posedge axi_clk_i) begin
    if (end_access) begin
      answer_error_q <= (write_q ? b_resp : r_resp) != 2'b00;
      answer_data_q <= bar_q ? lane_data : c_axil_i.rdata;
    end
  end

  assign m_axi_wdata_o = {Lanes{data_q}};
  assign m_axi_o.write = '{
          awid: '0,
          awaddr: {BarAxiBase[63:32], address_q},
          awlen: 8'd0,
          awsize: 3'd2,
          awburst: AxiIncr,
          awvalid: axi_run_i && aw_q && bar_q,
          wlast: 1'b1,
          wvalid: axi_run_i && w_q && bar_q,
          bready: to_bar && write_q && !aw_q && !w_q
      };
  assign m_axi_o.read = '{
          arid: '0,
          araddr: {BarAxiBase[63:32], address_q},
          arlen: 8'd0,
          arsize: 3'd2,
          arburst: AxiIncr,
          arvalid: axi_run_i && ar_q && bar_q,
          rready: to_bar && !write_q && !ar_q
      };

  assign c_axil_o = '{
          awaddr: address_q,
          awvalid: axi_run_i && aw_q && !bar_q,
          wdata: data_q,
          wstrb: '1,
          wvalid: axi_run_i && w_q && !bar_q,
          bready: to_control && write_q && !aw_q && !w_q,
          araddr: address_q,
          arvalid: axi_run_i && ar_q && !bar_q,
          rready: to_control && !write_q && !ar_q
      };

endmodule

`default_nettype wire
