# SPDX-License-Identifier: Apache-2.0
"""
Cuts the power in all recording tests, in up to N states per volume, on all cores: crash_soak.py N SEED.

Each program of the crash gate (tests/power_cut) runs once for every two cores of the machine, each time with another seed and
a part of N. Their outputs are in separate files in build/crash-soak. A program that finds a broken promise
prints how to reproduce that state. The others continue.
"""

import array
import concurrent.futures
import os
import re
import shlex
import sys
import tempfile
import time

import program

PROGRAMS = program.BUILD / "host-release/crash"
LOGS = program.BUILD / "crash-soak"
SEED_STEP = 1000  # so that SEED=1 and SEED=2 share no seeds
COUNTS = re.compile(rb"\(program: (\d+) states, (\d+) images\)")
HOURS_MAX = 24


class Run:
    """One run of a program with a seed."""

    def __init__(self, path, seed, states, folder):
        self.path = path
        self.name = f"{path.name} seed {seed}"
        self.log = LOGS / f"{path.name}-{seed}.log"
        self.images = f"{folder}/{path.name}-{seed}"
        self.settings = {"SPATE_CUTS": str(states), "SPATE_SEED": str(seed)}
        self.states, self.status = 0, None

    def command(self):
        return " ".join(f"{name}={value}" for name, value in self.settings.items()) + " " + shlex.quote(str(self.path))

    def __call__(self):
        begin = time.monotonic()
        with self.log.open("wb") as log:
            self.status, _ = program.watch([self.path], log.write, timeout_s=HOURS_MAX * 3600,
                                           env=os.environ | self.settings | {"SPATE_IMAGES": self.images})
        counts = COUNTS.findall(self.log.read_bytes())
        images = 0
        if counts:
            self.states, images = (int(number) for number in counts[-1])
        print(f"{self.name:<36}{self.states:>10} states {images:>10} images {time.monotonic() - begin:>7.0f} s"
              + ("" if self.status == 0 else "  FAILED"), flush=True)
        return self


def union(runs):
    """How many distinct images all runs have checked."""
    images = set()
    for run in runs:
        numbers = array.array("Q")
        if os.path.exists(run.images):
            with open(run.images, "rb") as file:
                numbers.frombytes(file.read())
        images.update(numbers)
    return len(images)


def main():
    states, seed = int(sys.argv[1]), int(sys.argv[2])
    cores = len(os.sched_getaffinity(0))
    parts = max(1, cores // 2)
    paths = sorted(path for path in PROGRAMS.glob("crash_*") if path.is_file() and os.access(path, os.X_OK))
    if not paths:
        sys.exit("there are no programs to run: make build-host-release")
    LOGS.mkdir(parents=True, exist_ok=True)
    print(f"{len(paths)} programs, each with {parts} seeds and {-(-states // parts)} states per volume, {cores} at once",
          flush=True)
    with (tempfile.TemporaryDirectory(prefix="spate-crash-") as folder,
          concurrent.futures.ThreadPoolExecutor(cores) as pool):
        runs = [Run(path, seed + SEED_STEP * part, -(-states // parts), folder) for part in range(parts) for path in paths]
        for done in concurrent.futures.as_completed([pool.submit(run) for run in runs]):
            run = done.result()
            if run.status != 0:
                print(program.report([run.command()], program.ending(run.status), run.log.read_bytes()), flush=True)
        images = union(runs)
    failed = [run for run in runs if run.status != 0]
    print(f"{sum(run.states for run in runs)} states, {images} distinct images; outputs: {os.path.relpath(LOGS)}")
    for run in failed:
        print(f"FAILED: {run.command()}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
