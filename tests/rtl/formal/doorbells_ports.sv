// SPDX-License-Identifier: Apache-2.0
//
// spate_doorbells, watched at its ports. A doorbell that begins tells what the drive now knows of the queues. What the
// drive does not know is counted here, and the reasons to ring follow from the counts.
module doorbells_ports
  import spate_pkg::*;
#(
    parameter int unsigned SlotBits = 6,
    parameter int unsigned QueueShiftMax = 7
) (
    input logic                             clk_i,
    input logic                             rst_ni,
    input logic                             us_tick_i,
    input logic                             reset_i,
    input logic                             ready_i,
    input logic         [              3:0] queue_shift_i,
    input logic         [              3:0] doorbell_stride_i,
    input logic         [QueueShiftMax-1:0] tail_i,
    input logic         [QueueShiftMax-1:0] in_flight_i,
    input logic                             urgent_i,
    input logic         [QueueShiftMax-1:0] cq_head_i,
    input logic                             doorbell_valid_o,
    input logic                             doorbell_ready_i,
    input mmio_access_t                     doorbell_o,
    input logic                             doorbell_done_i
);

  typedef logic [QueueShiftMax-1:0] index_t;
  localparam int unsigned Slots = 2 ** SlotBits;
  localparam int unsigned QueueMost = 2 ** QueueShiftMax - 1;  // what a short queue can hold
  localparam int unsigned BusySlots = Slots / 2 < 64 ? Slots / 2 : 64;
  localparam int unsigned BatchSlots = Slots / 4 < 16 ? Slots / 4 : 16;
  localparam index_t Busy = index_t'(BusySlots < QueueMost ? BusySlots : QueueMost);
  localparam index_t Batch = index_t'(BatchSlots < QueueMost ? BatchSlots : QueueMost);

  logic past_reset_q = 1'b0;
  logic checked;
  assign checked = past_reset_q && rst_ni;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;

  // ---- the cycle before: in it the doorbell that begins now was decided ----

  logic ready_q, reset_q, urgent_past_q;
  logic [3:0] shift_q, stride_q;
  index_t tail_q, head_q, unrung, unrung_head, unrung_past_q, unrung_head_past_q;
  always_ff @(posedge clk_i) begin
    ready_q <= ready_i;
    reset_q <= reset_i || !rst_ni;
    urgent_past_q <= urgent_i;
    shift_q <= queue_shift_i;
    stride_q <= doorbell_stride_i;
    tail_q <= tail_i;
    head_q <= cq_head_i;
    unrung_past_q <= unrung;
    unrung_head_past_q <= unrung_head;
  end

  // ---- what the drive knows ----

  logic busy_q, waiting, begins, for_head, begins_tail, begins_head, may;
  logic urgent_known_q, urgent;
  index_t mask, quarter, rung_tail_q, rung_head_q, rung_tail, rung_head;
  logic [4:0] ticks_q, ticks;  // since the first completion that the head's doorbell does not cover
  assign waiting = doorbell_valid_o || busy_q;
  assign begins = doorbell_valid_o && !busy_q;
  assign for_head = doorbell_o.address == 32'h1000 + (32'd12 << stride_q);
  assign begins_tail = begins && !for_head;
  assign begins_head = begins && for_head;
  assign may = ready_i && !waiting;

  assign mask = index_t'((16'd1 << queue_shift_i) - 16'd1);
  assign quarter = index_t'(16'd1 << queue_shift_i >> 2);
  assign rung_tail = begins_tail && !reset_q ? index_t'(doorbell_o.data) : rung_tail_q;
  assign rung_head = begins_head && !reset_q ? index_t'(doorbell_o.data) : rung_head_q;
  assign unrung = (tail_i - rung_tail) & mask;
  assign unrung_head = (cq_head_i - rung_head) & mask;
  assign urgent = begins_tail && !reset_q ? urgent_past_q : urgent_known_q;
  assign ticks = begins_head ? '0 : ticks_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= waiting && !doorbell_done_i;
    if (!rst_ni || reset_i) begin
      rung_tail_q <= '0;
      rung_head_q <= '0;
      urgent_known_q <= 1'b0;
      ticks_q <= '0;
    end else begin
      rung_tail_q <= rung_tail;
      rung_head_q <= rung_head;
      urgent_known_q <= urgent || urgent_i;
      ticks_q <= unrung_head == '0 ? '0 : ticks + 5'(us_tick_i && ticks != '1);
    end
  end

  // ---- the environment ----
  //
  // Pointers advance by one entry at a time, and no queue has more entries than it can hold. For the completion queue
  // that is the drive's duty. If the drive breaks it, a doorbell tells an old head, and nothing else fails.
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (queue_shift_i >= 4'd1 && queue_shift_i <= 4'(QueueShiftMax));
    assume ((tail_i & ~mask) == '0 && (cq_head_i & ~mask) == '0);
    assume (!doorbell_done_i || (waiting && !doorbell_valid_o));  // a doorbell that was taken is done once
    if (past_reset_q) begin
      assume (queue_shift_i == shift_q);
      if (reset_q) begin
        assume (tail_i == '0 && cq_head_i == '0);
      end else begin
        assume (((cq_head_i - head_q) & mask) <= index_t'(unrung_head_past_q != mask));
        assume (((tail_i - tail_q) & mask) <= index_t'(unrung_past_q != mask));
      end
    end
  end

  // ---- a doorbell ----

  mmio_access_t shown_q;
  logic shown_waits_q, waiting_past_q;
  always_ff @(posedge clk_i) begin
    shown_q <= doorbell_o;
    shown_waits_q <= rst_ni && doorbell_valid_o && !doorbell_ready_i;
    waiting_past_q <= rst_ni && waiting;
  end
  always_comb begin
    if (checked) begin
      // One at a time. One that waits does not change.
      if (shown_waits_q) assert (doorbell_valid_o && doorbell_o == shown_q);
      if (doorbell_valid_o && !shown_waits_q) assert (begins && !waiting_past_q && ready_q);
      // It tells the pointer of the cycle before, and so never one beyond the queue's, of entries that the drive does not know.
      if (begins) begin
        assert (doorbell_o.space == SpaceBar && doorbell_o.write);
        assert (for_head || doorbell_o.address == 32'h1000 + (32'd8 << stride_q));
        assert (doorbell_o.data == 32'(for_head ? head_q : tail_q));
        if (!reset_q) assert ((for_head ? unrung_head_past_q : unrung_past_q) != '0);
      end
    end
  end

  // ---- when it is due ----

  logic tail_due, head_due;
  logic [1:0] tail_due_q, head_due_q;  // for how many cycles, while one may be rung
  assign tail_due = unrung != '0 && (urgent || unrung >= Batch || in_flight_i - unrung < Busy);
  assign head_due = unrung_head != '0 && (unrung_head >= quarter || ticks >= 5'd16);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i || !may) begin
      tail_due_q <= '0;
      head_due_q <= '0;
    end else begin
      tail_due_q <= tail_due ? tail_due_q + 2'(tail_due_q != 2'd3) : '0;
      head_due_q <= head_due ? head_due_q + 2'(head_due_q != 2'd3) : '0;
    end
  end
  always_comb begin
    if (checked) begin
      // Neither the drive, if it has little work, nor the side command waits longer than two cycles, but for the head's
      // doorbell, which goes first and is rung two cycles after a quarter of the queue, or the 16th tick, at the latest.
      if (tail_due_q == 2'd3) assert (begins);
      if (head_due_q == 2'd3) assert (begins_head);
    end
  end

  // A doorbell has a reason: it was due two cycles before it was decided, or a tick or the side command came meanwhile.
  logic [2:0] tail_reason_q, head_reason_q;
  logic [1:0] urgent_q;
  logic [4:0] ticks_past_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {tail_reason_q, head_reason_q, urgent_q} <= '0;
      ticks_past_q <= '0;
    end else begin
      tail_reason_q <= {tail_reason_q[1:0], tail_due};
      head_reason_q <= {head_reason_q[1:0], head_due};
      urgent_q <= {urgent_q[0], urgent};
      ticks_past_q <= ticks;
    end
  end
  always_comb begin
    if (checked) begin
      if (begins_tail) assert (tail_reason_q[2] || urgent_q[1]);
      if (begins_head) assert (head_reason_q[2] || ticks_past_q >= 5'd15);
    end
    cover (checked && begins_head && ticks_past_q >= 5'd15 && unrung_past_q == '0);
    cover (checked && begins_head);
    cover (checked && begins_tail && doorbell_o.data == 32'd3);
    cover (checked && begins_tail && !tail_reason_q[2]);
  end

endmodule

bind spate_doorbells doorbells_ports #(
    .SlotBits(SlotBits),
    .QueueShiftMax(QueueShiftMax)
) u_ports (.*);
