# SPDX-License-Identifier: Apache-2.0
"""The boards that QEMU emulates: how to start each with a drive and a firmware, and how its run ended."""

import dataclasses
import pathlib
import re
import sys

import program
from console import Console

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


@dataclasses.dataclass(frozen=True)
class Board:
    emulator: str
    machine: tuple[str, ...]
    drive_at: str  # the bus and address of the NVMe device
    bus: tuple[str, ...] = ("-device", "pcie-root-port,id=rp,slot=1,addr=1")  # between the processor and the drive


VIRT_CONSOLE = ("-nographic", "-monitor", "none")
BOARDS = {
    "qemu-virt": Board(
        "qemu-system-aarch64",
        ("-M", "virt,gic-version=3", "-cpu", "cortex-a53", "-m", "1G", *VIRT_CONSOLE),
        "bus=rp",
    ),
    "qemu-virt-a15": Board(
        "qemu-system-arm", ("-M", "virt,highmem=off", "-cpu", "cortex-a15", "-m", "1G", *VIRT_CONSOLE), "bus=rp"
    ),
    "qemu-boston": Board(  # the board has the root port, and the SATA controller at function 0
        "qemu-system-mips64el",
        ("-M", "boston", "-m", "1G", "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot"),
        "bus=pci.2,addr=0.1",
        (),
    ),
}


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


def command(board_name: str, app: str, drive: Drive | None, arguments: dict[str, str], options: tuple[str, ...] = ()):
    board = BOARDS[board_name]
    words = [board.emulator, *board.machine, *board.bus, "-nic", "none"]
    if drive is not None:
        words += ["-drive", f"if=none,id=d,{drive.backend}"]
        words += ["-device", f"nvme,serial=SPATE0001,drive=d,{board.drive_at},{drive.device}", *drive.extra]
    semihosting = "enable=on,target=native"
    for word in [app, *(f"{name}={value}" for name, value in arguments.items())]:
        if re.search(r"\s", word):
            raise ValueError(f"a board's argument cannot hold blanks: {word!r}")
        semihosting += f",arg={escape(word)}"
    words += ["-semihosting-config", semihosting]
    words += ["-kernel", str(BUILD / board_name / "apps" / f"{app}.elf"), *options]
    return words


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
) -> Result:
    """Starts a firmware and waits for its end. `echo` shows its console as it comes."""
    words = command(board_name, app, drive, arguments or {}, options)
    pieces = []
    console = Console(sys.stdout.buffer, sys.stdout.isatty())

    def see(piece):
        pieces.append(piece)
        if echo:
            console.see(piece)

    status, timed_out = program.watch(words, see, timeout_s=timeout_s, cwd=cwd)
    console.end()
    return Result(status, b"".join(pieces).decode("utf-8", "replace"), words, timed_out)
