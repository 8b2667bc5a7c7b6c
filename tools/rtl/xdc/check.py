# SPDX-License-Identifier: Apache-2.0
"""Checks the constraints of a top against its netlist."""

import dataclasses
import pathlib

from . import equal
from .commands import Commands
from .coverage import Coverage
from .interpreter import Place, interpreter
from .netlist import Design
from .objects import Objects
from .structure import Structure


@dataclasses.dataclass
class Result:
    findings: list[str]
    crossings: int
    constraints: int


def check(modules: dict, top: str, files: list[pathlib.Path]) -> Result:
    """Runs the files, then looks at each path between two clocks. If a file fails, nothing else is looked at."""
    design = Design(modules, top)
    commands = Commands(Objects(design))
    failures: dict[str, str] = {}

    def failed(place: Place, message: str) -> None:
        failures.setdefault(f"{place}: {message}", "")

    with interpreter(commands.table(), failed) as commands.interpreter:
        for file in files:
            commands.interpreter.run(file)
    if failures:
        return Result(list(failures), 0, len(commands.timing.exceptions))
    coverage = Coverage(commands.objects, commands.timing)
    found = [*coverage.findings(), *Structure(coverage).findings(), *equal.findings(coverage)]
    return Result(found, coverage.count, len(commands.timing.exceptions))
