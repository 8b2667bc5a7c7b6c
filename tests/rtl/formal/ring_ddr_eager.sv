// SPDX-License-Identifier: Apache-2.0
//
// A smaller environment for spate_ring_ddr beside that of ring_ddr_ports, with which a proof reaches whole requests:
// nobody stalls, drive and memory answer as soon as they can, and there is one request of one block.
// Errors of the drive and the memory are free; the data are not followed.
module ring_ddr_eager
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 512
) (
    input logic                      clk_i,
    input logic      [         15:0] ring_base_i,
    input logic      [         63:0] ring_drive_base_i,
    input drive_t                    drive_i,
    input logic                      command_valid_i,
    input command_t                  command_i,
    input logic                      side_valid_i,
    input logic                      response_valid_o,
    input logic                      response_ready_i,
    input response_t                 response_o,
    input logic                      data_valid_i,
    input logic      [DataWidth-1:0] data_i,
    input logic                      data_ready_i,
    input logic                      data_error_o,
    input logic                      drive_command_valid_o,
    input logic                      drive_command_ready_i,
    input logic                      drive_side_ready_i,
    input logic                      drive_response_valid_i,
    input logic                      m_axi_awready_i,
    input logic                      m_axi_wready_i,
    input logic                      m_axi_bvalid_i,
    input logic                      m_axi_arready_i,
    input logic                      m_axi_rvalid_i,
    input logic      [DataWidth-1:0] m_axi_rdata_i,
    // What the drive and the memory have to answer.
    input logic                      drive_owes,
    input logic                      b_owed,
    input logic                      r_owed
);

  logic [1:0] begun_q = '0;  // the command comes in the cycle after the reset
  logic write_q;
  always_ff @(posedge clk_i) begin
    if (begun_q != '1) begun_q <= begun_q + 1'b1;
    if (command_valid_i) write_q <= command_i.op == OpWrite;
  end

  always_comb begin
    assume (ring_base_i == '0 && ring_drive_base_i == 64'h10000 && data_i == '0 && m_axi_rdata_i == '0);
    assume (command_valid_i == (begun_q == 2'd1) && command_i.source == SourceStream && !side_valid_i);
    assume (command_i.blocks == 32'd1 && command_i.lba[7:0] == '0);
    assume (response_ready_i && data_valid_i && data_ready_i && drive_command_ready_i && drive_side_ready_i);
    assume (m_axi_awready_i && m_axi_wready_i && m_axi_arready_i);
    assume (drive_i.ready && !drive_i.gone && !drive_i.block_4096);
    assume (drive_response_valid_i == drive_owes && m_axi_bvalid_i == b_owed && m_axi_rvalid_i == r_owed);
  end

  always_comb begin
    if (begun_q != '0) begin
      // A write after its burst, whose response comes eight steps later; a read's response after the drive's and the last beat.
      cover (drive_command_valid_o && write_q);
      cover (response_valid_o && response_o.status == StatusOk && !write_q);
      cover (response_valid_o && response_o.status == 16'd1 && !write_q);
    end
  end

endmodule

bind spate_ring_ddr ring_ddr_eager #(
    .DataWidth(DataWidth)
) u_eager (
    .drive_owes(u_ports.answered_q != u_ports.given_count_q),
    .b_owed(u_ports.aw_count_q != u_ports.b_count_q && u_ports.w_count_q != u_ports.b_count_q),
    .r_owed(u_ports.r_owed_q != '0),
    .*
);
