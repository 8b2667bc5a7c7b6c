// SPDX-License-Identifier: Apache-2.0
//
// Retires commands in the order in which they were issued: passes a read's data to the stream, frees the ring's space,
// and responds to a request when its last command is retired.
//
// Guarantee: one response for each request, with the first error of its commands and the number of blocks before it;
// exactly the beats of each stream read, the last one marked, those of a failed command flagged. Space is freed after
// its last beat was read. At most two cycles pass between the beats of two commands.
`default_nettype none

module spate_retire
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned AskedDepth = 4,  // commands whose beats are in flight; a power of two
    // Derived: no instance sets these.
    parameter int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    parameter int unsigned RingSectors = (RamBytes - 8192) / 512
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // The oldest command, when it is done. `pop` takes it.
    input  wire logic         head_valid_i,
    input  wire slot_retire_t head_i,
    output logic              head_pop_o,

    output logic                    free_valid_o,
    output logic [SectorsWidth-1:0] free_sectors_o,

    output logic                      drain_valid_o,
    input  wire logic                 drain_ready_i,
    output logic      [ BeatBits-1:0] drain_beat_o,
    input  wire logic                 drained_valid_i,
    output logic                      drained_ready_o,
    input  wire logic [DataWidth-1:0] drained_data_i,

    output logic                      data_valid_o,
    input  wire logic                 data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,   // the last beat of a request
    output logic                      data_error_o,  // the beat's command failed

    output logic      response_valid_o,
    input  wire logic response_ready_i,
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

  // What remains to be done for a command after its beats were requested, and after they have gone.
  typedef struct packed {
    logic                    write;
    logic                    stream;
    logic                    block_4096;
    logic                    last;
    logic                    good;            // its status is 0
    logic                    from_registers;
    logic [15:0]             tag;
    logic [SectorsWidth-1:0] sectors;
    logic [15:0]             status;
  } ended_t;
  typedef struct packed {
    logic   beats;    // a stream read: its beats follow, in order
    ended_t command;
  } retired_t;

  // ---- the oldest command, taken into a register: its memory is far from what depends on it ----

  slot_retire_t head_q;
  logic head_valid_q, head_done;
  assign head_pop_o = head_valid_i && !head_valid_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) head_valid_q <= 1'b0;
    else head_valid_q <= head_valid_q ? !head_done : head_valid_i;
    if (!head_valid_q) head_q <= head_i;
  end

  // ---- request the beats ----
  //
  // A command is passed on when its first beat is requested, and done here when its last one is. The next command's
  // beats are requested while this one's are still in flight.

  retired_t asked, current;
  logic asked_ready, current_valid, current_done;
  logic handed_q, hand, asks, ask_last;

  assign asks = HasRing && head_q.stream && !head_q.write;
  assign hand = head_valid_q && !handed_q && asked_ready;
  assign head_done = asks ? ask_last : hand;

  assign asked.beats = asks;
  assign asked.command = '{
          write: head_q.write,
          stream: HasRing && head_q.stream,
          block_4096: head_q.block_4096,
          last: head_q.last,
          good: head_q.status == '0,
          from_registers: head_q.from_registers,
          tag: head_q.tag,
          sectors: head_q.sectors,
          status: head_q.status
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) handed_q <= 1'b0;
    else if (head_done) handed_q <= 1'b0;
    else if (hand) handed_q <= 1'b1;
  end

  if (HasRing) begin : gen_drain
    localparam int unsigned RingBits = $clog2(RingSectors);
    localparam int unsigned SumBits = (RingBits > SectorsWidth ? RingBits : SectorsWidth) + 1;

    logic [RingBits-1:0] sector_q;  // follows the allocations of all stream commands, reads and writes
    logic [SectorBeatBits-1:0] beat_q;
    logic [SectorsWidth-1:0] asked_sectors_q;  // of the command at the head
    logic [SumBits-1:0] sector_sum;
    logic ask, ask_sector, last_sector_q;  // known a cycle later, long before the sector's last beat

    assign drain_valid_o = head_valid_q && asks && (handed_q || asked_ready);
    assign drain_beat_o = BeatBits'({sector_q, beat_q});
    assign ask = drain_valid_o && drain_ready_i;
    assign ask_sector = ask && beat_q == '1;
    assign ask_last = ask_sector && last_sector_q;
    always_ff @(posedge clk_i) last_sector_q <= asked_sectors_q + 1'b1 == head_q.sectors;
    assign sector_sum = SumBits'(sector_q) + (asks ? SumBits'(1) : SumBits'(head_q.sectors));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        sector_q <= '0;
        beat_q <= '0;
        asked_sectors_q <= '0;
      end else begin
        if (ask) beat_q <= beat_q + 1'b1;
        if (ask_last) asked_sectors_q <= '0;
        else if (ask_sector) asked_sectors_q <= asked_sectors_q + 1'b1;
        if (ask_sector || (hand && head_q.stream && head_q.write)) begin
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
      .Depth(AskedDepth),
      .Registered(1'b1)
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

  logic beats_end, response_room;
  logic responds_q;  // the request of `ended_q`, whose last command it is

  // The last beat of a request waits for room for its response, so that `current` ends with its last beat.
  assign response_room = !(current.command.last && (response_valid_o || responds_q));
  assign data_o = drained_data_i;
  assign data_valid_o = current_valid && current.beats && drained_valid_i && (response_room || !beats_end);
  assign data_last_o = current.command.last && beats_end;
  assign data_error_o = !current.command.good;
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
        end_q <= beat_q == {current.command.sectors - 1'b1, {(SectorBeatBits - 1) {1'b1}}, 1'b0};
      end
    end
  end else begin : gen_no_beats
    assign beats_end = 1'b0;
  end

  // ---- free the space, count, respond: a cycle later ----

  ended_t ended_q;
  logic ended_valid_q;
  always_ff @(posedge clk_i) begin
    ended_valid_q <= rst_ni && current_done;
    responds_q <= rst_ni && current_done && current.command.last;
    ended_q <= current.command;
  end

  logic [15:0] status_q;  // of the request: its first error
  logic failed_q;  // there is one
  logic [31:0] done_q;  // blocks before that error

  assign free_valid_o = ended_valid_q && ended_q.stream;
  assign free_sectors_o = ended_q.sectors;
  assign command_error_o = ended_valid_q && !ended_q.good;

  logic [SectorsWidth-1:0] blocks;
  logic [31:0] done;
  logic [15:0] status;
  logic counts;  // in the request's blocks
  assign counts = ended_q.good && !failed_q;
  assign blocks = ended_q.block_4096 ? SectorsWidth'(ended_q.sectors[SectorsWidth-1:3]) : ended_q.sectors;
  assign done = done_q + (counts ? 32'(blocks) : 32'd0);
  assign status = failed_q ? status_q : ended_q.status;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      status_q <= '0;
      failed_q <= 1'b0;
      done_q <= '0;
      written_blocks_o <= '0;
      response_valid_o <= 1'b0;
    end else begin
      if (ended_valid_q) begin
        status_q <= ended_q.last ? '0 : status;
        failed_q <= !ended_q.last && !counts;
        done_q <= ended_q.last ? '0 : done;
      end
      if (ended_valid_q && ended_q.write && counts) written_blocks_o <= written_blocks_o + LbaWidth'(blocks);
      if (responds_q) response_valid_o <= 1'b1;
      else if (response_ready_i) response_valid_o <= 1'b0;
    end
    if (responds_q) begin
      response_o <= '{from_registers: ended_q.from_registers, tag: ended_q.tag, status: status, done: 64'(done)};
    end
  end

endmodule

`default_nettype wire
