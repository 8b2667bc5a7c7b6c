// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_usp with the names that the models expect, and with checks of its streams' rules: an output does not
// change until it is taken, and a packet to the block has no pauses.
module pcie_usp_top
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h8_0020_0000,
    parameter logic [63:0] BarBase = 64'h9000_0000,
    localparam int unsigned Lanes = DataWidth / 32
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   adapter_reset,
    input  logic                   epoch,
    output logic                   quiet,
    output logic                   link_up,
    output logic                   read_valid,
    input  logic                   read_ready,
    output logic [ WindowBits-1:0] read_address,
    output logic                   read_stray,
    output logic [            8:0] read_beats,
    input  logic                   read_data_valid,
    output logic                   read_data_ready,
    input  logic [  DataWidth-1:0] read_data,
    input  logic                   read_last,
    output logic                   write_valid,
    input  logic                   write_ready,
    output logic [ WindowBits-1:0] write_address,
    output logic                   write_stray,
    output logic [  DataWidth-1:0] write_data,
    output logic [DataWidth/8-1:0] write_strobe,
    input  logic                   request_valid,
    output logic                   request_ready,
    input  logic                   request_id,
    input  logic [            1:0] request_space,
    input  logic                   request_write,
    input  logic [           31:0] request_address,
    input  logic [           31:0] request_data,
    output logic                   response_valid,
    output logic                   response_id,
    output logic                   response_error,
    output logic [           31:0] response_data,

    input  logic                 user_clk,
    input  logic                 user_reset,
    input  logic                 user_lnk_up,
    input  logic [          1:0] cfg_max_payload,
    input  logic [DataWidth-1:0] cq_tdata,
    input  logic [         87:0] cq_tuser,
    input  logic [    Lanes-1:0] cq_tkeep,
    input  logic                 cq_tlast,
    input  logic                 cq_tvalid,
    output logic                 cq_tready,
    output logic [          1:0] pcie_cq_np_req,
    output logic [DataWidth-1:0] cc_tdata,
    output logic [         32:0] cc_tuser,
    output logic [    Lanes-1:0] cc_tkeep,
    output logic                 cc_tlast,
    output logic                 cc_tvalid,
    input  logic                 cc_tready,
    output logic [DataWidth-1:0] rq_tdata,
    output logic [         61:0] rq_tuser,
    output logic [    Lanes-1:0] rq_tkeep,
    output logic                 rq_tlast,
    output logic                 rq_tvalid,
    input  logic                 rq_tready,
    input  logic [DataWidth-1:0] rc_tdata,
    input  logic [         74:0] rc_tuser,
    input  logic [    Lanes-1:0] rc_tkeep,
    input  logic                 rc_tlast,
    input  logic                 rc_tvalid,
    output logic                 rc_tready,
    output logic [          9:0] cfg_mgmt_addr,
    output logic                 cfg_mgmt_write,
    output logic [         31:0] cfg_mgmt_write_data,
    output logic [          3:0] cfg_mgmt_byte_enable,
    output logic                 cfg_mgmt_read,
    input  logic [         31:0] cfg_mgmt_read_data,
    input  logic                 cfg_mgmt_read_write_done
);

  window_read_t read;
  window_write_t write;
  assign read_address = read.address[WindowBits-1:0];
  assign read_stray = read.stray;
  assign read_beats = read.beats;
  assign write_address = write.address[WindowBits-1:0];
  assign write_stray = write.stray;

  mmio_response_t response;
  assign {response_id, response_error, response_data} = response;

  spate_pcie_usp_flat #(
      .DataWidth(DataWidth),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .BarBase(BarBase)
  ) dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .reset_i(adapter_reset),
      .epoch_i(epoch),
      .quiet_o(quiet),
      .link_up_o(link_up),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_o(read),
      .read_data_valid_i(read_data_valid),
      .read_data_ready_o(read_data_ready),
      .read_data_i(read_data),
      .read_last_i(read_last),
      .write_valid_o(write_valid),
      .write_ready_i(write_ready),
      .write_o(write),
      .write_data_o(write_data),
      .write_strobe_o(write_strobe),
      .mmio_request_valid_i(request_valid),
      .mmio_request_ready_o(request_ready),
      .mmio_request_i({request_id, request_space, request_write, request_address, request_data}),
      .mmio_response_valid_o(response_valid),
      .mmio_response_o(response),
      .pcie_clk_i(user_clk),
      .pcie_reset_i(user_reset),
      .pcie_lnk_up_i(user_lnk_up),
      .cfg_max_payload_i(cfg_max_payload),
      .m_axis_cq_tdata_i(cq_tdata),
      .m_axis_cq_tuser_i(cq_tuser),
      .m_axis_cq_tlast_i(cq_tlast),
      .m_axis_cq_tvalid_i(cq_tvalid),
      .m_axis_cq_tready_o(cq_tready),
      .pcie_cq_np_req_o(pcie_cq_np_req),
      .s_axis_cc_tdata_o(cc_tdata),
      .s_axis_cc_tkeep_o(cc_tkeep),
      .s_axis_cc_tuser_o(cc_tuser),
      .s_axis_cc_tlast_o(cc_tlast),
      .s_axis_cc_tvalid_o(cc_tvalid),
      .s_axis_cc_tready_i(cc_tready),
      .s_axis_rq_tdata_o(rq_tdata),
      .s_axis_rq_tkeep_o(rq_tkeep),
      .s_axis_rq_tuser_o(rq_tuser),
      .s_axis_rq_tlast_o(rq_tlast),
      .s_axis_rq_tvalid_o(rq_tvalid),
      .s_axis_rq_tready_i(rq_tready),
      .m_axis_rc_tdata_i(rc_tdata),
      .m_axis_rc_tuser_i(rc_tuser),
      .m_axis_rc_tvalid_i(rc_tvalid),
      .m_axis_rc_tready_o(rc_tready),
      .cfg_mgmt_addr_o(cfg_mgmt_addr),
      .cfg_mgmt_write_o(cfg_mgmt_write),
      .cfg_mgmt_write_data_o(cfg_mgmt_write_data),
      .cfg_mgmt_byte_enable_o(cfg_mgmt_byte_enable),
      .cfg_mgmt_read_o(cfg_mgmt_read),
      .cfg_mgmt_read_data_i(cfg_mgmt_read_data),
      .cfg_mgmt_read_write_done_i(cfg_mgmt_read_write_done)
  );

  stream_rule #(
      .Width(WindowBits + 10)
  ) u_rule_read (
      .clk_i(clk),
      .rst_ni(rst_n),
      .valid_i(read_valid),
      .ready_i(read_ready),
      .payload_i({read_address, read_stray, read_beats})
  );

  stream_rule #(
      .Width(WindowBits + 1 + DataWidth + DataWidth / 8)
  ) u_rule_write (
      .clk_i(clk),
      .rst_ni(rst_n),
      .valid_i(write_valid),
      .ready_i(write_ready),
      .payload_i({write_address, write_stray, write_data, write_strobe})
  );

  packet_rule #(
      .Width(DataWidth + Lanes)
  ) u_rule_cc (
      .clk_i(user_clk),
      .rst_ni(!user_reset),
      .valid_i(cc_tvalid),
      .ready_i(cc_tready),
      .last_i(cc_tlast),
      .payload_i({cc_tdata, cc_tkeep})
  );

  packet_rule #(
      .Width(DataWidth + Lanes)
  ) u_rule_rq (
      .clk_i(user_clk),
      .rst_ni(!user_reset),
      .valid_i(rq_tvalid),
      .ready_i(rq_tready),
      .last_i(rq_tlast),
      .payload_i({rq_tdata, rq_tkeep})
  );

endmodule
