// SPDX-License-Identifier: Apache-2.0
//
// Two requesters of commands for one lane of a drive. The one that was served last gives way to the other.
//
// Guarantee: each command is passed on once, those of a requester in order. No command waits for more than one command
// of the other requester. The command that is offered to the drive may change until it is taken.
`default_nettype none

module spate_command_arbiter
  import spate_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic     a_valid_i,
    output logic          a_ready_o,
    input  wire command_t a_i,
    input  wire logic     b_valid_i,
    output logic          b_ready_o,
    input  wire command_t b_i,

    output logic      command_valid_o,
    input  wire logic command_ready_i,
    output command_t  command_o
);

  logic a_was_last_q, choose_b;

  assign choose_b = b_valid_i && (!a_valid_i || a_was_last_q);
  // A requester's `ready` does not depend on its own `valid`, which may come late in the cycle.
  assign a_ready_o = command_ready_i && !(b_valid_i && a_was_last_q);
  assign b_ready_o = command_ready_i && !(a_valid_i && !a_was_last_q);
  assign command_valid_o = a_valid_i || b_valid_i;
  assign command_o = choose_b ? b_i : a_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) a_was_last_q <= 1'b0;
    else if (command_valid_o && command_ready_i) a_was_last_q <= !choose_b;
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  logic [1:0] a_waits_q, b_waits_q;  // commands of the other one that were taken meanwhile
  logic a_taken, b_taken;
  assign a_taken = a_valid_i && a_ready_o;
  assign b_taken = b_valid_i && b_ready_o;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      {a_waits_q, b_waits_q} <= '0;
    end else begin
      a_waits_q <= a_valid_i && !a_taken ? a_waits_q + 2'(b_taken) : '0;
      b_waits_q <= b_valid_i && !b_taken ? b_waits_q + 2'(a_taken) : '0;
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert ((command_valid_o && command_ready_i) == (a_taken || b_taken) && !(a_taken && b_taken));
      if (a_taken) assert (command_o == a_i);
      if (b_taken) assert (command_o == b_i);
      assert (!(a_valid_i || b_valid_i) || command_valid_o);
      assert (a_waits_q <= 2'd1 && b_waits_q <= 2'd1);
      // the reason
      if (a_waits_q == 2'd1) assert (!a_was_last_q);
      if (b_waits_q == 2'd1) assert (a_was_last_q);
      cover (a_waits_q == 2'd1 && a_taken);
      cover (b_waits_q == 2'd1 && b_taken);
    end
  end
`endif

endmodule

`default_nettype wire
