// SPDX-License-Identifier: Apache-2.0
//
// The data lane: requests become commands, which are in flight in slots and are retired in order. Their data pass
// through the ring.
//
// Guarantee: each request gets one response, in order, and moves exactly its beats.
`default_nettype none

module spate_data_lane
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight
    parameter int unsigned RamBytes = 262144,  // size of the data buffer; 8192: memory mode
    parameter int unsigned DeadlineMs = 8000,
    parameter int unsigned BaseBits = 9,  // see spate_splitter
    // Derived: no instance sets these.
    parameter int unsigned RingSectors = (RamBytes - 8192) / 512,
    parameter int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1,
    parameter int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8))
) (
    input wire logic   clk_i,
    input wire logic   rst_ni,
    input wire logic   ms_tick_i,
    input wire logic   retry_tick_i,
    input wire drive_t drive_i,
    input wire logic   reset_i,       // a pulse: the queues restart

    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,
    output logic          response_valid_o,
    input  wire logic     response_ready_i,
    output response_t     response_o,

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,
    output logic                      data_valid_o,
    input  wire logic                 data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,
    output logic                      data_error_o,

    // The ring.
    output logic                         alloc_valid_o,
    input  wire logic                    alloc_ready_i,
    output logic      [SectorsWidth-1:0] alloc_sectors_o,
    input  wire logic [    RingBits-1:0] alloc_base_i,
    output logic                         free_valid_o,
    output logic      [SectorsWidth-1:0] free_sectors_o,
    output logic                         fill_valid_o,
    input  wire logic                    fill_ready_i,
    output logic      [    BeatBits-1:0] fill_beat_o,
    output logic      [   DataWidth-1:0] fill_data_o,
    output logic                         drain_valid_o,
    input  wire logic                    drain_ready_i,
    output logic      [    BeatBits-1:0] drain_beat_o,
    input  wire logic                    drained_valid_i,
    output logic                         drained_ready_o,
    input  wire logic [   DataWidth-1:0] drained_data_i,

    // The queues.
    output logic                            push_o,
    input  wire logic                       push_ready_i,
    output logic             [SlotBits-1:0] push_slot_o,
    input  wire logic                       completion_valid_i,
    output logic                            completion_ready_o,
    input  wire completion_t                completion_i,
    output logic                            ended_o,             // it ends a command

    // What a slot is whose entry or list the drive reads.
    input  wire logic   [SlotBits-1:0] read_slot_i,
    output logic                       read_valid_o,
    output slot_entry_t                read_o,
    output logic        [BaseBits-1:0] read_base_o,

    output logic                idle_o,            // no command is in flight, or being divided
    output logic                recover_o,         // a pulse: the deadline passed
    output logic                retired_o,         // a command was retired
    output logic [LbaWidth-1:0] written_blocks_o,  // by all writes that were retired
    output logic                bad_id_o,
    output logic                retry_o,
    output logic                command_error_o
);

  // ---- requests become commands ----

  logic splitter_idle, issue_valid, issue_ready;
  slot_issue_t issue;
  logic [BaseBits-1:0] issue_base;

  spate_splitter #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .BaseBits(BaseBits)
  ) u_splitter (
      .clk_i,
      .rst_ni,
      .drive_i,
      .command_valid_i,
      .command_ready_o,
      .command_i,
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .alloc_valid_o,
      .alloc_ready_i,
      .alloc_sectors_o,
      .alloc_base_i,
      .fill_valid_o,
      .fill_ready_i,
      .fill_beat_o,
      .fill_data_o,
      .issue_valid_o(issue_valid),
      .issue_ready_i(issue_ready),
      .issue_o(issue),
      .issue_base_o(issue_base),
      .idle_o(splitter_idle)
  );

  // ---- commands in flight ----

  logic head_waiting, head_valid, head_abort, slots_idle;
  slot_retire_t head;

  spate_slots #(
      .SlotBits(SlotBits),
      .BaseBits(BaseBits)
  ) u_slots (
      .clk_i,
      .rst_ni,
      .epoch_i(drive_i.epoch),
      .reset_i,
      .gone_i(drive_i.gone),
      .retry_tick_i,
      .issue_valid_i(issue_valid),
      .issue_ready_o(issue_ready),
      .issue_i(issue),
      .issue_base_i(issue_base),
      .push_o,
      .push_ready_i,
      .push_slot_o,
      .completion_valid_i,
      .completion_ready_o,
      .completion_i,
      .ended_o,
      .bad_id_o,
      .retry_o,
      .read_slot_i,
      .read_valid_o,
      .read_o,
      .read_base_o,
      .head_waiting_o(head_waiting),
      .head_valid_o(head_valid),
      .head_pop_i(retired_o),
      .head_o(head),
      .head_abort_i(head_abort),
      .idle_o(slots_idle)
  );
  assign idle_o = slots_idle && splitter_idle;

  spate_deadline #(
      .DeadlineMs(DeadlineMs)
  ) u_deadline (
      .clk_i,
      .rst_ni,
      .ms_tick_i,
      .ready_i(drive_i.ready),
      .waiting_i(head_waiting),
      .pop_i(retired_o),
      .reset_i,
      .recover_o,
      .abort_o(head_abort)
  );

  // ---- retirement ----

  spate_retire #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes)
  ) u_retire (
      .clk_i,
      .rst_ni,
      .head_valid_i(head_valid),
      .head_i(head),
      .head_pop_o(retired_o),
      .free_valid_o,
      .free_sectors_o,
      .drain_valid_o,
      .drain_ready_i,
      .drain_beat_o,
      .drained_valid_i,
      .drained_ready_o,
      .drained_data_i,
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .data_last_o,
      .data_error_o,
      .response_valid_o,
      .response_ready_i,
      .response_o,
      .written_blocks_o,
      .command_error_o
  );

endmodule

`default_nettype wire
