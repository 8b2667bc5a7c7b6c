// SPDX-License-Identifier: Apache-2.0
//
// The reset of a board without a processor. It waits for the clock, and then for the power of the drive's slot: PERST#
// must stay low for 100 ms after the power is good (PCI Express CEM, T_PVPERL). An FPGA does not see when that was. Its
// configuration ends later, so the wait begins there.
//
// Guarantee: rst_no falls with the first edge of the clock after `locked_i` has fallen, and rises HoldCycles cycles
// after locked_i has risen, or a few cycles later. It comes from a flop.
`default_nettype none

module spate_board_reset #(
    parameter int unsigned HoldCycles = 12_600_000  // 100 ms at 126 MHz; at least 2
) (
    input  wire logic clk_i,
    input  wire logic locked_i,  // asynchronous: the clock is good
    output logic      rst_no
);

  localparam int unsigned CountWidth = $clog2(HoldCycles + 1);

  logic clock_good;
  logic [CountWidth-1:0] count_q;

  spate_cdc_reset u_clock_good (
      .clk_i,
      .rst_ni(locked_i),
      .rst_no(clock_good)
  );

  always_ff @(posedge clk_i) begin
    if (!clock_good) begin
      count_q <= '0;
      rst_no <= 1'b0;
    end else begin
      if (!rst_no) count_q <= count_q + 1'b1;
      rst_no <= rst_no || count_q == CountWidth'(HoldCycles - 1);
    end
  end

endmodule

`default_nettype wire
