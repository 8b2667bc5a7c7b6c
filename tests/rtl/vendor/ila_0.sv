// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for the vendor's logic analyser (PG172), with the probes that the boards give it.

module ila_0 (
    input wire logic        clk,
    input wire logic [ 7:0] probe0,
    input wire logic [ 7:0] probe1,
    input wire logic [ 3:0] probe2,
    input wire logic [ 1:0] probe3,
    input wire logic [63:0] probe4,
    input wire logic [ 3:0] probe5,
    input wire logic [63:0] probe6
);
endmodule
