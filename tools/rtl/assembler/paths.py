# SPDX-License-Identifier: Apache-2.0
"""All paths of a program. A place on a path is an instruction, the calls that led there, the label that catches errors, and
three outputs that only the program changes. Calls are followed one by one, so what is true of one caller is not said of
another.

Also the checks that need no more than this: the depth of calls, and where an error goes:

- Wherever an error may occur, one label catches it: the same on all paths with the same calls.
- A `handler` catches errors from anywhere, any other label only those between a `catch` and the label, and in calls from there.
- What caught an error executes `catch` before the next error may occur. Otherwise it might catch its own error for ever.
- A routine returns with the catch with which it was called.
"""

import collections
import dataclasses

from assembler.listing import FLAG_CONDITIONS, Finding, Instruction, Program
from assembler.machine import CONDITIONS, Machine

# After the sequencer's reset they are 0, and only `out` changes them. Two are conditions as well.
KEPT = ("gone", "ready", "space")
ALWAYS, NEVER = "always", "never"


@dataclasses.dataclass(frozen=True)
class Frame:
    caller: int  # address of the call
    routine: int
    catch: str | None  # at the call


@dataclasses.dataclass(frozen=True)
class Place:
    address: int
    frames: tuple[Frame, ...] = ()
    catch: str | None = None
    spent: bool = False  # an error was caught, and no `catch` followed
    kept: tuple[int | None, ...] = (0,) * len(KEPT)

    @property
    def calls(self) -> tuple[int, ...]:
        return tuple(frame.caller for frame in self.frames)

    def next(self) -> "Place":
        return dataclasses.replace(self, address=self.address + 1)


NEXT, JUMP, CALL, RETURN, CAUGHT = "next", "jump", "call", "return", "caught"


@dataclasses.dataclass
class Paths:
    program: Program
    edges: dict[Place, list[tuple[str, Place]]]
    findings: list[Finding]

    @property
    def reached(self) -> set[int]:
        return {place.address for place in self.edges}

    def catches(self) -> dict[int, set[str]]:
        """Which labels an error at an address may go to."""
        found = collections.defaultdict(set)
        for place in self.edges:
            if may_fail(self.program.instructions[place.address]) and place.catch:
                found[place.address].add(place.catch)
        return found


def may_fail(instruction: Instruction) -> bool:
    return instruction.operation in ("read", "write", "fail")


def opposite(condition: str, machine: Machine) -> str:
    """Bit 0 of its code inverts a condition."""
    codes = {machine.codes[CONDITIONS][name]: word for word, name in machine.names[CONDITIONS].items()}
    return codes[machine.codes[CONDITIONS][machine.names[CONDITIONS][condition]] ^ 1]


class Explorer:
    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.found: dict[tuple[int, str], None] = {}
        self.begins: dict[str, int] = {}  # the first `catch` of each label
        for at, one in enumerate(program.instructions):
            if one.operation == "catch":
                self.begins.setdefault(one.target, at)

    def report(self, place: Place, text: str) -> None:
        line = self.program.instructions[place.address].line
        self.found.setdefault((line, text))

    def with_calls(self, place: Place) -> str:
        lines = [str(self.program.instructions[frame.caller].line) for frame in place.frames]
        return f" (called in line {', '.join(lines)})" if lines else ""

    def outcomes(self, instruction: Instruction, place: Place) -> list[bool]:
        """Of its condition: true, false, or both."""
        condition = instruction.condition
        if instruction.when is not None:
            return [True, False]
        if condition in (ALWAYS, NEVER):
            return [condition == ALWAYS]
        for word, value in zip(KEPT, place.kept):
            if value is not None and word in self.machine.names[CONDITIONS] and condition in (word, opposite(word, self.machine)):
                return [(condition == word) == bool(value & 1)]
        return [True, False]

    def following(self, place: Place) -> list[tuple[str, Place]]:
        instruction = self.program.instructions[place.address]
        step = getattr(self, f"after_{instruction.operation}", self.after_plain)
        edges = step(instruction, place)
        end = len(self.program.instructions)
        for _, one in edges:
            if one.address >= end:
                self.report(place, "the program ends here: jump somewhere, or return")
        return [(kind, one) for kind, one in edges if one.address < end]

    def after_plain(self, instruction: Instruction, place: Place) -> list[tuple[str, Place]]:
        return [(NEXT, place.next()), *(self.caught(place) if may_fail(instruction) else [])]

    def after_out(self, instruction: Instruction, place: Place) -> list[tuple[str, Place]]:
        kept = list(place.kept)
        if instruction.output in KEPT:
            operand = instruction.operand
            known = operand.source == "immediate" and operand.value.number is not None
            kept[KEPT.index(instruction.output)] = operand.value.number if known else None
        return [(NEXT, dataclasses.replace(place.next(), kept=tuple(kept)))]

    def after_jump(self, instruction: Instruction, place: Place) -> list[tuple[str, Place]]:
        target = dataclasses.replace(place, address=self.program.labels[instruction.target])
        return [(JUMP, target) if taken else (NEXT, place.next()) for taken in self.outcomes(instruction, place)]

    def after_fail(self, instruction: Instruction, place: Place) -> list[tuple[str, Place]]:
        edges = []
        for taken in self.outcomes(instruction, place):
            edges += self.caught(place) if taken else [(NEXT, place.next())]
        return edges

    def after_catch(self, instruction: Instruction, place: Place) -> list[tuple[str, Place]]:
        return [(NEXT, dataclasses.replace(place.next(), catch=instruction.target, spent=False))]

    def after_call(self, instruction: Instruction, place: Place) -> list[tuple[str, Place]]:
        if len(place.frames) == self.machine.call_depth:
            self.report(place, f"this call is one too many: the sequencer keeps {self.machine.call_depth} return addresses"
                               f"{self.with_calls(place)}")
            return []
        frame = Frame(place.address, self.program.labels[instruction.target], place.catch)
        return [(CALL, dataclasses.replace(place, address=frame.routine, frames=(*place.frames, frame)))]

    def after_return(self, _: Instruction, place: Place) -> list[tuple[str, Place]]:
        if not place.frames:
            self.report(place, "a path comes here without a call: jump to where it is to continue, instead of returning")
            return []
        *frames, frame = place.frames
        if frame.catch != place.catch:
            self.report(place, f"it returns with the catch `{place.catch}`, but was called with `{frame.catch}`"
                               f"{self.with_calls(place)}: set the caller's again")
        return [(RETURN, dataclasses.replace(place, address=frame.caller + 1, frames=tuple(frames)))]

    def caught(self, place: Place) -> list[tuple[str, Place]]:
        if place.catch is None:
            self.report(place, f"nothing catches an error here{self.with_calls(place)}: execute `catch` before")
            return []
        if place.spent:
            self.report(place, f"an error here goes to `{place.catch}`, which has just caught one{self.with_calls(place)}: execute "
                               "`catch` between them")
        at = self.program.labels[place.catch]
        here = place.frames[0].caller if place.frames else place.address
        if place.catch not in self.program.handlers and not self.begins[place.catch] < here < at:
            self.report(place, f"an error here goes to `{place.catch}`{self.with_calls(place)}, which catches only what is between "
                               f"`catch {place.catch}` and the label: execute another `catch` before, or write `handler "
                               f"{place.catch}:`")
        return [(CAUGHT, dataclasses.replace(place, address=at, frames=(), spent=True))]

    def run(self) -> Paths:
        edges, waiting = {}, [Place(0)] if self.program.instructions else []
        while waiting:
            place = waiting.pop()
            if place not in edges:
                edges[place] = self.following(place)
                waiting += [one for _, one in edges[place]]
        self.one_catch_each(edges)
        return Paths(self.program, edges, [Finding(line, text) for line, text in self.found])

    def one_catch_each(self, edges: dict) -> None:
        seen = collections.defaultdict(dict)
        for place in edges:
            if may_fail(self.program.instructions[place.address]):
                seen[place.address, place.calls].setdefault(place.catch, place)
        for found in seen.values():
            if len(found) > 1:
                *_, place = found.values()
                labels = " or ".join(f"`{label}`" if label else "nothing" for label in sorted(found, key=str))
                self.report(place, f"{labels} may catch an error here, depending on the path{self.with_calls(place)}: execute the "
                                   "same `catch` on each")


def explore(program: Program, machine: Machine) -> Paths:
    return Explorer(program, machine).run()


def reads_flags(instruction: Instruction) -> bool:
    return instruction.condition is not None and instruction.condition.removeprefix("not_") in FLAG_CONDITIONS
