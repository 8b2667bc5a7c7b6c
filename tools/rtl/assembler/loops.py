# SPDX-License-Identifier: Apache-2.0
"""Every loop ends. A loop is cut where a path stays in it only while

- a register is not below `now` (`compare register, now`, then `negative` leaves), and nothing in the loop writes the register;
- a register that is counted down is not zero, or does not fall below it (`sub register, n`, then `zero` or `carry` leaves), and
  nothing else in the loop writes the register;
- a register that is counted up is below a constant (`add register, n`, `compare register, limit`, then `not_carry` leaves), and
  nothing else in the loop writes the register.

What is left after a cut must be cut again, until no loop is left: a loop in a loop may arm its deadline again if the outer loop
has a bound of its own. Where a loop is to continue, `endless` says why, and where it ends for another reason, `bounded`.
"""

from assembler.lives import WRITES
from assembler.listing import Finding, Instruction, Program
from assembler.machine import Machine
from assembler.paths import JUMP, NEXT, Paths, Place, opposite

Graph = dict[Place, list[tuple[str, Place]]]


def components(graph: Graph) -> list[list[Place]]:
    """The strongly connected components that have a loop (Tarjan's algorithm, without recursion)."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in graph:
        if root in order:
            continue
        work = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, following = work[-1]
            for _, one in following:
                if one not in order:
                    order[one] = low[one] = len(order)
                    stack.append(one)
                    on_stack.add(one)
                    work.append((one, iter(graph[one])))
                    break
                if one in on_stack:
                    low[node] = min(low[node], order[one])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    part, stack[at:] = stack[at:], []
                    on_stack -= set(part)
                    if len(part) > 1 or any(one == node for _, one in graph[node]):
                        found.append(part)
    return found


class Bounds:
    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.labelled = set(program.labels.values())

    def number(self, at: int) -> int | None:
        return self.program.instructions[at].rd if self.program.instructions[at].operation in WRITES else None

    def stays(self, instruction: Instruction, condition: str) -> str | None:
        """The kind of edge that is taken while `condition` is true. An error leaves by `caught`."""
        if instruction.condition == condition:
            return JUMP if instruction.operation == "jump" else None
        return NEXT if instruction.condition == opposite(condition, self.machine) else None

    def bound(self, at: int, addresses: set[int]) -> str | None:
        """If an instruction bounds the loop of these addresses: the kind of its edge that stays in the loop."""
        instruction = self.program.instructions[at]
        if instruction.condition is None or at in self.labelled or at == 0:
            return None
        before = self.program.instructions[at - 1]
        writers = {one for one in addresses if self.number(one) == before.rd}
        if before.operation == "compare" and before.operand.source == "now":
            return self.stays(instruction, "not_negative") if not writers else None
        if before.operation == "sub" and is_constant(before):
            counts = writers == {at - 1}
            exact = before.operand.value.number == 1 and self.stays(instruction, "not_zero")
            return (exact or self.stays(instruction, "not_carry")) if counts else None
        if before.operation == "compare" and is_constant(before) and at >= 2 and at - 1 not in self.labelled:
            adds = self.program.instructions[at - 2]
            counts = writers == {at - 2} and adds.operation == "add" and is_constant(adds)
            return self.stays(instruction, "carry") if counts else None
        return None

    def cut(self, part: list[Place], graph: Graph) -> Graph | None:
        """The loop's graph without the edges that are bounded; None if there is no bound."""
        inside, addresses, any_bound, left = set(part), {place.address for place in part}, False, {}
        kinds = {at: self.bound(at, addresses) for at in addresses}
        for place in part:
            edges = [edge for edge in graph[place] if edge[1] in inside]
            left[place] = [edge for edge in edges if edge[0] != kinds[place.address]]
            any_bound |= len(left[place]) < len(edges)
        return left if any_bound else None


def is_constant(instruction: Instruction) -> bool:
    """Its operand is a number that is not zero."""
    return instruction.operand.source in ("immediate", "high") and instruction.operand.value.number != 0


def check(paths: Paths, machine: Machine) -> list[Finding]:
    program, bounds = paths.program, Bounds(paths.program, machine)
    looping = {place.address for part in components(paths.edges) for place in part}
    findings = [Finding(loop.line, "no loop passes here: delete it") for at, loop in program.loops.items() if at not in looping]
    waiting = [{place: ([] if place.address in program.loops else edges) for place, edges in paths.edges.items()}]
    found = {}
    while waiting:
        graph = waiting.pop()
        for part in components(graph):
            left = bounds.cut(part, graph)
            if left is not None:
                waiting.append(left)
            else:
                line, text = complaint(program, part)
                found.setdefault((line, text))
    return findings + [Finding(line, text) for line, text in sorted(found)]


def complaint(program: Program, part: list[Place]) -> tuple[int, str]:
    lines = sorted({program.instructions[place.address].line for place in part})
    through = ", ".join(map(str, lines[:8])) + (" …" if len(lines) > 8 else "")
    return lines[0], (f"a loop through lines {through} may never end: leave it by a deadline that is armed outside of it (`compare "
                      "deadline, now`), or by a counter, or write `endless` or `bounded` in it with the reason")
