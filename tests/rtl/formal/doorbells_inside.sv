// SPDX-License-Identifier: Apache-2.0
//
// What the induction of doorbells_ports.sv needs to know of spate_doorbells: how its registers follow from the reference.
module doorbells_inside #(
    parameter int unsigned QueueShiftMax = 7
) (
    input logic [QueueShiftMax-1:0] mask_q,
    input logic [QueueShiftMax-1:0] quarter_q,
    input logic [QueueShiftMax-1:0] rung_tail_q,
    input logic [QueueShiftMax-1:0] rung_head_q,
    input logic                     urgent_q,
    input logic                     waiting_q,
    input logic [              1:0] stale_q,
    input logic [              3:0] wait_us_q
);

  always_comb begin
    if (u_ports.past_reset_q) assert (mask_q == u_ports.mask && quarter_q == u_ports.quarter);
    if (u_ports.checked) begin
      assert (rung_tail_q == u_ports.rung_tail && rung_head_q == u_ports.rung_head);
      assert (urgent_q == u_ports.urgent && waiting_q == u_ports.waiting);
      // unrung_head_q is a cycle late. So wait_us_q may have missed a tick, or counted one before the first completion.
      assert (wait_us_q == '1 || 5'(wait_us_q) == u_ports.ticks || 5'(wait_us_q) + 5'd1 == u_ports.ticks ||
              (stale_q != '0 && wait_us_q == 4'd1));
      assert (wait_us_q != '1 || u_ports.ticks >= 5'd15);
    end
  end

endmodule

bind spate_doorbells doorbells_inside #(.QueueShiftMax(QueueShiftMax)) u_inside (.*);
