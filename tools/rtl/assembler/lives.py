# SPDX-License-Identifier: Apache-2.0
"""What a register holds when it is read. On every path to a read, the register was written before, and last under the name under
which it is read. `holds` says so, with the reason, where the paths alone do not. A scratch register is lost in a call of a
routine that may write it, unless the routine returns it. The flags are treated as a scratch register."""

import collections
import dataclasses

from assembler.listing import FLAGS, FLAGS_NUMBER, Finding, Instruction, Program
from assembler.paths import CAUGHT, RETURN, Paths, Place, reads_flags

NOTHING = "nothing"  # it was not written
SETS_FLAGS = {"move", "add", "sub", "compare", "and", "test", "xor", "shift", "read", "page"}
WRITES = SETS_FLAGS - {"compare", "test"}
READS = {"add", "sub", "compare", "and", "test", "xor", "shift", "write"}


@dataclasses.dataclass(frozen=True)
class Lost:
    routine: str


def reads(instruction: Instruction) -> list[str]:
    names = [instruction.register] if instruction.operation in READS else []
    if instruction.operand.register and not instruction.operand.unchecked:
        names.append(instruction.operand.register)
    return names + ([FLAGS] if reads_flags(instruction) else [])


def writes(instruction: Instruction) -> list[str]:
    return ([instruction.register] if instruction.operation in WRITES else []) + \
        ([FLAGS] if instruction.operation in SETS_FLAGS else [])


class Lives:
    """A set of owners for each register and place, as bits of one number."""

    def __init__(self, paths: Paths, error_register: int) -> None:
        self.paths, self.program, self.error_register = paths, paths.program, error_register
        self.bits: dict[tuple[int, object], int] = {}
        self.of_register: dict[int, int] = collections.defaultdict(int)
        self.names = {**{one.name: one.number for one in self.program.registers.values()}, FLAGS: FLAGS_NUMBER}
        self.scratch = {one.name for one in self.program.registers.values() if one.scratch} | {FLAGS}
        self.written = {at: self.written_by(at) for at in {self.program.labels[name] for name in self.program.routines}}
        self.held = {at: [(self.names[one.register], self.bit(self.names[one.register], one.register)) for one in holds]
                     for at, holds in self.program.holds.items()}
        self.transfers = [self.transfer(one) for one in self.program.instructions]
        self.losses = {at: self.losses_of(at) for at in self.written}

    def bit(self, number: int, owner: object) -> int:
        if (number, owner) not in self.bits:
            self.bits[number, owner] = 1 << len(self.bits)
            self.of_register[number] |= self.bits[number, owner]
        return self.bits[number, owner]

    def written_by(self, routine: int) -> set[int]:
        """The registers that a routine, or what it calls, may write."""
        found, seen, waiting = set(), set(), [routine]
        while waiting:
            at = waiting.pop()
            if at in seen or at >= len(self.program.instructions):
                continue
            seen.add(at)
            instruction = self.program.instructions[at]
            found |= {self.names[name] for name in writes(instruction)}
            if instruction.target is not None and instruction.operation != "catch":
                waiting.append(self.program.labels[instruction.target])
            if instruction.operation != "return" and instruction.condition != "always":
                waiting.append(at + 1)
        return found

    def transfer(self, instruction: Instruction) -> list[tuple[int, int]]:
        return [(self.names[name], self.bit(self.names[name], name)) for name in writes(instruction)]

    def losses_of(self, routine: int) -> list[tuple[int, int, int]]:
        """Of a return: (register, the bits of the scratch names that are lost, the bit that says so)."""
        labels = [name for name in self.program.labels_at(routine) if name in self.program.routines]
        kept = {name for label in labels for name in self.program.routines[label].returns}
        lost = []
        for number in self.written[routine]:
            names = [name for name in self.scratch - kept if self.names[name] == number]
            mask = sum(self.bit(number, name) for name in names)
            if mask:
                lost.append((number, mask, self.bit(number, Lost(labels[0]))))
        return lost

    def owned(self, value: int, owners: list[tuple[int, int]]) -> int:
        for number, bit in owners:
            value = value & ~self.of_register[number] | bit
        return value

    def after(self, place: Place, kind: str, value: int) -> int:
        instruction = self.program.instructions[place.address]
        value = self.owned(value, self.held.get(place.address, []))
        if kind == CAUGHT:  # what failed wrote nothing but the error
            if instruction.operation != "fail":
                return value
            name = next(name for name, number in self.names.items() if number == self.error_register)
            return self.owned(value, [(self.error_register, self.bit(self.error_register, name))])
        value = self.owned(value, self.transfers[place.address])
        if kind == RETURN:
            for number, mask, bit in self.losses[place.frames[-1].routine]:
                if value & mask:
                    value = value & ~mask | bit
        return value

    def solve(self) -> dict[Place, int]:
        start = Place(0)
        values = {start: sum(self.bit(number, NOTHING) for number in set(self.names.values()))}
        waiting = [start]
        while waiting:
            place = waiting.pop()
            for kind, following in self.paths.edges[place]:
                value = self.after(place, kind, values[place])
                before = values.get(following)
                if before is None or before | value != before:
                    values[following] = (before or 0) | value
                    waiting.append(following)
        return values

    def findings(self) -> list[Finding]:
        found, exceptions, needed = {}, {}, set()
        for place, value in self.solve().items():
            instruction = self.program.instructions[place.address]
            for hold in self.program.holds.get(place.address, ()):
                exceptions[hold.line] = "`holds` is not needed here: delete it"
                needed |= {hold.line} if self.others(value, hold.register) else set()
            if instruction.operand.unchecked:
                exceptions[instruction.line] = "`any` is not needed here: delete it"
                needed |= {instruction.line} if self.others(value, instruction.operand.register) else set()
            value = self.owned(value, self.held.get(place.address, []))
            for name in reads(instruction):
                for owner in self.others(value, name):
                    found.setdefault((instruction.line, self.complaint(name, owner)))
        found |= {(line, text): None for line, text in exceptions.items() if line not in needed}
        return [Finding(line, text) for line, text in sorted(found)]

    def others(self, value: int, name: str) -> list[object]:
        """What a register may hold instead of `name`."""
        number = self.names[name]
        others = value & self.of_register[number] & ~self.bit(number, name)
        return [owner for (_, owner), bit in self.bits.items() if others & bit] if others else []

    def complaint(self, name: str, owner: object) -> str:
        if owner == NOTHING:
            return f"`{name}` may be read before it is written: write it on every path that leads here"
        if isinstance(owner, Lost):
            return (f"`{name}` may be lost in the call of `{owner.routine}`, which writes it: write it again after the call, keep "
                    f"it in another register, or declare `routine {owner.routine} returns {name}:` if that is its result")
        return f"`{name}` may hold `{owner}` here, which shares its register: write `{name}` after the last use of `{owner}`"


def useless_returns(program: Program, lives: Lives) -> list[Finding]:
    return [Finding(routine.line, f"`{name}` returns `{register}`, but does not write it: delete it")
            for name, routine in program.routines.items() for register in routine.returns
            if lives.names[register] not in lives.written[program.labels[name]]]


def check(paths: Paths, error_register: int) -> list[Finding]:
    lives = Lives(paths, error_register)
    return lives.findings() + useless_returns(paths.program, lives)
