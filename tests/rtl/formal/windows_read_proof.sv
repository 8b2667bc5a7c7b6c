// SPDX-License-Identifier: Apache-2.0
//
// spate_windows_read between a reader that may stall at any time and slots that do not change: the inputs behind its
// ports are an arbitrary function of what it asks for. So two reads of one address give the same beat, whatever was
// read between them.
module windows_read_proof
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 12288,
    parameter int unsigned BeatsMax = 3,  // of a request
    parameter bit Same = 1'b0,  // compare two beats; otherwise only count them
    localparam int unsigned WindowBits = window_bits(RamBytes),
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned BeatShift = $clog2(DataWidth / 8)
) (
    input logic                  clk_i,
    input logic                  read_valid_i,
    input logic [WindowBits-1:0] read_address_i,
    input logic                  read_stray_i,
    input logic [           8:0] read_beats_i,
    input logic                  data_ready_i
);

  localparam int unsigned SlotBits = 2;
  localparam int unsigned BaseBits = 9;
  typedef logic [5:0] place_t;  // of a beat in the stream of beats

  logic rst_ni = 1'b0;
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) {past_reset_q, rst_ni} <= {rst_ni, 1'b1};

  // The values behind the ports.
  (* anyconst *) logic epoch, block_4096, admin_entry_valid;
  (* anyconst *) logic [1:0] admin_entry;
  (* anyconst *) logic [31:0] nsid;
  (* anyconst *) range_t range;
  (* anyconst *) logic [3:0] sq_valid, sq_side, slot_valid;
  (* anyconst *) logic [4*SlotBits-1:0] sq_slot;
  (* anyconst *) slot_entry_t [3:0] slot_entry;
  (* anyconst *) logic [4*BaseBits-1:0] slot_base;
  (* anyconst *) logic [DataWidth-1:0] salt;

  logic read_ready, data_valid, last, buffer_read;
  logic [DataWidth-1:0] data;
  logic [2:0][DataWidth-1:0] buffer_q;
  logic [BeatBits-1:0] buffer_beat;
  logic [9:0] sq_index;
  logic [SlotBits-1:0] slot;
  always_ff @(posedge clk_i) buffer_q <= {buffer_q[1:0], salt ^ DataWidth'(buffer_beat)};

  spate_windows_read #(
      .DataWidth(DataWidth),
      .RamBytes(RamBytes),
      .WindowBits(WindowBits),
      .WindowBase(64'h12_3480_0000),
      .SlotBits(SlotBits),
      .BaseBits(BaseBits)
  ) u_read (
      .clk_i,
      .rst_ni,
      .epoch_i(epoch),
      .block_4096_i(block_4096),
      .nsid_i(nsid),
      .read_valid_i(read_valid_i && rst_ni),
      .read_ready_o(read_ready),
      .read_i('{stray: read_stray_i, address: 32'(read_address_i), beats: read_beats_i}),
      .data_valid_o(data_valid),
      .data_ready_i,
      .data_o(data),
      .last_o(last),
      .buffer_read_o(buffer_read),
      .buffer_beat_o(buffer_beat),
      .buffer_data_i(buffer_q[2]),
      .sq_index_o(sq_index),
      .sq_valid_i(sq_valid[sq_index[1:0]] && sq_index[9:2] == '0),
      .sq_side_i(sq_side[sq_index[1:0]]),
      .sq_slot_i(sq_slot[sq_index[1:0]*SlotBits+:SlotBits]),
      .slot_o(slot),
      .slot_valid_i(slot_valid[slot]),
      .slot_i(slot_entry[slot]),
      .slot_base_i(slot_base[slot*BaseBits+:BaseBits]),
      .sqe_write_i(1'b0),
      .sqe_i('0),
      .admin_entry_i(admin_entry),
      .admin_entry_valid_i(admin_entry_valid),
      .range_i(range),
      .stray_o(),
      .stale_o()
  );

  logic take, give;
  assign take = read_valid_i && rst_ni && read_ready;
  assign give = data_valid && data_ready_i;

  // Beats that were requested and answered. Two arbitrary beats are followed: where they were requested, and what came.
  place_t asked_q, answered_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {asked_q, answered_q} <= '0;
    else
      {asked_q, answered_q} <= {asked_q + (take ? place_t'(read_beats_i) : place_t'(0)), answered_q + place_t'(give)};
  end

  (* anyconst *) place_t first, second;
  logic second_known_q, first_last_q, first_nothing_q, first_here, second_here, first_given_q;
  logic [WindowBits-1:0] first_address_q, second_address_q;
  logic first_stray_q, second_stray_q;
  logic [DataWidth-1:0] first_data_q;
  place_t first_left, second_left;
  assign first_left = first - asked_q;
  assign second_left = second - asked_q;
  assign first_here = take && 9'(first_left) < read_beats_i;
  assign second_here = take && 9'(second_left) < read_beats_i;

  function automatic logic [WindowBits-1:0] beat_address(logic [WindowBits-1:0] start, place_t number);
    return {start[WindowBits-1:BeatShift] + (WindowBits - BeatShift)'(number), {BeatShift{1'b0}}};
  endfunction

  logic [WindowBits-1:0] first_address;
  assign first_address = beat_address(read_address_i, first_left);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {second_known_q, first_given_q} <= '0;
    end else begin
      if (first_here) begin
        first_address_q <= first_address;
        first_stray_q <= read_stray_i;
        first_last_q <= 9'(first_left) == read_beats_i - 9'd1;
        first_nothing_q <= read_stray_i || first_address[WindowBits-1] != epoch;
      end
      if (second_here) begin
        second_known_q <= 1'b1;
        second_address_q <= beat_address(read_address_i, second_left);
        second_stray_q <= read_stray_i;
      end
      if (give && answered_q == first) begin
        assert (last == first_last_q);
        if (first_nothing_q) assert (data == '0);
        first_given_q <= 1'b1;
        first_data_q <= data;
      end
      if (Same && give && answered_q == second && first_given_q && second_address_q == first_address_q &&
          second_stray_q == first_stray_q)
        assert (data == first_data_q);
    end
  end

  // While responses are taken, a beat is begun or answered in each cycle, except during the pipeline's latency.
  logic [3:0] idle_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || give || !data_ready_i || asked_q == answered_q) idle_q <= '0;
    else idle_q <= idle_q + 4'd1;
  end

  always_comb begin
    assume (!take || (read_beats_i >= 9'd1 && read_beats_i <= 9'(BeatsMax)));
    assume (first < second);
    if (rst_ni && past_reset_q) begin
      assume (asked_q < place_t'(50));  // the places stay distinguishable
      assert (!data_valid || answered_q != asked_q);  // no beat that was not requested
      assert (idle_q <= 4'd5);
    end
    cover (rst_ni && answered_q == second && give && second_known_q && first_given_q && data == first_data_q &&
           data != '0 && first_address_q == second_address_q && second == first + place_t'(1));
    cover (rst_ni && !read_ready && asked_q - answered_q > place_t'(8));
  end

endmodule
