// SPDX-License-Identifier: Apache-2.0
//
// spate_stripe_side between a user and members that take and answer at any time, at once or all together.
module stripe_side_proof
  import spate_pkg::*;
#(
    localparam int unsigned Drives = 2,
    localparam int unsigned ChunkBytes = 8192,
    localparam int unsigned ArrayWidth = 9
) (
    input logic                        clk_i,
    input logic                        rst_ni,
    input logic                        ready_i,
    input logic                        refuse_i,
    input logic [    Drives-1:0]       dead_i,
    input logic                        command_valid_i,
    input logic [           3:0]       op_i,
    input logic [          15:0]       tag_i,
    input logic [          63:0]       lba_i,
    input logic [          31:0]       blocks_i,
    input logic [ArrayWidth-1:0]       written_blocks_i,
    input logic [    Drives-1:0]       member_ready_i,
    input logic [    Drives-1:0]       answers_i,
    input logic [    Drives-1:0][15:0] status_i,
    input logic                        response_ready_i
);

  (* anyconst *) logic [Drives-1:0][LbaWidth-1:0] data_lba;
  (* anyconst *) logic [ArrayWidth-1:0] array_blocks;

  command_t command;
  always_comb begin
    command = '0;
    command.op = op_e'(op_i);
    command.tag = tag_i;
    command.lba = lba_i;
    command.blocks = blocks_i;
    for (int i = 0; i < Drives; i++) assume (data_lba[i] < 40'd1 << 12);
    assume (lba_i < 64'd1024 && blocks_i < 32'd512);  // sums do not overflow, as in a real array
  end

  logic command_ready, response_valid;
  logic [Drives-1:0] member_valid, owed_q, asked_q, answered, dead_q;
  op_e member_op;
  logic [LbaWidth-1:0] member_lba;
  logic [31:0] member_blocks;
  response_t response;

  // Each member answers what it took once, in a later cycle.
  assign answered = answers_i & owed_q;

  spate_stripe_side #(
      .Drives(Drives),
      .ChunkBytes(ChunkBytes),
      .ArrayWidth(ArrayWidth)
  ) u_side (
      .clk_i,
      .rst_ni,
      .ready_i,
      .refuse_i,
      .dead_i,
      .block_4096_i(1'b0),
      .data_lba_i(data_lba),
      .array_blocks_i(array_blocks),
      .written_blocks_i,
      .command_valid_i,
      .command_ready_o(command_ready),
      .command_i(command),
      .member_valid_o(member_valid),
      .member_ready_i,
      .member_op_o(member_op),
      .member_lba_o(member_lba),
      .member_blocks_o(member_blocks),
      .member_response_valid_i(answered),
      .member_response_status_i(status_i),
      .response_valid_o(response_valid),
      .response_ready_i,
      .response_o(response)
  );

  logic past_reset_q = 1'b0;
  logic busy_q, refused_q, failed_q, told_q, held_q, taken, flush, deallocate;
  command_t given_q;
  logic [15:0] first_error_q;
  logic [31:0] covered_q;
  logic [ArrayWidth-1:0] written_q;
  logic [5:0] idle_q;  // cycles in which it waited for nothing outside
  response_t response_q;
  assign taken = command_valid_i && command_ready;
  assign flush = given_q.op == OpFlush && !refused_q;
  assign deallocate = given_q.op == OpDeallocate && !refused_q && given_q.blocks != '0 &&
      34'(given_q.lba) + 34'(given_q.blocks) <= 34'(array_blocks);

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      busy_q <= 1'b0;
      owed_q <= '0;
      asked_q <= '0;
      held_q <= 1'b0;
      idle_q <= '0;
    end else begin
      if (taken) begin
        busy_q <= 1'b1;
        given_q <= command;
        refused_q <= refuse_i;
        written_q <= written_blocks_i;
        asked_q <= '0;
        dead_q <= dead_i;
        failed_q <= 1'b0;
        told_q <= 1'b0;
        covered_q <= '0;
      end else begin
        if (response_valid && response_ready_i) busy_q <= 1'b0;
        asked_q <= asked_q | (member_valid & member_ready_i);
        dead_q <= dead_q | dead_i;
        if ((member_valid & member_ready_i) != '0) covered_q <= covered_q + member_blocks;
        for (int i = Drives - 1; i >= 0; i--) begin
          if (answered[i] && status_i[i] == StatusPower) told_q <= 1'b1;
          if (answered[i] && status_i[i] != StatusOk && status_i[i] != StatusPower && !failed_q) begin
            failed_q <= 1'b1;
            first_error_q <= status_i[i];
          end
        end
      end
      owed_q <= (owed_q & ~answered) | (member_valid & member_ready_i);
      held_q <= response_valid && !response_ready_i;
      response_q <= response;
      idle_q <= busy_q && member_valid == '0 && owed_q == '0 && !response_valid ? idle_q + 1'b1 : '0;
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (!command_ready || (!busy_q && ready_i));
      assert (!response_valid || busy_q);
      if (held_q) assert (response_valid && response == response_q);
      // Each member is asked once at most, one at a time, and only for commands that concern members.
      assert ((member_valid & (member_valid - 1'b1)) == '0);
      assert ((member_valid & asked_q) == '0);
      if (member_valid != '0) begin
        assert (busy_q && member_op == given_q.op && (flush || deallocate));
        assert ((member_valid & (dead_q | dead_i)) == '0);
        if (deallocate) assert (member_blocks != '0);
      end
      // The response comes when all members that were asked have answered. A flush asks all members, a deallocate all
      // that have blocks of the range; dead members are left out, and the status says so.
      if (response_valid) begin
        assert (owed_q == '0 && response.tag == given_q.tag);
        if (flush) begin
          assert ((asked_q | dead_q) == '1);
          assert (asked_q == '1 || (response.status != StatusOk && response.status != StatusPower));
          assert (response.done == 64'(written_q));
        end else begin
          assert (response.done == '0);
        end
        if (deallocate) begin
          assert (covered_q == given_q.blocks || (covered_q < given_q.blocks && dead_q != '0));
          assert (covered_q == given_q.blocks || (response.status != StatusOk && response.status != StatusPower));
        end
        if (flush || deallocate)
          assert (response.status == (failed_q ? first_error_q : told_q ? StatusPower : StatusOk) ||
                  (dead_q != '0 && asked_q != '1 && response.status == StatusGone));
          else begin
            assert (asked_q == '0);
            assert (response.status == (!refused_q && given_q.op == OpDeallocate && given_q.blocks != '0 ? StatusRange :
                                      StatusInvalid));
          end
      end
      assert (idle_q <= (asked_q == '0 ? 6'd13 : 6'd6));
      cover (response_valid && flush && failed_q && told_q);
      cover (response_valid && flush && response.status == StatusPower);
      cover (response_valid && deallocate && asked_q == '1 && !failed_q);
      cover (response_valid && deallocate && asked_q == 2'b10);
      cover (response_valid && deallocate && asked_q == 2'b10 && response.status == StatusGone);
    end
  end

endmodule
