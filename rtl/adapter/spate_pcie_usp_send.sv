// SPDX-License-Identifier: Apache-2.0
//
// Sends completion packets to the block, in the block's clock. A packet begins only when a mark tells that all of its
// words are there, because the block needs packets without pauses.
//
// Guarantee: the output is valid from a packet's first word to its last, and a word does not change until it is taken.
`default_nettype none

module spate_pcie_usp_send #(
    parameter int unsigned DataWidth = 128,
    // Derived: no instance sets these.
    parameter int unsigned Lanes = DataWidth / 32,
    parameter int unsigned LaneBits = $clog2(Lanes)
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic                 mark_valid_i,     // a mark for each packet that is complete
    output logic                      mark_ready_o,
    input  wire logic                 word_valid_i,
    output logic                      word_ready_o,
    input  wire logic [DataWidth-1:0] word_data_i,
    input  wire logic [ LaneBits-1:0] word_top_lane_i,
    input  wire logic                 word_last_i,
    input  wire logic                 word_final_i,

    output logic      [DataWidth-1:0] cc_tdata_o,
    output logic      [    Lanes-1:0] cc_tkeep_o,
    output logic                      cc_tlast_o,
    output logic                      cc_tvalid_o,
    input  wire logic                 cc_tready_i,

    output logic done_o,  // a pulse: the last completion of a request has left
    output logic busy_o
);

  logic inside_q;  // a packet has begun, and its last word has not been sent
  logic valid_q, last_q, final_q;
  logic [DataWidth-1:0] data_q;
  logic [Lanes-1:0] keep_q;
  logic room, begins, moves;

  assign room = !valid_q || cc_tready_i;
  assign begins = !inside_q && mark_valid_i && word_valid_i;
  assign moves = room && (begins || (inside_q && word_valid_i));
  assign word_ready_o = moves;
  assign mark_ready_o = moves && !inside_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (moves) inside_q <= !word_last_i;
      if (room) valid_q <= moves;
    end
  end

  always_ff @(posedge clk_i) begin
    if (room) begin
      data_q <= word_data_i;
      last_q <= word_last_i;
      final_q <= word_final_i;
      for (int unsigned k = 0; k < Lanes; k++) keep_q[k] <= LaneBits'(k) <= word_top_lane_i;
    end
  end

  assign cc_tdata_o = data_q;
  assign cc_tkeep_o = keep_q;
  assign cc_tlast_o = last_q;
  assign cc_tvalid_o = valid_q;
  assign done_o = valid_q && cc_tready_i && final_q;
  assign busy_o = inside_q || valid_q || word_valid_i;

`ifdef FORMAL
  // The environment: the queue before has a word whenever a packet has begun.
  logic past_reset_q = 1'b0;
  logic was_valid_q, was_taken_q, was_last_q;
  logic [DataWidth+Lanes:0] was_q;
  logic moved_q, taken_last_q, taken_final_q;  // of the word that was taken last
  logic [DataWidth-1:0] taken_data_q;
  logic [LaneBits-1:0] taken_top_q;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (inside_q) assume (word_valid_i);
    was_valid_q <= rst_ni && cc_tvalid_o;
    was_taken_q <= cc_tready_i;
    was_last_q <= cc_tlast_o;
    was_q <= {cc_tdata_o, cc_tkeep_o, cc_tlast_o};
    moved_q <= rst_ni && word_valid_i && word_ready_o;
    if (word_valid_i && word_ready_o) begin
      taken_data_q <= word_data_i;
      taken_top_q <= word_top_lane_i;
      {taken_last_q, taken_final_q} <= {word_last_i, word_final_i};
    end
  end
  always_comb begin
    if (past_reset_q && rst_ni) begin
      if (was_valid_q && !was_taken_q) assert (cc_tvalid_o && was_q == {cc_tdata_o, cc_tkeep_o, cc_tlast_o});
      if (was_valid_q && !was_last_q) assert (cc_tvalid_o);
      assert (!valid_q || inside_q == !last_q);
      // The output is the word that was taken last, each once. The lanes kept are all lanes up to its highest.
      assert (!word_ready_o || !cc_tvalid_o || cc_tready_i);
      if (moved_q) assert (cc_tvalid_o);
      if (was_valid_q && was_taken_q && !moved_q) assert (!cc_tvalid_o);
      if (cc_tvalid_o) begin
        assert (cc_tdata_o == taken_data_q && cc_tlast_o == taken_last_q && final_q == taken_final_q);
        for (int unsigned k = 0; k < Lanes; k++) assert (cc_tkeep_o[k] == (k <= 32'(taken_top_q)));
      end
      assert (done_o == (cc_tvalid_o && cc_tready_i && taken_final_q));
      // A mark is used with a packet's first word.
      assert (mark_ready_o == (word_ready_o && !inside_q) && (!mark_ready_o || mark_valid_i));
      assert (cc_tkeep_o[0] || !cc_tvalid_o);
      cover (done_o && was_valid_q && !was_taken_q);
    end
  end
`endif

endmodule

`default_nettype wire
