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

endmodule

`default_nettype wire
