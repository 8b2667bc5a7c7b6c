// SPDX-License-Identifier: Apache-2.0
//
// The whole top of a board behind AXI Memory Mapped to PCI Express, with the names that the models expect: the bridge's
// user side and the JTAG master reach into the stand-ins for the vendor's modules. A cycle is a microsecond, and 16 are a
// millisecond.
module board_axi_top
  import spate_pkg::*;
#(
    parameter int unsigned RamBytes = 139264
) (
    // clk is the oscillator's, and so the core's. rst_n = 0: the MMCM is not locked
    input  logic         clk,
    input  logic         rst_n,
    input  logic         axi_aclk,
    input  logic         axi_aresetn,
    input  logic         user_link_up,
    input  logic         s_axi_awid,
    input  logic [ 31:0] s_axi_awaddr,
    input  logic [  7:0] s_axi_awlen,
    input  logic [  2:0] s_axi_awsize,
    input  logic [  1:0] s_axi_awburst,
    input  logic         s_axi_awvalid,
    output logic         s_axi_awready,
    input  logic [127:0] s_axi_wdata,
    input  logic [ 15:0] s_axi_wstrb,
    input  logic         s_axi_wlast,
    input  logic         s_axi_wvalid,
    output logic         s_axi_wready,
    output logic         s_axi_bid,
    output logic [  1:0] s_axi_bresp,
    output logic         s_axi_bvalid,
    input  logic         s_axi_bready,
    input  logic         s_axi_arid,
    input  logic [ 31:0] s_axi_araddr,
    input  logic [  7:0] s_axi_arlen,
    input  logic [  2:0] s_axi_arsize,
    input  logic [  1:0] s_axi_arburst,
    input  logic         s_axi_arvalid,
    output logic         s_axi_arready,
    output logic         s_axi_rid,
    output logic [127:0] s_axi_rdata,
    output logic [  1:0] s_axi_rresp,
    output logic         s_axi_rlast,
    output logic         s_axi_rvalid,
    input  logic         s_axi_rready,
    output logic [  3:0] m_axi_awid,
    output logic [ 31:0] m_axi_awaddr,
    output logic [  7:0] m_axi_awlen,
    output logic [  2:0] m_axi_awsize,
    output logic [  1:0] m_axi_awburst,
    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [127:0] m_axi_wdata,
    output logic [ 15:0] m_axi_wstrb,
    output logic         m_axi_wlast,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    input  logic [  3:0] m_axi_bid,
    input  logic [  1:0] m_axi_bresp,
    input  logic         m_axi_bvalid,
    output logic         m_axi_bready,
    output logic [  3:0] m_axi_arid,
    output logic [ 31:0] m_axi_araddr,
    output logic [  7:0] m_axi_arlen,
    output logic [  2:0] m_axi_arsize,
    output logic [  1:0] m_axi_arburst,
    output logic         m_axi_arvalid,
    input  logic         m_axi_arready,
    input  logic [  3:0] m_axi_rid,
    input  logic [127:0] m_axi_rdata,
    input  logic [  1:0] m_axi_rresp,
    input  logic         m_axi_rlast,
    input  logic         m_axi_rvalid,
    output logic         m_axi_rready,
    output logic [ 31:0] c_axil_awaddr,
    output logic         c_axil_awvalid,
    input  logic         c_axil_awready,
    output logic [ 31:0] c_axil_wdata,
    output logic [  3:0] c_axil_wstrb,
    output logic         c_axil_wvalid,
    input  logic         c_axil_wready,
    input  logic [  1:0] c_axil_bresp,
    input  logic         c_axil_bvalid,
    output logic         c_axil_bready,
    output logic [ 31:0] c_axil_araddr,
    output logic         c_axil_arvalid,
    input  logic         c_axil_arready,
    input  logic [ 31:0] c_axil_rdata,
    input  logic [  1:0] c_axil_rresp,
    input  logic         c_axil_rvalid,
    output logic         c_axil_rready,
    input  logic [ 31:0] jtag_awaddr,
    input  logic         jtag_awvalid,
    output logic         jtag_awready,
    input  logic [ 31:0] jtag_wdata,
    input  logic [  3:0] jtag_wstrb,
    input  logic         jtag_wvalid,
    output logic         jtag_wready,
    output logic [  1:0] jtag_bresp,
    output logic         jtag_bvalid,
    input  logic         jtag_bready,
    input  logic [ 31:0] jtag_araddr,
    input  logic         jtag_arvalid,
    output logic         jtag_arready,
    output logic [ 31:0] jtag_rdata,
    output logic [  1:0] jtag_rresp,
    output logic         jtag_rvalid,
    input  logic         jtag_rready,
    output logic         board_rst_n,
    output logic         axi_rst_n,
    output logic         sys_reset,
    output logic         perst_n,
    output logic [  3:0] led
);

  localparam int unsigned WindowBits = window_bits(RamBytes);  // for the testbench

  logic perst, ssd2_off;
  logic [1:0] refclk_select;

  spate_ac701 #(
      .ClockHz(1_000_000),
      .UsPerMs(16),
      .RamBytes(RamBytes)
  ) dut (
      .clk_200mhz_pi(clk),
      .clk_200mhz_ni(!clk),
      .pcie_refclk_pi(1'b0),
      .pcie_refclk_ni(1'b1),
      .pcie_rx_pi('0),
      .pcie_rx_ni('0),
      .pcie_tx_po(),
      .pcie_tx_no(),
      .refclk_select_o(refclk_select),
      .perst_o(perst),
      .ssd2_off_o(ssd2_off),
      .led_o(led)
  );

  // The FMC card's inverter. A slot SSD2 that is on, or REFCLK from elsewhere, is a mistake.
  assign perst_n = !perst && ssd2_off && refclk_select == 2'b10;

  assign dut.u_mmcm.locked = rst_n;
  assign board_rst_n = dut.u_board.rst_n;
  assign axi_rst_n = dut.u_board.pcie_rst_n;

  assign dut.u_board.u_pcie.clk = axi_aclk;
  assign dut.u_board.u_pcie.locked = axi_aresetn;
  assign dut.u_board.u_pcie.lnk_up = user_link_up;
  assign sys_reset = dut.u_board.u_pcie.axi_aresetn;
  assign dut.u_board.u_pcie.up_awaddr = s_axi_awaddr;
  assign dut.u_board.u_pcie.up_awlen = s_axi_awlen;
  assign dut.u_board.u_pcie.up_awsize = s_axi_awsize;
  assign dut.u_board.u_pcie.up_awburst = s_axi_awburst;
  assign dut.u_board.u_pcie.up_awvalid = s_axi_awvalid;
  assign s_axi_awready = dut.u_board.u_pcie.m_axi_awready;
  assign dut.u_board.u_pcie.up_wdata = s_axi_wdata;
  assign dut.u_board.u_pcie.up_wstrb = s_axi_wstrb;
  assign dut.u_board.u_pcie.up_wlast = s_axi_wlast;
  assign dut.u_board.u_pcie.up_wvalid = s_axi_wvalid;
  assign s_axi_wready = dut.u_board.u_pcie.m_axi_wready;
  assign s_axi_bid = '0;
  assign s_axi_bresp = dut.u_board.u_pcie.m_axi_bresp;
  assign s_axi_bvalid = dut.u_board.u_pcie.m_axi_bvalid;
  assign dut.u_board.u_pcie.up_bready = s_axi_bready;
  assign dut.u_board.u_pcie.up_araddr = s_axi_araddr;
  assign dut.u_board.u_pcie.up_arlen = s_axi_arlen;
  assign dut.u_board.u_pcie.up_arsize = s_axi_arsize;
  assign dut.u_board.u_pcie.up_arburst = s_axi_arburst;
  assign dut.u_board.u_pcie.up_arvalid = s_axi_arvalid;
  assign s_axi_arready = dut.u_board.u_pcie.m_axi_arready;
  assign s_axi_rid = '0;
  assign s_axi_rdata = dut.u_board.u_pcie.m_axi_rdata;
  assign s_axi_rresp = dut.u_board.u_pcie.m_axi_rresp;
  assign s_axi_rlast = dut.u_board.u_pcie.m_axi_rlast;
  assign s_axi_rvalid = dut.u_board.u_pcie.m_axi_rvalid;
  assign dut.u_board.u_pcie.up_rready = s_axi_rready;

  assign m_axi_awid = dut.u_board.u_pcie.s_axi_awid;
  assign m_axi_awaddr = dut.u_board.u_pcie.s_axi_awaddr;
  assign m_axi_awlen = dut.u_board.u_pcie.s_axi_awlen;
  assign m_axi_awsize = dut.u_board.u_pcie.s_axi_awsize;
  assign m_axi_awburst = dut.u_board.u_pcie.s_axi_awburst;
  assign m_axi_awvalid = dut.u_board.u_pcie.s_axi_awvalid;
  assign dut.u_board.u_pcie.down_awready = m_axi_awready;
  assign m_axi_wdata = dut.u_board.u_pcie.s_axi_wdata;
  assign m_axi_wstrb = dut.u_board.u_pcie.s_axi_wstrb;
  assign m_axi_wlast = dut.u_board.u_pcie.s_axi_wlast;
  assign m_axi_wvalid = dut.u_board.u_pcie.s_axi_wvalid;
  assign dut.u_board.u_pcie.down_wready = m_axi_wready;
  assign dut.u_board.u_pcie.down_bresp = m_axi_bresp;
  assign dut.u_board.u_pcie.down_bvalid = m_axi_bvalid;
  assign m_axi_bready = dut.u_board.u_pcie.s_axi_bready;
  assign m_axi_arid = dut.u_board.u_pcie.s_axi_arid;
  assign m_axi_araddr = dut.u_board.u_pcie.s_axi_araddr;
  assign m_axi_arlen = dut.u_board.u_pcie.s_axi_arlen;
  assign m_axi_arsize = dut.u_board.u_pcie.s_axi_arsize;
  assign m_axi_arburst = dut.u_board.u_pcie.s_axi_arburst;
  assign m_axi_arvalid = dut.u_board.u_pcie.s_axi_arvalid;
  assign dut.u_board.u_pcie.down_arready = m_axi_arready;
  assign dut.u_board.u_pcie.down_rdata = m_axi_rdata;
  assign dut.u_board.u_pcie.down_rresp = m_axi_rresp;
  assign dut.u_board.u_pcie.down_rlast = m_axi_rlast;
  assign dut.u_board.u_pcie.down_rvalid = m_axi_rvalid;
  assign m_axi_rready = dut.u_board.u_pcie.s_axi_rready;

  assign c_axil_awaddr = dut.u_board.u_pcie.s_axi_ctl_awaddr;
  assign c_axil_awvalid = dut.u_board.u_pcie.s_axi_ctl_awvalid;
  assign dut.u_board.u_pcie.config_awready = c_axil_awready;
  assign c_axil_wdata = dut.u_board.u_pcie.s_axi_ctl_wdata;
  assign c_axil_wstrb = dut.u_board.u_pcie.s_axi_ctl_wstrb;
  assign c_axil_wvalid = dut.u_board.u_pcie.s_axi_ctl_wvalid;
  assign dut.u_board.u_pcie.config_wready = c_axil_wready;
  assign dut.u_board.u_pcie.config_bresp = c_axil_bresp;
  assign dut.u_board.u_pcie.config_bvalid = c_axil_bvalid;
  assign c_axil_bready = dut.u_board.u_pcie.s_axi_ctl_bready;
  assign c_axil_araddr = dut.u_board.u_pcie.s_axi_ctl_araddr;
  assign c_axil_arvalid = dut.u_board.u_pcie.s_axi_ctl_arvalid;
  assign dut.u_board.u_pcie.config_arready = c_axil_arready;
  assign dut.u_board.u_pcie.config_rdata = c_axil_rdata;
  assign dut.u_board.u_pcie.config_rresp = c_axil_rresp;
  assign dut.u_board.u_pcie.config_rvalid = c_axil_rvalid;
  assign c_axil_rready = dut.u_board.u_pcie.s_axi_ctl_rready;

  assign dut.u_board.u_bench.u_jtag.awaddr = jtag_awaddr;
  assign dut.u_board.u_bench.u_jtag.awvalid = jtag_awvalid;
  assign jtag_awready = dut.u_board.u_bench.u_jtag.m_axi_awready;
  assign dut.u_board.u_bench.u_jtag.wdata = jtag_wdata;
  assign dut.u_board.u_bench.u_jtag.wstrb = jtag_wstrb;
  assign dut.u_board.u_bench.u_jtag.wvalid = jtag_wvalid;
  assign jtag_wready = dut.u_board.u_bench.u_jtag.m_axi_wready;
  assign jtag_bresp = dut.u_board.u_bench.u_jtag.m_axi_bresp;
  assign jtag_bvalid = dut.u_board.u_bench.u_jtag.m_axi_bvalid;
  assign dut.u_board.u_bench.u_jtag.bready = jtag_bready;
  assign dut.u_board.u_bench.u_jtag.araddr = jtag_araddr;
  assign dut.u_board.u_bench.u_jtag.arvalid = jtag_arvalid;
  assign jtag_arready = dut.u_board.u_bench.u_jtag.m_axi_arready;
  assign jtag_rdata = dut.u_board.u_bench.u_jtag.m_axi_rdata;
  assign jtag_rresp = dut.u_board.u_bench.u_jtag.m_axi_rresp;
  assign jtag_rvalid = dut.u_board.u_bench.u_jtag.m_axi_rvalid;
  assign dut.u_board.u_bench.u_jtag.rready = jtag_rready;

endmodule
