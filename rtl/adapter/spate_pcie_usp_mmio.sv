// SPDX-License-Identifier: Apache-2.0
//
// Carries out register and configuration accesses at the block, one at a time: the root port's own configuration space
// through the management port, the device's through configuration requests of type 0 to bus 1, its BAR through memory
// requests of one dword (the block chooses the short header below 4 GiB). In the block's clock.
//
// Guarantee: each access that is started is carried out once; a posted write ends when the block has taken it. Any
// status but success, a poisoned or broken completion, and a timeout are errors; a retry status is one too. A
// completion of no current request is dropped. If the link goes down, an access that waits for the device
// ends with an error.
//
// A request that waits for the block stays while the link is down, because a word that was shown must not be withdrawn.
// A doorbell may therefore be sent after the link returned, but not to a controller that is enabled: accesses keep
// their order, so it goes before bring-up's first one, when the reset with the link has turned off the function's
// memory space and CC.EN.
`default_nettype none

module spate_pcie_usp_mmio
  import spate_pkg::*;
  import spate_pcie_usp_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // 128 or 256
    parameter logic [63:0] BarBase = 64'h0,  // bus address of BAR 0, a multiple of its size
    // Derived: no instance sets it.
    parameter int unsigned Lanes = DataWidth / 32
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic link_up_i,

    input  wire logic          start_i,
    input  wire mmio_request_t request_i,  // from `start` until done
    output logic               done_o,     // a pulse, with the result
    output mmio_result_t       result_o,

    output logic      [DataWidth-1:0] rq_tdata_o,
    output logic      [    Lanes-1:0] rq_tkeep_o,
    output logic      [         61:0] rq_tuser_o,
    output logic                      rq_tlast_o,
    output logic                      rq_tvalid_o,
    input  wire logic                 rq_tready_i,

    input  wire logic [DataWidth-1:0] rc_tdata_i,
    input  wire logic [         74:0] rc_tuser_i,
    input  wire logic                 rc_tvalid_i,
    output logic                      rc_tready_o,

    output logic      [ 9:0] cfg_mgmt_addr_o,
    output logic             cfg_mgmt_write_o,
    output logic      [31:0] cfg_mgmt_write_data_o,
    output logic      [ 3:0] cfg_mgmt_byte_enable_o,
    output logic             cfg_mgmt_read_o,
    input  wire logic [31:0] cfg_mgmt_read_data_i,
    input  wire logic        cfg_mgmt_read_write_done_i,

    output logic sending_o
);

  typedef enum logic [2:0] {
    StIdle,
    StLocal,
    StSend,
    StSendData,  // the second word of a write, when the first has no room for the data
    StWait,
    StDone
  } state_e;

  state_e state_q, state_d;
  logic [4:0] turn_q;  // tells a late completion from the one that is waited for
  logic error_q, error_d;
  logic [31:0] data_q, data_d;

  // ---- the request ----

  rq_descriptor_t descriptor;
  logic is_bar;

  assign is_bar = request_i.access.space == SpaceBar;

  always_comb begin
    descriptor = '0;
    descriptor.requester_enable = 1'b1;  // bus 0, device 0, function 0: the root port
    descriptor.dwords = 11'd1;
    descriptor.tag = 8'(turn_q);
    if (is_bar) begin
      descriptor.kind = request_i.access.write ? KindMemoryWrite : KindMemoryRead;
      descriptor.address = BarBase | 64'({request_i.access.address[31:2], 2'b00});
    end else begin
      descriptor.kind = request_i.access.write ? KindConfigWrite0 : KindConfigRead0;
      descriptor.address = 64'({request_i.access.address[11:2], 2'b00});
      descriptor.completer = 16'h0100;
    end
  end

  generate
    if (Lanes == 4) begin : gen_two_words
      assign rq_tdata_o = state_q == StSendData ? DataWidth'(request_i.access.data) : descriptor;
      assign rq_tkeep_o = state_q == StSendData ? 4'h1 : 4'hf;
      assign rq_tlast_o = state_q == StSendData || !request_i.access.write;
    end else begin : gen_one_word
      assign rq_tdata_o = DataWidth'({request_i.access.data, descriptor});
      assign rq_tkeep_o = request_i.access.write ? Lanes'(8'h1f) : Lanes'(8'h0f);
      assign rq_tlast_o = 1'b1;
    end
  endgenerate

  assign rq_tuser_o = 62'h0f;  // all bytes of the one dword
  assign rq_tvalid_o = state_q == StSend || state_q == StSendData;
  assign sending_o = rq_tvalid_o;

  // ---- the completion ----

  rc_descriptor_t answer;
  logic answered, bad;

  assign answer = rc_tdata_i[95:0];
  assign rc_tready_o = 1'b1;
  // Bit 32 marks a packet's first word, bit 42 a broken packet. The completions wanted have one word.
  assign answered = state_q == StWait && rc_tvalid_i && rc_tuser_i[32] && answer.tag == 8'(turn_q) && answer.completed;
  assign bad = answer.error != '0 || answer.status != StatusSuccessful || answer.poisoned || rc_tuser_i[42]
      || (!request_i.access.write && answer.dwords != 11'd1);

  // ---- one access ----

  assign cfg_mgmt_addr_o = request_i.access.address[11:2];
  assign cfg_mgmt_write_data_o = request_i.access.data;
  assign cfg_mgmt_byte_enable_o = 4'hf;
  assign cfg_mgmt_write_o = state_q == StLocal && request_i.access.write;
  assign cfg_mgmt_read_o = state_q == StLocal && !request_i.access.write;

  always_comb begin
    state_d = state_q;
    error_d = error_q;
    data_d = data_q;
    unique case (state_q)
      StIdle: begin
        error_d = 1'b0;
        if (start_i) begin
          if (request_i.access.space == SpaceLocal) begin
            state_d = StLocal;
          end else if (link_up_i) begin
            state_d = StSend;
          end else begin
            state_d = StDone;
            error_d = 1'b1;
          end
        end
      end
      StLocal: begin
        data_d = cfg_mgmt_read_data_i;
        if (cfg_mgmt_read_write_done_i) state_d = StDone;
      end
      StSend: begin
        if (rq_tready_i) begin
          if (!rq_tlast_o) state_d = StSendData;
          else state_d = is_bar && request_i.access.write ? StDone : StWait;
        end
      end
      StSendData: if (rq_tready_i) state_d = is_bar ? StDone : StWait;
      StWait: begin
        data_d = rc_tdata_i[127:96];
        error_d = !answered || bad;
        if (answered || !link_up_i) state_d = StDone;
      end
      StDone: state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      turn_q <= '0;
    end else begin
      state_q <= state_d;
      turn_q <= turn_q + 5'(state_q == StDone && request_i.access.space != SpaceLocal);
    end
    error_q <= error_d;
    data_q <= data_d;
  end

  assign done_o = state_q == StDone;
  assign result_o = '{error: error_q, data: data_q};

`ifdef FORMAL
  // An access is carried out once, and only after its start. The block never sees a word change or vanish.
  logic past_reset_q = 1'b0;
  logic busy_q;
  mmio_request_t request_past_q;
  logic was_stuck_q;
  logic [DataWidth+Lanes:0] was_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    request_past_q <= request_i;
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= (busy_q || start_i) && !done_o;
    assume (!start_i || !busy_q);
    if (busy_q) assume (request_i == request_past_q);
    assume (request_i.access.space inside {SpaceLocal, SpaceDevice, SpaceBar});
    was_stuck_q <= rst_ni && rq_tvalid_o && !rq_tready_i;
    was_q <= {rq_tdata_o, rq_tkeep_o, rq_tlast_o};
  end

  always_comb begin
    if (past_reset_q && rst_ni) begin
      assert (busy_q == (state_q != StIdle));
      assert (!done_o || busy_q);
      if (was_stuck_q) assert (rq_tvalid_o && was_q == {rq_tdata_o, rq_tkeep_o, rq_tlast_o});
      assert (!rq_tvalid_o || request_i.access.space != SpaceLocal);
      assert (!(cfg_mgmt_read_o && cfg_mgmt_write_o));
      assert (state_q != StWait || !(is_bar && request_i.access.write));
      cover (done_o && result_o.error && request_i.access.space == SpaceDevice);
      cover (done_o && !result_o.error && turn_q == 5'd3 && !request_i.access.write);
    end
  end
`endif

endmodule

`default_nettype wire
