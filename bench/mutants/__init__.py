# SPDX-License-Identifier: Apache-2.0
"""make mutants: docs/understand/mutants.md. draw selects the mutants, tree compiles and links them, judge runs programs on them, coverage
selects the programs, recorded has the mutants that cannot be noticed. library.py is the half for src/, and
semantic.py the same with the operators of meaning.py and the mutants of written.py; gateware.py with rtl_*.py is the half for rtl/."""
