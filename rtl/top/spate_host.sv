// SPDX-License-Identifier: Apache-2.0
//
// One drive's core with its registers, the same for every adapter and every number of drives. The user's commands and
// data are in the core's clock.
//
// Guarantee: that of spate_drive, for both ports. The user's commands and the registers' share the drive; neither
// delays the other by more than one command of the drive. A response goes to the port of its command.
//
// With WriteFrames, spate_write_frames divides writes that end with `tlast`, of both ports. With MemoryRingBytes, a
// spate_ring_ddr is placed before the drive; stream commands of both ports pass through it.
`default_nettype none

module spate_host
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128, 256 or 512
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight, 2 … 8
    parameter int unsigned QueueShiftMax = 7,  // log2 of the I/O queues' entries; if > SlotBits, all slots stay busy
    parameter int unsigned RamBytes = 262144,  // of the data buffer; 8192: memory mode
    parameter RamStyle = "auto",  // of the data buffer: the attribute ram_style
    parameter int unsigned RamRegisters = 1,  // of the data buffer: registers after the memory, 1 … 4
    parameter logic [63:0] WindowBase = 64'h8000_0000,  // of the aperture, as the drive sees it; aligned to its size
    parameter logic [63:0] BarBase = 64'he000_0000,  // the bus address assigned to BAR 0
    parameter int unsigned AddressBits = 40,  // of data addresses: memory mode, and the memory of a ring in memory
    parameter logic [63:0] MemoryRingBytes = 64'd0,  // size of a ring in memory; needs RamBytes 8192. 0: none
    parameter logic [63:0] MemoryRingBase = 64'h0,  // address of its first byte on ring_axi
    parameter logic [63:0] MemoryRingDriveBase = 64'h0,  // address of the same byte, as the drive sees it
    parameter int unsigned PartBytes = 524288,  // ring in memory: largest part; a power of two, at least 4096
    parameter int unsigned Parts = 32,  // ring in memory: parts in flight; a power of two
    parameter int unsigned CommandSectorsLimit = command_sectors_limit(RamBytes),  // largest command; memory mode: 4088
    parameter int unsigned ClockHz = 250_000_000,  // of clk_i; whole megahertz
    parameter int unsigned UsPerMs = 1000,  // microseconds per millisecond; simulations use less to shorten bring-up
    parameter int unsigned HealthMs = 1000,  // time between two reads of the SMART log
    parameter int unsigned AdminDeadlineMs = 8000,  // of an admin command
    parameter int unsigned CommandDeadlineMs = 8000,  // of a read or write
    parameter bit XilinxBridge = 1'b1,  // the root port has PG194's registers
    parameter bit WriteFrames = 1'b0,  // writes can end with the stream's `tlast`: spate_write_frames
    // Derived: no instance sets it.
    parameter int unsigned WindowBits = window_bits(RamBytes)
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

    // The adapter: see spate_drive.
    input  wire adapter_request_t                   adapter_i,
    output adapter_response_t                       adapter_o,
    output logic                  [  DataWidth-1:0] read_data_o,
    input  wire logic             [  DataWidth-1:0] write_data_i,
    input  wire logic             [DataWidth/8-1:0] write_strobe_i,
    output logic                                    perst_no,

    // Memory mode: the fence and the tap.
    output logic      fence_request_o,
    input  wire logic fence_answer_i,
    input  wire logic tap_lost_i,

    // The memory of the ring: see spate_ring_ddr. Inactive without a ring in memory.
    output axi_request_t                         ring_axi_o,
    input  wire axi_response_t                   ring_axi_i,
    output logic               [  DataWidth-1:0] ring_axi_wdata_o,
    output logic               [DataWidth/8-1:0] ring_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] ring_axi_rdata_i
);

  localparam bit HasMemoryRing = MemoryRingBytes != '0;
  // The size of the buffer that the registers report, in 32 bits.
  localparam int unsigned ReportedRamBytes = !HasMemoryRing ? RamBytes :
      MemoryRingBytes < 64'hffff_d000 ? 32'(MemoryRingBytes + 64'd8192) : 32'hffff_f000;

  if (HasMemoryRing) begin : gen_check_ring
    localparam logic [63:0] AddressEnd = 64'd1 << AddressBits;
    if (RamBytes != 8192) begin : gen_mode
      $error("spate_host: a ring in memory (MemoryRingBytes) needs RamBytes 8192");
    end
    if (AddressBits < 16 || AddressBits > 48) begin : gen_bits
      $error("spate_host: with a ring in memory AddressBits must be 16 to 48");
    end
    if (MemoryRingBytes % 4096 != 0 || MemoryRingBytes < 64'd2 * 64'(PartBytes)) begin : gen_bytes
      $error("spate_host: MemoryRingBytes must be a multiple of 4096, at least twice PartBytes");
    end
    if (MemoryRingBase % 4096 != 0 || MemoryRingDriveBase % 4096 != 0) begin : gen_page
      $error("spate_host: MemoryRingBase and MemoryRingDriveBase must be multiples of 4096");
    end
    if (MemoryRingBytes >= AddressEnd || MemoryRingBase > AddressEnd - MemoryRingBytes ||
        MemoryRingDriveBase > AddressEnd - MemoryRingBytes) begin : gen_end
      $error("spate_host: the ring at MemoryRingBase and MemoryRingDriveBase must end within AddressBits");
    end
    if (MemoryRingDriveBase < WindowBase + (64'd1 << WindowBits) &&
        WindowBase < MemoryRingDriveBase + MemoryRingBytes) begin : gen_aperture
      $error("spate_host: the ring at MemoryRingDriveBase and the aperture at WindowBase overlap");
    end
    if (MemoryRingDriveBase < BarBase + 64'h10_0000 && BarBase < MemoryRingDriveBase + MemoryRingBytes) begin : gen_bar
      $error("spate_host: the ring at MemoryRingDriveBase and BAR 0 at BarBase overlap");
    end
    if (Parts < 2 || (Parts & (Parts - 1)) != 0) begin : gen_parts
      $error("spate_host: Parts must be a power of two, at least 2");
    end
  end

  // ---- commands: the user's and the registers', lane by lane ----

  lanes_request_t registers_request, all_request;
  lanes_response_t registers_response, all_response;

  spate_command_arbiter u_data_arbiter (
      .clk_i,
      .rst_ni,
      .a_valid_i(lanes_i.command_valid),
      .a_ready_o(lanes_o.command_ready),
      .a_i(lanes_i.command),
      .b_valid_i(registers_request.command_valid),
      .b_ready_o(registers_response.command_ready),
      .b_i(registers_request.command),
      .command_valid_o(all_request.command_valid),
      .command_ready_i(all_response.command_ready),
      .command_o(all_request.command)
  );
  spate_command_arbiter u_side_arbiter (
      .clk_i,
      .rst_ni,
      .a_valid_i(lanes_i.side_valid),
      .a_ready_o(lanes_o.side_ready),
      .a_i(lanes_i.side),
      .b_valid_i(registers_request.side_valid),
      .b_ready_o(registers_response.side_ready),
      .b_i(registers_request.side),
      .command_valid_o(all_request.side_valid),
      .command_ready_i(all_response.side_ready),
      .command_o(all_request.side)
  );

  // A response goes to the port of its command. The registers take theirs at once, so all wait for the user's side
  // only. No command depends on a response here: some simulators take a record as one signal, and would find a loop.
  logic is_registers, unused_ready;
  assign is_registers = all_response.response.from_registers;
  assign lanes_o.response_valid = all_response.response_valid && !is_registers;
  assign lanes_o.response = all_response.response;
  assign registers_response.response_valid = all_response.response_valid && is_registers && lanes_i.response_ready;
  assign registers_response.response = all_response.response;
  assign all_request.response_ready = lanes_i.response_ready;
  assign unused_ready = registers_request.response_ready;

  // Two commands that are taken at once are counted one after the other. The side lane has one command at a time, so
  // there is no third before the second is counted.
  logic command_taken, side_taken, uncounted_q, write_taken;
  assign command_taken = all_request.command_valid && all_response.command_ready;
  assign side_taken = all_request.side_valid && all_response.side_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) uncounted_q <= 1'b0;
    else uncounted_q <= (command_taken && side_taken) || (uncounted_q && (command_taken || side_taken));
  end

  assign write_taken = data_valid_i && data_ready_o;

  // ---- the registers ----

  logic enable, page_valid, page_done;
  page_access_t page;
  logic [31:0] page_data, raw_data;
  logic [3:0] raw_dword;
  logic [LbaWidth-1:0] written_blocks;
  bring_up_t bring_up;
  assign step_o = bring_up.step;
  assign error_o = bring_up.error;
  health_t health;
  power_t power;
  events_t events;

  spate_registers #(
      .DataWidth(DataWidth),
      .Slots(2 ** SlotBits),
      .RamBytes(ReportedRamBytes),
      .WriteFrames(WriteFrames)
  ) u_registers (
      .clk_i,
      .rst_ni,
      .s_axil_i,
      .s_axil_o,
      .irq_o,
      .enable_o(enable),
      .lanes_o(registers_request),
      .lanes_i(registers_response),
      .page_valid_o(page_valid),
      .page_o(page),
      .page_done_i(page_done),
      .page_data_i(page_data),
      .raw_dword_i(raw_dword),
      .raw_data_o(raw_data),
      .drive_i(drive_o),
      .events_i(events),
      .beat_in_i(write_taken),
      .beat_out_i(data_valid_o && data_ready_i),
      .frame_i(write_taken && data_last_i),
      .command_taken_i(command_taken || side_taken || uncounted_q),
      .response_given_i(all_response.response_valid && all_request.response_ready),
      .link_up_i(adapter_i.link_up),
      .tap_lost_i,
      .written_blocks_i(written_blocks),
      .bring_up_i(bring_up),
      .health_i(health),
      .power_i(power)
  );

  // ---- what the core is given: frames as pieces ----

  lanes_request_t core_request;
  lanes_response_t core_response;
  logic core_in_valid, core_in_ready;
  logic [DataWidth-1:0] core_in;
  logic frames_idle, ring_idle;

  if (WriteFrames) begin : gen_frames
    if (RamBytes == 8192 && !HasMemoryRing) begin : gen_mode
      $error("spate_host: WriteFrames needs streams: a ring on chip (RamBytes) or in memory (MemoryRingBytes)");
    end
    spate_write_frames #(
        .DataWidth(DataWidth),
        .PieceBytes(HasMemoryRing ? PartBytes : 65536),
        .Commands(2 ** SlotBits)
    ) u_frames (
        .clk_i,
        .rst_ni,
        .ready_i(drive_o.ready),
        .gone_i(drive_o.gone),
        .lost_i(drive_o.gone),
        .block_4096_i(drive_o.block_4096),
        .lanes_i(all_request),
        .lanes_o(all_response),
        .data_valid_i,
        .data_ready_o,
        .data_i,
        .data_last_i,
        .data_null_i,
        .core_lanes_o(core_request),
        .core_lanes_i(core_response),
        .data_valid_o(core_in_valid),
        .data_ready_i(core_in_ready),
        .data_o(core_in),
        .idle_o(frames_idle)
    );
  end else begin : gen_no_frames
    logic unused;
    assign unused = data_null_i;
    assign frames_idle = 1'b1;
    assign core_request = all_request;
    assign all_response = core_response;
    assign core_in_valid = data_valid_i;
    assign data_ready_o = core_in_ready;
    assign core_in = data_i;
  end

  // ---- what the drive is given: through a ring in memory, or directly ----

  lanes_request_t drive_request;
  lanes_response_t drive_response;
  logic drive_in_valid, drive_in_ready, drive_out_valid, drive_out_ready, drive_out_last, drive_out_error;
  logic [DataWidth-1:0] drive_out;
  logic [LbaWidth-1:0] drive_written_blocks;

  if (HasMemoryRing) begin : gen_ring
    spate_ring_ddr #(
        .DataWidth(DataWidth),
        .AddressWidth(AddressBits),
        .PartBytes(PartBytes),
        .Parts(Parts)
    ) u_ring (
        .clk_i,
        .rst_ni,
        .ring_base_i(MemoryRingBase[AddressBits-1:0]),
        .ring_drive_base_i(MemoryRingDriveBase),
        .ring_pages_i(MemoryRingBytes[AddressBits-1:12]),
        .drive_i(drive_o),
        .lanes_i(core_request),
        .lanes_o(core_response),
        .data_valid_i(core_in_valid),
        .data_ready_o(core_in_ready),
        .data_i(core_in),
        .data_valid_o,
        .data_ready_i,
        .data_o,
        .data_last_o,
        .data_error_o,
        .written_blocks_o(written_blocks),
        .drive_lanes_o(drive_request),
        .drive_lanes_i(drive_response),
        .m_axi_o(ring_axi_o),
        .m_axi_i(ring_axi_i),
        .idle_o(ring_idle),
        .m_axi_wdata_o(ring_axi_wdata_o),
        .m_axi_wstrb_o(ring_axi_wstrb_o),
        .m_axi_rdata_i(ring_axi_rdata_i)
    );
    // In memory mode the drive's own streams are inactive.
    assign drive_in_valid = 1'b0;
    assign drive_out_ready = 1'b0;
  end else begin : gen_no_ring
    assign ring_idle = 1'b1;
    assign drive_request = core_request;
    assign core_response = drive_response;
    assign drive_in_valid = core_in_valid;
    assign core_in_ready = drive_in_ready;
    assign data_valid_o = drive_out_valid;
    assign drive_out_ready = data_ready_i;
    assign data_o = drive_out;
    assign data_last_o = drive_out_last;
    assign data_error_o = drive_out_error;
    assign written_blocks = drive_written_blocks;
    assign ring_axi_o = '0;
    assign ring_axi_wdata_o = '0;
    assign ring_axi_wstrb_o = '0;
  end

  // A command that spate_drive has taken shows in its own idle state three cycles later, so this one comes some cycles
  // late.
  logic [3:0] idle_q;
  always_ff @(posedge clk_i) idle_q <= {idle_q[2:0], rst_ni && idle_i && frames_idle && ring_idle};

  // ---- the core ----

  spate_drive #(
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
      .XilinxBridge(XilinxBridge),
      .HealthMs(HealthMs),
      .AdminDeadlineMs(AdminDeadlineMs),
      .CommandDeadlineMs(CommandDeadlineMs)
  ) u_drive (
      .clk_i,
      .rst_ni,
      .enable_i(enable),
      .lanes_i(drive_request),
      .lanes_o(drive_response),
      .idle_i(&idle_q),
      .data_valid_i(drive_in_valid),
      .data_ready_o(drive_in_ready),
      .data_i(core_in),
      .data_valid_o(drive_out_valid),
      .data_ready_i(drive_out_ready),
      .data_o(drive_out),
      .data_last_o(drive_out_last),
      .data_error_o(drive_out_error),
      .adapter_i,
      .adapter_o,
      .read_data_o,
      .write_data_i,
      .write_strobe_i,
      .perst_no,
      .fence_request_o,
      .fence_answer_i,
      .page_valid_i(page_valid),
      .page_i(page),
      .page_done_o(page_done),
      .page_data_o(page_data),
      .raw_dword_o(raw_dword),
      .raw_data_i(raw_data),
      .drive_o,
      .events_o(events),
      .written_blocks_o(drive_written_blocks),
      .bring_up_o(bring_up),
      .health_o(health),
      .power_o(power)
  );

endmodule

`default_nettype wire
