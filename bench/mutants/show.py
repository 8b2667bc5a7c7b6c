# SPDX-License-Identifier: Apache-2.0
"""Prints the progress, the survivors, and a table of modules."""

import sys
import time

PLAIN_S = 10.0  # between two lines without a terminal
TERMINAL_S = 0.5
WIDTH = 79


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    """On a terminal, one line that is rewritten. Elsewhere, a plain line every ten seconds."""

    def __init__(self, what: str, total: int, out=None, terminal: bool | None = None, now=time.monotonic):
        self.what, self.total, self.out, self.now = what, total, out or sys.stdout, now
        self.terminal = self.out.isatty() if terminal is None else terminal
        self.done, self.note, self.ended = 0, "", False
        self.begun = self.shown = now()

    def step(self, note: str = "") -> None:
        """One more is done. The note is added to the line."""
        self.done, self.note = self.done + 1, note
        self.look()

    def look(self) -> None:
        """Shows the progress, if the last time was long ago, or everything is done."""
        now, whole = self.now(), self.done == self.total
        if now - self.shown < (TERMINAL_S if self.terminal else PLAIN_S) and (self.ended or not whole):
            return
        self.shown, self.ended, passed = now, whole, now - self.begun
        left = f", about {minutes(passed / self.done * (self.total - self.done))} left" if self.done else ""
        line = f"{self.what} {self.done}/{self.total}, {minutes(passed)}{left}{self.note}"
        self.out.write(f"\r{line[:WIDTH]:<{WIDTH}}" if self.terminal else line + "\n")
        self.out.flush()

    def say(self, line: str) -> None:
        """Prints a line that stays."""
        self.out.write(f"\r{'':<{WIDTH}}\r{line}\n" if self.terminal else line + "\n")
        self.out.flush()

    def end(self) -> None:
        if self.terminal and self.done:
            self.out.write("\n")
            self.out.flush()


COLUMNS = ("sampled", "invalid", "equivalent", "killed", "timed out", "survived")


def table(counts: dict[str, dict[str, int]], time_out_is_noticed: bool = True) -> list[str]:
    """The table by module. `sampled` counts judged mutants; invalid and equivalent mutants were replaced by others."""
    rows = [("module", *COLUMNS, "noticed" if time_out_is_noticed else "killed")]
    total = {column: sum(count[column] for count in counts.values()) for column in COLUMNS}
    for module, count in [*sorted(counts.items()), ("all", total)]:
        rows.append((module, *(str(count[column]) for column in COLUMNS), f"{percent(count, time_out_is_noticed):.1f} %"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]) for row in rows]


def percent(count: dict[str, int], time_out_is_noticed: bool = True) -> float:
    """The percentage of noticed mutants among those that can be noticed."""
    noticed = count["killed"] + (count["timed out"] if time_out_is_noticed else 0)
    return 100.0 * noticed / max(1, count["killed"] + count["timed out"] + count["survived"])
