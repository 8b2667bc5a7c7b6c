// SPDX-License-Identifier: Apache-2.0
//
// The I/O submission queue without its entries: the slot of each entry, the tail and the head, and whether there is
// room.
//
// Guarantee: an entry that was handed over keeps its slot until the drive's head has passed it. At most entries -
// entries / 4 - 1 commands are in flight. The completion queue has as many entries as this queue, so it has room for
// all of them although its head's doorbell is rung only after each quarter.
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
    output logic                     read_valid_o,  // the entry is between head and tail
    output logic                     read_side_o,
    output logic      [SlotBits-1:0] read_slot_o,

    output logic bad_head_o  // a pulse: head_i is not between the head and the tail
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

  // A mask of the queue's index bits; the largest number in flight (for two entries, one).
  always_ff @(posedge clk_i) begin
    mask_q <= index_t'((16'd1 << queue_shift_i) - 16'd1);
    limit_q <= queue_shift_i == 4'd1 ? index_t'(1) : index_t'((16'd3 << queue_shift_i >> 2) - 16'd1);
  end

  logic room, push;
  assign room = ready_i && ((tail_q + index_t'(1)) & mask_q) != head_q && in_flight_q < limit_q;
  assign push_side_ready_o = room;
  assign push_ready_o = room && !push_side_i;
  assign push = room && (push_side_i || push_i);

  always_ff @(posedge clk_i) begin
    if (push) map_q[tail_q] <= '{side: push_side_i, slot: push_slot_i};
  end

  // A head that goes back, or beyond the tail, is ignored.
  index_t head_new, advance;
  logic head_good;
  assign head_new = head_i[QueueShiftMax-1:0] & mask_q;
  assign advance = (head_new - head_q) & mask_q;
  assign head_good = 16'(head_new) == head_i && advance <= ((tail_q - head_q) & mask_q);
  assign bad_head_o = head_valid_i && !head_good;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      tail_q <= '0;
      head_q <= '0;
      in_flight_q <= '0;
    end else begin
      if (push) tail_q <= (tail_q + index_t'(1)) & mask_q;
      if (head_valid_i && head_good) head_q <= head_new;
      in_flight_q <= in_flight_q + index_t'(push) - index_t'(ended_i);
    end
  end

  assign tail_o = tail_q;
  assign in_flight_o = in_flight_q;

  map_t read;
  index_t read_index;
  assign read_index = read_index_i[QueueShiftMax-1:0];
  assign read = map_q[read_index];
  assign read_valid_o = ((read_index - head_q) & mask_q) < ((tail_q - head_q) & mask_q) &&
      read_index_i == 10'(read_index & mask_q);
  assign read_side_o = read.side;
  assign read_slot_o = read.slot;

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (queue_shift_i >= 4'd1 && queue_shift_i <= 4'(QueueShiftMax));
    assume (!ended_i || in_flight_q != '0);  // each command that is in flight ends once
  end

  // One arbitrary entry: it keeps what was written into it until the head has passed it.
  (* anyconst *) index_t any_index;
  map_t any_map_q;
  logic any_live_q = 1'b0;
  logic [QueueShiftMax:0] used;
  assign used = (QueueShiftMax + 1)'((tail_q - head_q) & mask_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      any_live_q <= 1'b0;
    end else begin
      if (push && tail_q == any_index) begin
        assert (!any_live_q);  // an entry that the drive may still read is not overwritten
        any_live_q <= 1'b1;
        any_map_q <= '{side: push_side_i, slot: push_slot_i};
      end
      if (head_valid_i && head_good && ((any_index - head_q) & mask_q) < advance) any_live_q <= 1'b0;
    end
    if (past_reset_q) assume (queue_shift_i == $past(queue_shift_i));
  end
  always_comb begin
    if (past_reset_q) begin
      assert (mask_q == index_t'((16'd1 << queue_shift_i) - 16'd1));
      assert (limit_q == (queue_shift_i == 4'd1 ? index_t'(1) : mask_q - index_t'(16'd1 << queue_shift_i >> 2)));
    end
    if (rst_ni && past_reset_q) begin
      assert (in_flight_q <= limit_q);
      assert ((tail_q & ~mask_q) == '0 && (head_q & ~mask_q) == '0);
    end
    if (rst_ni && past_reset_q && (any_index & ~mask_q) == '0) begin
      assert (any_live_q == (((any_index - head_q) & mask_q) < ((tail_q - head_q) & mask_q)));
      if (any_live_q) begin
        assert (map_q[any_index] == any_map_q);
        if (read_index_i == 10'(any_index)) assert (read_valid_o && {read_side_o, read_slot_o} == any_map_q);
      end
    end
    cover (rst_ni && used == (QueueShiftMax + 1)'(mask_q) && queue_shift_i == 4'd3 && head_q != '0);
    cover (rst_ni && bad_head_o);
  end
`endif

endmodule

`default_nettype wire
