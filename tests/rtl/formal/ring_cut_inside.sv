// SPDX-License-Identifier: Apache-2.0
//
// What the induction of ring_cut_ports.sv needs to know of spate_ring_cut.
module ring_cut_inside
  import spate_pkg::*;
#(
    parameter int unsigned AddressWidth = 40,
    parameter int unsigned PartBytes = 524288,
    localparam int unsigned SectorBits = AddressWidth - 9,
    localparam int unsigned PartSectors = PartBytes / 512,
    localparam int unsigned PartBits = $clog2(PartSectors) + 1
) (
    input logic                         rst_ni,
    input drive_t                       drive_i,
    input ring_part_t                   part_o,
    input logic        [SectorBits-1:0] part_place_o,
    input logic        [  PartBits-1:0] part_sectors_o,
    input logic                         idle,
    input logic        [           1:0] state_q,
    input ring_part_t                   part_q,
    input logic        [          34:0] left_q,
    input logic        [SectorBits-1:0] ring_sectors,
    input logic        [SectorBits-1:0] to_ring_end_q,
    input logic        [SectorBits-1:0] room_q,
    input logic        [  PartBits-1:0] most_q,
    input logic                         enough_q,
    input logic signed [    PartBits:0] room_less_q,
    input logic                         empty_q,
    input logic                         fits,
    input logic                         ready_q,
    input logic                         lba_high_q,
    input logic                         first_q,
    input logic        [          31:0] length_q,
    input logic        [    LbaWidth:0] end_q
);

  // The states of spate_ring_cut, in its order.
  localparam logic [1:0] StMost = 2'd1;
  localparam logic [1:0] StSize = 2'd2;
  localparam logic [1:0] StPart = 2'd3;

  logic sized;
  assign sized = state_q == StSize || state_q == StPart;

  always_comb begin
    if (u_ports.past_reset_q && rst_ni) begin
      assert (u_ports.used_q <= ring_sectors);
      assert (room_q - SectorBits'(room_less_q) == ring_sectors - u_ports.used_q);
      if (empty_q && idle) assert (u_ports.used_q == '0);
      if (sized) assert (room_less_q <= 0);
      assert (part_place_o < ring_sectors && to_ring_end_q == ring_sectors - part_place_o);
      assert ((state_q == StMost) == u_ports.begun_q[0] || idle);
      assert ((state_q == StSize) == u_ports.begun_q[1] || idle);
      if (u_ports.sized) assert (state_q == StPart);
      if (sized) begin
        if (to_ring_end_q < SectorBits'(PartSectors))
          assert (SectorBits'(most_q) == to_ring_end_q);
          else assert (32'(most_q) == PartSectors);
      end
      if (state_q == StPart) begin
        if (enough_q) assert (room_q >= SectorBits'(part_sectors_o));
        if (!part_o.gone) assert (part_o.beyond == u_ports.asked_beyond);
        assert (part_sectors_o == (fits ? PartBits'(left_q) : most_q) && part_q.last == fits);
      end
      if (!idle) begin
        assert (u_ports.before_q <= u_ports.asked_sectors && left_q == u_ports.asked_sectors - u_ports.before_q);
        assert ((left_q == '0) == part_o.invalid && part_o.invalid == (u_ports.asked_sectors == '0));
        assert (ready_q == u_ports.asked_ready_q);
        if (lba_high_q) assert (u_ports.asked_end_q >> LbaWidth != '0);
        if (!lba_high_q && !first_q) assert (66'(end_q) == u_ports.asked_end_q);
        if (first_q) begin
          assert (state_q == StMost && u_ports.before_q == '0 && length_q == u_ports.asked_q.blocks);
          assert (part_q.lba == u_ports.asked_q.lba[LbaWidth-1:0]);
          assert (lba_high_q == (u_ports.asked_q.lba[63:LbaWidth] != '0));
        end
        if (!u_ports.doomed_q && !drive_i.gone) begin
          assert (drive_i.blocks == u_ports.asked_limit_q && drive_i.block_4096 == u_ports.asked_block_q);
          assert (!u_ports.asked_block_q || (part_place_o[2:0] == '0 && u_ports.before_q[2:0] == '0));
        end
      end
    end
  end

endmodule

bind spate_ring_cut ring_cut_inside #(
    .AddressWidth(AddressWidth),
    .PartBytes(PartBytes)
) u_inside (
    .state_q(state_q),
    .*
);
