# SPDX-License-Identifier: Apache-2.0
"""Files of constraints, run by tclsh. The commands are Python's; see bridge.tcl for the protocol."""

import base64
import contextlib
import pathlib
import subprocess
from collections.abc import Callable, Iterator

import program

BRIDGE = pathlib.Path(__file__).with_name("bridge.tcl")


class Wrong(Exception):
    """A command cannot do what it was asked for. The message says why."""


class Place:
    """Where a command stands."""

    def __init__(self, file: str, line: str):
        self.file, self.line = file, int(line)

    def __str__(self) -> str:
        path = pathlib.Path(self.file)
        return f"{path.relative_to(program.ROOT) if path.is_relative_to(program.ROOT) else path}:{self.line}"


Command = Callable[[Place, list[str]], str | list[str]]


def encoded(*words: str) -> str:
    return " ".join(base64.b64encode(f"={word}".encode()).decode() for word in words)


def decoded(line: str) -> list[str]:
    return [base64.b64decode(word).decode()[1:] for word in line.split()]


class Interpreter:
    def __init__(self, process: subprocess.Popen, commands: dict[str, Command], failed: Callable[[Place, str], None]):
        self._process, self._commands, self._failed = process, commands, failed
        self._say(encoded(*commands))

    def _say(self, line: str) -> None:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def run(self, file: pathlib.Path, nested: bool = False) -> None:
        """Runs a file to its end, or to its first error, which it reports. `nested`: during a command of another file."""
        self._say(f"run {encoded(str(file))}" if nested else encoded(str(file)))
        while line := self._process.stdout.readline():
            kind, _, rest = line.partition(" ")
            if kind.strip() == "done":
                return
            words = decoded(rest)
            if kind == "failed":
                self._failed(Place(words[0], words[1]), words[2])
                return
            self._answer(Place(words[0], words[1]), words[2], words[3:])
        raise SystemExit(f"{file}: tclsh ended before the file did")

    def _answer(self, place: Place, name: str, words: list[str]) -> None:
        try:
            answer = self._commands[name](place, words)
        except Wrong as wrong:
            self._say(f"error {encoded(f'{name}: {wrong}')}")
            return
        self._say(f"text {encoded(answer)}" if isinstance(answer, str) else f"ok {encoded(*answer)}".rstrip())


@contextlib.contextmanager
def interpreter(commands: dict[str, Command], failed: Callable[[Place, str], None]) -> Iterator[Interpreter]:
    with program.process(["tclsh", str(BRIDGE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Interpreter(process, commands, failed)
