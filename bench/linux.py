# SPDX-License-Identifier: Apache-2.0
"""The cost of recording on Linux, in instructions of an emulated machine that counts them exactly: several ways of writing, a
sweep over block sizes, recordings into exFAT, each with the kernel's drivers and with the library's. Writes results to
build/bench/linux and build/bench/linux.json, and the report to build/report/linux.html."""

import argparse
import concurrent.futures
import json
import pathlib
import re
import tarfile
import tempfile
import threading
import time

import figures
import program
from lab import page
from linux import cases, chapters, guest, parse
from linux.results import Results

REC_BYTES, OUT_BYTES = 2 << 30, 64 << 20
TIMEOUT_S = 3600


class Progress:
    """Prints a line every few seconds: what is being counted, and how much is done."""

    def __init__(self, total: int):
        self.total, self.done, self.told, self.started = total, 0, 0.0, time.monotonic()
        self.lock = threading.Lock()

    def line(self, machine: cases.Machine, line: str) -> None:
        with self.lock:
            now = time.monotonic()
            if line.startswith("count "):
                self.done += 1
                if now - self.told < 5:
                    return
                self.told = now
                label = line.split()[1].rsplit("/", 2)[0]
                print(f"linux  {now - self.started:5.0f} s  {self.done}/{self.total}  {machine.name}: {label}", flush=True)
            elif line.startswith("failed "):
                print(f"linux  {machine.name}: {line}", flush=True)


def image(folder: pathlib.Path, name: str, length: int) -> pathlib.Path:
    path = folder / name
    with open(path, "wb") as file:
        file.truncate(length)
    return path


def run(machine: cases.Machine, results: pathlib.Path, progress: Progress) -> None:
    """Starts a machine, and keeps its output and the files of its programs."""
    with tempfile.TemporaryDirectory(dir=guest.FOLDER) as name:
        folder = pathlib.Path(name)
        drives = {"rec": image(folder, "rec", REC_BYTES), "out": image(folder, "out", OUT_BYTES)}
        result = guest.run(machine.kernel, machine.script(), drives, folder, strict=machine.strict,
                           timeout_s=TIMEOUT_S, echo=lambda line: progress.line(machine, line))
        (results / f"{machine.name}.txt").write_text(result.output)
        if failed := parse.failures(result.output):
            raise parse.Wrong(f"{machine.name}: {', '.join(failed)} failed: see {results / machine.name}.txt")
        with tarfile.open(drives["out"]) as archive:
            archive.extractall(results / machine.name)


# The counts for the lab (bench/lab/kernel.py), of the machine that is most similar to the boards of its systems.
KEPT = program.ROOT / "bench/linux/counts.json"
KEPT_MODE = "passthrough"
KEPT_CASES = re.compile(r"sweep/fio-libaio/|ways/(ext4|ext4-no-journal|raw)/")
CHANGED = 0.1  # a share; counts vary less from run to run


def keep(results: Results) -> None:
    """Keeps the counts of the release's kernel, which is the older one."""
    kept_kernel = results.kernels[0]
    counts = {key: round(cost.instructions) for (kernel, mode, key), cost in sorted(results.costs.items())
              if (kernel, mode) == (kept_kernel, KEPT_MODE) and KEPT_CASES.match(key)}
    made_by = f"make bench-linux KEEP=1: kernel {kept_kernel}, IOMMU in {KEPT_MODE}"
    KEPT.write_text(json.dumps({"made_by": made_by, "kernel": kept_kernel, "instructions_per_mib": counts}, indent=1) + "\n")
    print(f"kept   {len(counts)} counts in {KEPT.relative_to(program.ROOT)}")


def compare_kept(results: Results) -> None:
    """Prints which counts of the lab are out of date. Those of another kernel are not."""
    lab = json.loads(KEPT.read_text())
    for key, kept in lab["instructions_per_mib"].items():
        cost = results.costs.get((lab["kernel"], KEPT_MODE, key))
        if cost is not None and abs(cost.instructions / kept - 1) > CHANGED:
            print(f"  {key}: {cost.instructions:.0f} per MiB, but {kept} in {KEPT.relative_to(program.ROOT)}: "
                  "KEEP=1 replaces them")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one kernel, few sizes, short runs")
    parser.add_argument("--only", metavar="REGEX", help="run these machines, take the others' results from the last run")
    parser.add_argument("--report-only", action="store_true", help="run none, only draw the existing results")
    parser.add_argument("--keep", action="store_true", help="keep the counts for the lab's predictions")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.keep and options.quick:
        parser.error("--keep: a quick run counts too few sizes")

    results = program.BUILD / "bench" / ("linux-quick" if options.quick else "linux")
    results.mkdir(parents=True, exist_ok=True)
    machines = cases.machines(guest.kernels()[-1:] if options.quick else guest.kernels(), options.quick)
    wanted = re.compile("$^" if options.report_only else options.only or "")
    chosen = [machine for machine in machines if wanted.search(machine.name)]
    for kernel in {machine.kernel for machine in chosen}:
        guest.build(kernel)
    progress = Progress(sum(machine.counts for machine in chosen))
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for done in [pool.submit(run, machine, results, progress) for machine in chosen]:
                done.result()
        made = Results(machines, results)
        bench = figures.Bench("linux-quick" if options.quick else "linux",
                              "make bench-linux" + (" QUICK=1" if options.quick else ""))
        chapters.collect(made, bench)
    except (program.Failed, parse.Wrong, AssertionError) as wrong:
        figures.die("counting", str(wrong))
    bench.show()
    bench.write()
    if options.keep:
        keep(made)
    elif not options.quick:
        compare_kept(made)
    folder = program.BUILD / ("report/quick" if options.quick else "report")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as pictures:
        shown = chapters.chapters(made, bench, pathlib.Path(pictures))
        page.write(folder / "linux.html", chapters.TITLE, list(chapters.LEAD), shown,
                   f"{progress.total or 'No'} new counts. Made by `{bench.command}`.", pathlib.Path(pictures))
    print(f"report {(folder / 'linux.html').relative_to(program.ROOT)}")


if __name__ == "__main__":
    main()
