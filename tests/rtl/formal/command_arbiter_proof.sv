// SPDX-License-Identifier: Apache-2.0
//
// spate_command_arbiter between any requesters and a drive that takes commands by lane, at any time, and that stays
// ready for a lane until it gets a command. With `TwoLanes` the user has a command for each lane at the same time and
// alternates between them, as spate_ring_ddr and spate_stripe do; a side command is answered some cycles later, before
// the next one. With `RingBehind` the drive is a spate_ring_ddr: after four cycles in a row, a side command gives way
// to a part for four cycles, if there is one.
module command_arbiter_proof
  import spate_pkg::*;
#(
    parameter bit TwoLanes = 1'b0,
    parameter bit RingBehind = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic new_user_data_i,
    input logic new_user_side_i,
    input logic new_data_i,
    input logic new_side_i,
    input logic takes_data_i,
    input logic takes_side_i,
    input logic part_i,
    input logic response_valid_i,
    input logic response_from_registers_i,
    input logic user_response_ready_i
);

  // The command that each requester holds until it is taken; the lanes for which the drive is ready until it gets a
  // command.
  logic user_data_q, user_side_q, data_q, side_q, takes_data_q, takes_side_q;
  logic [2:0] turn_q, answer_q, ring_turn_q;
  logic user_shows_side, user_valid, user_ready, data_ready, side_ready, command_valid, command_ready;
  logic user_taken, data_taken, side_taken, lane_data_taken, lane_side_taken, command_is_data;
  logic takes_data, takes_side, part_turn;
  command_t user, data, side, command;

  assign user_shows_side = user_side_q && (!turn_q[2] || !user_data_q);
  assign user_valid = user_data_q || user_side_q;
  always_comb begin
    user = '0;
    user.op = user_shows_side ? OpFlush : OpWrite;
    user.tag = 16'd1;
    data = '0;
    data.op = OpRead;
    data.tag = 16'd2;
    side = '0;
    side.op = OpDeallocate;
    side.tag = 16'd3;
  end
  assign command_is_data = command.op == OpWrite || command.op == OpRead;
  assign takes_data = takes_data_q || takes_data_i;
  assign takes_side = takes_side_q || takes_side_i;
  assign part_turn = RingBehind && ring_turn_q[2] && part_i;
  assign command_ready = command_is_data ? takes_data : takes_side && !part_turn;
  assign user_taken = user_valid && user_ready;
  assign data_taken = data_q && data_ready;
  assign side_taken = side_q && side_ready;
  assign lane_data_taken = (user_taken && !user_shows_side) || data_taken;
  assign lane_side_taken = (user_taken && user_shows_side) || side_taken;

  logic response_ready, user_response_valid, registers_response_valid;
  spate_command_arbiter u_arbiter (
      .clk_i,
      .rst_ni,
      .user_valid_i(user_valid),
      .user_ready_o(user_ready),
      .user_i(user),
      .data_valid_i(data_q),
      .data_ready_o(data_ready),
      .data_i(data),
      .side_valid_i(side_q),
      .side_ready_o(side_ready),
      .side_i(side),
      .command_valid_o(command_valid),
      .command_ready_i(command_ready),
      .command_o(command),
      .response_valid_i,
      .response_ready_o(response_ready),
      .response_from_registers_i,
      .user_response_valid_o(user_response_valid),
      .user_response_ready_i,
      .registers_response_valid_o(registers_response_valid)
  );

  // How long a lane that the drive would take has waited; how often another requester was served before each.
  logic past_reset_q = 1'b0;
  logic [4:0] data_waits_q, side_waits_q;
  logic [3:0] before_user_data_q, before_user_side_q, before_data_q, before_side_q;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      user_data_q <= 1'b0;
      user_side_q <= 1'b0;
      data_q <= 1'b0;
      side_q <= 1'b0;
      takes_data_q <= 1'b0;
      takes_side_q <= 1'b0;
      turn_q <= '0;
      ring_turn_q <= '0;
      answer_q <= '0;
      data_waits_q <= '0;
      side_waits_q <= '0;
      before_user_data_q <= '0;
      before_user_side_q <= '0;
      before_data_q <= '0;
      before_side_q <= '0;
    end else begin
      user_data_q <= (user_data_q && !(user_taken && !user_shows_side)) ||
                     (new_user_data_i && (TwoLanes || !user_valid || user_taken));
      user_side_q <= (user_side_q && !(user_taken && user_shows_side)) ||
                     (new_user_side_i && (TwoLanes ? answer_q == '0 && !user_side_q : ((!user_valid || user_taken) && !new_user_data_i)));
      data_q <= (data_q && !data_taken) || new_data_i;
      side_q <= (side_q && !side_taken) || new_side_i;
      takes_data_q <= takes_data && !lane_data_taken;
      takes_side_q <= takes_side && !lane_side_taken;
      turn_q <= user_side_q && !(user_taken && user_shows_side) ? turn_q + 1'b1 : '0;
      ring_turn_q <= command_valid && !command_is_data ? ring_turn_q + 1'b1 : '0;
      answer_q <= user_taken && user_shows_side ? '1 : answer_q - 3'(answer_q != '0);
      data_waits_q <= takes_data && !lane_data_taken && (user_data_q || data_q) ? data_waits_q + 1'b1 : '0;
      side_waits_q <= takes_side && !lane_side_taken && (user_side_q || side_q) ? side_waits_q + 1'b1 : '0;
      before_user_data_q <= user_data_q && !(user_taken && !user_shows_side) ? before_user_data_q + 4'(data_taken) : '0;
      before_user_side_q <= user_side_q && !(user_taken && user_shows_side) ? before_user_side_q + 4'(side_taken) : '0;
      before_data_q <= data_q && !data_taken ? before_data_q + 4'(user_taken && !user_shows_side) : '0;
      before_side_q <= side_q && !side_taken ? before_side_q + 4'(user_taken && user_shows_side) : '0;
    end
  end

  localparam logic [4:0] WaitMax = TwoLanes ? 5'd7 : 5'd2;
  localparam logic [4:0] SideWaitMax = RingBehind ? 5'd6 : WaitMax;
  always_comb begin
    if (past_reset_q && rst_ni) begin
      // A command is passed on once, unchanged.
      assert ((command_valid && command_ready) == (user_taken || data_taken || side_taken));
      assert (2'(user_taken) + 2'(data_taken) + 2'(side_taken) <= 2'd1);
      if (user_taken) assert (command == user);
      if (data_taken) assert (command == data);
      if (side_taken) assert (command == side);
      // No lane waits too long, and no requester starves.
      assert (data_waits_q <= WaitMax);
      assert (side_waits_q <= SideWaitMax);
      if (!TwoLanes) begin
        assert (before_data_q <= 4'd1);
        assert (before_side_q <= 4'd1);
        assert (before_user_data_q <= 4'd1);
        assert (before_user_side_q <= 4'd1);
        // the reason: a requester that was served first gives way to the other
        assert (!user_data_q || !user_side_q);
        if (before_data_q != '0) assert (u_arbiter.user_had_data_q);
        if (before_side_q != '0) assert (u_arbiter.user_had_side_q);
        if (before_user_data_q != '0) assert (!u_arbiter.user_had_data_q);
        if (before_user_side_q != '0) assert (!u_arbiter.user_had_side_q);
      end
      // A response goes to one requester, and is not taken before that one has it.
      assert (!(user_response_valid && registers_response_valid));
      assert ((response_valid_i && response_ready) ==
              (registers_response_valid || (user_response_valid && user_response_ready_i)));
      assert (registers_response_valid == (response_valid_i && response_from_registers_i));
      cover (before_user_data_q == 4'd1 && data_q && side_q);
      cover (before_side_q == 4'd1 && data_waits_q == 5'd2);
      cover (before_data_q == 4'd1 && user_data_q && takes_data && before_side_q == 4'd1);
    end
  end

endmodule
