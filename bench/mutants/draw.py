# SPDX-License-Identifier: Apache-2.0
"""Generates the mutants, and draws a sample of them.

Each mutant has a key: a hash of the seed, its file, its function, the line before and after, and, if several lines of the
function read the same, which of them it is. The sample consists of the mutants with the lowest keys. So an edit changes only the
sampled mutants of the edited lines."""

import contextlib
import dataclasses
import hashlib
import io
import itertools
import pathlib
import re

from universalmutator import mutator

RULES = pathlib.Path(__file__).with_name("c.rules")
# In this order, so that a string that looks like a comment is a string.
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
FUNCTION = re.compile(r"^\w[^;=]*?\b(\w+)\(")


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # relative to the repository
    line: int  # its number, from 1
    function_line: int  # the function's first one, or 0
    original: str  # without comments, and without blanks at both ends
    mutated: str
    key: str
    lines: int = 1  # how many of the file; `original` and `mutated` are joined by blanks
    operator: str = ""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.file, self.original, self.mutated


def without_comments(text: str) -> str:
    """The same lines, with comments replaced by blanks."""

    def blank(match: re.Match) -> str:
        found = match[0]
        return found if found[0] == '"' else re.sub(r"[^\n]", " ", found)

    return STRING_OR_COMMENT.sub(blank, text)


def functions(lines: list[str]) -> list[tuple[str, int]]:
    """For each line, the function that contains it and the function's first line; an empty name and 0 outside functions."""
    found, now = [], ("", 0)
    for number, line in enumerate(lines, 1):
        if line[:1].isalpha() and not line.rstrip().endswith(";") and (name := FUNCTION.match(line)):
            now = name[1], number
        found.append(now)
        if line.startswith("}") or (now[1] == number and line.rstrip().endswith("}")):
            now = "", 0
    return found


def mutants_of(root: pathlib.Path, file: str, seed: int) -> list[Mutant]:
    """All mutants of one file, sorted by key."""
    source = without_comments((root / file).read_text())
    lines = [line.rstrip() + "\n" for line in source.splitlines()]
    around = functions(lines)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints the rules that it reads
        made = mutator.mutants_regexp(lines, [str(RULES)], ignorePatterns=[], ignoreStringOnly=True)
    seen: dict[tuple[str, str, str], int] = {}
    found = []
    for line, mutated, *_ in made:
        function, function_line = around[line - 1]
        text = function, lines[line - 1].strip(), mutated.strip()
        if _same_without_strings(text[1], text[2]):
            continue
        seen[text] = seen.get(text, 0) + 1
        key = hashlib.sha256("\0".join([str(seed), file, *text, str(seen[text])]).encode()).hexdigest()
        found.append(Mutant(file, line, function_line, text[1], text[2], key))
    return sorted(found, key=lambda mutant: mutant.key)


def _same_without_strings(one: str, other: str) -> bool:
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', one) == re.sub(r'"(?:\\.|[^"\\])*"', '""', other)


def mutated_text(root: pathlib.Path, mutant: Mutant) -> str:
    """The file's text with the mutant applied."""
    lines = without_comments((root / mutant.file).read_text()).splitlines()
    first = mutant.line - 1
    lines[first:first + mutant.lines] = [mutant.mutated, *[""] * (mutant.lines - 1)]
    return "\n".join(lines) + "\n"


def joined(lines) -> str:
    """Lines as one."""
    return " ".join(line.strip() for line in lines if line.strip())


def in_turn(mutants) -> list[Mutant]:
    """The order in which a sample takes them: each operator's lowest key, then each one's second. Mutants without an operator
    are all of one."""
    by_operator: dict[str, list[Mutant]] = {}
    for mutant in sorted(mutants, key=lambda mutant: mutant.key):
        by_operator.setdefault(mutant.operator, []).append(mutant)
    turns = itertools.zip_longest(*(by_operator[name] for name in sorted(by_operator)))
    return [mutant for turn in turns for mutant in turn if mutant is not None]


def module_of(file: str) -> str:
    return "/".join(file.split("/")[:2])


def shares(root: pathlib.Path, files: list[str], count: int) -> dict[str, int]:
    """How many of `count` mutants each module gets: in proportion to its lines of code, and at least one."""
    sizes: dict[str, int] = {}
    for file in files:
        code = sum(1 for line in without_comments((root / file).read_text()).splitlines() if line.strip())
        sizes[module_of(file)] = sizes.get(module_of(file), 0) + code
    total = sum(sizes.values())
    return {module: max(1, -(-count * size // total)) for module, size in sizes.items()}
