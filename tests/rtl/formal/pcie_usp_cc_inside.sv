// SPDX-License-Identifier: Apache-2.0
//
// What the induction of pcie_usp_cc_ports.sv needs to know of spate_pcie_usp_cc: how its registers follow from the
// reference.
module pcie_usp_cc_inside
  import spate_pcie_usp_pkg::*;
(
    input logic          rst_ni,
    input logic          packet_valid_i,
    input packet_t       packet_i,
    input logic          word_valid_o,
    input logic          copies_q,
    input logic          beats_there_q,
    input logic          heading,
    input logic    [7:0] left_q
);

  always_comb begin
    if (u_ports.past_reset_q && rst_ni) begin
      assert (!(copies_q && beats_there_q) && (heading || packet_valid_i));
      assert (u_ports.owner_taken_q ? word_valid_o && heading :
              10'(u_ports.place_q) + 10'(word_valid_o) == 10'(u_ports.composed_q));
      if (u_ports.owner_taken_q) begin
        assert (u_ports.owner.dwords <= 8'd128 && u_ports.owner.unsupported == (u_ports.owner.dwords == '0));
      end
      assert (heading == (u_ports.composed_q == '0));
      if (!heading) begin
        assert (copies_q == packet_i.unsupported);
        assert (10'(left_q) + 10'(u_ports.composed_q) + 10'd1 == u_ports.total_words);
      end
      assert (u_ports.taken_q == (beats_there_q ? u_ports.composed_q - 8'd1 : 8'd0));
    end
  end

endmodule

bind spate_pcie_usp_cc pcie_usp_cc_inside u_inside (.*);
