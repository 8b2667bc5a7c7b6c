// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_ddr with its structs split into signals that a testbench can set. As with a core, the drive's ready
// depends on the command that it is offered.
module ring_ddr_flat
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned PartBytes = 8192,
    localparam int unsigned AddressWidth = 32
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [        31:0] ring_base_i,
    input logic [        63:0] ring_drive_base_i,
    input logic [        19:0] ring_pages_i,
    input logic                drive_ready_i,
    input logic                drive_gone_i,
    input logic                drive_block_4096_i,
    input logic [LbaWidth-1:0] drive_blocks_i,

    input  logic        command_valid_i,
    output logic        command_ready_o,
    input  logic        command_from_registers_i,
    input  logic [15:0] command_tag_i,
    input  logic [ 3:0] command_op_i,
    input  logic [ 1:0] command_source_i,
    input  logic        command_fua_i,
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
    output logic [ LbaWidth-1:0] written_blocks_o,

    output logic        drive_command_valid_o,
    output logic        drive_command_ready_o,
    input  logic        drive_takes_data_i,
    input  logic        drive_takes_side_i,
    output logic [15:0] drive_command_tag_o,
    output logic [ 3:0] drive_command_op_o,
    output logic [ 1:0] drive_command_source_o,
    output logic        drive_command_fua_o,
    output logic [63:0] drive_command_address_o,
    output logic [63:0] drive_command_lba_o,
    output logic [31:0] drive_command_blocks_o,
    input  logic        drive_response_valid_i,
    output logic        drive_response_ready_o,
    input  logic [15:0] drive_response_tag_i,
    input  logic [15:0] drive_response_status_i,
    input  logic [63:0] drive_response_done_i,

    output logic                   awvalid_o,
    input  logic                   awready_i,
    output logic [           31:0] awaddr_o,
    output logic [            7:0] awlen_o,
    output logic                   wvalid_o,
    input  logic                   wready_i,
    output logic [  DataWidth-1:0] wdata_o,
    output logic [DataWidth/8-1:0] wstrb_o,
    output logic                   wlast_o,
    input  logic                   bvalid_i,
    output logic                   bready_o,
    input  logic [            1:0] bresp_i,
    output logic                   arvalid_o,
    input  logic                   arready_i,
    output logic [           31:0] araddr_o,
    output logic [            7:0] arlen_o,
    input  logic                   rvalid_i,
    output logic                   rready_o,
    input  logic [  DataWidth-1:0] rdata_i,
    input  logic [            1:0] rresp_i,
    output logic [            2:0] awsize_o,
    output logic [            2:0] arsize_o,
    output logic [            1:0] awburst_o,
    output logic [            1:0] arburst_o
);

  drive_t drive;
  command_t command, drive_command;
  response_t response, drive_response;

  always_comb begin
    drive = '0;
    drive.ready = drive_ready_i;
    drive.gone = drive_gone_i;
    drive.block_4096 = drive_block_4096_i;
    drive.blocks = drive_blocks_i;
  end
  assign command = '{
          from_registers: command_from_registers_i,
          tag: command_tag_i,
          op: op_e'(command_op_i),
          source: source_e'(command_source_i),
          fua: command_fua_i,
          address: '0,
          lba: command_lba_i,
          blocks: command_blocks_i
      };
  assign drive_command_ready_o = (drive_command.op == OpRead || drive_command.op == OpWrite) &&
      drive_command.source != SourceMailbox ? drive_takes_data_i : drive_takes_side_i;
  assign drive_response = '{
          from_registers: 1'b0,
          tag: drive_response_tag_i,
          status: drive_response_status_i,
          done: drive_response_done_i
      };
  assign response_from_registers_o = response.from_registers;
  assign response_tag_o = response.tag;
  assign response_status_o = response.status;
  assign response_done_o = response.done;
  assign drive_command_tag_o = drive_command.tag;
  assign drive_command_op_o = drive_command.op;
  assign drive_command_source_o = drive_command.source;
  assign drive_command_fua_o = drive_command.fua;
  assign drive_command_address_o = drive_command.address;
  assign drive_command_lba_o = drive_command.lba;
  assign drive_command_blocks_o = drive_command.blocks;

  spate_ring_ddr #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .PartBytes(PartBytes)
  ) u_ring (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .ring_drive_base_i,
      .ring_pages_i,
      .drive_i(drive),
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
      .written_blocks_o,
      .drive_command_valid_o,
      .drive_command_ready_i(drive_command_ready_o),
      .drive_command_o(drive_command),
      .drive_response_valid_i,
      .drive_response_ready_o,
      .drive_response_i(drive_response),
      .m_axi_awvalid_o(awvalid_o),
      .m_axi_awready_i(awready_i),
      .m_axi_awaddr_o(awaddr_o),
      .m_axi_awlen_o(awlen_o),
      .m_axi_awsize_o(awsize_o),
      .m_axi_awburst_o(awburst_o),
      .m_axi_wvalid_o(wvalid_o),
      .m_axi_wready_i(wready_i),
      .m_axi_wdata_o(wdata_o),
      .m_axi_wstrb_o(wstrb_o),
      .m_axi_wlast_o(wlast_o),
      .m_axi_bvalid_i(bvalid_i),
      .m_axi_bready_o(bready_o),
      .m_axi_bresp_i(bresp_i),
      .m_axi_arvalid_o(arvalid_o),
      .m_axi_arready_i(arready_i),
      .m_axi_araddr_o(araddr_o),
      .m_axi_arlen_o(arlen_o),
      .m_axi_arsize_o(arsize_o),
      .m_axi_arburst_o(arburst_o),
      .m_axi_rvalid_i(rvalid_i),
      .m_axi_rready_o(rready_o),
      .m_axi_rdata_i(rdata_i),
      .m_axi_rresp_i(rresp_i)
  );

endmodule
