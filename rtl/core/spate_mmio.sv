// SPDX-License-Identifier: Apache-2.0
//
// One port to registers and configuration space, shared by the microcode and the doorbells. Doorbells go first, because
// they are posted and few.
//
// Guarantee: each access that was taken ends once, with the adapter's response or, after DeadlineUs, with an error. A
// response after that is dropped, provided that the adapter responds in order and no response comes later than the end
// of the next access. Accesses are carried out one at a time, in the order in which they were taken. While the adapter
// has not even taken an earlier access, each next one ends with an error at once.
`default_nettype none

module spate_mmio
  import spate_pkg::*;
#(
    // Longer than a root port waits for a completion: at most 50 ms in the default range, which bring-up sets.
    parameter int unsigned DeadlineUs = 75000
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic us_tick_i, // a pulse each microsecond

    input  wire logic         doorbell_valid_i,
    output logic              doorbell_ready_o,
    input  wire mmio_access_t doorbell_i,
    output logic              doorbell_done_o,   // a pulse: it has ended, or its deadline has passed
    output logic              doorbell_error_o,  // with the pulse

    input  wire logic         admin_valid_i,
    output logic              admin_ready_o,
    input  wire mmio_access_t admin_i,
    output logic              admin_done_o,   // a pulse, with the result
    output mmio_result_t      admin_result_o,

    output logic                request_valid_o,
    input  wire logic           request_ready_i,
    output mmio_request_t       request_o,
    input  wire logic           response_valid_i,
    input  wire mmio_response_t response_i
);

  if (DeadlineUs < 2) begin : gen_parameters
    $error("spate_mmio: DeadlineUs must be at least 2, since the first tick may come at once");
  end

  localparam int unsigned CountWidth = $clog2(DeadlineUs + 1);

  mmio_request_t request_q;
  logic request_valid_q;
  logic busy_q, doorbell_q;  // an access was taken and has not ended; it is a doorbell
  logic refused_q;  // it cannot be passed on: the adapter has not taken the one before
  logic [CountWidth-1:0] left_q;
  logic error_q;
  logic doorbell_done_q, admin_done_q;
  logic [31:0] data_q;
  logic take, answered, expired, finish;

  assign doorbell_ready_o = !busy_q;
  assign admin_ready_o = !busy_q && !doorbell_valid_i;
  assign take = !busy_q && (doorbell_valid_i || admin_valid_i);

  assign answered = response_valid_i && response_i.id == request_q.id && !refused_q;
  assign expired = refused_q || (us_tick_i && left_q == '0);
  assign finish = busy_q && (answered || expired);

  assign request_valid_o = request_valid_q;
  assign request_o = request_q;
  assign doorbell_done_o = doorbell_done_q;
  assign doorbell_error_o = doorbell_done_q && error_q;
  assign admin_done_o = admin_done_q;
  assign admin_result_o = '{error: error_q, data: data_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      request_valid_q <= 1'b0;
      request_q <= '0;
      busy_q <= 1'b0;
      doorbell_q <= 1'b0;
      refused_q <= 1'b0;
      doorbell_done_q <= 1'b0;
      admin_done_q <= 1'b0;
      error_q <= 1'b0;
    end else begin
      doorbell_done_q <= finish && doorbell_q;
      admin_done_q <= finish && !doorbell_q;
      if (finish) begin
        busy_q <= 1'b0;
        error_q <= !answered || response_i.result.error;
      end
      if (request_ready_i) request_valid_q <= 1'b0;
      if (take) begin
        busy_q <= 1'b1;
        doorbell_q <= doorbell_valid_i;
        refused_q <= request_valid_q;
        if (!request_valid_q) begin
          request_valid_q <= 1'b1;
          request_q.id <= !request_q.id;
          request_q.access <= doorbell_valid_i ? doorbell_i : admin_i;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) left_q <= CountWidth'(DeadlineUs - 1);
    else if (us_tick_i) left_q <= left_q - 1'b1;
    data_q <= response_i.result.data;
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  logic owed_q, late_q;  // the adapter owes a response to the current access; to an earlier one whose deadline passed
  logic late_id_q;
  logic [7:0] taken_q, ended_q;
  logic [CountWidth:0] ticks_q;

  // The adapter ends each request once, in order. A late response comes before the end of the next access passed on.
  logic handed, answers_late;
  assign handed = take && !request_valid_q;
  assign answers_late = response_valid_i && late_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      {owed_q, late_q} <= '0;
      taken_q <= '0;
      ended_q <= '0;
      ticks_q <= '0;
    end else begin
      if (handed) owed_q <= 1'b1;
      else if (finish && !refused_q) owed_q <= 1'b0;
      if (finish && !refused_q && !answered) begin
        assume (!late_q || answers_late);
        late_q <= 1'b1;
        late_id_q <= request_q.id;
      end else if (answers_late) late_q <= 1'b0;
      taken_q <= taken_q + 8'(take);
      ended_q <= ended_q + 8'(doorbell_done_o) + 8'(admin_done_o);
      ticks_q <= take ? '0 : ticks_q + (CountWidth + 1)'(us_tick_i && busy_q);
    end
  end

  always_comb begin
    if (past_reset_q && rst_ni && response_valid_i) begin
      assume (!request_valid_q);  // a request that was not taken is not answered
      assume (late_q || owed_q);
      if (late_q)
        assume (response_i.id == late_id_q);
        else assume (response_i.id == request_q.id);
    end
  end

  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      // what is passed on is what was taken
      if ($past(handed)) assert (request_o.access == $past(doorbell_valid_i ? doorbell_i : admin_i));
      // accesses are carried out one at a time; each ends once, at its requester
      assert (8'(taken_q - ended_q) == 8'(busy_q) + 8'(doorbell_done_o || admin_done_o));
      assert (!(doorbell_done_o && admin_done_o) && !(busy_q && $past(busy_q) && (doorbell_done_o || admin_done_o)));
      assert (ticks_q <= (CountWidth + 1)'(DeadlineUs));
      if (busy_q) assert (32'(left_q) + 32'(ticks_q) == DeadlineUs - 1);
      // only its own response ends an access without an error
      if (admin_done_o && !admin_result_o.error) begin
        assert ($past(response_valid_i && owed_q && !late_q && !response_i.result.error));
        assert (admin_result_o.data == $past(response_i.result.data));
      end
      if (doorbell_error_o) assert (doorbell_done_o);
      // invariants for the induction
      assert (owed_q == (busy_q && !refused_q));
      if (late_q && owed_q) assert (late_id_q != request_q.id && !refused_q);
      if (late_q && !owed_q) assert (late_id_q == request_q.id);
      if (request_valid_q) assert (late_q || owed_q);
      // the port: a request that waits does not change
      if ($past(request_valid_o && !request_ready_i)) assert (request_valid_o && request_o == $past(request_o));
      if ($past(busy_q && !finish)) assert (busy_q);
      cover (admin_done_o && !admin_result_o.error && ended_q == 8'd2);
      cover (doorbell_done_o && doorbell_error_o && $past(refused_q));
      cover ($past(answers_late && owed_q) && busy_q);
    end
  end
`endif

endmodule

`default_nettype wire
