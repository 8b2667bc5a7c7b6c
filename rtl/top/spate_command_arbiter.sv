// SPDX-License-Identifier: Apache-2.0
//
// Arbitrates between three requesters of commands to one drive: the user's streams, the registers' data commands and
// the registers' side commands. Responses are routed by `from_registers`.
//
// The drive takes commands in two lanes, data and side. Whether it takes a command depends only on the lane, not on the
// requester, and once it would take a command of a lane, it stays ready until it gets one. Of two requesters for the
// same lane, the one that was served last waits for the other. The lanes alternate from cycle to cycle.
//
// Guarantee: each command is passed on once, those of a requester in order. A command that the drive would take does
// not wait for one that it would not take, so a flush passes a stream that waits for data. While the drive takes
// commands of a lane, one of that lane is taken within three cycles, and each requester waits for at most one command
// of the other.
//
// The drive may be a spate_ring_ddr, which takes no side command in four of eight cycles while it has a part to issue.
// A command of that lane is then taken within seven cycles.
//
// The user's port may alternate between two commands, one for each lane, each offered for at least four cycles. A
// command of a lane is then taken within eight cycles in which the drive would take one; which requester's it is
// depends on the timing of the drive. The user's responses must be taken without waiting for the user (spate_user_side
// has room for them), because one that is not taken blocks the registers' responses.
`default_nettype none

module spate_command_arbiter
  import spate_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic     user_valid_i,
    output logic          user_ready_o,
    input  wire command_t user_i,
    input  wire logic     data_valid_i,
    output logic          data_ready_o,
    input  wire command_t data_i,
    input  wire logic     side_valid_i,
    output logic          side_ready_o,
    input  wire command_t side_i,

    output logic      command_valid_o,
    input  wire logic command_ready_i,  // may depend on the command that is offered
    output command_t  command_o,

    input  wire logic response_valid_i,
    output logic      response_ready_o,
    input  wire logic response_from_registers_i,
    output logic      user_response_valid_o,
    input  wire logic user_response_ready_i,
    output logic      registers_response_valid_o  // always taken
);

  typedef enum logic [1:0] {
    GrantUser,
    GrantData,
    GrantSide
  } grant_e;

  grant_e grant_q, grant_d;
  logic taken, user_is_data;
  logic user_had_data_q, user_had_side_q;  // the last command of the lane was the user's
  logic user_had_data_d, user_had_side_d;
  logic user_may, data_may, side_may;

  assign taken = command_valid_o && command_ready_i;
  assign user_is_data = (user_i.op == OpWrite || user_i.op == OpRead) && user_i.source != SourceMailbox;

  always_comb begin
    user_had_data_d = user_had_data_q;
    user_had_side_d = user_had_side_q;
    if (taken && grant_q == GrantUser && user_is_data) user_had_data_d = 1'b1;
    if (taken && grant_q == GrantData) user_had_data_d = 1'b0;
    if (taken && grant_q == GrantUser && !user_is_data) user_had_side_d = 1'b1;
    if (taken && grant_q == GrantSide) user_had_side_d = 1'b0;
  end

  // Requesters that may be offered in the next cycle: at most one for each lane. The one that is not offered now comes
  // next.
  assign user_may = user_valid_i && !(user_is_data ? data_valid_i && user_had_data_d : side_valid_i && user_had_side_d);
  assign data_may = data_valid_i && !(user_valid_i && user_is_data && !user_had_data_d);
  assign side_may = side_valid_i && !(user_valid_i && !user_is_data && !user_had_side_d);
  always_comb begin
    unique case (grant_q)
      GrantUser: grant_d = data_may ? GrantData : side_may ? GrantSide : GrantUser;
      GrantData: grant_d = side_may ? GrantSide : user_may ? GrantUser : GrantData;
      default: grant_d = user_may ? GrantUser : data_may ? GrantData : GrantSide;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      grant_q <= GrantUser;
      user_had_data_q <= 1'b0;
      user_had_side_q <= 1'b0;
    end else begin
      grant_q <= grant_d;
      user_had_data_q <= user_had_data_d;
      user_had_side_q <= user_had_side_d;
    end
  end

  always_comb begin
    unique case (grant_q)
      GrantUser: begin
        command_valid_o = user_valid_i;
        command_o = user_i;
      end
      GrantData: begin
        command_valid_o = data_valid_i;
        command_o = data_i;
      end
      default: begin
        command_valid_o = side_valid_i;
        command_o = side_i;
      end
    endcase
  end

  assign user_ready_o = grant_q == GrantUser && command_ready_i;
  assign data_ready_o = grant_q == GrantData && command_ready_i;
  assign side_ready_o = grant_q == GrantSide && command_ready_i;

  assign user_response_valid_o = response_valid_i && !response_from_registers_i;
  assign registers_response_valid_o = response_valid_i && response_from_registers_i;
  assign response_ready_o = response_from_registers_i || user_response_ready_i;

endmodule

`default_nettype wire
