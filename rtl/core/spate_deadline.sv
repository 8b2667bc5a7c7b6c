// SPDX-License-Identifier: Apache-2.0
//
// The data lane's deadline. Only the oldest command is watched: whichever command is stuck becomes the oldest once those
// before it are done, so it is found after at most the deadline and what those before it take.
//
// Guarantee: `recover_o` within DeadlineMs + 1 of the oldest command's not being done while the drive is ready, and
// again and again as long as that is so. When the same command was the oldest through three recoveries, it ends.
module spate_deadline #(
    parameter int unsigned DeadlineMs = 8000  // 2 … 16000
) (
    input logic clk_i,
    input logic rst_ni,
    input logic ms_tick_i,

    input  logic ready_i,
    input  logic waiting_i,  // there is an oldest command, and it is not done
    input  logic pop_i,      // it was retired
    input  logic reset_i,    // a pulse: the drive was reset, its queues begin again
    output logic recover_o,  // a pulse
    output logic abort_o     // a pulse: end the oldest command
);

  if (DeadlineMs < 2 || DeadlineMs > 16000) begin : gen_check
    $error("spate_deadline: DeadlineMs must be 2 … 16000");
  end

  localparam logic [1:0] AttemptsMax = 2'd3;

  logic [13:0] ms_q;
  logic [1:0] attempts_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i || !waiting_i || pop_i || recover_o) ms_q <= '0;
    else if (ms_tick_i) ms_q <= ms_q + 14'd1;
    recover_o <= rst_ni && ready_i && waiting_i && ms_tick_i && ms_q == 14'(DeadlineMs - 1) && !recover_o;
    abort_o <= rst_ni && reset_i && attempts_q == AttemptsMax;
    if (!rst_ni || pop_i) attempts_q <= '0;
    else if (recover_o && attempts_q != AttemptsMax) attempts_q <= attempts_q + 2'd1;
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);

  // Milliseconds begun since the oldest command has been waiting of a ready drive, or since it was last said; and how
  // often that was said of this command.
  logic [14:0] waited_q;
  logic [1:0] said_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i || !waiting_i || pop_i || recover_o) waited_q <= '0;
    else waited_q <= waited_q + 15'(ms_tick_i);
    if (!rst_ni || pop_i) said_q <= '0;
    else if (said_q != AttemptsMax) said_q <= said_q + 2'(recover_o);
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      if (recover_o) assert ($past(ready_i && waiting_i) && $past(waited_q) == 15'(DeadlineMs - 1));
      if (abort_o) assert ($past(reset_i) && $past(said_q) == AttemptsMax);
      if ($past(reset_i && said_q == AttemptsMax)) assert (abort_o);
    end
  end
  always_comb begin
    if (rst_ni && past_reset_q) begin
      // never later; at the deadline it is being said
      assert (waited_q <= 15'(DeadlineMs) && said_q == attempts_q);
      if (waited_q == 15'(DeadlineMs))
        assert (recover_o);
        else assert (15'(ms_q) == waited_q);
    end
    cover (rst_ni && past_reset_q && abort_o);
  end
`endif

endmodule
