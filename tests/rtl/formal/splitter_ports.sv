// SPDX-License-Identifier: Apache-2.0
//
// spate_splitter, watched at its ports. A request is recorded when it is taken, and the limits of its commands when
// drive_i tells them. Each command that is issued is compared with what is left of the request, and subtracted.
module splitter_ports
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned BaseBits = 20,
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512,
    localparam int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1
) (
    input logic                           clk_i,
    input logic                           rst_ni,
    input drive_t                         drive_i,
    input logic                           command_valid_i,
    input logic                           command_ready_o,
    input command_t                       command_i,
    input logic                           data_valid_i,
    input logic                           data_ready_o,
    input logic        [   DataWidth-1:0] data_i,
    input logic                           alloc_valid_o,
    input logic                           alloc_ready_i,
    input logic        [SectorsWidth-1:0] alloc_sectors_o,
    input logic        [    RingBits-1:0] alloc_base_i,
    input logic                           fill_valid_o,
    input logic                           fill_ready_i,
    input logic        [    BeatBits-1:0] fill_beat_o,
    input logic        [   DataWidth-1:0] fill_data_o,
    input logic                           issue_valid_o,
    input logic                           issue_ready_i,
    input slot_issue_t                    issue_o,
    input logic        [    BaseBits-1:0] issue_base_o,
    input logic                           idle_o
);

  localparam bit HasRing = RingSectors > 0;
  localparam logic [SectorsWidth-1:0] GoneSectors = 8;  // of a command when no drive tells its limit
  logic past_reset_q = 1'b0;
  logic checked;
  assign checked = past_reset_q && rst_ni;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;

  // ---- the environment ----
  //
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
    assume (rst_ni == past_reset_q);
    assume (!command_valid_i || is_data_command(command_i));
    assume (!(drive_i.ready && drive_i.gone));
    assume (drive_i.command_sectors_max >= 13'd8 && drive_i.command_sectors_max <= 13'(CommandSectorsMax));
    assume (!drive_i.block_4096 || drive_i.command_sectors_max[2:0] == '0);
    // The buffer allocates no more than it has.
    assume (!HasRing || alloc_base_i < RingBits'(RingSectors) || RingSectors == 2 ** RingBits);
    if (alloc_sectors_o > SectorsWidth'(RingSectors)) assume (!alloc_ready_i);
  end

  // ---- the requests that were taken: one is being split, and one is next ----

  typedef struct packed {
    logic                             there;
    logic                             write;
    logic                             fua;
    logic                             from_registers;
    logic [$bits(command_i.tag)-1:0]  tag;
    logic                             invalid;
    logic                             empty;           // dead, one command without blocks
    logic                             begun;           // a command was issued
    logic [LbaWidth-1:0]              lba;             // of the next command
    logic [32:0]                      left;            // blocks not issued yet
    logic [BaseBits-1:0]              base;            // memory mode: the address of the next command, in dwords
    logic                             block_4096;
    logic [SectorsWidth-1:0]          blocks_max;      // of a command
    logic [$bits(issue_o.status)-1:0] status;
  } request_t;

  function automatic logic is_invalid(command_t command);
    return command.blocks == '0 || command.source != (HasRing ? SourceStream : SourceAddress) ||
        (!HasRing && (command.address & 64'h3) != '0) ||
        (!HasRing && command.address >= 64'd1 << 2 << BaseBits && BaseBits != 62);
  endfunction

  function automatic request_t taken(command_t command);
    request_t request;
    request = '0;
    request.there = 1'b1;
    request.write = command.op == OpWrite;
    request.fua = command.fua;
    request.from_registers = command.from_registers;
    request.tag = command.tag;
    request.invalid = is_invalid(command);
    request.lba = command.lba[LbaWidth-1:0];
    request.left = 33'(command.blocks);
    request.base = command.address[2+:BaseBits];
    return request;
  endfunction

  // With what bring-up found. Without a drive that is ready, commands have the size of GoneSectors at most.
  function automatic request_t sized(request_t was, logic [64:0] behind, drive_t drive);
    request_t request;
    logic [SectorsWidth-1:0] sectors_max;
    request = was;
    sectors_max = drive.ready ? drive.command_sectors_max : GoneSectors;
    request.block_4096 = drive.block_4096;
    request.blocks_max = drive.block_4096 ? sectors_max >> 3 : sectors_max;
    if (was.invalid) request.status = StatusInvalid;
    else if (!drive.ready) request.status = StatusGone;
    else request.status = behind > 65'(drive.blocks) ? StatusRange : StatusOk;
    request.empty = was.invalid || (!HasRing && request.status != StatusOk);
    return request;
  endfunction

  // A request is next for at least five cycles: in the second one at the earliest it is sized, and its first command is
  // ready three cycles later. A drive that goes ends what was sized.
  request_t next_q, cut_q, next, cut;
  logic [2:0] age_q;  // of the one that is next
  logic [64:0] behind_q;  // the block after its last one
  logic takes, sizes, moves, issues;
  logic [SectorsWidth-1:0] blocks, wanted;  // of the command that is issued

  assign takes = command_valid_i && command_ready_o;
  assign sizes = next_q.there && age_q == 3'd1 && (drive_i.ready || drive_i.gone);
  assign moves = next_q.there && age_q == 3'd4 && (!cut_q.there || (issues && issue_o.last));
  assign issues = issue_valid_o && issue_ready_i;
  assign blocks = cut_q.block_4096 ? issue_o.sectors >> 3 : issue_o.sectors;
  assign wanted = cut_q.empty ? '0 : cut_q.left < 33'(cut_q.blocks_max) ? SectorsWidth'(cut_q.left) : cut_q.blocks_max;

  always_comb begin
    next = next_q;
    if (sizes) next = sized(next_q, behind_q, drive_i);
    else if (drive_i.gone && age_q > 3'd1 && next_q.status == StatusOk) next.status = StatusGone;
    cut = cut_q;
    if (drive_i.gone && cut_q.status == StatusOk) cut.status = StatusGone;
    if (issues) begin
      cut.there = !issue_o.last;
      cut.begun = 1'b1;
      cut.lba = cut_q.lba + LbaWidth'(blocks);
      cut.left = cut_q.left - 33'(blocks);
      cut.base = cut_q.base + BaseBits'({issue_o.sectors, 7'd0});
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {next_q.there, cut_q.there} <= 2'b00;
    end else begin
      next_q <= takes ? taken(command_i) : next;
      if (moves) next_q.there <= 1'b0;
      cut_q <= moves ? next : cut;
    end
    if (takes) begin
      age_q <= 3'd0;
      behind_q <= 65'(command_i.lba) + 65'(command_i.blocks);
    end else if (age_q != 3'd1 && age_q != 3'd4 || sizes) begin
      age_q <= age_q + 3'd1;
    end
  end

  // A command begins where the one before it ended, is as long as allowed, and the last one ends the request.
  always_comb begin
    if (checked) begin
      assert (command_ready_o == !next_q.there);
      assert (idle_o == !(cut_q.there || (next_q.there && age_q > 3'd1)));
      if (issue_valid_o) begin
        assert (cut_q.there);
        assert (issue_o.lba == cut_q.lba && issue_o.tag == cut_q.tag && issue_o.write == cut_q.write);
        assert (issue_o.fua == cut_q.fua && issue_o.from_registers == cut_q.from_registers);
        assert (issue_o.stream == (HasRing && !cut_q.invalid) && issue_o.block_4096 == cut_q.block_4096);
        assert (issue_o.status == cut_q.status);
        assert (cut_q.status != StatusOk || issue_o.sectors <= drive_i.command_sectors_max);
        assert (issue_o.sectors == (cut_q.block_4096 ? wanted << 3 : wanted));
        assert (HasRing || issue_base_o == cut_q.base);
        if (!cut_q.empty) begin
          assert (blocks != '0 && 33'(blocks) <= cut_q.left);
          assert (issue_o.last == (33'(blocks) == cut_q.left));
        end else begin
          assert (issue_o.last && issue_o.sectors == '0 && cut_q.status != StatusOk);
        end
      end
      cover (issues && !issue_o.last && cut_q.left == 33'd9 && issue_o.sectors == 13'd8);
      cover (issues && issue_o.last && issue_o.status == StatusRange);
      cover (issues && issue_o.last && issue_o.status == StatusInvalid);
      cover (issues && issue_o.last && issue_o.status == StatusGone);
      cover (issues && issue_o.status == StatusGone && cut_q.begun && drive_i.ready &&
             drive_i.block_4096 != cut_q.block_4096);
    end
  end

  // ---- a stream's space, which is allocated once for each command ----
  //
  // A write's is filled completely, beat by beat from its base, before the command is issued.
  localparam int unsigned SectorBeatBits = $clog2(512 / (DataWidth / 8));
  localparam int unsigned FilledBits = SectorsWidth + SectorBeatBits;
  localparam int unsigned BeatsOfRing = RingSectors << SectorBeatBits;
  logic allocates, fills, allocated_q;
  logic [RingBits-1:0] base_q;
  logic [SectorsWidth-1:0] sectors_q, sectors_past_q;
  logic [FilledBits-1:0] filled_q;
  logic [31:0] place;

  assign allocates = alloc_valid_o && alloc_ready_i;
  assign fills = fill_valid_o && fill_ready_i;
  assign place = 32'({base_q, {SectorBeatBits{1'b0}}}) + 32'(filled_q);

  always_ff @(posedge clk_i) begin
    sectors_past_q <= alloc_sectors_o;
    if (!rst_ni || issues) allocated_q <= 1'b0;
    else if (allocates) allocated_q <= 1'b1;
    if (allocates) begin
      base_q <= alloc_base_i;
      sectors_q <= alloc_sectors_o;
      filled_q <= '0;
    end else if (fills) begin
      filled_q <= filled_q + 1'b1;
    end
  end

  always_comb begin
    if (checked) begin
      assert (fills == (data_valid_i && data_ready_o) && (!fill_valid_o || fill_data_o == data_i));
      if (alloc_valid_o) begin
        assert (HasRing && !allocated_q && cut_q.there && !cut_q.invalid);
        assert (alloc_sectors_o == sectors_past_q);  // the buffer compares what is allocated in the cycle before
      end
      if (fill_valid_o) begin
        assert (allocated_q && cut_q.write && filled_q < {sectors_q, {SectorBeatBits{1'b0}}});
        assert (fill_beat_o == BeatBits'(place >= BeatsOfRing ? place - BeatsOfRing : place));
      end
      if (issue_valid_o) assert (allocated_q == issue_o.stream);
      if (issue_valid_o && issue_o.stream) begin
        assert (issue_o.sectors == sectors_q && issue_base_o == BaseBits'(base_q));
        if (issue_o.write) assert (filled_q == {sectors_q, {SectorBeatBits{1'b0}}});
      end
    end
  end

  // ---- an output that waits does not change, with one exception: when the drive goes, a command becomes dead ----

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
    if (checked && issue_held_q) begin
      assert (issue_valid_o && issue_o == issue_q && issue_base_o == issue_base_q);
    end
    if (checked && alloc_held_q) assert (alloc_valid_o);
  end

endmodule

bind spate_splitter splitter_ports #(
    .DataWidth(DataWidth),
    .RamBytes(RamBytes),
    .BaseBits(BaseBits)
) u_ports (.*);
