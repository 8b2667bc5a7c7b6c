// SPDX-License-Identifier: Apache-2.0
//
// A recorder without a processor on the integrated block of an UltraScale+ device: everything but the board's clock and
// pins. spate_board_bench is the console, usp.tcl makes the block.
//
//   clk_i ─┬─► reset ─► core, block, PERST#
//          │
//   JTAG ─► spate_board_bench ─► spate_single_usp ─► pcie4_uscale_plus_0 ─► four lanes
//                                                        ▲
//                                                     REFCLK
//
// Two clocks: the block's user clock, 125 MHz from REFCLK, and the core's, clk_i. The core's does not come from the
// block: without REFCLK the block has no user clock, and the console must report that. It is faster than the block's
// by more than both oscillators' tolerances, because a core that is slower than the block would lose rate.
`default_nettype none

module spate_board_usp
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned ClockHz = 126_000_000,  // of clk_i; more than the block's 125 MHz
    parameter int unsigned UsPerMs = 1000,  // simulations use less
    parameter int unsigned RamBytes = 524288  // 16 UltraRAMs
) (
    input  wire logic       clk_i,           // it always runs
    input  wire logic       locked_i,        // asynchronous: clk_i is good
    input  wire logic       pcie_refclk_pi,
    input  wire logic       pcie_refclk_ni,
    input  wire logic [3:0] pcie_rx_pi,
    input  wire logic [3:0] pcie_rx_ni,
    output logic      [3:0] pcie_tx_po,
    output logic      [3:0] pcie_tx_no,
    output logic            perst_no,        // to the drive: an output here, because the board is the root port
    output logic      [3:0] led_o            // ready, gone, link, the block has a clock
);

  localparam int unsigned DataWidth = 256;
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
  logic [5:0] ltssm;
  logic [2:0] link_width;
  logic [1:0] link_speed;
  logic phy_ready, pcie_reset, pcie_link_up, pcie_clk;

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
      .link_i({perst_no, pcie_reset, pcie_link_up, phy_ready, link_speed, link_width, ltssm}),
      .pcie_clk_i(pcie_clk),
      .led_o
  );

  // ---- the core ----

  logic [1:0] cfg_max_payload, cq_np_req;
  logic [DataWidth-1:0] cq_tdata, cc_tdata, rq_tdata, rc_tdata;
  logic [DataWidth/32-1:0] cc_tkeep, rq_tkeep;
  usp_stream_t cq, cc, rq, rc;
  logic [3:0] cc_tready, rq_tready;  // the block's four bits are equal
  logic cq_tready, rc_tready;
  cfg_mgmt_request_t cfg_mgmt_request;
  cfg_mgmt_response_t cfg_mgmt_response;

  // The console gives the commands, through the registers. User's clock and core's clock are the same.
  spate_single_usp #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .RamStyle("ultra"),
      .RamRegisters(2),
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
      .pcie_clk_i(pcie_clk),
      .pcie_reset_i(pcie_reset),
      .pcie_lnk_up_i(pcie_link_up),
      .cfg_max_payload_i(cfg_max_payload),
      .pcie_m_axis_cq_tdata_i(cq_tdata),
      .pcie_m_axis_cq_i(cq),
      .pcie_m_axis_cq_tready_o(cq_tready),
      .pcie_cq_np_req_o(cq_np_req),
      .pcie_s_axis_cc_tdata_o(cc_tdata),
      .pcie_s_axis_cc_tkeep_o(cc_tkeep),
      .pcie_s_axis_cc_o(cc),
      .pcie_s_axis_cc_tready_i(cc_tready[0]),
      .pcie_s_axis_rq_tdata_o(rq_tdata),
      .pcie_s_axis_rq_tkeep_o(rq_tkeep),
      .pcie_s_axis_rq_o(rq),
      .pcie_s_axis_rq_tready_i(rq_tready[0]),
      .pcie_m_axis_rc_tdata_i(rc_tdata),
      .pcie_m_axis_rc_i(rc),
      .pcie_m_axis_rc_tready_o(rc_tready),
      .cfg_mgmt_o(cfg_mgmt_request),
      .cfg_mgmt_i(cfg_mgmt_response)
  );

  // ---- the hard block, as usp.tcl creates it ----

  logic refclk, refclk_gt;

  // Both outputs have the frequency of the input. The block has the BUFG_GT after ODIV2.
  IBUFDS_GTE4 #(
      .REFCLK_HROW_CK_SEL(2'b00)
  ) u_refclk (
      .I(pcie_refclk_pi),
      .IB(pcie_refclk_ni),
      .CEB(1'b0),
      .O(refclk_gt),
      .ODIV2(refclk)
  );

  // sys_reset is active low, and is not PERST#: the core drives PERST#, and a block in reset would have no clock.
  // Ports of functions that a root port without interrupts does not have are left out.
  pcie4_uscale_plus_0 u_pcie (
      .sys_clk(refclk),
      .sys_clk_gt(refclk_gt),
      .sys_reset(rst_n),
      .phy_rdy_out(phy_ready),
      .pci_exp_rxp(pcie_rx_pi),
      .pci_exp_rxn(pcie_rx_ni),
      .pci_exp_txp(pcie_tx_po),
      .pci_exp_txn(pcie_tx_no),
      .user_clk(pcie_clk),
      .user_reset(pcie_reset),
      .user_lnk_up(pcie_link_up),
      .m_axis_cq_tdata(cq_tdata),
      .m_axis_cq_tkeep(),
      .m_axis_cq_tuser(cq.tuser),
      .m_axis_cq_tlast(cq.tlast),
      .m_axis_cq_tvalid(cq.tvalid),
      .m_axis_cq_tready(cq_tready),
      .pcie_cq_np_req(cq_np_req),
      .pcie_cq_np_req_count(),
      .s_axis_cc_tdata(cc_tdata),
      .s_axis_cc_tkeep(cc_tkeep),
      .s_axis_cc_tuser(cc.tuser[32:0]),
      .s_axis_cc_tlast(cc.tlast),
      .s_axis_cc_tvalid(cc.tvalid),
      .s_axis_cc_tready(cc_tready),
      .s_axis_rq_tdata(rq_tdata),
      .s_axis_rq_tkeep(rq_tkeep),
      .s_axis_rq_tuser(rq.tuser[61:0]),
      .s_axis_rq_tlast(rq.tlast),
      .s_axis_rq_tvalid(rq.tvalid),
      .s_axis_rq_tready(rq_tready),
      .m_axis_rc_tdata(rc_tdata),
      .m_axis_rc_tkeep(),
      .m_axis_rc_tuser(rc.tuser[74:0]),
      .m_axis_rc_tlast(),
      .m_axis_rc_tvalid(rc.tvalid),
      .m_axis_rc_tready(rc_tready),
      .cfg_mgmt_addr(cfg_mgmt_request.addr),
      .cfg_mgmt_function_number('0),
      .cfg_mgmt_write(cfg_mgmt_request.write),
      .cfg_mgmt_write_data(cfg_mgmt_request.write_data),
      .cfg_mgmt_byte_enable(cfg_mgmt_request.byte_enable),
      .cfg_mgmt_read(cfg_mgmt_request.read),
      .cfg_mgmt_read_data(cfg_mgmt_response.read_data),
      .cfg_mgmt_read_write_done(cfg_mgmt_response.read_write_done),
      .cfg_mgmt_debug_access(1'b0),
      .cfg_max_payload(cfg_max_payload),
      .cfg_ltssm_state(ltssm),
      .cfg_negotiated_width(link_width),
      .cfg_current_speed(link_speed),
      .cfg_config_space_enable(1'b1),
      .cfg_link_training_enable(1'b1),
      .cfg_power_state_change_ack(1'b1),
      .cfg_hot_reset_in(1'b0),
      .cfg_req_pm_transition_l23_ready(1'b0),
      .cfg_err_cor_in(1'b0),
      .cfg_err_uncor_in(1'b0),
      .cfg_flr_done('0),
      .cfg_vf_flr_done('0),
      .cfg_vf_flr_func_num('0),
      .cfg_msg_transmit(1'b0),
      .cfg_msg_transmit_type('0),
      .cfg_msg_transmit_data('0),
      .cfg_fc_sel('0),
      .cfg_dsn('0),
      .cfg_ds_port_number('0),
      .cfg_ds_bus_number('0),
      .cfg_ds_device_number('0),
      .cfg_interrupt_int('0),
      .cfg_interrupt_pending('0),
      .cfg_pm_aspm_l1_entry_reject(1'b0),
      .cfg_pm_aspm_tx_l0s_entry_disable(1'b0)
  );

  assign rc.tuser[87:75] = '0;
  assign rc.tlast = 1'b0;
  logic unused;  // the other bits of ready, and of the widest stream
  assign unused = ^{cc_tready[3:1], rq_tready[3:1], cc.tuser[87:33], rq.tuser[87:62]};

endmodule

`default_nettype wire
