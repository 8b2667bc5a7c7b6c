# SPDX-License-Identifier: Apache-2.0
"""The half for src/: draws mutants of the library, runs the tests that execute their lines, and lists the survivors."""

import argparse
import collections.abc
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path[:1] = [str(HERE.parents[2] / folder) for folder in ("bench", "tools")]

import program  # noqa: E402: found through the line above
from mutants import coverage, draw, judge, kept, recorded, show, tree  # noqa: E402

MOST_TIME_OUTS = 3  # of one mutant
COVERED, KILLED, TIMED_OUT, SURVIVED = "sampled", "killed", "timed out", "survived"
QUICK_S = 3.0  # of processor time, for all programs together
INVALID, EQUIVALENT, RECORDED_AS = "invalid", "equivalent", "recorded"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of mutants of src/: how they are made, and where those are recorded that no test can notice."""

    name: str
    mutants_of: collections.abc.Callable[[pathlib.Path, str, int], list[draw.Mutant]]
    recorded: pathlib.Path
    in_headers: bool = False
    time_out_is_noticed: bool = True
    always: collections.abc.Callable[[pathlib.Path], list[draw.Mutant]] = lambda root: []  # judged beside the sample

    def all_of(self, root: pathlib.Path, file: str, seed: int) -> list[draw.Mutant]:
        """What can be recorded as equivalent."""
        return self.mutants_of(root, file, seed) + [mutant for mutant in self.always(root) if mutant.file == file]

    @property
    def out(self) -> pathlib.Path:
        return tree.BUILD / f"{self.name}.json"

    def files(self, sources: tree.Library) -> list[str]:
        return sorted(sources.files + sources.header_files) if self.in_headers else sources.files


MECHANICAL = Kind("library", draw.mutants_of, program.ROOT / "tests/mutants.toml")


class Refused(Exception):
    """The run cannot have a result. str() says why and what to do."""


@dataclasses.dataclass
class Result:
    mutant: draw.Mutant
    status: str
    killer: str = ""
    seconds: float = 0.0
    reason: str = ""  # the killer's error, or why it is equivalent
    ran: tuple[str, ...] = ()

    def as_json(self) -> dict:
        return {"where": self.mutant.where, "operator": self.mutant.operator, "original": self.mutant.original, "mutated": self.mutant.mutated,
                "status": self.status, "killer": self.killer, "seconds": round(self.seconds, 2), "reason": self.reason}

    def __str__(self) -> str:
        ran = ", ".join(self.ran) or "no program: nothing executes this line"
        return f"{self.mutant.where}: {self.mutant.original} -> {self.mutant.mutated} (ran: {ran})"


class Bench:
    """The library, the programs, and their kept results."""

    def __init__(self, jobs: int, answers: pathlib.Path = tree.BUILD / "kept", kind: Kind = MECHANICAL):
        if not (tree.BUILD / "made-of").exists():
            raise Refused(f"{tree.BUILD} has no tests: make build-mutants")
        self.jobs, self.kind = jobs, kind
        self.sources = tree.Library()
        self.programs = {test.name: test for test in tree.programs()}
        self.codes = kept.Kept(answers / "codes.jsonl")
        self.endings = kept.Kept(answers / "endings.jsonl")
        self.coverage = coverage.Coverage(self.sources)
        self.seconds: dict[str, float] = {}

    def each(self, work, items, what: str):
        """Yields work(item) of all items as they complete, in `jobs` threads."""
        items = list(items)
        progress = show.Progress(what, len(items))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = {pool.submit(work, item) for item in items}
            try:
                while waiting:
                    done, waiting = concurrent.futures.wait(waiting, show.TERMINAL_S, concurrent.futures.FIRST_COMPLETED)
                    for one in done:
                        yield progress, one.result()
                    progress.look()
            except BaseException:
                pool.shutdown(cancel_futures=True)  # running jobs end soon, or by a signal
                raise
        progress.end()

    # ---- which mutants ----

    def code(self, file: str, text: str) -> str:
        """A hash of the compiled code; empty if it does not compile."""
        key = "code", self.sources.headers, repr(tree.STRICT), file, text
        if (known := self.codes.get(*key)) is None:
            with tree.scratch("code-") as folder:
                try:
                    known = self.sources.code(file, text, pathlib.Path(folder))
                except tree.Invalid:
                    known = ""
            self.codes.put(known, *key)
        return known

    def sample_of(self, files: list[str], count: int, seed: int) -> tuple[list[draw.Mutant], list[Result]]:
        """`count` mutants of these files that compile to different code, and the mutants that did not."""
        candidates = draw.in_turn(m for file in files for m in self.kind.mutants_of(program.ROOT, file, seed))
        seen = {self.code(file, draw.without_comments(self.sources.original(file))) for file in files}
        taken, dropped = [], []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            while candidates and len(taken) < count:
                batch, candidates = candidates[:count - len(taken)], candidates[count - len(taken):]
                codes = pool.map(lambda m: self.code(m.file, draw.mutated_text(program.ROOT, m)), batch)
                for mutant, code in zip(batch, codes):
                    if code and code not in seen:
                        seen.add(code)
                        taken.append(mutant)
                    else:
                        why = "the same code as the original or as a mutant before it" if code else "does not compile"
                        dropped.append(Result(mutant, EQUIVALENT if code else INVALID, reason=why))
        return taken, dropped

    def sample(self, wanted: list[str], count: int, seed: int) -> tuple[list[draw.Mutant], list[Result]]:
        """The sample, limited to the wanted files."""
        taken, dropped = [], []
        modules = sorted({draw.module_of(file) for file in wanted})
        shares = draw.shares(program.ROOT, self.sources.files, count)
        for module in modules:
            files = [file for file in self.kind.files(self.sources) if draw.module_of(file) == module]
            of_module, not_of_it = self.sample_of(files, shares[module], seed)
            taken += [mutant for mutant in of_module if mutant.file in wanted]
            dropped += [result for result in not_of_it if result.mutant.file in wanted]
        return taken, dropped

    def recorded_beside(self, taken: list[draw.Mutant], wanted: list[str], reasons: dict, seed: int) -> list[draw.Mutant]:
        """The recorded mutants of the wanted files that are not in the sample."""
        files = {file for file, _, _ in reasons}.intersection(wanted)
        mutants = (mutant for file in sorted(files) for mutant in self.kind.mutants_of(program.ROOT, file, seed))
        return [mutant for mutant in mutants if mutant.identity in reasons and mutant not in taken]

    def always(self, taken: list[draw.Mutant], wanted: list[str]) -> list[draw.Mutant]:
        """The mutants of the wanted files that are in each sample, where they are not in this one by themselves."""
        there = {mutant.identity for mutant in taken}
        return [mutant for mutant in self.kind.always(program.ROOT) if mutant.file in wanted and mutant.identity not in there]

    # ---- which programs ----

    def original_objects(self) -> list[pathlib.Path]:
        """The original library, compiled like the mutants."""
        folder = tree.BUILD / "originals"

        def compile_one(file):
            target = (folder / file).with_suffix(".o")
            made_from = target.with_suffix(".made-from")
            text = draw.without_comments(self.sources.original(file))
            if not made_from.exists() or made_from.read_text() != self.sources.headers + text:
                target.parent.mkdir(parents=True, exist_ok=True)
                self.sources.compile(file, text, target)
                made_from.write_text(self.sources.headers + text)
            return target

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(compile_one, self.sources.files))

    def run(self, objects: list[pathlib.Path], test: tree.Program, baseline_s: float) -> judge.Ending:
        with tree.scratch(f"{test.name}-") as name:
            folder = pathlib.Path(name)
            tree.link(objects, test, folder / "program")
            return judge.run(folder / "program", test.words, test.environment(), folder, baseline_s)

    def baseline(self) -> None:
        """Checks that every program passes with the original library, and measures its time."""
        objects = self.original_objects()
        everything = self.coverage.identity

        def measure(test):
            if (known := self.endings.get("baseline", everything, test.identity)) is None:
                ending = self.run(objects, test, 60.0)
                if not ending.passed:
                    raise Refused(f"{test.name} fails without a mutation, so it cannot judge mutants:\n"
                                  f"{program.tail(ending.said)}")
                known = ending.seconds
                self.endings.put(known, "baseline", everything, test.identity)
            self.seconds[test.name] = known

        for progress, _ in self.each(measure, self.programs.values(), "the tests as they are"):
            progress.step()

    def cover(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(self.coverage.compile_one, self.sources.files))
        for progress, _ in self.each(lambda test: self.coverage.measure(test, self.seconds[test.name]),
                                     self.programs.values(), "which lines they execute"):
            progress.step()

    def order(self, mutant: draw.Mutant) -> list[tree.Program]:
        """The programs that execute its line. Programs that are fast and execute few other lines come first."""
        if mutant.file in self.sources.commands:
            names = self.coverage.covering(mutant.file, mutant.line, mutant.function_line)
        else:
            names = {name for unit in self.sources.units(mutant.file) for name in self.coverage.covering(unit, 0, 0)}

        def cost(name):
            breadth = sum(len(lines) for lines in self.coverage.lines[name].values())
            return max(self.seconds[name], 0.02) * math.sqrt(breadth)

        return [self.programs[name] for name in sorted(names, key=cost)]

    # ---- the judgement ----

    def judge(self, mutant: draw.Mutant, most_s: float = math.inf) -> Result | draw.Mutant:
        """Runs program after program until one notices the mutant. Returns the mutant itself if the remaining programs would
        exceed `most_s`, measured without a mutation. Where a timeout is not enough, the next programs have their turn."""
        text = draw.mutated_text(program.ROOT, mutant)
        tests = self.order(mutant)
        seconds, late = 0.0, []
        with tree.scratch("mutant-") as name:
            mutated = []
            for test in tests:
                most_s -= self.seconds[test.name]
                if most_s < 0:
                    return mutant
                key = "judged", self.coverage.identity, mutant.file, text, test.identity
                if (known := self.endings.get(*key)) is None:
                    mutated = mutated or self.sources.compile_changed(mutant.file, text, pathlib.Path(name))
                    known = dataclasses.asdict(self.run(mutated, test, self.seconds[test.name]))
                    self.endings.put(known, *key)
                ending = judge.Ending(**known)
                seconds += ending.seconds
                if not ending.passed and not ending.timed_out:
                    return Result(mutant, KILLED, test.name, seconds, _last_line(ending.said))
                late += [test.name] if ending.timed_out else []
                if late and (self.kind.time_out_is_noticed or len(late) == MOST_TIME_OUTS):
                    break
        if late:
            return Result(mutant, TIMED_OUT, late[0], seconds)
        return Result(mutant, SURVIVED, seconds=seconds, ran=tuple(test.name for test in tests))

    def judge_all(self, mutants: list[draw.Mutant], reasons: dict) -> list[Result]:
        """Judges all mutants, and prints survivors at once. Quick programs notice most mutants. The others continue with the slow
        programs after all have been run with the quick ones."""
        results, slow = [], []
        for progress, result in self.each(lambda mutant: self.judge(mutant, QUICK_S), mutants, "mutants, quick tests"):
            if isinstance(result, draw.Mutant):
                slow.append(result)
            else:
                results.append(self._look_up(result, reasons, progress))
            progress.step(f", {len(slow)} continue")
        for progress, result in self.each(self.judge, slow, "mutants, all tests"):
            results.append(self._look_up(result, reasons, progress))
            progress.step(f", {sum(r.status == SURVIVED for r in results)} survive")
        return results

    def _look_up(self, result: Result, reasons: dict, progress: show.Progress) -> Result:
        """Looks the mutant up in the list of equivalent mutants."""
        reason = reasons.get(result.mutant.identity)
        if reason is not None and result.status != SURVIVED:
            raise recorded.Wrong(f"{self.kind.recorded.name} calls a mutant equivalent that {result.killer} notices: delete the entry.\n{result}")
        if reason is not None:
            return dataclasses.replace(result, status=RECORDED_AS, reason=reason)
        if result.status == SURVIVED:
            progress.say(f"survived  {result}")
        return result


def _last_line(said: str) -> str:
    """The program's error message."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "error:" in line or "runtime error" in line]
    return (telling or lines or [""])[0][:200]


def files_of(only: str, files: list[str]) -> list[str]:
    """The library's files that ONLY names: a file, or a folder."""
    if not only:
        return files
    name = only.rstrip("/")
    found = [file for file in files if file == name or file.startswith(name + "/")]
    if not found:
        raise Refused(f"ONLY={only} must be a C file or a folder of the library, such as src/nvme/queue.c or src/exfat")
    return found


def counted(results: list[Result]) -> dict[str, dict[str, int]]:
    """Counts by module, for show.table."""
    counts: dict[str, dict[str, int]] = {}
    for result in results:
        count = counts.setdefault(draw.module_of(result.mutant.file), dict.fromkeys(show.COLUMNS, 0))
        count[EQUIVALENT if result.status == RECORDED_AS else result.status] += 1
        count[COVERED] += result.status in (KILLED, TIMED_OUT, SURVIVED, RECORDED_AS)
    return counts


def run(only: str, seed: int, count: int, jobs: int, kind: Kind = MECHANICAL) -> list[dict]:
    """Runs everything. Returns the mutants of the kind's document, such as build/mutants/library.json."""
    program.need_space(pathlib.Path(tempfile.gettempdir()), jobs * judge.FILE_BYTES, f"running {jobs} mutants at a time")
    reasons = recorded.read(kind.recorded)
    recorded.check(program.ROOT, reasons, kind.all_of)
    bench = Bench(jobs, kind=kind)
    wanted = files_of(only, kind.files(bench.sources))
    print(f"drawing the sample of {count} mutants (seed {seed})", flush=True)
    mutants, dropped = bench.sample(wanted, count, seed)
    mutants += bench.always(mutants, wanted)
    if not mutants:
        raise Refused(f"the sample has no mutant in {only}: choose a larger N, such as N={4 * count}")
    beside = bench.recorded_beside(mutants, wanted, reasons, seed)
    bench.baseline()
    bench.cover()
    print(f"{len(mutants)} mutants, {len(beside)} recorded ones outside of the sample, {len(bench.programs)} programs, "
          f"{jobs} at a time", flush=True)
    results = [result for result in bench.judge_all(mutants + beside, reasons) if result.mutant not in beside]
    everything = sorted(results + dropped, key=lambda result: (result.mutant.file, result.mutant.line))
    document = [result.as_json() for result in everything]
    kind.out.write_text(json.dumps({"complete": True, "seed": seed, "count": count, "only": only, "mutants": document}, indent=1) + "\n")
    print()
    for result in everything:
        if result.status == SURVIVED or (result.status == TIMED_OUT and not kind.time_out_is_noticed):
            print(f"{result.status}  {result}")
    print("\n" + "\n".join(show.table(counted(everything), kind.time_out_is_noticed)))
    took_s = sum(result.seconds for result in results)
    print(f"{took_s / 60:.0f} minutes of processor time in tests; results: {kind.out.relative_to(program.ROOT)}")
    return document


def main(description: str = __doc__, kind: Kind = MECHANICAL) -> None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", default="", help="a C file or a folder of src/")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=400, help="how many mutants of the whole src/")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    try:
        found = run(options.only, options.seed, options.sample, options.jobs, kind)
    except (Refused, recorded.Wrong, tree.Invalid, program.Failed, program.NoSpace) as refused:
        raise SystemExit(f"\n{refused}") from None
    raise SystemExit(any(mutant["status"] == SURVIVED for mutant in found))


if __name__ == "__main__":
    main()
