# SPDX-License-Identifier: Apache-2.0
"""Formats numbers for the report."""

import math


def gbps(rate: float) -> str:
    return f"{rate / 1e9:.2f} GB/s" if rate >= 1e8 else f"{rate / 1e6:.1f} MB/s"


def number(count: int) -> str:
    """A small number as a word."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else str(count)


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def deviation(share: float) -> str:
    return f"{100 * share:+.1f} %"


def size(count: float) -> str:
    for factor, unit in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def duration_ms(milliseconds: float) -> str:
    if not math.isfinite(milliseconds):
        return "never"
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.2f} s"
    return f"{milliseconds:.2f} ms" if milliseconds >= 0.1 else f"{milliseconds * 1000:.1f} us"


def value(number: float, unit: str) -> str:
    """A figure of seeds.FIGURES in its unit."""
    if unit == "B/s":
        return gbps(number)
    if unit == "B":
        return f"{number / 1e9:.0f} GB"
    if unit == "1/s":
        return f"{number / 1000:.0f} k/s"
    if unit == "size":
        return size(number)
    if unit == "share":
        return percent(number, 0)
    return f"{number:.1f}"
