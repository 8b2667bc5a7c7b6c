// SPDX-License-Identifier: Apache-2.0
//
// spate_write_frames, watched from outside, between any user and a core that takes commands one ahead, moves the beats of
// the writes that it took, and answers in order, at any time. What the module must do follows from its ports alone. One
// arbitrary command of the data lane, or one arbitrary beat of the core's write stream, is followed. A beat has 256 bytes:
// a block has two beats, the fewest that the module takes, so a frame of two pieces fits into the depth of the proof.
//
// Lost: the drive may go at any time, and the core may refuse pieces. `gone` and `lost` are independent: of one drive, gone
// comes with lost; of a stripe, gone stays while lost is a pulse, and ready may stay with gone.
module write_frames_proof
  import spate_pkg::*;
#(
    parameter bit Lost = 1'b0,
    parameter bit Beats = 1'b0,  // a beat is followed, otherwise a command
    parameter bit Deep = 1'b0,
    localparam int unsigned DataWidth = 1
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       ready_i,
    input logic       gone_i,
    input logic       lost_i,
    input logic       command_valid_i,
    input logic       read_i,
    input logic [1:0] source_i,
    input logic [3:0] tag_i,
    input logic [3:0] lba_i,
    input logic [3:0] blocks_i,
    input logic       side_valid_i,
    input logic [3:0] side_tag_i,
    input logic       response_ready_i,
    input logic       data_valid_i,
    input logic [3:0] data_i,
    input logic       last_i,
    input logic       null_i,
    input logic       command_ready_i,
    input logic       side_ready_i,
    input logic       answer_i,
    input logic       answer_side_i,
    input logic [1:0] status_i,
    input logic       data_ready_i
);

  localparam int unsigned BlockBeats = 2;
  typedef logic [5:0] count_t;  // counts modulo 64: less is reached
  typedef logic [5:0] at_t;  // a beat's place on the drive: the block and the beat in it

  logic command_ready, side_ready, response_valid, data_ready, core_valid, core_side_valid, core_response_valid;
  logic core_response_ready, core_data_valid, core_ready, core_side_ready, core_data_ready, idle;
  command_t command, side, core_command, core_side;
  response_t response, core_response;
  logic [DataWidth-1:0] core_data;

  always_comb begin
    command = '0;
    command.from_registers = tag_i[0];
    command.op = read_i ? OpRead : OpWrite;
    command.source = source_e'(source_i);
    command.tag = 16'(tag_i);
    command.lba = 64'(lba_i);
    command.blocks = 32'(blocks_i);
    side = '0;
    side.op = OpFlush;
    side.from_registers = side_tag_i[0];
    side.tag = 16'(side_tag_i);
  end

  spate_write_frames_flat #(
      .DataWidth(DataWidth),
      .PieceBytes(4096),
      .Commands(4),
      .Beats(4),
      .LbaBits(8),
      .BeatBytes(512 / BlockBeats)
  ) u_frames (
      .clk_i,
      .rst_ni,
      .ready_i,
      .gone_i,
      .lost_i,
      .block_4096_i(1'b0),
      .command_valid_i,
      .command_ready_o(command_ready),
      .command_i(command),
      .side_valid_i,
      .side_ready_o(side_ready),
      .side_i(side),
      .response_valid_o(response_valid),
      .response_ready_i,
      .response_o(response),
      .data_valid_i,
      .data_ready_o(data_ready),
      .data_i(DataWidth'(data_i)),
      .data_last_i(last_i),
      .data_null_i(null_i),
      .command_valid_o(core_valid),
      .command_ready_i(core_ready),
      .command_o(core_command),
      .side_valid_o(core_side_valid),
      .side_ready_i(core_side_ready),
      .side_o(core_side),
      .response_valid_i(core_response_valid),
      .response_ready_o(core_response_ready),
      .response_i(core_response),
      .data_valid_o(core_data_valid),
      .data_ready_i(core_data_ready),
      .data_o(core_data),
      .idle_o(idle)
  );

  (* anyconst *) logic [1:0] stalls;  // Deep: who does, if anybody
  localparam bit MayStall = !Lost;
  (* anyconst *) count_t place;
  (* anyconst *) count_t chosen;
  logic past_reset_q = 1'b0;
  logic accepted, is_frame;
  count_t accepted_q;  // commands of the data lane
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb assume (rst_ni == past_reset_q);
  always_comb begin
    assume (source_i != 2'd2);
    // frames begin in the last two blocks before a piece's end, or at it, and have pieces of one to four blocks
    assume (lba_i inside {4'd6, 4'd7, 4'd8} && blocks_i <= 4'd4);
    if (!Lost) assume (!side_valid_i && !read_i && !status_i[1]);
    if (Beats)
      assume (status_i == '0 && tag_i == '0 && response_ready_i && chosen == '0 && place < 6'd6);
      else assume (data_i == '0 && place == '0 && chosen < 6'd3);
    if (!Lost) assume (ready_i && !gone_i && !lost_i);
    if (Deep && past_reset_q && rst_ni) begin
      assume (command_valid_i == (accepted_q < 6'd2));
      assume (accepted_q != '0 || (is_frame && lba_i == 4'd7 && blocks_i == 4'd2));
      assume (accepted_q == '0 || blocks_i < 4'd3);
      assume ((MayStall && stalls == 2'd0) || data_valid_i);
      assume ((MayStall && stalls == 2'd1) || (command_ready_i && side_ready_i));
      assume ((MayStall && stalls == 2'd2) || data_ready_i);
      assume ((MayStall && stalls == 2'd3) || (response_ready_i && answer_i));
      assume (chosen < 6'd2 && (!Beats || place inside {6'd2, 6'd3, 6'd4}));
      if (Lost) assume (!side_valid_i && status_i == '0);
    end
  end

  // ---- the core: the command whose beats move, one ahead of it, and those that wait for their responses ----

  logic moving_q, next_q, refuses_q, core_taken, moved, answered;
  logic from_q[4];
  logic [3:0] core_done;
  logic [3:0] moving_left_q, next_left_q;  // beats
  count_t taken_q, ended_q, answered_q;  // commands of the data lane, in order
  count_t wanted_q;  // beats of all writes that were taken
  logic [3:0] blocks_q[4];  // of the commands that were taken, by their number
  logic side_open_q, side_from_q, is_stream;
  logic [15:0] core_tag_q, side_core_tag_q, core_status;
  logic [1:0] shown_status_q;
  logic shown_q, shown_side_q;

  function automatic logic [3:0] beats_of(logic [3:0] blocks);  // at most four
    return 4'(blocks * BlockBeats);
  endfunction

  assign is_stream = core_command.op == OpWrite && core_command.source == SourceStream;
  assign core_ready = command_ready_i && !next_q;
  assign core_side_ready = side_ready_i;
  assign core_data_ready = moving_q && moving_left_q != '0 && data_ready_i;
  assign core_taken = core_valid && core_ready;
  assign moved = core_data_valid && core_data_ready;
  assign answered = core_response_valid && core_response_ready;

  // A response that is shown stays. A core that refuses answers each write with StatusInvalid, without beats.
  assign core_response_valid = shown_q ? 1'b1 : (answer_side_i ? side_open_q : answer_i && answered_q != ended_q);
  logic show_side;
  logic [1:0] show_status;
  assign show_side = shown_q ? shown_side_q : answer_side_i;
  assign show_status = shown_q ? shown_status_q : status_i;
  assign core_status = refuses_q ? StatusInvalid : show_status == 2'd0 ? StatusOk : {14'd0, show_status};
  always_comb begin
    core_response = '0;
    core_response.from_registers = show_side ? side_from_q : from_q[answered_q[1:0]];
    core_response.tag = show_side ? side_core_tag_q : core_tag_q;
    core_response.status = show_side ? StatusOk : core_status;
    core_response.done = show_side ? 64'd77 : 64'(core_done);
  end
  // Of an error: all of its blocks, or none.
  assign core_done = core_status == StatusOk || (core_status[0] && !refuses_q) ? blocks_q[answered_q[1:0]] : '0;

  (* anyconst *) logic refuses;
  assign refuses_q = refuses;
  always_comb if (!Lost) assume (!refuses);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {moving_q, next_q, side_open_q, shown_q} <= '0;
      {taken_q, ended_q, answered_q, wanted_q} <= '0;
    end else begin
      shown_q <= core_response_valid && !core_response_ready;
      if (core_taken) begin
        taken_q <= taken_q + 1'b1;
        blocks_q[taken_q[1:0]] <= core_command.blocks[3:0];
        from_q[taken_q[1:0]] <= core_command.from_registers;
        next_left_q <= is_stream && !refuses_q ? beats_of(core_command.blocks[3:0]) : '0;
        if (is_stream && !refuses_q) wanted_q <= wanted_q + count_t'(beats_of(core_command.blocks[3:0]));
      end
      next_q <= core_taken || (next_q && moving_q);
      if (next_q && !moving_q) begin
        moving_q <= 1'b1;
        moving_left_q <= next_left_q;
      end else if (moved) begin
        moving_left_q <= moving_left_q - 1'b1;
      end else if (moving_q && moving_left_q == '0) begin
        moving_q <= 1'b0;
        ended_q <= ended_q + 1'b1;
      end
      if (answered && !show_side) answered_q <= answered_q + 1'b1;
      side_open_q <= (core_side_valid && core_side_ready) || (side_open_q && !(answered && show_side));
    end
    shown_side_q <= show_side;
    shown_status_q <= show_status;
    if (core_taken) core_tag_q <= core_command.tag;
    if (core_side_valid && core_side_ready) begin
      side_core_tag_q <= core_side.tag;
      side_from_q <= core_side.from_registers;
    end
  end

  // ---- the reference: which frame is being taken from the stream ----

  logic open_q, doomed_q, beat_in, ends_here, nothing;
  logic first_q;  // no beat of the frame has come
  logic passes;  // the user's command passes in this cycle
  logic [4:0] next_lba_q;  // of the next piece to be given
  logic [3:0] left_q;  // blocks of the frame that have no piece yet, as far as the commands tell
  at_t at_in_q;  // of the next beat
  logic [3:0] most_q;  // beats that the frame may still have
  count_t in_q, out_q;  // beats of the core's stream: taken or filled in; given
  logic [3:0] filled;  // zeros up to the end of the piece

  assign accepted = command_valid_i && command_ready;
  assign is_frame = !read_i && source_i == 2'd3 && blocks_i != '0;
  assign beat_in = data_valid_i && data_ready;
  // A beat that ends the frame where a piece would begin is no beat of the core's.
  assign nothing = open_q && last_i && null_i && (at_in_q[3:0] == '0 || first_q);
  assign ends_here = open_q && beat_in && (last_i || most_q == 4'd1);
  always_comb begin
    filled = '0;
    if (ends_here && !nothing) begin
      filled = 4'd15 - at_in_q[3:0];
      if (filled > most_q - 4'd1) filled = most_q - 4'd1;
    end
  end

  // The frame is open for the commands until the module lets the next command pass: not before its last piece is given.
  logic closing_q;  // it has ended in the stream
  at_t end_q;  // where its pieces end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {open_q, closing_q, first_q} <= '0;
      {in_q, out_q} <= '0;
    end else begin
      if (accepted && is_frame) begin
        open_q <= 1'b1;
        first_q <= 1'b1;
        closing_q <= 1'b0;
        doomed_q <= gone_i;
        next_lba_q <= {1'b0, lba_i};
        at_in_q <= at_t'(lba_i * BlockBeats);
        most_q <= beats_of(blocks_i);
        left_q <= blocks_i;
      end else begin
        if (gone_i || lost_i) doomed_q <= 1'b1;
        if (open_q && beat_in) begin
          first_q <= 1'b0;
          if (!nothing) begin
            at_in_q <= at_in_q + 1'b1 + at_t'(filled);
            most_q <= most_q - 1'b1;
          end
          if (ends_here) begin
            open_q <= 1'b0;
            closing_q <= 1'b1;
            end_q <= nothing ? at_in_q : at_in_q + 1'b1 + at_t'(filled);
          end
        end
        if (core_taken && (open_q || closing_q) && core_command.source == SourceStream && !passes) begin
          next_lba_q <= next_lba_q + 5'(core_command.blocks);
          left_q <= left_q - core_command.blocks[3:0];
        end
      end
      if (accepted && !is_frame) closing_q <= 1'b0;
      in_q <= in_q + count_t'(beat_in && !nothing) + count_t'(filled);
      out_q <= out_q + count_t'(moved);
    end
  end

  assign passes = accepted && !is_frame;

  // Plain writes from the stream that have no response: a frame begins when there are none.
  logic plain_q[4];  // of the commands that were taken, by their number
  logic [2:0] plain_count_q;
  always_ff @(posedge clk_i) begin
    if (core_taken) plain_q[taken_q[1:0]] <= passes && is_stream;
    if (!rst_ni) plain_count_q <= '0;
    else
      plain_count_q <= plain_count_q + 3'(core_taken && passes && is_stream) -
        3'(answered && !show_side && plain_q[answered_q[1:0]]);
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // A format waits for the pieces that may still reach the drive, and for nothing else.
      if ((open_q && !doomed_q) || (core_taken && !passes)) assert (!idle);
      if (closing_q && !doomed_q && moving_q && moving_left_q != '0) assert (!idle);
      if (!open_q && !closing_q && in_q == out_q) assert (idle);
      // Nothing comes between the pieces of a frame, and its last piece is given before any other command.
      if (open_q) assert (!accepted);
      if (accepted && is_frame) assert (plain_count_q == '0);
      if (accepted && closing_q && !doomed_q) assert (at_t'(next_lba_q * BlockBeats) == end_q);
      assert (!passes || core_taken);
      if (core_taken && passes) begin
        assert (core_command.op == command.op && core_command.source == command.source);
        assert (core_command.lba == command.lba && core_command.blocks == command.blocks);
      end
      if (core_taken && !passes) begin
        assert (open_q || closing_q);
        assert (core_command.op == OpWrite && core_command.source == SourceStream);
        assert (core_command.lba == 64'(next_lba_q));
        assert (core_command.blocks != '0 && core_command.blocks <= 32'(left_q));
        assert (core_command.blocks == 32'(left_q) || 3'(next_lba_q + 5'(core_command.blocks)) == '0);
        assert (4'(next_lba_q[2:0]) + 4'(core_command.blocks) <= 4'd8);
        // its first beat is there, and it reaches a drive that was not lost since the frame began
        assert (at_in_q != at_t'(next_lba_q * BlockBeats) && !doomed_q && !gone_i && !lost_i && ready_i);
      end
    end
  end

  // ---- one arbitrary beat of the core's stream ----

  logic known_q;
  logic [3:0] data_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (beat_in && !nothing && in_q == place) {known_q, data_q} <= {1'b1, data_i};
    else if (filled != '0 && place > in_q && place <= in_q + count_t'(filled)) {known_q, data_q} <= {1'b1, 4'd0};
  end
  if (Beats) begin : gen_beats
    always_comb begin
      if (past_reset_q && rst_ni) begin
        if (moved && out_q == place) begin
          if (known_q)
            assert (core_data == DataWidth'(data_q));
            else assert (beat_in && !nothing && in_q == place && !open_q && core_data == DataWidth'(data_i));
        end
        // When a frame has ended and its pieces are given, the core has as many beats to take as came.
        if (accepted && closing_q) assert (in_q == wanted_q);
        if (!open_q && !closing_q) assert (beat_in == moved || in_q != out_q);
      end
    end
  end

  // ---- one arbitrary command of the data lane, and its response ----

  count_t given_back_q, from_taken_q, to_taken_q;
  logic is_chosen_q, over_q, chosen_frame_q;
  logic [15:0] chosen_tag_q, sum_status_q;
  logic [6:0] sum_q;
  logic chosen_from_q, ok_q, mine, response_out, response_data;
  logic in_range;
  // Tags of side commands and of others differ here, so that responses are recognised.
  always_comb begin
    assume (!side_valid_i || side_tag_i[3:2] == 2'd3);
    assume (!command_valid_i || tag_i[3:2] != 2'd3);
  end
  assign response_out = response_valid && response_ready_i;
  assign response_data = response_out && response.tag[3:2] != 2'd3;
  assign mine = is_chosen_q && answered && !show_side && answered_q >= from_taken_q && !(over_q && answered_q >= to_taken_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {accepted_q, given_back_q} <= '0;
      {is_chosen_q, over_q} <= '0;
      {sum_q, sum_status_q} <= '0;
    end else begin
      if (accepted) accepted_q <= accepted_q + 1'b1;
      if (response_data) given_back_q <= given_back_q + 1'b1;
      if (accepted && accepted_q == chosen) begin
        is_chosen_q <= 1'b1;
        chosen_frame_q <= is_frame;
        chosen_tag_q <= command.tag;
        chosen_from_q <= command.from_registers;
        from_taken_q <= taken_q;
        over_q <= !is_frame;
        to_taken_q <= taken_q + 1'b1;
      end else if (is_chosen_q && !over_q && accepted) begin
        over_q <= 1'b1;
        to_taken_q <= taken_q;
      end
      if (mine && sum_status_q == StatusOk) begin
        sum_q <= sum_q + 7'(core_response.done);
        sum_status_q <= core_response.status;
      end
    end
  end
  if (!Beats) begin : gen_responses
    always_comb begin
      if (past_reset_q && rst_ni) begin
        if (response_data) assert (given_back_q < accepted_q);
        if (response_data && given_back_q == chosen) begin
          assert (is_chosen_q && response.tag == chosen_tag_q && response.from_registers == chosen_from_q);
          assert (response.done == 64'(sum_q));
          if (Lost && sum_status_q == StatusOk)
            assert (response.status == StatusOk || (response.status == StatusGone && chosen_frame_q));
            else assert (response.status == sum_status_q);
          // Each of its commands was answered.
          assert (!over_q || answered_q >= to_taken_q);
          if (chosen_frame_q && !over_q) assert (!open_q && answered_q == taken_q);
        end
        if (response_out && !response_data) assert (response.status == StatusOk && response.done == 64'd77);
      end
    end
  end

  // ---- what is reached: each promise, at its end ----

  logic [1:0] pieces_q;  // of the chosen frame that the core took, or of the first one
  logic zero_q;  // the beat that is followed was filled in
  logic refused_before_q, lost_before_q, plain_before_q, second_error, of_chosen;
  assign of_chosen = response_data && given_back_q == chosen;
  assign second_error = mine && answered_q == from_taken_q + 1'b1 && core_response.status != StatusOk;
  logic second_error_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {pieces_q, zero_q, lost_before_q, refused_before_q, plain_before_q, second_error_q} <= '0;
    end else begin
      if (core_taken && !passes && (Beats ? accepted_q == 6'd1 : is_chosen_q && !over_q)) pieces_q <= pieces_q + 1'b1;
      if (filled != '0 && place > in_q && place <= in_q + count_t'(filled)) zero_q <= 1'b1;
      if (gone_i || lost_i) lost_before_q <= 1'b1;
      if (answered && core_status == StatusInvalid) refused_before_q <= 1'b1;
      if (core_taken && passes && is_stream) plain_before_q <= 1'b1;
      if (second_error) second_error_q <= 1'b1;
    end
  end
  always_comb begin
    if (past_reset_q && rst_ni) begin
      if (Beats) begin
        // Of a frame of two pieces: its zeros, the next command when all of its beats are there, and that command's beat.
        cover (moved && out_q == place && zero_q && place == 6'd3 && pieces_q == 2'd2);
        cover (accepted && closing_q && pieces_q == 2'd2);
        cover (moved && out_q == place && beat_in && !open_q && accepted_q == 6'd2 && pieces_q == 2'd2);
        cover (open_q && nothing && pieces_q == 2'd1);
      end else if (!Lost && Deep) begin
        // Of a frame of two pieces: the sum, the first error, in the first piece and in the second, and the next response.
        cover (of_chosen && pieces_q == 2'd2 && response.status == StatusOk && response.done == 64'd2);
        cover (of_chosen && pieces_q == 2'd2 && response.status != StatusOk && response.done == 64'd1 && !second_error_q);
        cover (of_chosen && pieces_q == 2'd2 && response.status != StatusOk && response.done == 64'd2 && second_error_q);
        cover (response_data && chosen == '0 && pieces_q == 2'd2 && given_back_q == 6'd1);
      end else if (!Lost) begin
        // A frame that writes nothing; the next frame's piece before a frame's response; a frame after a plain write.
        cover (of_chosen && response.done == '0 && response.status == StatusOk && chosen_frame_q && taken_q == '0);
        cover (core_taken && !passes && chosen == '0 && over_q && chosen_frame_q && given_back_q == '0);
        cover (accepted && is_frame && plain_before_q);
      end else begin
        // A second piece that was not given; a frame that was refused, and the next one; a frame after a loss.
        cover (of_chosen && pieces_q == 2'd1 && response.status == StatusGone && response.done != '0);
        cover (of_chosen && chosen == 6'd1 && response.status == StatusInvalid && chosen_frame_q && refused_before_q);
        cover (of_chosen && chosen == 6'd1 && response.status == StatusOk && pieces_q == 2'd1 && lost_before_q &&
               !doomed_q && sum_q == 7'd2);
        // What a stripe shows: ready with gone; gone after the pulse of lost.
        cover (of_chosen && response.status == StatusGone && ready_i && gone_i && !lost_i);
      end
    end
  end

endmodule
