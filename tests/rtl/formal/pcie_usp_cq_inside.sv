// SPDX-License-Identifier: Apache-2.0
//
// What the induction of pcie_usp_cq_ports.sv needs to know of spate_pcie_usp_cq: how its registers follow from the
// reference.
module pcie_usp_cq_inside #(
    parameter int unsigned BeatBits = 17,
    parameter int unsigned LaneBits = 2,
    parameter int unsigned NonpostedMax = 32,
    localparam int unsigned CreditWidth = $clog2(NonpostedMax + 1)
) (
    input logic                   rst_ni,
    input logic                   link_rst_ni,
    input logic                   at_header,
    input logic                   in_write,
    input logic                   in_drop,
    input logic                   stray_q,
    input logic [   BeatBits-1:0] beat_q,
    input logic [CreditWidth-1:0] given_q,
    input logic [CreditWidth-1:0] inside_q
);

  logic [BeatBits-1:0] next_offset;
  assign next_offset = beat_q - u_ports.base_beat_q;

  always_comb begin
    if (u_ports.past_reset_q && !u_ports.link_past_q) assert (given_q == '0);
    if (u_ports.link_past_q) assert (u_ports.credits_q == 8'(given_q));
    if (u_ports.link_past_q) assert (9'(given_q) + 9'(inside_q) <= 9'(NonpostedMax));
    if (u_ports.past_reset_q && rst_ni) begin
      assert (8'(inside_q) == u_ports.owed_q);
      assert ((at_header || in_write || in_drop) && (at_header || u_ports.number_q != '0));
      assert (in_write == u_ports.in_write_q && in_drop == (u_ports.in_packet_q && !u_ports.in_write_q));
      assert (u_ports.in_packet_q || !u_ports.in_write_q);
      assert (u_ports.in_write_q == (u_ports.word_q != '0));
      if (u_ports.remains_q) assert (at_header && !u_ports.in_packet_q && u_ports.number_q == '0);
      if (u_ports.in_write_q) begin
        assert (u_ports.dwords_q inside {[11'd1 : 11'd256]} && (u_ports.dwords_q != 11'd1 || u_ports.last_q == '0));
        assert (12'(u_ports.word_q) <= u_ports.beats(u_ports.lane_q, u_ports.dwords_q));
      end
      if (u_ports.number_q <= 2'(u_ports.watched_packet))
        assert ({u_ports.mine_q, u_ports.ended_q, u_ports.broke_q, u_ports.shown_q, u_ports.before_q, u_ports.seen_q,
                 u_ports.come_q} == '0);
      if (u_ports.before_q || u_ports.shown_q) assert (u_ports.number_q > 2'(u_ports.watched_packet));
      if (u_ports.mine_q) begin
        assert (in_write && !u_ports.broke_q && u_ports.number_q > 2'(u_ports.watched_packet));
        assert (u_ports.own_dwords_q == u_ports.dwords_q);
        assert (u_ports.own_first_q == u_ports.first_q);
        assert (u_ports.own_last_q == u_ports.last_q);
        assert (u_ports.own_stray_q == stray_q);
        assert (u_ports.base_lane_q == u_ports.lane_q && 12'(next_offset) == 12'(u_ports.word_q) - 12'd1);
        assert ((u_ports.before_q || u_ports.shown_q) == (u_ports.word_q > 7'd1));
        if (u_ports.shown_q) assert (u_ports.beat_offset == next_offset - 1'b1);
        if (u_ports.before_q) assert (u_ports.last_offset_q == next_offset - BeatBits'(u_ports.shown_q ? 2 : 1));
        if (u_ports.seen_q) assert (u_ports.before_q && u_ports.place >> LaneBits <= 12'(u_ports.last_offset_q));
        assert (u_ports.come_q == (12'(u_ports.word_q) > 12'd1 + (u_ports.place >> LaneBits)));
        assert (u_ports.come_q == (u_ports.seen_q || u_ports.sees));
      end
    end
  end

endmodule

bind spate_pcie_usp_cq pcie_usp_cq_inside #(
    .BeatBits(BeatBits),
    .LaneBits(LaneBits),
    .NonpostedMax(NonpostedMax)
) u_inside (
    .*,
    .at_header(state_q == StHeader),
    .in_write(state_q == StWrite),
    .in_drop(state_q == StDrop)
);
