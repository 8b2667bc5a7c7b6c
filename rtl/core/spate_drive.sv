// SPDX-License-Identifier: Apache-2.0
//
// The host for one drive. The user's side: commands and streams in, responses and streams out. The adapter's side: the
// drive's reads and writes, and the core's accesses to the drive's registers. docs/understand/gateware.md has a block
// diagram.
//
// Guarantee: each command gets one response. Each stream request moves exactly its beats. All outputs are registers or
// the head of a queue.
`default_nettype none

module spate_drive
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128, 256 or 512
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight, 2 … 8
    parameter int unsigned QueueShiftMax = 7,  // log2 of the I/O queues' entries; if > SlotBits, all slots stay busy
    parameter int unsigned RamBytes = 262144,  // size of the data buffer; 8192: memory mode
    parameter RamStyle = "auto",  // of the data buffer: the attribute ram_style
    parameter int unsigned RamRegisters = 1,  // of the data buffer: registers after the memory, 1 … 4
    parameter logic [63:0] WindowBase = 64'h8000_0000,  // aligned to 2^WindowBits
    parameter logic [63:0] BarBase = 64'he000_0000,
    parameter int unsigned AddressBits = 40,  // memory mode: width of data addresses
    parameter int unsigned CommandSectorsLimit = command_sectors_limit(RamBytes),  // largest command; memory mode: 4096
    parameter int unsigned ClockHz = 250_000_000,
    parameter int unsigned UsPerMs = 1000,  // see spate_ticks
    parameter bit XilinxBridge = 1'b1,
    parameter int unsigned HealthMs = 1000,
    parameter int unsigned AdminDeadlineMs = 8000,
    parameter int unsigned CommandDeadlineMs = 8000,
    // Derived: no instance sets it.
    parameter int unsigned WindowBits = window_bits(RamBytes)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic enable_i, // low: the drive is held in PERST#

    // Of the data lane, and of the side lane.
    input  wire lanes_request_t lanes_i,
    output lanes_response_t     lanes_o,

    // Low while a data command is being divided before this module. Format, sanitize and shutdown wait for the rest of
    // it.
    input wire logic idle_i,

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,
    output logic                      data_valid_o,
    input  wire logic                 data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,
    output logic                      data_error_o,

    // The adapter.
    input  wire adapter_request_t                   adapter_i,
    output adapter_response_t                       adapter_o,
    output logic                  [  DataWidth-1:0] read_data_o,
    input  wire logic             [  DataWidth-1:0] write_data_i,
    input  wire logic             [DataWidth/8-1:0] write_strobe_i,
    output logic                                    perst_no,
    // Memory mode: see spate_fence.
    output logic                                    fence_request_o,
    input  wire logic                               fence_answer_i,

    // The registers.
    input  wire logic                        page_valid_i,
    input  wire page_access_t                page_i,
    output logic                             page_done_o,
    output logic              [        31:0] page_data_o,
    output logic              [         3:0] raw_dword_o,
    input  wire logic         [        31:0] raw_data_i,
    output drive_t                           drive_o,
    output events_t                          events_o,
    output logic              [LbaWidth-1:0] written_blocks_o,
    output bring_up_t                        bring_up_o,
    output health_t                          health_o,
    output power_t                           power_o
);

  localparam bit HasRing = RamBytes > 8192;
  localparam int unsigned RingSectors = (RamBytes - 8192) / 512;
  localparam int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1;
  localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8));
  localparam int unsigned BaseBits = HasRing ? RingBits : AddressBits - 2;
  localparam int unsigned SectorsLimit = HasRing ? CommandSectorsLimit : CommandSectorsMax;

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_check_1
    $error("spate_drive: DataWidth must be 128, 256 or 512");
  end
  if (SlotBits < 2 || SlotBits > 8) begin : gen_check_2
    $error("spate_drive: SlotBits must be 2 to 8");
  end
  if (WindowBase % (64'd1 << WindowBits) != 0) begin : gen_check_3
    $error("spate_drive: WindowBase must be aligned to the aperture");
  end
  if (SectorsLimit < 8 || SectorsLimit > CommandSectorsMax) begin : gen_check_4
    $error("spate_drive: CommandSectorsLimit must be 8 to 4088; RamBytes 8192, or 40960 and more, give a good one");
  end
  // Fires if CommandSectorsMax becomes larger: its comment says why it must not.
  if (SectorsLimit * 512 > 511 * 4096) begin : gen_check_list
    $error("spate_drive: a list page would have an address of data in its last entry");
  end
  if (HasRing && SectorsLimit * 2 > RingSectors) begin : gen_check_5
    $error("spate_drive: two commands must fit into the ring");
  end

  logic us_tick, ms_tick, retry_tick;
  spate_ticks #(
      .ClockHz(ClockHz),
      .UsPerMs(UsPerMs)
  ) u_ticks (
      .clk_i,
      .rst_ni,
      .us_tick_o(us_tick),
      .ms_tick_o(ms_tick),
      .retry_tick_o(retry_tick)
  );

  // ---- the lanes ----

  logic alloc_valid, alloc_ready, free_valid, fill_valid, fill_ready;
  logic [SectorsWidth-1:0] alloc_sectors, free_sectors;
  logic [RingBits-1:0] alloc_base;
  logic [BeatBits-1:0] fill_beat;
  logic [DataWidth-1:0] fill_data;
  logic drain_valid, drain_ready, drained_valid, drained_ready;
  logic [BeatBits-1:0] drain_beat;
  logic [DataWidth-1:0] drained_data;
  logic push, push_ready;
  logic [SlotBits-1:0] push_slot, read_slot;
  logic read_slot_valid;
  slot_entry_t read_entry;
  logic [BaseBits-1:0] read_base;
  completion_t completion;
  logic slot_completion_valid, slot_completion_ready, slot_ended;
  logic response_valid, response_ready;
  response_t response;
  logic queues_reset, data_lane_idle, deadline_recover, retired, bad_slot_id, retry, command_error;

  spate_data_lane #(
      .DataWidth(DataWidth),
      .SlotBits(SlotBits),
      .RamBytes(RamBytes),
      .DeadlineMs(CommandDeadlineMs),
      .BaseBits(BaseBits)
  ) u_data_lane (
      .clk_i,
      .rst_ni,
      .ms_tick_i(ms_tick),
      .retry_tick_i(retry_tick),
      .drive_i(drive_o),
      .reset_i(queues_reset),
      .command_valid_i(lanes_i.command_valid),
      .command_ready_o(lanes_o.command_ready),
      .command_i(lanes_i.command),
      .response_valid_o(response_valid),
      .response_ready_i(response_ready),
      .response_o(response),
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .data_last_o,
      .data_error_o,
      .alloc_valid_o(alloc_valid),
      .alloc_ready_i(alloc_ready),
      .alloc_sectors_o(alloc_sectors),
      .alloc_base_i(alloc_base),
      .free_valid_o(free_valid),
      .free_sectors_o(free_sectors),
      .fill_valid_o(fill_valid),
      .fill_ready_i(fill_ready),
      .fill_beat_o(fill_beat),
      .fill_data_o(fill_data),
      .drain_valid_o(drain_valid),
      .drain_ready_i(drain_ready),
      .drain_beat_o(drain_beat),
      .drained_valid_i(drained_valid),
      .drained_ready_o(drained_ready),
      .drained_data_i(drained_data),
      .push_o(push),
      .push_ready_i(push_ready),
      .push_slot_o(push_slot),
      .completion_valid_i(slot_completion_valid),
      .completion_ready_o(slot_completion_ready),
      .completion_i(completion),
      .ended_o(slot_ended),
      .read_slot_i(read_slot),
      .read_valid_o(read_slot_valid),
      .read_o(read_entry),
      .read_base_o(read_base),
      .idle_o(data_lane_idle),
      .recover_o(deadline_recover),
      .retired_o(retired),
      .written_blocks_o,
      .bad_id_o(bad_slot_id),
      .retry_o(retry),
      .command_error_o(command_error)
  );

  logic admin_mmio_valid, admin_mmio_ready, admin_mmio_done;
  mmio_access_t admin_mmio_access;
  mmio_result_t admin_mmio_result;
  logic admin_page_valid, admin_page_done;
  logic [10:0] admin_page_dword;
  logic sqe_write, admin_entry_valid;
  sqe_dword_t sqe;
  logic [1:0] admin_entry;
  range_t range;
  logic admin_cq_valid, admin_cq_ready, admin_bad_phase, admin_bad_index, admin_completion_valid;
  completion_t admin_completion;
  logic [11:0] cq_index;
  logic [DataWidth-1:0] write_data;
  logic [DataWidth/8-1:0] write_strobe;
  logic side_push, side_push_ready, side_ended;
  logic side_response_valid, side_response_ready;
  response_t side_response;
  logic doorbell_error, recovery;

  spate_cq #(
      .DataWidth(DataWidth),
      .QueueShiftMax(2)
  ) u_admin_cq (
      .clk_i,
      .rst_ni,
      .reset_i(queues_reset),
      .queue_shift_i(4'd2),
      .write_valid_i(admin_cq_valid),
      .write_ready_o(admin_cq_ready),
      .write_index_i(cq_index),
      .write_data_i(write_data),
      .write_strobe_i(write_strobe),
      .completion_valid_o(admin_completion_valid),
      .completion_ready_i(1'b1),
      .completion_o(admin_completion),
      .head_o(),
      .bad_phase_o(admin_bad_phase),
      .bad_index_o(admin_bad_index)
  );

  spate_admin #(
      .WindowBase(WindowBase),
      .WindowBits(WindowBits),
      .BarBase(BarBase),
      .QueueShiftMax(QueueShiftMax),
      .CommandSectorsLimit(SectorsLimit),
      .XilinxBridge(XilinxBridge),
      .HealthMs(HealthMs),
      .DeadlineMs(AdminDeadlineMs)
  ) u_admin (
      .clk_i,
      .rst_ni,
      .ms_tick_i(ms_tick),
      .enable_i,
      .link_up_i(adapter_i.link_up),
      .perst_no,
      .adapter_reset_o(adapter_o.reset),
      .adapter_quiet_i(adapter_i.quiet),
      .mmio_valid_o(admin_mmio_valid),
      .mmio_ready_i(admin_mmio_ready),
      .mmio_access_o(admin_mmio_access),
      .mmio_done_i(admin_mmio_done),
      .mmio_result_i(admin_mmio_result),
      .page_valid_o(admin_page_valid),
      .page_dword_o(admin_page_dword),
      .page_done_i(admin_page_done),
      .page_data_i(page_data_o),
      .sqe_write_o(sqe_write),
      .sqe_o(sqe),
      .admin_entry_o(admin_entry),
      .admin_entry_valid_o(admin_entry_valid),
      .queues_reset_o(queues_reset),
      .admin_completion_valid_i(admin_completion_valid),
      .admin_completion_i(admin_completion),
      .side_push_o(side_push),
      .side_push_ready_i(side_push_ready),
      .side_completion_valid_i(side_ended),
      .side_completion_i(completion),
      .range_o(range),
      .command_valid_i(lanes_i.side_valid),
      .command_ready_o(lanes_o.side_ready),
      .command_i(lanes_i.side),
      .response_valid_o(side_response_valid),
      .response_ready_i(side_response_ready),
      .response_o(side_response),
      .raw_dword_o,
      .raw_data_i,
      .recover_i(deadline_recover || doorbell_error),
      .slots_idle_i(idle_i && data_lane_idle),
      .retired_i(retired),
      .written_blocks_i(written_blocks_o),
      .drive_o,
      .recovery_o(recovery),
      .bring_up_o,
      .health_o,
      .power_o
  );

  // ---- the I/O queues ----

  logic [9:0] sq_index;
  logic sq_valid, sq_side, cq_valid, cq_ready;
  logic [SlotBits-1:0] sq_slot;
  logic doorbell_valid, doorbell_ready, doorbell_done, bad_head, bad_phase, bad_index, bad_side_id;
  mmio_access_t doorbell;

  spate_queue_pair #(
      .DataWidth(DataWidth),
      .SlotBits(SlotBits),
      .QueueShiftMax(QueueShiftMax),
      .HasFence(!HasRing)
  ) u_queue_pair (
      .clk_i,
      .rst_ni,
      .us_tick_i(us_tick),
      .drive_i(drive_o),
      .recovery_i(recovery),
      .reset_i(queues_reset),
      .link_up_i(adapter_i.link_up),
      .sqe_write_i(sqe_write),
      .sqe_i(sqe),
      .push_side_i(side_push),
      .push_side_ready_o(side_push_ready),
      .push_i(push),
      .push_ready_o(push_ready),
      .push_slot_i(push_slot),
      .read_index_i(sq_index),
      .read_valid_o(sq_valid),
      .read_side_o(sq_side),
      .read_slot_o(sq_slot),
      .write_valid_i(cq_valid),
      .write_ready_o(cq_ready),
      .write_index_i(cq_index),
      .write_data_i(write_data),
      .write_strobe_i(write_strobe),
      .completion_o(completion),
      .slot_completion_valid_o(slot_completion_valid),
      .slot_completion_ready_i(slot_completion_ready),
      .slot_ended_i(slot_ended),
      .side_ended_o(side_ended),
      .doorbell_valid_o(doorbell_valid),
      .doorbell_ready_i(doorbell_ready),
      .doorbell_o(doorbell),
      .doorbell_done_i(doorbell_done),
      .fence_request_o,
      .fence_answer_i,
      .bad_head_o(bad_head),
      .bad_phase_o(bad_phase),
      .bad_index_o(bad_index),
      .bad_side_id_o(bad_side_id)
  );

  // ---- the windows and the buffer ----

  assign adapter_o.epoch = drive_o.epoch;

  logic buffer_read, buffer_write;
  logic [BeatBits-1:0] buffer_read_beat, buffer_write_beat;
  logic [DataWidth-1:0] buffer_data;
  logic stray_read, stale_read, stray_write, stale_write;

  spate_windows_read #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .RamRegisters(RamRegisters),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .SlotBits(SlotBits),
      .BaseBits(BaseBits)
  ) u_windows_read (
      .clk_i,
      .rst_ni,
      .epoch_i(drive_o.epoch),
      .block_4096_i(drive_o.block_4096),
      .nsid_i(drive_o.nsid),
      .read_valid_i(adapter_i.read_valid),
      .read_ready_o(adapter_o.read_ready),
      .read_i(adapter_i.read),
      .data_valid_o(adapter_o.read_data_valid),
      .data_ready_i(adapter_i.read_data_ready),
      .data_o(read_data_o),
      .last_o(adapter_o.read_last),
      .buffer_read_o(buffer_read),
      .buffer_beat_o(buffer_read_beat),
      .buffer_data_i(buffer_data),
      .sq_index_o(sq_index),
      .sq_valid_i(sq_valid),
      .sq_side_i(sq_side),
      .sq_slot_i(sq_slot),
      .slot_o(read_slot),
      .slot_valid_i(read_slot_valid),
      .slot_i(read_entry),
      .slot_base_i(read_base),
      .sqe_write_i(sqe_write),
      .sqe_i(sqe),
      .admin_entry_i(admin_entry),
      .admin_entry_valid_i(admin_entry_valid),
      .range_i(range),
      .stray_o(stray_read),
      .stale_o(stale_read)
  );

  spate_windows_write #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits)
  ) u_windows_write (
      .clk_i,
      .rst_ni,
      .epoch_i(drive_o.epoch),
      .write_valid_i(adapter_i.write_valid),
      .write_ready_o(adapter_o.write_ready),
      .write_i(adapter_i.write),
      .write_data_i,
      .write_strobe_i,
      .buffer_write_o(buffer_write),
      .buffer_beat_o(buffer_write_beat),
      .buffer_data_o(write_data),
      .buffer_strobe_o(write_strobe),
      .cq_valid_o(cq_valid),
      .cq_ready_i(cq_ready),
      .admin_cq_valid_o(admin_cq_valid),
      .admin_cq_ready_i(admin_cq_ready),
      .cq_index_o(cq_index),
      .stray_o(stray_write),
      .stale_o(stale_write)
  );

  logic page_valid, page_done;
  page_access_t page;

  spate_page_arbiter u_page_arbiter (
      .clk_i,
      .rst_ni,
      .admin_valid_i(admin_page_valid),
      .admin_dword_i(admin_page_dword),
      .admin_done_o(admin_page_done),
      .registers_valid_i(page_valid_i),
      .registers_i(page_i),
      .registers_done_o(page_done_o),
      .page_valid_o(page_valid),
      .page_o(page),
      .page_done_i(page_done)
  );

  spate_buffer #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .RamStyle(RamStyle),
      .RamRegisters(RamRegisters)
  ) u_buffer (
      .clk_i,
      .rst_ni,
      .target_read_i(buffer_read),
      .target_read_beat_i(buffer_read_beat),
      .target_read_data_o(buffer_data),
      .target_write_i(buffer_write),
      .target_drop_i(stale_write),
      .target_write_beat_i(buffer_write_beat),
      .target_write_data_i(write_data),
      .target_write_strobe_i(write_strobe),
      .alloc_valid_i(alloc_valid),
      .alloc_ready_o(alloc_ready),
      .alloc_sectors_i(alloc_sectors),
      .alloc_base_o(alloc_base),
      .free_valid_i(free_valid),
      .free_sectors_i(free_sectors),
      .fill_valid_i(fill_valid),
      .fill_ready_o(fill_ready),
      .fill_beat_i(fill_beat),
      .fill_data_i(fill_data),
      .drain_valid_i(drain_valid),
      .drain_ready_o(drain_ready),
      .drain_beat_i(drain_beat),
      .drained_valid_o(drained_valid),
      .drained_ready_i(drained_ready),
      .drained_data_o(drained_data),
      .page_valid_i(page_valid),
      .page_i(page),
      .page_done_o(page_done),
      .page_data_o(page_data_o)
  );

  // ---- accesses to the drive's registers ----

  spate_mmio u_mmio (
      .clk_i,
      .rst_ni,
      .us_tick_i(us_tick),
      .doorbell_valid_i(doorbell_valid),
      .doorbell_ready_o(doorbell_ready),
      .doorbell_i(doorbell),
      .doorbell_done_o(doorbell_done),
      .doorbell_error_o(doorbell_error),
      .admin_valid_i(admin_mmio_valid),
      .admin_ready_o(admin_mmio_ready),
      .admin_i(admin_mmio_access),
      .admin_done_o(admin_mmio_done),
      .admin_result_o(admin_mmio_result),
      .request_valid_o(adapter_o.mmio_request_valid),
      .request_ready_i(adapter_i.mmio_request_ready),
      .request_o(adapter_o.mmio_request),
      .response_valid_i(adapter_i.mmio_response_valid),
      .response_i(adapter_i.mmio_response)
  );

  // ---- responses of both lanes: the data lane's first, but a response that is shown stays ----

  logic side_shown_q, choose_side;
  assign choose_side = side_shown_q || !response_valid;
  assign lanes_o.response_valid = response_valid || side_response_valid;
  assign response_ready = lanes_i.response_ready && !choose_side;
  assign side_response_ready = lanes_i.response_ready && choose_side;
  assign lanes_o.response = choose_side ? side_response : response;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) side_shown_q <= 1'b0;
    else side_shown_q <= side_response_valid && choose_side && !lanes_i.response_ready;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      events_o <= '0;
    end else begin
      events_o <= '{
          stray_read: stray_read,
          stray_write: stray_write,
          stale_access: stale_read || stale_write,
          cq_phase: bad_phase || admin_bad_phase,
          cq_index: bad_index || admin_bad_index,
          cq_id: bad_slot_id || bad_side_id,
          sq_head: bad_head,
          retry: retry,
          recovery: recovery,
          command_error: command_error
      };
    end
  end

endmodule

`default_nettype wire
