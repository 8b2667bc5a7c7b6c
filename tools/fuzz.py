# SPDX-License-Identifier: Apache-2.0
"""
Fuzzes each target for a number of seconds, all targets at once, on all cores: fuzz.py SECONDS.

The targets share the cores. Each target is one libFuzzer with several processes (-fork), which exchange the inputs that they
find. So the command takes SECONDS for any number of targets, and no core is idle if there are more cores than targets. A process
that ends is replaced by a new one, which also frees the memory that a long run accumulates.

New inputs are kept in build/fuzz/found, where the next run begins. The first finding ends all targets.
"""

import concurrent.futures
import os
import re
import shlex
import sys
import tempfile
import time

import program

TARGETS = program.BUILD / "fuzz/fuzz"
FOUND = program.BUILD / "fuzz/found"
CORPUS = program.ROOT / "tests/fuzz/corpus"
LINE_EVERY_S = 60
INPUT_S_MAX = 10  # for one input
END_S_MAX = 120  # for a target's last processes to end, and for merging their inputs
STATE = re.compile(r"#(\d+): cov: (\d+) ft: (\d+) corp: (\d+)")


def shares(targets, cores):
    """How many processes each target gets: together all cores, each at least one."""
    return {name: max(1, cores // len(targets) + (at < cores % len(targets))) for at, name in enumerate(targets)}


def command(name, processes, seconds):
    found = FOUND / name
    found.mkdir(parents=True, exist_ok=True)
    # With -fork, libFuzzer by default continues after an input that takes too long or too much memory.
    return [TARGETS / name, f"-fork={processes}", "-ignore_timeouts=0", "-ignore_ooms=0", f"-max_total_time={seconds}",
            f"-timeout={INPUT_S_MAX}", f"-artifact_prefix={program.BUILD / 'fuzz' / name}-", found,
            CORPUS / name.removeprefix("fuzz_")]


class Progress:
    """Prints one line per target and minute."""

    def __init__(self, name):
        self.name, self.begin, self.lines = name, time.monotonic(), 0
        self.state = None

    def see(self, line):
        self.state = STATE.match(line) or self.state
        passed_s = time.monotonic() - self.begin
        if passed_s >= LINE_EVERY_S * (self.lines + 1):
            self.lines = int(passed_s // LINE_EVERY_S)
            self.say()

    def say(self):
        runs, branches, features, inputs = self.state.groups() if self.state else (0, 0, 0, 0)
        passed_s = round(time.monotonic() - self.begin)
        print(f"{self.name:<12}{passed_s // 60:3d}:{passed_s % 60:02d} min {runs:>10} runs, {branches} branches, "
              f"{features} features, {inputs} inputs", flush=True)


def fuzz(name, processes, seconds, scratch):
    """Fuzzes one target. Returns the report of a failure, or an empty text."""
    words, log, progress = command(name, processes, seconds), program.BUILD / f"fuzz/{name}.log", Progress(name)
    kept = bytearray()
    with log.open("wb") as file:
        def see(piece):
            file.write(piece)
            kept.extend(piece)
            while (end := kept.find(b"\n")) >= 0:
                progress.see(kept[:end].decode(errors="replace"))
                del kept[:end + 1]

        status, stopped = program.watch(words, see, timeout_s=seconds + END_S_MAX, env=os.environ | {"TMPDIR": scratch})
    if stopped:
        return program.report(words, f"did not end within {END_S_MAX} s after its time", log.read_bytes())
    if status != 0:
        return program.report(words, program.ending(status), log.read_bytes()) + f"\nthe whole output: {log}"
    progress.say()
    return ""


def main():
    seconds = int(sys.argv[1])
    targets = sorted(path.name for path in TARGETS.glob("fuzz_*"))
    if not targets:
        sys.exit("there are no fuzz targets: make build-fuzz")
    cores = len(os.sched_getaffinity(0))
    of = shares(targets, cores)
    print(f"{len(targets)} targets for {seconds} s each, {min(cores, len(targets))} at once: "
          + ", ".join(f"{name} in {count} process{'es' * (count > 1)}" for name, count in of.items()), flush=True)
    with (tempfile.TemporaryDirectory(prefix="spate-fuzz-") as scratch,
          concurrent.futures.ThreadPoolExecutor(min(cores, len(targets))) as pool):
        runs = [pool.submit(fuzz, name, of[name], seconds, scratch) for name in targets]
        for run in concurrent.futures.as_completed(runs):
            if failed := run.result():
                program.end_all()
                sys.exit(failed)
    print(f"no finding; new inputs are in {shlex.quote(os.path.relpath(FOUND))}")


if __name__ == "__main__":
    main()
