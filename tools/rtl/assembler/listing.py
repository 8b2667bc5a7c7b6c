# SPDX-License-Identifier: Apache-2.0
"""A program as the checks and the outputs see it."""

import dataclasses

from assembler.expressions import Value

FLAGS = "flags"  # what conditions read: it has a life like a register
FLAGS_NUMBER = -1
FLAG_CONDITIONS = ("zero", "carry", "negative")


@dataclasses.dataclass(frozen=True)
class Finding:
    line: int
    text: str


@dataclasses.dataclass(frozen=True)
class Register:
    name: str
    number: int
    scratch: bool  # a call may overwrite it
    line: int


@dataclasses.dataclass(frozen=True)
class Routine:
    label: str
    returns: tuple[str, ...]
    line: int


@dataclasses.dataclass(frozen=True)
class Fall:
    """The path continues into a routine, on purpose."""
    routine: str
    line: int


@dataclasses.dataclass(frozen=True)
class Loop:
    """An exception from the rule that loops end, with its reason."""
    endless: bool
    reason: str
    line: int


@dataclasses.dataclass(frozen=True)
class Hold:
    """An exception from the rules of lives.py, with its reason: the register was written under this name."""
    register: str
    reason: str
    line: int


@dataclasses.dataclass(frozen=True)
class Code:
    """A step or an error, and its row in the table of the page."""
    name: str
    number: int
    cells: tuple[str, ...]
    line: int


@dataclasses.dataclass(frozen=True)
class Operand:
    source: str  # the word in the assembly: immediate, high, register, now, …
    value: Value
    register: str | None = None
    unchecked: bool = False  # `any`: whatever the register holds
    bit: bool = False  # the value is the number of a bit, in either half


@dataclasses.dataclass
class Instruction:
    line: int
    text: str
    operation: str  # the word in the assembly
    rd: int = 0
    operand: Operand = Operand("immediate", Value(0, ""))
    condition: str | None = None
    when: Value | None = None  # a condition that a parameter decides
    output: str | None = None
    register: str | None = None  # rd, where it is a register
    target: str | None = None  # a label


@dataclasses.dataclass
class Program:
    instructions: list[Instruction] = dataclasses.field(default_factory=list)
    labels: dict[str, int] = dataclasses.field(default_factory=dict)  # address
    label_lines: dict[str, int] = dataclasses.field(default_factory=dict)
    registers: dict[str, Register] = dataclasses.field(default_factory=dict)
    routines: dict[str, Routine] = dataclasses.field(default_factory=dict)
    handlers: dict[str, int] = dataclasses.field(default_factory=dict)  # labels that catch from anywhere: the line
    falls: dict[int, Fall] = dataclasses.field(default_factory=dict)  # by address
    loops: dict[int, Loop] = dataclasses.field(default_factory=dict)  # by address
    spaces: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)  # of an address: a constant or a register
    holds: dict[int, list[Hold]] = dataclasses.field(default_factory=dict)  # by address
    chapters: dict[int, str] = dataclasses.field(default_factory=dict)  # by address
    parameters: list[str] = dataclasses.field(default_factory=list)  # SystemVerilog
    localparams: list[str] = dataclasses.field(default_factory=list)
    symbols: dict[str, int] = dataclasses.field(default_factory=dict)  # of both: the line
    constants: dict[str, int] = dataclasses.field(default_factory=dict)
    constant_lines: dict[str, int] = dataclasses.field(default_factory=dict)
    steps: dict[str, Code] = dataclasses.field(default_factory=dict)
    errors: dict[str, Code] = dataclasses.field(default_factory=dict)
    used: set[str] = dataclasses.field(default_factory=set)  # names in expressions and of registers

    def labels_at(self, address: int) -> list[str]:
        return [name for name, at in self.labels.items() if at == address]

    def number_of(self, register: str) -> int:
        return FLAGS_NUMBER if register == FLAGS else self.registers[register].number
