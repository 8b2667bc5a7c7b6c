// SPDX-License-Identifier: Apache-2.0
//
// Adapter for the UltraScale+ integrated block (PCIE4, PCIE4C) as a root port, without a bridge. The drive's requests
// arrive on CQ and are completed on CC. Register and configuration accesses go out on RQ and are completed on RC. The
// root port's own configuration space is accessed through the management port.
//
// Generate the block as: root port, streams of DataWidth without straddling, CQ and CC aligned to addresses, RQ and RC
// to dwords, client-provided tags, 8-bit tags, no parity. The block handles messages (no response needed): INTx, error,
// LTR and power management messages appear on its cfg_* outputs, which stay open. A message that does come on CQ is
// counted as a stray write. The core writes the maximum payload and the maximum read request, through the ports below.
//
//    block's clock                                    │ core's clock
//    CQ ─▶ cq ─▶ writes ──────────────────────────────┼─▶ write_*
//          └───▶ requests that want a completion ─────┼─▶ split ─▶ read_* … data ─▶ cc ─┐
//    CC ◀─ send ◀─────────────────────────────────────┼──────────────────────────────────┘
//    RQ ◀─ mmio ◀─ RC, cfg_mgmt ◀─────────────────────┼── access ◀─ request_*
//
// Guarantee: every request that wants a completion gets all of it, once, whatever the request is. A write that the
// block marks as broken is not used as data, and neither is any later write in the same epoch of the window; the link
// is shown as down, so that the core starts over in the other epoch. All handshakes of the block are kept, and a packet
// goes to it without pauses. When the block's clock stops or its reset comes, accesses of the core end with an error,
// data of the core for the block are dropped, and nothing reaches the core until both sides are cleared. No
// combinational path from one stream to another, nor from the core's clock to the block's. Full rate needs a core clock
// at least as fast as the block's; nothing else does.
`default_nettype none

module spate_pcie_usp
  import spate_pkg::*;
  import spate_pcie_usp_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the streams and of the core: 128 or 256
    parameter int unsigned WindowBits = 21,
    parameter logic [63:0] WindowBase = 64'h0,  // bus address of the aperture, a multiple of its size
    parameter logic [63:0] BarBase = 64'h0,  // bus address assigned to BAR 0, a multiple of its size
    // Derived: no instance sets these.
    parameter int unsigned Lanes = DataWidth / 32,
    parameter int unsigned LaneBits = $clog2(Lanes)
) (
    // The core's side, in its free-running clock.
    input  wire logic                                clk_i,
    input  wire logic                                rst_ni,
    input  wire adapter_response_t                   adapter_i,
    output adapter_request_t                         adapter_o,
    input  wire logic              [  DataWidth-1:0] read_data_i,
    output logic                   [  DataWidth-1:0] write_data_o,
    output logic                   [DataWidth/8-1:0] write_strobe_o,

    // The block's side, in its clock, which may stop.
    input wire logic       pcie_clk_i,
    input wire logic       pcie_reset_i,
    input wire logic       pcie_lnk_up_i,
    input wire logic [1:0] cfg_max_payload_i,

    input  wire logic        [DataWidth-1:0] m_axis_cq_tdata_i,
    input  wire usp_stream_t                 m_axis_cq_i,
    output logic                             m_axis_cq_tready_o,
    output logic             [          1:0] pcie_cq_np_req_o,

    output logic        [DataWidth-1:0] s_axis_cc_tdata_o,
    output logic        [    Lanes-1:0] s_axis_cc_tkeep_o,
    output usp_stream_t                 s_axis_cc_o,
    input  wire logic                   s_axis_cc_tready_i,

    output logic        [DataWidth-1:0] s_axis_rq_tdata_o,
    output logic        [    Lanes-1:0] s_axis_rq_tkeep_o,
    output usp_stream_t                 s_axis_rq_o,
    input  wire logic                   s_axis_rq_tready_i,

    input  wire logic        [DataWidth-1:0] m_axis_rc_tdata_i,
    input  wire usp_stream_t                 m_axis_rc_i,
    output logic                             m_axis_rc_tready_o,

    output cfg_mgmt_request_t       cfg_mgmt_o,
    input  wire cfg_mgmt_response_t cfg_mgmt_i
);

  if (DataWidth != 128 && DataWidth != 256) begin : gen_width
    $error("spate_pcie_usp: DataWidth must be 128 or 256");
  end
  if (WindowBits < 13 || WindowBits > 32 || (WindowBase & ((64'd1 << WindowBits) - 64'd1)) != '0) begin : gen_window
    $error("spate_pcie_usp: WindowBits must be 13 to 32, and WindowBase a multiple of 2^WindowBits");
  end
  if (BarBase[13:0] != '0) begin : gen_bar
    $error("spate_pcie_usp: BarBase must be a multiple of the BAR's size, at least 16 KiB");
  end

  localparam int unsigned BeatBits = WindowBits - LaneBits - 2;
  localparam int unsigned NonpostedMax = 32;
  // Almost two packets of the largest size: one fills while the other leaves.
  localparam int unsigned WordsDepth = 1024 / (DataWidth / 8);
  localparam int unsigned MarksDepth = 16;

  logic listen, run, clear, core_idle, sent;
  logic pcie_link_rst_n, pcie_run, pcie_clear, pcie_busy_q;

  // ---- what the drive writes ----

  typedef struct packed {
    logic                   broken;
    logic                   stray;
    logic [BeatBits-1:0]    beat;
    logic [DataWidth/8-1:0] strobe;
    logic [DataWidth-1:0]   data;
  } write_t;

  write_t pcie_write, write;
  logic pcie_write_valid, pcie_write_ready, write_valid, write_taken;
  logic write_shown_q;  // once shown to the core, it stays until it is taken
  nonposted_t pcie_nonposted, nonposted;
  logic pcie_nonposted_valid, pcie_nonposted_ready, pcie_nonposted_done, nonposted_valid, nonposted_ready;
  logic pcie_cq_idle;

  spate_pcie_usp_cq #(
      .DataWidth(DataWidth),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase),
      .NonpostedMax(NonpostedMax)
  ) u_cq (
      .clk_i(pcie_clk_i),
      .rst_ni(pcie_run),
      .link_rst_ni(pcie_link_rst_n),
      .cq_tdata_i(m_axis_cq_tdata_i),
      .cq_tuser_i(m_axis_cq_i.tuser),
      .cq_tlast_i(m_axis_cq_i.tlast),
      .cq_tvalid_i(m_axis_cq_i.tvalid),
      .cq_tready_o(m_axis_cq_tready_o),
      .np_req_o(pcie_cq_np_req_o),
      .nonposted_valid_o(pcie_nonposted_valid),
      .nonposted_ready_i(pcie_nonposted_ready),
      .nonposted_o(pcie_nonposted),
      .nonposted_done_i(pcie_nonposted_done),
      .write_valid_o(pcie_write_valid),
      .write_ready_i(pcie_write_ready),
      .write_broken_o(pcie_write.broken),
      .write_stray_o(pcie_write.stray),
      .write_beat_o(pcie_write.beat),
      .write_data_o(pcie_write.data),
      .write_strobe_o(pcie_write.strobe),
      .idle_o(pcie_cq_idle)
  );

  logic pcie_writes_empty, pcie_nonposted_empty;

  spate_cdc_fifo #(
      .Width($bits(write_t)),
      .Depth(16)
  ) u_writes (
      .in_clk_i(pcie_clk_i),
      .in_run_i(pcie_run),
      .in_clear_i(pcie_clear),
      .in_valid_i(pcie_write_valid),
      .in_ready_o(pcie_write_ready),
      .in_data_i(pcie_write),
      .in_empty_o(pcie_writes_empty),
      .in_left_o(),
      .out_clk_i(clk_i),
      .out_run_i(run),
      .out_clear_i(clear),
      .out_valid_o(write_valid),
      .out_ready_i(write_taken),
      .out_data_o(write)
  );

  // After a broken write, all writes of the drive are refused until the core has begun another epoch, whether or not
  // the adapter is reset. Otherwise a completion could follow for a command whose data are missing.
  logic distrust_q, epoch_q;

  logic write_shown, quiet_q;
  assign adapter_o.write_valid = write_shown;
  assign adapter_o.quiet = quiet_q;
  assign write_shown = write_valid && !write.broken && ((listen && !distrust_q) || write_shown_q);
  assign write_taken = adapter_i.write_ready || !write_shown;
  assign adapter_o.write = '{stray: write.stray, address: 32'({write.beat, (LaneBits + 2)'(0)})};
  assign write_data_o = write.data;
  assign write_strobe_o = write.strobe;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_shown_q <= 1'b0;
      distrust_q <= 1'b0;
    end else begin
      write_shown_q <= write_shown && !adapter_i.write_ready;
      if (write_valid && write.broken) distrust_q <= 1'b1;
      else if (adapter_i.epoch != epoch_q) distrust_q <= 1'b0;
    end
    epoch_q <= adapter_i.epoch;
  end

  // ---- what the drive reads ----

  spate_cdc_fifo #(
      .Width($bits(nonposted_t)),
      .Depth(NonpostedMax)
  ) u_nonposted (
      .in_clk_i(pcie_clk_i),
      .in_run_i(pcie_run),
      .in_clear_i(pcie_clear),
      .in_valid_i(pcie_nonposted_valid),
      .in_ready_o(pcie_nonposted_ready),
      .in_data_i(pcie_nonposted),
      .in_empty_o(pcie_nonposted_empty),
      .in_left_o(),
      .out_clk_i(clk_i),
      .out_run_i(run),
      .out_clear_i(clear),
      .out_valid_o(nonposted_valid),
      .out_ready_i(nonposted_ready),
      .out_data_o(nonposted)
  );

  logic [1:0] max_payload;

  for (genvar k = 0; k < 2; k++) begin : gen_payload
    // Changes only while the drive is being brought up.
    spate_cdc_bit u_bit (
        .clk_i,
        .level_i(cfg_max_payload_i[k]),
        .level_o(max_payload[k])
    );
  end

  packet_t packet_in, packet;
  logic packet_in_valid, packet_in_ready, packet_valid, packet_ready, unsupported_sent;
  logic split_idle, cc_idle;

  spate_pcie_usp_split #(
      .DataWidth(DataWidth),
      .WindowBits(WindowBits),
      .WindowBase(WindowBase)
  ) u_split (
      .clk_i,
      .rst_ni,
      .run_i(listen),
      .max_payload_i(max_payload),
      .nonposted_valid_i(nonposted_valid),
      .nonposted_ready_o(nonposted_ready),
      .nonposted_i(nonposted),
      .read_valid_o(adapter_o.read_valid),
      .read_ready_i(adapter_i.read_ready),
      .read_o(adapter_o.read),
      .packet_valid_o(packet_in_valid),
      .packet_ready_i(packet_in_ready),
      .packet_o(packet_in),
      .unsupported_sent_i(unsupported_sent),
      .idle_o(split_idle)
  );

  spate_fifo #(
      .Width($bits(packet_t)),
      .Depth(8)
  ) u_packets (
      .clk_i,
      .rst_ni,
      .in_valid_i(packet_in_valid),
      .in_ready_o(packet_in_ready),
      .in_data_i(packet_in),
      .out_valid_o(packet_valid),
      .out_ready_i(packet_ready),
      .out_data_o(packet),
      .count_o()
  );

  typedef struct packed {
    logic                 is_final;
    logic                 last;
    logic [LaneBits-1:0]  top_lane;
    logic [DataWidth-1:0] data;
  } word_t;

  word_t word, pcie_word;
  logic word_valid, word_ready, pcie_word_valid, pcie_word_ready, words_empty, words_ready;
  logic mark_q, marks_ready, pcie_mark_valid, pcie_mark_ready;

  spate_pcie_usp_cc #(
      .DataWidth(DataWidth)
  ) u_cc (
      .clk_i,
      .rst_ni,
      .packet_valid_i(packet_valid),
      .packet_ready_o(packet_ready),
      .packet_i(packet),
      .unsupported_i(nonposted),
      .unsupported_sent_o(unsupported_sent),
      .data_valid_i(adapter_i.read_data_valid),
      .data_ready_o(adapter_o.read_data_ready),
      .data_i(read_data_i),
      .word_valid_o(word_valid),
      .word_ready_i(word_ready),
      .word_data_o(word.data),
      .word_top_lane_o(word.top_lane),
      .word_last_o(word.last),
      .word_final_o(word.is_final),
      .idle_o(cc_idle)
  );

  // Words are dropped while the block does not run, so that the core can finish its responses.
  assign word_ready = !run || (words_ready && marks_ready);

  spate_cdc_fifo #(
      .Width($bits(word_t)),
      .Depth(WordsDepth)
  ) u_words (
      .in_clk_i(clk_i),
      .in_run_i(run),
      .in_clear_i(clear),
      .in_valid_i(word_valid && marks_ready),
      .in_ready_o(words_ready),
      .in_data_i(word),
      .in_empty_o(words_empty),
      .in_left_o(),
      .out_clk_i(pcie_clk_i),
      .out_run_i(pcie_run),
      .out_clear_i(pcie_clear),
      .out_valid_o(pcie_word_valid),
      .out_ready_i(pcie_word_ready),
      .out_data_o(pcie_word)
  );

  // A packet's mark follows its last word by one cycle, so that it is never visible first.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) mark_q <= 1'b0;
    else mark_q <= run && ((word_valid && word.last && words_ready && marks_ready) || (mark_q && !marks_ready));
  end

  spate_cdc_fifo #(
      .Width(1),
      .Depth(MarksDepth)
  ) u_marks (
      .in_clk_i(clk_i),
      .in_run_i(run),
      .in_clear_i(clear),
      .in_valid_i(mark_q),
      .in_ready_o(marks_ready),
      .in_data_i(1'b1),
      .in_empty_o(),
      .in_left_o(),
      .out_clk_i(pcie_clk_i),
      .out_run_i(pcie_run),
      .out_clear_i(pcie_clear),
      .out_valid_o(pcie_mark_valid),
      .out_ready_i(pcie_mark_ready),
      .out_data_o()
  );

  logic pcie_send_busy;

  spate_pcie_usp_send #(
      .DataWidth(DataWidth)
  ) u_send (
      .clk_i(pcie_clk_i),
      .rst_ni(pcie_run),
      .mark_valid_i(pcie_mark_valid),
      .mark_ready_o(pcie_mark_ready),
      .word_valid_i(pcie_word_valid),
      .word_ready_o(pcie_word_ready),
      .word_data_i(pcie_word.data),
      .word_top_lane_i(pcie_word.top_lane),
      .word_last_i(pcie_word.last),
      .word_final_i(pcie_word.is_final),
      .cc_tdata_o(s_axis_cc_tdata_o),
      .cc_tkeep_o(s_axis_cc_tkeep_o),
      .cc_tlast_o(s_axis_cc_o.tlast),
      .cc_tvalid_o(s_axis_cc_o.tvalid),
      .cc_tready_i(s_axis_cc_tready_i),
      .done_o(pcie_nonposted_done),
      .busy_o(pcie_send_busy)
  );

  assign s_axis_cc_o.tuser = '0;
  assign s_axis_rq_o.tuser[87:62] = '0;

  // ---- registers and configuration ----

  mmio_request_t pcie_request;
  logic pcie_start, pcie_done, pcie_sending;
  mmio_result_t pcie_result;

  spate_pcie_usp_access u_access (
      .clk_i,
      .rst_ni,
      .run_i(listen),
      .request_valid_i(adapter_i.mmio_request_valid),
      .request_ready_o(adapter_o.mmio_request_ready),
      .request_i(adapter_i.mmio_request),
      .response_valid_o(adapter_o.mmio_response_valid),
      .response_o(adapter_o.mmio_response),
      .pcie_clk_i,
      .pcie_rst_ni(pcie_run),
      .pcie_start_o(pcie_start),
      .pcie_request_o(pcie_request),
      .pcie_done_i(pcie_done),
      .pcie_result_i(pcie_result)
  );

  spate_pcie_usp_mmio #(
      .DataWidth(DataWidth),
      .BarBase(BarBase)
  ) u_mmio (
      .clk_i(pcie_clk_i),
      .rst_ni(pcie_run),
      .link_up_i(pcie_lnk_up_i),
      .start_i(pcie_start),
      .request_i(pcie_request),
      .done_o(pcie_done),
      .result_o(pcie_result),
      .rq_tdata_o(s_axis_rq_tdata_o),
      .rq_tkeep_o(s_axis_rq_tkeep_o),
      .rq_tuser_o(s_axis_rq_o.tuser[61:0]),
      .rq_tlast_o(s_axis_rq_o.tlast),
      .rq_tvalid_o(s_axis_rq_o.tvalid),
      .rq_tready_i(s_axis_rq_tready_i),
      .rc_tdata_i(m_axis_rc_tdata_i),
      .rc_tuser_i(m_axis_rc_i.tuser[74:0]),
      .rc_tvalid_i(m_axis_rc_i.tvalid),
      .rc_tready_o(m_axis_rc_tready_o),
      .cfg_mgmt_addr_o(cfg_mgmt_o.addr),
      .cfg_mgmt_write_o(cfg_mgmt_o.write),
      .cfg_mgmt_write_data_o(cfg_mgmt_o.write_data),
      .cfg_mgmt_byte_enable_o(cfg_mgmt_o.byte_enable),
      .cfg_mgmt_read_o(cfg_mgmt_o.read),
      .cfg_mgmt_read_data_i(cfg_mgmt_i.read_data),
      .cfg_mgmt_read_write_done_i(cfg_mgmt_i.read_write_done),
      .sending_o(pcie_sending)
  );

  // ---- the link ----

  logic pcie_quiet_q, pcie_quiet;

  assign core_idle = split_idle && cc_idle && !mark_q && !write_shown_q;
  assign sent = words_empty;

  spate_pcie_usp_link u_link (
      .clk_i,
      .rst_ni,
      .adapter_reset_i(adapter_i.reset),
      .broken_i(write_valid && write.broken),
      .idle_i(core_idle),
      .sent_i(sent),
      .listen_o(listen),
      .run_o(run),
      .clear_o(clear),
      .link_up_o(adapter_o.link_up),
      .pcie_clk_i,
      .pcie_reset_i,
      .pcie_lnk_up_i,
      .pcie_busy_i(pcie_busy_q),
      .pcie_link_rst_no(pcie_link_rst_n),
      .pcie_run_o(pcie_run),
      .pcie_clear_o(pcie_clear)
  );

  always_ff @(posedge pcie_clk_i) begin
    pcie_busy_q <= pcie_send_busy || pcie_sending;
    pcie_quiet_q <= pcie_cq_idle && pcie_writes_empty && pcie_nonposted_empty && !pcie_send_busy;
  end

  spate_cdc_bit u_quiet (
      .clk_i,
      .level_i(pcie_quiet_q),
      .level_o(pcie_quiet)
  );

  always_ff @(posedge clk_i) begin
    quiet_q <= core_idle && !write_valid && (!run || (pcie_quiet && !nonposted_valid && words_empty));
  end

endmodule

`default_nettype wire
