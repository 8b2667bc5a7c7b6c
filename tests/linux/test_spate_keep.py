# SPDX-License-Identifier: Apache-2.0
"""spate record --keep goes round: it keeps the last parts, and a trigger keeps a span of the stream as one file."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest
import ring_programs

from flight_recorder import kept, listens, until
from spate_command import DONE, FAILED, MIB, REFUSED, SPATE, USAGE, answer, digest, judged, spate
from spate_command import image  # noqa: F401 (a fixture)
from udp_port import port  # noqa: F401 (a fixture)

RATE = 32_000_000


def files(image, folder=""):
    """{path: bytes} in the order of names, without the list."""
    listed = answer("ls", image, *([folder] if folder else []))["entries"]
    return {file["path"]: file["bytes"] for file in sorted(listed, key=lambda file: file["path"])
            if file["kind"] == "file" and not file["path"].endswith(".list")}


def parts(image, name="loop"):
    return {path: size for path, size in files(image).items() if re.fullmatch(rf"{name}_\d{{8}}\.raw", path)}


@contextlib.contextmanager
def recorder(image, *words, paths=("loop.raw",), seconds=60):
    """A recording that goes round, until the end of the block; what it said is in `said`."""
    sources = [word for _ in paths for word in ("--from", "synthetic")]
    said = {}
    with ring_programs.started(SPATE, "record", image, *paths, *sources, "--rate", f"{RATE}", "--keep", "96MiB", "--split", "4MiB",
                               "--for", f"{seconds}s", "--output-format=json", "--progress", "json", *words,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: listens(image))
        yield process, said
        if process.poll() is None and said.get("killed") is None:
            process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        said["error"] = error
        if said.get("killed") is None:
            assert process.returncode == DONE, error
            said["files"] = json.loads(out)["files"]
            said["events"] = [json.loads(line) for line in error.splitlines() if line.startswith("{")]


def is_gapless(image, *paths):
    return answer("verify", image, *paths, "--parts")["whole"]


def test_the_last_parts_are_kept_and_no_more(image, tmp_path):
    with recorder(image) as (_, said):
        time.sleep(5)
    now = parts(image)
    assert 80 * MIB <= sum(now.values()) <= 96 * MIB
    assert min(now) > "loop_00000010.raw"  # it has gone round
    assert is_gapless(image, *now)
    assert said["files"][0]["bytes"] > 130_000_000 and said["files"][0]["parts"] == len(now)
    judged(image, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("keep, least, most", [("2s", 1.8, 3.2), ("20%", 2.8, 3.6), ("0.1GiB", 2.9, 3.4)])
def test_a_time_a_share_of_the_volume_or_a_size_is_kept(image, keep, least, most):
    with recorder(image, "--keep", keep):
        time.sleep(5.5)
    seconds = sum(parts(image).values()) / RATE
    assert least <= seconds <= most


def triggered(image, said, before=1.5, after=1.0):
    """The one file that was kept: gapless, with at least these seconds."""
    [path] = kept(said)
    size = files(image)[path]
    assert size / RATE >= before + after - 0.2 and size / RATE <= before + after + 1.5
    assert is_gapless(image, path)
    return path


SPAN = ("--before", "1500ms", "--after", "1s")


def test_the_command_triggers_and_prints_the_path(image, tmp_path):
    with recorder(image, *SPAN) as (_, said):
        time.sleep(2.5)
        path = spate("trigger", image).stdout.strip()
        assert re.fullmatch(r"loop_\d{8}T\d{6}Z\.raw", path)
        time.sleep(4)  # the loop goes round
    assert triggered(image, said) == path
    out = tmp_path / "out.raw"
    spate("extract", image, path, out)
    assert judged(image, tmp_path)[path] == (out.stat().st_size, digest(out))  # as The Sleuth Kit reads it
    assert path not in parts(image)


@pytest.mark.thorough
def test_a_signal_triggers(image):
    with recorder(image, *SPAN, "--event", "crash.raw") as (process, said):
        time.sleep(2)
        process.send_signal(signal.SIGUSR1)
        time.sleep(2.5)
    assert triggered(image, said) == "crash.raw"


@pytest.mark.thorough
def test_a_line_in_a_fifo_triggers(image, tmp_path):
    fifo = tmp_path / "button"
    os.mkfifo(fifo)
    with recorder(image, *SPAN, "--trigger", fifo) as (_, said):
        time.sleep(2)
        fifo.write_text("now\n")
        time.sleep(2.5)
    triggered(image, said)


@pytest.mark.thorough
def test_a_datagram_triggers(image, port):
    with recorder(image, *SPAN, "--trigger", f"udp:{port}") as (_, said):
        time.sleep(2)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", ("127.0.0.1", port))
        time.sleep(2.5)
    triggered(image, said)


@pytest.mark.thorough
def test_only_the_loopback_interface_triggers_unless_told_otherwise(image, port):
    with recorder(image, "--trigger", f"udp:{port}") as _:
        time.sleep(1)
        sockets = [line.split()[1] for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]
        assert [one for one in sockets if one.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


@pytest.mark.thorough
def test_overlapping_triggers_make_one_longer_file(image):
    with recorder(image, *SPAN) as (_, said):
        time.sleep(2)
        first = spate("trigger", image).stdout.strip()
        time.sleep(0.5)
        assert "becomes longer" in spate("trigger", image).stdout
        time.sleep(3)
    assert triggered(image, said, after=1.5) == first


def test_two_streams_keep_the_same_span(image):
    with recorder(image, *SPAN, paths=("left.raw", "right.raw")) as (_, said):
        time.sleep(2)
        said["paths"] = spate("trigger", image).stdout.split()
        time.sleep(2.5)
    assert sorted(kept(said)) == sorted(said["paths"]) and len(said["paths"]) == 2
    sizes = [files(image)[path] for path in said["paths"]]
    assert abs(sizes[0] - sizes[1]) <= 4 * MIB and all(is_gapless(image, path) for path in said["paths"])


@pytest.mark.thorough
def test_a_span_that_is_open_at_the_end_becomes_a_file(image):
    with recorder(image, "--before", "1500ms", "--after", "1h") as (_, said):
        time.sleep(2)
        path = spate("trigger", image).stdout.strip()
        time.sleep(1)
    assert kept(said) == [path] and is_gapless(image, path)


def test_a_protected_part_stays(image):
    with recorder(image) as (_, said):
        time.sleep(1.5)
        spate("protect", image, "loop_00000002.raw")
        missing = spate("protect", image, "loop_99999999.raw", status=FAILED)
        assert "NOT_FOUND" in missing.stderr
        time.sleep(4)
    assert "loop_00000002.raw" in parts(image) and "loop_00000003.raw" not in parts(image)
    assert [event["what"] for event in said["events"] if event.get("event") == "left"] == ["loop_00000002.raw"]
    assert "PROTECTED" in spate("rm", image, "loop_00000002.raw", status=FAILED).stderr


@pytest.mark.thorough
def test_the_next_run_goes_on_with_the_loop(image):
    with recorder(image):
        time.sleep(2)
    first = parts(image)
    with recorder(image):
        time.sleep(5)
    assert not set(first) & set(parts(image)) and 80 * MIB <= sum(parts(image).values()) <= 96 * MIB


@pytest.mark.thorough
def test_files_of_others_are_not_touched(image, tmp_path):
    spate("record", image, "loop_00000007.raw", input="mine")
    with recorder(image):
        time.sleep(4)
    assert files(image)["loop_00000007.raw"] == 4


@pytest.mark.parametrize("wait_s", [0.0, *(pytest.param(wait_s, marks=pytest.mark.thorough) for wait_s in (0.15, 1.3))])
def test_a_kill_after_the_trigger_loses_nothing_of_the_span(image, wait_s):
    with recorder(image, *SPAN) as (process, said):
        time.sleep(2.5)
        path = spate("trigger", image).stdout.strip()
        time.sleep(wait_s)
        said["killed"] = True
        process.kill()
    with recorder(image):
        time.sleep(4)  # the loop goes round
    size = files(image)[path]
    assert size / RATE >= 1.5 and is_gapless(image, path)


@pytest.mark.thorough
def test_a_full_volume_makes_the_loop_shorter(image):
    spate("record", image, "film.raw", "--from", "synthetic", "--size", "420MiB")
    with recorder(image) as (_, said):
        time.sleep(5)
    assert "deleted early: the volume has no room" in said["error"]
    assert files(image)["film.raw"] == 420 * MIB and is_gapless(image, *parts(image))


def test_without_a_recorder_the_trigger_says_so(image):
    assert "nobody records to" in spate("trigger", image, status=FAILED).stderr


@pytest.mark.parametrize("words, status, says", [
    (["--keep", "10"], USAGE, "is no size, time or share; examples are 500GiB, 2h and 90%"),
    (["--keep", "100%"], USAGE, "not between 1% and 99%"),
    (["--keep", "64MiB", "--split", "10min"], USAGE, "with --keep, parts have a size"),
    (["--before", "1s"], USAGE, "add --keep"),
    (["%H%M%S.raw", "--from", "synthetic", "--from", "synthetic", "--keep", "64MiB"], USAGE, "Fields belong in --event"),
    (["--event", "x.raw"], USAGE, "add --keep"),
    (["--keep", "64MiB", "--before", "long"], USAGE, "is not a time"),
    (["--keep", "2TiB"], REFUSED, "in all"),
    (["--keep", "16MiB", "--split", "4MiB"], REFUSED, "fewer than 8 parts"),
    (["--keep", "64MiB", "--trigger", "/nowhere/fifo"], FAILED, "mkfifo makes a FIFO"),
    (["--keep", "64MiB", "--trigger", "/dev/null"], USAGE, "neither a FIFO nor udp:"),
])
def test_a_wrong_wish_is_told_and_nothing_is_made(image, words, status, says):
    assert says in spate("record", image, "loop.raw", *words, status=status, input="").stderr
    assert files(image) == {}
