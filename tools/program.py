# SPDX-License-Identifier: Apache-2.0
"""Runs other programs. When one fails, the report has its command, its exit code or signal, and the end of its output."""

import os
import pathlib
import shlex
import signal
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TAIL_LINES = 40

# As in the Makefile, for scripts that are started without it.
if (BUILD / "programs").is_dir():
    os.environ["PATH"] = str(BUILD / "programs")
os.environ |= {"XDG_CACHE_HOME": str(BUILD / "cache"), "MPLCONFIGDIR": str(BUILD / "cache" / "matplotlib")}


class Failed(Exception):
    """A program did not start, or did not end as it should have; str() is the report."""

    def __init__(self, words, ending: str, output: str | bytes | None):
        super().__init__(report(words, ending, output))
        self.ending = ending


def ending(status: int) -> str:
    """How a process with this status (subprocess's returncode) ended."""
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        return f"killed by {names.get(-status, f'signal {-status}')}"
    by_shell = {128 + number: number.name for number in signal.Signals}
    return f"exit {status}" + (f" (a program in it was killed by {by_shell[status]})" if status in by_shell else "")


def tail(output: str | bytes) -> str:
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    lines = text.rstrip().splitlines()
    before = [f"[{len(lines) - TAIL_LINES} lines before]"] if len(lines) > TAIL_LINES else []
    return "\n".join("    " + line for line in before + lines[-TAIL_LINES:]) or "    (no output)"


def report(words, ending: str, output: str | bytes | None) -> str:
    """What run() says of a program that failed, for one that was run in another way."""
    end = "" if output is None else f"; the end of its output:\n{tail(output)}"
    return f"{shlex.join(map(str, words))}\n{ending}{end}"


def run(*words, statuses: tuple[int, ...] = (0,), timeout_s: float | None = None, text: bool = True,
        **options) -> subprocess.CompletedProcess:
    """Runs a program to its end with its output captured, as text or as bytes. Failed if it cannot be started, takes
    longer than `timeout_s`, or ends with a status that is not one of `statuses`. `options` are those of subprocess.run."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, timeout=timeout_s, text=text, errors="backslashreplace" if text else None, check=False,
                              **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)
    except OSError as error:
        raise Failed(words, f"cannot be started: {error.strerror}", None) from error
    except subprocess.TimeoutExpired as error:
        raise Failed(words, f"stopped after {timeout_s} s", (error.stdout or b"") + (error.stderr or b"")) from error
    if done.returncode not in statuses:
        empty = "" if text else b""
        raise Failed(words, ending(done.returncode), (done.stdout or empty) + (done.stderr or empty))
    return done


def watch(words, see, *, timeout_s: float, **options) -> tuple[int, bool]:
    """Runs a program to its end. see() is called with its output, standard error in it, as it comes. Its status, and
    whether it was stopped because it took longer than `timeout_s`."""
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, **options)
    timer = threading.Timer(timeout_s, process.kill)
    timer.start()
    try:
        while piece := process.stdout.read1(4096):
            see(piece)
        return process.wait(), not timer.is_alive()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
