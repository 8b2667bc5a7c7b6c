# SPDX-License-Identifier: Apache-2.0
"""The words of a command: its options, which may be shortened as in Vivado, and what is left."""

import dataclasses

from .interpreter import Wrong


@dataclasses.dataclass
class Words:
    flags: set[str]
    values: dict[str, str]
    rest: list[str]

    def one(self, what: str) -> str:
        if len(self.rest) != 1:
            raise Wrong(f"needs one {what}, not {len(self.rest)}")
        return self.rest[0]


def parse(words: list[str], flags: tuple[str, ...] = (), values: tuple[str, ...] = ()) -> Words:
    """`flags` are options without a value, `values` those with one."""
    found, waiting = Words(set(), {}, []), list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-") or is_number(word):
            found.rest.append(word)
            continue
        name = complete(word, flags + values)
        if name in found.flags or name in found.values:
            raise Wrong(f"{name} is given twice")
        if name in flags:
            found.flags.add(name)
        elif waiting:
            found.values[name] = waiting.pop(0)
        else:
            raise Wrong(f"{name} needs a value")
    return found


def complete(word: str, known: tuple[str, ...]) -> str:
    matches = [name for name in known if name.startswith(word)]
    if word in known:
        return word
    if len(matches) != 1:
        raise Wrong(f"unknown option {word}; it knows {' '.join(sorted(known)) or 'none'}" if not matches
                    else f"{word} may be {' or '.join(matches)}")
    return matches[0]


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
