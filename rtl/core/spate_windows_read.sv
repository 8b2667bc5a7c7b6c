// SPDX-License-Identifier: Apache-2.0
//
// Composes what the drive reads, a beat at a time, in a pipeline of fixed length that runs beside the buffer's own:
//
//   cycle 0  decode the beat's address; ask the submission queue for an entry's slot
//   cycle 1  read the buffer, and the slot's fields
//   cycle 2  find which pages the data are in
//   cycle 3  compose the beat
//   cycle 4  write the composed beat, or the buffer's, to the queue of responses: later with more RamRegisters
//
// Guarantee: every beat that is requested is returned, in order, whatever its address. Reads change nothing. A beat
// starts only when there is room for its response, so the pipeline never waits. There is no gap between
// two requests. Addresses where nothing is mapped read as zeros.
`default_nettype none

module spate_windows_read
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned RamRegisters = 1,  // of the buffer
    parameter int unsigned WindowBits = 23,
    parameter logic [63:0] WindowBase = 64'h0,
    parameter int unsigned SlotBits = 6,
    parameter int unsigned BaseBits = 9,  // stream mode: a sector of the ring; memory mode: an address in dwords
    // Derived: no instance sets these.
    parameter int unsigned BeatBytes = DataWidth / 8,
    parameter int unsigned BeatBits = $clog2(RamBytes / BeatBytes)
) (
    input wire logic        clk_i,
    input wire logic        rst_ni,
    input wire logic        epoch_i,
    input wire logic        block_4096_i,
    input wire logic [31:0] nsid_i,

    input  wire logic                         read_valid_i,
    output logic                              read_ready_o,
    input  wire window_read_t                 read_i,
    output logic                              data_valid_o,
    input  wire logic                         data_ready_i,
    output logic              [DataWidth-1:0] data_o,
    output logic                              last_o,

    output logic                      buffer_read_o,
    output logic      [ BeatBits-1:0] buffer_beat_o,
    input  wire logic [DataWidth-1:0] buffer_data_i,  // three cycles later

    // Cycle 0: the slot of an entry of the I/O queue.
    output logic      [         9:0] sq_index_o,
    input  wire logic                sq_valid_i,
    input  wire logic                sq_side_i,
    input  wire logic [SlotBits-1:0] sq_slot_i,

    // Cycle 1: the content of a slot.
    output logic             [SlotBits-1:0] slot_o,
    input  wire logic                       slot_valid_i,
    input  wire slot_entry_t                slot_i,
    input  wire logic        [BaseBits-1:0] slot_base_i,

    // The entries that the microcode composed.
    input wire logic             sqe_write_i,
    input wire sqe_dword_t       sqe_i,
    input wire logic       [1:0] admin_entry_i,
    input wire logic             admin_entry_valid_i,
    input wire range_t           range_i,

    output logic stray_o,  // pulses
    output logic stale_o
);

  localparam int unsigned BeatShift = $clog2(BeatBytes);
  localparam int unsigned Lanes = DataWidth / 32;
  localparam int unsigned EntryBeats = 512 / DataWidth;  // of a submission entry
  localparam bit HasRing = RamBytes > 8192;
  localparam int unsigned QueueDepth = 16;  // responses; more than the pipeline's length

  // ---- cycle 0: one address after the other ----

  logic busy_q, stray_q, begin_beat, last_beat;
  logic [WindowBits-1:0] address_q;
  logic [8:0] left_q;
  logic [4:0] room_q;  // responses for which there is room

  assign begin_beat = busy_q && room_q != '0;
  assign last_beat = left_q == 9'd1;
  assign read_ready_o = !busy_q || (begin_beat && last_beat);

  logic answer_taken;
  assign answer_taken = data_valid_o && data_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      room_q <= 5'(QueueDepth);
    end else begin
      if (read_ready_o) busy_q <= read_valid_i;
      room_q <= room_q + 5'(answer_taken) - 5'(begin_beat);
    end
    if (read_ready_o) begin
      address_q <= read_i.address[WindowBits-1:0];
      stray_q <= read_i.stray;
      left_q <= read_i.beats;
    end else if (begin_beat) begin
      address_q <= {address_q[WindowBits-1:BeatShift] + 1'b1, {BeatShift{1'b0}}};
      left_q <= left_q - 9'd1;
    end
  end

  region_e region;
  logic stale;
  spate_region #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits)
  ) u_region (
      .clk_i,
      .epoch_i,
      .address_i(address_q),
      .stray_i(stray_q),
      .region_o(region),
      .take_i(1'b1),
      .beat_o(buffer_beat_o),
      .stale_o(stale)
  );
  assign sq_index_o = address_q[15:6];

  // ---- cycle 1: the kind of beat; the buffer is read, and its data come in cycle 4 ----

  typedef enum logic [2:0] {
    FromNowhere,
    FromBuffer,
    FromSlot,  // a submission entry
    FromList,
    FromSide,  // entries that are stored
    FromAdmin,
    FromRange
  } from_e;

  region_e region_q1;
  from_e from, from_q2, from_q3;
  logic sq_valid_q1, sq_side_q1;
  logic admin_q1, list_q1, range_q1;  // the address is that of the entry, of a slot's list, of the range
  logic valid_q1, valid_q2, valid_q3, last_q1, last_q2, last_q3;
  logic [SlotBits-1:0] slot_q1;
  // The offset in the 4 KiB of a list, or in the 64 bytes of an entry.
  logic [11:BeatShift] offset_q1, offset_q2;

  always_comb begin
    unique case (region_q1)
      RegionAdminPage, RegionMailbox, RegionRing: from = FromBuffer;
      RegionSq: from = !sq_valid_q1 ? FromNowhere : sq_side_q1 ? FromSide : slot_valid_i ? FromSlot : FromNowhere;
      RegionAdminSq: from = admin_q1 ? FromAdmin : FromNowhere;
      RegionPrp: from = list_q1 && slot_valid_i ? FromList : FromNowhere;
      RegionRange: from = range_q1 ? FromRange : FromNowhere;
      default: from = FromNowhere;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {valid_q1, valid_q2, valid_q3} <= '0;
    else {valid_q1, valid_q2, valid_q3} <= {begin_beat, valid_q1, valid_q2};
    last_q1 <= last_beat;
    region_q1 <= region;
    sq_valid_q1 <= sq_valid_i;
    sq_side_q1 <= sq_side_i;
    admin_q1 <= admin_entry_valid_i && address_q[11:6] == 6'(admin_entry_i);
    list_q1 <= address_q[19:12] == 8'(address_q[12+:SlotBits]);
    range_q1 <= address_q[11:BeatShift] == '0;
    slot_q1 <= region == RegionPrp ? address_q[12+:SlotBits] : sq_slot_i;
    offset_q1 <= address_q[11:BeatShift];
  end
  assign buffer_read_o = valid_q1;

  assign stale_o = begin_beat && stale;
  assign stray_o = begin_beat && (stray_q || (region == RegionNone && !stale));

  // ---- cycle 2: the slot's fields, and the pages of its data; stored entries ----

  slot_entry_t slot_q2, slot_q3;
  logic [BaseBits-1:0] base_q2, base_q3;

  assign slot_o = slot_q1;
  always_ff @(posedge clk_i) begin
    {last_q2, last_q3} <= {last_q1, last_q2};
    from_q2 <= from;
    from_q3 <= from_q2;
    offset_q2 <= offset_q1;
    {slot_q2, slot_q3} <= {slot_i, slot_q2};
    {base_q2, base_q3} <= {slot_base_i, base_q2};
  end

  // A dword is written into its lane. The address in each lane's memory: {side, beat of the entry}.
  logic [DataWidth-1:0] kept_q;
  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_kept
    logic [31:0] entries_q[2*EntryBeats];
    logic write;
    logic [$clog2(2*EntryBeats)-1:0] write_beat, read_beat;
    if (EntryBeats > 1) begin : gen_beats
      assign write_beat = {sqe_i.side, sqe_i.dword[3:$clog2(Lanes)]};
      assign read_beat = {from_q2 == FromSide, offset_q2[5:BeatShift]};
    end else begin : gen_beat
      assign write_beat = sqe_i.side;
      assign read_beat = from_q2 == FromSide;
    end
    assign write = sqe_write_i && sqe_i.dword[$clog2(Lanes)-1:0] == ($clog2(Lanes))'(lane);
    always_ff @(posedge clk_i) begin
      if (write) entries_q[write_beat] <= sqe_i.data;
      kept_q[lane*32+:32] <= entries_q[read_beat];
    end
  end

  // The number of pages that the data touch: up to 512, CommandSectorsMax that do not begin at a page's start.
  logic [11:0] page_offset, unused_end;
  logic [13:0] pages;
  assign page_offset = HasRing ? 12'({base_q2, 9'd0}) : 12'({base_q2, 2'd0});
  assign {pages, unused_end} = 26'(page_offset) + 26'({slot_q2.sectors, 9'd0}) + 26'd4095;

  // Entry k of the list is page k + 1 of the data. So is PRP 2, with k = 0, if there is no list. Only the bits that can
  // change are added: in stream mode the number of the page in the ring and its second image, in memory mode an address
  // of AddressBits bits.
  localparam int unsigned CountedBits = HasRing ? $clog2(2 * (RamBytes - 8192) / 4096) : BaseBits + 2 - 12;
  localparam int unsigned Listed = DataWidth / 64;  // entries of a beat
  logic [CountedBits-1:0] first_page;
  logic [Listed-1:0][CountedBits-1:0] page_q3;
  logic [Listed-1:0] touched_q3;  // by the data
  logic [8:0] number;  // of the beat's first entry in the list
  logic list_q3;  // there is one
  assign first_page = HasRing ? CountedBits'({base_q2, 9'd0} >> 12) : CountedBits'({base_q2, 2'd0} >> 12);
  assign number = from_q2 == FromList ? 9'(offset_q2) * 9'(Listed) : 9'd0;
  always_ff @(posedge clk_i) begin
    list_q3 <= pages > 14'd2;
    for (int unsigned i = 0; i < Listed; i++) begin
      page_q3[i] <= first_page + CountedBits'(10'(number) + 10'(i + 1));
      touched_q3[i] <= 14'(number) + 14'(i + 1) < pages;
    end
  end

  // ---- cycle 3: the beat ----

  // The data's address, as the drive sees it.
  logic [63:0] data_address, list_address;
  if (HasRing) begin : gen_ring_address
    assign data_address = WindowBase | 64'({epoch_i, 1'b1, (WindowBits - 2)'({base_q3, 9'd0})});
  end else begin : gen_memory_address
    assign data_address = 64'({base_q3, 2'd0});
  end
  assign list_address = WindowBase |
      64'({epoch_i, (WindowBits - 1)'(OffsetPrp) | (WindowBits - 1)'({slot_q3.cid.slot, 12'd0})});

  logic [DataWidth-1:0] list_beat;
  for (genvar i = 0; i < Listed; i++) begin : gen_list
    assign list_beat[i*64+:64] = touched_q3[i] ? {data_address[63:12+CountedBits], page_q3[i], 12'd0} : 64'd0;
  end

  // Number of Logical Blocks is 0's based (Figure 346).
  logic [15:0] blocks_less_1;
  assign blocks_less_1 = (block_4096_i ? 16'(slot_q3.sectors) >> 3 : 16'(slot_q3.sectors)) - 16'd1;

  logic [15:0][31:0] entry;
  assign entry = {
    96'd0,
    {1'b0, slot_q3.fua, 14'd0, blocks_less_1},
    64'(slot_q3.lba),
    list_q3 ? list_address : list_beat[63:0],
    data_address,
    128'd0,
    nsid_i,
    {slot_q3.cid, 14'd0, !slot_q3.write, slot_q3.write}
  };

  logic [DataWidth-1:0] entry_beat, range_beat;
  if (EntryBeats > 1) begin : gen_entry_beats
    logic [5:BeatShift] offset_q3;
    always_ff @(posedge clk_i) offset_q3 <= offset_q2[5:BeatShift];
    assign entry_beat = entry[offset_q3*Lanes+:Lanes];
  end else begin : gen_entry_beat
    assign entry_beat = entry;
  end
  assign range_beat = DataWidth'({64'(range_i.lba), range_i.blocks, 32'd0});

  logic [DataWidth-1:0] beat;
  always_comb begin
    unique case (from_q3)
      FromSlot: beat = entry_beat;
      FromList: beat = list_beat;
      FromSide, FromAdmin: beat = kept_q;
      FromRange: beat = range_beat;
      default: beat = '0;
    endcase
  end

  // ---- from cycle 4 on, the beat waits for the buffer's data ----

  logic [RamRegisters-1:0] valid_q4, last_q4, buffered_q4;
  logic [RamRegisters-1:0][DataWidth-1:0] beat_q4;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q4 <= '0;
    else valid_q4 <= RamRegisters'({valid_q4, valid_q3});
    last_q4 <= RamRegisters'({last_q4, last_q3});
    buffered_q4 <= RamRegisters'({buffered_q4, from_q3 == FromBuffer});
    beat_q4 <= (RamRegisters * DataWidth)'({beat_q4, beat});
  end

  // ---- responses ----

  logic queue_ready;  // always high, because of room_q
`ifdef FORMAL
  logic [4:0] answers;
`endif
  spate_fifo #(
      .Width(DataWidth + 1),
      .Depth(QueueDepth)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .in_valid_i(valid_q4[RamRegisters-1]),
      .in_ready_o(queue_ready),
      .in_data_i({last_q4[RamRegisters-1], buffered_q4[RamRegisters-1] ? buffer_data_i : beat_q4[RamRegisters-1]}),
      .out_valid_o(data_valid_o),
      .out_ready_i(data_ready_i),
      .out_data_o({last_o, data_o}),
`ifdef FORMAL
      .count_o(answers)
`else
      .count_o()
`endif
  );

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  logic [4:0] in_pipeline;
  assign in_pipeline = 5'(valid_q1) + 5'(valid_q2) + 5'(valid_q3) + 5'($countones(valid_q4));
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (!read_valid_i || read_i.beats != '0);
    if (rst_ni && past_reset_q) begin
      // each beat in the pipeline has a place in the queue of responses
      assert (room_q + answers + in_pipeline == 5'(QueueDepth));
      assert (answers <= 5'(QueueDepth) && room_q <= 5'(QueueDepth));
      assert (!valid_q4[RamRegisters-1] || queue_ready);
      assert (!busy_q || left_q != '0);
    end
    cover (rst_ni && past_reset_q && busy_q && room_q == '0);
  end
`endif

endmodule

`default_nettype wire
