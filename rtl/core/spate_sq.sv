// SPDX-License-Identifier: Apache-2.0
//
// The I/O submission queue without its entries: the slot of each entry, the tail, and whether there is room.
//
// The drive's head, which completions report, is not needed for that. A drive reads entries in order, and completes
// what it has read, once. So what it has not read are the last entries, at most as many as there are commands in
// flight. Drives that always report 0, or the tail before they have read up to it, therefore work. Linux does not use
// the head either. It is compared with what is possible, and counted if it is not.
//
// Guarantee: at most entries - entries / 4 - 1 commands are in flight, and as many of the last entries keep their
// slots. The completion queue has as many entries as this queue, so it has room for all of them although its head's
// doorbell is rung only after each quarter.
`default_nettype none

module spate_sq
  import spate_pkg::*;
#(
    parameter int unsigned SlotBits = 6,
    parameter int unsigned QueueShiftMax = 7  // log2 of the largest number of entries, 1 … 10
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic       reset_i,       // a pulse: the queue restarts
    input wire logic       ready_i,       // entries may be handed over
    input wire logic [3:0] queue_shift_i, // set two cycles or more before reset_i and stable until the next one

    // Entries that are handed over; the side command's goes first. `push` with `ready` is one entry.
    input  wire logic                push_side_i,
    output logic                     push_side_ready_o,
    input  wire logic                push_i,
    output logic                     push_ready_o,
    input  wire logic [SlotBits-1:0] push_slot_i,

    // A completion was taken: the drive's head, and whether it ended a command that was in flight.
    input wire logic        head_valid_i,
    input wire logic [15:0] head_i,
    input wire logic        ended_i,

    output logic [QueueShiftMax-1:0] tail_o,
    output logic [QueueShiftMax-1:0] in_flight_o, // entries handed over whose commands have not ended

    // The slot of an entry, for the window. In the same cycle.
    input  wire logic [         9:0] read_index_i,
    output logic                     read_valid_o,  // the entry is one of the last that were handed over
    output logic                     read_side_o,
    output logic      [SlotBits-1:0] read_slot_o,

    output logic bad_head_o  // a pulse, a cycle later: head_i is not between the last good one and the tail
);

  if (QueueShiftMax < 1 || QueueShiftMax > 10) begin : gen_check
    $error("spate_sq: QueueShiftMax must be 1 to 10");
  end

  typedef logic [QueueShiftMax-1:0] index_t;
  typedef struct packed {
    logic                side;
    logic [SlotBits-1:0] slot;
  } map_t;

  map_t map_q[2**QueueShiftMax];
  index_t tail_q, head_q, in_flight_q, mask_q, limit_q;
  index_t oldest_q;  // the first of the last `limit_q` entries before the tail
  logic wrapped_q;  // each entry was handed over at least once

  // A mask of the queue's index bits; the largest number in flight (for two entries, one).
  always_ff @(posedge clk_i) begin
    mask_q <= index_t'((16'd1 << queue_shift_i) - 16'd1);
    limit_q <= queue_shift_i == 4'd1 ? index_t'(1) : index_t'((16'd3 << queue_shift_i >> 2) - 16'd1);
  end

  logic room, room_q, push;
  // What has ended makes room a cycle later, which shortens the path from here to the slots.
  assign room = ready_i && room_q;
  always_ff @(posedge clk_i) begin
    room_q <= rst_ni && (push ? in_flight_q + index_t'(1) < limit_q : in_flight_q < limit_q);
  end
  assign push_side_ready_o = room;
  assign push_ready_o = room && !push_side_i;
  assign push = room && (push_side_i || push_i);

  always_ff @(posedge clk_i) begin
    if (push) map_q[tail_q] <= '{side: push_side_i, slot: push_slot_i};
  end

  // A head that goes back, or beyond the tail, is ignored. It is compared in the cycle after it came, with the tail
  // that was there when it came.
  index_t head_new, head_new_q, tail_then_q, tail_next;
  logic head_valid_q, head_fits_q, head_good, past_head, before_tail;
  assign head_new = head_i[QueueShiftMax-1:0] & mask_q;
  assign past_head = head_new_q >= head_q;
  assign before_tail = head_new_q <= tail_then_q;
  assign head_good = head_fits_q && (head_q <= tail_then_q ? past_head && before_tail : past_head || before_tail);
  assign tail_next = (tail_q + index_t'(1)) & mask_q;
  assign bad_head_o = head_valid_q && !head_good;
  always_ff @(posedge clk_i) begin
    head_valid_q <= rst_ni && !reset_i && head_valid_i;
    head_fits_q <= 16'(head_new) == head_i;
    head_new_q <= head_new;
    tail_then_q <= tail_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      tail_q <= '0;
      oldest_q <= -limit_q & mask_q;
      wrapped_q <= 1'b0;
      head_q <= '0;
      in_flight_q <= '0;
    end else begin
      if (push) tail_q <= tail_next;
      if (push) oldest_q <= (oldest_q + index_t'(1)) & mask_q;
      if (push && tail_next == '0) wrapped_q <= 1'b1;
      if (head_valid_q && head_good) head_q <= head_new_q;
      in_flight_q <= in_flight_q + index_t'(push) - index_t'(ended_i);
    end
  end

  assign tail_o = tail_q;
  assign in_flight_o = in_flight_q;

  map_t read;
  index_t read_index;
  logic read_fits, from_oldest, to_tail;
  assign read_index = read_index_i[QueueShiftMax-1:0];
  assign read = map_q[read_index];
  assign read_fits = read_index_i == 10'(read_index & mask_q);
  assign from_oldest = read_index >= oldest_q;
  assign to_tail = read_index < tail_q;
  assign read_valid_o = read_fits &&
      (oldest_q < tail_q ? from_oldest && to_tail : (from_oldest && wrapped_q) || to_tail);
  assign read_side_o = read.side;
  assign read_slot_o = read.slot;

endmodule

`default_nettype wire
