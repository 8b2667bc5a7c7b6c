// SPDX-License-Identifier: Apache-2.0
// Made by tools/rtl/templates.py. spate_nvme_usp: one drive on the UltraScale+ integrated block, data streams through a ring of 256 KiB.
// What each port is stands in rtl/top/spate_nvme_usp.sv, the registers in docs/reference/registers.md.

localparam int unsigned DataWidth = 128;
logic clk;
logic rst_n;
logic user_clk;
logic user_rst_n;
logic cmd_valid;
logic cmd_ready;
logic [3:0] cmd_op;
logic [1:0] cmd_source;
logic cmd_fua;
logic [15:0] cmd_tag;
logic [63:0] cmd_lba;
logic [31:0] cmd_blocks;
logic [63:0] cmd_address;
logic rsp_valid;
logic rsp_ready;
logic [15:0] rsp_tag;
logic [15:0] rsp_status;
logic [63:0] rsp_done;
logic drive_ready;
logic drive_gone;
logic drive_block_4096;
logic [spate_pkg::LbaWidth-1:0] drive_blocks;
logic s_axis_tvalid;
logic s_axis_tready;
logic [DataWidth-1:0] s_axis_tdata;
logic m_axis_tvalid;
logic m_axis_tready;
logic [DataWidth-1:0] m_axis_tdata;
logic m_axis_tlast;
logic m_axis_tuser;
logic [13:0] s_axil_awaddr;
logic s_axil_awvalid;
logic s_axil_awready;
logic [31:0] s_axil_wdata;
logic [3:0] s_axil_wstrb;
logic s_axil_wvalid;
logic s_axil_wready;
logic [1:0] s_axil_bresp;
logic s_axil_bvalid;
logic s_axil_bready;
logic [13:0] s_axil_araddr;
logic s_axil_arvalid;
logic s_axil_arready;
logic [31:0] s_axil_rdata;
logic [1:0] s_axil_rresp;
logic s_axil_rvalid;
logic s_axil_rready;
logic irq;
logic perst_n;
logic pcie_clk;
logic pcie_reset;
logic pcie_lnk_up;
logic [1:0] cfg_max_payload;
logic [DataWidth-1:0] pcie_m_axis_cq_tdata;
logic [87:0] pcie_m_axis_cq_tuser;
logic pcie_m_axis_cq_tlast;
logic pcie_m_axis_cq_tvalid;
logic pcie_m_axis_cq_tready;
logic [1:0] pcie_cq_np_req;
logic [DataWidth-1:0] pcie_s_axis_cc_tdata;
logic [DataWidth/32-1:0] pcie_s_axis_cc_tkeep;
logic [32:0] pcie_s_axis_cc_tuser;
logic pcie_s_axis_cc_tlast;
logic pcie_s_axis_cc_tvalid;
logic pcie_s_axis_cc_tready;
logic [DataWidth-1:0] pcie_s_axis_rq_tdata;
logic [DataWidth/32-1:0] pcie_s_axis_rq_tkeep;
logic [61:0] pcie_s_axis_rq_tuser;
logic pcie_s_axis_rq_tlast;
logic pcie_s_axis_rq_tvalid;
logic pcie_s_axis_rq_tready;
logic [DataWidth-1:0] pcie_m_axis_rc_tdata;
logic [74:0] pcie_m_axis_rc_tuser;
logic pcie_m_axis_rc_tvalid;
logic pcie_m_axis_rc_tready;
logic [9:0] cfg_mgmt_addr;
logic cfg_mgmt_write;
logic [31:0] cfg_mgmt_write_data;
logic [3:0] cfg_mgmt_byte_enable;
logic cfg_mgmt_read;
logic [31:0] cfg_mgmt_read_data;
logic cfg_mgmt_read_write_done;

spate_nvme_usp #(
    .DataWidth(DataWidth),  // of the block and the streams: 128 or 256
    .SlotBits(6),  // log2 of the commands in flight, 2 … 8
    .QueueShiftMax(7),  // log2 of the I/O queues' entries; above SlotBits all slots stay busy
    .RamBytes(262144),  // of the data buffer, above 8192
    .WindowBase(64'h8000_0000),  // of the aperture, as the drive sees it; aligned to its size
    .BarBase(64'he000_0000),  // the bus address that BAR 0 is given
    .ClockHz(250_000_000),  // of clk_i; whole megahertz
    .UsPerMs(1000),  // of a millisecond; simulations shorten bring-up by it
    .HealthMs(1000),  // between two reads of the SMART log
    .AdminDeadlineMs(8000),  // of an admin command
    .CommandDeadlineMs(8000)  // of a read or write
) u_spate (
    .clk_i(clk),
    .rst_ni(rst_n),
    .user_clk_i(user_clk),
    .user_rst_ni(user_rst_n),
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
    .drive_ready_o(drive_ready),
    .drive_gone_o(drive_gone),
    .drive_block_4096_o(drive_block_4096),
    .drive_blocks_o(drive_blocks),
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
    .pcie_clk_i(pcie_clk),
    .pcie_reset_i(pcie_reset),
    .pcie_lnk_up_i(pcie_lnk_up),
    .cfg_max_payload_i(cfg_max_payload),
    .pcie_m_axis_cq_tdata_i(pcie_m_axis_cq_tdata),
    .pcie_m_axis_cq_tuser_i(pcie_m_axis_cq_tuser),
    .pcie_m_axis_cq_tlast_i(pcie_m_axis_cq_tlast),
    .pcie_m_axis_cq_tvalid_i(pcie_m_axis_cq_tvalid),
    .pcie_m_axis_cq_tready_o(pcie_m_axis_cq_tready),
    .pcie_cq_np_req_o(pcie_cq_np_req),
    .pcie_s_axis_cc_tdata_o(pcie_s_axis_cc_tdata),
    .pcie_s_axis_cc_tkeep_o(pcie_s_axis_cc_tkeep),
    .pcie_s_axis_cc_tuser_o(pcie_s_axis_cc_tuser),
    .pcie_s_axis_cc_tlast_o(pcie_s_axis_cc_tlast),
    .pcie_s_axis_cc_tvalid_o(pcie_s_axis_cc_tvalid),
    .pcie_s_axis_cc_tready_i(pcie_s_axis_cc_tready),
    .pcie_s_axis_rq_tdata_o(pcie_s_axis_rq_tdata),
    .pcie_s_axis_rq_tkeep_o(pcie_s_axis_rq_tkeep),
    .pcie_s_axis_rq_tuser_o(pcie_s_axis_rq_tuser),
    .pcie_s_axis_rq_tlast_o(pcie_s_axis_rq_tlast),
    .pcie_s_axis_rq_tvalid_o(pcie_s_axis_rq_tvalid),
    .pcie_s_axis_rq_tready_i(pcie_s_axis_rq_tready),
    .pcie_m_axis_rc_tdata_i(pcie_m_axis_rc_tdata),
    .pcie_m_axis_rc_tuser_i(pcie_m_axis_rc_tuser),
    .pcie_m_axis_rc_tvalid_i(pcie_m_axis_rc_tvalid),
    .pcie_m_axis_rc_tready_o(pcie_m_axis_rc_tready),
    .cfg_mgmt_addr_o(cfg_mgmt_addr),
    .cfg_mgmt_write_o(cfg_mgmt_write),
    .cfg_mgmt_write_data_o(cfg_mgmt_write_data),
    .cfg_mgmt_byte_enable_o(cfg_mgmt_byte_enable),
    .cfg_mgmt_read_o(cfg_mgmt_read),
    .cfg_mgmt_read_data_i(cfg_mgmt_read_data),
    .cfg_mgmt_read_write_done_i(cfg_mgmt_read_write_done)
);
