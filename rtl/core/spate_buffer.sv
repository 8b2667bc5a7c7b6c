// SPDX-License-Identifier: Apache-2.0
//
// The data buffer, the core's only memory. It is one RAM of RamBytes with one write port and one read port. At its end
// are two pages of 4 KiB: the admin page, where Identify and log pages arrive, and the mailbox. In stream mode the ring
// lies before them; the drive sees the ring twice in a row, so that no PRP list wraps. Memory mode has no ring:
// RamBytes is 8192.
//
// Guarantee: the drive's accesses never wait. Other accesses wait for a cycle in which the drive does not use the port,
// and get one as long as the drive leaves cycles free. Space that was allocated is not allocated again before it was
// freed. Reads return what was last written.
`default_nettype none

module spate_buffer
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128, 256 or 512
    parameter int unsigned RamBytes = 262144,  // a multiple of 4096, at least 8192; more than 8192: there is a ring
    parameter RamStyle = "auto",  // the attribute ram_style: "auto", "block", "ultra"
    parameter int unsigned RamRegisters = 1,  // registers after the memory, 1 to 4
    // Derived: no instance sets these.
    parameter int unsigned BeatBytes = DataWidth / 8,
    parameter int unsigned Beats = RamBytes / BeatBytes,
    parameter int unsigned BeatBits = $clog2(Beats),
    parameter int unsigned RingSectors = (RamBytes - 8192) / 512,
    parameter int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // The drive's reads: an address each cycle. The beat comes ReadLatency = 2 + RamRegisters cycles later: with one
    // register, enable in cycle 0, data in cycle 3.
    input  wire logic                 target_read_i,
    input  wire logic [ BeatBits-1:0] target_read_beat_i,
    output logic      [DataWidth-1:0] target_read_data_o,

    // The drive's writes.
    input wire logic                   target_write_i,
    input wire logic                   target_drop_i,         // this beat takes the port, but is not written
    input wire logic [   BeatBits-1:0] target_write_beat_i,
    input wire logic [  DataWidth-1:0] target_write_data_i,
    input wire logic [DataWidth/8-1:0] target_write_strobe_i,

    // Allocation of ring space, in order: `sectors` from `base` on, modulo RingSectors, in the cycle where valid and
    // ready are high. `sectors` must be there a cycle before `valid`. Space is freed in the order of allocation.
    input wire logic alloc_valid_i,
    output logic alloc_ready_o,  // a register: there is room for the `sectors` of the last cycle
    input wire logic [SectorsWidth-1:0] alloc_sectors_i,
    output logic [RingBits-1:0] alloc_base_o,
    input wire logic free_valid_i,
    input wire logic [SectorsWidth-1:0] free_sectors_i,

    // The write stream's beats, whole ones. The drive reads a beat from the cycle after it was taken on.
    input  wire logic                 fill_valid_i,
    output logic                      fill_ready_o,
    input  wire logic [ BeatBits-1:0] fill_beat_i,
    input  wire logic [DataWidth-1:0] fill_data_i,

    // Addresses of beats for the read stream. The beats come in the order of the addresses; a beat waits until it is
    // taken.
    input  wire logic                 drain_valid_i,
    output logic                      drain_ready_o,
    input  wire logic [ BeatBits-1:0] drain_beat_i,
    output logic                      drained_valid_o,
    input  wire logic                 drained_ready_i,
    output logic      [DataWidth-1:0] drained_data_o,

    // The pages, a dword at a time: bit 10 of `dword` selects the mailbox. One access at a time; read data come with
    // `done`.
    input  wire logic                page_valid_i,
    input  wire page_access_t        page_i,
    output logic                     page_done_o,   // a pulse; `valid` may stay high for the next access
    output logic              [31:0] page_data_o
);

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_data_width
    $error("spate_buffer: DataWidth must be 128, 256 or 512");
  end
  if (RamBytes < 8192 || RamBytes % 4096 != 0) begin : gen_ram_bytes
    $error("spate_buffer: RamBytes must be a multiple of 4096, at least 8192");
  end

  localparam logic [63:0] Style = 64'(RamStyle);
  if (Style != 64'("auto") && Style != 64'("block") && Style != 64'("ultra")) begin : gen_ram_style
    $error("spate_buffer: RamStyle must be auto, block or ultra");
  end
  if (RamRegisters < 1 || RamRegisters > 4) begin : gen_ram_registers
    $error("spate_buffer: RamRegisters must be 1 to 4");
  end

  localparam int unsigned ReadLatency = 2 + RamRegisters;
  localparam int unsigned DwordBits = $clog2(BeatBytes / 4);  // of a dword's place in its beat
  localparam logic [BeatBits-1:0] PageBeat = BeatBits'((RamBytes - 8192) / BeatBytes);
  // Beats read ahead. The place of a beat is free again ReadLatency + 3 cycles after its read at the earliest.
  localparam int unsigned DrainDepth = 16;

  // ---- arbitration of the two ports ----
  // The drive goes first. Of the page and the stream, the one that did not use the port last goes next.

  logic page_busy_q, page_was_last_write_q, page_was_last_read_q;
  logic page_wants_write, page_wants_read, page_write, page_read, fill, drain;
  logic drain_room, drain_wanted;

  assign page_wants_write = page_valid_i && page_i.write && !page_busy_q;
  assign page_wants_read = page_valid_i && !page_i.write && !page_busy_q;
  assign drain_wanted = drain_valid_i && drain_room;

  assign page_write = page_wants_write && !target_write_i && !(page_was_last_write_q && fill_valid_i);
  assign page_read = page_wants_read && !target_read_i && !(page_was_last_read_q && drain_wanted);
  assign fill_ready_o = !target_write_i && !(page_wants_write && !page_was_last_write_q);
  assign drain_ready_o = drain_room && !target_read_i && !(page_wants_read && !page_was_last_read_q);
  assign fill = fill_valid_i && fill_ready_o;
  assign drain = drain_valid_i && drain_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      page_was_last_write_q <= 1'b0;
      page_was_last_read_q <= 1'b0;
    end else begin
      if (page_write || fill) page_was_last_write_q <= page_write;
      if (page_read || drain) page_was_last_read_q <= page_read;
    end
  end

  // ---- the memory, with registers before and after it ----

  logic [BeatBits-1:0] page_beat, read_beat_q, write_beat_q;
  logic [DataWidth-1:0] write_data_q, ram_data_q, read_data;
  logic [RamRegisters-1:0][DataWidth-1:0] read_data_q;
  logic [BeatBytes-1:0] page_strobe, write_strobe_q;

  assign page_beat = PageBeat + BeatBits'(page_i.dword[10:DwordBits]);
  assign page_strobe = BeatBytes'(4'hf) << {page_i.dword[DwordBits-1:0], 2'b00};

  always_ff @(posedge clk_i) begin
    if (target_read_i) read_beat_q <= target_read_beat_i;
    else if (page_read) read_beat_q <= page_beat;
    else read_beat_q <= drain_beat_i;

    if (target_write_i) begin
      write_beat_q <= target_write_beat_i;
      write_data_q <= target_write_data_i;
    end else if (page_write) begin
      write_beat_q <= page_beat;
      write_data_q <= {BeatBytes / 4{page_i.data}};
    end else begin
      write_beat_q <= fill_beat_i;
      write_data_q <= fill_data_i;
    end

    if (!rst_ni) write_strobe_q <= '0;
    else if (target_write_i) write_strobe_q <= target_drop_i ? '0 : target_write_strobe_i;
    else if (page_write) write_strobe_q <= page_strobe;
    else write_strobe_q <= {BeatBytes{fill}};
  end

  // A beat that is read and written in one cycle may return the old or the new data: nothing depends on it.
  (* ram_style = RamStyle *) logic [DataWidth-1:0] ram[Beats];

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < BeatBytes; i++) begin
      if (write_strobe_q[i]) ram[write_beat_q][8*i+:8] <= write_data_q[8*i+:8];
    end
  end

  always_ff @(posedge clk_i) begin
    ram_data_q <= ram[read_beat_q];
    read_data_q <= (RamRegisters * DataWidth)'({read_data_q, ram_data_q});
  end

  assign read_data = read_data_q[RamRegisters-1];
  assign target_read_data_o = read_data;

  // ---- the destination of the beat that the memory returns ----

  logic [ReadLatency-1:0] page_read_q, drain_q;  // one bit for each cycle of the latency
  logic page_done_write_q;
  logic [DwordBits-1:0] page_lane_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      page_read_q <= '0;
      drain_q <= '0;
      page_done_write_q <= 1'b0;
      page_busy_q <= 1'b0;
    end else begin
      page_read_q <= {page_read_q[ReadLatency-2:0], page_read};
      drain_q <= {drain_q[ReadLatency-2:0], drain};
      page_done_write_q <= page_write;
      if (page_read || page_write) page_busy_q <= 1'b1;
      else if (page_done_o) page_busy_q <= 1'b0;
    end
    if (page_read) page_lane_q <= page_i.dword[DwordBits-1:0];
  end

  assign page_done_o = page_read_q[ReadLatency-1] || page_done_write_q;
  assign page_data_o = read_data[32*page_lane_q+:32];

  // Beats for the stream wait here. Those that are being read and those that wait are never more than the queue can
  // hold.
  logic [$clog2(DrainDepth):0] drain_count_q;
  logic drained;

  assign drain_room = drain_count_q != ($clog2(DrainDepth) + 1)'(DrainDepth);
  assign drained = drained_valid_o && drained_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) drain_count_q <= '0;
    else if (drain && !drained) drain_count_q <= drain_count_q + 1'b1;
    else if (!drain && drained) drain_count_q <= drain_count_q - 1'b1;
  end

  spate_fifo #(
      .Width(DataWidth),
      .Depth(DrainDepth),
      .Registered(1'b1)
  ) u_drained (
      .clk_i,
      .rst_ni,
      .in_valid_i(drain_q[ReadLatency-1]),
      .in_ready_o(),
      .in_data_i(read_data),
      .out_valid_o(drained_valid_o),
      .out_ready_i(drained_ready_i),
      .out_data_o(drained_data_o),
      .count_o()
  );

  // ---- allocation of ring space ----

  if (RingSectors > 0) begin : gen_ring
    localparam int unsigned RoomBits = $clog2(RingSectors + 1);
    localparam int unsigned SumBits = (RoomBits > SectorsWidth ? RoomBits : SectorsWidth) + 1;

    logic [RingBits-1:0] base_q;
    logic [RoomBits-1:0] room_q;  // sectors that are free
    logic [SumBits-1:0] base_end;
    logic alloc;

    assign alloc_base_o = base_q;
    assign alloc = alloc_valid_i && alloc_ready_o;
    assign base_end = SumBits'(base_q) + SumBits'(alloc_sectors_i);

    // Space that is freed in the meantime makes more room, never less.
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        base_q <= '0;
        room_q <= RoomBits'(RingSectors);
        alloc_ready_o <= 1'b0;
      end else begin
        alloc_ready_o <= !alloc && SumBits'(alloc_sectors_i) <= SumBits'(room_q);
        if (alloc) begin
          base_q <= RingBits'(base_end >= SumBits'(RingSectors) ? base_end - SumBits'(RingSectors) : base_end);
        end
        room_q <= room_q - (alloc ? RoomBits'(alloc_sectors_i) : '0) + (free_valid_i ? RoomBits'(free_sectors_i) : '0);
      end
    end
  end else begin : gen_no_ring
    assign alloc_ready_o = 1'b0;
    assign alloc_base_o = '0;
  end

endmodule

`default_nettype wire
