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
    parameter bit WriteFrames = 1'b0,
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
    input  logic                      data_last_i,
    input  logic                      data_null_i,
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

    output logic idle_o,

    output logic [ArrayWidth-1:0] written_blocks_o
);

  logic is_data, data_command_ready, side_command_ready;
  assign is_data = is_data_command(command_i);
  assign command_ready_o = is_data ? data_command_ready : side_command_ready;
  logic array_ready, array_gone, array_lost, array_block_4096;

  // With WriteFrames, as in spate_nvme_stripe_axi.
  logic core_command_valid, core_command_ready, core_side_valid, core_side_ready;
  logic core_response_valid, core_response_ready, core_in_valid, core_in_ready;
  command_t core_command, core_side;
  response_t core_response;
  logic [DataWidth-1:0] core_in;
  logic frames_idle, core_idle;
  assign idle_o = frames_idle && core_idle;
  if (WriteFrames) begin : gen_frames
    spate_write_frames_flat #(
        .DataWidth(DataWidth),
        .PieceBytes(ChunkBytes),
        .LbaBits(ArrayWidth),
        .Beats(64),
        .Commands(128)
    ) u_frames (
        .*,
        .ready_i(array_ready),
        .gone_i(array_gone),
        .lost_i(array_lost),
        .block_4096_i(array_block_4096),
        .command_valid_i(command_valid_i && is_data),
        .command_ready_o(data_command_ready),
        .side_valid_i(command_valid_i && !is_data),
        .side_ready_o(side_command_ready),
        .side_i(command_i),
        .command_valid_o(core_command_valid),
        .command_ready_i(core_command_ready),
        .command_o(core_command),
        .side_valid_o(core_side_valid),
        .side_ready_i(core_side_ready),
        .side_o(core_side),
        .response_valid_i(core_response_valid),
        .response_ready_o(core_response_ready),
        .response_i(core_response),
        .data_valid_o(core_in_valid),
        .data_ready_i(core_in_ready),
        .data_o(core_in),
        .idle_o(frames_idle)
    );
  end else begin : gen_no_frames
    assign frames_idle = 1'b1;
    assign core_command_valid = command_valid_i && is_data;
    assign data_command_ready = core_command_ready;
    assign core_command = command_i;
    assign core_side_valid = command_valid_i && !is_data;
    assign side_command_ready = core_side_ready;
    assign core_side = command_i;
    assign response_valid_o = core_response_valid;
    assign core_response_ready = response_ready_i;
    assign response_o = core_response;
    assign core_in_valid = data_valid_i;
    assign data_ready_o = core_in_ready;
    assign core_in = data_i;
  end

  spate_stripe_flat #(
      .Drives(Drives),
      .DataWidth(DataWidth),
      .ChunkBytes(ChunkBytes),
      .MemberRamBytes(MemberRamBytes)
  ) u_stripe (
      .*,
      .array_ready_o(array_ready),
      .array_gone_o(array_gone),
      .array_lost_o(array_lost),
      .array_block_4096_o(array_block_4096),
      .command_valid_i(core_command_valid),
      .command_ready_o(core_command_ready),
      .command_i(core_command),
      .side_valid_i(core_side_valid),
      .side_ready_o(core_side_ready),
      .side_i(core_side),
      .response_valid_o(core_response_valid),
      .response_ready_i(core_response_ready),
      .response_o(core_response),
      .data_valid_i(core_in_valid),
      .data_ready_o(core_in_ready),
      .data_i(core_in),
      .idle_o(core_idle)
  );

endmodule
