# SPDX-License-Identifier: Apache-2.0
"""Reads the assembly: one instruction or declaration a line, `//` before a comment, a `\\` at the end where a line continues."""

import re

from assembler.expressions import Wrong, similar
from assembler.instructions import Instructions, check_words
from assembler.listing import FLAGS, Code, Fall, Finding, Hold, Loop, Program, Register, Routine
from assembler.machine import REGISTER_BITS, SOURCES, SPACES, Machine

LABEL = re.compile(r"(handler\s+)?([a-z]\w*)\s*:$")
FALLS = re.compile(r"falls\s+([a-z]\w*)$")
ROUTINE = re.compile(r"routine\s+([a-z]\w*)(?:\s+returns\s+([\w\s,]+?))?\s*:$")
REGISTER = re.compile(r"(register|scratch)\s+([a-z]\w*)\s*=\s*r(\d+)(?:\s+shares\s+([a-z]\w*))?(?:\s+in\s+(.+))?$")
CODE = re.compile(r"(step|error)\s+([A-Z]\w*)\s*=\s*(\d+)\s*\|(.*)$")
CONSTANT = re.compile(r"constant\s+([A-Z]\w*)\s*=\s*(.+?)(?:\s+in\s+(.+))?$")
PARAMETER = re.compile(r"(parameter|localparam)\s+[^=]*?\b(\w+)\s*=\s*(.+)$")
HOLDS = re.compile(r"holds\s+([a-z]\w*)\s*,\s*(.+)$")
CELLS = {"step": 2, "error": 3}


class Parser(Instructions):
    """A line is a declaration, a label or an instruction."""

    def read(self, text: str) -> None:
        pending = ""
        for number, raw in enumerate(text.splitlines(), 1):
            body = raw.split("//")[0].strip()
            self.line = self.line if pending else number
            if body.endswith("\\"):
                pending += body[:-1].strip() + " "
                continue
            self.text, pending = pending + body, ""
            try:
                self.statement()
            except Wrong as wrong:
                self.findings.append(Finding(self.line, str(wrong)))
        if pending:
            self.findings.append(Finding(self.line, "the file ends before this line does: delete the `\\`"))
        self.finish()

    def statement(self) -> None:
        if not self.text:
            return
        first, *_ = self.text.split()
        declared = {"parameter": self.symbol, "localparam": self.symbol, "constant": self.constant, "register": self.name_register,
                    "scratch": self.name_register, "step": self.code, "error": self.code, "chapter": self.chapter,
                    "endless": self.loop, "bounded": self.loop, "holds": self.hold, "falls": self.fall}
        declared.get(first, self.label if self.text.endswith(":") else self.instruction)()

    def finish(self) -> None:
        program, end = self.program, len(self.program.instructions)
        for name, at in program.labels.items():
            if at == end:
                self.findings.append(Finding(program.label_lines[name], f"`{name}` is at the end of the program, where no "
                                                                        "instruction follows: delete it"))
        lines = [loop.line for at, loop in program.loops.items() if at == end] + [one.line for one in program.holds.get(end, ())]
        self.findings += [Finding(line, "no instruction follows: write it before the one that it is about") for line in lines]
        for instruction in program.instructions:
            if instruction.target is not None and instruction.target not in program.labels:
                self.findings.append(Finding(instruction.line, f"there is no label `{instruction.target}`"
                                                               f"{similar(instruction.target, program.labels)}"))
            elif instruction.operation == "call" and instruction.target not in program.routines:
                self.findings.append(Finding(instruction.line, f"`{instruction.target}` is no routine: declare it with "
                                                               f"`routine {instruction.target}:`"))
        if end > self.machine.size:
            self.findings.append(Finding(program.instructions[self.machine.size].line,
                                         f"{end} instructions do not fit into {self.machine.size}: shorten the program, or raise "
                                         "AddressWidth, which takes another block RAM"))
        self.missing_error_register()
        self.falls_into_routines()

    def falls_into_routines(self) -> None:
        program = self.program
        for name, routine in program.routines.items():
            at = program.labels[name]
            before = program.instructions[at - 1] if at else None
            falls = before is not None and before.operation != "return" and before.condition != "always"
            told = at in program.falls and program.falls[at].routine == name
            if falls and not told:
                self.findings.append(Finding(routine.line, f"the path before runs into the routine `{name}`: end it with `return` "
                                                           f"or `jump`, or write `falls {name}` before the label"))
        for at, fall in program.falls.items():
            if program.labels.get(fall.routine) != at or fall.routine not in program.routines:
                self.findings.append(Finding(fall.line, f"the routine `{fall.routine}` does not follow: delete this, or correct "
                                                        "the name"))

    def missing_error_register(self) -> None:
        fails = [one for one in self.program.instructions if one.operation == "fail"]
        names = [one for one in self.program.registers.values() if one.number == self.machine.error_register]
        if fails and len(names) != 1:
            self.findings.append(Finding(fails[0].line, f"`fail` writes r{self.machine.error_register}: exactly one register must "
                                                        "be declared with that number"))

    # ---- declarations ----

    def matched(self, pattern: re.Pattern, form: str) -> re.Match:
        match = pattern.match(self.text)
        if not match:
            raise Wrong(f"write it as `{form}`")
        return match

    def is_new(self, name: str) -> None:
        program = self.program
        taken = (program.registers, program.constants, program.symbols, program.steps, program.errors, self.machine.values,
                 self.machine.names[SOURCES])
        if any(name in names for names in taken):
            raise Wrong(f"the name `{name}` is taken: choose another")

    def symbol(self) -> None:
        match = self.matched(PARAMETER, "localparam logic [31:0] Name = value")
        self.is_new(match[2])
        self.program.symbols[match[2]] = self.line
        (self.program.parameters if match[1] == "parameter" else self.program.localparams).append(" ".join(self.text.split()))
        self.program.used |= set(re.findall(r"\b[A-Za-z]\w*", match[3]))

    def constant(self) -> None:
        match = self.matched(CONSTANT, "constant Name = value")
        self.is_new(match[1])
        value = self.value(match[2])
        if value.number is None:
            raise Wrong(f"{match[1]} depends on a parameter: write it as `localparam logic [31:0] {match[1]} = …`")
        self.program.constants[match[1]] = value.number
        self.program.constant_lines[match[1]] = self.line
        self.place_in_spaces(match[1], match[3])

    def name_register(self) -> None:
        match = self.matched(REGISTER, "register name = r5, or register name = r5 shares other")
        self.is_new(match[2])
        if match[2] == FLAGS:
            raise Wrong(f"`{FLAGS}` are no register: choose another name")
        number, partner = int(match[3]), match[4]
        if number >= 2 ** REGISTER_BITS:
            raise Wrong(f"there are {2 ** REGISTER_BITS} registers, r0 to r{2 ** REGISTER_BITS - 1}")
        others = [one.name for one in self.program.registers.values() if one.number == number]
        if others and partner not in others:
            raise Wrong(f"r{number} is {others[0]}: choose a free one, or write `shares {others[0]}` if their values are never "
                        "needed at the same time")
        if partner and not others:
            raise Wrong(f"r{number} has no other name: delete `shares {partner}`, or correct the number")
        self.program.registers[match[2]] = Register(match[2], number, match[1] == "scratch", self.line)
        self.place_in_spaces(match[2], match[5])

    def place_in_spaces(self, name: str, text: str | None) -> None:
        spaces = [word.strip() for word in text.split(" or ")] if text else []
        for space in spaces:
            if space not in self.machine.codes[SPACES]:
                raise Wrong(f"there is no space `{space}`{similar(space, self.machine.codes[SPACES])}")
        if spaces:
            self.program.spaces[name] = tuple(spaces)

    def code(self) -> None:
        match = self.matched(CODE, "error ErrName = 5 | meaning | detail | what to do, or step StepName = 5 | what is done | "
                                   "bounded by")
        kind, name, number = match[1], match[2], int(match[3])
        self.is_new(name)
        codes = self.program.steps if kind == "step" else self.program.errors
        if number != len(codes):
            raise Wrong(f"{name} must have the next number, {len(codes)}")
        cells = tuple(" ".join(cell.split()) for cell in match[4].split("|"))
        if len(cells) != CELLS[kind]:
            raise Wrong(f"{name} has {len(cells)} cells, but the table of {kind}s has {CELLS[kind]} columns behind its number")
        codes[name] = Code(name, number, cells, self.line)

    def chapter(self) -> None:
        self.program.chapters[len(self.program.instructions)] = self.text.split(maxsplit=1)[1]

    def label(self) -> None:
        routine = ROUTINE.match(self.text)
        match = routine or self.matched(LABEL, "name:, handler name:, routine name:, or routine name returns register, register:")
        name = routine[1] if routine else match[2]
        if name in self.program.labels:
            raise Wrong(f"the label `{name}` is already in line {self.program.label_lines[name]}: choose another name")
        self.program.labels[name], self.program.label_lines[name] = len(self.program.instructions), self.line
        if not routine and match[1]:
            self.program.handlers[name] = self.line
        if routine:
            returns = tuple(word.strip() for word in (routine[2] or "").split(",") if word.strip())
            self.program.routines[name] = Routine(name, returns, self.line)
            for register in returns:
                if register != FLAGS and not self.program.registers[self.known_register(register)].scratch:
                    raise Wrong(f"`{register}` is no scratch register: callers may rely on it anyway, so do not name it here")

    def loop(self) -> None:
        kind, *reason = self.text.split(maxsplit=1)
        if not reason:
            raise Wrong(f"write the reason: `{kind} why this loop may continue`")
        self.program.loops[len(self.program.instructions)] = Loop(kind == "endless", reason[0], self.line)

    def fall(self) -> None:
        match = self.matched(FALLS, "falls routine")
        self.program.falls[len(self.program.instructions)] = Fall(match[1], self.line)

    def hold(self) -> None:
        match = self.matched(HOLDS, "holds register, why it was written under this name on every path that leads here")
        hold = Hold(self.known_register(match[1]), match[2], self.line)
        self.program.holds.setdefault(len(self.program.instructions), []).append(hold)


def parse(text: str, machine: Machine) -> tuple[Program, list[Finding]]:
    unknown = check_words(machine)
    if unknown:
        raise SystemExit(f"tools/rtl/assembler/instructions.py: FORMS and do_e of the package differ in: {', '.join(unknown)}")
    parser = Parser(machine)
    parser.read(text)
    return parser.program, sorted(parser.findings, key=lambda finding: finding.line)
