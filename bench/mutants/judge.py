# SPDX-License-Identifier: Apache-2.0
"""Runs one test program with limits, so that no mutant uses up the machine's time, memory or disk."""

import dataclasses
import math
import os
import pathlib
import signal
import time

import program

# Limits of one program. They count processor time, not clock time: a busy machine must not kill a mutant.
CPU_S_MIN, CPU_TIMES = 2, 4
STALLED_S = 60  # without any processor time: it waits forever
RESIDENT_BYTES = 2 << 30  # polled: tests reserve terabytes of address space for drives, but use little of it
FILE_BLOCKS = 8 << 20  # of 512 bytes: 4 GiB per file; images of drives are sparse
STARTS = 'ulimit -t "$1" && ulimit -f "$2" && ulimit -c 0 || exit 125; shift 2; exec "$@"'
FILE_BYTES = FILE_BLOCKS * 512
LOOK_S_MIN, LOOK_S_MAX = 0.002, 0.1
ENDED, STALLED, TOO_LARGE = "ended", "stalled", "too large"
KILLED = ("killed by SIGKILL, but not by one of its limits: if the machine is short of memory (`dmesg` says so), end other "
          "programs, and start again")


@dataclasses.dataclass(frozen=True)
class Ending:
    passed: bool
    timed_out: bool
    seconds: float  # of processor time
    said: str  # the end of its output


def cpu_limit_s(baseline_s: float) -> int:
    return math.ceil(max(CPU_S_MIN, CPU_TIMES * baseline_s))


def run(binary: pathlib.Path, words, environment: dict[str, str], folder: pathlib.Path, baseline_s: float) -> Ending:
    """Runs it in `folder`, which is also its TMPDIR. `baseline_s` is the processor time with the original library. program.Failed
    if something else killed it: then there is no result."""
    cpu_s = cpu_limit_s(baseline_s)
    output = folder / "output"
    words = ["sh", "-c", STARTS, "sh", cpu_s, FILE_BLOCKS, binary, *words]
    environment = environment | {"TMPDIR": str(folder)}
    with open(output, "wb") as out, program.process(words, stdout=out, stderr=out, cwd=folder, env=environment) as started:
        why = _wait(started.pid)
        os.killpg(started.pid, signal.SIGKILL)  # processes that it left behind, such as a virtual machine
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if program.is_ending():
        raise program.Stopped  # a signal to the command ended it
    seconds = used.ru_utime + used.ru_stime
    computed = started.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and seconds >= cpu_s - 1
    if started.returncode == -signal.SIGKILL and why == ENDED and not computed:
        raise program.Failed(words, KILLED, _end_of(output))
    return Ending(started.returncode == 0, computed or why == STALLED, seconds, _end_of(output))


def _wait(process: int) -> str:
    """Waits until it has ended, stalls, or uses too much memory."""
    pause_s, used_ticks, moved = LOOK_S_MIN, -1, time.monotonic()
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        state, now_ticks, resident_bytes = _look_at(process)
        if now_ticks != used_ticks or state == "R":  # a process that is ready to run waits only for the machine
            used_ticks, moved = now_ticks, time.monotonic()
        if time.monotonic() - moved > STALLED_S:
            return STALLED
        if resident_bytes > RESIDENT_BYTES:
            return TOO_LARGE
        time.sleep(pause_s)
        pause_s = min(LOOK_S_MAX, pause_s * 1.5)
    return ENDED


def _look_at(process: int) -> tuple[str, int, int]:
    """The process's state, its processor time, and its resident memory."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def _end_of(output: pathlib.Path) -> str:
    with open(output, "rb") as file:
        file.seek(max(0, output.stat().st_size - 4000))
        return file.read().decode(errors="replace")
