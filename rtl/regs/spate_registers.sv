// SPDX-License-Identifier: Apache-2.0
//
// The register interface of a drive's core: the generated registers (spate_regs.rdl), commands that software starts
// through them, and a queue for their responses.
//
// Guarantee: a command that was taken is offered once. Data-lane and side commands are offered separately, so that
// neither waits for the other. At most Depth commands are without a response that was taken, so every response has a
// place: a processor that takes its responses slowly blocks nothing. Each access of the bus gets an OKAY response.
`default_nettype none

module spate_registers
  import spate_pkg::*;
  import spate_bus_pkg::*;
#(
    parameter int unsigned DataWidth = 128,  // reported to software
    parameter int unsigned Slots = 64,  // reported to software
    parameter int unsigned RamBytes = 262144,  // of the buffer; 8192: memory mode
    parameter bit WriteFrames = 1'b0  // writes can end with `tlast`
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // AXI4-Lite. Addresses are relative to the registers.
    input  wire axil_request_t s_axil_i,
    output axil_response_t     s_axil_o,
    output logic               irq_o,     // high while an enabled bit of interrupt_status is set

    output logic enable_o,

    // Commands: reads and writes of streams and addresses, and all others.
    output lanes_request_t       lanes_o,  // response_ready is always high
    input  wire lanes_response_t lanes_i,

    output logic                page_valid_o,
    output page_access_t        page_o,
    input  wire logic           page_done_i,   // a pulse, with the data of a read
    input  wire logic    [31:0] page_data_i,

    input  wire logic [ 3:0] raw_dword_i,
    output logic      [31:0] raw_data_o,

    // Values that software can read: see spate_drive.
    input wire drive_t                   drive_i,
    input wire events_t                  events_i,
    input wire logic                     beat_in_i,         // a beat of the write stream was taken
    input wire logic                     beat_out_i,        // a beat of the read stream was given
    input wire logic                     frame_i,           // a beat with `tlast` was taken
    input wire logic                     command_taken_i,
    input wire logic                     response_given_i,
    input wire logic                     link_up_i,
    input wire logic                     tap_lost_i,
    input wire logic      [LbaWidth-1:0] written_blocks_i,
    input wire bring_up_t                bring_up_i,
    input wire health_t                  health_i,
    input wire power_t                   power_i
);

  localparam int unsigned Depth = 16;
  localparam int unsigned BeatBytes = DataWidth / 8;

  spate_regs_pkg::spate_regs__in_t in;
  spate_regs_pkg::spate_regs__out_t out;

  logic request_valid, request_write, write_stall, read_stall, write_ack, write_ack_q, read_ack;
  logic [13:0] request_address;
  logic [31:0] request_data, request_enables, read_data;

  spate_axil u_axil (
      .clk_i,
      .rst_ni,
      .s_axil_i,
      .s_axil_o,
      .request_valid_o(request_valid),
      .request_write_o(request_write),
      .write_ready_i(!write_stall),
      .read_ready_i(!read_stall),
      .address_o(request_address),
      .data_o(request_data),
      .enables_o(request_enables),
      .write_ack_i(write_ack_q),
      .read_ack_i(read_ack),
      .read_data_i(read_data)
  );

  spate_regs u_regs (
      .clk(clk_i),
      .rst_n(rst_ni),
      .s_cpuif_req(request_valid),
      .s_cpuif_req_is_wr(request_write),
      .s_cpuif_addr(request_address),
      .s_cpuif_wr_data(request_data),
      .s_cpuif_wr_biten(request_enables),
      .s_cpuif_req_stall_wr(write_stall),
      .s_cpuif_req_stall_rd(read_stall),
      .s_cpuif_rd_ack(read_ack),
      .s_cpuif_rd_err(),  // an address without a register reads as 0
      .s_cpuif_rd_data(read_data),
      .s_cpuif_wr_ack(write_ack),
      .s_cpuif_wr_err(),
      .hwif_in(in),
      .hwif_out(out)
  );

  // The registers acknowledge a write in the cycle of its request: this register divides the path.
  always_ff @(posedge clk_i) write_ack_q <= rst_ni && write_ack;

  assign enable_o = out.control.enable.value;

  // ---- commands: one that was started waits in the registers, or in the queue of the data lane ----

  logic [4:0] open_q;  // commands whose response was not taken yet
  logic side_pending_q;
  logic start, is_data, may_start, start_data, start_side;
  command_t command;

  assign command.from_registers = 1'b1;
  assign command.tag = out.command.tag.value;
  assign command.op = op_e'(out.command.op.value);
  assign command.source = source_e'(out.command.source.value);
  assign command.fua = out.command.fua.value;
  assign command.address = {out.command_address_high.value.value, out.command_address_low.value.value};
  assign command.lba = {out.command_lba_high.value.value, out.command_lba_low.value.value};
  assign command.blocks = out.command_blocks.value.value;

  assign may_start = !side_pending_q && open_q != 5'(Depth);
  assign start = out.command.start.value && may_start;
  assign is_data = is_data_command(command);
  assign start_data = start && is_data;
  assign start_side = start && !is_data;

  assign lanes_o.side_valid = side_pending_q;
  assign lanes_o.side = command;
  assign lanes_o.response_ready = 1'b1;

  // Its depth is the maximum of open commands, so it is never full.
  logic data_queue_ready;
  spate_fifo #(
      .Width($bits(command_t)),
      .Depth(Depth)
  ) u_data_commands (
      .clk_i,
      .rst_ni,
      .in_valid_i(start_data),
      .in_ready_o(data_queue_ready),
      .in_data_i(command),
      .out_valid_o(lanes_o.command_valid),
      .out_ready_i(lanes_i.command_ready),
      .out_data_o(lanes_o.command),
      .count_o()
  );

  // ---- responses ----

  logic response_valid, take, response_queue_ready;
  response_t response;
  assign take = out.response_take.take.value && response_valid;

  spate_fifo #(
      .Width($bits(response_t)),
      .Depth(Depth)
  ) u_responses (
      .clk_i,
      .rst_ni,
      .in_valid_i(lanes_i.response_valid),
      .in_ready_o(response_queue_ready),
      .in_data_i(lanes_i.response),
      .out_valid_o(response_valid),
      .out_ready_i(take),
      .out_data_o(response),
      .count_o()
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q <= '0;
      side_pending_q <= 1'b0;
    end else begin
      open_q <= open_q + 5'(start) - 5'(take);
      side_pending_q <= start_side || (side_pending_q && !lanes_i.side_ready);
    end
  end

`ifdef FORMAL
  always_comb begin
    if (rst_ni) begin
      if (start_data) assert (data_queue_ready);
      if (lanes_i.response_valid) assert (response_queue_ready);
    end
  end
`endif

  // ---- the pages of the buffer: the bus waits for its port ----

  logic page_pending_q, page_write_q, page_mailbox_q;
  logic [9:0] page_dword_q;
  logic [31:0] page_data_q;
  logic page_read_done, page_write_done;

  assign page_valid_o = page_pending_q && !(page_write_q && !page_mailbox_q);
  assign page_o = '{write: page_write_q, dword: {page_mailbox_q, page_dword_q}, data: page_data_q};
  assign page_read_done = page_done_i && page_pending_q && !page_write_q;
  // A write to the admin page has no effect, but gets a response.
  assign page_write_done = page_pending_q && page_write_q && (page_done_i || !page_mailbox_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) page_pending_q <= 1'b0;
    else if (out.mailbox.req || out.admin_page.req) page_pending_q <= 1'b1;
    else if (page_read_done || page_write_done) page_pending_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (out.mailbox.req || out.admin_page.req) begin
      page_mailbox_q <= out.mailbox.req;
      page_write_q <= out.mailbox.req ? out.mailbox.req_is_wr : out.admin_page.req_is_wr;
      page_dword_q <= out.mailbox.req ? out.mailbox.addr[11:2] : out.admin_page.addr[11:2];
      page_data_q <= out.mailbox.wr_data;
    end
  end

  assign in.mailbox.rd_ack = page_read_done && page_mailbox_q;
  assign in.mailbox.rd_data = page_data_i;
  assign in.mailbox.wr_ack = page_write_done && page_mailbox_q;
  assign in.admin_page.rd_ack = page_read_done && !page_mailbox_q;
  assign in.admin_page.rd_data = page_data_i;
  assign in.admin_page.wr_ack = page_write_done && !page_mailbox_q;

  // ---- the raw command ----

  logic [31:0] raw[16];
  always_ff @(posedge clk_i) begin
    if (out.raw.req && out.raw.req_is_wr) raw[out.raw.addr[5:2]] <= out.raw.wr_data;
  end
  assign raw_data_o = raw[raw_dword_i];
  assign in.raw.rd_ack = out.raw.req && !out.raw.req_is_wr;
  assign in.raw.rd_data = '0;
  assign in.raw.wr_ack = out.raw.req && out.raw.req_is_wr;

  // ---- counters ----

  logic irq_q;
  logic counters_ready, counter_read_q;
  logic [3:0] counter_q;
  logic [31:0] count;

  spate_event_counters u_counters (
      .clk_i,
      .rst_ni,
      .event_i({
        irq_o && !irq_q,
        response_given_i,
        command_taken_i,
        beat_out_i,
        beat_in_i,
        1'b1,
        events_i.command_error,
        events_i.recovery,
        events_i.retry,
        events_i.sq_head,
        events_i.cq_id,
        events_i.cq_index,
        events_i.cq_phase,
        events_i.stale_access,
        events_i.stray_write,
        events_i.stray_read
      }),
      .select_i(counter_q),
      .count_o(count),
      .ready_o(counters_ready)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) counter_read_q <= 1'b0;
    else if (out.counters.req && !out.counters.req_is_wr) counter_read_q <= 1'b1;
    else if (counters_ready) counter_read_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (out.counters.req) counter_q <= out.counters.addr[5:2];
  end

  assign in.counters.rd_ack = counter_read_q && counters_ready;
  assign in.counters.rd_data = count;
  assign in.counters.wr_ack = out.counters.req && out.counters.req_is_wr;

  logic [31:0] frames;
  if (WriteFrames) begin : gen_frames
    logic [31:0] frames_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) frames_q <= '0;
      else frames_q <= frames_q + 32'(frame_i);
    end
    assign frames = frames_q;
  end else begin : gen_no_frames
    logic unused;
    assign unused = frame_i;
    assign frames = '0;
  end

  // ---- what can be read, as it was a cycle ago ----
  //
  // These values come from all parts of the core. Copies of them here shorten the path from an address to its data. An
  // access takes longer than a cycle, so software never reads a value from before its last access that was answered.

  drive_t drive_q;
  bring_up_t bring_up_q;
  health_t health_q;
  power_t shown_power_q;
  response_t response_q;
  logic [LbaWidth-1:0] written_blocks_q;
  logic response_valid_q, command_ready_q, link_up_q, tap_lost_q;

  always_ff @(posedge clk_i) begin
    drive_q <= drive_i;
    bring_up_q <= bring_up_i;
    health_q <= health_i;
    shown_power_q <= power_i;
    response_q <= response;
    written_blocks_q <= written_blocks_i;
    response_valid_q <= rst_ni && response_valid;
    command_ready_q <= may_start && !out.command.start.value;
    link_up_q <= link_up_i;
    tap_lost_q <= tap_lost_i;
  end

  logic unused_copies;  // what software is not shown
  assign unused_copies = ^{drive_q.doorbell_stride, response_q.from_registers};

  // ---- interrupts ----

  logic ready_q, gone_q;
  logic [1:0] power_q;  // a verdict changes one of the two counts by one
  logic [7:0] critical_warning_q;
  logic [6:0] interrupts;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ready_q <= 1'b0;
      gone_q <= 1'b0;
      power_q <= '0;
      critical_warning_q <= '0;
      irq_q <= 1'b0;
    end else begin
      ready_q <= drive_i.ready;
      gone_q <= drive_i.gone;
      power_q <= {power_i.losses[0], power_i.unknown[0]};
      critical_warning_q <= health_i.critical_warning;
      irq_q <= irq_o;
    end
  end

  assign in.interrupt_status.response.next = response_valid_q;
  assign in.interrupt_status.ready_changed.hwset = drive_i.ready != ready_q;
  assign in.interrupt_status.gone.hwset = drive_i.gone && !gone_q;
  assign in.interrupt_status.health_warning.hwset = |(health_i.critical_warning & ~critical_warning_q);
  assign in.interrupt_status.command_refused.hwset = out.command.start.value && !may_start;
  assign in.interrupt_status.recovery.hwset = events_i.recovery;
  assign in.interrupt_status.power.hwset = {power_i.losses[0], power_i.unknown[0]} != power_q;
  assign interrupts = {
    out.interrupt_status.power.value,
    out.interrupt_status.recovery.value,
    out.interrupt_status.command_refused.value,
    out.interrupt_status.health_warning.value,
    out.interrupt_status.gone.value,
    out.interrupt_status.ready_changed.value,
    response_valid
  };
  assign irq_o = |(interrupts & out.interrupt_enable.enable.value);

  // ---- values that can be read ----

  assign in.parameters.data_bytes.next = 8'(BeatBytes);
  assign in.parameters.slots.next = 9'(Slots);
  assign in.parameters.write_frames.next = WriteFrames;
  assign in.parameters.memory_mode.next = RamBytes == 8192;
  assign in.ring.bytes.next = 32'(RamBytes - 8192);
  assign in.status.ready.next = drive_q.ready;
  assign in.status.gone.next = drive_q.gone;
  assign in.status.epoch.next = drive_q.epoch;
  assign in.status.link_up.next = link_up_q;
  assign in.status.health_valid.next = health_q.valid;
  assign in.status.volatile_cache.next = bring_up_q.volatile_cache;
  assign in.status.block_4096.next = drive_q.block_4096;
  assign in.status.command_ready.next = command_ready_q;
  assign in.status.response_valid.next = response_valid_q;
  assign in.status.tap_lost.next = tap_lost_q;
  assign in.bring_up.step.next = bring_up_q.step;
  assign in.bring_up.error.next = bring_up_q.error;
  assign in.bring_up.link_status.next = bring_up_q.link_status;
  assign in.error_detail.value.next = bring_up_q.error_detail;
  assign in.blocks_low.low.next = drive_q.blocks[31:0];
  assign in.blocks_high.high.next = 8'(drive_q.blocks[LbaWidth-1:32]);
  assign in.geometry.command_sectors_max.next = drive_q.command_sectors_max;
  assign in.geometry.queue_shift.next = drive_q.queue_shift;
  assign in.nsid.value.next = drive_q.nsid;
  assign in.cap_low.value.next = bring_up_q.cap_low;
  assign in.power.losses.next = shown_power_q.losses;
  assign in.power.unknown.next = shown_power_q.unknown;
  assign in.response.tag.next = response_q.tag;
  assign in.response.status.next = response_q.status;
  assign in.response_done_low.low.next = response_q.done[31:0];
  assign in.response_done_high.high.next = response_q.done[63:32];
  assign in.health.critical_warning.next = health_q.critical_warning;
  assign in.health.temperature_k.next = health_q.temperature_k;
  assign in.wear.spare_percent.next = health_q.spare_percent;
  assign in.wear.spare_threshold_percent.next = health_q.spare_threshold_percent;
  assign in.wear.used_percent.next = health_q.used_percent;
  assign in.media_errors.value.next = health_q.media_errors;
  assign in.unsafe_shutdowns.value.next = shown_power_q.unsafe_shutdowns;
  assign in.frames.value.next = frames;
  assign in.written_low.low.next = written_blocks_q[31:0];
  assign in.written_high.high.next = 8'(written_blocks_q[LbaWidth-1:32]);

endmodule

`default_nettype wire
