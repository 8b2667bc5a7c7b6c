# SPDX-License-Identifier: Apache-2.0
"""A board's console.tcl in tclsh, with Vivado's commands replaced (vivado.tcl). Its accesses become those of an AXI4-Lite master in
the simulation, and its waits become simulated time."""

import pathlib
import subprocess

PRELUDE = pathlib.Path(__file__).with_name("vivado.tcl")


class Failed(Exception):
    """A command of the console ended with this error."""


class Console:
    """`bus` reads and writes words, `wait_ms` lets the time of the board pass. Both are coroutines."""

    def __init__(self, bus, wait_ms):
        self.bus, self.wait_ms, self.transcript = bus, wait_ms, []
        self.process = subprocess.Popen(["tclsh", PRELUDE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def send(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n")

    async def do(self, command: str) -> str:
        """Runs it, and returns what it printed."""
        self.transcript.append(f"Vivado% {command}")
        self.send(command)
        printed, failed = [], None
        for line in self.process.stdout:
            kind, _, rest = line.rstrip("\n").partition(" ")
            words = rest.split()
            if kind == "R":
                self.send(f"{await self.bus.read_dword(int(words[0], 16)):08x}")
            elif kind == "W":
                await self.bus.write_dword(int(words[0], 16), int(words[1], 16))
                self.send("")
            elif kind == "T":
                await self.wait_ms(int(words[0]))
                self.send("")
            elif kind == "P":
                printed.append(rest)
            elif kind == "E":
                failed = rest
                break
            else:
                assert kind == "D", f"tclsh said: {line}"
                break
        else:
            raise AssertionError(f"tclsh ended with {self.process.wait()}")
        self.transcript += printed
        if failed is not None:
            self.transcript.append(f"ERROR: {failed}")
            raise Failed(failed)
        return "\n".join(printed)

    async def fails(self, command: str) -> str:
        """Runs a command that must fail, and returns the error."""
        try:
            printed = await self.do(command)
        except Failed as failed:
            return str(failed)
        raise AssertionError(f"{command} did not fail, and printed:\n{printed}")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=10)
