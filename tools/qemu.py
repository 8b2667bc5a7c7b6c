# SPDX-License-Identifier: Apache-2.0
"""The boards that QEMU emulates: how to start each with a drive and a firmware, and how its run ended."""

import dataclasses
import functools
import json
import pathlib
import re
import sys

import program
from console import Console

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


@dataclasses.dataclass(frozen=True)
class Board:
    """The vendor part of a preset in ports/boards.json."""

    program: str
    machine: str
    drive_at: str = ""  # the bus and address of the NVMe device; "": the machine has no PCIe
    bus: str = ""  # what is between the processor and the drive
    image: str = "-kernel {}"
    without_drive: str = "NO_DEVICE"  # how bring-up ends without the drive
    absent_register: str = "all ones"  # what a read gives where no device is
    clip_kib: str = "4000"  # of a clip of selftest, whose drive is the rest of the ring
    faults: str = "stack misaligned null constant"  # those of hello that the processor reports
    in_make_test: bool = False  # make test runs it; make test-all runs all


def emulated() -> dict[str, Board]:
    presets = json.loads((ROOT / "ports/boards.json").read_text())["configurePresets"]
    return {preset["name"]: Board(**preset["vendor"]["spate/emulator"])
            for preset in presets if "spate/emulator" in preset.get("vendor", {})}


ALL = emulated()
# Boards with a drive. The others check what is before PCIe.
BOARDS = {name: board for name, board in ALL.items() if board.drive_at}


def escape(value: str) -> str:
    """Doubles commas: a single comma ends an option of QEMU."""
    return value.replace(",", ",,")


@dataclasses.dataclass
class Drive:
    """An NVMe drive: `backend` is what follows -drive, `device` further properties of the nvme device."""

    backend: str
    device: str = "mdts=7"
    extra: tuple[str, ...] = ()

    @staticmethod
    def image(path: pathlib.Path, device: str = "mdts=7") -> "Drive":
        return Drive(f"file={escape(str(path))},format=raw,cache=unsafe,discard=unmap", device)


@functools.cache
def audio_options(emulator: str, machine: str) -> tuple[str, ...]:
    """Connects a machine's own sound device to the backend "none", which a board defines if it has such a device. Some
    versions of QEMU do this without being told, and do not know the option."""
    words = machine.split()
    if "-audiodev" not in words:
        return ()
    name = words[words.index("-M") + 1].split(",")[0]
    known = program.run(emulator, "-M", f"{name},help").stdout
    return ("-M", "audiodev=none") if "audiodev=" in known else ()


def command(board_name: str, app: str, drive: Drive | None, arguments: dict[str, str], options: tuple[str, ...] = (), *,
            host: bool = True, image: pathlib.Path | None = None):
    """`host`: semihosting, for the words and the exit status. `image`: a firmware elsewhere than in the board's build."""
    board = ALL[board_name]
    words = [board.program, *board.machine.split(), *audio_options(board.program, board.machine), *board.bus.split(), "-nic", "none"]
    if drive is not None:
        words += ["-drive", f"if=none,id=d,{drive.backend}"]
        words += ["-device", f"nvme,serial=SPATE0001,drive=d,{board.drive_at},{drive.device}", *drive.extra]
    semihosting = "enable=on,target=native"
    for word in [app, *(f"{name}={value}" for name, value in arguments.items())]:
        if re.search(r"\s", word):
            raise ValueError(f"a board's argument cannot hold blanks: {word!r}")
        semihosting += f",arg={escape(word)}"
    if host:
        words += ["-semihosting-config", semihosting]
    path = str(image or BUILD / board_name / "firmware" / f"{app}.elf")
    for word in board.image.split():
        words.append(word.format(escape(path) if "," in word else path))
    return [*words, *options]


@dataclasses.dataclass
class Result:
    status: int
    output: str
    command: list[str]
    timed_out: bool = False

    def report(self) -> str:
        """The report of a run that failed."""
        return program.report(self.command, "stopped: it took too long" if self.timed_out else program.ending(self.status),
                              self.output)


def run(
    board_name: str,
    app: str,
    drive: Drive | None,
    arguments: dict[str, str] | None = None,
    *,
    timeout_s: float,
    echo: bool = False,
    options: tuple[str, ...] = (),
    cwd: pathlib.Path | None = None,
    image: pathlib.Path | None = None,
) -> Result:
    """Starts a firmware and waits for its end. `echo` shows its console as it comes."""
    words = command(board_name, app, drive, arguments or {}, options, image=image)
    pieces = []
    console = Console(sys.stdout.buffer, sys.stdout.isatty())

    def see(piece):
        pieces.append(piece)
        if echo:
            console.see(piece)

    status, timed_out = program.watch(words, see, timeout_s=timeout_s, cwd=cwd)
    console.end()
    return Result(status, b"".join(pieces).decode("utf-8", "replace"), words, timed_out)
