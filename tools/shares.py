# SPDX-License-Identifier: Apache-2.0
"""Divides tests into parts that take equally long, and orders tests and proofs so that the longest begin first: several processors
then end at about the same time. tests/times.txt says what each took; it need not be exact, nor complete."""

import program

TIMES = program.ROOT / "tests" / "times.txt"
UNKNOWN_S = 1.0  # what is not in the list takes less than the list's shortest


def known() -> dict[str, float]:
    """{name: CPU seconds}: files of tests, and formal tasks."""
    rows = (line.split(None, 1) for line in TIMES.read_text().splitlines() if line and not line.startswith("#"))
    return {name: float(seconds) for seconds, name in rows}


def longest_first(names) -> list:
    times = known()
    return sorted(names, key=lambda name: (-times.get(name, UNKNOWN_S), name))


def part(names, which: str) -> list:
    """The names of part "2/4", longest first. Each name goes, longest first, to the part that is shortest so far."""
    number, count = (int(word) for word in which.split("/"))
    if not 1 <= number <= count:
        raise SystemExit(f"PART={which}: 1/{count} is the first, {count}/{count} the last")
    times, parts = known(), [(0.0, index, []) for index in range(count)]
    for name in longest_first(names):
        total, index, some = min(parts)
        parts[index] = (total + times.get(name, UNKNOWN_S), index, some + [name])
    return parts[number - 1][2]
