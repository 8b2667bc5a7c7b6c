// SPDX-License-Identifier: Apache-2.0
//
// Writes a stream into the memory of a spate_ring_ddr, in parts, in order. Each part has a place of its own.
//
// Guarantee: no beat is taken before its part was given. Each part gets one answer, in order, when the memory has
// answered the last of its bursts; it says whether all of them succeeded. A burst does not cross 4 KiB and is issued
// only when all of its data are here: a source that stalls does not block the memory.
//
// Contract: at most `Parts` parts that were given have an answer that was not taken yet. The parts whose beats are not
// all here have less than 2^SectorBits sectors together, because all of them have a place in the ring.
`default_nettype none

module spate_ring_store
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the stream and of the memory's port: 128, 256 or 512
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses
    parameter int unsigned PartBits = 11,  // width of a part's number of sectors
    parameter int unsigned Parts = 32,  // a power of two
    // Derived: no instance sets it.
    parameter int unsigned SectorBits = AddressWidth - 9
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [AddressWidth-1:0] ring_base_i,  // constant; a multiple of 4096

    input wire logic                  part_valid_i,
    input wire logic [SectorBits-1:0] part_place_i,   // offset from the ring's start, in sectors of 512 bytes
    input wire logic [  PartBits-1:0] part_sectors_i, // at least one

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,

    output logic      stored_valid_o,
    input  wire logic stored_ready_i,
    output logic      stored_error_o,  // some of the data were not written

    // The memory: AXI4, one identifier, incrementing bursts of whole beats.
    output axi_write_request_t                         m_axi_o,
    input  wire axi_write_response_t                   m_axi_i,
    output logic                     [  DataWidth-1:0] m_axi_wdata_o,
    output logic                     [DataWidth/8-1:0] m_axi_wstrb_o
);

  localparam int unsigned SectorBeatBits = $clog2(4096 / DataWidth);
  localparam int unsigned StoreDepth = 2 * 8 * 2 ** SectorBeatBits;  // two bursts of the largest size
  localparam int unsigned StoreBits = $clog2(StoreDepth) + 1;
  localparam int unsigned BurstsMax = 32;  // without an answer of the memory

  // Beats that do not belong to a part yet wait outside, where the user's reset reaches them.
  // Sectors of all parts that were given, and sectors whose beats are all here. Both counters wrap around.
  logic [SectorBits-1:0] given_sectors_q, taken_sectors_q, next_sectors_q;  // next: one more than taken
  logic wants_q;  // the counters differ, apart from parts given in the last cycle
  logic [SectorBeatBits-1:0] in_beat_q;
  logic store_ready, in_move, in_sector_end;

  assign data_ready_o = store_ready && wants_q;
  assign in_move = data_valid_i && data_ready_o;
  assign in_sector_end = in_move && in_beat_q == '1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      given_sectors_q <= '0;
      taken_sectors_q <= '0;
      next_sectors_q <= SectorBits'(1);
      wants_q <= 1'b0;
      in_beat_q <= '0;
    end else begin
      if (part_valid_i) given_sectors_q <= given_sectors_q + SectorBits'(part_sectors_i);
      if (in_sector_end) taken_sectors_q <= next_sectors_q;
      if (in_sector_end) next_sectors_q <= next_sectors_q + SectorBits'(1);
      wants_q <= in_sector_end ? given_sectors_q != next_sectors_q : given_sectors_q != taken_sectors_q;
      in_beat_q <= in_beat_q + SectorBeatBits'(in_move);
    end
  end

  logic store_valid, store_take;
  logic [StoreBits-1:0] unasked_q, burst_beats;  // unasked: beats here that belong to no burst yet

  spate_ram_fifo #(
      .Width(DataWidth),
      .Depth(StoreDepth)
  ) u_store (
      .clk_i,
      .rst_ni,
      .in_valid_i(in_move),
      .in_ready_o(store_ready),
      .in_data_i(data_i),
      .out_valid_o(store_valid),
      .out_ready_i(store_take),
      .out_data_o(m_axi_wdata_o),
      .count_o()
  );

  logic waiting_valid, waiting_take;
  logic [SectorBits-1:0] waiting_place;
  logic [PartBits-1:0] waiting_sectors;

  spate_fifo #(
      .Width(SectorBits + PartBits),
      .Depth(Parts)
  ) u_waiting (
      .clk_i,
      .rst_ni,
      .in_valid_i(part_valid_i),
      .in_ready_o(),
      .in_data_i({part_place_i, part_sectors_i}),
      .out_valid_o(waiting_valid),
      .out_ready_i(waiting_take),
      .out_data_o({waiting_place, waiting_sectors}),
      .count_o()
  );

  // ---- burst by burst: one starts when all of its data are here and the one before it is out ----

  logic burst_valid, burst_go, burst_last, bursts_ready, aw_pending_q, w_pending_q, enough_q;
  logic [AddressWidth-1:0] burst_address, awaddr_q;
  logic [7:0] awlen_q;
  logic wlast_q;
  logic [3:0] burst_sectors;
  logic [SectorBeatBits+2:0] beat_q;

  spate_ring_bursts #(
      .AddressWidth(AddressWidth),
      .PartBits(PartBits)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .part_valid_i(waiting_valid),
      .part_ready_o(waiting_take),
      .part_place_i(waiting_place),
      .part_sectors_i(waiting_sectors),
      .burst_valid_o(burst_valid),
      .burst_ready_i(burst_go),
      .burst_address_o(burst_address),
      .burst_sectors_o(burst_sectors),
      .burst_last_o(burst_last)
  );

  // Whether a burst's data are here is computed a cycle earlier: until this burst starts their number only grows.
  assign burst_beats = StoreBits'({burst_sectors, {SectorBeatBits{1'b0}}});
  assign burst_go = burst_valid && !aw_pending_q && !w_pending_q && bursts_ready && enough_q;
  assign store_take = m_axi_o.wvalid && m_axi_i.wready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_pending_q <= 1'b0;
      w_pending_q <= 1'b0;
      unasked_q <= '0;
    end else begin
      unasked_q <= unasked_q + StoreBits'(in_move) - (burst_go ? burst_beats : '0);
      if (burst_go) aw_pending_q <= 1'b1;
      else if (m_axi_i.awready) aw_pending_q <= 1'b0;
      if (burst_go) w_pending_q <= 1'b1;
      else if (store_take && wlast_q) w_pending_q <= 1'b0;
    end
    enough_q <= burst_valid && !burst_go && unasked_q >= burst_beats;
    if (burst_go) begin
      awaddr_q <= burst_address;
      beat_q <= '0;
      awlen_q <= 8'(burst_beats - 1'b1);
      wlast_q <= burst_beats == StoreBits'(1);
    end else if (store_take) begin
      beat_q <= beat_q + 1'b1;
      wlast_q <= 8'(beat_q) + 8'd1 == awlen_q;
    end
  end

  assign m_axi_o = '{
          awid: '0,
          awaddr: 64'(awaddr_q),
          awlen: awlen_q,
          awsize: 3'($clog2(DataWidth / 8)),
          awburst: AxiIncr,
          awvalid: aw_pending_q,
          wlast: wlast_q,
          wvalid: w_pending_q && store_valid,
          bready: 1'b1
      };
  assign m_axi_wstrb_o = '1;

  // ---- the answer that is the last one of a part: with one identifier, they come in order ----

  logic answered_ends, error_q, error;

  assign error = error_q || m_axi_i.bresp[1];

  spate_fifo #(
      .Width(1),
      .Depth(BurstsMax)
  ) u_bursts (
      .clk_i,
      .rst_ni,
      .in_valid_i(burst_go),
      .in_ready_o(bursts_ready),
      .in_data_i(burst_last),
      .out_valid_o(),
      .out_ready_i(m_axi_i.bvalid),
      .out_data_o(answered_ends),
      .count_o()
  );
  spate_fifo #(
      .Width(1),
      .Depth(Parts)
  ) u_stored (
      .clk_i,
      .rst_ni,
      .in_valid_i(m_axi_i.bvalid && answered_ends),
      .in_ready_o(),
      .in_data_i(error),
      .out_valid_o(stored_valid_o),
      .out_ready_i(stored_ready_i),
      .out_data_o(stored_error_o),
      .count_o()
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) error_q <= 1'b0;
    else if (m_axi_i.bvalid) error_q <= !answered_ends && error;
  end

endmodule

`default_nettype wire
