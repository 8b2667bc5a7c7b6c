// SPDX-License-Identifier: Apache-2.0
//
// What becomes of one arbitrary part of spate_ring_store, at its ports: where its bursts go, and which answers of the
// memory it waits for. ring_store_ports.sv has the environment and the counters.
module ring_store_part
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddressWidth = 40,
    parameter int unsigned PartBits = 11,
    parameter int unsigned Parts = 32,
    localparam int unsigned SectorBits = AddressWidth - 9
) (
    input logic                                   clk_i,
    input logic                                   rst_ni,
    input logic                [AddressWidth-1:0] ring_base_i,
    input logic                                   part_valid_i,
    input logic                [  SectorBits-1:0] part_place_i,
    input logic                [    PartBits-1:0] part_sectors_i,
    input logic                                   stored_valid_o,
    input logic                                   stored_ready_i,
    input logic                                   stored_error_o,
    input axi_write_request_t                     m_axi_o,
    input axi_write_response_t                    m_axi_i
);

  typedef logic [PartBits+$clog2(Parts)+1:0] position_t;  // in sectors, from the first part on; wraps around

  (* anyconst *) logic [7:0] watched;  // a part's number

  logic [7:0] given_q, taken_q;  // parts
  logic aw_move;
  assign given_q = u_ports.given_q;
  assign taken_q = u_ports.taken_q;
  assign aw_move = u_ports.aw_move;

  logic there_q, error_q;  // the part was given and its answer was not taken; a burst of it failed
  position_t given_at_q, addressed_at_q, burst_end, begin_q, end_q;
  logic [SectorBits-1:0] place_q;
  logic [7:0] addressed_q, answered_q, first_q, last_q;  // bursts; the part's first and last one
  // Its first burst has an address, its last one has, its first one was answered, its last one was.
  logic begun_q, complete_q, reached_q, done_q;
  logic watched_move, watched_answer;

  function automatic logic below(position_t position, position_t other);
    return $signed(position_t'(position - other)) < 0;
  endfunction

  assign burst_end = addressed_at_q + position_t'(u_ports.burst_bytes / 13'd512);
  assign watched_move = aw_move && there_q && !below(addressed_at_q, begin_q) && below(addressed_at_q, end_q);
  assign watched_answer = m_axi_i.bvalid && begun_q && !done_q && (reached_q || answered_q == first_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {there_q, given_at_q, addressed_at_q, addressed_q, answered_q} <= '0;
    end else begin
      if (part_valid_i) given_at_q <= given_at_q + position_t'(part_sectors_i);
      if (part_valid_i && given_q == watched) there_q <= 1'b1;
      else if (stored_valid_o && stored_ready_i && taken_q == watched) there_q <= 1'b0;
      if (aw_move) addressed_at_q <= burst_end;
      addressed_q <= addressed_q + 8'(aw_move);
      answered_q <= answered_q + 8'(m_axi_i.bvalid);
    end
    if (part_valid_i && given_q == watched) begin
      place_q <= part_place_i;
      begin_q <= given_at_q;
      end_q <= given_at_q + position_t'(part_sectors_i);
      {begun_q, complete_q, reached_q, done_q, error_q} <= '0;
    end else begin
      if (watched_move) begun_q <= 1'b1;
      if (watched_move && !begun_q) first_q <= addressed_q;
      if (watched_move && burst_end == end_q) {complete_q, last_q} <= {1'b1, addressed_q};
      if (watched_answer) reached_q <= 1'b1;
      if (watched_answer && complete_q && answered_q == last_q) done_q <= 1'b1;
      if (watched_answer && m_axi_i.bresp[1]) error_q <= 1'b1;
    end
  end

  always_comb begin
    if (u_ports.past_reset_q && rst_ni) begin
      // The bursts of a part are its sectors, in order, and no others.
      if (m_axi_o.awvalid && there_q) begin
        if (below(addressed_at_q, begin_q))
          assert (!below(begin_q, burst_end));
          else if (below(addressed_at_q, end_q)) begin
            assert (m_axi_o.awaddr == 64'(AddressWidth'(ring_base_i + {place_q, 9'd0} +
                  AddressWidth'({position_t'(addressed_at_q - begin_q), 9'd0}))));
            assert (!below(end_q, burst_end));
          end
      end
      // A part is answered when the memory has answered its last burst, and with an error if one of them failed.
      if (there_q && taken_q == watched) begin
        assert (stored_valid_o == done_q);
        if (stored_valid_o) assert (stored_error_o == error_q);
      end
      cover (there_q && taken_q == watched && stored_valid_o && !stored_error_o);
      cover (there_q && taken_q == watched && stored_valid_o && stored_error_o);
    end
  end

endmodule

bind spate_ring_store ring_store_part #(
    .DataWidth(DataWidth),
    .AddressWidth(AddressWidth),
    .PartBits(PartBits),
    .Parts(Parts)
) u_part (.*);
