// SPDX-License-Identifier: Apache-2.0
//
// spate_retire, watched from outside: what it must request, output, free and answer follows from its ports alone, so no
// mistake in it can make the reference agree. Commands are accounted for as they are popped. One arbitrary request, one
// arbitrary stream command and one arbitrary beat are followed. Only what the induction needs to know of the module, at
// the end, looks inside.
module retire_proof
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned RamBytes = 12288,
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512
) (
    input logic                         clk_i,
    input logic                         rst_ni,
    input logic                         head_valid_i,
    input slot_retire_t                 head_i,
    input logic                         drain_ready_i,
    input logic                         drained_valid_i,
    input logic         [DataWidth-1:0] drained_data_i,
    input logic                         data_ready_i,
    input logic                         response_ready_i
);

  localparam bit HasRing = RingSectors > 0;
  localparam int unsigned AskedDepth = 2;
  localparam int unsigned SectorBeats = 512 / (DataWidth / 8);
  typedef logic [7:0] count_t;  // counts modulo 256: far fewer of anything are under way

  logic head_pop, free_valid, drain_valid, drained_ready, data_valid, data_last, data_error, response_valid;
  logic [SectorsWidth-1:0] free_sectors;
  logic [BeatBits-1:0] drain_beat;
  logic [DataWidth-1:0] data;
  logic [LbaWidth-1:0] written_blocks;
  response_t response;

  spate_retire #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .AskedDepth(AskedDepth)
  ) u_retire (
      .clk_i,
      .rst_ni,
      .head_valid_i,
      .head_i,
      .head_pop_o(head_pop),
      .free_valid_o(free_valid),
      .free_sectors_o(free_sectors),
      .drain_valid_o(drain_valid),
      .drain_ready_i,
      .drain_beat_o(drain_beat),
      .drained_valid_i,
      .drained_ready_o(drained_ready),
      .drained_data_i,
      .data_valid_o(data_valid),
      .data_ready_i,
      .data_o(data),
      .data_last_o(data_last),
      .data_error_o(data_error),
      .response_valid_o(response_valid),
      .response_ready_i,
      .response_o(response),
      .written_blocks_o(written_blocks),
      .command_error_o()
  );

  // ---- the environment: the head does not change until it is popped, beats come only after they were requested ----

  logic past_reset_q = 1'b0;
  logic checked, head_held_q, drained_held_q, data_held_q, response_held_q;
  slot_retire_t head_word_q;
  logic [DataWidth-1:0] drained_word_q;
  logic [DataWidth+1:0] data_word_q;
  response_t response_word_q;
  assign checked = past_reset_q && rst_ni;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    head_held_q <= rst_ni && head_valid_i && !head_pop;
    drained_held_q <= rst_ni && drained_valid_i && !drained_ready;
    data_held_q <= rst_ni && data_valid && !data_ready_i;
    response_held_q <= rst_ni && response_valid && !response_ready_i;
    head_word_q <= head_i;
    drained_word_q <= drained_data_i;
    data_word_q <= {data, data_last, data_error};
    response_word_q <= response;
  end

  count_t asked_beats_q, given_beats_q;
  always_comb begin
    assume (rst_ni == past_reset_q);
    if (head_held_q) assume (head_valid_i && head_i == head_word_q);
    if (head_i.stream) assume (head_i.sectors != '0 && head_i.sectors <= SectorsWidth'(RingSectors));
    if (!HasRing) assume (!head_i.stream);
    assume (head_i.sectors <= SectorsWidth'(2));  // so that a proof sees several commands
    if (asked_beats_q == given_beats_q) assume (!drained_valid_i);
    if (drained_held_q) assume (drained_valid_i && drained_data_i == drained_word_q);
  end

  // ---- the reference, from the ports ----

  function automatic logic [31:0] blocks_of(logic block_4096, logic [SectorsWidth-1:0] sectors);
    return block_4096 ? 32'(sectors) / 32'd8 : 32'(sectors);
  endfunction

  // A request's result, accumulated command by command: {status of the first one that failed, blocks before it}.
  typedef logic [47:0] account_t;
  function automatic account_t account(account_t so_far, logic [15:0] status, logic [31:0] blocks);
    if (so_far[47:32] != '0) return so_far;
    if (status != '0) return {status, so_far[31:0]};
    return {16'd0, so_far[31:0] + blocks};
  endfunction

  (* anyconst *) count_t any_request, any_stream, any_beat;
  slot_retire_t now_q;  // the last command that was popped
  logic asks, gives;  // a beat is requested; one is output
  count_t head_beats, now_beats, asks_q;  // beats of the head, of the last one popped; how many of these were requested
  count_t requests_q, streams_q, beats_q;  // of the commands that were popped
  count_t responses_q, freed_q;
  account_t account_q, account_now;
  logic [31:0] head_blocks;
  logic [LbaWidth-1:0] written_q, written_now;
  logic [$clog2(RingSectors+1):0]
      place_q, now_place_q;  // in the ring, in sectors: the next one's, the last popped one's

  function automatic count_t beats_of(slot_retire_t command);
    return HasRing && command.stream && !command.write ? count_t'(32'(command.sectors) * SectorBeats) : '0;
  endfunction
  assign head_beats = beats_of(head_i);
  assign asks = drain_valid && drain_ready_i;
  assign gives = data_valid && data_ready_i;
  assign head_blocks = blocks_of(head_i.block_4096, head_i.sectors);
  assign account_now = account(account_q, head_i.status, head_blocks);
  // A write's blocks count if it and the commands of its request before it are good.
  assign written_now = written_q + (head_i.write && account_now[47:32] == '0 ? LbaWidth'(head_blocks) : '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {asks_q, requests_q, streams_q, beats_q, asked_beats_q, given_beats_q, responses_q, freed_q} <= '0;
      account_q <= '0;
      written_q <= '0;
      place_q <= '0;
      now_beats <= '0;
    end else begin
      asks_q <= head_pop ? '0 : asks_q + count_t'(asks);
      asked_beats_q <= asked_beats_q + count_t'(asks);
      given_beats_q <= given_beats_q + count_t'(gives);
      responses_q <= responses_q + count_t'(response_valid && response_ready_i);
      freed_q <= freed_q + count_t'(free_valid);
      if (head_pop) begin
        requests_q <= requests_q + count_t'(head_i.last);
        streams_q <= streams_q + count_t'(head_i.stream);
        beats_q <= beats_q + head_beats;
        account_q <= head_i.last ? '0 : account_now;
        written_q <= written_now;
        now_q <= head_i;
        now_beats <= head_beats;
        now_place_q <= place_q;
        if (head_i.stream) begin
          if (32'(place_q) + 32'(head_i.sectors) >= RingSectors)
            place_q <= $bits(place_q)'(32'(place_q) + 32'(head_i.sectors) - RingSectors);
          else place_q <= $bits(place_q)'(32'(place_q) + 32'(head_i.sectors));
        end
      end
    end
  end

  // What is kept of the request, the stream command and the beat that are followed.
  account_t any_account_q;
  logic [16:0] any_tag_q;  // {from_registers, tag}
  logic [LbaWidth-1:0] any_written_q;
  count_t any_request_beats_q, any_stream_beats_q;  // of all commands up to it
  logic [SectorsWidth-1:0] any_sectors_q;
  logic any_error_q, any_last_q;
  always_ff @(posedge clk_i) begin
    if (head_pop && head_i.last && requests_q == any_request) begin
      any_account_q <= account_now;
      any_tag_q <= {head_i.from_registers, head_i.tag};
      any_written_q <= written_now;
      any_request_beats_q <= beats_q + head_beats;
    end
    if (head_pop && head_i.stream && streams_q == any_stream) begin
      any_sectors_q <= head_i.sectors;
      any_stream_beats_q <= beats_q + head_beats;
    end
    if (asks && asked_beats_q == any_beat) begin
      any_error_q <= now_q.status != '0;
      any_last_q <= now_q.last && asks_q + count_t'(1) == now_beats;
    end
  end

  function automatic logic at_least(count_t count, count_t least);
    return count_t'(count - least) < count_t'(128);
  endfunction

  // Requests of beats: all of a read, in the ring's order, and nothing else.
  always_comb begin
    if (checked) begin
      if (drain_valid) begin
        assert (asks_q < now_beats);
        assert (32'(drain_beat) == (32'(now_place_q) * SectorBeats + 32'(asks_q)) % (HasRing ? RingSectors * SectorBeats : 1));
      end
      if (head_pop) assert (head_valid_i && asks_q == now_beats);
    end
  end

  // Beats: each that was requested once, unchanged, marked as its command says.
  always_comb begin
    if (checked) begin
      assert ((drained_valid_i && drained_ready) == gives);
      if (data_valid) assert (data == drained_data_i && at_least(asked_beats_q, given_beats_q + count_t'(1)));
      if (data_valid && given_beats_q == any_beat) assert (data_error == any_error_q && data_last == any_last_q);
      if (data_held_q) assert (data_valid && {data, data_last, data_error} == data_word_q);
    end
  end

  // Responses: one for each request, with its result and its tag, behind its beats and, in memory mode, its blocks.
  always_comb begin
    if (checked) begin
      assert (at_least(requests_q, responses_q + count_t'(response_valid)));
      if (response_valid && responses_q == any_request) begin
        assert ({response.status, response.done} == {any_account_q[47:32], 64'(any_account_q[31:0])});
        assert ({response.from_registers, response.tag} == any_tag_q);
        if (!response_held_q) assert (at_least(given_beats_q, any_request_beats_q));
        if (!response_held_q && !HasRing) assert (written_blocks == any_written_q);
      end
      if (response_held_q) assert (response_valid && response == response_word_q);
    end
  end

  // Space: that of each stream command, when its beats have left the buffer.
  always_comb begin
    if (checked && free_valid) begin
      assert (at_least(streams_q, freed_q + count_t'(1)));
      if (freed_q == any_stream) begin
        assert (free_sectors == any_sectors_q);
        assert (at_least(given_beats_q + count_t'(gives), any_stream_beats_q));
      end
    end
    cover (checked && responses_q == count_t'(2) && requests_q == count_t'(2) &&
           (!HasRing || given_beats_q == count_t'(2 * SectorBeats)));
  end

  // ---- inside, for the induction: the commands that were popped and have not taken effect ----
  //
  // From the oldest: one that has ended, those in the queue whose beats were requested, one that is not in it yet.

  typedef struct packed {
    logic                    beats;
    logic                    write;
    logic                    stream;
    logic                    block_4096;
    logic                    last;
    logic                    good;
    logic                    from_registers;
    logic [15:0]             tag;
    logic [SectorsWidth-1:0] sectors;
    logic [15:0]             status;
  } command_t;
  localparam int unsigned Ended = 0;
  localparam int unsigned Taken = 1 + AskedDepth;

  // The result of its request and the blocks written up to each command: one addition for each is what a solver can do.
  account_t ended_result_q, now_result_q, results_q[AskedDepth];
  logic [LbaWidth-1:0] ended_written_q, writtens_q[AskedDepth];
  command_t taken;
  logic waits;  // the last one popped is not in the queue
  assign waits = u_retire.head_valid_q && !u_retire.handed_q;
  assign taken = '{
          write: now_q.write,
          stream: HasRing && now_q.stream,
          block_4096: now_q.block_4096,
          beats: HasRing && now_q.stream && !now_q.write,
          last: now_q.last,
          good: now_q.status == '0,
          from_registers: now_q.from_registers,
          tag: now_q.tag,
          sectors: now_q.sectors,
          status: now_q.status
      };
  always_ff @(posedge clk_i) begin
    if (head_pop) now_result_q <= account_now;
    if (u_retire.hand) results_q[1'(u_retire.u_asked.tail_q)] <= now_result_q;
    ended_result_q <= results_q[1'(u_retire.u_asked.head_q)];
    if (u_retire.hand) writtens_q[1'(u_retire.u_asked.tail_q)] <= written_q;
    ended_written_q <= writtens_q[1'(u_retire.u_asked.head_q)];
  end

  account_t inside_account;
  logic [LbaWidth-1:0] inside_written;
  count_t inside_requests, inside_streams, inside_beats, first_beat;
  count_t of_first;  // beats of the first one in the queue that were output
  always_comb begin
    inside_account = {u_retire.status_q, u_retire.done_q};
    inside_written = written_blocks;
    inside_requests = responses_q + count_t'(response_valid);
    inside_streams = freed_q;
    inside_beats = given_beats_q - of_first;
    for (int unsigned i = Ended; i <= Taken; i++) begin
      automatic logic there, in_command;
      automatic command_t command;
      automatic logic [31:0] blocks;
      automatic account_t result;
      automatic logic [LbaWidth-1:0] written;
      automatic logic [0:0] place;
      place = 1'(u_retire.u_asked.head_q + 2'(i - 1));
      there = i == Ended ? u_retire.ended_valid_q : i == Taken ? waits : 2'(i - 1) < u_retire.u_asked.count_o;
      if (i == Ended) command = {u_retire.ended_q.stream && !u_retire.ended_q.write, u_retire.ended_q};
      else command = i == Taken ? taken : u_retire.u_asked.words[place];
      result = i == Ended ? ended_result_q : i == Taken ? now_result_q : results_q[place];
      written = i == Ended ? ended_written_q : i == Taken ? written_q : writtens_q[place];
      if (there) begin
        blocks = blocks_of(command.block_4096, command.sectors);
        first_beat = inside_beats;
        if (i != Ended && command.beats) inside_beats += count_t'(32'(command.sectors) * SectorBeats);
        if (checked) begin
          assert (command.beats == (command.stream && !command.write) && command.sectors <= SectorsWidth'(2));
          if (command.stream) assert (HasRing && command.sectors != '0);
          assert (command.good == (command.status == '0));
          if (i == 1 && u_retire.current_valid) assert (u_retire.current == command);
          if (2'(i) == u_retire.u_asked.count_o && u_retire.handed_q) assert (command == taken);
          assert (result == account(inside_account, command.status, blocks));
          if (!HasRing)
            assert (written == inside_written + (command.write && result[47:32] == '0 ? LbaWidth'(blocks) : '0));
          if (command.last && inside_requests == any_request) begin
            assert (result == any_account_q && {command.from_registers, command.tag} == any_tag_q);
            assert (inside_beats == any_request_beats_q);
            if (!HasRing) assert (written == any_written_q);
          end
          if (command.stream && inside_streams == any_stream)
            assert (command.sectors == any_sectors_q && inside_beats == any_stream_beats_q);
          in_command = at_least(any_beat, first_beat) && !at_least(any_beat, inside_beats);
          if (i != Ended && in_command && !at_least(any_beat, asked_beats_q)) begin
            assert (any_error_q == (command.status != '0));
            assert (any_last_q == (command.last && any_beat + count_t'(1) == inside_beats));
          end
        end
        inside_account = command.last ? '0 : result;
        inside_written = written;
        inside_requests += count_t'(command.last);
        inside_streams += count_t'(command.stream);
      end
    end
    if (checked) begin
      assert (u_retire.failed_q == (u_retire.status_q != '0));
      assert (inside_account == account_q);
      if (!HasRing) assert (inside_written == written_q);
      assert (inside_requests == requests_q && inside_streams == streams_q && inside_beats == beats_q);
      assert (asked_beats_q == beats_q - (now_beats - asks_q) && asks_q <= now_beats);
      if (u_retire.head_valid_q) assert (u_retire.head_q == now_q && now_beats == beats_of(now_q));
      if (waits) assert (asks_q == '0);
      if (u_retire.handed_q)
        assert (u_retire.head_valid_q && u_retire.u_asked.count_o != '0 && taken.beats && asks_q < now_beats);
      if (!u_retire.head_valid_q) assert (asks_q == now_beats);
      if (u_retire.responds_q) assert (!response_valid);
      if (response_valid && responses_q == any_request) assert (!at_least(responses_q, requests_q));
      assert (at_least(asked_beats_q, given_beats_q));
    end
  end

  if (HasRing) begin : gen_ring
    logic [$clog2(2*RingSectors):0] place;
    count_t current_beats;
    assign of_first = count_t'(u_retire.gen_beats.beat_q);
    assign place = $bits(
        place
    )'(u_retire.head_valid_q && now_q.stream ? now_place_q : place_q) + $bits(
        place
    )'(u_retire.gen_drain.asked_sectors_q);
    assign current_beats = count_t'(32'(u_retire.current.command.sectors) * SectorBeats);
    always_comb begin
      if (checked) begin
        assert (count_t'({u_retire.gen_drain.asked_sectors_q, u_retire.gen_drain.beat_q}) ==
                (u_retire.head_valid_q ? asks_q : '0));
        assert (u_retire.gen_drain.asked_sectors_q < SectorsWidth'(2) && 32'(place_q) < RingSectors);
        if (u_retire.head_valid_q && now_q.stream) begin
          assert (32'(now_place_q) < RingSectors);
          assert (32'(place_q) == (32'(now_place_q) + 32'(now_q.sectors)) % RingSectors);
        end
        assert (32'(u_retire.gen_drain.sector_q) == (32'(place) >= RingSectors ? 32'(place) - RingSectors : 32'(place)));
        if (u_retire.handed_q && u_retire.gen_drain.beat_q != '0)
          assert (u_retire.gen_drain.last_sector_q == (u_retire.gen_drain.asked_sectors_q + 1'b1 == now_q.sectors));
        if (u_retire.current_valid && u_retire.current.beats) begin
          assert (32'(u_retire.gen_beats.beat_q) < 32'(current_beats));
          assert (u_retire.beats_end == (of_first + count_t'(1) == current_beats));
        end else begin
          assert (of_first == '0 && u_retire.gen_beats.beat_q == '0 && !u_retire.beats_end);
        end
      end
    end
  end else begin : gen_no_ring
    assign of_first = '0;
    always_comb if (checked) assert (!u_retire.handed_q && place_q == '0);
  end

endmodule
