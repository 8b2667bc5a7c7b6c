# SPDX-License-Identifier: Apache-2.0
"""spate calibrate on virtual drives: it finds the profiles' values, resumes after an interruption, and refuses wrong targets."""

import os
import re
import signal
import subprocess

import check_calibrate as check
import pytest

from conftest import ROOT
from spate_command import REFUSED, USAGE, answer, digest, spate

pytestmark = pytest.mark.thorough

FAST = ROOT / "build/linux/bin/spate"  # with sanitizers, a hundred gigabytes would take minutes
QUICK = ("--skip", "cache", "--skip", "full", "--skip", "heat")


def drive(folder, name, scale, old=None, new=None):
    """Makes a scaled virtual drive with one line of its profile changed. Returns the target, and the profile's text."""
    text = check.scaled_text(check.PROFILES / f"{name}.profile", scale)
    if old:
        assert len(re.findall(old, text, re.MULTILINE)) == 1
        text = re.sub(old, new, text, flags=re.MULTILINE)
    path = folder / f"{name}.profile"
    path.write_text(text, encoding="utf-8")
    return f"sim:{path}", text


def fast(*words, status=0, **options):
    """Runs the build without sanitizers."""
    return check.program.run(FAST, *words, statuses=(status,), timeout_s=300, **options)


def assert_same(one, other, relative):
    """Both profiles have the same keys and sources, and the same values."""
    (numbers, sources), (others, other_sources) = check.values(one), check.values(other)
    assert sources == other_sources
    for key, value in numbers.items():
        assert value == others[key] or value == pytest.approx(others[key], rel=relative), key


# ---- results ----


@pytest.mark.parametrize(("name", "scale"), [("970evoplus", 50), ("960pro", 25)])
def test_a_virtual_drive_is_found_again(tmp_path, name, scale):
    """The second one has no SLC cache. All drives, and heat: make check-calibrate."""
    true, found = check.calibrate(FAST, check.PROFILES / f"{name}.profile", scale, tmp_path, "--skip", "heat")
    rows = check.compare(name, true, found, heat=False)
    assert len(rows) == len(check.COMPARED) + 1
    assert [row for row in rows if not row.good] == []
    # Other commands accept the profile as a drive.
    path = tmp_path / f"{name}-found.profile"
    plan = answer("plan", "--profile", path, "--rate", "1GB/s", "--bytes", "10GB")
    assert plan["sustained"] and plan["profile"] == f"{name}-found"
    assert answer("speedtest", f"sim:{path}", "--block", "1MiB", "--for", "20ms")["jobs"][0]["read"]["bw_bytes"] > 3e9


def test_what_was_not_measured_says_so(tmp_path):
    target, _ = drive(tmp_path, "980pro", 200)
    fast("calibrate", target, "--profile", tmp_path / "found", "--yes", *QUICK)
    _, sources = check.values((tmp_path / "found").read_text())
    assert sources["flush_ns"].startswith("measured: ")
    for key in ("slc_bytes", "direct_rate", "full_rate", "heat_capacity"):
        assert sources[key].startswith("assumed: not measured: the step"), key
    assert sources["model"].startswith("report: ")


def test_an_impossible_limit_is_not_used(tmp_path):
    """A drive that warns at 2 C. A profile with this limit would be invalid, and calibrate would fail after hours."""
    target, _ = drive(tmp_path, "980pro", 200, "^warning_c .*", "warning_c 2 C # report: a firmware's mistake")
    fast("calibrate", target, "--profile", tmp_path / "found", "--yes", *QUICK)
    numbers, sources = check.values((tmp_path / "found").read_text())
    assert numbers["warning_c"] == 80 and sources["warning_c"].startswith("assumed: ")


def test_a_drive_without_a_volatile_cache(tmp_path):
    target, true = drive(tmp_path, "960pro", 25, "^volatile_cache .*", "volatile_cache no # assumed: capacitors")
    fast("calibrate", target, "--profile", tmp_path / "found", "--yes", "--skip", "heat")
    numbers, sources = check.values((tmp_path / "found").read_text())
    assert numbers["volatile_cache"] == "no" and numbers["flush_ns"] == numbers["fua_ns"] == 0
    assert sources["flush_ns"] == "report: no volatile cache: there is nothing to flush"
    keys = [key for key in check.COMPARED if key not in ("flush_ns", "fua_ns")]
    assert [row for row in check.compare("960pro", true, (tmp_path / "found").read_text(), False, keys) if not row.good] == []


def test_the_results_as_json(tmp_path):
    target, _ = drive(tmp_path, "980pro", 200)
    said = answer("calibrate", target, "--profile", tmp_path / "found", "--yes", *QUICK)
    assert said["done"] == ["latency"] and said["serial"] == "SPATE0001" and said["profile"] == str(tmp_path / "found")
    measured = said["measured"]
    assert measured["command_ns"] == pytest.approx(1000, rel=0.05) and "slc_bytes" not in measured
    # Little's law: requests in flight = rate × latency.
    assert measured["read_iops_depth_1"] == pytest.approx(1e9 / measured["read_qd1_ns"], rel=0.1)
    depths = [measured[f"read_iops_depth_{depth}"] for depth in (1, 4, 16, 64)]
    assert depths == sorted(depths)


def test_too_many_pauses_are_not_measured(tmp_path):
    """If only some of the pauses were removed from the curve, it would show an edge that does not exist."""
    target, text = drive(tmp_path, "970evoplus", 50, "^pause_bytes .*", "pause_bytes 2 MiB # assumed: often")
    (tmp_path / "970evoplus.profile").write_text(re.sub("^pause_ms .*", "pause_ms 3 ms # assumed: long", text, flags=re.MULTILINE))
    fast("calibrate", target, "--profile", tmp_path / "found", "--yes", "--skip", "full", "--skip", "heat")
    numbers, sources = check.values((tmp_path / "found").read_text())
    assert numbers["pause_bytes"] == numbers["pause_ms"] == numbers["fold_bytes"] == 0
    assert sources["pause_bytes"].startswith("assumed: ") and sources["pause_ms"].startswith("assumed: ")
    # 2 MiB at 1.72 GB/s, then 3 ms of pause.
    assert numbers["direct_rate"] == pytest.approx(2**21 / (2**21 / 1.72e9 + 3e-3), rel=0.05)


def test_a_queue_that_is_not_deep(tmp_path):
    target, _ = drive(tmp_path, "980pro", 100, "^queue_entries .*", "queue_entries 64 # report: a small controller")
    measured = answer("calibrate", target, "--profile", tmp_path / "found", "--yes", *QUICK)["measured"]
    assert "read_iops_depth_16" in measured and "write_iops_depth_16" in measured
    assert not {f"{op}_iops_depth_{depth}" for op in ("read", "write") for depth in (64, 128, 255)} & set(measured)
    said = fast("calibrate", target, "--profile", tmp_path / "again", "--yes", *QUICK).stdout
    assert re.findall(r"^ +(\d+) ", said, re.MULTILINE) == ["1", "4", "16"]


# ---- refusals ----


def test_nothing_is_written_without_a_yes(tmp_path):
    target, _ = drive(tmp_path, "980pro", 200)
    kept = tmp_path / "kept.img"
    spate("format", f"{target}:{kept}", "--yes")
    before = kept.stat().st_mtime_ns, digest_of_data(kept)
    done = spate("calibrate", f"{target}:{kept}", "--profile", tmp_path / "found", *QUICK, status=REFUSED, stdin=subprocess.DEVNULL)
    for says in ("Samsung SSD 980 PRO 2TB", "SPATE0001", "exfat", "about", "times the drive", "--yes"):
        assert says in done.stderr, says
    assert digest_of_data(kept) == before[1]
    assert not (tmp_path / "found").exists() and not (tmp_path / "found.state").exists()


def digest_of_data(path):
    """The beginning of a sparse file, which holds everything that format writes."""
    with open(path, "rb") as file:
        return file.read(64 << 20)


def test_a_target_that_is_not_a_drive_is_refused(tmp_path):
    image, other = tmp_path / "rec.img", tmp_path / "other.img"
    for path in (image, other):
        spate("format", path, "--size", "64MiB")
    before = digest(image)
    assert "page cache" in spate("calibrate", image, "--yes", status=REFUSED, cwd=tmp_path).stderr
    assert digest(image) == before
    small, _ = drive(tmp_path, "980pro", 1000)
    assert "too small" in spate("calibrate", small, "--yes", status=REFUSED, cwd=tmp_path).stderr
    pair = f"stripe:sim:ideal:{tmp_path}/a,sim:ideal:{tmp_path}/b"
    spate("format", pair, "--yes")
    assert "a profile describes one" in spate("calibrate", pair, "--yes", status=REFUSED, cwd=tmp_path).stderr
    assert not list(tmp_path.glob("*.state"))


@pytest.mark.parametrize("words", [("--skip", "everything"), (*QUICK, "--skip", "latency"), ("--skip", "cache"), ("--ambient", "hot"), ("--ambient", "900")])
def test_wrong_options(words):
    spate("calibrate", "sim:980pro", "--yes", *words, status=USAGE)


def test_an_existing_profile_is_kept(tmp_path):
    target, _ = drive(tmp_path, "980pro", 200)
    theirs = tmp_path / "theirs.profile"
    theirs.write_text("mine\n")
    said = spate("calibrate", target, "--profile", theirs, "--yes", *QUICK, status=REFUSED).stderr
    assert "nothing was written" in said and theirs.read_text() == "mine\n"


# ---- interruptions ----


def kill_after(steps, *words):
    """Kills the program with SIGKILL after `steps` steps are done. Returns their lines."""
    environment = os.environ | {"LC_ALL": "C"}
    with subprocess.Popen([str(FAST), *map(str, words)], stderr=subprocess.PIPE, text=True, env=environment) as process:
        said = []
        while len(said) < steps:
            line = process.stderr.readline()
            assert line, "it ended before it was killed"
            if re.search(r": step \w+ done$", line):
                said.append(line)
        process.send_signal(signal.SIGKILL)
        process.stderr.read()
    assert process.returncode == -signal.SIGKILL
    return said


def test_a_killed_calibration_is_resumed(tmp_path):
    target, _ = drive(tmp_path, "970evoplus", 50)
    words = ("calibrate", target, "--yes", "--skip", "heat", "--profile")
    fast(*words, tmp_path / "whole")
    found, state = tmp_path / "found", tmp_path / "found.state"
    for steps in (1, 2):
        # It prints the steps that were done before again, and then the new ones.
        kill_after(steps, *words, found)
        assert not found.exists() and state.read_text().count("done ") == steps
        (tmp_path / "found.state.new").write_text("half a line")  # as a kill while the next state is written leaves it
    done = fast(*words, found)
    assert f"{state} keeps the results" in done.stderr
    assert done.stderr.count("step latency done") == 1 and "step full done" in done.stderr
    assert_same((tmp_path / "whole").read_text(), found.read_text(), relative=0.02)


def test_a_calibration_that_is_done_writes_nothing_to_the_drive(tmp_path):
    """As after a kill between writing the profile and removing the state."""
    target, _ = drive(tmp_path, "980pro", 200)
    words = ("calibrate", target, "--profile", tmp_path / "found")
    fast(*words, "--yes", *QUICK)
    text = (tmp_path / "found").read_text()
    said = fast(*words, *QUICK, stdin=subprocess.DEVNULL).stderr  # without --yes
    assert "trims" not in said and f"wrote {tmp_path / 'found'}" in said
    assert (tmp_path / "found").read_text() == text


def test_a_step_that_was_skipped_can_be_added(tmp_path):
    target, _ = drive(tmp_path, "970evoplus", 50)
    words = ("calibrate", target, "--yes", "--skip", "heat", "--profile", tmp_path / "found")
    fast(*words, "--skip", "full")
    assert "full_rate" in (tmp_path / "found").read_text()
    assert check.values((tmp_path / "found").read_text())[1]["full_rate"].startswith("assumed: ")
    done = fast(*words)
    assert "writes about 28.0 GB" in done.stderr  # of this step alone
    assert check.values((tmp_path / "found").read_text())[1]["full_rate"].startswith("measured: ")


def test_another_drive_is_refused(tmp_path):
    target, _ = drive(tmp_path, "980pro", 200)
    found, state = tmp_path / "found", tmp_path / "found.state"
    fast("calibrate", target, "--profile", found, "--yes", *QUICK)
    before = found.read_text(), state.read_text()
    for name, scale in (("990pro", 200), ("980pro", 100)):  # another model, another size
        other, _ = drive(tmp_path, name, scale)
        said = fast("calibrate", other, "--profile", found, "--yes", *QUICK, status=REFUSED).stderr
        assert "another drive" in said and "nothing was written" in said
    assert (found.read_text(), state.read_text()) == before
    state.write_text(before[1].replace("SPATE0001", "SPATE0002"))
    target, _ = drive(tmp_path, "980pro", 200)
    assert "SPATE0002" in fast("calibrate", target, "--profile", found, "--yes", *QUICK, status=REFUSED).stderr


@pytest.mark.parametrize(("old", "new", "says"), [("spate calibrate", "something", "is not a state file of spate calibrate"),
                                                  ("command_ns ", "command_ns x", "is damaged at"),
                                                  ("done latency", "done nothing", "is damaged at")])
def test_a_damaged_state_is_refused(tmp_path, old, new, says):
    target, _ = drive(tmp_path, "980pro", 200)
    state = tmp_path / "found.state"
    fast("calibrate", target, "--profile", tmp_path / "found", "--yes", *QUICK)
    state.write_text(state.read_text().replace(old, new))
    assert says in fast("calibrate", target, "--profile", tmp_path / "found", "--yes", *QUICK, status=REFUSED).stderr


def test_the_name_of_the_profile(tmp_path):
    target, _ = drive(tmp_path, "980pro", 200)
    fast("calibrate", target, "--yes", *QUICK, cwd=tmp_path)
    assert (tmp_path / "samsung-ssd-980-pro-2tb.profile").exists()
