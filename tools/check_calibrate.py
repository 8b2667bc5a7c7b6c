#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `spate calibrate` recovers the profiles of the virtual drives. Prints a table of the true values, the values
found, and the deviations. Fails above 5 %.

The drives are scaled: one factor divides capacity, SLC cache and folded bytes. Rates, times, the volatile cache, pauses and heat
stay. This is harder than the real task, because a pause or a buffer weighs more beside a small cache.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import sys
import tempfile

import program

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = ROOT / "sim/profiles"
LIMIT = 0.05
SCALED = ("capacity_bytes", "slc_bytes", "slc_full_bytes", "fold_bytes")
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "kB/s": 1e3,
         "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "nJ/B": 1e-9}  # fmt: skip
NS = {"ns": 1, "us": 1e3, "ms": 1e6}
MS = {"ms": 1, "s": 1e3}
LINE = re.compile(r'(\w+)\s+("[^"]*"|\S+)(?: +([^\s#]+))?\s*# (.*)')

RATES = ("read_rate", "slc_rate", "direct_rate", "fold_rate", "full_rate")
COMPARED = ("capacity_bytes", "generation", "lanes", "mdts_pages", "queue_entries", "atomic_bytes", "warning_c", "critical_c",
            "command_ns", "write_latency_ns", "read_latency_ns", "flush_ns", "fua_ns", *RATES, "slc_bytes", "slc_full_bytes",
            "slc_refill_rate", "slc_rest_ms", "fold_bytes", "buffer_bytes", "pause_bytes", "pause_ms")  # fmt: skip
HEAT = ("idle rise, K", "rise, K per GB/s", "time constant, s")

# Values that no stream can show, with the reason. The result must say that such a value was assumed.
HIDDEN = {
    ("ideal", "buffer_bytes"): "the media takes all that the link carries: nothing stays in the volatile cache",
    ("ideal", "idle rise, K"): "the drive stays cold",
    ("ideal", "rise, K per GB/s"): "the drive stays cold",
    ("ideal", "time constant, s"): "the drive stays cold",
}
# If a front end takes no time, the host's own time hides it: some hundred instructions and a register write.
HOST_NS = 400


def scaled_text(path, scale):
    """A profile with its sizes divided by `scale`."""

    def smaller(line):
        match = LINE.match(line)
        if not match or match[1] not in SCALED:
            return line
        size = int(float(match[2]) * UNITS[match[3]] / scale) // 4096 * 4096
        return f"{match[1]} {size} B # {match[4]}"

    return "\n".join(map(smaller, path.read_text(encoding="utf-8").splitlines())) + "\n"


def values(text):
    """{key: number} and {key: source} from a profile."""
    numbers, sources = {}, {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match and not line.startswith("#"):
            key, word, unit, sources[match[1]] = match.groups()
            if word.startswith('"') or word in ("yes", "no"):
                numbers[key] = word
            else:
                units = MS if key.endswith("_ms") else NS if key.endswith("_ns") else UNITS
                numbers[key] = float(word) * units.get(unit, 1)
    return numbers, sources


def with_heat(numbers):
    """Adds the products that temperatures reveal: power itself cannot be measured."""
    resistance = numbers["heat_resistance"]
    products = (numbers["idle_watts"] * resistance, numbers["joules_per_byte"] * resistance * 1e9,
                numbers["heat_capacity"] * resistance)  # fmt: skip
    return numbers | dict(zip(HEAT, products, strict=True))


def link_rates(generation, lanes):
    """The simulated link's rates down and up: 256 bytes per packet, 24 and 20 bytes of headers, 2 % for other packets."""
    raw = {3: 8e9, 4: 16e9, 5: 32e9}[generation] * lanes * 128 / 130 / 8 * 0.98
    return raw * 256 / 280, raw * 256 / 276


def expected(key, true):
    """The value that can be found: a rate is limited by the link."""
    down, up = link_rates(int(true["generation"]), int(true["lanes"]))
    if key in RATES:
        return min(true[key], up if key == "read_rate" else down)
    return true[key]


@dataclasses.dataclass
class Row:
    drive: str
    key: str
    true: float
    found: float
    deviation: float
    good: bool
    note: str = ""


def row(drive, key, true, found, source):
    if (drive, key) in HIDDEN:
        return Row(drive, key, true[key], found[key], 0, source.startswith("assumed"), f"hidden: {HIDDEN[drive, key]}")
    want, got = expected(key, true), found[key]
    if key == "command_ns" and want == 0:
        return Row(drive, key, want, got, 0, got <= HOST_NS, "hidden: the host takes longer")
    deviation = abs(got - want) / want if want else float(got != 0)
    measured = source.startswith(("measured:", "report:"))
    note = "" if measured else "not measured"
    if want != true[key]:
        note = "limited by the link"
    return Row(drive, key, want, got, deviation, measured and deviation <= LIMIT, note)


def compare(drive, true_text, found_text, heat=True, keys=COMPARED):
    true, found = with_heat(values(true_text)[0]), with_heat(values(found_text)[0])
    sources = values(found_text)[1]
    sources |= dict(zip(HEAT, (sources["heat_resistance"], sources["joules_per_byte"], sources["heat_capacity"]), strict=True))
    rows = [row(drive, key, true, found, sources[key]) for key in (*keys, *(HEAT if heat else ()))]
    same = true["model"] == found["model"] and true["volatile_cache"] == found["volatile_cache"]
    return [*rows, Row(drive, "model, volatile_cache", 1, float(same), float(not same), same)]


def calibrate(spate, path, scale, folder, *words):
    """The scaled profile and the profile found, both as text."""
    true, found = folder / f"{path.stem}.profile", folder / f"{path.stem}-found.profile"
    true.write_text(scaled_text(path, scale), encoding="utf-8")
    program.run(spate, "calibrate", f"sim:{true}", "--profile", found, "--yes", *words, timeout_s=3600)
    return true.read_text(encoding="utf-8"), found.read_text(encoding="utf-8")


def number(value):
    return f"{value:.6g}"


def show(rows):
    print(f"{'drive':<12}{'':<24}{'true':>14}{'found':>14}{'deviation':>11}")
    for one in rows:
        verdict = "" if one.good else "  TOO FAR"
        print(f"{one.drive:<12}{one.key:<24}{number(one.true):>14}{number(one.found):>14}"
              f"{one.deviation:>10.1%} {verdict} {one.note}".rstrip())  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=25)
    parser.add_argument("--skip-heat", action="store_true")
    parser.add_argument("drives", nargs="*")
    arguments = parser.parse_args()
    spate = ROOT / "build" / os.environ.get("SPATE_LINUX_BUILD", "linux") / "bin" / "spate"
    paths = sorted(path for path in PROFILES.glob("*.profile") if not arguments.drives or path.stem in arguments.drives)
    words = ("--skip", "heat") if arguments.skip_heat else ()
    rows = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(calibrate, spate, path, arguments.scale, pathlib.Path(folder), *words) for path in paths]
        for path, job in zip(paths, jobs, strict=True):
            try:
                rows += compare(path.stem, *job.result(), heat=not arguments.skip_heat)
            except program.Failed as failed:
                print(failed, file=sys.stderr)
                return 1
    show(rows)
    bad = [one for one in rows if not one.good]
    worst = max(rows, key=lambda one: one.deviation)
    print(f"\n{len(rows)} values of {len(paths)} drives, {len(bad)} too far; the worst is off by {worst.deviation:.1%} "
          f"({worst.drive}, {worst.key})")  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
