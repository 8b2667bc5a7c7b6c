# SPDX-License-Identifier: Apache-2.0
"""Runs of the lab's programs: a name, a program, its options. Each prints one JSON document, kept in build/lab."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import tempfile
import threading
import time

import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
OUT = BUILD / "lab"
SECONDS = "seconds.json"


@dataclasses.dataclass(frozen=True)
class Run:
    name: str
    experiment: str
    options: tuple[tuple[str, object], ...] = ()

    @property
    def program(self) -> str:
        return {"record": "spate-lab-fatfs", "plan": "spate-plan"}.get(self.experiment, "spate-lab")

    def words(self) -> list[str]:
        words = [] if self.experiment == "plan" else [self.experiment]
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


class Lab:
    def __init__(self, programs: pathlib.Path, out: pathlib.Path = OUT):
        self.programs, self.out = programs, out
        self.results: dict[str, dict] = {}
        self.seconds: dict[str, float] = {}  # of processor time: no part of a result, which is the same in every run
        self.lock = threading.Lock()

    def one(self, run: Run) -> tuple[str, float]:
        """The text that the program printed, and the seconds of processor time that it took."""
        words = [self.programs / run.program, *run.words()]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            with program.process(words, stdout=out, stderr=errors) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            says_no = run.experiment == "plan" and process.returncode == 1  # an answer, not a failure
            if process.returncode != 0 and not says_no:
                errors.seek(0)
                raise Failed(f"{run.name}: {program.report(words, program.ending(process.returncode), errors.read())}")
            out.seek(0)
            return out.read(), usage.ru_utime + usage.ru_stime

    def _kept(self, run: Run) -> None:
        text, seconds = self.one(run)
        (self.out / f"{run.name}.json").write_text(text)
        with self.lock:
            self.results[run.name] = json.loads(text)
            self.seconds[run.name] = round(seconds, 1)

    def all(self, runs: list[Run], jobs: int = 2) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        if not runs:
            return
        names = [run.name for run in runs]
        assert len(names) == len(set(names)), "two runs of one name"
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self._kept, run) for run in runs]
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                try:
                    future.result()
                except Failed:
                    pool.shutdown(cancel_futures=True)
                    raise
                if done * 10 // len(runs) > (done - 1) * 10 // len(runs):
                    print(f"lab    {done} of {len(runs)} experiments, {time.monotonic() - begin:.0f} s", flush=True)
        (self.out / SECONDS).write_text(json.dumps(self._all_seconds(), indent=1) + "\n")

    def _all_seconds(self) -> dict[str, float]:
        path = self.out / SECONDS
        return (json.loads(path.read_text()) if path.exists() else {}) | self.seconds

    def load(self, runs: list[Run]) -> None:
        """What an earlier run left."""
        for run in runs:
            path = self.out / f"{run.name}.json"
            if not path.exists():
                raise Failed(f"{path} is not there: run all of the lab first")
            self.results[run.name] = json.loads(path.read_text())
        self.seconds = self._all_seconds()

    def rate(self, name: str) -> float:
        return self.results[name]["result"]["bytes_per_s"]

    def result(self, name: str) -> dict:
        return self.results[name]["result"]

    def series(self, name: str) -> dict:
        return self.results[name]["series"]
