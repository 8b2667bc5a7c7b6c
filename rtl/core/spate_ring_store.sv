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

`ifdef FORMAL
  // The environment: any parts and data, and a memory that answers whole bursts after any time. Parts are counted at
  // each stage, and each burst without an answer is listed with the number of its part.
  localparam int unsigned Sectors = 2 ** SectorBits;
  logic past_reset_q = 1'b0;
  logic [StoreBits-1:0] store_count;
  assign store_count = u_store.count_o;
  logic [SectorBits-1:0] wanted;  // sectors whose beats are not all here
  assign wanted = given_sectors_q - taken_sectors_q;
  logic [7:0] given_q, started_q, ended_q, answered_q, taken_q;  // parts
  logic [7:0] part_of[BurstsMax];  // in the order of u_bursts
  logic [5:0] owed_q;  // answers of the memory
  logic aw_out_q, w_out_q, burst_out;  // of the current burst
  logic [7:0] w_beats_q;
  logic [15:0] missing_q;  // beats of the parts that were given
  logic [4:0] here;  // in u_bursts
  logic [7:0] after;  // the part of the next burst
  logic [SectorBits-1:0] place_of;
  logic [PartBits-1:0] sectors_of;
  logic aw_waits_q, w_waits_q, stored_waits_q, stored_error_past_q;
  logic [AddressWidth+7:0] aw_past_q;
  logic [DataWidth:0] w_past_q;
  logic [AddressWidth-1:0] base_q;

  assign burst_out = (aw_out_q || (m_axi_o.awvalid && m_axi_i.awready)) && (w_out_q || (store_take && m_axi_o.wlast));

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i[11:0] == '0 && (!past_reset_q || ring_base_i == base_q));
    if (part_valid_i) begin
      assume (given_q - taken_q < 8'(Parts) && part_sectors_i != '0);
      assume (32'(part_place_i) + 32'(part_sectors_i) < Sectors);
    end
    assume (!part_valid_i || 32'(wanted) + 32'(part_sectors_i) < Sectors);
    assume (!m_axi_i.bvalid || owed_q != '0);
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    base_q <= ring_base_i;
    aw_waits_q <= rst_ni && m_axi_o.awvalid && !m_axi_i.awready;
    w_waits_q <= rst_ni && m_axi_o.wvalid && !m_axi_i.wready;
    stored_waits_q <= rst_ni && stored_valid_o && !stored_ready_i;
    aw_past_q <= {m_axi_o.awaddr, m_axi_o.awlen};
    w_past_q <= {m_axi_wdata_o, m_axi_o.wlast};
    stored_error_past_q <= stored_error_o;
    if (!rst_ni) begin
      {given_q, started_q, ended_q, answered_q, taken_q, owed_q, aw_out_q, w_out_q, w_beats_q, missing_q} <= '0;
    end else begin
      given_q <= given_q + 8'(part_valid_i);
      missing_q <= missing_q + (part_valid_i ? 16'({part_sectors_i, {SectorBeatBits{1'b0}}}) : 16'd0) -
          16'(data_valid_i && data_ready_o);
      started_q <= started_q + 8'(waiting_valid && waiting_take);
      ended_q <= ended_q + 8'(burst_go && burst_last);
      answered_q <= answered_q + 8'(m_axi_i.bvalid && answered_ends);
      taken_q <= taken_q + 8'(stored_valid_o && stored_ready_i);
      aw_out_q <= (aw_out_q || (m_axi_o.awvalid && m_axi_i.awready)) && !burst_out;
      w_out_q <= (w_out_q || (store_take && m_axi_o.wlast)) && !burst_out;
      if (store_take) w_beats_q <= m_axi_o.wlast ? '0 : w_beats_q + 8'd1;
      owed_q <= owed_q + 6'(burst_out) - 6'(m_axi_i.bvalid);
    end
    if (burst_go) part_of[u_bursts.tail_q[4:0]] <= ended_q;
  end

  logic [12:0] burst_bytes;
  logic [7:0] w_left;
  assign burst_bytes = (13'(m_axi_o.awlen) + 13'd1) * 13'(DataWidth / 8);
  assign w_left = m_axi_o.awlen + 8'd1 - w_beats_q;

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // AXI: a request that waits does not change. Bursts are of whole beats within 4 KiB, WLAST comes with the last
      // beat, and no data come without an address.
      if (aw_waits_q) assert (m_axi_o.awvalid && aw_past_q == {m_axi_o.awaddr, m_axi_o.awlen});
      if (w_waits_q) assert (m_axi_o.wvalid && w_past_q == {m_axi_wdata_o, m_axi_o.wlast});
      if (m_axi_o.awvalid) begin
        assert (13'(m_axi_o.awaddr[11:0]) + burst_bytes <= 13'd4096 && m_axi_o.awaddr[8:0] == '0);
      end
      if (m_axi_o.wvalid) assert (!w_out_q && m_axi_o.wlast == (w_beats_q == m_axi_o.awlen));
      // A burst's data are here, so the memory waits for them for at most one cycle.
      if (w_pending_q) assert (store_count >= StoreBits'(w_left));
      assert (m_axi_o.bready);
      // No beat is taken before its part.
      if (data_ready_o) assert (missing_q != '0);
      // Each part gets an answer when the memory has answered its last burst.
      if (m_axi_i.bvalid) assert (part_of[u_bursts.head_q[4:0]] == answered_q && u_bursts.out_valid_o);
      if (m_axi_i.bvalid && answered_ends) assert (u_stored.in_ready_o);
      if (part_valid_i) assert (u_waiting.in_ready_o);
      if (stored_valid_o) assert (taken_q != answered_q);
      if (stored_waits_q) assert (stored_valid_o && stored_error_o == stored_error_past_q);

      // Invariants for the induction.
      assert (missing_q == 16'({wanted, {SectorBeatBits{1'b0}}}) - 16'(in_beat_q));
      assert (wanted != '0 || (in_beat_q == '0 && !wants_q));
      assert (next_sectors_q == taken_sectors_q + SectorBits'(1));
      assert (given_q - started_q == 8'(u_waiting.count_o) && started_q - ended_q == 8'(!waiting_take));
      assert (answered_q - taken_q == 8'(u_stored.count_o) && given_q - taken_q <= 8'(Parts));
      assert (given_q - started_q <= given_q - taken_q && answered_q - taken_q <= given_q - taken_q);
      assert (ended_q - taken_q <= given_q - taken_q && answered_q - taken_q <= ended_q - taken_q);
      assert (7'(u_bursts.count_o) == 7'(owed_q) + 7'(aw_pending_q || w_pending_q));
      assert (u_bursts.count_o <= 6'(BurstsMax));
      assert (u_bursts.count_o == u_bursts.tail_q - u_bursts.head_q);
      assert (u_waiting.count_o == u_waiting.tail_q - u_waiting.head_q);
      assert (u_stored.count_o == u_stored.tail_q - u_stored.head_q);
      assert (u_bursts.out_valid_o == (u_bursts.count_o != '0) && waiting_valid == (u_waiting.count_o != '0));
      assert (stored_valid_o == (u_stored.count_o != '0));
      assert (aw_out_q == (!aw_pending_q && w_pending_q) && w_out_q == (aw_pending_q && !w_pending_q));
      if (w_pending_q)
        assert (8'(beat_q) == w_beats_q && w_beats_q <= m_axi_o.awlen);
        else assert (w_beats_q == '0);
      if (aw_pending_q || w_pending_q) begin
        assert (m_axi_o.awlen[SectorBeatBits-1:0] == '1 && 13'(m_axi_o.awaddr[11:0]) + burst_bytes <= 13'd4096);
        assert (m_axi_o.awaddr[8:0] == '0 && 32'(m_axi_o.awlen) < 8 * 2 ** SectorBeatBits);
      end
      assert (9'(unasked_q) + (w_pending_q ? 9'(w_left) : 9'd0) == 9'(store_count));
      if (w_pending_q) assert (m_axi_o.wlast == (w_beats_q == m_axi_o.awlen));
      if (burst_valid) assert (burst_sectors != '0 && 5'(burst_address[11:9]) + 5'(burst_sectors) <= 5'd8);
      if (burst_valid) assert (burst_address[8:0] == '0 && u_cut.busy_q);
      if (burst_valid && enough_q) assert (unasked_q >= burst_beats);
      if (u_cut.sized) assert (u_cut.left_q != '0);
      if (burst_valid && !burst_last) assert (u_cut.left_q != '0);
      assert (9'(u_store.stored_q) + 9'(store_valid) == 9'(store_count) && store_count <= StoreBits'(StoreDepth));
      for (int unsigned k = 0; k < Parts; k++) begin
        {place_of, sectors_of} = u_waiting.words[$clog2(Parts)'(u_waiting.head_q+($clog2(Parts)+1)'(k))];
        if (k < 32'(u_waiting.count_o)) assert (sectors_of != '0 && 32'(place_of) + 32'(sectors_of) < Sectors);
      end
      // Bursts of one part follow each other, up to the one that ends it.
      for (int unsigned k = 0; k < BurstsMax; k++) begin
        here = 5'(u_bursts.head_q + 6'(k));
        after = part_of[here] + 8'(u_bursts.words[here]);
        if (k == 0 && u_bursts.count_o != '0) assert (part_of[here] == answered_q);
        if (k + 1 == 32'(u_bursts.count_o)) assert (after == ended_q);
        if (k + 1 < 32'(u_bursts.count_o)) assert (after == part_of[here+5'd1]);
      end
      if (u_bursts.count_o == '0) assert (answered_q == ended_q);

      cover (stored_valid_o && !stored_error_o && taken_q == 8'd1);
      cover (stored_valid_o && stored_error_o);
    end
  end
`endif

endmodule

`default_nettype wire
