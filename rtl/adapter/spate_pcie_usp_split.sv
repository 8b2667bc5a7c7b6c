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
  // An address translation request looks like a read, but asks for something else.
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
  logic [6:0] place_q;  // in dwords, modulo 512 bytes
  logic [7:0] room;  // dwords to the next boundary
  logic is_final;

  always_comb begin
    unique case (max_payload_i)
      2'd0: room = 8'd32 - 8'(place_q[4:0]);
      2'd1: room = 8'd64 - 8'(place_q[5:0]);
      default: room = 8'd128 - 8'(place_q);
    endcase
  end
  assign is_final = left_q <= 11'(room);
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
      trim_q <= is_memory ? 10'(skipped) + 10'(cut) : '0;
      left_q <= descriptor.dwords;
      place_q <= descriptor.address[6:0];
    end else if (size) begin
      current_q.bytes <= current_q.bytes - 13'(trim_q);
      current_q.final_packet <= is_final || current_q.unsupported;
      current_q.dwords <= current_q.unsupported ? '0 : is_final ? left_q[7:0] : room;
    end else if (state_q == StPackets && packet_ready_i) begin
      left_q <= left_q - 11'(current_q.dwords);
      place_q <= '0;
      trim_q <= {current_q.dwords, 2'b00} - 10'(current_q.lower_address[1:0]);
      current_q.lower_address <= '0;
    end
  end

`ifdef FORMAL
  // For all requests and any timing, packets add up to their request, none crosses a boundary, and each request goes to
  // the core exactly once. The fields are those that the specification of completions derives from the request.
  logic past_reset_q = 1'b0;
  logic [11:0] issued_dwords_q, asked_dwords_q;
  nonposted_t asked_q;
  cq_descriptor_t asked;
  logic [9:0] place_before_q;  // bytes modulo 1024
  nonposted_t request_q;
  packet_t packet_q;
  logic waiting_q, waiting_read_q, packet_waiting_q;
  logic [1:0] payload_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    request_q <= nonposted_i;
    payload_q <= max_payload_i;
    waiting_q <= rst_ni && nonposted_valid_i && !nonposted_ready_o;
    waiting_read_q <= rst_ni && read_valid_o && !read_ready_i;
    packet_waiting_q <= rst_ni && packet_valid_o && !packet_ready_i;
    packet_q <= packet_o;
    assume (rst_ni == past_reset_q);
    if (past_reset_q) assume (payload_q == max_payload_i);
    assume (descriptor.dwords inside {[11'd1 : 11'd1024]});
    assume (descriptor.dwords == 11'd1 || (nonposted_i.first_enables != '0 && nonposted_i.last_enables != '0));
    // The environment: the rules of the queue before and the packer after.
    if (waiting_q) assume (nonposted_valid_i && nonposted_i == request_q);
    assume (!unsupported_sent_i || (state_q == StUnsupported && taken_q));
    if (state_q == StRequest) begin
      issued_dwords_q <= '0;
      asked_dwords_q <= 12'(descriptor.dwords);
      asked_q <= nonposted_i;
      place_before_q <= {descriptor.address[7:0], 2'b00};
    end else if (packet_valid_o && packet_ready_i && state_q == StPackets) begin
      issued_dwords_q <= issued_dwords_q + 12'(packet_o.dwords);
      place_before_q <= place_before_q + {packet_o.dwords, 2'b00};
    end
  end

  // The bytes requested lie from the first one that is enabled to the last one. A request of zero bytes counts as one.
  logic [3:0] first_enables, end_enables;
  logic [12:0] first_byte, end_byte;  // relative to the first dword; the end is behind the last byte

  assign asked = asked_q.descriptor;
  assign first_enables = asked_q.first_enables;
  assign end_enables = asked_dwords_q == 12'd1 ? asked_q.first_enables : asked_q.last_enables;
  always_comb begin
    first_byte = '0;
    end_byte = 13'd1;
    for (int unsigned k = 4; k > 0; k--) if (first_enables[k-1]) first_byte = 13'(k - 1);
    for (int unsigned k = 0; k < 4; k++)
    if (end_enables[k]) end_byte = {asked_dwords_q[10:0] - 11'd1, 2'b00} + 13'(k + 1);
  end

  logic [9:0] boundary_mask;
  assign boundary_mask = max_payload_i == 2'd0 ? 10'h07f : max_payload_i == 2'd1 ? 10'h0ff : 10'h1ff;

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (state_q inside {StRequest, StPackets, StUnsupported});
      if (waiting_read_q) assert (read_valid_o);
      if (state_q == StPackets) begin
        assert (issued_dwords_q <= asked_dwords_q && asked_dwords_q <= 12'd1024);
        assert (issued_dwords_q + 12'(left_q) == asked_dwords_q);
        assert (left_q != '0);
        assert ((({1'b0, place_q, 2'b00} ^ place_before_q) & boundary_mask) == '0);
        // From the packet's first byte: its address, and the number of bytes to the end of the request.
        if (issued_dwords_q == '0) begin
          assert (packet_o.lower_address == {place_before_q[6:2], first_byte[1:0]});
          assert (packet_o.bytes - (sized_q ? 13'd0 : 13'(trim_q)) == end_byte - first_byte);
        end else begin
          assert (packet_o.lower_address == place_before_q[6:0]);
          assert (packet_o.bytes - (sized_q ? 13'd0 : 13'(trim_q)) == end_byte - {issued_dwords_q[10:0], 2'b00});
        end
        if (packet_valid_o) begin
          // No boundary lies inside a packet, and every packet but the last ends on one.
          assert (packet_o.dwords != '0 && 12'(packet_o.dwords) + issued_dwords_q <= asked_dwords_q);
          assert (10'(place_before_q & boundary_mask) + {packet_o.dwords, 2'b00} <= 11'(boundary_mask) + 11'd1);
          if (!packet_o.final_packet) begin
            assert (((place_before_q + {packet_o.dwords, 2'b00}) & boundary_mask) == '0);
          end
          assert (packet_o.final_packet == (12'(packet_o.dwords) + issued_dwords_q == asked_dwords_q));
          assert (packet_o.bytes != '0);
        end
        assert (asked.kind == 4'd0 && asked.address_type == '0 && !packet_o.unsupported && !packet_o.locked);
        assert (end_byte > first_byte && 14'(end_byte) <= {asked_dwords_q, 2'b00});
      end
      if (state_q == StUnsupported) begin
        assert (asked.kind != 4'd0 || asked.address_type != '0);
        assert (nonposted_valid_i && nonposted_i == asked_q);  // the response repeats fields of it
        assert (packet_o.unsupported && packet_o.final_packet == sized_q && packet_o.dwords == '0);
        assert (packet_o.lower_address == '0 && packet_o.locked == (asked.kind == 4'd7));
        assert (packet_o.bytes - (sized_q ? 13'd0 : 13'(trim_q)) ==
                (asked.kind == 4'd0 || asked.kind == 4'd7 ? end_byte - first_byte : 13'd4));
      end
      if (packet_valid_o) begin
        assert (packet_o.tag == asked.tag && packet_o.requester == asked.requester);
        assert (packet_o.attributes == asked.attributes && packet_o.traffic_class == asked.traffic_class);
      end
      if (packet_waiting_q) assert (packet_valid_o && packet_o == packet_q);
      assert (!taken_q || sized_q);
      if (state_q == StPackets) assert (packet_valid_o || size);  // a packet is offered in every second cycle
      cover (state_q == StPackets && packet_valid_o && issued_dwords_q == 12'd1000 && packet_o.final_packet);
      cover (state_q == StUnsupported && unsupported_sent_i);
    end
  end
`endif

endmodule

`default_nettype wire
