// SPDX-License-Identifier: Apache-2.0
//
// The I/O queue pair: its submission queue, its completion queue, and the doorbells of both. Its entries are those of
// slots and, one at a time, of the side command. A completion goes to the slots or ends the side command, by its
// identifier.
//
// Guarantee: completions are dropped between `recovery_i` and `reset_i`: a controller that is being stopped may
// report anything, and the commands concerned are sent again. A repeated completion of a side command does not end the
// next one.
`default_nettype none

module spate_queue_pair
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned SlotBits = 6,  // log2 of the commands in flight, besides the side command
    parameter int unsigned QueueShiftMax = 7,  // log2 of the largest number of entries
    parameter bit HasFence = 1'b0  // completions wait for the data before them: see spate_fence
) (
    input wire logic   clk_i,
    input wire logic   rst_ni,
    input wire logic   us_tick_i,
    input wire drive_t drive_i,
    input wire logic   recovery_i,  // a pulse: the drive was given up, and will be brought up again
    input wire logic   reset_i,     // a pulse: the queues restart
    input wire logic   link_up_i,

    // New entries, of the side command and of slots. The side command's identifier is in the entry that is written
    // before.
    input  wire logic                      sqe_write_i,
    input  wire sqe_dword_t                sqe_i,
    input  wire logic                      push_side_i,
    output logic                           push_side_ready_o,
    input  wire logic                      push_i,
    output logic                           push_ready_o,
    input  wire logic       [SlotBits-1:0] push_slot_i,

    // What an entry is that the drive reads.
    input  wire logic [         9:0] read_index_i,
    output logic                     read_valid_o,
    output logic                     read_side_o,
    output logic      [SlotBits-1:0] read_slot_o,

    // Completion entries that the drive writes.
    input  wire logic                   write_valid_i,
    output logic                        write_ready_o,
    input  wire logic [           11:0] write_index_i,
    input  wire logic [  DataWidth-1:0] write_data_i,
    input  wire logic [DataWidth/8-1:0] write_strobe_i,

    output completion_t completion_o,
    output logic        slot_completion_valid_o,
    input  wire logic   slot_completion_ready_i,
    input  wire logic   slot_ended_i,             // it ends a command
    output logic        side_ended_o,             // a pulse: it ends the side command

    output logic         doorbell_valid_o,
    input  wire logic    doorbell_ready_i,
    output mmio_access_t doorbell_o,
    input  wire logic    doorbell_done_i,

    output logic      fence_request_o,
    input  wire logic fence_answer_i,

    output logic bad_head_o,
    output logic bad_phase_o,
    output logic bad_index_o,
    output logic bad_side_id_o  // a completion of a side command that is not in flight
);

  // ---- submission ----

  logic taken, head_valid_q, ended_q;
  logic [15:0] head_q;
  logic [QueueShiftMax-1:0] tail, in_flight, cq_head;

  spate_sq #(
      .SlotBits(SlotBits),
      .QueueShiftMax(QueueShiftMax)
  ) u_sq (
      .clk_i,
      .rst_ni,
      .reset_i,
      .ready_i(drive_i.ready),
      .queue_shift_i(drive_i.queue_shift),
      .push_side_i,
      .push_side_ready_o,
      .push_i,
      .push_ready_o,
      .push_slot_i,
      .head_valid_i(head_valid_q),
      .head_i(head_q),
      .ended_i(ended_q),
      .tail_o(tail),
      .in_flight_o(in_flight),
      .read_index_i,
      .read_valid_o,
      .read_side_o,
      .read_slot_o,
      .bad_head_o
  );

  // ---- completion ----

  logic cq_completion_valid, cq_completion_ready, completion_valid, completion_ready;
  completion_t cq_completion;

  spate_cq #(
      .DataWidth(DataWidth),
      .QueueShiftMax(QueueShiftMax)
  ) u_cq (
      .clk_i,
      .rst_ni,
      .reset_i,
      .queue_shift_i(drive_i.queue_shift),
      .write_valid_i,
      .write_ready_o,
      .write_index_i,
      .write_data_i,
      .write_strobe_i,
      .completion_valid_o(cq_completion_valid),
      .completion_ready_i(cq_completion_ready),
      .completion_o(cq_completion),
      .head_o(cq_head),
      .bad_phase_o,
      .bad_index_o
  );

  if (!HasFence) begin : gen_no_fence
    logic unused;
    assign unused = link_up_i ^ fence_answer_i;
    assign fence_request_o = 1'b0;
    assign completion_valid = cq_completion_valid;
    assign completion_o = cq_completion;
    assign cq_completion_ready = completion_ready;
  end else begin : gen_fence
    // A reset of the bridge or of the queues drops the completions that wait here: their data may be lost, and commands
    // that are not complete are sent again.
    spate_fence #(
        .CommandsMax(2 ** SlotBits + 1)
    ) u_fence (
        .clk_i,
        .rst_ni(rst_ni && link_up_i && !reset_i),
        .completion_valid_i(cq_completion_valid),
        .completion_ready_o(cq_completion_ready),
        .completion_i(cq_completion),
        .completion_valid_o(completion_valid),
        .completion_ready_i(completion_ready),
        .completion_o,
        .fence_request_o,
        .fence_answer_i
    );
  end

  logic recovering_q;
  always_ff @(posedge clk_i) recovering_q <= rst_ni && !reset_i && (recovery_i || recovering_q);
  assign slot_completion_valid_o = completion_valid && !completion_o.cid.side && !recovering_q;
  assign completion_ready = completion_o.cid.side || slot_completion_ready_i || recovering_q;
  assign taken = completion_valid && completion_ready && !recovering_q;

  logic side_busy_q, side_known;
  logic [7:0] side_number_q;
  cid_t side_cid;
  assign side_cid = '{epoch: drive_i.epoch, uses: '0, side: 1'b1, slot: side_number_q};
  assign side_known = completion_o.cid == side_cid && side_busy_q;
  assign side_ended_o = taken && side_known;
  assign bad_side_id_o = taken && completion_o.cid.side && !side_known;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i || side_ended_o) side_busy_q <= 1'b0;
    else if (push_side_i && push_side_ready_o) side_busy_q <= 1'b1;
    if (sqe_write_i && sqe_i.side && sqe_i.dword == '0) side_number_q <= sqe_i.data[23:16];
  end

  // The submission queue learns a cycle later that a command ended.
  always_ff @(posedge clk_i) begin
    head_valid_q <= rst_ni && !reset_i && taken;
    ended_q <= rst_ni && !reset_i && (slot_ended_i || side_ended_o);
    head_q <= completion_o.sq_head;
  end

  // ---- doorbells ----

  spate_doorbells #(
      .SlotBits(SlotBits),
      .QueueShiftMax(QueueShiftMax)
  ) u_doorbells (
      .clk_i,
      .rst_ni,
      .us_tick_i,
      .reset_i,
      .ready_i(drive_i.ready),
      .queue_shift_i(drive_i.queue_shift),
      .doorbell_stride_i(drive_i.doorbell_stride),
      .tail_i(tail),
      .in_flight_i(in_flight),
      .urgent_i(push_side_i && push_side_ready_o),
      .cq_head_i(cq_head),
      .doorbell_valid_o,
      .doorbell_ready_i,
      .doorbell_o,
      .doorbell_done_i
  );

endmodule

`default_nettype wire
