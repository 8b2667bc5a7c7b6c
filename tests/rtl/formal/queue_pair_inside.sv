// SPDX-License-Identifier: Apache-2.0
//
// What the induction of queue_pair_ports.sv needs to know of spate_queue_pair.
module queue_pair_inside (
    input logic       rst_ni,
    input logic       recovering_q,
    input logic       side_busy_q,
    input logic [7:0] side_number_q
);

  always_comb begin
    if (rst_ni && u_ports.past_reset_q) begin
      assert (recovering_q == u_ports.stopped_q && side_busy_q == u_ports.pushed_q);
      assert (!side_busy_q || u_ports.numbered_q);
      if (u_ports.numbered_q) assert (side_number_q == u_ports.number_q);
    end
  end

endmodule

bind spate_queue_pair queue_pair_inside u_inside (.*);
