// SPDX-License-Identifier: Apache-2.0
//
// What the induction of pcie_usp_split_ports.sv needs to know of spate_pcie_usp_split: how its registers follow from
// the reference.
module pcie_usp_split_inside
  import spate_pcie_usp_pkg::*;
(
    input logic           nonposted_valid_i,
    input packet_t        packet_o,
    input logic           is_request,
    input logic           is_packets,
    input logic           is_unsupported,
    input logic           shown_q,
    input logic           sized_q,
    input logic           size,
    input logic           taken_q,
    input logic    [ 9:0] trim_q,
    input logic    [10:0] left_q,
    input logic    [ 7:0] room_q
);

  logic [12:0] bytes;  // of the packet, once it is sized
  assign bytes = packet_o.bytes - (sized_q ? 13'd0 : 13'(trim_q));

  always_comb begin
    if (u_ports.checked) begin
      assert (is_request || is_packets || is_unsupported);
      assert (is_packets == u_ports.reading_q && shown_q == u_ports.waiting_read_q);
      if (shown_q) assert (is_request);
      assert (u_ports.refused_q == (is_unsupported && taken_q));
      assert (!taken_q || sized_q);
      if (is_packets) begin
        assert (u_ports.issued_dwords_q <= u_ports.asked_dwords && u_ports.asked_dwords <= 12'd1024);
        assert (u_ports.issued_dwords_q + 12'(left_q) == u_ports.asked_dwords && left_q != '0);
        if (!sized_q)
          assert ({room_q, 2'b00} == u_ports.boundary_mask + 10'd1 - (u_ports.place_before_q & u_ports.boundary_mask));
        assert (packet_o.lower_address == u_ports.packet_place && bytes == u_ports.bytes_left);
        assert (u_ports.is_read && !packet_o.unsupported && !packet_o.locked);
        assert (u_ports.end_byte > u_ports.first_byte && 14'(u_ports.end_byte) <= {u_ports.asked_dwords, 2'b00});
        assert (sized_q || size);
      end
      if (is_unsupported) begin
        assert (!u_ports.is_read && nonposted_valid_i);
        assert (packet_o.unsupported && packet_o.final_packet == sized_q && packet_o.dwords == '0);
        assert (packet_o.lower_address == '0 && packet_o.locked == (u_ports.asked.kind == 4'd7));
        assert (bytes == (u_ports.asked.kind == 4'd0 || u_ports.asked.kind == 4'd7 ?
                          u_ports.end_byte - u_ports.first_byte : 13'd4));
      end
      if (!is_request) begin
        assert (packet_o.tag == u_ports.asked.tag && packet_o.requester == u_ports.asked.requester);
        assert (packet_o.attributes == u_ports.asked.attributes);
        assert (packet_o.traffic_class == u_ports.asked.traffic_class);
      end
    end
  end

endmodule

bind spate_pcie_usp_split pcie_usp_split_inside u_inside (
    .*,
    .is_request(state_q == StRequest),
    .is_packets(state_q == StPackets),
    .is_unsupported(state_q == StUnsupported)
);
