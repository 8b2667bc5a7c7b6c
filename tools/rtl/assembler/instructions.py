# SPDX-License-Identifier: Apache-2.0
"""The instructions of the assembly: their forms, operands and conditions."""

import dataclasses
import re

from assembler import expressions
from assembler.expressions import Value, Wrong, similar
from assembler.listing import Code, Finding, Instruction, Operand, Program
from assembler.machine import CONDITIONS, IMMEDIATE_BITS, OPERATIONS, OUTPUTS, SOURCES, Machine

CALL = re.compile(r"(bit|when)\((.*)\)$")
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
class Instructions:
    """Reads them into a program. The parser of whole files is built upon it."""
    machine: Machine
    program: Program = dataclasses.field(default_factory=Program)
    findings: list[Finding] = dataclasses.field(default_factory=list)
    line: int = 0
    text: str = ""

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
