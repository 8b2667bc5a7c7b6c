// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_axi with the names that the AXI models expect, the fields that it leaves constant, and checks of the
// handshake rule on all its outputs.
module pcie_axi_top
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned IdWidth = 4,
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h1_4020_0000,
    parameter logic [63:0] BarAxiBase = 64'h2_6000_0000
) (
    input  logic                    clk,
    input  logic                    rst_n,
    input  logic                    adapter_reset,
    output logic                    quiet,
    output logic                    link_up,
    output logic                    read_valid,
    input  logic                    read_ready,
    output logic [  WindowBits-1:0] read_address,
    output logic                    read_stray,
    output logic [             8:0] read_beats,
    input  logic                    read_data_valid,
    output logic                    read_data_ready,
    input  logic [   DataWidth-1:0] read_data,
    input  logic                    read_last,
    output logic                    write_valid,
    input  logic                    write_ready,
    output logic [  WindowBits-1:0] write_address,
    output logic                    write_stray,
    output logic [   DataWidth-1:0] write_data,
    output logic [ DataWidth/8-1:0] write_strobe,
    input  logic                    request_valid,
    output logic                    request_ready,
    input  logic                    request_id,
    input  logic [             1:0] request_space,
    input  logic                    request_write,
    input  logic [            31:0] request_address,
    input  logic [            31:0] request_data,
    output logic                    response_valid,
    output logic                    response_id,
    output logic                    response_error,
    output logic [            31:0] response_data,
    input  logic                    axi_clk,
    input  logic                    axi_rst_n,
    input  logic                    user_link_up,
    input  logic [     IdWidth-1:0] s_axi_awid,
    input  logic [AddressWidth-1:0] s_axi_awaddr,
    input  logic [             7:0] s_axi_awlen,
    input  logic [             2:0] s_axi_awsize,
    input  logic [             1:0] s_axi_awburst,
    input  logic                    s_axi_awvalid,
    output logic                    s_axi_awready,
    input  logic [   DataWidth-1:0] s_axi_wdata,
    input  logic [ DataWidth/8-1:0] s_axi_wstrb,
    input  logic                    s_axi_wlast,
    input  logic                    s_axi_wvalid,
    output logic                    s_axi_wready,
    output logic [     IdWidth-1:0] s_axi_bid,
    output logic [             1:0] s_axi_bresp,
    output logic                    s_axi_bvalid,
    input  logic                    s_axi_bready,
    input  logic [     IdWidth-1:0] s_axi_arid,
    input  logic [AddressWidth-1:0] s_axi_araddr,
    input  logic [             7:0] s_axi_arlen,
    input  logic [             2:0] s_axi_arsize,
    input  logic [             1:0] s_axi_arburst,
    input  logic                    s_axi_arvalid,
    output logic                    s_axi_arready,
    output logic [     IdWidth-1:0] s_axi_rid,
    output logic [   DataWidth-1:0] s_axi_rdata,
    output logic [             1:0] s_axi_rresp,
    output logic                    s_axi_rlast,
    output logic                    s_axi_rvalid,
    input  logic                    s_axi_rready,
    output logic [            63:0] m_axi_awaddr,
    output logic                    m_axi_awid,
    output logic [             7:0] m_axi_awlen,
    output logic [             1:0] m_axi_awburst,
    output logic [             2:0] m_axi_awsize,
    output logic                    m_axi_awvalid,
    input  logic                    m_axi_awready,
    output logic [   DataWidth-1:0] m_axi_wdata,
    output logic [ DataWidth/8-1:0] m_axi_wstrb,
    output logic                    m_axi_wlast,
    output logic                    m_axi_wvalid,
    input  logic                    m_axi_wready,
    input  logic [             1:0] m_axi_bresp,
    input  logic                    m_axi_bid,
    input  logic                    m_axi_bvalid,
    output logic                    m_axi_bready,
    output logic [            63:0] m_axi_araddr,
    output logic                    m_axi_arid,
    output logic [             7:0] m_axi_arlen,
    output logic [             1:0] m_axi_arburst,
    output logic [             2:0] m_axi_arsize,
    output logic                    m_axi_arvalid,
    input  logic                    m_axi_arready,
    input  logic [   DataWidth-1:0] m_axi_rdata,
    input  logic                    m_axi_rid,
    input  logic                    m_axi_rlast,
    input  logic [             1:0] m_axi_rresp,
    input  logic                    m_axi_rvalid,
    output logic                    m_axi_rready,
    output logic [            31:0] c_axil_awaddr,
    output logic [             2:0] c_axil_awprot,
    output logic                    c_axil_awvalid,
    input  logic                    c_axil_awready,
    output logic [            31:0] c_axil_wdata,
    output logic [             3:0] c_axil_wstrb,
    output logic                    c_axil_wvalid,
    input  logic                    c_axil_wready,
    input  logic [             1:0] c_axil_bresp,
    input  logic                    c_axil_bvalid,
    output logic                    c_axil_bready,
    output logic [            31:0] c_axil_araddr,
    output logic [             2:0] c_axil_arprot,
    output logic                    c_axil_arvalid,
    input  logic                    c_axil_arready,
    input  logic [            31:0] c_axil_rdata,
    input  logic [             1:0] c_axil_rresp,
    input  logic                    c_axil_rvalid,
    output logic                    c_axil_rready
);

  mmio_request_t request;
  window_read_t read;
  window_write_t write;
  assign read_address = read.address[WindowBits-1:0];
  assign read_stray = read.stray;
  assign read_beats = read.beats;
  assign write_address = write.address[WindowBits-1:0];
  assign write_stray = write.stray;

  mmio_response_t response;

  assign request.id = request_id;
  assign request.access.space = space_e'(request_space);
  assign request.access.write = request_write;
  assign request.access.address = request_address;
  assign request.access.data = request_data;
  assign response_id = response.id;
  assign response_error = response.result.error;
  assign response_data = response.result.data;

  assign m_axi_awid = 1'b0;
  assign m_axi_awlen = 8'd0;
  assign m_axi_awburst = 2'd1;
  assign m_axi_wlast = 1'b1;
  assign m_axi_arid = 1'b0;
  assign m_axi_arlen = 8'd0;
  assign m_axi_arburst = 2'd1;
  assign c_axil_awprot = 3'd0;
  assign c_axil_arprot = 3'd0;

  spate_pcie_axi_flat #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .IdWidth(IdWidth),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .BarAxiBase(BarAxiBase)
  ) dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .reset_i(adapter_reset),
      .quiet_o(quiet),
      .link_up_o(link_up),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_o(read),
      .read_data_valid_i(read_data_valid),
      .read_data_ready_o(read_data_ready),
      .read_data_i(read_data),
      .read_last_i(read_last),
      .write_valid_o(write_valid),
      .write_ready_i(write_ready),
      .write_o(write),
      .write_data_o(write_data),
      .write_strobe_o(write_strobe),
      .mmio_request_valid_i(request_valid),
      .mmio_request_ready_o(request_ready),
      .mmio_request_i(request),
      .mmio_response_valid_o(response_valid),
      .mmio_response_o(response),
      .axi_aclk_i(axi_clk),
      .axi_aresetn_i(axi_rst_n),
      .user_link_up_i(user_link_up),
      .s_axi_awid_i(s_axi_awid),
      .s_axi_awaddr_i(s_axi_awaddr),
      .s_axi_awlen_i(s_axi_awlen),
      .s_axi_awsize_i(s_axi_awsize),
      .s_axi_awburst_i(s_axi_awburst),
      .s_axi_awvalid_i(s_axi_awvalid),
      .s_axi_awready_o(s_axi_awready),
      .s_axi_wdata_i(s_axi_wdata),
      .s_axi_wstrb_i(s_axi_wstrb),
      .s_axi_wlast_i(s_axi_wlast),
      .s_axi_wvalid_i(s_axi_wvalid),
      .s_axi_wready_o(s_axi_wready),
      .s_axi_bid_o(s_axi_bid),
      .s_axi_bresp_o(s_axi_bresp),
      .s_axi_bvalid_o(s_axi_bvalid),
      .s_axi_bready_i(s_axi_bready),
      .s_axi_arid_i(s_axi_arid),
      .s_axi_araddr_i(s_axi_araddr),
      .s_axi_arlen_i(s_axi_arlen),
      .s_axi_arsize_i(s_axi_arsize),
      .s_axi_arburst_i(s_axi_arburst),
      .s_axi_arvalid_i(s_axi_arvalid),
      .s_axi_arready_o(s_axi_arready),
      .s_axi_rid_o(s_axi_rid),
      .s_axi_rdata_o(s_axi_rdata),
      .s_axi_rresp_o(s_axi_rresp),
      .s_axi_rlast_o(s_axi_rlast),
      .s_axi_rvalid_o(s_axi_rvalid),
      .s_axi_rready_i(s_axi_rready),
      .m_axi_awaddr_o(m_axi_awaddr),
      .m_axi_awsize_o(m_axi_awsize),
      .m_axi_awvalid_o(m_axi_awvalid),
      .m_axi_awready_i(m_axi_awready),
      .m_axi_wdata_o(m_axi_wdata),
      .m_axi_wstrb_o(m_axi_wstrb),
      .m_axi_wvalid_o(m_axi_wvalid),
      .m_axi_wready_i(m_axi_wready),
      .m_axi_bresp_i(m_axi_bresp),
      .m_axi_bvalid_i(m_axi_bvalid),
      .m_axi_bready_o(m_axi_bready),
      .m_axi_araddr_o(m_axi_araddr),
      .m_axi_arsize_o(m_axi_arsize),
      .m_axi_arvalid_o(m_axi_arvalid),
      .m_axi_arready_i(m_axi_arready),
      .m_axi_rdata_i(m_axi_rdata),
      .m_axi_rresp_i(m_axi_rresp),
      .m_axi_rvalid_i(m_axi_rvalid),
      .m_axi_rready_o(m_axi_rready),
      .c_axil_awaddr_o(c_axil_awaddr),
      .c_axil_awvalid_o(c_axil_awvalid),
      .c_axil_awready_i(c_axil_awready),
      .c_axil_wdata_o(c_axil_wdata),
      .c_axil_wstrb_o(c_axil_wstrb),
      .c_axil_wvalid_o(c_axil_wvalid),
      .c_axil_wready_i(c_axil_wready),
      .c_axil_bresp_i(c_axil_bresp),
      .c_axil_bvalid_i(c_axil_bvalid),
      .c_axil_bready_o(c_axil_bready),
      .c_axil_araddr_o(c_axil_araddr),
      .c_axil_arvalid_o(c_axil_arvalid),
      .c_axil_arready_i(c_axil_arready),
      .c_axil_rdata_i(c_axil_rdata),
      .c_axil_rresp_i(c_axil_rresp),
      .c_axil_rvalid_i(c_axil_rvalid),
      .c_axil_rready_o(c_axil_rready)
  );

  stream_rule #(
      .Width(WindowBits + 10)
  ) u_rule_read (
      .clk_i(clk),
      .rst_ni(rst_n),
      .valid_i(read_valid),
      .ready_i(read_ready),
      .payload_i({read_address, read_stray, read_beats})
  );

  stream_rule #(
      .Width(WindowBits + 1 + DataWidth + DataWidth / 8)
  ) u_rule_write (
      .clk_i(clk),
      .rst_ni(rst_n),
      .valid_i(write_valid),
      .ready_i(write_ready),
      .payload_i({write_address, write_stray, write_data, write_strobe})
  );

  stream_rule #(
      .Width(IdWidth + 2)
  ) u_rule_b (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(s_axi_bvalid),
      .ready_i(s_axi_bready),
      .payload_i({s_axi_bid, s_axi_bresp})
  );

  stream_rule #(
      .Width(IdWidth + 3 + DataWidth)
  ) u_rule_r (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(s_axi_rvalid),
      .ready_i(s_axi_rready),
      .payload_i({s_axi_rid, s_axi_rresp, s_axi_rlast, s_axi_rdata})
  );

  stream_rule #(
      .Width(67)
  ) u_rule_m_aw (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(m_axi_awvalid),
      .ready_i(m_axi_awready),
      .payload_i({m_axi_awaddr, m_axi_awsize})
  );

  stream_rule #(
      .Width(DataWidth + DataWidth / 8)
  ) u_rule_m_w (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(m_axi_wvalid),
      .ready_i(m_axi_wready),
      .payload_i({m_axi_wdata, m_axi_wstrb})
  );

  stream_rule #(
      .Width(67)
  ) u_rule_m_ar (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(m_axi_arvalid),
      .ready_i(m_axi_arready),
      .payload_i({m_axi_araddr, m_axi_arsize})
  );

  stream_rule #(
      .Width(32)
  ) u_rule_c_aw (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(c_axil_awvalid),
      .ready_i(c_axil_awready),
      .payload_i(c_axil_awaddr)
  );

  stream_rule #(
      .Width(36)
  ) u_rule_c_w (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(c_axil_wvalid),
      .ready_i(c_axil_wready),
      .payload_i({c_axil_wdata, c_axil_wstrb})
  );

  stream_rule #(
      .Width(32)
  ) u_rule_c_ar (
      .clk_i(axi_clk),
      .rst_ni(axi_rst_n),
      .valid_i(c_axil_arvalid),
      .ready_i(c_axil_arready),
      .payload_i(c_axil_araddr)
  );

endmodule
