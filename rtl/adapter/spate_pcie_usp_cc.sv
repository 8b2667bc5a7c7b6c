// SPDX-License-Identifier: Apache-2.0
//
// Composes completion packets for the block's completer completion stream: the descriptor in three dwords, the data right
// behind it, moved from their lanes by address. What is not supported is answered with the status and, as the block wants
// it for its log, with the request itself.
//
// Guarantee: for each packet told there are ceil((3 + dwords) / Lanes) words, the last one marked; the core's beats are
// each used once, in order. A word a cycle, also from packet to packet, as long as data come; only a packet whose data
// begin in the upper half of an eight-lane beat costs one cycle more.
module spate_pcie_usp_cc
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128 or 256
    localparam int unsigned Lanes = DataWidth / 32,
    localparam int unsigned LaneBits = $clog2(Lanes)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic       packet_valid_i,
    output logic       packet_ready_o,
    input  packet_t    packet_i,
    input  nonposted_t unsupported_i,
    output logic       unsupported_sent_o,

    input  logic                 data_valid_i,
    output logic                 data_ready_o,
    input  logic [DataWidth-1:0] data_i,

    output logic                 word_valid_o,
    input  logic                 word_ready_i,
    output logic [DataWidth-1:0] word_data_o,
    output logic [ LaneBits-1:0] word_top_lane_o,  // the highest lane with something
    output logic                 word_last_o,
    output logic                 word_final_o,     // with `last`: the request is completed

    output logic idle_o
);

  typedef enum logic [1:0] {
    StFirst,
    StKept,  // a beat was kept, the first word is still to come
    StRest
  } state_e;

  state_e state_q, state_d;

  // ---- how much ----

  logic [LaneBits-1:0] lane, amount;
  logic behind;  // data begin past the lane that they go to: a beat has to be kept first
  logic [7:0] words_first, words, words_q;  // still to be composed, this one included
  logic [7:0] beats_first, beats, beats_q;  // still to be taken
  logic [LaneBits-1:0] top_lane;

  assign lane = packet_i.lower_address[2+:LaneBits];
  assign amount = LaneBits'(3) - lane;
  assign behind = Lanes > 4 && lane > LaneBits'(3) && !packet_i.unsupported;
  assign words_first = packet_i.unsupported ? 8'(8 / Lanes) : 8'((9'(packet_i.dwords) + 9'(Lanes + 2)) >> LaneBits);
  assign beats_first = packet_i.unsupported ? '0 : 8'((9'(packet_i.dwords) + 9'(lane) + 9'(Lanes - 1)) >> LaneBits);
  assign words = state_q == StRest ? words_q : words_first;
  assign beats = state_q == StFirst ? beats_first : beats_q;
  assign top_lane = packet_i.unsupported ? LaneBits'(Lanes - 1) : LaneBits'(packet_i.dwords) + LaneBits'(2);

  // ---- one step ----

  logic room, have, take, emit, is_last;
  logic word_valid_q, last_q, final_q, unsupported_sent_q;
  logic [LaneBits-1:0] top_lane_q;
  logic [Lanes-1:0][31:0] word_q;

  assign room = !word_valid_q || word_ready_i;
  assign have = beats == '0 || data_valid_i;
  assign emit = packet_valid_i && room && have && !(state_q == StFirst && behind);
  assign take = packet_valid_i && room && data_valid_i && beats != '0;
  assign is_last = words == 8'd1;

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

  assign data_ready_o = packet_valid_i && room && beats != '0;
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
  // Whatever packets come, and however words and beats stand still: as many of each as there have to be, and each dword
  // of data where it belongs: `watched` is any one of a packet's.
  logic past_reset_q = 1'b0;
  (* anyconst *) logic [6:0] watched;
  packet_t packet_q;
  nonposted_t unsupported_q;
  logic waiting_q;
  logic [7:0] composed_q, taken_q;  // words and beats of this packet so far
  logic [31:0] watched_q, expected_q;
  logic shown_q;  // the word at the output has the watched dword
  logic [LaneBits-1:0] expected_lane_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    packet_q <= packet_i;
    unsupported_q <= unsupported_i;
    waiting_q <= rst_ni && packet_valid_i && !packet_ready_o;
    // What stands before keeps its promises: a packet stays, and has data unless it says that it has none.
    if (waiting_q) assume (packet_valid_i && packet_i == packet_q && unsupported_i == unsupported_q);
    assume (packet_i.dwords <= 8'd128 && packet_i.unsupported == (packet_i.dwords == '0));
  end

  logic [9:0] total_words, total_beats;
  logic [8:0] in_dword, out_dword;  // where the watched one is, counted from the first lane of the first beat and word
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
      // No word more, none less, and no beat.
      if (emit) assert (is_last == (10'(composed_q) + 10'd1 == total_words));
      if (emit && is_last) assert (10'(taken_q) + 10'(take) == total_beats);
      if (take) assert (10'(taken_q) < total_beats);
      assert (data_ready_o || !take);
      assert (packet_ready_o == (emit && is_last));
      // The watched dword has come when it goes, and is itself.
      if (leaves) assert (arrives || arrived);
      if (shown_q) assert (word_valid_o && word_data_o[32*expected_lane_q+:32] == expected_q);
      if (shown_q) assert (expected_lane_q <= word_top_lane_o);
      // The first word says what the packet is.
      if (emit && composed_q == '0) begin
        assert (composed[0][28:16] == packet_i.bytes && composed[0][6:0] == packet_i.lower_address);
        assert (composed[1] == {packet_i.requester, 2'b00, 2'b00, packet_i.unsupported, 3'b000, packet_i.dwords});
        assert (composed[2][7:0] == packet_i.tag);
      end
      // What helps the induction.
      assert (state_q inside {StFirst, StKept, StRest});
      assert (state_q == StFirst || packet_valid_i);
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
      cover (packet_ready_o && packet_i.dwords == 8'd14 && lane == '0 && !data_valid_i);
      cover (packet_ready_o && packet_i.dwords == 8'd12 && (behind || Lanes == 4) && leaves);
    end
  end
`endif

endmodule
