// SPDX-License-Identifier: Apache-2.0
//
// Assembles a listing of instructions and labels when the design is elaborated, into a block RAM in which jumps and
// calls hold the addresses of their labels.
`default_nettype none

module spate_program
  import spate_microcode_pkg::*;
#(
    parameter int unsigned Lines = 1,
    parameter logic [Lines*$bits(instruction_t)-1:0] Listing = '0  // the leftmost line is the first; up to 256 labels
) (
    input  wire logic                       clk_i,
    input  wire logic                       fetch_i,
    input  wire logic    [AddressWidth-1:0] address_i,
    output instruction_t                    instruction_o  // from two cycles after fetch_i to one after the next
);

  localparam int unsigned Width = $bits(instruction_t);

  typedef instruction_t [Lines-1:0] lines_t;  // the first line is the last element
  localparam lines_t AllLines = lines_t'(Listing);

  function automatic int unsigned count_instructions();
    count_instructions = 0;
    for (int unsigned i = 0; i < Lines; i++) begin
      if (AllLines[Lines-1-i].operation != DoLabel) count_instructions++;
    end
  endfunction

  localparam int unsigned Instructions = count_instructions();
  typedef logic [255:0][AddressWidth-1:0] addresses_t;
  typedef logic [Instructions-1:0][Width-1:0] program_t;

  function automatic addresses_t find_labels();
    logic [AddressWidth-1:0] here;
    here = '0;
    find_labels = '0;
    for (int unsigned i = 0; i < Lines; i++) begin
      if (AllLines[Lines-1-i].operation == DoLabel) find_labels[AllLines[Lines-1-i].immediate[7:0]] = here;
      else here++;
    end
  endfunction

  localparam addresses_t Labels = find_labels();

  function automatic program_t assemble();
    int unsigned here;
    instruction_t instruction;
    here = 0;
    assemble = program_t'(0);
    for (int unsigned i = 0; i < Lines; i++) begin
      instruction = AllLines[Lines-1-i];
      if (instruction.operation == DoJump || instruction.operation == DoCall || instruction.operation == DoCatch)
        instruction.immediate = 16'(Labels[instruction.immediate[7:0]]);
      if (instruction.operation != DoLabel) begin
        assemble[here] = instruction;
        here++;
      end
    end
  endfunction

  localparam program_t Program = assemble();

  if (Instructions > 2 ** AddressWidth) begin : gen_size
    $error("spate_program: the listing does not fit");
  end

  // instruction_o is the block RAM's output register, so no path of logic begins at the array.
  (* rom_style = "block" *) logic [Width-1:0] words[2**AddressWidth];
  logic [Width-1:0] word_q;
  initial begin
    for (int unsigned i = 0; i < 2 ** AddressWidth; i++) words[i] = i < Instructions ? Program[i] : '0;
  end
  always_ff @(posedge clk_i) begin
    if (fetch_i) word_q <= words[address_i];
    instruction_o <= instruction_t'(word_q);
  end

endmodule

`default_nettype wire
