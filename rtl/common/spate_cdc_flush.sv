// SPDX-License-Identifier: Apache-2.0
//
// Empties the clock crossings between two domains when one of them is reset, whatever the other is doing. Side a's
// clock never stops; side b's may. One instance serves any number of crossings between the same two domains.
//
//   a: start ──▶ isolate (requests that b clears) ──▶ clear ──▶ release (b may run) ──▶ run ──▶ isolate …
//   b: down (after its reset) ──▶ cleared (while a requests it) ──▶ up ──▶ down or cleared …
//
// Guarantee: a side's `clear` is high only while the other side does not run, and both sides clear between any two
// periods in which both run. Side a stops as soon as it knows that b was reset or its clock stopped. Only its restart
// waits for b. Side a clears only when a_idle_i tells that its transactions have ended.
`default_nettype none

module spate_cdc_flush (
    input  wire logic a_clk_i,
    input  wire logic a_rst_ni,
    input  wire logic a_stop_i,  // a reason not to run that is known without b's clock: b's reset
    input  wire logic a_idle_i,
    output logic      a_run_o,
    output logic      a_clear_o,

    input  wire logic b_clk_i,
    input  wire logic b_rst_ni,
    output logic      b_run_o,
    output logic      b_clear_o
);

  // ---- side a: the request and b's acknowledgement rise and fall in turn ----

  typedef enum logic [2:0] {
    StStart,
    StIsolate,
    StClear,
    StRelease,
    StRun
  } state_e;

  state_e state_q, state_d;
  logic request_q;
  logic cleared_q, up_q;
  logic cleared, up, down_q;  // the state of b, as a sees it

  spate_cdc_bit u_cleared (
      .clk_i(a_clk_i),
      .level_i(cleared_q),
      .level_o(cleared)
  );
  spate_cdc_bit u_up (
      .clk_i(a_clk_i),
      .level_i(up_q),
      .level_o(up)
  );

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StStart: if (request_q || !cleared) state_d = StIsolate;
      StIsolate: if (request_q && cleared && !up && a_idle_i) state_d = StClear;
      StClear: state_d = StRelease;
      StRelease: begin
        // Two bits change from cleared to up: the state may look like down for one cycle.
        if (!request_q && !cleared) begin
          if (up && !a_stop_i) state_d = StRun;
          else if (up || down_q) state_d = StIsolate;
        end
      end
      StRun: if (!up || a_stop_i) state_d = StIsolate;
      default: state_d = StStart;
    endcase
  end

  assign a_run_o = state_q == StRun;
  assign a_clear_o = state_q == StClear;

  always_ff @(posedge a_clk_i) begin
    down_q <= !cleared && !up;
    state_q <= a_rst_ni ? state_d : StStart;
  end

  // The request falls one cycle after the clearing, so that b, once it is up, sees nothing old. A reset of side a does
  // not change the request: if it fell before b saw it, b's late acknowledgement would be taken for the next request's.
  // The initial value is for simulators with X.
  initial request_q = 1'b0;
  always_ff @(posedge a_clk_i) begin
    request_q <= state_q == StIsolate || state_q == StClear || (state_q == StStart && request_q);
  end

  // ---- side b ----

  logic request;

  spate_cdc_bit u_request (
      .clk_i(b_clk_i),
      .level_i(request_q),
      .level_o(request)
  );

  assign b_run_o = up_q;
  assign b_clear_o = cleared_q;

  // The acknowledgement has no reset either: it always follows the request. If b was in reset when the request fell, b
  // stays down, which side a sees as neither up nor cleared.
  always_ff @(posedge b_clk_i) begin
    cleared_q <= request;
    up_q <= b_rst_ni && !request && (cleared_q || up_q);
  end

endmodule

`default_nettype wire
