// SPDX-License-Identifier: Apache-2.0
//
// The data lane's deadline. Only the oldest command is watched: a command that is stuck becomes the oldest when those
// before it are done, so it is found after at most the deadline and the time that those take.
//
// Guarantee: `recover_o` comes within DeadlineMs + 1 while the drive is ready and the oldest command is not done, and
// comes again as long as that lasts. A command ends if it was the oldest, with a ready drive, before each of three
// resets of the drive, whatever caused them: the command itself may be what makes the drive fail.
`default_nettype none

module spate_deadline #(
    parameter int unsigned DeadlineMs = 8000  // 2 … 16000
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic ms_tick_i,

    input  wire logic ready_i,
    input  wire logic waiting_i,  // there is an oldest command, and it is pending
    input  wire logic pop_i,      // the oldest command was retired
    input  wire logic reset_i,    // a pulse: the drive was reset, its queues restart
    output logic      recover_o,  // a pulse
    output logic      abort_o     // a pulse: end the oldest command
);

  if (DeadlineMs < 2 || DeadlineMs > 16000) begin : gen_check
    $error("spate_deadline: DeadlineMs must be 2 to 16000");
  end

  localparam logic [1:0] AttemptsMax = 2'd3;

  logic [13:0] ms_q;
  logic [1:0] attempts_q;
  logic tried_q;  // a drive that is ready had this command since the last reset

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i || !waiting_i || pop_i || recover_o) ms_q <= '0;
    else if (ms_tick_i) ms_q <= ms_q + 14'd1;
    recover_o <= rst_ni && ready_i && waiting_i && ms_tick_i && ms_q == 14'(DeadlineMs - 1) && !recover_o;
    tried_q <= rst_ni && !pop_i && !reset_i && (tried_q || (ready_i && waiting_i));
    abort_o <= rst_ni && reset_i && waiting_i && tried_q && attempts_q >= AttemptsMax - 2'd1;
    if (!rst_ni || pop_i) attempts_q <= '0;
    else if (reset_i && tried_q && attempts_q != AttemptsMax) attempts_q <= attempts_q + 2'd1;
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);

  // waited_q: milliseconds for which a ready drive has had the oldest command, since it became the oldest or since the
  // last recover_o. live_q: whether a ready drive had it since the last reset; lives_q: in how many earlier periods
  // between resets.
  logic [14:0] waited_q;
  logic [3:0] lives_q;
  logic live_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i || !waiting_i || pop_i || recover_o) waited_q <= '0;
    else waited_q <= waited_q + 15'(ms_tick_i);
    if (!rst_ni || pop_i || reset_i) live_q <= 1'b0;
    else if (ready_i && waiting_i) live_q <= 1'b1;
    if (!rst_ni || pop_i) lives_q <= '0;
    else if (reset_i && live_q && lives_q != '1) lives_q <= lives_q + 4'd1;
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      if (recover_o) assert ($past(ready_i && waiting_i) && $past(waited_q) == 15'(DeadlineMs - 1));
      // a command ends at the third reset before which it was the oldest, and no earlier
      if (abort_o) assert ($past(reset_i && waiting_i && live_q) && $past(lives_q) >= 4'd2);
      if ($past(reset_i && waiting_i && live_q && lives_q >= 4'd2)) assert (abort_o);
    end
  end
  always_comb begin
    if (rst_ni && past_reset_q) begin
      // recover_o is never late: it comes at the deadline
      assert (waited_q <= 15'(DeadlineMs) && tried_q == live_q);
      assert (4'(attempts_q) == (lives_q > 4'd3 ? 4'd3 : lives_q));
      if (waited_q == 15'(DeadlineMs))
        assert (recover_o);
        else assert (15'(ms_q) == waited_q);
    end
    cover (rst_ni && past_reset_q && abort_o);
  end
`endif

endmodule

`default_nettype wire
