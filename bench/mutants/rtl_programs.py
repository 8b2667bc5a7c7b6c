# SPDX-License-Identifier: Apache-2.0
"""The C++ testbenches that judge mutants of rtl/: those of tests/rtl/testbench whose top is a module that cocotb benches test
as well. A mutant is selected as in a cocotb bench."""

import dataclasses
import os
import pathlib
import shutil
import subprocess

import filelist
import program
from mutants import rtl_netlist, rtl_tests

TESTBENCH = filelist.ROOT / "tests" / "rtl" / "testbench"
# As cmake/verilated.cmake makes them with UNKNOWNS, but faster to compile.
VERILATE = ["--cc", "--exe", "--build", "-j", "2", "--quiet", "--Mdir", ".", "--prefix", "Vmodel", "-o", "bench", "--assert",
            "--x-assign", "unique", "--x-initial", "unique", "--no-timing", "-Wno-fatal", "-Wno-lint",
            "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1"]


@dataclasses.dataclass(frozen=True)
class Program:
    """A test of ctest. `module` is the folder of its sources."""
    test: str
    top: str
    module: str
    parameters: tuple[tuple[str, str], ...]
    defines: tuple[str, ...]
    arguments: tuple[str, ...]
    extra: tuple[str, ...] = ()

    @property
    def design(self) -> rtl_netlist.Elaborated:
        return rtl_netlist.elaborate(self.top, tuple(f"-G{name}={value}" for name, value in self.parameters), self.extra)

    @property
    def build(self) -> tuple:
        return self.top, self.parameters, self.module


def programs() -> list[Program]:
    """Each width, and one of them also with clocks that differ."""
    return [_pcie_axi("rtl_pcie_axi_128", 128),
            _pcie_axi("rtl_pcie_axi_clocks_3334_4000", 128, "-c", "3334", "-b", "4000"),
            _pcie_axi("rtl_pcie_axi_512", 512),
            _pcie_axi("rtl_pcie_axi_256", 256)]


def _pcie_axi(test: str, width: int, *arguments: str) -> Program:
    parameters = ("BarAxiBase", "64'h260000000"), ("DataWidth", str(width)), ("WindowBase", "64'h140200000")
    return Program(test, "spate_pcie_axi", "pcie_axi", parameters,
                   ("SPATE_BENCH_MODEL=AdapterModel", "SPATE_ADAPTER_VERILATED=Vmodel"), arguments)


def build(bench: Program, sources: dict[str, str], folder: pathlib.Path) -> None:
    """Builds the bench with these sources in place of rtl/'s. SystemExit with the log if the build fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = ["rtl/lint/waivers.vlt", *(sources.get(path, path) for path in filelist.needed_by(bench.top, bench.extra)),
             *sorted((TESTBENCH / bench.module).glob("*.cpp")), TESTBENCH / "board.cpp"]
    # Relative, because Verilator's makefiles cannot hold a blank.
    sources_from_here = [os.path.relpath(filelist.ROOT / path, folder) for path in files]
    flags = [f"-I{os.path.relpath(path, folder)}" for path in (TESTBENCH / bench.module, TESTBENCH)]
    flags += ["-std=c++17", *(f"-D{define}" for define in bench.defines)]
    values = [f"-G{name}={value}" for name, value in bench.parameters]
    try:
        program.run(filelist.ROOT / "tools" / "rtl" / "verilator", *VERILATE, "--top-module", bench.top, *values,
                    *(word for flag in flags for word in ("-CFLAGS", flag)), *sources_from_here, cwd=folder,
                    stderr=subprocess.STDOUT)
    except program.Failed as failed:
        raise SystemExit(f"{bench.top} with mutants does not build: {failed}") from failed


def simulate(bench: Program, folder: pathlib.Path, number: int, limit_s: int) -> rtl_tests.Verdict:
    """Runs the bench on the build in `folder`, with a mutant switched on; 0 is none."""
    log = folder / f"{bench.test}-{number}.log"
    environment = {**os.environ, rtl_netlist.SELECTOR.upper(): str(number)}
    status, cpu_s = rtl_tests.limited([str(folder / "bench"), *bench.arguments], log, limit_s, environment, folder)
    if status in rtl_tests.OVER_LIMIT:
        return rtl_tests.Verdict("over limit", cpu_s, bench.test)
    by = f"ctest --preset gateware -R {bench.test}"
    return rtl_tests.Verdict("failed", cpu_s, by) if status else rtl_tests.Verdict("passed", cpu_s)
