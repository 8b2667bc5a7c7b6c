// SPDX-License-Identifier: Apache-2.0
//
// The order in which the beats of one of the stripe's streams move, part by part, and which member each beat goes to or
// comes from. The stripe has one of these for the data of writes and one for the data of reads.
//
// The beats of two kinds of parts do not reach a member: the stripe discards those of a write, supplies those of a
// read, and answers the part itself. A dead part is not given to its member at all. A lost part was still waiting for
// its member when the member was given up. Whether a part is dead is known when it comes, whether it is lost is known
// later.
//
// Guarantee: parts move in order, each exactly its beats, and none before it is known whether its member gets the part.
// A part that the stripe answers is reported once, when its beats have moved.
`default_nettype none

module spate_stripe_route #(
    parameter int unsigned Drives = 2,
    parameter int unsigned BlocksWidth = 8,
    parameter int unsigned SectorBeatBits = 5,  // log2 of the beats of 512 bytes
    parameter int unsigned Depth = 16,  // parts whose beats wait; a power of two
    parameter int unsigned Parts = 128,  // in flight in the stripe; a power of two, at least Depth
    // Derived: no instance sets it.
    parameter int unsigned MemberBits = $clog2(Drives)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic block_4096_i,

    // Parts with beats, in the order of the stream.
    input  wire logic                   part_valid_i,
    output logic                        part_ready_o,
    input  wire logic [ MemberBits-1:0] part_member_i,
    input  wire logic                   part_dead_i,
    input  wire logic                   part_last_i,    // the last part of its request
    input  wire logic [BlocksWidth-1:0] part_blocks_i,  // at least one

    // For each member, its oldest part that is neither dead nor decided: it was given to the member, or it is lost. A
    // member is given nothing while the beats of its lost parts have not moved.
    input wire logic [Drives-1:0] given_i,
    input wire logic [Drives-1:0] lost_i,

    // The next beat.
    output logic                       route_valid_o,  // there is a part whose beats have not all moved
    output logic                       beat_valid_o,   // and it is known whether its member gets it
    output logic      [MemberBits-1:0] beat_member_o,
    output logic                       beat_here_o,    // dead or lost: the beat does not reach the member
    output logic                       beat_last_o,    // with beat_move_i: the last beat of its request
    input  wire logic                  beat_move_i,    // only while beat_valid_o

    // The dead and lost parts whose beats have moved, in order.
    output logic      ended_valid_o,
    input  wire logic ended_take_i    // only while ended_valid_o
);

  typedef logic [$clog2(Depth):0] waiting_t;  // parts whose beats have not all moved
  typedef logic [$clog2(Parts):0] ended_t;

  typedef struct packed {
    logic [MemberBits-1:0]  member;
    logic                   dead;
    logic                   last;
    logic [BlocksWidth-1:0] blocks;
  } route_t;

  route_t part, head;
  logic head_end, head_lost;

  assign part = '{member: part_member_i, dead: part_dead_i, last: part_last_i, blocks: part_blocks_i};

  spate_fifo #(
      .Width($bits(route_t)),
      .Depth(Depth),
      .Registered(1'b1)
  ) u_parts (
      .clk_i,
      .rst_ni,
      .in_valid_i(part_valid_i),
      .in_ready_o(part_ready_o),
      .in_data_i(part),
      .out_valid_o(route_valid_o),
      .out_ready_i(head_end),
      .out_data_o(head),
      .count_o()
  );

  spate_stripe_beats #(
      .BlocksWidth(BlocksWidth),
      .SectorBeatBits(SectorBeatBits)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .block_4096_i,
      .blocks_i(head.blocks),
      .move_i(beat_move_i),
      .last_o(head_end)
  );

  // Of each member's parts whose beats have not all moved, those that were given to it and those that it lost. What it
  // lost came after what it was given.
  waiting_t [Drives-1:0] given_q, lost_q;
  ended_t ended_q;
  logic [Drives-1:0] has_given, has_lost;  // registers: not zero

  // `down` comes late, so the sums are there before it.
  function automatic waiting_t stepped(waiting_t count, logic up, logic down);
    if (up && !down) return count + waiting_t'(1);
    if (down && !up) return count - waiting_t'(1);
    return count;
  endfunction
  // Is what `stepped` returns not zero?
  function automatic logic remains(waiting_t count, logic up, logic down);
    return up || count > waiting_t'(1) || (count == waiting_t'(1) && !down);
  endfunction

  assign head_lost = !head.dead && !has_given[head.member];
  assign beat_valid_o = route_valid_o && (!head_lost || has_lost[head.member]);
  assign beat_member_o = head.member;
  assign beat_here_o = head.dead || head_lost;
  assign beat_last_o = head.last && head_end;
  assign ended_valid_o = ended_q != '0;

  for (genvar i = 0; i < Drives; i++) begin : gen_members
    logic member_end;
    assign member_end = head_end && !head.dead && head.member == MemberBits'(i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        given_q[i] <= '0;
        lost_q[i] <= '0;
        has_given[i] <= 1'b0;
        has_lost[i] <= 1'b0;
      end else begin
        given_q[i] <= stepped(given_q[i], given_i[i], member_end && has_given[i]);
        has_given[i] <= remains(given_q[i], given_i[i], member_end && has_given[i]);
        lost_q[i] <= stepped(lost_q[i], lost_i[i], member_end && !has_given[i]);
        has_lost[i] <= remains(lost_q[i], lost_i[i], member_end && !has_given[i]);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ended_q <= '0;
    else ended_q <= ended_q + ended_t'(head_end && beat_here_o) - ended_t'(ended_take_i);
  end

`ifdef FORMAL
  // The environment: any parts, decided at any time, and beats that move at any time. One arbitrary part is followed
  // from its entry to its last beat.
  (* anyconst *) logic [3:0] chosen;
  logic past_reset_q = 1'b0;
  logic block_q, push, at_head, is_chosen;
  logic [3:0] in_place_q, out_place_q;  // how many parts came, and how many have moved
  waiting_t [Drives-1:0] undecided_q;  // neither dead, nor given, nor lost
  ended_t unreported_q;
  route_t chosen_q;
  logic decided_q, reaches_q;  // of the chosen part: given or lost; given
  waiting_t before_q;  // undecided parts of its member before it
  logic [BlocksWidth+SectorBeatBits+2:0] moved_q, beats;  // of the part at the head

  assign push = part_valid_i && part_ready_o;
  assign is_chosen = push && in_place_q == chosen;
  assign at_head = route_valid_o && out_place_q == chosen;
  assign beats = ($bits(beats))'(head.blocks) << (block_4096_i ? SectorBeatBits + 3 : SectorBeatBits);

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (!part_valid_i || (part_blocks_i != '0 && 32'(part_member_i) < Drives));
    assume (in_place_q != '1);
    if (past_reset_q && rst_ni) begin
      if (route_valid_o) assume (block_4096_i == block_q);
      assume (!beat_move_i || beat_valid_o);
      assume (!ended_take_i || ended_valid_o);
      assume (unreported_q < ended_t'(Parts));
      for (int i = 0; i < Drives; i++) begin
        assume (!given_i[i] || !lost_i[i]);
        assume (!(given_i[i] || lost_i[i]) || undecided_q[i] != '0);
        assume (!given_i[i] || lost_q[i] == '0);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    block_q <= block_4096_i;
    if (is_chosen) begin
      chosen_q <= part;
      before_q <= undecided_q[part.member] - waiting_t'(given_i[part.member] || lost_i[part.member]);
    end else if (given_i[chosen_q.member] || lost_i[chosen_q.member]) begin
      before_q <= before_q - 1'b1;
      if (!chosen_q.dead && !decided_q && before_q == '0) {decided_q, reaches_q} <= {1'b1, given_i[chosen_q.member]};
    end
    if (!rst_ni || is_chosen) {decided_q, reaches_q} <= '0;
    if (!rst_ni) begin
      {in_place_q, out_place_q, undecided_q, unreported_q, moved_q} <= '0;
    end else begin
      in_place_q <= in_place_q + 4'(push);
      out_place_q <= out_place_q + 4'(head_end);
      moved_q <= head_end ? '0 : moved_q + ($bits(moved_q))'(beat_move_i);
      unreported_q <= unreported_q + ended_t'(beat_move_i && moved_q + 1'b1 == beats && beat_here_o) -
          ended_t'(ended_take_i);
      for (int i = 0; i < Drives; i++) begin
        undecided_q[i] <= undecided_q[i] + waiting_t'(push && !part.dead && part.member == MemberBits'(i)) -
            waiting_t'(given_i[i] || lost_i[i]);
      end
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // The part moves when it is known where its beats go, and they go there.
      if (at_head) begin
        assert (beat_valid_o == (chosen_q.dead || decided_q));
        assert (beat_member_o == chosen_q.member && head.blocks == chosen_q.blocks);
        if (beat_valid_o) assert (beat_here_o == !(decided_q && reaches_q));
        if (beat_move_i) assert (beat_last_o == (chosen_q.last && moved_q + 1'b1 == beats));
      end
      assert (!beat_valid_o || route_valid_o);
      assert (head_end == (beat_move_i && moved_q + 1'b1 == beats));
      // Each part that ends here is reported once.
      assert (ended_valid_o == (unreported_q != '0));
      for (int i = 0; i < Drives; i++) assert (has_given[i] == (given_q[i] != '0) && has_lost[i] == (lost_q[i] != '0));
      for (int i = 0; i < Drives; i++) assert (32'(given_q[i]) + 32'(lost_q[i]) + 32'(undecided_q[i]) <= Depth);
      cover (ended_take_i && unreported_q > ended_t'(1) && at_head && decided_q && reaches_q && beat_move_i);
      cover (at_head && chosen_q.member != '0 && decided_q && !reaches_q && block_4096_i && head_end);
    end
  end
`endif

endmodule

`default_nettype wire
