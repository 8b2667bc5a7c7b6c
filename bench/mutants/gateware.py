# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the gateware on mutants, to find mutants that no test notices.

    gateware.py --sample 100 --seed 1          a sample of the whole rtl/
    gateware.py --sample 5 --only fence        a sample of one module

docs/understand/mutants-rtl.md explains it. Writes build/mutants/gateware.json. The exit status is not 0 if a mutant survived.

It works in rounds. In each round, every mutant that is alive is run with its next test. Mutants for the same design are built
together, once. A mutant's tests are sorted by the number of modules that they contain, proofs first."""

import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path += [str(ROOT / folder) for folder in ("bench", "tools", "tools/rtl", "tests/rtl/support", "tests/rtl/cocotb", "rtl/sim")]

import filelist  # noqa: E402: found through the line above
import only as names  # noqa: E402
import program  # noqa: E402
from mutants import rtl_equal, rtl_netlist, rtl_sample, rtl_tests  # noqa: E402

OUTPUT = ROOT / "build" / "mutants" / "gateware.json"
BENCHES_MAX = 3  # per mutant: those with the fewest modules around its module
SLACK_S = 5  # of processor time, in addition to the factor
FACTOR = 2.0  # limit of a mutant's time, as a multiple of the time without a mutant


@dataclasses.dataclass
class Judged:
    number: int
    mutant: rtl_netlist.Mutant
    tests: list = dataclasses.field(default_factory=list)  # tests that remain
    met: int = 0  # tests that it was run with
    status: str = ""
    killer: str = ""
    reason: str = ""
    seconds: float = 0.0
    recorded: str = ""  # the recorded reason why it cannot be noticed

    def end(self, status: str, killer: str = "", reason: str = "") -> None:
        self.status, self.killer, self.reason = status, killer, reason

    @property
    def entry(self) -> dict:
        return {"where": self.mutant.where, "original": self.mutant.original, "mutated": self.mutant.mutated,
                "status": self.status, "killer": self.killer, "seconds": round(self.seconds, 1), "reason": self.reason}


# ---- which test covers which module ----


@functools.cache
def _benches() -> list[rtl_tests.Bench]:
    return [*rtl_tests.programs(), *rtl_tests.testbenches()]


@functools.cache
def _names_in(test) -> list[str]:
    top, extra = (test.task.top, test.task.extra) if isinstance(test, rtl_tests.Proof) else (test.top, test.extra)
    return [pathlib.PurePath(path).stem for path in filelist.needed_by(top, extra)]


def tests_of(module: str) -> list:
    """The tests that contain the module, those with the fewest modules first. For the same design, proofs come first: they need
    no build."""
    return list(_tests_of(module))


@functools.cache
def _tests_of(module: str) -> list:
    near = [test for test in (*rtl_tests.proofs(), *_benches()) if module in _names_in(test)]
    near.sort(key=lambda test: (len(_names_in(test)), not isinstance(test, rtl_tests.Proof)))
    benches = [test for test in near if not isinstance(test, rtl_tests.Proof)][:BENCHES_MAX]
    return [test for test in near if isinstance(test, rtl_tests.Proof) or test in benches]


@functools.cache
def home(module: str) -> rtl_netlist.Module:
    """The module with the parameters of the test that has the fewest modules."""
    for test in sorted(tests_of(module), key=lambda test: (len(_names_in(test)), isinstance(test, rtl_tests.Proof))):
        for found in test.design.modules:
            if found.name == module:
                return found
    raise SystemExit(f"no test covers {module}")


# ---- judging ----


class Progress:
    """Prints the progress at intervals, with an estimate from the mutants so far."""

    def __init__(self, total: int):
        self.total, self.began, self.ended = total, time.monotonic(), 0

    def say(self, text: str) -> None:
        passed = time.monotonic() - self.began
        print(f"rtl  {int(passed) // 60:3}:{int(passed) % 60:02}  {text}", flush=True)

    def end(self, judged: Judged) -> None:
        self.ended += 1
        left_s = (time.monotonic() - self.began) * (self.total - self.ended) / self.ended
        self.say(f"{self.ended} of {self.total}, about {left_s / 60:.0f} minutes left  {judged.status:<9} "
                 f"{judged.mutant.where}  {judged.killer}")


class Judge:
    """Judges the mutants of one sample."""

    def __init__(self, judged: list[Judged], jobs: int, progress: Progress, output: pathlib.Path):
        self.judged, self.jobs, self.progress, self.output = judged, jobs, progress, output

    def run(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for number in range(1, 100):
                alive = [one for one in self.judged if not one.status and one.tests]
                if not alive:
                    return
                if number == 2:  # easy mutants are killed by now; for the others, a comparison is faster than a simulation
                    list(pool.map(self._compare, alive))
                    alive = [one for one in alive if not one.status]
                self.progress.say(f"round {number}: {len(alive)} mutants are alive")
                self._round(pool, alive)

    def _compare(self, one: Judged) -> None:
        if proof := rtl_equal.proven(one.mutant, home(one.mutant.module)):
            one.end("equivalent", reason=proof)
            self.progress.end(one)

    def _round(self, pool, alive: list[Judged]) -> None:
        groups = collections.defaultdict(list)
        for one in alive:
            test = one.tests.pop(0)
            groups[test if isinstance(test, rtl_tests.Proof) else test.build].append((one, test))
        # Small designs first, and each build's mutants before the next build, so that there are early results.
        waiting = sorted(groups.values(), key=lambda group: len(_names_in(group[0][1])))
        ready, pending = [], set()
        while waiting or ready or pending:
            while len(pending) < self.jobs and (waiting or ready):
                pending.add(pool.submit(self._meet, *ready.pop(0)) if ready else pool.submit(self._prepare, waiting.pop(0)))
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                ready += future.result() or []
            write(self.judged, self.output, complete=False)

    def _prepare(self, group: list) -> list:
        """The jobs of a group: (mutant, function that runs the test on it, limit)."""
        test = group[0][1]
        return self._prepare_proof(group) if isinstance(test, rtl_tests.Proof) else self._prepare_bench(group)

    def _prepare_proof(self, group: list) -> list:
        proof, found = group[0][1], []
        for one, _ in group:
            if command := rtl_tests.command_in(proof, one.mutant):
                found.append((one, functools.partial(rtl_tests.prove, proof, command, one.number)))
        if not found:
            return []
        baseline_s = self._proof_baseline(proof)
        return [(one, how, limit(baseline_s)) for one, how in found]

    def _prepare_bench(self, group: list) -> list:
        bench = group[0][1]
        folder = rtl_netlist.WORK / "benches" / f"{bench.top}-{rtl_netlist.digest(bench.build)}"
        mutants = {one.number: one.mutant for one, _ in group}
        sources, present = rtl_netlist.overlay(mutants, bench.design, folder.with_name(folder.name + "-sources"))
        if not present:
            return []
        rtl_tests.build(bench, sources, folder)
        found = [(one, test) for one, test in group if one.number in present]
        baselines_s = {}
        for test in dict.fromkeys(test for _, test in found):
            baselines_s[test] = _baseline(test, functools.partial(rtl_tests.simulate, test, folder, 0))
            _notices(test, folder, sources, baselines_s[test])
        return [(one, functools.partial(rtl_tests.simulate, test, folder, one.number), limit(baselines_s[test]))
                for one, test in found]

    @staticmethod
    def _proof_baseline(proof: rtl_tests.Proof) -> float:
        """Kept between runs: it depends only on the sources and the task."""
        def make(path: pathlib.Path) -> None:
            path.write_text(str(_baseline(proof, functools.partial(rtl_tests.prove, proof, "", 0))))

        files = tuple(filelist.needed_by(proof.task.top, proof.task.extra))
        name = f"{proof.task_name}-{rtl_netlist.digest(proof.task, *rtl_netlist.contents(files))}"
        return float(rtl_netlist.made(rtl_netlist.FOLDER / "proofs" / name, make).read_text())

    def _meet(self, one: Judged, how, limit_s: int) -> None:
        began = time.monotonic()
        verdict = how(limit_s)
        one.met += 1
        one.seconds += time.monotonic() - began
        if verdict.ending == "failed":
            one.end("killed", verdict.by)
        elif verdict.ending == "over limit":
            one.end("timed out", verdict.by)
        if one.status and one.recorded:
            raise SystemExit(f"{rtl_sample.RECORDED.name} calls a mutant equivalent that {one.killer} notices: delete the entry.\n"
                             f"{one.mutant.where}\n  {one.mutant.original}\n  {one.mutant.mutated}")
        if one.status:
            self.progress.end(one)


def _baseline(test, how) -> float:
    """Processor time without a mutant. A test that fails without a mutant cannot judge one."""
    verdict = how(3600)
    if verdict.ending != "passed":
        raise SystemExit(f"{test.test} fails without a mutant ({verdict.ending}). Run it by itself. If it passes, "
                         "Yosys and Verilator do not agree about a module: leave that module out")
    return verdict.cpu_s


def _notices(bench: rtl_tests.Bench, folder: pathlib.Path, sources: dict[str, str], baseline_s: float) -> None:
    """Checks that the bench fails if the replaced modules are held in reset."""
    replaced = {pathlib.PurePath(path).stem for path in sources}
    if not any(rtl_netlist.has_reset(module) for module in bench.design.modules if module.name in replaced):
        return
    verdict = rtl_tests.simulate(bench, folder, rtl_netlist.NOTICED, int(1.5 * baseline_s + 2))
    if verdict.ending == "passed":
        raise SystemExit(f"{bench.test} passes with {', '.join(sorted(replaced))} held in reset: mutants do not reach it")


def limit(baseline_s: float) -> int:
    return int(FACTOR * baseline_s + SLACK_S)


# ---- the command ----


def modules_of(only: str) -> list[str]:
    """The modules that ONLY selects: a file or a folder of rtl/, or modules as in all commands of the gateware."""
    modules, path = rtl_sample.modules(), only.rstrip("/")
    files = {name: source for source in filelist.sources() for name in [pathlib.PurePath(source).stem]}
    found = [name for name in modules if path and f"{files[name]}/".startswith(f"{path}/")]
    return found or names.choose("module of rtl/", modules, lambda name: (name,), only)


def drawn(sample: int, seed: int, only: str, jobs: int) -> list[Judged]:
    modules = modules_of(only)
    if alone := [name for name in modules if not tests_of(name)]:
        print(f"rtl  not judged, because only C++ testbenches of several modules contain them: {', '.join(alone)}", flush=True)
    modules = [name for name in modules if name not in alone]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pools = dict(zip(modules, pool.map(lambda name: rtl_netlist.pool(home(name), seed), modules)))
    counts = rtl_sample.shares({name: rtl_sample.size(own) for name, own in pools.items()}, sample)
    found = [mutant for name, count in counts.items() for mutant in rtl_sample.chosen(pools[name], count, seed)]
    return [Judged(number, mutant, tests_of(mutant.module)) for number, mutant in enumerate(found, 1)]


def run(sample: int = 100, seed: int = 1, only: str = "", jobs: int = 2, output: pathlib.Path = OUTPUT) -> list[dict]:
    """Judges the sample. Returns the mutants as in build/mutants/gateware.json."""
    rtl_netlist.FOLDER.mkdir(parents=True, exist_ok=True)
    recorded = rtl_sample.recorded()
    rtl_sample.check_recorded(recorded, home)
    judged = drawn(sample, seed, only, jobs)
    progress = Progress(len(judged))
    for one in judged:
        one.recorded = next((entry.reason for entry in recorded if entry.is_of(one.mutant)), "")
    try:
        Judge(judged, jobs, progress, output).run()
    finally:
        shutil.rmtree(rtl_netlist.WORK, ignore_errors=True)
    for one in judged:
        if not one.status:
            if not one.met:
                one.end("invalid", reason="cannot be applied in any of its tests")
            elif one.recorded:
                one.end("equivalent", reason=one.recorded)
            else:
                one.end("survived")
            progress.end(one)
    return write(judged, output, complete=True)


def write(judged: list[Judged], output: pathlib.Path, complete: bool) -> list[dict]:
    """Writes the mutants judged so far, so that a stopped run has results."""
    entries = [one.entry for one in judged if one.status]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"complete": complete, "mutants": entries}, indent=1) + "\n")
    return entries


def summary(entries: list[dict]) -> str:
    count = collections.Counter(entry["status"] for entry in entries)
    killed, counted = count["killed"] + count["timed out"], len(entries) - count["equivalent"] - count["invalid"]
    share = f"{100 * killed / counted:.1f} %" if counted else "none"
    said = ", ".join(f"{number} {status}" for status, number in count.most_common())
    return f"rtl  {len(entries)} mutants: {said}. Killed of those that are not equivalent: {share}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutants of the gateware, judged by the tests that cover them.")
    parser.add_argument("--sample", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a file or a folder of rtl/, a module, or how modules' names begin")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="at a time")
    parser.add_argument("--output", type=pathlib.Path, default=OUTPUT, help="build/mutants/gateware.json")
    arguments = parser.parse_args()
    try:
        entries = run(arguments.sample, arguments.seed, arguments.only, arguments.jobs, arguments.output)
    except program.Failed as failed:
        raise SystemExit(f"\n{failed}") from None
    for entry in entries:
        if entry["status"] == "survived":
            print(f"survived  {entry['where']}\n  {entry['original']}\n  {entry['mutated']}")
    print(summary(entries))
    raise SystemExit(any(entry["status"] == "survived" for entry in entries))


if __name__ == "__main__":
    main()
