// SPDX-License-Identifier: Apache-2.0
//
// A recorder without a processor behind the bridge AXI Memory Mapped to PCI Express of 7-series devices (PG055), with
// two lanes: everything but the board's clock and pins. spate_board_bench is the console, axi_pcie.tcl makes the
// bridge.
//
//   clk_i ─┬─► reset ─► core, bridge, PERST#
//          │
//   JTAG ─► spate_board_bench ─► spate_single_axi ─► axi_pcie_0 ─► two lanes
//                                                      ▲
//                                                   REFCLK
//
// Two clocks: the bridge's, from REFCLK and at most 125 MHz, and the core's, clk_i. The core's does not come from the
// bridge: without REFCLK the bridge has no clock, and the console must report that. It is faster than the bridge's,
// because a core that is slower would lose rate.
//
// The bridge's ports report neither the link's speed and width nor the state of its training.
`default_nettype none

module spate_board_axi_pcie
  import spate_pkg::*;
  import spate_bus_pkg::*;
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

  axil_request_t core_request;
  axil_response_t core_response;
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
      .m_axil_o(core_request),
      .m_axil_i(core_response),
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

  // The bridge's ports: `up` has the drive's requests, `down` the drive's registers, `config` the configuration space.
  axi_request_t up_request, down_request;
  axi_response_t up_response, down_response;
  logic [DataWidth-1:0] up_wdata, up_rdata, down_wdata, down_rdata;
  logic [DataWidth/8-1:0] up_wstrb, down_wstrb;
  axil_request_t config_request;
  axil_response_t config_response;

  // The bridge's clock is good only when it is locked. The adapter takes this reset into the bridge's clock.
  spate_cdc_bit u_pcie_locked (
      .clk_i,
      .level_i(pcie_locked),
      .level_o(pcie_clock_good)
  );

  always_ff @(posedge clk_i) pcie_rst_n <= rst_n && pcie_clock_good;

  // The console gives the commands, through the registers. User's clock and core's clock are the same.
  spate_single_axi #(
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
      .cmd_i('0),
      .rsp_valid_o(),
      .rsp_ready_i(1'b1),
      .rsp_o(),
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
      .s_axil_i(core_request),
      .s_axil_o(core_response),
      .irq_o(),
      .perst_no,
      .axi_aclk_i(pcie_clk),
      .axi_aresetn_i(pcie_rst_n),
      .user_link_up_i(pcie_link_up),
      .s_axi_i(up_request),
      .s_axi_o(up_response),
      .s_axi_wdata_i(up_wdata),
      .s_axi_wstrb_i(up_wstrb),
      .s_axi_rdata_o(up_rdata),
      .m_axi_o(down_request),
      .m_axi_i(down_response),
      .m_axi_wdata_o(down_wdata),
      .m_axi_wstrb_o(down_wstrb),
      .m_axi_rdata_i(down_rdata),
      .c_axil_o(config_request),
      .c_axil_i(config_response),
      .tap_i('0),
      .ring_axi_o(),
      .ring_axi_i('0),
      .ring_axi_wdata_o(),
      .ring_axi_wstrb_o(),
      .ring_axi_rdata_i('0)
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

  // axi_aresetn is not PERST#: the core drives PERST#, and a bridge in reset would have no clock. The control port's
  // clock, axi_ctl_aclk_out, is taken for the same as axi_aclk_out: RESULTS.md has the command that shows it.
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
      .m_axi_awaddr(up_request.write.awaddr[31:0]),
      .m_axi_awlen(up_request.write.awlen),
      .m_axi_awsize(up_request.write.awsize),
      .m_axi_awburst(up_request.write.awburst),
      .m_axi_awvalid(up_request.write.awvalid),
      .m_axi_awready(up_response.write.awready),
      .m_axi_wdata(up_wdata),
      .m_axi_wstrb(up_wstrb),
      .m_axi_wlast(up_request.write.wlast),
      .m_axi_wvalid(up_request.write.wvalid),
      .m_axi_wready(up_response.write.wready),
      .m_axi_bresp(up_response.write.bresp),
      .m_axi_bvalid(up_response.write.bvalid),
      .m_axi_bready(up_request.write.bready),
      .m_axi_araddr(up_request.read.araddr[31:0]),
      .m_axi_arlen(up_request.read.arlen),
      .m_axi_arsize(up_request.read.arsize),
      .m_axi_arburst(up_request.read.arburst),
      .m_axi_arvalid(up_request.read.arvalid),
      .m_axi_arready(up_response.read.arready),
      .m_axi_rdata(up_rdata),
      .m_axi_rresp(up_response.read.rresp),
      .m_axi_rlast(up_response.read.rlast),
      .m_axi_rvalid(up_response.read.rvalid),
      .m_axi_rready(up_request.read.rready),
      .m_axi_awlock(),
      .m_axi_awcache(),
      .m_axi_awprot(),
      .m_axi_arlock(),
      .m_axi_arcache(),
      .m_axi_arprot(),
      .s_axi_awid('0),
      .s_axi_awaddr(down_request.write.awaddr[31:0]),
      .s_axi_awregion('0),
      .s_axi_awlen('0),
      .s_axi_awsize(down_request.write.awsize),
      .s_axi_awburst(2'b01),
      .s_axi_awvalid(down_request.write.awvalid),
      .s_axi_awready(down_response.write.awready),
      .s_axi_wdata(down_wdata),
      .s_axi_wstrb(down_wstrb),
      .s_axi_wlast(1'b1),
      .s_axi_wvalid(down_request.write.wvalid),
      .s_axi_wready(down_response.write.wready),
      .s_axi_bid(),
      .s_axi_bresp(down_response.write.bresp),
      .s_axi_bvalid(down_response.write.bvalid),
      .s_axi_bready(down_request.write.bready),
      .s_axi_arid('0),
      .s_axi_araddr(down_request.read.araddr[31:0]),
      .s_axi_arregion('0),
      .s_axi_arlen('0),
      .s_axi_arsize(down_request.read.arsize),
      .s_axi_arburst(2'b01),
      .s_axi_arvalid(down_request.read.arvalid),
      .s_axi_arready(down_response.read.arready),
      .s_axi_rid(),
      .s_axi_rdata(down_rdata),
      .s_axi_rresp(down_response.read.rresp),
      .s_axi_rlast(),
      .s_axi_rvalid(down_response.read.rvalid),
      .s_axi_rready(down_request.read.rready),
      .s_axi_ctl_awaddr(config_request.awaddr),
      .s_axi_ctl_awvalid(config_request.awvalid),
      .s_axi_ctl_awready(config_response.awready),
      .s_axi_ctl_wdata(config_request.wdata),
      .s_axi_ctl_wstrb(config_request.wstrb),
      .s_axi_ctl_wvalid(config_request.wvalid),
      .s_axi_ctl_wready(config_response.wready),
      .s_axi_ctl_bresp(config_response.bresp),
      .s_axi_ctl_bvalid(config_response.bvalid),
      .s_axi_ctl_bready(config_request.bready),
      .s_axi_ctl_araddr(config_request.araddr),
      .s_axi_ctl_arvalid(config_request.arvalid),
      .s_axi_ctl_arready(config_response.arready),
      .s_axi_ctl_rdata(config_response.rdata),
      .s_axi_ctl_rresp(config_response.rresp),
      .s_axi_ctl_rvalid(config_response.rvalid),
      .s_axi_ctl_rready(config_request.rready)
  );

  // The bridge has 32 bits of address, and no identifiers. It has no ports for some of what is constant, as Bar's upper
  // half.
  assign {up_request.write.awid, up_request.write.awaddr[63:32]} = '0;
  assign {up_request.read.arid, up_request.read.araddr[63:32]} = '0;
  assign {down_response.write.bid, down_response.read.rid, down_response.read.rlast} = '0;
  logic unused;
  assign unused = ^{down_request, up_response};

endmodule

`default_nettype wire
