// SPDX-License-Identifier: Apache-2.0
//
// spate_slots, watched from outside: what it must answer follows from its ports alone, so no mistake in it can make
// the reference agree. One arbitrary command is followed from its issue to its retirement. What the induction needs to
// know of the module is in slots_inside.sv.
module slots_proof
  import spate_pkg::*;
#(
    parameter int unsigned SlotBits = 2,
    parameter int unsigned BaseBits = 1
) (
    input logic                       clk_i,
    input logic                       rst_ni,
    input logic                       epoch_i,
    input logic                       reset_i,
    input logic                       gone_i,
    input logic                       retry_tick_i,
    input logic                       issue_valid_i,
    input slot_issue_t                issue_i,
    input logic        [BaseBits-1:0] issue_base_i,
    input logic                       push_ready_i,
    input logic                       completion_valid_i,
    input completion_t                completion_i,
    input logic        [SlotBits-1:0] read_slot_i,
    input logic                       head_pop_i,
    input logic                       head_abort_i
);

  localparam int unsigned Slots = 2 ** SlotBits;
  localparam int unsigned UsesBits = 6;
  localparam int unsigned SweepCycles = Slots + 2;
  localparam int unsigned RetriesMax = 7;
  typedef logic [SlotBits-1:0] slot_t;
  typedef logic [UsesBits+SlotBits-1:0] number_t;  // of a command: {uses, slot}

  logic issue_ready, push, completion_ready, ended, bad_id, retry, read_valid, head_waiting, head_valid, idle;
  logic [SlotBits-1:0] push_slot;
  logic [BaseBits-1:0] read_base;
  slot_entry_t read;
  slot_retire_t head;

  spate_slots #(
      .SlotBits(SlotBits),
      .BaseBits(BaseBits)
  ) u_slots (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .reset_i,
      .gone_i,
      .retry_tick_i,
      .issue_valid_i,
      .issue_ready_o(issue_ready),
      .issue_i,
      .issue_base_i,
      .push_o(push),
      .push_ready_i,
      .push_slot_o(push_slot),
      .completion_valid_i,
      .completion_ready_o(completion_ready),
      .completion_i,
      .ended_o(ended),
      .bad_id_o(bad_id),
      .retry_o(retry),
      .read_slot_i,
      .read_valid_o(read_valid),
      .read_o(read),
      .read_base_o(read_base),
      .head_waiting_o(head_waiting),
      .head_valid_o(head_valid),
      .head_pop_i,
      .head_o(head),
      .head_abort_i,
      .idle_o(idle)
  );

  // ---- the environment ----
  //
  // Commands are aborted only right after the queues restarted, when nothing is handed over. From `gone` until a drive
  // is ready nothing is handed over, and only dead commands are issued, except in the first cycle of `gone`. A reset
  // and a new drive come later than a cycle for each slot, which bring-up needs many times over.
  logic past_reset_q = 1'b0;
  logic just_reset_q, issue_alive, checked, clears;
  logic [SlotBits:0] clears_q;  // cycles since the reset: in the first ones, one for each slot, no completion is taken
  logic [$clog2(SweepCycles+1)-1:0] since_gone_q;  // cycles left of that time
  assign issue_alive = issue_valid_i && issue_i.status == StatusOk;
  assign checked = past_reset_q && rst_ni;
  assign clears = !clears_q[SlotBits];
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    just_reset_q <= rst_ni && reset_i;
    clears_q <= !rst_ni ? '0 : clears_q + (SlotBits + 1)'(clears);
    if (!rst_ni) since_gone_q <= '0;
    else if (gone_i) since_gone_q <= $bits(since_gone_q)'(SweepCycles);
    else if (since_gone_q != '0) since_gone_q <= since_gone_q - 1'b1;
    if (checked && $past(rst_ni)) begin
      assume (epoch_i == (reset_i ? !$past(epoch_i) : $past(epoch_i)));  // in the cycle of the pulse
    end
  end
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (!head_pop_i || head_valid);
    assume (!push_ready_i || (!gone_i && !reset_i && !just_reset_q));
    assume (since_gone_q == '0 || !(push_ready_i || issue_alive || reset_i));
    assume (!gone_i || !(reset_i || just_reset_q));
    assume (!head_abort_i || just_reset_q);
  end
  // A completion that waits may be withdrawn, because the queues restart, and does not change. It waits for two cycles.
  logic [1:0] waits_q;  // for so many cycles
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && !clears && completion_valid_i && !completion_ready ? waits_q + 2'd1 : '0;
    if (checked && $past(completion_valid_i && !completion_ready) && completion_valid_i) begin
      assume (completion_i == $past(completion_i));
      if (waits_q == 2'd2) assert (completion_ready);
    end
  end

  // ---- the reference, from the ports ----

  (* anyconst *) number_t any;
  slot_t any_slot;
  cid_t any_cid;  // the identifier that its completion must have
  number_t issued_q, retired_q, in_flight;
  logic issues, pushes, completes;  // what happens now
  logic turn, live;  // no older command is in this one's slot; it is in flight
  logic handed_q, waiting_q, finished_q, lost_q;  // waiting_q: for a retry. lost_q: in flight when the drive went
  logic handed_then_q, handed_before_q;  // handed_q a cycle ago, and two
  logic [2:0] tries_q;
  logic [15:0] status_q;
  slot_issue_t issue_q;
  logic [BaseBits-1:0] base_q;
  logic names, ends, tries_again;

  assign any_slot = slot_t'(any);
  assign in_flight = issued_q - retired_q;
  assign issues = issue_valid_i && issue_ready;
  assign pushes = push && push_ready_i;
  assign completes = completion_valid_i && completion_ready && !reset_i;
  assign turn = number_t'(any - retired_q) < number_t'(Slots);
  assign live = number_t'(any - retired_q) < in_flight;

  // A status is an error if its type or its code is not 0 (4.6.1). Bit 14 is Do Not Retry.
  assign any_cid = '{epoch: epoch_i, uses: any[SlotBits+:UsesBits], side: 1'b0, slot: 8'(any_slot)};
  assign names = completion_i.cid == any_cid;
  // What a completion names was handed over before it came, two cycles ago: a drive knows of no other command.
  assign ends = completes && names && live && handed_q && handed_then_q && handed_before_q;
  assign tries_again =
      ends && completion_i.status[10:0] != 11'd0 && !completion_i.status[14] && tries_q != 3'(RetriesMax);

  always_ff @(posedge clk_i) begin
    handed_then_q <= handed_q;
    handed_before_q <= handed_then_q;
    if (!rst_ni) begin
      issued_q <= '0;
      retired_q <= '0;
      {handed_q, waiting_q, finished_q, lost_q} <= '0;
    end else begin
      issued_q <= issued_q + number_t'(issues);
      retired_q <= retired_q + number_t'(head_pop_i);
      if (pushes && live && push_slot == any_slot) begin
        {handed_q, waiting_q} <= 2'b10;
        if (!waiting_q) tries_q <= 3'd0;
      end
      if (ends) begin
        handed_q <= 1'b0;
        waiting_q <= tries_again;
        finished_q <= !tries_again;
        tries_q <= tries_q + 3'd1;
        status_q <= completion_i.status[10:0] != 11'd0 ? {1'b0, completion_i.status} : 16'd0;
      end
      if (head_abort_i && live && any == retired_q && !finished_q && !lost_q) begin
        finished_q <= 1'b1;
        status_q <= StatusDeadline;
      end
      if (reset_i || gone_i) {handed_q, waiting_q} <= 2'b00;
      if (gone_i && live) lost_q <= 1'b1;
      if (issues && issued_q == any) begin
        {handed_q, waiting_q} <= 2'b00;
        finished_q <= issue_i.status != StatusOk;
        lost_q <= gone_i;
        status_q <= issue_i.status;
        issue_q <= issue_i;
        base_q <= issue_base_i;
      end
    end
  end

  // Completions: one ends the command only if it names it, and it was handed over. Every other one is told as bad.
  always_comb begin
    if (checked) begin
      assert (completes == (ended != bad_id) && (completes || !(ended || bad_id)));
      assert (!retry || ended);
      if (ended)
        assert (!completion_i.cid.side && completion_i.cid.epoch == epoch_i && 32'(completion_i.cid.slot) < Slots);
      if (turn && completion_i.cid.slot == 8'(any_slot)) assert (ended == ends && retry == tries_again);
      // It is handed over only once at a time, and never to a drive that came after it was lost.
      if (pushes && turn && push_slot == any_slot) assert (live && !handed_q && !finished_q && !lost_q);
      if (issues) assert (in_flight < number_t'(Slots));
    end
  end

  // It is retired with what it was issued with, and with the status of the completion that named it. A command that was
  // lost and had not ended ends with StatusGone.
  always_comb begin
    if (checked) begin
      assert (idle == (in_flight == '0) && (head_valid != head_waiting || idle) && !(idle && (head_valid || head_waiting)));
      if (live && any == retired_q) begin
        if (finished_q) assert (head_valid && head.status == status_q);
        if (!finished_q && head_valid) assert (lost_q && head.status == StatusGone);
        assert (head.write == issue_q.write && head.stream == issue_q.stream && head.sectors == issue_q.sectors);
        assert (head.block_4096 == issue_q.block_4096 && head.last == issue_q.last);
        assert (head.tag == issue_q.tag && head.from_registers == issue_q.from_registers);
      end
      // Until then the windows read it as it was issued, with the identifier that its completion must have.
      if (turn && read_slot_i == any_slot) assert (read_valid == live);
      if (live && read_slot_i == any_slot) begin
        assert (read.write == issue_q.write && read.fua == issue_q.fua && read.lba == issue_q.lba);
        assert (read.sectors == issue_q.sectors && read_base == base_q);
        assert (read.cid == any_cid);
      end
    end
    cover (checked && live && finished_q && any == number_t'(5) && head_pop_i && retired_q == any);
    cover (checked && live && handed_q && tries_q == 3'd1);
    cover (checked && reset_i && in_flight == number_t'(Slots));
    cover (checked && live && lost_q && head_valid && any == retired_q && just_reset_q && in_flight > number_t'(2));
    cover (checked && ends && completion_i.status[7:0] == 8'd0 && completion_i.status[10:8] != 3'd0);
  end

endmodule
