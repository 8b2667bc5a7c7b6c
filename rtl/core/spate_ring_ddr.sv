// SPDX-License-Identifier: Apache-2.0
//
// A ring of any size in a memory behind AXI4, in front of a spate_drive in memory mode. It gives streams to designs
// whose drive stalls for longer than an on-chip ring lasts. A stream request is split into parts, each with an address
// in the ring. A write's data go to the memory first; the part goes to the drive when the memory has acknowledged all
// of them. A read's part goes to the drive first; its data come from the memory when the drive has completed it. Space
// is used and freed in the order of the requests. Side commands pass to the drive's side lane unchanged, one at a time.
//
// Guarantee: each command gets one response. A stream's response has the first error of its parts and the number of
// blocks before it. Each stream request moves exactly its beats, none before the request was taken. The drive never
// gets a part whose data the memory has not acknowledged. Space is not used again before the drive (writes) or the
// stream (reads) has finished with it. A source or a reader that stalls does not block the memory.
//
// A request beyond the namespace moves its beats and ends with StatusRange. A request with zero blocks or an address
// ends with StatusInvalid. An error of the memory is StatusMemory: a part whose data were not written is not given to
// the drive. When the drive goes, the parts that it was not given end with StatusGone, because the next drive may have
// blocks of another size.
//
// The ring computes a flush's `done` itself, because the drive does not know of parts that it was not given: it counts,
// over the parts that the ring had finished when the drive took the flush, each write's blocks before its first error.
`default_nettype none

module spate_ring_ddr
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the streams and of the memory's port: 128, 256 or 512
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses, up to 48
    parameter int unsigned PartBytes = 524288,  // of the largest part; a power of two, at least 4096
    parameter int unsigned Parts = 32,  // in flight; a power of two
    localparam int unsigned SectorBits = AddressWidth - 9
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // Constant, also during reset. The ring's address as the memory's port sees it and as the drive sees it, both
    // multiples of 4096, and its size in units of 4096 bytes, at least 2.
    input wire logic [AddressWidth-1:0] ring_base_i,
    input wire logic [            63:0] ring_drive_base_i,
    input wire logic [  SectorBits-4:0] ring_pages_i,

    input wire drive_t drive_i,

    // The user's side, like that of a drive with streams.
    input  wire logic                     command_valid_i,
    output logic                          command_ready_o,
    input  wire command_t                 command_i,
    input  wire logic                     side_valid_i,
    output logic                          side_ready_o,
    input  wire command_t                 side_i,
    output logic                          response_valid_o,
    input  wire logic                     response_ready_i,
    output response_t                     response_o,
    input  wire logic                     data_valid_i,
    output logic                          data_ready_o,
    input  wire logic     [DataWidth-1:0] data_i,
    output logic                          data_valid_o,
    input  wire logic                     data_ready_i,
    output logic          [DataWidth-1:0] data_o,
    output logic                          data_last_o,
    output logic                          data_error_o,
    output logic          [ LbaWidth-1:0] written_blocks_o,  // what a flush's `done` would be now

    // The drive.
    output logic           drive_command_valid_o,
    input  wire logic      drive_command_ready_i,
    output command_t       drive_command_o,
    output logic           drive_side_valid_o,
    input  wire logic      drive_side_ready_i,
    output command_t       drive_side_o,
    input  wire logic      drive_response_valid_i,
    output logic           drive_response_ready_o,
    input  wire response_t drive_response_i,

    // The memory: AXI4, one identifier, incrementing bursts of whole beats.
    output logic                         m_axi_awvalid_o,
    input  wire logic                    m_axi_awready_i,
    output logic      [AddressWidth-1:0] m_axi_awaddr_o,
    output logic      [             7:0] m_axi_awlen_o,
    output logic      [             2:0] m_axi_awsize_o,
    output logic      [             1:0] m_axi_awburst_o,
    output logic                         m_axi_wvalid_o,
    input  wire logic                    m_axi_wready_i,
    output logic      [   DataWidth-1:0] m_axi_wdata_o,
    output logic      [ DataWidth/8-1:0] m_axi_wstrb_o,
    output logic                         m_axi_wlast_o,
    input  wire logic                    m_axi_bvalid_i,
    output logic                         m_axi_bready_o,
    input  wire logic [             1:0] m_axi_bresp_i,
    output logic                         m_axi_arvalid_o,
    input  wire logic                    m_axi_arready_i,
    output logic      [AddressWidth-1:0] m_axi_araddr_o,
    output logic      [             7:0] m_axi_arlen_o,
    output logic      [             2:0] m_axi_arsize_o,
    output logic      [             1:0] m_axi_arburst_o,
    input  wire logic                    m_axi_rvalid_i,
    output logic                         m_axi_rready_o,
    input  wire logic [   DataWidth-1:0] m_axi_rdata_i,
    input  wire logic [             1:0] m_axi_rresp_i
);

  localparam int unsigned SectorBeats = 512 / (DataWidth / 8);
  localparam int unsigned SectorBeatBits = $clog2(SectorBeats);
  localparam int unsigned PartBits = $clog2(PartBytes / 512) + 1;  // for a part's number of sectors

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_data_width
    $error("spate_ring_ddr: DataWidth must be 128, 256 or 512");
  end
  if (AddressWidth < 16 || AddressWidth > 48) begin : gen_address_width
    $error("spate_ring_ddr: AddressWidth must be 16 ... 48");
  end
  if (PartBytes < 4096 || (PartBytes & (PartBytes - 1)) != 0 || $clog2(PartBytes) > AddressWidth - 1) begin : gen_part
    $error("spate_ring_ddr: PartBytes must be a power of two, at least 4096, and fit the ring");
  end

  // ---- requests are split into parts, each with a place in the ring ----

  ring_part_t part;
  logic [SectorBits-1:0] part_place;
  logic [PartBits-1:0] part_sectors, freed;
  logic part_valid, placed, issue_queue_ready, free;

  spate_ring_cut #(
      .AddressWidth(AddressWidth),
      .PartBytes(PartBytes)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .ring_pages_i,
      .drive_i,
      .command_valid_i,
      .command_ready_o,
      .command_i,
      .part_valid_o(part_valid),
      .part_ready_i(issue_queue_ready),
      .part_o(part),
      .part_place_o(part_place),
      .part_sectors_o(part_sectors),
      .free_i(free),
      .free_sectors_i(freed)
  );
  assign placed = part_valid && issue_queue_ready;

  // ---- a write's data go to the memory ----

  logic written_valid, written_take, written_error;

  spate_ring_store #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .PartBits(PartBits),
      .Parts(Parts)
  ) u_store (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .part_valid_i(placed && part.write && !part.invalid),
      .part_place_i(part_place),
      .part_sectors_i(part_sectors),
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .stored_valid_o(written_valid),
      .stored_ready_i(written_take),
      .stored_error_o(written_error),
      .m_axi_awvalid_o,
      .m_axi_awready_i,
      .m_axi_awaddr_o,
      .m_axi_awlen_o,
      .m_axi_awsize_o,
      .m_axi_awburst_o,
      .m_axi_wvalid_o,
      .m_axi_wready_i,
      .m_axi_wdata_o,
      .m_axi_wstrb_o,
      .m_axi_wlast_o,
      .m_axi_bvalid_i,
      .m_axi_bready_o,
      .m_axi_bresp_i
  );

  // ---- parts go to the drive in order ----

  typedef struct packed {
    logic                  write;
    logic                  dead;            // not sent to the drive
    logic                  invalid;
    logic                  gone;
    logic [SectorBits-1:0] place;
    logic [PartBits-1:0]   sectors;
    logic                  last;
    logic                  from_registers;
    logic [15:0]           tag;
  } order_t;

  ring_part_t issue;
  logic [SectorBits-1:0] issue_place;
  logic [PartBits-1:0] issue_sectors;
  order_t issued, order;
  logic [$clog2(Parts):0] issue_count, gone_q;  // gone_q: how many parts, from the queue's head, lost their drive
  logic issue_valid, issue_may_go, issue_gone, issue_dead, issue_go, order_ready, order_valid, order_take;
  logic side_busy_q, side_from_registers_q, side_is_flush_q, side_take;
  logic [15:0] side_tag_q;
  logic [LbaWidth-1:0] written_q, side_written_q;

  spate_fifo #(
      .Width($bits(ring_part_t) + SectorBits + PartBits),
      .Depth(Parts),
      .Registered(1'b1)
  ) u_issue (
      .clk_i,
      .rst_ni,
      .in_valid_i(part_valid),
      .in_ready_o(issue_queue_ready),
      .in_data_i({part, part_place, part_sectors}),
      .out_valid_o(issue_valid),
      .out_ready_i(issue_go),
      .out_data_o({issue, issue_place, issue_sectors}),
      .count_o(issue_count)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) gone_q <= '0;
    else
      gone_q <= (drive_i.gone ? issue_count : gone_q) - ($clog2(
          Parts
      ) + 1)'(issue_go && (drive_i.gone || gone_q != '0));
  end

  assign issue_may_go = issue_valid && order_ready && (!issue.write || issue.invalid || written_valid);
  assign issue_gone = issue.gone || drive_i.gone || gone_q != '0;
  assign issue_dead = issue.invalid || issue_gone || (issue.write && written_error);
  assign issue_go = issue_may_go && (issue_dead || drive_command_ready_i);
  assign written_take = issue_go && issue.write && !issue.invalid;

  assign drive_command_valid_o = issue_may_go && !issue_dead;
  assign drive_command_o = '{
          from_registers: 1'b0,
          tag: 16'd0,
          op: issue.write ? OpWrite : OpRead,
          source: SourceAddress,
          fua: issue.fua,
          address: ring_drive_base_i + 64'({issue_place, 9'd0}),
          lba: {issue.beyond, 63'(issue.lba)},
          blocks: drive_i.block_4096 ? 32'(issue_sectors >> 3) : 32'(issue_sectors)
      };

  // One side command at a time: the tag tells the lane of a response.
  assign drive_side_valid_o = side_valid_i && !side_busy_q;
  assign side_ready_o = drive_side_ready_i && !side_busy_q;
  assign side_take = side_valid_i && side_ready_o;
  always_comb begin
    drive_side_o = side_i;
    drive_side_o.tag = 16'd1;
  end

  assign issued = '{
          write: issue.write,
          dead: issue_dead,
          invalid: issue.invalid,
          gone: issue_gone,
          place: issue_place,
          sectors: issue_sectors,
          last: issue.last,
          from_registers: issue.from_registers,
          tag: issue.tag
      };
  spate_fifo #(
      .Width($bits(order_t)),
      .Depth(Parts),
      .Registered(1'b1)
  ) u_order (
      .clk_i,
      .rst_ni,
      .in_valid_i(issue_go),
      .in_ready_o(order_ready),
      .in_data_i(issued),
      .out_valid_o(order_valid),
      .out_ready_i(order_take),
      .out_data_o(order),
      .count_o()
  );

  // ---- the drive's responses: there is room for all, so that the response of a side command never waits ----

  logic answer_valid;
  logic [15:0] answer_status;
  logic [PartBits-1:0] answer_done;
  logic side_answered, side_response_valid_q, side_response_take;
  response_t side_response_q;

  assign side_answered = drive_response_valid_i && drive_response_i.tag[0];
  assign drive_response_ready_o = 1'b1;

  spate_fifo #(
      .Width(16 + PartBits),
      .Depth(Parts)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .in_valid_i(drive_response_valid_i && !drive_response_i.tag[0]),
      .in_ready_o(),
      .in_data_i({drive_response_i.status, PartBits'(drive_response_i.done)}),
      .out_valid_o(answer_valid),
      .out_ready_i(order_take && !order.dead),
      .out_data_o({answer_status, answer_done}),
      .count_o()
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      side_busy_q <= 1'b0;
      side_response_valid_q <= 1'b0;
    end else begin
      if (side_take) side_busy_q <= 1'b1;
      else if (side_response_take) side_busy_q <= 1'b0;
      if (side_answered) side_response_valid_q <= 1'b1;
      else if (side_response_take) side_response_valid_q <= 1'b0;
    end
    if (side_take) begin
      side_is_flush_q <= side_i.op == OpFlush;
      side_written_q <= written_q;
      side_from_registers_q <= side_i.from_registers;
      side_tag_q <= side_i.tag;
    end
    if (side_answered) begin
      side_response_q <= '{
          from_registers: side_from_registers_q,
          tag: side_tag_q,
          status: drive_response_i.status,
          done: side_is_flush_q ? 64'(side_written_q) : drive_response_i.done
      };
    end
  end

  // ---- a read's data are fetched when the drive has responded ----

  typedef struct packed {
    logic                read;            // it has beats
    logic                write;
    logic [PartBits-1:0] sectors;
    logic                last;
    logic                from_registers;
    logic [15:0]         tag;
    logic [15:0]         status;
    logic [PartBits-1:0] done;
  } fetched_t;

  fetched_t fetched, current;
  logic fetched_ready, current_valid, current_done, fetch_ready;
  logic beat_valid, beat_error, take_beat;

  assign order_take = order_valid && (order.dead || answer_valid) && fetched_ready && fetch_ready;
  assign fetched = '{
          read: !order.write && !order.invalid,
          write: order.write,
          sectors: order.sectors,
          last: order.last,
          from_registers: order.from_registers,
          tag: order.tag,
          status: order.invalid ? StatusInvalid : order.gone ? StatusGone : order.dead ? StatusMemory : answer_status,
          done: order.dead ? '0 : answer_done
      };
  spate_fifo #(
      .Width($bits(fetched_t)),
      .Depth(4)
  ) u_fetched (
      .clk_i,
      .rst_ni,
      .in_valid_i(order_take),
      .in_ready_o(fetched_ready),
      .in_data_i(fetched),
      .out_valid_o(current_valid),
      .out_ready_i(current_done),
      .out_data_o(current),
      .count_o()
  );

  spate_ring_fetch #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .PartBits(PartBits)
  ) u_fetch (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .part_valid_i(order_take && fetched.read),
      .part_ready_o(fetch_ready),
      .part_place_i(order.place),
      .part_sectors_i(order.sectors),
      .beat_valid_o(beat_valid),
      .beat_ready_i(take_beat),
      .beat_o(data_o),
      .beat_error_o(beat_error),
      .m_axi_arvalid_o,
      .m_axi_arready_i,
      .m_axi_araddr_o,
      .m_axi_arlen_o,
      .m_axi_arsize_o,
      .m_axi_arburst_o,
      .m_axi_rvalid_i,
      .m_axi_rready_o,
      .m_axi_rdata_i,
      .m_axi_rresp_i
  );

  // ---- beats to the stream, free space, responses ----

  logic [PartBits-1:0] sector_q;  // the number of the part's sector that moves: 1 is the first
  logic [SectorBeatBits-1:0] beat_q;  // of the sector
  logic beats_end, response_room, memory_error_q, memory_error;
  logic [15:0] status_q, status, part_status;
  logic [31:0] done_q, done, part_done;

  assign response_room = !(current.last && response_valid_o);
  assign beats_end = sector_q == current.sectors && beat_q == '1;
  assign data_valid_o = current_valid && current.read && beat_valid && (response_room || !beats_end);
  assign data_last_o = current.last && beats_end;
  assign data_error_o = beat_error || current.status != StatusOk;
  assign take_beat = data_valid_o && data_ready_i;
  assign current_done = current_valid && (current.read ? take_beat && beats_end : response_room);
  assign free = current_done;
  assign freed = current.sectors;

  // If the memory fails to return a part that the drive completed, none of its blocks is known to be good.
  assign memory_error = memory_error_q || (current.read && beat_error);
  assign part_status = current.status == StatusOk && memory_error ? StatusMemory : current.status;
  assign part_done = memory_error ? '0 : 32'(current.done);
  assign status = status_q != StatusOk ? status_q : part_status;
  assign done = status_q != StatusOk ? done_q : done_q + part_done;
  assign written_blocks_o = written_q;
  assign side_response_take = side_response_valid_q && !response_valid_o && !(current_done && current.last);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sector_q <= PartBits'(1);
      beat_q <= '0;
      memory_error_q <= 1'b0;
      status_q <= StatusOk;
      done_q <= '0;
      written_q <= '0;
      response_valid_o <= 1'b0;
    end else begin
      if (current_done && current.write && status_q == StatusOk) written_q <= written_q + LbaWidth'(part_done);
      if (current_done) {sector_q, beat_q} <= {PartBits'(1), {SectorBeatBits{1'b0}}};
      else if (take_beat) {sector_q, beat_q} <= {sector_q, beat_q} + 1'b1;
      if (current_done) memory_error_q <= 1'b0;
      else if (take_beat && beat_error) memory_error_q <= 1'b1;
      if (current_done) begin
        status_q <= current.last ? StatusOk : status;
        done_q <= current.last ? '0 : done;
      end
      if ((current_done && current.last) || side_response_take) response_valid_o <= 1'b1;
      else if (response_ready_i) response_valid_o <= 1'b0;
    end
    if (current_done && current.last) begin
      response_o <= '{from_registers: current.from_registers, tag: current.tag, status: status, done: 64'(done)};
    end else if (side_response_take) begin
      response_o <= side_response_q;
    end
  end

`ifdef FORMAL
  // The environment: any commands, a memory and a drive that respond to what they were given, and a drive that goes at
  // any time. A list of the parts that have space, oldest first, is kept beside the ring, from requests and `gone`
  // alone.
  localparam int unsigned Held = 2 * Parts + 4;  // parts that have space
  typedef logic [$clog2(Held+1)-1:0] index_t;

  typedef struct packed {
    logic                  write;
    logic                  invalid;
    logic                  last;
    logic                  doomed;      // its drive went before it was sent
    logic                  given;       // sent to the drive
    logic                  block_4096;  // the block size for which the request was split
    logic [SectorBits-1:0] place;
    logic [PartBits-1:0]   sectors;
  } held_t;

  logic past_reset_q = 1'b0;
  held_t held_q[Held], held_d[Held];
  logic [SectorBits-1:0] wanted_sectors;  // of parts that the store was given, and whose beats are not all there
  index_t count_q, fetched_count, ordered_count, issue_at;

  // ---- the user, the drive and the memory ----

  logic [AddressWidth-1:0] base_q;
  logic [63:0] drive_base_q;
  logic [SectorBits-4:0] pages_q;
  logic block_q, gone_past_q;
  logic asked_doomed_q, asked_block_q, asked_write_q, asked_invalid_q;  // the request that is being split
  logic [34:0] asked_left_q;  // its sectors
  logic [$clog2(Parts):0] drive_owes_q, unstored_q;  // unstored: given to u_store, its answer not taken yet
  logic drive_owes_side_q, data_taken, accepted;
  logic [7:0] owes_q;  // responses that the user is still to get

  logic [SectorBits-1:0] ring_sectors;

  assign ring_sectors = {ring_pages_i, 3'd0};
  assign accepted = command_valid_i && command_ready_o;
  assign data_taken = drive_command_valid_o && drive_command_ready_i;
  assign fetched_count = index_t'(u_fetched.count_o);
  assign ordered_count = index_t'(u_order.count_o);
  assign wanted_sectors = u_store.given_sectors_q - u_store.taken_sectors_q;
  assign issue_at = fetched_count + ordered_count;  // of the oldest one that was not issued

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i[11:0] == '0 && ring_drive_base_i[11:0] == '0 && ring_pages_i == (SectorBits - 3)'(2));
    assume (17'(ring_base_i) + {1'b0, ring_sectors, 9'd0} <= 17'h10000);
    if (past_reset_q) begin
      assume (ring_base_i == base_q && ring_drive_base_i == drive_base_q && ring_pages_i == pages_q);
      if (!drive_i.gone && !gone_past_q && (count_q != '0 || !u_cut.idle)) assume (drive_i.block_4096 == block_q);
    end
    if (command_valid_i) assume (is_data_command(command_i));
    if (side_valid_i) assume (!is_data_command(side_i));
    assume (!m_axi_bvalid_i || u_store.u_bursts.out_valid_o);
    assume (!drive_response_valid_i || (drive_response_i.tag[0] ? drive_owes_side_q : drive_owes_q != '0));
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    base_q <= ring_base_i;
    drive_base_q <= ring_drive_base_i;
    pages_q <= ring_pages_i;
    block_q <= drive_i.block_4096;
    gone_past_q <= drive_i.gone;
    if (accepted) begin
      asked_write_q <= command_i.op == OpWrite;
      asked_invalid_q <= command_i.source != SourceStream || command_i.blocks == '0;
      asked_block_q <= drive_i.block_4096;
      asked_left_q <= command_i.source != SourceStream ? '0 : drive_i.block_4096 ? 35'(command_i.blocks) * 35'd8 :
          35'(command_i.blocks);
    end else if (placed) asked_left_q <= asked_left_q - 35'(part_sectors);
    asked_doomed_q <= drive_i.gone || (!accepted && asked_doomed_q);
    if (!rst_ni) begin
      {drive_owes_q, drive_owes_side_q, unstored_q, owes_q} <= '0;
    end else begin
      drive_owes_q <= drive_owes_q + ($clog2(
          Parts
      ) + 1)'(data_taken) - ($clog2(
          Parts
      ) + 1)'(drive_response_valid_i && !drive_response_i.tag[0]);
      unstored_q <= unstored_q + ($clog2(
          Parts
      ) + 1)'(placed && part.write && !part.invalid) - ($clog2(
          Parts
      ) + 1)'(written_take);
      if (side_take) drive_owes_side_q <= 1'b1;
      else if (drive_response_valid_i && drive_response_i.tag[0]) drive_owes_side_q <= 1'b0;
      owes_q <= owes_q + 8'(accepted) + 8'(side_take) - 8'(response_valid_o && response_ready_i);
    end
  end

  // ---- the list ----

  always_comb begin
    held_d = held_q;
    for (int unsigned k = 0; k < Held; k++) begin
      if (data_taken && issue_at == index_t'(k)) held_d[k].given = 1'b1;
      if (drive_i.gone && index_t'(k) >= issue_at) held_d[k].doomed = 1'b1;
    end
    if (free) for (int unsigned k = 0; k < Held - 1; k++) held_d[k] = held_d[k+1];
    if (placed) begin
      for (int unsigned k = 0; k < Held; k++) begin
        if (index_t'(k) == count_q - index_t'(free))
          held_d[k] = '{
              write: asked_write_q,
              invalid: asked_invalid_q,
              last: asked_left_q == 35'(part_sectors),
              doomed: asked_doomed_q || drive_i.gone,
              given: 1'b0,
              block_4096: asked_block_q,
              place: part_place,
              sectors: part_sectors
          };
      end
    end
  end

  always_ff @(posedge clk_i) begin
    held_q <= held_d;
    count_q <= rst_ni ? count_q + index_t'(placed) - index_t'(free) : '0;
  end

  // ---- sums over it ----

  logic [SectorBits+2:0] space;
  logic [7:0] lasts;
  held_t issue_held;

  always_comb begin
    space = '0;
    lasts = '0;
    issue_held = '0;
    for (int unsigned k = 0; k < Held; k++) begin
      if (index_t'(k) < count_q) begin
        space += (SectorBits + 3)'(held_q[k].sectors);
        lasts += 8'(held_q[k].last);
      end
      if (index_t'(k) == issue_at) issue_held = held_q[k];
    end
  end

  // ---- properties ----

  logic response_waits_q;
  response_t response_past_q;

  always_ff @(posedge clk_i) begin
    response_waits_q <= rst_ni && response_valid_o && !response_ready_i;
    response_past_q <= response_o;
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      // Space: an allocation lies within the ring, contiguous, and overlaps no other.
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
      // The contract of spate_ring_store: the number of parts, each with data, and all within the ring.
      if (placed && part.write && !part.invalid) begin
        assert (unstored_q < ($clog2(Parts) + 1)'(Parts) && part_sectors != '0);
        assert (32'(wanted_sectors) + 32'(part_sectors) <= 32'(ring_sectors));
      end
      // Each part is sent to the drive once at most, with its own blocks, and not after its drive went.
      assert (data_taken == (issue_go && !issued.dead));
      if (data_taken) begin
        assert (index_t'(issue_count) != '0 && !issue_held.given && !issue_held.doomed && !drive_i.gone);
        assert (!issue_held.invalid && drive_command_o.op == (issue_held.write ? OpWrite : OpRead));
        assert (drive_command_o.source == SourceAddress);
        assert (drive_command_o.address == ring_drive_base_i + {48'(issue_held.place), 9'd0});
        assert (drive_i.block_4096 == issue_held.block_4096);
        assert (35'(drive_command_o.blocks) * (drive_i.block_4096 ? 35'd8 : 35'd1) == 35'(issue_held.sectors));
      end
      // Each part has one order, which holds the reason if it is not sent.
      if (issue_go) begin
        assert (order_ready && issued.gone == (issue_held.doomed || drive_i.gone));
      end
      assert (!(drive_response_valid_i && !drive_response_i.tag[0]) || u_answers.in_ready_o);
      // Space is freed in order, as much as was allocated. Beats belong to the oldest part.
      if (free) assert (count_q != '0 && fetched_count != '0 && freed == held_q[0].sectors);
      if (take_beat) assert (!held_q[0].write && !held_q[0].invalid && fetched_count != '0);
      if (take_beat) assert (data_last_o == (held_q[0].last && beats_end));
      // One response for each command.
      assert (owes_q == lasts + 8'(!u_cut.idle) + 8'(side_busy_q) + 8'(response_valid_o));
      if (response_waits_q) assert (response_valid_o && response_o == response_past_q);

      assert ((SectorBits + 3)'(u_cut.room_q) + space == (SectorBits + 3)'(ring_sectors));
      // A drive that is gone, its parts while another drive is there, and the ring's end, with both block sizes.
      cover (issue_go && issued.gone && !drive_i.gone && count_q > index_t'(1));
      cover (data_taken && issue_at != '0 && !held_q[0].given);
      cover (placed && part_place != '0 && u_cut.wraps && !asked_doomed_q);
      cover (placed && asked_block_q && asked_write_q && count_q != '0 && !held_q[0].block_4096);
    end
  end
`endif

endmodule

`default_nettype wire
