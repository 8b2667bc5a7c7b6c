# SPDX-License-Identifier: Apache-2.0
"""spate record tells a service manager how it is doing (sd_notify). The tests play the manager."""

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import time
import uuid

import pytest

from ring_programs import started
from spate_command import DONE, REFUSED, SPATE, spate
from spate_command import image  # noqa: F401 (a fixture)

LIMIT_S = 30
FULL = "spate: NOTIFY_SOCKET: sendto: Resource temporarily unavailable. The recording continues\n"
DATA = b"recorded" * 1000


def address_of(name):
    return "\0" + name[1:] if name.startswith("@") else name


@contextlib.contextmanager
def manager(name):
    """The socket of a manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
        here.bind(address_of(name))
        here.settimeout(LIMIT_S)
        yield here


def message(here):
    return dict(line.split("=", 1) for line in here.recv(4096).decode().split("\n"))


def messages_until(here, variable):
    """The messages up to one with this variable, which is the last."""
    found = [message(here)]
    while variable not in found[-1]:
        found.append(message(here))
    return found


def fill(name, others):
    """Fills the queue of a manager. Each sender may have only so many bytes in it, so several are needed where it is long."""
    sent = 1
    while sent > 0:
        other = others.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        other.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                other.sendto(b"STATUS=of another", address_of(name))
                sent += 1


def recorder(image, name, *words, watchdog_s=0, process=None, source="-"):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NOTIFY_", "WATCHDOG_"))}
    environment["NOTIFY_SOCKET"] = str(name)
    if watchdog_s:
        environment["WATCHDOG_USEC"] = str(int(watchdog_s * 1e6))
    if process:
        environment["WATCHDOG_PID"] = str(process)
    return started(SPATE, "record", image, "clip", "--from", source, "--progress", "none", *words, env=environment,
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def complaint(recording):
    """The next line of a recorder's standard error."""
    assert select.select([recording.stderr], [], [], LIMIT_S)[0], "the recorder says nothing"
    return recording.stderr.readline()


def end(recording, data=DATA, status=DONE):
    """Gives a recorder its data, and returns what it wrote to standard error."""
    _, error = recording.communicate(data.decode(), timeout=LIMIT_S)
    assert recording.returncode == status, error
    return error


@pytest.fixture(params=["a path", "an abstract name"])
def name(request, tmp_path):
    return str(tmp_path / "notify") if request.param == "a path" else f"@spate-test-{uuid.uuid4().hex}"


def test_ready_before_the_first_byte_and_stopping_at_the_end(image, name):
    with manager(name) as here, recorder(image, name) as recording:
        assert message(here) == {"READY": "1"}  # nothing was written to the recorder's standard input yet
        assert "NOTIFY" not in end(recording)
        *between, last = messages_until(here, "STOPPING")
        assert last == {"STOPPING": "1", "STATUS": "closing the files"}
        assert all(words.keys() == {"STATUS"} for words in between)
    assert spate("extract", image, "clip", "-", text=False).stdout == DATA


def test_a_recording_that_is_refused_is_never_ready(image, name):
    spate("record", image, "clip", input=b"x", text=False)
    with manager(name) as here, recorder(image, name) as recording:
        end(recording, status=REFUSED)
        here.settimeout(0.1)
        with pytest.raises(TimeoutError):
            message(here)


def test_the_status_is_the_progress_once_a_second(image, name):
    """Also where --progress none asks for no line on standard error."""
    words = ("--rate", "20MB/s", "--for", "4.5s")
    with manager(name) as here, recorder(image, name, *words, source="synthetic") as recording:
        began = time.monotonic()
        found, times = [], []
        while not found or "STOPPING" not in found[-1]:
            found.append(message(here))
            times.append(time.monotonic())
        assert time.monotonic() - began > 4
        end(recording, b"")
    shown = [(words["STATUS"], when) for words, when in zip(found, times) if words.keys() == {"STATUS"}]
    assert 2 <= len(shown) <= 4
    for (text, when), (_, later) in zip(shown, shown[1:]):
        assert re.fullmatch(r"\d+ %  [\d.]+ MB  [\d.]+ MB/s .*ring \d+ %.*", text), text
        assert later - when > 0.9


def silent(here, seconds):
    """Fails if a message comes in this time. Returns the time that passed."""
    here.settimeout(seconds)
    with pytest.raises(TimeoutError):
        message(here)
    here.settimeout(LIMIT_S)


def test_the_watchdog_is_told_while_the_loop_turns(image, name):
    with manager(name) as here, recorder(image, name, watchdog_s=2) as recording:
        messages_until(here, "READY")
        here.settimeout(1.9)
        for _ in range(6):
            messages_until(here, "WATCHDOG")
        recording.send_signal(signal.SIGSTOP)  # now it hangs
        time.sleep(0.3)
        here.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:  # what came before it hung
                message(here)
        silent(here, 2)
        recording.send_signal(signal.SIGCONT)
        messages_until(here, "WATCHDOG")
        end(recording)


@pytest.mark.parametrize("process", ["none is named", "another one is named"])
def test_only_the_process_that_is_watched_tells_the_watchdog(image, name, process):
    pid = os.getpid() if process == "another one is named" else None
    with manager(name) as here, recorder(image, name, watchdog_s=0.4 if pid else 0, process=pid) as recording:
        messages_until(here, "READY")
        assert [words.keys() for words in messages_until(here, "STATUS")] == [{"STATUS"}]
        end(recording)
        assert not [words for words in messages_until(here, "STOPPING") if "WATCHDOG" in words]


def test_a_manager_that_reads_nothing_stops_nothing(image, name):
    """Its queue is full before READY=1. It is told as soon as it reads."""
    with manager(name) as here, contextlib.ExitStack() as others:
        fill(name, others)
        with recorder(image, name, watchdog_s=0.4) as recording:
            assert complaint(recording) == FULL
            time.sleep(1.5)
            assert recording.poll() is None
            assert messages_until(here, "READY")[-1].keys() == {"READY", "STATUS"}
            assert "NOTIFY_SOCKET" not in end(recording)  # one line is enough
    assert spate("extract", image, "clip", "-", text=False).stdout == DATA


def test_a_manager_that_is_started_again_is_told_again(image, tmp_path):
    """Its socket is a new one, of the same name. Meanwhile there is none."""
    name = str(tmp_path / "notify")
    with manager(name) as here, recorder(image, name, watchdog_s=0.4) as recording:
        messages_until(here, "READY")
        here.close()
        assert "Connection refused. The recording continues" in complaint(recording)
        os.unlink(name)
        with manager(name) as here:
            messages_until(here, "WATCHDOG")
            end(recording)
            messages_until(here, "STOPPING")
    assert spate("extract", image, "clip", "-", text=False).stdout == DATA


@pytest.mark.parametrize("value", ["/", "relative/path", "vsock:2:1234", "/nowhere/notify", "@" + "x" * 108, "/" + "x" * 200])
def test_an_address_that_leads_nowhere_stops_nothing(image, value):
    with recorder(image, value, watchdog_s=0.4) as recording:
        assert end(recording).count("The recording continues") == 1
    assert spate("extract", image, "clip", "-", text=False).stdout == DATA


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_happens_without_the_variable(image, value):
    environment = {"PATH": os.environ["PATH"]} | ({} if value is None else {"NOTIFY_SOCKET": value})
    assert b"NOTIFY" not in spate("record", image, "clip", input=DATA, text=False, env=environment).stderr
