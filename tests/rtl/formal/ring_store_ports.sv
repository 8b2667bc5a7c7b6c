// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_store, seen at its ports: any parts and data, and a memory that answers whole bursts after any time.
// ring_store_part.sv has what becomes of a part.
module ring_store_ports
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddressWidth = 40,
    parameter int unsigned PartBits = 11,
    parameter int unsigned Parts = 32,
    localparam int unsigned SectorBits = AddressWidth - 9
) (
    input logic                                   clk_i,
    input logic                                   rst_ni,
    input logic                [AddressWidth-1:0] ring_base_i,
    input logic                                   part_valid_i,
    input logic                [  SectorBits-1:0] part_place_i,
    input logic                [    PartBits-1:0] part_sectors_i,
    input logic                                   data_valid_i,
    input logic                                   data_ready_o,
    input logic                                   stored_valid_o,
    input logic                                   stored_ready_i,
    input logic                                   stored_error_o,
    input axi_write_request_t                     m_axi_o,
    input axi_write_response_t                    m_axi_i,
    input logic                [   DataWidth-1:0] m_axi_wdata_o,
    input logic                [ DataWidth/8-1:0] m_axi_wstrb_o
);

  localparam int unsigned Sectors = 2 ** SectorBits;
  localparam int unsigned SectorBeats = 4096 / DataWidth;

  logic past_reset_q = 1'b0;
  logic [AddressWidth-1:0] base_q;
  logic aw_waits_q, w_waits_q, stored_waits_q, stored_error_past_q;
  logic [AddressWidth+7:0] aw_past_q;
  logic [DataWidth:0] w_past_q;

  // ---- parts, and their beats ----

  logic [7:0] given_q, taken_q;
  logic [15:0] missing_q, wanted;  // beats of parts, and sectors, that are not all here

  assign wanted = (missing_q + 16'(SectorBeats - 1)) / 16'(SectorBeats);

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i[11:0] == '0 && (!past_reset_q || ring_base_i == base_q));
    if (part_valid_i) begin
      assume (given_q - taken_q < 8'(Parts) && part_sectors_i != '0);
      assume (32'(part_place_i) + 32'(part_sectors_i) < Sectors && 32'(wanted) + 32'(part_sectors_i) < Sectors);
    end
  end

  // ---- bursts: those with an address and data are answered in order ----

  logic aw_move, w_end, burst_out;  // burst_out: the memory has the address and all data
  logic aw_out_q, w_out_q;  // of the current burst
  logic [7:0] w_beats_q;
  logic [5:0] owed_q;  // answers of the memory
  logic [12:0] burst_bytes;

  assign aw_move = m_axi_o.awvalid && m_axi_i.awready;
  assign w_end = m_axi_o.wvalid && m_axi_i.wready && m_axi_o.wlast;
  assign burst_out = (aw_out_q || aw_move) && (w_out_q || w_end);
  assign burst_bytes = (13'(m_axi_o.awlen) + 13'd1) * 13'(DataWidth / 8);
  always_comb assume (!m_axi_i.bvalid || owed_q != '0);

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    base_q <= ring_base_i;
    aw_waits_q <= rst_ni && m_axi_o.awvalid && !m_axi_i.awready;
    w_waits_q <= rst_ni && m_axi_o.wvalid && !m_axi_i.wready;
    stored_waits_q <= rst_ni && stored_valid_o && !stored_ready_i;
    aw_past_q <= {m_axi_o.awaddr[AddressWidth-1:0], m_axi_o.awlen};
    w_past_q <= {m_axi_wdata_o, m_axi_o.wlast};
    stored_error_past_q <= stored_error_o;
    if (!rst_ni) begin
      {given_q, taken_q, missing_q, aw_out_q, w_out_q, w_beats_q, owed_q} <= '0;
    end else begin
      given_q <= given_q + 8'(part_valid_i);
      taken_q <= taken_q + 8'(stored_valid_o && stored_ready_i);
      missing_q <= missing_q + (part_valid_i ? 16'(part_sectors_i) * 16'(SectorBeats) : 16'd0) -
          16'(data_valid_i && data_ready_o);
      aw_out_q <= (aw_out_q || aw_move) && !burst_out;
      w_out_q <= (w_out_q || w_end) && !burst_out;
      if (m_axi_o.wvalid && m_axi_i.wready) w_beats_q <= m_axi_o.wlast ? '0 : w_beats_q + 8'd1;
      owed_q <= owed_q + 6'(burst_out) - 6'(m_axi_i.bvalid);
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // AXI: a request that waits does not change. Bursts are of whole sectors within 4 KiB, WLAST comes with the last
      // beat, and no data come without an address.
      if (aw_waits_q) assert (m_axi_o.awvalid && aw_past_q == {m_axi_o.awaddr[AddressWidth-1:0], m_axi_o.awlen});
      if (w_waits_q) assert (m_axi_o.wvalid && w_past_q == {m_axi_wdata_o, m_axi_o.wlast});
      if (m_axi_o.awvalid) begin
        assert (m_axi_o.awaddr >> AddressWidth == '0);
        assert (13'(m_axi_o.awaddr[11:0]) + burst_bytes <= 13'd4096 && m_axi_o.awaddr[8:0] == '0);
        assert (burst_bytes[8:0] == '0 && 2 ** m_axi_o.awsize == DataWidth / 8 && m_axi_o.awburst == AxiIncr);
      end
      if (m_axi_o.wvalid) assert (!w_out_q && m_axi_o.wlast == (w_beats_q == m_axi_o.awlen) && m_axi_wstrb_o == '1);
      assert (m_axi_o.bready);
      // No beat is taken before its part.
      if (data_ready_o) assert (missing_q != '0);
      if (stored_valid_o) assert (taken_q != given_q);
      if (stored_waits_q) assert (stored_valid_o && stored_error_o == stored_error_past_q);
    end
  end

endmodule

bind spate_ring_store ring_store_ports #(
    .DataWidth(DataWidth),
    .AddressWidth(AddressWidth),
    .PartBits(PartBits),
    .Parts(Parts)
) u_ports (.*);
