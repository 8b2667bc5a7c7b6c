// SPDX-License-Identifier: Apache-2.0
//
// Routes what the drive writes, a beat at a time: data and pages to the buffer, completions to their queues. Writes of
// the other epoch, or to addresses where nothing may be written, are dropped and counted.
//
// Guarantee: every beat is taken after finite time, if completions are. What was written before a completion is in the
// buffer before the completion is passed on. `write_ready_o` is a register, because it enables wide registers of the
// adapter. Therefore at least two cycles without a beat follow each beat for a queue.
`default_nettype none

module spate_windows_write
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned WindowBits = 23,
    // Derived: no instance sets these.
    parameter int unsigned BeatBytes = DataWidth / 8,
    parameter int unsigned BeatBits = $clog2(RamBytes / BeatBytes)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic epoch_i,

    input  wire logic                            write_valid_i,
    output logic                                 write_ready_o,
    input  wire window_write_t                   write_i,
    input  wire logic          [  DataWidth-1:0] write_data_i,
    input  wire logic          [DataWidth/8-1:0] write_strobe_i,

    output logic                   buffer_write_o,
    output logic [   BeatBits-1:0] buffer_beat_o,
    output logic [  DataWidth-1:0] buffer_data_o,
    output logic [DataWidth/8-1:0] buffer_strobe_o,

    // The data and strobes of completions are those on the buffer's port.
    output logic             cq_valid_o,
    input  wire logic        cq_ready_i,
    output logic             admin_cq_valid_o,
    input  wire logic        admin_cq_ready_i,
    output logic      [11:0] cq_index_o,

    output logic stray_o,  // pulses
    output logic stale_o
);

  // The first register holds what was written, the second also its destination. Its epoch is compared with the present
  // one only when it leaves the second, because the epoch may change while a completion waits.
  //
  // Only beats for a queue wait. In the cycle after such a beat was in either register, write_ready_o is low. By then one
  // more beat may have been taken: it waits in the first register.
  logic valid_q, stray_q, there_q, ready_q, for_queue, take, move;
  logic epoch_q, decides_q, to_cq_q, to_admin_cq_q, to_buffer_q, fresh;  // decides_q: the epoch does
  logic [WindowBits-1:0] address_q;
  logic [DataWidth-1:0] data_q;
  logic [DataWidth/8-1:0] strobe_q;
  assign move = valid_q && (!there_q || take);
  assign write_ready_o = ready_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      ready_q <= 1'b0;
    end else begin
      valid_q <= ready_q ? write_valid_i : valid_q && !move;
      ready_q <= !(valid_q && for_queue) && !(there_q && (to_cq_q || to_admin_cq_q));
    end
    if (ready_q) begin
      address_q <= write_i.address[WindowBits-1:0];
      stray_q <= write_i.stray;
      data_q <= write_data_i;
      strobe_q <= write_strobe_i;
    end
  end

  region_e region;
  spate_region #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits)
  ) u_region (
      .clk_i,
      .epoch_i(address_q[WindowBits-1]),
      .address_i(address_q),
      .stray_i(stray_q),
      .region_o(region),
      .take_i(move),
      .beat_o(buffer_beat_o),
      .stale_o()
  );

  assign for_queue = region == RegionCq || region == RegionAdminCq;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) there_q <= 1'b0;
    else if (!there_q || take) there_q <= valid_q;
    if (move) begin
      epoch_q <= address_q[WindowBits-1];
      decides_q <= !stray_q;
      to_cq_q <= region == RegionCq;
      to_admin_cq_q <= region == RegionAdminCq;
      to_buffer_q <= region == RegionAdminPage || region == RegionMailbox || region == RegionRing;
      // The entry at which the beat begins. Queues are shorter than their windows: an address behind a queue has an
      // index that the queue refuses.
      cq_index_o <= region == RegionAdminCq ? {4'd0, address_q[11:4]} : address_q[15:4];
      buffer_data_o <= data_q;
      buffer_strobe_o <= strobe_q;
    end
  end

  assign fresh = there_q && epoch_q == epoch_i;
  assign cq_valid_o = fresh && to_cq_q;
  assign admin_cq_valid_o = fresh && to_admin_cq_q;
  assign buffer_write_o = fresh && to_buffer_q;
  assign take = cq_valid_o ? cq_ready_i : admin_cq_valid_o ? admin_cq_ready_i : 1'b1;
  assign stale_o = there_q && decides_q && epoch_q != epoch_i;
  assign stray_o = there_q && !stale_o && !(to_cq_q || to_admin_cq_q || to_buffer_q);

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;

  // What was written, as it stands in the second register.
  logic [WindowBits-1:0] shadow_address_q;
  logic [DataWidth-1:0] shadow_data_q;
  logic [DataWidth/8-1:0] shadow_strobe_q;
  logic shadow_stray_q;
  region_e own_region, shadow_region;  // the first one by its own epoch
  logic [BeatBits-1:0] shadow_beat;
  logic shadow_stale;
  assign shadow_stale = !shadow_stray_q && shadow_address_q[WindowBits-1] != epoch_i;
  assign shadow_region = shadow_stale ? RegionNone : own_region;
  always_ff @(posedge clk_i) begin
    if (move) begin
      {shadow_stray_q, shadow_address_q} <= {stray_q, address_q};
      {shadow_strobe_q, shadow_data_q} <= {strobe_q, data_q};
    end
  end
  spate_region #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits)
  ) u_shadow (
      .clk_i,
      .epoch_i(shadow_address_q[WindowBits-1]),
      .address_i(shadow_address_q),
      .stray_i(shadow_stray_q),
      .region_o(own_region),
      .take_i(1'b0),
      .beat_o(),
      .stale_o()
  );

  // The pages are behind the ring.
  localparam int unsigned BeatShift = $clog2(DataWidth / 8);
  localparam logic [31:0] RingBytes = 32'(RamBytes - 8192);
  logic [31:0] shadow_offset, shadow_place;
  assign shadow_offset = 32'(shadow_address_q[WindowBits-3:0]);
  assign shadow_beat = BeatBits'(shadow_place >> BeatShift);
  always_comb begin
    unique case (own_region)
      RegionRing: shadow_place = shadow_offset >= RingBytes ? shadow_offset - RingBytes : shadow_offset;
      RegionMailbox: shadow_place = RingBytes + 32'd4096 + 32'(shadow_offset[11:0]);
      default: shadow_place = RingBytes + 32'(shadow_offset[11:0]);
    endcase
  end

  always_comb begin
    assume (rst_ni == past_reset_q);
    if (rst_ni && past_reset_q) begin
      // A beat goes to one destination or is counted, by the epoch of that cycle.
      assert ($countones({buffer_write_o, cq_valid_o, admin_cq_valid_o, stray_o, stale_o}) == 32'(there_q));
      if (there_q) begin
        assert (u_region.taken_q && u_region.region_past_q == own_region && u_region.offset_past_q == u_shadow.offset);
        assert (epoch_q == shadow_address_q[WindowBits-1] && decides_q == !shadow_stray_q);
        assert (to_cq_q == (own_region == RegionCq) && to_admin_cq_q == (own_region == RegionAdminCq));
        assert (to_buffer_q == (own_region inside {RegionAdminPage, RegionMailbox, RegionRing}));
        assert (stale_o == shadow_stale);
        assert (cq_valid_o == (shadow_region == RegionCq) && admin_cq_valid_o == (shadow_region == RegionAdminCq));
        assert (buffer_write_o == (shadow_region inside {RegionAdminPage, RegionMailbox, RegionRing}));
        assert (buffer_data_o == shadow_data_q && buffer_strobe_o == shadow_strobe_q);
        if (to_buffer_q) assert (buffer_beat_o == shadow_beat);
        assert (cq_index_o == (to_admin_cq_q ? {4'd0, shadow_address_q[11:4]} : shadow_address_q[15:4]));
      end
      if (buffer_write_o) assert (32'(buffer_beat_o) < RamBytes / BeatBytes);
      // Only a beat for a queue waits, and only for that queue.
      if (there_q && !take) assert (cq_valid_o && !cq_ready_i || admin_cq_valid_o && !admin_cq_ready_i);
      if (ready_q) assert (!(there_q && (to_cq_q || to_admin_cq_q)) && (!valid_q || move));
    end
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      // None is lost or comes twice, and none passes another.
      assert (valid_q == ($past(write_valid_i && write_ready_o) || $past(valid_q && !move)));
      assert (there_q == ($past(valid_q) || $past(there_q && !take)));
      // write_ready_o is low only if a beat for a queue was in either register in the cycle before.
      if (!write_ready_o) assert ($past(valid_q && for_queue) || $past(there_q && (to_cq_q || to_admin_cq_q)));
      if ($past(move)) assert ($past(!there_q || take));
      if ($past(write_valid_i && write_ready_o)) begin
        assert (address_q == $past(write_i.address[WindowBits-1:0]) && stray_q == $past(write_i.stray));
        assert (data_q == $past(write_data_i) && strobe_q == $past(write_strobe_i));
      end
      if ($past(!write_ready_o)) assert ($stable({address_q, stray_q, data_q, strobe_q}));
      if ($past(there_q && !take)) assert ($stable({shadow_address_q, shadow_stray_q, shadow_data_q, shadow_strobe_q}));
    end
  end
  always_comb begin
    cover (rst_ni && past_reset_q && admin_cq_valid_o && cq_index_o == 12'd3 && !admin_cq_ready_i);
    cover (rst_ni && past_reset_q && cq_valid_o && cq_index_o == 12'd7);
    cover (rst_ni && past_reset_q && stale_o);
    cover (rst_ni && past_reset_q && buffer_write_o);
  end
`endif

endmodule

`default_nettype wire
