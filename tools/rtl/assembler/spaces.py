# SPDX-License-Identifier: Apache-2.0
"""An address that is declared `in` a space is read and written only while `out space` has chosen that space, on every path."""

from assembler.listing import Finding
from assembler.machine import SPACES, Machine
from assembler.paths import KEPT, Paths


def check(paths: Paths, machine: Machine) -> list[Finding]:
    program, found = paths.program, {}
    names = {code: name for name, code in machine.codes[SPACES].items()}
    for place in paths.edges:
        instruction = program.instructions[place.address]
        if instruction.operation not in ("read", "write"):
            continue
        operand = instruction.operand
        chosen = names.get(place.kept[KEPT.index("space")], "an unknown space")
        for name in sorted({operand.register, *operand.value.names} & set(program.spaces)):
            if chosen not in program.spaces[name]:
                found.setdefault((instruction.line, f"`{name}` is in {' or '.join(program.spaces[name])}, but a path comes here "
                                                    f"with {chosen}: write `out space, {program.spaces[name][0]}` before"))
    return [Finding(line, text) for line, text in sorted(found)]
