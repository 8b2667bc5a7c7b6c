// SPDX-License-Identifier: Apache-2.0
//
// Three givers of commands to one drive: the user's streams, and the registers' data and side commands. Responses go back
// by `from_registers`.
//
// Guarantee: a command goes on once, those of a giver in order. A giver whose command the drive would take does not wait
// for one whose command it would not: while the drive takes nothing, what is offered changes from cycle to cycle, so a
// flush passes a stream that waits for data. A response to the user that is not taken holds back those behind it.
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

  // The next one after the present that has something; it is offered in the next cycle.
  always_comb begin
    unique case (giver_q)
      GiverUser: giver_d = data_valid_i ? GiverData : side_valid_i ? GiverSide : GiverUser;
      GiverData: giver_d = side_valid_i ? GiverSide : user_valid_i ? GiverUser : GiverData;
      default: giver_d = user_valid_i ? GiverUser : data_valid_i ? GiverData : GiverSide;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) giver_q <= GiverUser;
    else giver_q <= giver_d;
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
