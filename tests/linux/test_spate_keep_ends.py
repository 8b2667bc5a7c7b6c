# SPDX-License-Identifier: Apache-2.0
"""spate record --keep from its plan to its end: where a span ends, what is said when there is no file of it, and wishes that cannot be met."""

import array
import contextlib
import fcntl
import json
import os
import re
import subprocess
import termios
import time

import pytest
import ring_programs

from flight_recorder import listens, until
from spate_command import DONE, FAILED, LOST, MIB, REFUSED, SPATE, USAGE, answer, spate
from spate_command import image  # noqa: F401 (a fixture)


def paths(image, folder=""):
    """The paths of all files and folders, but for lists."""
    entries = answer("ls", image, *([folder] if folder else []))["entries"]
    return {entry["path"] for entry in entries if not entry["path"].endswith(".list")}


def content(image, path, tmp_path):
    out = tmp_path / "content"
    out.unlink(missing_ok=True)
    spate("extract", image, path, out)
    return out.read_bytes()


class Recorder:
    """A recorder of what the test writes."""

    def __init__(self, process, log):
        self.process, self.log, self.result = process, log, None

    def write(self, data):
        """Returns when the recorder has read all of it."""
        self.process.stdin.buffer.write(data)
        self.process.stdin.buffer.flush()
        left = array.array("i", [1])
        while left[0] > 0:
            fcntl.ioctl(self.process.stdin.fileno(), termios.FIONREAD, left)
            time.sleep(0.01)

    def lines(self):
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def events(self, name):
        return [event for event in self.lines() if event.get("event") == name]

    def end(self, status):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        out = self.process.stdout.read()
        assert self.process.wait(timeout=60) == status, self.log.read_text()
        [self.result] = json.loads(out)["files"]
        return self.result


@contextlib.contextmanager
def recorder(image, tmp_path, *words, status=DONE):
    log = tmp_path / "log"
    with log.open("w") as error, ring_programs.started(
            SPATE, "record", image, "loop.raw", "--keep", "64MiB", "--split", "4MiB", "--output-format=json", "--progress", "json", *words,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error) as process:
        until(lambda: listens(image))
        recording = Recorder(process, log)
        yield recording
        if process.poll() is None or recording.result is None:
            recording.end(status)


SPAN = ("--before", "1min", "--after", "100ms")


@pytest.mark.parametrize("before, after", [(1000, 500), (5 * MIB + 1234, 3 * MIB + 1), (4096, 1)])
def test_a_span_ends_at_the_byte_that_has_come(image, tmp_path, before, after):
    first, second = os.urandom(before), os.urandom(after)
    with recorder(image, tmp_path, *SPAN) as recording:
        recording.write(first)
        path = spate("trigger", image).stdout.strip()
        until(lambda: recording.events("kept"))
        recording.write(second)
    assert recording.result["kept"] == 1 and recording.result["bytes"] == before + after
    assert content(image, path, tmp_path) == first
    parts = sorted(one for one in paths(image) if re.fullmatch(r"loop_\d{8}\.raw", one))
    assert b"".join(content(image, part, tmp_path) for part in parts) == second


@pytest.mark.thorough
def test_a_span_ends_at_the_byte_that_has_come_on_a_full_volume_too(image, tmp_path):
    spate("record", image, "film.raw", "--from", "synthetic", "--size", "440MiB")
    data, more = os.urandom(80 * MIB + 777), os.urandom(3 * MIB)
    with recorder(image, tmp_path, "--keep", "96MiB", "--before", "0s", "--after", "100ms") as recording:
        recording.write(data)
        # A span begins with what is not on the drive yet. On a busy machine that would be most of the data, and fill the volume.
        until(lambda: any(line.get("durable_bytes", 0) >= 80 * MIB for line in recording.lines()))
        spate("trigger", image)
        until(lambda: recording.events("kept"))
        recording.write(more)
    path = recording.events("kept")[0]["what"]
    assert recording.result["short_bytes"] > 0 and recording.result["kept"] == 1
    assert data.endswith(content(image, path, tmp_path))


def test_a_span_of_a_silent_source_waits_for_a_byte(image, tmp_path):
    with recorder(image, tmp_path, *SPAN) as recording:
        path = spate("trigger", image).stdout.strip()
        time.sleep(0.5)  # its time is over
        assert not recording.events("folder") and not recording.events("nothing")
        recording.write(b"now")
        until(lambda: recording.events("kept"))
    assert content(image, path, tmp_path) == b"now"


def test_triggers_around_the_end_of_a_span_lose_nothing(image, tmp_path):
    """The recorder has asked the source for its last bytes, and a second trigger comes."""
    data = b""
    with recorder(image, tmp_path, "--before", "1min", "--after", "300ms") as recording:
        for late in (0.28, 0.3, 0.32, 0.34, 0.36):
            data += (piece := os.urandom(1001))
            recording.write(piece)
            begun = time.monotonic()
            spate("trigger", image)
            while time.monotonic() < begun + late:
                time.sleep(0.001)
            spate("trigger", image)
            data += (piece := os.urandom(777))
            recording.write(piece)
            kept = len(recording.events("kept"))
            until(lambda: len(recording.events("kept")) > kept)
        data += b"last"  # for a span that has no byte yet
        time.sleep(0.5)
        recording.write(b"last")
    assert recording.result["bytes"] == len(data) and recording.result["lost_bytes"] == 0
    files = [event["what"] for event in recording.events("kept")]
    parts = sorted(one for one in paths(image) if re.fullmatch(r"loop_\d{8}\.raw", one))
    assert b"".join(content(image, path, tmp_path) for path in [*files, *parts]) == data


def test_a_file_of_a_protected_part_is_protected(image, tmp_path):
    with recorder(image, tmp_path, *SPAN) as recording:
        recording.write(os.urandom(9 * MIB))
        until(lambda: subprocess.run([SPATE, "protect", image, "loop_00000001.raw"], stderr=subprocess.DEVNULL).returncode == DONE)
        path = spate("trigger", image).stdout.strip()
        until(lambda: recording.events("kept"))
    assert "PROTECTED" in spate("rm", image, path, status=FAILED).stderr


@pytest.mark.parametrize("other", ["LOOP.raw", "/loop.raw", "//loop.RAW"])
def test_one_path_for_two_streams_is_refused(image, other):
    words = ("--keep", "64MiB", "--from", "synthetic", "--from", "synthetic")
    assert "is named twice" in spate("record", image, "loop.raw", other, *words, status=USAGE).stderr
    assert paths(image) == set()


def test_a_list_of_two_streams_is_refused(image):
    """exFAT knows more capitals than the command's comparison."""
    words = ("--keep", "64MiB", "--split", "4MiB", "--from", "synthetic", "--from", "synthetic", "--for", "1s")
    assert "IN_USE" in spate("record", image, "\u00e9.raw", "\u00c9.raw", *words, status=FAILED).stderr


def test_more_than_the_volume_for_all_streams_is_refused(image):
    words = ("--keep", "900MiB", "--from", "synthetic", "--from", "synthetic")
    assert "in all" in spate("record", image, "a.raw", "b.raw", *words, status=REFUSED).stderr


def test_a_trigger_without_any_data_keeps_nothing_and_fails(image, tmp_path):
    with recorder(image, tmp_path, *SPAN, status=FAILED) as recording:
        recording.write(b"a" * 1000)
        first = spate("trigger", image).stdout.strip()
        until(lambda: recording.events("kept"))
        second = spate("trigger", image).stdout.strip()
    assert recording.result["kept"] == 1 and recording.result["empty"] == 1
    assert [event["what"] for event in recording.events("nothing")] == [second]
    assert f"{second} was not made" in recording.log.read_text()
    assert paths(image) == {first}


def test_a_span_that_stays_a_folder_fails(image, tmp_path):
    with recorder(image, tmp_path, "--before", "1min", "--after", "1h") as recording:
        recording.write(b"a" * 5 * MIB)
        path = spate("trigger", image).stdout.strip()
        until(lambda: any(line.get("durable_bytes", 0) >= 4 * MIB for line in recording.lines()))  # a part
        recording.process.kill()
        recording.process.wait()
        recording.result = {}
    spate("record", image, f"{path}/stranger.raw", input="not of the loop")
    with recorder(image, tmp_path, status=FAILED) as recording:
        recording.write(b"b")
    assert recording.result["folders"] == 1 and recording.result["kept"] == 0
    [event] = recording.events("folder")
    assert event["what"] == path and event["error"] != "OK"
    assert f"{path} stays a folder" in recording.log.read_text()
    assert f"{path}/stranger.raw" in paths(image, path)


def filled(image, keep, *words, size="120MiB"):
    spate("record", image, "film.raw", "--from", "synthetic", "--size", "420MiB")
    return spate("record", image, "loop.raw", "--from", "synthetic", "--size", size, "--keep", keep, "--split", "4MiB",
                 "--output-format=json", "--progress", "json", *words)


def test_a_loop_that_is_shorter_is_told_at_the_start_and_in_the_result(image):
    said = filled(image, "96MiB")
    assert "it will keep less" in said.stderr
    [result] = json.loads(said.stdout)["files"]
    assert result["short_bytes"] > 0 and result["folders"] == 0 and result["loop_error"] == "OK"
    assert '"event": "short"' in said.stderr.replace('"event":"', '"event": "')


def test_a_loop_that_has_its_room_says_nothing_of_it(image):
    said = filled(image, "48MiB")
    assert "it will keep less" not in said.stderr
    assert json.loads(said.stdout)["files"][0]["short_bytes"] == 0
    again = spate("record", image, "loop.raw", "--from", "synthetic", "--size", "8MiB", "--keep", "48MiB", "--split", "4MiB")
    assert "it will keep less" not in again.stderr  # the room of its own parts is its own


def test_a_volume_that_kept_files_have_filled_ends_the_stream_and_says_so(image, tmp_path):
    spate("record", image, "film.raw", "--from", "synthetic", "--size", "420MiB")
    with recorder(image, tmp_path, "--before", "1min", "--after", "1h") as recording:
        recording.write(b"a" * MIB)
        spate("trigger", image)
        with contextlib.suppress(BrokenPipeError):
            for _ in range(200):
                recording.process.stdin.buffer.write(b"b" * MIB)
                recording.process.stdin.buffer.flush()
        recording.end(LOST)  # what was in the ring
    assert recording.result["error"] == "NO_SPACE" and recording.result["kept"] == 1
    assert "NO_SPACE. What is kept has filled the volume" in recording.log.read_text()


@pytest.mark.parametrize("words, says", [
    (["--keep", "nan%"], "is no size, time or share"),
    (["--keep", "0x32%"], "is no size, time or share"),
    (["--keep", " 5%"], "is no size, time or share"),
    (["--keep", "5.5.5%"], "is no size, time or share"),
    (["--keep", "10s", "--before", "1h"], "--before is longer than --keep"),
    (["--keep", "64MiB", "--event", "folder/"], "names a folder"),
    (["--keep", "64MiB", "--event", "e" * 190], "--event has at most"),
])
def test_a_wish_that_cannot_be_met_is_refused(image, words, says):
    assert says in spate("record", image, "loop.raw", *words, status=USAGE, input="").stderr
    assert paths(image) == set()


@pytest.mark.parametrize("path, says", [("cam/", "names a folder"), ("c" * 168, "a PATH has at most 167 bytes")])
def test_a_path_that_no_loop_can_have_is_refused(image, path, says):
    assert says in spate("record", image, path, "--keep", "64MiB", status=USAGE, input="").stderr
    assert paths(image) == set()


def test_the_longest_path_can_be_triggered(image, tmp_path):
    path = "c" * 163 + ".raw"
    with ring_programs.started(SPATE, "record", image, path, "--keep", "64MiB", stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE) as process:
        until(lambda: listens(image))
        assert spate("trigger", image).stdout.startswith("c" * 163)
        process.communicate("data", timeout=60)
        assert process.returncode == DONE


def test_a_time_to_keep_that_is_shorter_than_a_minute_needs_no_before(image):
    spate("record", image, "loop.raw", "--keep", "10s", input="data")


def test_the_file_that_is_in_the_way_is_named(image):
    spate("record", image, ".loop.raw.list", input="mine")
    said = spate("record", image, "loop.raw", "--keep", "64MiB", status=FAILED, input="").stderr
    assert ".loop.raw.list: EXISTS" in said and "Rename or remove it" in said
    spate("record", image, "file", input="mine")
    assert "file" in spate("record", image, "file/loop.raw", "--keep", "64MiB", status=FAILED, input="").stderr


def test_a_next_file_that_is_not_used_leaves_no_folder(image):
    spate("record", image, "day/%s/x.raw", "--from", "synthetic", "--rate", "4MB/s", "--split", "2s", "--for", "1500ms")
    folders = paths(image, "day") - {"day"}
    assert all(any(other.startswith(f"{one}/") for other in folders) or one.endswith(".raw") for one in folders), folders


def test_another_size_another_path_and_a_time_go_on_with_what_is_there(image):
    spate("record", image, "loop.raw", "--keep", "96MiB", "--split", "8MiB", "--from", "synthetic", "--size", "64MiB")
    spate("record", image, "loop.raw", "--keep", "40MiB", "--split", "4MiB", "--from", "synthetic", "--size", "8MiB")
    sizes = {entry["path"]: entry["bytes"] for entry in answer("ls", image)["entries"] if entry["path"].startswith("loop_")}
    assert sum(sizes.values()) <= 40 * MIB and set(sizes.values()) == {4 * MIB, 8 * MIB}
    spate("record", image, "loop.raw", "--keep", "1h", "--from", "synthetic", "--size", "20MiB")
    spate("record", image, "other.raw", "--keep", "64MiB", "--from", "synthetic", "--size", "8MiB")
    now = paths(image)
    assert set(sizes) <= now and "other_00000001.raw" in now
