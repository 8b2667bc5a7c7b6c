// SPDX-License-Identifier: Apache-2.0
//
// What a person at a console needs of a board without a processor: one AXI4-Lite port for the core's registers and for
// the test pattern, which it writes to the drive and compares when it is read.
//
//   JTAG ──► spate_axil ──┬─► 0000h … 3FFFh  the core's registers
//                         └─► 4000h …        these registers ──► pattern source ──► s_axis of the core
//                                                            ◄── pattern checker ◄── m_axis of the core
//
//   offset       name            bits
//   4000h        magic           53504244h, "SPBD"
//   4004h        version         1
//   4008h        clock_hz        frequency of clk_i
//   400Ch        beat_bytes      of the streams
//   4010h        control         write 1: 0 start the source, 1 start the checker, 2 stop the source, 3 clear: reset
//                                the source, the checker and the user's side of the core. Read: 0 the source is busy
//   4014h        rate            beats in 256 cycles: 8:0 source, 24:16 checker. 256 of each after reset
//   4018h 401Ch  seed            of both
//   4020h 4024h  beats           that the source sends, at least 1
//   4028h 402Ch  source_beats    sent            4040h 4044h  check_beats    received
//   4030h 4034h  source_stalls   cycles          4048h 404Ch  check_stalls   cycles
//   4038h 403Ch  source_cycles   first to last   4050h 4054h  check_cycles   first to last
//   4058h 405Ch  wrong_beats                     4060h 4064h  wrong_word     index of the first wrong word of 8 bytes
//   4068h        link            the board's: see its top
//   406Ch        link_clock      edges of the board's link_clock_i, which is slower than a quarter of clk_i
//
// Pairs are 64-bit values, low half first. A counter that runs may change between its halves.
//
// Guarantee: each access gets one response, in order. Clear is at least 16 cycles long.
`default_nettype none

module spate_board_console
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 256,  // of the streams
    parameter int unsigned ClockHz = 126_000_000,  // of clk_i
    parameter int unsigned LinkWidth = 32  // of link_i, at most 32
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // From JTAG: 32 KiB.
    input  wire axil_request_t s_axil_i,
    output axil_response_t     s_axil_o,

    // To the core: its registers, its streams, and the reset of its user's side.
    output axil_request_t                       m_axil_o,
    input  wire axil_response_t                 m_axil_i,
    output logic                                user_rst_no,
    output logic                                m_axis_tvalid_o,
    input  wire logic                           m_axis_tready_i,
    output logic                [DataWidth-1:0] m_axis_tdata_o,
    input  wire logic                           s_axis_tvalid_i,
    output logic                                s_axis_tready_o,
    input  wire logic           [DataWidth-1:0] s_axis_tdata_i,
    input  wire logic                           s_axis_tuser_i,

    // The state of the link, for a person: of any clock.
    input wire logic [LinkWidth-1:0] link_i,
    input wire logic                 link_clock_i
);

  localparam int unsigned CountWidth = 48;
  localparam int unsigned ClearCycles = 16;
  localparam logic [31:0] Magic = 32'h5350_4244;

  if (LinkWidth > 32) begin : gen_link_width
    $error("spate_board_console: LinkWidth must be at most 32");
  end

  // ---- one access at a time ----

  logic awvalid_q, wvalid_q, arvalid_q;
  logic request_valid, request_write, start, busy_q, local_q, is_local, write_ack, read_ack;
  logic [14:0] address;
  logic [31:0] data, enables, read_data, local_data_q;

  spate_axil #(
      .AddressWidth(15)
  ) u_axil (
      .clk_i,
      .rst_ni,
      .s_axil_i,
      .s_axil_o,
      .request_valid_o(request_valid),
      .request_write_o(request_write),
      .write_ready_i(start),
      .read_ready_i(start),
      .address_o(address),
      .data_o(data),
      .enables_o(enables),
      .write_ack_i(write_ack),
      .read_ack_i(read_ack),
      .read_data_i(read_data)
  );

  assign start = request_valid && !busy_q;
  assign is_local = address[14];
  assign write_ack = local_q ? request_write : (busy_q && m_axil_i.bvalid);
  assign read_ack = local_q ? !request_write : (busy_q && m_axil_i.rvalid);
  assign read_data = local_q ? local_data_q : m_axil_i.rdata;

  // The address and the data of an access stay until it is acknowledged.
  assign m_axil_o = '{
          awaddr: 32'(address[13:0]),
          awvalid: awvalid_q,
          wdata: data,
          wstrb: {enables[24], enables[16], enables[8], enables[0]},
          wvalid: wvalid_q,
          bready: busy_q,
          araddr: 32'(address[13:0]),
          arvalid: arvalid_q,
          rready: busy_q
      };
  logic unused;  // eight bits of a strobe are equal; the core responds with OKAY
  assign unused = ^{enables, m_axil_i.bresp, m_axil_i.rresp};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      local_q <= 1'b0;
      awvalid_q <= 1'b0;
      wvalid_q <= 1'b0;
      arvalid_q <= 1'b0;
    end else begin
      busy_q <= start || (busy_q && !write_ack && !read_ack);
      local_q <= start && is_local;
      awvalid_q <= awvalid_q ? !m_axil_i.awready : start && !is_local && request_write;
      wvalid_q <= wvalid_q ? !m_axil_i.wready : start && !is_local && request_write;
      arvalid_q <= arvalid_q ? !m_axil_i.arready : start && !is_local && !request_write;
    end
  end

  // ---- these registers ----

  typedef enum logic [4:0] {
    RegMagic = 5'd0,
    RegVersion = 5'd1,
    RegClockHz = 5'd2,
    RegBeatBytes = 5'd3,
    RegControl = 5'd4,
    RegRate = 5'd5,
    RegSeedLow = 5'd6,
    RegSeedHigh = 5'd7,
    RegBeatsLow = 5'd8,
    RegBeatsHigh = 5'd9,
    RegSourceBeats = 5'd10,  // from here to RegWrongWord, two registers each
    RegSourceStalls = 5'd12,
    RegSourceCycles = 5'd14,
    RegCheckBeats = 5'd16,
    RegCheckStalls = 5'd18,
    RegCheckCycles = 5'd20,
    RegWrongBeats = 5'd22,
    RegWrongWord = 5'd24,
    RegLink = 5'd26,
    RegLinkClock = 5'd27
  } reg_e;

  logic [4:0] number;
  logic start_source_q, start_check_q, stop_q, source_busy;
  logic [8:0] source_rate_q, check_rate_q;
  logic [63:0] seed_q;
  logic [CountWidth-1:0] beats_q, source_beats, source_stalls, source_cycles, check_beats, check_stalls, check_cycles;
  logic [CountWidth-1:0] wrong_beats;
  logic [63:0] wrong_word;
  logic [31:0] link, link_clock_q;
  logic [$clog2(ClearCycles)-1:0] clear_q;
  logic pattern_rst_nq;  // as user_rst_no, which is an asynchronous reset to the core

  // Beyond the last register there is nothing: a write has no effect, and a read gives 0.
  assign number = address[13:7] == '0 ? address[6:2] : 5'd31;

  always_ff @(posedge clk_i) begin
    start_source_q <= 1'b0;
    start_check_q <= 1'b0;
    stop_q <= 1'b0;
    if (clear_q != '0) clear_q <= clear_q - 1'b1;
    user_rst_no <= clear_q == '0;
    pattern_rst_nq <= clear_q == '0;
    if (!rst_ni) begin
      source_rate_q <= 9'd256;
      check_rate_q <= 9'd256;
      seed_q <= '0;
      beats_q <= '0;
      clear_q <= '1;
      user_rst_no <= 1'b0;
      pattern_rst_nq <= 1'b0;
    end else if (start && is_local && request_write) begin
      unique case (number)
        RegControl: begin
          {stop_q, start_check_q, start_source_q} <= data[2:0];
          if (data[3]) clear_q <= '1;
        end
        RegRate: {check_rate_q, source_rate_q} <= {data[24:16], data[8:0]};
        RegSeedLow: seed_q[31:0] <= data;
        RegSeedHigh: seed_q[63:32] <= data;
        RegBeatsLow: beats_q[31:0] <= data;
        RegBeatsHigh: beats_q[CountWidth-1:32] <= data[CountWidth-33:0];
        default: ;
      endcase
    end
  end

  function automatic logic [31:0] half(logic [63:0] value, logic high);
    return high ? value[63:32] : value[31:0];
  endfunction

  always_ff @(posedge clk_i) begin
    unique case (number)
      RegMagic: local_data_q <= Magic;
      RegVersion: local_data_q <= 32'd1;
      RegClockHz: local_data_q <= ClockHz;
      RegBeatBytes: local_data_q <= DataWidth / 8;
      RegControl: local_data_q <= 32'(source_busy);
      RegRate: local_data_q <= {7'd0, check_rate_q, 7'd0, source_rate_q};
      RegSeedLow, RegSeedHigh: local_data_q <= half(seed_q, number[0]);
      RegBeatsLow, RegBeatsHigh: local_data_q <= half(64'(beats_q), number[0]);
      RegSourceBeats, RegSourceBeats + 5'd1: local_data_q <= half(64'(source_beats), number[0]);
      RegSourceStalls, RegSourceStalls + 5'd1: local_data_q <= half(64'(source_stalls), number[0]);
      RegSourceCycles, RegSourceCycles + 5'd1: local_data_q <= half(64'(source_cycles), number[0]);
      RegCheckBeats, RegCheckBeats + 5'd1: local_data_q <= half(64'(check_beats), number[0]);
      RegCheckStalls, RegCheckStalls + 5'd1: local_data_q <= half(64'(check_stalls), number[0]);
      RegCheckCycles, RegCheckCycles + 5'd1: local_data_q <= half(64'(check_cycles), number[0]);
      RegWrongBeats, RegWrongBeats + 5'd1: local_data_q <= half(64'(wrong_beats), number[0]);
      RegWrongWord, RegWrongWord + 5'd1: local_data_q <= half(wrong_word, number[0]);
      RegLink: local_data_q <= link;
      RegLinkClock: local_data_q <= link_clock_q;
      default: local_data_q <= '0;
    endcase
  end

  // ---- the link ----

  logic [LinkWidth-1:0] link_levels;
  logic link_clock, link_clock_before_q;

  for (genvar k = 0; k < LinkWidth; k++) begin : gen_link
    spate_cdc_bit u_bit (
        .clk_i,
        .level_i(link_i[k]),
        .level_o(link_levels[k])
    );
  end
  assign link = 32'(link_levels);

  spate_cdc_bit u_link_clock (
      .clk_i,
      .level_i(link_clock_i),
      .level_o(link_clock)
  );

  always_ff @(posedge clk_i) begin
    link_clock_before_q <= link_clock;
    if (!rst_ni) link_clock_q <= '0;
    else if (link_clock && !link_clock_before_q) link_clock_q <= link_clock_q + 1'b1;
  end

  // ---- the pattern ----

  spate_pattern_source #(
      .DataWidth(DataWidth),
      .CountWidth(CountWidth)
  ) u_source (
      .clk_i,
      .rst_ni(pattern_rst_nq),
      .start_i(start_source_q),
      .stop_i(stop_q),
      .seed_i(seed_q),
      .beats_i(beats_q),
      .rate_i(source_rate_q),
      .busy_o(source_busy),
      .data_valid_o(m_axis_tvalid_o),
      .data_ready_i(m_axis_tready_i),
      .data_o(m_axis_tdata_o),
      .data_last_o(),
      .beats_o(source_beats),
      .stall_cycles_o(source_stalls),
      .cycles_o(source_cycles)
  );

  spate_pattern_check #(
      .DataWidth(DataWidth),
      .CountWidth(CountWidth)
  ) u_check (
      .clk_i,
      .rst_ni(pattern_rst_nq),
      .start_i(start_check_q),
      .seed_i(seed_q),
      .rate_i(check_rate_q),
      .data_valid_i(s_axis_tvalid_i),
      .data_ready_o(s_axis_tready_o),
      .data_i(s_axis_tdata_i),
      .data_error_i(s_axis_tuser_i),
      .beats_o(check_beats),
      .stall_cycles_o(check_stalls),
      .cycles_o(check_cycles),
      .wrong_beats_o(wrong_beats),
      .wrong_word_o(wrong_word)
  );

endmodule

`default_nettype wire
