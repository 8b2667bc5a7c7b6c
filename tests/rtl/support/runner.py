# SPDX-License-Identifier: Apache-2.0
"""Runs a cocotb module on a top under Verilator, as one test of pytest.

    runner.run("spate_fifo", "testbench_fifo", parameters={"Width": 32, "Depth": 16})

It builds once for each top and set of parameters, into build/rtl/cocotb. COCOTB_RANDOM_SEED repeats a run with the seed
that it printed, WAVES=1 writes a waveform (dump.vcd), TESTCASE=name runs one test of the module.
"""

import fcntl
import hashlib
import logging
import os
import pathlib
import shlex
import shutil
import subprocess

import cocotb_tools.runner
import pytest
import spate_sim.verilator

import filelist
import program

FOLDER = filelist.ROOT / "build" / "rtl" / "cocotb"
TAIL_LINES = 60
LIMIT_S = 600
BUILD_JOBS = 2
BUILD_ARGS = ["--assert", "--x-assign", "unique", "--x-initial", "unique"]


class Verilator(spate_sim.verilator.Verilator):
    """The runner of spate_sim, but tools/rtl/verilator builds, with paths relative to the build folder."""

    def _simulator_in_path_build_only(self) -> None:
        self.executable = str(filelist.ROOT / "tools" / "rtl" / "verilator")

    def _build_command(self) -> list[list[str]]:
        (verilator, *words), _ = super()._build_command()  # the second command is make's
        libraries = str(cocotb_tools.config.libs_dir)
        words = [word.replace(libraries, self.relative(libraries)) for word in words]
        words = [self.relative(word) if os.path.isabs(word) else word for word in words]
        return [[verilator, *words, "--build", "-j", str(BUILD_JOBS)]]

    def _execute_cmds(self, cmds, cwd, stdout=None) -> None:
        """cocotb's own message is only the exit code. The output is in the log, and its end is shown below."""
        for words in cmds:
            status = subprocess.run(words, cwd=cwd, env=self.env, check=False, stdout=stdout, stderr=subprocess.STDOUT).returncode
            if status != 0:
                raise RuntimeError(f"{shlex.join(map(str, words))}\n{program.ending(status)}")

    def relative(self, path: str) -> str:
        return os.path.relpath(path, self.build_dir)


def run(top: str, module: str, *, parameters: dict | None = None, extra: tuple[str, ...] = (), name: str = "",
        env: dict[str, str] | None = None, random_values: bool = True) -> None:
    """Builds `top` with `parameters` and runs the cocotb tests of tests/rtl/cocotb/MODULE.py on it. `extra` are sources that are
    not in rtl/spate.f (relative to the repository). `name` distinguishes several runs of a module on one build. `env` is added to
    the module's environment. The seed is 1 unless COCOTB_RANDOM_SEED is set. Without `random_values` all signals begin with 0:
    otherwise the clocks of a top without a wrapper may begin with 1, an edge before the reset."""
    seed = os.environ.get("COCOTB_RANDOM_SEED", "1")
    waves = os.environ.get("WAVES", "0") != "0"
    build = FOLDER / build_name(top, parameters or {}, extra, waves)
    folder = build / (f"{module}-{name}" if name else module)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "run.log"
    os.environ["SIM_CMD_PREFIX"] = f"timeout {LIMIT_S}"  # cocotb's runner starts the simulator with it
    verilator = Verilator()
    verilator.log.setLevel(logging.CRITICAL)  # errors are reported once, below
    with open(build / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_top(verilator, top, parameters or {}, extra, build, waves)
        problem = ""
        try:
            results = verilator.test(
                module, top, hdl_toplevel_lang="verilog", build_dir=build, test_dir=folder, seed=seed, waves=waves,
                results_xml=str(folder / "results.xml"), log_file=log, testcase=os.environ.get("TESTCASE"),
                test_args=[f"+verilator+rand+reset+{2 * random_values}", f"+verilator+seed+{seed}"],
                extra_env={"COCOTB_ANSI_OUTPUT": "0", "LD_LIBRARY_PATH": str(cocotb_tools.config.libs_dir),
                           **(env or {})})
            count, failed = cocotb_tools.runner.get_results(results)
            problem = f"{failed} of {count} tests failed" if failed else "" if count else "it contains no test"
        except (SystemExit, RuntimeError) as error:
            problem = str(error) if isinstance(error, RuntimeError) else "cocotb tests failed, or did not run"
    if problem:
        test = os.environ["PYTEST_CURRENT_TEST"].split(" ")[0]
        again = f"COCOTB_RANDOM_SEED={seed} make test-rtl TEST='{test}'"
        pytest.fail(f"{tail(log)}\n{module} on {build.name}, seed {seed}: {problem}\nlog: {log}\nagain: {again}",
                    pytrace=False)


def build_name(top: str, parameters: dict, extra: tuple[str, ...], waves: bool) -> str:
    """Readable while it is short: the folder's name lists the parameters."""
    values = "".join(f"-{name}={value}" for name, value in sorted(parameters.items()))
    if len(values) > 60:
        values = "-" + hashlib.sha256(values.encode()).hexdigest()[:12]
    wrapped = "".join(f"+{pathlib.PurePath(path).stem}" for path in extra)
    return f"{top}{wrapped}{values}" + ("-waves" if waves else "")


def build_top(verilator, top: str, parameters: dict, extra: tuple[str, ...], build: pathlib.Path, waves: bool) -> None:
    files = [filelist.ROOT / "rtl/lint/waivers.vlt", *(filelist.ROOT / path for path in filelist.needed_by(top, extra))]
    log = build / "build.log"
    try:
        verilator.build(sources=files, hdl_toplevel=top, parameters=parameters, build_dir=build, waves=waves,
                        timescale=("1ns", "1ps"), log_file=log,
                        build_args=BUILD_ARGS)
    except RuntimeError as error:
        said = tail(log)
        shutil.rmtree(build)  # an incomplete build does not always continue correctly
        pytest.fail(f"{said}\n{top} does not build: {error}", pytrace=False)


def tail(log: pathlib.Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-TAIL_LINES:]) if log.exists() else "(no log)"
