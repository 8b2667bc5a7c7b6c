// SPDX-License-Identifier: Apache-2.0
//
// A queue within one clock domain. What enters leaves once, in order, and nothing else leaves. A word can leave one
// cycle after it entered, two cycles if the output is registered. The first word is shown at the output before it is
// requested. No combinational path leads from an input to an output: a full queue takes a word only in the cycle after
// one has left. The storage is LUTRAM, which is read asynchronously. A register after it shortens the paths of the
// output.
`default_nettype none

module spate_fifo #(
    parameter int unsigned Width = 32,  // bits of a word
    parameter int unsigned Depth = 16,  // words, all of which can be used; a power of two, at least 2
    parameter bit Registered = 1'b0,  // the output is a register, one of the words
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
    output logic      [CountWidth-1:0] count_o       // words inside at the start of this cycle
);

  if (Width < 1 || Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_parameters
    $error("spate_fifo: Width must be at least 1 and Depth a power of two, at least 2");
  end

  localparam int unsigned IndexWidth = $clog2(Depth);

  // Positions count modulo 2 * Depth: their difference is the number of words, their low bits are the index. The
  // number is a register of its own, so that no subtraction lies before `in_ready_o`, `out_valid_o` and `count_o`.
  logic [CountWidth-1:0] head_q, tail_q, count_q, count_d;
  (* ram_style = "distributed" *) logic [Width-1:0] words[Depth];
  logic push, pop;

  assign count_o = count_q;
  assign in_ready_o = !count_q[IndexWidth];
  assign push = in_valid_i && in_ready_o;
  assign pop = out_valid_o && out_ready_i;

  // One more or one less, bit by bit: in a sum, the carry chain would begin with `pop`, which comes late.
  logic [CountWidth-1:0] rises, falls;  // a bit changes if those below it are all 1, or all 0
  always_comb begin
    for (int unsigned i = 0; i < CountWidth; i++) begin
      rises[i] = &(count_q | (CountWidth'('1) << i));
      falls[i] = ~|(count_q & ~(CountWidth'('1) << i));
    end
    count_d = count_q;
    if (push && !pop) count_d = count_q ^ rises;
    if (pop && !push) count_d = count_q ^ falls;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      count_q <= '0;
    end else begin
      if (pop) head_q <= head_q + 1'b1;
      if (push) tail_q <= tail_q + 1'b1;
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) words[tail_q[IndexWidth-1:0]] <= in_data_i;
  end

  if (Registered) begin : gen_registered
    logic [CountWidth-1:0] load_q;  // the position of the next word that goes into the register
    logic there_q, load;
    logic [Width-1:0] data_q;
    assign load = load_q != tail_q && (!there_q || out_ready_i);
    assign out_valid_o = there_q;
    assign out_data_o = data_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        load_q <= '0;
        there_q <= 1'b0;
      end else begin
        if (load) load_q <= load_q + 1'b1;
        there_q <= load || (there_q && !out_ready_i);
      end
      if (load) data_q <= words[load_q[IndexWidth-1:0]];
    end
  end else begin : gen_direct
    logic there_q;
    assign out_valid_o = there_q;
    // Of `count_d`, without its sum, because `pop` comes late.
    always_ff @(posedge clk_i) begin
      there_q <= rst_ni && (push || count_q[CountWidth-1:1] != '0 || (count_q[0] && !pop));
    end
    assign out_data_o = words[head_q[IndexWidth-1:0]];
  end

`ifdef FORMAL
  // One arbitrary word of the stream is followed: it must leave at the same position, unchanged.
  (* anyconst *) logic [7:0] chosen;
  logic [7:0] in_place_q, out_place_q;
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

  // A word reaches the register in one cycle, and the register is that of the word at the head.
  if (Registered) begin : gen_formal_registered
    always_comb begin
      if (past_reset_q && rst_ni) assert (gen_registered.load_q == head_q + CountWidth'(out_valid_o));
    end
    always_ff @(posedge clk_i) begin
      if (past_reset_q && rst_ni && $past(rst_ni)) begin
        if ($past(count_o) > CountWidth'($past(pop))) assert (out_valid_o);
      end
    end
  end

  // The chosen word is inside from its entry until it leaves.
  logic chosen_inside;
  logic [7:0] chosen_age;
  assign chosen_age = chosen - out_place_q;
  assign chosen_inside = chosen_age < 8'(count_o);

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (count_o <= CountWidth'(Depth));
      assert (count_o == tail_q - head_q);
      assert (8'(count_o) == in_place_q - out_place_q);
      assert (in_ready_o == (count_o != CountWidth'(Depth)));
      if (chosen_inside) begin
        assert (words[IndexWidth'(head_q+CountWidth'(chosen_age))] == chosen_word_q);
        if (out_place_q == chosen && out_valid_o) assert (out_data_o == chosen_word_q);
      end
      if (out_valid_o) assert (count_o != '0);
      if (!Registered && count_o != '0) assert (out_valid_o);
      cover (count_o == CountWidth'(Depth));
      cover (out_place_q == 8'(Depth + 1) && count_o == '0);
    end
  end
`endif

endmodule

`default_nettype wire
