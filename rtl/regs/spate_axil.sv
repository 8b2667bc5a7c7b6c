// SPDX-License-Identifier: Apache-2.0
//
// From AXI4-Lite to the generated registers: one access at a time, reads and writes in turn.
//
//   bus ──► address, data ──► request ──► registers ──► acknowledge ──► response ──► bus
//
// Each arrow is a register, and the read-back has one more. The response to a write comes four cycles after its address,
// that to a read five: little beside the processor's way here. The generator's own AXI4-Lite interface overlaps three
// accesses. Its longest path was the longest of the whole host.
//
// Guarantee: each access gets one response, OKAY, and accesses of one kind get theirs in order.
`default_nettype none

module spate_axil #(
    parameter int unsigned AddressWidth = 14
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic [AddressWidth-1:0] s_axil_awaddr_i,
    input  wire logic                    s_axil_awvalid_i,
    output logic                         s_axil_awready_o,
    input  wire logic [            31:0] s_axil_wdata_i,
    input  wire logic [             3:0] s_axil_wstrb_i,
    input  wire logic                    s_axil_wvalid_i,
    output logic                         s_axil_wready_o,
    output logic      [             1:0] s_axil_bresp_o,
    output logic                         s_axil_bvalid_o,
    input  wire logic                    s_axil_bready_i,
    input  wire logic [AddressWidth-1:0] s_axil_araddr_i,
    input  wire logic                    s_axil_arvalid_i,
    output logic                         s_axil_arready_o,
    output logic      [            31:0] s_axil_rdata_o,
    output logic      [             1:0] s_axil_rresp_o,
    output logic                         s_axil_rvalid_o,
    input  wire logic                    s_axil_rready_i,

    // The request is held until it is taken. Then comes one acknowledge of its kind.
    output logic                         request_valid_o,
    output logic                         request_write_o,
    input  wire logic                    write_ready_i,
    input  wire logic                    read_ready_i,
    output logic      [AddressWidth-1:0] address_o,
    output logic      [            31:0] data_o,
    output logic      [            31:0] enables_o,        // of the bits
    input  wire logic                    write_ack_i,
    input  wire logic                    read_ack_i,
    input  wire logic [            31:0] read_data_i
);

  logic [AddressWidth-1:2] write_address_q, read_address_q;  // of words
  logic [31:0] data_q;
  logic [3:0] strobes_q;
  logic address_waits_q, data_waits_q, read_waits_q;  // taken from the bus
  logic busy_q;  // an access was given to the registers, and is not acknowledged
  logic write_waits, start_write, start_read;

  assign s_axil_awready_o = !address_waits_q;
  assign s_axil_wready_o = !data_waits_q;
  assign s_axil_arready_o = !read_waits_q;
  assign s_axil_bresp_o = 2'b00;
  assign s_axil_rresp_o = 2'b00;

  assign write_waits = address_waits_q && data_waits_q && !s_axil_bvalid_o;
  // A read and a write that wait at the same time are started in turn.
  assign start_write = !busy_q && write_waits && !(read_waits_q && !s_axil_rvalid_o && request_write_o);
  assign start_read = !busy_q && read_waits_q && !s_axil_rvalid_o && !start_write;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      address_waits_q <= 1'b0;
      data_waits_q <= 1'b0;
      read_waits_q <= 1'b0;
      busy_q <= 1'b0;
      request_valid_o <= 1'b0;
      request_write_o <= 1'b0;
      s_axil_bvalid_o <= 1'b0;
      s_axil_rvalid_o <= 1'b0;
    end else begin
      address_waits_q <= address_waits_q ? !start_write : s_axil_awvalid_i;
      data_waits_q <= data_waits_q ? !start_write : s_axil_wvalid_i;
      read_waits_q <= read_waits_q ? !start_read : s_axil_arvalid_i;
      if (start_write || start_read) begin
        busy_q <= 1'b1;
        request_valid_o <= 1'b1;
        request_write_o <= start_write;
      end else begin
        if (write_ack_i || read_ack_i) busy_q <= 1'b0;
        if (request_write_o ? write_ready_i : read_ready_i) request_valid_o <= 1'b0;
      end
      s_axil_bvalid_o <= write_ack_i || (s_axil_bvalid_o && !s_axil_bready_i);
      s_axil_rvalid_o <= read_ack_i || (s_axil_rvalid_o && !s_axil_rready_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axil_awready_o) write_address_q <= s_axil_awaddr_i[AddressWidth-1:2];
    if (s_axil_wready_o) {strobes_q, data_q} <= {s_axil_wstrb_i, s_axil_wdata_i};
    if (s_axil_arready_o) read_address_q <= s_axil_araddr_i[AddressWidth-1:2];
    if (start_write || start_read) begin
      address_o <= {start_write ? write_address_q : read_address_q, 2'b00};
      data_o <= data_q;
      enables_o <= {{8{strobes_q[3]}}, {8{strobes_q[2]}}, {8{strobes_q[1]}}, {8{strobes_q[0]}}};
    end
    if (read_ack_i) s_axil_rdata_o <= read_data_i;
  end

  logic unused_bytes;  // within a word: the strobes say which
  assign unused_bytes = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0]};

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;

  // The registers: an acknowledge in the cycle in which the request is taken, or later, one for each request.
  logic taken_q, takes;
  assign takes = request_valid_o && (request_write_o ? write_ready_i : read_ready_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) taken_q <= 1'b0;
    else taken_q <= (taken_q || takes) && !write_ack_i && !read_ack_i;
  end
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (!write_ack_i || ((taken_q || takes) && request_write_o));
    assume (!read_ack_i || ((taken_q || takes) && !request_write_o));
  end

  // Accesses that the bus has given, and that have no response. Of a kind: one taken from the bus, one in the registers
  // or in the response.
  logic [2:0] writes_q, datas_q, reads_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writes_q <= '0;
      datas_q <= '0;
      reads_q <= '0;
    end else begin
      writes_q <= writes_q + 3'(s_axil_awvalid_i && s_axil_awready_o) - 3'(s_axil_bvalid_o && s_axil_bready_i);
      datas_q <= datas_q + 3'(s_axil_wvalid_i && s_axil_wready_o) - 3'(s_axil_bvalid_o && s_axil_bready_i);
      reads_q <= reads_q + 3'(s_axil_arvalid_i && s_axil_arready_o) - 3'(s_axil_rvalid_o && s_axil_rready_i);
    end
  end

  always_comb begin
    if (rst_ni && past_reset_q) begin
      assert (writes_q == 3'(address_waits_q) + 3'(busy_q && request_write_o) + 3'(s_axil_bvalid_o));
      assert (datas_q == 3'(data_waits_q) + 3'(busy_q && request_write_o) + 3'(s_axil_bvalid_o));
      assert (reads_q == 3'(read_waits_q) + 3'(busy_q && !request_write_o) + 3'(s_axil_rvalid_o));
      assert (!(busy_q && request_write_o && s_axil_bvalid_o) && !(busy_q && !request_write_o && s_axil_rvalid_o));
      assert (busy_q == (request_valid_o || taken_q));
      assert (!(request_valid_o && taken_q));
      // Nobody waits while the registers are idle and the response has room.
      if (!busy_q && (write_waits || (read_waits_q && !s_axil_rvalid_o))) assert (start_write || start_read);
    end
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      if ($past(s_axil_bvalid_o && !s_axil_bready_i)) assert (s_axil_bvalid_o);
      if ($past(s_axil_rvalid_o && !s_axil_rready_i)) assert (s_axil_rvalid_o && $stable(s_axil_rdata_o));
      if ($past(request_valid_o && !takes)) begin
        assert (request_valid_o && $stable(request_write_o));
        assert ($stable(address_o) && $stable(data_o) && $stable(enables_o));
      end
      // the read-back relies on it
      if ($past(busy_q) && busy_q) assert ($stable(address_o) && $stable(request_write_o));
      if ($past(read_ack_i)) assert (s_axil_rvalid_o && s_axil_rdata_o == $past(read_data_i));
      if ($past(s_axil_awvalid_i && s_axil_awready_o)) begin
        assert (write_address_q == $past(s_axil_awaddr_i[AddressWidth-1:2]));
      end
      if ($past(s_axil_wvalid_i && s_axil_wready_o)) begin
        assert ({strobes_q, data_q} == $past({s_axil_wstrb_i, s_axil_wdata_i}));
      end
      if ($past(start_write)) begin
        assert (request_valid_o && request_write_o && data_o == $past(data_q));
        for (int unsigned k = 0; k < 4; k++) assert (enables_o[8*k+:8] == {8{$past(strobes_q[k])}});
        assert (address_o == {$past(write_address_q), 2'b00});
      end
      if ($past(start_read)) begin
        assert (request_valid_o && !request_write_o);
        assert (address_o == {$past(read_address_q), 2'b00});
      end
      // A write is started before a read that waits only if the access before was a read.
      if ($past(start_write) && $past(read_waits_q && !s_axil_rvalid_o)) assert (!$past(request_write_o));
    end
    cover (past_reset_q && rst_ni && s_axil_bvalid_o && s_axil_rvalid_o && writes_q == 3'd2 && reads_q == 3'd2);
  end
`endif

endmodule

`default_nettype wire
