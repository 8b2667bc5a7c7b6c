// SPDX-License-Identifier: Apache-2.0
//
// A queue within one clock domain whose storage is block RAM: for many wide words. What enters leaves once, in order,
// and nothing else leaves, at a word each cycle. A word can leave two cycles after it entered. No combinational path
// leads from an input to `in_ready_o` or `out_valid_o`.
`default_nettype none

module spate_ram_fifo #(
    parameter int unsigned Width = 129,  // bits of a word
    parameter int unsigned Depth = 512,  // words; a power of two, at least 4
    // Derived: no instance sets it.
    parameter int unsigned CountWidth = $clog2(Depth) + 1
) (
    input  wire logic                  clk_i,
    input  wire logic                  rst_ni,
    input  wire logic                  in_valid_i,
    output logic                       in_ready_o,
    input  wire logic [     Width-1:0] in_data_i,
    output logic                       out_valid_o,
    input  wire logic                  out_ready_i,
    output logic      [     Width-1:0] out_data_o,
    output logic      [CountWidth-1:0] count_o       // words inside, including the one that is shown
);

  if (Width < 1 || Depth < 4 || (Depth & (Depth - 1)) != 0) begin : gen_parameters
    $error("spate_ram_fifo: Width must be at least 1 and Depth a power of two, at least 4");
  end

  localparam int unsigned IndexWidth = $clog2(Depth);

  logic [IndexWidth-1:0] head_q, tail_q;
  logic [CountWidth-1:0] count_q, stored_q;  // stored: without the word that is shown
  logic [Width-1:0] words[Depth];
  logic push, pop, fetch;

  assign in_ready_o = !count_q[IndexWidth];
  assign push = in_valid_i && in_ready_o;
  assign pop = out_valid_o && out_ready_i;
  assign fetch = stored_q != '0 && (!out_valid_o || out_ready_i);
  assign count_o = count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      count_q <= '0;
      stored_q <= '0;
      out_valid_o <= 1'b0;
    end else begin
      if (fetch) head_q <= head_q + 1'b1;
      if (push) tail_q <= tail_q + 1'b1;
      count_q <= count_q + CountWidth'(push) - CountWidth'(pop);
      stored_q <= stored_q + CountWidth'(push) - CountWidth'(fetch);
      if (fetch) out_valid_o <= 1'b1;
      else if (out_ready_i) out_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) words[tail_q] <= in_data_i;
  end
  always_ff @(posedge clk_i) begin
    if (fetch) out_data_o <= words[head_q];
  end

`ifdef FORMAL
  // One arbitrary word of the stream is followed.
  (* anyconst *) logic [7:0] chosen;
  logic [7:0] in_place_q, out_place_q, chosen_age;
  logic [Width-1:0] chosen_word_q;
  logic past_reset_q = 1'b0;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      in_place_q <= '0;
      out_place_q <= '0;
    end else begin
      in_place_q <= in_place_q + 8'(push);
      out_place_q <= out_place_q + 8'(pop);
      if (push && in_place_q == chosen) chosen_word_q <= in_data_i;
    end
  end

  assign chosen_age = chosen - out_place_q;
  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (count_q <= CountWidth'(Depth));
      assert (8'(count_q) == in_place_q - out_place_q);
      assert (stored_q <= count_q);
      assert (stored_q + CountWidth'(out_valid_o) == count_q);
      assert (IndexWidth'(tail_q - head_q) == IndexWidth'(stored_q));
      if (chosen_age < 8'(count_q)) begin
        if (chosen_age == 8'd0 && out_valid_o) begin
          assert (out_data_o == chosen_word_q);
        end else begin
          assert (words[IndexWidth'(head_q+IndexWidth'(chosen_age)-IndexWidth'(out_valid_o))] == chosen_word_q);
        end
      end
      cover (count_q == CountWidth'(Depth));
      cover (out_place_q == 8'(Depth + 1) && count_q == '0);
    end
  end
`endif

endmodule

`default_nettype wire
