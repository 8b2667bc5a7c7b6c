# SPDX-License-Identifier: Apache-2.0
"""Who reaches a running recorder of a loop, what it answers, and what becomes of each trigger."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import program
import pytest

from flight_recorder import LIMIT_S, address, ask, connected, kept, listens, said_by, until
from ring_programs import name, started  # noqa: F401 (name is a fixture)
from spate_command import DONE, FAILED, MIB, REFUSED, SPATE, answer, spate
from spate_command import image  # noqa: F401 (a fixture)
from udp_port import port  # noqa: F401 (a fixture)

NOBODY = 65534
HOLD = "import sys; sys.stdin.read()"


@contextlib.contextmanager
def recorder(image, *words, paths=("loop.raw",), target=None, partition="", status=DONE, user=None):
    """A recorder of a loop that has recorded something. Its lines on standard error are in `said` from the beginning."""
    sources = [word for _ in paths for word in ("--from", "synthetic")]
    said = {"lines": []}
    with started(SPATE, "record", target or image, *paths, *sources, "--rate", "16MB/s", "--keep", "96MiB",
                 "--split", "4MiB", "--output-format=json", "--progress", "json", "--before", "1s", "--after", "0s", *words,
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=user, group=user) as process:
        reader = threading.Thread(target=lambda: said["lines"].extend(process.stderr))  # line by line
        reader.start()
        recorded(process, said)
        assert process.poll() is None and (listens(image, partition) or "cannot reach" in "".join(said["lines"])), said
        yield process, said
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        reader.join()
        said["error"] = "".join(said["lines"])
        assert process.wait() == status, said["error"]
        said["files"] = json.loads(out)["files"]
        said["events"] = events(said)


def events(said):
    return [json.loads(line) for line in said["lines"] if line.startswith("{")]


def recorded(process, said):
    """Waits until the recorder has recorded more. It says so once a second."""
    before = len([event for event in events(said) if "event" not in event])
    until(lambda: process.poll() is not None or len([event for event in events(said) if "event" not in event]) > before)


def is_sent(image, words=("trigger",), user=None, status=DONE):
    """spate as this user, who finds the program and the image."""
    verb, *rest = words
    done = subprocess.run([str(SPATE), verb, str(image), *rest], user=user, group=user, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def shared(image):
    """The image in a folder that every user reaches; writable for all."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        path = shutil.move(image, pathlib.Path(folder, "rec.img"))
        os.chmod(path, 0o666)
        yield path


# ---- who reaches whom ----


@pytest.mark.parametrize("owner", [0, pytest.param(NOBODY, marks=pytest.mark.thorough)])
def test_root_triggers_and_protects_the_recorder_of_another_user(shared, owner):
    """Whether that user owns the target, or may only write to it, as the user of the service."""
    os.chown(shared, owner, owner)
    with recorder(shared, user=NOBODY) as (process, said):
        is_sent(shared, ("protect", "loop_00000001.raw"))
        path = is_sent(shared).strip()
        assert re.fullmatch(r"loop_\d{8}T\d{6}Z\.raw", path)
        refused = is_sent(shared, user=1, status=FAILED)
        assert f"refused: the recorder runs as {pwd.getpwuid(NOBODY).pw_name}" in refused
    assert kept(said) == [path]


STRANGER = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind("\\0" + sys.argv[1])
server.listen(8)
held = [open(path, "rb") for path in sys.argv[2:]]
print("ready", flush=True)
while True:
    client = server.accept()[0]
    client.recv(4096)
    try:
        client.send(b"+kept\\tloop.raw\\tlie.raw\\t\\t\\n")
    except OSError:
        pass
"""


@contextlib.contextmanager
def stranger(image, *held):
    with started(sys.executable, "-c", STRANGER, address(image)[1:], *held, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "ready\n"
        yield process


def test_root_does_not_believe_a_stranger_who_has_taken_the_name(shared):
    """Not even one who may read the target."""
    os.chmod(shared, 0o644)
    with stranger(shared, shared):
        said = is_sent(shared, status=FAILED)
        assert "refused" in said and pwd.getpwuid(NOBODY).pw_name in said and "lie.raw" not in said
        with recorder(shared) as (process, said):
            assert "refused" in is_sent(shared, ("protect", "loop_00000001.raw"), status=FAILED)
            process.send_signal(signal.SIGUSR1)
            recorded(process, said)
        assert "spate trigger cannot reach this recorder" in said["error"] and len(kept(said)) == 1


@pytest.mark.thorough
def test_a_stranger_does_not_keep_root_from_protecting_where_nobody_records(shared):
    spate("record", shared, "a.raw", input="a")
    with stranger(shared):
        spate("protect", shared, "a.raw")
    assert "PROTECTED" in spate("rm", shared, "a.raw", status=FAILED).stderr


STRANGER_ASKS = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
for request in (b"t", b"ploop_00000001.raw", b"uloop_00000001.raw"):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(20)
    client.connect("\\0" + sys.argv[1])
    try:
        client.send(request)
        print(client.recv(4096))
    except (BrokenPipeError, ConnectionResetError):
        print(b"")
"""


def test_nobody_else_triggers_or_protects(shared):
    """Neither with the command, nor with a program of his own that speaks to the socket."""
    with recorder(shared) as (process, said):
        for words in (("trigger",), ("protect", "loop_00000001.raw")):
            assert "refused: the recorder runs as root" in is_sent(shared, words, user=NOBODY, status=FAILED)
        asked = program.run(sys.executable, "-c", STRANGER_ASKS, address(shared)[1:]).stdout
        assert asked.splitlines() == [str(b"")] * 3
        recorded(process, said)
    assert kept(said) == []
    spate("rm", shared, "loop_00000001.raw")  # it is not protected


@pytest.mark.thorough
def test_silent_clients_do_not_stop_others(image):
    """The oldest of those who say nothing goes when there are too many, and each after a second."""
    with recorder(image) as (process, said), contextlib.ExitStack() as stack:
        silent = [stack.enter_context(connected(image)) for _ in range(9)]
        assert ask(stack.enter_context(connected(image)), b"t").startswith("+")
        assert said_by(silent[0]) == ""  # the oldest
        assert ask(silent[-1], b"ploop_99999999.raw").startswith("-NOT_FOUND")
        assert [said_by(client) for client in silent[1:-1]] == [""] * 7
    assert len(kept(said)) == 1


def test_a_slow_client_is_answered(image):
    """It has connected, and sends its request after another client was answered."""
    with recorder(image) as _, connected(image) as slow, connected(image) as other:
        assert ask(other, b"ploop_99999999.raw").startswith("-NOT_FOUND")
        assert ask(slow, b"ploop_99999999.raw").startswith("-NOT_FOUND")


@pytest.mark.thorough
def test_datagrams_without_end_do_not_stop_the_command(image, port):
    over = threading.Event()

    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not over.is_set():
                for _ in range(100):
                    sender.sendto(b"", ("127.0.0.1", port))

    with recorder(image, "--after", "1h", "--trigger", f"udp:{port}") as _, connected(image) as client:
        sender = threading.Thread(target=send)
        sender.start()
        try:
            assert ask(client, b"ploop_99999999.raw").startswith("-NOT_FOUND")
        finally:
            over.set()
            sender.join()


@pytest.mark.thorough
def test_all_datagrams_that_wait_are_one_trigger(image, port):
    with recorder(image, "--trigger", f"udp:{port}") as (process, said):
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(20):
                sender.sendto(b"", ("127.0.0.1", port))
        process.send_signal(signal.SIGCONT)
        recorded(process, said)
    assert len(kept(said)) == 1


@pytest.mark.thorough
def test_a_fifo_without_end_does_not_stop_the_recorder(image, tmp_path):
    fifo = tmp_path / "button"
    os.mkfifo(fifo)
    with recorder(image, "--after", "1h", "--trigger", fifo) as (process, said):
        with open(fifo, "w") as button, started("yes", stdout=button), connected(image) as client:
            assert ask(client, b"ploop_99999999.raw").startswith("-NOT_FOUND")
    assert said["files"][0]["lost_bytes"] == 0


# ---- signals ----


def catches(process, number):
    """Does the process handle this signal, so that it does not end it?"""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return bool(int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1)


def test_a_signal_before_the_loop_runs_is_a_trigger_when_it_runs(image, name):
    """The recorder waits for a ring that does not exist yet."""
    with started(SPATE, "record", image, "loop.raw", "--from", f"ring:{name}", "--keep", "96MiB", "--split", "4MiB", "--after", "0s",
                 "--output-format=json", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: catches(process, signal.SIGUSR1))
        process.send_signal(signal.SIGUSR1)
        program.run(SPATE.parent / "ring_producer", name, MIB, 4, 8)
        out, error = process.communicate(timeout=60)
    assert process.returncode == DONE, error
    assert json.loads(out)["files"][0]["kept"] == 1


@pytest.mark.thorough
def test_without_keep_a_signal_is_told_once_and_the_recording_continues(image):
    with started(SPATE, "record", image, "a.raw", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: catches(process, signal.SIGUSR1))
        process.send_signal(signal.SIGUSR1)
        assert "no trigger is possible without --keep" in process.stderr.readline()
        process.send_signal(signal.SIGUSR1)
        _, error = process.communicate("recorded", timeout=60)
    assert process.returncode == DONE and "SIGUSR1" not in error
    assert spate("extract", image, "a.raw", "-").stdout == "recorded"


@pytest.mark.thorough
def test_a_trigger_just_before_the_end_is_kept(image):
    with recorder(image) as (process, said):
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        process.send_signal(signal.SIGUSR1)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
    assert len(kept(said)) == 1


# ---- which recorder ----

TWO = """label: gpt
start=1MiB, size=256MiB, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7
start=257MiB, size=200MiB, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7
"""


@pytest.mark.thorough
def test_a_trigger_for_another_partition_of_the_image_goes_to_nobody(tmp_path):
    image = tmp_path / "two.img"
    with open(image, "wb") as file:
        file.truncate(512 * MIB)
    program.run("sfdisk", "--quiet", image, input=TWO)
    spate("format", f"{image}/p2", "--yes")
    with recorder(image, target=f"{image}/p2", partition="-p2") as (process, said):
        assert "nobody records to" in spate("trigger", f"{image}/p1", status=FAILED).stderr
        assert "nobody records to" in spate("trigger", image, status=FAILED).stderr
        path = spate("trigger", f"{image}/p2").stdout.strip()
    assert kept(said) == [path]


@pytest.mark.thorough
def test_every_path_to_the_target_reaches_its_recorder(image, tmp_path):
    link = tmp_path / "by-id"
    link.symlink_to(image)
    with recorder(image) as (process, said):
        path = spate("trigger", link).stdout.strip()
    assert kept(said) == [path]


@pytest.mark.thorough
def test_from_another_network_namespace_the_command_says_that_somebody_records(shared):
    """As from the host of a container."""
    with recorder(shared) as (process, said):
        alone = program.run("unshare", "--net", SPATE, "trigger", shared, statuses=(FAILED,)).stderr
        assert "nobody records to" in alone and "is written to by another spate" in alone and "SIGUSR1" in alone
        process.send_signal(signal.SIGUSR1)
        recorded(process, said)
    assert len(kept(said)) == 1


@pytest.mark.thorough
def test_a_fifo_that_the_recorder_may_not_use_is_told(shared):
    fifo = shared.parent / "button"
    os.mkfifo(fifo, 0o600)
    said = is_sent(shared, ("record", "loop.raw", "--from", "synthetic", "--keep", "96MiB", "--split", "4MiB", "--trigger", fifo),
                   user=NOBODY, status=FAILED)
    assert "Permission denied. The recorder reads and writes it" in said


@pytest.mark.thorough
def test_the_file_of_a_virtual_drive_names_it(tmp_path):
    image = tmp_path / "drive.img"
    drive = f"sim:ideal:{image}"
    spate("format", drive, "--yes")
    link = tmp_path / "link"
    link.symlink_to(image)
    with recorder(image, target=drive) as (_, said):
        path = spate("trigger", f"sim:ideal:{link}").stdout.strip()
    assert kept(said) == [path]


@pytest.mark.thorough
def test_the_first_member_names_a_stripe(tmp_path):
    members = [tmp_path / "a.img", tmp_path / "b.img"]
    for member in members:
        with open(member, "wb") as file:
            file.truncate(300 * MIB)
    stripe = ",".join(map(str, members))
    spate("format", f"stripe:{stripe}", "--yes")
    with recorder(members[0], target=f"stripe:{stripe}") as (_, said):
        path = spate("trigger", f"stripe:{tmp_path}/./a.img,{tmp_path}/./b.img").stdout.strip()
    assert kept(said) == [path]


@pytest.mark.thorough
def test_beside_a_recorder_without_keep_protect_says_who_has_the_volume(image):
    spate("record", image, "old.raw", input="old")
    with started(SPATE, "record", image, "a.raw", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: catches(process, signal.SIGINT))
        said = spate("protect", image, "old.raw", status=REFUSED).stderr
        assert "is in use by another spate" in said
        said = spate("trigger", image, status=FAILED).stderr
        assert "nobody records to" in said and "is written to by another spate" in said
        process.communicate("x", timeout=60)
    assert process.returncode == DONE


# ---- what is kept ----


def test_the_json_of_a_trigger_has_an_entry_for_each_stream(image):
    with recorder(image, "--after", "1h", "--event", "crash.raw", paths=("left.raw", "right.raw")) as (process, said):
        first = answer("trigger", image)["files"]
        assert first == [{"stream": f"{side}.raw", "path": f"crash_{i + 1}.raw", "state": "kept", "error": None}
                         for i, side in enumerate(("left", "right"))]
        again = answer("trigger", image)["files"]
        assert again == [file | {"state": "extended"} for file in first]
        assert spate("trigger", image).stdout.splitlines() == [f"{file['path']} becomes longer" for file in first]
    assert sorted(kept(said)) == ["crash_1.raw", "crash_2.raw"]


@pytest.mark.thorough
def test_names_do_not_run_out(image):
    """--event without a time, and twelve files of earlier runs."""
    for i in range(1, 13):
        spate("record", image, "crash.raw" if i == 1 else f"crash_{i}.raw", input="old")
    with recorder(image, "--event", "crash.raw") as (process, said):
        assert spate("trigger", image).stdout == "crash_13.raw\n"
        recorded(process, said)
        assert spate("trigger", image).stdout == "crash_14.raw\n"
    assert kept(said) == ["crash_13.raw", "crash_14.raw"]


@pytest.mark.thorough
def test_a_percent_sign_in_the_path_is_one(image):
    with recorder(image, paths=("50%%.raw",)) as (process, said):
        path = spate("trigger", image).stdout.strip()
        assert re.fullmatch(r"50%_\d{8}T\d{6}Z\.raw", path)
    assert kept(said) == [path]


@pytest.mark.thorough
def test_no_empty_folder_is_made_for_a_trigger_that_makes_a_file_longer(image):
    with recorder(image, "--after", "1h", "--event", "at_%s/crash.raw") as (process, said):
        path = spate("trigger", image).stdout.strip()
        recorded(process, said)  # the seconds continue
        assert spate("trigger", image).stdout.strip() == f"{path} becomes longer"
    folders = [file["path"] for file in answer("ls", image)["entries"] if file["kind"] != "file"]
    assert kept(said) == [path] and folders == [path.split("/")[0]]


@pytest.mark.thorough
def test_on_a_full_volume_the_oldest_part_makes_room_for_a_trigger(image):
    """At that moment, or a turn later: nothing is lost either way."""
    spate("record", image, "film.raw", "--from", "synthetic", "--size", "440MiB")
    with recorder(image, "--rate", "32MB/s") as (process, said):
        until(lambda: "deleted early" in "".join(said["lines"]))
        [file] = answer("trigger", image)["files"]
        assert file["state"] in ("kept", "waiting") and file["error"] is None
        recorded(process, said)
    assert len(kept(said)) == 1 and said["files"][0]["unkept"] == 0


@pytest.mark.thorough
def test_eight_streams_with_long_names_are_all_in_the_answer(image):
    """As long as a loop takes them."""
    paths = [f"{i}{'n' * 150}.raw" for i in range(8)]
    with recorder(image, "--rate", "4MB/s", "--keep", "300MiB", paths=paths) as (process, said):
        files = answer("trigger", image)["files"]
        assert [file["stream"] for file in files] == paths
        assert [file["path"][:151] for file in files] == [path[:151] for path in paths]
    assert sorted(kept(said)) == [file["path"] for file in files]


def test_a_trigger_that_nobody_waits_for_and_that_keeps_nothing_is_told(image):
    """The folder of its file is a file."""
    spate("record", image, "events", input="not a folder")
    with recorder(image, "--event", "events/crash.raw", status=FAILED) as (process, said):
        process.send_signal(signal.SIGUSR1)
        recorded(process, said)
        [file] = answer("trigger", image, status=FAILED)["files"]
        assert file == {"stream": "loop.raw", "path": None, "state": "failed", "error": "NOT_DIRECTORY"}
    assert "loop.raw: the trigger keeps nothing: NOT_DIRECTORY" in said["error"]
    [event] = [event for event in said["events"] if event.get("event") == "not_kept"]
    assert event["what"] == "loop.raw" and event["error"] == "NOT_DIRECTORY"
    assert said["files"][0]["unkept"] == 1
