// SPDX-License-Identifier: Apache-2.0
//
// spate_stripe with its structs split into signals that a testbench can set: one vector for each field, members side by
// side. As with a core, a member's ready depends on the command that it is offered.
module stripe_flat
  import spate_pkg::*;
#(
    parameter int unsigned Drives = 2,
    parameter int unsigned DataWidth = 128,
    parameter int unsigned ChunkBytes = 8192,
    parameter int unsigned MemberRamBytes = 32768,
    localparam int unsigned ArrayWidth = LbaWidth + 3
) (
    input logic                       clk_i,
    input logic                       rst_ni,
    input logic                       array_valid_i,
    input logic [Drives*LbaWidth-1:0] data_lba_i,
    input logic [       LbaWidth-1:0] member_blocks_i,
    input logic [         Drives-1:0] drive_ready_i,
    input logic [         Drives-1:0] drive_gone_i,
    input logic [         Drives-1:0] drive_block_4096_i,

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

    output logic        response_valid_o,
    input  logic        response_ready_i,
    output logic        response_from_registers_o,
    output logic [15:0] response_tag_o,
    output logic [15:0] response_status_o,
    output logic [63:0] response_done_o,

    input  logic                 data_valid_i,
    output logic                 data_ready_o,
    input  logic [DataWidth-1:0] data_i,
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [DataWidth-1:0] out_data_o,
    output logic                 out_last_o,
    output logic                 out_error_o,

    output logic [   Drives-1:0] member_command_valid_o,
    output logic [   Drives-1:0] member_command_ready_o,
    input  logic [   Drives-1:0] member_takes_data_i,
    input  logic [   Drives-1:0] member_takes_side_i,
    output logic [Drives*16-1:0] member_command_tag_o,
    output logic [ Drives*4-1:0] member_command_op_o,
    output logic [ Drives*2-1:0] member_command_source_o,
    output logic [   Drives-1:0] member_command_fua_o,
    output logic [Drives*64-1:0] member_command_address_o,
    output logic [Drives*64-1:0] member_command_lba_o,
    output logic [Drives*32-1:0] member_command_blocks_o,

    input  logic [   Drives-1:0] member_response_valid_i,
    output logic [   Drives-1:0] member_response_ready_o,
    input  logic [Drives*16-1:0] member_response_tag_i,
    input  logic [Drives*16-1:0] member_response_status_i,
    input  logic [Drives*64-1:0] member_response_done_i,

    output logic [          Drives-1:0] member_data_valid_o,
    input  logic [          Drives-1:0] member_data_ready_i,
    output logic [Drives*DataWidth-1:0] member_data_o,
    input  logic [          Drives-1:0] member_out_valid_i,
    output logic [          Drives-1:0] member_out_ready_o,
    input  logic [Drives*DataWidth-1:0] member_out_data_i,
    input  logic [          Drives-1:0] member_out_error_i,

    output logic [ArrayWidth-1:0] written_blocks_o
);

  command_t command;
  response_t response;
  command_t [Drives-1:0] member_command;
  response_t [Drives-1:0] member_response;

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
  assign response_from_registers_o = response.from_registers;
  assign response_tag_o = response.tag;
  assign response_status_o = response.status;
  assign response_done_o = response.done;

  for (genvar i = 0; i < Drives; i++) begin : gen_members
    assign member_command_ready_o[i] = member_command[i].op == OpRead || member_command[i].op == OpWrite ?
        member_takes_data_i[i] : member_takes_side_i[i];
    assign member_command_tag_o[16*i+:16] = member_command[i].tag;
    assign member_command_op_o[4*i+:4] = member_command[i].op;
    assign member_command_source_o[2*i+:2] = member_command[i].source;
    assign member_command_fua_o[i] = member_command[i].fua;
    assign member_command_address_o[64*i+:64] = member_command[i].address;
    assign member_command_lba_o[64*i+:64] = member_command[i].lba;
    assign member_command_blocks_o[32*i+:32] = member_command[i].blocks;
    assign member_response[i] = '{
            from_registers: 1'b0,
            tag: member_response_tag_i[16*i+:16],
            status: member_response_status_i[16*i+:16],
            done: member_response_done_i[64*i+:64]
        };
  end

  spate_stripe #(
      .Drives(Drives),
      .DataWidth(DataWidth),
      .ChunkBytes(ChunkBytes),
      .MemberRamBytes(MemberRamBytes)
  ) u_stripe (
      .clk_i,
      .rst_ni,
      .array_valid_i,
      .data_lba_i,
      .member_blocks_i,
      .drive_ready_i,
      .drive_gone_i,
      .drive_block_4096_i,
      .command_valid_i,
      .command_ready_o,
      .command_i(command),
      .response_valid_o,
      .response_ready_i,
      .response_o(response),
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .data_valid_o(out_valid_o),
      .data_ready_i(out_ready_i),
      .data_o(out_data_o),
      .data_last_o(out_last_o),
      .data_error_o(out_error_o),
      .member_command_valid_o,
      .member_command_ready_i(member_command_ready_o),
      .member_command_o(member_command),
      .member_response_valid_i,
      .member_response_ready_o,
      .member_response_i(member_response),
      .member_data_valid_o,
      .member_data_ready_i,
      .member_data_o,
      .member_data_valid_i(member_out_valid_i),
      .member_data_ready_o(member_out_ready_o),
      .member_data_i(member_out_data_i),
      .member_data_error_i(member_out_error_i),
      .written_blocks_o
  );

endmodule
