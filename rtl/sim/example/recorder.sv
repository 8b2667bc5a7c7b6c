// SPDX-License-Identifier: Apache-2.0
//
// An example of a user's design around spate_nvme_usp, small enough to simulate in a minute: `record_i` writes `Blocks`
// blocks of a pattern from block `FirstLba` on and flushes, `play_i` reads them back. The hard block is outside: its
// user side are ports, which a project connects to the block, and a simulation to a model of it.
module recorder #(
    parameter int unsigned FirstLba = 2048,
    parameter int unsigned Blocks = 128,  // of 512 bytes
    parameter int unsigned ClockHz = 250_000_000,  // these three have other values in a simulation
    parameter int unsigned UsPerMs = 1000,
    parameter int unsigned DeadlineMs = 8000
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic        record_i,  // pulses, while `busy_o` is low
    input  wire logic        play_i,
    output logic             busy_o,
    output logic      [15:0] status_o,  // of the last command, when `busy_o` falls

    output logic              play_valid_o,
    input  wire logic         play_ready_i,
    output logic      [127:0] play_data_o,
    output logic              play_last_o,
    output logic              play_error_o,

    output logic perst_no,

    input  wire logic         pcie_clk_i,
    input  wire logic         pcie_reset_i,
    input  wire logic         pcie_lnk_up_i,
    input  wire logic [  1:0] cfg_max_payload_i,
    input  wire logic [127:0] pcie_m_axis_cq_tdata_i,
    input  wire logic [ 87:0] pcie_m_axis_cq_tuser_i,
    input  wire logic         pcie_m_axis_cq_tlast_i,
    input  wire logic         pcie_m_axis_cq_tvalid_i,
    output logic              pcie_m_axis_cq_tready_o,
    output logic      [  1:0] pcie_cq_np_req_o,
    output logic      [127:0] pcie_s_axis_cc_tdata_o,
    output logic      [  3:0] pcie_s_axis_cc_tkeep_o,
    output logic      [ 32:0] pcie_s_axis_cc_tuser_o,
    output logic              pcie_s_axis_cc_tlast_o,
    output logic              pcie_s_axis_cc_tvalid_o,
    input  wire logic         pcie_s_axis_cc_tready_i,
    output logic      [127:0] pcie_s_axis_rq_tdata_o,
    output logic      [  3:0] pcie_s_axis_rq_tkeep_o,
    output logic      [ 61:0] pcie_s_axis_rq_tuser_o,
    output logic              pcie_s_axis_rq_tlast_o,
    output logic              pcie_s_axis_rq_tvalid_o,
    input  wire logic         pcie_s_axis_rq_tready_i,
    input  wire logic [127:0] pcie_m_axis_rc_tdata_i,
    input  wire logic [ 74:0] pcie_m_axis_rc_tuser_i,
    input  wire logic         pcie_m_axis_rc_tvalid_i,
    output logic              pcie_m_axis_rc_tready_o,
    output logic      [  9:0] cfg_mgmt_addr_o,
    output logic              cfg_mgmt_write_o,
    output logic      [ 31:0] cfg_mgmt_write_data_o,
    output logic      [  3:0] cfg_mgmt_byte_enable_o,
    output logic              cfg_mgmt_read_o,
    input  wire logic [ 31:0] cfg_mgmt_read_data_i,
    input  wire logic         cfg_mgmt_read_write_done_i
);

  localparam logic [3:0] Flush = 4'd0, Write = 4'd1, Read = 4'd2;

  logic cmd_valid, cmd_ready, rsp_valid, source_valid, source_ready;
  logic [3:0] op_q;
  logic [15:0] rsp_status;
  logic [127:0] source_data;

  // One command after the other: a write is followed by a flush, if it was good.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {busy_o, cmd_valid} <= '0;
      op_q <= Flush;
      status_o <= '0;
    end else if (!busy_o) begin
      if (record_i || play_i) begin
        {busy_o, cmd_valid} <= '1;
        op_q <= record_i ? Write : Read;
      end
    end else if (cmd_valid) begin
      cmd_valid <= !cmd_ready;
    end else if (rsp_valid) begin
      status_o <= rsp_status;
      if (op_q == Write && rsp_status == '0) begin
        op_q <= Flush;
        cmd_valid <= 1'b1;
      end else begin
        busy_o <= 1'b0;
      end
    end
  end

  spate_pattern_source #(
      .DataWidth(128)
  ) u_source (
      .clk_i,
      .rst_ni,
      .start_i(record_i && !busy_o),
      .stop_i(1'b0),
      .seed_i(64'd1),
      .beats_i(48'(Blocks * 32)),
      .rate_i(9'd256),
      .busy_o(),
      .data_valid_o(source_valid),
      .data_ready_i(source_ready),
      .data_o(source_data),
      .data_last_o(),
      .beats_o(),
      .stall_cycles_o(),
      .cycles_o()
  );

  // The ports of the hard block have the same names here: .* connects them.
  spate_nvme_usp #(
      .DataWidth(128),
      .ClockHz(ClockHz),
      .UsPerMs(UsPerMs),
      .AdminDeadlineMs(DeadlineMs),
      .CommandDeadlineMs(DeadlineMs)
  ) u_spate (
      .app_clk_i(clk_i),
      .app_rst_ni(rst_ni),
      .cmd_valid_i(cmd_valid),
      .cmd_ready_o(cmd_ready),
      .cmd_op_i(op_q),
      .cmd_source_i(2'd0),
      .cmd_fua_i(1'b0),
      .cmd_tag_i('0),
      .cmd_lba_i(64'(FirstLba)),
      .cmd_blocks_i(Blocks),
      .cmd_address_i('0),
      .rsp_valid_o(rsp_valid),
      .rsp_ready_i(1'b1),
      .rsp_tag_o(),
      .rsp_status_o(rsp_status),
      .rsp_done_o(),
      .drive_ready_o(),
      .drive_gone_o(),
      .drive_step_o(),
      .drive_error_o(),
      .drive_block_4096_o(),
      .drive_blocks_o(),
      .s_axis_tvalid_i(source_valid),
      .s_axis_tready_o(source_ready),
      .s_axis_tdata_i(source_data),
      .s_axis_tkeep_i('1),
      .s_axis_tlast_i(1'b0),
      .m_axis_tvalid_o(play_valid_o),
      .m_axis_tready_i(play_ready_i),
      .m_axis_tdata_o(play_data_o),
      .m_axis_tlast_o(play_last_o),
      .m_axis_tuser_o(play_error_o),
      .s_axil_awaddr_i('0),
      .s_axil_awvalid_i(1'b0),
      .s_axil_awready_o(),
      .s_axil_wdata_i('0),
      .s_axil_wstrb_i('0),
      .s_axil_wvalid_i(1'b0),
      .s_axil_wready_o(),
      .s_axil_bresp_o(),
      .s_axil_bvalid_o(),
      .s_axil_bready_i(1'b0),
      .s_axil_araddr_i('0),
      .s_axil_arvalid_i(1'b0),
      .s_axil_arready_o(),
      .s_axil_rdata_o(),
      .s_axil_rresp_o(),
      .s_axil_rvalid_o(),
      .s_axil_rready_i(1'b0),
      .irq_o(),
      .*
  );

endmodule
