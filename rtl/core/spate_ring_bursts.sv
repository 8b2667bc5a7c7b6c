// SPDX-License-Identifier: Apache-2.0
//
// Turns the parts of a ring in memory, one after the other, into bursts of an AXI port.
//
// Guarantee: the bursts of a part follow each other from its first sector to its last, and the last one is marked. No
// burst crosses 4 KiB. Within a part one can be taken in every other cycle; it is in registers before it is offered.
`default_nettype none

module spate_ring_bursts #(
    parameter int unsigned AddressWidth = 40,  // of the memory's addresses
    parameter int unsigned PartBits = 11,  // width of a part's number of sectors
    // Derived: no instance sets it.
    parameter int unsigned SectorBits = AddressWidth - 9
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [AddressWidth-1:0] ring_base_i,  // constant; a multiple of 4096

    input  wire logic                  part_valid_i,
    output logic                       part_ready_o,
    input  wire logic [SectorBits-1:0] part_place_i,   // offset from the ring's start, in sectors of 512 bytes
    input  wire logic [  PartBits-1:0] part_sectors_i, // at least one

    output logic                         burst_valid_o,
    input  wire logic                    burst_ready_i,
    output logic      [AddressWidth-1:0] burst_address_o,
    output logic      [             3:0] burst_sectors_o,
    output logic                         burst_last_o      // of its part
);

  logic [SectorBits-1:0] place_q;  // of the next burst, not yet offered
  logic [PartBits-1:0] left_q;  // sectors from there on
  logic [3:0] to_page_end;
  logic busy_q, sized, go;

  // After its first burst, a part continues at the start of a page.
  assign part_ready_o = !busy_q;
  assign to_page_end = 4'd8 - {1'b0, place_q[2:0]};
  assign sized = busy_q && !burst_valid_o;
  assign go = burst_valid_o && burst_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      burst_valid_o <= 1'b0;
    end else begin
      if (go && burst_last_o) busy_q <= 1'b0;
      else if (part_valid_i) busy_q <= 1'b1;
      burst_valid_o <= sized || (burst_valid_o && !burst_ready_i);
    end
    if (part_ready_o) begin
      place_q <= part_place_i;
      left_q <= part_sectors_i;
    end else if (sized) begin
      place_q <= {place_q[SectorBits-1:3] + 1'b1, 3'd0};
      left_q <= left_q - PartBits'(to_page_end);
    end
    if (sized) begin
      burst_last_o <= left_q <= PartBits'(to_page_end);
      burst_sectors_o <= left_q <= PartBits'(to_page_end) ? 4'(left_q) : to_page_end;
      burst_address_o <= ring_base_i + {place_q, 9'd0};
    end
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  logic [SectorBits-1:0] next_q, end_q;  // of the part: the next burst's start, and the last burst's end
  logic [AddressWidth-1:0] base_q;
  logic waits_q, goes_on_q, sized_past_q;
  logic [AddressWidth+4:0] past_q;

  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (ring_base_i[11:0] == '0 && (!past_reset_q || ring_base_i == base_q));
    assume (!part_valid_i || part_sectors_i != '0);
    assume (32'(part_place_i) + 32'(part_sectors_i) < 2 ** SectorBits);
  end

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    base_q <= ring_base_i;
    waits_q <= rst_ni && burst_valid_o && !burst_ready_i;
    goes_on_q <= rst_ni && (go ? !burst_last_o : part_valid_i && part_ready_o);
    sized_past_q <= rst_ni && busy_q && !burst_valid_o;
    past_q <= {burst_address_o, burst_sectors_o, burst_last_o};
    if (part_ready_o) begin
      next_q <= part_place_i;
      end_q <= part_place_i + SectorBits'(part_sectors_i);
    end else if (go) next_q <= next_q + SectorBits'(burst_sectors_o);
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      if (waits_q) assert (burst_valid_o && past_q == {burst_address_o, burst_sectors_o, burst_last_o});
      if (goes_on_q) assert (busy_q);
      if (sized_past_q) assert (burst_valid_o);  // every other cycle
      if (burst_valid_o) begin
        assert (burst_address_o == ring_base_i + {next_q, 9'd0});
        assert (burst_sectors_o != '0 && 14'(burst_address_o[11:0]) + 14'({burst_sectors_o, 9'd0}) <= 14'd4096);
        assert (32'(next_q) + 32'(burst_sectors_o) <= 32'(end_q));
        assert (burst_last_o == (next_q + SectorBits'(burst_sectors_o) == end_q));
        // Invariants for the induction.
        assert (next_q < end_q && busy_q);
        if (!burst_last_o) begin
          assert (place_q == next_q + SectorBits'(burst_sectors_o) && place_q[2:0] == '0);
          assert (left_q != '0 && end_q - place_q == SectorBits'(left_q));
        end
      end
      if (sized)
        assert (left_q != '0 && next_q == place_q && place_q < end_q && end_q - place_q == SectorBits'(left_q));
      if (busy_q) assert (32'(end_q) < 2 ** SectorBits);
      cover (go && burst_last_o && next_q[2:0] == '0 && burst_sectors_o == 4'd3);
    end
  end
`endif

endmodule

`default_nettype wire
