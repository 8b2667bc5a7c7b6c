# SPDX-License-Identifier: Apache-2.0
"""The cost of Linux on the machines of systems 2 and 4: instructions counted by `make bench-linux`, converted to processor time.
These are pure functions; the virtual drives simulate the rest.

Time of a command = instructions / (clock x instructions per cycle) + bytes copied / copy bandwidth + bytes cleaned from
caches / cleaning bandwidth. Instructions that only move bytes (a copy, a fill with zeros) are first subtracted from the counts,
because memory limits them, not the pipeline. One number of each machine is fitted, on one named point."""

import dataclasses
import json
import pathlib

COUNTS = pathlib.Path(__file__).resolve().parents[1] / "linux/counts.json"
KIB, MIB = 1 << 10, 1 << 20
MB, GB = 10**6, 10**9
ENGINE = "fio-libaio"  # fio's most common engine; system 4 does not say which it used
SIZES = tuple(512 << shift for shift in range(12))  # 512 B ... 1 MiB


@dataclasses.dataclass(frozen=True)
class Machine:
    """A processor under Linux. `clock_hz` and `copy_bytes_per_s` are stated or assumed; `source` says which."""

    name: str
    clock_hz: float
    instructions_per_cycle: float
    copy_bytes_per_s: float  # reads and writes; a fill takes half of the time
    clean_bytes_per_s: float = float("inf")  # cache lines are written back for devices that do not see the caches
    cores: int = 2
    source: str = ""

    @property
    def instructions_per_s(self) -> float:
        return self.clock_hz * self.instructions_per_cycle


def load(path: pathlib.Path = COUNTS) -> dict[str, float]:
    """Instructions per MiB, by the key of the case."""
    return json.loads(path.read_text())["instructions_per_mib"]


def per_io(counts: dict[str, float], op: str, size: int, engine: str = ENGINE) -> float:
    """Instructions per request of the sweep."""
    return counts[f"sweep/{engine}/{op}/{size}"] * size / MIB


# ---- instructions that move bytes, per MiB ----


def copy_instructions(counts: dict[str, float]) -> float:
    """A copy: a write with a memcpy before it, minus the same write without."""
    return counts["ways/raw/memcpy"] - counts["ways/raw/direct"]


def fill_instructions(counts: dict[str, float]) -> float:
    """dd's reading of /dev/zero."""
    return counts["ways/raw/zeros"]


# ---- time ----


@dataclasses.dataclass(frozen=True)
class Work:
    """The work of one way of writing or reading, per MiB. `copied`, `filled`, `cleaned`: MiB per MiB."""

    instructions: float  # all counted instructions
    copied: float = 0
    filled: float = 0
    cleaned: float = 0


def seconds(machine: Machine, work: Work, counts: dict[str, float]) -> float:
    """Time of one core per MiB."""
    moving = work.copied * copy_instructions(counts) + work.filled * fill_instructions(counts)
    assert moving < work.instructions, "more instructions move bytes than there are"
    return ((work.instructions - moving) / machine.instructions_per_s +
            MIB * (work.copied + work.filled / 2) / machine.copy_bytes_per_s + MIB * work.cleaned / machine.clean_bytes_per_s)


def command_ns(machine: Machine, counts: dict[str, float], op: str, size: int) -> int:
    """Time of one request of fio, which copies nothing."""
    return round(1e9 * per_io(counts, op, size) / machine.instructions_per_s)


def work_of(counts: dict[str, float], way: str, volume: str = "ext4") -> list[Work]:
    """The work of each core: one copies buffered writes, the other writes them to the drive."""
    all_of_it = counts[f"ways/{volume}/{way}"]
    if way.startswith("dd-buffered"):
        front = counts[f"ways/{volume}/dd-cached"]
        return [Work(front, copied=1, filled=1), Work(all_of_it - front, cleaned=1)]
    if way == "mmap-write":
        # The first core's part is dd's, with a copy from memory instead of /dev/zero.
        front = counts[f"ways/{volume}/dd-cached"] - fill_instructions(counts)
        return [Work(front, copied=1), Work(all_of_it - front, cleaned=1)]
    if way == "read-buffered":
        return [Work(all_of_it, copied=1, cleaned=1)]
    return [Work(all_of_it, copied=float(way == "memcpy"), filled=float(way.startswith("dd")), cleaned=1)]


def way_seconds(machine: Machine, counts: dict[str, float], way: str, volume: str = "ext4") -> float:
    """Time per MiB of the core that has more to do."""
    parts = [seconds(machine, work, counts) for work in work_of(counts, way, volume)]
    return max(parts) if machine.cores > 1 else sum(parts)


# ---- the fitted number of each machine ----


def fit_by_requests(machine: Machine, counts: dict[str, float], op: str, size: int, per_second: float) -> Machine:
    """The instructions per cycle at which this processor, fully busy, carries out this many requests per second."""
    return dataclasses.replace(machine,
                               instructions_per_cycle=per_io(counts, op, size) * per_second / machine.clock_hz)


def fit_by_rate(machine: Machine, counts: dict[str, float], way: str, volume: str, bytes_per_s: float) -> Machine:
    """The instructions per cycle at which one core alone limits a way with one part to this rate."""
    (work,) = work_of(counts, way, volume)
    moved_s = seconds(dataclasses.replace(machine, instructions_per_cycle=float("inf")), work, counts)
    run_s = MIB / bytes_per_s - moved_s
    assert run_s > 0, "copying alone takes longer than was measured"
    moving = work.copied * copy_instructions(counts) + work.filled * fill_instructions(counts)
    return dataclasses.replace(machine, instructions_per_cycle=(work.instructions - moving) / run_s / machine.clock_hz)


def fit_cleaning(machine: Machine, counts: dict[str, float], way: str, volume: str, drive_bytes_per_s: float,
                 bytes_per_s: float) -> Machine:
    """The cleaning rate of caches at which processor and drive, one after the other, reach this rate."""
    coherent = dataclasses.replace(machine, clean_bytes_per_s=float("inf"))
    left_s = MIB / bytes_per_s - MIB / drive_bytes_per_s - way_seconds(coherent, counts, way, volume)
    assert left_s > 0, "without any cleaning it takes longer than was measured"
    return dataclasses.replace(machine, clean_bytes_per_s=MIB / left_s)


# ---- the machines ----

FITTED = {  # machine: the number, and the published point
    "versal": "instructions per cycle, on system 4's 110 000 reads of 4 KiB a second",
    "zynqmp": "instructions per cycle, on system 2's buffered read of 630 MB/s",
    "zynq7": "the rate at which caches are cleaned, on system 2's write of 242 MB/s in steps of 2 MB past the page cache",
}
# The rate of the Zynq-7030's drive alone: PCIe Gen2 x4, 128 bytes of payload.
ZYNQ7_DRIVE = 1.6 * GB


def machines(counts: dict[str, float]) -> dict[str, Machine]:
    versal = Machine("Versal VE2302, Cortex-A72", 1.3e9, 1, 6 * GB,
                     source="1.3 GHz assumed; of clock and instructions per cycle only the product matters. fio copies nothing")
    zynqmp = Machine("Zynq UltraScale+, Cortex-A53", 1.2e9, 1, 2.5 * GB,
                     source="1.2 GHz as on system 1; copying at 2.5 GB/s assumed for one core; PCIe sees the caches")
    zynqmp = fit_by_rate(zynqmp, counts, "read-buffered", "ext4", 630 * MB)
    zynq7 = Machine("Zynq-7030, Cortex-A9", 667e6, zynqmp.instructions_per_cycle, 2 * GB,
                    source="667 MHz assumed; instructions per cycle as the A53's; memory of 4 GB/s stated on the page, so "
                           "copies at half of it; counts of AArch64; PCIe does not see the caches; for the fit the drive "
                           f"alone is assumed to take {ZYNQ7_DRIVE / GB:g} GB/s")
    return {"versal": fit_by_requests(versal, counts, "read", 4 * KIB, 110e3), "zynqmp": zynqmp,
            "zynq7": fit_cleaning(zynq7, counts, "direct", "raw", ZYNQ7_DRIVE, 242 * MB)}


@dataclasses.dataclass(frozen=True)
class Point:
    """One of system 2's rates: its machine, its way of writing or reading, and the drive. `waits`: processor and drive take
    turns, so that one idles while the other works."""

    key: str
    machine: str
    way: str
    volume: str
    profile: str
    op: str
    waits: bool


POINTS = (
    Point("linux-zynqmp-write", "zynqmp", "dd-buffered-2", "ext4", "970evoplus", "write", False),
    Point("linux-zynqmp-read", "zynqmp", "read-buffered", "ext4", "970evoplus", "read", False),
    Point("linux-zynqmp-direct", "zynqmp", "dd-direct-fdatasync-8", "ext4", "970evoplus", "write", True),
    Point("linux-zynq7-direct", "zynq7", "direct", "raw", "960pro", "write", True),
    Point("linux-zynq7-memcpy", "zynq7", "memcpy", "ext4-no-journal", "960pro", "write", True),
    Point("linux-zynq7-mmap", "zynq7", "mmap-write", "ext4", "960pro", "write", False),
    Point("linux-zynq7-dd", "zynq7", "dd-buffered-2", "ext4", "960pro", "write", False),
)
