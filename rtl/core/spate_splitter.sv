// SPDX-License-Identifier: Apache-2.0
//
// Takes requests of any length and splits them into commands that the drive and the buffer can take. A stream write's
// data are in the ring before its command is issued; a stream read's space is reserved.
//
// Guarantee: the commands of a request cover its blocks exactly once, in order, and the last one is marked. A request
// that cannot be carried out (StatusInvalid, StatusRange) becomes dead commands, which move its beats and never reach
// the drive. So does the rest of a request (StatusGone) when the drive goes, because the next drive may have blocks of
// another size. Between two commands of a stream, at most two cycles pass in which no beat is taken.
//
// A command's size is computed while the command before it takes its data. So is the buffer's comparison of this size
// with the room in the ring, whose result is a register.
`default_nettype none

module spate_splitter
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,  // of the buffer; 8192: memory mode, without streams
    parameter int unsigned BaseBits = 20,  // width of issue_base_o
    // Derived: no instance sets these.
    parameter int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    parameter int unsigned RingSectors = (RamBytes - 8192) / 512,
    parameter int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // A request waits until `ready` or `gone`. What bring-up found may change only after `gone`.
    input wire drive_t drive_i,

    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,        // of the data lane

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,

    output logic                         alloc_valid_o,
    input  wire logic                    alloc_ready_i,    // there is room for alloc_sectors_o of the last cycle
    output logic      [SectorsWidth-1:0] alloc_sectors_o,
    input  wire logic [    RingBits-1:0] alloc_base_i,

    output logic                      fill_valid_o,
    input  wire logic                 fill_ready_i,
    output logic      [ BeatBits-1:0] fill_beat_o,
    output logic      [DataWidth-1:0] fill_data_o,

    output logic                       issue_valid_o,
    input  wire logic                  issue_ready_i,
    output slot_issue_t                issue_o,
    // The place of the data. Stream mode: the first sector in the ring; memory mode: the address in dwords.
    output logic        [BaseBits-1:0] issue_base_o,

    output logic idle_o  // no request is being split; one that waits for `ready` may exist
);

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_data_width
    $error("spate_splitter: DataWidth must be 128, 256 or 512");
  end
  if (RamBytes < 8192 || RamBytes % 4096 != 0) begin : gen_ram_bytes
    $error("spate_splitter: RamBytes must be a multiple of 4096, at least 8192");
  end
  if (BaseBits < RingBits || BaseBits > 62) begin : gen_base_bits
    $error("spate_splitter: BaseBits must hold a sector of the ring, or a dword address of 62 bits at most");
  end

  localparam bit HasRing = RingSectors > 0;
  localparam int unsigned SectorBeatBits = $clog2(512 / (DataWidth / 8));
  localparam logic [SectorsWidth-1:0] GoneSectors = 8;  // of a command when no drive tells its limit

  typedef struct packed {
    logic                    write;
    logic                    fua;
    logic                    stream;
    logic                    from_registers;
    logic [15:0]             tag;
    logic [LbaWidth-1:0]     lba;
    logic [31:0]             blocks;          // not issued yet; 0: a dead request without beats
    logic                    fits;            // they fit in one command
    logic [SectorsWidth-1:0] first_blocks;    // of the next command
    logic [SectorsWidth-1:0] first_sectors;
    logic [BaseBits-1:0]     base;
    logic                    block_4096;
    logic [SectorsWidth-1:0] blocks_max;      // of a command
    logic [15:0]             status;
  } request_t;

  function automatic logic [SectorsWidth-1:0] sectors_of(logic [SectorsWidth-1:0] blocks, logic block_4096);
    return block_4096 ? blocks << 3 : blocks;
  endfunction

  // ---- the next request is taken and checked while the one before it is still being split ----

  typedef enum logic [2:0] {
    NextEmpty,
    NextFound,  // the block after its last one is computed
    NextTaken,
    NextSized,  // its status and the limit of its commands are known
    NextFitted,  // the size of its first command is computed
    NextChecked
  } next_e;

  next_e next_state_q;
  request_t next_q;
  logic [LbaWidth:0] next_end_q;  // the block after its last one
  logic [63:LbaWidth] next_lba_high_q;
  logic [63:0] next_address_q;
  logic next_sourced_q;  // this core can take the data from where the request says
  logic next_invalid_q, next_too_high_q, next_beyond, next_gone;
  logic take;
  logic [SectorsWidth-1:0] sectors_max, next_first_blocks;

  assign command_ready_o = next_state_q == NextEmpty;

  assign sectors_max = drive_i.ready ? drive_i.command_sectors_max : GoneSectors;
  assign next_first_blocks = next_q.fits ? next_q.blocks[SectorsWidth-1:0] : next_q.blocks_max;
  assign next_beyond = drive_i.ready && (next_too_high_q || next_end_q > (LbaWidth + 1)'(drive_i.blocks));

  assign next_gone = drive_i.gone && next_q.status == StatusOk &&
                     (next_state_q == NextSized || next_state_q == NextFitted || next_state_q == NextChecked);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_state_q <= NextEmpty;
    end else begin
      unique case (next_state_q)
        NextEmpty: if (command_valid_i) next_state_q <= NextFound;
        NextFound: next_state_q <= NextTaken;
        NextTaken: if (drive_i.ready || drive_i.gone) next_state_q <= NextSized;
        NextSized: next_state_q <= NextFitted;
        NextFitted: next_state_q <= NextChecked;
        NextChecked: if (take) next_state_q <= NextEmpty;
        default: next_state_q <= NextEmpty;
      endcase
    end

    unique case (next_state_q)
      NextEmpty: begin
        next_q.write <= command_i.op == OpWrite;
        next_q.fua <= command_i.fua;
        next_q.from_registers <= command_i.from_registers;
        next_q.tag <= command_i.tag;
        next_q.lba <= command_i.lba[LbaWidth-1:0];
        next_q.blocks <= command_i.blocks;
        next_lba_high_q <= command_i.lba[63:LbaWidth];
        next_address_q <= HasRing ? '0 : command_i.address;
        next_sourced_q <= command_i.source == (HasRing ? SourceStream : SourceAddress);
      end
      NextFound: begin
        next_end_q <= (LbaWidth + 1)'(next_q.lba) + (LbaWidth + 1)'(next_q.blocks);
        next_too_high_q <= next_lba_high_q != '0;
        next_q.base <= next_address_q[2+:BaseBits];
        next_invalid_q <= next_q.blocks == '0 || !next_sourced_q || next_address_q[1:0] != '0 ||
            next_address_q[63:2] != 62'(next_address_q[2+:BaseBits]);
      end
      NextTaken: begin
        next_q.stream <= HasRing && !next_invalid_q;
        next_q.block_4096 <= drive_i.block_4096;
        next_q.blocks_max <= drive_i.block_4096 ? sectors_max >> 3 : sectors_max;
        if (next_invalid_q) next_q.status <= StatusInvalid;
        else if (!drive_i.ready) next_q.status <= StatusGone;
        else next_q.status <= next_beyond ? StatusRange : StatusOk;
      end
      NextSized: begin
        // Only streams have beats: any other dead request is one command without beats.
        if (next_invalid_q || (!HasRing && next_q.status != StatusOk)) begin
          next_q.blocks <= '0;
          next_q.fits <= 1'b1;
        end else begin
          next_q.fits <= next_q.blocks <= 32'(next_q.blocks_max);
        end
      end
      NextFitted: begin
        next_q.first_blocks <= next_first_blocks;
        next_q.first_sectors <= sectors_of(next_first_blocks, next_q.block_4096);
      end
      default: ;
    endcase
    if (next_gone) next_q.status <= StatusGone;
  end

  // ---- the request that is being split ----

  typedef enum logic [1:0] {
    CutNone,
    CutStart,  // wait for the next command's size, and for room in the ring
    CutFill,  // take its data
    CutIssue
  } cut_e;

  cut_e cut_state_q;
  request_t cut_q;  // `blocks`, `fits`, `first_*`: what is left after the command; `lba`, `base`: of the command
  logic [SectorsWidth-1:0] cut_first_blocks, blocks_q, sectors_q;
  logic last_q, start, issue, fill_end;

  // Cycles until the next command of the request may start: `fits`, `first_*` and alloc_ready_i follow one after the
  // other. For the first command of the next request they are there when it is taken.
  logic [1:0] planning_q;
  logic planned, awaits_next;

  assign planned = planning_q == '0;
  assign cut_first_blocks = cut_q.fits ? cut_q.blocks[SectorsWidth-1:0] : cut_q.blocks_max;
  assign alloc_valid_o = HasRing && cut_state_q == CutStart && planned && cut_q.stream;
  assign awaits_next = cut_state_q == CutNone || (cut_state_q == CutIssue && last_q);
  assign alloc_sectors_o = awaits_next ? next_q.first_sectors : cut_q.first_sectors;
  assign start = cut_state_q == CutStart && planned && (!cut_q.stream || alloc_ready_i);
  assign issue = issue_valid_o && issue_ready_i;
  assign take = next_state_q == NextChecked && (cut_state_q == CutNone || (issue && last_q));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cut_state_q <= CutNone;
    end else begin
      unique case (cut_state_q)
        CutNone: if (take) cut_state_q <= CutStart;
        CutStart: if (start) cut_state_q <= cut_q.stream && cut_q.write ? CutFill : CutIssue;
        CutFill: if (fill_end) cut_state_q <= CutIssue;
        CutIssue: if (issue) cut_state_q <= last_q && !take ? CutNone : CutStart;
        default: cut_state_q <= CutNone;
      endcase
    end

    if (take) begin
      cut_q <= next_q;
      if (next_gone) cut_q.status <= StatusGone;
    end else begin
      if (drive_i.gone && cut_q.status == StatusOk) cut_q.status <= StatusGone;
      if (start) begin
        cut_q.blocks <= cut_q.blocks - 32'(cut_q.first_blocks);
        if (HasRing) cut_q.base <= BaseBits'(alloc_base_i);
      end
      if (planning_q == 2'd3) cut_q.fits <= cut_q.blocks <= 32'(cut_q.blocks_max);
      if (planning_q == 2'd2) begin
        cut_q.first_blocks <= cut_first_blocks;
        cut_q.first_sectors <= sectors_of(cut_first_blocks, cut_q.block_4096);
      end
      if (issue) begin
        cut_q.lba <= cut_q.lba + LbaWidth'(blocks_q);
        if (!HasRing) cut_q.base <= cut_q.base + BaseBits'({issue_o.sectors, 7'd0});
      end
    end
    if (take) planning_q <= 2'd0;
    else if (start) planning_q <= 2'd3;
    else if (!planned) planning_q <= planning_q - 2'd1;
    if (start) begin
      blocks_q <= cut_q.first_blocks;
      sectors_q <= cut_q.first_sectors;
      last_q <= cut_q.fits;
    end
  end

  if (HasRing) begin : gen_fill
    localparam logic [RingBits-1:0] SectorLast = RingBits'(RingSectors - 1);

    logic [RingBits-1:0] sector_q;
    logic [SectorBeatBits-1:0] beat_q;
    logic [SectorsWidth-1:0] left_q;  // sectors, including the one that is being filled
    logic filled;

    assign fill_valid_o = cut_state_q == CutFill && data_valid_i;
    assign data_ready_o = cut_state_q == CutFill && fill_ready_i;
    assign fill_beat_o = BeatBits'({sector_q, beat_q});
    assign fill_data_o = data_i;
    assign filled = fill_valid_o && fill_ready_i;
    assign fill_end = filled && beat_q == '1 && left_q == SectorsWidth'(1);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) beat_q <= '0;
      else if (filled) beat_q <= beat_q + 1'b1;
      if (start) begin
        sector_q <= alloc_base_i;
        left_q <= cut_q.first_sectors;
      end else if (filled && beat_q == '1) begin
        sector_q <= sector_q == SectorLast ? '0 : sector_q + 1'b1;
        left_q <= left_q - 1'b1;
      end
    end
  end else begin : gen_no_fill
    assign fill_valid_o = 1'b0;
    assign fill_beat_o = '0;
    assign fill_data_o = '0;
    assign fill_end = 1'b0;
    assign data_ready_o = 1'b0;
  end

  assign idle_o = cut_state_q == CutNone &&
                  (next_state_q == NextEmpty || next_state_q == NextFound || next_state_q == NextTaken);

  assign issue_valid_o = cut_state_q == CutIssue;
  assign issue_base_o = cut_q.base;
  assign issue_o = '{
          write: cut_q.write,
          fua: cut_q.fua,
          stream: cut_q.stream,
          block_4096: cut_q.block_4096,
          last: last_q,
          from_registers: cut_q.from_registers,
          tag: cut_q.tag,
          lba: cut_q.lba,
          sectors: sectors_q,
          status: cut_q.status
      };

`ifdef FORMAL
  // A request is recorded when it is taken. Each command that is issued is subtracted.
  typedef struct packed {
    logic                write;
    logic                no_beats;    // dead, one command
    logic                empty;       // one command without blocks; known when it was sized
    logic                dead;
    logic                begun;       // a command was issued
    logic [15:0]         tag;
    logic [LbaWidth-1:0] lba;
    logic [64:0]         end_;        // the block after its last one
    logic [32:0]         left;        // blocks not issued yet
    logic                block_4096;
    logic [12:0]         blocks_max;
  } shadow_t;

  function automatic logic no_beats(command_t command);
    return command.blocks == '0 || command.source != (HasRing ? SourceStream : SourceAddress) ||
        (!HasRing && (command.address & 64'h3) != '0) ||
        (!HasRing && command.address >= 64'd1 << 2 << BaseBits && BaseBits != 62);
  endfunction

  shadow_t shadow_next_q, shadow_q;
  command_t taken_q;
  logic past_reset_q = 1'b0;
  logic taken;
  (* keep *) logic [SectorsWidth-1:0] issue_blocks, drive_blocks_max;

  assign taken = command_valid_i && command_ready_o;
  assign drive_blocks_max = drive_i.block_4096 ? drive_i.command_sectors_max >> 3 : drive_i.command_sectors_max;
  assign issue_blocks = shadow_q.block_4096 ? issue_o.sectors >> 3 : issue_o.sectors;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    assume (!command_valid_i || is_data_command(command_i));
    if (taken) begin
      shadow_next_q.write <= command_i.op == OpWrite;
      shadow_next_q.tag <= command_i.tag;
      shadow_next_q.lba <= command_i.lba[LbaWidth-1:0];
      shadow_next_q.left <= 33'(command_i.blocks);
      shadow_next_q.no_beats <= no_beats(command_i);
      taken_q <= command_i;
      shadow_next_q.end_ <= 65'(command_i.lba) + 65'(command_i.blocks);
    end
    if (next_state_q == NextTaken) begin
      shadow_next_q.dead <= shadow_next_q.no_beats || !drive_i.ready || shadow_next_q.end_ > 65'(drive_i.blocks);
      shadow_next_q.block_4096 <= drive_i.block_4096;
      shadow_next_q.blocks_max <= drive_i.block_4096 ? sectors_max >> 3 : sectors_max;
    end
    if (next_state_q == NextSized) shadow_next_q.empty <= shadow_next_q.no_beats || (!HasRing && shadow_next_q.dead);
    if (next_state_q != NextTaken && drive_i.gone) shadow_next_q.dead <= 1'b1;
    if (taken) shadow_next_q.begun <= 1'b0;
    if (issue) begin
      shadow_q.begun <= 1'b1;
      shadow_q.lba <= shadow_q.lba + LbaWidth'(issue_blocks);
      shadow_q.left <= shadow_q.left - 33'(issue_blocks);
    end
    if (take) shadow_q <= shadow_next_q;
    if (drive_i.gone) shadow_q.dead <= 1'b1;
  end

  // The drive's properties stay as bring-up found them until it is gone, and then until another drive is ready. A
  // command can have at least one block.
  drive_t drive_q;
  logic unknown_q = 1'b1;
  logic same_drive;
  assign same_drive = drive_i.block_4096 == drive_q.block_4096 && drive_i.blocks == drive_q.blocks &&
                      drive_i.command_sectors_max == drive_q.command_sectors_max;
  always_ff @(posedge clk_i) begin
    drive_q <= drive_i;
    unknown_q <= drive_i.gone || (unknown_q && !drive_i.ready);
    if (past_reset_q && !unknown_q) assume (same_drive);
    if (past_reset_q && drive_q.gone) assume (!drive_i.ready);
  end
  always_comb begin
    assume (!(drive_i.ready && drive_i.gone));
    assume (drive_i.command_sectors_max >= 13'd8 && drive_i.command_sectors_max <= 13'(CommandSectorsMax));
    assume (!drive_i.block_4096 || drive_i.command_sectors_max[2:0] == '0);
  end

  // Invariants of the requests in the two stages, then the guarantee.
  always_comb begin
    if (past_reset_q && rst_ni) begin
      if (next_state_q != NextEmpty) begin
        assert (next_q.write == shadow_next_q.write && next_q.tag == shadow_next_q.tag);
        assert (next_q.lba == shadow_next_q.lba);
        if (next_state_q != NextFound) assert (next_invalid_q == shadow_next_q.no_beats);
        assert (shadow_next_q.left <= 33'h0ffffffff);
        assert (shadow_next_q.no_beats || shadow_next_q.left != '0);
        if (!(next_state_q inside {NextFitted, NextChecked})) assert (33'(next_q.blocks) == shadow_next_q.left);
        if (next_state_q == NextFound) begin
          assert (next_sourced_q == (taken_q.source == (HasRing ? SourceStream : SourceAddress)));
          assert (next_address_q == (HasRing ? 64'd0 : taken_q.address) && is_data_command(taken_q));
          assert (shadow_next_q.no_beats == no_beats(taken_q) && next_q.blocks == taken_q.blocks);
          if (next_lba_high_q != '0)
            assert (shadow_next_q.end_ >> LbaWidth != '0);
            else assert (shadow_next_q.end_ == 65'(next_q.lba) + 65'(next_q.blocks));
        end else if (next_state_q == NextTaken) begin
          if (next_too_high_q)
            assert (shadow_next_q.end_ >> LbaWidth != '0);
            else assert (shadow_next_q.end_ == 65'(next_end_q));
        end else begin
          assert (!shadow_next_q.no_beats || shadow_next_q.dead);
          assert ((next_q.status != StatusOk) == shadow_next_q.dead);
          assert (next_q.stream == (HasRing && !next_invalid_q));
          assert (next_q.block_4096 == shadow_next_q.block_4096 && next_q.blocks_max == shadow_next_q.blocks_max);
          assert (shadow_next_q.dead || (next_q.block_4096 == drive_i.block_4096 && !unknown_q));
          assert (shadow_next_q.dead || shadow_next_q.blocks_max == drive_blocks_max);
          assert (shadow_next_q.blocks_max >= 13'd1 && shadow_next_q.blocks_max <= 13'(CommandSectorsMax));
          assert (!shadow_next_q.block_4096 || shadow_next_q.blocks_max <= 13'(CommandSectorsMax / 8));
        end
        if (next_state_q == NextFitted || next_state_q == NextChecked) begin
          assert (next_q.fits == (next_q.blocks <= 32'(next_q.blocks_max)));
          if (next_state_q == NextChecked) begin
            assert (next_q.first_blocks == next_first_blocks);
            assert (next_q.first_sectors == sectors_of(next_first_blocks, next_q.block_4096));
          end
          assert (!shadow_next_q.empty || shadow_next_q.dead);
          assert (!shadow_next_q.no_beats || shadow_next_q.empty);
          assert (!HasRing || shadow_next_q.no_beats || !shadow_next_q.empty);
          if (shadow_next_q.empty)
            assert (next_q.blocks == '0);
            else assert (33'(next_q.blocks) == shadow_next_q.left);
        end
      end
      if (cut_state_q != CutNone) begin
        assert (cut_q.write == shadow_q.write && cut_q.tag == shadow_q.tag && cut_q.lba == shadow_q.lba);
        assert (cut_q.block_4096 == shadow_q.block_4096 && cut_q.blocks_max == shadow_q.blocks_max);
        assert (shadow_q.dead || (cut_q.block_4096 == drive_i.block_4096 && !unknown_q));
        assert (shadow_q.dead || shadow_q.blocks_max == drive_blocks_max);
        assert (shadow_q.blocks_max >= 13'd1 && shadow_q.blocks_max <= 13'(CommandSectorsMax));
        assert (!shadow_q.block_4096 || shadow_q.blocks_max <= 13'(CommandSectorsMax / 8));
        assert ((cut_q.status != StatusOk) == shadow_q.dead);
        assert (cut_q.stream == (HasRing && !shadow_q.no_beats));
        assert (!shadow_q.no_beats || shadow_q.empty);
        assert (!HasRing || shadow_q.no_beats || !shadow_q.empty);
        assert (!shadow_q.empty || shadow_q.dead);
        assert (shadow_q.no_beats || shadow_q.left != '0);
        assert (blocks_q <= cut_q.blocks_max || cut_state_q == CutStart);
        if (shadow_q.empty) begin
          assert (cut_q.blocks == '0 && (cut_state_q == CutStart || (last_q && blocks_q == '0)));
        end else if (cut_state_q == CutStart) begin
          assert (33'(cut_q.blocks) == shadow_q.left);
        end else begin
          assert (33'(cut_q.blocks) + 33'(blocks_q) == shadow_q.left);
          assert (blocks_q != '0 && last_q == (cut_q.blocks == '0));
        end
      end
      if (cut_state_q != CutNone) begin
        if (planning_q != 2'd3) assert (cut_q.fits == (cut_q.blocks <= 32'(cut_q.blocks_max)));
        if (planning_q < 2'd2) begin
          assert (cut_q.first_blocks == cut_first_blocks);
          assert (cut_q.first_sectors == sectors_of(cut_first_blocks, cut_q.block_4096));
        end
        if (cut_state_q != CutStart) assert (sectors_q == sectors_of(blocks_q, cut_q.block_4096));
      end
      // A command begins where the one before it ended, is not longer than allowed, and the last one ends the request.
      if (issue_valid_o) begin
        assert (issue_o.lba == shadow_q.lba && issue_o.tag == shadow_q.tag && issue_o.write == shadow_q.write);
        assert ((issue_o.status != StatusOk) == shadow_q.dead);
        assert (shadow_q.dead || issue_o.sectors <= drive_i.command_sectors_max);
        if (!shadow_q.empty) begin
          assert (issue_blocks != '0 && 33'(issue_blocks) <= shadow_q.left);
          assert (issue_o.last == (33'(issue_blocks) == shadow_q.left));
        end else begin
          assert (issue_o.last && issue_o.sectors == '0 && shadow_q.dead);
        end
      end
      cover (issue && !issue_o.last && shadow_q.left == 33'd9 && issue_o.sectors == 13'd8);
      cover (issue && issue_o.last && issue_o.status == StatusRange);
      cover (issue && issue_o.last && issue_o.status == StatusInvalid);
      cover (issue && issue_o.last && issue_o.status == StatusGone);
      cover (issue && issue_o.status == StatusGone && shadow_q.begun && drive_i.ready &&
             drive_i.block_4096 != cut_q.block_4096);
    end
  end

  // A stream write's space is filled completely, beat by beat from its base, before the write is issued.
  if (HasRing) begin : gen_formal_fill
    localparam int unsigned Wide = BaseBits + 1;
    localparam int unsigned BeatsOfRing = RingSectors << SectorBeatBits;
    logic left_matches;
    logic [SectorsWidth+SectorBeatBits-1:0] beats;
    logic [SectorsWidth+SectorBeatBits-1:0] filled_q;
    logic [SectorsWidth-1:0] sectors_past_q;
    logic [RingBits+SectorBeatBits:0] place;
    assign place = (RingBits + SectorBeatBits + 1)'({cut_q.base[RingBits-1:0], {SectorBeatBits{1'b0}}}) +
                   (RingBits + SectorBeatBits + 1)'(filled_q);

    assign beats = {issue_o.sectors, {SectorBeatBits{1'b0}}};
    assign left_matches = gen_fill.left_q != '0 && filled_q + {gen_fill.left_q, {SectorBeatBits{1'b0}}} -
                          (SectorsWidth + SectorBeatBits)'(gen_fill.beat_q) == beats;

    always_ff @(posedge clk_i) begin
      sectors_past_q <= alloc_sectors_o;
      if (start) filled_q <= '0;
      else if (fill_valid_o && fill_ready_i) filled_q <= filled_q + 1'b1;
    end
    always_comb begin
      assume (alloc_base_i < RingBits'(RingSectors) || RingSectors == 2 ** RingBits);
      // The buffer compares what is allocated in the cycle before.
      if (past_reset_q && rst_ni && alloc_valid_o) assert (alloc_sectors_o == sectors_past_q);
      // The buffer allocates no more than it has.
      if (alloc_sectors_o > SectorsWidth'(RingSectors)) assume (!alloc_ready_i);
      if (past_reset_q && rst_ni) begin
        if (cut_state_q == CutFill || cut_state_q == CutIssue) begin
          assert (!cut_q.stream || issue_o.sectors <= SectorsWidth'(RingSectors));
          assert (!cut_q.stream || Wide'(cut_q.base) < Wide'(RingSectors));
        end
        if (cut_state_q == CutFill) begin
          assert (cut_q.write && cut_q.stream);
          assert (left_matches && gen_fill.left_q <= issue_o.sectors);
          assert (Wide'(gen_fill.sector_q) < Wide'(RingSectors));
          assert (fill_beat_o == BeatBits'(32'(place) >= BeatsOfRing ? 32'(place) - BeatsOfRing : 32'(place)));
        end else begin
          assert (gen_fill.beat_q == '0);
          if (issue_valid_o && issue_o.write && issue_o.stream) begin
            assert (filled_q == {issue_o.sectors, {SectorBeatBits{1'b0}}});
          end
        end
      end
    end
  end

  // An output that waits does not change, with one exception: when the drive goes, a command becomes dead.
  logic issue_held_q, alloc_held_q;
  slot_issue_t issue_q;
  logic [BaseBits-1:0] issue_base_q;
  always_ff @(posedge clk_i) begin
    issue_held_q <= rst_ni && issue_valid_o && !issue_ready_i;
    alloc_held_q <= rst_ni && alloc_valid_o && !alloc_ready_i;
    issue_q <= issue_o;
    if (drive_i.gone && issue_o.status == StatusOk) issue_q.status <= StatusGone;
    issue_base_q <= issue_base_o;
  end
  always_comb begin
    if (past_reset_q && rst_ni && issue_held_q) begin
      assert (issue_valid_o && issue_o == issue_q && issue_base_o == issue_base_q);
    end
    if (past_reset_q && rst_ni && alloc_held_q) assert (alloc_valid_o);
  end
`endif

endmodule

`default_nettype wire
