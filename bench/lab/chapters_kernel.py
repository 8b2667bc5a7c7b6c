# SPDX-License-Identifier: Apache-2.0
"""The chapter on Linux: systems 2 and 4, predicted from counted instructions."""

import pathlib

from lab import compare, kernel, plots, runs, seeds, text
from lab.page import Chapter, Table
from lab.prose import chapter
from lab.runner import Lab

WHY = {
    "linux-zynqmp-write": "Debian's kernel 6.1 was counted; they ran a smaller one of PetaLinux, 4.14 or 4.19. A buffered "
                          "write spends most in the page cache, which differs most between them",
    "linux-zynqmp-direct": "they measured a 960 EVO, which is slower than the 970 EVO Plus of the profile",
    "linux-zynq7-memcpy": "logic's buffer is mapped uncached there: a copy from it is slower than memory allows",
    "linux-zynq7-mmap": "the same, and a 32-bit kernel on a core that may retire fewer instructions per cycle than the A53",
    "linux-zynq7-dd": "a 32-bit kernel on a core that may retire fewer instructions per cycle than the A53, at an assumed clock",
}


def _versal_rows(lab: Lab) -> list[list[str]]:
    rows = []
    for generation in runs.VERSAL:
        for op in ("read", "write"):
            names = [name for name in lab.results if name.startswith(f"block-990pro-{generation}-linux-{op}-")]
            for name in sorted(names, key=lambda name: lab.results[name]["options"]["block"]):
                result, options = lab.result(name), lab.results[name]["options"]
                rows.append([generation, op, text.size(options["block"]), f"{options['command-ns'] / 1000:.1f} us",
                             text.gbps(result["bytes_per_s"]), f"{result['commands_per_s'] / 1000:.1f} k/s",
                             f"{result['latency']['mean_ns'] / 1000:.0f} us", text.percent(result["host_busy_share"], 0)])
    return rows


def _points(lab: Lab) -> list[list[str]]:
    rows = []
    for point in kernel.POINTS:
        figure, ours = seeds.figure(point.key), lab.rate(point.key)
        fitted = compare.fitted(point.key, point.profile)
        rows.append([figure.what, text.gbps(figure.value), text.gbps(ours), text.deviation(ours / figure.value - 1),
                     "fitted" if fitted else "predicted", WHY.get(point.key, "")])
    return rows


def _machine_rows() -> list[list[str]]:
    rows = []
    for key, machine in kernel.machines(kernel.load()).items():
        cleaned = "none" if machine.clean_bytes_per_s == float("inf") else text.gbps(machine.clean_bytes_per_s)
        rows.append([machine.name, f"{machine.clock_hz / 1e9:.2f} GHz", f"{machine.instructions_per_cycle:.2f}",
                     text.gbps(machine.copy_bytes_per_s), cleaned, kernel.FITTED[key], machine.source])
    return rows


def predicted(lab: Lab, out: pathlib.Path) -> Chapter:
    shown = [point for point in kernel.POINTS]
    with plots.figure(out / "linux.png", height=3.6) as axis:
        for place, point in enumerate(shown):
            figure, fitted = seeds.figure(point.key), compare.fitted(point.key, point.profile)
            axis.barh(place, lab.rate(point.key) / 1e6, color=plots.OURS, height=0.6)
            plots.seed_point(axis, figure.value / 1e6, place, fitted, None)
        axis.set_yticks(range(len(shown)), [seeds.figure(point.key).what for point in shown], fontsize=8.5)
        axis.invert_yaxis()
        axis.set_xlabel("rate, MB/s")
        axis.grid(axis="y", visible=False)
    return chapter(
        "linux", Table(["", "measured", "simulated", "deviation", "", "why"], _points(lab), "System 2"),
        Table(["machine", "clock", "instructions per cycle", "copies", "cleans caches", "fitted", "other numbers"],
              _machine_rows(), "The machines"),
        Table(["link", "", "request", "processor per request", "rate", "requests", "latency, mean", "processor busy"],
              _versal_rows(lab), "System 4: a 990 PRO under fio, 32 requests in flight"))
