# SPDX-License-Identifier: Apache-2.0
"""Whether a mutant of rtl/ is proven to be the same as the original."""

import program
from mutants import rtl_netlist


def proven(mutant: rtl_netlist.Mutant, module: rtl_netlist.Module) -> str:
    return ""
