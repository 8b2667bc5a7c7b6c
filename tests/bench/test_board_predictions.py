# SPDX-License-Identifier: Apache-2.0
"""The predictions for boards: what a turn, a piece and a command cost, what limits, and that the page has what is predicted now."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import program
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import boards as bench_boards  # noqa: E402 - the path comes first
import counted  # noqa: E402
import figures_page  # noqa: E402
from lab import boards, kernel, runner, runs, seeds  # noqa: E402

pytestmark = pytest.mark.thorough

PROGRAMS = pathlib.Path(os.environ.get("SPATE_LAB_PROGRAMS", ROOT / "build/host-release/lab"))
GIB, KIB, MIB = runs.GIB, runs.KIB, runs.MIB

COUNTED = counted.Counted(calls=(counted.Call("write", MIB, submit=50, doorbell=20, complete=30, batch=32),),
                          recordings=(counted.Recording(MIB, push=100, turn=200, piece=60, checkpoint=2000, clip=80000),),
                          callback=5, idle=40, loop_work=120, loop_lap=180000)
COUNTS = {"a build": COUNTED}


def processor(**changes):
    """1 instruction a cycle; each wait is another number, so that one that is confused with another shows."""
    numbers = {"instructions_per_cycle": 1, "memory_read_ns": 100, "entry_write_ns": 7, "barrier_ns": 13, "register_write_ns": 60,
               "clock_read_ns": 11} | changes
    return boards.Processor("a processor", (("best", "a build"), ("worst", "a build for size")),
                            **{name: boards.Number(value, value, "assumed", "a test") for name, value in numbers.items()})


def board(clock_mhz=1000, **changes):
    return boards.Board("test", "a board", processor(**changes), clock_mhz, "a test", "BRIDGE", "ideal")


def cost(of):
    return boards.costs(of, COUNTS, "best")


def test_what_each_step_costs():
    """At 1 GHz and one instruction a cycle, an instruction takes 1000 ps."""
    assert cost(board()) == boards.Costs(submit_ps=50e3 + 7e3, complete_ps=30e3 + 100e3, doorbell_ns=60,
                                         push_ps=100e3, turn_ps=(200 + 40 + 20) * 1e3 + 2 * 11e3 + 3 * 100e3 + 13e3,
                                         piece_ps=60e3, checkpoint_ps=2000e3)


def test_instructions_take_clock_and_instructions_per_cycle():
    slow, fast = (cost(board(clock_mhz=mhz, instructions_per_cycle=each)) for mhz, each in ((500, 1), (1000, 2)))
    assert slow.piece_ps == 4 * fast.piece_ps == 120e3
    assert slow.turn_ps - fast.turn_ps == pytest.approx(260e3 * 1.5), "waits do not depend on the clock"


# What doubling a wait adds to the nanoseconds of submit, complete, doorbell and turn.
DOUBLED = {"memory_read_ns": (0, 100, 0, 300), "entry_write_ns": (7, 0, 0, 0), "barrier_ns": (0, 0, 0, 13),
           "register_write_ns": (0, 0, 60, 0), "clock_read_ns": (0, 0, 0, 22)}


@pytest.mark.parametrize("name", DOUBLED)
def test_a_wait_is_in_each_step_that_waits(name):
    before = cost(board())
    after = cost(board(**{name: 2 * getattr(board().processor, name).best}))
    assert (after.submit_ps - before.submit_ps, after.complete_ps - before.complete_ps, 1e3 * (after.doorbell_ns - before.doorbell_ns),
            after.turn_ps - before.turn_ps) == tuple(1e3 * ns for ns in DOUBLED[name])
    assert (after.push_ps, after.piece_ps, after.checkpoint_ps) == (before.push_ps, before.piece_ps, before.checkpoint_ps)


def test_each_case_has_the_counts_of_its_build():
    more = dataclasses.replace(COUNTED, recordings=(dataclasses.replace(COUNTED.recordings[0], push=150),))
    counts = COUNTS | {"a build for size": more}
    assert [boards.costs(board(), counts, bound).push_ps for bound in ("best", "worst")] == [100e3, 150e3]


def test_every_number_has_a_source():
    with pytest.raises(ValueError, match="needs a source"):
        boards.Number(1, 2, "assumed", "")
    with pytest.raises(ValueError, match="needs a source"):
        boards.Number(1, 2, "guessed", "nobody knows")
    with pytest.raises(ValueError, match="against"):
        boards.Published("raw-write-1m", MIB, "nearly comparable", "")


@pytest.mark.parametrize("of", boards.load(), ids=lambda of: of.key)
def test_the_worst_case_is_the_worse_one(of):
    for name, number in of.processor.numbers().items():
        assert number.worst < number.best if name == "instructions_per_cycle" else number.worst > number.best, name
    assert all(one.block in of.blocks for one in of.published)


def test_fitted_numbers_are_those_of_the_lab():
    fitted = kernel.machines(kernel.load())
    for key, machine in (("zynqmp", "zynqmp"), ("versal-gen4", "versal"), ("versal-gen3", "versal")):
        (of,) = (of for of in boards.load() if of.key == key)
        assert of.processor.instructions_per_cycle.worst == pytest.approx(fitted[machine].instructions_per_cycle, abs=0.005)
        assert of.clock_mhz * 1e6 == fitted[machine].clock_hz


def test_published_rates_are_those_of_the_seeds():
    published = {one.figure: one for of in boards.load() for one in of.published}
    assert published["raw-write-1m"].rate == pytest.approx(0.64 * seeds.GEN3_X4)
    assert published["gen4-write-iops-4k"].rate == pytest.approx(110e3 * 4096)
    for one in published.values():
        on_linux = one.seed.system in (2, 4)
        assert on_linux != one.comparable, f"{one.figure}: systems 2 and 4 run Linux"


# ---- simulated ----


def files(name, of_costs, **options):
    """A stream without files' roll-over: the link is wide and the drive is ideal, unless the options say otherwise."""
    host = {"host": "none"} if of_costs is None else {"host": "board", **of_costs.options()}
    default = {"profile": "ideal", "block": 4 * KIB, "depth": boards.DEPTH, "bytes": GIB, "file": GIB, "ring": boards.PIECES * 4 * KIB,
               "samples": 1}
    return runs.run(name, "files", **{**default, **host, **options})


def result(run, tmp_path):
    lab = runner.Lab(PROGRAMS, tmp_path)
    return json.loads(lab.one(run)[0])["result"]


@pytest.mark.parametrize("name", ["memory_read_ns", "register_write_ns", "clock_read_ns"])
def test_a_doubled_wait_lowers_the_rate_by_what_was_computed(name, tmp_path):
    """So slow that the processor limits."""
    ns = 20 * getattr(board().processor, name).best
    before, after = (cost(board(clock_mhz=100, **{name: value})) for value in (ns, 2 * ns))
    rates = [result(files("doubled", of), tmp_path)["bytes_per_s"] for of in (before, after)]
    assert rates[0] == pytest.approx(before.pieces_per_s() * 4 * KIB, rel=0.02)
    assert rates[1] / rates[0] == pytest.approx(after.pieces_per_s() / before.pieces_per_s(), rel=0.01)
    assert rates[1] < 0.995 * rates[0]


NO_WAITS = {"memory_read_ns": 1, "entry_write_ns": 0, "barrier_ns": 0, "register_write_ns": 1, "clock_read_ns": 0}
FAST = board(clock_mhz=100000, **NO_WAITS)
LIMITS = {  # what limits: board, profile, link
    "processor": (board(clock_mhz=5), "970evoplus", runs.FREE3),
    "link": (FAST, "990pro", {"gen": 1, "lanes": 1, "mps": 256}),
    "drive": (FAST, "970evoplus", {"gen": 3, "lanes": 4, "mps": 512, "link_percent": 0}),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_the_limit_is_named(limit, tmp_path):
    of, profile, link = LIMITS[limit]
    rate, no_processor, ideal_drive = (
        result(files("limit", costs, profile=which, block=64 * KIB, ring=boards.PIECES * 64 * KIB, **link), tmp_path)["bytes_per_s"]
        for costs, which in ((cost(of), profile), (None, profile), (None, "ideal")))
    assert boards.limit(rate, no_processor, ideal_drive) == limit


def test_the_share_of_the_processor_is_what_the_pieces_cost(tmp_path):
    """A slow stream has two turns a piece: one pushes and submits it, one completes it."""
    of = cost(board())
    shares = [result(files("paced", of, block=64 * KIB, rate=rate, ring=64 * MIB), tmp_path)["host_busy_share"] for rate in (250e6, 500e6)]
    piece_s = 1e-12 * (2 * of.turn_ps + 2000 * of.doorbell_ns + of.each_ps)
    assert shares[0] == pytest.approx(250e6 / (64 * KIB) * piece_s, rel=0.02)
    assert shares[1] == pytest.approx(2 * shares[0], rel=0.01)


def test_a_checkpoint_costs_its_time(tmp_path):
    base = cost(board())
    dear = dataclasses.replace(base, checkpoint_ps=4e9)
    options = {"block": 64 * KIB, "rate": 500e6, "ring": 64 * MIB, "checkpoint_ms": 100}
    without, with_it = (result(files("checkpoint", of, **options), tmp_path) for of in (base, dear))
    assert with_it["checkpoints"] >= 20
    more_s = with_it["host_busy_share"] * with_it["seconds"] - without["host_busy_share"] * without["seconds"]
    assert more_s == pytest.approx(4e-3 * with_it["checkpoints"], rel=0.03)


@pytest.mark.parametrize(("words", "says"), [
    ("files --host board", "needs --cpu-submit-ps"),
    ("files --host a53 --cpu-turn-ps 5", "only with --host board"),
    ("raw --host board --cpu-submit-ps 1 --cpu-complete-ps 1 --cpu-turn-ps 1 --cpu-piece-ps 1", "only for the experiment files"),
    ("files --host board --cpu-submit-ps 1 --cpu-complete-ps 1 --cpu-turn-ps 1 --cpu-piece-ps 5000000000", "below 4 ms"),
])
def test_the_options_of_a_board(words, says):
    answer = subprocess.run([PROGRAMS / "spate-lab", *words.split()], capture_output=True, text=True, check=False)
    assert answer.returncode != 0 and says in answer.stderr, answer.stderr


# ---- the page ----

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?")
TOLERANCE = 0.05  # a share: a change of a few instructions needs no new page


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    out = tmp_path_factory.mktemp("boards")
    program.run(sys.executable, ROOT / "bench/boards.py", "--programs", PROGRAMS, "--out", out, "--page", out / "page.md",
                env=os.environ | {"PYTHONPATH": str(ROOT / "tools")}, timeout_s=600)
    return out / "page.md"


def agree(said, now):
    """Two numbers as they are written. They may differ by TOLERANCE, and by one in the last place."""
    decimals = len(now.partition(".")[2])
    last_place = 1.01 * 10**-decimals if decimals > 0 else 0
    return abs(float(said) - float(now)) <= max(last_place, TOLERANCE * abs(float(now)))


def test_the_page_has_what_is_predicted_now(predicted):
    now, said = predicted.read_text(), bench_boards.PAGE.read_text()
    assert NUMBER.sub("", now) == NUMBER.sub("", said), "make bench-boards"
    wrong = [(a, b) for a, b in zip(NUMBER.findall(said), NUMBER.findall(now)) if not agree(a, b)]
    assert wrong == [], "make bench-boards"


def test_the_page_of_figures_has_them_too(predicted):
    template, page = (path.read_text().splitlines() for path in (figures_page.TEMPLATE, figures_page.PAGE))
    bench = figures_page.fields(ROOT / "build/bench")
    rows = [(said, line.format_map(bench)) for line, said in zip(template, page, strict=True) if "[boards|" in line]
    assert len(rows) == 5
    for said, now in rows:
        pairs = list(zip(NUMBER.findall(said), NUMBER.findall(now), strict=True))
        assert len(pairs) >= 9 and all(agree(*pair) for pair in pairs), f"make bench, or write {now}"


@pytest.fixture(scope="module")
def a53():
    """What bench/instructions.py counts."""
    return counted.count("qemu-virt")


def test_the_counts_are_those_of_bench_instructions(predicted, a53):
    bench = figures_page.fields(ROOT / "build/bench")["boards"]
    call, above = a53.call("write", MIB), a53.recordings[-1]
    for name, value in (("submit", call.submit), ("doorbell", call.doorbell), ("complete", call.complete), ("idle poll", a53.idle),
                        ("push", above.push), ("turn", above.turn), ("piece", above.piece), ("checkpoint", above.checkpoint)):
        assert bench[f"counted on qemu-virt: {name}"] == value, name


def test_a_piece_costs_the_same_whatever_its_size(a53):
    small, large = (dataclasses.asdict(recording) for recording in a53.recordings)
    assert (small.pop("size"), large.pop("size")) == (4 * KIB, MIB)
    assert small | {"clip": 0} == large | {"clip": 0}
