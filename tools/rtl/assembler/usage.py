# SPDX-License-Identifier: Apache-2.0
"""What is written but has no use: instructions that no path reaches, labels and names that nothing names."""

from assembler.listing import Finding, Program


def unreachable(program: Program, reached: set[int]) -> list[Finding]:
    return [Finding(one.line, "no path reaches this instruction: delete it, or the jump that keeps paths from it")
            for at, one in enumerate(program.instructions)
            if at not in reached and (at == 0 or at - 1 in reached or program.labels_at(at))]


def unused_labels(program: Program) -> list[Finding]:
    named = {one.target for one in program.instructions}
    called = {one.target for one in program.instructions if one.operation == "call"}
    findings = [Finding(program.label_lines[name], f"nothing goes to `{name}`: delete the label, or make it a comment")
                for name in program.labels if name not in named]
    caught = {one.target for one in program.instructions if one.operation == "catch"}
    findings += [Finding(line, f"nothing catches at `{name}`: make it a label, `{name}:`")
                 for name, line in program.handlers.items() if name not in caught and name in named]
    return findings + [Finding(routine.line, f"nothing calls `{name}`: make it a label, `{name}:`")
                       for name, routine in program.routines.items() if name not in called and name in named]


def unused_names(program: Program) -> list[Finding]:
    # Number 0 of steps and errors is there after reset.
    codes = {name: code.line for name, code in (program.steps | program.errors).items() if code.number}
    lines = codes | program.constant_lines | program.symbols | {one.name: one.line for one in program.registers.values()}
    return [Finding(line, f"`{name}` is not used: delete it") for name, line in lines.items() if name not in program.used]


def unused(program: Program) -> list[Finding]:
    return unused_labels(program) + unused_names(program)
