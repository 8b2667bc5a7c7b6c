// SPDX-License-Identifier: Apache-2.0
//
// spate_queue_pair, watched at its ports and at the completions that its completion queue, or its fence, passes on: to whom a
// completion goes.
module queue_pair_ports
  import spate_pkg::*;
#(
    parameter bit HasFence = 1'b0
) (
    input logic        clk_i,
    input logic        rst_ni,
    input drive_t      drive_i,
    input logic        recovery_i,
    input logic        reset_i,
    input logic        link_up_i,
    input logic        sqe_write_i,
    input sqe_dword_t  sqe_i,
    input logic        push_side_i,
    input logic        push_side_ready_o,
    input logic        read_valid_o,
    input logic        completion_valid,
    input logic        completion_ready,
    input completion_t completion_o,
    input logic        slot_completion_valid_o,
    input logic        slot_completion_ready_i,
    input logic        slot_ended_i,
    input logic        side_ended_o,
    input logic        bad_side_id_o
);

  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);

  logic stopped_q, numbered_q, pushed_q, ended_q;
  logic [7:0] number_q, ended_number_q;
  always_ff @(posedge clk_i) begin
    stopped_q <= rst_ni && !reset_i && (recovery_i || stopped_q);
    if (!rst_ni) numbered_q <= 1'b0;
    else if (sqe_write_i && sqe_i.side && sqe_i.dword == '0) {numbered_q, number_q} <= {1'b1, sqe_i.data[23:16]};
    if (!rst_ni || reset_i || side_ended_o) pushed_q <= 1'b0;
    else if (push_side_i && push_side_ready_o) pushed_q <= 1'b1;
    if (!rst_ni) ended_q <= 1'b0;
    else if (side_ended_o) {ended_q, ended_number_q} <= {1'b1, completion_o.cid.slot};
  end

  // The microcode writes an entry before it pushes it, and has one side command in flight.
  always_comb if (pushed_q || !numbered_q) assume (!push_side_i);

  // What the submission queue is told a cycle later.
  logic told_q, told_ended_q;
  logic [15:0] told_head_q;
  always_ff @(posedge clk_i) begin
    told_q <= rst_ni && !reset_i && completion_valid && completion_ready && !stopped_q;
    told_ended_q <= rst_ni && !reset_i && (slot_ended_i || side_ended_o);
    told_head_q <= completion_o.sq_head;
    if (past_reset_q) begin
      assert (u_sq.head_valid_i == told_q && u_sq.ended_i == told_ended_q);
      // The doorbells see how many commands are in flight, and each side command's entry.
      assert (u_doorbells.in_flight_i == u_sq.in_flight_o);
      assert (u_doorbells.urgent_i == (push_side_i && push_side_ready_o));
      if (told_q) assert (u_sq.head_i == told_head_q);
      // A reset forgets the entries and the completions, and the fence those of a link that is down.
      if ($past(!rst_ni || reset_i)) assert (!read_valid_o && !completion_valid);
      if (HasFence && $past(!link_up_i)) assert (!completion_valid);
    end
  end

  always_comb begin
    if (rst_ni && past_reset_q) begin
      // Each completion reaches the slots or the admin sequencer. Between a recovery and the reset it is dropped, and holds
      // up nothing.
      assert (slot_completion_valid_o == (completion_valid && !completion_o.cid.side && !stopped_q));
      assert ((side_ended_o || bad_side_id_o) == (completion_valid && completion_o.cid.side && !stopped_q));
      assert (completion_ready == (completion_o.cid.side || stopped_q || slot_completion_ready_i));
      if (side_ended_o || bad_side_id_o) begin
        assert (side_ended_o != bad_side_id_o);
        assert (side_ended_o == (pushed_q && completion_o.cid.slot == number_q && completion_o.cid.epoch == drive_i.epoch &&
                                 completion_o.cid.uses == '0));
      end
    end
    // The next command is in flight when the completion of the one before comes once more.
    cover (past_reset_q && rst_ni && ended_q && pushed_q && bad_side_id_o && completion_o.cid.slot == ended_number_q &&
           number_q != ended_number_q);
    cover (past_reset_q && rst_ni && slot_completion_valid_o);
  end

endmodule

bind spate_queue_pair queue_pair_ports #(.HasFence(HasFence)) u_ports (.*);
