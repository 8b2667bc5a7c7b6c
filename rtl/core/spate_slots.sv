// SPDX-License-Identifier: Apache-2.0
//
// The commands of the data lane that are in flight. Slots are used in rotation, so the number of a command is {uses,
// slot}, and the commands in flight lie between `head` and `tail`:
//
//        head ── retired in order ──▶        sent ── handed over in order ──▶        tail ── issued ──▶
//
// Whether a slot is pending is one bit that is compared with the parity of its uses, so issuing a command needs no
// write of that bit. After a reset of the drive `sent` returns to `head`: the commands that are still pending are
// handed over again, in order. When the drive is gone, a sweep ends all pending commands, one per cycle from the head
// on, even if another drive comes at once.
//
// Guarantee: each command that is issued reaches the head once, with its status. A completion ends a command only if it
// names one that was handed over, is pending, and is not waiting for a retry. No command that was in flight when the
// drive went is handed over again.
`default_nettype none

module spate_slots
  import spate_pkg::*;
#(
    parameter int unsigned SlotBits = 6,  // 2 … 8
    parameter int unsigned BaseBits = 9  // width of the place of a command's data; see spate_splitter
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic epoch_i,
    input wire logic reset_i,  // a pulse: the drive's queues restart; no earlier command will complete
    input wire logic gone_i,  // a pulse or longer: all pending commands end with StatusGone, before the next reset_i
    input wire logic retry_tick_i,  // the next tick sends the commands that failed and may be retried

    input  wire logic                       issue_valid_i,
    output logic                            issue_ready_o,
    input  wire slot_issue_t                issue_i,
    input  wire logic        [BaseBits-1:0] issue_base_i,   // the place of its data; see spate_splitter

    // To the submission queue.
    output logic                     push_o,
    input  wire logic                push_ready_i,
    output logic      [SlotBits-1:0] push_slot_o,

    // Completions of the data lane, taken in the third cycle.
    input  wire logic        completion_valid_i,
    output logic             completion_ready_o,
    input  wire completion_t completion_i,
    output logic             ended_o,             // a pulse: the completion was for a command in flight
    output logic             bad_id_o,            // a pulse: the completion was for no command in flight
    output logic             retry_o,             // a pulse: its command will be sent again

    // For the windows, answered in the same cycle.
    input  wire logic   [SlotBits-1:0] read_slot_i,
    output logic                       read_valid_o,  // the slot is in use
    output slot_entry_t                read_o,
    output logic        [BaseBits-1:0] read_base_o,

    // The oldest command.
    output logic         head_waiting_o,  // there is one, and it is pending
    output logic         head_valid_o,    // there is one, and it is done
    input  wire logic    head_pop_i,
    output slot_retire_t head_o,

    input  wire logic head_abort_i,  // a pulse: it ends with StatusDeadline. Only in the cycle after `reset_i`
    output logic      idle_o         // no command is in flight
);

  if (SlotBits < 2 || SlotBits > 8) begin : gen_check
    $error("spate_slots: SlotBits must be 2 to 8");
  end

  localparam int unsigned Slots = 2 ** SlotBits;
  localparam int unsigned UsesBits = 6;
  localparam logic [2:0] RetriesMax = 3'd7;

  typedef logic [SlotBits-1:0] slot_t;
  typedef logic [UsesBits+SlotBits-1:0] number_t;  // {uses, slot}

  typedef struct packed {
    logic                    write;
    logic                    fua;
    logic [LbaWidth-1:0]     lba;
    logic [SectorsWidth-1:0] sectors;
    logic [BaseBits-1:0]     base;
  } entry_t;

  typedef struct packed {
    logic                    write;
    logic                    stream;
    logic                    block_4096;
    logic                    last;
    logic                    from_registers;
    logic [15:0]             tag;
    logic [SectorsWidth-1:0] sectors;
  } order_t;

  typedef struct packed {
    logic       waiting;  // for a retry
    logic [2:0] count;
  } retries_t;

  entry_t entry_q[Slots];
  order_t order_q[Slots];
  logic [15:0] status_q[Slots];
  retries_t retries_q[Slots];
  logic done_q[Slots];  // equal to the lowest bit of the slot's uses: not pending
  slot_t again_q[Slots];  // a queue of slots that wait for a retry

  number_t head_q, sent_q, tail_q;
  logic sweeping_q, sweep;  // `sent` passes over the commands of a drive that is gone
  logic [SlotBits:0] unsent_q;  // commands from `sent` to `tail`
  logic some_unsent_q, some_sent_q;  // there are commands from `sent` to `tail`, from `head` to `sent`
  slot_t again_first_q, again_last_q;
  logic [SlotBits:0] again_count_q, again_now_q;  // slots that wait; those of them that waited at the last tick

  // The number of the command that uses a slot, if any does.
  function automatic number_t number_of(slot_t slot, number_t first);
    return first + number_t'(slot_t'(slot - slot_t'(first)));
  endfunction

  slot_t head_slot, sent_slot, tail_slot;
  assign head_slot = slot_t'(head_q);
  assign sent_slot = slot_t'(sent_q);
  assign tail_slot = slot_t'(tail_q);

  // ---- reset: mark each slot as pending in its first use ----

  logic [SlotBits:0] clear_q;
  logic clear;
  assign clear = !clear_q[SlotBits];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) clear_q <= '0;
    else if (clear) clear_q <= clear_q + 1'b1;
  end

  // ---- completions: looked up in the first cycle, judged in the second, carried out in the third ----
  //
  // What was looked up stays true: a command that is handed over or issued in the first two cycles cannot have
  // completed, and in the third none is. After a reset, and once the drive is gone, the drive has no command.

  typedef logic [SlotBits:0] count_t;

  slot_t completed;
  number_t completed_number_q;
  retries_t completed_retries_q;
  count_t distance_q, sent_count_q;
  logic alive, alive_q;  // the drive may have commands
  logic done_then_q, known, failed;
  logic looked_q, decided_q, known_q, failed_q, may_retry_q;

  assign completion_ready_o = decided_q;
  assign completed = completion_i.cid.slot[SlotBits-1:0];
  assign alive = !reset_i && !gone_i && !sweeping_q;
  always_ff @(posedge clk_i) begin
    looked_q <= rst_ni && completion_valid_i && !looked_q && !decided_q && !clear;
    completed_number_q <= number_of(completed, head_q);
    completed_retries_q <= retries_q[completed];
    distance_q <= count_t'(slot_t'(completed - head_slot));
    sent_count_q <= count_t'(sent_q - head_q);
    done_then_q <= done_q[completed];
    alive_q <= alive;
  end

  // Its command was handed over and is pending, and its identifier is that of the command that has the slot.
  assign known = alive && alive_q && distance_q < sent_count_q && done_then_q != completed_number_q[SlotBits] &&
      !completed_retries_q.waiting && !completion_i.cid.side && completion_i.cid.epoch == epoch_i &&
      completion_i.cid.slot == 8'(completed) && completion_i.cid.uses == completed_number_q[SlotBits+:UsesBits];
  assign failed = completion_i.status[10:0] != '0;
  always_ff @(posedge clk_i) begin
    decided_q <= rst_ni && looked_q && completion_valid_i;
    known_q <= known;
    failed_q <= failed;
    // Do Not Retry is bit 14 of the field (4.6.1).
    may_retry_q <= failed && !completion_i.status[14] && completed_retries_q.count != RetriesMax;
  end

  logic complete, finish;
  assign complete = decided_q && completion_valid_i && !reset_i;
  assign finish = complete && known_q && !may_retry_q;
  assign ended_o = complete && known_q;
  assign bad_id_o = complete && !known_q;
  assign retry_o = complete && known_q && may_retry_q;

  // ---- handing over: retries after a tick, then newly issued commands ----

  logic resend, resend_found_q, resend_done, next, next_pending, next_done;
  slot_t resend_slot_q;
  // The oldest retry is read from its queue in one cycle and handed over in a later one. Its command is pending: no
  // completion names it, and the queue is emptied when the drive is gone. retries_q has one write port, which a
  // completion may need in its third cycle.
  assign resend = resend_found_q && !decided_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i || gone_i) resend_found_q <= 1'b0;
    else resend_found_q <= resend_found_q ? !resend_done : again_now_q != '0;
    if (!resend_found_q) resend_slot_q <= again_q[again_first_q];
  end
  assign next = some_unsent_q && !gone_i && !sweeping_q && !decided_q;
  assign next_pending = done_q[sent_slot] != sent_q[SlotBits];
  assign push_o = !reset_i && (resend_found_q ? resend : next && next_pending);
  assign push_slot_o = resend_found_q ? resend_slot_q : sent_slot;

  assign resend_done = resend && push_ready_i;
  assign next_done = !resend_found_q && next && (push_ready_i || !next_pending);

  // ---- the sweep ends pending commands when the drive is gone ----

  assign sweep = sweeping_q && some_unsent_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) sweeping_q <= 1'b0;
    else sweeping_q <= gone_i || sweep;
  end

  // ---- issue ----

  logic issue, issue_dead, head_pending, abort;
  logic [SlotBits:0] used_q;  // commands in flight
  logic some_used_q;  // there are any
  assign head_pending = done_q[head_slot] != head_q[SlotBits];
  assign abort = head_abort_i && head_pending && some_used_q;
  // Statuses and done bits have one write port each.
  assign issue_ready_o = !clear && !used_q[SlotBits] && !decided_q && !sweep && !head_abort_i;
  assign issue = issue_valid_i && issue_ready_o;
  assign issue_dead = issue && issue_i.status != StatusOk;

  always_ff @(posedge clk_i) begin
    if (issue) begin
      entry_q[tail_slot] <= '{
          write: issue_i.write,
          fua: issue_i.fua,
          lba: issue_i.lba,
          sectors: issue_i.sectors,
          base: issue_base_i
      };
      order_q[tail_slot] <= '{
          write: issue_i.write,
          stream: issue_i.stream,
          block_4096: issue_i.block_4096,
          last: issue_i.last,
          from_registers: issue_i.from_registers,
          tag: issue_i.tag,
          sectors: issue_i.sectors
      };
    end
  end

  slot_t slot;
  logic done_value;
  logic [15:0] status;
  always_comb begin
    slot = tail_slot;
    done_value = tail_q[SlotBits];
    status = issue_i.status;
    if (clear) begin
      slot = slot_t'(clear_q);
      done_value = 1'b1;
    end else if (finish) begin
      slot = completed;
      done_value = completed_number_q[SlotBits];
      status = failed_q ? {1'b0, completion_i.status} : StatusOk;
    end else if (sweep) begin
      slot = sent_slot;
      done_value = sent_q[SlotBits];
      status = StatusGone;
    end else if (abort) begin
      slot = head_slot;
      done_value = head_q[SlotBits];
      status = StatusDeadline;
    end
  end
  always_ff @(posedge clk_i) begin
    if (finish || (sweep && next_pending) || abort || issue) status_q[slot] <= status;
    if (clear || finish || sweep || abort || issue_dead) done_q[slot] <= done_value;
  end

  slot_t retries_slot;
  retries_t retries;
  always_comb begin
    retries_slot = push_slot_o;
    retries = '{waiting: 1'b0, count: resend_found_q ? retries_q[resend_slot_q].count : 3'd0};
    if (retry_o) begin
      retries_slot = completed;
      retries = '{waiting: 1'b1, count: completed_retries_q.count + 3'd1};
    end
  end
  always_ff @(posedge clk_i) begin
    if (retry_o || resend_done || next_done) retries_q[retries_slot] <= retries;
    if (retry_o) again_q[again_last_q] <= completed;
  end

  // A reset empties the queue of retries: those commands are sent again with all others that are pending. When the
  // drive is gone, they end with all others.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i || gone_i) begin
      again_first_q <= '0;
      again_last_q <= '0;
      again_count_q <= '0;
      again_now_q <= '0;
    end else begin
      if (retry_o) again_last_q <= again_last_q + 1'b1;
      if (resend_done) again_first_q <= again_first_q + 1'b1;
      again_count_q <= again_count_q + (SlotBits + 1)'(retry_o) - (SlotBits + 1)'(resend_done);
      if (retry_tick_i) again_now_q <= again_count_q - (SlotBits + 1)'(resend_done);
      else again_now_q <= again_now_q - (SlotBits + 1)'(resend_done);
    end
  end

  // `issue`, `advance` and `head_pop_i` come late, so the sums are there before them.
  function automatic count_t stepped(count_t count, logic up, logic down);
    if (up && !down) return count + count_t'(1);
    if (down && !up) return count - count_t'(1);
    return count;
  endfunction

  logic restart, moves, advance, one_sent;
  assign restart = reset_i || (gone_i && !sweeping_q);
  assign moves = next_done || sweep;
  // A command that is retired before `sent` passed over it was dead when it was issued.
  assign advance = moves || (head_pop_i && !some_sent_q);
  assign one_sent = unsent_q == used_q - count_t'(1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      unsent_q <= '0;
      some_unsent_q <= 1'b0;
      some_sent_q <= 1'b0;
    end else if (restart) begin
      unsent_q <= stepped(used_q, issue, head_pop_i);
      some_unsent_q <= issue || used_q[SlotBits:1] != '0 || (used_q[0] && !head_pop_i);
      some_sent_q <= 1'b0;
    end else begin
      unsent_q <= stepped(unsent_q, issue, advance);
      some_unsent_q <= issue || unsent_q[SlotBits:1] != '0 || (unsent_q[0] && !advance);
      some_sent_q <= some_sent_q ? !one_sent || moves || !head_pop_i : moves && !head_pop_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      sent_q <= '0;
      tail_q <= '0;
      used_q <= '0;
      some_used_q <= 1'b0;
    end else begin
      used_q <= stepped(used_q, issue, head_pop_i);
      some_used_q <= issue || used_q[SlotBits:1] != '0 || (used_q[0] && !head_pop_i);
      if (head_pop_i) head_q <= head_q + number_t'(1);
      if (issue) tail_q <= tail_q + number_t'(1);
      if (restart) sent_q <= head_pop_i ? head_q + number_t'(1) : head_q;
      else if (advance) sent_q <= sent_q + number_t'(1);
    end
  end

  // ---- the oldest command ----

  order_t order;
  assign order = order_q[head_slot];
  assign head_waiting_o = some_used_q && head_pending;
  assign head_valid_o = some_used_q && !head_pending;
  assign head_o = '{
          write: order.write,
          stream: order.stream,
          block_4096: order.block_4096,
          last: order.last,
          from_registers: order.from_registers,
          tag: order.tag,
          sectors: order.sectors,
          status: status_q[head_slot]
      };
  assign idle_o = !some_used_q;

  // ---- what the windows read ----

  entry_t read;
  logic [UsesBits-1:0] read_uses;
  slot_t unused_slot;
  assign read = entry_q[read_slot_i];
  assign {read_uses, unused_slot} = number_of(read_slot_i, head_q);
  assign read_valid_o = (SlotBits + 1)'(slot_t'(read_slot_i - head_slot)) < used_q;
  assign read_base_o = read.base;
  assign read_o = '{
          write: read.write,
          fua: read.fua,
          lba: read.lba,
          sectors: read.sectors,
          cid: '{epoch: epoch_i, uses: read_uses, side: 1'b0, slot: 8'(read_slot_i)}
      };

endmodule

`default_nettype wire
