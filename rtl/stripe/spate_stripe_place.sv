// SPDX-License-Identifier: Apache-2.0
//
// Computes the member of a chunk, chunk mod Drives, and its row there, chunk / Drives. A power of two needs only wires,
// other numbers a division of one bit per cycle.
//
// Guarantee: `done_o` is high for one cycle, some time after `start_i`, with the result; one division at a time.
`default_nettype none

module spate_stripe_place #(
    parameter int unsigned Drives = 3,
    parameter int unsigned ChunkWidth = 36,
    // Derived: no instance sets it.
    parameter int unsigned MemberBits = $clog2(Drives)
) (
    input  wire logic                  clk_i,
    input  wire logic                  rst_ni,
    input  wire logic                  start_i,
    input  wire logic [ChunkWidth-1:0] chunk_i,  // with start_i
    output logic                       done_o,
    output logic      [ChunkWidth-1:0] row_o,
    output logic      [MemberBits-1:0] member_o
);

  if (Drives < 2 || Drives > 8) begin : gen_drives
    $error("spate_stripe_place: Drives must be 2 ... 8");
  end

  if ((Drives & (Drives - 1)) == 0) begin : gen_wires
    localparam int unsigned Shift = $clog2(Drives);
    logic done_q;
    logic [ChunkWidth-1:0] chunk_q;
    always_ff @(posedge clk_i) begin
      done_q <= rst_ni && start_i;
      if (start_i) chunk_q <= chunk_i;
    end
    assign done_o = done_q;
    assign row_o = chunk_q >> Shift;
    assign member_o = chunk_q[Shift-1:0];
  end else begin : gen_divider
    localparam int unsigned CountWidth = $clog2(ChunkWidth + 1);

    // The dividend is shifted out at the top while the quotient is shifted in at the bottom.
    logic [ChunkWidth-1:0] quotient_q;
    logic [MemberBits-1:0] remainder_q;  // less than Drives
    logic [CountWidth-1:0] left_q;
    logic [MemberBits:0] remainder;
    logic fits, done_q;

    assign remainder = {remainder_q, quotient_q[ChunkWidth-1]};
    assign fits = remainder >= (MemberBits + 1)'(Drives);
    assign done_o = done_q;
    assign row_o = quotient_q;
    assign member_o = remainder_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        left_q <= '0;
        done_q <= 1'b0;
      end else begin
        if (start_i) left_q <= CountWidth'(ChunkWidth);
        else if (left_q != '0) left_q <= left_q - 1'b1;
        done_q <= !start_i && left_q == CountWidth'(1);
      end
      if (start_i) begin
        quotient_q <= chunk_i;
        remainder_q <= '0;
      end else if (left_q != '0) begin
        quotient_q <= {quotient_q[ChunkWidth-2:0], fits};
        remainder_q <= MemberBits'(fits ? remainder - (MemberBits + 1)'(Drives) : remainder);
      end
    end
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  logic asked_q;
  logic [ChunkWidth-1:0] chunk_q;
  logic [7:0] waited_q;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) asked_q <= 1'b0;
    else if (start_i) asked_q <= 1'b1;
    else if (done_o) asked_q <= 1'b0;
    if (start_i) chunk_q <= chunk_i;
    waited_q <= start_i ? '0 : waited_q + 1'b1;
  end
  always_comb begin
    if (past_reset_q && asked_q) assume (!start_i || done_o);
    if (past_reset_q && rst_ni) begin
      assert (!done_o || asked_q);
      if (asked_q) assert (waited_q <= 8'(ChunkWidth));
      if (done_o) begin
        assert (32'(member_o) < Drives);
        assert (32'(row_o) * Drives + 32'(member_o) == 32'(chunk_q));
      end
      cover (done_o && row_o > ChunkWidth'(4) && member_o != '0);
    end
  end
`endif

endmodule

`default_nettype wire
