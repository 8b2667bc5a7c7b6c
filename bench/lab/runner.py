# SPDX-License-Identifier: Apache-2.0
"""Runs the lab's programs, and `spate plan`. A run has a name, a program and options. It prints one JSON document, which is kept in
build/lab."""

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
OUT = BUILD / "lab"
SPATE = BUILD / "linux/bin/spate"
SECONDS = "seconds.json"
TELL_S = 5


@dataclasses.dataclass(frozen=True)
class Run:
    name: str
    experiment: str
    options: tuple[tuple[str, object], ...] = ()

    def program(self, folder: pathlib.Path) -> pathlib.Path:
        if self.experiment == "plan":
            return SPATE
        return folder / {"record": "spate-lab-fatfs", "diskio": "spate-lab-diskio"}.get(self.experiment, "spate-lab")

    def words(self) -> list[str]:
        words = [self.experiment]
        for key, value in self.options:
            if value is True:
                words.append(f"--{key}")
            elif value is not False:
                words += [f"--{key}", str(value)]
        return words


def run(name: str, experiment: str, **options: object) -> Run:
    return Run(name, experiment, tuple((key.replace("_", "-"), value) for key, value in options.items()))


class Failed(Exception):
    pass


def commands(run: Run) -> int:
    """The approximate number of commands, which determines the time."""
    if run.experiment in ("plan", "profiles"):  # nothing is simulated
        return 0
    options = dict(run.options)
    return int(options["bytes"]) // min(int(options.get("block", 1 << 20)), 1 << 20)


def in_order(runs: list[Run]) -> list[Run]:
    """Short runs first, so that there are early results. But the longest one starts at once beside them, or everything else would
    end long before it."""
    short_first = sorted(runs, key=commands)
    return short_first[:1] + short_first[-1:] + short_first[1:-1] if len(runs) > 1 else short_first


class Lab:
    def __init__(self, programs: pathlib.Path, out: pathlib.Path = OUT):
        self.programs, self.out = programs, out
        self.results: dict[str, dict] = {}
        self.seconds: dict[str, float] = {}  # of processor time; not in the results, which are the same in every run
        self.lock = threading.Lock()
        self.processes: dict[str, subprocess.Popen] = {}  # running programs, by the name of the run
        self.stopped = False

    @contextlib.contextmanager
    def _running(self, run: Run, process: subprocess.Popen):
        with self.lock:
            self.processes[run.name] = process
            stopped = self.stopped
        if stopped:
            process.terminate()
        try:
            yield
        finally:
            with self.lock:
                del self.processes[run.name]

    def one(self, run: Run) -> tuple[str, float]:
        """Returns the text that the program printed, and the processor time that it took."""
        words = [run.program(self.programs), *run.words()]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            with program.process(words, stdout=out, stderr=errors) as process, self._running(run, process):
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            says_no = run.experiment == "plan" and process.returncode == 1  # a valid result, not a failure
            if process.returncode != 0 and not says_no:
                errors.seek(0)
                raise Failed(f"{run.name}: {program.report(words, program.ending(process.returncode), errors.read())}")
            out.seek(0)
            return out.read(), usage.ru_utime + usage.ru_stime

    def _kept(self, run: Run) -> None:
        text, seconds = self.one(run)
        with self.lock:
            if self.stopped:  # the program had ended before it could be terminated
                return
            self.results[run.name] = json.loads(text)
            (self.out / f"{run.name}.json").write_text(text)
            self.seconds[run.name] = round(seconds, 1)

    def all(self, runs: list[Run], jobs: int = 2) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        if not runs:
            return
        names = [run.name for run in runs]
        assert len(names) == len(set(names)), "two runs with the same name"
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            waiting = {pool.submit(self._kept, run) for run in in_order(runs)}
            try:
                self._wait(waiting, len(runs))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()
                raise
        (self.out / SECONDS).write_text(json.dumps(self._all_seconds(), indent=1) + "\n")

    def _wait(self, waiting: set, total: int) -> None:
        """Waits until all are done. Prints a line every few seconds: how many are done, and which are running."""
        begin = told = time.monotonic()
        while waiting:
            done, waiting = concurrent.futures.wait(waiting, timeout=TELL_S, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
            now = time.monotonic()
            if not waiting or now - told >= TELL_S:
                told = now
                with self.lock:
                    running = ", ".join(self.processes)
                print(f"lab    {now - begin:4.0f} s  {total - len(waiting)} of {total} experiments"
                      f"{'  now ' + running if running else ''}", flush=True)

    def stop(self) -> None:
        """Ends the running programs, and starts no others."""
        with self.lock:
            self.stopped = True
            for process in self.processes.values():
                process.terminate()

    def _all_seconds(self) -> dict[str, float]:
        path = self.out / SECONDS
        return (json.loads(path.read_text()) if path.exists() else {}) | self.seconds

    def load(self, runs: list[Run]) -> None:
        """Loads the results of an earlier run."""
        for run in runs:
            path = self.out / f"{run.name}.json"
            if not path.exists():
                raise Failed(f"{path} does not exist: run the whole lab first")
            self.results[run.name] = json.loads(path.read_text())
        self.seconds = self._all_seconds()

    def rate(self, name: str) -> float:
        return self.results[name]["result"]["bytes_per_s"]

    def result(self, name: str) -> dict:
        return self.results[name]["result"]

    def series(self, name: str) -> dict:
        return self.results[name]["series"]
