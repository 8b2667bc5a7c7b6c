# SPDX-License-Identifier: Apache-2.0
"""Checks rtl/constraints against the elaborated netlist of each top, because no vendor's tool is here.

The files run in a Tcl interpreter, whose get_cells, get_pins, get_ports and get_clocks answer from the netlist, under the names
that Vivado gives. An empty answer is an error. Then each path between two clocks must be covered by the right kind of constraint,
and each synchroniser be built as one. See xdc/coverage.py and xdc/structure.py for the rules. tclint reads the files, too.

constraints.py [TOP] checks the tops whose names begin so. constraints.py --build FILE... checks scripts that create IP: is each
CONFIG of set_property a property of that IP?
"""

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
READ = {"spate_nvme_axi": "read_axi.tcl", "spate_nvme_stripe_axi": "read_axi.tcl", "spate_nvme_usp": "read_usp.tcl"}


def files_of(top: str) -> list[pathlib.Path]:
    """The clocks of the top alone, then what reads the files of its modules."""
    return [FOLDER / "ooc" / f"{top}.tcl", FOLDER / READ[top]]


def check_top(top: str, parameters: dict[str, int | str]) -> check.Result:
    name = re.sub(r"\W+", "-", f"{top} {parameters or ''}").strip("-")
    return check.check(elaborate.elaborate(top, parameters, name), top, files_of(top))


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
    print(f"constraints  {len(sets)} sets of parameters, {crossings} paths between clocks: all are covered")


if __name__ == "__main__":
    main()
