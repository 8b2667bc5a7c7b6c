# SPDX-License-Identifier: Apache-2.0
"""Tries to prove that a mutant of rtl/ is equivalent to the original.

Registers, memories and inner modules are cut: their outputs become inputs, and their inputs outputs. The rest is combinational,
and a SAT solver compares the mutant with the original. They are equal if all outputs and all next states are the same in every
state, reachable or not. Then no test can tell them apart. A mutant that differs only in unreachable states is not found here."""

import pathlib

import filelist
import yowasp
from mutants import rtl_netlist, rtl_tests

LIMIT_S = 60  # of processor time
MEMORY_BITS_MAX = 20000  # larger memories would become too many registers
SCRIPT = """{read}
design -save base
{original}rename {name} gold
design -stash gold
design -load base
{mutate}
{original}rename {name} gate
design -stash gate
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make gold gate compared
hierarchy -top compared
equiv_simple -undef -seq 1
equiv_status -assert
"""
# Only ports and registers keep their names, because equiv_make compares named wires.
CUT = """memory_map {name}
expose -evert {name}
select -set registers {name}/t:$dff* {name}/t:$adff* {name}/t:$sdff* %u %u %x1:+[Q] {name}/w:* %i
rename -hide {name}/w:* @registers %d
"""


def proven(mutant: rtl_netlist.Mutant, module: rtl_netlist.Module) -> str:
    """Returns the reason, or an empty text."""
    netlist = rtl_netlist.netlist(module)
    cell = next((name for name, cell in rtl_netlist.cells(netlist).items() if cell == mutant.cell), None)
    bits = sum(memory["width"] * memory["size"] for memory in netlist.get("memories", {}).values())
    if cell is None or bits > MEMORY_BITS_MAX:
        return ""
    folder = rtl_netlist.WORK / "equal"
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / f"{module.label}-{rtl_netlist.digest(mutant)}.ys"
    script.write_text(SCRIPT.format(read=rtl_netlist.read(module).replace("; ", "\n"), name=module.name,
                                    original=CUT.format(name=module.name), mutate=mutant.command(module.name, cell)))
    log = pathlib.Path(script).with_suffix(".log")
    status, _ = rtl_tests.limited([str(yowasp.YOSYS), "-s", rtl_netlist.below(script)], log, LIMIT_S, yowasp.environment(),
                                  filelist.ROOT)
    if status == 0 and "Equivalence successfully proven!" in log.read_text():
        return "proven: the same outputs and next states in every state"
    return ""
