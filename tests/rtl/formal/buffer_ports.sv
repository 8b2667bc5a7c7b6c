// SPDX-License-Identifier: Apache-2.0
//
// spate_buffer, watched at its ports: who uses the memory in each cycle, and which space of the ring is in use.
module buffer_ports
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned RamRegisters = 1,
    localparam int unsigned BeatBits = $clog2(RamBytes / (DataWidth / 8)),
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512,
    localparam int unsigned RingBits = RingSectors > 1 ? $clog2(RingSectors) : 1
) (
    input logic                            clk_i,
    input logic                            rst_ni,
    input logic                            target_read_i,
    input logic                            target_write_i,
    input logic                            alloc_valid_i,
    input logic                            alloc_ready_o,
    input logic         [SectorsWidth-1:0] alloc_sectors_i,
    input logic         [    RingBits-1:0] alloc_base_o,
    input logic                            free_valid_i,
    input logic         [SectorsWidth-1:0] free_sectors_i,
    input logic                            fill_valid_i,
    input logic                            fill_ready_o,
    input logic                            drain_valid_i,
    input logic                            drain_ready_o,
    input logic                            drained_valid_o,
    input logic                            drained_ready_i,
    input logic                            page_valid_i,
    input page_access_t                    page_i,
    input logic                            page_done_o
);

  localparam int unsigned ReadLatency = 2 + RamRegisters;
  localparam int unsigned DrainDepth = 16;  // beats read ahead
  logic past_reset_q = 1'b0;
  logic checked;
  assign checked = past_reset_q && rst_ni;
  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
  end

  // ---- who uses the memory ----
  //
  // A page's access is made when the drive and the stream leave its port free, and is done a cycle later, or when the
  // beat that it reads has come.
  logic page_busy_q, page_written_q, page_wants_write, page_wants_read, page_write, page_read, fill, drain, drained;
  logic [ReadLatency-1:0] page_read_q;
  logic [4:0] drain_count_q;  // beats that were asked for and not taken
  logic drain_wanted;
  assign fill = fill_valid_i && fill_ready_o;
  assign drain = drain_valid_i && drain_ready_o;
  assign drained = drained_valid_o && drained_ready_i;
  assign page_wants_write = page_valid_i && page_i.write && !page_busy_q;
  assign page_wants_read = page_valid_i && !page_i.write && !page_busy_q;
  assign page_write = page_wants_write && !target_write_i && !fill;
  assign page_read = page_wants_read && !target_read_i && !drain;
  assign drain_wanted = drain_valid_i && drain_count_q != 5'(DrainDepth);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {page_busy_q, page_written_q} <= 2'b00;
      page_read_q <= '0;
      drain_count_q <= '0;
    end else begin
      page_written_q <= page_write;
      page_read_q <= {page_read_q[ReadLatency-2:0], page_read};
      if (page_write || page_read) page_busy_q <= 1'b1;
      else if (page_done_o) page_busy_q <= 1'b0;
      drain_count_q <= drain_count_q + 5'(drain) - 5'(drained);
    end
  end

  always_comb begin
    // The drive goes first.
    if (target_write_i) assert (!fill_ready_o);
    if (target_read_i) assert (!drain_ready_o);
    if (checked) begin
      // The page has what the drive and the stream leave free, and every cycle that the drive leaves free is used.
      assert (page_done_o == (page_written_q || page_read_q[ReadLatency-1]));
      if (!target_write_i && !page_wants_write) assert (fill_ready_o);
      if (!target_read_i && !page_wants_read && drain_wanted) assert (drain_ready_o);
      if (!target_write_i && (page_wants_write || fill_valid_i)) assert (page_write || fill);
      if (!target_read_i && (page_wants_read || drain_wanted)) assert (page_read || drain);
      // As many beats come as were asked for, and no more are under way than the queue holds.
      assert (drain_count_q <= 5'(DrainDepth));
      if (drain) assert (drain_wanted);
      if (drained_valid_o) assert (drain_count_q != '0);
    end
  end

  // Of the cycles that the drive leaves free, the page and the stream each wait for one at most.
  logic [3:0] waited_q, passed_over;
  assign passed_over = {
    page_wants_write && !target_write_i && !page_write,
    fill_valid_i && !target_write_i && !fill,
    page_wants_read && !target_read_i && !page_read,
    drain_wanted && !target_read_i && !drain
  };
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waited_q <= '0;
    else begin
      waited_q[3] <= page_wants_write && !page_write && (waited_q[3] || passed_over[3]);
      waited_q[2] <= fill_valid_i && !fill && (waited_q[2] || passed_over[2]);
      waited_q[1] <= page_wants_read && !page_read && (waited_q[1] || passed_over[1]);
      waited_q[0] <= drain_wanted && !drain && (waited_q[0] || passed_over[0]);
    end
  end
  always_comb if (checked) assert ((waited_q & passed_over) == '0);

  // ---- the ring: one arbitrary sector is followed, and is never allocated while it is in use ----

  localparam int unsigned Wide = SectorsWidth + 4;
  (* anyconst *) logic [RingBits-1:0] chosen;
  logic [Wide-1:0] used_q, freed_base_q, freed_end, free_distance, alloc_distance, alloc_end;
  logic alloc, owned_q, fits_q;
  logic [SectorsWidth-1:0] sectors_past_q;  // what is allocated was asked for in the cycle before

  function automatic logic [Wide-1:0] distance(logic [Wide-1:0] from, logic [Wide-1:0] to);
    return to >= from ? to - from : to + Wide'(RingSectors) - from;
  endfunction

  assign alloc = alloc_valid_i && alloc_ready_o;
  assign freed_end = freed_base_q + Wide'(free_sectors_i);
  assign alloc_end = freed_base_q + used_q;
  assign free_distance = distance(freed_base_q, Wide'(chosen));
  assign alloc_distance = distance(Wide'(alloc_base_o), Wide'(chosen));

  always_ff @(posedge clk_i) begin
    sectors_past_q <= alloc_sectors_i;
    if (!rst_ni) begin
      used_q <= '0;
      freed_base_q <= '0;
      {owned_q, fits_q} <= 2'b00;
    end else begin
      fits_q <= !alloc && Wide'(alloc_sectors_i) + used_q <= Wide'(RingSectors);
      used_q <= used_q + (alloc ? Wide'(alloc_sectors_i) : '0) - (free_valid_i ? Wide'(free_sectors_i) : '0);
      if (free_valid_i) begin
        freed_base_q <= freed_end >= Wide'(RingSectors) ? freed_end - Wide'(RingSectors) : freed_end;
        if (free_distance < Wide'(free_sectors_i)) owned_q <= 1'b0;
      end
      if (alloc && alloc_distance < Wide'(alloc_sectors_i)) owned_q <= 1'b1;
    end
  end

  if (RingSectors > 0) begin : gen_ring
    always_comb begin
      assume (chosen < RingBits'(RingSectors) || RingSectors == 2 ** RingBits);
      if (free_valid_i) assume (Wide'(free_sectors_i) <= used_q);
      if (alloc_valid_i) assume (alloc_sectors_i == sectors_past_q);
      if (checked) begin
        assert (used_q <= Wide'(RingSectors));
        // What fits is allocated, and nothing else.
        assert (alloc_ready_o == fits_q);
        if (alloc_ready_o) assert (Wide'(sectors_past_q) + used_q <= Wide'(RingSectors));
        assert (freed_base_q < Wide'(RingSectors) && Wide'(alloc_base_o) < Wide'(RingSectors));
        assert (Wide'(alloc_base_o) == (alloc_end >= Wide'(RingSectors) ? alloc_end - Wide'(RingSectors) : alloc_end));
        assert (owned_q == (free_distance < used_q));
        if (alloc && alloc_distance < Wide'(alloc_sectors_i)) assert (!owned_q);
        cover (used_q == Wide'(RingSectors) && freed_base_q == Wide'(3));
      end
    end
  end else begin : gen_no_ring
    always_comb assert (!alloc_ready_o);
  end

endmodule

bind spate_buffer buffer_ports #(
    .DataWidth(DataWidth),
    .RamBytes(RamBytes),
    .RamRegisters(RamRegisters)
) u_ports (.*);
