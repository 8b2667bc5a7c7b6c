# SPDX-License-Identifier: Apache-2.0
"""
Runs other programs. When one fails, the report has its command, its exit code or signal, and the end of its output.

It also makes the command that imports it end cleanly. Each program has its own process group. Ctrl-C, SIGTERM or SIGHUP end all
groups. Then the stack is unwound, so that temporary files are removed, and the command ends by the signal, without a traceback.
"""

import contextlib
import math
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TAIL_LINES = 40
GRACE_S = 2.0  # time to end after SIGTERM, before SIGKILL
WAITING = 4  # how many times its limit a program may take if it waits, or if others keep the processors busy

# As in the Makefile, for scripts that are started directly.
if (BUILD / "programs").is_dir():
    os.environ["PATH"] = str(BUILD / "programs")
os.environ |= {"XDG_CACHE_HOME": str(BUILD / "cache"), "MPLCONFIGDIR": str(BUILD / "cache" / "matplotlib")}


class Failed(Exception):
    """A program did not start, or did not end as expected. str() is the report."""

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
    before = [f"[{len(lines) - TAIL_LINES} earlier lines]"] if len(lines) > TAIL_LINES else []
    return "\n".join("    " + line for line in before + lines[-TAIL_LINES:]) or "    (no output)"


def report(words, ending: str, output: str | bytes | None) -> str:
    """The report that run() makes when a program fails, for programs that were run in another way."""
    end = "" if output is None else f"; the end of its output:\n{tail(output)}"
    return f"{shlex.join(map(str, words))}\n{ending}{end}"


# ---- ending ----


class Stopped(KeyboardInterrupt):
    """A signal ends the command."""


class _Commands:
    """The programs that are running."""

    def __init__(self):
        self.lock = threading.RLock()  # the handler may interrupt code of the same thread that holds it
        self.processes: set[subprocess.Popen] = set()
        self.signal = 0  # the signal that ends the command
        self.main_starts = False  # the main thread has started a process, but not recorded it yet


_commands = _Commands()


def _signal_group(process: subprocess.Popen, number: int) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


def _signal_all(number: int) -> None:
    for process in list(_commands.processes):
        _signal_group(process, number)


# The handler must not start a thread: the main thread may be interrupted while it starts one, and hold the lock for that.
def _told_to_end(number: int, _frame) -> None:
    if _commands.signal != 0:
        return  # already ending
    _commands.signal = number
    _signal_all(signal.SIGTERM)
    signal.signal(signal.SIGALRM, lambda *_: _signal_all(signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, GRACE_S, GRACE_S)
    if not _commands.main_starts:
        raise Stopped


def end_all() -> None:
    """Ends the running programs of all threads, and lets no other start. For a command whose step has failed in one thread."""
    with _commands.lock:
        _commands.signal = _commands.signal or signal.SIGTERM
        _signal_all(signal.SIGTERM)


def _without_traceback(kind, error, trace) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    with _commands.lock:  # a thread that was not joined may still start programs
        _commands.signal = _commands.signal or signal.SIGINT
        _signal_all(signal.SIGKILL)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        print("\nstopped", file=sys.stderr, flush=True)
    signal.signal(_commands.signal, signal.SIG_DFL)
    os.kill(os.getpid(), _commands.signal)


def _wake_main_thread_on_signals() -> None:
    """Signal handlers run only when the main thread runs. The kernel may give the signal to another thread, for instance while a
    new one is started; a main thread that waits for a lock would then continue to sleep. So a helper thread interrupts that
    wait."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)  # gets the number of each signal
    signal.signal(signal.SIGURG, lambda *_: None)
    main = threading.get_ident()

    def wake():
        while True:
            if any(number != signal.SIGURG for number in os.read(reader, 64)):
                signal.pthread_kill(main, signal.SIGURG)

    threading.Thread(target=wake, daemon=True).start()


if threading.current_thread() is threading.main_thread():
    sys.excepthook = _without_traceback
    for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(_number) is not signal.SIG_IGN:  # as set by nohup
            signal.signal(_number, _told_to_end)
    _wake_main_thread_on_signals()


def is_ending() -> bool:
    """Is the command ending by a signal? A program that ends then may have been ended by it."""
    return _commands.signal != 0


# ---- running ----


def _start(words, options) -> subprocess.Popen:
    main = threading.current_thread() is threading.main_thread()
    with _commands.lock:
        if _commands.signal != 0:
            raise Stopped
        _commands.main_starts = main
        try:
            started = subprocess.Popen([str(word) for word in words], process_group=0,
                                       **{"stdin": subprocess.DEVNULL} | options)
            _commands.processes.add(started)
        finally:
            _commands.main_starts = False
    return started


@contextlib.contextmanager
def process(words, **options):
    """A process of subprocess.Popen, in its own process group and without standard input. If it has not ended by itself at the
    end of the block, it is ended, together with what it has started."""
    started = _start(words, options)
    try:
        if _commands.signal != 0:
            raise Stopped  # the signal came while it started
        yield started
    finally:
        _signal_group(started, signal.SIGTERM)
        try:
            started.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            _signal_group(started, signal.SIGKILL)
            started.wait()
        if _commands.signal != 0:  # the programs that it has started may end later than itself
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
        for pipe in (started.stdin, started.stdout, started.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        _commands.processes.discard(started)


def _cpu_s(process: subprocess.Popen) -> float:
    """The processor time of a process, of its threads and of what it has waited for."""
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _limited(process: subprocess.Popen, limit_s: float | None):
    """Ends a process that takes more than `limit_s` of processor time, itself and those of its children that have ended, or
    WAITING times as long in all. So other work on the machine hardly changes a result. Gives an event that is set if the process
    was ended for that. It also ends a process that is still there at the event's `end_by`, without setting the event."""
    ended, late = threading.Event(), threading.Event()
    late.end_by = math.inf

    def watch():
        begin = time.monotonic()
        while not ended.wait(min(0.2, limit_s / 2)):
            if _cpu_s(process) > limit_s or time.monotonic() - begin > WAITING * limit_s:
                late.set()
            if late.is_set() or time.monotonic() > late.end_by:
                _signal_group(process, signal.SIGKILL)
                return

    thread = threading.Thread(target=watch, daemon=True)
    if limit_s is not None:
        thread.start()
    try:
        yield late
    finally:
        ended.set()
        if limit_s is not None:
            thread.join()


def stopped(limit_s: float) -> str:
    return f"stopped after {limit_s} s of processor time, or {WAITING * limit_s} s in all"


class NoSpace(Exception):
    """The disk is too full to begin; str() says what to do."""


def need_space(folder: pathlib.Path, wanted_bytes: int, what: str) -> None:
    """Raises NoSpace, with a sentence, if `folder` has less free space."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < wanted_bytes:
        raise NoSpace(f"{what} needs up to {wanted_bytes / 1e6:.0f} MB in {folder}, and {free_bytes / 1e6:.0f} MB are free: free "
                      "some space, and start again. Nothing was done")


def run(*words, statuses: tuple[int, ...] = (0,), timeout_s: float | None = None, text: bool = True,
        **options) -> subprocess.CompletedProcess:
    """Runs a program to its end with its output captured, as text or as bytes. Failed if it cannot be started, takes
    longer than `timeout_s` (of processor time, see _limited), or ends with a status that is not one of `statuses`. `options` are those
    of subprocess.run."""
    words = [str(word) for word in words]
    data = options.pop("input", None)
    if data is not None:
        options["stdin"] = subprocess.PIPE
    captured = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": text} | options
    if text:
        captured.setdefault("errors", "backslashreplace")
    try:
        with process(words, **captured) as started, _limited(started, timeout_s) as late:
            out, errors = started.communicate(data)
    except OSError as error:
        raise Failed(words, f"cannot be started: {error.strerror}", None) from error
    empty = "" if text else b""
    if late.is_set() or started.returncode not in statuses:
        how = stopped(timeout_s) if late.is_set() else ending(started.returncode)
        raise Failed(words, how, (out or empty) + (errors or empty))
    return subprocess.CompletedProcess(words, started.returncode, out, errors)


def watch(words, see, *, timeout_s: float, has_said_all=lambda: False, rest_s: float = 60, **options) -> tuple[int, bool]:
    """Runs a program to its end. see() is called with its output as it comes, standard error included. Once has_said_all(), the
    program has `rest_s` left to end by itself. Returns its status, and whether it was stopped because it took longer than
    `timeout_s` of processor time (see _limited)."""
    with (process(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options) as started,
          _limited(started, timeout_s) as late):
        while piece := started.stdout.read1(4096):
            see(piece)
            if late.end_by == math.inf and has_said_all():
                late.end_by = time.monotonic() + rest_s
        return started.wait(), late.is_set()
