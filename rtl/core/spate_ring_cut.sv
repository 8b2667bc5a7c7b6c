// SPDX-License-Identifier: Apache-2.0
//
// Splits reads and writes into parts, each with a place in the ring of spate_ring_ddr. A part is contiguous in the ring
// and has at most PartBytes. Places are given in turn; a part waits until there is room for it.
//
// Guarantee: the parts of a request cover its blocks once, in order; the last one is marked. A place is whole blocks
// long, within the ring, and begins where the one before it ended, or at the ring's start. No more sectors are in use
// than the ring has. A request without beats has one part without sectors.
`default_nettype none

module spate_ring_cut
  import spate_pkg::*;
#(
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses
    parameter int unsigned PartBytes = 524288,  // of the largest part; a power of two, at least 4096
    // Derived: no instance sets these.
    parameter int unsigned SectorBits = AddressWidth - 9,
    parameter int unsigned PartBits = $clog2(PartBytes / 512) + 1  // for a part's number of sectors
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [SectorBits-4:0] ring_pages_i,  // constant, also during reset; in units of 4096 bytes, at least 2
    input wire drive_t drive_i,

    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,        // reads and writes only, from and to streams or addresses

    output logic                        part_valid_o,
    input  wire logic                   part_ready_i,
    output ring_part_t                  part_o,
    output logic       [SectorBits-1:0] part_place_o,   // offset from the ring's start, in sectors of 512 bytes
    output logic       [  PartBits-1:0] part_sectors_o, // 0 only if part_o.invalid

    // The places of parts are free again, in the order in which they were given.
    input wire logic                free_i,
    input wire logic [PartBits-1:0] free_sectors_i,

    output logic idle_o  // no request is being split
);

  localparam int unsigned PartSectors = PartBytes / 512;

  typedef enum logic [1:0] {
    StIdle,
    StMost,  // computes most_q, the most sectors that a part can have at this place
    StSize,
    StPart  // the part waits for room, and to be taken
  } state_e;

  state_e state_q;
  ring_part_t part_q;
  logic [34:0] left_q;  // sectors of the request, from this part on
  logic [SectorBits-1:0] ring_sectors, to_ring_end_q, room_q;
  logic [PartBits-1:0] most_q;
  logic enough_q;  // there is room for this part: more becomes free meanwhile, never less
  logic signed [PartBits:0] room_less_q;  // what a part took, less what is free again, counted a cycle later
  logic empty_q;  // nothing is in use
  logic idle, off_block, fits, part, restart, wraps;

  // A part ends where the ring does, and must not end within a block. Requests in small blocks may leave an odd number
  // of sectors used when a drive with large blocks comes. The ring then restarts at its beginning, as soon as it is
  // empty.
  assign off_block = drive_i.block_4096 && part_place_o[2:0] != '0;
  assign idle = state_q == StIdle;
  assign idle_o = idle;
  assign command_ready_o = idle && (drive_i.ready || drive_i.gone) && !off_block;

  assign restart = idle && off_block && empty_q;
  assign wraps = SectorBits'(part_sectors_o) == to_ring_end_q;

  assign ring_sectors = {ring_pages_i, 3'd0};
  assign fits = left_q <= 35'(most_q);
  assign part_valid_o = state_q == StPart && enough_q;
  assign part = part_valid_o && part_ready_i;
  always_comb begin
    part_o = part_q;
    part_o.gone = part_q.gone || drive_i.gone;
  end

  // The block after the request's last one, in registers. It is compared while its first part is sized.
  logic ready_q, lba_high_q, first_q;
  logic [31:0] length_q;  // its blocks
  logic [LbaWidth:0] end_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      part_place_o <= '0;
      to_ring_end_q <= ring_sectors;
      room_q <= ring_sectors;
      room_less_q <= '0;
      empty_q <= 1'b0;
    end else begin
      room_less_q <= (part ? $signed({1'b0, part_sectors_o}) : '0) - (free_i ? $signed({1'b0, free_sectors_i}) : '0);
      empty_q <= room_q == ring_sectors && room_less_q == '0 && state_q != StPart;
      unique case (state_q)
        StIdle: if (command_valid_i && command_ready_o) state_q <= StMost;
        StMost: state_q <= StSize;
        StSize: state_q <= StPart;
        StPart: if (part) state_q <= part_q.last ? StIdle : StMost;
        default: state_q <= StIdle;
      endcase
      if (restart || (part && wraps)) begin
        part_place_o <= '0;
        to_ring_end_q <= ring_sectors;
      end else if (part) begin
        part_place_o <= part_place_o + SectorBits'(part_sectors_o);
        to_ring_end_q <= to_ring_end_q - SectorBits'(part_sectors_o);
      end
      room_q <= room_q - SectorBits'(room_less_q);
    end

    unique case (state_q)
      StIdle: begin
        part_q.write <= command_i.op == OpWrite;
        part_q.fua <= command_i.fua;
        ready_q <= drive_i.ready;
        lba_high_q <= command_i.lba[63:LbaWidth] != '0;
        length_q <= command_i.blocks;
        first_q <= 1'b1;
        part_q.invalid <= command_i.source != SourceStream || command_i.blocks == '0;
        part_q.lba <= command_i.lba[LbaWidth-1:0];
        part_q.from_registers <= command_i.from_registers;
        part_q.tag <= command_i.tag;
        if (command_i.source != SourceStream) left_q <= '0;
        else left_q <= drive_i.block_4096 ? {command_i.blocks, 3'd0} : {3'd0, command_i.blocks};
      end
      StMost: begin
        if (first_q) end_q <= (LbaWidth + 1)'(part_q.lba) + (LbaWidth + 1)'(length_q);
        first_q <= 1'b0;
        most_q <= to_ring_end_q[SectorBits-1:PartBits-1] != '0 ? PartBits'(PartSectors) : PartBits'(to_ring_end_q);
      end
      StSize: begin
        part_sectors_o <= fits ? PartBits'(left_q) : most_q;
        part_q.last <= fits;
        part_q.beyond <= ready_q && (lba_high_q || end_q > (LbaWidth + 1)'(drive_i.blocks));
      end
      StPart: begin
        if (part) begin
          left_q <= left_q - 35'(part_sectors_o);
          part_q.lba <= part_q.lba + (drive_i.block_4096 ? LbaWidth'(part_sectors_o >> 3) : LbaWidth'(part_sectors_o));
        end
      end
      default: ;
    endcase
    enough_q <= state_q == StPart && !part && room_q >= SectorBits'(part_sectors_o);
    part_q.gone <= drive_i.gone || (!idle && part_q.gone);
  end

endmodule

`default_nettype wire
