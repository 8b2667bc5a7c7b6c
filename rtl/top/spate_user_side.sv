// SPDX-License-Identifier: Apache-2.0
//
// The user's command, response and data streams, from the application's clock to the core's and back.
//
// Guarantee: what enters leaves once, in order. No combinational path from one side to the other. A reset of the user's
// side, which may come at any time, empties the clock crossings and nothing else: a request that the core has taken
// continues and still moves all its beats. After a reset of either side nothing leaves that entered before it.
// Responses that the core gives while the user's side is in reset are dropped.
//
// A command is passed to the core only when there is room for its response. So the core's responses are always taken,
// whatever the user does, and the registers' responses do not wait behind them.
//
// Each stream crosses independently: a response may come before the last beats of its read, and a write's response does
// not tell how many of the next write's data were taken.
`default_nettype none

module spate_user_side
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // of the streams
    parameter bit HasStreams = 1'b1,  // 0: memory mode, the data streams are inactive
    parameter bit WriteFrames = 1'b0,  // 0: tkeep and tlast of the write stream are ignored
    parameter int unsigned CommandDepth = 16,  // commands in the crossing; a power of two
    // Responses in the crossing, plus commands in the core: as many as keep the core busy. A power of two.
    parameter int unsigned ResponseDepth = 64,
    parameter int unsigned DoneWidth = LbaWidth + 3,  // of a response's `done`: counts the blocks of a stripe
    parameter int unsigned DataDepth = 32  // beats, in each direction; a power of two, at least 16
) (
    input wire logic app_clk_i,
    input wire logic app_rst_ni,

    input  wire logic     cmd_valid_i,
    output logic          cmd_ready_o,
    input  wire command_t cmd_i,
    output logic          rsp_valid_o,
    input  wire logic     rsp_ready_i,
    output response_t     rsp_o,

    input  wire logic                   s_axis_tvalid_i,
    output logic                        s_axis_tready_o,
    input  wire logic [  DataWidth-1:0] s_axis_tdata_i,
    input  wire logic [DataWidth/8-1:0] s_axis_tkeep_i,
    input  wire logic                   s_axis_tlast_i,
    output logic                        m_axis_tvalid_o,
    input  wire logic                   m_axis_tready_i,
    output logic      [  DataWidth-1:0] m_axis_tdata_o,
    output logic                        m_axis_tlast_o,
    output logic                        m_axis_tuser_o,

    input  wire logic                            clk_i,
    input  wire logic                            rst_ni,
    output lanes_request_t                       lanes_o,       // from_registers: 0. response_ready is always high
    input  wire lanes_response_t                 lanes_i,
    output logic                                 data_valid_o,
    input  wire logic                            data_ready_i,
    output logic                 [DataWidth-1:0] data_o,
    output logic                                 data_last_o,
    output logic                                 data_null_o,   // the beat has no bytes
    input  wire logic                            data_valid_i,
    output logic                                 data_ready_o,
    input  wire logic            [DataWidth-1:0] data_i,
    input  wire logic                            data_last_i,
    input  wire logic                            data_error_i
);

  // ---- both sides run only while both are out of reset ----

  logic app_rst_n, app_up;
  logic core_run, core_clear, app_run, app_clear;

  spate_cdc_reset u_reset (
      .clk_i(app_clk_i),
      .rst_ni(app_rst_ni),
      .rst_no(app_rst_n)
  );
  spate_cdc_bit u_up (
      .clk_i,
      .level_i(app_rst_n),
      .level_o(app_up)
  );
  // The core's side has no transaction to finish before a clear: each beat is a transfer of its own.
  spate_cdc_flush u_flush (
      .a_clk_i(clk_i),
      .a_rst_ni(rst_ni),
      .a_stop_i(!app_up),
      .a_idle_i(1'b1),
      .a_run_o(core_run),
      .a_clear_o(core_clear),
      .b_clk_i(app_clk_i),
      .b_rst_ni(app_rst_n),
      .b_run_o(app_run),
      .b_clear_o(app_clear)
  );

  // ---- commands and responses ----

  // An output of a crossing that does not run is from before a reset, so it is not shown.
  localparam int unsigned PlacesWidth = $clog2(ResponseDepth) + 1;
  logic [PlacesWidth-1:0] places_q, crossing_q;
  command_t command;
  logic command_there, response_there, command_may_go, is_data, command_taken, taken_q, room_q;
  assign command_may_go = core_run && room_q;
  assign lanes_o = '{
          command_valid: command_there && command_may_go && is_data,
          command: command,
          side_valid: command_there && command_may_go && !is_data,
          side: command,
          response_ready: 1'b1
      };
  assign command_taken = command_there && command_may_go && (is_data ? lanes_i.command_ready : lanes_i.side_ready);
  assign rsp_valid_o = response_there && app_run;

  // places_q: room for responses that is not reserved by a command. crossing_q: responses in the crossing. A response
  // frees its place when it leaves, when it is dropped, and when the crossing is cleared, so that a reset loses no
  // place. room_q: there is a place. It is a register, so no command is passed on in the cycle after another: then the
  // one that was passed on leaves the crossing.
  logic response_left, response_left_q, response_dropped;
  assign response_dropped = lanes_i.response_valid && !core_run;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      places_q <= PlacesWidth'(ResponseDepth);
      crossing_q <= '0;
      room_q <= 1'b0;
      response_left_q <= 1'b0;
      taken_q <= 1'b0;
    end else begin
      response_left_q <= response_left && !core_clear;
      taken_q <= command_taken;
      room_q <= places_q != '0 && !command_taken;
      places_q <= places_q - PlacesWidth'(command_taken) +
          PlacesWidth'(response_dropped) + (core_clear ? crossing_q : PlacesWidth'(response_left_q));
      if (core_clear) crossing_q <= '0;
      else crossing_q <= crossing_q + PlacesWidth'(lanes_i.response_valid && core_run) - PlacesWidth'(response_left_q);
    end
  end

  // Whatever the user says: the registers would get the response, and its place would be lost.
  command_t user_command;
  always_comb begin
    user_command = cmd_i;
    user_command.from_registers = 1'b0;
  end

  spate_cdc_fifo #(
      .Width(1 + $bits(command_t)),
      .Depth(CommandDepth)
  ) u_commands (
      .in_clk_i(app_clk_i),
      .in_run_i(app_run),
      .in_clear_i(app_clear),
      .in_valid_i(cmd_valid_i),
      .in_ready_o(cmd_ready_o),
      .in_data_i({is_data_command(user_command), user_command}),
      .in_empty_o(),
      .in_left_o(),
      .out_clk_i(clk_i),
      .out_run_i(core_run),
      .out_clear_i(core_clear),
      .out_valid_o(command_there),
      .out_ready_i(taken_q),
      .out_data_o({is_data, command})
  );

  spate_cdc_fifo #(
      .Width(32 + DoneWidth),
      .Depth(ResponseDepth)
  ) u_responses (
      .in_clk_i(clk_i),
      .in_run_i(core_run),
      .in_clear_i(core_clear),
      .in_valid_i(lanes_i.response_valid),
      .in_ready_o(),
      .in_data_i({lanes_i.response.tag, lanes_i.response.status, lanes_i.response.done[DoneWidth-1:0]}),
      .in_empty_o(),
      .in_left_o(response_left),
      .out_clk_i(app_clk_i),
      .out_run_i(app_run),
      .out_clear_i(app_clear),
      .out_valid_o(response_there),
      .out_ready_i(rsp_ready_i),
      .out_data_o({rsp_o.tag, rsp_o.status, rsp_o.done[DoneWidth-1:0]})
  );
  assign rsp_o.done[63:DoneWidth] = '0;
  assign rsp_o.from_registers = 1'b0;

  // ---- data ----

  if (HasStreams) begin : gen_streams
    logic in_there, out_there;
    assign data_valid_o = in_there && core_run;
    assign m_axis_tvalid_o = out_there && app_run;

    // Bytes that are not kept are zeros. So only two bits cross beside the data.
    localparam int unsigned InWidth = WriteFrames ? DataWidth + 2 : DataWidth;
    logic [InWidth-1:0] beat_in, beat_out;
    if (WriteFrames) begin : gen_frames
      logic [DataWidth-1:0] kept;
      for (genvar i = 0; i < DataWidth / 8; i++) begin : gen_keep
        assign kept[8*i+:8] = s_axis_tkeep_i[i] ? s_axis_tdata_i[8*i+:8] : 8'd0;
      end
      assign beat_in = {s_axis_tkeep_i == '0, s_axis_tlast_i, kept};
      assign {data_null_o, data_last_o, data_o} = beat_out;
    end else begin : gen_no_frames
      logic unused;
      assign unused = ^{s_axis_tkeep_i, s_axis_tlast_i};
      assign beat_in = s_axis_tdata_i;
      assign data_o = beat_out;
      assign data_last_o = 1'b0;
      assign data_null_o = 1'b0;
    end

    spate_cdc_fifo #(
        .Width(InWidth),
        .Depth(DataDepth)
    ) u_data_in (
        .in_clk_i(app_clk_i),
        .in_run_i(app_run),
        .in_clear_i(app_clear),
        .in_valid_i(s_axis_tvalid_i),
        .in_ready_o(s_axis_tready_o),
        .in_data_i(beat_in),
        .in_empty_o(),
        .in_left_o(),
        .out_clk_i(clk_i),
        .out_run_i(core_run),
        .out_clear_i(core_clear),
        .out_valid_o(in_there),
        .out_ready_i(data_ready_i),
        .out_data_o(beat_out)
    );
    spate_cdc_fifo #(
        .Width(DataWidth + 2),
        .Depth(DataDepth)
    ) u_data_out (
        .in_clk_i(clk_i),
        .in_run_i(core_run),
        .in_clear_i(core_clear),
        .in_valid_i(data_valid_i),
        .in_ready_o(data_ready_o),
        .in_data_i({data_error_i, data_last_i, data_i}),
        .in_empty_o(),
        .in_left_o(),
        .out_clk_i(app_clk_i),
        .out_run_i(app_run),
        .out_clear_i(app_clear),
        .out_valid_o(out_there),
        .out_ready_i(m_axis_tready_i),
        .out_data_o({m_axis_tuser_o, m_axis_tlast_o, m_axis_tdata_o})
    );
  end else begin : gen_no_streams
    logic unused;
    assign unused = ^{s_axis_tkeep_i, s_axis_tlast_i};
    assign s_axis_tready_o = 1'b0;
    assign m_axis_tvalid_o = 1'b0;
    assign m_axis_tdata_o = '0;
    assign m_axis_tlast_o = 1'b0;
    assign m_axis_tuser_o = 1'b0;
    assign data_valid_o = 1'b0;
    assign data_o = '0;
    assign data_last_o = 1'b0;
    assign data_null_o = 1'b0;
    assign data_ready_o = 1'b0;
  end

endmodule

`default_nettype wire
