// SPDX-License-Identifier: Apache-2.0
//
// spate_cdc_fifo between two unrelated clocks. It starts empty. While `run` is low nothing passes.
module cdc_fifo_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Depth = 4
) (
    input logic             in_clk,
    input logic             in_run,
    input logic             in_valid,
    input logic [Width-1:0] in_data,
    input logic             out_clk,
    input logic             out_run,
    input logic             out_ready
);

  logic in_ready, in_empty, in_left, out_valid;
  logic [Width-1:0] out_data;
  logic in_clear_q = 1'b1, out_clear_q = 1'b1;
  logic [2:0] in_edges_q = '0, out_edges_q = '0;

  // Both sides clear first, for longer than a pointer needs to cross. Nothing is put in or taken before.
  always_ff @(posedge in_clk) begin
    in_clear_q <= 1'b0;
    in_edges_q <= in_edges_q + 3'(!out_clear_q && !in_edges_q[2]);
  end
  always_ff @(posedge out_clk) begin
    out_clear_q <= 1'b0;
    out_edges_q <= out_edges_q + 3'(!in_clear_q && !out_edges_q[2]);
  end

  logic begun;
  assign begun = in_edges_q[2] && out_edges_q[2];

  spate_cdc_fifo #(
      .Width(Width),
      .Depth(Depth)
  ) u_fifo (
      .in_clk_i(in_clk),
      .in_run_i(in_run && begun),
      .in_clear_i(in_clear_q),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_empty_o(in_empty),
      .in_left_o(in_left),
      .out_clk_i(out_clk),
      .out_run_i(out_run && begun),
      .out_clear_i(out_clear_q),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o(out_data)
  );

  // One arbitrary word of the stream is followed.
  (* anyconst *) logic [3:0] chosen;
  logic [3:0] in_place_q = '0, out_place_q = '0, left_place_q = '0;
  logic [Width-1:0] chosen_word_q;

  always_ff @(posedge in_clk) begin
    if (begun && in_left) left_place_q <= left_place_q + 1'b1;
    if (begun && in_valid && in_ready) begin
      in_place_q <= in_place_q + 1'b1;
      if (in_place_q == chosen) chosen_word_q <= in_data;
    end
  end
  always_ff @(posedge out_clk) begin
    if (begun && out_valid && out_ready) out_place_q <= out_place_q + 1'b1;
  end

  always_comb begin
    if (begun) begin
      assert (4'(in_place_q - out_place_q) <= 4'(Depth + 1));
      if (out_valid) begin
        assert (in_place_q != out_place_q);
        if (out_place_q == chosen) assert (out_data == chosen_word_q);
      end
      // `in_empty` means that all words but the one at the output have left.
      if (in_empty) assert (4'(in_place_q - out_place_q) <= 4'd1);
      // `in_left` comes only after a word has left. A counter of words that have not left finds room while there are
      // fewer than Depth.
      assert (4'(in_place_q - left_place_q) <= 4'(Depth));
      assert (4'(in_place_q - left_place_q) + 4'd1 >= 4'(in_place_q - out_place_q));
      if (in_run && 4'(in_place_q - left_place_q) < 4'(Depth)) assert (in_ready);
      cover (out_place_q == 4'(Depth + 2) && left_place_q == in_place_q);
      cover (out_place_q == 4'(Depth + 2));
      cover (4'(in_place_q - out_place_q) == 4'(Depth + 1) && !in_ready && out_valid);
    end
  end

endmodule
