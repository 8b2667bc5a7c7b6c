// SPDX-License-Identifier: Apache-2.0
//
// spate_nvme_usp with the names that the models look for, and the rules of its streams watched: what is shown stays until
// it is taken, and a packet to the block has no pauses. A cycle is a microsecond, of which 4 are a millisecond.
module nvme_usp_top
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 139264,
    parameter logic [63:0] WindowBase = 64'h12_4000_0000,
    parameter logic [63:0] BarBase = 64'ha000_0000
) (
    input  logic                    clk,
    input  logic                    rst_n,
    input  logic                    app_clk,
    input  logic                    app_rst_n,
    input  logic                    cmd_valid,
    output logic                    cmd_ready,
    input  logic [             3:0] cmd_op,
    input  logic [             1:0] cmd_source,
    input  logic                    cmd_fua,
    input  logic [            15:0] cmd_tag,
    input  logic [            63:0] cmd_lba,
    input  logic [            31:0] cmd_blocks,
    input  logic [            63:0] cmd_address,
    output logic                    rsp_valid,
    input  logic                    rsp_ready,
    output logic [            15:0] rsp_tag,
    output logic [            15:0] rsp_status,
    output logic [            63:0] rsp_done,
    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [   DataWidth-1:0] s_axis_tdata,
    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic [   DataWidth-1:0] m_axis_tdata,
    output logic                    m_axis_tlast,
    output logic                    m_axis_tuser,
    input  logic [            13:0] s_axil_awaddr,
    input  logic                    s_axil_awvalid,
    output logic                    s_axil_awready,
    input  logic [            31:0] s_axil_wdata,
    input  logic [             3:0] s_axil_wstrb,
    input  logic                    s_axil_wvalid,
    output logic                    s_axil_wready,
    output logic [             1:0] s_axil_bresp,
    output logic                    s_axil_bvalid,
    input  logic                    s_axil_bready,
    input  logic [            13:0] s_axil_araddr,
    input  logic                    s_axil_arvalid,
    output logic                    s_axil_arready,
    output logic [            31:0] s_axil_rdata,
    output logic [             1:0] s_axil_rresp,
    output logic                    s_axil_rvalid,
    input  logic                    s_axil_rready,
    output logic                    irq,
    output logic                    perst_n,
    input  logic                    user_clk,
    input  logic                    user_reset,
    input  logic                    user_lnk_up,
    input  logic [             1:0] cfg_max_payload,
    input  logic [   DataWidth-1:0] cq_tdata,
    input  logic [            87:0] cq_tuser,
    input  logic                    cq_tlast,
    input  logic                    cq_tvalid,
    output logic                    cq_tready,
    output logic [             1:0] pcie_cq_np_req,
    output logic [   DataWidth-1:0] cc_tdata,
    output logic [DataWidth/32-1:0] cc_tkeep,
    output logic [            32:0] cc_tuser,
    output logic                    cc_tlast,
    output logic                    cc_tvalid,
    input  logic                    cc_tready,
    output logic [   DataWidth-1:0] rq_tdata,
    output logic [DataWidth/32-1:0] rq_tkeep,
    output logic [            61:0] rq_tuser,
    output logic                    rq_tlast,
    output logic                    rq_tvalid,
    input  logic                    rq_tready,
    input  logic [   DataWidth-1:0] rc_tdata,
    input  logic [            74:0] rc_tuser,
    input  logic                    rc_tvalid,
    output logic                    rc_tready,
    output logic [             9:0] cfg_mgmt_addr,
    output logic                    cfg_mgmt_write,
    output logic [            31:0] cfg_mgmt_write_data,
    output logic [             3:0] cfg_mgmt_byte_enable,
    output logic                    cfg_mgmt_read,
    input  logic [            31:0] cfg_mgmt_read_data,
    input  logic                    cfg_mgmt_read_write_done,
    input  logic [DataWidth/32-1:0] cq_tkeep,
    input  logic [DataWidth/32-1:0] rc_tkeep,
    input  logic                    rc_tlast
);

  localparam int unsigned WindowBits = window_bits(RamBytes);  // for the bench
  localparam int unsigned Lanes = DataWidth / 32;

  spate_nvme_usp #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBase(WindowBase),
      .BarBase(BarBase),
      .ClockHz(1_000_000),
      .UsPerMs(4),
      .AdminDeadlineMs(3000),
      .CommandDeadlineMs(4000)
  ) dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .user_clk_i(app_clk),
      .user_rst_ni(app_rst_n),
      .cmd_valid_i(cmd_valid),
      .cmd_ready_o(cmd_ready),
      .cmd_op_i(cmd_op),
      .cmd_source_i(cmd_source),
      .cmd_fua_i(cmd_fua),
      .cmd_tag_i(cmd_tag),
      .cmd_lba_i(cmd_lba),
      .cmd_blocks_i(cmd_blocks),
      .cmd_address_i(cmd_address),
      .rsp_valid_o(rsp_valid),
      .rsp_ready_i(rsp_ready),
      .rsp_tag_o(rsp_tag),
      .rsp_status_o(rsp_status),
      .rsp_done_o(rsp_done),
      .s_axis_tvalid_i(s_axis_tvalid),
      .s_axis_tready_o(s_axis_tready),
      .s_axis_tdata_i(s_axis_tdata),
      .m_axis_tvalid_o(m_axis_tvalid),
      .m_axis_tready_i(m_axis_tready),
      .m_axis_tdata_o(m_axis_tdata),
      .m_axis_tlast_o(m_axis_tlast),
      .m_axis_tuser_o(m_axis_tuser),
      .s_axil_awaddr_i(s_axil_awaddr),
      .s_axil_awvalid_i(s_axil_awvalid),
      .s_axil_awready_o(s_axil_awready),
      .s_axil_wdata_i(s_axil_wdata),
      .s_axil_wstrb_i(s_axil_wstrb),
      .s_axil_wvalid_i(s_axil_wvalid),
      .s_axil_wready_o(s_axil_wready),
      .s_axil_bresp_o(s_axil_bresp),
      .s_axil_bvalid_o(s_axil_bvalid),
      .s_axil_bready_i(s_axil_bready),
      .s_axil_araddr_i(s_axil_araddr),
      .s_axil_arvalid_i(s_axil_arvalid),
      .s_axil_arready_o(s_axil_arready),
      .s_axil_rdata_o(s_axil_rdata),
      .s_axil_rresp_o(s_axil_rresp),
      .s_axil_rvalid_o(s_axil_rvalid),
      .s_axil_rready_i(s_axil_rready),
      .irq_o(irq),
      .perst_no(perst_n),
      .pcie_clk_i(user_clk),
      .pcie_reset_i(user_reset),
      .pcie_lnk_up_i(user_lnk_up),
      .cfg_max_payload_i(cfg_max_payload),
      .pcie_m_axis_cq_tdata_i(cq_tdata),
      .pcie_m_axis_cq_tuser_i(cq_tuser),
      .pcie_m_axis_cq_tlast_i(cq_tlast),
      .pcie_m_axis_cq_tvalid_i(cq_tvalid),
      .pcie_m_axis_cq_tready_o(cq_tready),
      .pcie_cq_np_req_o(pcie_cq_np_req),
      .pcie_s_axis_cc_tdata_o(cc_tdata),
      .pcie_s_axis_cc_tkeep_o(cc_tkeep),
      .pcie_s_axis_cc_tuser_o(cc_tuser),
      .pcie_s_axis_cc_tlast_o(cc_tlast),
      .pcie_s_axis_cc_tvalid_o(cc_tvalid),
      .pcie_s_axis_cc_tready_i(cc_tready),
      .pcie_s_axis_rq_tdata_o(rq_tdata),
      .pcie_s_axis_rq_tkeep_o(rq_tkeep),
      .pcie_s_axis_rq_tuser_o(rq_tuser),
      .pcie_s_axis_rq_tlast_o(rq_tlast),
      .pcie_s_axis_rq_tvalid_o(rq_tvalid),
      .pcie_s_axis_rq_tready_i(rq_tready),
      .pcie_m_axis_rc_tdata_i(rc_tdata),
      .pcie_m_axis_rc_tuser_i(rc_tuser),
      .pcie_m_axis_rc_tvalid_i(rc_tvalid),
      .pcie_m_axis_rc_tready_o(rc_tready),
      .cfg_mgmt_addr_o(cfg_mgmt_addr),
      .cfg_mgmt_write_o(cfg_mgmt_write),
      .cfg_mgmt_write_data_o(cfg_mgmt_write_data),
      .cfg_mgmt_byte_enable_o(cfg_mgmt_byte_enable),
      .cfg_mgmt_read_o(cfg_mgmt_read),
      .cfg_mgmt_read_data_i(cfg_mgmt_read_data),
      .cfg_mgmt_read_write_done_i(cfg_mgmt_read_write_done)
  );

  stream_rule #(
      .Width(DataWidth + Lanes + 1)
  ) u_rule_cc (
      .clk_i(user_clk),
      .rst_ni(!user_reset),
      .valid_i(cc_tvalid),
      .ready_i(cc_tready),
      .payload_i({cc_tdata, cc_tkeep, cc_tlast})
  );

  stream_rule #(
      .Width(DataWidth + Lanes + 1)
  ) u_rule_rq (
      .clk_i(user_clk),
      .rst_ni(!user_reset),
      .valid_i(rq_tvalid),
      .ready_i(rq_tready),
      .payload_i({rq_tdata, rq_tkeep, rq_tlast})
  );

  logic inside_cc_q = 1'b0, inside_rq_q = 1'b0;

  always_ff @(posedge user_clk) begin
    if (user_reset) begin
      inside_cc_q <= 1'b0;
      inside_rq_q <= 1'b0;
    end else begin
      if (cc_tvalid && cc_tready) inside_cc_q <= !cc_tlast;
      if (rq_tvalid && rq_tready) inside_rq_q <= !rq_tlast;
      assert (!inside_cc_q || cc_tvalid);
      assert (!inside_rq_q || rq_tvalid);
    end
  end

endmodule
