# SPDX-License-Identifier: Apache-2.0
"""Reads the mutants that are written down: [[written]] in tests/mutants-semantic.toml. Each is a text of one file that is there once,
and what takes its place."""

import functools
import hashlib
import pathlib
import tomllib

from mutants import draw, recorded

FIELDS = ("name", "file", "original", "mutated")
OPERATOR = "written down"


@functools.cache
def read(root: pathlib.Path, path: pathlib.Path) -> list[draw.Mutant]:
    """All of them. recorded.Wrong if one does not fit its file any more."""
    return [_mutant(root, path.name, entry) for entry in tomllib.loads(path.read_text()).get("written", [])]


def _source(path: pathlib.Path) -> str:
    """Without comments, and without blanks at the ends of lines."""
    lines = draw.without_comments(path.read_text()).splitlines() if path.is_file() else []
    return "".join(line.rstrip() + "\n" for line in lines)


def _mutant(root: pathlib.Path, listed_in: str, entry: dict) -> draw.Mutant:
    missing = [name for name in FIELDS if not isinstance(entry.get(name), str)]
    if missing:
        raise recorded.Wrong(f"{listed_in}: an entry has no {', '.join(missing)}: {entry}")
    file, original, mutated = entry["file"], entry["original"], entry["mutated"]
    source = _source(root / file)
    if source.count(original) != 1:
        raise recorded.Wrong(f"{listed_in}: \"{entry['name']}\" has to be changed: {file} has {source.count(original)} times\n{original}")
    start = source.index(original)
    first, last = source.count("\n", 0, start), source.count("\n", 0, start + len(original.rstrip("\n")))
    lines = source.splitlines()
    after = (source[:start] + mutated + source[start + len(original):]).splitlines()
    changed = after[first:last + 1 + len(after) - len(lines)]
    function, function_line = draw.functions(lines)[first]
    key = hashlib.sha256("\0".join([file, entry["name"]]).encode()).hexdigest()
    return draw.Mutant(file, first + 1, function_line, draw.joined(lines[first:last + 1]), draw.joined(changed), key, last + 1 - first,
                       OPERATOR)
