// SPDX-License-Identifier: Apache-2.0
//
// The order of a spate_ring_ddr's parts: what waits to be given to the drive, what the drive has, and what ended.
//
// Guarantee: parts are given to the drive, and end, in the order in which they came, each once. A write's part is given
// when the memory has stored its data; one whose data were lost is not given. A part whose drive went before it took
// the part is given to no other drive. A part that is not given has the reason as its status. There is room for each
// response of the drive, so responses never wait.
`default_nettype none

module spate_ring_order
  import spate_pkg::*;
#(
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses
    parameter int unsigned PartBits = 11,  // width of a part's number of sectors
    parameter int unsigned Parts = 32,  // at the drive; as many wait to be given to it; a power of two
    // Derived: no instance sets it.
    parameter int unsigned SectorBits = AddressWidth - 9
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [63:0] ring_drive_base_i,  // constant; the ring's address as the drive sees it

    input wire drive_t drive_i,

    input  wire logic                        part_valid_i,
    output logic                             part_ready_o,
    input  wire ring_part_t                  part_i,
    input  wire logic       [SectorBits-1:0] part_place_i,   // offset from the ring's start, in sectors of 512 bytes
    input  wire logic       [  PartBits-1:0] part_sectors_i,

    // The memory has answered for a write's part, in order.
    input  wire logic stored_valid_i,
    output logic      stored_ready_o,
    input  wire logic stored_error_i,

    output logic           command_valid_o,
    input  wire logic      command_ready_i,
    output command_t       command_o,
    input  wire logic      response_valid_i,
    input  wire response_t response_i,

    output logic                         ended_valid_o,
    input  wire logic                    ended_ready_i,
    output ring_ended_t                  ended_o,
    output logic        [SectorBits-1:0] ended_place_o,
    output logic        [  PartBits-1:0] ended_sectors_o,
    output logic        [  PartBits-1:0] ended_done_o,     // blocks

    output logic idle_o  // no part waits to be given to the drive
);

  // ---- parts that wait ----

  ring_part_t waiting;
  logic [SectorBits-1:0] waiting_place;
  logic [PartBits-1:0] waiting_sectors;
  logic [$clog2(Parts):0] waiting_count, gone_q;  // gone_q: how many of them, the oldest ones, lost their drive
  logic waiting_valid, waiting_stored, waiting_gone, load;

  spate_fifo #(
      .Width($bits(ring_part_t) + SectorBits + PartBits),
      .Depth(Parts),
      .Registered(1'b1)
  ) u_waiting (
      .clk_i,
      .rst_ni,
      .in_valid_i(part_valid_i),
      .in_ready_o(part_ready_o),
      .in_data_i({part_i, part_place_i, part_sectors_i}),
      .out_valid_o(waiting_valid),
      .out_ready_i(load),
      .out_data_o({waiting, waiting_place, waiting_sectors}),
      .count_o(waiting_count)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) gone_q <= '0;
    else if (drive_i.gone) gone_q <= waiting_count - ($clog2(Parts) + 1)'(load);
    else if (load && gone_q != '0) gone_q <= gone_q - 1'b1;
  end

  // ---- the next one: all that the drive is told of it is in registers ----

  ring_part_t next_q;
  logic [SectorBits-1:0] next_place_q;
  logic [PartBits-1:0] next_sectors_q, next_blocks_q;
  logic [63:0] next_address_q;
  logic next_valid_q, next_lost_q;  // lost: it can be given to no drive
  logic next_gone, issue;

  assign waiting_stored = !waiting.write || waiting.invalid;
  assign waiting_gone = waiting.gone || drive_i.gone || gone_q != '0;
  assign load = waiting_valid && !next_valid_q && (waiting_stored || stored_valid_i);
  assign stored_ready_o = load && !waiting_stored;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) next_valid_q <= 1'b0;
    else if (load) next_valid_q <= 1'b1;
    else if (issue) next_valid_q <= 1'b0;
    if (!next_valid_q) begin
      next_q <= waiting;
      next_q.gone <= waiting_gone;
      next_lost_q <= waiting.invalid || (!waiting_stored && stored_error_i);
      next_place_q <= waiting_place;
      next_sectors_q <= waiting_sectors;
      next_blocks_q <= drive_i.block_4096 ? waiting_sectors >> 3 : waiting_sectors;
      next_address_q <= ring_drive_base_i + 64'({waiting_place, 9'd0});
    end else if (drive_i.gone) next_q.gone <= 1'b1;
  end

  // ---- it is given to the drive, or to none ----

  typedef struct packed {
    logic                  write;
    logic                  dead;            // not given to the drive
    logic                  invalid;
    logic                  gone;
    logic [SectorBits-1:0] place;
    logic [PartBits-1:0]   sectors;
    logic                  last;
    logic                  from_registers;
    logic [15:0]           tag;
  } issued_t;

  issued_t issued, oldest;
  logic issued_ready, oldest_valid, end_oldest;

  assign next_gone = next_q.gone || drive_i.gone;
  assign idle_o = waiting_count == '0 && !next_valid_q;
  assign issue = next_valid_q && issued_ready && (next_lost_q || next_gone || command_ready_i);
  assign command_valid_o = next_valid_q && issued_ready && !next_lost_q && !next_gone;
  assign command_o = '{
          from_registers: 1'b0,
          tag: 16'd0,
          op: next_q.write ? OpWrite : OpRead,
          source: SourceAddress,
          fua: next_q.fua,
          address: next_address_q,
          lba: {next_q.beyond, 63'(next_q.lba)},
          blocks: 32'(next_blocks_q)
      };

  assign issued = '{
          write: next_q.write,
          dead: next_lost_q || next_gone,
          invalid: next_q.invalid,
          gone: next_gone,
          place: next_place_q,
          sectors: next_sectors_q,
          last: next_q.last,
          from_registers: next_q.from_registers,
          tag: next_q.tag
      };
  spate_fifo #(
      .Width($bits(issued_t)),
      .Depth(Parts),
      .Registered(1'b1)
  ) u_issued (
      .clk_i,
      .rst_ni,
      .in_valid_i(issue),
      .in_ready_o(issued_ready),
      .in_data_i(issued),
      .out_valid_o(oldest_valid),
      .out_ready_i(end_oldest),
      .out_data_o(oldest),
      .count_o()
  );

  // ---- the drive's responses ----

  logic answer_valid;
  logic [15:0] answer_status;
  logic [PartBits-1:0] answer_done;

  spate_fifo #(
      .Width(16 + PartBits),
      .Depth(Parts)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .in_valid_i(response_valid_i),
      .in_ready_o(),
      .in_data_i({response_i.status, PartBits'(response_i.done)}),
      .out_valid_o(answer_valid),
      .out_ready_i(end_oldest && !oldest.dead),
      .out_data_o({answer_status, answer_done}),
      .count_o()
  );

  // ---- the oldest one ends ----

  logic [15:0] status;

  assign end_oldest = oldest_valid && !ended_valid_o && (oldest.dead || answer_valid);
  always_comb begin
    if (oldest.invalid) status = StatusInvalid;
    else if (oldest.gone) status = StatusGone;
    else status = oldest.dead ? StatusMemory : answer_status;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ended_valid_o <= 1'b0;
    else if (end_oldest) ended_valid_o <= 1'b1;
    else if (ended_ready_i) ended_valid_o <= 1'b0;
    if (!ended_valid_o) begin
      ended_o <= '{
          read: !oldest.write && !oldest.invalid,
          write: oldest.write,
          last: oldest.last,
          failed: status != StatusOk,
          from_registers: oldest.from_registers,
          tag: oldest.tag,
          status: status
      };
      ended_place_o <= oldest.place;
      ended_sectors_o <= oldest.sectors;
      ended_done_o <= oldest.dead ? '0 : answer_done;
    end
  end

endmodule

`default_nettype wire
