// SPDX-License-Identifier: Apache-2.0
//
// The buffer's page port, for the microcode and the registers: one access at a time, the microcode first.
//
// Guarantee: an access that was begun is finished for whoever began it; `done` reaches only them.
module spate_page_arbiter (
    input logic clk_i,
    input logic rst_ni,

    // The microcode only reads.
    input  logic        admin_valid_i,
    input  logic [10:0] admin_dword_i,
    output logic        admin_done_o,

    input  logic        registers_valid_i,
    input  logic        registers_write_i,
    input  logic [10:0] registers_dword_i,
    input  logic [31:0] registers_data_i,
    output logic        registers_done_o,

    output logic        page_valid_o,
    output logic        page_write_o,
    output logic [10:0] page_dword_o,
    output logic [31:0] page_data_o,
    input  logic        page_done_i
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
  assign page_write_o = state_q == StRegisters && registers_write_i;
  assign page_dword_o = state_q == StAdmin ? admin_dword_i : registers_dword_i;
  assign page_data_o = registers_data_i;
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
      // who began it is still waiting, and what the port shows is theirs
      if (state_q == StAdmin) assert (admin_valid_i && page_valid_o && !page_write_o && page_dword_o == admin_dword_i);
      if (state_q == StRegisters)
        assert (registers_valid_i && page_valid_o && page_write_o == registers_write_i &&
                page_dword_o == registers_dword_i && page_data_o == registers_data_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      // an access is shown, as it is, until it is done
      if ($past(admin_valid_i && !admin_done_o)) assume (admin_valid_i && admin_dword_i == $past(admin_dword_i));
      if ($past(registers_valid_i && !registers_done_o))
        assume (registers_valid_i && registers_write_i == $past(
            registers_write_i
        ) && registers_dword_i == $past(
            registers_dword_i
        ) && registers_data_i == $past(
            registers_data_i
        ));
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
