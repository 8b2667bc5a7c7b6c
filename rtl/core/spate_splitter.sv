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
  localparam logic [SectorsWidth-1:0] GoneSectors = 8;  // of a command when no drive reports its limit

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
    logic end_q;  // this beat is the command's last: known a beat before, which shortens the path to the next state
    logic filled;

    assign fill_valid_o = cut_state_q == CutFill && data_valid_i;
    assign data_ready_o = cut_state_q == CutFill && fill_ready_i;
    assign fill_beat_o = BeatBits'({sector_q, beat_q});
    assign fill_data_o = data_i;
    assign filled = fill_valid_o && fill_ready_i;
    assign fill_end = filled && end_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        beat_q <= '0;
        end_q <= 1'b0;
      end else if (filled) begin
        beat_q <= beat_q + 1'b1;
        end_q <= beat_q + 1'b1 == '1 && left_q == SectorsWidth'(1);
      end
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

endmodule

`default_nettype wire
