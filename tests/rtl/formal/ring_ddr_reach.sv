// SPDX-License-Identifier: Apache-2.0
//
// What any stalls can lead to in spate_ring_ddr within the depth of its proof. ring_ddr_eager reaches other cases.
module ring_ddr_reach (
    input logic rst_ni,
    input logic gone_late,   // a part ends because its drive went before
    input logic side_first,  // a side command's response comes while a request waits for its own
    input logic part_next    // a part comes while another is given to the drive
);

  always_comb begin
    if (rst_ni) begin
      cover (gone_late);
      cover (side_first);
      cover (part_next);
    end
  end

endmodule

bind spate_ring_ddr ring_ddr_reach u_reach (
    .rst_ni,
    .gone_late(u_order.issue && u_order.next_gone && !drive_i.gone),
    .side_first(u_ports.side_shown && u_ports.accepted_q != u_ports.responded_q),
    .part_next(drive_lanes_o.command_valid && u_cut.part_valid_o)
);
