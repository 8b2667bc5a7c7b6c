// SPDX-License-Identifier: Apache-2.0
//
// The drive's state for the user's logic, in the application's clock.
//
// Guarantee: while `drive_ready_o` is high, block size and number of blocks are those of the drive that is ready. While
// `drive_gone_o` is high, step and error are those with which it was given up. A recovery shorter than two cycles of
// the application's clock is not visible; it ended with the same drive.
`default_nettype none

module spate_user_drive
  import spate_pkg::*;
(
    input wire logic         clk_i,
    input wire drive_t       drive_i,
    input wire logic   [7:0] step_i,
    input wire logic   [7:0] error_i,

    input wire logic app_clk_i,
    output logic drive_ready_o,
    output logic drive_gone_o,  // given up, disabled or shut down: commands end with StatusGone
    output logic [7:0] drive_step_o,  // as in the registers: docs/reference/gateware-bringup.md
    output logic [7:0] drive_error_o,
    output logic drive_block_4096_o,  // blocks of 4096 bytes, otherwise of 512
    output logic [LbaWidth-1:0] drive_blocks_o
);

  // Bring-up may begin again at any time, so what is shown is kept until the drive is given up the next time.
  logic gone_q;
  logic [7:0] step_q, error_q;
  always_ff @(posedge clk_i) begin
    gone_q <= drive_i.gone;
    if (drive_i.gone && !gone_q) {step_q, error_q} <= {step_i, error_i};
  end

  logic ready, gone;

  spate_cdc_bit u_ready (
      .clk_i(app_clk_i),
      .level_i(drive_i.ready),
      .level_o(ready)
  );
  spate_cdc_bit u_gone (
      .clk_i(app_clk_i),
      .level_i(gone_q),
      .level_o(gone)
  );

  // The values are stable from before `ready` or `gone` rises until long after it falls.
  always_ff @(posedge app_clk_i) begin
    drive_ready_o <= ready;
    drive_gone_o <= gone;
    if (gone && !drive_gone_o) {drive_step_o, drive_error_o} <= {step_q, error_q};
    if (ready && !drive_ready_o) begin
      drive_block_4096_o <= drive_i.block_4096;
      drive_blocks_o <= drive_i.blocks;
    end
  end

endmodule

`default_nettype wire
