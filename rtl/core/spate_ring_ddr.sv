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
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the streams and of the memory's port: 128, 256 or 512
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses, up to 48
    parameter int unsigned PartBytes = 524288,  // of the largest part; a power of two, at least 4096
    parameter int unsigned Parts = 32,  // in flight; a power of two
    // Derived: no instance sets it.
    parameter int unsigned SectorBits = AddressWidth - 9
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
    input  wire lanes_request_t                 lanes_i,
    output lanes_response_t                     lanes_o,
    input  wire logic                           data_valid_i,
    output logic                                data_ready_o,
    input  wire logic           [DataWidth-1:0] data_i,
    output logic                                data_valid_o,
    input  wire logic                           data_ready_i,
    output logic                [DataWidth-1:0] data_o,
    output logic                                data_last_o,
    output logic                                data_error_o,
    output logic                [ LbaWidth-1:0] written_blocks_o, // what a flush's `done` would be now

    // The drive.
    output lanes_request_t       drive_lanes_o,
    input  wire lanes_response_t drive_lanes_i,
    output logic                 idle_o,         // no part waits to be given to the drive, or will come of a request

    // The memory: AXI4, one identifier, incrementing bursts of whole beats.
    output axi_request_t                         m_axi_o,
    input  wire axi_response_t                   m_axi_i,
    output logic               [  DataWidth-1:0] m_axi_wdata_o,
    output logic               [DataWidth/8-1:0] m_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] m_axi_rdata_i
);

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

  // ---- requests are split into parts, each with a place in the ring; a write's data go to the memory ----

  ring_part_t part;
  logic [SectorBits-1:0] part_place;
  logic [PartBits-1:0] part_sectors, free_sectors;
  logic part_valid, part_ready, free;
  logic stored_valid, stored_ready, stored_error, cut_idle, order_idle;
  assign idle_o = cut_idle && order_idle;

  spate_ring_cut #(
      .AddressWidth(AddressWidth),
      .PartBytes(PartBytes)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .ring_pages_i,
      .drive_i,
      .command_valid_i(lanes_i.command_valid),
      .command_ready_o(lanes_o.command_ready),
      .command_i(lanes_i.command),
      .part_valid_o(part_valid),
      .part_ready_i(part_ready),
      .part_o(part),
      .part_place_o(part_place),
      .part_sectors_o(part_sectors),
      .free_i(free),
      .free_sectors_i(free_sectors),
      .idle_o(cut_idle)
  );

  spate_ring_store #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .PartBits(PartBits),
      .Parts(Parts)
  ) u_store (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .part_valid_i(part_valid && part_ready && part.write && !part.invalid),
      .part_place_i(part_place),
      .part_sectors_i(part_sectors),
      .data_valid_i,
      .data_ready_o,
      .data_i,
      .stored_valid_o(stored_valid),
      .stored_ready_i(stored_ready),
      .stored_error_o(stored_error),
      .m_axi_o(m_axi_o.write),
      .m_axi_i(m_axi_i.write),
      .m_axi_wdata_o,
      .m_axi_wstrb_o
  );

  // ---- parts go to the drive in order ----

  ring_ended_t ended;
  logic [SectorBits-1:0] ended_place;
  logic [PartBits-1:0] ended_sectors, ended_done;
  logic ended_valid, ended_ready;

  spate_ring_order #(
      .AddressWidth(AddressWidth),
      .PartBits(PartBits),
      .Parts(Parts)
  ) u_order (
      .clk_i,
      .rst_ni,
      .ring_drive_base_i,
      .drive_i,
      .part_valid_i(part_valid),
      .part_ready_o(part_ready),
      .part_i(part),
      .part_place_i(part_place),
      .part_sectors_i(part_sectors),
      .stored_valid_i(stored_valid),
      .stored_ready_o(stored_ready),
      .stored_error_i(stored_error),
      .command_valid_o(drive_lanes_o.command_valid),
      .command_ready_i(drive_lanes_i.command_ready),
      .command_o(drive_lanes_o.command),
      .response_valid_i(drive_lanes_i.response_valid && !drive_lanes_i.response.tag[0]),
      .response_i(drive_lanes_i.response),
      .ended_valid_o(ended_valid),
      .ended_ready_i(ended_ready),
      .ended_o(ended),
      .ended_place_o(ended_place),
      .ended_sectors_o(ended_sectors),
      .ended_done_o(ended_done),
      .idle_o(order_idle)
  );

  // ---- the side lane; the tag of a drive's response tells the lane ----

  logic side_response_valid, side_response_ready;
  response_t side_response;

  spate_ring_side u_side (
      .clk_i,
      .rst_ni,
      .written_blocks_i(written_blocks_o),
      .side_valid_i(lanes_i.side_valid),
      .side_ready_o(lanes_o.side_ready),
      .side_i(lanes_i.side),
      .drive_side_valid_o(drive_lanes_o.side_valid),
      .drive_side_ready_i(drive_lanes_i.side_ready),
      .drive_side_o(drive_lanes_o.side),
      .drive_response_valid_i(drive_lanes_i.response_valid && drive_lanes_i.response.tag[0]),
      .drive_response_i(drive_lanes_i.response),
      .response_valid_o(side_response_valid),
      .response_ready_i(side_response_ready),
      .response_o(side_response)
  );
  assign drive_lanes_o.response_ready = 1'b1;

  // ---- beats to the stream, free space, responses ----

  spate_ring_deliver #(
      .DataWidth(DataWidth),
      .AddressWidth(AddressWidth),
      .PartBits(PartBits)
  ) u_deliver (
      .clk_i,
      .rst_ni,
      .ring_base_i,
      .ended_valid_i(ended_valid),
      .ended_ready_o(ended_ready),
      .ended_i(ended),
      .ended_place_i(ended_place),
      .ended_sectors_i(ended_sectors),
      .ended_done_i(ended_done),
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .data_last_o,
      .data_error_o,
      .free_o(free),
      .free_sectors_o(free_sectors),
      .side_valid_i(side_response_valid),
      .side_ready_o(side_response_ready),
      .side_i(side_response),
      .response_valid_o(lanes_o.response_valid),
      .response_ready_i(lanes_i.response_ready),
      .response_o(lanes_o.response),
      .written_blocks_o,
      .m_axi_o(m_axi_o.read),
      .m_axi_i(m_axi_i.read),
      .m_axi_rdata_i
  );

endmodule

`default_nettype wire
