// SPDX-License-Identifier: Apache-2.0
//
// Shares the buffer's page port between the microcode and the registers: one access at a time, the microcode's first.
//
// Guarantee: an access that began is finished for its requester, and only the requester gets `done`.
`default_nettype none

module spate_page_arbiter
  import spate_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,

    // The microcode only reads.
    input  wire logic        admin_valid_i,
    input  wire logic [10:0] admin_dword_i,
    output logic             admin_done_o,

    input  wire logic         registers_valid_i,
    input  wire page_access_t registers_i,
    output logic              registers_done_o,

    output logic         page_valid_o,
    output page_access_t page_o,
    input  wire logic    page_done_i
);

  typedef enum logic [1:0] {
    StIdle,
    StAdmin,
    StRegisters
  } state_e;

  state_e state_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: begin
          if (admin_valid_i) state_q <= StAdmin;
          else if (registers_valid_i) state_q <= StRegisters;
        end
        default: if (page_done_i) state_q <= StIdle;
      endcase
    end
  end

  assign page_valid_o = state_q != StIdle;
  assign page_o = '{
          write: state_q == StRegisters && registers_i.write,
          dword: state_q == StAdmin ? admin_dword_i : registers_i.dword,
          data: registers_i.data
      };
  assign admin_done_o = page_done_i && state_q == StAdmin;
  assign registers_done_o = page_done_i && state_q == StRegisters;

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  always_ff @(posedge clk_i) past_reset_q <= 1'b1;
  always_comb begin
    assume (rst_ni == past_reset_q);
    assume (!page_done_i || page_valid_o);
    if (rst_ni && past_reset_q) begin
      assert (state_q inside {StIdle, StAdmin, StRegisters});
      assert (page_done_i == (admin_done_o || registers_done_o) && !(admin_done_o && registers_done_o));
      // the requester still waits, and the port shows its access
      if (state_q == StAdmin) assert (admin_valid_i && page_valid_o && !page_o.write && page_o.dword == admin_dword_i);
      if (state_q == StRegisters) assert (registers_valid_i && page_valid_o && page_o == registers_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      // an access that waits for `done` does not change
      if ($past(admin_valid_i && !admin_done_o)) assume (admin_valid_i && admin_dword_i == $past(admin_dword_i));
      if ($past(registers_valid_i && !registers_done_o))
        assume (registers_valid_i && registers_i == $past(registers_i));
      if ($past(page_valid_o && !page_done_i)) assert (state_q == $past(state_q));
      if ($past(!page_valid_o)) begin
        if ($past(admin_valid_i))
          assert (state_q == StAdmin);
          else assert (page_valid_o == $past(registers_valid_i));
      end
    end
  end
  always_comb begin
    cover (rst_ni && past_reset_q && admin_done_o && registers_valid_i);
    cover (rst_ni && past_reset_q && registers_done_o && admin_valid_i);
  end
`endif

endmodule

`default_nettype wire
