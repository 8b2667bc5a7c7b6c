// SPDX-License-Identifier: Apache-2.0
//
// Several drives as one: RAID 0 in the layout of Linux md and of the C library (include/spate/stripe.h). Chunk c of the
// array is on member c mod Drives, at chunk c / Drives of its data area. So the library and a PC find on the drives
// what the core streamed to the stripe.
//
// A read or write is split into parts, one for each chunk that it touches. Parts go to their members ahead of the data;
// the data follow in order, chunk by chunk. A slow member delays the others only when the stream reaches a chunk for
// which its ring has no room; until then the others work on what they have. A ring must therefore hold two chunks.
//
// Guarantee: each command gets one response, with the first error of its parts in the order of the data and the number
// of blocks before it. Each stream request moves exactly its beats. A read's last beats may come after its response.
//
// A flush goes to all members. `done` in its response is the number of blocks of stream and address writes that were
// completed since reset, in the array's order, when the flush was given to the first member; each write counts with the
// blocks before its first error. All members had completed their parts of these before their own flush was submitted,
// so the blocks are durable. The `done` of the members' own flush responses is not contiguous in the array and is not
// used. Deallocate goes to the members that have a part of the range. Other commands without stream data concern one
// drive: they end with StatusInvalid here and must be given to that drive directly.
//
// The array exists when every member is ready or was given up. Its block size is that of the members that are ready. A
// member that was given up is dead until it is ready again with that block size. Its parts are not given to it: they
// end here with StatusGone and move their beats, which are flagged in reads. The same holds for parts of an accepted
// request that the member had not taken when it was given up, because another drive with another block size may come
// back. A member responds to parts that it was given before, and requests without blocks. Flush and deallocate skip a
// dead member and end with StatusGone. A member that recovers is waited for.
//
// When all members were given up, the block size stays until one of them is ready with another; commands then wait
// until the stripe is empty. If members that are ready have different block sizes, there is no array: every command
// ends with StatusInvalid, moves no beat and reaches no member, until `array_valid_i` falls. `array_valid_i` must fall,
// and a member must be formatted, only while no command is in the stripe: `idle_o`.
//
// The members' responses and side commands do not wait for each other or for the user: a member is given a command only
// when there is room for its response, and a flush that waits for a member does not delay the member's data lane.
`default_nettype none

module spate_stripe
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned Drives = 2,  // 2 ... 8
    parameter int unsigned DataWidth = 128,  // of the streams, the stripe's and the members'
    parameter int unsigned ChunkBytes = 65536,  // a power of two, at least 8192
    parameter int unsigned MemberRamBytes = 262144,  // of each member; 8192: memory mode, no streams
    parameter int unsigned Parts = 128,  // in flight: enough to keep the slots of all members busy; a power of two
    parameter int unsigned MemberParts = 64,  // in flight on one member; a power of two
    // Derived: no instance sets these.
    parameter int unsigned MemberBits = $clog2(Drives),
    parameter int unsigned ArrayWidth = LbaWidth + 3
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // The array's layout: stable while `array_valid_i`. Commands wait for that and for the drives.
    input wire logic                              array_valid_i,
    input wire logic [  Drives-1:0][LbaWidth-1:0] data_lba_i,         // start of each member's data area
    input wire logic [LbaWidth-1:0]               member_blocks_i,    // size of each data area: whole chunks
    input wire logic [  Drives-1:0]               drive_ready_i,
    input wire logic [  Drives-1:0]               drive_gone_i,
    input wire logic [  Drives-1:0]               drive_block_4096_i, // valid while `ready`

    // For spate_write_frames.
    output logic array_ready_o,      // commands are taken
    output logic array_gone_o,       // all members are dead
    output logic array_lost_o,       // a member goes, or one that was dead returns
    output logic array_block_4096_o, // the block size by which commands are split

    // The user's side, like a drive's.
    input  wire lanes_request_t                 lanes_i,
    output lanes_response_t                     lanes_o,
    input  wire logic                           data_valid_i,
    output logic                                data_ready_o,
    input  wire logic           [DataWidth-1:0] data_i,
    output logic                                data_valid_o,
    input  wire logic                           data_ready_i,
    output logic                [DataWidth-1:0] data_o,
    output logic                                data_last_o,
    output logic                                data_error_o,

    // The members, each a spate_drive, or a spate_ring_ddr in front of one.
    output lanes_request_t       [Drives-1:0]                member_lanes_o,
    input  wire lanes_response_t [Drives-1:0]                member_lanes_i,
    output logic                 [Drives-1:0]                member_data_valid_o,
    input  wire logic            [Drives-1:0]                member_data_ready_i,
    output logic                 [Drives-1:0][DataWidth-1:0] member_data_o,
    input  wire logic            [Drives-1:0]                member_data_valid_i,
    output logic                 [Drives-1:0]                member_data_ready_o,
    input  wire logic            [Drives-1:0][DataWidth-1:0] member_data_i,
    input  wire logic            [Drives-1:0]                member_data_error_i,

    output logic idle_o,  // no data command is in the stripe, except reads whose last beats the stream has not taken

    // Blocks of writes that have a response, in order; each write counts with the blocks before its first error.
    output logic [ArrayWidth-1:0] written_blocks_o
);

  localparam bit HasStreams = MemberRamBytes > 8192;
  localparam int unsigned ChunkShift = $clog2(ChunkBytes / 512);
  localparam int unsigned PartWidth = ChunkShift + 1;
  localparam int unsigned SectorBeatBits = $clog2(512 / (DataWidth / 8));
  localparam int unsigned MemberWaiting = 16;  // parts that wait for each member
  localparam int unsigned WriteDepth = 16;  // write parts that wait for their data
  localparam int unsigned SkidDepth = 4;  // beats, in each direction

  if (Drives < 2 || Drives > 8) begin : gen_drives
    $error("spate_stripe: Drives must be 2 ... 8");
  end
  if (ChunkBytes < 8192 || (ChunkBytes & (ChunkBytes - 1)) != 0) begin : gen_chunk
    $error("spate_stripe: ChunkBytes must be a power of two, at least 8192");
  end
  if (HasStreams && 2 * ChunkBytes > MemberRamBytes - 8192) begin : gen_ring
    $error("spate_stripe: a member's ring must hold two chunks");
  end

  // ---- the array ----

  logic [ArrayWidth-1:0] array_blocks_q;
  logic known_q, ready_q, block_4096_q, differ_q, resize, empty, cut_idle, side_idle, beats_left;
  logic [Drives-1:0] dead_q, dead, same;
  assign same = drive_block_4096_i ~^ {Drives{block_4096_q}};
  // All members were given up, and one comes back with another block size: requests in the stripe end with the old one.
  assign dead = drive_gone_i | (dead_q & ~(drive_ready_i & same));
  assign resize = &dead_q && |(drive_ready_i & ~same);
  always_ff @(posedge clk_i) begin
    known_q <= rst_ni && array_valid_i && (known_q || &(drive_ready_i | drive_gone_i));
    ready_q <= rst_ni && array_valid_i && known_q && !resize;
    if (!known_q || (resize && empty)) block_4096_q <= |(drive_ready_i & drive_block_4096_i);
    differ_q <= rst_ni && array_valid_i && known_q && (differ_q || (!(&dead_q) && |(drive_ready_i & ~same)));
    dead_q <= dead;
    array_blocks_q <= ArrayWidth'(member_blocks_i) * ArrayWidth'(Drives);
  end

  assign array_ready_o = ready_q;
  assign array_gone_o = known_q && &dead_q;
  assign array_lost_o = dead != dead_q;
  assign array_block_4096_o = block_4096_q;

  // ---- requests are split into parts ----

  // A part as it waits for its response.
  typedef struct packed {
    logic [MemberBits-1:0] member;
    logic                  write;
    logic                  beats;
    logic                  dead;            // ends here with StatusGone, after its beats
    logic                  refused;         // ends here with StatusInvalid
    logic                  last;
    logic                  from_registers;
    logic [15:0]           tag;
  } order_t;

  logic command_ready, part_valid, part_ready, part_beats, part_dead;
  stripe_part_t part;
  logic [MemberBits-1:0] part_member;
  logic [PartWidth-1:0] part_blocks;
  logic [Drives-1:0] member_ready;
  logic order_ready, write_route_ready, read_route_ready, emit;

  spate_stripe_cut #(
      .Drives(Drives),
      .ChunkBytes(ChunkBytes)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .ready_i(ready_q),
      .block_4096_i(block_4096_q),
      .data_lba_i,
      .array_blocks_i(array_blocks_q),
      .command_valid_i(lanes_i.command_valid),
      .command_ready_o(command_ready),
      .command_i(lanes_i.command),
      .idle_o(cut_idle),
      .part_valid_o(part_valid),
      .part_ready_i(part_ready),
      .part_o(part),
      .part_member_o(part_member),
      .part_blocks_o(part_blocks)
  );

  // In one cycle, a part enters its member's line, the order of responses and the order of its stream's data. A request
  // is refused as a whole or not at all: its first part decides.
  logic begun_q, refuse_q, refuse;
  logic [Drives-1:0] was_gone_q, ends_here;  // was_gone_q: it was gone at any time since the request was taken
  assign ends_here = dead_q | drive_gone_i | was_gone_q;
  assign refuse = begun_q ? refuse_q : differ_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begun_q <= 1'b0;
    else if (emit) begun_q <= !part.last;
    refuse_q <= refuse;
    was_gone_q <= drive_gone_i | (command_ready ? '0 : was_gone_q);
  end
  assign part_beats = HasStreams && part.source == SourceStream && part_blocks != '0 && !refuse;
  assign part_dead = (part_beats || (!HasStreams && part.source == SourceAddress && part_blocks != '0 && !refuse)) &&
                     ends_here[part_member];
  assign part_ready = member_ready[part_member] && order_ready && (part.write ? write_route_ready : read_route_ready);
  assign emit = part_valid && part_ready;

  // ---- to the members ----

  logic [Drives-1:0] member_response_valid, member_side_valid, member_side_ready;
  logic [Drives-1:0][15:0] side_status;
  op_e side_op;
  logic [LbaWidth-1:0] side_lba;
  logic [31:0] side_blocks;

  order_t order;
  logic ended, order_lost;
  logic [Drives-1:0] ended_lost, ended_valid, ended_take;
  logic [Drives-1:0][15:0] ended_status;
  logic [Drives-1:0][PartWidth-1:0] ended_done;
  logic [Drives-1:0] given_write, given_read, lost_write, lost_read;

  for (genvar i = 0; i < Drives; i++) begin : gen_members
    spate_stripe_member #(
        .HasStreams(HasStreams),
        .BlocksWidth(PartWidth),
        .Waiting(MemberWaiting),
        .MemberParts(MemberParts),
        .Parts(Parts)
    ) u_member (
        .clk_i,
        .rst_ni,
        .gone_i(drive_gone_i[i]),
        .part_valid_i(emit && part_member == MemberBits'(i) && !part_dead && !refuse),
        .part_ready_o(member_ready[i]),
        .part_i(part),
        .part_blocks_i(part_blocks),
        .given_write_o(given_write[i]),
        .given_read_o(given_read[i]),
        .lost_write_o(lost_write[i]),
        .lost_read_o(lost_read[i]),
        .side_response_valid_o(member_response_valid[i]),
        .side_status_o(side_status[i]),
        .ended_lost_o(ended_lost[i]),
        .ended_valid_o(ended_valid[i]),
        .ended_status_o(ended_status[i]),
        .ended_done_o(ended_done[i]),
        .ended_take_i(ended_take[i]),
        .command_valid_o(member_lanes_o[i].command_valid),
        .command_ready_i(member_lanes_i[i].command_ready),
        .command_o(member_lanes_o[i].command),
        .response_valid_i(member_lanes_i[i].response_valid),
        .response_ready_o(member_lanes_o[i].response_ready),
        .response_i(member_lanes_i[i].response)
    );
    // The tag tells to which lane a response belongs.
    assign member_lanes_o[i].side_valid = member_side_valid[i];
    assign member_side_ready[i] = member_lanes_i[i].side_ready;
    assign member_lanes_o[i].side = '{
            from_registers: 1'b0,
            tag: 16'd1,
            op: side_op,
            source: SourceStream,
            fua: 1'b0,
            address: '0,
            lba: 64'(side_lba),
            blocks: side_blocks
        };
  end

  // ---- responses, in order ----

  order_t part_order;
  logic [$clog2(Parts):0] order_count;
  logic order_valid, order_here, ended_here;  // here: the stripe ends the part itself, without the member
  logic beats_moved, response_room, side_ready, response_valid_q;
  response_t response_q;
  assign lanes_o = '{
          command_ready: command_ready,
          side_ready: side_ready,
          response_valid: response_valid_q,
          response: response_q
      };

  logic [15:0] status_q, status, part_status;
  logic [PartWidth-1:0] part_done;
  logic [31:0] done_q, done;
  logic side_response_valid, side_response_take;
  logic side_turn_q;  // the next response is the side lane's: which one follows depends on this register alone
  response_t side_response;

  assign part_order = '{
          member: part_member,
          write: part.write,
          beats: part_beats,
          dead: part_dead,
          refused: refuse,
          last: part.last,
          from_registers: part.from_registers,
          tag: part.tag
      };

  spate_fifo #(
      .Width($bits(order_t)),
      .Depth(Parts),
      .Registered(1'b1)
  ) u_order (
      .clk_i,
      .rst_ni,
      .in_valid_i(emit),
      .in_ready_o(order_ready),
      .in_data_i(part_order),
      .out_valid_o(order_valid),
      .out_ready_i(ended),
      .out_data_o(order),
      .count_o(order_count)
  );

  // A read's last beats may come after its response.
  assign idle_o = cut_idle && order_count == '0;
  assign empty = idle_o && side_idle && !beats_left;
  assign response_room = !response_valid_q && !side_turn_q;
  assign order_lost = !order.refused && !order.dead && ended_lost[order.member];
  assign order_here = order.dead || order.refused || order_lost;
  assign ended = order_valid && (response_room || !order.last) &&
                 (order_here ? beats_moved : ended_valid[order.member]);
  assign ended_here = ended && order_here && order.beats;
  assign part_status = order.refused ? StatusInvalid : order_here ? StatusGone : ended_status[order.member];
  assign part_done = order_here ? '0 : ended_done[order.member];
  assign status = status_q == StatusOk ? part_status : status_q;
  assign done = status_q == StatusOk ? done_q + 32'(part_done) : done_q;
  assign side_response_take = side_turn_q && !response_valid_q;
  always_comb begin
    ended_take = '0;
    ended_take[order.member] = ended && !order.refused && !order.dead;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      status_q <= StatusOk;
      done_q <= '0;
      written_blocks_o <= '0;
      response_valid_q <= 1'b0;
      side_turn_q <= 1'b0;
    end else begin
      side_turn_q <= side_response_valid && !side_response_take;
      if (ended) begin
        status_q <= order.last ? StatusOk : status;
        done_q <= order.last ? '0 : done;
      end
      if (ended && order.write && status_q == StatusOk) written_blocks_o <= written_blocks_o + ArrayWidth'(part_done);
      if ((ended && order.last) || side_response_take) response_valid_q <= 1'b1;
      else if (lanes_i.response_ready) response_valid_q <= 1'b0;
    end
    if (!response_valid_q) begin
      response_q <= side_turn_q ? side_response : '{
          from_registers: order.from_registers,
          tag: order.tag,
          status: status,
          done: 64'(done)
      };
    end
  end

  // ---- flush and deallocate ----

  spate_stripe_side #(
      .Drives(Drives),
      .ChunkBytes(ChunkBytes)
  ) u_side (
      .clk_i,
      .rst_ni,
      .ready_i(ready_q),
      .refuse_i(differ_q),
      .dead_i(dead_q | drive_gone_i),
      .block_4096_i(block_4096_q),
      .data_lba_i,
      .array_blocks_i(array_blocks_q),
      .written_blocks_i(written_blocks_o),
      .command_valid_i(lanes_i.side_valid),
      .command_ready_o(side_ready),
      .command_i(lanes_i.side),
      .idle_o(side_idle),
      .member_valid_o(member_side_valid),
      .member_ready_i(member_side_ready),
      .member_op_o(side_op),
      .member_lba_o(side_lba),
      .member_blocks_o(side_blocks),
      .member_response_valid_i(member_response_valid),
      .member_response_status_i(side_status),
      .response_valid_o(side_response_valid),
      .response_ready_i(side_response_take),
      .response_o(side_response)
  );

  // ---- data, part by part ----

  if (HasStreams) begin : gen_streams
    logic write_go, write_room, write_here, write_beat_valid, write_beat_here, write_ended;
    logic read_go, read_valid, read_room, read_here, read_last, read_error, read_move, read_ended;
    logic [MemberBits-1:0] write_member, write_beat_member, read_member;
    logic [DataWidth-1:0] write_beat;

    spate_stripe_route #(
        .Drives(Drives),
        .BlocksWidth(PartWidth),
        .SectorBeatBits(SectorBeatBits),
        .Depth(WriteDepth),
        .Parts(Parts)
    ) u_write_route (
        .clk_i,
        .rst_ni,
        .block_4096_i(block_4096_q),
        .part_valid_i(emit && part_beats && part.write),
        .part_ready_o(write_route_ready),
        .part_member_i(part_member),
        .part_dead_i(part_dead),
        .part_last_i(part.last),
        .part_blocks_i(part_blocks),
        .given_i(given_write),
        .lost_i(lost_write),
        .route_valid_o(),
        .beat_valid_o(write_go),
        .beat_member_o(write_member),
        .beat_here_o(write_here),
        .beat_last_o(),
        .beat_move_i(data_valid_i && data_ready_o),
        .ended_valid_o(write_ended),
        .ended_take_i(ended_here && order.write)
    );
    assign data_ready_o = write_go && write_room;

    // Beats that do not reach a member are discarded after the queue.
    spate_fifo #(
        .Width(DataWidth + MemberBits + 1),
        .Depth(SkidDepth)
    ) u_write_skid (
        .clk_i,
        .rst_ni,
        .in_valid_i(data_valid_i && write_go),
        .in_ready_o(write_room),
        .in_data_i({write_here, write_member, data_i}),
        .out_valid_o(write_beat_valid),
        .out_ready_i(write_beat_here || member_data_ready_i[write_beat_member]),
        .out_data_o({write_beat_here, write_beat_member, write_beat}),
        .count_o()
    );
    always_comb begin
      member_data_valid_o = '0;
      member_data_valid_o[write_beat_member] = write_beat_valid && !write_beat_here;
    end
    assign member_data_o = {Drives{write_beat}};

    spate_stripe_route #(
        .Drives(Drives),
        .BlocksWidth(PartWidth),
        .SectorBeatBits(SectorBeatBits),
        .Depth(Parts),
        .Parts(Parts)
    ) u_read_route (
        .clk_i,
        .rst_ni,
        .block_4096_i(block_4096_q),
        .part_valid_i(emit && part_beats && !part.write),
        .part_ready_o(read_route_ready),
        .part_member_i(part_member),
        .part_dead_i(part_dead),
        .part_last_i(part.last),
        .part_blocks_i(part_blocks),
        .given_i(given_read),
        .lost_i(lost_read),
        .route_valid_o(beats_left),
        .beat_valid_o(read_go),
        .beat_member_o(read_member),
        .beat_here_o(read_here),
        .beat_last_o(read_last),
        .beat_move_i(read_move),
        .ended_valid_o(read_ended),
        .ended_take_i(ended_here && !order.write)
    );
    // Beats that do not come from a member are flagged; their content has no meaning.
    assign read_valid = read_go && (read_here || member_data_valid_i[read_member]);
    assign read_error = read_here || member_data_error_i[read_member];
    assign read_move = read_valid && read_room;
    always_comb begin
      member_data_ready_o = '0;
      member_data_ready_o[read_member] = read_go && read_room && !read_here;
    end

    spate_fifo #(
        .Width(DataWidth + 2),
        .Depth(SkidDepth)
    ) u_read_skid (
        .clk_i,
        .rst_ni,
        .in_valid_i(read_valid),
        .in_ready_o(read_room),
        .in_data_i({read_last, read_error, member_data_i[read_member]}),
        .out_valid_o(data_valid_o),
        .out_ready_i(data_ready_i),
        .out_data_o({data_last_o, data_error_o, data_o}),
        .count_o()
    );

    assign beats_moved = !order.beats || (order.write ? write_ended : read_ended);
  end else begin : gen_no_streams
    logic unused;
    assign unused = ^{given_write, given_read, lost_write, lost_read, order.beats, ended_here};
    assign beats_moved = 1'b1;
    assign beats_left = 1'b0;
    assign write_route_ready = 1'b1;
    assign read_route_ready = 1'b1;
    assign data_ready_o = 1'b0;
    assign data_valid_o = 1'b0;
    assign data_o = '0;
    assign data_last_o = 1'b0;
    assign data_error_o = 1'b0;
    assign member_data_valid_o = '0;
    assign member_data_o = '0;
    assign member_data_ready_o = '0;
  end

endmodule

`default_nettype wire
