// SPDX-License-Identifier: Apache-2.0
//
// Retires commands in the order in which they were issued: passes a read's data to the stream, frees the ring's space,
// and responds to a request when its last command is retired.
//
// Guarantee: one response for each request, with the first error of its commands and the number of blocks before it;
// exactly the beats of each stream read, the last one marked, those of a failed command flagged. Space is freed after
// its last beat was read. At most two cycles pass between the beats of two commands.
module spate_retire
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512
) (
    input logic clk_i,
    input logic rst_ni,

    // The oldest command, when it is done. `pop` takes it.
    input  logic         head_valid_i,
    input  slot_retire_t head_i,
    output logic         head_pop_o,

    output logic                    free_valid_o,
    output logic [SectorsWidth-1:0] free_sectors_o,

    output logic                 drain_valid_o,
    input  logic                 drain_ready_i,
    output logic [ BeatBits-1:0] drain_beat_o,
    input  logic                 drained_valid_i,
    output logic                 drained_ready_o,
    input  logic [DataWidth-1:0] drained_data_i,

    output logic                 data_valid_o,
    input  logic                 data_ready_i,
    output logic [DataWidth-1:0] data_o,
    output logic                 data_last_o,   // the last beat of a request
    output logic                 data_error_o,  // the beat's command failed

    output logic      response_valid_o,
    input  logic      response_ready_i,
    output response_t response_o,

    // The number of blocks of stream and address writes retired since reset, in order. A failed request counts with the
    // blocks before its first error, which its response reports. A flush that is submitted now makes these blocks
    // durable.
    output logic [LbaWidth-1:0] written_blocks_o,

    output logic command_error_o
);

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_data_width
    $error("spate_retire: DataWidth must be 128, 256 or 512");
  end
  if (RamBytes < 8192 || RamBytes % 4096 != 0) begin : gen_ram_bytes
    $error("spate_retire: RamBytes must be a multiple of 4096, at least 8192");
  end

  localparam bit HasRing = RingSectors > 0;
  localparam int unsigned SectorBeats = 512 / (DataWidth / 8);
  localparam int unsigned SectorBeatBits = $clog2(SectorBeats);

  // What remains to be done for a command after its beats were requested.
  typedef struct packed {
    logic                    write;
    logic                    stream;
    logic                    block_4096;
    logic                    beats;           // a stream read: its beats follow, in order
    logic                    last;
    logic                    from_registers;
    logic [15:0]             tag;
    logic [SectorsWidth-1:0] sectors;
    logic [15:0]             status;
  } retired_t;

  // ---- request the beats ----
  //
  // A command is passed on when its first beat is requested, and popped when its last one is. The next command's beats
  // are requested while this one's are still on their way.

  retired_t asked, current;
  logic asked_ready, current_valid, current_done;
  logic handed_q, hand, asks, ask_last;

  assign asks = HasRing && head_i.stream && !head_i.write;
  assign hand = head_valid_i && !handed_q && asked_ready;
  assign head_pop_o = asks ? ask_last : hand;

  assign asked = '{
          write: head_i.write,
          stream: HasRing && head_i.stream,
          block_4096: head_i.block_4096,
          beats: asks,
          last: head_i.last,
          from_registers: head_i.from_registers,
          tag: head_i.tag,
          sectors: head_i.sectors,
          status: head_i.status
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) handed_q <= 1'b0;
    else if (head_pop_o) handed_q <= 1'b0;
    else if (hand) handed_q <= 1'b1;
  end

  if (HasRing) begin : gen_drain
    localparam int unsigned RingBits = $clog2(RingSectors);
    localparam int unsigned SumBits = (RingBits > SectorsWidth ? RingBits : SectorsWidth) + 1;

    logic [RingBits-1:0] sector_q;  // follows the allocations of all stream commands, reads and writes
    logic [SectorBeatBits-1:0] beat_q;
    logic [SectorsWidth-1:0] asked_sectors_q;  // of the command at the head
    logic [SumBits-1:0] sector_sum;
    logic ask, ask_sector;

    assign drain_valid_o = head_valid_i && asks && (handed_q || asked_ready);
    assign drain_beat_o = BeatBits'({sector_q, beat_q});
    assign ask = drain_valid_o && drain_ready_i;
    assign ask_sector = ask && beat_q == '1;
    assign ask_last = ask_sector && asked_sectors_q + 1'b1 == head_i.sectors;
    assign sector_sum = SumBits'(sector_q) + (asks ? SumBits'(1) : SumBits'(head_i.sectors));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        sector_q <= '0;
        beat_q <= '0;
        asked_sectors_q <= '0;
      end else begin
        if (ask) beat_q <= beat_q + 1'b1;
        if (ask_last) asked_sectors_q <= '0;
        else if (ask_sector) asked_sectors_q <= asked_sectors_q + 1'b1;
        if (ask_sector || (hand && head_i.stream && head_i.write)) begin
          sector_q <= RingBits'(sector_sum >= SumBits'(RingSectors) ? sector_sum - SumBits'(RingSectors) : sector_sum);
        end
      end
    end
  end else begin : gen_no_drain
    assign drain_valid_o = 1'b0;
    assign drain_beat_o = '0;
    assign ask_last = 1'b0;
  end

  spate_fifo #(
      .Width($bits(retired_t)),
      .Depth(4)
  ) u_asked (
      .clk_i,
      .rst_ni,
      .in_valid_i(hand),
      .in_ready_o(asked_ready),
      .in_data_i(asked),
      .out_valid_o(current_valid),
      .out_ready_i(current_done),
      .out_data_o(current),
      .count_o()
  );

  // ---- pass the beats to the stream ----

  logic beats_end, response_room, good;

  // The last beat of a request waits for room for its response, so that `current` ends with its last beat.
  assign response_room = !(current.last && response_valid_o);
  assign good = current.status == '0;
  assign data_o = drained_data_i;
  assign data_valid_o = current_valid && current.beats && drained_valid_i && (response_room || !beats_end);
  assign data_last_o = current.last && beats_end;
  assign data_error_o = !good;
  assign drained_ready_o = data_valid_o && data_ready_i;
  assign current_done = current_valid && (current.beats ? drained_ready_o && beats_end : response_room);

  if (HasRing) begin : gen_beats
    logic [SectorsWidth+SectorBeatBits-1:0] beat_q;  // of the command
    logic end_q;  // this beat is the last: known a beat before, which shortens the path to what depends on it

    assign beats_end = end_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        beat_q <= '0;
        end_q <= 1'b0;
      end else if (drained_ready_o) begin
        beat_q <= end_q ? '0 : beat_q + 1'b1;
        end_q <= beat_q == {current.sectors - 1'b1, {(SectorBeatBits - 1) {1'b1}}, 1'b0};
      end
    end
  end else begin : gen_no_beats
    assign beats_end = 1'b0;
  end

  // ---- free the space, count, respond ----

  logic [SectorsWidth-1:0] blocks;
  logic [15:0] status_q;  // of the request: its first error
  logic [31:0] done_q;  // blocks before that error

  assign free_valid_o = current_done && current.stream;
  assign free_sectors_o = current.sectors;
  assign command_error_o = current_done && !good;
  assign blocks = current.block_4096 ? SectorsWidth'(current.sectors[SectorsWidth-1:3]) : current.sectors;

  logic [31:0] done;
  logic [15:0] status;
  assign done = good && status_q == '0 ? done_q + 32'(blocks) : done_q;
  assign status = status_q == '0 ? current.status : status_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      status_q <= '0;
      done_q <= '0;
      written_blocks_o <= '0;
      response_valid_o <= 1'b0;
    end else begin
      if (current_done) begin
        status_q <= current.last ? '0 : status;
        done_q <= current.last ? '0 : done;
      end
      if (current_done && current.write && status == '0) written_blocks_o <= written_blocks_o + LbaWidth'(blocks);
      if (current_done && current.last) response_valid_o <= 1'b1;
      else if (response_ready_i) response_valid_o <= 1'b0;
    end
    if (current_done && current.last) begin
      response_o <= '{from_registers: current.from_registers, tag: current.tag, status: status, done: 64'(done)};
    end
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
  end

  // The head does not change until it is popped. A command with beats has at least one.
  logic head_held_q;
  slot_retire_t head_word_q;
  always_ff @(posedge clk_i) begin
    head_held_q <= rst_ni && head_valid_i && !head_pop_o;
    head_word_q <= head_i;
  end
  always_comb begin
    if (head_held_q) assume (head_valid_i && head_i == head_word_q);
    if (head_i.stream) assume (head_i.sectors != '0 && head_i.sectors <= SectorsWidth'(RingSectors));
    if (!HasRing) assume (!head_i.stream);
    assume (head_i.sectors <= SectorsWidth'(2));  // so that a proof sees several commands
  end

  // Commands and beats that were passed on, requested and output, counted at the ports.
  logic [7:0] handed_beats_q, handed_requests_q, handed_reads_q, handed_sectors_q;
  logic [7:0] asked_beats_q, given_beats_q, lasts_q, responses_q, freed_q;
  logic drained_held_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      handed_beats_q <= '0;
      handed_requests_q <= '0;
      handed_reads_q <= '0;
      handed_sectors_q <= '0;
      asked_beats_q <= '0;
      given_beats_q <= '0;
      lasts_q <= '0;
      responses_q <= '0;
      freed_q <= '0;
    end else begin
      if (hand) begin
        handed_beats_q <= handed_beats_q + (asks ? 8'(32'(head_i.sectors) * SectorBeats) : 8'd0);
        handed_requests_q <= handed_requests_q + 8'(head_i.last);
        handed_reads_q <= handed_reads_q + 8'(head_i.last && asks);
        handed_sectors_q <= handed_sectors_q + (head_i.stream ? 8'(head_i.sectors) : 8'd0);
      end
      asked_beats_q <= asked_beats_q + 8'(drain_valid_o && drain_ready_i);
      given_beats_q <= given_beats_q + 8'(data_valid_o && data_ready_i);
      lasts_q <= lasts_q + 8'(data_valid_o && data_ready_i && data_last_o);
      responses_q <= responses_q + 8'(response_valid_o && response_ready_i);
      freed_q <= freed_q + (free_valid_o ? 8'(free_sectors_o) : 8'd0);
    end
    drained_held_q <= rst_ni && drained_valid_i && !drained_ready_o;
  end

  // A request's result, accumulated command by command: {status of the first one that failed, blocks before it}.
  typedef logic [47:0] account_t;
  function automatic account_t account(account_t so_far, logic [15:0] command_status, logic blocks_of_4096,
                                       logic [SectorsWidth-1:0] sectors);
    if (so_far[47:32] != '0) return so_far;
    if (command_status != '0) return {command_status, so_far[31:0]};
    return {16'd0, so_far[31:0] + (blocks_of_4096 ? 32'(sectors) / 32'd8 : 32'(sectors))};
  endfunction

  // Computed as commands are passed on. One arbitrary request is followed: its result, its tag and its source are kept.
  (* anyconst *) logic [7:0] any_request;
  account_t handed_account, handed_account_q, any_account_q;
  logic [16:0] any_tag_q;  // {from_registers, tag}
  assign handed_account = account(handed_account_q, head_i.status, head_i.block_4096, head_i.sectors);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) handed_account_q <= '0;
    else if (hand) handed_account_q <= head_i.last ? '0 : handed_account;
    if (hand && head_i.last && handed_requests_q == any_request) begin
      any_account_q <= handed_account;
      any_tag_q <= {head_i.from_registers, head_i.tag};
    end
  end

  // The result so far, continued with the commands in the queue, equals the result of all commands passed on.
  account_t inside_account;
  logic [7:0] inside_request;
  always_comb begin
    inside_account = {status_q, done_q};
    inside_request = responses_q + 8'(response_valid_o);
    for (int unsigned i = 0; i < 4; i++) begin
      automatic retired_t command = retired_t'(u_asked.words[2'(u_asked.head_q+3'(i))]);
      if (3'(i) < u_asked.count_o) begin
        inside_account = account(inside_account, command.status, command.block_4096, command.sectors);
        if (command.last) begin
          if (past_reset_q && rst_ni && inside_request == any_request) begin
            assert (inside_account == any_account_q);
            assert ({command.from_registers, command.tag} == any_tag_q);
          end
          inside_account = '0;
          inside_request = inside_request + 8'd1;
        end
      end
    end
    if (past_reset_q && rst_ni) begin
      assert (inside_account == handed_account_q);
      if (response_valid_o && responses_q == any_request) begin
        assert ({response_o.status, response_o.done} == {any_account_q[47:32], 64'(any_account_q[31:0])});
        assert ({response_o.from_registers, response_o.tag} == any_tag_q);
      end
    end
  end

  // What is in between: the commands in the queue, and the beats of the first one and of the head that are done.
  logic [7:0] inside_beats, inside_requests, inside_reads, inside_sectors, given_of_first, asked_of_head;
  always_comb begin
    inside_beats = '0;
    inside_requests = '0;
    inside_reads = '0;
    inside_sectors = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      automatic retired_t command = retired_t'(u_asked.words[2'(u_asked.head_q+3'(i))]);
      if (3'(i) < u_asked.count_o) begin
        inside_beats += command.beats ? 8'(32'(command.sectors) * SectorBeats) : 8'd0;
        inside_requests += 8'(command.last);
        inside_reads += 8'(command.last && command.beats);
        inside_sectors += command.stream ? 8'(command.sectors) : 8'd0;
        if (past_reset_q && rst_ni) begin
          assert (command.beats == (command.stream && !command.write));
          assert (!command.stream || (HasRing && command.sectors != '0));
          assert (command.sectors <= SectorsWidth'(2));
        end
      end
    end
  end
  if (HasRing) begin : gen_formal_ring
    assign given_of_first = 8'(gen_beats.beat_q);
    assign asked_of_head = 8'({gen_drain.asked_sectors_q, gen_drain.beat_q});
    always_comb begin
      if (past_reset_q && rst_ni) begin
        if (current_valid && current.beats) begin
          assert (gen_beats.beat_q <= {current.sectors - 1'b1, {SectorBeatBits{1'b1}}});
          assert (beats_end == (gen_beats.beat_q == {current.sectors - 1'b1, {SectorBeatBits{1'b1}}}));
        end else begin
          assert (gen_beats.beat_q == '0 && !beats_end);
        end
        if (handed_q)
          assert (asks && gen_drain.asked_sectors_q < head_i.sectors);
          else assert (gen_drain.asked_sectors_q == '0 && gen_drain.beat_q == '0);
        assert (gen_drain.asked_sectors_q < SectorsWidth'(2));
      end
    end
  end else begin : gen_formal_no_ring
    assign given_of_first = '0;
    assign asked_of_head = '0;
    always_comb if (past_reset_q && rst_ni) assert (!handed_q);
  end

  always_comb begin
    // The buffer: beats come only after they were requested.
    if (asked_beats_q == given_beats_q) assume (!drained_valid_i);
    if (drained_held_q) assume (drained_valid_i);
    if (past_reset_q && rst_ni) begin
      assert (!handed_q || head_held_q);
      // Nothing is lost or duplicated: each request ends with one response, each read with one last beat.
      assert (handed_requests_q == responses_q + 8'(response_valid_o) + inside_requests);
      assert (handed_reads_q == lasts_q + inside_reads);
      assert (handed_beats_q == given_beats_q + inside_beats - given_of_first);
      if (!handed_q)
        assert (handed_beats_q == asked_beats_q);
        else assert (handed_beats_q == asked_beats_q + 8'(32'(head_i.sectors) * SectorBeats) - asked_of_head);
      assert (handed_sectors_q == freed_q + inside_sectors);
      assert ((drained_valid_i && drained_ready_o) == (data_valid_o && data_ready_i));
      // Space is freed when its command's beats have left the buffer.
      if (free_valid_o && current.beats) assert (data_valid_o && data_ready_i && beats_end);
      cover (responses_q == 8'd2 && handed_requests_q == 8'd2 && (!HasRing || given_beats_q == 8'(2 * SectorBeats)));
    end
  end

  // A beat of the stream and a response stay until they are taken.
  logic data_held_q, response_held_q;
  logic [2*DataWidth+1:0] data_word_q;
  response_t response_word_q;
  always_ff @(posedge clk_i) begin
    data_held_q <= rst_ni && data_valid_o && !data_ready_i;
    response_held_q <= rst_ni && response_valid_o && !response_ready_i;
    data_word_q <= {drained_data_i, data_o, data_last_o, data_error_o};
    response_word_q <= response_o;
  end
  always_comb begin
    if (drained_held_q && data_held_q) assume (drained_data_i == data_word_q[2*DataWidth+1-:DataWidth]);
    if (past_reset_q && rst_ni && data_held_q) begin
      assert (data_valid_o && {data_o, data_last_o, data_error_o} == data_word_q[DataWidth+1:0]);
    end
    if (past_reset_q && rst_ni && response_held_q) assert (response_valid_o && response_o == response_word_q);
  end
`endif

endmodule
