# SPDX-License-Identifier: Apache-2.0
"""The host model of boards without an operating system: times from counted instructions and from the numbers of bench/boards.toml.
These are pure functions; the virtual drives simulate the rest. docs/understand/boards.md argues for the model."""

import dataclasses
import pathlib
import tomllib

from lab import runs, seeds
from lab.runner import Run, run

TABLE = pathlib.Path(__file__).resolve().parents[1] / "boards.toml"
KIB, MIB, GIB = runs.KIB, runs.MIB, runs.GIB
BLOCKS = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB)
BOUNDS = ("worst", "best")
PACE = 1_000_000_000  # bytes per second of the stream whose share of the processor is stated
DEPTH = 32
PIECES = 128  # of the ring of a stream without a rate; one with a rate has to bridge the drive's pauses:
PACED_RING = 256 * MIB
KINDS = {"counted", "fitted", "published", "assumed"}
COMPARISONS = {"predicted", "fitted", "Linux; not comparable"}

# How often each wait occurs: src/nvme/queue.c and src/recorder/recorder.c.
CLOCK_READS = 2  # of a turn: look_at_clock(), and the queue's poll()
TURN_LOADS = 3  # of a turn: nothing_to_do(), and the entry at which reap_fast() and spate_nvme_complete() find the end
ENTRY_LOADS = 1  # of a completion


@dataclasses.dataclass(frozen=True)
class Number:
    best: float
    worst: float
    kind: str
    source: str

    def __post_init__(self):
        if not {kind.strip() for kind in self.kind.split(",")} <= KINDS or not self.source:
            raise ValueError(f"a number of {TABLE.name} needs a source, and one of these kinds: {', '.join(sorted(KINDS))}")


@dataclasses.dataclass(frozen=True)
class Processor:
    name: str
    counted_on: tuple[tuple[str, str], ...]  # by bound: the build whose instructions are counted
    instructions_per_cycle: Number
    memory_read_ns: Number
    entry_write_ns: Number
    barrier_ns: Number
    register_write_ns: Number
    clock_read_ns: Number

    def build(self, bound: str) -> str:
        return dict(self.counted_on)[bound]

    def numbers(self) -> dict[str, Number]:
        return {field.name: value for field in dataclasses.fields(self) if isinstance(value := getattr(self, field.name), Number)}


@dataclasses.dataclass(frozen=True)
class Published:
    """A measurement of somebody else, of seeds.FIGURES. `against`: what comparing with it says."""

    figure: str
    block: int  # the row beside which it stands
    against: str
    note: str

    def __post_init__(self):
        if self.against not in COMPARISONS:
            raise ValueError(f"{TABLE.name}: against: one of {', '.join(sorted(COMPARISONS))}")

    @property
    def seed(self) -> seeds.Figure:
        return seeds.figure(self.figure)

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.seed.value * (self.block if self.seed.unit == "1/s" else 1)

    @property
    def comparable(self) -> bool:
        return self.against != "Linux; not comparable"


@dataclasses.dataclass(frozen=True)
class Board:
    key: str
    name: str
    processor: Processor
    clock_mhz: float
    clock_source: str
    link: str
    profile: str
    filled: float = 0
    blocks: tuple[int, ...] = BLOCKS
    published: tuple[Published, ...] = ()

    def published_at(self, block: int) -> Published | None:
        return next((one for one in self.published if one.block == block), None)


def load(path: pathlib.Path = TABLE) -> list[Board]:
    table = tomllib.loads(path.read_text())
    processors = {key: Processor(entry.pop("name"), tuple(entry.pop("counted_on").items()),
                                 **{name: Number(**value) for name, value in entry.items()})
                  for key, entry in table["processor"].items()}
    boards = []
    for entry in table["board"]:
        published = tuple(Published(**one) for one in entry.get("published", ()))
        boards.append(Board(**{**entry, "processor": processors[entry["processor"]], "published": published,
                               "blocks": tuple(entry.get("blocks", BLOCKS))}))
    return boards


# ---- time ----


@dataclasses.dataclass(frozen=True)
class Costs:
    """The processor's time, as `spate-lab --host board` takes it."""

    submit_ps: float  # a command
    complete_ps: float  # a completion
    doorbell_ns: float
    push_ps: float  # a piece
    turn_ps: float  # a turn of the recorder
    piece_ps: float  # a piece in it
    checkpoint_ps: float

    def options(self) -> dict[str, int]:
        return {f"cpu_{field.name}": round(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @property
    def each_ps(self) -> float:
        """A piece from its push to its completion, without the turns."""
        return self.push_ps + self.piece_ps + self.submit_ps + self.complete_ps

    def pieces_per_s(self) -> float:
        """What one core can feed: each turn submits and completes as many pieces as can be in flight."""
        turn_ps = self.turn_ps + 2000 * self.doorbell_ns + DEPTH * self.each_ps
        return 1e12 * DEPTH / turn_ps


def costs(board: Board, counts, bound: str) -> Costs:
    """`counts`: a counted.Counted for each build."""
    counts = counts[board.processor.build(bound)]
    ns = {name: getattr(number, bound) for name, number in board.processor.numbers().items()}
    call = max((call for call in counts.calls if call.kind == "write"), key=lambda call: call.all)
    above = max(counts.recordings, key=lambda recording: recording.turn + recording.piece)

    def instructions_ps(instructions: float) -> float:
        return 1e6 * instructions / (ns["instructions_per_cycle"] * board.clock_mhz)

    # The driver's idle poll, and the doorbell's instructions, are once in a turn.
    return Costs(
        submit_ps=instructions_ps(call.submit) + 1e3 * ns["entry_write_ns"],
        complete_ps=instructions_ps(call.complete) + 1e3 * ENTRY_LOADS * ns["memory_read_ns"],
        doorbell_ns=ns["register_write_ns"],
        turn_ps=instructions_ps(above.turn + counts.idle + call.doorbell) +
        1e3 * (CLOCK_READS * ns["clock_read_ns"] + TURN_LOADS * ns["memory_read_ns"] + ns["barrier_ns"]),
        push_ps=instructions_ps(above.push),
        piece_ps=instructions_ps(above.piece),
        checkpoint_ps=instructions_ps(above.checkpoint),
    )


# ---- what limits ----

SAME = 0.98  # rates that differ by less are the same


def limit(rate: float, no_processor: float, ideal_drive: float) -> str:
    """What limits a rate: of the same board without a processor's cost, and of that with an ideal drive besides."""
    if rate < SAME * no_processor:
        return "processor"
    return "link" if no_processor >= SAME * ideal_drive else "drive"


# ---- the runs ----


def total_bytes(block: int) -> int:
    """At least a second of a stream, so that checkpoints are in it."""
    return 2 * GIB if block < 64 * KIB else 4 * GIB


def _files(name: str, board: Board, block: int, **options) -> Run:
    total = total_bytes(block)
    link = getattr(runs, board.link)
    options = {"profile": board.profile, "filled": board.filled, "ring": PIECES * block, **options}
    return run(f"board-{board.key}-{runs.block_name(block)}-{name}", "files", block=block, depth=DEPTH, bytes=total, file=total,
               cluster=MIB, samples=1, **link, **options)


def runs_of(board: Board, counts, block: int) -> list[Run]:
    """Both bounds, as fast as possible and at PACE; and the same without a processor's cost, with the drive and with an ideal one."""
    made = [_files("no-processor", board, block, host="none"), _files("ideal-drive", board, block, host="none", profile="ideal", filled=0)]
    for bound in BOUNDS:
        cost = costs(board, counts, bound).options()
        made.append(_files(bound, board, block, host="board", **cost))
        made.append(_files(f"{bound}-paced", board, block, host="board", rate=PACE, ring=PACED_RING, **cost))
    return made


@dataclasses.dataclass(frozen=True)
class Case:
    """A prediction at one bound."""

    rate: float
    share: float  # of the processor, at this rate
    share_at_pace: float | None  # None: PACE is too much
    limit: str


@dataclasses.dataclass(frozen=True)
class Row:
    board: Board
    block: int
    cases: dict[str, Case]

    @property
    def published(self) -> Published | None:
        return self.board.published_at(self.block)

    def deviation(self, bound: str) -> float:
        return self.cases[bound].rate / self.published.rate - 1


def row(lab, board: Board, block: int) -> Row:
    """From the results of runs_of()."""
    prefix = f"board-{board.key}-{runs.block_name(block)}"
    cases = {}
    for bound in BOUNDS:
        result, paced = lab.result(f"{prefix}-{bound}"), lab.result(f"{prefix}-{bound}-paced")
        rate = result["bytes_per_s"]
        kept_up = paced["overrun_bytes"] == 0 and rate * SAME > PACE
        cases[bound] = Case(rate, result["host_busy_share"], paced["host_busy_share"] if kept_up else None,
                            limit(rate, lab.rate(f"{prefix}-no-processor"), lab.rate(f"{prefix}-ideal-drive")))
    return Row(board, block, cases)
