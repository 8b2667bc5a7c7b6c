# SPDX-License-Identifier: Apache-2.0
"""Shows a board's console output."""

import re
import time

PLAIN_S = 10.0  # without a terminal: between two states of a line that the board rewrites


class Console:
    """On a terminal, shows the output as it comes. Elsewhere, a line that the board rewrites (it begins with a carriage return)
    becomes plain lines: one every PLAIN_S, and its last state."""

    def __init__(self, out, terminal: bool, now=time.monotonic):
        self.out, self.terminal, self.now = out, terminal, now
        self.line, self.shown_s = b"", now()

    def _show(self, line: bytes) -> None:
        self.out.write(line.rstrip() + b"\n")
        self.shown_s = self.now()

    def see(self, piece: bytes) -> None:
        if self.terminal:
            self.out.write(piece)
            self.out.flush()
            return
        # A carriage return at the very end may be the first half of a line end.
        *parts, self.line = re.split(rb"(\r\n|\n|\r(?!\Z))", self.line + piece)
        for line, end in zip(parts[::2], parts[1::2]):
            if end != b"\r":
                self._show(line)
            elif line.strip() and self.now() - self.shown_s >= PLAIN_S:
                self._show(line)
        self.out.flush()

    def end(self) -> None:
        """The output has ended."""
        if not self.terminal and self.line.strip():
            self._show(self.line)
            self.out.flush()
        self.line = b""
