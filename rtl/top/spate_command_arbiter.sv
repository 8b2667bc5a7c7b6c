// SPDX-License-Identifier: Apache-2.0
//
// Three givers of commands to one drive: the user's streams, and the registers' data and side commands. Responses go back
// by `from_registers`.
//
// The drive takes commands in two lanes, data and side: it takes one of a lane or not whoever gives it, and what it would
// take it goes on to take until it has one. Of two givers for the same lane the one that had its turn in it waits for the
// other; the lanes take turns from cycle to cycle.
//
// Guarantee: a command goes on once, those of a giver in order. A giver whose command the drive would take does not wait
// for one whose command it would not, so a flush passes a stream that waits for data; and while the drive takes commands
// of a lane, one of it is taken within three cycles, and each giver's after at most one of the other's.
//
// The drive may be a spate_ring_ddr, which takes no side command in four of eight cycles while it has a piece to give:
// then one of that lane is taken within seven cycles.
//
// The user may change between two commands, one for each lane, which it offers in turn for at least four cycles. Then one
// of a lane is taken within eight cycles in which the drive would; whose, a drive with the rhythm of these turns decides. Its
// responses must be taken without waiting for the user (spate_user_side has room for them): one that is not taken holds
// back the registers'.
module spate_command_arbiter
  import spate_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic     user_valid_i,
    output logic     user_ready_o,
    input  command_t user_i,
    input  logic     data_valid_i,
    output logic     data_ready_o,
    input  command_t data_i,
    input  logic     side_valid_i,
    output logic     side_ready_o,
    input  command_t side_i,

    output logic     command_valid_o,
    input  logic     command_ready_i,  // may depend on the command that is offered
    output command_t command_o,

    input  logic response_valid_i,
    output logic response_ready_o,
    input  logic response_from_registers_i,
    output logic user_response_valid_o,
    input  logic user_response_ready_i,
    output logic registers_response_valid_o  // always taken
);

  typedef enum logic [1:0] {
    GiverUser,
    GiverData,
    GiverSide
  } giver_e;

  giver_e giver_q, giver_d;
  logic taken, user_is_data;
  logic user_had_data_q, user_had_side_q;  // the last command of the lane was the user's
  logic user_had_data_d, user_had_side_d;
  logic user_may, data_may, side_may;

  assign taken = command_valid_o && command_ready_i;
  assign user_is_data = (user_i.op == OpWrite || user_i.op == OpRead) && user_i.source != SourceMailbox;

  always_comb begin
    user_had_data_d = user_had_data_q;
    user_had_side_d = user_had_side_q;
    if (taken && giver_q == GiverUser && user_is_data) user_had_data_d = 1'b1;
    if (taken && giver_q == GiverData) user_had_data_d = 1'b0;
    if (taken && giver_q == GiverUser && !user_is_data) user_had_side_d = 1'b1;
    if (taken && giver_q == GiverSide) user_had_side_d = 1'b0;
  end

  // Who may be offered in the next cycle: at most one for each lane. Then the one that is not being offered now.
  assign user_may = user_valid_i && !(user_is_data ? data_valid_i && user_had_data_d : side_valid_i && user_had_side_d);
  assign data_may = data_valid_i && !(user_valid_i && user_is_data && !user_had_data_d);
  assign side_may = side_valid_i && !(user_valid_i && !user_is_data && !user_had_side_d);
  always_comb begin
    unique case (giver_q)
      GiverUser: giver_d = data_may ? GiverData : side_may ? GiverSide : GiverUser;
      GiverData: giver_d = side_may ? GiverSide : user_may ? GiverUser : GiverData;
      default: giver_d = user_may ? GiverUser : data_may ? GiverData : GiverSide;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      giver_q <= GiverUser;
      user_had_data_q <= 1'b0;
      user_had_side_q <= 1'b0;
    end else begin
      giver_q <= giver_d;
      user_had_data_q <= user_had_data_d;
      user_had_side_q <= user_had_side_d;
    end
  end

  always_comb begin
    unique case (giver_q)
      GiverUser: begin
        command_valid_o = user_valid_i;
        command_o = user_i;
      end
      GiverData: begin
        command_valid_o = data_valid_i;
        command_o = data_i;
      end
      default: begin
        command_valid_o = side_valid_i;
        command_o = side_i;
      end
    endcase
  end

  assign user_ready_o = giver_q == GiverUser && command_ready_i;
  assign data_ready_o = giver_q == GiverData && command_ready_i;
  assign side_ready_o = giver_q == GiverSide && command_ready_i;

  assign user_response_valid_o = response_valid_i && !response_from_registers_i;
  assign registers_response_valid_o = response_valid_i && response_from_registers_i;
  assign response_ready_o = response_from_registers_i || user_response_ready_i;

endmodule
