# SPDX-License-Identifier: Apache-2.0
"""Checks rtl/constraints against the elaborated netlist of each top, because no vendor's tool is here.

The files run in a Tcl interpreter, whose get_cells, get_pins, get_ports and get_clocks answer from the netlist, under the names
that Vivado gives. An empty answer is an error. Then each path between two clocks must be covered by the right kind of constraint,
and each synchroniser be built as one. See xdc/coverage.py and xdc/structure.py for the rules. tclint reads the files, too.

constraints.py [TOP] checks the tops whose names begin so, and without TOP the boards, with the vendor's modules as black boxes.
constraints.py --build FILE... checks scripts that create IP: is each CONFIG of set_property a property of that IP?
"""

import dataclasses
import pathlib
import re
import sys

import filelist
import only
import program
import tops
from xdc import build_script, check, elaborate

FOLDER = filelist.ROOT / "rtl" / "constraints"
TCLINT = (program.BUILD / "venv-lint" / "bin" / "tclint", "--style-line-length", "120")
BLOCK_NS = 8.0  # the period of the block's user clock, 125 MHz
# Findings on boards that are accepted, each with its reason:
ACCEPTED = tuple(re.compile(pattern) for pattern in (
    # A register of the console shows these. While the link trains, a value may have bits of two states.
    r"→ u_board/u_bench/u_console/.*a bit of u_board/u_pcie/cfg_(ltssm_state|negotiated_width|current_speed),.*no set_bus_skew covers it",
    # It changes only while the drive is being brought up, before the drive reads anything.
    r"→ u_board/u_spate/u_adapter/gen_payload.*a bit of u_board/u_pcie/cfg_max_payload,.*no set_bus_skew covers it",
    # LEDs and a register of the console show this level. At most one synchroniser, the last by name, gives it to the core.
    r"synchronisers of core may disagree about it: (u_board/u_bench/\S+/D(, )?)+(u_board/(?!u_bench/)\S+/D)?$",
))
READ = {"spate_nvme_axi": "read_axi.tcl", "spate_nvme_stripe_axi": "read_axi.tcl", "spate_nvme_usp": "read_usp.tcl"}


def files_of(top: str) -> list[pathlib.Path]:
    """The clocks of the top alone, then what reads the files of its modules."""
    return [FOLDER / "ooc" / f"{top}.tcl", FOLDER / READ[top]]


def check_top(top: str, parameters: dict[str, int | str]) -> check.Result:
    name = re.sub(r"\W+", "-", f"{top} {parameters or ''}").strip("-")
    return check.check(elaborate.elaborate(top, parameters, name), top, files_of(top))


def board_clocks(board: str) -> str:
    """The clocks that Vivado derives from the vendor's netlists, at the pins that build.tcl names: the core's and the block's; and
    the clock of each port."""
    script = (filelist.BOARDS / board / "build.tcl").read_text()
    core, block = re.search(r"finish_project \S+ \$jobs \{(\S+) (\S+)\}", script).groups()
    hertz = re.search(r"ClockHz = ([\d_]+)", (filelist.BOARDS / board / f"{filelist.board_top(board)}.sv").read_text())
    return (f"create_clock -name core -period {1e9 / int(hertz[1]):.4f} [get_pins {core}]\n"
            f"create_clock -name block -period {BLOCK_NS} [get_pins {block}]\n"
            "set_input_delay -clock block 0 [get_ports pcie_rx_*]\nset_output_delay -clock block 0 [get_ports pcie_tx_*]\n"
            "set_output_delay -clock core 0 [get_ports -filter {DIRECTION == OUT && NAME !~ pcie_tx_*}]\n")


def board_netlist(board: str) -> dict:
    text, top = "".join((filelist.ROOT / path).read_text() for path in filelist.vendor()), filelist.board_top(board)
    boxes = tuple(name for name in re.findall(r"^module (\w+)", text, re.M) if name != "BUFG")
    return elaborate.elaborate(top, {}, top, filelist.needed_by(top, (*filelist.boards()[board], *filelist.vendor())), boxes)


def check_board(board: str, netlist: dict, folder: pathlib.Path | None = None) -> check.Result:
    """A board's whole top with its constraints and those of the core's modules. `folder` is read instead of the board's."""
    clocks = elaborate.FOLDER / f"{board}-clocks.tcl"
    clocks.write_text(board_clocks(board))
    folder = folder or filelist.BOARDS / board
    read = re.search(r"read_\w+\.tcl", (folder / "build.tcl").read_text())[0]
    files = [clocks, FOLDER / read, folder / f"{board}.xdc", folder / "crossings.xdc"]
    result = check.check(netlist, filelist.board_top(board), files)
    findings = [finding for finding in result.findings if not any(accepted.search(finding) for accepted in ACCEPTED)]
    return dataclasses.replace(result, findings=findings)


def report(what: str, findings: list[str]) -> None:
    if findings:
        raise SystemExit("\n".join([f"== constraints {what}", *findings[:40], *(["…"] if len(findings) > 40 else [])]))


def unread() -> list[str]:
    """Files that no top reads."""
    read = "".join((FOLDER / name).read_text() for name in set(READ.values()))
    files = sorted(FOLDER.glob("spate_*.xdc"))
    return [f"rtl/constraints/{path.name} is read by no read_*.tcl" for path in files if path.stem not in read]


def tclint(*files: pathlib.Path) -> None:
    try:
        program.run(*TCLINT, *files, cwd=filelist.ROOT)
    except program.Failed as failed:
        raise SystemExit(str(failed)) from failed


def main() -> None:
    if sys.argv[1:2] == ["--build"]:
        scripts = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
        tclint(*scripts)
        for script in scripts:
            report(str(script), build_script.findings(script))
        print(f"constraints  {len(scripts)} scripts: all properties are known")
        return
    chosen = only.choose("top", list(READ), lambda top: (top,), sys.argv[1] if len(sys.argv) > 1 else "")
    tclint(*map(pathlib.Path, ("rtl/constraints", "rtl/boards", "rtl/ip", "tools/rtl/xdc")))
    report("rtl/constraints", unread())
    sets = [(top, parameters) for top in chosen for parameters in ({}, *tops.LINT.get(top, ()))]
    crossings = 0
    for top, parameters in sets:
        result = check_top(top, parameters)
        report(f"{top} {parameters or ''}", result.findings)
        crossings += result.crossings
    boards = filelist.boards() if len(chosen) == len(READ) else ()
    for board in boards:
        result = check_board(board, board_netlist(board))
        report(board, result.findings)
        crossings += result.crossings
    print(f"constraints  {len(sets)} sets of parameters, {len(boards)} boards, {crossings} paths between clocks: all are covered")


if __name__ == "__main__":
    main()
