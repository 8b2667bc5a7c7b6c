// SPDX-License-Identifier: Apache-2.0
//
// Composes completion packets for the block's completer completion stream: the descriptor in three dwords and the data
// directly behind it, moved from the lanes of their address. The response to an unsupported request has the status and
// a copy of the request, which the block wants for its log.
//
// Guarantee: each packet has ceil((3 + dwords) / Lanes) words, the last one marked. Each of the core's beats is used
// once, in order. A word is sent in each cycle, also from packet to packet, as long as data come; only a packet whose
// data begin in the upper half of an eight-lane beat takes one more cycle.
`default_nettype none

module spate_pcie_usp_cc
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128 or 256
    localparam int unsigned Lanes = DataWidth / 32,
    localparam int unsigned LaneBits = $clog2(Lanes)
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic       packet_valid_i,
    output logic            packet_ready_o,
    input  wire packet_t    packet_i,
    input  wire nonposted_t unsupported_i,
    output logic            unsupported_sent_o,

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,

    output logic                      word_valid_o,
    input  wire logic                 word_ready_i,
    output logic      [DataWidth-1:0] word_data_o,
    output logic      [ LaneBits-1:0] word_top_lane_o,  // the highest lane in use
    output logic                      word_last_o,
    output logic                      word_final_o,     // with `last`: the request is completed

    output logic idle_o
);

  typedef enum logic [1:0] {
    StFirst,
    StKept,  // a beat was kept, the first word was not sent yet
    StRest
  } state_e;

  state_e state_q, state_d;

  // ---- number of words and beats ----

  logic [LaneBits-1:0] lane, amount;
  logic behind;  // data begin in a higher lane than their place in the packet: a beat must be kept first
  logic [7:0] words_first, words, words_q;  // still to be composed, this one included
  logic [7:0] beats_first, beats, beats_q;  // still to be taken
  logic is_last, beats_left;
  logic [LaneBits-1:0] top_lane;

  assign lane = packet_i.lower_address[2+:LaneBits];
  assign amount = LaneBits'(3) - lane;
  assign behind = Lanes > 4 && lane > LaneBits'(3) && !packet_i.unsupported;
  assign words_first = packet_i.unsupported ? 8'(8 / Lanes) : 8'((9'(packet_i.dwords) + 9'(Lanes + 2)) >> LaneBits);
  assign beats_first = packet_i.unsupported ? '0 : 8'((9'(packet_i.dwords) + 9'(lane) + 9'(Lanes - 1)) >> LaneBits);
  assign words = state_q == StRest ? words_q : words_first;
  assign beats = state_q == StFirst ? beats_first : beats_q;
  // `words == 1` and `beats != 0`, without the additions above: these two decide everything below.
  assign is_last = state_q == StRest ? words_q == 8'd1 :
                   packet_i.unsupported ? Lanes == 8 : packet_i.dwords <= 8'(Lanes - 3);
  assign beats_left = state_q == StFirst ? !packet_i.unsupported : beats_q != '0;
  assign top_lane = packet_i.unsupported ? LaneBits'(Lanes - 1) : LaneBits'(packet_i.dwords) + LaneBits'(2);

  // ---- one step ----

  logic room, have, take, emit;
  logic word_valid_q, last_q, final_q, unsupported_sent_q;
  logic [LaneBits-1:0] top_lane_q;
  logic [Lanes-1:0][31:0] word_q;

  assign room = !word_valid_q || word_ready_i;
  assign have = !beats_left || data_valid_i;
  assign emit = packet_valid_i && room && have && !(state_q == StFirst && behind);
  assign take = packet_valid_i && room && data_valid_i && beats_left;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StFirst: begin
        if (emit) state_d = is_last ? StFirst : StRest;
        else if (take) state_d = StKept;
      end
      StKept: if (emit) state_d = is_last ? StFirst : StRest;
      StRest: if (emit && is_last) state_d = StFirst;
      default: state_d = StFirst;
    endcase
  end

  assign data_ready_o = packet_valid_i && room && beats_left;
  assign packet_ready_o = emit && is_last;
  assign unsupported_sent_o = unsupported_sent_q;

  // ---- the word ----

  cc_descriptor_t descriptor;
  logic [255:0] head;  // the first eight dwords of a packet without data
  logic [Lanes-1:0][31:0] moved, composed;
  logic heading;

  always_comb begin
    descriptor = '0;
    descriptor.attributes = packet_i.attributes;
    descriptor.traffic_class = packet_i.traffic_class;
    descriptor.completer_enable = 1'b1;  // bus 0, device 0, function 0: the root port
    descriptor.tag = packet_i.tag;
    descriptor.requester = packet_i.requester;
    descriptor.status = packet_i.unsupported ? StatusUnsupported : StatusSuccessful;
    descriptor.dwords = 11'(packet_i.dwords);
    descriptor.locked = packet_i.locked;
    descriptor.bytes = packet_i.bytes;
    descriptor.lower_address = packet_i.lower_address;
  end
  assign head = {unsupported_i.descriptor, 24'h0, unsupported_i.last_enables, unsupported_i.first_enables, descriptor};
  assign heading = state_q != StRest;

  spate_pcie_usp_rotate #(
      .Lanes(Lanes),
      .LaneWidth(32)
  ) u_rotate (
      .clk_i,
      .keep_i(take),
      .amount_i(amount),
      .word_i(data_i),
      .word_o(moved)
  );

  always_comb begin
    for (int unsigned k = 0; k < Lanes; k++) begin
      composed[k] = moved[k];
      if (heading && (k < 3 || packet_i.unsupported)) composed[k] = head[32*k+:32];
      if (!heading && packet_i.unsupported) composed[k] = head[128+32*(k%4)+:32];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StFirst;
      word_valid_q <= 1'b0;
      unsupported_sent_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (room) word_valid_q <= emit;
      unsupported_sent_q <= packet_ready_o && packet_i.unsupported;
    end
  end

  always_ff @(posedge clk_i) begin
    if (emit) words_q <= words - 8'd1;
    if (take) beats_q <= beats - 8'd1;
    else if (emit) beats_q <= beats;
    if (room) begin
      word_q <= composed;
      last_q <= is_last;
      final_q <= packet_i.final_packet;
      top_lane_q <= is_last ? top_lane : LaneBits'(Lanes - 1);
    end
  end

  assign word_valid_o = word_valid_q;
  assign word_data_o = word_q;
  assign word_top_lane_o = top_lane_q;
  assign word_last_o = last_q;
  assign word_final_o = last_q && final_q;
  assign idle_o = state_q == StFirst && !packet_valid_i && !word_valid_q;

`ifdef FORMAL
  // For all packets and any timing of words and beats, the numbers of words and beats are right, and each dword of data
  // is in its place: `watched` is an arbitrary dword of a packet. Each word at the output equals the definition of the
  // interface, written with bit positions and not with the package's structs.
  logic past_reset_q = 1'b0;
  (* anyconst *) logic [6:0] watched;
  packet_t packet_q;
  nonposted_t unsupported_q;
  logic waiting_q;
  logic [7:0] composed_q, taken_q;  // words and beats of this packet so far
  logic [31:0] watched_q, expected_q;
  logic shown_q;  // the word at the output contains the watched dword
  logic [LaneBits-1:0] expected_lane_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    packet_q <= packet_i;
    unsupported_q <= unsupported_i;
    waiting_q <= rst_ni && packet_valid_i && !packet_ready_o;
    // The environment: a packet that waits does not change, and has data unless it is marked as having none.
    if (waiting_q) assume (packet_valid_i && packet_i == packet_q);
    if (waiting_q && packet_i.unsupported) assume (unsupported_i == unsupported_q);
    assume (packet_i.dwords <= 8'd128 && packet_i.unsupported == (packet_i.dwords == '0));
  end

  // The packet of the word at the output: the one at the input, or the one that was taken with its last word.
  packet_t owner, owner_q;
  nonposted_t owner_request, owner_request_q;
  logic owner_taken_q, leaving, held_q;
  logic [7:0] place_q;  // words of it that were sent
  logic [9:0] owner_dwords;  // length of the descriptor and what follows it
  logic [$bits({word_data_o, word_top_lane_o, word_last_o, word_final_o})-1:0] out, out_q;

  assign owner = owner_taken_q ? owner_q : packet_i;
  assign owner_request = owner_taken_q ? owner_request_q : unsupported_i;
  assign owner_dwords = owner.unsupported ? 10'd8 : 10'd3 + 10'(owner.dwords);
  assign leaving = word_valid_o && word_ready_i;
  assign out = {word_data_o, word_top_lane_o, word_last_o, word_final_o};

  // PG213, completer completion descriptor. A completion with status Unsupported Request has five more dwords: a copy
  // of the request's byte enables and descriptor.
  function automatic logic [31:0] defined(logic [2:0] dword, packet_t of, nonposted_t request);
    unique case (dword)
      3'd0: return {2'b00, of.locked, of.bytes, 6'd0, 2'b00, 1'b0, of.lower_address};
      3'd1: return {of.requester, 1'b0, 1'b0, of.unsupported ? 3'b001 : 3'b000, 3'd0, of.dwords};
      3'd2: return {1'b0, of.attributes, of.traffic_class, 1'b1, 16'd0, of.tag};
      3'd3: return {24'd0, request.last_enables, request.first_enables};
      default: return request.descriptor[32*dword[1:0]+:32];
    endcase
  endfunction

  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && word_valid_o && !word_ready_i;
    out_q <= out;
    if (!rst_ni) begin
      owner_taken_q <= 1'b0;
      place_q <= '0;
    end else begin
      if (packet_valid_i && packet_ready_o) owner_taken_q <= 1'b1;
      else if (leaving) owner_taken_q <= 1'b0;
      if (leaving) place_q <= owner_taken_q ? '0 : place_q + 8'd1;
    end
    if (packet_valid_i && packet_ready_o) begin
      owner_q <= packet_i;
      owner_request_q <= unsupported_i;
    end
  end

  logic [9:0] total_words, total_beats;
  logic [8:0] in_dword, out_dword;  // position of the watched dword, from the first lane of the first beat and word
  logic present, arrives, arrived, leaves;

  assign total_words = packet_i.unsupported ? 10'(8 / Lanes) : (10'(packet_i.dwords) + 10'(3 + Lanes - 1)) / 10'(Lanes);
  assign total_beats = packet_i.unsupported ? '0 : (10'(packet_i.dwords) + 10'(lane) + 10'(Lanes - 1)) / 10'(Lanes);
  assign present = packet_valid_i && 8'(watched) < packet_i.dwords;
  assign in_dword = 9'(watched) + 9'(lane);
  assign out_dword = 9'(watched) + 9'd3;
  assign arrives = present && take && 9'(taken_q) == in_dword >> LaneBits;
  assign arrived = present && 9'(taken_q) > in_dword >> LaneBits;
  assign leaves = present && emit && 9'(composed_q) == out_dword >> LaneBits;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      composed_q <= '0;
      taken_q <= '0;
      shown_q <= 1'b0;
    end else begin
      if (emit && is_last) {composed_q, taken_q} <= '0;
      else begin
        composed_q <= composed_q + 8'(emit);
        taken_q <= taken_q + 8'(take);
      end
      if (room) shown_q <= leaves;
    end
    if (arrives) watched_q <= data_i[32*in_dword[LaneBits-1:0]+:32];
    if (leaves) begin
      expected_q <= arrives ? data_i[32*in_dword[LaneBits-1:0]+:32] : watched_q;
      expected_lane_q <= out_dword[LaneBits-1:0];
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // The numbers of words and beats are exact.
      if (emit) assert (is_last == (10'(composed_q) + 10'd1 == total_words));
      if (emit && is_last) assert (10'(taken_q) + 10'(take) == total_beats);
      if (take) assert (10'(taken_q) < total_beats);
      assert (take == (data_valid_i && data_ready_o));
      assert (packet_ready_o == (emit && is_last));
      // The watched dword has arrived when it leaves, and is unchanged.
      if (leaves) assert (arrives || arrived);
      if (shown_q) assert (word_valid_o && word_data_o[32*expected_lane_q+:32] == expected_q);
      if (shown_q) assert (expected_lane_q <= word_top_lane_o);
      // The block's view. No word without a packet. All lanes are used, except in the last word, up to its last dword.
      if (held_q) assert (word_valid_o && out == out_q);
      if (word_valid_o) begin
        assert (owner_taken_q || packet_valid_i);
        assert (word_last_o == ((10'(place_q) + 10'd1) * 10'(Lanes) >= owner_dwords));
        assert (word_last_o == owner_taken_q);
        assert (word_final_o == (word_last_o && owner.final_packet));
        if (word_last_o)
          assert (10'(place_q) * 10'(Lanes) + 10'(word_top_lane_o) == owner_dwords - 10'd1);
          else assert (word_top_lane_o == LaneBits'(Lanes - 1));
        for (int unsigned k = 0; k < Lanes; k++) begin
          if (32'(place_q) * Lanes + k < (owner.unsupported ? 8 : 3))
            assert (word_data_o[32*k+:32] == defined(3'(32'(place_q) * Lanes + k), owner, owner_request));
        end
      end
      // The request is released only when its response is composed.
      if (unsupported_sent_o) assert (owner_taken_q && owner.unsupported);
      // Invariants for the induction.
      assert (state_q inside {StFirst, StKept, StRest});
      assert (state_q == StFirst || packet_valid_i);
      assert (owner_taken_q ? word_valid_o && state_q == StFirst : 10'(place_q) + 10'(word_valid_o) == 10'(composed_q));
      if (owner_taken_q) assert (owner.dwords <= 8'd128 && owner.unsupported == (owner.dwords == '0));
      assert ((state_q == StRest) == (composed_q != '0));
      if (state_q == StFirst) assert (taken_q == '0);
      if (state_q == StKept) assert (taken_q == 8'd1 && behind);
      if (state_q == StRest) assert (10'(words_q) + 10'(composed_q) == total_words && words_q != '0);
      if (state_q != StFirst) begin
        assert (10'(beats_q) + 10'(taken_q) == total_beats);
        assert (10'(taken_q) == 10'(composed_q) + 10'(behind) || (beats_q == '0 && 10'(taken_q) <= 10'(composed_q)));
      end
      if (arrived && 9'(composed_q) <= out_dword >> LaneBits)
        assert (u_rotate.kept_q[out_dword[LaneBits-1:0]] == watched_q);
      if (state_q != StFirst && arrived && 9'(composed_q) <= out_dword >> LaneBits)
        assert (9'(taken_q) == (in_dword >> LaneBits) + 9'd1);
      cover (unsupported_sent_o && !packet_valid_i);
      cover (word_final_o && held_q && word_top_lane_o == LaneBits'(1) && place_q == 8'd2);
      cover (packet_ready_o && packet_i.dwords == 8'd14 && lane == '0 && !data_valid_i);
      cover (packet_ready_o && packet_i.dwords == 8'd12 && (behind || Lanes == 4) && leaves);
    end
  end
`endif

endmodule

`default_nettype wire
