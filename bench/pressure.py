# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/pressure.svg: two sources at the moment when a drive's fast cache runs out, one that listens to the recorder
and one that does not. It uses the lab's experiment on a virtual 970 EVO Plus."""

import argparse
import pathlib

import figures
from lab import plots, runner, runs, text

GB, GIB = 1e9, 1 << 30
POINTS = 150  # per curve
PICTURE = runner.ROOT / "docs/images/pressure.svg"
LEVELS = {1: ("#fef3c7", "watch"), 2: ("#fed7aa", "slow down"), 3: ("#fecaca", "critical")}


def thinned(series: dict, key: str, of_many) -> tuple[list[float], list[float]]:
    """Times and values, with several samples combined into each."""
    step = max(1, len(series["t_s"]) // POINTS)
    parts = [slice(at, at + step) for at in range(0, len(series["t_s"]), step)]
    return ([series["t_s"][part][0] for part in parts], [of_many(series[key][part]) for part in parts])


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def bands(axis, series: dict) -> set[int]:
    """Draws the recorder's levels as colors behind the curve. Returns the levels that occur."""
    times, levels = thinned(series, "level", max)
    begin = 0
    for at in range(1, len(levels) + 1):
        if at < len(levels) and levels[at] == levels[begin]:
            continue
        if levels[begin] in LEVELS:
            axis.axvspan(times[begin], times[min(at, len(times) - 1)], color=LEVELS[levels[begin]][0], linewidth=0)
        begin = at
    return set(levels) & LEVELS.keys()


def column(rate, ring, result: dict, who: str) -> set[int]:
    series, lost = result["series"], result["result"]["overrun_bytes"]
    for axis in (rate, ring):
        seen = bands(axis, series)
    for key, color, label in (("source_rate", plots.READ, "source"), ("bytes_per_s", plots.WRITE, "onto the drive")):
        times, values = thinned(series, key, mean)
        rate.plot(times, [value / GB for value in values], color=color, linewidth=1.3, label=label)
    times, held = thinned(series, "ring_bytes", max)
    ring.plot(times, [value / GIB for value in held], color=plots.OURS, label="in the ring")
    ring.axhline(result["options"]["ring"] / GIB, color="black", linewidth=1, linestyle=":", label="its size")
    rate.set_title(f"{who}: {f'{lost / GB:.1f} GB lost' if lost else 'nothing lost'}")
    ring.set_xlabel("time, s")
    return seen


def draw(ignores: dict, listens: dict, path: pathlib.Path) -> None:
    # Text in the picture stays text.
    with plots.plt.rc_context({"svg.fonttype": "none"}), \
            plots.figure(path, rows=2, columns=2, width=9.0, height=5.0, sharex=True, sharey="row") as axes:
        seen = column(axes[0][0], axes[1][0], ignores, "A source that does not listen")
        seen |= column(axes[0][1], axes[1][1], listens, "A source that listens")
        axes[0][0].set_ylim(bottom=0)
        axes[0][0].set_ylabel("rate, GB/s")
        axes[1][0].set_ylabel("ring, GiB")
        axes[0][0].legend(loc="lower left")
        bars = [plots.plt.Rectangle((0, 0), 1, 1, color=LEVELS[level][0], label=f"recorder says: {LEVELS[level][1]}")
                for level in sorted(seen)]
        axes[0][1].legend(handles=bars, loc="lower left")
        axes[1][0].legend(loc="center left")
    lost, ring = ignores["result"]["overrun_bytes"], ignores["options"]["ring"]
    plots.describe(path, "A source that listens loses nothing",
                   f"A source of {ignores['options']['rate'] / GB:.1f} GB/s records onto a virtual 970 EVO Plus through a ring of "
                   f"{text.size(ring)}. When the fast cache of the drive runs out, a source that does not listen loses {lost / GB:.1f} GB. "
                   "A source that slows down when the recorder says so loses nothing. Made by make pressure.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=runner.BUILD / "host-release/lab")
    parser.add_argument("--picture", type=pathlib.Path, default=PICTURE)
    options = parser.parse_args()
    lab = runner.Lab(options.programs, runner.OUT / "pressure")
    try:
        lab.all(runs.edge())
    except runner.Failed as failure:
        figures.die("an experiment", str(failure))
    ignores, listens = (lab.results[run.name] for run in runs.edge())
    draw(ignores, listens, options.picture)
    print(f"{options.picture}: {options.picture.stat().st_size} bytes; lost by a source that does not listen "
          f"{ignores['result']['overrun_bytes']} bytes, by one that listens {listens['result']['overrun_bytes']}")


if __name__ == "__main__":
    main()
