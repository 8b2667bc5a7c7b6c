// SPDX-License-Identifier: Apache-2.0
//
// Composes completion packets for the block's completer completion stream, which is aligned to addresses (PG213, "Data
// Alignment Options"): a word with the descriptor, then the core's beats unchanged. The response to an unsupported request
// has the status and, instead of beats, a copy of the request from lane 0 on, which the block requires for its log.
//
// Guarantee: a packet with data has one word more than beats. The last word of each packet is marked. Each of the core's
// beats is used once, in order. While data come, a word is sent in each cycle, also from packet to packet.
`default_nettype none

module spate_pcie_usp_cc
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128 or 256
    // Derived: no instance sets these.
    parameter int unsigned Lanes = DataWidth / 32,
    parameter int unsigned LaneBits = $clog2(Lanes)
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

  localparam int unsigned CopyDwords = 5;
  localparam int unsigned CopyWords = (CopyDwords + Lanes - 1) / Lanes;

  // The next word is of the copy of a request, or a beat. If neither, it is a descriptor.
  logic copies_q, beats_there_q;
  logic [7:0] left_q;  // words of the copy, or beats, after the next word
  logic heading, is_last, room, emit;
  logic [LaneBits-1:0] lane, top_lane;
  logic [8:0] last_place;  // of the last dword, from the first lane of the first beat on
  logic word_valid_q, last_q, final_q, unsupported_sent_q;
  logic [LaneBits-1:0] top_lane_q;
  logic [DataWidth-1:0] word, word_q;

  assign heading = !copies_q && !beats_there_q;
  assign is_last = !heading && left_q == '0;
  assign room = !word_valid_q || word_ready_i;
  assign emit = room && (beats_there_q ? data_valid_i : packet_valid_i);
  assign data_ready_o = room && beats_there_q;
  assign packet_ready_o = emit && is_last;
  assign unsupported_sent_o = unsupported_sent_q;

  assign lane = packet_i.lower_address[2+:LaneBits];
  assign last_place = 9'(packet_i.dwords) + 9'(lane) - 9'd1;
  assign top_lane = packet_i.unsupported ? LaneBits'(CopyDwords - 1) : last_place[LaneBits-1:0];

  // ---- the word ----

  cc_descriptor_t descriptor;
  logic [CopyWords*DataWidth-1:0] copy;

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
  assign copy = (CopyWords * DataWidth)'({
    unsupported_i.descriptor, 24'd0, unsupported_i.last_enables, unsupported_i.first_enables
  });

  always_comb begin
    if (beats_there_q) word = data_i;
    else if (!copies_q) word = DataWidth'(descriptor);
    else word = is_last ? copy[(CopyWords-1)*DataWidth+:DataWidth] : copy[DataWidth-1:0];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      copies_q <= 1'b0;
      beats_there_q <= 1'b0;
      word_valid_q <= 1'b0;
      unsupported_sent_q <= 1'b0;
    end else begin
      if (emit) begin
        copies_q <= heading ? packet_i.unsupported : copies_q && !is_last;
        beats_there_q <= heading ? !packet_i.unsupported : beats_there_q && !is_last;
      end
      if (room) word_valid_q <= emit;
      unsupported_sent_q <= packet_ready_o && packet_i.unsupported;
    end
    if (heading) left_q <= packet_i.unsupported ? 8'(CopyWords - 1) : 8'(last_place >> LaneBits);
    else if (emit) left_q <= left_q - 8'd1;
    if (room) begin
      word_q <= word;
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
  assign idle_o = heading && !packet_valid_i && !word_valid_q;

`ifdef FORMAL
  // For all packets and any timing of words and beats: each word at the output equals the definition of the interface,
  // written with bit positions and not with the package's structs, or is the beat that belongs there.
  logic past_reset_q = 1'b0;
  packet_t packet_q;
  nonposted_t unsupported_q;
  logic waiting_q;
  logic [7:0] composed_q, taken_q;  // words and beats of this packet so far
  logic [DataWidth-1:0] beat_q;  // the last one that was taken

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
  logic owner_taken_q, leaving, held_q, take;
  logic [7:0] place_q;  // words of it that were sent
  logic [LaneBits-1:0] first_lane;  // of what follows the descriptor
  logic [9:0] following;  // dwords that follow it
  logic [$bits({word_data_o, word_top_lane_o, word_last_o, word_final_o})-1:0] out, out_q;

  assign owner = owner_taken_q ? owner_q : packet_i;
  assign owner_request = owner_taken_q ? owner_request_q : unsupported_i;
  assign first_lane = owner.unsupported ? '0 : owner.lower_address[2+:LaneBits];
  assign following = owner.unsupported ? 10'd5 : 10'(owner.dwords);
  assign leaving = word_valid_o && word_ready_i;
  assign take = data_valid_i && data_ready_o;
  assign out = {word_data_o, word_top_lane_o, word_last_o, word_final_o};

  // PG213, completer completion descriptor. A completion with status Unsupported Request has five more dwords: a copy
  // of the request's byte enables and descriptor.
  function automatic logic [31:0] defined(logic [1:0] dword, packet_t of);
    unique case (dword)
      2'd0: return {2'b00, of.locked, of.bytes, 6'd0, 2'b00, 1'b0, of.lower_address};
      2'd1: return {of.requester, 1'b0, 1'b0, of.unsupported ? 3'b001 : 3'b000, 3'd0, of.dwords};
      2'd2: return {1'b0, of.attributes, of.traffic_class, 1'b1, 16'd0, of.tag};
      default: return '0;
    endcase
  endfunction
  function automatic logic [31:0] copied(logic [2:0] dword, nonposted_t request);
    if (dword == '0) return {24'd0, request.last_enables, request.first_enables};
    return request.descriptor[32*2'(dword-3'd1)+:32];
  endfunction

  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && word_valid_o && !word_ready_i;
    out_q <= out;
    if (take) beat_q <= data_i;
    if (!rst_ni) begin
      owner_taken_q <= 1'b0;
      {place_q, composed_q, taken_q} <= '0;
    end else begin
      if (packet_valid_i && packet_ready_o) owner_taken_q <= 1'b1;
      else if (leaving) owner_taken_q <= 1'b0;
      if (leaving) place_q <= owner_taken_q ? '0 : place_q + 8'd1;
      if (emit && is_last) {composed_q, taken_q} <= '0;
      else begin
        composed_q <= composed_q + 8'(emit);
        taken_q <= taken_q + 8'(take);
      end
    end
    if (packet_valid_i && packet_ready_o) begin
      owner_q <= packet_i;
      owner_request_q <= unsupported_i;
    end
  end

  logic [9:0] input_following, total_words;
  assign input_following = packet_i.unsupported ? 10'd5 : 10'(packet_i.dwords) + 10'(lane);
  assign total_words = 10'd1 + (input_following + 10'(Lanes - 1)) / 10'(Lanes);

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // The numbers of words and beats are exact.
      if (emit) assert (is_last == (10'(composed_q) + 10'd1 == total_words));
      if (emit && is_last) assert (10'(taken_q) + 10'(take) == (packet_i.unsupported ? 10'd0 : total_words - 10'd1));
      assert (packet_ready_o == (emit && is_last));
      if (take) assert (emit && packet_valid_i);
      // Nothing waits for a word that is not needed.
      if (packet_valid_i && room && (packet_i.unsupported || heading)) assert (emit);
      // No word without a packet. All lanes are used, except in the last word, up to its last dword.
      if (held_q) assert (word_valid_o && out == out_q);
      if (word_valid_o) begin
        assert (owner_taken_q || packet_valid_i);
        assert (word_last_o == owner_taken_q);
        assert (word_last_o == (10'(place_q) * 10'(Lanes) >= 10'(first_lane) + following));
        assert (word_final_o == (word_last_o && owner.final_packet));
        if (word_last_o)
          assert ((10'(place_q) - 10'd1) * 10'(Lanes) + 10'(word_top_lane_o) == 10'(first_lane) + following - 10'd1);
          else assert (word_top_lane_o == LaneBits'(Lanes - 1));
        if (place_q == '0) begin
          for (int unsigned k = 0; k < Lanes; k++)
          assert (word_data_o[32*k+:32] == (k < 3 ? defined(2'(k), owner) : '0));
        end else if (owner.unsupported) begin
          for (int unsigned k = 0; k < Lanes; k++) begin
            if ((32'(place_q) - 1) * Lanes + k < 5)
              assert (word_data_o[32*k+:32] == copied(3'((32'(place_q) - 1) * Lanes + k), owner_request));
          end
        end else begin
          assert (word_data_o == beat_q);
        end
      end
      // The request is released only when its response is composed.
      if (unsupported_sent_o) assert (owner_taken_q && owner.unsupported);
      // Invariants for the induction.
      assert (!(copies_q && beats_there_q) && (heading || packet_valid_i));
      assert (owner_taken_q ? word_valid_o && heading : 10'(place_q) + 10'(word_valid_o) == 10'(composed_q));
      if (owner_taken_q) assert (owner.dwords <= 8'd128 && owner.unsupported == (owner.dwords == '0));
      assert (heading == (composed_q == '0));
      if (!heading) begin
        assert (copies_q == packet_i.unsupported);
        assert (10'(left_q) + 10'(composed_q) + 10'd1 == total_words);
      end
      assert (taken_q == (beats_there_q ? composed_q - 8'd1 : 8'd0));
      cover (unsupported_sent_o && !packet_valid_i);
      cover (word_final_o && held_q && word_top_lane_o == LaneBits'(1) && place_q == 8'd3);
      cover (packet_ready_o && packet_i.dwords == 8'd14 && lane == '0 && take);
      cover (packet_ready_o && packet_i.dwords == 8'd12 && lane == '1);
    end
  end
`endif

endmodule

`default_nettype wire
