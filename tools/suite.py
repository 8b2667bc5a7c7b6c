# SPDX-License-Identifier: Apache-2.0
"""
Runs the steps of tests/steps.toml, one after the other, and stops at the first that fails.

    suite.py test              what `make test` runs
    suite.py test test-all     what `make test-all` runs
    suite.py --rest BEGIN      after `make test`: as many of the other steps as end within an hour from BEGIN (seconds since 1970)
    suite.py --times           the costs of the last run, beside the budgets

Each run writes build/bench/test-times.json: seconds and CPU seconds of each step and of the slowest tests.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import resource
import shlex
import sys
import time
import tomllib

import program

STEPS = program.ROOT / "tests" / "steps.toml"
TIMES = program.BUILD / "bench" / "test-times.json"
LINES = program.BUILD / "test-times.txt"  # a line a test: CPU seconds, seconds, name. tools/run and tests/conftest.py write it
SLOWEST = 30
REST_S = 3600  # what a run that is not to block others may take, make test included
CHANGED_S = 12 * 3600


@dataclasses.dataclass(frozen=True)
class Step:
    make: str  # the words after make
    suite: str  # "test", or "test-all" for what only make test-all runs
    cpu_s: float  # the budget
    sources: tuple[str, ...]  # what it tests: folders and files


def steps() -> list[Step]:
    table = tomllib.loads(STEPS.read_text())
    return [Step(**(row | {"sources": tuple(row["sources"])})) for row in table["step"]]


# ---- what is run after make test, when there is not time for all ----


def changed_files(repository: pathlib.Path = program.ROOT) -> set[str]:
    """The files that commits of the last hours before HEAD's changed."""
    def git(*words):
        return program.run("git", "-C", repository, *words).stdout

    since = int(git("show", "-s", "--format=%ct", "HEAD")) - CHANGED_S
    return set(filter(None, git("log", f"--since={since}", "--format=", "--name-only").splitlines()))


def commit_count(repository: pathlib.Path = program.ROOT) -> int:
    return int(program.run("git", "-C", repository, "rev-list", "--count", "HEAD").stdout)


def next_prime(number: int) -> int:
    while any(number % divisor == 0 for divisor in range(2, number)):
        number += 1
    return max(number, 2)


def rotated(some: list[Step], count: int) -> list[Step]:
    """Begins one step later at each commit. The period is a prime, so each step comes first within that many runs, however many
    commits there are between two runs, unless it is a multiple of the period."""
    if not some:
        return []
    begin = count % next_prime(len(some))
    begin = begin if begin < len(some) else 0
    return some[begin:] + some[:begin]


def in_order(rest: list[Step], changed: set[str], count: int) -> list[Step]:
    """The step whose turn it is, then those whose sources have changed, then the others."""
    def is_other(step):
        return not any(name == source or name.startswith(f"{source}/") for name in changed for source in step.sources)

    turn = rotated(rest, count)
    return turn[:1] + sorted(turn[1:], key=is_other)


def fits(step: Step, seconds_per_cpu_s: float, begin: float, now: float) -> bool:
    return now + step.cpu_s * seconds_per_cpu_s <= begin + REST_S


# ---- running ----


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(step: Step) -> dict:
    """Runs a step, and returns its row of the times. Its output is shown as it comes."""
    begin, before = time.monotonic(), cpu_s()
    words = [os.environ.get("MAKE", "make"), "--no-print-directory", *shlex.split(step.make)]
    with program.process(words, cwd=program.ROOT, env=os.environ | {"SPATE_TEST_TIMES": str(LINES)}) as process:
        status = process.wait()
    return {"name": step.make, "suite": step.suite, "status": status, "seconds": round(time.monotonic() - begin, 1),
            "cpu_s": round(cpu_s() - before, 1), "budget_cpu_s": step.cpu_s}


def slowest() -> list[dict]:
    rows = [line.split(" ", 2) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    tests = [{"name": name, "seconds": float(seconds), "cpu_s": float(cpu)} for cpu, seconds, name in rows]
    return sorted(tests, key=lambda test: -test["cpu_s"])[:SLOWEST]


def write_times(name: str, rows: list[dict]) -> None:
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    times = {"bench": "test-times", "command": f"make {name}", "steps": rows, "tests": slowest()}
    TIMES.write_text(json.dumps(times, indent=1) + "\n")


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def say(text: str) -> None:
    print(text, flush=True)


def run_all(name: str, wanted: list[Step], earlier: list[dict], may_begin=lambda _: True) -> tuple[list[dict], list[Step]]:
    """Runs steps, and returns all rows and the steps that were left out. The last row says whether its step failed: none is
    run after it."""
    rows, left = list(earlier), []
    begin = time.monotonic()
    for number, step in enumerate(wanted, 1):
        if not may_begin(step):
            left.append(step)
            continue
        say(f"== {name} {number}/{len(wanted)}, after {minutes(time.monotonic() - begin)} min: {step.make}")
        rows.append(run(step))
        write_times(name, rows)
        if rows[-1]["status"]:
            return rows, left + wanted[number:]
    return rows, left


def end(name: str, rows: list[dict], left: list[Step]) -> int:
    """Prints the last lines of a run, and returns its exit status."""
    failed = [row for row in rows if row["status"]]
    for row in rows:
        if row["cpu_s"] > row["budget_cpu_s"]:
            say(f"beyond its budget: {row['name']} took {row['cpu_s']:.0f} CPU seconds, the budget is {row['budget_cpu_s']:.0f} "
                "(tests/steps.toml)")
    if left:
        say("not run, because a step failed or they might end too late:" if failed else
            f"not run, because they might end after {REST_S // 60} minutes; other commits begin with them:")
        for step in left:
            say(f"    make {step.make}")
    for row in failed:
        say(f"make {name}: {row['name']} failed (exit {row['status']}); its lines above say why. To run it alone: make {row['name']}")
    say(f"steps: {len(rows) - len(failed)} passed, {len(failed)} failed, {len(left)} skipped in "
        f"{minutes(sum(row['seconds'] for row in rows))} minutes; make test-times prints what each took")
    return 1 if failed else 0


def print_times() -> None:
    if not TIMES.exists():
        raise SystemExit(f"{TIMES.relative_to(program.ROOT)} is not there: make test writes it")
    times = json.loads(TIMES.read_text())
    say(f"{'step':<34}{'seconds':>9}{'CPU s':>9}{'budget':>9}")
    for row in times["steps"]:
        mark = "  beyond its budget" if row["cpu_s"] > row["budget_cpu_s"] else ""
        say(f"{row['name']:<34}{row['seconds']:>9.1f}{row['cpu_s']:>9.1f}{row['budget_cpu_s']:>9.0f}{mark}")
    totals = [sum(row[key] for row in times["steps"]) for key in ("seconds", "cpu_s", "budget_cpu_s")]
    say(f"{'all':<34}{totals[0]:>9.1f}{totals[1]:>9.1f}{totals[2]:>9.0f}\n")
    say(f"{'seconds':>9}{'CPU s':>9}  the slowest tests")
    for test in times["tests"]:
        say(f"{test['seconds']:>9.1f}{test['cpu_s']:>9.1f}  {test['name']}")


def rest(begin: float) -> int:
    """The steps that make test has left out, as far as time allows. How long they take is estimated from their budgets and from
    how long make test has taken for its own."""
    done = [row for row in json.loads(TIMES.read_text())["steps"] if row["suite"] == "test"]
    pace = sum(row["seconds"] for row in done) / sum(row["budget_cpu_s"] for row in done)
    wanted = in_order([step for step in steps() if step.suite != "test"], changed_files(), commit_count())
    rows, left = run_all("test-rest", wanted, done, lambda step: fits(step, pace, begin, time.time()))
    return end("test-rest", rows, left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="test|test-all")
    parser.add_argument("--rest", type=float, metavar="BEGIN")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    if set(options.suites) - {"test", "test-all"} or not (options.suites or options.times or options.rest is not None):
        parser.error("name test, or test and test-all; or --rest, or --times")
    if options.times:
        print_times()
        return 0
    if options.rest is not None:
        return rest(options.rest)
    LINES.unlink(missing_ok=True)
    name = options.suites[-1]
    rows, left = run_all(name, [step for step in steps() if step.suite in options.suites], [])
    return end(name, rows, left)


if __name__ == "__main__":
    sys.exit(main())
