// SPDX-License-Identifier: Apache-2.0
//
// A smaller environment for spate_ring_ddr beside that of ring_ddr_ports, with which a proof reaches whole requests:
// nobody stalls, drive and memory answer as soon as they can, and there is one request of one block.
// Errors of the drive and the memory are free; the data are not followed.
module ring_ddr_eager
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 512
) (
    input logic                            clk_i,
    input logic            [         15:0] ring_base_i,
    input logic            [         63:0] ring_drive_base_i,
    input drive_t                          drive_i,
    input lanes_request_t                  lanes_i,
    input lanes_response_t                 lanes_o,
    input logic                            data_valid_i,
    input logic            [DataWidth-1:0] data_i,
    input logic                            data_ready_i,
    input logic                            data_error_o,
    input lanes_request_t                  drive_lanes_o,
    input lanes_response_t                 drive_lanes_i,
    input axi_response_t                   m_axi_i,
    input logic            [DataWidth-1:0] m_axi_rdata_i,
    // What the drive and the memory have to answer.
    input logic                            drive_owes,
    input logic                            b_owed,
    input logic                            r_owed
);

  logic [1:0] begun_q = '0;  // the command comes in the cycle after the reset
  logic write_q;
  always_ff @(posedge clk_i) begin
    if (begun_q != '1) begun_q <= begun_q + 1'b1;
    if (lanes_i.command_valid) write_q <= lanes_i.command.op == OpWrite;
  end

  always_comb begin
    assume (ring_base_i == '0 && ring_drive_base_i == 64'h10000 && data_i == '0 && m_axi_rdata_i == '0);
    assume (lanes_i.command_valid == (begun_q == 2'd1) && lanes_i.command.source == SourceStream && !lanes_i.side_valid);
    assume (lanes_i.command.blocks == 32'd1 && lanes_i.command.lba[7:0] == '0);
    assume (lanes_i.response_ready && data_valid_i && data_ready_i && drive_lanes_i.command_ready && drive_lanes_i.side_ready);
    assume (m_axi_i.write.awready && m_axi_i.write.wready && m_axi_i.read.arready);
    assume (drive_i.ready && !drive_i.gone && !drive_i.block_4096);
    assume (drive_lanes_i.response_valid == drive_owes && m_axi_i.write.bvalid == b_owed && m_axi_i.read.rvalid == r_owed);
  end

  always_comb begin
    if (begun_q != '0) begin
      // A write after its burst, whose response comes eight steps later; a read's response after the drive's and the last beat.
      cover (drive_lanes_o.command_valid && write_q);
      cover (lanes_o.response_valid && lanes_o.response.status == StatusOk && !write_q);
      cover (lanes_o.response_valid && lanes_o.response.status == 16'd1 && !write_q);
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
