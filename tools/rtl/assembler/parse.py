# SPDX-License-Identifier: Apache-2.0
"""Reads the assembly: one instruction or declaration a line, `//` before a comment, a `\\` at the end where a line continues."""

import dataclasses
import re

from assembler import expressions
from assembler.expressions import Value, Wrong, similar
from assembler.listing import FLAGS, Code, Fall, Finding, Hold, Instruction, Loop, Operand, Program, Register, Routine
from assembler.machine import CONDITIONS, IMMEDIATE_BITS, OPERATIONS, OUTPUTS, REGISTER_BITS, SOURCES, SPACES, Machine

LABEL = re.compile(r"(handler\s+)?([a-z]\w*)\s*:$")
FALLS = re.compile(r"falls\s+([a-z]\w*)$")
ROUTINE = re.compile(r"routine\s+([a-z]\w*)(?:\s+returns\s+([\w\s,]+?))?\s*:$")
REGISTER = re.compile(r"(register|scratch)\s+([a-z]\w*)\s*=\s*r(\d+)(?:\s+shares\s+([a-z]\w*))?(?:\s+in\s+(.+))?$")
CODE = re.compile(r"(step|error)\s+([A-Z]\w*)\s*=\s*(\d+)\s*\|(.*)$")
CONSTANT = re.compile(r"constant\s+([A-Z]\w*)\s*=\s*(.+?)(?:\s+in\s+(.+))?$")
PARAMETER = re.compile(r"(parameter|localparam)\s+[^=]*?\b(\w+)\s*=\s*(.+)$")
HOLDS = re.compile(r"holds\s+([a-z]\w*)\s*,\s*(.+)$")
CALL = re.compile(r"(bit|when)\((.*)\)$")
CELLS = {"step": 2, "error": 3}
WIDE = 32

# What follows each operation. `rd` is a register that is written or both; `source` one that is read.
FORMS = {
    "move": ("register", "operand"), "add": ("register", "operand"), "sub": ("register", "operand"),
    "compare": ("register", "operand"), "and": ("register", "operand"), "test": ("register", "operand"),
    "xor": ("register", "operand"), "shift": ("register", "bits"), "read": ("register", "operand"),
    "write": ("operand", "register"), "page": ("register", "operand"), "out": ("output", "operand"),
    "entry": ("dword", "operand"), "fill": ("operand",), "jump": ("condition", "label"), "call": ("label",), "return": (),
    "catch": ("label",), "fail": ("condition", "error"),
    # These stand for one or two of the others.
    "enter": ("step",), "wide": ("register", "wide"), "arm": ("register", "operand"),
}
NOT_WRITTEN = {"label"}  # of the package's operations
NOT_SOURCES = {"access", "page", "immediate", "high", "register"}  # of the package's sources: no word in the assembly


@dataclasses.dataclass
class Parser:
    machine: Machine
    program: Program = dataclasses.field(default_factory=Program)
    findings: list[Finding] = dataclasses.field(default_factory=list)
    line: int = 0
    text: str = ""

    # ---- lines ----

    def read(self, text: str) -> None:
        pending, begin = "", 0
        for self.line, raw in enumerate(text.splitlines(), 1):
            body = raw.split("//")[0].rstrip()
            begin = begin if pending else self.line
            if body.endswith("\\"):
                pending += body[:-1].strip() + " "
                continue
            self.text, pending, last = pending + body.strip(), "", self.line
            self.line = begin
            try:
                self.statement()
            except Wrong as wrong:
                self.findings.append(Finding(begin, str(wrong)))
            self.line = last
        self.finish()

    def statement(self) -> None:
        if not self.text:
            return
        if self.text.endswith(":"):
            self.label()
            return
        first, *_ = self.text.split()
        declare = {"parameter": self.symbol, "localparam": self.symbol, "constant": self.constant, "register": self.name_register,
                   "scratch": self.name_register, "step": self.code, "error": self.code, "chapter": self.chapter,
                   "endless": self.loop, "bounded": self.loop, "holds": self.hold, "falls": self.fall}.get(first, self.instruction)
        declare()

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
            raise Wrong(f"write the reason: `{kind} why this loop may go on`")
        self.program.loops[len(self.program.instructions)] = Loop(kind == "endless", reason[0], self.line)

    def fall(self) -> None:
        match = self.matched(FALLS, "falls routine")
        self.program.falls[len(self.program.instructions)] = Fall(match[1], self.line)

    def hold(self) -> None:
        match = self.matched(HOLDS, "holds register, why it was written under this name on every path that leads here")
        hold = Hold(self.known_register(match[1]), match[2], self.line)
        self.program.holds.setdefault(len(self.program.instructions), []).append(hold)

    # ---- instructions ----

    def instruction(self) -> None:
        operation, *rest = self.text.split(maxsplit=1)
        if operation not in FORMS:
            raise Wrong(f"there is no instruction `{operation}`{similar(operation, FORMS)}")
        words = [word.strip() for word in rest[0].split(",")] if rest else []
        text = f"{operation:<8}{', '.join(words)}".strip()
        if operation == "jump" and len(words) == 1:
            words = ["always", *words]
        if len(words) != len(FORMS[operation]) or not all(words):
            raise Wrong(f"write it as `{' '.join([operation, ', '.join(FORMS[operation])]).strip()}`")
        made = Instruction(self.line, text, operation)
        for form, word in zip(FORMS[operation], words):
            getattr(self, f"take_{form}")(made, word)
        self.program.instructions += self.expanded(made)

    def expanded(self, made: Instruction) -> list[Instruction]:
        """The instructions of the sequencer for one of the assembly."""
        if made.operation == "enter":
            made.operation, made.output = "out", "step"
            made.rd = self.code_of(OUTPUTS, "step")
        elif made.operation == "arm":  # from now on
            now = dataclasses.replace(made, operation="move", operand=Operand("now", Value(0, "")))
            return [now, dataclasses.replace(made, operation="add", text="")]
        elif made.operation == "wide":
            value = made.operand.value
            upper, lower = Value(None, f"({value.text}) >> {IMMEDIATE_BITS}"), value
            if value.number is not None:
                upper, lower = (Value(part, "") for part in divmod(value.number, 2 ** IMMEDIATE_BITS))
            return [dataclasses.replace(made, operation="move", operand=Operand("high", upper)),
                    dataclasses.replace(made, operation="add", operand=Operand("immediate", lower), text="")]
        return [made]

    def value(self, text: str) -> Value:
        codes = {name: code.number for name, code in (self.program.steps | self.program.errors).items()}
        value = expressions.evaluate(text, self.machine.values | self.program.constants | codes, set(self.program.symbols))
        self.program.used |= value.names
        return value

    def code_of(self, enumeration: str, word: str) -> int:
        names = self.machine.names[enumeration]
        if word not in names:
            kind = {CONDITIONS: "condition", OUTPUTS: "output"}[enumeration]
            raise Wrong(f"there is no {kind} `{word}`{similar(word, names)}")
        return self.machine.codes[enumeration][names[word]]

    def known_register(self, word: str) -> str:
        if word not in self.program.registers:
            raise Wrong(f"there is no register `{word}`{similar(word, self.program.registers)}")
        self.program.used.add(word)
        return word

    def take_register(self, made: Instruction, word: str) -> None:
        made.register = self.known_register(word)
        made.rd = self.program.registers[word].number

    def take_operand(self, made: Instruction, word: str) -> None:
        made.operand = self.operand(word)

    def operand(self, word: str) -> Operand:
        unchecked = word.startswith("any ")
        name = word.removeprefix("any ").strip()
        if name in self.program.registers or unchecked:
            return Operand("register", Value(self.program.registers[self.known_register(name)].number, ""), name, unchecked)
        if name in self.machine.names[SOURCES] and name not in NOT_SOURCES:
            return Operand(name, Value(0, ""))
        call = CALL.match(name)
        if call and call[1] == "bit":
            value = self.value(call[2])
            if value.number is None:
                return Operand("immediate", value, bit=True)
            value = dataclasses.replace(value, number=1 << value.number)
        else:
            value = self.value(word)
        return Operand("immediate", value) if value.number is None else self.constant_operand(value, word)

    def constant_operand(self, value: Value, word: str) -> Operand:
        number = value.number
        if 0 <= number < 2 ** IMMEDIATE_BITS:
            return Operand("immediate", value)
        if number % 2 ** IMMEDIATE_BITS == 0 and 0 < number < 2 ** WIDE:
            return Operand("high", dataclasses.replace(value, number=number >> IMMEDIATE_BITS))
        raise Wrong(f"{word} is {number:#x}, which needs more than one half of 32 bits: load it with `wide` before")

    def take_wide(self, made: Instruction, word: str) -> None:
        value = self.value(word)
        if value.number is not None and not 0 <= value.number < 2 ** WIDE:
            raise Wrong(f"{word} is {value.number:#x}, which has more than {WIDE} bits")
        if value.number is not None and (value.number < 2 ** IMMEDIATE_BITS or value.number % 2 ** IMMEDIATE_BITS == 0):
            raise Wrong(f"{word} is {value.number:#x}, which one instruction loads: write `move`")
        made.operand = Operand("immediate", value)

    def limited(self, word: str, low: int, high: int, what: str) -> int:
        number = self.value(word).number
        if number is None or not low <= number <= high:
            raise Wrong(f"{what} must be a number from {low} to {high}, but is {word}")
        return number

    def take_bits(self, made: Instruction, word: str) -> None:
        made.operand = Operand("immediate", Value(self.limited(word, 1, 31, "the number of bits"), ""))

    def take_dword(self, made: Instruction, word: str) -> None:
        made.rd = self.limited(word, 0, 15, "the dword of a submission entry")

    def take_output(self, made: Instruction, word: str) -> None:
        made.rd, made.output = self.code_of(OUTPUTS, word), word

    def take_condition(self, made: Instruction, word: str) -> None:
        call = CALL.match(word)
        if call and call[1] == "when":
            name = call[2].removeprefix("!").strip()
            if name not in self.program.symbols:
                raise Wrong(f"when({call[2]}): name a parameter, with or without `!`")
            self.program.used.add(name)
            made.when = Value(None, call[2])
            return
        made.rd, made.condition = self.code_of(CONDITIONS, word), word

    def take_label(self, made: Instruction, word: str) -> None:
        made.target = word

    def take_step(self, made: Instruction, word: str) -> None:
        self.take_code(made, word, self.program.steps, "step")

    def take_error(self, made: Instruction, word: str) -> None:
        self.take_code(made, word, self.program.errors, "error")

    def take_code(self, made: Instruction, word: str, codes: dict[str, Code], kind: str) -> None:
        if word not in codes:
            raise Wrong(f"there is no {kind} `{word}`{similar(word, codes)}")
        self.program.used.add(word)
        made.operand = Operand("immediate", Value(codes[word].number, ""))


def check_words(machine: Machine) -> list[str]:
    """The operations of the package for which this file has no form, and the other way round."""
    known = set(FORMS) - {"enter", "wide", "arm"}
    return sorted((set(machine.names[OPERATIONS]) - NOT_WRITTEN) ^ known)


def parse(text: str, machine: Machine) -> tuple[Program, list[Finding]]:
    unknown = check_words(machine)
    if unknown:
        raise SystemExit(f"{__file__}: FORMS and do_e of the package differ in: {', '.join(unknown)}")
    parser = Parser(machine)
    parser.read(text)
    return parser.program, sorted(parser.findings, key=lambda finding: finding.line)
