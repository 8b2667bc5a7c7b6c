// SPDX-License-Identifier: Apache-2.0
//
// The data path alone: splitter, buffer and retire, connected as in the core, and the user's commands, lane by lane. The testbench acts as the slots (issue,
// head) and as the drive (target_*).
module lane
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 16384,
    parameter int unsigned BaseBits = 20,
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512,
    localparam int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                    drive_ready_i,
    input logic                    drive_gone_i,
    input logic                    drive_block_4096_i,
    input logic [    LbaWidth-1:0] drive_blocks_i,
    input logic [SectorsWidth-1:0] drive_command_sectors_max_i,

    input  logic        command_valid_i,
    output logic        command_ready_o,
    input  logic        command_from_registers_i,
    input  logic [15:0] command_tag_i,
    input  logic [ 3:0] command_op_i,
    input  logic [ 1:0] command_source_i,
    input  logic        command_fua_i,
    input  logic [63:0] command_address_i,
    input  logic [63:0] command_lba_i,
    input  logic [31:0] command_blocks_i,

    output logic        side_valid_o,
    input  logic        side_ready_i,
    output logic [15:0] side_tag_o,

    input  logic                 data_valid_i,
    output logic                 data_ready_o,
    input  logic [DataWidth-1:0] data_i,

    output logic                    issue_valid_o,
    input  logic                    issue_ready_i,
    output logic                    issue_write_o,
    output logic                    issue_fua_o,
    output logic [    LbaWidth-1:0] issue_lba_o,
    output logic [SectorsWidth-1:0] issue_sectors_o,
    output logic [    BaseBits-1:0] issue_base_o,
    output logic                    issue_stream_o,
    output logic                    issue_last_o,
    output logic [            15:0] issue_tag_o,
    output logic                    issue_from_registers_o,
    output logic [            15:0] issue_status_o,

    input  logic                    head_valid_i,
    input  logic                    head_write_i,
    input  logic                    head_stream_i,
    input  logic                    head_last_i,
    input  logic                    head_from_registers_i,
    input  logic [            15:0] head_tag_i,
    input  logic [SectorsWidth-1:0] head_sectors_i,
    input  logic [            15:0] head_status_i,
    output logic                    head_pop_o,

    input  logic                   target_read_i,
    input  logic [   BeatBits-1:0] target_read_beat_i,
    output logic [  DataWidth-1:0] target_read_data_o,
    input  logic                   target_write_i,
    input  logic                   target_drop_i,
    input  logic [   BeatBits-1:0] target_write_beat_i,
    input  logic [  DataWidth-1:0] target_write_data_i,
    input  logic [DataWidth/8-1:0] target_write_strobe_i,

    input  logic        page_valid_i,
    input  logic        page_write_i,
    input  logic [10:0] page_dword_i,
    input  logic [31:0] page_data_i,
    output logic        page_done_o,
    output logic [31:0] page_data_o,

    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [DataWidth-1:0] out_data_o,
    output logic                 out_last_o,
    output logic                 out_error_o,

    output logic        response_valid_o,
    input  logic        response_ready_i,
    output logic        response_from_registers_o,
    output logic [15:0] response_tag_o,
    output logic [15:0] response_status_o,
    output logic [63:0] response_done_o,

    output logic                    free_valid_o,
    output logic [SectorsWidth-1:0] free_sectors_o,
    output logic [    LbaWidth-1:0] written_blocks_o,
    output logic                    command_error_o
);

  drive_t drive;
  command_t command;
  logic splitter_ready;
  response_t response;
  slot_issue_t issue;
  slot_retire_t head;

  always_comb begin
    drive = '0;
    drive.ready = drive_ready_i;
    drive.gone = drive_gone_i;
    drive.block_4096 = drive_block_4096_i;
    drive.blocks = drive_blocks_i;
    drive.command_sectors_max = drive_command_sectors_max_i;
  end

  assign command = '{
          from_registers: command_from_registers_i,
          tag: command_tag_i,
          op: op_e'(command_op_i),
          source: source_e'(command_source_i),
          fua: command_fua_i,
          address: command_address_i,
          lba: command_lba_i,
          blocks: command_blocks_i
      };
  assign side_valid_o = command_valid_i && !is_data_command(command);
  assign side_tag_o = command.tag;
  assign command_ready_o = is_data_command(command) ? splitter_ready : side_ready_i;
  assign response_from_registers_o = response.from_registers;
  assign response_tag_o = response.tag;
  assign response_status_o = response.status;
  assign response_done_o = response.done;
  assign issue_write_o = issue.write;
  assign issue_fua_o = issue.fua;
  assign issue_lba_o = issue.lba;
  assign issue_sectors_o = issue.sectors;
  assign issue_stream_o = issue.stream;
  assign issue_last_o = issue.last;
  assign issue_tag_o = issue.tag;
  assign issue_from_registers_o = issue.from_registers;
  assign issue_status_o = issue.status;
  assign head = '{
          write: head_write_i,
          stream: head_stream_i,
          block_4096: drive_block_4096_i,
          last: head_last_i,
          from_registers: head_from_registers_i,
          tag: head_tag_i,
          sectors: head_sectors_i,
          status: head_status_i
      };

  logic alloc_valid, alloc_ready, fill_valid, fill_ready, drain_valid, drain_ready, drained_valid, drained_ready;
  logic [SectorsWidth-1:0] alloc_sectors;
  logic [RingBits-1:0] alloc_base;
  logic [BeatBits-1:0] fill_beat, drain_beat;
  logic [DataWidth-1:0] fill_data, drained_data;

  spate_splitter #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .BaseBits(BaseBits)
  ) u_splitter (
      .clk_i,
      .rst_ni,
      .drive_i(drive),
      .command_valid_i(command_valid_i && is_data_command(command)),
      .command_ready_o(splitter_ready),
      .command_i(command),
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .alloc_valid_o(alloc_valid),
      .alloc_ready_i(alloc_ready),
      .alloc_sectors_o(alloc_sectors),
      .alloc_base_i(alloc_base),
      .fill_valid_o(fill_valid),
      .fill_ready_i(fill_ready),
      .fill_beat_o(fill_beat),
      .fill_data_o(fill_data),
      .issue_valid_o,
      .issue_ready_i,
      .issue_o(issue),
      .issue_base_o,
      .idle_o()
  );

  spate_buffer #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes)
  ) u_buffer (
      .clk_i,
      .rst_ni,
      .target_read_i,
      .target_read_beat_i,
      .target_read_data_o,
      .target_write_i,
      .target_drop_i,
      .target_write_beat_i,
      .target_write_data_i,
      .target_write_strobe_i,
      .alloc_valid_i(alloc_valid),
      .alloc_ready_o(alloc_ready),
      .alloc_sectors_i(alloc_sectors),
      .alloc_base_o(alloc_base),
      .free_valid_i(free_valid_o),
      .free_sectors_i(free_sectors_o),
      .fill_valid_i(fill_valid),
      .fill_ready_o(fill_ready),
      .fill_beat_i(fill_beat),
      .fill_data_i(fill_data),
      .drain_valid_i(drain_valid),
      .drain_ready_o(drain_ready),
      .drain_beat_i(drain_beat),
      .drained_valid_o(drained_valid),
      .drained_ready_i(drained_ready),
      .drained_data_o(drained_data),
      .page_valid_i,
      .page_i('{write: page_write_i, dword: page_dword_i, data: page_data_i}),
      .page_done_o,
      .page_data_o
  );

  spate_retire #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes)
  ) u_retire (
      .clk_i,
      .rst_ni,
      .head_valid_i,
      .head_i(head),
      .head_pop_o,
      .free_valid_o,
      .free_sectors_o,
      .drain_valid_o(drain_valid),
      .drain_ready_i(drain_ready),
      .drain_beat_o(drain_beat),
      .drained_valid_i(drained_valid),
      .drained_ready_o(drained_ready),
      .drained_data_i(drained_data),
      .data_valid_o(out_valid_o),
      .data_ready_i(out_ready_i),
      .data_o(out_data_o),
      .data_last_o(out_last_o),
      .data_error_o(out_error_o),
      .response_valid_o,
      .response_ready_i,
      .response_o(response),
      .written_blocks_o,
      .command_error_o
  );

endmodule
