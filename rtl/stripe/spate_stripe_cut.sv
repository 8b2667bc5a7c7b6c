// SPDX-License-Identifier: Apache-2.0
//
// Splits reads and writes of the stripe into parts, one for each chunk that they touch.
//
// Guarantee: the parts of a request cover its blocks once, in order, each on the member and at the place that the
// layout gives; the last one is marked. A request that goes beyond the array is split as well, with places beyond every
// member, so its beats are moved and each part ends with the member's StatusRange.
`default_nettype none

module spate_stripe_cut
  import spate_pkg::*;
#(
    parameter int unsigned Drives = 2,
    parameter int unsigned ChunkBytes = 65536,
    parameter int unsigned ArrayWidth = LbaWidth + 3,  // bits of a block's number in the array
    // Derived: no instance sets these.
    parameter int unsigned MemberBits = $clog2(Drives),
    parameter int unsigned ChunkShift = $clog2(ChunkBytes / 512),
    parameter int unsigned PartWidth = ChunkShift + 1,
    parameter int unsigned ChunkWidth = ArrayWidth - ChunkShift + 3
) (
    input wire logic                                clk_i,
    input wire logic                                rst_ni,
    input wire logic                                ready_i,        // a request waits until it is high
    input wire logic                                block_4096_i,
    input wire logic [    Drives-1:0][LbaWidth-1:0] data_lba_i,
    input wire logic [ArrayWidth-1:0]               array_blocks_i,

    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,        // reads and writes only, from and to streams or addresses
    output logic          idle_o,           // no request is being split

    output logic                          part_valid_o,
    input  wire logic                     part_ready_i,
    output stripe_part_t                  part_o,
    output logic         [MemberBits-1:0] part_member_o,
    output logic         [ PartWidth-1:0] part_blocks_o   // 0 only if the request has none
);

  typedef enum logic [2:0] {
    StIdle,
    StStart,
    StPlace,
    StSize,
    StPart
  } state_e;

  state_e state_q;
  command_t command_q;  // `lba`: of the request's start; `blocks`, `address`: from the next part on
  logic [ChunkWidth-1:0] row_q, place_row, chunk;
  logic [MemberBits-1:0] member_q, place_member;
  logic [PartWidth-1:0] chunk_blocks, within_q, room;
  logic [LbaWidth-1:0] member_block;
  logic [LbaWidth-1:0] part_lba_q;
  logic [ArrayWidth:0] end_q;  // of the request
  logic part_beyond_q, part_last_q;
  logic place_done, part;

  assign idle_o = state_q == StIdle;
  assign command_ready_o = idle_o && ready_i;
  assign chunk = block_4096_i ? command_q.lba[ArrayWidth-1:ChunkShift-3] :
                                ChunkWidth'(command_q.lba[ArrayWidth-1:ChunkShift]);
  assign chunk_blocks = block_4096_i ? PartWidth'(ChunkBytes / 4096) : PartWidth'(ChunkBytes / 512);
  assign room = chunk_blocks - within_q;
  assign member_block = block_4096_i ? LbaWidth'({row_q, within_q[ChunkShift-4:0]}) :
                        LbaWidth'({row_q, within_q[ChunkShift-1:0]});
  assign part = part_valid_o && part_ready_i;

  spate_stripe_place #(
      .Drives(Drives),
      .ChunkWidth(ChunkWidth)
  ) u_place (
      .clk_i,
      .rst_ni,
      .start_i(state_q == StStart),
      .chunk_i(chunk),
      .done_o(place_done),
      .row_o(place_row),
      .member_o(place_member)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: if (command_valid_i && ready_i) state_q <= StStart;
        StStart: state_q <= StPlace;
        StPlace: if (place_done) state_q <= StSize;
        StSize: state_q <= StPart;
        StPart: if (part) state_q <= part_last_q ? StIdle : StSize;
        default: state_q <= StIdle;
      endcase
    end

    unique case (state_q)
      StIdle: begin
        command_q <= command_i;
      end
      StStart: end_q <= (ArrayWidth + 1)'(command_q.lba[ArrayWidth-1:0]) + (ArrayWidth + 1)'(command_q.blocks);
      StPlace: begin
        part_beyond_q <= command_q.lba[63:ArrayWidth] != '0 || end_q > (ArrayWidth + 1)'(array_blocks_i);
        row_q <= place_row;
        member_q <= place_member;
        if (block_4096_i) within_q <= PartWidth'(command_q.lba[ChunkShift-4:0]);
        else within_q <= PartWidth'(command_q.lba[ChunkShift-1:0]);
      end
      StSize: begin
        part_lba_q <= data_lba_i[member_q] + member_block;
        part_blocks_o <= command_q.blocks <= 32'(room) ? PartWidth'(command_q.blocks) : room;
        part_last_q <= command_q.blocks <= 32'(room);
      end
      StPart: begin
        if (part) begin
          within_q <= '0;
          member_q <= member_q == MemberBits'(Drives - 1) ? '0 : member_q + 1'b1;
          if (member_q == MemberBits'(Drives - 1)) row_q <= row_q + 1'b1;
          command_q.blocks <= command_q.blocks - 32'(part_blocks_o);
          command_q.address <= command_q.address + (block_4096_i ? 64'(part_blocks_o) << 12 : 64'(part_blocks_o) << 9);
        end
      end
      default: ;
    endcase
  end

  assign part_valid_o = state_q == StPart;
  assign part_member_o = member_q;
  assign part_o = '{
          write: command_q.op == OpWrite,
          fua: command_q.fua,
          source: command_q.source,
          beyond: part_beyond_q,
          last: part_last_q,
          from_registers: command_q.from_registers,
          tag: command_q.tag,
          lba: part_lba_q,
          address: command_q.address
      };

endmodule

`default_nettype wire
