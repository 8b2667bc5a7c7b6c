// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for the vendor's wrapper of the UltraScale+ block, four lanes and 256 bits. Names and widths of the ports are
// those of PG213 and of wrappers that Vivado 2023.2 has generated. Those of MSI, MSI-X, virtual functions and the
// extended configuration space are not here: a root port without interrupts need not connect them.
//
// A testbench drives the variables and sees the ports. A tool that only elaborates takes the module as a black box.

module pcie4_uscale_plus_0 (
    input  wire logic         sys_clk,
    input  wire logic         sys_clk_gt,
    input  wire logic         sys_reset,
    output logic              phy_rdy_out,
    input  wire logic [  3:0] pci_exp_rxp,
    input  wire logic [  3:0] pci_exp_rxn,
    output logic      [  3:0] pci_exp_txp,
    output logic      [  3:0] pci_exp_txn,
    output logic              user_clk,
    output logic              user_reset,
    output logic              user_lnk_up,
    output logic      [255:0] m_axis_cq_tdata,
    output logic      [  7:0] m_axis_cq_tkeep,
    output logic      [ 87:0] m_axis_cq_tuser,
    output logic              m_axis_cq_tlast,
    output logic              m_axis_cq_tvalid,
    input  wire logic         m_axis_cq_tready,
    input  wire logic [  1:0] pcie_cq_np_req,
    output logic      [  5:0] pcie_cq_np_req_count,
    input  wire logic [255:0] s_axis_cc_tdata,
    input  wire logic [  7:0] s_axis_cc_tkeep,
    input  wire logic [ 32:0] s_axis_cc_tuser,
    input  wire logic         s_axis_cc_tlast,
    input  wire logic         s_axis_cc_tvalid,
    output logic      [  3:0] s_axis_cc_tready,
    input  wire logic [255:0] s_axis_rq_tdata,
    input  wire logic [  7:0] s_axis_rq_tkeep,
    input  wire logic [ 61:0] s_axis_rq_tuser,
    input  wire logic         s_axis_rq_tlast,
    input  wire logic         s_axis_rq_tvalid,
    output logic      [  3:0] s_axis_rq_tready,
    output logic      [255:0] m_axis_rc_tdata,
    output logic      [  7:0] m_axis_rc_tkeep,
    output logic      [ 74:0] m_axis_rc_tuser,
    output logic              m_axis_rc_tlast,
    output logic              m_axis_rc_tvalid,
    input  wire logic         m_axis_rc_tready,
    input  wire logic [  9:0] cfg_mgmt_addr,
    input  wire logic [  7:0] cfg_mgmt_function_number,
    input  wire logic         cfg_mgmt_write,
    input  wire logic [ 31:0] cfg_mgmt_write_data,
    input  wire logic [  3:0] cfg_mgmt_byte_enable,
    input  wire logic         cfg_mgmt_read,
    output logic      [ 31:0] cfg_mgmt_read_data,
    output logic              cfg_mgmt_read_write_done,
    input  wire logic         cfg_mgmt_debug_access,
    output logic      [  1:0] cfg_max_payload,
    output logic      [  5:0] cfg_ltssm_state,
    output logic      [  2:0] cfg_negotiated_width,
    output logic      [  1:0] cfg_current_speed,
    input  wire logic         cfg_config_space_enable,
    input  wire logic         cfg_link_training_enable,
    input  wire logic         cfg_power_state_change_ack,
    input  wire logic         cfg_hot_reset_in,
    input  wire logic         cfg_req_pm_transition_l23_ready,
    input  wire logic         cfg_err_cor_in,
    input  wire logic         cfg_err_uncor_in,
    input  wire logic [  3:0] cfg_flr_done,
    input  wire logic [  0:0] cfg_vf_flr_done,
    input  wire logic [  7:0] cfg_vf_flr_func_num,
    input  wire logic         cfg_msg_transmit,
    input  wire logic [  2:0] cfg_msg_transmit_type,
    input  wire logic [ 31:0] cfg_msg_transmit_data,
    input  wire logic [  2:0] cfg_fc_sel,
    input  wire logic [ 63:0] cfg_dsn,
    input  wire logic [  7:0] cfg_ds_port_number,
    input  wire logic [  7:0] cfg_ds_bus_number,
    input  wire logic [  4:0] cfg_ds_device_number,
    input  wire logic [  3:0] cfg_interrupt_int,
    input  wire logic [  3:0] cfg_interrupt_pending,
    input  wire logic         cfg_pm_aspm_l1_entry_reject,
    input  wire logic         cfg_pm_aspm_tx_l0s_entry_disable
);
  logic clk, reset, lnk_up, cq_tlast, cq_tvalid, cc_tready, rq_tready, rc_tlast, rc_tvalid, mgmt_done;
  logic [255:0] cq_tdata, rc_tdata;
  logic [87:0] cq_tuser;
  logic [74:0] rc_tuser;
  logic [31:0] mgmt_data;
  logic [1:0] max_payload;

  // What a link of four lanes at 8 GT/s shows, in L0; without a link, Detect.Quiet.
  assign cfg_ltssm_state = lnk_up ? 6'h10 : 6'h00;
  assign cfg_negotiated_width = lnk_up ? 3'd2 : 3'd0;
  assign cfg_current_speed = lnk_up ? 2'd2 : 2'd0;
  assign phy_rdy_out = sys_reset;
  assign {pci_exp_txp, pci_exp_txn, m_axis_cq_tkeep, pcie_cq_np_req_count, m_axis_rc_tkeep} = '0;

  assign user_clk = clk;
  assign user_reset = reset || !sys_reset;
  assign user_lnk_up = lnk_up;
  assign m_axis_cq_tdata = cq_tdata;
  assign m_axis_cq_tuser = cq_tuser;
  assign m_axis_cq_tlast = cq_tlast;
  assign m_axis_cq_tvalid = cq_tvalid;
  assign s_axis_cc_tready = {4{cc_tready}};
  assign s_axis_rq_tready = {4{rq_tready}};
  assign m_axis_rc_tdata = rc_tdata;
  assign m_axis_rc_tuser = rc_tuser;
  assign m_axis_rc_tlast = rc_tlast;
  assign m_axis_rc_tvalid = rc_tvalid;
  assign cfg_mgmt_read_data = mgmt_data;
  assign cfg_mgmt_read_write_done = mgmt_done;
  assign cfg_max_payload = max_payload;
endmodule
