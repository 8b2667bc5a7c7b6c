// SPDX-License-Identifier: Apache-2.0
//
// Decides when to ring a doorbell. The tail's is rung for each new entry while the drive has little to do, otherwise
// for a quarter of the slots, at most 16, at a time. The completion head's is rung after a quarter of the queue, or 16
// µs after the first completion that it does not cover yet. A doorbell write is a packet in the direction of write
// data: one for each command of 4 KiB would cost more than half a per cent of the rate.
//
// The decision takes two cycles: the entries that no doorbell covers yet are counted in the first, and compared with the
// limits in the second. In one cycle, the paths from the queues' pointers would be among the longest of the core.
//
//   tail, head, in flight ──► unrung ──► ring ──► doorbell
//
// Guarantee: the tail that is rung is never beyond the queue's tail. No entry waits longer than these two cycles while
// the drive has less than half of the slots to work on (64, if that is less). The side command's entry waits at most for
// one doorbell in progress and one of the head, which goes first because it is rarer.
`default_nettype none

module spate_doorbells
  import spate_pkg::*;
#(
    parameter int unsigned SlotBits = 6,
    parameter int unsigned QueueShiftMax = 7
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic us_tick_i,

    input wire logic reset_i,  // the queues restart
    input wire logic ready_i,
    input wire logic [3:0] queue_shift_i,
    input wire logic [3:0] doorbell_stride_i,
    input wire logic [QueueShiftMax-1:0] tail_i,
    input wire logic [QueueShiftMax-1:0] in_flight_i,
    input wire logic urgent_i,  // a pulse: the entry just handed over is the side command's
    input wire logic [QueueShiftMax-1:0] cq_head_i,

    // Held until it is taken; one at a time.
    output logic         doorbell_valid_o,
    input  wire logic    doorbell_ready_i,
    output mmio_access_t doorbell_o,
    input  wire logic    doorbell_done_i
);

  typedef logic [QueueShiftMax-1:0] index_t;
  localparam int unsigned QueueMost = 2 ** QueueShiftMax - 1;  // what a short queue can hold
  localparam int unsigned BusySlots = SlotBits > 7 ? 64 : 2 ** SlotBits / 2;
  localparam int unsigned BatchSlots = SlotBits > 6 ? 16 : 2 ** SlotBits / 4;
  localparam index_t Batch = index_t'(BatchSlots < QueueMost ? BatchSlots : QueueMost);
  localparam index_t Busy = index_t'(BusySlots < QueueMost ? BusySlots : QueueMost);

  index_t rung_tail_q, rung_head_q, mask_q, quarter_q, unrung, unrung_head;
  index_t unrung_q, unrung_head_q, in_flight_q;
  logic ring_tail_q, ring_head_q;
  logic urgent_q, waiting_q;  // waiting_q: a doorbell was sent and is not done
  logic [1:0] stale_q;  // unrung_q, unrung_head_q and ring_*_q may still be from before the last doorbell
  logic [3:0] wait_us_q;
  logic start, start_head, start_tail;

  always_ff @(posedge clk_i) begin
    mask_q <= index_t'((16'd1 << queue_shift_i) - 16'd1);
    quarter_q <= index_t'(16'd1 << queue_shift_i >> 2);
  end
  assign unrung = (tail_i - rung_tail_q) & mask_q;
  assign unrung_head = (cq_head_i - rung_head_q) & mask_q;

  always_ff @(posedge clk_i) begin
    unrung_q <= unrung;
    unrung_head_q <= unrung_head;
    in_flight_q <= in_flight_i;
    ring_tail_q <= unrung_q != '0 && (urgent_q || unrung_q >= Batch || in_flight_q - unrung_q < Busy);
    ring_head_q <= unrung_head_q != '0 && (unrung_head_q >= quarter_q || wait_us_q == '1);
  end
  assign start = ready_i && !waiting_q && stale_q == '0 && (ring_tail_q || ring_head_q);
  assign start_head = start && ring_head_q;
  assign start_tail = start && !ring_head_q;

  // Doorbells of queue pair 1 (3.1.20, 3.1.21). The stride is 4 bytes << DSTRD.
  function automatic logic [31:0] address(logic completion, logic [3:0] stride);
    return 32'h1000 + ((completion ? 32'd12 : 32'd8) << stride);
  endfunction

  logic [31:0] address_q, data_q;
  assign doorbell_o = '{space: SpaceBar, write: 1'b1, address: address_q, data: data_q};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      doorbell_valid_o <= 1'b0;
      waiting_q <= 1'b0;
      stale_q <= '1;
    end else begin
      stale_q <= start || reset_i ? '1 : stale_q >> 1;
      if (start) doorbell_valid_o <= 1'b1;
      else if (doorbell_ready_i) doorbell_valid_o <= 1'b0;
      if (start) waiting_q <= 1'b1;
      else if (doorbell_done_i) waiting_q <= 1'b0;
    end
    if (start) begin
      address_q <= address(ring_head_q, doorbell_stride_i);
      data_q <= 32'(ring_head_q ? cq_head_i : tail_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      rung_tail_q <= '0;
      rung_head_q <= '0;
      urgent_q <= 1'b0;
      wait_us_q <= '0;
    end else begin
      if (start_tail) rung_tail_q <= tail_i;
      if (start_head) rung_head_q <= cq_head_i;
      if (urgent_i) urgent_q <= 1'b1;
      else if (start_tail) urgent_q <= 1'b0;
      if (unrung_head_q == '0 || start_head) wait_us_q <= '0;
      else if (us_tick_i && wait_us_q != '1) wait_us_q <= wait_us_q + 4'd1;
    end
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (queue_shift_i >= 4'd1 && queue_shift_i <= 4'(QueueShiftMax));
    assume ((tail_i & ~mask_q) == '0 && (cq_head_i & ~mask_q) == '0);
    assume (!doorbell_done_i || (waiting_q && !doorbell_valid_o));  // a doorbell that was taken is done once
    if (rst_ni && past_reset_q) assert (!doorbell_valid_o || waiting_q);
  end

  // Ticks since the first completion that the head's doorbell does not cover.
  logic [4:0] head_ticks_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i || unrung_head == '0 || start_head) head_ticks_q <= '0;
    else if (us_tick_i && head_ticks_q != '1) head_ticks_q <= head_ticks_q + 5'd1;
  end

  // For how many cycles a doorbell has been due, while one may be rung.
  logic tail_due, head_due;
  logic [2:0] tail_due_q, head_due_q;
  assign tail_due = unrung != '0 && (urgent_q || in_flight_i - unrung < Busy);
  assign head_due = unrung_head != '0 && head_ticks_q >= 5'd16;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i || !ready_i || waiting_q || stale_q != '0) begin
      tail_due_q <= '0;
      head_due_q <= '0;
    end else begin
      tail_due_q <= tail_due ? tail_due_q + 3'(tail_due_q != '1) : '0;
      head_due_q <= head_due ? head_due_q + 3'(head_due_q != '1) : '0;
    end
  end
  always_comb begin
    if (rst_ni && past_reset_q) begin
      // unrung_head_q is a cycle late. So wait_us_q may have missed a tick, or counted one before the first completion.
      assert (wait_us_q == '1 || 5'(wait_us_q) == head_ticks_q || 5'(wait_us_q) + 5'd1 == head_ticks_q ||
              (stale_q != '0 && wait_us_q == 4'd1));
      assert (wait_us_q != '1 || head_ticks_q >= 5'd15);
      // Only for entries that the drive does not know.
      if (start_tail && !reset_i) assert (unrung != '0);
      if (start_head && !reset_i) assert (unrung_head != '0);
      // It is rung two cycles after the 16th tick at the latest, whatever else happens.
      if (ready_i && !waiting_q && stale_q == '0 && head_due && head_due_q >= 3'd2) assert (start_head);
      // Neither the drive, if it has little work, nor the side command waits longer than two cycles.
      if (ready_i && !waiting_q && stale_q == '0 && tail_due && tail_due_q >= 3'd2) assert (start);
    end
    cover (rst_ni && past_reset_q && start_head && head_ticks_q >= 5'd15 && tail_i == rung_tail_q);
  end

  // The queues: pointers advance by one entry at a time, and no queue has more entries than it can hold. For the
  // completion queue that is the drive's duty. If the drive breaks it, a doorbell tells an old head, and nothing else fails.
  always_ff @(posedge clk_i) begin
    if (past_reset_q && $past(rst_ni && !reset_i)) begin
      assume (((cq_head_i - $past(cq_head_i)) & mask_q) <= index_t'(1));
      assume (((tail_i - $past(tail_i)) & mask_q) <= index_t'(1));
      if ($past(unrung_head) == mask_q) assume (cq_head_i == $past(cq_head_i));
      if ($past(unrung) == mask_q) assume (tail_i == $past(tail_i));
    end
    if (past_reset_q && $past(!rst_ni || reset_i)) assume (cq_head_i == '0 && tail_i == '0);
  end

  always_ff @(posedge clk_i) begin
    if (past_reset_q) begin
      assume (queue_shift_i == $past(queue_shift_i));
      assert (mask_q == index_t'((16'd1 << queue_shift_i) - 16'd1));
    end
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      // The tail that is rung lies between the tail at the start and the tail now: it never passes it.
      if ($past(start_tail && !reset_i)) assert (rung_tail_q == $past(tail_i));
      if ($past(doorbell_valid_o && !doorbell_ready_i)) begin  // a doorbell that waits does not change
        assert (doorbell_valid_o && doorbell_o == $past(doorbell_o));
      end
      if (doorbell_valid_o && !$past(doorbell_valid_o)) begin
        assert ($past(start) && $past(ready_i));
        assert (doorbell_o.space == SpaceBar && doorbell_o.write);
        assert (doorbell_o.data == 32'($past(ring_head_q ? cq_head_i : tail_i)));
        assert (doorbell_o.address == 32'h1000 + (32'($past(ring_head_q ? 12 : 8)) << $past(doorbell_stride_i)));
      end
      // the head waits for at most one doorbell
      if ($past(ready_i && !waiting_q && stale_q == '0 && ring_head_q && !reset_i)) begin
        assert (rung_head_q == $past(cq_head_i));
      end
      // one doorbell at a time
      if ($past(waiting_q && !doorbell_done_i)) assert (!doorbell_valid_o || $past(doorbell_valid_o));
    end
  end
  always_comb begin
    cover (rst_ni && past_reset_q && doorbell_valid_o && doorbell_o.address == 32'h100c);
    cover (rst_ni && past_reset_q && doorbell_valid_o && doorbell_o.data == 32'd3);
  end
`endif

endmodule

`default_nettype wire
