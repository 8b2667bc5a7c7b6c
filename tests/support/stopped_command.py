# SPDX-License-Identifier: Apache-2.0
"""Stops a command with a signal, and looks for what it leaves: processes, temporary files, a traceback."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import uuid

import program

ROOT = program.ROOT
LIMIT_S = 120  # enough for a machine under load; the commands need a second
FOLDERS = [program.BUILD / name for name in ("demo", "rtl-demo", "lab", "lab/quick", "bench", "report", "report/quick")]


def entries() -> dict[pathlib.Path, set[str]]:
    """The folders in which commands work."""
    for folder in FOLDERS:
        folder.mkdir(parents=True, exist_ok=True)
    return {folder: set(os.listdir(folder)) for folder in FOLDERS}


def left_since(before: dict[pathlib.Path, set[str]]) -> set[str]:
    """The new entries, without the results that the lab keeps of completed runs."""
    new = {name for folder, names in entries().items() for name in names - before[folder]}
    return {name for name in new if not re.fullmatch(r"[\w-]+\.json", name)}


def left_for_good(before: dict[pathlib.Path, set[str]]) -> set[str]:
    """The new entries that stay. Another test's command may be at work in the same folders, and removes its own at its end."""
    deadline = time.monotonic() + LIMIT_S
    new = left_since(before)
    while new and time.monotonic() < deadline:
        time.sleep(0.1)
        new &= left_since(before)
    return new


def marked(mark: str) -> dict[int, str]:
    """{process: command line} of all processes with this word in their environment."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def end_marked(mark: str) -> list[str]:
    """Kills the marked processes that are still running after 5 s, and returns their command lines. A killed process may need a
    moment to end."""
    deadline = time.monotonic() + 5
    while (stayed := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in stayed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return list(stayed.values())


def wait_for_children(command, mark: str, least: int) -> None:
    deadline = time.monotonic() + LIMIT_S
    while len(marked(mark)) < least:
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < deadline, "the command starts no program"
        time.sleep(0.02)


def begin(words, mark, temporary):
    """Starts Python with these words, in a session of its own. `mark`: a word in the environment of all that it starts."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": "tools:bench", "SPATE_MARK": mark, "TMPDIR": str(temporary)}
    return subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)


def stop(words, number, folder, *, after_a_line=False, after_children=0) -> None:
    """Starts a command and stops it with this signal, after its first line or after it has started so many programs. `folder`
    is empty, and takes the command's temporary files."""
    mark = f"spate-mark-{uuid.uuid4().hex}"
    before = entries()
    command = begin(words, mark, folder)
    try:
        if after_a_line:
            assert command.stdout.readline() != "", command.communicate()
        wait_for_children(command, mark, after_children)
        # A terminal sends SIGINT to the whole process group; a service manager sends SIGTERM to one process.
        if number == signal.SIGINT:
            os.killpg(command.pid, number)
        else:
            os.kill(command.pid, number)
        out, errors = command.communicate(timeout=LIMIT_S)
    finally:
        command.kill()
        command.wait()
        stayed = end_marked(mark)
    assert stayed == []
    assert command.returncode == -number, (out, errors)
    assert "Traceback" not in out + errors, errors
    assert errors.rstrip().endswith("stopped"), errors
    assert list(folder.iterdir()) == []
    assert not left_for_good(before)
