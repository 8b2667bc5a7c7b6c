// SPDX-License-Identifier: Apache-2.0
//
// Decodes an address of the aperture: its region, in the same cycle, and its beat in the buffer, a cycle later.
//
// Guarantee: an address of the other epoch, outside the aperture, or where nothing is mapped is RegionNone. A beat is
// inside the RAM.
`default_nettype none

module spate_region
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned WindowBits = 23,  // spate_pkg::window_bits()
    // Derived: no instance sets these.
    parameter int unsigned BeatBytes = DataWidth / 8,
    parameter int unsigned BeatBits = $clog2(RamBytes / BeatBytes)
) (
    input  wire logic                  clk_i,
    input  wire logic                  epoch_i,
    input  wire logic [WindowBits-1:0] address_i,
    input  wire logic                  stray_i,
    output region_e                    region_o,
    input  wire logic                  take_i,
    output logic      [  BeatBits-1:0] beat_o,     // of the address in the last cycle in which take_i was high
    output logic                       stale_o
);

  localparam int unsigned BeatShift = $clog2(BeatBytes);
  localparam int unsigned RingBytes = RamBytes - 8192;
  localparam bit HasRing = RingBytes != 0;
  localparam int unsigned PageBits = HasRing ? $clog2(2 * RingBytes / 4096) : 1;  // of the ring, twice
  localparam logic [PageBits-1:0] RingPages = PageBits'(RingBytes / 4096);

  if (WindowBits != window_bits(RamBytes)) begin : gen_check
    $error("spate_region: WindowBits must be window_bits(RamBytes)");
  end

  assign stale_o = !stray_i && address_i[WindowBits-1] != epoch_i;

  logic data, in_ring, behind;
  logic [PageBits-1:0] page;
  assign data = HasRing && address_i[WindowBits-2];
  assign page = address_i[PageShift+:PageBits];
  assign in_ring = !behind && (PageBits + 1)'(page) < {RingPages, 1'b0};
  if (HasRing && WindowBits - 2 > PageShift + PageBits) begin : gen_behind
    assign behind = address_i[WindowBits-3:PageShift+PageBits] != '0;
  end else begin : gen_filled
    assign behind = 1'b0;
  end

  region_e control;
  logic beyond;  // above control, in a half that is larger than control
  if (HasRing && WindowBits - 2 > CtrlBits) begin : gen_beyond
    assign beyond = address_i[WindowBits-3:CtrlBits] != '0;
  end else begin : gen_within
    assign beyond = 1'b0;
  end
  assign control = ctrl_region(address_i[CtrlBits-1:0]);

  always_comb begin
    region_o = beyond ? RegionNone : control;
    if (data) region_o = in_ring ? RegionRing : RegionNone;
    if (stale_o || stray_i) region_o = RegionNone;
  end

  // The ring appears twice, and both images are the same beats. The pages follow the ring, the admin page first: bit
  // 12 of the offset selects one.
  logic data_q, again_q;
  logic [PageBits-1:0] page_q, ring_page;
  logic [PageShift:BeatShift] offset_q;
  logic [BeatBits-1:0] page_beat;
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      data_q <= data;
      again_q <= page >= RingPages;
      page_q <= page;
      offset_q <= address_i[PageShift:BeatShift];
    end
  end
  assign ring_page = page_q - (again_q ? RingPages : '0);
  assign page_beat = BeatBits'(offset_q) + BeatBits'(RingBytes / BeatBytes);
  assign beat_o = data_q ? BeatBits'({ring_page, offset_q[PageShift-1:BeatShift]}) : page_beat;

`ifdef FORMAL
  localparam logic [31:0] RingBeats = 32'(RingBytes / BeatBytes);
  localparam logic [31:0] PageBeats = 32'(4096 / BeatBytes);
  logic [31:0] offset, offset_past_q, beat;
  region_e region_past_q;
  logic taken_q = 1'b0;
  assign offset = HasRing ? 32'(address_i[WindowBits-3:0]) : 32'(address_i[WindowBits-2:0]);
  assign beat = 32'(beat_o);
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      taken_q <= 1'b1;
      offset_past_q <= offset;
      region_past_q <= region_o;
    end
  end
  always_comb begin
    if (taken_q && region_past_q == RegionRing)
      assert (beat == (offset_past_q >> BeatShift) - (offset_past_q >= 32'(RingBytes) ? RingBeats : 32'd0) &&
              beat < RingBeats);
    if (taken_q && region_past_q == RegionAdminPage) assert (beat == RingBeats + (offset_past_q[11:0] >> BeatShift));
    if (taken_q && region_past_q == RegionMailbox)
      assert (beat == RingBeats + PageBeats + (offset_past_q[11:0] >> BeatShift));
  end
  always_comb begin
    if (stray_i || address_i[WindowBits-1] != epoch_i) begin
      assert (region_o == RegionNone && stale_o == !stray_i);
    end else begin
      assert (!stale_o);
      if (HasRing && address_i[WindowBits-2]) begin
        // the ring twice, then nothing
        assert (region_o == (offset < 32'(2 * RingBytes) ? RegionRing : RegionNone));
      end else begin
        assert (region_o != RegionRing);
        if (region_o == RegionAdminPage) assert ((offset >> 12) == 32'(OffsetAdminPage >> 12));
        if (region_o == RegionMailbox) assert ((offset >> 12) == 32'(OffsetMailbox >> 12));
      end
      if (region_o == RegionSq) assert ((offset & ~32'hffff) == 32'(OffsetSq));
      if (region_o == RegionCq) assert ((offset & ~32'hffff) == 32'(OffsetCq));
      if (region_o == RegionPrp) assert ((offset & ~32'hfffff) == 32'(OffsetPrp));
      if (region_o == RegionAdminSq) assert ((offset & ~32'hfff) == 32'(OffsetAdminSq));
      if (region_o == RegionAdminCq) assert ((offset & ~32'hfff) == 32'(OffsetAdminCq));
      if (region_o == RegionRange) assert ((offset & ~32'hfff) == 32'(OffsetRange));
    end
    cover (region_o == (HasRing ? RegionRing : RegionPrp));
    cover (region_o == RegionMailbox);
    cover (region_o == RegionNone && !stray_i && !stale_o);
  end
`endif

endmodule

`default_nettype wire
