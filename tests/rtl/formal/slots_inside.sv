// SPDX-License-Identifier: Apache-2.0
//
// What the induction of slots_proof.sv needs to know of spate_slots: how the module's registers follow from the
// reference.
module slots_inside
  import spate_pkg::*;
#(
    parameter int unsigned SlotBits = 2,
    parameter int unsigned BaseBits = 1,
    parameter int unsigned UsesBits = 6,
    parameter int unsigned RetriesMax = 7,
    localparam int unsigned Slots = 2 ** SlotBits,
    localparam type slot_t = logic [SlotBits-1:0],
    localparam type number_t = logic [UsesBits+SlotBits-1:0]
) (
    input logic                              clk_i,
    input logic                              rst_ni,
    input logic                              epoch_i,
    input logic                              reset_i,
    input logic                              gone_i,
    input logic                              push_ready_i,
    input logic                              completion_valid_i,
    input completion_t                       completion_i,
    input logic                              checked,
    input logic                              just_reset_q,
    input logic                              issue_alive,
    input logic                              clears,
    input logic        [         SlotBits:0] clears_q,
    input logic        [$clog2(Slots+3)-1:0] since_gone_q,
    input number_t                           any,
    input number_t                           issued_q,
    input number_t                           retired_q,
    input number_t                           in_flight,
    input slot_t                             any_slot,
    input logic                              turn,
    input logic                              live,
    input logic                              names,
    input logic                              handed_q,
    input logic                              handed_then_q,
    input logic                              handed_before_q,
    input logic        [                1:0] waits_q,
    input logic                              waiting_q,
    input logic                              finished_q,
    input logic                              lost_q,
    input logic        [                2:0] tries_q,
    input logic        [               15:0] status_q,
    input slot_issue_t                       issue_q,
    input logic        [       BaseBits-1:0] base_q
);

  number_t sent_count, unswept;
  logic [Slots-1:0] used_slots, sent, unfinished, queued;
  logic done, down_q;  // down_q: gone, and no other drive since
  assign sent_count = u_slots.sent_q - retired_q;
  assign unswept = u_slots.tail_q - u_slots.sent_q;
  assign done = u_slots.done_q[any_slot] == any[SlotBits];
  always_ff @(posedge clk_i) down_q <= rst_ni && (gone_i || (down_q && !push_ready_i && !issue_alive));

  function automatic number_t distance(int unsigned slot);
    return number_t'(slot_t'(slot_t'(slot) - slot_t'(retired_q)));
  endfunction

  always_comb begin
    queued = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      automatic number_t number = retired_q + distance(i);
      used_slots[i] = distance(i) < in_flight;
      sent[i] = distance(i) < sent_count;
      unfinished[i] = u_slots.done_q[i] != number[SlotBits];
      if ((SlotBits + 1)'(i) < u_slots.again_count_q)
        queued[u_slots.again_q[slot_t'(u_slots.again_first_q+slot_t'(i))]] = 1'b1;
    end
  end

  always_comb begin
    if (checked) begin
      assert (u_slots.clear_q == clears_q);
      assert (u_slots.head_q == retired_q && u_slots.tail_q == issued_q);
      assert (in_flight <= number_t'(Slots) && sent_count <= in_flight);
      assert (u_slots.unsent_q == (SlotBits + 1)'(unswept) && u_slots.some_unsent_q == (unswept != '0));
      assert (u_slots.some_sent_q == (sent_count != '0) && u_slots.some_used_q == (in_flight != '0));
      assert (!(u_slots.abort && u_slots.finish) && 32'(u_slots.used_q) == 32'(in_flight));
      // What was looked up holds in the next cycle, and so does the retry that was found.
      if (u_slots.resend_found_q)
        assert (u_slots.again_now_q != '0 && u_slots.resend_slot_q == u_slots.again_q[u_slots.again_first_q]);
      if (u_slots.decided_q && completion_valid_i && !reset_i) begin
        automatic slot_t named = slot_t'(completion_i.cid.slot);
        automatic number_t number = retired_q + distance(32'(named));
        assert (u_slots.failed_q == (completion_i.status[10:0] != '0));
        if (u_slots.known_q)
          assert (u_slots.may_retry_q == (u_slots.failed_q && !completion_i.status[14] &&
                                          u_slots.retries_q[named].count != 3'(RetriesMax)));
        if (u_slots.known_q) begin
          assert (!completion_i.cid.side && completion_i.cid.epoch == epoch_i);
          assert (8'(named) == completion_i.cid.slot);
          assert (sent[named] && unfinished[named] && !u_slots.retries_q[named].waiting);
          assert (u_slots.completed_number_q == number && completion_i.cid.uses == number[SlotBits+:UsesBits]);
          assert (u_slots.completed_retries_q.count == u_slots.retries_q[named].count && !down_q && !just_reset_q);
        end
        if (turn && completion_i.cid.slot == 8'(any_slot))
          assert (u_slots.known_q == (names && live && handed_q && handed_then_q && handed_before_q));
      end
      assert (!(u_slots.looked_q && u_slots.decided_q));
      if (completion_valid_i && !u_slots.clear)
        assert (waits_q == (u_slots.looked_q ? 2'd1 : u_slots.decided_q ? 2'd2 : 2'd0));
      if (u_slots.looked_q && completion_valid_i && u_slots.alive) begin
        automatic slot_t named = slot_t'(completion_i.cid.slot);
        automatic number_t number = retired_q + distance(32'(named));
        if (u_slots.known) begin
          assert (sent[named] && unfinished[named] && !u_slots.retries_q[named].waiting);
          assert (u_slots.completed_number_q == number && !down_q && !just_reset_q);
          assert (u_slots.completed_retries_q.count == u_slots.retries_q[named].count);
        end
        if (turn && completion_i.cid.slot == 8'(any_slot))
          assert (u_slots.known == (names && live && handed_q && handed_then_q));
      end
      if (u_slots.sweeping_q) assert (down_q && number_t'(since_gone_q) > unswept);
      if (down_q) assert (u_slots.again_count_q == '0);
      if (live) begin
        assert (u_slots.entry_q[any_slot].write == issue_q.write && u_slots.entry_q[any_slot].fua == issue_q.fua);
        assert (u_slots.entry_q[any_slot].lba == issue_q.lba && u_slots.entry_q[any_slot].base == base_q);
        assert (u_slots.entry_q[any_slot].sectors == issue_q.sectors);
        assert (u_slots.order_q[any_slot].write == issue_q.write && u_slots.order_q[any_slot].tag == issue_q.tag);
        assert (u_slots.order_q[any_slot].stream == issue_q.stream && u_slots.order_q[any_slot].last == issue_q.last);
        assert (u_slots.order_q[any_slot].block_4096 == issue_q.block_4096);
        assert (u_slots.order_q[any_slot].from_registers == issue_q.from_registers);
        assert (u_slots.order_q[any_slot].sectors == issue_q.sectors);
        assert (!(handed_q && waiting_q) && !((handed_q || waiting_q) && (finished_q || lost_q)));
        if (finished_q) assert (done && u_slots.status_q[any_slot] == status_q);
        if (done && !finished_q) assert (lost_q && u_slots.status_q[any_slot] == StatusGone);
        // What was in flight when the drive went has ended, or will end before the sweep does.
        if (lost_q && !done) assert (down_q && u_slots.sweeping_q && number_t'(any - u_slots.sent_q) < unswept);
        if (down_q && !done) assert (lost_q);
        if (handed_q || waiting_q) begin
          assert (sent[any_slot] && u_slots.retries_q[any_slot].waiting == waiting_q);
          assert (u_slots.retries_q[any_slot].count == tries_q);
        end
        if (sent[any_slot] && !done && !gone_i && !down_q) assert (handed_q || waiting_q);
      end
      // No slot is in the queue of retries twice. Those in it were handed over, and are pending unless they ended with
      // the drive.
      assert (u_slots.again_count_q <= (SlotBits + 1)'(Slots) && u_slots.again_now_q <= u_slots.again_count_q);
      assert (slot_t'(u_slots.again_last_q - u_slots.again_first_q) == slot_t'(u_slots.again_count_q));
      assert ($countones(queued) == 32'(u_slots.again_count_q));
      for (int unsigned i = 0; i < Slots; i++) begin
        // No retry is lost.
        if (sent[i] && unfinished[i] && !gone_i && !down_q) assert (queued[i] == u_slots.retries_q[i].waiting);
        if (queued[i] && !gone_i && !down_q) assert (sent[i] && unfinished[i]);
        // Nothing that the sweep has passed is pending; after the sweep nothing at all is.
        if (down_q && used_slots[i] && (!u_slots.sweeping_q || distance(i) < sent_count)) assert (!unfinished[i]);
        // A slot that is not in use is pending in its next use.
        if (!used_slots[i] && (!u_slots.clear || slot_t'(i) < slot_t'(u_slots.clear_q))) assert (unfinished[i]);
      end
      if (u_slots.clear)
        assert (issued_q == '0 && retired_q == '0 && u_slots.sent_q == '0 && u_slots.again_count_q == '0);
    end
  end

endmodule

bind slots_proof slots_inside #(
    .SlotBits(SlotBits),
    .BaseBits(BaseBits),
    .UsesBits(UsesBits),
    .RetriesMax(RetriesMax)
) u_inside (.*);
