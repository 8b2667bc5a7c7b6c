// SPDX-License-Identifier: Apache-2.0
//
// For first light: compares a stream with the pattern (its formula is in spate_pattern_words.sv), counts the wrong
// beats and records the first difference.
//
// Guarantee: each beat taken since `start_i` is compared with the expected one; all counters include a beat two cycles
// after it was taken. It takes no more than `rate_i` beats in 256 cycles.
`default_nettype none

module spate_pattern_check #(
    parameter int unsigned DataWidth = 128,  // 64 times a power of two
    parameter int unsigned CountWidth = 48  // of the counters
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic        start_i,  // a pulse: counters to zero; the next beat is the stream's first
    input wire logic [63:0] seed_i,
    input wire logic [ 8:0] rate_i,   // 256: a beat each cycle

    input  wire logic                 data_valid_i,
    output logic                      data_ready_o,
    input  wire logic [DataWidth-1:0] data_i,
    input  wire logic                 data_error_i,  // the beat's command failed: wrong, whatever it holds

    output logic [CountWidth-1:0] beats_o,
    output logic [CountWidth-1:0] stall_cycles_o,  // cycles in which it was ready for a beat and there was none
    output logic [CountWidth-1:0] cycles_o,        // from the first beat to the latest one
    output logic [CountWidth-1:0] wrong_beats_o,
    output logic [          63:0] wrong_word_o     // index of the first wrong word, if there are wrong beats
);

  localparam int unsigned Lanes = DataWidth / 64;

  if (DataWidth < 64 || DataWidth % 64 != 0 || (Lanes & (Lanes - 1)) != 0) begin : gen_data_width
    $error("spate_pattern_check: DataWidth must be 64 times a power of two");
  end

  logic [DataWidth-1:0] expected;
  logic [Lanes-1:0] wrong_q;
  logic [CountWidth-1:0] place_q;  // of the beat that `wrong_q` describes
  logic taken, compared_q, go;

  // A beat in each cycle that the rate allows, except in the cycle of the start, where it would have no place.
  assign data_ready_o = go && !start_i;
  assign taken = data_valid_i && data_ready_o;

  always_ff @(posedge clk_i) begin
    compared_q <= rst_ni && taken;
    place_q <= beats_o;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      wrong_q[lane] <= data_error_i || data_i[64*lane+:64] != expected[64*lane+:64];
    end

    if (!rst_ni || start_i) begin
      compared_q <= 1'b0;
      wrong_beats_o <= '0;
    end else if (compared_q && wrong_q != '0 && wrong_beats_o != '1) begin
      wrong_beats_o <= wrong_beats_o + 1'b1;
    end
  end

  // The lowest lane that is wrong.
  logic [63:0] first_wrong;
  always_comb begin
    first_wrong = 64'(place_q) * 64'(Lanes);
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (wrong_q[lane]) first_wrong = 64'(place_q) * 64'(Lanes) + 64'(lane);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) wrong_word_o <= '0;
    else if (compared_q && wrong_q != '0 && wrong_beats_o == '0) wrong_word_o <= first_wrong;
  end

  spate_pattern_words #(
      .DataWidth(DataWidth)
  ) u_words (
      .clk_i,
      .start_i,
      .seed_i,
      .next_i(taken),
      .data_o(expected)
  );

  spate_pattern_rate #(
      .CountWidth(CountWidth)
  ) u_rate (
      .clk_i,
      .rst_ni,
      .start_i,
      .valid_i(data_valid_i),
      .ready_i(data_ready_o),
      .rate_i,
      .go_o(go),
      .beats_o,
      .beat_waits_o(),
      .taker_waits_o(stall_cycles_o),
      .cycles_o
  );

`ifdef FORMAL
  // One cycle from any state, because no simulation reaches the high bits of a place or the end of a counter.
  (* anyconst *) logic [31:0] lane;  // any lane below the one that is reported
  localparam logic [63:0] LaneMask = 64'(Lanes) - 64'd1;
  logic past_q = 1'b0;
  logic was_cleared_q, was_compared_q, was_taken_q, was_in_reset_q, was_error_q;
  logic [Lanes-1:0] was_wrong_q, differs_q;
  logic [CountWidth-1:0] was_place_q, was_beats_q, wrong_beats_before_q;
  logic [63:0] wrong_word_before_q;

  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    assume (lane < Lanes);
    was_in_reset_q <= !rst_ni;
    was_cleared_q <= !rst_ni || start_i;
    was_compared_q <= compared_q;
    was_taken_q <= data_valid_i && data_ready_o;
    was_error_q <= data_error_i;
    for (int unsigned l = 0; l < Lanes; l++) differs_q[l] <= |(data_i[64*l+:64] ^ expected[64*l+:64]);
    was_wrong_q <= wrong_q;
    was_place_q <= place_q;
    was_beats_q <= beats_o;
    wrong_beats_before_q <= wrong_beats_o;
    wrong_word_before_q <= wrong_word_o;
  end

  always_comb begin
    assert (!data_ready_o || !start_i);
    assert (taken == (data_valid_i && go && !start_i));
    if (past_q) begin
      assert (compared_q == (was_taken_q && !was_cleared_q));
      assert (place_q == was_beats_q);
      assert (wrong_q == (was_error_q ? '1 : differs_q));
      if (was_cleared_q) begin
        assert (wrong_beats_o == '0 && wrong_word_o == '0);
      end else if (was_compared_q && |was_wrong_q) begin
        assert (wrong_beats_o == wrong_beats_before_q + CountWidth'(~wrong_beats_before_q != '0));
        if (wrong_beats_before_q == '0) begin
          assert ((wrong_word_o & ~LaneMask) == 64'(was_place_q) << $clog2(Lanes));
          assert (was_wrong_q[wrong_word_o&LaneMask]);
          if (64'(lane) < (wrong_word_o & LaneMask)) assert (!was_wrong_q[lane]);
        end else begin
          assert (wrong_word_o == wrong_word_before_q);
        end
      end else begin
        assert (wrong_beats_o == wrong_beats_before_q && wrong_word_o == wrong_word_before_q);
      end
      cover (wrong_beats_o == '1 && wrong_beats_before_q != '1);
      cover (wrong_word_o[63:32] != '0 && (wrong_word_o & LaneMask) != '0);
    end
  end
`endif

endmodule

`default_nettype wire
