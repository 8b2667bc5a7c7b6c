// SPDX-License-Identifier: Apache-2.0
//
// Reads the parts of a spate_ring_ddr from memory into a stream, in order. Each part has a place of its own.
//
// Guarantee: the stream gets the beats of each part, in order, each with the memory's response. A burst does not cross
// 4 KiB and is requested only when there is room for all of it: a reader that stalls does not block the memory.
`default_nettype none

module spate_ring_fetch
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the stream and of the memory's port: 128, 256 or 512
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses
    parameter int unsigned PartBits = 11,  // width of a part's number of sectors
    // Derived: no instance sets it.
    parameter int unsigned SectorBits = AddressWidth - 9
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [AddressWidth-1:0] ring_base_i,  // constant; a multiple of 4096

    input  wire logic                  part_valid_i,
    output logic                       part_ready_o,
    input  wire logic [SectorBits-1:0] part_place_i,   // offset from the ring's start, in sectors of 512 bytes
    input  wire logic [  PartBits-1:0] part_sectors_i, // at least one

    output logic                      beat_valid_o,
    input  wire logic                 beat_ready_i,
    output logic      [DataWidth-1:0] beat_o,
    output logic                      beat_error_o,

    // The memory: AXI4, one identifier, incrementing bursts of whole beats.
    output axi_read_request_t                       m_axi_o,
    input  wire axi_read_response_t                 m_axi_i,
    input  wire logic               [DataWidth-1:0] m_axi_rdata_i
);

  localparam int unsigned SectorBeatBits = $clog2(4096 / DataWidth);
  localparam int unsigned StoreDepth = 2 * 8 * 2 ** SectorBeatBits;  // two bursts of the largest size
  localparam int unsigned StoreBits = $clog2(StoreDepth) + 1;

  logic burst_valid, burst_go, ar_pending_q, enough_q, rready;
  logic [AddressWidth-1:0] burst_address, araddr_q;
  logic [3:0] burst_sectors, burst_sectors_q;
  logic [StoreBits-1:0] room_q, burst_beats;  // room for beats that were not requested yet

  spate_ring_bursts #(
      .AddressWidth(AddressWidth),
      .PartBits(PartBits)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .part_valid_i,
      .part_ready_o,
      .part_place_i,
      .part_sectors_i,
      .burst_valid_o(burst_valid),
      .burst_ready_i(burst_go),
      .burst_address_o(burst_address),
      .burst_sectors_o(burst_sectors),
      .burst_last_o()
  );

  assign burst_beats = StoreBits'({burst_sectors, {SectorBeatBits{1'b0}}});
  // Whether there is room is found out in the cycle before: more becomes free meanwhile, never less.
  assign burst_go = burst_valid && !ar_pending_q && enough_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ar_pending_q <= 1'b0;
      room_q <= StoreBits'(StoreDepth);
    end else begin
      if (burst_go) ar_pending_q <= 1'b1;
      else if (m_axi_i.arready) ar_pending_q <= 1'b0;
      room_q <= room_q - (burst_go ? burst_beats : '0) + StoreBits'(beat_valid_o && beat_ready_i);
    end
    enough_q <= burst_valid && !burst_go && room_q >= burst_beats;
    if (burst_go) begin
      araddr_q <= burst_address;
      burst_sectors_q <= burst_sectors;
    end
  end

  assign m_axi_o = '{
          arid: '0,
          araddr: 64'(araddr_q),
          arlen: 8'({burst_sectors_q, {SectorBeatBits{1'b0}}} - 1'b1),
          arsize: 3'($clog2(DataWidth / 8)),
          arburst: AxiIncr,
          arvalid: ar_pending_q,
          rready: rready
      };

  spate_ram_fifo #(
      .Width(DataWidth + 1),
      .Depth(StoreDepth)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .in_valid_i(m_axi_i.rvalid),
      .in_ready_o(rready),
      .in_data_i({m_axi_i.rresp[1], m_axi_rdata_i}),
      .out_valid_o(beat_valid_o),
      .out_ready_i(beat_ready_i),
      .out_data_o({beat_error_o, beat_o}),
      .count_o()
  );

`ifdef FORMAL
  // The environment: any parts, a memory that returns what was requested after any time, and any reader.
  logic past_reset_q = 1'b0;
  logic [8:0] owed_q;  // beats that were requested and have not arrived
  logic ar_waits_q, beat_waits_q;
  logic [AddressWidth+7:0] ar_past_q;
  logic [DataWidth:0] beat_past_q;
  logic [AddressWidth-1:0] base_q;

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i[11:0] == '0 && (!past_reset_q || ring_base_i == base_q));
    assume (!part_valid_i || part_sectors_i != '0);
    assume (!m_axi_i.rvalid || owed_q != '0);
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    base_q <= ring_base_i;
    ar_waits_q <= rst_ni && m_axi_o.arvalid && !m_axi_i.arready;
    ar_past_q <= {m_axi_o.araddr, m_axi_o.arlen};
    beat_waits_q <= rst_ni && beat_valid_o && !beat_ready_i;
    beat_past_q <= {beat_error_o, beat_o};
    if (!rst_ni) owed_q <= '0;
    else
      owed_q <= owed_q + (m_axi_o.arvalid && m_axi_i.arready ? 9'(m_axi_o.arlen) + 9'd1 : 9'd0) -
          9'(m_axi_i.rvalid && m_axi_o.rready);
  end

  logic [12:0] burst_bytes;
  logic [8:0] pending_beats;
  assign burst_bytes = (13'(m_axi_o.arlen) + 13'd1) * 13'(DataWidth / 8);
  assign pending_beats = ar_pending_q ? 9'(m_axi_o.arlen) + 9'd1 : 9'd0;

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // AXI: a request that waits does not change. Bursts are of whole beats and within 4 KiB.
      if (ar_waits_q) assert (m_axi_o.arvalid && ar_past_q == {m_axi_o.araddr, m_axi_o.arlen});
      if (m_axi_o.arvalid) assert (13'(m_axi_o.araddr[11:0]) + burst_bytes <= 13'd4096 && m_axi_o.araddr[8:0] == '0);
      // There is room for everything that was requested from the memory.
      if (owed_q != '0) assert (m_axi_o.rready);
      if (beat_waits_q) assert (beat_valid_o && beat_past_q == {beat_error_o, beat_o});

      // Invariants for the induction.
      assert (9'(room_q) + owed_q + pending_beats + 9'(u_beats.count_q) == 9'(StoreDepth));
      assert (room_q <= StoreBits'(StoreDepth) && owed_q <= 9'(StoreDepth));
      assert (9'(u_beats.stored_q) + 9'(beat_valid_o) == 9'(u_beats.count_q));
      assert (u_beats.count_q <= StoreBits'(StoreDepth));
      if (ar_pending_q) begin
        assert (burst_sectors_q != '0 && 5'(m_axi_o.araddr[11:9]) + 5'(burst_sectors_q) <= 5'd8);
        assert (m_axi_o.araddr[8:0] == '0);
      end
      if (burst_valid) assert (burst_sectors != '0 && 5'(burst_address[11:9]) + 5'(burst_sectors) <= 5'd8);
      if (burst_valid) assert (burst_address[8:0] == '0 && u_cut.busy_q);
      if (u_cut.sized) assert (u_cut.left_q != '0);
      if (burst_valid && !u_cut.burst_last_o) assert (u_cut.left_q != '0);
      if (burst_valid && enough_q) assert (room_q >= burst_beats);

      cover (beat_valid_o && beat_error_o);
    end
  end
`endif

endmodule

`default_nettype wire
