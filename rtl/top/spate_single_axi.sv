// SPDX-License-Identifier: Apache-2.0
//
// A complete host for one drive behind an AXI-PCIe bridge in root port mode: commands and data streams with a clock of
// their own, the registers for a processor, the core, the adapter. docs/understand/gateware.md explains the structure,
// docs/reference/registers.md the registers. rtl/templates has an instantiation for each mode.
//
// Guarantee: that of spate_host, from the application's clock to the bridge's.
`default_nettype none

module spate_single_axi
  import spate_pkg::*;
  import spate_bus_pkg::*;
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
    input  wire logic     cmd_valid_i,
    output logic          cmd_ready_o,
    input  wire command_t cmd_i,
    output logic          rsp_valid_o,
    input  wire logic     rsp_ready_i,
    output response_t     rsp_o,

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
    input  wire axil_request_t s_axil_i,
    output axil_response_t     s_axil_o,
    output logic               irq_o,

    output logic perst_no,  // to the drive's PERST#

    // The bridge, in its clock, which may stop.
    input wire logic axi_aclk_i,
    input wire logic axi_aresetn_i,
    input wire logic user_link_up_i,

    // from the bridge's master
    input  wire axi_request_t                   s_axi_i,
    output axi_response_t                       s_axi_o,
    input  wire logic         [  DataWidth-1:0] s_axi_wdata_i,
    input  wire logic         [DataWidth/8-1:0] s_axi_wstrb_i,
    output logic              [  DataWidth-1:0] s_axi_rdata_o,

    // to the bridge's slave: single beats of 4 bytes. Missing signals are constant: length 0, INCR, last, identifier 0
    output axi_request_t                         m_axi_o,
    input  wire axi_response_t                   m_axi_i,
    output logic               [  DataWidth-1:0] m_axi_wdata_o,
    output logic               [DataWidth/8-1:0] m_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] m_axi_rdata_i,

    // to the bridge's control port: AXI4-Lite
    output axil_request_t       c_axil_o,
    input  wire axil_response_t c_axil_i,

    // Memory mode: a copy of the write channels between the bridge's master and the memory, in axi_aclk_i. Otherwise
    // tie to zero.
    input wire axi_tap_t tap_i,

    // With MemoryRingBytes: to that memory, in clk_i, with bursts within 4 KiB and one identifier. Otherwise inactive;
    // tie the inputs to zero.
    output axi_request_t                         ring_axi_o,
    input  wire axi_response_t                   ring_axi_i,
    output logic               [  DataWidth-1:0] ring_axi_wdata_o,
    output logic               [DataWidth/8-1:0] ring_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] ring_axi_rdata_i
);

  lanes_request_t request;
  lanes_response_t response;
  logic in_valid, in_ready, in_last, in_null, out_valid, out_ready, out_last, out_error;
  logic [DataWidth-1:0] in_data, out_data;

  spate_user_side #(
      .DataWidth(DataWidth),
      .HasStreams(RamBytes > 8192 || MemoryRingBytes != '0),
      .WriteFrames(WriteFrames),
      .ResponseDepth(2 ** SlotBits)
  ) u_user_side (
      .app_clk_i,
      .app_rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_i,
      .rsp_valid_o,
      .rsp_ready_i,
      .rsp_o,
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
      .lanes_o(request),
      .lanes_i(response),
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

  spate_host_axi #(
      .DataWidth(DataWidth),
      .SlotBits(SlotBits),
      .QueueShiftMax(QueueShiftMax),
      .RamBytes(RamBytes),
      .RamStyle(RamStyle),
      .RamRegisters(RamRegisters),
      .WindowBase(WindowBase),
      .BarBase(BarBase),
      .AddressWidth(AddressWidth),
      .IdWidth(IdWidth),
      .BarAxiBase(BarAxiBase),
      .DeviceConfigOffset(DeviceConfigOffset),
      .LocalConfigOffset(LocalConfigOffset),
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
      .lanes_i(request),
      .lanes_o(response),
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
      .s_axil_i,
      .s_axil_o,
      .irq_o,
      .perst_no,
      .axi_aclk_i,
      .axi_aresetn_i,
      .user_link_up_i,
      .s_axi_i,
      .s_axi_o,
      .s_axi_wdata_i,
      .s_axi_wstrb_i,
      .s_axi_rdata_o,
      .m_axi_o,
      .m_axi_i,
      .m_axi_wdata_o,
      .m_axi_wstrb_o,
      .m_axi_rdata_i,
      .c_axil_o,
      .c_axil_i,
      .tap_i,
      .ring_axi_o,
      .ring_axi_i,
      .ring_axi_wdata_o,
      .ring_axi_wstrb_o,
      .ring_axi_rdata_i
  );

endmodule

`default_nettype wire
