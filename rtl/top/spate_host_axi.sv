// SPDX-License-Identifier: Apache-2.0
//
// A drive's host with its adapter for an AXI-PCIe bridge in root port mode. In memory mode it watches the writes that
// go from the bridge to the memory, and bypass the core.
//
// Guarantee: that of spate_host, to the bridge's clock.
`default_nettype none

module spate_host_axi
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
    parameter bit WriteFrames = 1'b0,  // writes can end with the stream's `tlast`: spate_write_frames
    parameter int unsigned ClockHz = 250_000_000,  // of clk_i; whole megahertz
    parameter int unsigned UsPerMs = 1000,  // microseconds per millisecond; simulations use less to shorten bring-up
    parameter int unsigned HealthMs = 1000,  // time between two reads of the SMART log
    parameter int unsigned AdminDeadlineMs = 8000,  // of an admin command
    parameter int unsigned CommandDeadlineMs = 8000,  // of a read or write
    parameter bit XilinxBridge = 1'b1,  // the root port has PG194's registers
    parameter logic [31:0] DeviceConfigOffset = 32'h0010_0000,  // bus 1 in the bridge's control port
    parameter logic [31:0] LocalConfigOffset = 32'h0  // the root port's own, in the same port
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // The user's commands: from_registers is 0. `response_ready` must not wait for the user: the registers' responses
    // wait behind the user's.
    input  wire lanes_request_t lanes_i,
    output lanes_response_t     lanes_o,

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,
    input  wire logic                 data_last_i,   // only with WriteFrames
    input  wire logic                 data_null_i,   // with data_last_i: the beat has no bytes
    output logic                      data_valid_o,
    input  wire logic                 data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,
    output logic                      data_error_o,

    input wire logic idle_i,  // low while a data command is being divided before this module: see spate_drive

    // With the step of bring-up, and why the drive was last given up: docs/reference/gateware-bringup.md.
    output drive_t       drive_o,
    output logic   [7:0] step_o,
    output logic   [7:0] error_o,

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

    // The memory of the ring: see spate_ring_ddr. Inactive without a ring in memory.
    output axi_request_t                         ring_axi_o,
    input  wire axi_response_t                   ring_axi_i,
    output logic               [  DataWidth-1:0] ring_axi_wdata_o,
    output logic               [DataWidth/8-1:0] ring_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] ring_axi_rdata_i
);

  localparam int unsigned WindowBits = window_bits(RamBytes);
  localparam bit InMemory = RamBytes <= 8192;  // the drive accesses data in memory directly

  adapter_request_t adapter_request, host_request;
  adapter_response_t adapter_response;
  logic [DataWidth-1:0] read_data, write_data;
  logic [DataWidth/8-1:0] write_strobe;
  logic bypass_idle, tap_lost, fence_request, fence_answer;

  always_comb begin
    host_request = adapter_request;
    host_request.quiet = adapter_request.quiet && bypass_idle;
  end

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
      .lanes_i,
      .lanes_o,
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .data_last_i,
      .data_null_i,
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .data_last_o,
      .data_error_o,
      .idle_i,
      .drive_o,
      .step_o,
      .error_o,
      .s_axil_i,
      .s_axil_o,
      .irq_o,
      .adapter_i(host_request),
      .adapter_o(adapter_response),
      .read_data_o(read_data),
      .write_data_i(write_data),
      .write_strobe_i(write_strobe),
      .perst_no,
      .fence_request_o(fence_request),
      .fence_answer_i(fence_answer),
      .tap_lost_i(tap_lost),
      .ring_axi_o,
      .ring_axi_i,
      .ring_axi_wdata_o,
      .ring_axi_wstrb_o,
      .ring_axi_rdata_i
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
      .adapter_i(adapter_response),
      .adapter_o(adapter_request),
      .read_data_i(read_data),
      .write_data_o(write_data),
      .write_strobe_o(write_strobe),
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
      .c_axil_i
  );

  // ---- memory mode: do the writes that bypassed the core have responses? ----

  if (!InMemory) begin : gen_no_tap
    assign fence_answer = 1'b0;
    assign bypass_idle = 1'b1;
    assign tap_lost = 1'b0;
  end else begin : gen_tap
    logic tap_rst_n, idle, lost;
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
        .tap_awvalid_i(tap_i.awvalid),
        .tap_awready_i(tap_i.awready),
        .tap_awid_i(tap_i.awid[IdWidth-1:0]),
        .tap_bvalid_i(tap_i.bvalid),
        .tap_bready_i(tap_i.bready),
        .tap_bid_i(tap_i.bid[IdWidth-1:0]),
        .fence_request_i(fence_request),
        .fence_answer_o(fence_answer),
        .idle_o(idle),
        .lost_o(lost)
    );
    spate_cdc_bit u_idle (
        .clk_i,
        .level_i(idle),
        .level_o(bypass_idle)
    );
    spate_cdc_bit u_lost (
        .clk_i,
        .level_i(lost),
        .level_o(tap_lost)
    );
  end

endmodule

`default_nettype wire
