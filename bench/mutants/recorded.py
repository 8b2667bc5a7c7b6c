# SPDX-License-Identifier: Apache-2.0
"""Reads tests/mutants.toml: mutants that no test can notice, each with a reason."""

import collections
import pathlib
import tomllib

from mutants import draw

FIELDS = ("file", "original", "mutated", "reason")


class Wrong(Exception):
    """The list does not match the sources. str() says where and what to do."""


def read(path: pathlib.Path) -> dict[tuple[str, str, str], str]:
    """{(file, line, mutated line): reason}."""
    found = {}
    for number, entry in enumerate(tomllib.loads(path.read_text()).get("equivalent", []), 1):
        missing = [name for name in FIELDS if not str(entry.get(name, "")).strip()]
        if missing:
            raise Wrong(f"{path.name}: entry {number} has no {', '.join(missing)}")
        identity = entry["file"], entry["original"].strip(), entry["mutated"].strip()
        if identity in found:
            raise Wrong(f"{path.name}: entry {number} is a duplicate: {entry['original']}")
        found[identity] = entry["reason"].strip()
    return found


def check(root: pathlib.Path, recorded: dict[tuple[str, str, str], str], mutants_of=draw.mutants_of) -> None:
    """Raises Wrong if an entry is not one of the mutants that the operators generate."""
    made: dict[str, collections.Counter[tuple[str, str, str]]] = {}
    for file, original, mutated in recorded:
        if file not in made:
            there = (root / file).is_file()
            made[file] = collections.Counter(mutant.identity for mutant in (mutants_of(root, file, 0) if there else []))
        if made[file][file, original, mutated] > 1:
            raise Wrong(f"the list of equivalent mutants: {file} has several mutants\n    {original} -> {mutated}\n"
                        "The reason may be that of one of them: make their lines differ, or delete the entry.")
        if made[file][file, original, mutated] == 0:
            raise Wrong(f"the list of equivalent mutants: no mutant of {file} is\n    {original} -> {mutated}\n"
                        "The line has changed: check again whether its mutants are equivalent, and change or delete the entry.")
