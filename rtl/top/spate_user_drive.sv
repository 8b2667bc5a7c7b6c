// SPDX-License-Identifier: Apache-2.0
//
// The drive's state for the user's logic, in the user's clock.
//
// Guarantee: while `drive_ready_o` is high, block size and number of blocks are those of the drive that is ready. A
// recovery shorter than two cycles of the user's clock is not visible; it ended with the same drive.
`default_nettype none

module spate_user_drive
  import spate_pkg::*;
(
    input wire logic user_clk_i,
    input wire drive_t drive_i,  // of the core's clock
    output logic drive_ready_o,
    output logic drive_gone_o,  // given up, disabled or shut down: commands end with StatusGone
    output logic drive_block_4096_o,  // blocks of 4096 bytes, otherwise of 512
    output logic [LbaWidth-1:0] drive_blocks_o
);

  logic ready;

  spate_cdc_bit u_ready (
      .clk_i(user_clk_i),
      .level_i(drive_i.ready),
      .level_o(ready)
  );
  spate_cdc_bit u_gone (
      .clk_i(user_clk_i),
      .level_i(drive_i.gone),
      .level_o(drive_gone_o)
  );

  // The values are stable from before `ready` rises until long after it falls.
  always_ff @(posedge user_clk_i) begin
    drive_ready_o <= ready;
    if (ready && !drive_ready_o) begin
      drive_block_4096_o <= drive_i.block_4096;
      drive_blocks_o <= drive_i.blocks;
    end
  end

endmodule

`default_nettype wire
