# SPDX-License-Identifier: Apache-2.0
"""When a program fails, the error names the command, how it ended, and its last lines of output."""

import os
import signal
import subprocess
import time

import linux_guest
import program
import pytest

from conftest import ROOT

COUNT = "seq 1000; "


def failure(*words, **options) -> str:
    with pytest.raises(program.Failed) as caught:
        program.run(*words, **options)
    return str(caught.value)


@pytest.mark.parametrize("end,ending", [("exit 3", "exit 3;"), ("kill -SEGV $$", "killed by SIGSEGV;"),
                                        ("kill -40 $$", "killed by signal 40;"),
                                        ("exit 137", "exit 137 (a program in it was killed by SIGKILL);")])
def test_program_run(end, ending):
    said = failure("sh", "-c", COUNT + end)
    assert said.startswith(f"sh -c '{COUNT}{end}'\n{ending}")
    assert said.endswith("\n    999\n    1000") and "[960 earlier lines]" in said


def test_program_run_shows_errors_and_bytes():
    assert failure("sh", "-c", "echo out; echo error >&2; exit 1").endswith("    out\n    error")
    assert failure("sh", "-c", "echo out; exit 1", text=False).endswith("    out")
    assert failure("false").endswith("(no output)")
    assert failure("printf", r"\377x", statuses=(1,)).endswith("    \\xffx")


def test_program_run_accepts_no_other_status():
    assert program.run("sh", "-c", "exit 2", statuses=(0, 2)).returncode == 2
    assert "exit 1;" in failure("false", statuses=(0, 2))


def test_program_run_that_waits_for_ever():
    said = failure("sh", "-c", "echo begun; sleep 60", timeout_s=0.2)
    assert "stopped after 0.2 s of processor time, or 0.8 s in all; the end of its output:\n    begun" in said


def test_a_limit_is_one_of_processor_time():
    """A program that has to wait for others may take longer; one that computes without end may not."""
    program.run("sleep", "0.5", timeout_s=0.2)

    def used_s():
        times = os.times()
        return times.children_user + times.children_system

    before = used_s()
    failure("sh", "-c", "while :; do :; done", timeout_s=0.5)
    assert used_s() - before < 1.0


def test_a_program_that_has_said_all_is_not_awaited():
    begin = time.monotonic()
    said = bytearray()
    options = {"timeout_s": 30, "has_said_all": lambda: b"done" in said, "rest_s": 0.2}
    assert program.watch(["sh", "-c", "echo begun; echo done; sleep 60"], said.extend, **options) == (-signal.SIGKILL, False)
    assert time.monotonic() - begin < 20
    assert program.watch(["sh", "-c", "echo done; exit 3"], said.extend, **options) == (3, False)


def test_an_emulator_that_crashes_after_its_guest_has_ended_is_reported():
    script = "echo guest: begin; echo guest: exit 0; "
    assert "guest: exit 0" in linux_guest.converse(["sh", "-c", script], 30, None)
    with pytest.raises(program.Failed, match="SIGABRT"):
        linux_guest.converse(["sh", "-c", script + "kill -ABRT $$"], 30, None)


def test_program_run_of_a_missing_program():
    assert "no-such-program\ncannot be started: No such file or directory" in failure("no-such-program")


@pytest.mark.parametrize("end,status,ending", [("exit 3", 3, "exit 3;"), ("kill -BUS $$", 135, "killed by SIGBUS;")])
def test_run(tmp_path, end, status, ending):
    done = subprocess.run([ROOT / "tools/run", tmp_path / "log", "sh", "-c", COUNT + end], text=True,
                          capture_output=True)
    assert done.returncode == status and done.stdout == ""
    assert f"sh -c {COUNT}{end}\n{ending}" in done.stderr and "\n    1000\n" in done.stderr and "\n    900\n" not in done.stderr
    assert program.run(ROOT / "tools/run", tmp_path / "log", "echo", "fine").stderr == ""


def test_run_writes_what_a_test_costs(tmp_path):
    times = tmp_path / "times"
    program.run(ROOT / "tools/run", "-", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done",
                env=os.environ | {"SPATE_TEST_TIMES": str(times)})
    cpu_s, seconds, name = times.read_text().split()
    assert 0 < float(cpu_s) <= float(seconds) + 0.1 and name == "sh"
    assert list(tmp_path.iterdir()) == [times]


def test_run_that_shows_the_output():
    done = subprocess.run([ROOT / "tools/run", "-", "sh", "-c", "echo said; exit 3"], text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (3, "said\n")
    assert done.stderr == "sh -c echo said; exit 3\nexit 3; its output is above\n"
