// SPDX-License-Identifier: Apache-2.0
//
// Decides when to ring a doorbell. The tail's is rung for each new entry while the drive has little to do, otherwise
// for a quarter of the slots, at most 16, at a time. The completion head's is rung after a quarter of the queue, or 16
// µs after the first completion that it does not cover yet. A doorbell write is a packet in the direction of write
// data: one for each command of 4 KiB would cost more than half a per cent of the rate.
//
// The decision takes two cycles: the entries that no doorbell covers yet are counted in the first, and compared with
// the limits in the second. In one cycle, the paths from the queues' pointers would be among the longest of the core.
//
//   tail, head, in flight ──► unrung ──► ring ──► doorbell
//
// Guarantee: the tail that is rung is never beyond the queue's tail. No entry waits longer than these two cycles while
// the drive has less than half of the slots to work on (64, if that is less). The side command's entry waits at most
// for one doorbell in progress and one of the head, which goes first because it is rarer.
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

endmodule

`default_nettype wire
