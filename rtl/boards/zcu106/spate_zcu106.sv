// SPDX-License-Identifier: Apache-2.0
//
// NEVER BUILT. Vivado version assumed: 2023.2. No vendor's tool and no such board has seen this file. It was simulated
// with models of the vendor's modules (tests/rtl/vendor).
//
// AMD ZCU106 (Zynq UltraScale+ XCZU7EV) with Opsero's FPGA Drive FMC on HPC0, as a recorder that uses nothing of the
// processor: one NVMe drive in the slot SSD1, commanded through JTAG (console.tcl). docs/use/boards/zcu106.md is the
// page of the board.
//
// spate_board_usp is everything but this clock and these pins.
`default_nettype none

module spate_zcu106 #(
    parameter int unsigned ClockHz = 130_000_000,  // of the MMCM's output
    parameter int unsigned UsPerMs = 1000,  // simulations use less
    parameter int unsigned RamBytes = 524288  // 16 of the device's 96 UltraRAMs
) (
    input  wire logic       clk_125mhz_pi,
    input  wire logic       clk_125mhz_ni,
    input  wire logic       pcie_refclk_pi,
    input  wire logic       pcie_refclk_ni,
    input  wire logic [3:0] pcie_rx_pi,
    input  wire logic [3:0] pcie_rx_ni,
    output logic      [3:0] pcie_tx_po,
    output logic      [3:0] pcie_tx_no,
    output logic            perst_o,         // high: the FMC card pulls the drive's PERST# low
    output logic            ssd2_off_o,
    output logic      [3:0] led_o            // ready, gone, link, the block has a clock
);

  logic board_clk, mmcm_clk, mmcm_feedback, mmcm_locked, clk, perst_n;

  IBUFDS u_board_clk (
      .I(clk_125mhz_pi),
      .IB(clk_125mhz_ni),
      .O(board_clk)
  );

  // 125 MHz / 5 * 52 / 10 = 130 MHz. The oscillator of the MMCM runs at 1300 MHz.
  MMCME4_BASE #(
      .CLKIN1_PERIOD(8),
      .DIVCLK_DIVIDE(5),
      .CLKFBOUT_MULT_F(52),
      .CLKOUT0_DIVIDE_F(10)
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

  spate_board_usp #(
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

  assign perst_o = !perst_n;
  assign ssd2_off_o = 1'b1;

endmodule

`default_nettype wire
