// SPDX-License-Identifier: Apache-2.0
//
// The read half of spate_pcie_axi, in the core's clock. AXI read addresses from their clock crossing become requests to
// the core; the core's beats go into the crossing back. A burst of full beats is one request, so bursts follow each
// other without a gap. Each beat of a narrow or FIXED burst is a request of its own. WRAP, which no PCIe bridge issues,
// is treated as INCR.
//
// Guarantee: for each address taken, len + 1 beats in order with its id, the last one marked. While `run` is low no new
// request begins. A request that waits stays until it is taken, and the beats that the core still owes are dropped.
`default_nettype none

module spate_pcie_axi_read
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned IdWidth = 4,
    parameter int unsigned WindowBits = 21,
    parameter int unsigned RequestsMax = 16  // in the core at once: more than its pipeline's length
) (
    input  wire logic clk_i,
    input  wire logic rst_ni,
    input  wire logic run_i,
    input  wire logic drop_i,  // requests that begin now are shown as strays and read nothing
    output logic      idle_o,  // no request is in the core

    input  wire logic                  ar_valid_i,
    output logic                       ar_ready_o,
    input  wire logic [   IdWidth-1:0] ar_id_i,
    input  wire logic [WindowBits-1:0] ar_address_i,
    input  wire logic                  ar_stray_i,
    input  wire logic [           7:0] ar_len_i,
    input  wire logic [           2:0] ar_size_i,
    input  wire logic                  ar_fixed_i,

    output logic                         read_valid_o,
    input  wire logic                    read_ready_i,
    output window_read_t                 read_o,
    input  wire logic                    read_data_valid_i,
    output logic                         read_data_ready_o,
    input  wire logic    [DataWidth-1:0] read_data_i,
    input  wire logic                    read_last_i,

    output logic                      r_valid_o,
    input  wire logic                 r_ready_i,
    output logic      [  IdWidth-1:0] r_id_o,
    output logic                      r_last_o,
    output logic      [DataWidth-1:0] r_data_o
);

  localparam logic [2:0] FullSize = 3'($clog2(DataWidth / 8));

  // ---- addresses become requests ----

  logic split;  // into requests of one beat
  logic begun_q;  // some of them were issued: `next_q`, `left_q` and `last_q` are valid
  logic [7:0] left_q, left;  // beats after this one
  logic last_q;  // there are none
  logic [11:0] next_q, position, step, after;  // a burst stays within 4 KiB
  logic load, final_request;
  logic owed_ready, owed_valid, owed_final, beat_taken;
  logic [IdWidth-1:0] owed_id;
  logic valid_q, stray_q;
  logic [WindowBits-1:0] address_q;
  logic [8:0] beats_q;

  assign split = ar_len_i != '0 && (ar_fixed_i || ar_size_i != FullSize);
  assign left = begun_q ? left_q : ar_len_i;
  assign position = begun_q ? next_q : ar_address_i[11:0];
  assign step = 12'd1 << ar_size_i;
  // AXI aligns the later beats to their size (A3.4.1), and this address is not aligned. The core uses only the bits
  // above the size, which are the same.
  assign after = ar_fixed_i ? position : position + step;
  assign final_request = !split || (begun_q && last_q);  // the first one of several is not the last
  assign load = run_i && ar_valid_i && owed_ready && (!valid_q || read_ready_i);
  assign ar_ready_o = load && final_request;

  assign read_valid_o = valid_q;
  assign read_o = '{stray: stray_q, address: 32'(address_q), beats: beats_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      begun_q <= 1'b0;
    end else begin
      valid_q <= load || (valid_q && !read_ready_i);
      begun_q <= run_i && (load ? !final_request : begun_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      address_q <= {ar_address_i[WindowBits-1:12], position};
      stray_q <= ar_stray_i || drop_i;
      beats_q <= split ? 9'd1 : 9'(ar_len_i) + 9'd1;
      next_q <= after;
      left_q <= left - 1'b1;
      last_q <= left == 8'd1;
    end
  end

  // ---- beats that the core owes, and their bursts ----

  spate_fifo #(
      .Width(IdWidth + 1),
      .Depth(RequestsMax)
  ) u_owed (
      .clk_i,
      .rst_ni,
      .in_valid_i(load),
      .in_ready_o(owed_ready),
      .in_data_i({ar_id_i, final_request}),
      .out_valid_o(owed_valid),
      .out_ready_i(beat_taken && read_last_i),
      .out_data_o({owed_id, owed_final}),
      .count_o()
  );

  assign read_data_ready_o = r_ready_i || !run_i;
  assign beat_taken = read_data_valid_i && read_data_ready_o;
  assign r_valid_o = run_i && read_data_valid_i;
  assign r_id_o = owed_id;
  assign r_last_o = read_last_i && owed_final;
  assign r_data_o = read_data_i;

  assign idle_o = !owed_valid;

endmodule

`default_nettype wire
