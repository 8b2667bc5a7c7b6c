// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_deliver, seen at its ports: any parts that ended, of requests of any number of parts, a memory that answers
// what it was asked, with errors, and readers that stall. What a request's response must be is computed from its parts.
module ring_deliver_ports
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned AddressWidth = 16,
    parameter int unsigned PartBits = 4,
    localparam int unsigned SectorBits = AddressWidth - 9
) (
    input logic                                  clk_i,
    input logic                                  rst_ni,
    input logic               [AddressWidth-1:0] ring_base_i,
    input logic                                  ended_valid_i,
    input logic                                  ended_ready_o,
    input ring_ended_t                           ended_i,
    input logic               [  SectorBits-1:0] ended_place_i,
    input logic               [    PartBits-1:0] ended_sectors_i,
    input logic               [    PartBits-1:0] ended_done_i,
    input logic                                  data_valid_o,
    input logic                                  data_ready_i,
    input logic               [   DataWidth-1:0] data_o,
    input logic                                  data_last_o,
    input logic                                  data_error_o,
    input logic                                  free_o,
    input logic               [    PartBits-1:0] free_sectors_o,
    input logic                                  side_valid_i,
    input logic                                  side_ready_o,
    input response_t                             side_i,
    input logic                                  response_valid_o,
    input logic                                  response_ready_i,
    input response_t                             response_o,
    input logic               [    LbaWidth-1:0] written_blocks_o,
    input axi_read_request_t                     m_axi_o,
    input axi_read_response_t                    m_axi_i
);

  localparam int unsigned BeatBits = $clog2(4096 / DataWidth);  // of a sector
  localparam int unsigned Known = 8;
  typedef logic [2:0] number_t;
  typedef logic [PartBits+BeatBits-1:0] beats_t;

  typedef struct packed {
    ring_ended_t         ended;
    logic [PartBits-1:0] sectors;
    logic [PartBits-1:0] done;
  } part_t;

  typedef struct packed {
    logic        from_registers;
    logic        write;
    logic [15:0] tag;
    logic [15:0] status;
    logic [7:0]  done;
  } answer_t;

  part_t parts_q[Known], oldest;
  answer_t answers_q[Known], answer_q, answer;  // of the request whose parts are freed
  number_t came_q, freed_q, made_q, responded_q;
  beats_t moved_q, owed_q;
  logic failed_q, hit_q, hit, bad_q, open_q, past_reset_q, takes, moves, responds, side_takes, side_out;
  logic response_waits_q, data_waits_q;
  logic [DataWidth+1:0] data_past_q;
  response_t response_past_q, side_q;
  logic side_owed_q;
  logic [7:0] written_q, told_q;
  initial past_reset_q = 1'b0;

  assign takes = ended_valid_i && ended_ready_o;
  assign moves = data_valid_o && data_ready_i;
  assign responds = response_valid_o && response_ready_i && !response_o.tag[15];
  assign side_out = response_valid_o && response_ready_i && response_o.tag[15];
  assign side_takes = side_valid_i && side_ready_o;
  assign oldest = parts_q[freed_q];
  assign hit = hit_q || (moves && data_error_o && !oldest.ended.failed);  // the memory did not return it
  always_comb begin
    answer = answer_q;
    answer.from_registers = oldest.ended.from_registers;
    answer.write = oldest.ended.write;
    answer.tag = oldest.ended.tag;
    if (!failed_q) begin
      answer.status = hit ? StatusMemory : oldest.ended.status;
      answer.done = answer_q.done + (hit ? '0 : 8'(oldest.done));
    end
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    response_waits_q <= rst_ni && response_valid_o && !response_ready_i;
    data_waits_q <= rst_ni && data_valid_o && !data_ready_i;
    response_past_q <= response_o;
    data_past_q <= {data_o, data_last_o, data_error_o};
    if (takes) parts_q[came_q] <= '{ended: ended_i, sectors: ended_sectors_i, done: ended_done_i};
    if (side_takes) side_q <= side_i;
    if (!rst_ni) begin
      {came_q, freed_q, made_q, responded_q, moved_q, owed_q, hit_q, failed_q, bad_q, open_q, side_owed_q} <= '0;
      {answer_q, written_q, told_q} <= '0;
    end else begin
      came_q <= came_q + number_t'(takes);
      if (takes) open_q <= !ended_i.last;
      responded_q <= responded_q + number_t'(responds);
      side_owed_q <= side_takes || (side_owed_q && !side_out);
      owed_q <= owed_q + (m_axi_o.arvalid && m_axi_i.arready ? beats_t'(m_axi_o.arlen) + 1'b1 : '0) -
          beats_t'(m_axi_i.rvalid && m_axi_o.rready);
      if (m_axi_i.rvalid && m_axi_i.rresp[1]) bad_q <= 1'b1;
      moved_q <= free_o ? '0 : moved_q + beats_t'(moves);
      hit_q <= !free_o && hit;
      if (free_o) begin
        freed_q <= freed_q + 1'b1;
        failed_q <= !oldest.ended.last && (failed_q || hit || oldest.ended.failed);
        answer_q <= oldest.ended.last ? '0 : answer;
        if (oldest.ended.last) begin
          answers_q[made_q] <= answer;
          made_q <= made_q + 1'b1;
        end
        if (oldest.ended.write && !failed_q) written_q <= written_q + 8'(oldest.done);
      end
      if (responds && answers_q[responded_q].write) told_q <= told_q + answers_q[responded_q].done;
    end
  end

  // ---- the environment ----

  logic ended_waits_q;
  logic [$bits(ring_ended_t)+SectorBits+2*PartBits-1:0] ended_past_q;
  number_t newest;
  assign newest = came_q - 1'b1;
  always_ff @(posedge clk_i) begin
    ended_waits_q <= rst_ni && ended_valid_i && !ended_ready_o;
    ended_past_q <= {ended_i, ended_place_i, ended_sectors_i, ended_done_i};
  end
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i == '0);
    assume (ended_i.failed == (ended_i.status != StatusOk) && !ended_i.tag[15] && side_i.tag[15]);
    assume (!(ended_i.read && ended_i.write) && ended_done_i <= ended_sectors_i);
    assume (ended_sectors_i <= PartBits'(8) && (!ended_i.read || ended_sectors_i != '0));
    if (ended_waits_q)
      assume (ended_valid_i && ended_past_q == {ended_i, ended_place_i, ended_sectors_i, ended_done_i});
    if (open_q)  // parts of one request
      assume ({ended_i.read, ended_i.write, ended_i.tag, ended_i.from_registers} ==
              {parts_q[newest].ended.read, parts_q[newest].ended.write, parts_q[newest].ended.tag,
               parts_q[newest].ended.from_registers});
    assume (!m_axi_i.rvalid || owed_q != '0);
  end

  // ---- what must hold ----

  always_comb begin
    if (past_reset_q && rst_ni) begin
      if (takes) assert (number_t'(came_q - freed_q) != 3'd7);
      // Beats: none but those of the oldest part that has its space, exactly those, and they stay.
      if (data_valid_o) begin
        assert (came_q != freed_q && oldest.ended.read);
        assert (data_last_o == (oldest.ended.last && moved_q + 1'b1 == beats_t'(oldest.sectors) << BeatBits));
        if (oldest.ended.failed) assert (data_error_o);
        if (!oldest.ended.failed && !bad_q) assert (!data_error_o);
      end
      if (data_waits_q) assert (data_valid_o && data_past_q == {data_o, data_last_o, data_error_o});
      // Space comes back in order, once, of a read after its last beat.
      if (free_o) begin
        assert (came_q != freed_q && free_sectors_o == oldest.sectors);
        if (oldest.ended.read) assert (moves && moved_q + 1'b1 == beats_t'(oldest.sectors) << BeatBits);
      end
      // One response for each request, in order, behind its parts.
      if (response_waits_q) assert (response_valid_o && response_o == response_past_q);
      if (response_valid_o && !response_o.tag[15]) begin
        assert (responded_q != made_q);
        assert (response_o.tag == answers_q[responded_q].tag);
        assert (response_o.from_registers == answers_q[responded_q].from_registers);
        assert (response_o.status == answers_q[responded_q].status);
        if (!bad_q) assert (response_o.done == 64'(answers_q[responded_q].done));
      end
      if (response_valid_o && response_o.tag[15]) assert (side_owed_q && response_o == side_q);
      assert (written_blocks_o <= LbaWidth'(written_q) && written_blocks_o >= LbaWidth'(told_q));

      cover (response_valid_o && !response_o.tag[15] && response_o.done == 64'd3 && response_o.status == StatusOk &&
             freed_q == 3'd2 && answers_q[0].write);
      cover (response_valid_o && response_o.status != StatusOk && response_o.done == 64'd1 && freed_q == 3'd3 && made_q == 3'd1);
      cover (side_takes && data_valid_o && !data_ready_i);
      cover (moves && response_waits_q && response_valid_o && !response_ready_i);
      cover (side_out && responded_q == 3'd1);
    end
  end

endmodule

bind spate_ring_deliver ring_deliver_ports #(
    .DataWidth(DataWidth),
    .AddressWidth(AddressWidth),
    .PartBits(PartBits)
) u_ports (.*);
