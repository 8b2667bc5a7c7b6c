// SPDX-License-Identifier: Apache-2.0
//
// Takes requests from the block's completer request stream. Memory writes become beats; requests that want a completion
// are passed on whole. In the block's clock.
//
// The stream is aligned to addresses (PG213, "Data Alignment Options"): a packet's first word has the descriptor alone,
// and each later word is a beat of the core, with every byte in the lane of its address.
//
// Guarantee: a write's beats leave in order, with the drive's strobes. A write that the block marks as broken, or that
// has no data, ends with a beat that is marked as broken. Any other posted request becomes one stray beat
// without strobes, so that it is counted. Requests that want a completion are admitted only while fewer than
// NonpostedMax are inside, so they never block a write. During reset, and in the rest of a packet that began before its
// end, words are taken and dropped. Full rate: a word per cycle.
`default_nettype none

module spate_pcie_usp_cq
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128 or 256
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h0,
    parameter int unsigned NonpostedMax = 32,  // at most 32, because the block counts no more
    // Derived: no instance sets these.
    parameter int unsigned LaneBits = $clog2(DataWidth / 32),
    parameter int unsigned BeatBits = WindowBits - LaneBits - 2
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic link_rst_ni, // the block's own reset: its count of credits restarts

    input  wire logic [DataWidth-1:0] cq_tdata_i,
    input  wire logic [         87:0] cq_tuser_i,
    input  wire logic                 cq_tlast_i,
    input  wire logic                 cq_tvalid_i,
    output logic                      cq_tready_o,
    output logic      [          1:0] np_req_o,

    output logic       nonposted_valid_o,
    input  wire logic  nonposted_ready_i,
    output nonposted_t nonposted_o,
    input  wire logic  nonposted_done_i,   // a pulse: the last completion of a request was sent

    output logic                        write_valid_o,
    input  wire logic                   write_ready_i,
    output logic                        write_broken_o,
    output logic                        write_stray_o,
    output logic      [   BeatBits-1:0] write_beat_o,
    output logic      [  DataWidth-1:0] write_data_o,
    output logic      [DataWidth/8-1:0] write_strobe_o,

    output logic idle_o
);

  typedef enum logic [1:0] {
    StHeader,
    StWrite,  // in a memory write
    StDrop  // the rest of a packet that is dropped
  } state_e;

  state_e state_q, state_d;
  cq_descriptor_t descriptor;
  logic first, take, emit, room, is_write, is_posted, broken, stray;
  logic beginning;  // the current word, if there is one, is a packet's first

  assign descriptor = cq_tdata_i[127:0];
  assign first = cq_tuser_i[40];
  assign is_write = descriptor.kind == KindMemoryWrite;
  assign is_posted = is_write || descriptor.kind >= KindMessage;
  assign beginning = state_q == StHeader;
  assign broken = cq_tlast_i && (beginning ? is_write : cq_tuser_i[41]);
  assign stray = descriptor.address[61:WindowBits-2] != WindowBase[63:WindowBits];

  assign cq_tready_o = !rst_ni || (room && nonposted_ready_i);
  assign take = cq_tvalid_i && cq_tready_o;
  assign nonposted_valid_o = rst_ni && beginning && cq_tvalid_i && first && room && !is_posted;
  assign nonposted_o = '{last_enables: cq_tuser_i[7:4], first_enables: cq_tuser_i[3:0], descriptor: descriptor};

  always_comb begin
    state_d = state_q;
    emit = 1'b0;
    unique case (state_q)
      StHeader: begin
        if (take && first) begin
          emit = is_write ? broken : is_posted;
          if (!cq_tlast_i) state_d = is_write ? StWrite : StDrop;
        end
      end
      StWrite: begin
        emit = take;
        if (take && cq_tlast_i) state_d = StHeader;
      end
      StDrop: if (take && cq_tlast_i) state_d = StHeader;
      default: state_d = StHeader;
    endcase
  end

  // ---- beats ----

  logic valid_q, broken_q, stray_q, out_stray_q;
  logic [BeatBits-1:0] beat_q, out_beat_q;  // beat_q: of the next word with data
  logic [DataWidth-1:0] data_q;
  logic [DataWidth/8-1:0] strobe_q;

  assign room = !valid_q || write_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StHeader;
      valid_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (room) valid_q <= emit;
    end
  end

  always_ff @(posedge clk_i) begin
    if (beginning) begin
      beat_q <= descriptor.address[WindowBits-3:LaneBits];
      stray_q <= stray;
    end else if (take) begin
      beat_q <= beat_q + 1'b1;
    end
    if (room) begin
      broken_q <= broken;
      out_stray_q <= beginning ? stray || !is_write : stray_q;
      out_beat_q <= beat_q;
      data_q <= cq_tdata_i;
      strobe_q <= beginning || broken ? '0 : cq_tuser_i[8+:DataWidth/8];
    end
  end

  assign write_valid_o = valid_q;
  assign write_broken_o = broken_q;
  assign write_stray_o = out_stray_q;
  assign write_beat_o = out_beat_q;
  assign write_data_o = data_q;
  assign write_strobe_o = strobe_q;
  assign idle_o = beginning && !cq_tvalid_i && !valid_q;

  // ---- credits for requests that want a completion ----

  localparam int unsigned CreditWidth = $clog2(NonpostedMax + 1);
  logic [CreditWidth-1:0] given_q;  // credits that the block has and has not used
  logic [CreditWidth-1:0] inside_q;  // requests taken and not completed
  logic delivered, taken, give;

  assign delivered = cq_tvalid_i && cq_tready_o && first && !is_posted && given_q != '0;
  assign taken = nonposted_valid_o && nonposted_ready_i;
  assign give = rst_ni && (CreditWidth + 1)'(given_q) + (CreditWidth + 1)'(inside_q) < (CreditWidth + 1)'(NonpostedMax);
  assign np_req_o = {1'b0, give};

  always_ff @(posedge clk_i) begin
    if (!link_rst_ni) given_q <= '0;
    else given_q <= given_q + CreditWidth'(give) - CreditWidth'(delivered);
    if (!rst_ni) inside_q <= '0;
    else inside_q <= inside_q + CreditWidth'(taken) - CreditWidth'(nonposted_done_i);
  end

`ifdef FORMAL
  // For all packets, all resets and any timing. The core's reset may come alone and in the middle of a packet, which
  // the block then continues. The block's reset is followed by the core's in the next cycle at the latest, and the
  // block's first word after it begins a packet. For one arbitrary packet of the first after a reset, the expected place
  // of each of its dwords is known.
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

  assign accept = take && rst_ni;
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
        if (word_q != '0)
          assume (cq_tuser_i[8+4*k+:4] == enables(
              (12'(word_q) - 12'd1) * 12'(Lanes) + 12'(k) - 12'(lane), dwords, first_be, last_be
          ));
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
  logic [BeatBits-1:0] base_beat_q, beat_offset, last_offset_q, next_offset;
  logic [LaneBits-1:0] base_lane_q;
  logic [10:0] own_dwords_q;
  logic [3:0] own_first_q, own_last_q, lane_strobe;
  logic own_stray_q, own_present, comes;
  logic [31:0] data_come_q;
  logic [11:0] place, index;
  logic [$bits(write_beat_o)+DataWidth+DataWidth/8+1:0] out_q, out;

  assign starts = accept && first && is_write && number_q == 2'(watched_packet);
  assign ends = (starts || mine_q) && state_d == StHeader && accept;
  assign place = 12'(base_lane_q) + 12'(watched_dword);
  assign comes = accept && mine_q && 12'(word_q) == 12'd1 + (place >> LaneBits);
  assign beat_offset = write_beat_o - base_beat_q;
  assign next_offset = beat_q - base_beat_q;
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
      shown_q <= (starts || mine_q) && emit && room;
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
      own_stray_q <= stray;
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
    if (past_reset_q && !link_past_q) assert (credits_q == '0 && given_q == '0);
    if (link_past_q) assert (credits_q == 8'(given_q) && 8'(given_q) + 8'(inside_q) <= 8'(NonpostedMax));
    if (past_reset_q && rst_ni) begin
      assert (8'(inside_q) == owed_q);
      // A word waits only for the word before it to leave, and for room for a request.
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
      // Invariants for the induction.
      assert (state_q inside {StHeader, StWrite, StDrop} && (state_q == StHeader || number_q != '0));
      assert ((state_q == StWrite) == in_write_q && (state_q == StDrop) == (in_packet_q && !in_write_q));
      assert (in_packet_q || !in_write_q);
      assert (in_write_q == (word_q != '0));
      if (remains_q) assert (state_q == StHeader && !in_packet_q && number_q == '0);
      if (in_write_q) begin
        assert (dwords_q inside {[11'd1 : 11'd256]} && (dwords_q != 11'd1 || last_q == '0));
        assert (12'(word_q) <= beats(lane_q, dwords_q));
      end
      if (number_q <= 2'(watched_packet)) assert ({mine_q, ended_q, broke_q, shown_q, before_q, seen_q, come_q} == '0);
      if (before_q || shown_q) assert (number_q > 2'(watched_packet));
      if (mine_q) begin
        assert (state_q == StWrite && !broke_q && number_q > 2'(watched_packet));
        assert (own_dwords_q == dwords_q && own_first_q == first_q && own_last_q == last_q && own_stray_q == stray_q);
        assert (base_lane_q == lane_q && 12'(next_offset) == 12'(word_q) - 12'd1);
        assert ((before_q || shown_q) == (word_q > 7'd1));
        if (shown_q) assert (beat_offset == next_offset - 1'b1);
        if (before_q) assert (last_offset_q == next_offset - BeatBits'(shown_q ? 2 : 1));
        if (seen_q) assert (before_q && place >> LaneBits <= 12'(last_offset_q));
        assert (come_q == (12'(word_q) > 12'd1 + (place >> LaneBits)) && come_q == (seen_q || sees));
      end
      cover (ended_q && own_dwords_q == 11'd7 && base_lane_q == '1 && !remains_q && watched_packet);
      cover (ended_q && broke_q && before_q);
      cover (inside_q == CreditWidth'(2) && nonposted_done_i);
      cover (ended_q && before_q && dropped_q && cut_q);
      cover (!link_rst_ni && given_q != '0 && write_valid_o);
    end
  end
`endif

endmodule

`default_nettype wire
