// SPDX-License-Identifier: Apache-2.0
//
// Flush and deallocate of the stripe: a command to each member concerned, one response for all of them. The blocks of a
// range on one member are contiguous there, so a deallocate is one command per member, whatever its size. Other
// commands concern one drive and must be given to it directly: here they end with StatusInvalid.
//
// Guarantee: one response for each command. Its status is the first error of the members. Without an error it is
// StatusPower if a member has it. Only a flush has a `done`. A member that is dead, or was dead at any time since the
// command was taken, is skipped, and the status is StatusGone: the range may be other data on the drive that comes
// back, and its flush does not cover what the drive before had written.
`default_nettype none

module spate_stripe_side
  import spate_pkg::*;
#(
    parameter int unsigned Drives = 2,
    parameter int unsigned ChunkBytes = 65536,
    parameter int unsigned ArrayWidth = LbaWidth + 3,
    // Derived: no instance sets these.
    parameter int unsigned MemberBits = $clog2(Drives),
    parameter int unsigned ChunkShift = $clog2(ChunkBytes / 512),
    parameter int unsigned ChunkWidth = ArrayWidth - ChunkShift + 3
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic ready_i,
    input wire logic refuse_i,  // every command ends with StatusInvalid
    input wire logic [Drives-1:0] dead_i,  // given up and not ready again
    input wire logic block_4096_i,
    input wire logic [Drives-1:0][LbaWidth-1:0] data_lba_i,
    input wire logic [ArrayWidth-1:0] array_blocks_i,
    input wire logic [ArrayWidth-1:0] written_blocks_i,  // the blocks that a flush submitted now makes durable

    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,
    output logic          idle_o,           // no command is in progress

    output logic      [  Drives-1:0]       member_valid_o,           // one member at a time
    input  wire logic [  Drives-1:0]       member_ready_i,
    output op_e                            member_op_o,
    output logic      [LbaWidth-1:0]       member_lba_o,
    output logic      [        31:0]       member_blocks_o,
    input  wire logic [  Drives-1:0]       member_response_valid_i,
    input  wire logic [  Drives-1:0][15:0] member_response_status_i,

    output logic      response_valid_o,
    input  wire logic response_ready_i,
    output response_t response_o
);

  typedef enum logic [3:0] {
    StIdle,
    StCheck,  // does the range end within the array?
    StBegin,
    StFirst,  // find the start of the range
    StEnd,  // find its end
    StPlace,  // find how many of one member's blocks lie before the start, and before the end
    StSize,  // compute the range on it
    StSend,
    StWait,
    StAnswer
  } state_e;

  state_e state_q;
  op_e op_q;
  logic from_registers_q;
  logic [15:0] tag_q;
  logic refuse_q, no_blocks_q, beyond_q, empty_q;  // empty_q: no block of the range is on the member
  logic [ArrayWidth-1:0] first_q;
  logic [ArrayWidth:0] end_q;
  logic [ArrayWidth-1:0] written_q;
  logic [ChunkWidth-1:0] first_row_q, end_row_q, place_row, chunk;
  logic [MemberBits-1:0] first_member_q, end_member_q, member_q, place_member;
  logic place_start_q, place_done;
  logic [Drives-1:0] waiting_q, was_dead_q;
  logic [15:0] status_q, status;
  logic dead, sent;

  // Of a status: a higher one replaces a lower one.
  typedef enum logic [1:0] {
    RankOk,
    RankPower,
    RankError
  } rank_e;
  rank_e rank_q, rank;  // of `status`

  function automatic rank_e rank_of(logic [15:0] of);
    return of == StatusOk ? RankOk : of == StatusPower ? RankPower : RankError;
  endfunction

  localparam int unsigned MemberWidth = ChunkWidth + ChunkShift;
  logic [MemberWidth-1:0] member_from_q, member_to_q;

  // The number of a member's blocks that lie before a place in the array.
  function automatic logic [MemberWidth-1:0] blocks_before(logic [MemberBits-1:0] member, logic [ChunkWidth-1:0] row,
                                                           logic [MemberBits-1:0] at_member, logic [ChunkShift-1:0] at,
                                                           logic block_4096);
    automatic logic [ChunkWidth-1:0] rows = member < at_member ? row + 1'b1 : row;
    automatic logic [ChunkShift-1:0] offset = block_4096 ? ChunkShift'(at[ChunkShift-4:0]) : at;
    if (member != at_member) offset = '0;
    return block_4096 ? {3'd0, rows, offset[ChunkShift-4:0]} : {rows, offset};
  endfunction

  logic [ChunkWidth-1:0] position;  // in units of the smallest chunk, also with large blocks
  assign position = state_q == StFirst ? first_q[ArrayWidth-1:ChunkShift-3] : end_q[ArrayWidth-1:ChunkShift-3];
  assign chunk = block_4096_i ? position : position >> 3;

  spate_stripe_place #(
      .Drives(Drives),
      .ChunkWidth(ChunkWidth)
  ) u_place (
      .clk_i,
      .rst_ni,
      .start_i(place_start_q),
      .chunk_i(chunk),
      .done_o(place_done),
      .row_o(place_row),
      .member_o(place_member)
  );

  assign idle_o = state_q == StIdle;
  assign command_ready_o = idle_o && ready_i;
  assign member_op_o = op_q;
  assign dead = dead_i[member_q] || was_dead_q[member_q];
  assign sent = (member_valid_o & member_ready_i) != '0;
  always_comb begin
    member_valid_o = '0;
    member_valid_o[member_q] = state_q == StSend && !empty_q && !dead;
  end

  logic last_member;
  assign last_member = member_q == MemberBits'(Drives - 1);

  // The first error counts. StatusPower is none: its member has flushed.
  always_comb begin
    status = status_q;
    rank = rank_q;
    if (state_q == StSend && !empty_q && dead && rank_q != RankError) {status, rank} = {StatusGone, RankError};
    for (int unsigned i = 0; i < Drives; i++) begin
      if (member_response_valid_i[i] && rank_of(member_response_status_i[i]) > rank) begin
        status = member_response_status_i[i];
        rank = rank_of(member_response_status_i[i]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    place_start_q <= 1'b0;
    unique case (state_q)
      StIdle: begin
        op_q <= command_i.op;
        from_registers_q <= command_i.from_registers;
        tag_q <= command_i.tag;
        first_q <= command_i.lba[ArrayWidth-1:0];
        end_q <= (ArrayWidth + 1)'(command_i.lba[ArrayWidth-1:0]) + (ArrayWidth + 1)'(command_i.blocks);
        refuse_q <= refuse_i;
        no_blocks_q <= command_i.blocks == '0;
        beyond_q <= command_i.lba[63:ArrayWidth] != '0;
        written_q <= refuse_i ? '0 : written_blocks_i;
        member_q <= '0;
        if (command_valid_i && ready_i) state_q <= StCheck;
      end
      StCheck: begin
        if (end_q > (ArrayWidth + 1)'(array_blocks_i)) beyond_q <= 1'b1;
        state_q <= StBegin;
      end
      StBegin: begin
        if (op_q == OpFlush && !refuse_q) begin
          state_q <= StPlace;
        end else if (op_q == OpDeallocate && !refuse_q && !no_blocks_q && !beyond_q) begin
          place_start_q <= 1'b1;
          state_q <= StFirst;
        end else begin
          state_q <= StAnswer;
        end
      end
      StFirst: begin
        first_row_q <= place_row;
        first_member_q <= place_member;
        if (place_done) begin
          place_start_q <= 1'b1;
          state_q <= StEnd;
        end
      end
      StEnd: begin
        end_row_q <= place_row;
        end_member_q <= place_member;
        if (place_done) state_q <= StPlace;
      end
      StPlace: begin
        member_from_q <= blocks_before(member_q, first_row_q, first_member_q, first_q[ChunkShift-1:0], block_4096_i);
        member_to_q <= blocks_before(member_q, end_row_q, end_member_q, end_q[ChunkShift-1:0], block_4096_i);
        state_q <= StSize;
      end
      StSize: begin
        member_lba_o <= data_lba_i[member_q] + LbaWidth'(member_from_q);
        member_blocks_o <= 32'(member_to_q - member_from_q);
        empty_q <= op_q != OpFlush && member_to_q == member_from_q;
        state_q <= StSend;
      end
      StSend: begin
        if (empty_q || dead || sent) begin
          member_q <= member_q + 1'b1;
          state_q <= last_member ? StWait : StPlace;
        end
      end
      StWait: if (waiting_q == '0) state_q <= StAnswer;
      StAnswer: if (response_ready_i) state_q <= StIdle;
      default: state_q <= StIdle;
    endcase

    was_dead_q <= dead_i | (idle_o ? '0 : was_dead_q);
    waiting_q <= (waiting_q | (member_valid_o & member_ready_i)) & ~member_response_valid_i;
    status_q <= idle_o ? StatusOk : status;
    rank_q <= idle_o ? RankOk : rank;
    // Such a command goes to no member, so nothing else sets its status.
    if (state_q == StBegin) begin
      if (refuse_q || (op_q != OpFlush && (op_q != OpDeallocate || no_blocks_q))) status_q <= StatusInvalid;
      else if (op_q == OpDeallocate && beyond_q) status_q <= StatusRange;
    end

    if (!rst_ni) begin
      state_q <= StIdle;
      place_start_q <= 1'b0;
      waiting_q <= '0;
    end
  end

  assign response_valid_o = state_q == StAnswer;
  assign response_o = '{
          from_registers: from_registers_q,
          tag: tag_q,
          status: status_q,
          done: op_q == OpFlush ? 64'(written_q) : '0
      };

endmodule

`default_nettype wire
