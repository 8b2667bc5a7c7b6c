// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for the vendor's AXI Memory Mapped to PCI Express, 2.9 (PG055), a root port with two lanes, 128 bits and
// identifiers of 4 bits at its slave. Names and widths of the ports are those of netlists that Vivado has generated and
// that are public (icyradio). Its master has no identifiers. Both clocks are one.
//
// A testbench drives the variables and sees the ports. A tool that only elaborates takes the module as a black box.

module axi_pcie_0 (
    input  wire logic         REFCLK,
    input  wire logic         axi_aresetn,
    output logic              axi_aclk_out,
    output logic              axi_ctl_aclk_out,
    output logic              mmcm_lock,
    output logic              user_link_up,
    input  wire logic [  1:0] pci_exp_rxp,
    input  wire logic [  1:0] pci_exp_rxn,
    output logic      [  1:0] pci_exp_txp,
    output logic      [  1:0] pci_exp_txn,
    output logic              interrupt_out,
    input  wire logic         INTX_MSI_Request,
    output logic              INTX_MSI_Grant,
    output logic              MSI_enable,
    input  wire logic [  4:0] MSI_Vector_Num,
    output logic      [  2:0] MSI_Vector_Width,
    output logic      [ 31:0] m_axi_awaddr,
    output logic      [  7:0] m_axi_awlen,
    output logic      [  2:0] m_axi_awsize,
    output logic      [  1:0] m_axi_awburst,
    output logic              m_axi_awlock,
    output logic      [  3:0] m_axi_awcache,
    output logic      [  2:0] m_axi_awprot,
    output logic              m_axi_awvalid,
    input  wire logic         m_axi_awready,
    output logic      [127:0] m_axi_wdata,
    output logic      [ 15:0] m_axi_wstrb,
    output logic              m_axi_wlast,
    output logic              m_axi_wvalid,
    input  wire logic         m_axi_wready,
    input  wire logic [  1:0] m_axi_bresp,
    input  wire logic         m_axi_bvalid,
    output logic              m_axi_bready,
    output logic      [ 31:0] m_axi_araddr,
    output logic      [  7:0] m_axi_arlen,
    output logic      [  2:0] m_axi_arsize,
    output logic      [  1:0] m_axi_arburst,
    output logic              m_axi_arlock,
    output logic      [  3:0] m_axi_arcache,
    output logic      [  2:0] m_axi_arprot,
    output logic              m_axi_arvalid,
    input  wire logic         m_axi_arready,
    input  wire logic [127:0] m_axi_rdata,
    input  wire logic [  1:0] m_axi_rresp,
    input  wire logic         m_axi_rlast,
    input  wire logic         m_axi_rvalid,
    output logic              m_axi_rready,
    input  wire logic [  3:0] s_axi_awid,
    input  wire logic [ 31:0] s_axi_awaddr,
    input  wire logic [  3:0] s_axi_awregion,
    input  wire logic [  7:0] s_axi_awlen,
    input  wire logic [  2:0] s_axi_awsize,
    input  wire logic [  1:0] s_axi_awburst,
    input  wire logic         s_axi_awvalid,
    output logic              s_axi_awready,
    input  wire logic [127:0] s_axi_wdata,
    input  wire logic [ 15:0] s_axi_wstrb,
    input  wire logic         s_axi_wlast,
    input  wire logic         s_axi_wvalid,
    output logic              s_axi_wready,
    output logic      [  3:0] s_axi_bid,
    output logic      [  1:0] s_axi_bresp,
    output logic              s_axi_bvalid,
    input  wire logic         s_axi_bready,
    input  wire logic [  3:0] s_axi_arid,
    input  wire logic [ 31:0] s_axi_araddr,
    input  wire logic [  3:0] s_axi_arregion,
    input  wire logic [  7:0] s_axi_arlen,
    input  wire logic [  2:0] s_axi_arsize,
    input  wire logic [  1:0] s_axi_arburst,
    input  wire logic         s_axi_arvalid,
    output logic              s_axi_arready,
    output logic      [  3:0] s_axi_rid,
    output logic      [127:0] s_axi_rdata,
    output logic      [  1:0] s_axi_rresp,
    output logic              s_axi_rlast,
    output logic              s_axi_rvalid,
    input  wire logic         s_axi_rready,
    input  wire logic [ 31:0] s_axi_ctl_awaddr,
    input  wire logic         s_axi_ctl_awvalid,
    output logic              s_axi_ctl_awready,
    input  wire logic [ 31:0] s_axi_ctl_wdata,
    input  wire logic [  3:0] s_axi_ctl_wstrb,
    input  wire logic         s_axi_ctl_wvalid,
    output logic              s_axi_ctl_wready,
    output logic      [  1:0] s_axi_ctl_bresp,
    output logic              s_axi_ctl_bvalid,
    input  wire logic         s_axi_ctl_bready,
    input  wire logic [ 31:0] s_axi_ctl_araddr,
    input  wire logic         s_axi_ctl_arvalid,
    output logic              s_axi_ctl_arready,
    output logic      [ 31:0] s_axi_ctl_rdata,
    output logic      [  1:0] s_axi_ctl_rresp,
    output logic              s_axi_ctl_rvalid,
    input  wire logic         s_axi_ctl_rready
);
  logic clk, locked, lnk_up;
  logic [127:0] up_wdata, down_rdata;
  logic [31:0] up_awaddr, up_araddr, config_rdata;
  logic [15:0] up_wstrb;
  logic [7:0] up_awlen, up_arlen;
  logic [2:0] up_awsize, up_arsize;
  logic [1:0] up_awburst, up_arburst, down_bresp, down_rresp, config_bresp, config_rresp;
  logic
      up_awvalid,
      up_wlast,
      up_wvalid,
      up_bready,
      up_arvalid,
      up_rready,
      down_awready,
      down_wready,
      down_bvalid,
      down_arready,
      down_rlast,
      down_rvalid,
      config_awready,
      config_wready,
      config_bvalid,
      config_arready,
      config_rvalid;

  assign axi_aclk_out = clk;
  assign axi_ctl_aclk_out = clk;
  assign mmcm_lock = locked;
  assign user_link_up = lnk_up;
  assign m_axi_awaddr = up_awaddr;
  assign m_axi_awlen = up_awlen;
  assign m_axi_awsize = up_awsize;
  assign m_axi_awburst = up_awburst;
  assign m_axi_awvalid = up_awvalid;
  assign m_axi_wdata = up_wdata;
  assign m_axi_wstrb = up_wstrb;
  assign m_axi_wlast = up_wlast;
  assign m_axi_wvalid = up_wvalid;
  assign m_axi_bready = up_bready;
  assign m_axi_araddr = up_araddr;
  assign m_axi_arlen = up_arlen;
  assign m_axi_arsize = up_arsize;
  assign m_axi_arburst = up_arburst;
  assign m_axi_arvalid = up_arvalid;
  assign m_axi_rready = up_rready;
  assign s_axi_awready = down_awready;
  assign s_axi_wready = down_wready;
  assign s_axi_bresp = down_bresp;
  assign s_axi_bvalid = down_bvalid;
  assign s_axi_arready = down_arready;
  assign s_axi_rdata = down_rdata;
  assign s_axi_rresp = down_rresp;
  assign s_axi_rlast = down_rlast;
  assign s_axi_rvalid = down_rvalid;
  assign s_axi_ctl_awready = config_awready;
  assign s_axi_ctl_wready = config_wready;
  assign s_axi_ctl_bresp = config_bresp;
  assign s_axi_ctl_bvalid = config_bvalid;
  assign s_axi_ctl_arready = config_arready;
  assign s_axi_ctl_rdata = config_rdata;
  assign s_axi_ctl_rresp = config_rresp;
  assign s_axi_ctl_rvalid = config_rvalid;
  assign {pci_exp_txp, pci_exp_txn, interrupt_out, INTX_MSI_Grant, MSI_enable, MSI_Vector_Width} = '0;
  assign {m_axi_awlock, m_axi_arlock, m_axi_awcache, m_axi_arcache, m_axi_awprot, m_axi_arprot} = '0;
  assign {s_axi_bid, s_axi_rid} = '0;
endmodule
