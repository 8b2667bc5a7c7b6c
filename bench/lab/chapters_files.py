# SPDX-License-Identifier: Apache-2.0
"""Chapters about files: the aim of 99 %, comparison with FatFs, whole drives, early warnings, plans."""

import math
import pathlib

from lab import plots, runs, seeds, text
from lab.page import Chapter, Table
from lab.prose import chapter
from lab.runner import Lab

GB = 1e9
AIM = 0.99
EVENT_PRESSURE, EVENT_HEAT = 7, 8


def flushed_rate(result: dict) -> float:
    """The rate of raw writes, including the flush that makes them durable: closed files are compared with it."""
    return result["bytes"] / result["seconds_flushed"]


def closed_rate(result: dict) -> float:
    """The rate of files, including closing them."""
    return result["bytes"] / result["seconds_closed"]


def aims(lab: Lab) -> dict[str, tuple[float, float]]:
    """For each profile, the shares of the raw rate that writing and reading files reach."""
    shares = {}
    for profile in runs.ALL:
        files = lab.results[f"aim-{profile}-files"]
        write = closed_rate(files["result"]) / flushed_rate(lab.result(f"aim-{profile}-raw-write"))
        read = files["read"]["bytes_per_s"] / lab.rate(f"aim-{profile}-raw-read")
        shares[profile] = (write, read)
    return shares


def aim(lab: Lab, out: pathlib.Path) -> Chapter:
    shares = aims(lab)
    rows = []
    for profile, (write, read) in shares.items():
        files = lab.results[f"aim-{profile}-files"]
        raw_write, raw_read = lab.result(f"aim-{profile}-raw-write"), lab.result(f"aim-{profile}-raw-read")
        walk = files["walk"]
        rows.append([profile, text.gbps(flushed_rate(raw_write)), text.gbps(closed_rate(files["result"])),
                     text.percent(write, 2), text.gbps(raw_read["bytes_per_s"]), text.gbps(files["read"]["bytes_per_s"]),
                     text.percent(read, 2), f"{walk['wrong_pages'] + files['read']['wrong_pages']} of {walk['pages']}",
                     "met" if min(write, read) >= AIM else "MISSED"])
    with plots.figure(out / "aim.png", columns=2, width=11.0, height=3.6, sharey=True) as axes:
        for axis, place, name in zip(axes, (0, 1), ("writing", "reading")):
            values = [100 * shares[profile][place] for profile in shares]
            axis.barh(range(len(values)), values, color=plots.OURS if place == 0 else plots.READ, height=0.62)
            axis.set_yticks(range(len(values)), list(shares))
            axis.axvline(100 * AIM, color="black", linestyle=(0, (5, 2)), linewidth=1.2)
            axis.set_xlim(97, 100.4)
            axis.set_title(f"files ÷ raw, {name}")
            axis.set_xlabel("% of the raw rate (axis starts at 97)")
            axis.grid(axis="y", visible=False)
            for at, value in enumerate(values):
                axis.text(min(value, 100.05) + 0.03, at, f"{value:.2f}", va="center", fontsize=8)
        axes[0].invert_yaxis()
    result = lab.result("aim-980pro-files")
    table = Table(["drive", "raw write", "files written", "share", "raw read", "files read", "share", "wrong pages", "aim"], rows)
    return chapter("aim", table, size=text.size(result["bytes"]), files=text.number(result["files"]))


def _peer_row(name: str, fast: dict, paced: dict, raw: float) -> list[str]:
    return [name, text.gbps(fast["bytes_per_s"]), text.percent(fast["bytes_per_s"] / raw),
            str(fast["metadata_reads"] + fast["metadata_writes"] + fast["flushes"]),
            text.duration_ms(paced["gap_ms_max"]), text.size(paced["ring_bytes_max"]), text.size(paced["cut_bytes_max"])]


def _cut_note(label: str) -> str:
    if not label.endswith("-best"):
        return "all of the open file"
    return "data after the last f_sync; the length covers all of f_expand, and ends with stale data"


def peer(lab: Lab, out: pathlib.Path) -> Chapter:
    labels = [label for label in runs.FATFS if f"peer-970evoplus-{label}" in lab.results]
    raw = lab.rate("peer-970evoplus-raw")
    names = ["raw, no files", "Spate, exFAT, checkpoint every 500 ms"] + [f"FatFs, {runs.FATFS[label][0]}" for label in labels]
    keys = ["ours"] + labels
    with plots.figure(out / "peer-rate.png", height=0.9 + 0.42 * len(names), width=10.0) as axis:
        plots.bars(axis, names, [raw] + [lab.rate(f"peer-970evoplus-{key}") for key in keys],
                   [plots.RAW, plots.OURS] + [plots.PEER] * len(labels))
        axis.set_xlabel("rate, GB/s, on the 970 EVO Plus behind a Zynq's bridge")
        axis.axvline(1.0, color="black", linestyle=(0, (5, 2)), linewidth=1.1)
        axis.set_title("dashed: system 1 states that its FAT32 is faster than this", fontsize=9, fontweight="normal")
    paced = {key: lab.result(f"peer-970evoplus-{key}-paced") for key in keys}
    with plots.figure(out / "peer-gap.png", columns=3, width=12.0, height=0.9 + 0.42 * len(keys), sharey=True) as axes:
        for axis, field, scale, unit in ((axes[0], "gap_ms_max", 1, "longest gap, ms"),
                                         (axes[1], "ring_bytes_max", 2**20, "memory needed, MiB"),
                                         (axes[2], "cut_bytes_max", 2**30, "exposed to a cut, GiB")):
            plots.bars(axis, names[1:], [paced[key][field] for key in keys], [plots.OURS] + [plots.PEER] * len(labels),
                       unit_scale=scale)
            axis.set_xlabel(unit)
    rows = [_peer_row(name, lab.result(f"peer-970evoplus-{key}"), paced[key], raw) + [cut] for name, key, cut in
            zip(names[1:], keys, ["at most the data after the last checkpoint"] + [_cut_note(label) for label in labels])]
    others = []
    for profile in runs.PROFILES:
        if f"peer-{profile}-exfat-best" not in lab.results:
            continue
        base = lab.rate(f"peer-{profile}-raw")
        for name, key in (("Spate", "ours"), ("FatFs at its best", "exfat-best")):
            others.append([profile] + _peer_row(name, lab.result(f"peer-{profile}-{key}"),
                                                lab.result(f"peer-{profile}-{key}-paced"), base))
    columns = ["rate", "of raw", "metadata commands", "longest gap", "ring needed", "exposed to a cut"]
    return chapter("peer", Table(["970 EVO Plus", *columns, "what a cut may take"], rows),
                   Table(["drive", "", *columns], others, f"The same on {text.number(len(others) // 2)} of the drives"),
                   rate=f"{runs.PACE / GB:.1f}")


def whole(lab: Lab, out: pathlib.Path) -> Chapter:
    result, walk = lab.result("whole-980pro"), lab.results["whole-980pro"]["walk"]
    series = lab.series("whole-980pro")
    with plots.figure(out / "whole.png") as axis:
        axis.plot([at / GB for at in series["at_bytes"]], [rate / GB for rate in series["bytes_per_s"]], color=plots.OURS,
                  linewidth=1.0, label="simulated, into files")
        plots.seed_line(axis, seeds.figure("exfat-2tb").value / GB, 0, 2000, True,
                        "measured by system 3: about 2 GB/s (the drive's rate when full is fitted on it)")
        plots.rate_axis(axis)
        axis.set_ylim(0, 2.6)
        axis.set_xlabel("recorded so far, GB")
        axis.set_title("980 PRO 2 TB, full, overwritten with 16 GiB files")
        axis.legend(loc="lower left")
    took = lab.seconds.get("whole-980pro")
    rows = [["recorded", f"{result['bytes'] / GB:.1f} GB in {result['files']} files of 16 GiB"],
            ["rate", text.gbps(result["bytes_per_s"])],
            ["pages checked", f"{walk['pages']}, of which {walk['wrong_pages']} wrong"],
            ["lost, overrun", f"{result['lost_bytes']} B, {result['overrun_bytes']} B"],
            ["longest gap between data commands", text.duration_ms(result["gap_ms_max"])],
            ["metadata commands", str(result["metadata_reads"] + result["metadata_writes"] + result["flushes"])]]
    if took is not None:
        rows.append(["the simulation and the check of its contents took", f"{took:.0f} s of one core (aim: at most 120 s)"])
    return chapter("whole", Table(["", ""], rows))


def loop(lab: Lab, out: pathlib.Path) -> Chapter:
    """A recording that goes round, beside plain files."""
    names = {"loop-round": "a loop", "loop-files": "plain files, until the drive is full"}
    rows = []
    with plots.figure(out / "loop.png") as axis:
        for name, what in names.items():
            result, walk, series = lab.result(name), lab.results[name]["walk"], lab.series(name)
            axis.plot([at / GB for at in series["at_bytes"]], [rate / GB for rate in series["bytes_per_s"]], linewidth=1.0,
                      color=plots.OURS if name == "loop-round" else plots.READ, label=what)
            rows.append([what, f"{result['bytes'] / GB:.0f} GB", str(result.get("deleted", 0)), text.gbps(result["bytes_per_s"]),
                         text.duration_ms(result["gap_ms_max"]), f"{walk['wrong_pages']} of {walk['pages']}"])
        plots.rate_axis(axis)
        axis.set_ylim(bottom=0)
        axis.set_xlabel("recorded so far, GB")
        axis.set_title(f"{runs.LOOP}, full, parts and files of 1 GiB")
        axis.legend(loc="lower left")
    return chapter("loop", Table(["", "recorded", "parts deleted", "rate", "longest gap", "wrong pages"], rows))


def _levels(axis, times, levels) -> None:
    """Draws the recorder's warning levels as bands behind a curve."""
    colors = (None, "#fef3c7", "#fed7aa", "#fecaca")
    start = 0
    for at in range(1, len(levels) + 1):
        if at < len(levels) and levels[at] == levels[start]:
            continue
        if colors[int(levels[start])]:
            axis.axvspan(times[start], times[min(at, len(times) - 1)], color=colors[int(levels[start])], linewidth=0)
        start = at


def _warned_picture(lab: Lab, path: pathlib.Path, name: str, hot: bool) -> None:
    both = [lab.results[f"warned-{name}-{kind}"] for kind in ("ignores", "listens")]
    with plots.figure(path, rows=3 if hot else 2, columns=2, width=12.0, height=8.2 if hot else 5.8, sharex=True,
                      sharey="row") as axes:
        for column, (result, title) in enumerate(zip(both, ("a source that does not listen", "a source that listens"))):
            series = result["series"]
            rate, ring = axes[0][column], axes[1][column]
            rate.plot(series["t_s"], [value / GB for value in series["bytes_per_s"]], color=plots.WRITE, linewidth=0.8,
                      label="onto the drive")
            rate.plot(series["t_s"], [value / GB for value in series["source_rate"]], color=plots.READ, label="source")
            ring.plot(series["t_s"], [value / 2**30 for value in series["ring_bytes"]], color=plots.OURS, label="in the ring")
            ring.axhline(result["options"]["ring"] / 2**30, color="black", linewidth=1, linestyle=":", label="its size")
            lost = result["result"]["overrun_bytes"]
            rate.set_title(f"{title}: {text.size(lost) + ' lost' if lost else 'nothing lost'}")
            for axis in (rate, ring):
                _levels(axis, series["t_s"], series["level"])
            if hot:
                warm = axes[2][column]
                _levels(warm, series["t_s"], series["heat_level"])
                warm.plot(series["t_s"], series["celsius"], color=plots.WRITE, label="drive")
                warm.axhline(_profile(lab, result)["throttle_c"], color="black", linewidth=1, linestyle=":",
                             label="the drive throttles here")
            axes[-1][column].set_xlabel("time, s")
        axes[0][0].set_ylabel("rate, GB/s")
        axes[1][0].set_ylabel("ring, GiB")
        if hot:
            axes[2][0].set_ylabel("temperature, °C")
            axes[2][0].legend(loc="lower right")
        axes[0][0].set_ylim(bottom=0)
        axes[0][0].legend(loc="lower left")
        axes[1][0].legend(loc="upper left")


def _profile(lab: Lab, result: dict) -> dict:
    profiles = lab.results["profiles"]["profiles"]
    return next(profile for profile in profiles if profile["name"] == result["options"]["profile"])


def first_warning(result: dict) -> tuple[float | None, float | None]:
    """When the recorder first warned with SLOW or worse, and when the first byte was lost."""
    events = result["events"]
    warned = [at for at, event, value in zip(events["t_s"], events["event"], events["value"])
              if event in (EVENT_PRESSURE, EVENT_HEAT) and value >= 2]
    lost = [at for at, event in zip(events["t_s"], events["event"]) if event == 5]
    return (min(warned) if warned else None, min(lost) if lost else None)


WARNED = {"edge": "SLC edge, 970 EVO Plus", "hot": "hot box, Starblaze", "late": "hot box, 970 EVO Plus"}


def warnings(lab: Lab, out: pathlib.Path) -> Chapter:
    rows, drawn = [], []
    for name, case in WARNED.items():
        if f"warned-{name}-ignores" not in lab.results:
            continue
        ignores, listens = (lab.results[f"warned-{name}-{kind}"] for kind in ("ignores", "listens"))
        _warned_picture(lab, out / f"warned-{name}.png", name, name != "edge")
        warned, lost = first_warning(ignores)
        ahead = "not warned" if warned is None or lost is None else text.duration_ms((lost - warned) * 1000)
        rows.append([case, f"{ignores['options']['rate'] / GB:.1f} GB/s", text.size(ignores["options"]["ring"]),
                     text.size(ignores["result"]["overrun_bytes"]), ahead, text.size(listens["result"]["overrun_bytes"]),
                     text.size(listens["result"]["ring_bytes_max"]), str(listens["result"]["slowed_down"]),
                     f"{listens['result']['throttled_s']:.0f} s"])
        drawn.append(f"warned-{name}.png")
    made = chapter("warnings", Table(
        ["case", "source", "ring", "lost if it does not listen", "warned this long before", "lost if it listens",
         "most in the ring", "times it slowed down", "drive throttled"], rows))
    made.images = [(file, caption) for file, caption in made.images if file in drawn]
    return made


def plan(lab: Lab, out: pathlib.Path) -> Chapter:
    del out
    rows = []
    for profile, rate, total, filled in runs.PLANS:
        answer = lab.results[f"plan-{profile}-{rate // runs.MB}"]
        needed = text.size(answer["ring_needed_bytes"]) + (", more for longer streams" if answer["falls_behind"] else "")
        lasts = "the whole stream" if answer["sustained_s"] is None else text.duration_ms(1000 * answer["sustained_s"])
        rows.append([profile, text.gbps(rate), f"{total / GB:.0f} GB{' over a full drive' if filled else ''}", needed,
                     answer["ring_reason"], lasts, str(answer["queue_depth"]), f"{answer['temperature_max_c']:.0f} °C",
                     text.size(answer["power_cut_loss_bytes"])])
    return chapter("plan", Table(
        ["drive", "stream", "recorded", "ring that never overruns", "because", "a ring of 2 GiB lasts", "requests in flight",
         "hottest", "a power cut costs at most"], rows))
