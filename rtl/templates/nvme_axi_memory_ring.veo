// SPDX-License-Identifier: Apache-2.0
// Made by tools/rtl/templates.py. spate_nvme_axi: one drive behind an AXI-PCIe bridge, data streams through a ring of 1 GiB in memory.
// What each port is stands in rtl/top/spate_nvme_axi.sv, the registers in docs/reference/registers.md.

localparam int unsigned DataWidth = 128;
localparam int unsigned RamBytes = 8192;
localparam int unsigned AddressWidth = 64;
localparam int unsigned IdWidth = 4;
localparam int unsigned AddressBits = 40;
localparam logic [63:0] MemoryRingBytes = 64'h4000_0000;
localparam logic [63:0] MemoryRingBase = 64'h1_0000_0000;
localparam logic [63:0] MemoryRingDriveBase = 64'h1_0000_0000;
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
logic axi_aclk;
logic axi_aresetn;
logic user_link_up;
logic [IdWidth-1:0] s_axi_awid;
logic [AddressWidth-1:0] s_axi_awaddr;
logic [7:0] s_axi_awlen;
logic [2:0] s_axi_awsize;
logic [1:0] s_axi_awburst;
logic s_axi_awvalid;
logic s_axi_awready;
logic [DataWidth-1:0] s_axi_wdata;
logic [DataWidth/8-1:0] s_axi_wstrb;
logic s_axi_wlast;
logic s_axi_wvalid;
logic s_axi_wready;
logic [IdWidth-1:0] s_axi_bid;
logic [1:0] s_axi_bresp;
logic s_axi_bvalid;
logic s_axi_bready;
logic [IdWidth-1:0] s_axi_arid;
logic [AddressWidth-1:0] s_axi_araddr;
logic [7:0] s_axi_arlen;
logic [2:0] s_axi_arsize;
logic [1:0] s_axi_arburst;
logic s_axi_arvalid;
logic s_axi_arready;
logic [IdWidth-1:0] s_axi_rid;
logic [DataWidth-1:0] s_axi_rdata;
logic [1:0] s_axi_rresp;
logic s_axi_rlast;
logic s_axi_rvalid;
logic s_axi_rready;
logic [63:0] m_axi_awaddr;
logic [2:0] m_axi_awsize;
logic m_axi_awvalid;
logic m_axi_awready;
logic [DataWidth-1:0] m_axi_wdata;
logic [DataWidth/8-1:0] m_axi_wstrb;
logic m_axi_wvalid;
logic m_axi_wready;
logic [1:0] m_axi_bresp;
logic m_axi_bvalid;
logic m_axi_bready;
logic [63:0] m_axi_araddr;
logic [2:0] m_axi_arsize;
logic m_axi_arvalid;
logic m_axi_arready;
logic [DataWidth-1:0] m_axi_rdata;
logic [1:0] m_axi_rresp;
logic m_axi_rvalid;
logic m_axi_rready;
logic [31:0] c_axil_awaddr;
logic c_axil_awvalid;
logic c_axil_awready;
logic [31:0] c_axil_wdata;
logic [3:0] c_axil_wstrb;
logic c_axil_wvalid;
logic c_axil_wready;
logic [1:0] c_axil_bresp;
logic c_axil_bvalid;
logic c_axil_bready;
logic [31:0] c_axil_araddr;
logic c_axil_arvalid;
logic c_axil_arready;
logic [31:0] c_axil_rdata;
logic [1:0] c_axil_rresp;
logic c_axil_rvalid;
logic c_axil_rready;
logic [IdWidth-1:0] tap_awid;
logic tap_awvalid;
logic tap_awready;
logic [IdWidth-1:0] tap_bid;
logic tap_bvalid;
logic tap_bready;
logic [AddressBits-1:0] ring_axi_awaddr;
logic [7:0] ring_axi_awlen;
logic [2:0] ring_axi_awsize;
logic [1:0] ring_axi_awburst;
logic ring_axi_awvalid;
logic ring_axi_awready;
logic [DataWidth-1:0] ring_axi_wdata;
logic [DataWidth/8-1:0] ring_axi_wstrb;
logic ring_axi_wlast;
logic ring_axi_wvalid;
logic ring_axi_wready;
logic [1:0] ring_axi_bresp;
logic ring_axi_bvalid;
logic ring_axi_bready;
logic [AddressBits-1:0] ring_axi_araddr;
logic [7:0] ring_axi_arlen;
logic [2:0] ring_axi_arsize;
logic [1:0] ring_axi_arburst;
logic ring_axi_arvalid;
logic ring_axi_arready;
logic [DataWidth-1:0] ring_axi_rdata;
logic [1:0] ring_axi_rresp;
logic ring_axi_rvalid;
logic ring_axi_rready;

spate_nvme_axi #(
    .DataWidth(DataWidth),  // of the bridge and the streams: 128, 256 or 512
    .SlotBits(6),  // log2 of the commands in flight, 2 … 8
    .QueueShiftMax(7),  // log2 of the I/O queues' entries; above SlotBits all slots stay busy
    .RamBytes(RamBytes),  // of the data buffer; 8192: memory mode
    .WindowBase(64'h8000_0000),  // of the aperture, as the drive sees it; aligned to its size
    .BarBase(64'he000_0000),  // the bus address that BAR 0 is given
    .BarAxiBase(64'h0),  // where the bridge's slave port has it
    .AddressWidth(AddressWidth),  // of the bridge's master
    .IdWidth(IdWidth),  // of the bridge's master
    .AddressBits(AddressBits),  // of data addresses: memory mode, and the memory of a ring there
    .MemoryRingBytes(MemoryRingBytes),  // of a ring in memory; needs RamBytes 8192. 0: none
    .MemoryRingBase(MemoryRingBase),  // its first byte, as ring_axi has it
    .MemoryRingDriveBase(MemoryRingDriveBase),  // the same byte, as the drive sees it
    .PieceBytes(524288),  // ring in memory: of the largest piece; a power of two, at least 4096
    .Pieces(32),  // ring in memory: that are under way; a power of two
    .ClockHz(250_000_000),  // of clk_i; whole megahertz
    .UsPerMs(1000),  // of a millisecond; simulations shorten bring-up by it
    .HealthMs(1000),  // between two reads of the SMART log
    .AdminDeadlineMs(8000),  // of an admin command
    .CommandDeadlineMs(8000),  // of a read or write
    .XilinxBridge(1'b1),  // the root port has PG194's registers
    .DeviceConfigOffset(32'h0010_0000),  // bus 1 in the bridge's control port
    .LocalConfigOffset(32'h0)  // the root port itself
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
    .axi_aclk_i(axi_aclk),
    .axi_aresetn_i(axi_aresetn),
    .user_link_up_i(user_link_up),
    .s_axi_awid_i(s_axi_awid),
    .s_axi_awaddr_i(s_axi_awaddr),
    .s_axi_awlen_i(s_axi_awlen),
    .s_axi_awsize_i(s_axi_awsize),
    .s_axi_awburst_i(s_axi_awburst),
    .s_axi_awvalid_i(s_axi_awvalid),
    .s_axi_awready_o(s_axi_awready),
    .s_axi_wdata_i(s_axi_wdata),
    .s_axi_wstrb_i(s_axi_wstrb),
    .s_axi_wlast_i(s_axi_wlast),
    .s_axi_wvalid_i(s_axi_wvalid),
    .s_axi_wready_o(s_axi_wready),
    .s_axi_bid_o(s_axi_bid),
    .s_axi_bresp_o(s_axi_bresp),
    .s_axi_bvalid_o(s_axi_bvalid),
    .s_axi_bready_i(s_axi_bready),
    .s_axi_arid_i(s_axi_arid),
    .s_axi_araddr_i(s_axi_araddr),
    .s_axi_arlen_i(s_axi_arlen),
    .s_axi_arsize_i(s_axi_arsize),
    .s_axi_arburst_i(s_axi_arburst),
    .s_axi_arvalid_i(s_axi_arvalid),
    .s_axi_arready_o(s_axi_arready),
    .s_axi_rid_o(s_axi_rid),
    .s_axi_rdata_o(s_axi_rdata),
    .s_axi_rresp_o(s_axi_rresp),
    .s_axi_rlast_o(s_axi_rlast),
    .s_axi_rvalid_o(s_axi_rvalid),
    .s_axi_rready_i(s_axi_rready),
    .m_axi_awaddr_o(m_axi_awaddr),
    .m_axi_awsize_o(m_axi_awsize),
    .m_axi_awvalid_o(m_axi_awvalid),
    .m_axi_awready_i(m_axi_awready),
    .m_axi_wdata_o(m_axi_wdata),
    .m_axi_wstrb_o(m_axi_wstrb),
    .m_axi_wvalid_o(m_axi_wvalid),
    .m_axi_wready_i(m_axi_wready),
    .m_axi_bresp_i(m_axi_bresp),
    .m_axi_bvalid_i(m_axi_bvalid),
    .m_axi_bready_o(m_axi_bready),
    .m_axi_araddr_o(m_axi_araddr),
    .m_axi_arsize_o(m_axi_arsize),
    .m_axi_arvalid_o(m_axi_arvalid),
    .m_axi_arready_i(m_axi_arready),
    .m_axi_rdata_i(m_axi_rdata),
    .m_axi_rresp_i(m_axi_rresp),
    .m_axi_rvalid_i(m_axi_rvalid),
    .m_axi_rready_o(m_axi_rready),
    .c_axil_awaddr_o(c_axil_awaddr),
    .c_axil_awvalid_o(c_axil_awvalid),
    .c_axil_awready_i(c_axil_awready),
    .c_axil_wdata_o(c_axil_wdata),
    .c_axil_wstrb_o(c_axil_wstrb),
    .c_axil_wvalid_o(c_axil_wvalid),
    .c_axil_wready_i(c_axil_wready),
    .c_axil_bresp_i(c_axil_bresp),
    .c_axil_bvalid_i(c_axil_bvalid),
    .c_axil_bready_o(c_axil_bready),
    .c_axil_araddr_o(c_axil_araddr),
    .c_axil_arvalid_o(c_axil_arvalid),
    .c_axil_arready_i(c_axil_arready),
    .c_axil_rdata_i(c_axil_rdata),
    .c_axil_rresp_i(c_axil_rresp),
    .c_axil_rvalid_i(c_axil_rvalid),
    .c_axil_rready_o(c_axil_rready),
    .tap_awid_i(tap_awid),
    .tap_awvalid_i(tap_awvalid),
    .tap_awready_i(tap_awready),
    .tap_bid_i(tap_bid),
    .tap_bvalid_i(tap_bvalid),
    .tap_bready_i(tap_bready),
    .ring_axi_awaddr_o(ring_axi_awaddr),
    .ring_axi_awlen_o(ring_axi_awlen),
    .ring_axi_awsize_o(ring_axi_awsize),
    .ring_axi_awburst_o(ring_axi_awburst),
    .ring_axi_awvalid_o(ring_axi_awvalid),
    .ring_axi_awready_i(ring_axi_awready),
    .ring_axi_wdata_o(ring_axi_wdata),
    .ring_axi_wstrb_o(ring_axi_wstrb),
    .ring_axi_wlast_o(ring_axi_wlast),
    .ring_axi_wvalid_o(ring_axi_wvalid),
    .ring_axi_wready_i(ring_axi_wready),
    .ring_axi_bresp_i(ring_axi_bresp),
    .ring_axi_bvalid_i(ring_axi_bvalid),
    .ring_axi_bready_o(ring_axi_bready),
    .ring_axi_araddr_o(ring_axi_araddr),
    .ring_axi_arlen_o(ring_axi_arlen),
    .ring_axi_arsize_o(ring_axi_arsize),
    .ring_axi_arburst_o(ring_axi_arburst),
    .ring_axi_arvalid_o(ring_axi_arvalid),
    .ring_axi_arready_i(ring_axi_arready),
    .ring_axi_rdata_i(ring_axi_rdata),
    .ring_axi_rresp_i(ring_axi_rresp),
    .ring_axi_rvalid_i(ring_axi_rvalid),
    .ring_axi_rready_o(ring_axi_rready)
);
