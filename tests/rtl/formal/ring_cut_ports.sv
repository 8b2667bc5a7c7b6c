// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_cut, seen at its ports: any commands, parts that wait for any time, places that are free again in parts of
// any size, and a drive that goes and returns with another block size at any time.
module ring_cut_ports
  import spate_pkg::*;
#(
    parameter int unsigned AddressWidth = 40,
    parameter int unsigned PartBytes = 524288,
    localparam int unsigned SectorBits = AddressWidth - 9,
    localparam int unsigned PartSectors = PartBytes / 512,
    localparam int unsigned PartBits = $clog2(PartSectors) + 1
) (
    input logic                        clk_i,
    input logic                        rst_ni,
    input logic       [SectorBits-4:0] ring_pages_i,
    input drive_t                      drive_i,
    input logic                        command_valid_i,
    input logic                        command_ready_o,
    input command_t                    command_i,
    input logic                        part_valid_o,
    input logic                        part_ready_i,
    input ring_part_t                  part_o,
    input logic       [SectorBits-1:0] part_place_o,
    input logic       [  PartBits-1:0] part_sectors_o,
    input logic                        free_i,
    input logic       [  PartBits-1:0] free_sectors_i,
    input logic                        idle_o
);

  logic past_reset_q = 1'b0;
  logic [SectorBits-4:0] pages_q;
  logic block_q, gone_past_q, accepted, part, wraps;
  logic [LbaWidth-1:0] blocks_q, asked_limit_q;
  logic [65:0] asked_end_q;
  logic [SectorBits-1:0] ring_sectors, used_q, next_q;  // sectors in all, in use; where the next place begins
  command_t asked_q;  // the request that is being split, as it came
  logic asked_block_q, asked_ready_q, asked_beyond, doomed_q;  // doomed: its drive went since it came
  logic [34:0] asked_sectors, before_q;  // its sectors, and those of the parts before this one
  logic has_room, sized;
  logic [1:0] begun_q;  // the request came, or the part before this one left, in one of the two cycles before
  logic [2:0] empty_q;  // nothing was in use, and the drive stayed as it is, for one, two or three cycles or longer
  logic [1:0] sized_q, had_room_q;  // the part has been there for one or two cycles or longer; there was room then

  assign ring_sectors = {ring_pages_i, 3'd0};
  assign accepted = command_valid_i && command_ready_o;
  assign part = part_valid_o && part_ready_i;
  assign wraps = (SectorBits + 1)'(part_place_o) + (SectorBits + 1)'(part_sectors_o) == (SectorBits + 1)'(ring_sectors);
  assign has_room = (SectorBits + 1)'(used_q) + (SectorBits + 1)'(part_sectors_o) <= (SectorBits + 1)'(ring_sectors);
  assign sized = !idle_o && begun_q == '0;
  assign asked_beyond = asked_ready_q && asked_end_q > 66'(asked_limit_q);
  assign asked_sectors = asked_q.source != SourceStream ? '0 : 35'(asked_q.blocks) * (asked_block_q ? 35'd8 : 35'd1);

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_pages_i >= (SectorBits - 3)'(2) && (!past_reset_q || ring_pages_i == pages_q));
    assume (command_i.op inside {OpWrite, OpRead});
    if (past_reset_q && rst_ni) begin
      if (!drive_i.gone && !gone_past_q && (used_q != '0 || !idle_o)) begin
        assume (drive_i.block_4096 == block_q && drive_i.blocks == blocks_q);
      end
      if (free_i) assume (SectorBits'(free_sectors_i) <= used_q && 32'(free_sectors_i) <= PartSectors);
    end
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    pages_q <= ring_pages_i;
    block_q <= drive_i.block_4096;
    blocks_q <= drive_i.blocks;
    gone_past_q <= drive_i.gone;
    if (accepted) begin
      asked_q <= command_i;
      asked_block_q <= drive_i.block_4096;
      asked_ready_q <= drive_i.ready;
      asked_end_q <= 66'(command_i.lba) + 66'(command_i.blocks);
      asked_limit_q <= drive_i.blocks;
      before_q <= '0;
    end else if (part) before_q <= before_q + 35'(part_sectors_o);
    begun_q <= {begun_q[0] && !idle_o, accepted || part};
    sized_q <= {2{rst_ni && sized && !part}} & {sized_q[0], 1'b1};
    empty_q <= {3{rst_ni && idle_o && !accepted && used_q == '0 && drive_i.block_4096 == block_q}} &
        {empty_q[1:0], 1'b1};
    had_room_q <= {had_room_q[0], has_room};
    doomed_q <= drive_i.gone || (!idle_o && doomed_q);
    if (!rst_ni) begin
      used_q <= '0;
      next_q <= '0;
    end else begin
      used_q <= used_q + (part ? SectorBits'(part_sectors_o) : '0) - (free_i ? SectorBits'(free_sectors_i) : '0);
      if (part) next_q <= wraps ? '0 : part_place_o + SectorBits'(part_sectors_o);
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // A place begins where the last one ended, or at the start of an empty ring, and is free.
      assert (part_place_o == next_q || (part_place_o == '0 && used_q == '0));
      if (part_valid_o) begin
        assert ((SectorBits + 1)'(part_place_o) + (SectorBits + 1)'(part_sectors_o) <= (SectorBits + 1)'(ring_sectors));
        assert (32'(part_sectors_o) <= PartSectors);
        if (asked_block_q && !part_o.gone) assert (part_sectors_o[2:0] == '0 && part_place_o[2:0] == '0);
      end
      // A part waits only for room.
      if (part_valid_o) assert (has_room && !idle_o);
      if (sized_q[1] && had_room_q[1]) assert (part_valid_o);
      // The parts are the request, in order, and have its fields.
      if (part_valid_o) begin
        assert (before_q + 35'(part_sectors_o) <= asked_sectors);
        assert (part_o.last == (before_q + 35'(part_sectors_o) == asked_sectors));
        assert ((part_sectors_o == '0) == part_o.invalid);
      end
      if (!idle_o) begin
        assert (part_o.write == (asked_q.op == OpWrite) && part_o.fua == asked_q.fua);
        assert (part_o.from_registers == asked_q.from_registers && part_o.tag == asked_q.tag);
        assert (part_o.gone == (doomed_q || drive_i.gone));
        if (part_valid_o && !part_o.gone) assert (part_o.beyond == asked_beyond);
        if (!part_o.gone)
          assert (part_o.lba == asked_q.lba[LbaWidth-1:0] + LbaWidth'(asked_block_q ? before_q >> 3 : before_q));
      end
      assert (!command_ready_o || (idle_o && (drive_i.ready || drive_i.gone)));
      // A request waits for the one before it, for a drive, or for an empty ring that restarts.
      if (empty_q[2]) assert (drive_i.block_4096 != block_q || command_ready_o == (drive_i.ready || drive_i.gone));

      cover (part && part_place_o != '0 && wraps && !part_o.last);
      cover (accepted && drive_i.block_4096 && next_q[2:0] != '0);
      cover (part && part_o.last && part_o.gone && !drive_i.gone && before_q != '0);
    end
  end

endmodule

bind spate_ring_cut ring_cut_ports #(
    .AddressWidth(AddressWidth),
    .PartBytes(PartBytes)
) u_ports (.*);
