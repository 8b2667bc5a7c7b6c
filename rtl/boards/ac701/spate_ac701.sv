// SPDX-License-Identifier: Apache-2.0
//
// NEVER BUILT. Vivado version assumed: 2023.2. No vendor's tool and no such board has seen this file. It was simulated
// with models of the vendor's modules (tests/rtl/vendor).
//
// AMD AC701 (Artix-7 XC7A200T) with Opsero's FPGA Drive FMC on its HPC connector, as a recorder: one NVMe drive in the
// slot SSD1 with two lanes, commanded through JTAG (console.tcl). docs/use/boards/ac701.md is the page of the board.
//
// spate_board_axi_pcie is everything but this clock and these pins.
`default_nettype none

module spate_ac701 #(
    parameter int unsigned ClockHz = 130_000_000,  // of the MMCM's output
    parameter int unsigned UsPerMs = 1000,  // simulations use less
    parameter int unsigned RamBytes = 262144  // 64 of the device's 365 block RAMs
) (
    input  wire logic       clk_200mhz_pi,
    input  wire logic       clk_200mhz_ni,
    input  wire logic       pcie_refclk_pi,
    input  wire logic       pcie_refclk_ni,
    input  wire logic [1:0] pcie_rx_pi,
    input  wire logic [1:0] pcie_rx_ni,
    output logic      [1:0] pcie_tx_po,
    output logic      [1:0] pcie_tx_no,
    output logic      [1:0] refclk_select_o,  // of the board's multiplexer
    output logic            perst_o,          // high: the FMC card pulls the drive's PERST# low
    output logic            ssd2_off_o,
    output logic      [3:0] led_o             // ready, gone, link, the block has a clock
);

  localparam logic [1:0] RefclkOfFmc = 2'b10;  // GBTCLK0 of the FMC card

  logic board_clk, mmcm_clk, mmcm_feedback, mmcm_locked, clk, perst_n;

  IBUFDS u_board_clk (
      .I(clk_200mhz_pi),
      .IB(clk_200mhz_ni),
      .O(board_clk)
  );

  // 200 MHz / 5 * 26 / 8 = 130 MHz. The oscillator of the MMCM runs at 1040 MHz.
  MMCME2_BASE #(
      .CLKIN1_PERIOD(5),
      .DIVCLK_DIVIDE(5),
      .CLKFBOUT_MULT_F(26),
      .CLKOUT0_DIVIDE_F(8)
  ) u_mmcm (
      .CLKIN1(board_clk),
      .CLKFBIN(mmcm_feedback),
      .CLKFBOUT(mmcm_feedback),
      .CLKFBOUTB(),
      .CLKOUT0(mmcm_clk),
      .CLKOUT0B(),
      .CLKOUT1(),
      .CLKOUT1B(),
      .CLKOUT2(),
      .CLKOUT2B(),
      .CLKOUT3(),
      .CLKOUT3B(),
      .CLKOUT4(),
      .CLKOUT5(),
      .CLKOUT6(),
      .RST(1'b0),
      .PWRDWN(1'b0),
      .LOCKED(mmcm_locked)
  );

  BUFG u_clk (
      .I(mmcm_clk),
      .O(clk)
  );

  spate_board_axi_pcie #(
      .ClockHz(ClockHz),
      .UsPerMs(UsPerMs),
      .RamBytes(RamBytes)
  ) u_board (
      .clk_i(clk),
      .locked_i(mmcm_locked),
      .pcie_refclk_pi,
      .pcie_refclk_ni,
      .pcie_rx_pi,
      .pcie_rx_ni,
      .pcie_tx_po,
      .pcie_tx_no,
      .perst_no(perst_n),
      .led_o
  );

  assign refclk_select_o = RefclkOfFmc;
  assign perst_o = !perst_n;
  assign ssd2_off_o = 1'b1;

endmodule

`default_nettype wire
