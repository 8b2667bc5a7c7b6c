// SPDX-License-Identifier: Apache-2.0
//
// The two halves of spate_pcie_axi in the core's clock: each address gets its beats and one RLAST, each burst gets one
// response, for any stalls and whenever `run` falls. The handshake rule holds towards the core.
module pcie_axi_halves_proof
  import spate_pkg::*;
(
    input logic        clk,
    input logic        rst_n,
    input logic        run,
    input logic        drop,
    input logic        ar_valid,
    input logic [12:0] ar_address,
    input logic [ 7:0] ar_len,
    input logic [ 2:0] ar_size,
    input logic        ar_fixed,
    input logic        read_ready,
    input logic        core_sends,
    input logic        r_ready,
    input logic        aw_valid,
    input logic        w_valid,
    input logic        w_last,
    input logic        b_ready,
    input logic        write_ready
);

  logic past_reset_q = 1'b0;
  always_ff @(posedge clk) begin
    past_reset_q <= 1'b1;
    assume (rst_n == past_reset_q);
  end

  logic read_idle, ar_ready, read_valid, data_ready, r_valid, r_last, r_id;
  window_read_t read;
  logic [127:0] r_data;
  logic core_last, core_shows_q, core_free;
  logic [8:0] core_left_q;

  spate_pcie_axi_read #(
      .DataWidth(128),
      .IdWidth(1),
      .WindowBits(13),
      .RequestsMax(2)
  ) u_read (
      .clk_i(clk),
      .rst_ni(rst_n),
      .run_i(run),
      .drop_i(drop),
      .idle_o(read_idle),
      .ar_valid_i(ar_valid),
      .ar_ready_o(ar_ready),
      .ar_id_i(1'b1),
      .ar_address_i(ar_address),
      .ar_stray_i(1'b0),
      .ar_len_i(ar_len),
      .ar_size_i(ar_size),
      .ar_fixed_i(ar_fixed),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_o(read),
      .read_data_valid_i(core_shows_q),
      .read_data_ready_o(data_ready),
      .read_data_i('0),
      .read_last_i(core_last),
      .r_valid_o(r_valid),
      .r_ready_i(r_ready),
      .r_id_o(r_id),
      .r_last_o(r_last),
      .r_data_o(r_data)
  );

  // The environment: a core that answers one request at a time, a beat at any time, and a source that keeps the rule.
  assign core_free = core_left_q == '0;
  assign core_last = core_left_q == 9'd1;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      core_left_q <= '0;
      core_shows_q <= 1'b0;
    end else begin
      if (read_valid && read_ready) core_left_q <= read.beats;
      else if (core_shows_q && data_ready) core_left_q <= core_left_q - 1'b1;
      if (core_shows_q && data_ready) core_shows_q <= core_sends && core_left_q > 9'd1;
      else core_shows_q <= core_shows_q || (core_sends && !core_free);
    end
  end

  logic ar_waits_q = 1'b0, ran_q = 1'b0, stopped_q = 1'b0;
  logic [24:0] ar_q;
  always_ff @(posedge clk) begin
    ar_waits_q <= rst_n && ar_valid && !ar_ready;
    ar_q <= {ar_address, ar_len, ar_size, ar_fixed};
    ran_q <= rst_n && run;
    stopped_q <= stopped_q || (ran_q && !run);
    assume (!read_ready || core_free);
    assume (!ar_waits_q || (ar_valid && ar_q == {ar_address, ar_len, ar_size, ar_fixed}));
    assume (ar_len < 8'd4 && ar_size <= 3'd4);
    // After it has run and stopped it does not run again here, because the crossings are cleared in between.
    assume (!(stopped_q && run));
  end

  // Beats owed to the bridge for addresses that began: counted from the first request of each.
  logic [6:0] owed_q;
  logic [3:0] bursts_q;  // addresses taken whose RLAST was not sent
  logic looked_q;  // the address that waits has begun
  logic moved_q;  // the beat before this one was not its burst's last
  logic begins;
  assign begins = u_read.load && !looked_q;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      owed_q <= '0;
      bursts_q <= '0;
      looked_q <= 1'b0;
    end else if (run) begin
      owed_q <= owed_q + (begins ? 7'(ar_len) + 7'd1 : 7'd0) - 7'(r_valid && r_ready);
      bursts_q <= bursts_q + 4'(begins) - 4'(r_valid && r_ready && r_last);
      looked_q <= u_read.load ? !ar_ready : looked_q;
    end
    if (!rst_n) moved_q <= 1'b0;
    else if (r_valid && r_ready) moved_q <= !r_last;
  end

  stream_rule #(
      .Width(23)
  ) u_rule_read (
      .clk_i(clk),
      .rst_ni(rst_n),
      .valid_i(read_valid),
      .ready_i(read_ready),
      .payload_i(read)
  );

  always_comb begin
    if (past_reset_q && rst_n) begin
      if (run) begin
        assert (!(r_valid && owed_q == '0));
        if (r_valid) assert (bursts_q != '0 && r_id);
        // The last beat owed has RLAST, and no burst is left without it.
        if (r_valid && owed_q == 7'd1) assert (r_last);
        assert ((owed_q == '0) == (bursts_q == '0));
        cover (bursts_q == 4'd2);
        cover (r_valid && r_ready && r_last && moved_q && bursts_q == 4'd2);  // a whole burst, and another one behind it
        cover (owed_q == '0 && looked_q == 1'b0 && r_data == '0 && read_idle && ran_q);
      end else begin
        assert (!r_valid && !ar_ready);
        assert (data_ready);
      end
    end
  end

  // ---- writes ----

  logic write_idle, aw_ready, w_ready, write_valid, b_valid, b_id;
  window_write_t write;
  logic [127:0] write_data;
  logic [15:0] write_strobe;

  spate_pcie_axi_write #(
      .DataWidth(128),
      .IdWidth(1),
      .WindowBits(13)
  ) u_write (
      .clk_i(clk),
      .rst_ni(rst_n),
      .run_i(run),
      .drop_i(drop),
      .idle_o(write_idle),
      .aw_valid_i(aw_valid),
      .aw_ready_o(aw_ready),
      .aw_id_i(1'b1),
      .aw_address_i(ar_address),
      .aw_stray_i(1'b0),
      .aw_size_i(ar_size),
      .aw_fixed_i(ar_fixed),
      .w_valid_i(w_valid),
      .w_ready_o(w_ready),
      .w_last_i(w_last),
      .w_strobe_i('1),
      .w_data_i('0),
      .write_valid_o(write_valid),
      .write_ready_i(write_ready),
      .write_o(write),
      .write_data_o(write_data),
      .write_strobe_o(write_strobe),
      .b_valid_o(b_valid),
      .b_ready_i(b_ready),
      .b_id_o(b_id)
  );

  logic aw_waits_q = 1'b0, w_waits_q = 1'b0, b_had_room_q = 1'b0, w_moved_q = 1'b0, w_last_q;
  logic [16:0] aw_q;
  always_ff @(posedge clk) begin
    aw_waits_q <= rst_n && aw_valid && !aw_ready;
    aw_q <= {ar_address, ar_size, ar_fixed};
    w_waits_q <= rst_n && w_valid && !w_ready;
    w_last_q <= w_last;
    w_moved_q <= rst_n && (w_valid && w_ready ? !w_last : w_moved_q);
    b_had_room_q <= rst_n && run && b_ready && !b_valid;
    assume (!aw_waits_q || (aw_valid && aw_q == {ar_address, ar_size, ar_fixed}));
    assume (!w_waits_q || (w_valid && w_last == w_last_q));
    assume (!(b_had_room_q && run) || b_ready);  // only this half uses that room
  end

  stream_rule #(
      .Width(14)
  ) u_rule_write (
      .clk_i(clk),
      .rst_ni(rst_n),
      .valid_i(write_valid),
      .ready_i(write_ready),
      .payload_i(write)
  );

  always_comb begin
    if (past_reset_q && rst_n) begin
      assert (w_ready == (write_valid && write_ready));
      assert (aw_ready == b_valid);
      assert (b_valid == (w_ready && w_last));
      if (b_valid && run) assert (b_id && aw_valid && w_valid && (b_ready || !ran_q));
      if (!run && ran_q == 1'b0) assert (!write_valid || !write_idle);
      cover (b_valid && b_ready && b_had_room_q && w_moved_q);  // of two beats
      cover (b_valid && write_data == '0 && write_strobe == '1 && write.address[11:4] != ar_address[11:4]);
    end
  end

endmodule
