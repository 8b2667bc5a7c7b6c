// SPDX-License-Identifier: Apache-2.0
//
// spate_cdc_fifo between two unrelated clocks. It starts empty: after a clear of both sides, or with `AtLap` two words
// before the pointers go round. While `run` is low nothing passes.
module cdc_fifo_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Depth = 4,
    parameter bit AtLap = 1'b0
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
  logic in_clear_q = !AtLap, out_clear_q = !AtLap;
  logic [2:0] in_edges_q = AtLap ? 3'd4 : 3'd0, out_edges_q = AtLap ? 3'd4 : 3'd0;

  // Otherwise both sides clear first, for longer than a pointer needs to cross. Nothing is put in or taken before.
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

  // The Gray codes are those of the positions. A code that lagged would hide the last word until the next one comes,
  // which no promise about words shows.
  localparam int unsigned GrayWidth = $clog2(Depth) + 1;
  function automatic logic [GrayWidth-1:0] gray(logic [GrayWidth-1:0] position);
    return position ^ (position >> 1);
  endfunction
  always_comb begin
    if (begun) begin
      assert (u_fifo.tail_gray_q == gray(u_fifo.tail_q) && u_fifo.head_gray_q == gray(u_fifo.head_q));
      assert (u_fifo.tail_next_gray_q == gray(u_fifo.tail_q + 1'b1));
      assert (u_fifo.head_next_gray_q == gray(u_fifo.head_q + 1'b1));
    end
  end

  if (AtLap) begin : gen_at_lap
    localparam logic [GrayWidth-1:0] Start = GrayWidth'(2 * Depth - 2);
    localparam logic [GrayWidth-1:0] Gray = gray(Start);
    localparam logic [GrayWidth-1:0] NextGray = gray(Start + 1'b1);
    // Until the first edge of either clock.
    logic in_first_q = 1'b1, out_first_q = 1'b1;
    always_ff @(posedge in_clk) in_first_q <= 1'b0;
    always_ff @(posedge out_clk) out_first_q <= 1'b0;
    always_comb begin
      if (in_first_q && out_first_q) begin
        assume (u_fifo.tail_q == Start && u_fifo.head_q == Start && u_fifo.left_q == Start);
        assume (u_fifo.tail_gray_q == Gray && u_fifo.head_gray_q == Gray);
        assume (u_fifo.tail_next_gray_q == NextGray && u_fifo.head_next_gray_q == NextGray);
        assume (u_fifo.room_q && !u_fifo.there_q && !u_fifo.out_valid_q);
      end
    end
    for (genvar k = 0; k < GrayWidth; k++) begin : gen_bit
      always_comb begin
        if (in_first_q && out_first_q) begin
          assume (u_fifo.gen_far[k].u_head.level_q == {2{Gray[k]}} && u_fifo.gen_far[k].u_tail.level_q == {2{Gray[k]}});
        end
      end
    end
  end

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
