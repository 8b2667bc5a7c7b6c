// SPDX-License-Identifier: Apache-2.0
//
// spate_command_arbiter with a drive that takes commands of the lanes in `welcome`: bit 0 data, bit 1 side.
module command_arbiter_top
  import spate_pkg::*;
(
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           user_valid_i,
    output logic           user_ready_o,
    input  command_t       user_i,
    input  logic           data_valid_i,
    output logic           data_ready_o,
    input  command_t       data_i,
    input  logic           side_valid_i,
    output logic           side_ready_o,
    input  command_t       side_i,
    output logic           command_valid_o,
    output command_t       command_o,
    output logic           command_ready_o,
    input  logic     [1:0] welcome_i,
    input  logic           response_valid_i,
    output logic           response_ready_o,
    input  logic           response_from_registers_i,
    output logic           user_response_valid_o,
    input  logic           user_response_ready_i,
    output logic           registers_response_valid_o
);

  assign command_ready_o = command_o.op == OpWrite || command_o.op == OpRead ? welcome_i[0] : welcome_i[1];

  spate_command_arbiter u_arbiter (
      .command_ready_i(command_ready_o),
      .*
  );

endmodule
