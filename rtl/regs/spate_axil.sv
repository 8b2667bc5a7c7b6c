// SPDX-License-Identifier: Apache-2.0
//
// From AXI4-Lite to the generated registers: one access at a time, reads and writes in turn.
//
//   bus ──► address, data ──► request ──► registers ──► acknowledge ──► response ──► bus
//
// Each arrow is a register, and the read-back has one more. The response to a write comes four cycles after its
// address, that to a read five: little beside the processor's way here. The generator's own AXI4-Lite interface
// overlaps three accesses. Its longest path was the longest of the whole host.
//
// Guarantee: each access gets one response, OKAY, and accesses of one kind get theirs in order.
`default_nettype none

module spate_axil
  import spate_bus_pkg::*;
#(
    parameter int unsigned AddressWidth = 14
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire axil_request_t s_axil_i,
    output axil_response_t     s_axil_o,

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
  logic bvalid_q, rvalid_q;  // a response is shown
  logic [31:0] rdata_q;
  logic busy_q;  // an access was given to the registers, and is not acknowledged
  logic write_waits, start_write, start_read;

  assign s_axil_o = '{
          awready: !address_waits_q,
          wready: !data_waits_q,
          bresp: 2'b00,
          bvalid: bvalid_q,
          arready: !read_waits_q,
          rdata: rdata_q,
          rresp: 2'b00,
          rvalid: rvalid_q
      };

  assign write_waits = address_waits_q && data_waits_q && !bvalid_q;
  // A read and a write that wait at the same time are started in turn.
  assign start_write = !busy_q && write_waits && !(read_waits_q && !rvalid_q && request_write_o);
  assign start_read = !busy_q && read_waits_q && !rvalid_q && !start_write;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      address_waits_q <= 1'b0;
      data_waits_q <= 1'b0;
      read_waits_q <= 1'b0;
      busy_q <= 1'b0;
      request_valid_o <= 1'b0;
      request_write_o <= 1'b0;
      bvalid_q <= 1'b0;
      rvalid_q <= 1'b0;
    end else begin
      address_waits_q <= address_waits_q ? !start_write : s_axil_i.awvalid;
      data_waits_q <= data_waits_q ? !start_write : s_axil_i.wvalid;
      read_waits_q <= read_waits_q ? !start_read : s_axil_i.arvalid;
      if (start_write || start_read) begin
        busy_q <= 1'b1;
        request_valid_o <= 1'b1;
        request_write_o <= start_write;
      end else begin
        if (write_ack_i || read_ack_i) busy_q <= 1'b0;
        if (request_write_o ? write_ready_i : read_ready_i) request_valid_o <= 1'b0;
      end
      bvalid_q <= write_ack_i || (bvalid_q && !s_axil_i.bready);
      rvalid_q <= read_ack_i || (rvalid_q && !s_axil_i.rready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axil_o.awready) write_address_q <= s_axil_i.awaddr[AddressWidth-1:2];
    if (s_axil_o.wready) {strobes_q, data_q} <= {s_axil_i.wstrb, s_axil_i.wdata};
    if (s_axil_o.arready) read_address_q <= s_axil_i.araddr[AddressWidth-1:2];
    if (start_write || start_read) begin
      address_o <= {start_write ? write_address_q : read_address_q, 2'b00};
      data_o <= data_q;
      enables_o <= {{8{strobes_q[3]}}, {8{strobes_q[2]}}, {8{strobes_q[1]}}, {8{strobes_q[0]}}};
    end
    if (read_ack_i) rdata_q <= read_data_i;
  end

  logic unused;  // of an address: beyond the registers, and within a word, where the strobes say which byte
  assign unused = ^{
    s_axil_i.awaddr[31:AddressWidth], s_axil_i.awaddr[1:0], s_axil_i.araddr[31:AddressWidth], s_axil_i.araddr[1:0]
  };

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
      writes_q <= writes_q + 3'(s_axil_i.awvalid && s_axil_o.awready) - 3'(bvalid_q && s_axil_i.bready);
      datas_q <= datas_q + 3'(s_axil_i.wvalid && s_axil_o.wready) - 3'(bvalid_q && s_axil_i.bready);
      reads_q <= reads_q + 3'(s_axil_i.arvalid && s_axil_o.arready) - 3'(rvalid_q && s_axil_i.rready);
    end
  end

  always_comb begin
    if (rst_ni && past_reset_q) begin
      assert (writes_q == 3'(address_waits_q) + 3'(busy_q && request_write_o) + 3'(bvalid_q));
      assert (datas_q == 3'(data_waits_q) + 3'(busy_q && request_write_o) + 3'(bvalid_q));
      assert (reads_q == 3'(read_waits_q) + 3'(busy_q && !request_write_o) + 3'(rvalid_q));
      assert (!(busy_q && request_write_o && bvalid_q) && !(busy_q && !request_write_o && rvalid_q));
      assert (busy_q == (request_valid_o || taken_q));
      assert (!(request_valid_o && taken_q));
      // Nobody waits while the registers are idle and the response has room.
      if (!busy_q && (write_waits || (read_waits_q && !rvalid_q))) assert (start_write || start_read);
    end
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      if ($past(bvalid_q && !s_axil_i.bready)) assert (bvalid_q);
      if ($past(rvalid_q && !s_axil_i.rready)) assert (rvalid_q && $stable(rdata_q));
      if ($past(request_valid_o && !takes)) begin
        assert (request_valid_o && $stable(request_write_o));
        assert ($stable(address_o) && $stable(data_o) && $stable(enables_o));
      end
      // the read-back relies on it
      if ($past(busy_q) && busy_q) assert ($stable(address_o) && $stable(request_write_o));
      if ($past(read_ack_i)) assert (rvalid_q && rdata_q == $past(read_data_i));
      if ($past(s_axil_i.awvalid && s_axil_o.awready)) begin
        assert (write_address_q == $past(s_axil_i.awaddr[AddressWidth-1:2]));
      end
      if ($past(s_axil_i.wvalid && s_axil_o.wready)) begin
        assert ({strobes_q, data_q} == $past({s_axil_i.wstrb, s_axil_i.wdata}));
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
      if ($past(start_write) && $past(read_waits_q && !rvalid_q)) assert (!$past(request_write_o));
    end
    cover (past_reset_q && rst_ni && bvalid_q && rvalid_q && writes_q == 3'd2 && reads_q == 3'd2);
  end
`endif

endmodule

`default_nettype wire
