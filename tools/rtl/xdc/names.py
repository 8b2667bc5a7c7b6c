# SPDX-License-Identifier: Apache-2.0
"""Names that Vivado's synthesis gives to what it infers from a signal.

x → x_reg, x[3] → x_reg[3], a field of a packed struct x.a.b[3] → x_reg[a][b][3]. A LUTRAM is cut into primitives with 14 bits
for reading and one more port for writing: x → x_reg_0_15_0_13, x_reg_0_15_14_27, …; a file should say x_reg*. Instances and
generate blocks are as in the source: gen_far[0].u_head/level_q_reg[1]."""

import re

FIELD = re.compile(r"^(?P<signal>[^.\[]+)(?P<fields>[^\[]*(?:\[\d+\][^\[:]*)*?)(?:\[(?P<high>\d+):(?P<low>\d+)\])?$")
LUTRAM_BITS = 14  # of a RAM32M16


def registers(signal: str, width: int) -> list[str]:
    """The names of a register's bits. `signal` is a name, a field of one (x.a), or a slice (x[7:4])."""
    match = FIELD.match(signal)
    if match is None:
        raise SystemExit(f"a register has a name of an unknown form: {signal}")
    parts = [f"[{part}]" for part in re.split(r"[.\[\]]+", match["fields"]) if part]
    stem = f"{match['signal']}_reg{''.join(parts)}"
    if match["low"] is None and width == 1:
        return [stem]
    low = int(match["low"] or 0)
    return [f"{stem}[{low + index}]" for index in range(width)]


def memory(signal: str, depth: int, width: int) -> list[tuple[str, range]]:
    """The primitives of a LUTRAM, with the bits of the word that each holds."""
    pieces = [range(low, min(low + LUTRAM_BITS, width)) for low in range(0, width, LUTRAM_BITS)]
    return [(f"{signal}_reg_0_{depth - 1}_{bits[0]}_{bits[-1]}", bits) for bits in pieces]
