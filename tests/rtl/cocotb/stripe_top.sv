// SPDX-License-Identifier: Apache-2.0
//
// spate_stripe above members, and behind a user with one queue for both lanes.
module stripe_top
  import spate_pkg::*;
#(
    parameter int unsigned Drives = 2,
    parameter int unsigned DataWidth = 128,
    parameter int unsigned ChunkBytes = 8192,
    parameter int unsigned MemberRamBytes = 32768,
    localparam int unsigned ArrayWidth = LbaWidth + 3
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                              array_valid_i,
    input logic [  Drives-1:0][LbaWidth-1:0] data_lba_i,
    input logic [LbaWidth-1:0]               member_blocks_i,
    input logic [  Drives-1:0]               drive_ready_i,
    input logic [  Drives-1:0]               drive_gone_i,
    input logic [  Drives-1:0]               drive_block_4096_i,

    input  logic                      command_valid_i,
    output logic                      command_ready_o,
    input  command_t                  command_i,
    output logic                      response_valid_o,
    input  logic                      response_ready_i,
    output response_t                 response_o,
    input  logic                      data_valid_i,
    output logic                      data_ready_o,
    input  logic      [DataWidth-1:0] data_i,
    output logic                      data_valid_o,
    input  logic                      data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,
    output logic                      data_error_o,

    output logic      [Drives-1:0]                member_command_valid_o,
    input  logic      [Drives-1:0]                member_command_ready_i,
    output command_t  [Drives-1:0]                member_command_o,
    output logic      [Drives-1:0]                member_side_valid_o,
    input  logic      [Drives-1:0]                member_side_ready_i,
    output command_t  [Drives-1:0]                member_side_o,
    input  logic      [Drives-1:0]                member_response_valid_i,
    output logic      [Drives-1:0]                member_response_ready_o,
    input  response_t [Drives-1:0]                member_response_i,
    output logic      [Drives-1:0]                member_data_valid_o,
    input  logic      [Drives-1:0]                member_data_ready_i,
    output logic      [Drives-1:0][DataWidth-1:0] member_data_o,
    input  logic      [Drives-1:0]                member_data_valid_i,
    output logic      [Drives-1:0]                member_data_ready_o,
    input  logic      [Drives-1:0][DataWidth-1:0] member_data_i,
    input  logic      [Drives-1:0]                member_data_error_i,

    output logic [ArrayWidth-1:0] written_blocks_o
);

  logic is_data, data_command_ready, side_command_ready;
  assign is_data = is_data_command(command_i);
  assign command_ready_o = is_data ? data_command_ready : side_command_ready;

  spate_stripe #(
      .Drives(Drives),
      .DataWidth(DataWidth),
      .ChunkBytes(ChunkBytes),
      .MemberRamBytes(MemberRamBytes)
  ) u_stripe (
      .*,
      .command_valid_i(command_valid_i && is_data),
      .command_ready_o(data_command_ready),
      .side_valid_i(command_valid_i && !is_data),
      .side_ready_o(side_command_ready),
      .side_i(command_i)
  );

endmodule
