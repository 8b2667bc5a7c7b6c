#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles as a C table: compile.py OUTPUT.c FILE.profile ...

A profile has one line for each key of FIELDS: KEY VALUE [UNIT]  # KIND: where the number comes from. Blank lines and
lines that begin with '#' are for people. Anything else is an error, with the file and the line.
"""

import dataclasses
import math
import pathlib
import re
import sys

KINDS = ("data sheet", "report", "review", "seed", "fitted", "derived", "assumed")

BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
RATE = {"kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}
NS = {"ns": 1, "us": 10**3, "ms": 10**6}
MS = {"ms": 1, "s": 10**3}
CELSIUS = {"C": 1}
PLAIN = {"": 1}

# Key, type of the C field, units and what one is worth, least and greatest value.
FIELDS = {
    "model": (str, None, 1, 40),
    "capacity_bytes": (int, BYTES, 1 << 20, 1 << 56),
    "generation": (int, PLAIN, 1, 5),
    "lanes": (int, PLAIN, 1, 16),
    "mdts_pages": (int, PLAIN, 1, 1 << 16),
    "queue_entries": (int, PLAIN, 2, 65536),
    "command_ns": (int, NS, 0, 10**9),
    "write_latency_ns": (int, NS, 0, 10**9),
    "read_latency_ns": (int, NS, 0, 10**9),
    "ready_ms": (int, MS, 0, 120000),
    "read_rate": (float, RATE, 1e6, 1e15),
    "slc_rate": (float, RATE, 1e6, 1e15),
    "direct_rate": (float, RATE, 1e6, 1e15),
    "fold_rate": (float, RATE, 1e6, 1e15),
    "full_rate": (float, RATE, 1e6, 1e15),
    "slc_bytes": (int, BYTES, 0, 1 << 56),
    "slc_full_bytes": (int, BYTES, 0, 1 << 56),
    "slc_refill_rate": (float, RATE, 0, 1e15),
    "slc_rest_ms": (int, MS, 0, 3600000),
    "fold_bytes": (int, BYTES, 0, 1 << 56),
    "volatile_cache": (bool, None, 0, 1),
    "buffer_bytes": (int, BYTES, 1 << 12, 1 << 50),
    "flush_ns": (int, NS, 0, 10**9),
    "fua_ns": (int, NS, 0, 10**9),
    "pause_bytes": (int, BYTES, 0, 1 << 56),
    "pause_ms": (int, MS, 0, 60000),
    "idle_watts": (float, {"W": 1}, 0, 100),
    "joules_per_byte": (float, {"nJ/B": 1e-9}, 0, 1e-6),
    "heat_capacity": (float, {"J/K": 1}, 0.1, 1e6),
    "heat_resistance": (float, {"K/W": 1}, 0, 1000),
    "ambient_c": (float, CELSIUS, -40, 85),
    "warning_c": (float, CELSIUS, 0, 150),
    "throttle_c": (float, CELSIUS, 0, 150),
    "recover_c": (float, CELSIUS, 0, 150),
    "throttle_factor": (float, PLAIN, 0.01, 1),
    "critical_c": (float, CELSIUS, 0, 150),
    "atomic_bytes": (int, BYTES, 0, 32768),
}

LINE = re.compile(r'(?P<key>\w+)\s+(?P<value>"[^"\\]*"|[^\s#"]+)(?:\s+(?P<unit>[^\s#]+))?\s*(?:#\s*(?P<source>.*))?')


class ProfileError(Exception):
    """Says what is wrong as FILE:LINE: SENTENCE."""


@dataclasses.dataclass
class Value:
    """A key's value in the unit of the C field, as it was written, and its source."""

    value: object
    text: str
    kind: str
    source: str


def parse_number(kind, units, text, unit):
    """The number in the field's own unit; ValueError with a sentence."""
    if unit not in units:
        known = ", ".join(u or "none" for u in units)
        raise ValueError(f"bad unit '{unit}' (known here: {known})" if unit else f"unit missing (known here: {known})")
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a number") from None
    number *= units[unit]
    if not math.isfinite(number):
        raise ValueError(f"'{text}' is not finite")
    if kind is int:
        if abs(number - round(number)) > 1e-9 * max(1.0, abs(number)):
            raise ValueError(f"'{text} {unit}' is not a whole number of the field's unit")
        number = round(number)
    return number


def parse_value(key, text, unit):
    """The value of a key; ValueError with a sentence."""
    kind, units, least, most = FIELDS[key]
    if kind is str:
        if not text.startswith('"') or unit:
            raise ValueError("wants a text in quotes and no unit")
        value = text[1:-1]
        if not value.isascii() or not value.isprintable() or not least <= len(value) <= most:
            raise ValueError(f"wants {least} to {most} printable ASCII characters")
        return value
    if kind is bool:
        if text not in ("yes", "no") or unit:
            raise ValueError("wants yes or no")
        return text == "yes"
    value = parse_number(kind, units, text, unit)
    if not least <= value <= most:
        raise ValueError(f"{value:g} is not between {least:g} and {most:g}")
    return value


def check_whole(values):
    """What no single line shows; ValueError with a sentence."""
    value = {key: entry.value for key, entry in values.items()}
    if value["mdts_pages"] & (value["mdts_pages"] - 1):
        raise ValueError("mdts_pages is not a power of two")
    if value["lanes"] not in (1, 2, 4, 8, 16):
        raise ValueError("lanes is not 1, 2, 4, 8 or 16")
    if value["slc_full_bytes"] > value["slc_bytes"] or value["slc_bytes"] > value["capacity_bytes"]:
        raise ValueError("slc_full_bytes <= slc_bytes <= capacity_bytes does not hold")
    if value["slc_bytes"] == 0 and value["fold_bytes"] > 0:
        raise ValueError("fold_bytes without slc_bytes: there is nothing to fold")
    if not value["recover_c"] < value["throttle_c"] <= value["critical_c"]:
        raise ValueError("recover_c < throttle_c <= critical_c does not hold")
    if (value["pause_bytes"] == 0) != (value["pause_ms"] == 0):
        raise ValueError("pause_bytes and pause_ms go together")


def parse_line(line):
    """(key, Value) of a line that is not for people; ValueError with a sentence."""
    match = LINE.fullmatch(line)
    if not match:
        raise ValueError("not KEY VALUE [UNIT]  # KIND: SOURCE")
    key, source = match["key"], (match["source"] or "").strip()
    if key not in FIELDS:
        raise ValueError(f"unknown key '{key}'")
    kind, _, rest = source.partition(":")
    if kind not in KINDS or not rest.strip():
        raise ValueError(f"'{key}' has no source: '# KIND: ...', KIND one of {', '.join(KINDS)}")
    try:
        value = parse_value(key, match["value"], match["unit"] or "")
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    text = " ".join(part for part in (match["value"].strip('"'), match["unit"]) if part)
    return key, Value(value, text, kind, rest.strip())


def parse(path):
    """{key: Value} of a profile, all of FIELDS; ProfileError."""
    values = {}
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            key, value = parse_line(line)
            if key in values:
                raise ValueError(f"'{key}' a second time")
        except ValueError as error:
            raise ProfileError(f"{path}:{number}: {error}") from None
        values[key] = value
    missing = [key for key in FIELDS if key not in values]
    if missing:
        raise ProfileError(f"{path}:{len(lines) + 1}: missing: {', '.join(missing)}")
    try:
        check_whole(values)
    except ValueError as error:
        raise ProfileError(f"{path}:{len(lines)}: {error}") from None
    return values


def literal(key, value):
    """A value as C."""
    kind = FIELDS[key][0]
    if kind is str:
        return '"' + value + '"'
    if kind is bool:
        return "true" if value else "false"
    return f"UINT64_C({value})" if kind is int and value >= 1 << 31 else repr(value)


def initialiser(path, values):
    """One profile as a designated initialiser."""
    name = pathlib.Path(path).stem
    if not re.fullmatch(r"[0-9a-z]{1,31}", name):
        raise ProfileError(f"{path}:1: a profile's file name is up to 31 digits and small letters")
    fields = [f"    .{key} = {literal(key, entry.value)}," for key, entry in values.items()]
    return "\n".join(["  {", f'    .name = "{name}",', *fields, "  },"])


def main(arguments):
    """The table of all profiles named, in the order of their names."""
    if len(arguments) < 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    output, *paths = arguments
    try:
        table = [initialiser(path, parse(path)) for path in sorted(paths)]
    except (ProfileError, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    text = "\n".join(
        [
            "/* Made by compile.py of the profiles beside it. */",
            '#include "profile.h"',
            "",
            "extern const struct sim_profile sim_profiles[];",
            "extern const unsigned sim_profile_count;",
            "",
            "const struct sim_profile sim_profiles[] = {",
            *table,
            "};",
            f"const unsigned sim_profile_count = {len(table)};",
            "",
        ]
    )
    pathlib.Path(output).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
