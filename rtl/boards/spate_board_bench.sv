// SPDX-License-Identifier: Apache-2.0
//
// What a board without a processor has beside the core, whatever the core's block is: the JTAG master, the console with
// the pattern's source and checker, LEDs, and the logic analyser. The core's registers and streams are its ports.
//
// Register `link` of the console is link_i, 15 bits: 5:0 LTSSM, 8:6 width, 10:9 speed, 11 the block has a clock, 12
// link up, 13 the block's user reset, 14 PERST#. Its bits may be of any clock.
`default_nettype none

module spate_board_bench
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 256,
    parameter int unsigned ClockHz = 126_000_000,  // of clk_i
    // Derived: no instance sets it.
    parameter int unsigned LinkWidth = 15
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // the core's registers
    output axil_request_t       m_axil_o,
    input  wire axil_response_t m_axil_i,

    // the core's streams, and the reset of its user side
    output logic                      user_rst_no,
    output logic                      m_axis_tvalid_o,
    input  wire logic                 m_axis_tready_i,
    output logic      [DataWidth-1:0] m_axis_tdata_o,
    input  wire logic                 s_axis_tvalid_i,
    output logic                      s_axis_tready_o,
    input  wire logic [DataWidth-1:0] s_axis_tdata_i,
    input  wire logic                 s_axis_tlast_i,
    input  wire logic                 s_axis_tuser_i,

    // the core's state, in clk_i, and the block's
    input  wire logic                 drive_ready_i,
    input  wire logic                 drive_gone_i,
    input  wire logic [          7:0] drive_step_i,
    input  wire logic [          7:0] drive_error_i,
    input  wire logic [LinkWidth-1:0] link_i,
    input  wire logic                 pcie_clk_i,     // the block's user clock: it is only counted
    output logic      [          3:0] led_o           // ready, gone, link, the block has a clock
);

  localparam int unsigned LinkClockBits = 8;  // the console counts edges of the block's clock divided by 256
  localparam int unsigned LinkClockGood = 11, LinkUp = 12, LinkPerst = 14;

  // ---- the console ----

  axil_request_t jtag_request;
  axil_response_t jtag_response;

  jtag_axi_0 u_jtag (
      .aclk(clk_i),
      .aresetn(rst_ni),
      .m_axi_awaddr(jtag_request.awaddr),
      .m_axi_awprot(),
      .m_axi_awvalid(jtag_request.awvalid),
      .m_axi_awready(jtag_response.awready),
      .m_axi_wdata(jtag_request.wdata),
      .m_axi_wstrb(jtag_request.wstrb),
      .m_axi_wvalid(jtag_request.wvalid),
      .m_axi_wready(jtag_response.wready),
      .m_axi_bresp(jtag_response.bresp),
      .m_axi_bvalid(jtag_response.bvalid),
      .m_axi_bready(jtag_request.bready),
      .m_axi_araddr(jtag_request.araddr),
      .m_axi_arprot(),
      .m_axi_arvalid(jtag_request.arvalid),
      .m_axi_arready(jtag_response.arready),
      .m_axi_rdata(jtag_response.rdata),
      .m_axi_rresp(jtag_response.rresp),
      .m_axi_rvalid(jtag_response.rvalid),
      .m_axi_rready(jtag_request.rready)
  );

  // It has no reset, so that it tells of the clock also while the block is in reset. Only its edges count.
  logic [LinkClockBits-1:0] divided_q;
  always_ff @(posedge pcie_clk_i) divided_q <= divided_q + 1'b1;

  spate_board_console #(
      .DataWidth(DataWidth),
      .ClockHz(ClockHz),
      .LinkWidth(LinkWidth)
  ) u_console (
      .clk_i,
      .rst_ni,
      .s_axil_i(jtag_request),
      .s_axil_o(jtag_response),
      .m_axil_o,
      .m_axil_i,
      .user_rst_no,
      .m_axis_tvalid_o,
      .m_axis_tready_i,
      .m_axis_tdata_o,
      .s_axis_tvalid_i,
      .s_axis_tready_o,
      .s_axis_tdata_i,
      .s_axis_tuser_i,
      .link_i,
      .link_clock_i(divided_q[LinkClockBits-1])
  );

  // ---- for a person: LEDs, and the logic analyser ----

  logic link_led, clock_led;

  spate_cdc_bit u_link_led (
      .clk_i,
      .level_i(link_i[LinkUp]),
      .level_o(link_led)
  );

  spate_cdc_bit u_clock_led (
      .clk_i,
      .level_i(link_i[LinkClockGood]),
      .level_o(clock_led)
  );

  always_ff @(posedge clk_i) led_o <= {clock_led, link_led, drive_gone_i, drive_ready_i};

  ila_0 u_ila (
      .clk(clk_i),
      .probe0(drive_step_i),
      .probe1(drive_error_i),
      .probe2({link_i[LinkPerst], link_led, drive_gone_i, drive_ready_i}),
      .probe3({m_axis_tready_i, m_axis_tvalid_o}),
      .probe4(m_axis_tdata_o[63:0]),
      .probe5({s_axis_tuser_i, s_axis_tlast_i, s_axis_tready_o, s_axis_tvalid_i}),
      .probe6(s_axis_tdata_i[63:0])
  );

endmodule

`default_nettype wire
