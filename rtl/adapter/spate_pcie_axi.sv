// SPDX-License-Identifier: Apache-2.0
//
// Adapter for an AXI-PCIe bridge in root port mode (XDMA, AXI PCIe, PolarFire, …). Its master port reads and writes the
// windows, its slave port leads to the drive's BAR, its AXI4-Lite control port to the configuration spaces.
//
// Guarantee: every access of the bridge's master ends with OKAY, in order, whatever the core does. All AXI handshake
// rules are kept, even when the bridge's clock stops or its reset comes in mid burst: the core's accesses then end with
// an error, and the bridge's accesses are dropped. No combinational path from one AXI channel to another, and none
// through the adapter.
//
// Effects of resets and of a stopped clock:
//   bridge's reset    The adapter isolates the two sides: link_up falls, requests end with an error at once. The
//                     core's target side finishes what it was shown and sees nothing new. None of this needs the
//                     bridge's clock. When its reset has ended and its clock runs, both sides are cleared and continue.
//   its clock stops   Detected after about 256 cycles: link_up falls, requests end with an error at once. Accesses
//                     that the bridge had begun wait, and continue with the clock if no reset comes with it.
//   adapter_i.reset   Requests end with an error at once. Their transactions at the bridge are finished by the rules
//                     and the responses dropped. Accesses of the bridge that reach the core meanwhile are shown as
//                     strays.
//   rst_ni            Like the bridge's reset, but the bridge does not see it: reset it too, or wait for quiet.
// If the bridge never ends a request, the next one waits until the bridge is reset; spate_mmio's deadline ends the
// wait. quiet: no access of the bridge's master is in the adapter, as far as its clock has reported.
//
// Clock crossings carry WindowBits of an address and whether it was outside. They are in spate_cdc_fifo's LUTRAM.
`default_nettype none

module spate_pcie_axi
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddressWidth = 64,  // of the bridge's master
    parameter int unsigned IdWidth = 4,
    parameter int unsigned WindowBits = 21,  // the aperture is 2^WindowBits bytes
    parameter logic [63:0] WindowBase = 64'h0,  // as the bridge's master shows it; a multiple of the aperture's size
    // Where the bridge's slave port maps the bus address of BAR 0. The BAR must not cross a multiple of 4 GiB there.
    parameter logic [63:0] BarAxiBase = 64'h0,
    parameter logic [31:0] DeviceConfigOffset = 32'h0010_0000,  // bus 1 in the control port (ECAM)
    parameter logic [31:0] LocalConfigOffset = 32'h0  // the root port's own, in the same port
) (
    // The core's side, in its free-running clock.
    input  wire logic                                clk_i,
    input  wire logic                                rst_ni,
    input  wire adapter_response_t                   adapter_i,
    output adapter_request_t                         adapter_o,
    input  wire logic              [  DataWidth-1:0] read_data_i,
    output logic                   [  DataWidth-1:0] write_data_o,
    output logic                   [DataWidth/8-1:0] write_strobe_o,

    // The bridge's side, in its clock, which may stop.
    input wire logic axi_aclk_i,
    input wire logic axi_aresetn_i,
    input wire logic user_link_up_i,

    // from the bridge's master
    input  wire axi_request_t                   s_axi_i,
    output axi_response_t                       s_axi_o,
    input  wire logic         [  DataWidth-1:0] s_axi_wdata_i,
    input  wire logic         [DataWidth/8-1:0] s_axi_wstrb_i,
    output logic              [  DataWidth-1:0] s_axi_rdata_o,

    // to the bridge's slave: single beats of 4 bytes
    output axi_request_t                         m_axi_o,
    input  wire axi_response_t                   m_axi_i,
    output logic               [  DataWidth-1:0] m_axi_wdata_o,
    output logic               [DataWidth/8-1:0] m_axi_wstrb_o,
    input  wire logic          [  DataWidth-1:0] m_axi_rdata_i,

    // to the bridge's control port: AXI4-Lite
    output axil_request_t       c_axil_o,
    input  wire axil_response_t c_axil_i
);

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_data_width
    $error("spate_pcie_axi: DataWidth must be 128, 256 or 512");
  end
  if (WindowBits < 13 || WindowBits > 32 || AddressWidth <= WindowBits || AddressWidth > 64) begin : gen_address_width
    $error("spate_pcie_axi: WindowBits must be 13 to 32, and AddressWidth above it, at most 64");
  end
  if (WindowBase % (64'd1 << WindowBits) != 0) begin : gen_window_base
    $error("spate_pcie_axi: WindowBase must be a multiple of the aperture's size");
  end
  if (IdWidth < 1 || IdWidth > AxiIdWidth) begin : gen_id_width
    $error("spate_pcie_axi: IdWidth must be 1 to 16");
  end
  if (AddressWidth < 64 && (WindowBase >> AddressWidth) != '0) begin : gen_window_reach
    $error("spate_pcie_axi: WindowBase must be below 2^AddressWidth");
  end

  localparam int unsigned AddressDepth = 16;
  localparam int unsigned DataDepth = 32;
  localparam int unsigned Strobes = DataWidth / 8;

  // ---- resets, clock and link ----

  logic run, clear, axi_up, axi_run, axi_clear, axi_rst_n;
  logic bridge_out_of_reset, stopped, linked, read_idle, write_idle;

  spate_cdc_reset u_axi_reset (
      .clk_i(axi_aclk_i),
      .rst_ni(axi_aresetn_i),
      .rst_no(axi_rst_n)
  );

  spate_cdc_bit u_bridge_reset (
      .clk_i,
      .level_i(axi_rst_n),
      .level_o(bridge_out_of_reset)
  );

  spate_cdc_bit u_link_up (
      .clk_i,
      .level_i(user_link_up_i),
      .level_o(linked)
  );

  spate_cdc_watch u_watch (
      .clk_i,
      .rst_ni,
      .watched_clk_i(axi_aclk_i),
      .stopped_o(stopped)
  );

  spate_cdc_flush u_flush (
      .a_clk_i(clk_i),
      .a_rst_ni(rst_ni),
      .a_stop_i(!bridge_out_of_reset),
      .a_idle_i(read_idle && write_idle),
      .a_run_o(run),
      .a_clear_o(clear),
      .b_clk_i(axi_aclk_i),
      .b_rst_ni(axi_rst_n),
      .b_run_o(axi_up),
      .b_clear_o(axi_clear)
  );

  // During its reset the bridge is shown nothing, not even at the first edge of a clock that returns.
  assign axi_run = axi_up && axi_rst_n;

  logic link_up_q, quiet_q;
  assign adapter_o.link_up = link_up_q;
  assign adapter_o.quiet = quiet_q;
  always_ff @(posedge clk_i) link_up_q <= rst_ni && run && !stopped && linked;

  // ---- reads ----

  logic ar_valid, ar_ready, ar_stray, ar_fixed;
  logic [IdWidth-1:0] ar_id;
  logic [WindowBits-1:0] ar_address;
  logic [7:0] ar_len;
  logic [2:0] ar_size;
  logic r_valid, r_ready, r_last, r_empty, r_out_valid, arready, rlast;
  logic [IdWidth-1:0] r_id, rid;
  logic [DataWidth-1:0] r_data;

  spate_cdc_fifo #(
      .Width(IdWidth + 1 + WindowBits + 8 + 3 + 1),
      .Depth(AddressDepth)
  ) u_ar (
      .in_clk_i(axi_aclk_i),
      .in_run_i(axi_run),
      .in_clear_i(axi_clear),
      .in_valid_i(s_axi_i.read.arvalid),
      .in_ready_o(arready),
      .in_data_i({
        s_axi_i.read.arid[IdWidth-1:0],
        s_axi_i.read.araddr[AddressWidth-1:WindowBits] != WindowBase[AddressWidth-1:WindowBits],
        s_axi_i.read.araddr[WindowBits-1:0],
        s_axi_i.read.arlen,
        s_axi_i.read.arsize,
        s_axi_i.read.arburst == AxiFixed
      }),
      .in_empty_o(),
      .in_left_o(),
      .out_clk_i(clk_i),
      .out_run_i(run),
      .out_clear_i(clear),
      .out_valid_o(ar_valid),
      .out_ready_i(ar_ready),
      .out_data_o({ar_id, ar_stray, ar_address, ar_len, ar_size, ar_fixed})
  );

  spate_pcie_axi_read #(
      .DataWidth(DataWidth),
      .IdWidth(IdWidth),
      .WindowBits(WindowBits)
  ) u_read (
      .clk_i,
      .rst_ni,
      .run_i(run),
      .drop_i(adapter_i.reset),
      .idle_o(read_idle),
      .ar_valid_i(ar_valid),
      .ar_ready_o(ar_ready),
      .ar_id_i(ar_id),
      .ar_address_i(ar_address),
      .ar_stray_i(ar_stray),
      .ar_len_i(ar_len),
      .ar_size_i(ar_size),
      .ar_fixed_i(ar_fixed),
      .read_valid_o(adapter_o.read_valid),
      .read_ready_i(adapter_i.read_ready),
      .read_o(adapter_o.read),
      .read_data_valid_i(adapter_i.read_data_valid),
      .read_data_ready_o(adapter_o.read_data_ready),
      .read_data_i,
      .read_last_i(adapter_i.read_last),
      .r_valid_o(r_valid),
      .r_ready_i(r_ready),
      .r_id_o(r_id),
      .r_last_o(r_last),
      .r_data_o(r_data)
  );

  spate_cdc_fifo #(
      .Width(IdWidth + 1 + DataWidth),
      .Depth(DataDepth)
  ) u_r (
      .in_clk_i(clk_i),
      .in_run_i(run),
      .in_clear_i(clear),
      .in_valid_i(r_valid),
      .in_ready_o(r_ready),
      .in_data_i({r_id, r_last, r_data}),
      .in_empty_o(r_empty),
      .in_left_o(),
      .out_clk_i(axi_aclk_i),
      .out_run_i(axi_run),
      .out_clear_i(axi_clear),
      .out_valid_o(r_out_valid),
      .out_ready_i(s_axi_i.read.rready),
      .out_data_o({rid, rlast, s_axi_rdata_o})
  );

  assign s_axi_o.read = '{
          arready: arready,
          rid: AxiIdWidth'(rid),
          rresp: AxiOkay,
          rlast: rlast,
          rvalid: r_out_valid && axi_run
      };

  // ---- writes ----

  logic aw_valid, aw_ready, aw_stray, aw_fixed;
  logic [IdWidth-1:0] aw_id;
  logic [WindowBits-1:0] aw_address;
  logic [2:0] aw_size;
  logic w_valid, w_ready, w_last;
  logic [Strobes-1:0] w_strobe;
  logic [DataWidth-1:0] w_data;
  logic b_valid, b_ready, b_empty, b_out_valid, awready, wready;
  logic [IdWidth-1:0] b_id, bid;

  // AWLEN is not needed: WLAST marks the end of a burst.
  spate_cdc_fifo #(
      .Width(IdWidth + 1 + WindowBits + 3 + 1),
      .Depth(AddressDepth)
  ) u_aw (
      .in_clk_i(axi_aclk_i),
      .in_run_i(axi_run),
      .in_clear_i(axi_clear),
      .in_valid_i(s_axi_i.write.awvalid),
      .in_ready_o(awready),
      .in_data_i({
        s_axi_i.write.awid[IdWidth-1:0],
        s_axi_i.write.awaddr[AddressWidth-1:WindowBits] != WindowBase[AddressWidth-1:WindowBits],
        s_axi_i.write.awaddr[WindowBits-1:0],
        s_axi_i.write.awsize,
        s_axi_i.write.awburst == AxiFixed
      }),
      .in_empty_o(),
      .in_left_o(),
      .out_clk_i(clk_i),
      .out_run_i(run),
      .out_clear_i(clear),
      .out_valid_o(aw_valid),
      .out_ready_i(aw_ready),
      .out_data_o({aw_id, aw_stray, aw_address, aw_size, aw_fixed})
  );

  spate_cdc_fifo #(
      .Width(1 + Strobes + DataWidth),
      .Depth(DataDepth)
  ) u_w (
      .in_clk_i(axi_aclk_i),
      .in_run_i(axi_run),
      .in_clear_i(axi_clear),
      .in_valid_i(s_axi_i.write.wvalid),
      .in_ready_o(wready),
      .in_data_i({s_axi_i.write.wlast, s_axi_wstrb_i, s_axi_wdata_i}),
      .in_empty_o(),
      .in_left_o(),
      .out_clk_i(clk_i),
      .out_run_i(run),
      .out_clear_i(clear),
      .out_valid_o(w_valid),
      .out_ready_i(w_ready),
      .out_data_o({w_last, w_strobe, w_data})
  );

  spate_pcie_axi_write #(
      .DataWidth(DataWidth),
      .IdWidth(IdWidth),
      .WindowBits(WindowBits)
  ) u_write (
      .clk_i,
      .rst_ni,
      .run_i(run),
      .drop_i(adapter_i.reset),
      .idle_o(write_idle),
      .aw_valid_i(aw_valid),
      .aw_ready_o(aw_ready),
      .aw_id_i(aw_id),
      .aw_address_i(aw_address),
      .aw_stray_i(aw_stray),
      .aw_size_i(aw_size),
      .aw_fixed_i(aw_fixed),
      .w_valid_i(w_valid),
      .w_ready_o(w_ready),
      .w_last_i(w_last),
      .w_strobe_i(w_strobe),
      .w_data_i(w_data),
      .write_valid_o(adapter_o.write_valid),
      .write_ready_i(adapter_i.write_ready),
      .write_o(adapter_o.write),
      .write_data_o,
      .write_strobe_o,
      .b_valid_o(b_valid),
      .b_ready_i(b_ready),
      .b_id_o(b_id)
  );

  spate_cdc_fifo #(
      .Width(IdWidth),
      .Depth(AddressDepth)
  ) u_b (
      .in_clk_i(clk_i),
      .in_run_i(run),
      .in_clear_i(clear),
      .in_valid_i(b_valid),
      .in_ready_o(b_ready),
      .in_data_i(b_id),
      .in_empty_o(b_empty),
      .in_left_o(),
      .out_clk_i(axi_aclk_i),
      .out_run_i(axi_run),
      .out_clear_i(axi_clear),
      .out_valid_o(b_out_valid),
      .out_ready_i(s_axi_i.write.bready),
      .out_data_o(bid)
  );

  assign s_axi_o.write = '{
          awready: awready,
          wready: wready,
          bid: AxiIdWidth'(bid),
          bresp: AxiOkay,
          bvalid: b_out_valid && axi_run
      };

  // Accesses in the crossings are dropped while the crossings do not run.
  always_ff @(posedge clk_i) begin
    quiet_q <= read_idle && write_idle && (!run || (!ar_valid && !aw_valid && !w_valid && r_empty && b_empty));
  end

  // ---- registers and configuration space ----

  spate_pcie_axi_mmio #(
      .DataWidth(DataWidth),
      .BarAxiBase(BarAxiBase),
      .DeviceConfigOffset(DeviceConfigOffset),
      .LocalConfigOffset(LocalConfigOffset)
  ) u_mmio (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .broken_i(adapter_i.reset || stopped || !run),
      .request_valid_i(adapter_i.mmio_request_valid),
      .request_ready_o(adapter_o.mmio_request_ready),
      .request_i(adapter_i.mmio_request),
      .response_valid_o(adapter_o.mmio_response_valid),
      .response_o(adapter_o.mmio_response),
      .axi_clk_i(axi_aclk_i),
      .axi_run_i(axi_run),
      .axi_clear_i(axi_clear),
      .m_axi_o,
      .m_axi_i,
      .m_axi_wdata_o,
      .m_axi_wstrb_o,
      .m_axi_rdata_i,
      .c_axil_o,
      .c_axil_i
  );

endmodule

`default_nettype wire
