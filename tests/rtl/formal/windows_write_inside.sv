// SPDX-License-Identifier: Apache-2.0
//
// What the induction of windows_write_ports.sv needs to know of spate_windows_write: its two registers hold the two beats
// of the reference.
module windows_write_inside
  import spate_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned WindowBits = 23
) (
    input logic                   valid_q,
    input logic                   stray_q,
    input logic                   there_q,
    input logic                   move,
    input logic                   take,
    input logic                   epoch_q,
    input logic                   decides_q,
    input logic                   to_cq_q,
    input logic                   to_admin_cq_q,
    input logic                   to_buffer_q,
    input logic [ WindowBits-1:0] address_q,
    input logic [  DataWidth-1:0] data_q,
    input logic [DataWidth/8-1:0] strobe_q,
    input logic [  DataWidth-1:0] buffer_data_o,
    input logic [DataWidth/8-1:0] buffer_strobe_o,
    input logic [           11:0] cq_index_o
);

  localparam int unsigned BeatShift = $clog2(DataWidth / 8);
  logic checked;
  logic [WindowBits-1:0] older_address;
  assign checked = u_ports.checked;
  assign older_address = u_ports.older_q.address;

  always_comb begin
    if (checked) begin
      assert (valid_q == u_ports.newer_there_q && there_q == u_ports.older_there_q && move == u_ports.moves);
      if (there_q) assert (take == u_ports.leaves);
      if (valid_q) begin
        assert (stray_q == u_ports.newer_q.stray && address_q == u_ports.newer_q.address);
        assert (data_q == u_ports.newer_q.data && strobe_q == u_ports.newer_q.strobe);
      end
      if (there_q) begin
        assert (epoch_q == older_address[WindowBits-1] && decides_q == !u_ports.older_q.stray);
        assert (to_cq_q == u_ports.older.to_cq && to_admin_cq_q == u_ports.older.to_admin_cq);
        assert (to_buffer_q == u_ports.older.to_buffer);
        assert (buffer_data_o == u_ports.older_q.data && buffer_strobe_o == u_ports.older_q.strobe);
        assert (cq_index_o == u_ports.older.index || !(to_cq_q || to_admin_cq_q));
      end
    end
  end

  // spate_region has the older beat's address, split.
  if (RamBytes > 8192) begin : gen_ring
    localparam int unsigned PageBits = $clog2(2 * (RamBytes - 8192) / 4096);
    localparam logic [PageBits-1:0] RingPages = PageBits'((RamBytes - 8192) / 4096);
    logic [PageBits-1:0] page;
    assign page = older_address[PageShift+:PageBits];
    always_comb begin
      if (checked && there_q) begin
        assert (spate_windows_write.u_region.data_q == older_address[WindowBits-2]);
        assert (spate_windows_write.u_region.page_q == page);
        assert (spate_windows_write.u_region.again_q == (page >= RingPages));
      end
    end
  end else begin : gen_no_ring
    always_comb if (checked && there_q) assert (!spate_windows_write.u_region.data_q);
  end
  always_comb begin
    if (checked && there_q) begin
      assert (spate_windows_write.u_region.offset_q == older_address[PageShift:BeatShift]);
    end
  end

endmodule

bind spate_windows_write windows_write_inside #(
    .DataWidth(DataWidth),
    .RamBytes(RamBytes),
    .WindowBits(WindowBits)
) u_inside (.*);
