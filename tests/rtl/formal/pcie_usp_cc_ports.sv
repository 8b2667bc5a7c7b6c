// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_usp_cc, watched at its ports, for all packets and any timing of words and beats: each word at the output
// equals the definition of the interface, written with bit positions and not with the package's structs, or is the beat
// that belongs there.
module pcie_usp_cc_ports
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    localparam int unsigned Lanes = DataWidth / 32,
    localparam int unsigned LaneBits = $clog2(Lanes)
) (
    input logic                       clk_i,
    input logic                       rst_ni,
    input logic                       packet_valid_i,
    input logic                       packet_ready_o,
    input packet_t                    packet_i,
    input nonposted_t                 unsupported_i,
    input logic                       unsupported_sent_o,
    input logic                       data_valid_i,
    input logic                       data_ready_o,
    input logic       [DataWidth-1:0] data_i,
    input logic                       word_valid_o,
    input logic                       word_ready_i,
    input logic       [DataWidth-1:0] word_data_o,
    input logic       [ LaneBits-1:0] word_top_lane_o,
    input logic                       word_last_o,
    input logic                       word_final_o,
    input logic                       idle_o
);

  // ---- the environment: a packet that waits does not change, and has data unless it is marked as having none ----

  logic past_reset_q = 1'b0;
  packet_t packet_q;
  nonposted_t unsupported_q;
  logic waiting_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    packet_q <= packet_i;
    unsupported_q <= unsupported_i;
    waiting_q <= rst_ni && packet_valid_i && !packet_ready_o;
    if (waiting_q) assume (packet_valid_i && packet_i == packet_q);
    if (waiting_q && packet_i.unsupported) assume (unsupported_i == unsupported_q);
    assume (packet_i.dwords <= 8'd128 && packet_i.unsupported == (packet_i.dwords == '0));
  end

  // ---- the packet of the word at the output: the one at the input, or the one that was taken with its last word ----

  packet_t owner, owner_q;
  nonposted_t owner_request, owner_request_q;
  logic owner_taken_q, leaving, held_q, take, taken;
  logic [7:0] place_q;  // words of it that were sent
  logic [LaneBits-1:0] first_lane;  // of what follows the descriptor
  logic [9:0] following;  // dwords that follow it
  logic [DataWidth-1:0] beat_q;  // the last one that was taken
  logic [$bits({word_data_o, word_top_lane_o, word_last_o, word_final_o})-1:0] out, out_q;

  assign owner = owner_taken_q ? owner_q : packet_i;
  assign owner_request = owner_taken_q ? owner_request_q : unsupported_i;
  assign first_lane = owner.unsupported ? '0 : owner.lower_address[2+:LaneBits];
  assign following = owner.unsupported ? 10'd5 : 10'(owner.dwords);
  assign leaving = word_valid_o && word_ready_i;
  assign take = data_valid_i && data_ready_o;
  assign taken = packet_valid_i && packet_ready_o;
  assign out = {word_data_o, word_top_lane_o, word_last_o, word_final_o};

  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && word_valid_o && !word_ready_i;
    out_q <= out;
    if (take) beat_q <= data_i;
    if (!rst_ni) begin
      owner_taken_q <= 1'b0;
      place_q <= '0;
    end else begin
      if (taken) owner_taken_q <= 1'b1;
      else if (leaving) owner_taken_q <= 1'b0;
      if (leaving) place_q <= owner_taken_q ? '0 : place_q + 8'd1;
    end
    if (taken) begin
      owner_q <= packet_i;
      owner_request_q <= unsupported_i;
    end
  end

  // ---- the packet at the input: its words and beats so far ----

  logic room, emits, emitted_q;  // emits: a word of it is composed now
  logic [7:0] composed_q, taken_q;
  logic [LaneBits-1:0] lane;
  logic [9:0] input_following, total_words;

  assign room = !word_valid_o || word_ready_i;
  assign emits = room && packet_valid_i && (packet_i.unsupported || composed_q == '0 || data_valid_i);
  assign lane = packet_i.lower_address[2+:LaneBits];
  assign input_following = packet_i.unsupported ? 10'd5 : 10'(packet_i.dwords) + 10'(lane);
  assign total_words = 10'd1 + (input_following + 10'(Lanes - 1)) / 10'(Lanes);

  always_ff @(posedge clk_i) begin
    emitted_q <= rst_ni && emits;
    if (!rst_ni || taken) begin
      {composed_q, taken_q} <= '0;
    end else begin
      composed_q <= composed_q + 8'(emits);
      taken_q <= taken_q + 8'(take);
    end
  end

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

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // The numbers of words and beats are exact.
      assert (packet_ready_o == (emits && 10'(composed_q) + 10'd1 == total_words));
      if (taken) assert (10'(taken_q) + 10'(take) == (packet_i.unsupported ? 10'd0 : total_words - 10'd1));
      // Nothing waits for a word that is not needed.
      if (take) assert (emits);
      assert (data_ready_o == (room && composed_q != '0 && !packet_i.unsupported));
      if (emitted_q) assert (word_valid_o);
      if (!emitted_q && !held_q) assert (!word_valid_o);
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
      assert (idle_o == (composed_q == '0 && !packet_valid_i && !word_valid_o));
      cover (unsupported_sent_o && !packet_valid_i);
      cover (word_final_o && held_q && word_top_lane_o == LaneBits'(1) && place_q == 8'd3);
      cover (packet_ready_o && packet_i.dwords == 8'd14 && lane == '0 && take);
      cover (packet_ready_o && packet_i.dwords == 8'd12 && lane == '1);
    end
  end

endmodule

bind spate_pcie_usp_cc pcie_usp_cc_ports #(.DataWidth(DataWidth)) u_ports (.*);
