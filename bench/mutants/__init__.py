# SPDX-License-Identifier: Apache-2.0
"""make mutants: docs/understand/mutants.md. draw says which mutants, tree compiles and links them, judge runs programs on them,
coverage says which programs, recorded holds those that nobody can notice. library.py is the half for src/,
gateware.py with rtl_*.py the one for rtl/."""
