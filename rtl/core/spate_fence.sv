// SPDX-License-Identifier: Apache-2.0
//
// Memory mode: a completion and the data before it go to different slaves, and nothing orders the two. Completions wait
// here, in order, until every data write that the bridge had issued when the completion arrived has its response. One
// question to the write tap covers all completions that have arrived when it is asked.
//
// Guarantee: no completion passes a data write that was accepted before it. None is lost, duplicated or reordered.
//
// There is room for a completion of each command that can be in flight, so completion_ready_o never falls.
// Back-pressure here would deadlock: the question also covers the bridge's writes of later completions, which would
// wait for its answer.
//
// rst_ni may be asserted alone, at any time: completions that wait are dropped, the answer to an open question is
// awaited. A reset of the bridge must reset the fence, before spate_write_tap answers: the tap cannot tell what became
// of the writes.
`default_nettype none

module spate_fence
  import spate_pkg::*;
#(
    parameter int unsigned CommandsMax = 65  // in flight: all slots and the side command
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic        completion_valid_i,
    output logic             completion_ready_o,
    input  wire completion_t completion_i,

    output logic        completion_valid_o,
    input  wire logic   completion_ready_i,
    output completion_t completion_o,

    // To spate_write_tap in the bridge's clock domain: `request` toggles to ask; `answer` becomes equal to it when all
    // writes that were accepted before the question have a response. The receiver synchronises each signal.
    output logic      fence_request_o,
    input  wire logic fence_answer_i
);

  // The first completion is outside the queue, because all slots and the side command are one more than a power of two.
  localparam int unsigned Depth = 2 ** $clog2(CommandsMax - 1);
  localparam int unsigned CountWidth = $clog2(Depth) + 1;

  logic behind_valid, behind_ready, first_valid_q;
  completion_t behind;
  logic [CountWidth-1:0] behind_count;
  logic [CountWidth-1:0] waiting;  // completions inside
  logic [CountWidth-1:0] free_q, free_d;  // of these, the oldest ones that may leave
  logic [CountWidth-1:0] asked_q;  // of these, the next ones, which the question covers
  logic some_free_q;  // free_q is not 0
  logic asking_q;  // the question covers completions inside, not ones that a reset dropped
  logic request_q, answer, answered, ask, granted, leave;

  spate_fifo #(
      .Width($bits(completion_t)),
      .Depth(Depth)
  ) u_waiting (
      .clk_i,
      .rst_ni,
      .in_valid_i(completion_valid_i),
      .in_ready_o(completion_ready_o),
      .in_data_i(completion_i),
      .out_valid_o(behind_valid),
      .out_ready_i(behind_ready),
      .out_data_o(behind),
      .count_o(behind_count)
  );

  assign behind_ready = !first_valid_q || leave;
  assign waiting = behind_count + CountWidth'(first_valid_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_valid_q <= 1'b0;
    else if (behind_ready) first_valid_q <= behind_valid;
    if (behind_ready) completion_o <= behind;
  end

  spate_cdc_bit u_answer (
      .clk_i,
      .level_i(fence_answer_i),
      .level_o(answer)
  );

  assign answered = answer == request_q;
  assign granted = asking_q && answered;
  assign completion_valid_o = first_valid_q && some_free_q;
  assign leave = completion_valid_o && completion_ready_i;
  assign free_d = free_q + (granted ? asked_q : '0) - CountWidth'(leave);
  assign ask = answered && !asking_q && waiting != free_q;
  assign fence_request_o = request_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      free_q <= '0;
      some_free_q <= 1'b0;
      asking_q <= 1'b0;
    end else begin
      free_q <= free_d;
      some_free_q <= granted || (some_free_q && (free_q != CountWidth'(1) || !leave));
      asking_q <= ask || (asking_q && !answered);
    end
  end

  always_ff @(posedge clk_i) begin
    if (ask) asked_q <= waiting - free_q;
  end

  // Not reset: the tap must not see a question that was not asked. The initial value is for simulators with X.
  initial request_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (rst_ni && ask) request_q <= !request_q;
  end

endmodule

`default_nettype wire
