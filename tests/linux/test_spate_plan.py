# SPDX-License-Identifier: Apache-2.0
"""spate plan answers and refuses clearly; invalid profiles are refused with file and line."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT, run
from spate_command import SPATE

pytestmark = pytest.mark.thorough

PROFILES = ROOT / "sim" / "profiles"


def plan(*words, statuses=(0, 1, 2)):
    """The command's exit status and output."""
    return run(SPATE, "plan", *words, statuses=statuses)


def answer(*words, status=0):
    """The answer as JSON."""
    return json.loads(plan("--output-format=json", *words, statuses=(status,)).stdout)


# ---- streams ----


@pytest.mark.parametrize("rate", ["2GB/s", "2gb/s", "2000MB", "2e9", "2 GB/s"])
def test_rates_as_people_write_them(rate):
    assert answer("--profile", "970evoplus", "--rate", rate, "--bytes", "1GB")["rate_bytes_per_s"] == 2e9


def test_a_stream_that_fits():
    said = answer("--profile", "970evoplus", "--rate", "1.6GB/s", "--bytes", "200GB")
    assert said["sustained"] and not said["falls_behind"]
    assert said["profile"] == "970evoplus" and said["bytes"] == 200_000_000_000
    assert said["slc_edge_s"] == pytest.approx(42 / 1.6, rel=0.01)
    assert 1 << 20 < said["ring_needed_bytes"] < 64 << 20
    assert said["throttled_s"] == 0 and 40 < said["temperature_max_c"] < 80


def test_a_stream_that_is_too_fast_for_good():
    said = answer("--profile", "970evoplus", "--rate", "2.5GB/s", "--ring", "2GiB", status=1)
    assert not said["sustained"] and said["falls_behind"]
    # 42 GB at full speed; then 2.5 GB/s arrive and 1.705 GB/s are written (1.72 less the pauses).
    assert said["sustained_s"] == pytest.approx(42 / 2.5 + 2 * 1.0737 / (2.5 - 1.705), rel=0.02)
    assert said["ring_reason"] == "the SLC cache has run out"


@pytest.mark.parametrize("profile", ["exascend", "960pro"])
def test_a_drive_without_a_cache_is_not_said_to_have_one(profile):
    said = answer("--profile", profile, "--rate", "3GB/s", "--bytes", "100GB", status=1)
    assert said["ring_reason"] == "the drive has no SLC cache, and its flash takes no more than this"
    assert "SLC cache    runs out" not in plan("--profile", profile, "--rate", "3GB/s", "--bytes", "100GB").stdout


@pytest.mark.parametrize("words", [["--ring", "1GiB"], ["--ring", "40GiB"], ["--ring", "1GiB", "--retain"], []])
def test_the_rate_that_fits_does_and_the_next_one_does_not(words):
    drive = ["--profile", "970evoplus", *words]
    said = answer(*drive, "--rate", "2.5GB/s", status=1)
    rate = int(said["rate_that_fits_bytes_per_s"])
    assert 1e9 < rate < 2.5e9 and rate % 10_000_000 == 0
    assert answer(*drive, "--rate", str(rate))["sustained"]
    assert not answer(*drive, "--rate", str(rate + 10_000_000), status=1)["sustained"]
    assert f"{rate / 1e9:.2f} GB/s is the most that" in plan(*drive, "--rate", "2.5GB/s").stdout


def test_a_ring_that_holds_nothing():
    said = plan("--profile", "970evoplus", "--rate", "1GB/s", "--ring", "4KiB")
    assert said.returncode == 1 and "what fits    nothing" in said.stdout


def test_a_full_drive_is_written_over():
    said = answer("--profile", "980pro", "--rate", "1.9GB/s", "--filled", "1")
    assert said["sustained"] and said["slc_edge_s"] is None
    said = answer("--profile", "980pro", "--rate", "2.2GB/s", "--filled", "1", status=1)
    assert said["falls_behind"] and said["ring_reason"] == "the drive is full and collects garbage"


def test_a_recording_that_goes_round():
    said = answer("--profile", "980pro", "--rate", "500MB/s", "--keep", "30min")
    full = answer("--profile", "980pro", "--rate", "500MB/s", "--filled", "1")
    assert said["keep_bytes"] == 900_000_000_000 and said["bytes_per_day"] == 43.2e12
    assert said["drive_writes_per_day"] == pytest.approx(43.2e12 / 2000398934016, rel=1e-4)
    assert said["ring_needed_bytes"] == full["ring_needed_bytes"] and said["filled"] == 1
    assert said["stall_s"] == pytest.approx(said["ring_needed_bytes"] / 500e6, rel=1e-4)
    by_size = answer("--profile", "980pro", "--rate", "500MB/s", "--keep", "900GB")
    assert by_size["keep_s"] == 1800
    by_share = answer("--profile", "980pro", "--rate", "500MB/s", "--keep", "90%")
    assert by_share["keep_bytes"] == int(2000398934016 * 0.9)
    words = plan("--profile", "980pro", "--rate", "500MB/s", "--keep", "900GB").stdout
    assert "the last 30 min 0 s in 900 GB" in words and "43.2 TB a day: the whole drive 21.6 times a day" in words


def test_the_bridge_may_be_the_limit():
    done = plan("--profile", "970evoplus", "--rate", "2.6GB/s", "--fetch", "2.5GB/s")
    assert done.returncode == 2 and "2.50 GB/s to the drive" in done.stderr


def test_retaining_needs_more_ring():
    words = ("--profile", "exascend", "--rate", "1GB/s", "--bytes", "50GB")
    plain, retained = answer(*words), answer(*words, "--retain")
    more = retained["ring_needed_bytes"] - plain["ring_needed_bytes"]
    assert 0.5e9 < more < 0.6e9  # 500 ms and a flush


def test_it_says_it_in_words_too():
    done = plan("--profile", "980pro", "--rate", "2.5GB/s", "--generation", "3", "--ring", "1GiB")
    assert done.returncode == 1
    for part in ("Samsung SSD 980 PRO 2TB", "Gen3 x4", "sustained    NO", "overruns after", "queue depth", "SLC cache"):
        assert part in done.stdout
    listed = plan("--list")
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == sorted(p.stem for p in PROFILES.glob("*.profile"))
    helped = plan("--help")
    assert helped.returncode == 0 and "Why a ring?" in helped.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "which drive?"),
        (["--profile", "980pro"], "how fast is the stream?"),
        (["--profile", "860evo", "--rate", "1GB/s"], "970evoplus"),
        (["--profile", "980pro", "--rate", "fast"], "is not a rate"),
        (["--profile", "980pro", "--rate", "2"], "is not between 1 MB/s and"),
        (["--profile", "980pro", "--rate", "2GB/h"], "is not a rate"),
        (["--profile", "980pro", "--rate", "-2GB/s"], "is not a rate"),
        (["--profile", "980pro", "--rate", "nanGB/s"], "is not a rate"),
        (["--profile", "980pro", "--rate", "1GB/s", "--ring", "much"], "is not a size"),
        (["--profile", "980pro", "--rate", "4GB/s", "--generation", "3"], "do not go over this link"),
        (["--profile", "980pro", "--rate", "1GB/s", "--bytes", "3TB"], "do not fit"),
        (["--profile", "980pro", "--rate", "1GB/s", "--filled", "1.1"], "is not between"),
        (["--profile", "980pro", "--rate", "1GB/s", "--payload", "200"], "128, 256 or 512"),
        (["--profile", "980pro", "--rate", "1GB/s", "--lanes", "3"], "1, 2, 4, 8 or 16"),
        (["--profile", "980pro", "--rate", "1GB/s", "--checkpoint-ms", "0.5"], "not a whole number"),
        (["--profile", "980pro", "--rate", "1GB/s", "--piece", "1B"], "is not between"),
        (["--profile", "980pro", "--rate", "1GB/s", "more"], "is not an option"),
        (["--profile", "980pro", "--rate", "1GB/s", "--keep", "2h"], "--keep 2h is 7200 GB at this rate, and the drive has 2000 GB"),
        (["--profile", "980pro", "--rate", "1GB/s", "--keep", "10"], "is no size, time or share; examples are 500GB, 2h and 90%"),
        (["--profile", "980pro", "--rate", "1GB/s", "--keep", "0s"], "keep at least a second"),
        (["--profile", "980pro", "--rate", "1GB/s", "--keep", "nan%"], "is no size, time or share"),
        (["--profile", "980pro", "--rate", "1GB/s", "--keep", "100%"], "not between 1% and 99%"),
        (["--profile", "980pro", "--rate", "1GB/s", "--keep", "30min", "--filled", "0.5"], "Leave one of them out"),
        (["--profile", "980pro", "--rate", "1GB/s", "--filled", "1", "--keep", "90%"], "Leave one of them out"),
        (["--colour"], " --help."),
    ],
)
def test_a_wrong_question_is_refused(words, says):
    done = plan(*words)
    assert done.returncode == 2 and says in done.stderr and done.stdout == ""


# ---- profiles ----


def plan_changed(tmp_path, old, new, name="drive.profile"):
    """Plan with the ideal drive, one line changed."""
    text = (PROFILES / "ideal.profile").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / name
    path.write_text(text.replace(old, new), encoding="utf-8")
    return plan("--profile", str(path), "--rate", "1GB/s", "--output-format=json")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("lanes             4  ", "lains             4  ", ":5: unknown key 'lains'"),
        ("lanes             4  ", "lanes\n# ", ":5: not KEY VALUE"),
        ("lanes             4          # assumed: an M.2 drive\n", "", "missing: lanes"),
        ("lanes             4  ", "generation        4  ", ":5: 'generation' appears twice"),
        ("lanes             4          # assumed: an M.2 drive", "lanes 4", ":5: 'lanes' has no source"),
        ("lanes             4          # assumed: an M.2 drive", "lanes 4 # guessed: yes", ":5: 'lanes' has no source"),
        ("lanes             4          # assumed: an M.2 drive", "lanes 4 # assumed:", ":5: 'lanes' has no source"),
        ("lanes             4  ", "lanes 3", "lanes is not 1, 2, 4, 8 or 16"),
        ("lanes             4  ", "lanes 99", ":5: lanes: 99 is not between"),
        ("lanes             4  ", "lanes four", ":5: lanes: 'four' is not a number"),
        ("buffer_bytes      1 GiB", "buffer_bytes 1", "unit missing"),
        ("buffer_bytes      1 GiB", "buffer_bytes 1 Gb", "bad unit 'Gb'"),
        ("buffer_bytes      1 GiB", "buffer_bytes 4096.5 B", "not a whole number"),
        ("write_latency_ns  10 us", "write_latency_ns 10 GB", "bad unit 'GB'"),
        ("volatile_cache    yes", "volatile_cache maybe", "must be yes or no"),
        ('model             "Spate ideal drive"', 'model "' + 41 * "x" + '"', "1 to 40 printable"),
        ("mdts_pages        512", "mdts_pages 500", "not a power of two"),
        ("fold_bytes        0 B", "fold_bytes 1 GB", "there is nothing to fold"),
        ("slc_full_bytes    0 B", "slc_full_bytes 1 GB", "slc_full_bytes <= slc_bytes"),
        ("throttle_c        85 C", "throttle_c 79 C", "recover_c < throttle_c"),
        ("pause_ms          0 ms", "pause_ms 5 ms", "must both be 0, or neither"),
    ],
)
def test_a_profile_out_of_order_is_refused(tmp_path, old, new, says):
    done = plan_changed(tmp_path, old, new)
    assert done.returncode == 2 and done.stdout == ""
    assert f"{tmp_path / 'drive.profile'}:" in done.stderr and says in done.stderr


def test_a_profile_is_taken_from_a_file(tmp_path):
    assert "is not between" in plan_changed(tmp_path, "buffer_bytes      1 GiB", "buffer_bytes 3.5 kB").stderr
    done = plan_changed(tmp_path, "buffer_bytes      1 GiB", "buffer_bytes 4.5 kB", name="My-drive.v2.profile")
    assert done.returncode == 0 and json.loads(done.stdout)["profile"] == "My-drive.v2"
    # The plan uses the values of the file.
    slow = plan_changed(tmp_path, "direct_rate       1 TB/s", "direct_rate 500 MB/s")
    assert slow.returncode == 1 and json.loads(slow.stdout)["falls_behind"]
    absent = plan("--profile", str(tmp_path / "absent.profile"), "--rate", "1GB/s")
    assert absent.returncode == 2 and "No such file" in absent.stderr
    assert "./my.profile" in plan("--profile", "absent", "--rate", "1GB/s").stderr


def test_what_is_no_text_is_no_profile(tmp_path):
    for content, says in ((bytes(100), ":1: this is not text"), (b"x" * 70000, "this is no profile"),
                          (b"#" * 600, ":1: the line has more than"), (b"", "missing: model")):
        path = tmp_path / "drive.profile"
        path.write_bytes(content)
        done = plan("--profile", str(path), "--rate", "1GB/s")
        assert done.returncode == 2 and says in done.stderr


def test_a_profile_that_is_compiled_in_has_a_name_for_the_command_line(tmp_path):
    wrong = tmp_path / "My-drive.profile"
    wrong.write_text("", encoding="utf-8")
    done = subprocess.run([sys.executable, PROFILES / "embed.py", tmp_path / "out.c", wrong], capture_output=True, text=True)
    assert done.returncode == 1 and "1 to 31 digits and small letters" in done.stderr
    assert not (tmp_path / "out.c").exists()


def test_the_figures_of_the_profiles_are_fitted():
    lines = [line for path in PROFILES.glob("*.profile") for line in path.read_text(encoding="utf-8").splitlines()]
    fitted = {line.split()[0] for line in lines if "# fitted:" in line}
    assert {"direct_rate", "full_rate", "fold_rate", "write_latency_ns"} <= fitted
