# SPDX-License-Identifier: Apache-2.0
"""On which input bits an output bit of a cell of logic depends. More than it does for some cells: then a path may be found that no
value takes, as in a timing analyser."""

from collections.abc import Iterator

BY_BIT = {"$and", "$or", "$xor", "$xnor", "$not", "$buf", "$pos", "$mux", "$pmux"}
BY_CARRY = {"$add", "$sub", "$neg"}
ALL = {"$logic_and", "$logic_or", "$logic_not", "$eq", "$ne", "$lt", "$le", "$gt", "$ge", "$reduce_and", "$reduce_or",
       "$reduce_xor", "$reduce_xnor", "$reduce_bool", "$shl", "$shr", "$shift", "$shiftx", "$mul", "$bmux", "$demux"}


def depends(cell: dict, bits: dict[str, list]) -> Iterator[tuple[int, list, int]]:
    """(output bit, input bits, place of the output bit in its word) for each output bit. Constants are None."""
    kind, output = cell["type"], bits.get("Y", [])
    inputs = {port: value for port, value in bits.items() if port != "Y"}
    if kind not in BY_BIT | BY_CARRY | ALL:
        raise SystemExit(f"a cell of type {kind} is not known to tools/rtl/xdc/through.py: add it there")
    select = inputs.pop("S") if kind in ("$mux", "$pmux") else []
    words = [word[first:first + len(output)] for word in inputs.values() for first in range(0, len(word), len(output))]
    same = kind in BY_BIT and all(len(word) == len(output) for word in words)
    every = [bit for word in inputs.values() for bit in word] + select
    for place, bit in enumerate(output):
        if bit is None:
            continue
        if same:
            yield bit, [word[place] for word in words] + select, place
        elif kind in BY_CARRY:
            yield bit, [source for word in inputs.values() for source in word[:place + 1]], place
        else:
            yield bit, every, place
