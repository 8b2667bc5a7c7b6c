# SPDX-License-Identifier: Apache-2.0
"""The command spate on an image file, without root. Tools from other projects check the results."""

import errno
import hashlib
import json
import os
import platform
import random
import signal
import subprocess
import time

import needs
import program
import pytest

from seccomp import IO_URING_SETUP, filter_calls
from spate_command import DONE, FAILED, LOST, MIB, REFUSED, SPATE, USAGE, answer, digest, judged, spate
from spate_command import image  # noqa: F401 (a fixture)

PWRITEV2 = {"x86_64": 328, "aarch64": 287}  # the number of the system call

# ---- first use ----


def test_format_record_list_verify_extract(image, tmp_path):
    recorded = answer("record", image, "run1.raw", "--from", "synthetic", "--size", "40MB")
    assert recorded["files"] == [{"path": "run1.raw", "bytes": 40_000_000, "lost_bytes": 0, "unknown_bytes": 0, "gaps": 0, "error": "OK",
                                  "seconds": recorded["files"][0]["seconds"]}]
    listed = answer("ls", image)["entries"]
    assert [(entry["path"], entry["bytes"], entry["kind"]) for entry in listed] == [("run1.raw", 40_000_000, "file")]
    assert "run1.raw" in spate("ls", image).stdout
    verified = answer("verify", image, "run1.raw")
    assert verified["whole"] and verified["chunks_good"] == -(-40_000_000 // MIB) and verified["chunks_wrong"] == 0
    spate("extract", image, "run1.raw", tmp_path / "out.raw")
    assert judged(image, tmp_path) == {"run1.raw": (40_000_000, digest(tmp_path / "out.raw"))}
    info = answer("info", image)["volume"]
    assert info["label"] == "FLIGHT" and not info["dirty"] and info["reservations"] == 0
    spate("rm", image, "run1.raw")
    assert answer("ls", image)["entries"] == [] and answer("info", image)["volume"]["free_bytes"] > info["free_bytes"]


@pytest.mark.parametrize("size", [1, 511, 512, 4096, MIB - 1, MIB, MIB + 1, 9 * MIB + 12345])
def test_a_pipe_comes_back_byte_for_byte(image, tmp_path, size):
    data = random.Random(size).randbytes(size)
    spate("record", image, "a/deep/path/clip.bin", input=data, text=False)
    assert spate("extract", image, "a/deep/path/clip.bin", "-", text=False).stdout == data
    assert judged(image, tmp_path) == {"a/deep/path/clip.bin": (size, hashlib.sha256(data).hexdigest())}


def test_no_data_make_no_file(image):
    assert "no file was made" in spate("record", image, "clip", input="", status=FAILED).stderr
    assert answer("ls", image)["entries"] == [] and not answer("info", image)["volume"]["dirty"]


@pytest.mark.parametrize("block", ["512", "4096"])
def test_blocks_of_both_sizes(tmp_path, block):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256MiB", "--block", block)
    assert answer("info", image)["block_bytes"] == int(block)
    spate("record", image, "clip", "--from", "synthetic", "--size", "5MB")
    assert answer("verify", image, "clip")["whole"]


def test_several_sources_make_several_files(image, tmp_path):
    data = {name: random.Random(name).randbytes(3 * MIB + 77) for name in ("left", "right")}
    for name, content in data.items():
        (tmp_path / name).write_bytes(content)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", f"cat '{tmp_path}/right' > '{fifo}'"]) as writer:
        spate("record", image, "left", "right", "sensor", "--from", tmp_path / "left", "--from", fifo, "--from", "synthetic",
              "--size", "5MiB")
        assert writer.wait(60) == 0
    for name, content in data.items():
        assert spate("extract", image, name, "-", text=False).stdout == content
    assert answer("verify", image, "sensor")["whole"]


def test_a_slow_pipe_is_on_the_drive_soon(image):
    """This source makes 40 KB/s, and would need 26 seconds to fill a slot of 1 MiB."""
    with subprocess.Popen([SPATE, "record", image, "log"], stdin=subprocess.PIPE) as recorder:
        for _ in range(30):
            recorder.stdin.write(b"x" * 4096)
            recorder.stdin.flush()
            time.sleep(0.1)
        sizes = [entry["bytes"] for entry in answer("ls", image)["entries"]]
        assert sizes[0] >= 10 * 4096
        recorder.stdin.close()
        assert recorder.wait(60) == DONE
    assert answer("ls", image)["entries"][0]["bytes"] == 30 * 4096


@pytest.mark.parametrize("block", ["512", "4096"])
def test_what_a_slow_source_sent_a_second_ago_survives_a_kill(tmp_path, block):
    """However little it is: less than a block."""
    image, sent = tmp_path / "rec.img", b""
    spate("format", image, "--size", "64MiB", "--block", block)
    with subprocess.Popen([SPATE, "record", image, "telemetry"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as recording:
        for i in range(15):
            line = f"{i:079}\n".encode()
            recording.stdin.write(line)
            recording.stdin.flush()
            sent += line
            time.sleep(0.2)
        time.sleep(1.8)  # a second, and what a busy machine takes
        recording.kill()
    [entry] = answer("ls", image)["entries"]  # nothing is recovered yet
    assert entry["bytes"] == len(sent)
    assert spate("extract", image, "telemetry", "-", text=False).stdout == sent
    spate("recover", image)
    if block == "512":
        assert judged(image, tmp_path) == {"telemetry": (len(sent), hashlib.sha256(sent).hexdigest())}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_file_properly(image, tmp_path, number):
    words = [SPATE, "record", image, "run", "--from", "synthetic", "--rate", "20MB/s", "--progress", "json"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as recorder:
        for line in recorder.stderr:  # one each second
            if line.startswith("{") and json.loads(line)["bytes"] > 8 * MIB:
                break
        recorder.send_signal(number)
        recorder.communicate(timeout=60)
        assert recorder.returncode == DONE
    assert not answer("info", image)["volume"]["dirty"]
    assert answer("verify", image, "run")["whole"]
    assert judged(image, tmp_path)["run"][0] > 4 * MIB


def test_two_fifos_whose_writer_opens_the_second_first(image, tmp_path):
    left, right = tmp_path / "left", tmp_path / "right"
    os.mkfifo(left)
    os.mkfifo(right)
    with subprocess.Popen(["sh", "-c", f"exec 3> '{right}' 4> '{left}'; echo right >&3; echo left >&4"]) as writer:
        spate("record", image, "l", "r", "--from", left, "--from", right)
        assert writer.wait(60) == 0
    assert [spate("extract", image, name, "-").stdout for name in ("l", "r")] == ["left\n", "right\n"]


def test_a_file_that_grows_is_recorded_as_it_was(image, tmp_path):
    growing = tmp_path / "growing"
    growing.write_bytes(b"a" * (40 * MIB))
    with subprocess.Popen(["sh", "-c", f"while true; do head -c 1M /dev/zero >> '{growing}'; done"]) as writer:
        spate("record", image, "file", "--from", growing)
        writer.kill()
    assert answer("ls", image)["entries"][0]["bytes"] >= 40 * MIB


def test_the_end_by_time_and_by_bytes(image):
    begin = time.monotonic()
    spate("record", image, "sensor", "--from", "synthetic", "--rate", "2MB/s", "--for", "1s", "--size", "8MB")
    with subprocess.Popen(["sleep", "30"], stdout=subprocess.PIPE) as silent:
        spate("record", image, "silent", "--for", "1s", stdin=silent.stdout, status=FAILED)
        silent.kill()
    assert time.monotonic() - begin < 10
    assert [(entry["path"], entry["bytes"]) for entry in answer("ls", image)["entries"]] == [("sensor", 2_000_000)]


def test_losses_of_a_sensor_that_is_too_fast_are_reported(image):
    """No drive accepts a terabyte per second, and a ring of 4 MiB does not help."""
    done = spate("record", image, "fast", "--from", "synthetic", "--rate", "1000GB/s", "--size", "400MB", "--ring", "4MiB",
                 "--output-format=json", status=LOST)
    report = json.loads(done.stdout)["files"][0]
    assert report["lost_bytes"] > 0 and report["lost_bytes"] + report["bytes"] == 400_000_000
    assert "LOST" in done.stderr
    assert answer("verify", image, "fast")["whole"]


def test_an_overrun_is_told_at_once_without_a_progress_bar(image):
    with subprocess.Popen([SPATE, "record", image, "fast", "--from", "synthetic", "--rate", "1000GB/s", "--ring", "4MiB",
                           "--progress", "none"], stderr=subprocess.PIPE, text=True) as recording:
        line = recording.stderr.readline()
        assert "spate: fast: LOST" in line and "the ring is full" in line and " at " in line
        recording.send_signal(signal.SIGINT)
        recording.communicate()
    assert recording.returncode == LOST


def forbid_io_uring():
    """Called in the child process: makes io_uring_setup fail with EPERM, as in many containers."""
    filter_calls([(0x20, 0, 0, 0), (0x15, 0, 1, IO_URING_SETUP), (0x06, 0, 0, 0x00050000 | errno.EPERM),
                  (0x06, 0, 0, 0x7FFF0000)])


def exhaust_io_uring():
    """Called in the child process: io_uring_setup fails as where memory is locked or the system has no more of it."""
    filter_calls([(0x20, 0, 0, 0), (0x15, 0, 1, IO_URING_SETUP), (0x06, 0, 0, 0x00050000 | errno.ENOMEM),
                  (0x06, 0, 0, 0x7FFF0000)])


def test_where_io_uring_does_not_start_recordings_go_on(image):
    said = spate("record", image, "clip", "--from", "synthetic", "--size", "5MB", preexec_fn=exhaust_io_uring).stderr
    assert said.count("io_uring does not start: Cannot allocate memory") == said.count("io_uring") == 1
    assert answer("verify", image, "clip")["whole"]


def test_without_io_uring(tmp_path):
    image, data = tmp_path / "rec.img", random.Random(9).randbytes(9 * MIB + 999)
    forbidden = {"preexec_fn": forbid_io_uring}
    spate("format", image, "--size", "256MiB", **forbidden)
    spate("record", image, "clip", input=data, text=False, **forbidden)
    said = spate("record", image, "run", "--from", "synthetic", "--size", "20MB", **forbidden).stderr
    assert said.count("io_uring is not allowed here") == 1
    assert spate("extract", image, "clip", "-", text=False, **forbidden).stdout == data
    assert answer("verify", image, "run", **forbidden)["whole"]
    spate("rm", image, "clip", **forbidden)
    assert set(judged(image, tmp_path)) == {"run"}


def refuse_writes():
    """Called in the child process: writes fail with ENOSPC, as on a file system that is full, and there is no io_uring."""
    filter_calls([(0x20, 0, 0, 0), (0x15, 2, 0, IO_URING_SETUP), (0x15, 2, 0, PWRITEV2[platform.machine()]),
                  (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | errno.EPERM), (0x06, 0, 0, 0x00050000 | errno.ENOSPC)])


@pytest.mark.skipif(platform.machine() not in PWRITEV2, reason="the system call's number is not known")
def test_a_full_file_system_is_called_so(image, tmp_path):
    full = {"preexec_fn": refuse_writes, "status": FAILED}
    other = tmp_path / "other.img"
    for name, said in ((other, spate("format", other, "--size", "256MiB", **full).stderr),
                       (image, spate("record", image, "clip", input="data", **full).stderr)):
        assert f"the file system of {name} is full" in said
        assert "NO_SPACE. The file system or the pool that holds the target is full: free some space there" in said
        assert "COMMAND" not in said and "delete files" not in said


# ---- mistakes destroy nothing ----


def test_reading_commands_write_nothing(image, tmp_path):
    """The volume is dirty and has a reservation to recover, because a recording was killed."""
    with subprocess.Popen([SPATE, "record", image, "cut", "--from", "synthetic", "--rate", "20MB/s"]) as recorder:
        time.sleep(1)
        recorder.kill()
    before = digest(image), image.stat().st_mtime_ns
    assert answer("info", image)["volume"]["reservations"] == 1
    spate("ls", image)
    spate("verify", image, "cut")
    spate("extract", image, "cut", tmp_path / "out")
    assert (digest(image), image.stat().st_mtime_ns) == before


def test_a_target_with_data_is_not_formatted(image):
    before = digest(image)
    assert "--erase" in spate("format", image, status=REFUSED).stderr
    assert "--yes" in spate("format", image, "--erase", status=REFUSED, stdin=subprocess.DEVNULL).stderr
    assert digest(image) == before
    spate("format", image, "--erase", "--yes")
    assert answer("ls", image)["entries"] == []


def test_existing_names_are_refused(image, tmp_path):
    spate("record", image, "clip", input="first", text=True)
    assert "spate rm" in spate("record", image, "clip", input="second", status=REFUSED).stderr
    assert spate("extract", image, "clip", "-").stdout == "first"
    (tmp_path / "out").write_text("mine")
    assert "--force" in spate("extract", image, "clip", tmp_path / "out", status=REFUSED).stderr
    assert (tmp_path / "out").read_text() == "mine"


def test_several_files_are_refused_before_any_is_made(image):
    spate("record", image, "taken", input="first")
    before = digest(image)
    three = ["--from", "synthetic"] * 3
    said = spate("record", image, "new/a", "b", "taken", *three, status=REFUSED).stderr
    assert "taken exists on the volume, and nothing was changed" in said
    assert digest(image) == before


def test_another_file_system_in_our_partition_is_refused(image):
    """The table was made by Spate, but its partition holds another file system."""
    program.run("mkfs.ext4", "-q", "-F", "-E", f"offset={MIB}", image, "60M")
    before = digest(image)
    assert "--erase" in spate("format", image, "--yes", status=REFUSED).stderr
    assert digest(image) == before


def test_extract_keeps_the_target_and_existing_files(image, tmp_path):
    spate("record", image, "clip", input="data")
    before, precious = digest(image), tmp_path / "precious"
    precious.write_text("mine")
    assert "is the target itself" in spate("extract", image, "clip", image, "--force", status=REFUSED).stderr
    assert "is not a file" in spate("extract", image, "clip", "/dev/null", "--force", status=REFUSED).stderr
    spate("extract", image, "typo", precious, "--force", status=FAILED)
    spate("extract", image, "typo", tmp_path / "new", status=FAILED)
    assert digest(image) == before and precious.read_text() == "mine" and not (tmp_path / "new").exists()
    spate("extract", image, "clip", precious, "--force")
    assert precious.read_text() == "data"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_files_become_no_target(image, closed):
    before = digest(image)
    with pytest.raises(program.Failed):
        program.run("sh", "-c", f"exec '{SPATE}' rm '{image}' nofile {closed}")
    assert digest(image) == before


def test_a_failed_format_leaves_no_image(tmp_path):
    for words in (["--label", "THISLABELISTOOLONG"], ["--cluster", "32MiB"]):
        spate("format", tmp_path / "new.img", "--size", "64MiB", *words, status=USAGE)
        assert not (tmp_path / "new.img").exists()


def test_an_image_is_not_recorded_onto_itself(image):
    before = digest(image)
    assert "onto itself" in spate("record", image, "copy", "--from", image, status=USAGE).stderr
    assert digest(image) == before


def test_two_recorders_on_one_image_are_refused(image):
    with subprocess.Popen([SPATE, "record", image, "first", "--from", "synthetic", "--rate", "10MB/s"]) as recorder:
        time.sleep(0.5)
        assert "in use" in spate("record", image, "second", "--from", "synthetic", "--size", "1MB", status=REFUSED).stderr
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(60) == DONE
    assert [entry["path"] for entry in answer("ls", image)["entries"]] == ["first"]


@needs.sysfs
def test_an_image_that_a_loop_device_has_is_refused(image):
    if not os.access("/dev/loop-control", os.R_OK | os.W_OK):
        pytest.skip("loop devices are for root: run make test-system as root, too")
    device = program.run("losetup", "--find", "--show", image).stdout.strip()
    try:
        assert device in spate("record", image, "x", input="x", status=REFUSED).stderr
    finally:
        program.run("losetup", "--detach", device)


WRONG = {
    "no command": ([], "Usage"),
    "an unknown command": (["frobnicate"], "unknown command"),
    "no target": (["info"], "takes one TARGET"),
    "an invalid size": (["format", "new.img", "--size", "8 apples"], "not a size"),
    "an image too small": (["format", "new.img", "--size", "1MB"], "not between"),
    "no size": (["format", "new.img"], "--size 8GiB makes"),
    "an unknown option": (["ls", "x", "--frob"], "See spate ls --help"),
    "an invalid rate": (["record", "x", "y", "--rate", "fast"], "is not a rate"),
    "standard input twice": (["record", "x", "y", "z", "--from", "-", "--from", "-"], "named twice"),
    "a file twice": (["record", "x", "y", "y", "--from", "synthetic", "--from", "synthetic"], "named twice"),
    "a rate that is too high": (["record", "x", "y", "--rate", "1e300"], "is not a rate"),
    "files without sources": (["record", "x", "y", "z", "--from", "-"], "2 files and 1 source:"),
    "a name that exFAT forbids": (["record", "x", "a:b"], "has a : in it"),
    "a control character": (["record", "x", "a\tb"], '"a?b" has a control character'),  # it is not echoed
    "a name that Windows refuses": (["record", "x", "runs/Con.raw"], "is a device on Windows"),
    "a port of Windows": (["record", "x", "lpt1"], "is a device on Windows"),
    "a dot at the end": (["record", "x", "a."], "ends with a dot"),
    "a way up": (["record", "x", "../y"], "begins at the root of the volume"),
    "an image below /dev": (["format", "/dev/nvme99n1", "--size", "1GiB"], "no image is made below /dev"),
    "the name of the program": (["ls", "x", "--frob"], "spate ls: unrecognized option '--frob'"),
    "bits or bytes": (["record", "x", "y", "--rate", "8GBps"], "is not a rate"),
}


@pytest.mark.parametrize("path", ["CONSOLE.raw", "com10", "a.con", "lpt0", "nul_", ".hidden", "a b", "ä/日本.raw"])
def test_names_that_every_system_opens_are_recorded(image, path):
    spate("record", image, path, input="data")
    assert path in [entry["path"] for entry in answer("ls", image)["entries"]]


def test_a_missing_device_is_not_an_image(tmp_path):
    assert "spate release gives a drive back" in spate("info", "/dev/nvme99n1", status=FAILED).stderr
    assert "--size 8GiB" in spate("info", tmp_path / "none.img", status=FAILED).stderr


def test_what_does_not_fit_is_told_in_numbers(image, tmp_path):
    said = spate("record", image, "big", "--from", "synthetic", "--size", "50GB", status=FAILED).stderr
    assert "big needs 50.0 GB in one piece; the volume has 50" in said
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    assert "may fill to" in spate("format", tmp_path / "big.img", "--size", str(2 * free + (1 << 30))).stderr


def test_a_recording_of_an_instant_has_no_rate(image):
    assert "/s" not in spate("record", image, "clip", input="data").stderr


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_progress_fits_the_terminal(image, columns):
    import pty, termios, fcntl, struct  # noqa: E401 (only here)

    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([SPATE, "record", image, "a/path/that/is/much/longer/than/the/terminal/ü/run.raw", "--from",
                           "synthetic", "--rate", "20MB/s", "--for", "1.2s"], stderr=there) as recording:
        os.close(there)
        said = b""
        try:
            while some := os.read(here, 4096):
                said += some
        except OSError:  # the other end is closed
            pass
        recording.wait(60)
    os.close(here)
    lines = [line.decode() for line in said.split(b"\r\x1b[K") if b" %" in line]
    assert lines and all(len(line) < columns for line in lines), lines


@pytest.mark.parametrize("words,sentence", WRONG.values(), ids=WRONG)
def test_wrong_usage_is_explained_and_touches_nothing(tmp_path, words, sentence):
    done = spate(*words, status=USAGE, cwd=tmp_path)
    assert sentence in done.stderr and done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_help():
    listed = spate("--help").stdout
    for command in ("format", "record", "ls", "info", "verify", "extract", "recover", "rm"):
        assert f"  {command} " in listed
        assert f"Usage: spate {command} " in spate(command, "--help").stdout


def test_verify_finds_the_first_difference(image, tmp_path):
    data = bytearray(random.Random(1).randbytes(3 * MIB))
    spate("record", image, "clip", input=bytes(data), text=False)
    same, other = tmp_path / "same", tmp_path / "other"
    same.write_bytes(data)
    data[2 * MIB + 5] ^= 1
    other.write_bytes(data)
    assert answer("verify", image, "clip", "--against", same)["whole"]
    assert answer("verify", image, "clip", "--against", other, status=LOST)["first_difference"] == 2 * MIB + 5


def test_verify_finds_a_changed_chunk(image):
    spate("record", image, "run", "--from", "synthetic", "--size", "8MiB")
    magic = b"SPATECHK"
    content = image.read_bytes()
    third = [at for at in range(0, len(content), MIB) if content[at : at + 8] == magic][2]
    with open(image, "r+b") as file:
        file.seek(third + 5000)
        byte = file.read(1)[0]
        file.seek(third + 5000)
        file.write(bytes([byte ^ 0x10]))
    report = answer("verify", image, "run", status=LOST)
    assert (report["chunks_good"], report["chunks_wrong"], report["chunks_strange"]) == (7, 1, 0)


def test_verify_tells_damaged_headers_from_missing_chunks(image):
    spate("record", image, "run", "--from", "synthetic", "--size", "8MiB")
    content = image.read_bytes()
    at = [at for at in range(0, len(content), MIB) if content[at : at + 8] == b"SPATECHK"]
    with open(image, "r+b") as file:
        file.seek(at[2] + 24)
        file.write(b"\xff")  # damages the header of number 2
        file.seek(at[4])
        file.write(content[at[5] : at[5] + 3 * MIB])  # numbers 5, 6, 7, followed by the old number 7
    report = answer("verify", image, "run", status=LOST)
    kinds = ("good", "wrong", "damaged_headers", "missing", "lost_by_source", "strange")
    assert [report[f"chunks_{kind}"] for kind in kinds] == [7, 0, 1, 1, 0, 1]
    said = spate("verify", image, "run", status=LOST).stdout
    assert "1 chunks have a damaged header" in said and "1 sequence numbers are missing" in said and "CRC is wrong" not in said


def test_verify_counts_a_chunk_that_is_cut_off(image, tmp_path):
    spate("record", image, "run", "--from", "synthetic", "--size", "4MiB")
    assert answer("verify", image, "run")["chunks_cut"] == 0
    chunks = spate("extract", image, "run", "-", text=False).stdout
    spate("record", image, "cut", input=chunks[: 3 * MIB + 4096], text=False)
    report = answer("verify", image, "cut", status=LOST)
    assert (report["whole"], report["chunks_good"], report["chunks_cut"]) == (False, 3, 1)
    assert "1 chunk is cut off" in spate("verify", image, "cut", status=LOST).stdout


def test_verify_reads_what_the_sensor_lost(tmp_path):
    """The sensor is too fast for any drive. The recorder and the recording count the same loss."""
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "256GiB")  # sparse; the recorder reserves as much as such a sensor makes
    report = answer("record", image, "run", "--from", "synthetic", "--rate", "200GB/s", "--for", "500ms", "--ring", "4MiB",
                  status=LOST)["files"][0]
    found = answer("verify", image, "run", status=LOST)
    # No header counts what was lost after the last recorded piece.
    assert 0 < found["chunks_lost_by_source"] * MIB <= report["lost_bytes"]
    assert report["bytes"] == found["bytes"] and found["chunks_wrong"] == 0
    assert found["chunks_good"] == -(-report["bytes"] // MIB)  # the last one may be short
    assert "by the source's own count" in spate("verify", image, "run", status=LOST).stdout


def test_a_volume_in_use_is_not_called_damaged(image):
    stripe = f"stripe:{image},{image}"
    with subprocess.Popen([SPATE, "record", image, "run", "--from", "synthetic", "--rate", "10MB/s", "--progress", "json"],
                          stderr=subprocess.PIPE) as recorder:
        try:
            recorder.stderr.readline()  # after one second of recording
            report = answer("info", image)
            assert report["in_use"] and report["in_use_because"] == "is written to by another spate"
            said = spate("info", image).stdout
            assert "currently in use" in said and "not closed properly" not in said and "interrupted" not in said
            said = spate("check", image).stdout
            assert "currently in use: it is written to by another spate" in said
            assert answer("check", image)["in_use"] and "currently in use" in spate("check", stripe).stdout
        finally:
            recorder.send_signal(signal.SIGINT)
    assert not answer("info", image)["in_use"] and "clean" in spate("info", image).stdout
    checked = answer("check", image)
    assert (checked["files"], checked["bad"], checked["in_use"]) == (1, 0, False)


# ---- reliability ----


def test_a_full_volume_ends_the_recording_and_keeps_what_fits(tmp_path):
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "32MiB")
    free = answer("info", image)["volume"]["free_bytes"]
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as source:
        done = spate("record", image, "all", stdin=source.stdout, status=LOST)
        source.kill()
    report = json.loads(spate("record", image, "none", "--from", "synthetic", "--rate", "9MB/s", "--size", "9MB",
                            "--output-format=json", status=FAILED).stdout or "{}")
    assert report == {}
    assert "ended before its source: NO_SPACE" in done.stderr and "LOST" in done.stderr
    assert judged(image, tmp_path)["all"][0] == free
    assert "NO_SPACE" in spate("record", image, "new/more", "--from", "synthetic", "--size", "64MB", status=FAILED).stderr
    state = answer("info", image)["volume"]
    assert state["reservations"] == 0 and not state["dirty"]


@pytest.mark.thorough
def test_killed_at_any_moment_the_volume_is_whole(tmp_path):
    """200 recordings, each killed at a random moment: published data are there, and salvage finds the rest."""
    image = tmp_path / "rec.img"
    spate("format", image, "--size", "512MiB")
    moments, salvaged, dirty = random.Random(13), 0, 0
    for run in range(200):
        name = f"run{run}"
        with subprocess.Popen([SPATE, "record", image, name, "--from", "synthetic", "--rate", "200MB/s", "--size", "100MB",
                               "--checkpoint", "20ms"], stderr=subprocess.DEVNULL) as recorder:
            time.sleep(moments.uniform(0.0, 0.25))
            recorder.kill()
        salvaged += answer("recover", image)["salvaged_bytes"]
        left = {entry["path"]: entry["bytes"] for entry in answer("ls", image)["entries"]}
        state = answer("info", image)["volume"]
        assert state["reservations"] == 0
        if name in left:
            assert left[name] == 0 or answer("verify", image, name)["whole"]
            if run % 20 == 0:
                judged(image, tmp_path)
            spate("rm", image, name)
        if state["dirty"]:
            # The kill came between the dirty flag and the reservation record, a limit that the README names.
            assert judged(image, tmp_path) == {}
            spate("format", image, "--erase", "--yes")
            dirty += 1
    print(f"{dirty} of 200 left the dirty flag without a reservation record; {salvaged >> 20} MiB salvaged")
    assert answer("ls", image)["entries"] == [] and salvaged > 0 and dirty < 10
    judged(image, tmp_path)
