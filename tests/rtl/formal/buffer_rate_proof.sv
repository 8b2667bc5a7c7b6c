// SPDX-License-Identifier: Apache-2.0
//
// spate_buffer between a reader that takes each beat and one that asks for a beat in each cycle, at any time. Nothing else
// uses the memory.
module buffer_rate_proof
  import spate_pkg::*;
#(
    parameter int unsigned RamRegisters = 1,
    localparam int unsigned DataWidth = 128,
    localparam int unsigned RamBytes = 12288,
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8))
) (
    input logic                clk_i,
    input logic                drain_valid_i,
    input logic [BeatBits-1:0] drain_beat_i,
    input logic                drained_ready_i
);

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic drain_ready;
  spate_buffer #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .RamRegisters(RamRegisters)
  ) u_buffer (
      .clk_i,
      .rst_ni,
      .target_read_i(1'b0),
      .target_read_beat_i('0),
      .target_read_data_o(),
      .target_write_i(1'b0),
      .target_write_beat_i('0),
      .target_write_data_i('0),
      .target_write_strobe_i('0),
      .alloc_valid_i(1'b0),
      .alloc_ready_o(),
      .alloc_sectors_i('0),
      .alloc_base_o(),
      .free_valid_i(1'b0),
      .free_sectors_i('0),
      .fill_valid_i(1'b0),
      .fill_ready_o(),
      .fill_beat_i('0),
      .fill_data_i('0),
      .drain_valid_i(drain_valid_i && rst_ni),
      .drain_ready_o(drain_ready),
      .drain_beat_i,
      .drained_valid_o(),
      .drained_ready_i,
      .drained_data_o(),
      .page_valid_i(1'b0),
      .page_i('0),
      .page_done_o(),
      .page_data_o()
  );

  // From reset on, each beat is taken: then none waits to be read.
  logic taken_q = 1'b1;
  always_ff @(posedge clk_i) taken_q <= taken_q && (!rst_ni || drained_ready_i);
  always_comb begin
    if (rst_ni && taken_q) assert (drain_ready || !drained_ready_i);
  end

endmodule
