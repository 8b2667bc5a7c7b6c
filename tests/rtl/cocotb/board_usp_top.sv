// SPDX-License-Identifier: Apache-2.0
//
// The whole top of a board with the integrated block, with the names that the models expect: the block's user side and
// the JTAG master reach into the stand-ins for the vendor's modules. A cycle is a microsecond, and 16 are a millisecond.
module board_usp_top
  import spate_pkg::*;
#(
    parameter int unsigned Board = 0,  // 0: as02mc04, 1: zcu106
    parameter int unsigned RamBytes = 139264
) (
    input  logic         clk,                       // the oscillator's, and so the core's
    input  logic         rst_n,                     // 0: the MMCM is not locked
    input  logic         user_clk,
    input  logic         user_reset,
    input  logic         user_lnk_up,
    input  logic [  1:0] cfg_max_payload,
    input  logic [255:0] cq_tdata,
    input  logic [ 87:0] cq_tuser,
    input  logic         cq_tlast,
    input  logic         cq_tvalid,
    output logic         cq_tready,
    output logic [  1:0] pcie_cq_np_req,
    output logic [255:0] cc_tdata,
    output logic [  7:0] cc_tkeep,
    output logic [ 32:0] cc_tuser,
    output logic         cc_tlast,
    output logic         cc_tvalid,
    input  logic         cc_tready,
    output logic [255:0] rq_tdata,
    output logic [  7:0] rq_tkeep,
    output logic [ 61:0] rq_tuser,
    output logic         rq_tlast,
    output logic         rq_tvalid,
    input  logic         rq_tready,
    input  logic [255:0] rc_tdata,
    input  logic [ 74:0] rc_tuser,
    input  logic         rc_tlast,
    input  logic         rc_tvalid,
    output logic         rc_tready,
    output logic [  9:0] cfg_mgmt_addr,
    output logic         cfg_mgmt_write,
    output logic [ 31:0] cfg_mgmt_write_data,
    output logic [  3:0] cfg_mgmt_byte_enable,
    output logic         cfg_mgmt_read,
    input  logic [ 31:0] cfg_mgmt_read_data,
    input  logic         cfg_mgmt_read_write_done,
    input  logic [  7:0] cq_tkeep,
    input  logic [  7:0] rc_tkeep,
    input  logic [ 31:0] jtag_awaddr,
    input  logic         jtag_awvalid,
    output logic         jtag_awready,
    input  logic [ 31:0] jtag_wdata,
    input  logic [  3:0] jtag_wstrb,
    input  logic         jtag_wvalid,
    output logic         jtag_wready,
    output logic [  1:0] jtag_bresp,
    output logic         jtag_bvalid,
    input  logic         jtag_bready,
    input  logic [ 31:0] jtag_araddr,
    input  logic         jtag_arvalid,
    output logic         jtag_arready,
    output logic [ 31:0] jtag_rdata,
    output logic [  1:0] jtag_rresp,
    output logic         jtag_rvalid,
    input  logic         jtag_rready,
    output logic         board_rst_n,
    output logic         sys_reset,
    output logic         perst_n,
    output logic [  3:0] led
);

  localparam int unsigned WindowBits = window_bits(RamBytes);  // for the testbench

  if (Board == 0) begin : gen_board
    spate_as02mc04 #(
        .ClockHz(1_000_000),
        .UsPerMs(16),
        .RamBytes(RamBytes)
    ) dut (
        .clk_100mhz_pi(clk),
        .clk_100mhz_ni(!clk),
        .pcie_refclk_pi(1'b0),
        .pcie_refclk_ni(1'b1),
        .pcie_rx_pi('0),
        .pcie_rx_ni('0),
        .pcie_tx_po(),
        .pcie_tx_no(),
        .perst_no(perst_n),
        .led_o(led)
    );
  end else begin : gen_board
    logic perst, ssd2_off;
    spate_zcu106 #(
        .ClockHz(1_000_000),
        .UsPerMs(16),
        .RamBytes(RamBytes)
    ) dut (
        .clk_125mhz_pi(clk),
        .clk_125mhz_ni(!clk),
        .pcie_refclk_pi(1'b0),
        .pcie_refclk_ni(1'b1),
        .pcie_rx_pi('0),
        .pcie_rx_ni('0),
        .pcie_tx_po(),
        .pcie_tx_no(),
        .perst_o(perst),
        .ssd2_off_o(ssd2_off),
        .led_o(led)
    );
    assign perst_n = !perst && ssd2_off;  // the FMC card's inverter; a slot SSD2 that is on is a mistake
  end

  assign gen_board.dut.u_mmcm.locked = rst_n;
  assign board_rst_n = gen_board.dut.u_board.rst_n;

  assign gen_board.dut.u_board.u_pcie.clk = user_clk;
  assign gen_board.dut.u_board.u_pcie.reset = user_reset;
  assign gen_board.dut.u_board.u_pcie.lnk_up = user_lnk_up;
  assign gen_board.dut.u_board.u_pcie.max_payload = cfg_max_payload;
  assign gen_board.dut.u_board.u_pcie.cq_tdata = cq_tdata;
  assign gen_board.dut.u_board.u_pcie.cq_tuser = cq_tuser;
  assign gen_board.dut.u_board.u_pcie.cq_tlast = cq_tlast;
  assign gen_board.dut.u_board.u_pcie.cq_tvalid = cq_tvalid;
  assign gen_board.dut.u_board.u_pcie.cc_tready = cc_tready;
  assign gen_board.dut.u_board.u_pcie.rq_tready = rq_tready;
  assign gen_board.dut.u_board.u_pcie.rc_tdata = rc_tdata;
  assign gen_board.dut.u_board.u_pcie.rc_tuser = rc_tuser;
  assign gen_board.dut.u_board.u_pcie.rc_tlast = rc_tlast;
  assign gen_board.dut.u_board.u_pcie.rc_tvalid = rc_tvalid;
  assign gen_board.dut.u_board.u_pcie.mgmt_data = cfg_mgmt_read_data;
  assign gen_board.dut.u_board.u_pcie.mgmt_done = cfg_mgmt_read_write_done;
  assign sys_reset = gen_board.dut.u_board.u_pcie.sys_reset;
  assign cq_tready = gen_board.dut.u_board.u_pcie.m_axis_cq_tready;
  assign pcie_cq_np_req = gen_board.dut.u_board.u_pcie.pcie_cq_np_req;
  assign cc_tdata = gen_board.dut.u_board.u_pcie.s_axis_cc_tdata;
  assign cc_tkeep = gen_board.dut.u_board.u_pcie.s_axis_cc_tkeep;
  assign cc_tuser = gen_board.dut.u_board.u_pcie.s_axis_cc_tuser;
  assign cc_tlast = gen_board.dut.u_board.u_pcie.s_axis_cc_tlast;
  assign cc_tvalid = gen_board.dut.u_board.u_pcie.s_axis_cc_tvalid;
  assign rq_tdata = gen_board.dut.u_board.u_pcie.s_axis_rq_tdata;
  assign rq_tkeep = gen_board.dut.u_board.u_pcie.s_axis_rq_tkeep;
  assign rq_tuser = gen_board.dut.u_board.u_pcie.s_axis_rq_tuser;
  assign rq_tlast = gen_board.dut.u_board.u_pcie.s_axis_rq_tlast;
  assign rq_tvalid = gen_board.dut.u_board.u_pcie.s_axis_rq_tvalid;
  assign rc_tready = gen_board.dut.u_board.u_pcie.m_axis_rc_tready;
  assign cfg_mgmt_addr = gen_board.dut.u_board.u_pcie.cfg_mgmt_addr;
  assign cfg_mgmt_write = gen_board.dut.u_board.u_pcie.cfg_mgmt_write;
  assign cfg_mgmt_write_data = gen_board.dut.u_board.u_pcie.cfg_mgmt_write_data;
  assign cfg_mgmt_byte_enable = gen_board.dut.u_board.u_pcie.cfg_mgmt_byte_enable;
  assign cfg_mgmt_read = gen_board.dut.u_board.u_pcie.cfg_mgmt_read;

  assign gen_board.dut.u_board.u_bench.u_jtag.awaddr = jtag_awaddr;
  assign gen_board.dut.u_board.u_bench.u_jtag.awvalid = jtag_awvalid;
  assign gen_board.dut.u_board.u_bench.u_jtag.wdata = jtag_wdata;
  assign gen_board.dut.u_board.u_bench.u_jtag.wstrb = jtag_wstrb;
  assign gen_board.dut.u_board.u_bench.u_jtag.wvalid = jtag_wvalid;
  assign gen_board.dut.u_board.u_bench.u_jtag.bready = jtag_bready;
  assign gen_board.dut.u_board.u_bench.u_jtag.araddr = jtag_araddr;
  assign gen_board.dut.u_board.u_bench.u_jtag.arvalid = jtag_arvalid;
  assign gen_board.dut.u_board.u_bench.u_jtag.rready = jtag_rready;
  assign jtag_awready = gen_board.dut.u_board.u_bench.u_jtag.m_axi_awready;
  assign jtag_wready = gen_board.dut.u_board.u_bench.u_jtag.m_axi_wready;
  assign jtag_bresp = gen_board.dut.u_board.u_bench.u_jtag.m_axi_bresp;
  assign jtag_bvalid = gen_board.dut.u_board.u_bench.u_jtag.m_axi_bvalid;
  assign jtag_arready = gen_board.dut.u_board.u_bench.u_jtag.m_axi_arready;
  assign jtag_rdata = gen_board.dut.u_board.u_bench.u_jtag.m_axi_rdata;
  assign jtag_rresp = gen_board.dut.u_board.u_bench.u_jtag.m_axi_rresp;
  assign jtag_rvalid = gen_board.dut.u_board.u_bench.u_jtag.m_axi_rvalid;

endmodule
