// SPDX-License-Identifier: Apache-2.0
//
// Routes what the drive writes, a beat at a time: data and pages to the buffer, completions to their queues. Writes of
// the other epoch, or to addresses where nothing may be written, are dropped and counted.
//
// Guarantee: every beat is taken after finite time, if completions are. What was written before a completion is in the
// buffer before the completion is passed on.
`default_nettype none

module spate_windows_write
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned WindowBits = 23,
    localparam int unsigned BeatBytes = DataWidth / 8,
    localparam int unsigned BeatBits = $clog2(RamBytes / BeatBytes)
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

  // Everything below is decided from this one register.
  logic valid_q, stray_q;
  logic [WindowBits-1:0] address_q;
  logic [DataWidth-1:0] data_q;
  logic [DataWidth/8-1:0] strobe_q;
  logic take;
  assign write_ready_o = !valid_q || take;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (write_ready_o) valid_q <= write_valid_i;
    if (write_ready_o) begin
      address_q <= write_i.address[WindowBits-1:0];
      stray_q <= write_i.stray;
      data_q <= write_data_i;
      strobe_q <= write_strobe_i;
    end
  end

  region_e region;
  logic [BeatBits-1:0] beat;
  logic stale;
  spate_region #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits)
  ) u_region (
      .epoch_i,
      .address_i(address_q),
      .stray_i(stray_q),
      .region_o(region),
      .beat_o(beat),
      .stale_o(stale)
  );

  // The entry at which the beat begins. Queues are shorter than their windows: an address behind a queue has an index
  // that the queue refuses.
  assign cq_index_o = region == RegionAdminCq ? {4'd0, address_q[11:4]} : address_q[15:4];
  assign cq_valid_o = valid_q && region == RegionCq;
  assign admin_cq_valid_o = valid_q && region == RegionAdminCq;
  assign buffer_write_o = valid_q && (region == RegionAdminPage || region == RegionMailbox || region == RegionRing);
  assign buffer_beat_o = beat;
  assign buffer_data_o = data_q;
  assign buffer_strobe_o = strobe_q;

  always_comb begin
    unique case (region)
      RegionCq: take = cq_ready_i;
      RegionAdminCq: take = admin_cq_ready_i;
      default: take = 1'b1;
    endcase
  end
  assign stale_o = valid_q && stale;
  assign stray_o = valid_q && !stale && region != RegionCq && region != RegionAdminCq && !buffer_write_o;

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb begin
    assume (rst_ni == past_reset_q);
    if (rst_ni && past_reset_q) begin
      // a beat goes to one destination or is counted; only a beat for a queue waits, and only for that queue
      assert ($countones({buffer_write_o, cq_valid_o, admin_cq_valid_o, stray_o, stale_o}) == 32'(valid_q));
      if (valid_q && !write_ready_o) assert (cq_valid_o && !cq_ready_i || admin_cq_valid_o && !admin_cq_ready_i);
      if (cq_valid_o) assert (write_ready_o == cq_ready_i);
      if (admin_cq_valid_o) assert (write_ready_o == admin_cq_ready_i);
      if (buffer_write_o) assert (32'(buffer_beat_o) < RamBytes / BeatBytes);
    end
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      assert (valid_q == ($past(write_valid_i) || !$past(write_ready_o)));
      if ($past(write_valid_i && write_ready_o)) begin
        assert (address_q == $past(write_i.address[WindowBits-1:0]) && stray_q == $past(write_i.stray));
        assert (buffer_data_o == $past(write_data_i) && buffer_strobe_o == $past(write_strobe_i));
      end
      if ($past(!write_ready_o)) assert ($stable({address_q, stray_q, data_q, strobe_q}));
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
