// SPDX-License-Identifier: Apache-2.0
//
// Generator and checker of the test pattern, connected by a wire with faults: `flip_i` inverts bits of the beat,
// `hold_i` stops the stream, `error_i` flags it.
module pattern_loop #(
    parameter int unsigned DataWidth = 128
) (
    input logic                 clk_i,
    input logic                 rst_ni,
    input logic                 start_i,
    input logic                 check_start_i,
    input logic                 stop_i,
    input logic [         63:0] seed_i,
    input logic [         47:0] beats_i,
    input logic [          8:0] source_rate_i,
    input logic [          8:0] check_rate_i,
    input logic [DataWidth-1:0] flip_i,
    input logic                 hold_i,
    input logic                 error_i,

    output logic                 busy_o,
    output logic                 valid_o,
    output logic                 ready_o,
    output logic                 last_o,
    output logic [DataWidth-1:0] data_o,
    output logic [         47:0] source_beats_o,
    output logic [         47:0] source_stalls_o,
    output logic [         47:0] source_cycles_o,
    output logic [         47:0] check_beats_o,
    output logic [         47:0] check_stalls_o,
    output logic [         47:0] check_cycles_o,
    output logic [         47:0] wrong_beats_o,
    output logic [         63:0] wrong_word_o
);

  logic check_ready, source_valid;
  assign ready_o = check_ready && !hold_i;
  assign valid_o = source_valid && !hold_i;

  spate_pattern_source #(
      .DataWidth(DataWidth)
  ) u_source (
      .clk_i,
      .rst_ni,
      .start_i,
      .stop_i,
      .seed_i,
      .beats_i,
      .rate_i(source_rate_i),
      .busy_o,
      .data_valid_o(source_valid),
      .data_ready_i(ready_o),
      .data_o,
      .data_last_o(last_o),
      .beats_o(source_beats_o),
      .stall_cycles_o(source_stalls_o),
      .cycles_o(source_cycles_o)
  );

  spate_pattern_check #(
      .DataWidth(DataWidth)
  ) u_check (
      .clk_i,
      .rst_ni,
      .start_i(check_start_i),
      .seed_i,
      .rate_i(check_rate_i),
      .data_valid_i(valid_o),
      .data_ready_o(check_ready),
      .data_i(data_o ^ flip_i),
      .data_error_i(error_i),
      .beats_o(check_beats_o),
      .stall_cycles_o(check_stalls_o),
      .cycles_o(check_cycles_o),
      .wrong_beats_o,
      .wrong_word_o
  );

endmodule
