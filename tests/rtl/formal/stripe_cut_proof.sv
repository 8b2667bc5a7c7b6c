// SPDX-License-Identifier: Apache-2.0
//
// spate_stripe_cut against the definition of md: block (row × Drives + member) × chunk + offset of the array is block
// row × chunk + offset of the member's data area. For one arbitrary block, each request that contains it has it in
// exactly one part, at that place. The array is small.
module stripe_cut_proof
  import spate_pkg::*;
#(
    parameter int unsigned Drives = 3,
    parameter bit Block4096 = 1'b0,
    localparam int unsigned ChunkBytes = 8192,
    localparam int unsigned ArrayWidth = 9,
    localparam int unsigned ChunkShift = 4,
    localparam int unsigned MemberBits = $clog2(Drives),
    localparam int unsigned PartWidth = ChunkShift + 1
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        ready_i,
    input logic        command_valid_i,
    input logic        part_ready_i,
    input logic [63:0] lba_i,
    input logic [31:0] blocks_i,
    input logic [15:0] tag_i,
    input logic        write_i
);

  // The array: data areas begin at any address and are a multiple of chunks long.
  (* anyconst *) logic [Drives-1:0][LbaWidth-1:0] data_lba;
  (* anyconst *) logic [ArrayWidth-1:0] array_blocks;
  (* anyconst *) logic [3:0] row;
  (* anyconst *) logic [MemberBits-1:0] member;
  (* anyconst *) logic [ChunkShift-1:0] offset;

  command_t command;
  always_comb begin
    command = '0;
    command.op = write_i ? OpWrite : OpRead;
    command.source = SourceStream;
    command.tag = tag_i;
    command.lba = lba_i;
    command.blocks = blocks_i;
    assume (blocks_i <= 32'd40);  // a few chunks
    assume (lba_i < 64'd512);
  end

  logic command_ready, part_valid;
  stripe_part_t shown;
  logic [MemberBits-1:0] part_member;
  logic [PartWidth-1:0] part_blocks;

  spate_stripe_cut #(
      .Drives(Drives),
      .ChunkBytes(ChunkBytes),
      .ArrayWidth(ArrayWidth)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .ready_i,
      .block_4096_i(Block4096),
      .data_lba_i(data_lba),
      .array_blocks_i(array_blocks),
      .command_valid_i,
      .command_ready_o(command_ready),
      .command_i(command),
      .part_valid_o(part_valid),
      .part_ready_i,
      .part_o(shown),
      .part_member_o(part_member),
      .part_blocks_o(part_blocks)
  );

  // The request that was given, and what became of it.
  logic busy_q, seen_q;
  command_t given_q;
  logic [31:0] before_q;  // blocks of the parts that were taken
  logic [5:0] waited_q;  // cycles without a part
  logic past_reset_q = 1'b0;
  logic taken, part, here;
  assign taken = command_valid_i && command_ready;
  assign part = part_valid && part_ready_i;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      busy_q <= 1'b0;
      seen_q <= 1'b0;
      before_q <= '0;
      waited_q <= '0;
    end else begin
      if (taken) begin
        busy_q <= 1'b1;
        seen_q <= 1'b0;
        given_q <= command;
        before_q <= '0;
      end
      if (part) begin
        before_q <= before_q + 32'(part_blocks);
        if (here) seen_q <= 1'b1;
        if (shown.last) busy_q <= 1'b0;
      end
      waited_q <= busy_q && !part_valid ? waited_q + 1'b1 : '0;
    end
  end

  // The chosen block, whether the request contains it, and whether the current part contains it.
  localparam int unsigned ChunkBlocks = Block4096 ? ChunkBytes / 4096 : ChunkBytes / 512;
  logic [11:0] block, part_first;
  logic wanted;
  assign block = 12'((12'(row) * 12'(Drives) + 12'(member)) * 12'(ChunkBlocks) + 12'(offset));
  assign part_first = 12'(given_q.lba) + 12'(before_q);
  assign wanted = block >= 12'(given_q.lba) && block < 12'(given_q.lba) + 12'(given_q.blocks);
  assign here = block >= part_first && block < part_first + 12'(part_blocks);

  always_comb begin
    for (int i = 0; i < Drives; i++) assume (data_lba[i] < 40'd1 << 12);
    assume (32'(member) < Drives && 32'(offset) < ChunkBlocks);
    if (past_reset_q && rst_ni) begin
      assert (!part_valid || busy_q);
      assert (!command_ready || !busy_q);
      assert (waited_q <= (Drives == 3 ? 6'd12 : 6'd4));
      if (part_valid) begin
        assert (shown.tag == given_q.tag && shown.write == (given_q.op == OpWrite));
        assert (shown.beyond == (33'(given_q.lba) + 33'(given_q.blocks) > 33'(array_blocks)));
        assert ((part_blocks != '0) == (given_q.blocks != '0));
        assert (32'(part_blocks) <= ChunkBlocks);
        assert (shown.last == (before_q + 32'(part_blocks) == given_q.blocks));
        if (here) begin
          assert (!seen_q);
          assert (part_member == member);
          assert (shown.lba + LbaWidth'(block - part_first) ==
                  data_lba[member] + LbaWidth'(row) * LbaWidth'(ChunkBlocks) + LbaWidth'(offset));
        end
        if (shown.last && wanted) assert (seen_q || here);
      end
      cover (part_valid && shown.last && before_q > 32'd2 && seen_q && !shown.beyond && part_member != '0);
      cover (part_valid && shown.last && before_q == '0 && shown.beyond);
    end
  end

endmodule
