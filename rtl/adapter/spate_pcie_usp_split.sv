// SPDX-License-Identifier: Apache-2.0
//
// Requests from the core what a memory read asks for, and splits the data into completion packets. They end at
// multiples of the maximum payload (of 512 bytes if that is more), which satisfies every read completion boundary. Any
// other request becomes one packet with the status Unsupported Request.
//
// Guarantee: each request becomes packets whose data add up to what was asked for, in order, the last one marked. Each
// memory read is requested from the core once, before its packets are issued. A read of zero bytes gets its one dword.
`default_nettype none

module spate_pcie_usp_split
  import spate_pkg::*;
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h0,
    // Derived: no instance sets it.
    parameter int unsigned LaneBits = $clog2(DataWidth / 32)
) (
    input wire logic       clk_i,
    input wire logic       rst_ni,
    input wire logic       run_i,         // low: begin no request
    input wire logic [1:0] max_payload_i, // 128 << max_payload bytes

    input  wire logic       nonposted_valid_i,
    output logic            nonposted_ready_o,
    input  wire nonposted_t nonposted_i,

    output logic         read_valid_o,
    input  wire logic    read_ready_i,
    output window_read_t read_o,

    output logic      packet_valid_o,
    input  wire logic packet_ready_i,
    output packet_t   packet_o,
    input  wire logic unsupported_sent_i, // the last packet no longer needs the copy of its request

    output logic idle_o
);

  typedef enum logic [1:0] {
    StRequest,
    StPackets,
    StUnsupported  // the packet was taken; the request stays until it is composed
  } state_e;

  state_e state_q, state_d;
  cq_descriptor_t descriptor;
  logic supported;
  logic shown_q;  // once shown to the core, a read stays until it is taken

  assign descriptor = nonposted_i.descriptor;
  // An address translation request looks like a read, but does not request data.
  assign supported = descriptor.kind == KindMemoryRead && descriptor.address_type == '0;

  // ---- the bytes that are requested ----

  logic [1:0] skipped, cut;  // bytes of the first and the last dword that are not requested
  logic [3:0] last_enables;
  logic [LaneBits-1:0] lane;

  assign last_enables = descriptor.dwords == 11'd1 ? nonposted_i.first_enables : nonposted_i.last_enables;

  always_comb begin
    unique casez (nonposted_i.first_enables)
      4'b??10: skipped = 2'd1;
      4'b?100: skipped = 2'd2;
      4'b1000: skipped = 2'd3;
      default: skipped = 2'd0;
    endcase
    unique casez (last_enables)
      4'b01??: cut = 2'd1;
      4'b001?: cut = 2'd2;
      4'b0001: cut = 2'd3;
      4'b0000: cut = 2'd3;  // zero bytes: counted as one
      default: cut = 2'd0;
    endcase
  end

  // Without the carry chain that `+` becomes: both operands come late.
  function automatic logic [2:0] sum_of(logic [1:0] a, logic [1:0] b);
    logic carry;
    carry = a[0] && b[0];
    return {(a[1] && b[1]) || ((a[1] || b[1]) && carry), a[1] ^ b[1] ^ carry, a[0] ^ b[0]};
  endfunction

  assign lane = descriptor.address[LaneBits-1:0];
  assign read_o = '{
          stray: descriptor.address[61:WindowBits-2] != WindowBase[63:WindowBits],
          address: 32'({descriptor.address[WindowBits-3:0], skipped}),
          beats: 9'((12'(descriptor.dwords) + 12'(lane) - 12'd1) >> LaneBits) + 9'd1
      };

  // ---- packets ----

  // A packet's size is computed in the cycle before it is offered. Sending even the shortest full packet takes longer.
  packet_t current_q;  // `bytes`: from this packet to the end of the request, once sized_q
  logic sized_q, size, is_memory;
  logic [9:0] trim_q;  // to be subtracted from `bytes` when it is sized
  logic [10:0] left_q;  // dwords
  logic [7:0] room_q;  // dwords to the next boundary
  logic is_final;

  // `place`: in dwords, modulo 512 bytes.
  function automatic logic [7:0] room_at(logic [6:0] place, logic [1:0] max_payload);
    unique case (max_payload)
      2'd0: return 8'd32 - 8'(place[4:0]);
      2'd1: return 8'd64 - 8'(place[5:0]);
      default: return 8'd128 - 8'(place);
    endcase
  endfunction
  assign is_final = left_q <= 11'(room_q);
  assign is_memory = descriptor.kind == KindMemoryRead || descriptor.kind == KindLockedRead;
  assign size = state_q != StRequest && !sized_q;
  assign packet_o = current_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StRequest: begin
        if (nonposted_valid_i && (run_i || shown_q)) begin
          if (!supported) state_d = StUnsupported;
          else if (read_ready_i) state_d = StPackets;
        end
      end
      StPackets: if (sized_q && packet_ready_i && current_q.final_packet) state_d = StRequest;
      StUnsupported: if (unsupported_sent_i) state_d = StRequest;
      default: state_d = StRequest;
    endcase
  end

  logic taken_q;  // the packet of the unsupported request was taken

  assign read_valid_o = state_q == StRequest && nonposted_valid_i && (run_i || shown_q) && supported;
  assign nonposted_ready_o = (read_valid_o && read_ready_i) || (state_q == StUnsupported && unsupported_sent_i);
  assign packet_valid_o = sized_q && (state_q == StPackets || (state_q == StUnsupported && !taken_q));
  assign idle_o = state_q == StRequest && !shown_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StRequest;
      shown_q <= 1'b0;
    end else begin
      state_q <= state_d;
      shown_q <= read_valid_o && !read_ready_i;
    end
    if (state_q != StUnsupported) taken_q <= 1'b0;
    else if (sized_q && packet_ready_i) taken_q <= 1'b1;
    if (state_q == StRequest) sized_q <= 1'b0;
    else if (size) sized_q <= 1'b1;
    else if (state_q == StPackets && packet_ready_i) sized_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StRequest) begin
      current_q <= '{
          unsupported: !supported,
          locked: descriptor.kind == KindLockedRead,
          final_packet: 1'b0,
          attributes: descriptor.attributes,
          traffic_class: descriptor.traffic_class,
          tag: descriptor.tag,
          requester: descriptor.requester,
          bytes: is_memory ? {descriptor.dwords, 2'b00} : 13'd4,  // a fixed value for what is no memory read
          lower_address: supported ? {descriptor.address[4:0], skipped} : '0,
          dwords: '0
      };
      trim_q <= is_memory ? 10'(sum_of(skipped, cut)) : '0;
      left_q <= descriptor.dwords;
      room_q <= room_at(descriptor.address[6:0], max_payload_i);
    end else if (size) begin
      current_q.bytes <= current_q.bytes - 13'(trim_q);
      current_q.final_packet <= is_final || current_q.unsupported;
      current_q.dwords <= current_q.unsupported ? '0 : is_final ? left_q[7:0] : room_q;
    end else if (state_q == StPackets && packet_ready_i) begin
      left_q <= left_q - 11'(current_q.dwords);
      room_q <= room_at('0, max_payload_i);
      trim_q <= {current_q.dwords, 2'b00} - 10'(current_q.lower_address[1:0]);
      current_q.lower_address <= '0;
    end
  end

endmodule

`default_nettype wire
