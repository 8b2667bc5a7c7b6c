# SPDX-License-Identifier: Apache-2.0
"""Runs the application `instructions` on an emulated board. The emulator counts retired instructions exactly."""

import dataclasses
import re

import figures
import qemu

CALL = re.compile(r"cost (write|read) (\d+) submit (\d+) doorbell (\d+) complete (\d+) batch (\d+)")
RECORDING = re.compile(r"cost recording (\d+) push (\d+) turn (\d+) piece (\d+) checkpoint (\d+) clip (\d+)")
CALLBACK = re.compile(r"cost callback (\d+)")
LOOP = re.compile(r"cost loop work (\d+) lap (\d+)")
IDLE = re.compile(r"cost idle poll (\d+)")
DRIVE = qemu.Drive("driver=null-co,size=8589934592,read-zeroes=on", "mdts=8")


@dataclasses.dataclass(frozen=True)
class Call:
    """A command of the driver: one of a batch at this size."""

    kind: str
    size: int
    submit: int
    doorbell: int  # of a batch
    complete: float  # the driver's part: reap, check, call
    batch: int

    @property
    def all(self) -> float:
        return self.submit + self.doorbell / self.batch + self.complete


@dataclasses.dataclass(frozen=True)
class Recording:
    """The recorder and exFAT above the driver: firmware/instructions/recording.h."""

    size: int
    push: int
    turn: int
    piece: int
    checkpoint: int
    clip: int


@dataclasses.dataclass(frozen=True)
class Counted:
    calls: tuple[Call, ...]
    recordings: tuple[Recording, ...]
    callback: int  # the body of the benchmark's own callback, which is not in `complete`
    idle: int  # a poll that finds nothing
    loop_work: int  # a turn of a loop that has nothing to do: firmware/instructions/looping.h
    loop_lap: int  # deleting the oldest part, arming the next, and listing it

    def call(self, kind: str, size: int) -> Call:
        return next(call for call in self.calls if (call.kind, call.size) == (kind, size))


def count(build: str, echo: bool = False) -> Counted:
    """`build`: a board, or its build for size."""
    board, image = build.removesuffix("-size"), qemu.BUILD / build / "firmware/instructions.elf"
    result = qemu.run(board, "instructions", DRIVE, timeout_s=300, echo=echo, options=("-icount", "shift=0,sleep=off"), image=image)
    rows, recordings = CALL.findall(result.output), RECORDING.findall(result.output)
    callback, idle, loop = CALLBACK.search(result.output), IDLE.search(result.output), LOOP.search(result.output)
    if result.status != 0 or len(rows) != 6 or len(recordings) != 2 or None in (callback, idle, loop):
        figures.die(f"counting on {build}", f"{len(rows)} of 6 and {len(recordings)} of 2 rows were printed\n{result.report()}")
    own = int(callback[1])
    calls = tuple(Call(kind, int(size), int(submit), int(doorbell), int(complete) / int(batch) - own, int(batch))
                  for kind, size, submit, doorbell, complete, batch in rows)
    return Counted(calls, tuple(Recording(*map(int, row)) for row in recordings), own, int(idle[1]), int(loop[1]), int(loop[2]))
