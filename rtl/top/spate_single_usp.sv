// SPDX-License-Identifier: Apache-2.0
//
// A complete host for one drive directly on the UltraScale+ integrated block (PCIE4, PCIE4C) as a root port, without a
// bridge. Otherwise like spate_nvme_axi in stream mode. spate_pcie_usp lists the settings with which to generate the
// block.
//
// Guarantee: that of spate_host, from the application's clock to the block's.
`default_nettype none

module spate_single_usp
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the block and the streams: 128 or 256
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight, 2 … 8
    parameter int unsigned QueueShiftMax = 7,  // log2 of the I/O queues' entries; if > SlotBits, all slots stay busy
    parameter int unsigned RamBytes = 262144,  // of the data buffer, above 8192
    parameter RamStyle = "auto",  // of the data buffer: the attribute ram_style
    parameter int unsigned RamRegisters = 1,  // of the data buffer: registers after the memory, 1 … 4
    parameter logic [63:0] WindowBase = 64'h8000_0000,  // of the aperture, as the drive sees it; aligned to its size
    parameter logic [63:0] BarBase = 64'he000_0000,  // the bus address assigned to BAR 0
    parameter int unsigned CommandSectorsLimit = command_sectors_limit(RamBytes),  // largest command
    parameter bit WriteFrames = 1'b0,  // 1: writes can end with s_axis_tlast_i; 0: it and s_axis_tkeep_i are ignored
    parameter int unsigned ClockHz = 250_000_000,  // of clk_i; whole megahertz
    parameter int unsigned UsPerMs = 1000,  // microseconds per millisecond; simulations use less to shorten bring-up
    parameter int unsigned HealthMs = 1000,  // time between two reads of the SMART log
    parameter int unsigned AdminDeadlineMs = 8000,  // of an admin command
    parameter int unsigned CommandDeadlineMs = 8000  // of a read or write
) (
    // The clock of the core and the registers. It never stops, and is at least as fast as pcie_clk_i.
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

    // Data to write and data that were read: whole beats, in the order of the commands.
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

    // The block, in its clock, which may stop: its user_clk, user_reset (active high) and user_lnk_up; its streams,
    // with the prefix pcie_ (of a 4-bit ready, bit 0); and ports of the same names.
    input  wire logic                                  pcie_clk_i,
    input  wire logic                                  pcie_reset_i,
    input  wire logic                                  pcie_lnk_up_i,
    input  wire logic               [             1:0] cfg_max_payload_i,
    input  wire logic               [   DataWidth-1:0] pcie_m_axis_cq_tdata_i,
    input  wire usp_stream_t                           pcie_m_axis_cq_i,
    output logic                                       pcie_m_axis_cq_tready_o,
    output logic                    [             1:0] pcie_cq_np_req_o,
    output logic                    [   DataWidth-1:0] pcie_s_axis_cc_tdata_o,
    output logic                    [DataWidth/32-1:0] pcie_s_axis_cc_tkeep_o,
    output usp_stream_t                                pcie_s_axis_cc_o,
    input  wire logic                                  pcie_s_axis_cc_tready_i,
    output logic                    [   DataWidth-1:0] pcie_s_axis_rq_tdata_o,
    output logic                    [DataWidth/32-1:0] pcie_s_axis_rq_tkeep_o,
    output usp_stream_t                                pcie_s_axis_rq_o,
    input  wire logic                                  pcie_s_axis_rq_tready_i,
    input  wire logic               [   DataWidth-1:0] pcie_m_axis_rc_tdata_i,
    input  wire usp_stream_t                           pcie_m_axis_rc_i,
    output logic                                       pcie_m_axis_rc_tready_o,
    output cfg_mgmt_request_t                          cfg_mgmt_o,
    input  wire cfg_mgmt_response_t                    cfg_mgmt_i
);

  localparam int unsigned WindowBits = window_bits(RamBytes);
  localparam bit HasStreams = 1'b1;
  localparam int unsigned AddressBits = 40;

  if (RamBytes <= 8192) begin : gen_ram_bytes
    $error("spate_single_usp: RamBytes must be above 8192: all data go through the core, so there is no memory mode");
  end

  lanes_request_t request;
  lanes_response_t response;
  logic in_valid, in_ready, in_last, in_null, out_valid, out_ready, out_last, out_error;
  logic [DataWidth-1:0] in_data, out_data;
  drive_t drive;
  adapter_request_t adapter_request;
  adapter_response_t adapter_response;
  logic [DataWidth-1:0] read_data, write_data;
  logic [DataWidth/8-1:0] write_strobe;

  spate_user_side #(
      .DataWidth(DataWidth),
      .HasStreams(HasStreams),
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
      .CommandSectorsLimit(CommandSectorsLimit),
      .ClockHz(ClockHz),
      .UsPerMs(UsPerMs),
      .HealthMs(HealthMs),
      .AdminDeadlineMs(AdminDeadlineMs),
      .CommandDeadlineMs(CommandDeadlineMs),
      .XilinxBridge(1'b0),
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
      .adapter_i(adapter_request),
      .adapter_o(adapter_response),
      .read_data_o(read_data),
      .write_data_i(write_data),
      .write_strobe_i(write_strobe),
      .perst_no,
      .fence_request_o(),
      .fence_answer_i(1'b0),
      .tap_lost_i(1'b0),
      .ring_axi_o(),
      .ring_axi_i('0),
      .ring_axi_wdata_o(),
      .ring_axi_wstrb_o(),
      .ring_axi_rdata_i('0)
  );

  spate_pcie_usp #(
      .DataWidth(DataWidth),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .BarBase(BarBase)
  ) u_adapter (
      .clk_i,
      .rst_ni,
      .adapter_i(adapter_response),
      .adapter_o(adapter_request),
      .read_data_i(read_data),
      .write_data_o(write_data),
      .write_strobe_o(write_strobe),
      .pcie_clk_i,
      .pcie_reset_i,
      .pcie_lnk_up_i,
      .cfg_max_payload_i,
      .m_axis_cq_tdata_i(pcie_m_axis_cq_tdata_i),
      .m_axis_cq_i(pcie_m_axis_cq_i),
      .m_axis_cq_tready_o(pcie_m_axis_cq_tready_o),
      .pcie_cq_np_req_o,
      .s_axis_cc_tdata_o(pcie_s_axis_cc_tdata_o),
      .s_axis_cc_tkeep_o(pcie_s_axis_cc_tkeep_o),
      .s_axis_cc_o(pcie_s_axis_cc_o),
      .s_axis_cc_tready_i(pcie_s_axis_cc_tready_i),
      .s_axis_rq_tdata_o(pcie_s_axis_rq_tdata_o),
      .s_axis_rq_tkeep_o(pcie_s_axis_rq_tkeep_o),
      .s_axis_rq_o(pcie_s_axis_rq_o),
      .s_axis_rq_tready_i(pcie_s_axis_rq_tready_i),
      .m_axis_rc_tdata_i(pcie_m_axis_rc_tdata_i),
      .m_axis_rc_i(pcie_m_axis_rc_i),
      .m_axis_rc_tready_o(pcie_m_axis_rc_tready_o),
      .cfg_mgmt_o,
      .cfg_mgmt_i
  );

endmodule

`default_nettype wire
