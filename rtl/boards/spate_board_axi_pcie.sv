// SPDX-License-Identifier: Apache-2.0
//
// A recorder without a processor behind the bridge AXI Memory Mapped to PCI Express of 7-series devices (PG055), with two
// lanes: everything but the board's clock and pins. spate_board_bench is the console, axi_pcie.tcl makes the bridge.
//
//   clk_i ─┬─► reset ─► core, bridge, PERST#
//          │
//   JTAG ─► spate_board_bench ─► spate_nvme_axi ─► axi_pcie_0 ─► two lanes
//                                                      ▲
//                                                   REFCLK
//
// Two clocks: the bridge's, from REFCLK and at most 125 MHz, and the core's, clk_i. The core's does not come from the
// bridge: without REFCLK the bridge has no clock, and the console must tell just that. It is faster than the bridge's,
// because a core that is slower would lose rate.
//
// The bridge's ports tell neither the link's speed and width nor the state of its training.
`default_nettype none

module spate_board_axi_pcie
  import spate_pkg::*;
#(
    parameter int unsigned ClockHz = 130_000_000,  // of clk_i; more than the bridge's 125 MHz
    parameter int unsigned UsPerMs = 1000,  // simulations use less
    parameter int unsigned RamBytes = 262144  // 64 block RAMs
) (
    input  wire logic       clk_i,           // it always runs
    input  wire logic       locked_i,        // asynchronous: clk_i is good
    input  wire logic       pcie_refclk_pi,
    input  wire logic       pcie_refclk_ni,
    input  wire logic [1:0] pcie_rx_pi,
    input  wire logic [1:0] pcie_rx_ni,
    output logic      [1:0] pcie_tx_po,
    output logic      [1:0] pcie_tx_no,
    output logic            perst_no,        // to the drive: an output here, because the board is the root port
    output logic      [3:0] led_o            // ready, gone, link, the block has a clock
);

  localparam int unsigned DataWidth = 128;
  localparam logic [31:0] Window = 32'h8000_0000;  // what the drive sends there is the core's
  localparam logic [31:0] Bar = 32'he000_0000;  // of the drive; axi_pcie.tcl has the same
  localparam int unsigned PowerGoodMs = 100;
  localparam int unsigned HoldCycles = PowerGoodMs * UsPerMs * (ClockHz / 1_000_000);

  logic rst_n;

  spate_board_reset #(
      .HoldCycles(HoldCycles)
  ) u_reset (
      .clk_i,
      .locked_i,
      .rst_no(rst_n)
  );

  // ---- the console ----

  logic [13:0] core_awaddr, core_araddr;
  logic [31:0] core_wdata, core_rdata;
  logic [3:0] core_wstrb;
  logic core_awvalid, core_awready, core_wvalid, core_wready, core_bvalid, core_bready;
  logic core_arvalid, core_arready, core_rvalid, core_rready;
  logic user_rst_n, in_valid, in_ready, out_valid, out_ready, out_last, out_error;
  logic [DataWidth-1:0] in_data, out_data;
  logic pcie_locked, pcie_clock_good, pcie_rst_n, pcie_link_up, pcie_clk;

  logic drive_ready, drive_gone;
  logic [7:0] drive_step, drive_error;

  spate_board_bench #(
      .DataWidth(DataWidth),
      .ClockHz(ClockHz)
  ) u_bench (
      .clk_i,
      .rst_ni(rst_n),
      .m_axil_awaddr_o(core_awaddr),
      .m_axil_awvalid_o(core_awvalid),
      .m_axil_awready_i(core_awready),
      .m_axil_wdata_o(core_wdata),
      .m_axil_wstrb_o(core_wstrb),
      .m_axil_wvalid_o(core_wvalid),
      .m_axil_wready_i(core_wready),
      .m_axil_bvalid_i(core_bvalid),
      .m_axil_bready_o(core_bready),
      .m_axil_araddr_o(core_araddr),
      .m_axil_arvalid_o(core_arvalid),
      .m_axil_arready_i(core_arready),
      .m_axil_rdata_i(core_rdata),
      .m_axil_rvalid_i(core_rvalid),
      .m_axil_rready_o(core_rready),
      .user_rst_no(user_rst_n),
      .m_axis_tvalid_o(in_valid),
      .m_axis_tready_i(in_ready),
      .m_axis_tdata_o(in_data),
      .s_axis_tvalid_i(out_valid),
      .s_axis_tready_o(out_ready),
      .s_axis_tdata_i(out_data),
      .s_axis_tlast_i(out_last),
      .s_axis_tuser_i(out_error),
      .drive_ready_i(drive_ready),
      .drive_gone_i(drive_gone),
      .drive_step_i(drive_step),
      .drive_error_i(drive_error),
      .link_i({perst_no, !pcie_clock_good, pcie_link_up, pcie_locked, 11'b0}),
      .pcie_clk_i(pcie_clk),
      .led_o
  );

  // ---- the core ----

  // The bridge's ports: `up` is what the drive asks for, `down` the drive's registers, `config` the configuration space.
  logic [31:0] up_awaddr, up_araddr;
  logic [7:0] up_awlen, up_arlen;
  logic [2:0] up_awsize, up_arsize;
  logic [1:0] up_awburst, up_arburst, up_bresp, up_rresp;
  logic up_awvalid, up_awready, up_wvalid, up_wready, up_wlast, up_bvalid, up_bready;
  logic up_arvalid, up_arready, up_rvalid, up_rready, up_rlast;
  logic [DataWidth-1:0] up_wdata, up_rdata;
  logic [DataWidth/8-1:0] up_wstrb;

  logic [63:0] down_awaddr, down_araddr;
  logic [2:0] down_awsize, down_arsize;
  logic [1:0] down_bresp, down_rresp;
  logic down_awvalid, down_awready, down_wvalid, down_wready, down_bvalid, down_bready;
  logic down_arvalid, down_arready, down_rvalid, down_rready;
  logic [DataWidth-1:0] down_wdata, down_rdata;
  logic [DataWidth/8-1:0] down_wstrb;

  logic [31:0] config_awaddr, config_wdata, config_araddr, config_rdata;
  logic [3:0] config_wstrb;
  logic [1:0] config_bresp, config_rresp;
  logic config_awvalid, config_awready, config_wvalid, config_wready, config_bvalid, config_bready;
  logic config_arvalid, config_arready, config_rvalid, config_rready;

  // The bridge's clock is good only when it is locked. The adapter takes this reset into the bridge's clock.
  spate_cdc_bit u_pcie_locked (
      .clk_i,
      .level_i(pcie_locked),
      .level_o(pcie_clock_good)
  );

  always_ff @(posedge clk_i) pcie_rst_n <= rst_n && pcie_clock_good;

  // The console gives the commands, through the registers. User's clock and core's clock are the same.
  spate_nvme_axi #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .RamStyle("block"),
      .RamRegisters(2),
      .WindowBase(64'(Window)),
      .BarBase(64'(Bar)),
      .BarAxiBase(64'(Bar)),
      .AddressWidth(32),
      .IdWidth(1),
      .ClockHz(ClockHz),
      .UsPerMs(UsPerMs)
  ) u_spate (
      .clk_i,
      .rst_ni(rst_n),
      .app_clk_i(clk_i),
      .app_rst_ni(user_rst_n),
      .cmd_valid_i(1'b0),
      .cmd_ready_o(),
      .cmd_op_i('0),
      .cmd_source_i('0),
      .cmd_fua_i(1'b0),
      .cmd_tag_i('0),
      .cmd_lba_i('0),
      .cmd_blocks_i('0),
      .cmd_address_i('0),
      .rsp_valid_o(),
      .rsp_ready_i(1'b1),
      .rsp_tag_o(),
      .rsp_status_o(),
      .rsp_done_o(),
      .drive_ready_o(drive_ready),
      .drive_gone_o(drive_gone),
      .drive_step_o(drive_step),
      .drive_error_o(drive_error),
      .drive_block_4096_o(),
      .drive_blocks_o(),
      .s_axis_tvalid_i(in_valid),
      .s_axis_tready_o(in_ready),
      .s_axis_tdata_i(in_data),
      .s_axis_tkeep_i('1),
      .s_axis_tlast_i(1'b0),
      .m_axis_tvalid_o(out_valid),
      .m_axis_tready_i(out_ready),
      .m_axis_tdata_o(out_data),
      .m_axis_tlast_o(out_last),
      .m_axis_tuser_o(out_error),
      .s_axil_awaddr_i(core_awaddr),
      .s_axil_awvalid_i(core_awvalid),
      .s_axil_awready_o(core_awready),
      .s_axil_wdata_i(core_wdata),
      .s_axil_wstrb_i(core_wstrb),
      .s_axil_wvalid_i(core_wvalid),
      .s_axil_wready_o(core_wready),
      .s_axil_bresp_o(),
      .s_axil_bvalid_o(core_bvalid),
      .s_axil_bready_i(core_bready),
      .s_axil_araddr_i(core_araddr),
      .s_axil_arvalid_i(core_arvalid),
      .s_axil_arready_o(core_arready),
      .s_axil_rdata_o(core_rdata),
      .s_axil_rresp_o(),
      .s_axil_rvalid_o(core_rvalid),
      .s_axil_rready_i(core_rready),
      .irq_o(),
      .perst_no,
      .axi_aclk_i(pcie_clk),
      .axi_aresetn_i(pcie_rst_n),
      .user_link_up_i(pcie_link_up),
      .s_axi_awid_i(1'b0),
      .s_axi_awaddr_i(up_awaddr),
      .s_axi_awlen_i(up_awlen),
      .s_axi_awsize_i(up_awsize),
      .s_axi_awburst_i(up_awburst),
      .s_axi_awvalid_i(up_awvalid),
      .s_axi_awready_o(up_awready),
      .s_axi_wdata_i(up_wdata),
      .s_axi_wstrb_i(up_wstrb),
      .s_axi_wlast_i(up_wlast),
      .s_axi_wvalid_i(up_wvalid),
      .s_axi_wready_o(up_wready),
      .s_axi_bid_o(),
      .s_axi_bresp_o(up_bresp),
      .s_axi_bvalid_o(up_bvalid),
      .s_axi_bready_i(up_bready),
      .s_axi_arid_i(1'b0),
      .s_axi_araddr_i(up_araddr),
      .s_axi_arlen_i(up_arlen),
      .s_axi_arsize_i(up_arsize),
      .s_axi_arburst_i(up_arburst),
      .s_axi_arvalid_i(up_arvalid),
      .s_axi_arready_o(up_arready),
      .s_axi_rid_o(),
      .s_axi_rdata_o(up_rdata),
      .s_axi_rresp_o(up_rresp),
      .s_axi_rlast_o(up_rlast),
      .s_axi_rvalid_o(up_rvalid),
      .s_axi_rready_i(up_rready),
      .m_axi_awaddr_o(down_awaddr),
      .m_axi_awsize_o(down_awsize),
      .m_axi_awvalid_o(down_awvalid),
      .m_axi_awready_i(down_awready),
      .m_axi_wdata_o(down_wdata),
      .m_axi_wstrb_o(down_wstrb),
      .m_axi_wvalid_o(down_wvalid),
      .m_axi_wready_i(down_wready),
      .m_axi_bresp_i(down_bresp),
      .m_axi_bvalid_i(down_bvalid),
      .m_axi_bready_o(down_bready),
      .m_axi_araddr_o(down_araddr),
      .m_axi_arsize_o(down_arsize),
      .m_axi_arvalid_o(down_arvalid),
      .m_axi_arready_i(down_arready),
      .m_axi_rdata_i(down_rdata),
      .m_axi_rresp_i(down_rresp),
      .m_axi_rvalid_i(down_rvalid),
      .m_axi_rready_o(down_rready),
      .c_axil_awaddr_o(config_awaddr),
      .c_axil_awvalid_o(config_awvalid),
      .c_axil_awready_i(config_awready),
      .c_axil_wdata_o(config_wdata),
      .c_axil_wstrb_o(config_wstrb),
      .c_axil_wvalid_o(config_wvalid),
      .c_axil_wready_i(config_wready),
      .c_axil_bresp_i(config_bresp),
      .c_axil_bvalid_i(config_bvalid),
      .c_axil_bready_o(config_bready),
      .c_axil_araddr_o(config_araddr),
      .c_axil_arvalid_o(config_arvalid),
      .c_axil_arready_i(config_arready),
      .c_axil_rdata_i(config_rdata),
      .c_axil_rresp_i(config_rresp),
      .c_axil_rvalid_i(config_rvalid),
      .c_axil_rready_o(config_rready),
      .tap_awid_i('0),
      .tap_awvalid_i('0),
      .tap_awready_i('0),
      .tap_bid_i('0),
      .tap_bvalid_i('0),
      .tap_bready_i('0),
      .ring_axi_awaddr_o(),
      .ring_axi_awlen_o(),
      .ring_axi_awsize_o(),
      .ring_axi_awburst_o(),
      .ring_axi_awvalid_o(),
      .ring_axi_awready_i('0),
      .ring_axi_wdata_o(),
      .ring_axi_wstrb_o(),
      .ring_axi_wlast_o(),
      .ring_axi_wvalid_o(),
      .ring_axi_wready_i('0),
      .ring_axi_bresp_i('0),
      .ring_axi_bvalid_i('0),
      .ring_axi_bready_o(),
      .ring_axi_araddr_o(),
      .ring_axi_arlen_o(),
      .ring_axi_arsize_o(),
      .ring_axi_arburst_o(),
      .ring_axi_arvalid_o(),
      .ring_axi_arready_i('0),
      .ring_axi_rdata_i('0),
      .ring_axi_rresp_i('0),
      .ring_axi_rvalid_i('0),
      .ring_axi_rready_o()
  );

  // ---- the bridge, as axi_pcie.tcl creates it ----

  logic refclk;

  // The bridge has no buffer of its own: without this one the drive is not found (NiteFury issue 65).
  IBUFDS_GTE2 u_refclk (
      .I(pcie_refclk_pi),
      .IB(pcie_refclk_ni),
      .CEB(1'b0),
      .O(refclk),
      .ODIV2()
  );

  // axi_aresetn is not PERST#: the core drives PERST#, and a bridge in reset would have no clock. The clock of the control
  // port is the other one.
  axi_pcie_0 u_pcie (
      .REFCLK(refclk),
      .axi_aresetn(rst_n),
      .axi_aclk_out(pcie_clk),
      .axi_ctl_aclk_out(),
      .mmcm_lock(pcie_locked),
      .user_link_up(pcie_link_up),
      .pci_exp_rxp(pcie_rx_pi),
      .pci_exp_rxn(pcie_rx_ni),
      .pci_exp_txp(pcie_tx_po),
      .pci_exp_txn(pcie_tx_no),
      .interrupt_out(),
      .INTX_MSI_Request(1'b0),
      .INTX_MSI_Grant(),
      .MSI_enable(),
      .MSI_Vector_Num('0),
      .MSI_Vector_Width(),
      .m_axi_awaddr(up_awaddr),
      .m_axi_awlen(up_awlen),
      .m_axi_awsize(up_awsize),
      .m_axi_awburst(up_awburst),
      .m_axi_awvalid(up_awvalid),
      .m_axi_awready(up_awready),
      .m_axi_wdata(up_wdata),
      .m_axi_wstrb(up_wstrb),
      .m_axi_wlast(up_wlast),
      .m_axi_wvalid(up_wvalid),
      .m_axi_wready(up_wready),
      .m_axi_bresp(up_bresp),
      .m_axi_bvalid(up_bvalid),
      .m_axi_bready(up_bready),
      .m_axi_araddr(up_araddr),
      .m_axi_arlen(up_arlen),
      .m_axi_arsize(up_arsize),
      .m_axi_arburst(up_arburst),
      .m_axi_arvalid(up_arvalid),
      .m_axi_arready(up_arready),
      .m_axi_rdata(up_rdata),
      .m_axi_rresp(up_rresp),
      .m_axi_rlast(up_rlast),
      .m_axi_rvalid(up_rvalid),
      .m_axi_rready(up_rready),
      .m_axi_awlock(),
      .m_axi_awcache(),
      .m_axi_awprot(),
      .m_axi_arlock(),
      .m_axi_arcache(),
      .m_axi_arprot(),
      .s_axi_awid('0),
      .s_axi_awaddr(down_awaddr[31:0]),
      .s_axi_awregion('0),
      .s_axi_awlen('0),
      .s_axi_awsize(down_awsize),
      .s_axi_awburst(2'b01),
      .s_axi_awvalid(down_awvalid),
      .s_axi_awready(down_awready),
      .s_axi_wdata(down_wdata),
      .s_axi_wstrb(down_wstrb),
      .s_axi_wlast(1'b1),
      .s_axi_wvalid(down_wvalid),
      .s_axi_wready(down_wready),
      .s_axi_bid(),
      .s_axi_bresp(down_bresp),
      .s_axi_bvalid(down_bvalid),
      .s_axi_bready(down_bready),
      .s_axi_arid('0),
      .s_axi_araddr(down_araddr[31:0]),
      .s_axi_arregion('0),
      .s_axi_arlen('0),
      .s_axi_arsize(down_arsize),
      .s_axi_arburst(2'b01),
      .s_axi_arvalid(down_arvalid),
      .s_axi_arready(down_arready),
      .s_axi_rid(),
      .s_axi_rdata(down_rdata),
      .s_axi_rresp(down_rresp),
      .s_axi_rlast(),
      .s_axi_rvalid(down_rvalid),
      .s_axi_rready(down_rready),
      .s_axi_ctl_awaddr(config_awaddr),
      .s_axi_ctl_awvalid(config_awvalid),
      .s_axi_ctl_awready(config_awready),
      .s_axi_ctl_wdata(config_wdata),
      .s_axi_ctl_wstrb(config_wstrb),
      .s_axi_ctl_wvalid(config_wvalid),
      .s_axi_ctl_wready(config_wready),
      .s_axi_ctl_bresp(config_bresp),
      .s_axi_ctl_bvalid(config_bvalid),
      .s_axi_ctl_bready(config_bready),
      .s_axi_ctl_araddr(config_araddr),
      .s_axi_ctl_arvalid(config_arvalid),
      .s_axi_ctl_arready(config_arready),
      .s_axi_ctl_rdata(config_rdata),
      .s_axi_ctl_rresp(config_rresp),
      .s_axi_ctl_rvalid(config_rvalid),
      .s_axi_ctl_rready(config_rready)
  );

  logic unused;  // Bar is below 4 GiB
  assign unused = ^{down_awaddr[63:32], down_araddr[63:32]};

endmodule

`default_nettype wire
