// SPDX-License-Identifier: Apache-2.0
//
// The last stage of a spate_ring_ddr: parts that ended give a read's data to the stream, their space back, and their
// request its response.
//
// Guarantee: the beats of reads leave in order, each once, and are offered until they are taken. A request's response
// comes after its beats, with the first error of its parts and the number of blocks before that. A side command's
// response waits for no reader of the stream, and a beat for no reader of responses, except for the last beat of a
// request while the response of an earlier request waits.
`default_nettype none

module spate_ring_deliver
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the stream and of the memory's port: 128, 256 or 512
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses
    parameter int unsigned PartBits = 11,  // width of a part's number of sectors
    // Derived: no instance sets it.
    parameter int unsigned SectorBits = AddressWidth - 9
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [AddressWidth-1:0] ring_base_i,  // constant; a multiple of 4096

    input  wire logic                         ended_valid_i,
    output logic                              ended_ready_o,
    input  wire ring_ended_t                  ended_i,
    input  wire logic        [SectorBits-1:0] ended_place_i,
    input  wire logic        [  PartBits-1:0] ended_sectors_i,
    input  wire logic        [  PartBits-1:0] ended_done_i,

    output logic                      data_valid_o,
    input  wire logic                 data_ready_i,
    output logic      [DataWidth-1:0] data_o,
    output logic                      data_last_o,
    output logic                      data_error_o,

    output logic                free_o,         // a part's place
    output logic [PartBits-1:0] free_sectors_o,

    input  wire logic                     side_valid_i,
    output logic                          side_ready_o,
    input  wire response_t                side_i,
    output logic                          response_valid_o,
    input  wire logic                     response_ready_i,
    output response_t                     response_o,
    output logic           [LbaWidth-1:0] written_blocks_o,  // of writes, each up to its first error

    // The memory: AXI4, one identifier, incrementing bursts of whole beats.
    output axi_read_request_t                       m_axi_o,
    input  wire axi_read_response_t                 m_axi_i,
    input  wire logic               [DataWidth-1:0] m_axi_rdata_i
);

  localparam int unsigned SectorBeatBits = $clog2(4096 / DataWidth);
  localparam int unsigned BeatBits = PartBits + SectorBeatBits;  // for a part's number of beats

  // ---- parts whose data are requested from the memory ----

  ring_ended_t fetched;
  logic [PartBits-1:0] fetched_sectors, fetched_done;
  logic take, fetch_ready, queue_ready, fetched_valid, load;
  logic beat_valid, beat_error, take_beat;

  assign ended_ready_o = queue_ready && fetch_ready;
  assign take = ended_valid_i && ended_ready_o;

  spate_fifo #(
      .Width($bits(ring_ended_t) + 2 * PartBits),
      .Depth(4)
  ) u_fetched (
      .clk_i,
      .rst_ni,
      .in_valid_i(take),
      .in_ready_o(queue_ready),
      .in_data_i({ended_i, ended_sectors_i, ended_done_i}),
      .out_valid_o(fetched_valid),
      .out_ready_i(load),
      .out_data_o({fetched, fetched_sectors, fetched_done}),
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
      .part_valid_i(take && ended_i.read),
      .part_ready_o(fetch_ready),
      .part_place_i(ended_place_i),
      .part_sectors_i(ended_sectors_i),
      .beat_valid_o(beat_valid),
      .beat_ready_i(take_beat),
      .beat_o(data_o),
      .beat_error_o(beat_error),
      .m_axi_o,
      .m_axi_i,
      .m_axi_rdata_i
  );

  // ---- the oldest one: its beats ----

  ring_ended_t part_q;
  logic [PartBits-1:0] sectors_q, done_q;
  logic [BeatBits-1:0] beats_q;  // that are left, after the one that is offered
  logic valid_q, last_beat_q, memory_error_q, memory_error, part_done, response_room;

  assign load = fetched_valid && (!valid_q || part_done);
  assign data_valid_o = valid_q && part_q.read && beat_valid && (response_room || !last_beat_q);
  assign data_last_o = part_q.last && last_beat_q;
  assign data_error_o = beat_error || part_q.failed;
  assign take_beat = data_valid_o && data_ready_i;
  assign part_done = valid_q && (part_q.read ? take_beat && last_beat_q : response_room);
  assign free_o = part_done;
  assign free_sectors_o = sectors_q;
  assign memory_error = memory_error_q || (part_q.read && beat_error);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      memory_error_q <= 1'b0;
    end else begin
      if (load) valid_q <= 1'b1;
      else if (part_done) valid_q <= 1'b0;
      if (part_done) memory_error_q <= 1'b0;
      else if (take_beat && beat_error) memory_error_q <= 1'b1;
    end
    if (load) begin
      part_q <= fetched;
      sectors_q <= fetched_sectors;
      done_q <= fetched_done;
      beats_q <= {fetched_sectors, {SectorBeatBits{1'b0}}} - 1'b1;
      last_beat_q <= 1'b0;  // a sector has several beats
    end else if (take_beat) begin
      beats_q <= beats_q - 1'b1;
      last_beat_q <= beats_q == BeatBits'(1);
    end
  end

  // ---- what became of it counts for its request ----

  // In the cycle after it ended. If the memory fails to return a part that the drive completed, none of its blocks is
  // known to be good.
  typedef struct packed {
    logic                write;
    logic                last;
    logic                failed;
    logic                from_registers;
    logic [15:0]         tag;
    logic [15:0]         status;
    logic [PartBits-1:0] done;
  } result_t;

  result_t result_q;
  logic result_valid_q, failed_q;  // failed: a part of the request did
  logic [15:0] status_q;
  logic [31:0] done_sum_q, done_sum;
  logic response_take, stream_valid_q;
  response_t stream_q;

  // The last part of a request waits until the response before it has left for the output.
  assign response_room = !part_q.last || !(stream_valid_q || (result_valid_q && result_q.last));
  assign done_sum = failed_q ? done_sum_q : done_sum_q + 32'(result_q.done);

  always_ff @(posedge clk_i) begin
    result_valid_q <= rst_ni && part_done;
    result_q <= '{
        write: part_q.write,
        last: part_q.last,
        failed: part_q.failed || memory_error,
        from_registers: part_q.from_registers,
        tag: part_q.tag,
        status: !part_q.failed && memory_error ? StatusMemory : part_q.status,
        done: memory_error ? '0 : done_q
    };
    if (!rst_ni) begin
      failed_q <= 1'b0;
      done_sum_q <= '0;
      written_blocks_o <= '0;
      stream_valid_q <= 1'b0;
    end else begin
      if (result_valid_q) begin
        failed_q <= !result_q.last && (failed_q || result_q.failed);
        done_sum_q <= result_q.last ? '0 : done_sum;
        if (result_q.write && !failed_q) written_blocks_o <= written_blocks_o + LbaWidth'(result_q.done);
      end
      if (result_valid_q && result_q.last) stream_valid_q <= 1'b1;
      else if (response_take) stream_valid_q <= 1'b0;
    end
    if (result_valid_q && !failed_q) status_q <= result_q.status;
    if (!stream_valid_q) begin
      stream_q <= '{
          from_registers: result_q.from_registers,
          tag: result_q.tag,
          status: failed_q ? status_q : result_q.status,
          done: 64'(done_sum)
      };
    end
  end

  // ---- responses: those of requests first ----

  logic output_free;
  assign output_free = !response_valid_o;
  assign response_take = stream_valid_q && output_free;
  assign side_ready_o = output_free && !stream_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) response_valid_o <= 1'b0;
    else if (output_free) response_valid_o <= stream_valid_q || side_valid_i;
    else if (response_ready_i) response_valid_o <= 1'b0;
    if (output_free) response_o <= stream_valid_q ? stream_q : side_i;
  end

endmodule

`default_nettype wire
