# SPDX-License-Identifier: Apache-2.0
"""What is made of a program: the module with the block RAM, the listing, and the tables of a page."""

import re

from assembler.listing import Instruction, Program
from assembler.machine import CONDITIONS, IMMEDIATE_BITS, OPERATIONS, OUTPUTS, REGISTER_BITS, SOURCES, Machine
from assembler.paths import Paths

SPDX = "SPDX-License-Identifier: Apache-2.0"
PORTS = """    input  wire logic                       clk_i,
    input  wire logic                       fetch_i,
    input  wire logic    [AddressWidth-1:0] address_i,
    output instruction_t                    instruction_o  // from two cycles after fetch_i to one after the next"""
MEMORY = """  // instruction_o is the block RAM's output register, so no path of logic begins at the array.
  (* rom_style = "block" *) logic [Width-1:0] words[2**AddressWidth];
  logic [Width-1:0] word_q;
  initial begin
    for (int unsigned i = 0; i < 2 ** AddressWidth; i++)
      words[i] = i < Instructions ? Program[Instructions-1-i] : '0;  // the first one is the leftmost
  end
  always_ff @(posedge clk_i) begin
    if (fetch_i) word_q <= words[address_i];
    instruction_o <= instruction_t'(word_q);
  end"""


class Encoder:
    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine

    def name(self, enumeration: str, word: str) -> str:
        return self.machine.names[enumeration][word]

    def rd(self, one: Instruction) -> str:
        if one.when is not None:
            return f"{one.when.text} ? {self.name(CONDITIONS, 'always')} : {self.name(CONDITIONS, 'never')}"
        if one.condition is not None:
            return self.name(CONDITIONS, one.condition)
        return self.name(OUTPUTS, one.output) if one.output is not None else f"{REGISTER_BITS}'d{one.rd}"

    def source(self, one: Instruction) -> str:
        high, low = self.name(SOURCES, "high"), self.name(SOURCES, "immediate")
        if one.operand.bit:
            return f"({one.operand.value.text}) >= 32'd{IMMEDIATE_BITS} ? {high} : {low}"
        return self.name(SOURCES, one.operand.source)

    def immediate(self, one: Instruction) -> str:
        value = one.operand.value
        if one.target is not None:
            return f"{IMMEDIATE_BITS}'h{self.program.labels[one.target]:04x}"
        if one.operand.bit:
            return f"{IMMEDIATE_BITS}'(32'd1 << (({value.text}) % 32'd{IMMEDIATE_BITS}))"
        if value.number is not None:
            return f"{IMMEDIATE_BITS}'h{value.number:04x}"
        plain = re.fullmatch(r"32'\((\w+)\)", value.text)
        return f"{IMMEDIATE_BITS}'({plain[1] if plain else value.text})"

    def systemverilog(self, one: Instruction) -> str:
        return f"{{{self.name(OPERATIONS, one.operation)}, {self.rd(one)}, {self.source(one)}, {self.immediate(one)}}}"

    def word(self, one: Instruction) -> int | None:
        """None: a parameter decides."""
        value, codes = one.operand.value, self.machine.codes
        if one.when is not None or (value.number is None and one.target is None):
            return None
        immediate = self.program.labels[one.target] if one.target is not None else value.number
        word = codes[OPERATIONS][self.name(OPERATIONS, one.operation)]
        for width, part in ((REGISTER_BITS, one.rd), (self.machine.bits[SOURCES], codes[SOURCES][self.source(one)]),
                            (IMMEDIATE_BITS, immediate)):
            word = word << width | part
        return word


def module(program: Program, machine: Machine, origin: str, name: str) -> str:
    encoder, end = Encoder(program, machine), len(program.instructions) - 1
    lines = [f"// {SPDX}", f"// {origin}", "`default_nettype none", "", f"module {name}", "  import spate_pkg::*;",
             "  import spate_microcode_pkg::*;"]
    lines += ["#(", ",\n".join(f"    {one}" for one in program.parameters), ") ("] if program.parameters else ["("]
    lines += [PORTS, ");", ""]
    lines += [f"  {one};" for one in program.localparams]
    lines += ["", f"  localparam int unsigned Instructions = {len(program.instructions)};",
              "  localparam int unsigned Width = $bits(instruction_t);",
              "  localparam logic [Instructions-1:0][Width-1:0] Program = {"]
    for at, one in enumerate(program.instructions):
        if at in program.chapters:
            lines += ["", f"    // ---- {program.chapters[at]} ----", ""]
        lines += [f"    // {label}:" for label in program.labels_at(at)]
        text = f"    {encoder.systemverilog(one)}{',' if at < end else ''}"
        lines.append(f"{text}  // {at:03x}  {one.text}".rstrip())
    return "\n".join([*lines, "  };", "", MEMORY, "", "endmodule", "", "`default_nettype wire"]) + "\n"


def listing(program: Program, machine: Machine, paths: Paths, source: str) -> str:
    encoder, catches = Encoder(program, machine), paths.catches()
    lines = [f"Listing of {source}: address, word, line, instruction; after ! the labels to which an error there may go.",
             "A word of dots depends on the module's parameters."]
    for at, one in enumerate(program.instructions):
        if at in program.chapters:
            lines += ["", f"---- {program.chapters[at]} ----", ""]
        lines += [f"{'':24}{label}:" for label in program.labels_at(at)]
        word = encoder.word(one)
        text = f"{at:03x}  {'.' * 8 if word is None else f'{word:08x}'}  {one.line:5}  {'':8}{one.text}"
        lines.append(f"{text:<72}! {', '.join(sorted(catches[at]))}" if at in catches else text.rstrip())
    return "\n".join(lines) + "\n"


def tables(program: Program, page: str) -> str:
    """The page with the rows between the markers `<!-- steps -->`, `<!-- errors -->` and `<!-- end -->` as the program has them."""
    for name, codes in (("steps", program.steps), ("errors", program.errors)):
        rows = "".join(f"| {code.number} | " + "".join(f"{cell} | " if cell else "| " for cell in code.cells).rstrip() + "\n"
                       for code in codes.values())
        pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n(?:\n?\|[^\n]*\n\|---[^\n]*\n)).*?(?=\n?<!-- end of {name} -->)", re.S)
        page, count = pattern.subn(lambda match: match[1] + rows, page)
        if count != 1:
            raise SystemExit(f"the page of the tables has no `<!-- {name}: … -->`, table's head and `<!-- end of {name} -->`")
    return page
