// SPDX-License-Identifier: Apache-2.0
//
// Sixteen counters of 32 bits in LUTRAM with one adder between them. Each cycle one counter takes in what its events have
// come to since its last turn, so a count is at most 16 cycles late.
//
// Guarantee: no event is missed, also when all inputs are high in each cycle. Counts are 0 from 16 cycles after the end
// of reset at the latest; until then they are not to be read, nor are events counted.
module spate_event_counters (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [15:0] event_i,   // one event each in a cycle in which the bit is high
    input  logic [ 3:0] select_i,
    output logic [31:0] count_o,   // of the selected one, in the same cycle
    output logic        ready_o
);

  logic [31:0] counts[16];
  logic [3:0] turn_q;
  logic [4:0] waiting_q[16];  // events of a counter since its last turn, which was 16 cycles ago
  logic ready_q;

  assign ready_o = ready_q;
  assign count_o = counts[select_i];

  always_ff @(posedge clk_i) begin
    counts[turn_q] <= ready_q ? counts[turn_q] + 32'(waiting_q[turn_q]) : '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= '0;
      ready_q <= 1'b0;
    end else begin
      turn_q <= turn_q + 1'b1;
      ready_q <= ready_q || turn_q == 4'd15;
    end
  end

  for (genvar i = 0; i < 16; i++) begin : gen_waiting
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !ready_q) waiting_q[i] <= '0;
      else if (turn_q == 4'(i)) waiting_q[i] <= 5'(event_i[i]);
      else waiting_q[i] <= waiting_q[i] + 5'(event_i[i]);
    end
  end

endmodule
