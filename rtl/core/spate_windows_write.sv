// SPDX-License-Identifier: Apache-2.0
//
// Routes what the drive writes, a beat at a time: data and pages to the buffer, completions to their queues. Writes of
// the other epoch, or to addresses where nothing may be written, are dropped and counted; the buffer drops a stale beat
// that is for it.
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

    output logic                   buffer_write_o,  // with stale_o: the beat is dropped
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
  // Only beats for a queue wait. In the cycle after such a beat was in either register, write_ready_o is low. By then
  // one more beat may have been taken: it waits in the first register.
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
      // The entry at which the beat begins. Queues are shorter than their windows: an address past a queue has an
      // index that the queue refuses.
      cq_index_o <= region == RegionAdminCq ? {4'd0, address_q[11:4]} : address_q[15:4];
      buffer_data_o <= data_q;
      buffer_strobe_o <= strobe_q;
    end
  end

  assign fresh = there_q && epoch_q == epoch_i;
  assign cq_valid_o = fresh && to_cq_q;
  assign admin_cq_valid_o = fresh && to_admin_cq_q;
  // buffer_write_o selects what the buffer's registers take. The comparison of the epochs would make it late.
  assign buffer_write_o = there_q && to_buffer_q;
  assign take = cq_valid_o ? cq_ready_i : admin_cq_valid_o ? admin_cq_ready_i : 1'b1;
  assign stale_o = there_q && decides_q && epoch_q != epoch_i;
  assign stray_o = there_q && !stale_o && !(to_cq_q || to_admin_cq_q || to_buffer_q);

endmodule

`default_nettype wire
