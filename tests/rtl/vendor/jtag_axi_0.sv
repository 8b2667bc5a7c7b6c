// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for the vendor's JTAG to AXI master with AXI4-Lite (PG174): the ports that it has then. A testbench drives
// the variables and sees the ports.

module jtag_axi_0 (
    input  wire logic        aclk,
    input  wire logic        aresetn,
    output logic      [31:0] m_axi_awaddr,
    output logic      [ 2:0] m_axi_awprot,
    output logic             m_axi_awvalid,
    input  wire logic        m_axi_awready,
    output logic      [31:0] m_axi_wdata,
    output logic      [ 3:0] m_axi_wstrb,
    output logic             m_axi_wvalid,
    input  wire logic        m_axi_wready,
    input  wire logic [ 1:0] m_axi_bresp,
    input  wire logic        m_axi_bvalid,
    output logic             m_axi_bready,
    output logic      [31:0] m_axi_araddr,
    output logic      [ 2:0] m_axi_arprot,
    output logic             m_axi_arvalid,
    input  wire logic        m_axi_arready,
    input  wire logic [31:0] m_axi_rdata,
    input  wire logic [ 1:0] m_axi_rresp,
    input  wire logic        m_axi_rvalid,
    output logic             m_axi_rready
);
  logic [31:0] awaddr, wdata, araddr;
  logic [3:0] wstrb;
  logic awvalid, wvalid, bready, arvalid, rready;

  assign m_axi_awaddr = awaddr;
  assign m_axi_awprot = 3'b000;
  assign m_axi_awvalid = awvalid;
  assign m_axi_wdata = wdata;
  assign m_axi_wstrb = wstrb;
  assign m_axi_wvalid = wvalid;
  assign m_axi_bready = bready;
  assign m_axi_araddr = araddr;
  assign m_axi_arprot = 3'b000;
  assign m_axi_arvalid = arvalid;
  assign m_axi_rready = rready;
endmodule
