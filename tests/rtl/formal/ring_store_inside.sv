// SPDX-License-Identifier: Apache-2.0
//
// What the induction of ring_store_ports.sv needs to know of spate_ring_store. Parts are counted at each stage, and
// each burst without an answer is listed with the number of its part.
module ring_store_inside #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddressWidth = 40,
    parameter int unsigned PartBits = 11,
    parameter int unsigned Parts = 32,
    localparam int unsigned SectorBits = AddressWidth - 9,
    localparam int unsigned SectorBeatBits = $clog2(4096 / DataWidth),
    localparam int unsigned StoreDepth = 2 * 8 * 2 ** SectorBeatBits,
    localparam int unsigned StoreBits = $clog2(StoreDepth) + 1,
    localparam int unsigned BurstsMax = 32
) (
    input logic                                                    clk_i,
    input logic                                                    rst_ni,
    input logic                                                    part_valid_i,
    input spate_bus_pkg::axi_write_request_t                       m_axi_o,
    input spate_bus_pkg::axi_write_response_t                      m_axi_i,
    input logic                                                    stored_valid_o,
    input logic                                                    stored_error_o,
    input logic                               [    SectorBits-1:0] given_sectors_q,
    input logic                               [    SectorBits-1:0] taken_sectors_q,
    input logic                               [    SectorBits-1:0] next_sectors_q,
    input logic                                                    wants_q,
    input logic                               [SectorBeatBits-1:0] in_beat_q,
    input logic                                                    store_valid,
    input logic                               [     StoreBits-1:0] unasked_q,
    input logic                               [     StoreBits-1:0] burst_beats,
    input logic                                                    waiting_valid,
    input logic                                                    waiting_take,
    input logic                                                    burst_valid,
    input logic                                                    burst_go,
    input logic                                                    burst_last,
    input logic                                                    aw_pending_q,
    input logic                                                    w_pending_q,
    input logic                                                    enough_q,
    input logic                               [  AddressWidth-1:0] burst_address,
    input logic                               [               3:0] burst_sectors,
    input logic                               [SectorBeatBits+2:0] beat_q,
    input logic                                                    answered_ends,
    input logic                                                    error_q
);

  localparam int unsigned Sectors = 2 ** SectorBits;

  logic [7:0] started_q, ended_q, answered_q;  // parts: in u_cut, past it, and answered by the memory
  logic [7:0] part_of[BurstsMax];  // in the order of u_bursts
  logic [7:0] w_left;
  logic [StoreBits-1:0] store_count;
  logic [SectorBits-1:0] wanted;

  assign store_count = u_store.count_o;
  assign wanted = given_sectors_q - taken_sectors_q;
  assign w_left = m_axi_o.awlen + 8'd1 - u_ports.w_beats_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {started_q, ended_q, answered_q} <= '0;
    else begin
      started_q <= started_q + 8'(waiting_valid && waiting_take);
      ended_q <= ended_q + 8'(burst_go && burst_last);
      answered_q <= answered_q + 8'(m_axi_i.bvalid && answered_ends);
    end
    if (burst_go) part_of[u_bursts.tail_q[4:0]] <= ended_q;
  end

  always_comb begin
    if (u_ports.past_reset_q && rst_ni) begin
      // The queues have room for what is in flight.
      if (m_axi_i.bvalid) assert (u_bursts.out_valid_o);
      if (m_axi_i.bvalid && answered_ends) assert (u_stored.in_ready_o);
      if (part_valid_i) assert (u_waiting.in_ready_o);

      // Beats, and the burst that goes out.
      assert (u_ports.missing_q == 16'({wanted, {SectorBeatBits{1'b0}}}) - 16'(in_beat_q));
      assert (wanted != '0 || (in_beat_q == '0 && !wants_q));
      assert (next_sectors_q == taken_sectors_q + SectorBits'(1));
      assert (u_ports.aw_out_q == (!aw_pending_q && w_pending_q) && u_ports.w_out_q == (aw_pending_q && !w_pending_q));
      if (w_pending_q)
        assert (8'(beat_q) == u_ports.w_beats_q && u_ports.w_beats_q <= m_axi_o.awlen);
        else assert (u_ports.w_beats_q == '0);
      if (aw_pending_q || w_pending_q) begin
        assert (m_axi_o.awlen[SectorBeatBits-1:0] == '1 && 32'(m_axi_o.awlen) < 8 * 2 ** SectorBeatBits);
        assert (13'(m_axi_o.awaddr[11:0]) + u_ports.burst_bytes <= 13'd4096 && m_axi_o.awaddr[8:0] == '0);
      end
      // A burst's data are here, so the memory waits for them for at most one cycle.
      if (w_pending_q) assert (store_count >= StoreBits'(w_left));
      assert (9'(unasked_q) + (w_pending_q ? 9'(w_left) : 9'd0) == 9'(store_count));
      if (w_pending_q) assert (m_axi_o.wlast == (u_ports.w_beats_q == m_axi_o.awlen));
      assert (9'(u_store.stored_q) + 9'(store_valid) == 9'(store_count) && store_count <= StoreBits'(StoreDepth));
      if (burst_valid && enough_q) assert (unasked_q >= burst_beats);

      // The number of parts at each stage is that in its queue.
      assert (u_ports.given_q - started_q == 8'(u_waiting.count_o) && started_q - ended_q == 8'(!waiting_take));
      assert (answered_q - u_ports.taken_q == 8'(u_stored.count_o));
      assert (u_ports.given_q - u_ports.taken_q <= 8'(Parts));
      assert (u_ports.given_q - started_q <= u_ports.given_q - u_ports.taken_q);
      assert (answered_q - u_ports.taken_q <= ended_q - u_ports.taken_q);
      assert (ended_q - u_ports.taken_q <= u_ports.given_q - u_ports.taken_q);
      assert (7'(u_bursts.count_o) == 7'(u_ports.owed_q) + 7'(aw_pending_q || w_pending_q));
      assert (u_bursts.count_o <= 6'(BurstsMax));
      assert (u_bursts.count_o == u_bursts.tail_q - u_bursts.head_q);
      assert (u_waiting.count_o == u_waiting.tail_q - u_waiting.head_q);
      assert (u_stored.count_o == u_stored.tail_q - u_stored.head_q);
      assert (u_bursts.out_valid_o == (u_bursts.count_o != '0) && waiting_valid == (u_waiting.count_o != '0));
      assert (stored_valid_o == (u_stored.count_o != '0));

      // What u_cut has.
      if (burst_valid) begin
        assert (burst_sectors != '0 && 5'(burst_address[11:9]) + 5'(burst_sectors) <= 5'd8);
        assert (burst_address[8:0] == '0 && u_cut.busy_q);
        if (!burst_last) assert (u_cut.left_q != '0 && u_cut.place_q[2:0] == '0);
      end
      if (u_cut.sized) assert (u_cut.left_q != '0);
    end
  end

  // ---- the parts that wait, and the bursts in flight: those of a part in a row, up to the one that ends it ----

  logic [4:0] here;  // in u_bursts
  logic [7:0] after;  // the part of the next burst
  logic [SectorBits-1:0] place_of;
  logic [PartBits-1:0] sectors_of;

  always_comb begin
    {here, after, place_of, sectors_of} = '0;
    if (u_ports.past_reset_q && rst_ni) begin
      for (int unsigned k = 0; k < Parts; k++) begin
        {place_of, sectors_of} = u_waiting.words[$clog2(Parts)'(u_waiting.head_q+($clog2(Parts)+1)'(k))];
        if (k < 32'(u_waiting.count_o)) assert (sectors_of != '0 && 32'(place_of) + 32'(sectors_of) < Sectors);
      end
      for (int unsigned k = 0; k < BurstsMax; k++) begin
        here = 5'(u_bursts.head_q + 6'(k));
        after = part_of[here] + 8'(u_bursts.words[here]);
        if (k == 0 && u_bursts.count_o != '0) assert (part_of[here] == answered_q);
        if (k + 1 == 32'(u_bursts.count_o)) assert (after == ended_q && (u_bursts.words[here] || !waiting_take));
        if (k + 1 < 32'(u_bursts.count_o)) assert (after == part_of[here+5'd1]);
      end
      if (u_bursts.count_o == '0) assert (answered_q == ended_q);
      // An answer of the memory is for the oldest part that has none.
      if (m_axi_i.bvalid) assert (part_of[u_bursts.head_q[4:0]] == answered_q);
      if (stored_valid_o) assert (u_ports.taken_q != answered_q);
    end
  end

  // ---- the error of one arbitrary part: of any of its bursts ----

  (* anyconst *) logic [7:0] watched;
  logic failed_q;
  logic [7:0] answered_index, watched_index;
  logic stored_word;
  assign answered_index = answered_q - u_ports.taken_q;
  assign watched_index = watched - u_ports.taken_q;
  assign stored_word = u_stored.words[$clog2(Parts)'(u_stored.head_q+($clog2(Parts)+1)'(watched_index))];

  always_ff @(posedge clk_i) begin
    if (part_valid_i && u_ports.given_q == watched) failed_q <= 1'b0;
    else if (m_axi_i.bvalid && m_axi_i.bresp[1] && part_of[u_bursts.head_q[4:0]] == watched) failed_q <= 1'b1;
  end

  always_comb begin
    if (u_ports.past_reset_q && rst_ni) begin
      if (watched_index < u_ports.given_q - u_ports.taken_q) begin
        if (watched_index < answered_index) assert (stored_word == failed_q);
        if (watched_index == answered_index) assert (error_q == failed_q);
        if (watched_index > answered_index) assert (!failed_q);
        if (stored_valid_o && u_ports.taken_q == watched) assert (stored_error_o == failed_q);
      end
      if (answered_q == u_ports.given_q) assert (!error_q);

      cover (stored_valid_o && !stored_error_o && u_ports.taken_q == 8'd1);
      cover (stored_valid_o && stored_error_o);
    end
  end

endmodule

bind spate_ring_store ring_store_inside #(
    .DataWidth(DataWidth),
    .AddressWidth(AddressWidth),
    .PartBits(PartBits),
    .Parts(Parts)
) u_inside (.*);
