# SPDX-License-Identifier: Apache-2.0
"""The lab's quick selection: its aims, its curves, and its repeatability: the same seed gives the same text."""

import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys

import program
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import pressure  # noqa: E402 - the path comes first
from lab import chapters_files, chapters_overview, compare, page, plots, prose, runner, runs, seeds, sources  # noqa: E402 - the path comes first

pytestmark = pytest.mark.thorough

PROGRAMS = pathlib.Path(os.environ.get("SPATE_LAB_PROGRAMS", ROOT / "build/host-release/lab"))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    assert (PROGRAMS / "spate-lab").exists(), f"{PROGRAMS} has no spate-lab: make build-host-release"
    assert (PROGRAMS / "spate-lab-fatfs").exists(), f"{PROGRAMS} has no spate-lab-fatfs: make setup build-host-release"
    assert runner.SPATE.exists(), f"{runner.SPATE} is not built: make build-linux"
    lab = runner.Lab(PROGRAMS, tmp_path_factory.mktemp("lab"))
    lab.all(runs.quick())
    return lab


# ---- the aims ----


@pytest.mark.parametrize("profile", runs.ALL)
def test_files_reach_99_percent_of_the_raw_rate(lab, profile):
    write, read = chapters_files.aims(lab)[profile]
    assert write >= 0.99, f"written at {write:.2%} of raw"
    assert read >= 0.99, f"read at {read:.2%} of raw"


@pytest.mark.parametrize("profile", runs.ALL)
def test_every_page_of_the_files_is_what_was_recorded(lab, profile):
    files = lab.results[f"aim-{profile}-files"]
    assert files["result"]["lost_bytes"] == files["result"]["overrun_bytes"] == 0
    for check in (files["walk"], files["read"]):
        assert check["wrong_pages"] == 0
        assert check["complete"]
    assert files["walk"]["pages"] * 4096 == files["options"]["bytes"]


def test_a_source_that_listens_loses_nothing(lab):
    ignores, listens = (lab.results[f"warned-edge-{kind}"] for kind in ("ignores", "listens"))
    assert ignores["result"]["overrun_bytes"] > 0
    assert listens["result"]["overrun_bytes"] == 0
    assert listens["result"]["slowed_down"] > 0
    warned, lost = chapters_files.first_warning(ignores)
    assert (lost - warned) * 1000 >= 250, "the level SLOW came too late for a source that needs 250 ms"


def test_the_picture_in_the_docs_is_what_the_lab_draws(lab, tmp_path):
    drawn = tmp_path / "pressure.svg"
    pressure.draw(*(lab.results[run.name] for run in runs.edge()), drawn)
    assert drawn.read_text() == pressure.PICTURE.read_text(), "make pressure draws it again"


def test_the_library_is_never_longer_silent_than_fatfs(lab):
    ours, theirs = (lab.result(f"peer-970evoplus-{key}-paced") for key in ("ours", "exfat-best"))
    assert ours["overrun_bytes"] == 0
    assert ours["gap_ms_max"] < theirs["gap_ms_max"]
    assert ours["ring_bytes_max"] <= theirs["ring_bytes_max"]
    period_s = 0.5 + ours["checkpoint_ms_max"] / 1000
    in_flight = 16 << 20
    assert ours["cut_bytes_max"] <= runs.PACE * period_s + in_flight + ours["ring_bytes_max"]


def test_a_loop_is_as_fast_as_files_and_holds_the_end_of_the_stream(lab):
    round_, files = lab.results["loop-round"], lab.results["loop-files"]
    assert round_["result"]["bytes_per_s"] >= 0.99 * files["result"]["bytes_per_s"]
    assert round_["result"]["gap_ms_max"] <= files["result"]["gap_ms_max"] + 2
    assert round_["result"]["deleted"] >= 10 and 8 <= round_["walk"]["files"] <= 10
    for one in (round_, files):
        assert one["walk"]["complete"] and one["walk"]["wrong_pages"] == 0


def test_turning_round_costs_nothing(lab):
    read, write, both = (lab.rate(f"turns-980pro-{op}") for op in ("read", "write", "alternate"))
    assert both >= 0.98 * 2 / (1 / read + 1 / write)
    assert lab.result("turns-980pro-alternate")["wrong_pages"] == 0


@pytest.mark.parametrize("kind", ["write", "read", "files"])
def test_drives_add_up(lab, kind):
    one, two, four = (lab.rate(f"stripe-980pro-{count}-{kind}") for count in (1, 2, 4))
    assert two >= 1.95 * one
    assert four >= 3.9 * one
    if kind == "files":
        assert lab.results["stripe-980pro-4-files"]["walk"]["wrong_pages"] == 0


# ---- the curves ----


def test_the_curves_have_their_shapes(lab):
    small, large = (lab.rate(f"block-970evoplus-bridge-read-{size}") for size in ("4k", "2048k"))
    assert large > 2 * small
    assert large == pytest.approx(seeds.figure("raw-read-1m").value, rel=0.02)
    assert lab.rate("depth-980pro-read-16") > 2 * lab.rate("depth-980pro-read-1")
    edge = compare.edge_bytes(lab.series("sustained-970evoplus-bridge"))
    assert edge == pytest.approx(seeds.figure("slc-edge").value, rel=0.05)


def test_the_report_shows_every_chapter(lab, tmp_path):
    script = runner.ROOT / "bench/lab.py"
    program.run(sys.executable, script, "--help", env=os.environ | {"PYTHONPATH": str(ROOT / "tools")})
    from lab import chapters_drive

    chapters = [chapter(lab, tmp_path) for chapter in (
        chapters_files.aim, chapters_files.peer, chapters_files.warnings, chapters_drive.block_size,
        lambda lab, out: chapters_drive.depth(lab, out, runs.DEPTHS_QUICK), chapters_drive.sustained,
        chapters_drive.turns, chapters_drive.stripes)]
    page.write(tmp_path / "index.html", "title", ["lead"], chapters, "foot")
    text = (tmp_path / "index.html").read_text()
    pictures = re.findall(r'<img src="([^"]+)"', text)
    assert len(pictures) >= len(chapters)
    for picture in pictures:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_a_quick_report_says_so_and_speaks_of_its_own_data(lab, tmp_path):
    script = {"__name__": "not main"}
    exec(compile((ROOT / "bench/lab.py").read_text(), "bench/lab.py", "exec"), script)
    written = script["report"](lab, tmp_path, True).read_text()
    assert "This is the report of a quick run" in written
    assert "quick run" not in " ".join(script["LEAD"])
    assert "16 GiB in two files" in written and "in four files" not in written
    assert "The same on one of the drives" in written
    for number in seeds.SYSTEMS:
        assert f"<td>system {number}</td>" in written
    assert chapters_overview.systems in script["chapters"](False)


def test_every_chapter_has_its_sentences():
    """The quick report does not show all of them."""
    files = [path.read_text() for path in (ROOT / "bench/lab").glob("chapters_*.py")]
    used = {key for file in files for key in re.findall(r'\bchapter\(\s*"([a-z-]+)"', file)}
    assert used == set(prose.sections()) and len(used) > 15


def test_every_drive_has_a_colour_that_no_other_is_like():
    assert len(runs.ALL) <= len(plots.SEQUENCE)
    for one, other in itertools.combinations(plots.SEQUENCE, 2):
        (r1, g1, b1), (r2, g2, b2) = ([int(color[at:at + 2], 16) for at in (1, 3, 5)] for color in (one, other))
        red = (r1 + r2) / 2
        distance = ((2 + red / 256) * (r1 - r2)**2 + 4 * (g1 - g2)**2 + (2 + (255 - red) / 256) * (b1 - b2)**2)**0.5
        assert distance > 150, f"{one} and {other} look alike"  # of 765, black to white


# ---- how it is run ----


def test_short_runs_come_first_and_the_longest_beside_them():
    order = runner.in_order(runs.full())
    assert sorted(run.name for run in order) == sorted(run.name for run in runs.full())
    assert order[1].name == "loop-round"
    rest = [runner.commands(run) for run in (order[0], *order[2:])]
    assert rest == sorted(rest) and rest[0] == 0


def test_ctrl_c_ends_all_of_it_at_once(tmp_path):
    """The signal goes to the lab alone: it has to end the programs that it started."""
    words = [sys.executable, ROOT / "bench/lab.py", "--only", "^(whole|kilo)", "--programs", PROGRAMS, "--out", tmp_path]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tools"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True) as process:
        said = process.stdout.readline() # after some seconds; the runs take a minute
        complete = set(tmp_path.glob("*.json")) # on a machine that pauses, one may have ended
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read() # until its end: nobody holds the pipe open any more
    assert re.match(r"lab +\d+ s +\d+ of \d+ experiments  now \w", said), said
    assert process.returncode == -signal.SIGINT and "stopped" in rest and "Traceback" not in rest, rest
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert set(tmp_path.glob("*.json")) == complete, "the running experiments continued to their end"


def test_an_experiment_that_ends_after_the_stop_leaves_no_result(tmp_path, monkeypatch):
    """A program may have ended just before it is terminated."""
    lab = runner.Lab(PROGRAMS, tmp_path)

    def one(run):
        lab.stop()
        return "{}", 0.0

    monkeypatch.setattr(lab, "one", one)
    lab._kept(runner.run("last", "files"))
    assert not list(tmp_path.iterdir()) and not lab.results


# ---- the same seed, the same text ----


@pytest.mark.parametrize("run", [
    runner.run("files", "files", profile="970evoplus", bytes=2 << 30, file=1 << 30, read_back=True, verify=True),
    runner.run("source", "files", profile="starblaze", bytes=1 << 30, file=1 << 30, rate=1_500_000_000),
    runner.run("alternate", "raw", profile="980pro", op="alternate", bytes=1 << 30),
    runner.run("peer", "record", profile="980pro", bytes=1 << 30, file=1 << 29, sync_ms=100, expand=True),
    runner.run("diskio", "diskio", profile="970evoplus", format="fat32", cluster=64 << 10, bytes=1 << 30, file=1 << 29),
    runner.run("stripe", "files", profile="exascend", drives=3, bytes=1 << 30, file=1 << 29),
], ids=lambda run: run.name)
def test_the_same_seed_gives_the_same_text(run):
    lab = runner.Lab(PROGRAMS)
    assert lab.one(run)[0] == lab.one(run)[0]


# ---- wrong options ----


@pytest.mark.parametrize("words,sentence", [
    (["raw", "--profile", "none-such"], "there is no profile"),
    (["raw", "--bytes", "12 apples"], "not a number"),
    (["raw", "--op", "sideways"], "read, write or alternate"),
    (["raw", "--block", "1000"], "must be a multiple"),
    (["dance"], "there is no experiment"),
    (["files", "--host", "abacus"], "there is no host"),
    ([], "usage"),
])
def test_a_wrong_wish_is_answered_with_a_sentence(words, sentence):
    done = program.run(PROGRAMS / "spate-lab", *words, statuses=(2,))
    assert sentence in done.stderr


# ---- the figures of the seeds ----


def test_every_figure_says_what_it_depends_on():
    for figure in seeds.FIGURES:
        lines = sources.read(figure.profile)
        assert lines, figure.profile
        for key in compare.DEPENDS[figure.key]:
            assert key == "host" or key in lines, f"{figure.key} depends on {key}, which {figure.profile} does not have"
