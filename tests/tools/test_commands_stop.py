# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends every command at once, and leaves no process, no temporary file and no traceback. qemu/test_emulators_stop.py tests
the commands that start QEMU."""

import os
import pathlib
import re
import signal
import time
import uuid

import pytest

from stopped_command import LIMIT_S, ROOT, begin, end_marked, stop

pytestmark = pytest.mark.thorough

# A child process that ignores SIGINT and SIGTERM, and a grandchild that would outlive it.
STUBBORN = """
import contextlib, pathlib, sys, tempfile
import program
with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as more:
    pathlib.Path(folder, "left").write_text("x")
    program.run("sh", "-c", "trap '' INT TERM; sleep 600 & echo begun >&2; wait; wait; sleep 600", stderr=sys.stdout)
"""

# Eight programs, two at a time: after the signal, the waiting ones must not be started.
POOL = """
import concurrent.futures, sys
import program
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    made = [pool.submit(program.run, "sh", "-c", "echo begun >&2; sleep 600", stderr=sys.stdout) for _ in range(8)]
    for one in concurrent.futures.as_completed(made):
        one.result()
"""

# The kernel gives the signal to another thread. The main thread, which must handle it, waits for a lock.
OTHER_THREAD = """
import concurrent.futures, signal, threading, time
import program
def interrupt():
    time.sleep(0.5)  # until the main thread waits
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    program.run("sleep", "600")
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    pool.submit(interrupt).result()
"""

COMMANDS = {
    "lab": ["bench/lab.py", "--quick"],
    "fuzz": ["tools/fuzz.py", "600"],
    "mutants": ["bench/mutants.py", "--seed", str(os.getpid())],  # a new sample each time: known results would start no program
    "crash-soak": ["tools/crash_soak.py", "200000", "1"],
    "stubborn": ["-c", STUBBORN],
    "pool": ["-c", POOL],
}
CHILDREN = {
    "mutants": 4,  # it starts another script that starts them
    "pool": 0,  # it gets the signal while it still starts threads
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_the_command_and_everything_that_it_started(name, number, tmp_path):
    stop(COMMANDS[name], number, tmp_path, after_a_line=name in ("stubborn", "pool"), after_children=CHILDREN.get(name, 2))


def test_it_ends_when_another_thread_gets_the_signal(tmp_path):
    mark = f"spate-mark-{uuid.uuid4().hex}"
    command = begin(["-c", OTHER_THREAD], mark, tmp_path)
    try:
        out, errors = command.communicate(timeout=LIMIT_S)
    finally:
        command.kill()
        command.wait()
        stayed = end_marked(mark)
    assert stayed == [] and command.returncode == -signal.SIGTERM and errors == "\nstopped\n", (stayed, out, errors)


def test_it_ends_at_any_time(tmp_path):
    """The signal comes twenty times, a little later each time: while modules are loaded, threads and programs started."""
    for step in range(20):
        mark = f"spate-mark-{uuid.uuid4().hex}"
        command = begin(["-c", "import program\nprint('begun')\n" + POOL], mark, tmp_path)
        try:
            command.stdout.readline()
            time.sleep(step * 0.004)
            os.killpg(command.pid, signal.SIGINT)
            _, errors = command.communicate(timeout=LIMIT_S)
        finally:
            command.kill()
            command.wait()
            stayed = end_marked(mark)
        assert stayed == []
        assert command.returncode == -signal.SIGINT and "Traceback" not in errors, errors


def test_tools_start_programs_in_one_place_only():
    """A program that is started in another way would not end with the command."""
    for path in [*ROOT.glob("tools/**/*.py"), *ROOT.glob("bench/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        if path.name != "program.py":
            assert not re.search(r"subprocess\.(run|Popen|call|check_\w+)\(|os\.(system|popen)\(", text), path


def test_each_command_of_make_knows_how_to_end():
    """The script that a recipe starts imports the module program, directly or through another module."""
    scripts = set(re.findall(r"PYTHON\) ([\w/]+\.py)", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert len(scripts) > 10
    known = {"program"}
    modules = {path.stem: path.read_text(encoding="utf-8") for folder in ("tools", "tools/rtl", "bench", "bench/lab", "bench/linux")
               for path in (ROOT / folder).glob("*.py")}
    for _ in modules:
        known |= {name for name, text in modules.items()
                  if any(re.search(rf"^(import|from) {one}\b|^from \w+ import .*\b{one}\b", text, re.M) for one in known)}
    assert {pathlib.Path(script).stem for script in scripts} <= known
