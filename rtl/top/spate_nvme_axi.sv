// SPDX-License-Identifier: Apache-2.0
//
// A complete host for one drive behind an AXI-PCIe bridge in root port mode: commands and data streams with a clock of
// their own, the registers for a processor, the core, the adapter. docs/understand/gateware.md explains the structure,
// docs/reference/registers.md the registers. rtl/templates has an instantiation for each mode.
//
// Guarantee: that of spate_host, from the application's clock to the bridge's.
`default_nettype none

module spate_nvme_axi
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the bridge and the streams: 128, 256 or 512
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight, 2 … 8
    parameter int unsigned QueueShiftMax = 7,  // log2 of the I/O queues' entries; if > SlotBits, all slots stay busy
    parameter int unsigned RamBytes = 262144,  // of the data buffer; 8192: memory mode
    parameter RamStyle = "auto",  // of the data buffer: the attribute ram_style
    parameter int unsigned RamRegisters = 1,  // of the data buffer: registers after the memory, 1 … 4
    parameter logic [63:0] WindowBase = 64'h8000_0000,  // of the aperture, as the drive sees it; aligned to its size
    parameter logic [63:0] BarBase = 64'he000_0000,  // the bus address assigned to BAR 0
    parameter logic [63:0] BarAxiBase = 64'h0,  // its address at the bridge's slave port
    parameter int unsigned AddressWidth = 64,  // of the bridge's master
    parameter int unsigned IdWidth = 4,  // of the bridge's master
    parameter int unsigned AddressBits = 40,  // of data addresses: memory mode, and the memory of a ring in memory
    parameter logic [63:0] MemoryRingBytes = 64'd0,  // size of a ring in memory; needs RamBytes 8192. 0: none
    parameter logic [63:0] MemoryRingBase = 64'h0,  // address of its first byte on ring_axi
    parameter logic [63:0] MemoryRingDriveBase = 64'h0,  // address of the same byte, as the drive sees it
    parameter int unsigned PartBytes = 524288,  // ring in memory: largest part; a power of two, at least 4096
    parameter int unsigned Parts = 32,  // ring in memory: parts in flight; a power of two
    parameter int unsigned CommandSectorsLimit = command_sectors_limit(RamBytes),  // largest command; memory mode: 4088
    parameter bit WriteFrames = 1'b0,  // 1: writes can end with s_axis_tlast_i; 0: it and s_axis_tkeep_i are ignored
    parameter int unsigned ClockHz = 250_000_000,  // of clk_i; whole megahertz
    parameter int unsigned UsPerMs = 1000,  // microseconds per millisecond; simulations use less to shorten bring-up
    parameter int unsigned HealthMs = 1000,  // time between two reads of the SMART log
    parameter int unsigned AdminDeadlineMs = 8000,  // of an admin command
    parameter int unsigned CommandDeadlineMs = 8000,  // of a read or write
    parameter bit XilinxBridge = 1'b1,  // the root port has PG194's registers
    parameter logic [31:0] DeviceConfigOffset = 32'h0010_0000,  // bus 1 in the bridge's control port
    parameter logic [31:0] LocalConfigOffset = 32'h0  // the root port's own, in the same port
) (
    // The clock of the core and the registers. It never stops.
    input wire logic clk_i,
    input wire logic rst_ni,

    // The application's clock, for cmd, rsp, s_axis and m_axis. Its reset empties the clock crossings.
    input wire logic app_clk_i,
    input wire logic app_rst_ni,

    // Commands and responses: spate_pkg::command_t and response_t.
    input  wire logic        cmd_valid_i,
    output logic             cmd_ready_o,
    input  wire logic [ 3:0] cmd_op_i,
    input  wire logic [ 1:0] cmd_source_i,
    input  wire logic        cmd_fua_i,
    input  wire logic [15:0] cmd_tag_i,
    input  wire logic [63:0] cmd_lba_i,
    input  wire logic [31:0] cmd_blocks_i,
    input  wire logic [63:0] cmd_address_i,
    output logic             rsp_valid_o,
    input  wire logic        rsp_ready_i,
    output logic      [15:0] rsp_tag_o,
    output logic      [15:0] rsp_status_o,
    output logic      [63:0] rsp_done_o,

    // The drive, in app_clk_i. Commands wait for `ready`. Block size and number of blocks are valid while it is
    // high, and while `gone` is high the step of bring-up and the error with which the drive was given up:
    // docs/reference/gateware-bringup.md.
    output logic                drive_ready_o,
    output logic                drive_gone_o,        // commands end with StatusGone
    output logic [         7:0] drive_step_o,
    output logic [         7:0] drive_error_o,
    output logic                drive_block_4096_o,
    output logic [LbaWidth-1:0] drive_blocks_o,

    // Data to write and data that were read: whole beats, in the order of the commands. Inactive in memory mode without
    // a ring in memory.
    input  wire logic                   s_axis_tvalid_i,
    output logic                        s_axis_tready_o,
    input  wire logic [  DataWidth-1:0] s_axis_tdata_i,
    input  wire logic [DataWidth/8-1:0] s_axis_tkeep_i,   // bytes that are not kept are written as zeros
    input  wire logic                   s_axis_tlast_i,   // the write ends, if its source is 3
    output logic                        m_axis_tvalid_o,
    input  wire logic                   m_axis_tready_i,
    output logic      [  DataWidth-1:0] m_axis_tdata_o,
    output logic                        m_axis_tlast_o,   // last beat of a request
    output logic                        m_axis_tuser_o,   // the beat could not be read

    // The registers, 16 KiB, in clk_i.
    input  wire logic [13:0] s_axil_awaddr_i,
    input  wire logic        s_axil_awvalid_i,
    output logic             s_axil_awready_o,
    input  wire logic [31:0] s_axil_wdata_i,
    input  wire logic [ 3:0] s_axil_wstrb_i,
    input  wire logic        s_axil_wvalid_i,
    output logic             s_axil_wready_o,
    output logic      [ 1:0] s_axil_bresp_o,
    output logic             s_axil_bvalid_o,
    input  wire logic        s_axil_bready_i,
    input  wire logic [13:0] s_axil_araddr_i,
    input  wire logic        s_axil_arvalid_i,
    output logic             s_axil_arready_o,
    output logic      [31:0] s_axil_rdata_o,
    output logic      [ 1:0] s_axil_rresp_o,
    output logic             s_axil_rvalid_o,
    input  wire logic        s_axil_rready_i,
    output logic             irq_o,

    output logic perst_no,  // to the drive's PERST#

    // The bridge, in its clock, which may stop.
    input wire logic axi_aclk_i,
    input wire logic axi_aresetn_i,
    input wire logic user_link_up_i,

    // from the bridge's master
    input  wire logic [     IdWidth-1:0] s_axi_awid_i,
    input  wire logic [AddressWidth-1:0] s_axi_awaddr_i,
    input  wire logic [             7:0] s_axi_awlen_i,
    input  wire logic [             2:0] s_axi_awsize_i,
    input  wire logic [             1:0] s_axi_awburst_i,
    input  wire logic                    s_axi_awvalid_i,
    output logic                         s_axi_awready_o,
    input  wire logic [   DataWidth-1:0] s_axi_wdata_i,
    input  wire logic [ DataWidth/8-1:0] s_axi_wstrb_i,
    input  wire logic                    s_axi_wlast_i,
    input  wire logic                    s_axi_wvalid_i,
    output logic                         s_axi_wready_o,
    output logic      [     IdWidth-1:0] s_axi_bid_o,
    output logic      [             1:0] s_axi_bresp_o,
    output logic                         s_axi_bvalid_o,
    input  wire logic                    s_axi_bready_i,
    input  wire logic [     IdWidth-1:0] s_axi_arid_i,
    input  wire logic [AddressWidth-1:0] s_axi_araddr_i,
    input  wire logic [             7:0] s_axi_arlen_i,
    input  wire logic [             2:0] s_axi_arsize_i,
    input  wire logic [             1:0] s_axi_arburst_i,
    input  wire logic                    s_axi_arvalid_i,
    output logic                         s_axi_arready_o,
    output logic      [     IdWidth-1:0] s_axi_rid_o,
    output logic      [   DataWidth-1:0] s_axi_rdata_o,
    output logic      [             1:0] s_axi_rresp_o,
    output logic                         s_axi_rlast_o,
    output logic                         s_axi_rvalid_o,
    input  wire logic                    s_axi_rready_i,

    // to the bridge's slave: single beats of 4 bytes. Missing signals are constant: length 0, INCR, last, identifier 0
    output logic      [           63:0] m_axi_awaddr_o,
    output logic      [            2:0] m_axi_awsize_o,
    output logic                        m_axi_awvalid_o,
    input  wire logic                   m_axi_awready_i,
    output logic      [  DataWidth-1:0] m_axi_wdata_o,
    output logic      [DataWidth/8-1:0] m_axi_wstrb_o,
    output logic                        m_axi_wvalid_o,
    input  wire logic                   m_axi_wready_i,
    input  wire logic [            1:0] m_axi_bresp_i,
    input  wire logic                   m_axi_bvalid_i,
    output logic                        m_axi_bready_o,
    output logic      [           63:0] m_axi_araddr_o,
    output logic      [            2:0] m_axi_arsize_o,
    output logic                        m_axi_arvalid_o,
    input  wire logic                   m_axi_arready_i,
    input  wire logic [  DataWidth-1:0] m_axi_rdata_i,
    input  wire logic [            1:0] m_axi_rresp_i,
    input  wire logic                   m_axi_rvalid_i,
    output logic                        m_axi_rready_o,

    // to the bridge's control port: AXI4-Lite
    output logic      [31:0] c_axil_awaddr_o,
    output logic             c_axil_awvalid_o,
    input  wire logic        c_axil_awready_i,
    output logic      [31:0] c_axil_wdata_o,
    output logic      [ 3:0] c_axil_wstrb_o,
    output logic             c_axil_wvalid_o,
    input  wire logic        c_axil_wready_i,
    input  wire logic [ 1:0] c_axil_bresp_i,
    input  wire logic        c_axil_bvalid_i,
    output logic             c_axil_bready_o,
    output logic      [31:0] c_axil_araddr_o,
    output logic             c_axil_arvalid_o,
    input  wire logic        c_axil_arready_i,
    input  wire logic [31:0] c_axil_rdata_i,
    input  wire logic [ 1:0] c_axil_rresp_i,
    input  wire logic        c_axil_rvalid_i,
    output logic             c_axil_rready_o,

    // Memory mode: a copy of the write channels between the bridge's master and the memory, in axi_aclk_i. Otherwise
    // tie to zero.
    input wire logic [IdWidth-1:0] tap_awid_i,
    input wire logic               tap_awvalid_i,
    input wire logic               tap_awready_i,
    input wire logic [IdWidth-1:0] tap_bid_i,
    input wire logic               tap_bvalid_i,
    input wire logic               tap_bready_i,

    // With MemoryRingBytes: to that memory, in clk_i, with bursts within 4 KiB and one identifier. Otherwise inactive;
    // tie the inputs to zero.
    output logic      [AddressBits-1:0] ring_axi_awaddr_o,
    output logic      [            7:0] ring_axi_awlen_o,
    output logic      [            2:0] ring_axi_awsize_o,
    output logic      [            1:0] ring_axi_awburst_o,
    output logic                        ring_axi_awvalid_o,
    input  wire logic                   ring_axi_awready_i,
    output logic      [  DataWidth-1:0] ring_axi_wdata_o,
    output logic      [DataWidth/8-1:0] ring_axi_wstrb_o,
    output logic                        ring_axi_wlast_o,
    output logic                        ring_axi_wvalid_o,
    input  wire logic                   ring_axi_wready_i,
    input  wire logic [            1:0] ring_axi_bresp_i,
    input  wire logic                   ring_axi_bvalid_i,
    output logic                        ring_axi_bready_o,
    output logic      [AddressBits-1:0] ring_axi_araddr_o,
    output logic      [            7:0] ring_axi_arlen_o,
    output logic      [            2:0] ring_axi_arsize_o,
    output logic      [            1:0] ring_axi_arburst_o,
    output logic                        ring_axi_arvalid_o,
    input  wire logic                   ring_axi_arready_i,
    input  wire logic [  DataWidth-1:0] ring_axi_rdata_i,
    input  wire logic [            1:0] ring_axi_rresp_i,
    input  wire logic                   ring_axi_rvalid_i,
    output logic                        ring_axi_rready_o
);

  localparam int unsigned WindowBits = window_bits(RamBytes);
  localparam bit InMemory = RamBytes <= 8192;  // the drive accesses data in memory directly

  logic command_valid, command_ready, side_valid, side_ready, response_valid, response_ready;
  command_t command;
  response_t response;
  logic in_valid, in_ready, in_last, in_null, out_valid, out_ready, out_last, out_error;
  logic [DataWidth-1:0] in_data, out_data;
  logic adapter_reset, adapter_quiet, quiet, link_up, tap_lost, fence_request, fence_answer;
  logic read_valid, read_ready, read_data_valid, read_data_ready, read_last;
  window_read_t read;
  window_write_t write;
  logic [DataWidth-1:0] read_data, write_data;
  logic write_valid, write_ready;
  logic [DataWidth/8-1:0] write_strobe;
  logic mmio_valid, mmio_ready, mmio_response_valid;
  mmio_request_t mmio_request;
  mmio_response_t mmio_response;

  spate_user_side #(
      .DataWidth(DataWidth),
      .HasStreams(!InMemory || MemoryRingBytes != '0),
      .WriteFrames(WriteFrames),
      .ResponseDepth(2 ** SlotBits)
  ) u_user_side (
      .app_clk_i,
      .app_rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_op_i,
      .cmd_source_i,
      .cmd_fua_i,
      .cmd_tag_i,
      .cmd_lba_i,
      .cmd_blocks_i,
      .cmd_address_i,
      .rsp_valid_o,
      .rsp_ready_i,
      .rsp_tag_o,
      .rsp_status_o,
      .rsp_done_o,
      .s_axis_tvalid_i,
      .s_axis_tready_o,
      .s_axis_tdata_i,
      .s_axis_tkeep_i,
      .s_axis_tlast_i,
      .m_axis_tvalid_o,
      .m_axis_tready_i,
      .m_axis_tdata_o,
      .m_axis_tlast_o,
      .m_axis_tuser_o,
      .clk_i,
      .rst_ni,
      .command_valid_o(command_valid),
      .command_ready_i(command_ready),
      .side_valid_o(side_valid),
      .side_ready_i(side_ready),
      .command_o(command),
      .response_valid_i(response_valid),
      .response_ready_o(response_ready),
      .response_i(response),
      .data_valid_o(in_valid),
      .data_ready_i(in_ready),
      .data_o(in_data),
      .data_last_o(in_last),
      .data_null_o(in_null),
      .data_valid_i(out_valid),
      .data_ready_o(out_ready),
      .data_i(out_data),
      .data_last_i(out_last),
      .data_error_i(out_error)
  );

  drive_t drive;
  logic [7:0] step, error;
  spate_user_drive u_user_drive (
      .clk_i,
      .drive_i(drive),
      .step_i(step),
      .error_i(error),
      .app_clk_i,
      .drive_ready_o,
      .drive_gone_o,
      .drive_step_o,
      .drive_error_o,
      .drive_block_4096_o,
      .drive_blocks_o
  );

  spate_host #(
      .DataWidth(DataWidth),
      .SlotBits(SlotBits),
      .QueueShiftMax(QueueShiftMax),
      .RamBytes(RamBytes),
      .RamStyle(RamStyle),
      .RamRegisters(RamRegisters),
      .WindowBase(WindowBase),
      .BarBase(BarBase),
      .AddressBits(AddressBits),
      .MemoryRingBytes(MemoryRingBytes),
      .MemoryRingBase(MemoryRingBase),
      .MemoryRingDriveBase(MemoryRingDriveBase),
      .PartBytes(PartBytes),
      .Parts(Parts),
      .CommandSectorsLimit(CommandSectorsLimit),
      .ClockHz(ClockHz),
      .UsPerMs(UsPerMs),
      .HealthMs(HealthMs),
      .AdminDeadlineMs(AdminDeadlineMs),
      .CommandDeadlineMs(CommandDeadlineMs),
      .XilinxBridge(XilinxBridge),
      .WriteFrames(WriteFrames)
  ) u_host (
      .clk_i,
      .rst_ni,
      .command_valid_i(command_valid),
      .command_ready_o(command_ready),
      .command_i(command),
      .side_valid_i(side_valid),
      .side_ready_o(side_ready),
      .side_i(command),
      .response_valid_o(response_valid),
      .response_ready_i(response_ready),
      .response_o(response),
      .data_valid_i(in_valid),
      .data_ready_o(in_ready),
      .data_i(in_data),
      .data_last_i(in_last),
      .data_null_i(in_null),
      .data_valid_o(out_valid),
      .data_ready_i(out_ready),
      .data_o(out_data),
      .data_last_o(out_last),
      .data_error_o(out_error),
      .idle_i(1'b1),
      .drive_o(drive),
      .step_o(step),
      .error_o(error),
      .s_axil_awaddr_i,
      .s_axil_awvalid_i,
      .s_axil_awready_o,
      .s_axil_wdata_i,
      .s_axil_wstrb_i,
      .s_axil_wvalid_i,
      .s_axil_wready_o,
      .s_axil_bresp_o,
      .s_axil_bvalid_o,
      .s_axil_bready_i,
      .s_axil_araddr_i,
      .s_axil_arvalid_i,
      .s_axil_arready_o,
      .s_axil_rdata_o,
      .s_axil_rresp_o,
      .s_axil_rvalid_o,
      .s_axil_rready_i,
      .irq_o,
      .link_up_i(link_up),
      .perst_no,
      .adapter_reset_o(adapter_reset),
      .adapter_quiet_i(quiet),
      .read_valid_i(read_valid),
      .read_ready_o(read_ready),
      .read_i(read),
      .read_data_valid_o(read_data_valid),
      .read_data_ready_i(read_data_ready),
      .read_data_o(read_data),
      .read_last_o(read_last),
      .write_valid_i(write_valid),
      .write_ready_o(write_ready),
      .write_i(write),
      .write_data_i(write_data),
      .write_strobe_i(write_strobe),
      .mmio_request_valid_o(mmio_valid),
      .mmio_request_ready_i(mmio_ready),
      .mmio_request_o(mmio_request),
      .mmio_response_valid_i(mmio_response_valid),
      .mmio_response_i(mmio_response),
      .fence_request_o(fence_request),
      .fence_answer_i(fence_answer),
      .tap_lost_i(tap_lost),
      .ring_axi_awaddr_o,
      .ring_axi_awlen_o,
      .ring_axi_awsize_o,
      .ring_axi_awburst_o,
      .ring_axi_awvalid_o,
      .ring_axi_awready_i,
      .ring_axi_wdata_o,
      .ring_axi_wstrb_o,
      .ring_axi_wlast_o,
      .ring_axi_wvalid_o,
      .ring_axi_wready_i,
      .ring_axi_bresp_i,
      .ring_axi_bvalid_i,
      .ring_axi_bready_o,
      .ring_axi_araddr_o,
      .ring_axi_arlen_o,
      .ring_axi_arsize_o,
      .ring_axi_arburst_o,
      .ring_axi_arvalid_o,
      .ring_axi_arready_i,
      .ring_axi_rdata_i,
      .ring_axi_rresp_i,
      .ring_axi_rvalid_i,
      .ring_axi_rready_o
  );

  spate_pcie_axi #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .IdWidth(IdWidth),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .BarAxiBase(BarAxiBase),
      .DeviceConfigOffset(DeviceConfigOffset),
      .LocalConfigOffset(LocalConfigOffset)
  ) u_adapter (
      .clk_i,
      .rst_ni,
      .adapter_reset_i(adapter_reset),
      .quiet_o(adapter_quiet),
      .link_up_o(link_up),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_o(read),
      .read_data_valid_i(read_data_valid),
      .read_data_ready_o(read_data_ready),
      .read_data_i(read_data),
      .read_last_i(read_last),
      .write_valid_o(write_valid),
      .write_ready_i(write_ready),
      .write_o(write),
      .write_data_o(write_data),
      .write_strobe_o(write_strobe),
      .request_valid_i(mmio_valid),
      .request_ready_o(mmio_ready),
      .request_i(mmio_request),
      .response_valid_o(mmio_response_valid),
      .response_o(mmio_response),
      .axi_aclk_i,
      .axi_aresetn_i,
      .user_link_up_i,
      .s_axi_awid_i,
      .s_axi_awaddr_i,
      .s_axi_awlen_i,
      .s_axi_awsize_i,
      .s_axi_awburst_i,
      .s_axi_awvalid_i,
      .s_axi_awready_o,
      .s_axi_wdata_i,
      .s_axi_wstrb_i,
      .s_axi_wlast_i,
      .s_axi_wvalid_i,
      .s_axi_wready_o,
      .s_axi_bid_o,
      .s_axi_bresp_o,
      .s_axi_bvalid_o,
      .s_axi_bready_i,
      .s_axi_arid_i,
      .s_axi_araddr_i,
      .s_axi_arlen_i,
      .s_axi_arsize_i,
      .s_axi_arburst_i,
      .s_axi_arvalid_i,
      .s_axi_arready_o,
      .s_axi_rid_o,
      .s_axi_rdata_o,
      .s_axi_rresp_o,
      .s_axi_rlast_o,
      .s_axi_rvalid_o,
      .s_axi_rready_i,
      .m_axi_awaddr_o,
      .m_axi_awsize_o,
      .m_axi_awvalid_o,
      .m_axi_awready_i,
      .m_axi_wdata_o,
      .m_axi_wstrb_o,
      .m_axi_wvalid_o,
      .m_axi_wready_i,
      .m_axi_bresp_i,
      .m_axi_bvalid_i,
      .m_axi_bready_o,
      .m_axi_araddr_o,
      .m_axi_arsize_o,
      .m_axi_arvalid_o,
      .m_axi_arready_i,
      .m_axi_rdata_i,
      .m_axi_rresp_i,
      .m_axi_rvalid_i,
      .m_axi_rready_o,
      .c_axil_awaddr_o,
      .c_axil_awvalid_o,
      .c_axil_awready_i,
      .c_axil_wdata_o,
      .c_axil_wstrb_o,
      .c_axil_wvalid_o,
      .c_axil_wready_i,
      .c_axil_bresp_i,
      .c_axil_bvalid_i,
      .c_axil_bready_o,
      .c_axil_araddr_o,
      .c_axil_arvalid_o,
      .c_axil_arready_i,
      .c_axil_rdata_i,
      .c_axil_rresp_i,
      .c_axil_rvalid_i,
      .c_axil_rready_o
  );

  // ---- memory mode: are the writes that bypassed the core answered? ----

  if (!InMemory) begin : gen_no_tap
    assign fence_answer = 1'b0;
    assign quiet = adapter_quiet;
    assign tap_lost = 1'b0;
  end else begin : gen_tap
    logic tap_rst_n, idle, idle_here, lost;
    spate_cdc_reset u_tap_reset (
        .clk_i(axi_aclk_i),
        .rst_ni(axi_aresetn_i),
        .rst_no(tap_rst_n)
    );
    spate_write_tap #(
        .IdWidth(IdWidth)
    ) u_tap (
        .clk_i(axi_aclk_i),
        .rst_ni(tap_rst_n),
        .tap_awvalid_i,
        .tap_awready_i,
        .tap_awid_i,
        .tap_bvalid_i,
        .tap_bready_i,
        .tap_bid_i,
        .fence_request_i(fence_request),
        .fence_answer_o(fence_answer),
        .idle_o(idle),
        .lost_o(lost)
    );
    spate_cdc_bit u_idle (
        .clk_i,
        .level_i(idle),
        .level_o(idle_here)
    );
    spate_cdc_bit u_lost (
        .clk_i,
        .level_i(lost),
        .level_o(tap_lost)
    );
    assign quiet = adapter_quiet && idle_here;
  end


endmodule

`default_nettype wire
