// SPDX-License-Identifier: Apache-2.0
//
// Composes completion packets for the block's completer completion stream, which is aligned to addresses (PG213, "Data
// Alignment Options"): a word with the descriptor, then the core's beats unchanged. The response to an unsupported
// request has the status and, instead of beats, a copy of the request from lane 0 on, which the block requires for its
// log.
//
// Guarantee: a packet with data has one word more than beats. The last word of each packet is marked. Each of the
// core's beats is used once, in order. While data come, a word is sent in each cycle, also from packet to packet.
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

endmodule

`default_nettype wire
