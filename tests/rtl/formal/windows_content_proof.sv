// SPDX-License-Identifier: Apache-2.0
//
// What spate_windows_read returns for each address, compared with a reference written from the NVMe specification (1.4:
// 4.2, figures 104 and 105, for the entry; 4.3 for PRP entries and lists). The reference works dword by dword with byte
// addresses and shares nothing with the pipeline. Slots, submission queue and the microcode's entries may hold anything
// at any time. One arbitrary dword of any beat is compared.
module windows_content_proof
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 28672,
    parameter int unsigned BaseBits = 6,
    localparam int unsigned WindowBits = window_bits(RamBytes),
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned BeatShift = $clog2(DataWidth / 8),
    localparam int unsigned SlotBits = 2
) (
    input logic                         clk_i,
    input logic                         read_valid_i,
    input logic        [WindowBits-1:0] read_address_i,
    input logic                         read_stray_i,
    input logic        [           8:0] read_beats_i,
    input logic                         data_ready_i,
    input logic        [ DataWidth-1:0] buffer_data_i,
    input logic                         sq_valid_i,
    input logic                         sq_side_i,
    input logic        [  SlotBits-1:0] sq_slot_i,
    input logic                         slot_valid_i,
    input slot_entry_t                  slot_i,
    input logic        [  BaseBits-1:0] slot_base_i,
    input logic                         sqe_write_i,
    input sqe_dword_t                   sqe_i,
    input logic        [           1:0] admin_entry_i,
    input logic                         admin_entry_valid_i
);

  localparam bit HasRing = RamBytes > 8192;
  localparam int unsigned RingBytes = RamBytes - 8192;
  localparam logic [63:0] WindowBase = 64'h12_3480_0000;

  logic rst_ni = 1'b0;
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) {past_reset_q, rst_ni} <= {rst_ni, 1'b1};

  // Stable while the drive is ready.
  (* anyconst *) logic epoch, block_4096;
  (* anyconst *) logic [31:0] nsid;
  (* anyconst *) range_t range;

  logic [9:0] sq_index;
  logic [SlotBits-1:0] slot;
  logic [BeatBits-1:0] buffer_beat;

  spate_windows_read #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .SlotBits(SlotBits),
      .BaseBits(BaseBits)
  ) u_read (
      .clk_i,
      .rst_ni,
      .epoch_i(epoch),
      .block_4096_i(block_4096),
      .nsid_i(nsid),
      .read_valid_i(read_valid_i && rst_ni),
      .read_ready_o(),
      .read_i('{stray: read_stray_i, address: 32'(read_address_i), beats: read_beats_i}),
      .data_valid_o(),
      .data_ready_i,
      .data_o(),
      .last_o(),
      .buffer_read_o(),
      .buffer_beat_o(buffer_beat),
      .buffer_data_i,
      .sq_index_o(sq_index),
      .sq_valid_i,
      .sq_side_i,
      .sq_slot_i,
      .slot_o(slot),
      .slot_valid_i,
      .slot_i,
      .slot_base_i,
      .sqe_write_i,
      .sqe_i,
      .admin_entry_i,
      .admin_entry_valid_i,
      .range_i(range),
      .stray_o(),
      .stale_o()
  );

  // ---- the guarantees of spate_slots and spate_splitter for a slot, which have proofs of their own ----

  logic [31:0] base_bytes, data_bytes;
  assign base_bytes = HasRing ? 32'(slot_base_i) << 9 : 32'd0;
  assign data_bytes = 32'(slot_i.sectors) << 9;
  always_comb begin
    assume (slot_i.cid.slot == 8'(slot) && !slot_i.cid.side);
    assume (slot_i.sectors != '0 && slot_i.sectors <= SectorsWidth'(CommandSectorsMax));
    assume (!block_4096 || slot_i.sectors[2:0] == '0);
    if (HasRing) assume (base_bytes < RingBytes && data_bytes <= RingBytes);
    // Memory mode: the last byte is addressable, too.
    if (!HasRing) assume (34'({slot_base_i, 2'd0}) + 34'(data_bytes) <= 34'd1 << (BaseBits + 2));
  end

  // ---- the entries that the microcode composes: one dword of one of them ----

  (* anyconst *) logic kept_side;
  (* anyconst *) logic [3:0] kept_dword;
  logic [31:0] kept_q;
  logic kept_known_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (sqe_write_i && sqe_i.side == kept_side && sqe_i.dword == kept_dword) begin
      kept_q <= sqe_i.data;
      kept_known_q <= 1'b1;
    end
  end

  // ---- the reference ----

  // The dword in the beat that is compared.
  (* anyconst *) logic [BeatShift-3:0] lane;

  typedef enum logic [2:0] {
    Zero,
    Buffer,
    Entry,
    List,
    Kept,
    KeptUnknown,
    Range
  } what_e;

  function automatic logic [63:0] half_base();
    return WindowBase + (epoch ? 64'd1 << (WindowBits - 1) : 64'd0);
  endfunction

  // The meaning of an address, from docs/understand/gateware.md, "Addresses".
  logic [31:0] address, offset;
  logic in_control;
  what_e what;
  logic [SlotBits-1:0] what_slot;
  assign address = {u_read.address_q[WindowBits-1:BeatShift], lane, 2'd0} & 32'((33'd1 << WindowBits) - 33'd1);
  assign offset = address & 32'((33'd1 << (WindowBits - 1)) - 33'd1);
  assign in_control = offset < 32'h20_0000;

  function automatic what_e kept(logic side, logic [3:0] dword);
    return side == kept_side && dword == kept_dword && kept_known_q ? Kept : KeptUnknown;
  endfunction

  always_comb begin
    what = Zero;
    what_slot = sq_slot_i;
    if (u_read.stray_q || 1'(address >> (WindowBits - 1)) != epoch) begin
      what = Zero;
    end else if (HasRing && offset >= 32'd1 << (WindowBits - 2)) begin
      if (offset - (32'd1 << (WindowBits - 2)) < 32'(2 * RingBytes)) what = Buffer;
    end else if (in_control && offset >= 32'h10_0000) begin
      what_slot = SlotBits'(offset >> 12);
      if (((offset - 32'h10_0000) >> 12) < 32'd1 << SlotBits) what = List;
    end else if (offset >= 32'h1_0000 && offset < 32'h2_0000) begin
      if (sq_valid_i) what = sq_side_i ? kept(1'b1, 4'(offset >> 2)) : Entry;
    end else if (offset < 32'h1000) begin
      if (admin_entry_valid_i && offset >> 6 == 32'(admin_entry_i)) what = kept(1'b0, 4'(offset >> 2));
    end else if (offset >= 32'h2000 && offset < 32'h4000) begin
      what = Buffer;
    end else if (offset >= 32'h4000 && offset < 32'h4010) begin
      what = Range;
    end
  end

  // Cycle 1: the slot is looked up. The microcode's entries are read in cycle 2.
  what_e what_q;
  logic begun_q;
  logic [SlotBits-1:0] slot_q;
  logic [31:0] offset_q;
  always_ff @(posedge clk_i) begin
    begun_q <= rst_ni && u_read.begin_beat;
    what_q <= what;
    slot_q <= what_slot;
    offset_q <= offset;
  end

  logic [63:0] data, page_1, list, prp2;
  logic [31:0] pages, entry_page, blocks, word;
  logic [63:0] listed;
  always_comb begin
    data = HasRing ? half_base() + (64'd1 << (WindowBits - 2)) + 64'(base_bytes) : 64'({slot_base_i, 2'd0});
    pages = (32'(data[11:0]) + data_bytes + 32'd4095) / 32'd4096;
    page_1 = (data & ~64'hfff) + 64'd4096;
    list = half_base() + 64'h10_0000 + (64'(slot_q) << 12);
    prp2 = pages == 32'd1 ? 64'd0 : pages == 32'd2 ? page_1 : list;
    blocks = block_4096 ? data_bytes / 32'd4096 : data_bytes / 32'd512;
    // Entry k of the list is the page after the k-th.
    entry_page = 32'(offset_q[11:3]) + 32'd1;
    listed = entry_page < pages ? (data & ~64'hfff) + (64'(entry_page) << 12) : 64'd0;
    word = 32'd0;
    unique case (what_q)
      Entry:
      if (slot_valid_i) begin
        unique case (offset_q[5:2])
          4'd0: word = {slot_i.cid, 8'd0, slot_i.write ? 8'h01 : 8'h02};
          4'd1: word = nsid;
          4'd6: word = data[31:0];
          4'd7: word = data[63:32];
          4'd8: word = prp2[31:0];
          4'd9: word = prp2[63:32];
          4'd10: word = slot_i.lba[31:0];
          4'd11: word = 32'(slot_i.lba >> 32);
          4'd12: word = (slot_i.fua ? 32'h4000_0000 : 32'd0) + blocks - 32'd1;
          default: word = 32'd0;
        endcase
      end
      List: if (slot_valid_i) word = offset_q[2] ? listed[63:32] : listed[31:0];
      Range:
      unique case (offset_q[3:2])
        2'd0: word = 32'd0;  // context attributes
        2'd1: word = range.blocks;
        2'd2: word = range.lba[31:0];
        default: word = 32'(range.lba >> 32);
      endcase
      default: word = 32'd0;
    endcase
  end

  // Cycles 2 to 4: the beat enters the queue of responses, whose contents the proof of spate_fifo covers.
  logic begun_q2, begun_q3, begun_q4;
  what_e what_q2, what_q3, what_q4;
  logic [31:0] word_q2, word_q3, word_q4;
  logic [DataWidth-1:0] answer;
  logic [31:0] answer_word;
  always_ff @(posedge clk_i) begin
    {begun_q2, begun_q3, begun_q4} <= {rst_ni && begun_q, rst_ni && begun_q2, rst_ni && begun_q3};
    {what_q2, what_q3, what_q4} <= {what_q, what_q2, what_q3};
    {word_q2, word_q3, word_q4} <= {word, what_q2 == Kept ? kept_q : word_q2, word_q3};
  end
  assign answer = u_read.u_answers.in_data_i[DataWidth-1:0];
  assign answer_word = answer[lane*32+:32];

  // In the pipeline: cycle 1 asks for the slot of the address.
  always_comb begin
    if (rst_ni && past_reset_q) begin
      assert (u_read.valid_q1 == begun_q && u_read.valid_q2 == begun_q2);
      assert (u_read.valid_q3 == begun_q3 && u_read.valid_q4 == begun_q4);
      if (begun_q && (what_q == Entry || what_q == List)) assert (slot == slot_q);
      if (begun_q4) begin
        assert (u_read.u_answers.in_valid_i);
        if (what_q4 == Buffer)
          assert (answer_word == buffer_data_i[lane*32+:32]);
          else if (what_q4 != KeptUnknown) assert (answer_word == word_q4);
      end
    end
  end

  // The microcode's dword is where it was written.
  localparam int unsigned Lanes = DataWidth / 32;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [31:0] there;
    if (DataWidth == 512) begin : gen_beat
      assign there = u_read.gen_kept[i].entries_q[kept_side];
    end else begin : gen_beats
      assign there = u_read.gen_kept[i].entries_q[{kept_side, kept_dword[3:$clog2(Lanes)]}];
    end
    always_comb begin
      if (past_reset_q && kept_known_q && 32'(kept_dword) % Lanes == i) assert (there == kept_q);
    end
  end

  always_comb begin
    cover (rst_ni && begun_q4 && what_q4 == List && word_q4 != '0 && lane != '0);
    cover (rst_ni && begun_q4 && what_q4 == Entry && word_q4 != '0);
    cover (rst_ni && begun_q4 && what_q4 == Kept && word_q4 != '0);
    cover (rst_ni && begun_q4 && what_q4 == Range && word_q4 != '0);
    cover (rst_ni && begun_q && what_q == Entry && offset_q[5:2] == 4'd8 && pages == 32'd2 && slot_valid_i);
    cover (rst_ni && begun_q && what_q == Entry && offset_q[5:2] == 4'd8 && pages == 32'd3 && slot_valid_i);
  end

endmodule
