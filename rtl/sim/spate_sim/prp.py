# SPDX-License-Identifier: Apache-2.0
"""Walks PRP entries as section 4.3 of the base specification defines them, independently of the core."""

PAGE = 4096


async def segments(prp1: int, prp2: int, length: int, read) -> list[tuple[int, int]]:
    """Returns (address, bytes) for each page that is touched. `read(address, bytes)` reads a list."""
    assert prp1 & 3 == 0, f"PRP1 {prp1:#x} is not a multiple of 4"
    first = min(length, PAGE - prp1 % PAGE)
    found, left = [(prp1, first)], length - first
    if left == 0:
        return found
    if left <= PAGE:
        assert prp2 % PAGE == 0, f"PRP2 {prp2:#x} is not a page"
        return [*found, (prp2, left)]
    assert prp2 & 7 == 0, f"the list at {prp2:#x} is not a multiple of 8"
    while left:
        entries_here = (PAGE - prp2 % PAGE) // 8
        needed = -(-left // PAGE)
        count = min(needed, entries_here)
        data = await read(prp2, count * 8)
        entries = [int.from_bytes(data[i * 8:i * 8 + 8], "little") for i in range(count)]
        chained = needed > entries_here
        for entry in entries[:-1] if chained else entries:
            assert entry % PAGE == 0, f"a list's entry {entry:#x} is not a page"
            found.append((entry, min(left, PAGE)))
            left -= found[-1][1]
        prp2 = entries[-1]
    return found
