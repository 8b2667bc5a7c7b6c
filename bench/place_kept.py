# SPDX-License-Identifier: Apache-2.0
"""bench/place.json: the committed results of `make place`, and the gate that compares with them.

{design: {"commit", "netlist", versions of the tools, use, "seeds": {seed: {"fmax_mhz", …}}, "rows", "ends"}}. "rows" and "ends" are
the critical path and the worst end points of the lowest seed.
"""

import json
import pathlib
import statistics

import program
from place import report

PATH = program.ROOT / "bench" / "place.json"
GATE_SEEDS = tuple(range(1, 6))
SPREAD_SEEDS = 8  # how many a spread takes


def load(path: pathlib.Path = PATH) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}


def text(results: dict) -> str:
    """JSON with a line for each seed, row and end point, so that a change is easy to read."""
    def line(value) -> str:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)

    def value_text(value) -> str:
        if isinstance(value, dict):
            return "{\n   " + ",\n   ".join(f"{line(key)}: {line(value[key])}" for key in sorted(value, key=int)) + "\n  }"
        if isinstance(value, list):
            return "[\n   " + ",\n   ".join(map(line, value)) + "\n  ]"
        return line(value)

    def entry_text(entry: dict) -> str:
        return "{\n  " + ",\n  ".join(f"{line(key)}: {value_text(entry[key])}" for key in sorted(entry)) + "\n }"

    return "{\n " + ",\n ".join(f"{line(name)}: {entry_text(results[name])}" for name in sorted(results)) + "\n}\n"


def entry(identity: dict, results: dict[int, report.Result]) -> dict:
    """`identity`: what the figures depend on: commit, netlist, versions."""
    first = results[min(results)]
    used = {name: getattr(first, name) for name in ("luts", "ffs", "ramb18", "ramb36")}
    seeds = {str(seed): {"fmax_mhz": round(result.fmax_mhz, 2), "wire_length": result.wire_length, "levels": result.levels,
                         "logic_ns": round(report.delay_ns(result.path) - report.delay_ns(result.path, "routing"), 2),
                         "routing_ns": round(report.delay_ns(result.path, "routing"), 2)} for seed, result in results.items()}
    return {**identity, **used, "seeds": seeds, "rows": [rounded(row) for row in report.rows(first.path)],
            "ends": [rounded(end) for end in first.ends]}


def rounded(row: tuple) -> list:
    return [round(value, 3) if isinstance(value, float) else value for value in row]


def merged(before: dict | None, now: dict) -> dict:
    """Seeds of the same netlist and tools add up; of another, the new ones replace all."""
    same = before and all(before[name] == now[name] for name in ("netlist", "nextpnr", "yosys"))
    if not same:
        return now
    both = {**before, **now} if min(now["seeds"], key=int) <= min(before["seeds"], key=int) else {**now, **before}
    return both | {"commit": now["commit"], "seeds": before["seeds"] | now["seeds"]}


def frequencies(kept: dict, seeds: tuple[int, ...] | None = None) -> list[float]:
    return [value["fmax_mhz"] for seed, value in kept["seeds"].items() if seeds is None or int(seed) in seeds]


def spread(kept: dict) -> float | None:
    """The range of all seeds, as a part of their median."""
    found = frequencies(kept)
    return (max(found) - min(found)) / statistics.median(found) if len(found) >= SPREAD_SEEDS else None


def tolerance(kept: dict, name: str) -> float | None:
    """The spread of that design; if it has too few seeds, the largest spread of the others."""
    found = {entry_name: value for entry_name, entry in kept.items() if (value := spread(entry)) is not None}
    return found.get(name, max(found.values(), default=None))


def need(kept: dict, name: str) -> None:
    """SystemExit if there is nothing to compare a design with."""
    where = PATH.relative_to(program.ROOT)
    if name not in kept or len(frequencies(kept[name], GATE_SEEDS)) < len(GATE_SEEDS):
        raise SystemExit(f"{where} does not have seeds 1 to {GATE_SEEDS[-1]} of {name}: make place TOP={name} "
                         f"SEED=1-{GATE_SEEDS[-1]} KEEP=1 measures them")
    if tolerance(kept, name) is None:
        raise SystemExit(f"no design in {where} has {SPREAD_SEEDS} seeds, so nothing says how much seeds differ: make place "
                         f"TOP={name} SEED=1-{SPREAD_SEEDS} KEEP=1 measures them")


def worse(kept: dict, name: str, now_mhz: list[float]) -> list[str]:
    """`now_mhz`: the results of GATE_SEEDS."""
    was_mhz, is_mhz = statistics.median(frequencies(kept[name], GATE_SEEDS)), statistics.median(now_mhz)
    least_mhz = was_mhz * (1 - tolerance(kept, name))
    if is_mhz >= least_mhz:
        return []
    return [f"{name}: median {was_mhz:.1f} → {is_mhz:.1f} MHz; seeds alone differ down to {least_mhz:.1f}"]
