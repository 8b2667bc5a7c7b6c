// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_usp_cq, watched at its ports, for all packets, all resets and any timing. The core's reset may come alone
// and in the middle of a packet, which the block then continues. The block's reset is followed by the core's in the
// next cycle at the latest, and the block's first word after it begins a packet. For one arbitrary packet of the first
// after a reset, the expected place of each of its dwords is known.
module pcie_usp_cq_ports
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h0,
    parameter int unsigned NonpostedMax = 32,
    localparam int unsigned LaneBits = $clog2(DataWidth / 32),
    localparam int unsigned BeatBits = WindowBits - LaneBits - 2
) (
    input logic                         clk_i,
    input logic                         rst_ni,
    input logic                         link_rst_ni,
    input logic       [  DataWidth-1:0] cq_tdata_i,
    input logic       [           87:0] cq_tuser_i,
    input logic                         cq_tlast_i,
    input logic                         cq_tvalid_i,
    input logic                         cq_tready_o,
    input logic       [            1:0] np_req_o,
    input logic                         nonposted_valid_o,
    input logic                         nonposted_ready_i,
    input nonposted_t                   nonposted_o,
    input logic                         nonposted_done_i,
    input logic                         write_valid_o,
    input logic                         write_ready_i,
    input logic                         write_broken_o,
    input logic                         write_stray_o,
    input logic       [   BeatBits-1:0] write_beat_o,
    input logic       [  DataWidth-1:0] write_data_o,
    input logic       [DataWidth/8-1:0] write_strobe_o,
    input logic                         idle_o
);

  cq_descriptor_t descriptor;
  logic first, is_write, is_posted;
  assign descriptor = cq_tdata_i[127:0];
  assign first = cq_tuser_i[40];
  assign is_write = descriptor.kind == 4'd1;
  assign is_posted = is_write || descriptor.kind >= 4'd12;  // messages

  localparam int unsigned Lanes = DataWidth / 32;
  logic past_reset_q = 1'b0;
  (* anyconst *) logic watched_packet;  // the first or the second
  (* anyconst *) logic [7:0] watched_dword;
  (* anyconst *) logic [LaneBits-1:0] watched_lane;

  // ---- the block: holds words, sends a write's words, uses credits for requests that want a completion ----

  logic stuck_q, link_past_q, in_packet_q, in_write_q;
  logic remains_q;  // the block is in a packet that began before the end of the reset
  logic [DataWidth-1:0] tdata_q;
  logic [87:0] tuser_q;
  logic tlast_q;
  logic [6:0] word_q;  // index of the word in its packet
  logic [10:0] dwords_q, dwords;
  logic [LaneBits-1:0] lane_q, lane;
  logic [3:0] first_q, last_q, first_be, last_be;
  logic [7:0] credits_q, owed_q;  // owed: requests passed on since the reset and not completed
  logic accept;  // and not drop it

  assign accept = cq_tvalid_i && cq_tready_o && rst_ni;
  assign dwords = in_packet_q ? dwords_q : descriptor.dwords;
  assign lane = in_packet_q ? lane_q : descriptor.address[LaneBits-1:0];
  assign first_be = in_packet_q ? first_q : cq_tuser_i[3:0];
  assign last_be = in_packet_q ? last_q : cq_tuser_i[7:4];

  function automatic logic [3:0] enables(logic [11:0] dword, logic [10:0] count, logic [3:0] at_first,
                                         logic [3:0] at_last);
    if (dword >= 12'(count)) return 4'h0;
    if (dword == '0) return at_first;
    return dword == 12'(count) - 12'd1 ? at_last : 4'hf;
  endfunction

  // Words with data: a packet has one more.
  function automatic logic [11:0] beats(logic [LaneBits-1:0] at, logic [10:0] count);
    return (12'(at) + 12'(count) + 12'(Lanes - 1)) / 12'(Lanes);
  endfunction

  always_comb begin
    if (!past_reset_q) assume (!rst_ni && !link_rst_ni && !link_past_q);
    if (!link_past_q) assume (!rst_ni);
    if (stuck_q) assume (cq_tvalid_i && cq_tdata_i == tdata_q && cq_tuser_i == tuser_q && cq_tlast_i == tlast_q);
    // In its reset the block may output anything.
    if (link_rst_ni) assume (first == !(in_packet_q || remains_q));
    if (link_rst_ni && cq_tvalid_i && first) begin
      if (is_write) assume (dwords inside {[11'd1 : 11'd256]} && (dwords != 11'd1 || last_be == '0));
      if (!is_posted) assume (credits_q != '0);
    end
    if (link_rst_ni && cq_tvalid_i && (in_write_q || (first && is_write))) begin
      // A broken one may end early.
      assume (12'(word_q) == beats(lane, dwords) ? cq_tlast_i : !cq_tlast_i || cq_tuser_i[41]);
      for (int unsigned k = 0; k < Lanes; k++) begin
        automatic logic [11:0] nth_dword;  // of the packet, in this lane
        nth_dword = (12'(word_q) - 12'd1) * 12'(Lanes) + 12'(k) - 12'(lane);
        if (word_q != '0) assume (cq_tuser_i[8+4*k+:4] == enables(nth_dword, dwords, first_be, last_be));
      end
    end
    assume (!nonposted_done_i || owed_q != '0);
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    link_past_q <= link_rst_ni;
    stuck_q <= link_rst_ni && cq_tvalid_i && !cq_tready_o;
    tdata_q <= cq_tdata_i;
    tuser_q <= cq_tuser_i;
    tlast_q <= cq_tlast_i;
    if (!link_rst_ni || !rst_ni) begin
      {in_packet_q, in_write_q, word_q} <= '0;
      remains_q <= link_rst_ni && (cq_tvalid_i && cq_tready_o ? !cq_tlast_i : in_packet_q || remains_q);
    end else begin
      if (accept) begin
        in_packet_q <= (first || in_packet_q) && !cq_tlast_i;
        in_write_q <= (first ? is_write : in_write_q) && !cq_tlast_i;
        if (cq_tlast_i) remains_q <= 1'b0;
        word_q <= cq_tlast_i || !(in_write_q || (first && is_write)) ? '0 : word_q + 7'd1;
        if (first) begin
          dwords_q <= dwords;
          lane_q <= lane;
          first_q <= first_be;
          last_q <= last_be;
        end
      end
    end
    if (!rst_ni) owed_q <= '0;
    else owed_q <= owed_q + 8'(nonposted_valid_o && nonposted_ready_i) - 8'(nonposted_done_i);
    if (!link_rst_ni) credits_q <= '0;
    else credits_q <= credits_q + 8'(np_req_o) - 8'(cq_tvalid_i && cq_tready_o && first && !is_posted);
  end

  // ---- the watched packet ----

  logic [1:0] number_q;  // packets so far
  logic starts, mine_q, ends, ended_q, broke_q, shown_q, before_q, seen_q, sees, come_q, posted_q, held_q;
  logic [BeatBits-1:0] base_beat_q, beat_offset, last_offset_q;
  logic [LaneBits-1:0] base_lane_q;
  logic [10:0] own_dwords_q;
  logic [3:0] own_first_q, own_last_q, lane_strobe;
  logic own_stray_q, own_present, comes;
  logic [31:0] data_come_q;
  logic [11:0] place, index;
  logic [$bits(write_beat_o)+DataWidth+DataWidth/8+1:0] out_q, out;

  assign starts = accept && first && is_write && number_q == 2'(watched_packet);
  assign ends = (starts || mine_q) && accept && cq_tlast_i;
  assign place = 12'(base_lane_q) + 12'(watched_dword);
  assign comes = accept && mine_q && 12'(word_q) == 12'd1 + (place >> LaneBits);
  assign beat_offset = write_beat_o - base_beat_q;
  assign index = 12'({beat_offset, watched_lane}) - 12'(base_lane_q);
  assign lane_strobe = write_strobe_o[4*watched_lane+:4];
  assign sees = shown_q && !write_broken_o && 12'(beat_offset) == place >> LaneBits && beat_offset >> 8 == '0;
  assign own_present = 12'(watched_dword) < 12'(own_dwords_q);
  assign out = {write_beat_o, write_data_o, write_strobe_o, write_stray_o, write_broken_o};

  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && write_valid_o && !write_ready_i;
    out_q <= out;
    if (!rst_ni) begin
      {number_q, mine_q, ended_q, broke_q, shown_q, before_q, seen_q, come_q, posted_q} <= '0;
    end else begin
      if (accept && first && number_q != '1) number_q <= number_q + 2'd1;
      mine_q <= (starts || mine_q) && !ends;
      ended_q <= ends;
      shown_q <= accept && (mine_q || (starts && cq_tlast_i));
      before_q <= before_q || shown_q;
      seen_q <= seen_q || sees;
      broke_q <= broke_q || ((starts || mine_q) && accept && cq_tlast_i && cq_tuser_i[41]);
      posted_q <= accept && first && is_posted && !is_write;
      if (comes) come_q <= 1'b1;
    end
    if (comes) data_come_q <= cq_tdata_i[32*place[LaneBits-1:0]+:32];
    if (starts) begin
      base_beat_q <= descriptor.address[WindowBits-3:LaneBits];
      base_lane_q <= lane;
      own_stray_q <= descriptor.address[61:WindowBits-2] != WindowBase[63:WindowBits];
      own_dwords_q <= dwords;
      own_first_q <= first_be;
      own_last_q <= last_be;
    end
    if (shown_q) last_offset_q <= beat_offset;
  end

  logic dropped_q, cut_q;  // since the reset: words of an old packet were dropped; the reset came in the middle of one

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dropped_q <= 1'b0;
      cut_q <= past_reset_q && (cut_q || in_packet_q);
    end else if (remains_q && accept) dropped_q <= 1'b1;
  end

  always_comb begin
    // Words do not wait for the end of a reset, and do not use credits. The block has as many credits as the module
    // counts, and never so many that requests overflow.
    if (!rst_ni) assert (cq_tready_o && np_req_o == '0 && !nonposted_valid_o);
    if (past_reset_q && !link_past_q) assert (credits_q == '0);
    if (link_past_q) assert (9'(credits_q) + 9'(owed_q) <= 9'(NonpostedMax));
    // It gives what it may: a credit for each place that is free.
    if (past_reset_q && rst_ni) assert (np_req_o == 2'(9'(credits_q) + 9'(owed_q) < 9'(NonpostedMax)));
    if (past_reset_q && rst_ni) begin
      // A word waits only for the word before it to leave, and for a place for a request.
      if ((!write_valid_o || write_ready_i) && nonposted_ready_i) assert (cq_tready_o);
      // Only packets whose first word came after the reset produce output.
      if (number_q == '0) assert (!write_valid_o);
      if (link_rst_ni && remains_q) assert (!write_valid_o && !nonposted_valid_o);
      // Any lane of a beat has the dword of the packet that belongs there, with its byte enables.
      if (shown_q) begin
        assert (write_valid_o && write_stray_o == own_stray_q);
        if (write_broken_o)
          assert (write_strobe_o == '0);
          else assert (lane_strobe == enables(index, own_dwords_q, own_first_q, own_last_q));
        if (before_q) assert (beat_offset > last_offset_q || write_broken_o);
      end
      // Each dword is in a beat once (beats ascend), and is unchanged.
      if (sees && own_present) assert (come_q && write_data_o[32*place[LaneBits-1:0]+:32] == data_come_q);
      assert (!(sees && seen_q));
      if (ended_q && !broke_q && own_present) assert (seen_q || sees);
      if (ended_q && broke_q) assert (shown_q && write_broken_o);
      if (shown_q && !broke_q) assert (!write_broken_o);
      // A posted request that writes nothing is counted.
      if (posted_q) assert (write_valid_o && write_stray_o && !write_broken_o && write_strobe_o == '0);
      // A request that wants a completion is passed on whole, exactly once.
      if (link_rst_ni) assert ((nonposted_valid_o && nonposted_ready_i) == (accept && first && !is_posted));
      assert (nonposted_o.descriptor == descriptor || !nonposted_valid_o);
      if (held_q) assert (write_valid_o && out == out_q);
      if (idle_o) assert (!in_packet_q && !write_valid_o && !cq_tvalid_i);
      cover (ended_q && own_dwords_q == 11'd7 && base_lane_q == '1 && !remains_q && watched_packet);
      cover (ended_q && broke_q && before_q);
      cover (owed_q == 8'd2 && nonposted_done_i);
      cover (ended_q && before_q && dropped_q && cut_q);
      cover (!link_rst_ni && credits_q != '0 && write_valid_o);
    end
  end

endmodule

bind spate_pcie_usp_cq pcie_usp_cq_ports #(
    .DataWidth(DataWidth),
    .WindowBits(WindowBits),
    .WindowBase(WindowBase),
    .NonpostedMax(NonpostedMax)
) u_ports (.*);
