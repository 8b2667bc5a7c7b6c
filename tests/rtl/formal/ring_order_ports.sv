// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_order, seen at its ports, between parts, a memory and a drive that come, answer and go at any time. Parts say
// their number in their first block and in their tag, so that the drive's commands and what ended tell which part they are.
module ring_order_ports
  import spate_pkg::*;
#(
    parameter int unsigned AddressWidth = 16,
    parameter int unsigned PartBits = 4,
    localparam int unsigned SectorBits = AddressWidth - 9
) (
    input logic                         clk_i,
    input logic                         rst_ni,
    input logic        [          63:0] ring_drive_base_i,
    input drive_t                       drive_i,
    input logic                         part_valid_i,
    input logic                         part_ready_o,
    input ring_part_t                   part_i,
    input logic        [SectorBits-1:0] part_place_i,
    input logic        [  PartBits-1:0] part_sectors_i,
    input logic                         stored_valid_i,
    input logic                         stored_ready_o,
    input logic                         stored_error_i,
    input logic                         command_valid_o,
    input logic                         command_ready_i,
    input command_t                     command_o,
    input logic                         response_valid_i,
    input response_t                    response_i,
    input logic                         ended_valid_o,
    input logic                         ended_ready_i,
    input ring_ended_t                  ended_o,
    input logic        [SectorBits-1:0] ended_place_o,
    input logic        [  PartBits-1:0] ended_sectors_o,
    input logic        [  PartBits-1:0] ended_done_o
);

  localparam int unsigned Known = 8;  // parts that are followed at a time: more than the module holds
  typedef logic [2:0] number_t;

  typedef struct packed {
    ring_part_t            part;
    logic [SectorBits-1:0] place;
    logic [PartBits-1:0]   sectors;
    logic                  stores;    // the memory has not answered for it
    logic                  lost;      // it answered with an error
    logic                  doomed;    // a drive went since it came, and it was not given
    logic                  given;
    logic                  answered;
    logic [15:0]           status;
    logic [PartBits-1:0]   done;
  } known_t;

  known_t parts_q[Known], parts_d[Known], asked, ended;
  number_t came_q, ended_q, storing, answering, asked_number;
  logic has_storing, has_answering, takes, gives, ends, past_reset_q, block_q, gone_q;
  logic [PartBits-1:0] asked_blocks;
  initial past_reset_q = 1'b0;

  assign takes = part_valid_i && part_ready_o;
  assign gives = command_valid_o && command_ready_i;
  assign ends = ended_valid_o && ended_ready_i;
  assign asked_number = command_o.lba[2:0];
  assign asked = parts_q[asked_number];
  assign asked_blocks = drive_i.block_4096 ? asked.sectors >> 3 : asked.sectors;
  assign ended = parts_q[ended_q];

  always_comb begin  // the oldest ones
    {has_storing, has_answering, storing, answering} = '0;
    for (int unsigned k = Known; k > 0; k--) begin
      automatic number_t at = ended_q + number_t'(k - 1);
      if (number_t'(k - 1) < number_t'(came_q - ended_q)) begin
        if (parts_q[at].stores) {has_storing, storing} = {1'b1, at};
        if (parts_q[at].given && !parts_q[at].answered) {has_answering, answering} = {1'b1, at};
      end
    end
  end

  always_comb begin
    parts_d = parts_q;
    if (stored_ready_o) begin
      parts_d[storing].stores = 1'b0;
      parts_d[storing].lost = stored_error_i;
    end
    if (gives) parts_d[asked_number].given = 1'b1;
    if (response_valid_i) begin
      parts_d[answering].answered = 1'b1;
      parts_d[answering].status = response_i.status;
      parts_d[answering].done = PartBits'(response_i.done);
    end
    for (int unsigned k = 0; k < Known; k++) if (drive_i.gone && !parts_q[k].given) parts_d[k].doomed = 1'b1;
    if (takes) begin
      parts_d[came_q] = '0;
      parts_d[came_q].part = part_i;
      parts_d[came_q].place = part_place_i;
      parts_d[came_q].sectors = part_sectors_i;
      parts_d[came_q].stores = part_i.write && !part_i.invalid;
      parts_d[came_q].doomed = part_i.gone;
    end
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    parts_q <= parts_d;
    came_q <= rst_ni ? came_q + number_t'(takes) : '0;
    ended_q <= rst_ni ? ended_q + number_t'(ends) : '0;
    {block_q, gone_q} <= {drive_i.block_4096, drive_i.gone};
  end

  // ---- the environment ----

  (* anyconst *) logic [63:0] base;
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_drive_base_i == base && base[11:0] == '0 && !base[63]);
    if (past_reset_q && !drive_i.gone && !gone_q) assume (drive_i.block_4096 == block_q);
    assume (part_i.lba == LbaWidth'(came_q) && part_i.tag == 16'(came_q));
    if (drive_i.gone) assume (part_i.gone);
    assume (!stored_valid_i || has_storing);
    assume (!response_valid_i || has_answering);
  end

  // ---- what must hold ----

  logic ended_waits_q;
  logic [$bits(ring_ended_t)+SectorBits+2*PartBits-1:0] ended_past_q;
  always_ff @(posedge clk_i) begin
    ended_waits_q <= rst_ni && ended_valid_o && !ended_ready_i;
    ended_past_q <= {ended_o, ended_place_o, ended_sectors_o, ended_done_o};
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      if (takes) assert (number_t'(came_q - ended_q) < 3'd7);
      if (stored_ready_o) assert (stored_valid_i);
      // A part is given once, in order, when its data are stored, and to the drive that was there since it came.
      if (command_valid_o) begin
        assert (number_t'(asked_number - ended_q) < number_t'(came_q - ended_q));
        assert (!asked.given && !asked.part.invalid && !asked.stores && !asked.lost && !asked.doomed && !drive_i.gone);
        assert (command_o.op == (asked.part.write ? OpWrite : OpRead) && command_o.source == SourceAddress);
        assert (command_o.fua == asked.part.fua && command_o.lba == {asked.part.beyond, 63'(asked_number)});
        assert (command_o.blocks == 32'(asked_blocks) && command_o.address == base + 64'({asked.place, 9'd0}));
        for (int unsigned k = 0; k < Known; k++) begin
          if (number_t'(number_t'(k) - ended_q) < number_t'(asked_number - ended_q))
            assert (parts_q[k].given || parts_q[k].part.invalid || parts_q[k].lost || parts_q[k].doomed);
            else if (number_t'(k) != asked_number)
              assert (!parts_q[k].given || number_t'(number_t'(k) - ended_q) >= number_t'(came_q - ended_q));
        end
      end
      // Parts end in the order in which they came, as the drive answered, or with the reason.
      if (ended_waits_q)
        assert (ended_valid_o && ended_past_q == {ended_o, ended_place_o, ended_sectors_o, ended_done_o});
      if (ended_valid_o) begin
        assert (came_q != ended_q && ended_o.tag == ended.part.tag && ended_o.last == ended.part.last);
        assert (ended_o.from_registers == ended.part.from_registers && ended_o.write == ended.part.write);
        assert (ended_o.read == (!ended.part.write && !ended.part.invalid));
        assert (ended_place_o == ended.place && ended_sectors_o == ended.sectors);
        assert (ended_o.failed == (ended_o.status != StatusOk));
        assert (!ended.stores || ended.doomed);
        if (ended.given)
          assert (ended.answered && ended_o.status == ended.status && ended_done_o == ended.done);
          else assert (ended_done_o == '0 && (ended.part.invalid || ended.lost || ended.doomed));
        if (!ended.given && ended.part.invalid) assert (ended_o.status == StatusInvalid);
        if (!ended.given && !ended.part.invalid && !ended.lost) assert (ended_o.status == StatusGone);
        if (!ended.given && !ended.part.invalid && !ended.doomed) assert (ended_o.status == StatusMemory);
      end

      cover (command_valid_o && command_o.op == OpWrite && asked_number == 3'd1 && parts_q[0].given);
      cover (ended_valid_o && ended_q == 3'd1 && parts_q[0].given && ended.given);
      cover (ended_valid_o && ended_o.status == StatusMemory && ended_q == 3'd1);
      cover (ended_valid_o && ended_o.status == StatusGone && !drive_i.gone && !ended.part.gone && parts_q[0].given && ended_q == 3'd1);
      cover (ended_valid_o && ended_o.status == StatusInvalid && ended_q == 3'd1);
      cover (response_valid_i && ended_waits_q && has_answering && answering == 3'd1);
    end
  end

endmodule

bind spate_ring_order ring_order_ports #(
    .AddressWidth(AddressWidth),
    .PartBits(PartBits)
) u_ports (.*);
