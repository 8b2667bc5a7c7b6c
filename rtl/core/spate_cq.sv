// SPDX-License-Identifier: Apache-2.0
//
// A completion queue without memory: entries are decoded as they are written (4.6). One beat may hold several entries,
// and one entry may arrive in several writes: its first three dwords are kept until the last one, which has the phase,
// arrives.
//
// Guarantee: only the entries at the queue's head with the expected phase are passed on, in order, each once. Each beat
// is taken within one cycle per entry, once the entries passed on before are taken.
`default_nettype none

module spate_cq
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned QueueShiftMax = 7
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic       reset_i,       // a pulse: the queue restarts with phase 1
    input wire logic [3:0] queue_shift_i, // set two cycles or more before reset_i and stable until the next one

    input  wire logic                   write_valid_i,
    output logic                        write_ready_o,
    input  wire logic [           11:0] write_index_i,  // index of the entry that holds the beat's first byte
    input  wire logic [  DataWidth-1:0] write_data_i,
    input  wire logic [DataWidth/8-1:0] write_strobe_i,

    output logic        completion_valid_o,
    input  wire logic   completion_ready_i,
    output completion_t completion_o,

    output logic [QueueShiftMax-1:0] head_o,       // index of the next entry: for the doorbell
    output logic                     bad_phase_o,  // pulses
    output logic                     bad_index_o
);

  localparam int unsigned Groups = DataWidth / 128;
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1;
  typedef logic [QueueShiftMax-1:0] index_t;

  if (Groups * 128 != DataWidth) begin : gen_check
    $error("spate_cq: DataWidth must be a multiple of 128");
  end

  // The entries of a beat are looked at one after the other.
  logic [GroupBits-1:0] group_q;
  logic [127:0] entry;
  logic [15:0] strobe;
  logic [11:0] index;
  index_t mask_q;
  assign entry = write_data_i[group_q*128+:128];
  assign strobe = write_strobe_i[group_q*16+:16];
  always_ff @(posedge clk_i) mask_q <= index_t'((16'd1 << queue_shift_i) - 16'd1);
  assign index = write_index_i + 12'(group_q);

  logic last_dword, stall, step;
  assign last_dword = write_valid_i && strobe[15:12] != '0;
  assign stall = last_dword && completion_valid_o && !completion_ready_i;
  assign step = write_valid_i && !stall;
  assign write_ready_o = step && group_q == GroupBits'(Groups - 1);

  // Dwords 0 and 2 of the entry that is being written. Dword 1 is reserved, and dword 2's queue identifier is known.
  logic [31:0] result_q, result;
  logic [15:0] sq_head_q, sq_head;
  always_comb begin
    result = result_q;
    sq_head = sq_head_q;
    for (int unsigned i = 0; i < 4; i++) if (strobe[i]) result[i*8+:8] = entry[i*8+:8];
    for (int unsigned i = 0; i < 2; i++) if (strobe[8+i]) sq_head[i*8+:8] = entry[64+i*8+:8];
  end

  index_t head_q;
  logic phase_q, good_index, good_phase, take;
  assign good_index = index == 12'(head_q) && strobe[15:12] == '1;
  assign good_phase = entry[112] == phase_q;
  assign take = step && last_dword && good_index && good_phase;
  assign bad_index_o = step && last_dword && !good_index;
  assign bad_phase_o = step && last_dword && good_index && !good_phase;

  always_ff @(posedge clk_i) begin
    if (step) begin
      result_q <= result;
      sq_head_q <= sq_head;
    end
    if (!completion_valid_o || completion_ready_i)
      completion_o <= '{result: result, sq_head: sq_head, cid: cid_t'(entry[111:96]), status: entry[127:113]};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) group_q <= '0;  // the rest of a beat of the old epoch does not come
    else if (step) group_q <= group_q == GroupBits'(Groups - 1) ? '0 : group_q + GroupBits'(1);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      head_q <= '0;
      phase_q <= 1'b1;
      completion_valid_o <= 1'b0;
    end else begin
      if (take) begin
        head_q <= (head_q + index_t'(1)) & mask_q;
        if (head_q == mask_q) phase_q <= !phase_q;
        completion_valid_o <= 1'b1;
      end else if (completion_ready_i) begin
        completion_valid_o <= 1'b0;
      end
    end
  end

  assign head_o = head_q;

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (queue_shift_i >= 4'd1 && queue_shift_i <= 4'(QueueShiftMax));
  end

  // What software that polls memory would expect: the place of the next entry, and its phase.
  index_t next_q;
  logic turn_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset_i) begin
      next_q <= '0;
      turn_q <= 1'b1;
    end else if (take) begin
      next_q <= next_q == mask_q ? '0 : next_q + index_t'(1);
      if (next_q == mask_q) turn_q <= !turn_q;
    end
  end

  // One arbitrary byte of dwords 0 and 2: an entry has there what was last written to it, in whichever beat.
  (* anyconst *) logic [3:0] any_byte;
  logic [7:0] any_now, any_q, any_kept, any_shown;
  logic any_written, any_written_q;
  assign any_written = any_written_q || strobe[any_byte];
  assign any_now = strobe[any_byte] ? entry[any_byte*8+:8] : any_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) any_written_q <= 1'b0;
    else if (step) any_written_q <= any_written;
    if (step) any_q <= any_now;
  end
  always_comb begin
    assume (any_byte inside {[4'd0 : 4'd3], 4'd8, 4'd9});
    any_kept = any_byte[3] ? sq_head_q[any_byte[0]*8+:8] : result_q[any_byte[1:0]*8+:8];
    any_shown = any_byte[3] ? completion_o.sq_head[any_byte[0]*8+:8] : completion_o.result[any_byte[1:0]*8+:8];
    if (past_reset_q && rst_ni && any_written_q) assert (any_kept == any_q);
  end

  always_ff @(posedge clk_i) begin
    if (past_reset_q) assume (queue_shift_i == $past(queue_shift_i));
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      if ($past(reset_i)) assert (group_q == '0);
      if ($past(write_valid_i && !write_ready_o && !reset_i) && !reset_i) begin  // a beat that waits does not change
        assume (write_valid_i && write_index_i == $past(write_index_i));
        assume (write_data_i == $past(write_data_i) && write_strobe_i == $past(write_strobe_i));
      end
      if (!$past(reset_i)) begin
        // no completion is lost or invented, none changes while it waits
        assert (completion_valid_o == ($past(take) || $past(completion_valid_o && !completion_ready_i)));
        if ($past(completion_valid_o && !completion_ready_i)) assert (completion_o == $past(completion_o));
        if ($past(take))
          assert ({completion_o.status, 1'b0, completion_o.cid} == $past({entry[127:113], 1'b0, entry[111:96]}));
        if ($past(take && any_written)) assert (any_shown == $past(any_now));
        // a beat waits only for the beat before it
        if ($past(write_valid_i && completion_ready_i)) assert ($past(step));
      end
    end
  end
  always_comb begin
    if (past_reset_q) assert (mask_q == index_t'((16'd1 << queue_shift_i) - 16'd1));
    if (rst_ni && past_reset_q) begin
      assert (head_q == next_q && phase_q == turn_q && (head_q & ~mask_q) == '0);
      if (take) assert (index == 12'(next_q) && entry[112] == turn_q && strobe[15:12] == '1);
      // an entry at the head with the right phase is taken
      if (step && strobe[15:12] == '1 && index == 12'(next_q) && entry[112] == turn_q) assert (take);
    end
    cover (rst_ni && take && !turn_q);
    cover (rst_ni && bad_phase_o);
    cover (rst_ni && take && any_written_q && !strobe[any_byte]);  // an entry written by several writes
    cover (rst_ni && completion_valid_o && !completion_ready_i && write_valid_i && !write_ready_o);
  end
`endif

endmodule

`default_nettype wire
