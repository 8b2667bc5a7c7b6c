// SPDX-License-Identifier: Apache-2.0
//
// spate_windows_write, watched at its ports. Beats that were taken stand in a queue of two. Where the older one must come
// out follows from its address alone, and from the epoch of the cycle.
module windows_write_ports
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned WindowBits = 23,
    localparam int unsigned BeatBytes = DataWidth / 8,
    localparam int unsigned BeatBits = $clog2(RamBytes / BeatBytes)
) (
    input logic                            clk_i,
    input logic                            rst_ni,
    input logic                            epoch_i,
    input logic                            write_valid_i,
    input logic                            write_ready_o,
    input window_write_t                   write_i,
    input logic          [  DataWidth-1:0] write_data_i,
    input logic          [DataWidth/8-1:0] write_strobe_i,
    input logic                            buffer_write_o,
    input logic          [   BeatBits-1:0] buffer_beat_o,
    input logic          [  DataWidth-1:0] buffer_data_o,
    input logic          [DataWidth/8-1:0] buffer_strobe_o,
    input logic                            cq_valid_o,
    input logic                            cq_ready_i,
    input logic                            admin_cq_valid_o,
    input logic                            admin_cq_ready_i,
    input logic          [           11:0] cq_index_o,
    input logic                            stray_o,
    input logic                            stale_o
);

  localparam bit HasRing = RamBytes > 8192;
  localparam logic [31:0] RingBytes = 32'(RamBytes - 8192);
  logic past_reset_q = 1'b0;
  logic checked;
  assign checked = past_reset_q && rst_ni;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);

  // ---- where a beat must go ----

  typedef struct packed {
    logic                   stray;
    logic [WindowBits-1:0]  address;
    logic [DataWidth-1:0]   data;
    logic [DataWidth/8-1:0] strobe;
  } beat_t;

  typedef struct packed {
    logic        to_buffer;
    logic        to_cq;
    logic        to_admin_cq;
    logic [31:0] place;        // in the buffer, in bytes: the ring, the admin page, the mailbox
    logic [11:0] index;        // in the queue
  } target_t;

  // By the epoch of its address. The ring's half has the ring twice; in the other half only pages and queues are written.
  function automatic target_t target(beat_t beat);
    logic [31:0] offset;
    logic in_data;
    in_data = HasRing && beat.address[WindowBits-2];
    offset = HasRing ? 32'(beat.address[WindowBits-3:0]) : 32'(beat.address[WindowBits-2:0]);
    target = '0;
    if (in_data) begin
      target.to_buffer = offset < 2 * RingBytes;
      target.place = offset < RingBytes ? offset : offset - RingBytes;
    end else if (offset >> 12 == 32'(OffsetAdminPage >> 12)) begin
      target.to_buffer = 1'b1;
      target.place = RingBytes + 32'(offset[11:0]);
    end else if (offset >> 12 == 32'(OffsetMailbox >> 12)) begin
      target.to_buffer = 1'b1;
      target.place = RingBytes + 32'd4096 + 32'(offset[11:0]);
    end else begin
      target.to_cq = offset >> 16 == 32'(OffsetCq >> 16);
      target.to_admin_cq = offset >> 12 == 32'(OffsetAdminCq >> 12);
      target.index = target.to_cq ? offset[15:4] : 12'(offset[11:4]);
    end
    if (beat.stray) target = '0;
  endfunction

  // ---- the beats that were taken ----
  //
  // A beat comes out two cycles after it was taken, or when the beat before it has left.
  beat_t newer_q, older_q;
  logic newer_there_q, older_there_q, leaves, moves, taken, newer_waits_q, older_waits_q;
  target_t newer, older;
  assign newer = target(newer_q);
  assign older = target(older_q);
  assign taken = write_valid_i && write_ready_o;
  assign leaves = buffer_write_o || stray_o || stale_o || (cq_valid_o && cq_ready_i) || (admin_cq_valid_o && admin_cq_ready_i);
  assign moves = newer_there_q && (!older_there_q || leaves);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {newer_there_q, older_there_q} <= 2'b00;
      {newer_waits_q, older_waits_q} <= 2'b00;
    end else begin
      newer_there_q <= taken || (newer_there_q && !moves);
      older_there_q <= moves || (older_there_q && !leaves);
      newer_waits_q <= newer_there_q && (newer.to_cq || newer.to_admin_cq);
      older_waits_q <= older_there_q && (older.to_cq || older.to_admin_cq);
    end
    if (taken) newer_q <= '{write_i.stray, write_i.address[WindowBits-1:0], write_data_i, write_strobe_i};
    if (moves) older_q <= newer_q;
  end

  logic stale, to_buffer, to_cq, to_admin_cq;
  assign stale = !older_q.stray && older_q.address[WindowBits-1] != epoch_i;
  assign to_buffer = older_there_q && older.to_buffer;
  assign to_cq = older_there_q && !stale && older.to_cq;
  assign to_admin_cq = older_there_q && !stale && older.to_admin_cq;

  logic past_checked_q = 1'b0;
  always_ff @(posedge clk_i) past_checked_q <= checked;

  always_comb begin
    if (checked) begin
      // Each beat comes out once, in order, at one place, or is counted. Nothing else comes out. A stale beat for the
      // buffer comes out with stale_o, and the buffer drops it.
      assert (buffer_write_o == to_buffer && cq_valid_o == to_cq && admin_cq_valid_o == to_admin_cq);
      assert (stale_o == (older_there_q && stale));
      assert (stray_o == (older_there_q && !stale && !to_buffer && !to_cq && !to_admin_cq));
      if (buffer_write_o) begin
        assert (32'(buffer_beat_o) == older.place / BeatBytes && 32'(buffer_beat_o) < RamBytes / BeatBytes);
      end
      if (cq_valid_o || admin_cq_valid_o) assert (cq_index_o == older.index);
      if (buffer_write_o || cq_valid_o || admin_cq_valid_o) begin
        assert (buffer_data_o == older_q.data && buffer_strobe_o == older_q.strobe);
      end
      // A beat is taken only where there is room for it. In the cycle after one for a queue was inside none is taken.
      if (write_ready_o) assert (!newer_there_q || moves);
      if (past_checked_q) assert (write_ready_o == !(newer_waits_q || older_waits_q));
    end
  end

  logic buffer_before_q;  // the beat before the oldest one went to the buffer
  always_ff @(posedge clk_i) if (leaves) buffer_before_q <= buffer_write_o;
  always_comb begin
    cover (checked && admin_cq_valid_o && cq_index_o == 12'd3 && !admin_cq_ready_i);
    cover (checked && cq_valid_o && cq_index_o == 12'd7);
    cover (checked && stale_o);
    cover (checked && stray_o);
    cover (checked && buffer_write_o && !stale_o);
    cover (checked && buffer_write_o && stale_o);
    // A completion waits, behind its data, and another beat behind it. Then both have left, and the next beat is taken.
    cover (checked && cq_valid_o && !cq_ready_i && newer_there_q && buffer_before_q);
    cover (checked && buffer_write_o && !buffer_before_q && taken);
    // The epoch changes while a completion waits.
    cover (checked && stale_o && older.to_cq && older_waits_q);
  end

endmodule

bind spate_windows_write windows_write_ports #(
    .DataWidth(DataWidth),
    .RamBytes(RamBytes),
    .WindowBits(WindowBits)
) u_ports (.*);
