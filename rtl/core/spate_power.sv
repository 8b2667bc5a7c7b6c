// SPDX-License-Identifier: Apache-2.0
//
// Did the drive lose power, and with it what it had completed and not flushed?
//
// AQA, ASQ and ACQ are the witness. A reset by CC.EN keeps them, a power loss clears them (NVMe 1.4, 7.3.2). If they
// still have what the core wrote, there was no power loss, whatever the drive counts. Otherwise the counters of the
// SMART log decide, and a drive that does not count leaves it unknown:
//
//   registers                log after the reset                               verdict
//   kept                     any, or none                                      no loss
//   cleared                  counters known before, and the same               unknown
//   cleared                  a counter higher or lower, or not known before    loss
//   cleared                  refused, or without contents                      loss
//   cleared by PERST#        a counter higher, however late the log comes      loss
//                            anything else                                     unknown
//   cleared when the core    a counter higher, however late the log comes      loss
//   stopped the controller   anything else                                     no loss
//
// The last row is for a controller that breaks the rule. It does not apply to one that has kept its registers through a
// stop.
//
// Guarantee: the verdict on a reset falls before `ready`, unless a later log shows a rise. Each side that gives flushes
// is told once.
`default_nettype none

module spate_power
  import spate_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic ready_i, // the drive takes commands: from now on its cache may have contents

    input wire logic                event_valid_i,
    input wire power_event_e        event_i,
    input wire logic                cycles_valid_i,  // count_i is the log's power cycles
    input wire logic                unsafe_valid_i,  // count_i is the log's unsafe shutdowns
    input wire logic         [31:0] count_i,

    output power_t    power_o,
    // Of the side that gave the current command.
    input  wire logic from_registers_i,
    output logic      untold_o           // a verdict since it was last told
);

  typedef enum logic [1:0] {
    DoubtNone,
    DoubtStopped,
    DoubtReset,
    DoubtCleared
  } doubt_e;

  doubt_e doubt_q, raised;
  logic used_q, written_q, stopped_q, kept_q, known_q, higher_q, other_q;
  logic [31:0] cycles_q, previous;
  logic [1:0] untold_q;
  logic lost, unknown;

  always_comb begin
    unique case (event_i)
      PowerReset: raised = used_q ? DoubtReset : DoubtNone;
      PowerCleared: raised = !used_q || !written_q ? DoubtNone : stopped_q && !kept_q ? DoubtStopped : DoubtCleared;
      default: raised = DoubtNone;
    endcase
  end

  always_comb begin
    lost = 1'b0;
    unknown = 1'b0;
    if (event_valid_i && event_i == PowerLog) begin
      unique case (doubt_q)
        DoubtCleared: begin
          lost = !known_q || other_q;
          unknown = !lost;
        end
        DoubtReset: begin
          lost = known_q && higher_q;
          unknown = !lost;
        end
        DoubtStopped: lost = known_q && higher_q;
        default: ;
      endcase
    end else if (event_valid_i && event_i == PowerNoLog) begin
      lost = doubt_q == DoubtCleared;
      unknown = doubt_q == DoubtReset;
    end
  end

  assign previous = cycles_valid_i ? cycles_q : power_o.unsafe_shutdowns;
  assign untold_o = untold_q[from_registers_i];

  always_ff @(posedge clk_i) begin
    if (cycles_valid_i) cycles_q <= count_i;
    if (unsafe_valid_i) power_o.unsafe_shutdowns <= count_i;
    if (cycles_valid_i || unsafe_valid_i) begin
      higher_q <= higher_q || count_i > previous;
      other_q <= other_q || count_i != previous;
    end
    if (ready_i) used_q <= 1'b1;
    if (lost) power_o.losses <= power_o.losses + 1'b1;
    if (unknown) power_o.unknown <= power_o.unknown + 1'b1;
    if (event_valid_i) begin
      if (raised > doubt_q) doubt_q <= raised;
      unique case (event_i)
        PowerWritten: begin
          written_q <= 1'b1;
          stopped_q <= 1'b0;
        end
        PowerStopped: stopped_q <= 1'b1;
        PowerReset: {written_q, kept_q} <= '0;  // another drive may come
        PowerKept: kept_q <= kept_q || (written_q && stopped_q);
        PowerSafe: begin
          used_q <= 1'b0;
          doubt_q <= DoubtNone;
        end
        PowerLog: begin
          doubt_q <= DoubtNone;
          known_q <= 1'b1;
          higher_q <= 1'b0;
          other_q <= 1'b0;
        end
        PowerNoLog: begin
          doubt_q <= doubt_q == DoubtCleared || doubt_q == DoubtNone ? DoubtNone : DoubtStopped;
          if (doubt_q == DoubtCleared) known_q <= 1'b0;  // a rise in the next log may be this loss again
        end
        PowerTold: untold_q[from_registers_i] <= 1'b0;
        default: ;
      endcase
    end
    if (lost || unknown) untold_q <= '1;

    if (!rst_ni) begin
      doubt_q <= DoubtNone;
      {used_q, written_q, stopped_q, kept_q, known_q, higher_q, other_q} <= '0;
      untold_q <= '0;
      power_o <= '0;
      cycles_q <= '0;
    end
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);
  always_comb assume (!(cycles_valid_i && unsafe_valid_i));  // one counter at a time, ...
  always_comb assume (!(event_valid_i && (cycles_valid_i || unsafe_valid_i)));  // ... and then PowerLog

  // was_*: from the events alone. What happened since the last log with contents: cleared_q, the registers were found
  // cleared, and no stop explains it; excused_q, a stop does; reset_q, PERST#; late_q, PERST# and then no log. log_q
  // and unsafe_log_q, cycles_log_q: there was a log, and these were its counters.
  logic cleared_q, excused_q, reset_q, late_q, log_q;
  logic was_ready_q, was_written_q, was_stopped_q, was_kept_q;
  logic [31:0] unsafe_log_q, cycles_log_q;
  logic is_log, is_no_log, explained;
  assign is_log = event_valid_i && event_i == PowerLog;
  assign is_no_log = event_valid_i && event_i == PowerNoLog;
  assign explained = was_stopped_q && !was_kept_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (event_valid_i && event_i inside {PowerLog, PowerSafe})) begin
      {cleared_q, excused_q, reset_q, late_q} <= '0;
    end else if (is_no_log) begin
      {cleared_q, reset_q} <= '0;
      excused_q <= excused_q && !cleared_q;
      late_q <= (late_q || reset_q) && !cleared_q;
    end else if (event_valid_i && was_ready_q) begin
      if (event_i == PowerReset) reset_q <= 1'b1;
      if (event_i == PowerCleared && was_written_q && explained) excused_q <= 1'b1;
      if (event_i == PowerCleared && was_written_q && !explained) cleared_q <= 1'b1;
    end
    if (!rst_ni || (event_valid_i && event_i == PowerSafe)) was_ready_q <= 1'b0;
    else if (ready_i) was_ready_q <= 1'b1;
    if (!rst_ni || (event_valid_i && event_i == PowerReset)) was_written_q <= 1'b0;
    else if (event_valid_i && event_i == PowerWritten) was_written_q <= 1'b1;
    if (!rst_ni || (event_valid_i && event_i == PowerWritten)) was_stopped_q <= 1'b0;
    else if (event_valid_i && event_i == PowerStopped) was_stopped_q <= 1'b1;
    if (!rst_ni || (event_valid_i && event_i == PowerReset)) was_kept_q <= 1'b0;
    else if (event_valid_i && event_i == PowerKept && was_written_q && was_stopped_q) was_kept_q <= 1'b1;
    if (!rst_ni || (is_no_log && cleared_q)) log_q <= 1'b0;
    else if (is_log) log_q <= 1'b1;
    if (!rst_ni) {unsafe_log_q, cycles_log_q} <= '0;
    else if (is_log) {unsafe_log_q, cycles_log_q} <= {power_o.unsafe_shutdowns, cycles_q};
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (!(lost && unknown) && (!(lost || unknown) || is_log || is_no_log));
      assert (known_q == log_q);
      assert ({used_q, written_q, stopped_q, kept_q} == {was_ready_q, was_written_q, was_stopped_q, was_kept_q});
      // a counter that differs from the last log's is seen
      if (power_o.unsafe_shutdowns != unsafe_log_q || cycles_q != cycles_log_q) assert (other_q);
      if (power_o.unsafe_shutdowns > unsafe_log_q || cycles_q > cycles_log_q) assert (higher_q);
      // the table
      assert ((doubt_q == DoubtCleared) == cleared_q);
      assert ((doubt_q == DoubtReset) == (reset_q && !cleared_q));
      assert ((doubt_q == DoubtNone) == !(cleared_q || reset_q || excused_q || late_q));
      if (is_no_log) assert (lost == cleared_q && unknown == (reset_q && !cleared_q));
      if (is_log && cleared_q) assert (lost == (!log_q || other_q) && unknown == !lost);
      if (is_log && !cleared_q) assert (lost == ((reset_q || late_q || excused_q) && log_q && higher_q));
      if (is_log && !cleared_q) assert (unknown == (reset_q && !lost));
    end
    cover (past_reset_q && rst_ni && is_log && late_q && lost);
    cover (past_reset_q && rst_ni && is_log && cleared_q && unknown);
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      assert (power_o.losses == $past(power_o.losses) + 16'($past(lost)));
      assert (power_o.unknown == $past(power_o.unknown) + 16'($past(unknown)));
      if ($past(lost || unknown))
        assert (&untold_q);
        else if (!$past(event_valid_i && event_i == PowerTold))
          assert (untold_q == $past(untold_q));
          else begin
            assert (!untold_q[$past(from_registers_i)]);
            assert (untold_q[!$past(from_registers_i)] == $past(untold_q[!from_registers_i]));
          end
    end
  end
`endif

endmodule

`default_nettype wire
