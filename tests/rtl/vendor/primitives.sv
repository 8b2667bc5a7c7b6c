// SPDX-License-Identifier: Apache-2.0
//
// Stand-ins for the vendor's primitives that the boards use, for simulation and for tools that know none of them. The
// names are the vendor's (UG974, and UG953 for 7-series). Each copies its clock: the models know no frequencies.
// The vendor's parameters of the MMCM are real numbers; Yosys passes whole ones only.

module IBUFDS (
    input  wire logic I,
    input  wire logic IB,
    output logic      O
);
  assign O = I && !IB;
endmodule

module IBUFDS_GTE4 #(
    parameter logic [1:0] REFCLK_HROW_CK_SEL = 2'b00
) (
    input  wire logic I,
    input  wire logic IB,
    input  wire logic CEB,
    output logic      O,
    output logic      ODIV2
);
  assign O = I && !IB && !CEB;
  assign ODIV2 = I && !IB && !CEB;
endmodule

module IBUFDS_GTE2 (
    input  wire logic I,
    input  wire logic IB,
    input  wire logic CEB,
    output logic      O,
    output logic      ODIV2
);
  assign O = I && !IB && !CEB;
  assign ODIV2 = I && !IB && !CEB;
endmodule

module BUFG (
    input  wire logic I,
    output logic      O
);
  assign O = I;
endmodule

module MMCME4_BASE #(
    parameter int CLKIN1_PERIOD = 0,
    parameter int DIVCLK_DIVIDE = 1,
    parameter int CLKFBOUT_MULT_F = 5,
    parameter int CLKOUT0_DIVIDE_F = 1
) (
    input  wire logic CLKIN1,
    input  wire logic CLKFBIN,
    output logic      CLKFBOUT,
    output logic      CLKFBOUTB,
    output logic      CLKOUT0,
    output logic      CLKOUT0B,
    output logic      CLKOUT1,
    output logic      CLKOUT1B,
    output logic      CLKOUT2,
    output logic      CLKOUT2B,
    output logic      CLKOUT3,
    output logic      CLKOUT3B,
    output logic      CLKOUT4,
    output logic      CLKOUT5,
    output logic      CLKOUT6,
    input  wire logic RST,
    input  wire logic PWRDWN,
    output logic      LOCKED
);
  logic locked;  // from the testbench

  assign CLKOUT0 = CLKIN1;
  assign LOCKED = locked && !RST && !PWRDWN;
  assign {CLKFBOUT, CLKFBOUTB, CLKOUT0B, CLKOUT1, CLKOUT1B, CLKOUT2, CLKOUT2B, CLKOUT3, CLKOUT3B} = '0;
  assign {CLKOUT4, CLKOUT5, CLKOUT6} = '0;
endmodule

module MMCME2_BASE #(
    parameter int CLKIN1_PERIOD = 0,
    parameter int DIVCLK_DIVIDE = 1,
    parameter int CLKFBOUT_MULT_F = 5,
    parameter int CLKOUT0_DIVIDE_F = 1
) (
    input  wire logic CLKIN1,
    input  wire logic CLKFBIN,
    output logic      CLKFBOUT,
    output logic      CLKFBOUTB,
    output logic      CLKOUT0,
    output logic      CLKOUT0B,
    output logic      CLKOUT1,
    output logic      CLKOUT1B,
    output logic      CLKOUT2,
    output logic      CLKOUT2B,
    output logic      CLKOUT3,
    output logic      CLKOUT3B,
    output logic      CLKOUT4,
    output logic      CLKOUT5,
    output logic      CLKOUT6,
    input  wire logic RST,
    input  wire logic PWRDWN,
    output logic      LOCKED
);
  logic locked;  // from the testbench

  assign CLKOUT0 = CLKIN1;
  assign LOCKED = locked && !RST && !PWRDWN;
  assign {CLKFBOUT, CLKFBOUTB, CLKOUT0B, CLKOUT1, CLKOUT1B, CLKOUT2, CLKOUT2B, CLKOUT3, CLKOUT3B} = '0;
  assign {CLKOUT4, CLKOUT5, CLKOUT6} = '0;
endmodule
