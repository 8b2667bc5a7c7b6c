// SPDX-License-Identifier: Apache-2.0
//
// Writes that end with their data. A write from SourceFrame takes the stream up to the beat with `last`, at most
// `blocks` blocks. All other commands, responses and beats pass through.
//
// The drive wants a command's length before its data, so a frame becomes pieces: writes from SourceStream, of at most
// PieceBytes, that end where the block number is a multiple of a piece. A piece is given to the core when its first
// beat has come. The beats wait in a short queue, so the core has a piece's command before it has taken the last
// piece's beats. The beat with `last` ends the frame; zeros fill its piece, a beat each cycle:
//
//   data_i           A0 A1 … A8191 A8192 A8193(last)  B0 (the next command's)
//   into the queue   A0 A1 … A8191 A8192 A8193 0 0 0 … 0 B0
//   to the core      |piece 0 …    |piece 1              |B's
//   response                             A: done = piece 0 + piece 1, status = the first error
//
// A beat with `last` and `null`, that is without bytes, ends its frame and adds nothing. If it comes where a piece
// would begin, no piece is given; if it is the frame's first beat, nothing is written. A frame that has filled `blocks`
// ends there as a write does; what follows in the stream belongs to the next command.
//
// Guarantee: each command gets one response, with its tag, and those of the data lane come in order. A frame's `done`
// is the sum of its pieces up to the first error. The pieces cover the frame's blocks from `lba` on, in order. The core
// gets exactly the beats of the pieces that it takes, and no beat before its piece was taken. Commands of the data lane
// do not come between the pieces of a frame, and a frame does not begin before all plain writes from the stream are
// answered. Frames do not wait for each other's responses.
//
// The number of a piece's beats follows from the block size, which is sampled when the frame begins. A piece is given
// only while the drive is ready, and only if the drive was never gone since that sample; what bring-up found changes
// only after `gone`. The core sizes a piece when it takes it (spate_ring_cut, spate_stripe) or two cycles later, at the
// first cycle with `ready` or `gone` (spate_splitter), which is before any other drive is ready. So both count the same
// beats, and no later part of a frame reaches a drive that came after the one on which it began. If the drive went,
// pieces that were not given end here with StatusGone, after their beats. A piece that ends with StatusInvalid has
// taken no beats (spate_stripe without an array): they are discarded here. Then no beat is taken until that response,
// as spate_stripe refuses all that it is given meanwhile.
//
// Tags: the core gets a tag that tells the lane. Responses of the data lane come in order, so their tags wait in a
// queue; the core has at most one side command at a time.
`default_nettype none

module spate_write_frames
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned PieceBytes = 65536,  // a power of two, at least 4096
    parameter int unsigned LbaBits = LbaWidth,  // of a block's number; larger numbers are beyond every drive
    parameter int unsigned Commands = 64,  // of the data lane in the core, pieces among them; a power of two
    // Beats that wait: as many as cycles pass from a piece's command until the core takes its beats. A power of two.
    parameter int unsigned Beats = 16,
    parameter int unsigned BeatBytes = DataWidth / 8  // a proof's beats have fewer bits than bytes
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // What the core splits commands by. `block_4096_i` changes only after `gone_i`, and before `ready_i`.
    input wire logic ready_i,
    input wire logic gone_i,       // no drive: each command ends with StatusGone, an empty frame with StatusOk
    input wire logic lost_i,       // the drive, or one of several, goes; or another one comes
    input wire logic block_4096_i,

    // the user's side
    input  wire lanes_request_t                 lanes_i,
    output lanes_response_t                     lanes_o,
    input  wire logic                           data_valid_i,
    output logic                                data_ready_o,
    input  wire logic           [DataWidth-1:0] data_i,
    input  wire logic                           data_last_i,
    input  wire logic                           data_null_i,   // with data_last_i: the beat has no bytes

    // the core's side
    output lanes_request_t                       core_lanes_o,
    input  wire lanes_response_t                 core_lanes_i,
    output logic                                 data_valid_o,
    input  wire logic                            data_ready_i,
    output logic                 [DataWidth-1:0] data_o,

    output logic idle_o  // no frame is open that may still give a piece to the drive, and no beat waits for the core
);

  localparam int unsigned PieceBits = $clog2(PieceBytes / 512);
  localparam int unsigned BeatBits = $clog2(4096 / BeatBytes);  // of a beat's number in a block
  localparam logic [BeatBits-1:0] SmallLast = BeatBits'(512 / BeatBytes - 1);
  localparam int unsigned Pieces = 4;  // with beats in the queue; a piece more waits for one to leave
  localparam logic [15:0] TagData = 16'd0;
  localparam logic [15:0] TagSide = 16'd1;

  if (PieceBytes < 4096 || (PieceBytes & (PieceBytes - 1)) != 0) begin : gen_piece
    $error("spate_write_frames: PieceBytes must be a power of two, at least 4096");
  end
  if (512 / BeatBytes < 2) begin : gen_beat  // a block's last beat waits for the piece's size, the first one must not
    $error("spate_write_frames: a block of 512 bytes must have at least two beats");
  end

  command_t core_command, core_side;
  response_t response_q;
  logic core_command_valid, core_side_valid, core_response_ready, command_ready, side_ready, response_valid_q;
  assign lanes_o = '{
          command_ready: command_ready,
          side_ready: side_ready,
          response_valid: response_valid_q,
          response: response_q
      };
  assign core_lanes_o = '{
          command_valid: core_command_valid,
          command: core_command,
          side_valid: core_side_valid,
          side: core_side,
          response_ready: core_response_ready
      };

  // ---- what waits for its response, in order ----

  typedef enum logic [2:0] {
    KindPlain,  // any command that passes through, except:
    KindWrite,  // a write from the stream that passes through
    KindPiece,
    KindLost,  // a piece that was not given to the core, because its drive is gone
    KindEnd  // no piece: the frame ended where a piece would have begun
  } kind_e;

  typedef struct packed {
    kind_e       kind;
    logic        from_registers;
    logic [15:0] tag;
  } order_t;

  logic order_push, order_room, order_valid, order_pop;
  order_t order_in, order;
  logic end_push, end_last, end_valid, end_pop, piece_last;

  spate_fifo #(
      .Width($bits(order_t)),
      .Depth(Commands)
  ) u_order (
      .clk_i,
      .rst_ni,
      .in_valid_i(order_push),
      .in_ready_o(order_room),
      .in_data_i(order_in),
      .out_valid_o(order_valid),
      .out_ready_i(order_pop),
      .out_data_o(order),
      .count_o()
  );
  // Whether a piece is the last of its frame is known when its beats have come. There are never more of these bits than
  // pieces in u_order.
  logic end_room;
  spate_fifo #(
      .Width(1),
      .Depth(Commands)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .in_valid_i(end_push),
      .in_ready_o(end_room),
      .in_data_i(end_last),
      .out_valid_o(end_valid),
      .out_ready_i(end_pop),
      .out_data_o(piece_last),
      .count_o()
  );

  // ---- commands ----

  typedef struct packed {
    logic             from_registers;
    logic [15:0]      tag;
    logic             fua;
    logic [LbaBits:0] lba;             // of the piece; the top bit: beyond LbaBits
    logic [31:0]      blocks;          // of the frame, from this piece on
    logic             block_4096;
  } frame_t;

  frame_t frame_q;
  logic open_q;  // a frame is being taken from the stream
  logic dead_q;  // its drive was gone when it began, or was lost since
  logic begun_q;  // the piece's first beat is in the queue
  logic given_q;  // the piece's command was taken, or is lost
  logic dead, is_frame, is_write, take, pass, offer, give, enter, local_end, piece_end, frame_end;
  logic [PieceBits:0] piece_q, room, room_q;  // blocks of the piece; up to a multiple of a piece
  logic [LbaBits:0] next_lba;
  logic fits_q;  // it is the last piece, if no beat with `last` comes
  logic [1:0] sizing_q;  // cycles until piece_q is computed
  logic sized, route_room;
  typedef logic [$clog2(Commands):0] count_t;
  count_t writes_q;  // KindWrite in u_order
  command_t piece;

  assign dead = dead_q || gone_i || lost_i;
  assign is_frame = lanes_i.command.op == OpWrite && lanes_i.command.source == SourceFrame &&
      lanes_i.command.blocks != '0;
  assign is_write = lanes_i.command.op == OpWrite && lanes_i.command.source == SourceStream;
  assign take = lanes_i.command_valid && is_frame && !open_q && writes_q == '0 && (ready_i || gone_i);
  assign command_ready = !open_q &&
      (is_frame ? writes_q == '0 && (ready_i || gone_i) : core_lanes_i.command_ready && order_room);
  assign pass = lanes_i.command_valid && !is_frame && !open_q && order_room && core_lanes_i.command_ready;
  assign sized = sizing_q == '0;
  assign offer = begun_q && !given_q && sized && order_room && route_room;
  assign give = offer && (dead || (ready_i && core_lanes_i.command_ready));
  assign core_command_valid = open_q ? offer && !dead && ready_i : lanes_i.command_valid && !is_frame && order_room;
  assign piece = '{
          from_registers: frame_q.from_registers,
          tag: TagData,
          op: OpWrite,
          source: SourceStream,
          fua: frame_q.fua,
          address: '0,
          lba: 64'(frame_q.lba),
          blocks: 32'(piece_q)
      };
  always_comb begin
    core_command = open_q ? piece : lanes_i.command;
    core_command.tag = TagData;
  end

  assign order_push = pass || give || local_end;
  always_comb begin
    if (!open_q) begin
      order_in = '{
          kind: is_write ? KindWrite : KindPlain,
          from_registers: lanes_i.command.from_registers,
          tag: lanes_i.command.tag
      };
    end else begin
      order_in = '{kind: KindPiece, from_registers: frame_q.from_registers, tag: frame_q.tag};
      if (dead) order_in.kind = KindLost;
      if (!begun_q) order_in.kind = KindEnd;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
      begun_q <= 1'b0;
      given_q <= 1'b0;
      writes_q <= '0;
    end else begin
      open_q <= take || (open_q && !frame_end);
      if (piece_end) {begun_q, given_q} <= '0;
      else {begun_q, given_q} <= {begun_q || enter, given_q || give};
      writes_q <= writes_q + count_t'(pass && is_write) - count_t'(order_pop && order.kind == KindWrite);
    end

    dead_q <= gone_i || (open_q && (dead_q || lost_i));
    if (!open_q) begin
      frame_q <= '{
          from_registers: lanes_i.command.from_registers,
          tag: lanes_i.command.tag,
          fua: lanes_i.command.fua,
          lba: {lanes_i.command.lba[63:LbaBits] != '0, lanes_i.command.lba[LbaBits-1:0]},
          blocks: lanes_i.command.blocks,
          block_4096: block_4096_i
      };
    end else if (piece_end) begin
      frame_q.lba[LbaBits-1:0] <= next_lba[LbaBits-1:0];
      frame_q.lba[LbaBits] <= frame_q.lba[LbaBits] || next_lba[LbaBits];
      frame_q.blocks <= frame_q.blocks - 32'(piece_q);
    end

    // The piece's size, in three cycles while its first beats come.
    if (!open_q || piece_end) sizing_q <= 2'd3;
    else if (!sized) sizing_q <= sizing_q - 2'd1;
    if (sizing_q == 2'd3) room_q <= room;
    if (sizing_q == 2'd2) fits_q <= frame_q.blocks <= 32'(room_q);
    if (sizing_q == 2'd1) piece_q <= fits_q ? frame_q.blocks[PieceBits:0] : room_q;
  end

  assign next_lba = {1'b0, frame_q.lba[LbaBits-1:0]} + (LbaBits + 1)'(piece_q);
  always_comb begin
    room = (PieceBits + 1)'(PieceBytes / 512) - (PieceBits + 1)'(frame_q.lba[PieceBits-1:0]);
    if (frame_q.block_4096) begin
      room = (PieceBits + 1)'(PieceBytes / 4096) - (PieceBits + 1)'(frame_q.lba[PieceBits-1:0] &
                                                                    PieceBits'(PieceBytes / 4096 - 1));
    end
  end

  // ---- beats into the queue ----

  logic fill_q;  // the beat with `last` has come: zeros up to the piece's end
  logic [BeatBits-1:0] beat_q;  // in its block
  logic [PieceBits:0] blocks_q;  // of the piece that have ended
  logic block_end, final_beat, may_enter, beats_room, ends_empty, queue_empty;
  logic [$clog2(Beats):0] waiting;

  assign block_end = beat_q == (frame_q.block_4096 ? '1 : SmallLast);
  assign final_beat = block_end && blocks_q == piece_q - 1'b1;
  // The block's last beat waits for the piece's size, and the piece's last beat for its command.
  assign may_enter = open_q && (!block_end || (sized && (!final_beat || given_q)));
  assign ends_empty = data_last_i && data_null_i && !begun_q;
  assign enter = may_enter && beats_room && (fill_q || (data_valid_i && !ends_empty));
  assign local_end = open_q && data_valid_i && ends_empty && order_room;
  assign piece_end = enter && final_beat;
  assign end_push = piece_end;
  assign end_last = fill_q || data_last_i || fits_q;
  assign frame_end = local_end || (piece_end && end_last);

  assign queue_empty = waiting == '0;
  assign idle_o = (!open_q || dead_q) && queue_empty;
  always_comb begin
    if (!open_q) data_ready_o = queue_empty && data_ready_i;
    else if (ends_empty) data_ready_o = order_room;
    else data_ready_o = may_enter && beats_room && !fill_q;
  end

  always_ff @(posedge clk_i) begin
    if (!open_q || piece_end) begin
      fill_q <= 1'b0;
      beat_q <= '0;
      blocks_q <= '0;
    end else if (enter) begin
      if (data_last_i) fill_q <= 1'b1;
      beat_q <= block_end ? '0 : beat_q + 1'b1;
      if (block_end) blocks_q <= blocks_q + 1'b1;
    end
  end

  // ---- beats out of the queue ----

  logic beat_valid, beat_ends, beat_pop, route_valid, route_lost, drop;
  logic [DataWidth-1:0] beat;
  logic [2:0] refused_q;  // pieces without beats in the core, whose beats are in the queue or will be
  logic refuse, refused_end;

  spate_fifo #(
      .Width(1 + DataWidth),
      .Depth(Beats),
      .Registered(1'b1)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .in_valid_i(enter),
      .in_ready_o(beats_room),
      .in_data_i({final_beat, fill_q ? '0 : data_i}),
      .out_valid_o(beat_valid),
      .out_ready_i(beat_pop),
      .out_data_o({beat_ends, beat}),
      .count_o(waiting)
  );
  spate_fifo #(
      .Width(1),
      .Depth(Pieces)
  ) u_route (
      .clk_i,
      .rst_ni,
      .in_valid_i(give),
      .in_ready_o(route_room),
      .in_data_i(dead),
      .out_valid_o(route_valid),
      .out_ready_i(beat_valid && beat_pop && beat_ends),
      .out_data_o(route_lost),
      .count_o()
  );
  assign drop = route_lost || refused_q != '0;
  assign beat_pop = route_valid && (drop || data_ready_i);
  assign data_valid_o = beat_valid ? route_valid && !drop : !open_q && queue_empty && data_valid_i;
  assign data_o = beat_valid ? beat : data_i;
  assign refused_end = beat_valid && beat_pop && beat_ends && !route_lost && refused_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) refused_q <= '0;
    else refused_q <= refused_q + 3'(refuse) - 3'(refused_end);
  end

  // ---- responses ----

  logic absorbed_q;  // the response of the piece at the head of u_order is in status_q and done_q
  logic [15:0] status_q, part_status;
  logic [31:0] done_q;
  logic room_out, is_side, absorb, ended, own, own_out, plain_out, side_out, side_busy_q;
  logic [15:0] side_tag_q;

  assign room_out = !response_valid_q || lanes_i.response_ready;
  assign is_side = core_lanes_i.response.tag[0];
  assign absorb = order_valid && !absorbed_q &&
                  (order.kind == KindLost || (order.kind == KindPiece && core_lanes_i.response_valid && !is_side));
  assign ended = order_valid && absorbed_q && end_valid && (!piece_last || room_out);
  // A frame's response. It goes before the one that the core shows.
  assign own = order_valid && (order.kind == KindEnd || (absorbed_q && end_valid && piece_last));
  assign own_out = own && room_out;
  assign plain_out = order_valid && (order.kind == KindPlain || order.kind == KindWrite) &&
      core_lanes_i.response_valid &&
                     !is_side && room_out;
  assign side_out = core_lanes_i.response_valid && is_side && room_out && !own;
  assign order_pop = ended || own_out || plain_out;
  assign end_pop = ended;
  assign core_response_ready = side_out || plain_out || (absorb && order.kind == KindPiece);
  assign part_status = order.kind == KindLost ? StatusGone : core_lanes_i.response.status;
  assign refuse = absorb && order.kind == KindPiece && core_lanes_i.response.status == StatusInvalid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      absorbed_q <= 1'b0;
      status_q <= StatusOk;
      done_q <= '0;
      response_valid_q <= 1'b0;
    end else begin
      absorbed_q <= absorb || (absorbed_q && !ended);
      if (own_out) begin
        status_q <= StatusOk;
        done_q <= '0;
      end else if (absorb && status_q == StatusOk) begin
        status_q <= part_status;
        if (order.kind == KindPiece) done_q <= done_q + core_lanes_i.response.done[31:0];
      end
      response_valid_q <= own_out || plain_out || side_out || (response_valid_q && !lanes_i.response_ready);
    end
    if (room_out) begin
      response_q <= core_lanes_i.response;
      response_q.tag <= side_tag_q;
      if (!side_out) begin
        response_q.from_registers <= order.from_registers;
        response_q.tag <= order.tag;
      end
      if (own) begin
        response_q.status <= status_q;
        response_q.done <= 64'(done_q);
      end
    end
  end

  // ---- the side lane ----

  assign core_side_valid = lanes_i.side_valid && !side_busy_q;
  assign side_ready = core_lanes_i.side_ready && !side_busy_q;
  always_comb begin
    core_side = lanes_i.side;
    core_side.tag = TagSide;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) side_busy_q <= 1'b0;
    else side_busy_q <= (core_side_valid && core_lanes_i.side_ready) || (side_busy_q && !side_out);
    if (!side_busy_q) side_tag_q <= lanes_i.side.tag;
  end

`ifdef FORMAL
  always_comb if (rst_ni && end_push) assert (end_room);
`else
  logic unused;
  assign unused = end_room;
`endif

endmodule

`default_nettype wire
