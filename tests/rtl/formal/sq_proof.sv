// SPDX-License-Identifier: Apache-2.0
//
// spate_sq with a drive that reads its entries in order at any time, completes what it has read, and reports any head.
// What must hold follows from the ports alone. Only what the induction needs to know of the module, at the end, looks
// inside.
module sq_proof #(
    parameter int unsigned SlotBits = 2,
    parameter int unsigned QueueShiftMax = 3
) (
    input logic                clk_i,
    input logic                rst_ni,
    input logic                reset_i,
    input logic                ready_i,
    input logic [         3:0] queue_shift_i,
    input logic                push_side_i,
    input logic                push_i,
    input logic [SlotBits-1:0] push_slot_i,
    input logic                fetch_i,        // the drive reads the next entry
    input logic                head_valid_i,
    input logic [        15:0] head_i,
    input logic                ended_i,
    input logic [         9:0] read_index_i
);

  typedef logic [QueueShiftMax-1:0] index_t;
  typedef struct packed {
    logic                side;
    logic [SlotBits-1:0] slot;
  } map_t;

  logic push_side_ready, push_ready, read_valid, read_side, bad_head;
  logic [SlotBits-1:0] read_slot;
  index_t tail, in_flight;

  spate_sq #(
      .SlotBits(SlotBits),
      .QueueShiftMax(QueueShiftMax)
  ) u_sq (
      .clk_i,
      .rst_ni,
      .reset_i,
      .ready_i,
      .queue_shift_i,
      .push_side_i,
      .push_side_ready_o(push_side_ready),
      .push_i,
      .push_ready_o(push_ready),
      .push_slot_i,
      .head_valid_i,
      .head_i,
      .ended_i,
      .tail_o(tail),
      .in_flight_o(in_flight),
      .read_index_i,
      .read_valid_o(read_valid),
      .read_side_o(read_side),
      .read_slot_o(read_slot),
      .bad_head_o(bad_head)
  );

  logic past_reset_q = 1'b0;
  logic checked, handed;
  index_t entries_mask, most;
  index_t unread_q, working_q;  // entries that the drive has not read; commands that it has, and has not completed
  logic begun_q;  // the queue was restarted, as it is before the drive is ready
  logic settled_q;  // no command ended in the cycle before, and no queue began
  assign checked = past_reset_q && rst_ni;
  assign handed = (push_side_i && push_side_ready) || (push_i && push_ready);
  assign entries_mask = index_t'((16'd1 << queue_shift_i) - 16'd1);
  assign most = queue_shift_i == 4'd1 ? index_t'(1) : entries_mask - index_t'(16'd1 << queue_shift_i >> 2);
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    settled_q <= rst_ni && !reset_i && !ended_i;
    begun_q <= rst_ni && (reset_i || begun_q);
    if (past_reset_q) assume (queue_shift_i == $past(queue_shift_i));
    if (!rst_ni || reset_i) begin
      unread_q <= '0;
      working_q <= '0;
    end else begin
      unread_q <= unread_q + index_t'(handed) - index_t'(fetch_i);
      working_q <= working_q + index_t'(fetch_i) - index_t'(ended_i);
    end
  end
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (queue_shift_i >= 4'd1 && queue_shift_i <= 4'(QueueShiftMax));
    assume (!ready_i || begun_q);
    assume (!fetch_i || unread_q != '0);
    assume (!ended_i || working_q != '0);  // a command ends once, after its entry was read
  end

  // One arbitrary entry: until the drive has read it, it keeps what was written into it.
  (* anyconst *) index_t any_index;
  map_t any_map_q;
  logic any_written_q;
  index_t place_q, any_age_q;  // of the next entry; entries handed over after this one
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      place_q <= '0;
      any_written_q <= 1'b0;
    end else if (handed) begin
      place_q <= (place_q + index_t'(1)) & entries_mask;
      any_age_q <= any_age_q + index_t'(1);
      if (place_q == any_index) begin
        any_written_q <= 1'b1;
        any_age_q <= '0;
        any_map_q <= '{side: push_side_i, slot: push_slot_i};
      end
    end
  end

  // The head that is reported: it neither goes back nor passes the tail. Nothing else depends on it. What is told of it
  // is told a cycle later.
  index_t reported_q, place_then_q;
  logic [15:0] head_then_q;
  logic head_came_q, possible;
  assign possible = head_then_q <= 16'(entries_mask) &&
      ((index_t'(head_then_q) - reported_q) & entries_mask) <= ((place_then_q - reported_q) & entries_mask);
  always_ff @(posedge clk_i) begin
    head_came_q <= rst_ni && !reset_i && head_valid_i;
    head_then_q <= head_i;
    place_then_q <= place_q;
    if (!rst_ni || reset_i) reported_q <= '0;
    else if (head_came_q && possible) reported_q <= index_t'(head_then_q);
  end

  always_comb begin
    if (checked) begin
      assert (in_flight == unread_q + working_q && in_flight <= most && tail == place_q);
      // There is room only if there is, and at the latest a cycle after the last command ended.
      if (push_side_ready) assert (ready_i && in_flight < most);
      if (ready_i && in_flight < most && settled_q) assert (push_side_ready);
      assert (push_ready == (push_side_ready && !push_side_i));
      assert (bad_head == (head_came_q && !possible));
      if (any_written_q && any_age_q < unread_q) begin
        assert (!(handed && place_q == any_index));  // it is not overwritten
        if (read_index_i == 10'(any_index)) assert (read_valid && {read_side, read_slot} == any_map_q);
      end
      // An entry is not valid if it was never handed over, is at the tail, or is older than all that may be unread.
      if (read_index_i == 10'(any_index) && (!any_written_q || place_q == any_index || any_age_q >= most))
        assert (!read_valid);
      if (read_index_i > 10'(entries_mask)) assert (!read_valid);
    end
    cover (checked && unread_q == most && queue_shift_i == 4'd3 && any_written_q && any_age_q == most);
    cover (checked && bad_head);
    cover (checked && head_came_q && possible && index_t'(head_then_q) == place_then_q && reported_q != place_then_q);
  end

  // Inside, for the induction.
  always_comb begin
    if (past_reset_q) assert (u_sq.mask_q == entries_mask && u_sq.limit_q == most);
    if (checked) begin
      assert (u_sq.head_valid_q == head_came_q);
      if (head_came_q) begin
        assert (u_sq.head_new_q == (index_t'(head_then_q) & entries_mask) && u_sq.tail_then_q == place_then_q);
        assert (u_sq.head_fits_q == (head_then_q <= 16'(entries_mask)));
      end
      assert (u_sq.head_q == reported_q && (u_sq.tail_q & ~u_sq.mask_q) == '0 && (u_sq.head_q & ~u_sq.mask_q) == '0);
      assert (unread_q <= in_flight && working_q <= in_flight);
      assert (!u_sq.room_q || in_flight < most);
      if (settled_q) assert (u_sq.room_q == (in_flight < most));
      if (begun_q)
        assert (u_sq.oldest_q == ((tail - most) & entries_mask));
        else assert (tail == '0 && !u_sq.wrapped_q);
      if ((any_index & ~u_sq.mask_q) == '0) begin
        assert (any_written_q == (u_sq.wrapped_q || any_index < u_sq.tail_q));
        if (any_written_q)
          assert (u_sq.map_q[any_index] == any_map_q && any_age_q == ((u_sq.tail_q - index_t'(1) - any_index) & u_sq.mask_q));
      end else begin
        assert (!any_written_q);
      end
    end
  end

endmodule
