// SPDX-License-Identifier: Apache-2.0
//
// What the stripe keeps for one member: the parts that wait for it, and its responses. The tag tells which responses
// are those of the stripe's side commands, which the member gets directly.
//
// When the member is given up, the parts that it has not taken are lost. The stripe responds to them after those that
// the member took, and until then gives the member nothing: another drive, with another block size, may be there.
//
// Guarantee: each part is given to the member, or lost, once and in order. There is room for each response.
`default_nettype none

module spate_stripe_member
  import spate_pkg::*;
#(
    parameter bit HasStreams = 1'b1,  // otherwise parts have addresses
    parameter int unsigned BlocksWidth = 8,
    parameter int unsigned Waiting = 16,  // parts that wait for the member; a power of two
    parameter int unsigned MemberParts = 64,  // in flight on the member; a power of two
    parameter int unsigned Parts = 128  // in flight in the stripe; a power of two
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic gone_i,  // the member is given up

    input  wire logic                           part_valid_i,
    output logic                                part_ready_o,
    input  wire stripe_part_t                   part_i,
    input  wire logic         [BlocksWidth-1:0] part_blocks_i,

    // A cycle later: what became of the oldest part that waited, if it has beats.
    output logic given_write_o,
    output logic given_read_o,
    output logic lost_write_o,
    output logic lost_read_o,

    output logic        side_response_valid_o,
    output logic [15:0] side_status_o,

    // The oldest part without a response.
    output logic                        ended_lost_o,    // it is lost; otherwise the response:
    output logic                        ended_valid_o,
    output logic      [           15:0] ended_status_o,
    output logic      [BlocksWidth-1:0] ended_done_o,
    input  wire logic                   ended_take_i,

    // The member. A part that waits is withdrawn when it is lost.
    output logic           command_valid_o,
    input  wire logic      command_ready_i,
    output command_t       command_o,
    input  wire logic      response_valid_i,
    output logic           response_ready_o,
    input  wire response_t response_i
);

  typedef logic [$clog2(Waiting):0] waiting_t;
  typedef logic [$clog2(MemberParts):0] given_t;
  typedef logic [$clog2(Parts):0] lost_t;

  typedef struct packed {
    logic                   write;
    logic                   fua;
    source_e                source;
    logic                   beyond;
    logic [LbaWidth-1:0]    lba;
    logic [BlocksWidth-1:0] blocks;
  } line_t;

  line_t entered, head;
  logic [63:0] address;
  logic there, head_beats, give, lose;
  logic [3:0] decided;  // of the next cycle: given_write_o, given_read_o, lost_write_o, lost_read_o
  waiting_t count, losing_q;  // losing_q: how many parts, the oldest first, are to be lost
  given_t given_q;  // given to the member, without a response yet
  lost_t lost_q;  // lost, without a response yet

  // ---- parts wait ----

  assign entered = '{
          write: part_i.write,
          fua: part_i.fua,
          source: part_i.source,
          beyond: part_i.beyond,
          lba: part_i.lba,
          blocks: part_blocks_i
      };

  spate_fifo #(
      .Width($bits(line_t)),
      .Depth(Waiting),
      .Registered(1'b1)
  ) u_line (
      .clk_i,
      .rst_ni,
      .in_valid_i(part_valid_i),
      .in_ready_o(part_ready_o),
      .in_data_i(entered),
      .out_valid_o(there),
      .out_ready_i(give || lose),
      .out_data_o(head),
      .count_o(count)
  );

  if (HasStreams) begin : gen_no_address
    assign address = '0;  // a member with streams ignores the address
  end else begin : gen_address
    spate_fifo #(
        .Width(64),
        .Depth(Waiting),
        .Registered(1'b1)
    ) u_address (
        .clk_i,
        .rst_ni,
        .in_valid_i(part_valid_i),
        .in_ready_o(),
        .in_data_i(part_i.address),
        .out_valid_o(),
        .out_ready_i(give || lose),
        .out_data_o(address),
        .count_o()
    );
  end

  // ---- they are given to the member, or lost ----

  assign lose = there && (gone_i || losing_q != '0);
  assign command_valid_o = there && !lose && lost_q == '0 && !given_q[$clog2(MemberParts)];
  assign give = command_valid_o && command_ready_i;

  assign head_beats = HasStreams && head.source == SourceStream && head.blocks != '0;
  assign decided = {
    give && head_beats && head.write,
    give && head_beats && !head.write,
    lose && head_beats && head.write,
    lose && head_beats && !head.write
  };
  always_ff @(posedge clk_i) begin
    {given_write_o, given_read_o, lost_write_o, lost_read_o} <= rst_ni ? decided : '0;
  end

  // The parts that were given are older than those that are lost. A lost part shows a cycle after it became the oldest.
  lost_t lost_left;
  assign lost_left = lost_q - lost_t'(ended_take_i && ended_lost_o);
  always_ff @(posedge clk_i) ended_lost_o <= rst_ni && given_q == '0 && lost_left != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      losing_q <= '0;
      given_q <= '0;
      lost_q <= '0;
    end else begin
      losing_q <= (gone_i ? count : losing_q) - waiting_t'(lose);
      given_q <= given_q + given_t'(give) - given_t'(ended_take_i && !ended_lost_o);
      lost_q <= lost_left + lost_t'(lose);
    end
  end

  assign command_o = '{
          from_registers: 1'b0,
          tag: 16'd0,
          op: head.write ? OpWrite : OpRead,
          source: head.source,
          fua: head.fua,
          address: address,
          lba: {head.beyond, 63'(head.lba)},
          blocks: 32'(head.blocks)
      };

  // ---- the member's responses ----

  assign side_response_valid_o = response_valid_i && response_i.tag[0];
  assign side_status_o = response_i.status;
  assign response_ready_o = 1'b1;

  spate_fifo #(
      .Width(16 + BlocksWidth),
      .Depth(MemberParts)
  ) u_ended (
      .clk_i,
      .rst_ni,
      .in_valid_i(response_valid_i && !response_i.tag[0]),
      .in_ready_o(),
      .in_data_i({response_i.status, BlocksWidth'(response_i.done)}),
      .out_valid_o(ended_valid_o),
      .out_ready_i(ended_take_i),  // while ended_lost_o, none is here
      .out_data_o({ended_status_o, ended_done_o}),
      .count_o()
  );

`ifdef FORMAL
  // The environment: any parts, a member that takes, responds and is given up at any time, and a stripe
  // that takes responses at any time. One arbitrary part is followed.
  (* anyconst *) logic [3:0] chosen;
  logic past_reset_q = 1'b0;
  logic [3:0] in_place_q, out_place_q;  // how many parts came, and how many were given or lost
  stripe_part_t chosen_q;
  logic [BlocksWidth-1:0] chosen_blocks_q;
  logic doomed_q;  // the member was given up while the chosen part waited
  given_t owed_q;  // parts that the member has taken and not responded to
  given_t given_past_q;
  lost_t lost_past_q;  // without a response, as counted here
  logic push, at_head, part_given, waits_q;
  logic [3:0] decided_q;
  logic lost_first_q;  // the oldest part was lost a cycle ago, and has no response

  assign push = part_valid_i && part_ready_o;
  assign at_head = there && out_place_q == chosen;
  assign part_given = command_valid_o && command_ready_i;

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (in_place_q != '1);
    if (past_reset_q && rst_ni) begin
      assume (!(response_valid_i && !response_i.tag[0]) || owed_q != '0);
      assume (!ended_take_i || ended_lost_o || ended_valid_o);
      assume (lost_past_q < lost_t'(Parts));
    end
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    if (push && in_place_q == chosen) {chosen_q, chosen_blocks_q} <= {part_i, part_blocks_i};
    doomed_q <= !(push && in_place_q == chosen) && (doomed_q || gone_i);
    decided_q <= rst_ni ? decided : '0;
    waits_q <= rst_ni && there && !give && !lose;
    lost_first_q <= rst_ni && given_past_q == '0 && lost_past_q != '0 && !ended_take_i;
    if (!rst_ni) begin
      {in_place_q, out_place_q, owed_q, given_past_q, lost_past_q} <= '0;
    end else begin
      in_place_q <= in_place_q + 4'(push);
      out_place_q <= out_place_q + 4'(part_given || lose);
      owed_q <= owed_q + given_t'(part_given) - given_t'(response_valid_i && !response_i.tag[0]);
      given_past_q <= given_past_q + given_t'(part_given) - given_t'(ended_take_i && given_past_q != '0);
      lost_past_q <= lost_past_q + lost_t'(lose) - lost_t'(ended_take_i && given_past_q == '0);
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // A part is lost if the member was given up while it waited, and otherwise given, with its fields.
      assert (!part_given || (there && !lose && lost_past_q == '0));
      assert (decided == '0 || part_given != lose);
      if (at_head && (part_given || lose)) begin
        assert (lose == (doomed_q || gone_i));
        assert (decided[3:2] == (part_given && head_beats ? {chosen_q.write, !chosen_q.write} : 2'b00));
        assert (decided[1:0] == (lose && head_beats ? {chosen_q.write, !chosen_q.write} : 2'b00));
        assert (head_beats == (HasStreams && chosen_q.source == SourceStream && chosen_blocks_q != '0));
      end
      if (at_head && part_given) begin
        assert (command_o.op == (chosen_q.write ? OpWrite : OpRead) && command_o.fua == chosen_q.fua);
        assert (command_o.source == chosen_q.source && command_o.blocks == 32'(chosen_blocks_q));
        assert (command_o.lba == {chosen_q.beyond, 63'(chosen_q.lba)});
        if (!HasStreams) assert (command_o.address == chosen_q.address);
      end
      if (at_head && doomed_q) assert (lose);
      assert ({given_write_o, given_read_o, lost_write_o, lost_read_o} == decided_q);
      // A part waits only for the member, for those that are lost, and for room for its response.
      if (waits_q && !lose && command_ready_i && lost_past_q == '0 && given_past_q < given_t'(MemberParts))
        assert (part_given);
      // Responses come in the order of the parts, and there is room for each response.
      assert (!ended_lost_o || (given_past_q == '0 && lost_past_q != '0));
      assert (!lost_first_q || ended_lost_o);
      assert (!(response_valid_i && !response_i.tag[0]) || u_ended.in_ready_o);
      assert (32'(given_past_q) == 32'(owed_q) + 32'(u_ended.count_o));

      cover (lost_past_q != '0 && given_past_q != '0 && lost_write_o);
      cover (out_place_q > 4'd3 && given_read_o);
      cover (part_given && side_response_valid_o);
    end
  end
`endif

endmodule

`default_nettype wire
