# SPDX-License-Identifier: Apache-2.0
"""Files of this machine: what is recorded from them, and what is extracted to them. On an image, without root."""

import errno
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from seccomp import filter_calls
from spate_command import DONE, FAILED, LOST, MIB, REFUSED, SPATE, USAGE, answer, digest, spate
from spate_command import image  # noqa: F401 (a fixture)

FLOCK = {"x86_64": 73, "aarch64": 32}[os.uname().machine]  # the number of the system call


def sparse(path, size, places):
    """A file with 5000 random bytes at each of the places, and holes between them."""
    with open(path, "wb") as file:
        file.truncate(size)
        for place in places:
            file.seek(place)
            file.write(random.Random(place).randbytes(5000))


@pytest.mark.parametrize("folder", ["here", "/dev/shm"])  # the file system of the tests, and one in memory
def test_a_file_with_holes_comes_back(image, tmp_path, folder):
    source = (tmp_path if folder == "here" else pathlib.Path(folder)) / f"spate-test-{os.getpid()}"
    sparse(source, 20 * MIB + 7, [0, 3 * MIB - 100, 9 * MIB, 20 * MIB - 4993])
    try:
        spate("record", image, "clip", "--from", source)
        assert answer("verify", image, "clip", "--against", source)["whole"]
        with open(source, "rb") as file:
            spate("record", image, "input", stdin=file)
            assert file.tell() == 0  # it was opened a second time
        assert answer("verify", image, "input", "--against", source)["whole"]
    finally:
        source.unlink()


def test_standard_input_is_read_from_where_it_is(image, tmp_path):
    source = tmp_path / "source"
    source.write_bytes(random.Random(1).randbytes(3 * MIB))
    for at in (4096, 1000):
        with open(source, "rb") as file:
            file.seek(at)
            spate("record", image, f"from {at}", stdin=file)
        assert spate("extract", image, f"from {at}", "-", text=False).stdout == source.read_bytes()[at:]


def test_what_has_no_size_is_read_to_its_end(image):
    spate("record", image, "version", "--from", "/proc/version")
    with open("/proc/version", "rb") as file:
        assert spate("extract", image, "version", "-", text=False).stdout == file.read()


def test_several_files_are_extracted_into_a_folder(image, tmp_path):
    data = {name: random.Random(name).randbytes(MIB + 77) for name in ("one", "two", "three")}
    for name, content in data.items():
        spate("record", image, f"a/{name}", input=content, text=False)
    out = tmp_path / "out"
    paths = [f"a/{name}" for name in data]
    assert "several PATHs need an existing FOLDER" in spate("extract", image, *paths, out, status=USAGE).stderr
    out.mkdir()
    spate("extract", image, *paths, out)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == data
    assert spate("extract", image, *paths, "-", text=False).stdout == b"".join(data.values())
    (out / "two").write_text("mine")
    (out / "one").unlink()
    spate("extract", image, "a/one", "a/typo", out, status=FAILED)
    assert not (out / "one").exists()  # all are looked for before one is written
    spate("extract", image, "a/two", out, status=REFUSED)
    assert (out / "two").read_text() == "mine"


def test_two_files_of_one_name_are_not_made_one(image, tmp_path):
    for path in ("a/run", "b/run"):
        spate("record", image, path, input=path)
    assert "the same name in the folder" in spate("extract", image, "a/run", "b/run", tmp_path, "--force", status=USAGE).stderr
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_replaced_keeps_its_permissions(image, tmp_path):
    spate("record", image, "clip", input="data")
    out = tmp_path / "out"
    out.write_text("private")
    out.chmod(0o640)
    spate("extract", image, "clip", out, "--force")
    assert out.read_text() == "data" and out.stat().st_mode & 0o7777 == 0o640


def test_the_longest_names_are_extracted(image, tmp_path):
    name = "n" * 200  # a clip's entry set fits in a block
    spate("record", image, name, input="data")
    spate("extract", image, name, tmp_path)
    spate("extract", image, name, tmp_path / ("m" * 255))
    assert (tmp_path / name).read_text() == (tmp_path / ("m" * 255)).read_text() == "data"


def test_a_source_that_becomes_shorter_is_told(image, tmp_path):
    source, fifo = tmp_path / "source", tmp_path / "fifo"
    source.write_bytes(random.Random(3).randbytes(40 * MIB))
    os.mkfifo(fifo)
    with subprocess.Popen([SPATE, "record", image, "clip", "other", "--from", source, "--from", fifo, "--ring", "4MiB",
                           "--for", "20s"], stderr=subprocess.PIPE, text=True) as recording:
        until(lambda: answer("ls", image)["entries"], "nothing is recorded")
        os.truncate(source, MIB)
        with open(fifo, "wb") as file:
            file.write(b"x")
        _, error = recording.communicate(timeout=60)
    if recording.returncode != DONE:  # all of it may have been read before
        assert "made it shorter" in error and recording.returncode == FAILED


def test_an_image_without_a_name_is_not_called_removed():
    fd = os.memfd_create("image")
    os.ftruncate(fd, 64 * MIB)
    image = f"/proc/self/fd/{fd}"
    spate("format", image, "--yes", pass_fds=(fd,))
    spate("record", image, "clip", input="data", pass_fds=(fd,))
    os.close(fd)


def until(condition, what):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_extract_leaves_no_part_under_the_name(image, tmp_path, number, force):
    spate("record", image, "clip", "--from", "synthetic", "--size", "60MB")
    out = tmp_path / "out"
    out.mkdir()
    if force:
        (out / "clip").write_text("mine")
    process = subprocess.Popen([SPATE, "extract", image, "clip", out / "clip", *force], stderr=subprocess.PIPE)
    until(lambda: list(out.glob("spate-*.part")) or process.poll() is not None, "no file was begun")
    process.send_signal(number)
    process.communicate()
    if process.returncode != DONE:
        assert ((out / "clip").read_text() == "mine") if force else not (out / "clip").exists()
        assert bool(list(out.glob("*.part"))) == (number == signal.SIGKILL)


def test_extract_replaces_what_a_link_points_to(image, tmp_path):
    spate("record", image, "clip", input="data")
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    spate("extract", image, "clip", tmp_path / "link", "--force")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "data"


def test_several_files_are_verified(image):
    for name in ("one", "two"):
        spate("record", image, name, "--from", "synthetic", "--size", "3MiB")
    report = answer("verify", image, "one", "two")
    assert [(file["path"], file["whole"], file["error"]) for file in report["files"]] == [("one", True, "OK"), ("two", True, "OK")]
    report = answer("verify", image, "one", "none", "two", status=FAILED)
    assert [(file["path"], file["error"]) for file in report["files"]] == [("one", "OK"), ("none", "NOT_FOUND"), ("two", "OK")]
    content = image.read_bytes()
    with open(image, "r+b") as file:
        file.seek(content.index(b"SPATECHK") + 5000)
        file.write(b"changed")
    assert [file["whole"] for file in answer("verify", image, "two", "one", status=LOST)["files"]] == [True, False]
    assert "--against compares one file" in spate("verify", image, "one", "two", "--against", image, status=USAGE).stderr


@pytest.mark.parametrize("words", [["rm"], ["verify"], ["extract", "-"], ["ls"], ["replay"]], ids=lambda words: words[0])
def test_control_characters_are_not_echoed(image, words):
    command, *rest = words
    said = spate(command, image, "a\x1b[31mb", *rest, status=FAILED)
    assert "a?[31mb" in said.stderr and "\x1b" not in said.stderr


def test_a_path_is_listed(image):
    for path in ("a/b/one", "a/two", "three"):
        spate("record", image, path, input="data")

    def listed(*words):
        return [entry["path"] for entry in answer("ls", image, *words)["entries"]]

    assert listed() == listed("/") == ["a", "a/b", "a/b/one", "a/two", "three"]
    assert listed("a") == listed("/a/") == ["a/b", "a/b/one", "a/two"]
    assert listed("a/two") == ["a/two"]
    assert "typo: NOT_FOUND" in spate("ls", image, "typo", status=FAILED).stderr


@pytest.mark.parametrize("zone,offset", [("UTC", "+00:00"), ("Asia/Kolkata", "+05:30"), ("<-0330>3:30", "-03:30")])
def test_times_have_their_zone(image, zone, offset):
    spate("record", image, "clip", input="data", env={**os.environ, "TZ": zone})
    [entry] = answer("ls", image)["entries"]
    assert entry["modified"].endswith(offset) and entry["modified"][10] == "T"
    assert entry["modified"].replace("T", " ") in spate("ls", image).stdout


def test_an_image_that_cannot_be_locked_is_not_called_in_use(image):
    def without_locks():
        filter_calls([(0x20, 0, 0, 0), (0x15, 0, 1, FLOCK), (0x06, 0, 0, 0x00050000 | errno.ENOLCK), (0x06, 0, 0, 0x7FFF0000)])

    refused = spate("rm", image, "x", status=FAILED, preexec_fn=without_locks)
    assert "cannot be locked: No locks available" in refused.stderr


@pytest.mark.parametrize("what,sentence", [("removed", "saves it: cp /proc/"), ("truncated", "has truncated it")])
def test_an_image_that_another_program_takes_away(image, what, sentence):
    with subprocess.Popen([SPATE, "record", image, "clip", "--from", "synthetic", "--rate", "10MB/s", "--for", "20s",
                           "--output-format=json", "--progress", "none"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as recording:
        until(lambda: answer("ls", image)["entries"], "no file was made")
        if what == "removed":
            image.unlink()
        else:
            os.truncate(image, MIB)
        assert sentence in recording.stderr.readline()  # at once
        if what == "removed":
            recording.send_signal(signal.SIGINT)  # it continues
        out, error = recording.communicate(timeout=60)
    assert recording.returncode == LOST, error
    assert json.loads(out)["target"] == what


def test_what_a_file_still_has_is_not_lost(tmp_path):
    image, source = tmp_path / "rec.img", tmp_path / "source"
    spate("format", image, "--size", "64MiB")
    source.write_bytes(bytes(100 * MIB))
    spate("record", image, "clip", "--from", source, status=FAILED)  # it does not fit
    with open(source, "r+b") as file:
        file.truncate(20 * MIB)
    done = answer("record", image, "clip", "--from", source)
    assert done["files"][0]["lost_bytes"] == 0


def test_the_digest_of_a_volume_does_not_change_by_reading(image, tmp_path):
    spate("record", image, "clip", input="data")
    before = digest(image)
    spate("extract", image, "clip", tmp_path)
    spate("verify", image, "clip")
    spate("ls", image, "clip")
    assert digest(image) == before
