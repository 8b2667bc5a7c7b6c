// SPDX-License-Identifier: Apache-2.0
//
// spate_ring_ddr, watched from outside: what it must do follows from its ports alone. The environment gives any requests
// and side commands, stalls anywhere, and has a memory and a drive that answer what they were given, with errors, and a
// drive that goes at any time. Requests say their number in their block address, so that the drive's commands tell
// which request they belong to, and the top bit of a tag tells the lane. At most three requests of at most 31 blocks are
// there at a time; ring_cut-prove has requests of any size.
module ring_ddr_ports
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned AddressWidth = 16,
    localparam int unsigned SectorBits = AddressWidth - 9
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [AddressWidth-1:0] ring_base_i,
    input logic [            63:0] ring_drive_base_i,
    input logic [  SectorBits-4:0] ring_pages_i,

    input drive_t drive_i,

    input lanes_request_t                  lanes_i,
    input lanes_response_t                 lanes_o,
    input logic                            data_valid_i,
    input logic                            data_ready_o,
    input logic                            data_valid_o,
    input logic                            data_ready_i,
    input logic            [DataWidth-1:0] data_o,
    input logic                            data_last_o,
    input logic                            data_error_o,
    input logic            [ LbaWidth-1:0] written_blocks_o,

    input lanes_request_t  drive_lanes_o,
    input lanes_response_t drive_lanes_i,

    input axi_request_t  m_axi_o,
    input axi_response_t m_axi_i
);

  localparam int unsigned Sectors = 16;  // of the ring
  localparam int unsigned BeatBits = $clog2(4096 / DataWidth);  // of a sector
  localparam int unsigned Known = 4;  // requests, commands of the drive, and bursts that are followed at a time
  typedef logic [1:0] number_t;  // of one of them
  typedef logic [5:0] blocks_t;
  typedef logic [12:0] beats_t;
  typedef logic [Sectors-1:0] map_t;

  typedef struct packed {
    logic        write;
    logic        fua;
    logic        from_registers;
    logic [15:0] tag;
    logic [63:0] lba;
    blocks_t     blocks;
    logic        block_4096;
    logic        refused;         // it has no beats, and StatusInvalid
    logic        doomed;          // a drive went since it came
    blocks_t     given;           // blocks of which the drive was told
    logic        failed;
    logic [15:0] status;          // of its first part that failed
    blocks_t     done;            // blocks before that
    beats_t      beats;           // that it has
    beats_t      moved;
  } request_t;

  typedef struct packed {
    logic    live;      // its place is in use
    logic    answered;
    logic    write;
    number_t request;
    blocks_t blocks;
    beats_t  end_beat;  // of the request: the first one after it
    map_t    place;
  } given_t;

  logic past_reset_q = 1'b0;
  logic checked;
  assign checked = past_reset_q && rst_ni;

  // ---- what happens now ----

  logic response_waits_q;
  logic accepts, side_accepts, responds, side_shown, gives, answers, side_answers, takes_beat, gives_beat;
  assign accepts = lanes_i.command_valid && lanes_o.command_ready;
  assign side_accepts = lanes_i.side_valid && lanes_o.side_ready;
  assign responds = lanes_o.response_valid && lanes_i.response_ready && !lanes_o.response.tag[15];
  assign side_shown = lanes_o.response_valid && !response_waits_q && lanes_o.response.tag[15];  // for the first time
  assign gives = drive_lanes_o.command_valid && drive_lanes_i.command_ready;
  assign answers = drive_lanes_i.response_valid && drive_lanes_o.response_ready && !drive_lanes_i.response.tag[0];
  assign side_answers = drive_lanes_i.response_valid && drive_lanes_o.response_ready && drive_lanes_i.response.tag[0];
  assign takes_beat = data_valid_i && data_ready_o;
  assign gives_beat = data_valid_o && data_ready_i;

  // ---- the reference ----

  request_t requests_q[Known], requests_d[Known];
  given_t given_q[Known], given_d[Known];
  number_t accepted_q, responded_q, given_count_q, answered_q, aw_count_q, w_count_q, b_count_q;
  number_t writing, reading;  // the oldest requests with beats that have not moved
  logic has_writing, has_reading;
  map_t bursts_q[Known], stored_q;  // stored: the memory acknowledged these sectors since the drive had them
  beats_t r_owed_q;
  logic clean_q;  // the memory made no mistake yet
  logic drive_has_side_q, side_busy_q;
  command_t side_q;
  logic [LbaWidth-1:0] side_written_q, done_writes_q, responded_writes_q;
  response_t side_answer_q;
  request_t oldest, asked;
  given_t oldest_given;
  number_t asked_number;
  map_t command_place, aw_place, ar_place;
  logic [6:0] command_sectors, command_first;

  function automatic map_t sectors_at(logic [6:0] first, logic [6:0] count);
    return map_t'(((17'd1 << count) - 17'd1) << first);
  endfunction

  assign oldest = requests_q[responded_q];
  assign oldest_given = given_q[answered_q];
  assign asked_number = drive_lanes_o.command.lba[39:38];
  assign asked = requests_q[asked_number];
  assign command_sectors = drive_i.block_4096 ? 7'(drive_lanes_o.command.blocks) << 3 : 7'(drive_lanes_o.command.blocks);
  assign command_first = 7'((drive_lanes_o.command.address - ring_drive_base_i) >> 9);
  assign command_place = sectors_at(command_first, command_sectors);
  assign aw_place = sectors_at(
      7'((m_axi_o.write.awaddr - ring_base_i) >> 9), 7'((9'(m_axi_o.write.awlen) + 9'd1) >> BeatBits)
  );
  assign ar_place = sectors_at(
      7'((m_axi_o.read.araddr - ring_base_i) >> 9), 7'((9'(m_axi_o.read.arlen) + 9'd1) >> BeatBits)
  );

  always_comb begin
    {has_writing, has_reading, writing, reading} = '0;
    for (int unsigned k = Known; k > 0; k--) begin
      automatic number_t at = responded_q + number_t'(k - 1);
      if (number_t'(k - 1) < number_t'(accepted_q - responded_q) && requests_q[at].moved != requests_q[at].beats) begin
        if (requests_q[at].write) {has_writing, writing} = {1'b1, at};
        else {has_reading, reading} = {1'b1, at};
      end
    end
  end

  always_comb begin
    requests_d = requests_q;
    given_d = given_q;
    if (takes_beat) requests_d[writing].moved = requests_q[writing].moved + 1'b1;
    if (gives_beat) requests_d[reading].moved = requests_q[reading].moved + 1'b1;
    if (gives) begin
      requests_d[asked_number].given = blocks_t'(drive_lanes_o.command.lba - asked.lba) + blocks_t'(drive_lanes_o.command.blocks);
      given_d[given_count_q] = '{
          live: 1'b1,
          answered: 1'b0,
          write: asked.write,
          request: asked_number,
          blocks: blocks_t'(drive_lanes_o.command.blocks),
          end_beat: beats_t'(requests_d[asked_number].given) << (asked.block_4096 ? BeatBits + 3 : BeatBits),
          place: command_place
      };
    end
    if (answers) begin
      given_d[answered_q].answered = 1'b1;
      if (oldest_given.write) given_d[answered_q].live = 1'b0;
      if (!requests_q[oldest_given.request].failed) begin
        requests_d[oldest_given.request].done = requests_q[oldest_given.request].done + blocks_t'(drive_lanes_i.response.done);
        requests_d[oldest_given.request].failed = drive_lanes_i.response.status != StatusOk;
        requests_d[oldest_given.request].status = drive_lanes_i.response.status;
      end
    end
    for (int unsigned k = 0; k < Known; k++) begin
      if (gives_beat && given_q[k].live && !given_q[k].write && given_q[k].request == reading &&
          requests_d[reading].moved == given_q[k].end_beat)
        given_d[k].live = 1'b0;
      if (drive_i.gone) requests_d[k].doomed = 1'b1;
    end
    if (accepts) begin
      requests_d[accepted_q] = '0;
      requests_d[accepted_q].write = lanes_i.command.op == OpWrite;
      requests_d[accepted_q].fua = lanes_i.command.fua;
      requests_d[accepted_q].from_registers = lanes_i.command.from_registers;
      requests_d[accepted_q].tag = lanes_i.command.tag;
      requests_d[accepted_q].lba = lanes_i.command.lba;
      requests_d[accepted_q].blocks = blocks_t'(lanes_i.command.blocks);
      requests_d[accepted_q].block_4096 = drive_i.block_4096;
      requests_d[accepted_q].refused = lanes_i.command.source != SourceStream || lanes_i.command.blocks == '0;
      requests_d[accepted_q].doomed = drive_i.gone;
      if (lanes_i.command.source == SourceStream)
        requests_d[accepted_q].beats = beats_t'(lanes_i.command.blocks) << (drive_i.block_4096 ? BeatBits + 3 : BeatBits);
    end
  end

  always_ff @(posedge clk_i) begin
    requests_q <= requests_d;
    if (!rst_ni) begin
      {accepted_q, responded_q, given_count_q, answered_q, aw_count_q, w_count_q, b_count_q, r_owed_q} <= '0;
      {stored_q, drive_has_side_q, side_busy_q, done_writes_q, responded_writes_q} <= '0;
      clean_q <= 1'b1;
      for (int unsigned k = 0; k < Known; k++) given_q[k] <= '0;
    end else begin
      given_q <= given_d;
      accepted_q <= accepted_q + number_t'(accepts);
      responded_q <= responded_q + number_t'(responds);
      given_count_q <= given_count_q + number_t'(gives);
      answered_q <= answered_q + number_t'(answers);
      aw_count_q <= aw_count_q + number_t'(m_axi_o.write.awvalid && m_axi_i.write.awready);
      w_count_q <= w_count_q + number_t'(m_axi_o.write.wvalid && m_axi_i.write.wready && m_axi_o.write.wlast);
      b_count_q <= b_count_q + number_t'(m_axi_i.write.bvalid);
      r_owed_q <= r_owed_q + (m_axi_o.read.arvalid && m_axi_i.read.arready ? beats_t'(m_axi_o.read.arlen) + 1'b1 : '0) -
          beats_t'(m_axi_i.read.rvalid && m_axi_o.read.rready);
      stored_q <= (stored_q | (m_axi_i.write.bvalid && !m_axi_i.write.bresp[1] ? bursts_q[b_count_q] : '0)) &
          ~(gives && drive_lanes_o.command.op == OpWrite ? command_place : '0);
      if ((m_axi_i.write.bvalid && m_axi_i.write.bresp[1]) || (m_axi_i.read.rvalid && m_axi_i.read.rresp[1]))
        clean_q <= 1'b0;
      drive_has_side_q <= side_accepts || (drive_has_side_q && !side_answers);
      side_busy_q <= side_accepts || (side_busy_q && !side_shown);
      if (answers && oldest_given.write && !requests_q[oldest_given.request].failed)
        done_writes_q <= done_writes_q + LbaWidth'(drive_lanes_i.response.done);
      if (responds && oldest.write) responded_writes_q <= responded_writes_q + LbaWidth'(lanes_o.response.done);
    end
    if (m_axi_o.write.awvalid && m_axi_i.write.awready) bursts_q[aw_count_q] <= aw_place;
    if (side_accepts) {side_q, side_written_q} <= {lanes_i.side, written_blocks_o};
    if (side_answers) side_answer_q <= drive_lanes_i.response;
  end

  // ---- the environment ----

  logic [AddressWidth-1:0] base_q;
  logic [63:0] drive_base_q;
  logic block_q, gone_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    {base_q, drive_base_q, block_q, gone_q} <= {ring_base_i, ring_drive_base_i, drive_i.block_4096, drive_i.gone};
  end
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i[11:0] == '0 && ring_drive_base_i[11:0] == '0 && ring_pages_i == (SectorBits - 3)'(Sectors / 8));
    assume (17'(ring_base_i) + 17'(512 * Sectors) <= 17'h10000);
    assume (!ring_drive_base_i[63]);
    if (past_reset_q) assume (ring_base_i == base_q && ring_drive_base_i == drive_base_q);
    if (checked && !drive_i.gone && !gone_q && accepted_q != responded_q) assume (drive_i.block_4096 == block_q);
    assume (is_data_command(lanes_i.command) && !is_data_command(lanes_i.side));
    assume (lanes_i.command.lba[63:38] == 26'(accepted_q) && lanes_i.command.lba[37:8] == '0 && lanes_i.command.blocks < 32'd32);
    assume (!lanes_i.command.tag[15] && lanes_i.side.tag[15]);
    assume (number_t'(accepted_q - responded_q) != number_t'(Known - 1) || !lanes_i.command_valid);
    assume (drive_i.blocks == '1);
    assume (!m_axi_i.write.bvalid || (aw_count_q != b_count_q && w_count_q != b_count_q));
    assume (!m_axi_i.read.rvalid || r_owed_q != '0);
    if (drive_lanes_i.response_valid) begin
      if (drive_lanes_i.response.tag[0]) begin
        assume (drive_has_side_q);
      end else begin
        assume (answered_q != given_count_q && drive_lanes_i.response.done <= 64'(oldest_given.blocks));
        assume ((drive_lanes_i.response.status == StatusOk) == (drive_lanes_i.response.done == 64'(oldest_given.blocks)));
      end
    end
  end

  // ---- what must hold ----

  // The drive gets the blocks of each request in order, each once, with the place that its data have: whole blocks in
  // the ring that no other command has, and, of a write, all acknowledged by the memory.
  number_t asked_age;
  assign asked_age = asked_number - responded_q;
  always_comb begin
    if (checked && gives) begin
      assert (asked_age < number_t'(accepted_q - responded_q) && !asked.refused && !asked.doomed && !drive_i.gone);
      assert (drive_lanes_o.command.op == (asked.write ? OpWrite : OpRead) && drive_lanes_o.command.source == SourceAddress);
      assert (drive_lanes_o.command.fua == asked.fua && !drive_lanes_o.command.tag[0]);
      assert (drive_lanes_o.command.lba >= asked.lba + 64'(asked.given) && drive_lanes_o.command.blocks != '0);
      if (clean_q) assert (drive_lanes_o.command.lba == asked.lba + 64'(asked.given));
      assert (33'(drive_lanes_o.command.lba - asked.lba) + 33'(drive_lanes_o.command.blocks) <= 33'(asked.blocks));
      assert (drive_i.block_4096 == asked.block_4096 && drive_lanes_o.command.blocks <= 32'(Sectors));
      assert (drive_lanes_o.command.address >= ring_drive_base_i);
      assert (drive_lanes_o.command.address + 64'({command_sectors, 9'd0}) <= ring_drive_base_i + 64'(512 * Sectors));
      for (int unsigned k = 0; k < Known; k++) begin
        if (given_q[k].live) assert ((given_q[k].place & command_place) == '0);
        // Requests are not overtaken.
        if (given_q[k].live && !given_q[k].answered) assert (number_t'(given_q[k].request - responded_q) <= asked_age);
      end
      if (drive_lanes_o.command.op == OpWrite) assert ((stored_q & command_place) == command_place);
    end
  end

  // The memory's bursts lie in the ring. Nothing that the drive or the stream still needs is overwritten, and nothing
  // is read that the drive may still write.
  always_comb begin
    if (checked) begin
      if (m_axi_o.write.awvalid)
        assert (m_axi_o.write.awaddr >= ring_base_i && 17'(m_axi_o.write.awaddr) < 17'(ring_base_i) + 17'(512 * Sectors));
      if (m_axi_o.read.arvalid)
        assert (m_axi_o.read.araddr >= ring_base_i && 17'(m_axi_o.read.araddr) < 17'(ring_base_i) + 17'(512 * Sectors));
      for (int unsigned k = 0; k < Known; k++) begin
        if (m_axi_o.write.awvalid && given_q[k].live) assert ((given_q[k].place & aw_place) == '0);
        if (m_axi_o.read.arvalid && given_q[k].live && !given_q[k].answered)
          assert ((given_q[k].place & ar_place) == '0);
      end
    end
  end

  // Streams: no beat before its request, exactly its beats, and a beat that is offered stays.
  logic beat_waits_q;
  logic [DataWidth+1:0] beat_past_q;
  always_ff @(posedge clk_i) begin
    beat_waits_q <= rst_ni && data_valid_o && !data_ready_i;
    beat_past_q <= {data_o, data_last_o, data_error_o};
  end
  always_comb begin
    if (checked) begin
      if (data_ready_o) assert (has_writing);
      if (data_valid_o)
        assert (has_reading && data_last_o == (requests_q[reading].moved + 1'b1 == requests_q[reading].beats));
      if (beat_waits_q) assert (data_valid_o && beat_past_q == {data_o, data_last_o, data_error_o});
    end
  end

  // Each request gets one response, in order, behind its beats; it is that of its first part that failed, and counts the
  // blocks before. So does each side command.
  response_t response_past_q;
  always_ff @(posedge clk_i) begin
    response_waits_q <= rst_ni && lanes_o.response_valid && !lanes_i.response_ready;
    response_past_q <= lanes_o.response;
  end
  always_comb begin
    if (checked) begin
      assert (drive_lanes_o.response_ready);
      if (response_waits_q) assert (lanes_o.response_valid && lanes_o.response == response_past_q);
      if (lanes_o.response_valid && !lanes_o.response.tag[15]) begin
        assert (accepted_q != responded_q && oldest.moved == oldest.beats);
        assert (lanes_o.response.tag == oldest.tag && lanes_o.response.from_registers == oldest.from_registers);
        for (int unsigned k = 0; k < Known; k++) assert (!given_q[k].live || given_q[k].request != responded_q);
        assert ((lanes_o.response.status == StatusOk) == (!oldest.refused && lanes_o.response.done == 64'(oldest.blocks)));
        if (oldest.refused) assert (lanes_o.response.status == StatusInvalid && lanes_o.response.done == '0);
        if (!oldest.refused && clean_q) begin
          assert (lanes_o.response.done == 64'(oldest.done));
          if (oldest.failed)
            assert (lanes_o.response.status == oldest.status);
            else if (oldest.given != oldest.blocks) assert (oldest.doomed && lanes_o.response.status == StatusGone);
        end
      end
      if (side_shown) begin
        assert (side_busy_q && !drive_has_side_q && lanes_o.response.tag == side_q.tag);
        assert (lanes_o.response.from_registers == side_q.from_registers && lanes_o.response.status == side_answer_q.status);
        assert (lanes_o.response.done == (side_q.op == OpFlush ? 64'(side_written_q) : side_answer_q.done));
      end
      if (drive_lanes_o.side_valid)
        assert (lanes_i.side_valid && (!side_busy_q || side_shown) && drive_lanes_o.side.tag[0] && drive_lanes_o.side.op == lanes_i.side.op);
      assert (side_accepts == (drive_lanes_o.side_valid && drive_lanes_i.side_ready));
      // What a flush reports: at least what responses told, at most what the drive has done.
      assert (written_blocks_o >= responded_writes_q);
      if (clean_q) assert (written_blocks_o <= done_writes_q);
    end
  end

endmodule

bind spate_ring_ddr ring_ddr_ports #(
    .DataWidth(DataWidth),
    .AddressWidth(AddressWidth)
) u_ports (.*);
