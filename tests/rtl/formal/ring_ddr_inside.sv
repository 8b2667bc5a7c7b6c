// SPDX-License-Identifier: Apache-2.0
//
// What the blocks of spate_ring_ddr promise each other, inside: a list of the parts that have space, oldest first, is
// kept from what passes between them. The environment is that of ring_ddr_ports, bound beside it.
module ring_ddr_inside
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned AddressWidth = 16,
    parameter int unsigned PartBytes = 4096,
    parameter int unsigned Parts = 2,
    localparam int unsigned SectorBits = AddressWidth - 9,
    localparam int unsigned PartBits = $clog2(PartBytes / 512) + 1,
    localparam int unsigned CountBits = $clog2(Parts) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic   [SectorBits-4:0] ring_pages_i,
    input drive_t                  drive_i,

    input lanes_request_t  lanes_i,
    input lanes_response_t lanes_o,

    // From spate_ring_cut, and what is in it.
    input logic                        part_valid,
    input logic                        part_ready,
    input ring_part_t                  part,
    input logic       [SectorBits-1:0] part_place,
    input logic       [  PartBits-1:0] part_sectors,
    input logic                        free,
    input logic       [  PartBits-1:0] free_sectors,
    input logic       [SectorBits-1:0] cut_room,

    // spate_ring_store, spate_ring_order and spate_ring_deliver.
    input logic                  stored_valid,
    input logic                  stored_ready,
    input logic [SectorBits-1:0] store_wanted,   // sectors whose beats are not all there
    input logic [ CountBits-1:0] waiting_count,
    input logic [ CountBits-1:0] issued_count,
    input logic                  next_valid,
    input logic                  issue,
    input logic                  issue_gone,
    input logic                  issued_ready,
    input logic                  command_valid,
    input logic                  answer_valid,
    input logic                  answers_ready,
    input logic                  ended_valid,
    input logic [           2:0] fetched_count,
    input logic                  deliver_valid,
    input logic                  take_beat
);

  localparam int unsigned Held = 2 * Parts + 7;  // parts that have space
  typedef logic [$clog2(Held+1)-1:0] index_t;

  typedef struct packed {
    logic                  read;
    logic                  doomed;   // its drive went before it was issued
    logic [SectorBits-1:0] place;
    logic [PartBits-1:0]   sectors;
  } held_t;

  logic past_reset_q = 1'b0;
  held_t held_q[Held], held_d[Held];
  held_t issue_held;
  index_t count_q, issue_at;  // issue_at: of the oldest one that was not issued
  logic placed, asked_doomed_q, asked_block_q, asked_write_q, asked_invalid_q;  // of the request that is being split
  logic [34:0] asked_left_q;  // its sectors
  logic [CountBits-1:0] unstored_q;  // parts that the store was given, whose answer is not taken yet
  logic [SectorBits-1:0] ring_sectors;
  logic [SectorBits+2:0] space;

  assign placed = part_valid && part_ready;
  assign ring_sectors = {ring_pages_i, 3'd0};
  assign issue_at = index_t'(issued_count) + index_t'(ended_valid) + index_t'(fetched_count) + index_t'(deliver_valid);

  always_comb begin
    held_d = held_q;
    for (int unsigned k = 0; k < Held; k++) begin
      if (drive_i.gone && index_t'(k) >= issue_at) held_d[k].doomed = 1'b1;
    end
    if (free) for (int unsigned k = 0; k < Held - 1; k++) held_d[k] = held_d[k+1];
    for (int unsigned k = 0; k < Held; k++) begin
      if (placed && index_t'(k) == count_q - index_t'(free))
        held_d[k] = '{
            read: !asked_write_q && !asked_invalid_q,
            doomed: asked_doomed_q || drive_i.gone,
            place: part_place,
            sectors: part_sectors
        };
    end
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    held_q <= held_d;
    count_q <= rst_ni ? count_q + index_t'(placed) - index_t'(free) : '0;
    if (lanes_i.command_valid && lanes_o.command_ready) begin
      asked_write_q <= lanes_i.command.op == OpWrite;
      asked_invalid_q <= lanes_i.command.source != SourceStream || lanes_i.command.blocks == '0;
      asked_block_q <= drive_i.block_4096;
      asked_left_q <= lanes_i.command.source != SourceStream ? '0 : drive_i.block_4096 ? 35'(lanes_i.command.blocks) * 35'd8 :
          35'(lanes_i.command.blocks);
    end else if (placed) asked_left_q <= asked_left_q - 35'(part_sectors);
    asked_doomed_q <= drive_i.gone || (!(lanes_i.command_valid && lanes_o.command_ready) && asked_doomed_q);
    if (!rst_ni) unstored_q <= '0;
    else unstored_q <= unstored_q + CountBits'(placed && part.write && !part.invalid) - CountBits'(stored_ready);
  end

  always_comb begin
    space = '0;
    issue_held = '0;
    for (int unsigned k = 0; k < Held; k++) begin
      if (index_t'(k) < count_q) space += (SectorBits + 3)'(held_q[k].sectors);
      if (index_t'(k) == issue_at) issue_held = held_q[k];
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // A place lies within the ring, contiguous, and overlaps no other; space is used and freed in order.
      if (placed) begin
        assert (count_q < index_t'(Held));
        assert ((SectorBits + 1)'(part_place) + (SectorBits + 1)'(part_sectors) <= (SectorBits + 1)'(ring_sectors));
        assert ((part_sectors != '0) == !asked_invalid_q && 35'(part_sectors) <= asked_left_q);
        if (asked_block_q && !part.gone) assert (part_sectors[2:0] == '0);
        for (int unsigned k = 0; k < Held; k++) begin
          if (index_t'(k) < count_q && part_sectors != '0 && held_q[k].sectors != '0)
            assert (part_place + SectorBits'(part_sectors) <= held_q[k].place ||
                    held_q[k].place + SectorBits'(held_q[k].sectors) <= part_place);
        end
      end
      if (free) assert (count_q != '0 && deliver_valid && free_sectors == held_q[0].sectors);
      if (take_beat) assert (deliver_valid && held_q[0].read);
      assert ((SectorBits + 3)'(cut_room) + space == (SectorBits + 3)'(ring_sectors));
      assert (count_q == issue_at + index_t'(next_valid) + index_t'(waiting_count));
      // The contract of spate_ring_store: the number of parts, each with data, and all within the ring.
      if (placed && part.write && !part.invalid) begin
        assert (unstored_q < CountBits'(Parts) && part_sectors != '0);
        assert (32'(store_wanted) + 32'(part_sectors) <= 32'(ring_sectors));
      end
      if (stored_ready) assert (stored_valid);
      // Each part is issued once, to the drive or to none, with the reason. There is room for each response.
      if (issue) assert (next_valid && issued_ready && issue_gone == (issue_held.doomed || drive_i.gone));
      if (command_valid) assert (!issue_held.doomed && !drive_i.gone && issue_held.sectors != '0);
      if (answer_valid) assert (answers_ready);
    end
  end

endmodule

bind spate_ring_ddr ring_ddr_inside #(
    .AddressWidth(AddressWidth),
    .PartBytes(PartBytes),
    .Parts(Parts)
) u_inside (
    .cut_room(u_cut.room_q - SectorBits'(u_cut.room_less_q)),
    .store_wanted(u_store.given_sectors_q - u_store.taken_sectors_q),
    .waiting_count(u_order.u_waiting.count_o),
    .issued_count(u_order.u_issued.count_o),
    .next_valid(u_order.next_valid_q),
    .issue(u_order.issue),
    .issue_gone(u_order.next_gone),
    .issued_ready(u_order.issued_ready),
    .command_valid(drive_lanes_o.command_valid),
    .answer_valid(drive_lanes_i.response_valid && !drive_lanes_i.response.tag[0]),
    .answers_ready(u_order.u_answers.in_ready_o),
    .ended_valid(ended_valid),
    .fetched_count(u_deliver.u_fetched.count_o),
    .deliver_valid(u_deliver.valid_q),
    .take_beat(u_deliver.take_beat),
    .*
);
