// SPDX-License-Identifier: Apache-2.0
//
// A complete host for several drives as one, each behind an AXI-PCIe bridge of its own. Commands and data streams, with
// a clock of their own, pass through spate_stripe to one core per drive. Each drive has its own registers: through them
// a processor accesses the metadata, with the library's stripe over one spate_gateware for each drive, and the drives'
// health. Stream commands belong to the stripe: the registers must not be given any.
//
// Guarantee: that of spate_stripe over spate_host, from the application's clock to the bridges'.
`default_nettype none

module spate_array_axi
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned Drives = 2,  // 2 … 8
    parameter int unsigned ChunkBytes = 65536,  // chunk of the array, a power of two; a ring holds two
    parameter int unsigned DataWidth = 128,  // of the bridges and the streams: 128, 256 or 512
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight, 2 … 8
    parameter int unsigned QueueShiftMax = 7,  // log2 of the I/O queues' entries; if > SlotBits, all slots stay busy
    parameter int unsigned RamBytes = 262144,  // of each drive's data buffer; 8192: memory mode
    parameter RamStyle = "auto",  // of the data buffer: the attribute ram_style
    parameter int unsigned RamRegisters = 1,  // of the data buffer: registers after the memory, 1 … 4
    parameter logic [63:0] WindowBase = 64'h8000_0000,  // of the aperture, as the drive sees it; aligned to its size
    parameter logic [63:0] BarBase = 64'he000_0000,  // the bus address assigned to BAR 0
    parameter logic [63:0] BarAxiBase = 64'h0,  // its address at the bridge's slave port
    parameter int unsigned AddressWidth = 64,  // of the bridge's master
    parameter int unsigned IdWidth = 4,  // of the bridge's master
    parameter int unsigned AddressBits = 40,  // memory mode: of data addresses
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
    // The clock of the cores and the registers. It never stops.
    input wire logic clk_i,
    input wire logic rst_ni,

    // The array's layout, in clk_i: where each member's data area begins, and its length in whole chunks. Stable while
    // `array_valid_i`. Commands wait for that and for all drives.
    input wire logic array_valid_i,
    input wire logic [Drives-1:0][LbaWidth-1:0] array_data_lba_i,
    input wire logic [LbaWidth-1:0] array_member_blocks_i,
    output logic [31:0] array_frames_o,  // WriteFrames: beats with s_axis_tlast_i that writes took; wraps
    output logic [LbaWidth+2:0] array_written_blocks_o,  // with a response; of each write those before its first error

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

    // Each drive, in app_clk_i: block size and number of blocks are valid while it is ready. While it is gone, the
    // step of bring-up and the error with which it was given up are: docs/reference/gateware-bringup.md.
    output logic [Drives-1:0]               drive_ready_o,
    output logic [Drives-1:0]               drive_gone_o,        // commands end with StatusGone
    output logic [Drives-1:0][         7:0] drive_step_o,
    output logic [Drives-1:0][         7:0] drive_error_o,
    output logic [Drives-1:0]               drive_block_4096_o,
    output logic [Drives-1:0][LbaWidth-1:0] drive_blocks_o,

    // Data to write and data that were read: whole beats, in the order of the commands. Inactive in memory mode.
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

    // Each drive's registers, 16 KiB, in clk_i.
    input  wire axil_request_t [Drives-1:0] s_axil_i,
    output axil_response_t     [Drives-1:0] s_axil_o,
    output logic               [Drives-1:0] irq_o,

    output logic [Drives-1:0] perst_no,  // to the drives' PERST#

    // The bridges, each in its clock, which may stop.
    input wire logic [Drives-1:0] axi_aclk_i,
    input wire logic [Drives-1:0] axi_aresetn_i,
    input wire logic [Drives-1:0] user_link_up_i,

    // from the bridges' masters
    input  wire axi_request_t [Drives-1:0]                  s_axi_i,
    output axi_response_t     [Drives-1:0]                  s_axi_o,
    input  wire logic         [Drives-1:0][  DataWidth-1:0] s_axi_wdata_i,
    input  wire logic         [Drives-1:0][DataWidth/8-1:0] s_axi_wstrb_i,
    output logic              [Drives-1:0][  DataWidth-1:0] s_axi_rdata_o,

    // to the bridges' slaves: single beats of 4 bytes. Missing signals are constant: length 0, INCR, last, identifier 0
    output axi_request_t       [Drives-1:0]                  m_axi_o,
    input  wire axi_response_t [Drives-1:0]                  m_axi_i,
    output logic               [Drives-1:0][  DataWidth-1:0] m_axi_wdata_o,
    output logic               [Drives-1:0][DataWidth/8-1:0] m_axi_wstrb_o,
    input  wire logic          [Drives-1:0][  DataWidth-1:0] m_axi_rdata_i,

    // to the bridges' control ports: AXI4-Lite
    output axil_request_t       [Drives-1:0] c_axil_o,
    input  wire axil_response_t [Drives-1:0] c_axil_i,

    // Memory mode: a copy of the write channels between each bridge's master and the memory. Otherwise tie to zero.
    input wire axi_tap_t [Drives-1:0] tap_i
);

  localparam bit HasStreams = RamBytes > 8192;
  localparam int unsigned StripeParts = 128;  // in flight; the user's small requests count as well

  lanes_request_t request;
  lanes_response_t response;
  logic in_valid, in_ready, in_last, in_null, out_valid, out_ready, out_last, out_error;
  logic [DataWidth-1:0] in_data, out_data;

  spate_user_side #(
      .DataWidth(DataWidth),
      .HasStreams(HasStreams),
      .WriteFrames(WriteFrames),
      .ResponseDepth(StripeParts)
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

  // ---- frames as pieces: of a chunk each, so that each has one member ----

  logic array_ready, array_gone, array_lost, array_block_4096;
  lanes_request_t core_request;
  lanes_response_t core_response;
  logic core_in_valid, core_in_ready;
  logic [DataWidth-1:0] core_in;
  logic frames_idle, array_idle;

  if (WriteFrames) begin : gen_frames
    if (!HasStreams) begin : gen_mode
      $error("spate_array_axi: WriteFrames needs streams: RamBytes above 8192");
    end
    logic [31:0] frames_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) frames_q <= '0;
      else frames_q <= frames_q + 32'(in_valid && in_ready && in_last);
    end
    assign array_frames_o = frames_q;
    spate_write_frames #(
        .DataWidth(DataWidth),
        .PieceBytes(ChunkBytes),
        .LbaBits(LbaWidth + 3),
        .Commands(StripeParts),
        .Beats(64)
    ) u_frames (
        .clk_i,
        .rst_ni,
        .ready_i(array_ready),
        .gone_i(array_gone),
        .lost_i(array_lost),
        .block_4096_i(array_block_4096),
        .lanes_i(request),
        .lanes_o(response),
        .data_valid_i(in_valid),
        .data_ready_o(in_ready),
        .data_i(in_data),
        .data_last_i(in_last),
        .data_null_i(in_null),
        .core_lanes_o(core_request),
        .core_lanes_i(core_response),
        .data_valid_o(core_in_valid),
        .data_ready_i(core_in_ready),
        .data_o(core_in),
        .idle_o(frames_idle)
    );
  end else begin : gen_no_frames
    logic unused;
    assign unused = ^{array_ready, array_gone, array_lost, array_block_4096, in_last, in_null};
    assign array_frames_o = '0;
    assign frames_idle = 1'b1;
    assign core_request = request;
    assign response = core_response;
    assign core_in_valid = in_valid;
    assign in_ready = core_in_ready;
    assign core_in = in_data;
  end

  // ---- the array ----

  lanes_request_t [Drives-1:0] member_request;
  lanes_response_t [Drives-1:0] member_response;
  logic [Drives-1:0] member_in_valid, member_in_ready, member_out_valid, member_out_ready, member_out_error;
  logic [Drives-1:0][DataWidth-1:0] member_in, member_out;
  drive_t [Drives-1:0] drive;
  logic [Drives-1:0] drive_ready, drive_gone, drive_block_4096;

  spate_stripe #(
      .Drives(Drives),
      .DataWidth(DataWidth),
      .ChunkBytes(ChunkBytes),
      .MemberRamBytes(RamBytes),
      .Parts(StripeParts),
      .MemberParts(2 ** SlotBits)
  ) u_stripe (
      .clk_i,
      .rst_ni,
      .array_valid_i,
      .data_lba_i(array_data_lba_i),
      .member_blocks_i(array_member_blocks_i),
      .drive_ready_i(drive_ready),
      .drive_gone_i(drive_gone),
      .drive_block_4096_i(drive_block_4096),
      .array_ready_o(array_ready),
      .array_gone_o(array_gone),
      .array_lost_o(array_lost),
      .array_block_4096_o(array_block_4096),
      .lanes_i(core_request),
      .lanes_o(core_response),
      .data_valid_i(core_in_valid),
      .data_ready_o(core_in_ready),
      .data_i(core_in),
      .data_valid_o(out_valid),
      .data_ready_i(out_ready),
      .data_o(out_data),
      .data_last_o(out_last),
      .data_error_o(out_error),
      .member_lanes_o(member_request),
      .member_lanes_i(member_response),
      .member_data_valid_o(member_in_valid),
      .member_data_ready_i(member_in_ready),
      .member_data_o(member_in),
      .member_data_valid_i(member_out_valid),
      .member_data_ready_o(member_out_ready),
      .member_data_i(member_out),
      .member_data_error_i(member_out_error),
      .idle_o(array_idle),
      .written_blocks_o(array_written_blocks_o)
  );

  // ---- the members ----

  for (genvar i = 0; i < Drives; i++) begin : gen_member
    logic [7:0] step, error;
    spate_user_drive u_user_drive (
        .clk_i,
        .drive_i(drive[i]),
        .step_i(step),
        .error_i(error),
        .app_clk_i,
        .drive_ready_o(drive_ready_o[i]),
        .drive_gone_o(drive_gone_o[i]),
        .drive_step_o(drive_step_o[i]),
        .drive_error_o(drive_error_o[i]),
        .drive_block_4096_o(drive_block_4096_o[i]),
        .drive_blocks_o(drive_blocks_o[i])
    );

    assign drive_ready[i] = drive[i].ready;
    assign drive_gone[i] = drive[i].gone;
    assign drive_block_4096[i] = drive[i].block_4096;

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
        .CommandSectorsLimit(CommandSectorsLimit),
        .ClockHz(ClockHz),
        .UsPerMs(UsPerMs),
        .HealthMs(HealthMs),
        .AdminDeadlineMs(AdminDeadlineMs),
        .CommandDeadlineMs(CommandDeadlineMs),
        .XilinxBridge(XilinxBridge)
    ) u_host (
        .clk_i,
        .rst_ni,
        .lanes_i(member_request[i]),
        .lanes_o(member_response[i]),
        .data_valid_i(member_in_valid[i]),
        .data_ready_o(member_in_ready[i]),
        .data_i(member_in[i]),
        .data_last_i(1'b0),
        .data_null_i(1'b0),
        .data_valid_o(member_out_valid[i]),
        .data_ready_i(member_out_ready[i]),
        .data_o(member_out[i]),
        .data_last_o(),
        .data_error_o(member_out_error[i]),
        .idle_i(frames_idle && array_idle),
        .drive_o(drive[i]),
        .step_o(step),
        .error_o(error),
        .s_axil_i(s_axil_i[i]),
        .s_axil_o(s_axil_o[i]),
        .irq_o(irq_o[i]),
        .perst_no(perst_no[i]),
        .axi_aclk_i(axi_aclk_i[i]),
        .axi_aresetn_i(axi_aresetn_i[i]),
        .user_link_up_i(user_link_up_i[i]),
        .s_axi_i(s_axi_i[i]),
        .s_axi_o(s_axi_o[i]),
        .s_axi_wdata_i(s_axi_wdata_i[i]),
        .s_axi_wstrb_i(s_axi_wstrb_i[i]),
        .s_axi_rdata_o(s_axi_rdata_o[i]),
        .m_axi_o(m_axi_o[i]),
        .m_axi_i(m_axi_i[i]),
        .m_axi_wdata_o(m_axi_wdata_o[i]),
        .m_axi_wstrb_o(m_axi_wstrb_o[i]),
        .m_axi_rdata_i(m_axi_rdata_i[i]),
        .c_axil_o(c_axil_o[i]),
        .c_axil_i(c_axil_i[i]),
        .tap_i(tap_i[i]),
        .ring_axi_o(),
        .ring_axi_i('0),
        .ring_axi_wdata_o(),
        .ring_axi_wstrb_o(),
        .ring_axi_rdata_i('0)
    );
  end

endmodule

`default_nettype wire
