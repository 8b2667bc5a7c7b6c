// SPDX-License-Identifier: Apache-2.0
//
// Takes requests off the block's completer request stream: memory writes become beats in lanes by address, requests that
// want a completion are handed on whole. In the block's clock.
//
// Guarantee: a write's beats leave in order, each aligned and with the strobes that the drive gave; one that the block
// marks as broken ends with a beat that says so, in its place. A posted request that is no memory write becomes one stray
// beat without strobes, so that it is counted. Requests that want a completion are asked for only while fewer than
// NonpostedMax are inside, so they never keep a write waiting. During reset, and in the middle of a packet that began
// before it ended, words are taken and dropped. Full rate: a word a cycle, but for one cycle after a write whose last
// word does not end with its last beat.
module spate_pcie_usp_cq
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128 or 256
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h0,
    parameter int unsigned NonpostedMax = 32,  // at most 32: the block counts no more
    localparam int unsigned Lanes = DataWidth / 32,
    localparam int unsigned LaneBits = $clog2(Lanes),
    localparam int unsigned BeatBits = WindowBits - LaneBits - 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic link_rst_ni, // the block's own reset: its count of credits begins again

    input  logic [DataWidth-1:0] cq_tdata_i,
    input  logic [         87:0] cq_tuser_i,
    input  logic                 cq_tlast_i,
    input  logic                 cq_tvalid_i,
    output logic                 cq_tready_o,
    output logic [          1:0] np_req_o,

    output logic       nonposted_valid_o,
    input  logic       nonposted_ready_i,
    output nonposted_t nonposted_o,
    input  logic       nonposted_done_i,   // a pulse: the last completion of a request has left

    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output logic                   write_broken_o,
    output logic                   write_stray_o,
    output logic [   BeatBits-1:0] write_beat_o,
    output logic [  DataWidth-1:0] write_data_o,
    output logic [DataWidth/8-1:0] write_strobe_o,

    output logic idle_o
);

  typedef enum logic [1:0] {
    StHeader,
    StWrite,  // in a memory write
    StTail,  // its last lanes, which the last word left over
    StDrop  // the rest of a packet that nobody wants
  } state_e;

  state_e state_q, state_d;
  cq_descriptor_t descriptor;
  logic first, step, is_write, is_posted, broken;
  logic beginning;  // a packet's first word, if there is one

  assign descriptor = cq_tdata_i[127:0];
  assign first = cq_tuser_i[40];
  assign broken = cq_tlast_i && cq_tuser_i[41] && state_q != StTail;
  assign is_write = descriptor.kind == KindMemoryWrite;
  assign beginning = state_q == StHeader;
  assign is_posted = is_write || descriptor.kind >= KindMessage;

  // ---- the place of the data ----
  //
  // Data begin in lane 4 of the packet, and belong into the address's lane. With four lanes the first word has none.
  logic [LaneBits-1:0] lane, amount_q, amount;
  logic early;  // the first word of this write already makes a beat
  logic [BeatBits-1:0] beat_q, beat_d;
  logic stray, stray_q;

  assign lane = descriptor.address[LaneBits-1:0];
  assign early = Lanes > 4 && lane >= LaneBits'(Lanes / 2);
  assign amount = beginning ? lane - LaneBits'(4) : amount_q;
  assign stray = descriptor.address[61:WindowBits-2] != WindowBase[63:WindowBits];

  logic [Lanes-1:0][35:0] word, moved;
  logic [Lanes-1:0] leftover;  // lanes of this word that belong to the next beat, and have something

  always_comb begin
    for (int unsigned k = 0; k < Lanes; k++) begin
      word[k] = {cq_tuser_i[8+4*k+:4], cq_tdata_i[32*k+:32]};
      if (beginning && k < 4) word[k][35:32] = '0;
      leftover[k] = word[k][35:32] != '0 && 32'(k) + 32'(amount) >= Lanes;
    end
    if (state_q == StTail) for (int unsigned k = 0; k < Lanes; k++) word[k][35:32] = '0;
  end

  spate_pcie_usp_rotate #(
      .Lanes(Lanes),
      .LaneWidth(36)
  ) u_rotate (
      .clk_i,
      .keep_i(step),
      .amount_i(amount),
      .word_i(word),
      .word_o(moved)
  );

  // ---- beats ----

  logic emit, room;
  logic valid_q, broken_q, out_stray_q;
  logic [BeatBits-1:0] out_beat_q;
  logic [Lanes-1:0][31:0] data_q;
  logic [Lanes-1:0][3:0] strobe_q, strobe;
  logic any_strobe, kept_valid_q;

  assign room = !valid_q || write_ready_i;

  // What was kept belongs to this packet only after its first word.
  always_comb begin
    for (int unsigned k = 0; k < Lanes; k++) begin
      strobe[k] = moved[k][35:32];
      if (!kept_valid_q && LaneBits'(k) < amount) strobe[k] = '0;
      if (broken) strobe[k] = '0;
    end
  end
  assign any_strobe = strobe != '0;

  always_comb begin
    state_d = state_q;
    emit = 1'b0;
    step = 1'b0;
    beat_d = beat_q;
    unique case (state_q)
      StHeader: begin
        if (cq_tvalid_i && cq_tready_o && first) begin
          step = 1'b1;
          beat_d = descriptor.address[WindowBits-3:LaneBits];
          if (is_write) begin
            emit = broken || (early && any_strobe);
            if (early) beat_d = descriptor.address[WindowBits-3:LaneBits] + 1'b1;
            if (!cq_tlast_i) state_d = StWrite;
            else if (leftover != '0 && !broken) state_d = StTail;
          end else begin
            emit = is_posted;
            if (!cq_tlast_i) state_d = StDrop;
          end
        end
      end
      StWrite: begin
        if (cq_tvalid_i && cq_tready_o) begin
          step = 1'b1;
          emit = broken || any_strobe;
          beat_d = beat_q + 1'b1;
          if (cq_tlast_i) state_d = leftover != '0 && !broken ? StTail : StHeader;
        end
      end
      StTail: begin
        if (room) begin
          emit = 1'b1;
          state_d = StHeader;
        end
      end
      StDrop: if (cq_tvalid_i && cq_tready_o && cq_tlast_i) state_d = StHeader;
      default: state_d = StHeader;
    endcase
  end

  assign cq_tready_o = !rst_ni || (state_q != StTail && room && nonposted_ready_i);
  assign nonposted_valid_o = rst_ni && beginning && cq_tvalid_i && first && room && !is_posted;
  assign nonposted_o = '{last_enables: cq_tuser_i[7:4], first_enables: cq_tuser_i[3:0], descriptor: descriptor};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StHeader;
      valid_q <= 1'b0;
      kept_valid_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (room) valid_q <= emit;
      if (step) kept_valid_q <= !cq_tlast_i || state_d == StTail;
      else if (state_d == StHeader) kept_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    beat_q <= beat_d;
    if (beginning) begin
      amount_q <= amount;
      stray_q <= stray;
    end
    if (room) begin
      broken_q <= broken && (!beginning || is_write);
      out_stray_q <= beginning ? stray || !is_write : stray_q;
      out_beat_q <= beginning ? descriptor.address[WindowBits-3:LaneBits] : beat_q;
      for (int unsigned k = 0; k < Lanes; k++) data_q[k] <= moved[k][31:0];
      strobe_q <= beginning && !is_write ? '0 : strobe;
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
  logic [CreditWidth-1:0] inside_q;  // requests taken and not done
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

endmodule
