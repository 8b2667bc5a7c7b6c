// SPDX-License-Identifier: Apache-2.0
//
// What the induction of splitter_ports.sv needs to know of spate_splitter: how the requests in its two stages, and the
// command that is being filled, follow from the reference.
module splitter_inside
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned BaseBits = 20,
    parameter logic [2:0] NextEmpty = '0,
    parameter logic [2:0] NextFound = '0,
    parameter logic [2:0] NextTaken = '0,
    parameter logic [2:0] NextSized = '0,
    parameter logic [2:0] NextFitted = '0,
    parameter logic [2:0] NextChecked = '0,
    parameter logic [1:0] CutNone = '0,
    parameter logic [1:0] CutStart = '0,
    parameter logic [1:0] CutFill = '0,
    parameter logic [1:0] CutIssue = '0,
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512
) (
    input logic                      clk_i,
    input drive_t                    drive_i,
    input logic   [             2:0] next_state_q,
    input logic   [      LbaWidth:0] next_end_q,
    input logic   [     63:LbaWidth] next_lba_high_q,
    input logic   [            63:0] next_address_q,
    input logic                      next_sourced_q,
    input logic                      next_invalid_q,
    input logic                      next_too_high_q,
    input logic   [SectorsWidth-1:0] next_first_blocks,
    input logic   [             1:0] cut_state_q,
    input logic   [SectorsWidth-1:0] cut_first_blocks,
    input logic   [SectorsWidth-1:0] blocks_q,
    input logic   [SectorsWidth-1:0] sectors_q,
    input logic                      last_q,
    input logic   [             1:0] planning_q
);

  localparam bit HasRing = RingSectors > 0;
  logic checked;
  logic [SectorsWidth-1:0] drive_blocks_max;
  assign checked = u_ports.checked;
  assign drive_blocks_max = drive_i.block_4096 ? drive_i.command_sectors_max >> 3 : drive_i.command_sectors_max;

  function automatic logic [SectorsWidth-1:0] sectors_of(logic [SectorsWidth-1:0] blocks, logic block_4096);
    return block_4096 ? blocks << 3 : blocks;
  endfunction

  // ---- the request that is next ----

  always_comb begin
    if (checked) begin
      assert (u_ports.next_q.there == (next_state_q != NextEmpty));
      assert (u_ports.cut_q.there == (cut_state_q != CutNone));
    end
    if (checked && next_state_q != NextEmpty) begin
      assert (spate_splitter.next_q.write == u_ports.next_q.write);
      assert (spate_splitter.next_q.tag == u_ports.next_q.tag);
      assert (spate_splitter.next_q.fua == u_ports.next_q.fua);
      assert (spate_splitter.next_q.from_registers == u_ports.next_q.from_registers);
      assert (spate_splitter.next_q.lba == u_ports.next_q.lba);
      assert (u_ports.next_q.left <= 33'h0ffffffff);
      assert (u_ports.next_q.invalid || u_ports.next_q.left != '0);
      assert (u_ports.age_q == next_state_q - NextFound);
      if (next_state_q != NextFound) begin
        assert (next_invalid_q == u_ports.next_q.invalid);
        assert (HasRing || spate_splitter.next_q.base == u_ports.next_q.base);
      end
      if (!(next_state_q inside {NextFitted, NextChecked})) begin
        assert (33'(spate_splitter.next_q.blocks) == u_ports.next_q.left);
      end
      if (next_state_q == NextFound) begin
        assert (!HasRing || next_address_q == '0);
        assert (HasRing || next_address_q[2+:BaseBits] == u_ports.next_q.base);
        assert (u_ports.next_q.invalid ==
                (spate_splitter.next_q.blocks == '0 || !next_sourced_q || next_address_q[1:0] != '0 ||
                 next_address_q[63:2] != 62'(next_address_q[2+:BaseBits])));
        if (next_lba_high_q != '0)
          assert (u_ports.behind_q >> LbaWidth != '0);
          else assert (u_ports.behind_q == 65'(spate_splitter.next_q.lba) + 65'(spate_splitter.next_q.blocks));
      end
      if (next_state_q == NextTaken) begin
        if (next_too_high_q)
          assert (u_ports.behind_q >> LbaWidth != '0);
          else assert (u_ports.behind_q == 65'(next_end_q));
      end
    end
  end

  always_comb begin
    if (checked && next_state_q inside {NextSized, NextFitted, NextChecked}) begin
      assert (spate_splitter.next_q.status == u_ports.next_q.status);
      assert (spate_splitter.next_q.stream == (HasRing && !next_invalid_q));
      assert (spate_splitter.next_q.block_4096 == u_ports.next_q.block_4096);
      assert (spate_splitter.next_q.blocks_max == u_ports.next_q.blocks_max);
      if (spate_splitter.next_q.status == StatusOk) begin
        assert (spate_splitter.next_q.block_4096 == drive_i.block_4096 && !u_ports.unknown_q);
        assert (spate_splitter.next_q.blocks_max == drive_blocks_max);
      end
      assert (spate_splitter.next_q.blocks_max >= 13'd1 && spate_splitter.next_q.blocks_max <= 13'(CommandSectorsMax));
      assert (!spate_splitter.next_q.block_4096 || spate_splitter.next_q.blocks_max <= 13'(CommandSectorsMax / 8));
      assert (!u_ports.next_q.empty || spate_splitter.next_q.status != StatusOk);
      assert (!next_invalid_q || u_ports.next_q.empty);
      assert (!HasRing || next_invalid_q || !u_ports.next_q.empty);
      if (next_state_q inside {NextFitted, NextChecked}) begin
        assert (spate_splitter.next_q.fits == (spate_splitter.next_q.blocks <= 32'(spate_splitter.next_q.blocks_max)));
        if (u_ports.next_q.empty)
          assert (spate_splitter.next_q.blocks == '0);
          else assert (33'(spate_splitter.next_q.blocks) == u_ports.next_q.left);
      end
      if (next_state_q == NextChecked) begin
        assert (spate_splitter.next_q.first_blocks == next_first_blocks);
        assert (spate_splitter.next_q.first_sectors == sectors_of(next_first_blocks, spate_splitter.next_q.block_4096));
      end
    end
  end

  // ---- the request that is being split ----

  always_comb begin
    if (checked && cut_state_q != CutNone) begin
      assert (spate_splitter.cut_q.write == u_ports.cut_q.write);
      assert (spate_splitter.cut_q.tag == u_ports.cut_q.tag);
      assert (spate_splitter.cut_q.fua == u_ports.cut_q.fua);
      assert (spate_splitter.cut_q.from_registers == u_ports.cut_q.from_registers);
      assert (spate_splitter.cut_q.lba == u_ports.cut_q.lba);
      assert (HasRing || spate_splitter.cut_q.base == u_ports.cut_q.base);
      assert (spate_splitter.cut_q.block_4096 == u_ports.cut_q.block_4096);
      assert (spate_splitter.cut_q.blocks_max == u_ports.cut_q.blocks_max);
      assert (spate_splitter.cut_q.status == u_ports.cut_q.status);
      if (spate_splitter.cut_q.status == StatusOk) begin
        assert (spate_splitter.cut_q.block_4096 == drive_i.block_4096 && !u_ports.unknown_q);
        assert (spate_splitter.cut_q.blocks_max == drive_blocks_max);
      end
      assert (spate_splitter.cut_q.blocks_max >= 13'd1 && spate_splitter.cut_q.blocks_max <= 13'(CommandSectorsMax));
      assert (!spate_splitter.cut_q.block_4096 || spate_splitter.cut_q.blocks_max <= 13'(CommandSectorsMax / 8));
      assert (spate_splitter.cut_q.stream == (HasRing && !u_ports.cut_q.invalid));
      assert (!u_ports.cut_q.invalid || u_ports.cut_q.empty);
      assert (!HasRing || u_ports.cut_q.invalid || !u_ports.cut_q.empty);
      assert (!u_ports.cut_q.empty || spate_splitter.cut_q.status != StatusOk);
      assert (u_ports.cut_q.invalid || u_ports.cut_q.left != '0);
      assert (u_ports.cut_q.left <= 33'h0ffffffff);
      if (u_ports.cut_q.empty) begin
        assert (spate_splitter.cut_q.blocks == '0 && (cut_state_q == CutStart || (last_q && blocks_q == '0)));
      end else if (cut_state_q == CutStart) begin
        assert (33'(spate_splitter.cut_q.blocks) == u_ports.cut_q.left);
      end else begin
        assert (33'(spate_splitter.cut_q.blocks) + 33'(blocks_q) == u_ports.cut_q.left);
        assert (blocks_q != '0 && last_q == (spate_splitter.cut_q.blocks == '0));
        assert (last_q ? blocks_q <= spate_splitter.cut_q.blocks_max : blocks_q == spate_splitter.cut_q.blocks_max);
      end
      if (planning_q != 2'd3)
        assert (spate_splitter.cut_q.fits == (spate_splitter.cut_q.blocks <= 32'(spate_splitter.cut_q.blocks_max)));
      if (planning_q < 2'd2) begin
        assert (spate_splitter.cut_q.first_blocks == cut_first_blocks);
        assert (spate_splitter.cut_q.first_sectors == sectors_of(cut_first_blocks, spate_splitter.cut_q.block_4096));
      end
      if (cut_state_q != CutStart) assert (sectors_q == sectors_of(blocks_q, spate_splitter.cut_q.block_4096));
    end
  end

  // ---- its space in the ring ----

  if (HasRing) begin : gen_fill
    localparam int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1;
    localparam int unsigned SectorBeatBits = $clog2(512 / (DataWidth / 8));
    localparam int unsigned BeatsOfRing = RingSectors << SectorBeatBits;
    localparam int unsigned Wide = BaseBits + 1;
    logic [RingBits-1:0] sector;
    logic [SectorBeatBits-1:0] beat;
    logic [SectorsWidth-1:0] left;
    logic [SectorsWidth+SectorBeatBits-1:0] to_fill;
    assign sector = spate_splitter.gen_fill.sector_q;
    assign beat = spate_splitter.gen_fill.beat_q;
    assign left = spate_splitter.gen_fill.left_q;
    assign to_fill = {left, {SectorBeatBits{1'b0}}} - (SectorsWidth + SectorBeatBits)'(beat);

    always_comb begin
      if (checked) begin
        assert (u_ports.allocated_q == (cut_state_q inside {CutFill, CutIssue} && spate_splitter.cut_q.stream));
        if (u_ports.allocated_q) begin
          assert (spate_splitter.cut_q.base == BaseBits'(u_ports.base_q) && sectors_q == u_ports.sectors_q);
          assert (sectors_q <= SectorsWidth'(RingSectors) && Wide'(spate_splitter.cut_q.base) < Wide'(RingSectors));
        end
        if (cut_state_q == CutFill) begin
          assert (spate_splitter.cut_q.write && spate_splitter.cut_q.stream && Wide'(sector) < Wide'(RingSectors));
          assert (left != '0 && left <= sectors_q);
          assert (spate_splitter.gen_fill.end_q == (beat == '1 && left == SectorsWidth'(1)));
          assert (u_ports.filled_q + to_fill == {sectors_q, {SectorBeatBits{1'b0}}});
          assert (32'({sector, beat}) == (u_ports.place >= BeatsOfRing ? u_ports.place - BeatsOfRing : u_ports.place));
        end else begin
          assert (beat == '0 && !spate_splitter.gen_fill.end_q);
        end
        if (cut_state_q == CutIssue && spate_splitter.cut_q.stream && spate_splitter.cut_q.write)
          assert (u_ports.filled_q == {sectors_q, {SectorBeatBits{1'b0}}});
      end
    end
  end else begin : gen_no_fill
    always_comb if (checked) assert (!u_ports.allocated_q && cut_state_q != CutFill);
  end

endmodule

bind spate_splitter splitter_inside #(
    .DataWidth(DataWidth),
    .RamBytes(RamBytes),
    .BaseBits(BaseBits),
    .NextEmpty(NextEmpty),
    .NextFound(NextFound),
    .NextTaken(NextTaken),
    .NextSized(NextSized),
    .NextFitted(NextFitted),
    .NextChecked(NextChecked),
    .CutNone(CutNone),
    .CutStart(CutStart),
    .CutFill(CutFill),
    .CutIssue(CutIssue)
) u_inside (
    .*,
    .next_state_q(next_state_q),
    .cut_state_q(cut_state_q)
);
