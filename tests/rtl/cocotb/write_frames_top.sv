// SPDX-License-Identifier: Apache-2.0
//
// spate_write_frames before the splitter that it must agree with about the number of beats. The testbench is the buffer, which always
// has room, and the slots: it answers what the splitter issues.
module write_frames_top
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned PieceBytes = 4096
) (
    input logic clk_i,
    input logic rst_ni,

    input drive_t drive_i,

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

    input  logic        room_i,
    output logic        fill_valid_o,
    input  logic        fill_ready_i,
    output logic        issue_valid_o,
    input  logic        issue_ready_i,
    output slot_issue_t issue_o,
    input  logic        retire_valid_i,
    output logic        retire_ready_o,
    input  response_t   retire_i
);

  localparam int unsigned RamBytes = 40960;

  logic command_valid, command_ready, data_valid, data_ready;
  command_t command;
  logic [DataWidth-1:0] data;

  spate_write_frames_flat #(
      .DataWidth(DataWidth),
      .PieceBytes(PieceBytes)
  ) u_frames (
      .*,
      .ready_i(drive_i.ready),
      .gone_i(drive_i.gone),
      .lost_i(drive_i.gone),
      .block_4096_i(drive_i.block_4096),
      .side_valid_i(1'b0),
      .side_ready_o(),
      .side_i('0),
      .command_valid_o(command_valid),
      .command_ready_i(command_ready),
      .command_o(command),
      .side_valid_o(),
      .side_ready_i(1'b0),
      .side_o(),
      .response_valid_i(retire_valid_i),
      .response_ready_o(retire_ready_o),
      .response_i(retire_i),
      .data_valid_o(data_valid),
      .data_ready_i(data_ready),
      .data_o(data),
      .idle_o()
  );

  spate_splitter #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes)
  ) u_splitter (
      .clk_i,
      .rst_ni,
      .drive_i,
      .command_valid_i(command_valid),
      .command_ready_o(command_ready),
      .command_i(command),
      .data_valid_i(data_valid),
      .data_ready_o(data_ready),
      .data_i(data),
      .alloc_valid_o(),
      .alloc_ready_i(room_i),
      .alloc_sectors_o(),
      .alloc_base_i('0),
      .fill_valid_o,
      .fill_ready_i,
      .fill_beat_o(),
      .fill_data_o(),
      .issue_valid_o,
      .issue_ready_i,
      .issue_o,
      .issue_base_o(),
      .idle_o()
  );

endmodule
