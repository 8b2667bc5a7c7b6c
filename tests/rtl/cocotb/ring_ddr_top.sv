// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_ddr before a drive, and behind a user with one queue for both lanes.
module ring_ddr_top
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned PartBytes = 8192,
    parameter bit WriteFrames = 1'b0,
    localparam int unsigned AddressWidth = 32
) (
    input logic clk_i,
    input logic rst_ni,

    input logic   [AddressWidth-1:0] ring_base_i,
    input logic   [            63:0] ring_drive_base_i,
    input logic   [            19:0] ring_pages_i,
    input drive_t                    drive_i,

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
    output logic      [ LbaWidth-1:0] written_blocks_o,

    output logic      drive_command_valid_o,
    input  logic      drive_command_ready_i,
    output command_t  drive_command_o,
    output logic      drive_side_valid_o,
    input  logic      drive_side_ready_i,
    output command_t  drive_side_o,
    input  logic      drive_response_valid_i,
    output logic      drive_response_ready_o,
    input  response_t drive_response_i,
    output logic      idle_o,

    output logic                    m_axi_awvalid_o,
    input  logic                    m_axi_awready_i,
    output logic [AddressWidth-1:0] m_axi_awaddr_o,
    output logic [             7:0] m_axi_awlen_o,
    output logic [             2:0] m_axi_awsize_o,
    output logic [             1:0] m_axi_awburst_o,
    output logic                    m_axi_wvalid_o,
    input  logic                    m_axi_wready_i,
    output logic [   DataWidth-1:0] m_axi_wdata_o,
    output logic [ DataWidth/8-1:0] m_axi_wstrb_o,
    output logic                    m_axi_wlast_o,
    input  logic                    m_axi_bvalid_i,
    output logic                    m_axi_bready_o,
    input  logic [             1:0] m_axi_bresp_i,
    output logic                    m_axi_arvalid_o,
    input  logic                    m_axi_arready_i,
    output logic [AddressWidth-1:0] m_axi_araddr_o,
    output logic [             7:0] m_axi_arlen_o,
    output logic [             2:0] m_axi_arsize_o,
    output logic [             1:0] m_axi_arburst_o,
    input  logic                    m_axi_rvalid_i,
    output logic                    m_axi_rready_o,
    input  logic [   DataWidth-1:0] m_axi_rdata_i,
    input  logic [             1:0] m_axi_rresp_i
);

  logic is_data, data_command_ready, side_command_ready;
  assign is_data = is_data_command(command_i);
  assign command_ready_o = is_data ? data_command_ready : side_command_ready;

  // With WriteFrames, as in spate_host.
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
        .PieceBytes(PartBytes),
        .Commands(64)
    ) u_frames (
        .*,
        .ready_i(drive_i.ready),
        .gone_i(drive_i.gone),
        .lost_i(drive_i.gone),
        .block_4096_i(drive_i.block_4096),
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

  spate_ring_ddr_flat #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .PartBytes(PartBytes)
  ) u_ring (
      .*,
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
