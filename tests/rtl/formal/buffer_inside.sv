// SPDX-License-Identifier: Apache-2.0
//
// What the induction of buffer_ports.sv needs to know of spate_buffer: how its registers follow from the reference, and
// that the queue of beats has room for each beat that the memory returns.
module buffer_inside #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned RamBytes = 262144,
    parameter int unsigned RamRegisters = 1,
    localparam int unsigned RingSectors = (RamBytes - 8192) / 512,
    localparam int unsigned ReadLatency = 2 + RamRegisters,
    localparam int unsigned BeatBytes = DataWidth / 8
) (
    input logic                   clk_i,
    input logic                   page_busy_q,
    input logic                   page_was_last_write_q,
    input logic                   page_was_last_read_q,
    input logic                   page_done_write_q,
    input logic                   page_write,
    input logic                   page_read,
    input logic                   fill,
    input logic                   drain,
    input logic                   target_read_i,
    input logic                   target_write_i,
    input logic                   target_drop_i,
    input logic [  BeatBytes-1:0] target_write_strobe_i,
    input logic [  BeatBytes-1:0] write_strobe_q,
    input logic [ReadLatency-1:0] page_read_q,
    input logic [ReadLatency-1:0] drain_q,
    input logic [            4:0] drain_count_q,
    input logic [            4:0] queued,
    input logic                   queue_ready
);

  always_comb begin
    // Each port has one user.
    if (target_write_i) assert (!page_write && !fill);
    if (target_read_i) assert (!page_read && !drain);
    assert (!(page_write && fill) && !(page_read && drain));
    if (u_ports.checked) begin
      assert (page_write == u_ports.page_write && page_read == u_ports.page_read);
      assert (page_busy_q == u_ports.page_busy_q && page_done_write_q == u_ports.page_written_q);
      assert (page_read_q == u_ports.page_read_q && drain_count_q == u_ports.drain_count_q);
      assert (drain_count_q == queued + 5'($countones(drain_q)));
      if (drain_q[ReadLatency-1]) assert (queue_ready);
      if (u_ports.waited_q[3]) assert (!page_was_last_write_q);
      if (u_ports.waited_q[2]) assert (page_was_last_write_q);
      if (u_ports.waited_q[1]) assert (!page_was_last_read_q);
      if (u_ports.waited_q[0]) assert (page_was_last_read_q);
    end
  end

  // The drive's beat is written with its own strobes, or it is dropped.
  always_ff @(posedge clk_i) begin
    if (u_ports.checked && $past(u_ports.checked && target_write_i))
      assert (write_strobe_q == ($past(target_drop_i) ? '0 : $past(target_write_strobe_i)));
  end

  if (RingSectors > 0) begin : gen_room
    always_comb begin
      if (u_ports.checked) assert (32'(spate_buffer.gen_ring.room_q) + 32'(u_ports.used_q) == RingSectors);
    end
  end

endmodule

bind spate_buffer buffer_inside #(
    .DataWidth(DataWidth),
    .RamBytes(RamBytes),
    .RamRegisters(RamRegisters)
) u_inside (
    .*,
    .queued(5'(u_drained.count_o)),
    .queue_ready(u_drained.in_ready_o)
);
