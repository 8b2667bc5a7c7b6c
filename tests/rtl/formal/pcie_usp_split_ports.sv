// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_usp_split, watched at its ports. For all requests and any timing, packets add up to their request, none
// crosses a boundary, and each request goes to the core exactly once. The fields are those that the specification of
// completions derives from the request.
module pcie_usp_split_ports
  import spate_pkg::*;
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h0
) (
    input logic               clk_i,
    input logic               rst_ni,
    input logic               run_i,
    input logic         [1:0] max_payload_i,
    input logic               nonposted_valid_i,
    input logic               nonposted_ready_o,
    input nonposted_t         nonposted_i,
    input logic               read_valid_o,
    input logic               read_ready_i,
    input window_read_t       read_o,
    input logic               packet_valid_o,
    input logic               packet_ready_i,
    input packet_t            packet_o,
    input logic               unsupported_sent_i,
    input logic               idle_o
);

  // ---- what the ports tell: the request whose packets are due ----

  logic past_reset_q = 1'b0;
  logic checked, reads, takes, is_read;
  logic reading_q;  // a read was taken by the core, and its last packet was not
  logic refused_q;  // the packet of an unsupported request was taken; the request waits until it is composed
  logic [11:0] issued_dwords_q, asked_dwords;
  nonposted_t asked_q, asked_request;
  cq_descriptor_t asked;
  logic [9:0] place_before_q;  // bytes modulo 1024

  assign checked = past_reset_q && rst_ni;
  assign reads = read_valid_o && read_ready_i;
  assign takes = packet_valid_o && packet_ready_i;
  assign asked_request = reading_q ? asked_q : nonposted_i;
  assign asked = asked_request.descriptor;
  assign asked_dwords = 12'(asked.dwords);
  assign is_read = asked.kind == 4'd0 && asked.address_type == '0;  // not an address translation request

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    if (!rst_ni) begin
      {reading_q, refused_q} <= 2'b00;
    end else begin
      if (reads) reading_q <= 1'b1;
      else if (takes && packet_o.final_packet) reading_q <= 1'b0;
      if (nonposted_ready_o) refused_q <= 1'b0;
      else if (takes && !reading_q) refused_q <= 1'b1;
    end
    if (reads) begin
      issued_dwords_q <= '0;
      asked_q <= nonposted_i;
      place_before_q <= {asked.address[7:0], 2'b00};
    end else if (takes && reading_q) begin
      issued_dwords_q <= issued_dwords_q + 12'(packet_o.dwords);
      place_before_q <= place_before_q + {packet_o.dwords, 2'b00};
    end
  end

  // ---- the environment: the rules of the queue before and the packer after ----

  nonposted_t request_q;
  packet_t packet_q;
  logic waiting_q, waiting_read_q, packet_waiting_q, packet_due_q;
  logic [1:0] payload_q;

  always_ff @(posedge clk_i) begin
    request_q <= nonposted_i;
    payload_q <= max_payload_i;
    waiting_q <= rst_ni && nonposted_valid_i && !nonposted_ready_o;
    waiting_read_q <= rst_ni && read_valid_o && !read_ready_i;
    packet_waiting_q <= rst_ni && packet_valid_o && !packet_ready_i;
    packet_due_q <= rst_ni && reading_q && !packet_valid_o;
    packet_q <= packet_o;
    assume (rst_ni == past_reset_q);
    if (past_reset_q) assume (payload_q == max_payload_i);
    assume (nonposted_i.descriptor.dwords inside {[11'd1 : 11'd1024]});
    assume (nonposted_i.descriptor.dwords == 11'd1 ||
            (nonposted_i.first_enables != '0 && nonposted_i.last_enables != '0));
    if (waiting_q) assume (nonposted_valid_i && nonposted_i == request_q);
    assume (!unsupported_sent_i || refused_q);
  end

  // ---- the bytes requested lie from the first one that is enabled to the last one; zero bytes count as one ----

  logic [3:0] first_enables, end_enables;
  logic [12:0] first_byte, end_byte;  // relative to the first dword; the end is past the last byte

  assign first_enables = asked_request.first_enables;
  assign end_enables = asked_dwords == 12'd1 ? asked_request.first_enables : asked_request.last_enables;
  always_comb begin
    first_byte = '0;
    end_byte = 13'd1;
    for (int unsigned k = 4; k > 0; k--) if (first_enables[k-1]) first_byte = 13'(k - 1);
    for (int unsigned k = 0; k < 4; k++)
    if (end_enables[k]) end_byte = {asked_dwords[10:0] - 11'd1, 2'b00} + 13'(k + 1);
  end

  logic [9:0] boundary_mask;
  logic [12:0] bytes_left;  // from the packet's first byte to the end of the request
  logic [6:0] packet_place;
  assign boundary_mask = max_payload_i == 2'd0 ? 10'h07f : max_payload_i == 2'd1 ? 10'h0ff : 10'h1ff;
  assign bytes_left = end_byte - (issued_dwords_q == '0 ? first_byte : {issued_dwords_q[10:0], 2'b00});
  assign packet_place = issued_dwords_q == '0 ? {place_before_q[6:2], first_byte[1:0]} : place_before_q[6:0];

  always_comb begin
    if (checked) begin
      // A read goes to the core once, before its packets, and stays until it is taken. Every other request is refused.
      if (read_valid_o) assert (nonposted_valid_i && !reading_q && !refused_q && is_read);
      if (waiting_read_q) assert (read_valid_o);
      if (run_i && nonposted_valid_i && !reading_q && is_read) assert (read_valid_o);
      assert (nonposted_ready_o == (reads || unsupported_sent_i));
      if (read_valid_o) begin
        assert (read_o.stray == (asked.address[61:WindowBits-2] != WindowBase[63:WindowBits]));
        assert (read_o.address == 32'({asked.address[WindowBits-3:0], first_byte[1:0]}));
      end
      if (packet_valid_o) assert (reading_q || (nonposted_valid_i && !is_read && !refused_q && !read_valid_o));
      if (reading_q && packet_valid_o) begin
        assert (packet_o.lower_address == packet_place && packet_o.bytes == bytes_left && packet_o.bytes != '0);
        // No boundary lies inside a packet, and every packet but the last ends on one.
        assert (packet_o.dwords != '0 && 12'(packet_o.dwords) + issued_dwords_q <= asked_dwords);
        assert (10'(place_before_q & boundary_mask) + {packet_o.dwords, 2'b00} <= 11'(boundary_mask) + 11'd1);
        if (!packet_o.final_packet) begin
          assert (((place_before_q + {packet_o.dwords, 2'b00}) & boundary_mask) == '0);
        end
        assert (packet_o.final_packet == (12'(packet_o.dwords) + issued_dwords_q == asked_dwords));
        assert (!packet_o.unsupported && !packet_o.locked);
      end
      if (packet_valid_o && !reading_q) begin
        assert (packet_o.unsupported && packet_o.final_packet && packet_o.dwords == '0);
        assert (packet_o.lower_address == '0 && packet_o.locked == (asked.kind == 4'd7));
        assert (packet_o.bytes == (asked.kind == 4'd0 || asked.kind == 4'd7 ? end_byte - first_byte : 13'd4));
      end
      if (packet_valid_o) begin
        assert (packet_o.tag == asked.tag && packet_o.requester == asked.requester);
        assert (packet_o.attributes == asked.attributes && packet_o.traffic_class == asked.traffic_class);
      end
      if (packet_waiting_q) assert (packet_valid_o && packet_o == packet_q);
      if (packet_due_q) assert (packet_valid_o);  // a packet is offered in every second cycle
      if (idle_o) assert (!reading_q && !refused_q && !packet_valid_o);
      cover (reading_q && packet_valid_o && issued_dwords_q == 12'd1000 && packet_o.final_packet);
      cover (refused_q && unsupported_sent_i);
    end
  end

endmodule

bind spate_pcie_usp_split pcie_usp_split_ports #(
    .DataWidth(DataWidth),
    .WindowBits(WindowBits),
    .WindowBase(WindowBase)
) u_ports (.*);
