// SPDX-License-Identifier: Apache-2.0
//
// What a board without a processor has beside the core, whatever the core's block is: the JTAG master, the console with
// the pattern's source and checker, LEDs, and the logic analyser. The core's registers and streams are its ports.
//
// Register `link` of the console is link_i, 15 bits: 5:0 LTSSM, 8:6 width, 10:9 speed, 11 the block has a clock, 12 link
// up, 13 the block's user reset, 14 PERST#. Its bits may be of any clock.
`default_nettype none

module spate_board_bench #(
    parameter int unsigned DataWidth = 256,
    parameter int unsigned ClockHz = 126_000_000,  // of clk_i
    // Derived: no instance sets it.
    parameter int unsigned LinkWidth = 15
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // the core's registers
    output logic      [13:0] m_axil_awaddr_o,
    output logic             m_axil_awvalid_o,
    input  wire logic        m_axil_awready_i,
    output logic      [31:0] m_axil_wdata_o,
    output logic      [ 3:0] m_axil_wstrb_o,
    output logic             m_axil_wvalid_o,
    input  wire logic        m_axil_wready_i,
    input  wire logic        m_axil_bvalid_i,
    output logic             m_axil_bready_o,
    output logic      [13:0] m_axil_araddr_o,
    output logic             m_axil_arvalid_o,
    input  wire logic        m_axil_arready_i,
    input  wire logic [31:0] m_axil_rdata_i,
    input  wire logic        m_axil_rvalid_i,
    output logic             m_axil_rready_o,

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

  logic [31:0] jtag_awaddr, jtag_wdata, jtag_araddr, jtag_rdata;
  logic [3:0] jtag_wstrb;
  logic [1:0] jtag_bresp, jtag_rresp;
  logic jtag_awvalid, jtag_awready, jtag_wvalid, jtag_wready, jtag_bvalid, jtag_bready;
  logic jtag_arvalid, jtag_arready, jtag_rvalid, jtag_rready;

  jtag_axi_0 u_jtag (
      .aclk(clk_i),
      .aresetn(rst_ni),
      .m_axi_awaddr(jtag_awaddr),
      .m_axi_awprot(),
      .m_axi_awvalid(jtag_awvalid),
      .m_axi_awready(jtag_awready),
      .m_axi_wdata(jtag_wdata),
      .m_axi_wstrb(jtag_wstrb),
      .m_axi_wvalid(jtag_wvalid),
      .m_axi_wready(jtag_wready),
      .m_axi_bresp(jtag_bresp),
      .m_axi_bvalid(jtag_bvalid),
      .m_axi_bready(jtag_bready),
      .m_axi_araddr(jtag_araddr),
      .m_axi_arprot(),
      .m_axi_arvalid(jtag_arvalid),
      .m_axi_arready(jtag_arready),
      .m_axi_rdata(jtag_rdata),
      .m_axi_rresp(jtag_rresp),
      .m_axi_rvalid(jtag_rvalid),
      .m_axi_rready(jtag_rready)
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
      .s_axil_awaddr_i(jtag_awaddr[14:0]),
      .s_axil_awvalid_i(jtag_awvalid),
      .s_axil_awready_o(jtag_awready),
      .s_axil_wdata_i(jtag_wdata),
      .s_axil_wstrb_i(jtag_wstrb),
      .s_axil_wvalid_i(jtag_wvalid),
      .s_axil_wready_o(jtag_wready),
      .s_axil_bresp_o(jtag_bresp),
      .s_axil_bvalid_o(jtag_bvalid),
      .s_axil_bready_i(jtag_bready),
      .s_axil_araddr_i(jtag_araddr[14:0]),
      .s_axil_arvalid_i(jtag_arvalid),
      .s_axil_arready_o(jtag_arready),
      .s_axil_rdata_o(jtag_rdata),
      .s_axil_rresp_o(jtag_rresp),
      .s_axil_rvalid_o(jtag_rvalid),
      .s_axil_rready_i(jtag_rready),
      .m_axil_awaddr_o,
      .m_axil_awvalid_o,
      .m_axil_awready_i,
      .m_axil_wdata_o,
      .m_axil_wstrb_o,
      .m_axil_wvalid_o,
      .m_axil_wready_i,
      .m_axil_bvalid_i,
      .m_axil_bready_o,
      .m_axil_araddr_o,
      .m_axil_arvalid_o,
      .m_axil_arready_i,
      .m_axil_rdata_i,
      .m_axil_rvalid_i,
      .m_axil_rready_o,
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

  logic unused;  // addresses above the console's 32 KiB
  assign unused = ^{jtag_awaddr[31:15], jtag_araddr[31:15]};

endmodule

`default_nettype wire
