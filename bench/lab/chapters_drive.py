# SPDX-License-Identifier: Apache-2.0
"""Chapters about drives without files: block sizes, depth, the SLC edge, long runs, turns, stripes."""

import pathlib

from lab import compare, kernel, plots, runs, seeds, text
from lab.page import Chapter, Table
from lab.prose import chapter
from lab.runner import Lab

GB = 1e9


def _blocks_of(lab: Lab, prefix: str) -> list[int]:
    names = [name for name in lab.results if name.startswith(f"{prefix}-write-")]
    return sorted(lab.results[name]["options"]["block"] for name in names)


def _by_block(lab: Lab, prefix: str, op: str, pick) -> tuple[list[int], list[float]]:
    blocks = _blocks_of(lab, prefix)
    return blocks, [pick(lab.result(f"{prefix}-{op}-{runs.block_name(block)}")) for block in blocks]


def block_size(lab: Lab, out: pathlib.Path) -> Chapter:
    prefix = "block-970evoplus-bridge"
    link = lab.results[f"{prefix}-write-1024k" if f"{prefix}-write-1024k" in lab.results else f"{prefix}-write-4k"]["machine"]
    with plots.figure(out / "block-size.png") as axis:
        for op, color in (("read", plots.READ), ("write", plots.WRITE)):
            blocks, rates = _by_block(lab, prefix, op, lambda result: result["bytes_per_s"])
            axis.plot(blocks, [rate / GB for rate in rates], color=color, marker=".", label=f"{op}, simulated")
        plots.block_axis(axis, blocks)
        plots.rate_axis(axis)
        for op, key, color, first in (("read", "raw-read-1m", plots.READ, 32), ("write", "raw-write-1m", plots.WRITE, 64)):
            figure = seeds.figure(key)
            plots.seed_line(axis, figure.value / GB, first * 1024, blocks[-1], compare.fitted(key, figure.profile),
                            f"{op}, measured by system 1 from {first} KiB on (host fitted at 1 MiB)", color)
        axis.axhline(link["link_read_bytes_per_s"] / GB, color=plots.RAW, linewidth=1, linestyle=":",
                     label="upper bound of this link to the host")
        axis.legend(loc="lower right")
        axis.set_title("970 EVO Plus behind a Zynq's bridge: rate by block size")
    rows = []
    for block in blocks:
        write, read = (lab.result(f"{prefix}-{op}-{runs.block_name(block)}") for op in ("write", "read"))
        rows.append([text.size(block), text.gbps(write["bytes_per_s"]), text.gbps(read["bytes_per_s"]),
                     f"{write['commands_per_s'] / 1000:.0f} k/s", f"{read['commands_per_s'] / 1000:.0f} k/s",
                     text.percent(write["host_busy_share"], 0), f"{read['latency']['p50_ns'] / 1000:.0f} us"])
    return chapter("block-size",
                   Table(["block", "write", "read", "writes", "reads", "processor, writing", "read latency, median"], rows))


def depth(lab: Lab, out: pathlib.Path, depths) -> Chapter:
    profiles = [profile for profile in runs.PROFILES if f"depth-{profile}-write-{depths[0]}" in lab.results]
    rows = []
    with plots.figure(out / "depth.png", columns=2, width=11.0, sharey=True) as axes:
        for axis, op in zip(axes, ("write", "read")):
            for profile, color in zip(profiles, plots.SEQUENCE):
                axis.plot(depths, [lab.rate(f"depth-{profile}-{op}-{depth}") / GB for depth in depths], color=color,
                          marker=".", label=profile)
            plots.depth_axis(axis, depths)
            axis.set_title(f"{op}, 128 KiB requests")
        plots.rate_axis(axes[0])
        axes[1].legend(loc="lower right")
    for profile in profiles:
        write, read = (compare.depth_needed(lab, profile, op, depths) for op in ("write", "read"))
        rows.append([profile, str(write), text.gbps(max(lab.rate(f"depth-{profile}-write-{depth}") for depth in depths)),
                     str(read), text.gbps(max(lab.rate(f"depth-{profile}-read-{depth}") for depth in depths))])
    return chapter("depth", Table(["drive", "depth for writes", "top write rate", "depth for reads", "top read rate"], rows,
                                  "The smallest depth that reaches 98 % of the highest rate"))


def sustained(lab: Lab, out: pathlib.Path) -> Chapter:
    series = lab.series("sustained-970evoplus-bridge")
    edge, after = seeds.figure("slc-edge"), seeds.figure("sustained")
    with plots.figure(out / "sustained-970evoplus.png") as axis:
        axis.plot([at / GB for at in series["at_bytes"]], [rate / GB for rate in series["bytes_per_s"]],
                  color=plots.WRITE, label="simulated", drawstyle="steps-pre")
        axis.axvline(edge.value / GB, color="black", linestyle=(0, (5, 2)), linewidth=1.2,
                     label="SLC cache, data sheet: 42 GB (system 1 saw the rate fall after 34 GB or more)")
        fitted = compare.fitted("sustained", "970evoplus")
        plots.seed_line(axis, after.value / GB, edge.value / GB, series["at_bytes"][-1] / GB, fitted,
                        f"measured by system 1 after the edge: 1.7 GB/s ({'fitted' if fitted else 'predicted'})")
        plots.seed_line(axis, seeds.figure("raw-write-1m").value / GB, 0, edge.value / GB, True,
                        "measured before it: 2.52 GB/s (host fitted)", plots.READ)
        plots.rate_axis(axis)
        axis.set_xlabel("written so far, GB")
        axis.set_title("970 EVO Plus: writing beyond its SLC cache")
        axis.legend(loc="lower left")
    return chapter("sustained")


def trimmed(lab: Lab, out: pathlib.Path) -> Chapter:
    rows = []
    with plots.figure(out / "trimmed.png", rows=2, columns=3, width=11.5, height=6.0, sharex=True) as axes:
        for axis, profile in zip(axes.flat, runs.PROFILES):
            for label, color, width in (("trimmed", plots.OURS, 2.6), ("full", plots.PEER, 1.0)):
                series = lab.series(f"sustained-{profile}-{label}")
                # Without the first gigabyte, which is faster because the drive's buffer is empty.
                axis.plot([at / GB for at in series["at_bytes"][1:]], [rate / GB for rate in series["bytes_per_s"][1:]],
                          color=color, label=label, drawstyle="steps-pre", linewidth=width)
            axis.set_title(profile)
            axis.set_ylim(0, 1.08 * axis.get_ylim()[1])
        for axis in axes[1]:
            axis.set_xlabel("written so far, GB")
        for axis in axes[:, 0]:
            axis.set_ylabel("rate, GB/s")
        axes[0, 0].legend(loc="lower left")
    for profile in runs.PROFILES:
        fresh, full = lab.result(f"sustained-{profile}-trimmed"), lab.result(f"sustained-{profile}-full")
        rows.append([profile, text.gbps(fresh["bytes_per_s"]), text.gbps(full["bytes_per_s"]),
                     text.gbps(min(lab.series(f"sustained-{profile}-trimmed")["bytes_per_s"])),
                     text.gbps(min(lab.series(f"sustained-{profile}-full")["bytes_per_s"]))])
    return chapter("trimmed", Table(
        ["drive", "mean, trimmed", "mean, full", "slowest gigabyte, trimmed", "slowest gigabyte, full"], rows))


def kilo(lab: Lab, out: pathlib.Path) -> Chapter:
    profiles = ("960pro", "980pro", "starblaze", "exascend")
    rows = []
    with plots.figure(out / "kilo.png", rows=2, columns=2, width=11.0, height=6.8, sharex=True, sharey=True) as axes:
        for axis, profile in zip(axes.flat, profiles):
            for op, color in (("read", plots.READ), ("write", plots.WRITE)):
                series, key = lab.series(f"kilo-{profile}-{op}"), f"kilo-{op}-{profile}"
                axis.plot([at / GB for at in series["at_bytes"]], [rate / GB for rate in series["bytes_per_s"]],
                          color=color, linewidth=0.9, label=f"{op}, simulated")
                fitted = compare.fitted(key, profile)
                plots.seed_line(axis, seeds.figure(key).value / GB, 0, 1000, fitted,
                                f"{op}, mean measured ({'fitted' if fitted else 'predicted'})", color)
            axis.set_title(profile)
            axis.set_ylim(0, 3.8)
            axis.legend(loc="lower right", ncols=2, fontsize=7.5)
        for axis in axes[1]:
            axis.set_xlabel("so far, GB")
        for axis in axes[:, 0]:
            axis.set_ylabel("rate, GB/s")
    for profile in profiles:
        for op in ("read", "write"):
            rates = sorted(lab.series(f"kilo-{profile}-{op}")["bytes_per_s"])
            rows.append([profile, op, text.gbps(lab.rate(f"kilo-{profile}-{op}")),
                         text.gbps(seeds.figure(f"kilo-{op}-{profile}").value), text.gbps(rates[0]),
                         text.gbps(rates[len(rates) // 2]), text.gbps(rates[-1])])
    return chapter("kilo", Table(
        ["drive", "", "mean, simulated", "mean, measured", "slowest segment", "median", "best segment"], rows))


def turns(lab: Lab, out: pathlib.Path) -> Chapter:
    profiles = ("980pro", "exascend")
    rows, names, values, colors = [], [], [], []
    for profile in profiles:
        if f"turns-{profile}-alternate" not in lab.results:
            continue
        read, write, both = (lab.rate(f"turns-{profile}-{op}") for op in ("read", "write", "alternate"))
        mean = 2 / (1 / read + 1 / write)
        measured = seeds.figure(f"turns-{profile}").value
        names += [f"{profile}: read only", f"{profile}: write only", f"{profile}: in turns", f"{profile}: measured"]
        values += [read, write, both, measured]
        colors += [plots.READ, plots.WRITE, plots.OURS, "black"]
        rows.append([profile, text.gbps(read), text.gbps(write), text.gbps(mean), text.gbps(both), text.gbps(measured),
                     text.deviation(both / measured - 1), str(lab.result(f"turns-{profile}-alternate")["wrong_pages"])])
    with plots.figure(out / "turns.png", height=0.5 + 0.42 * len(names)) as axis:
        plots.bars(axis, names, values, colors)
        axis.set_xlabel("rate, GB/s")
    return chapter("turns", Table(
        ["drive", "read only", "write only", "their mean", "in turns", "measured", "deviation", "wrong pages"], rows))


def generations(lab: Lab, out: pathlib.Path) -> Chapter:
    hosts = (("linux", "Linux and fio", "--"), ("a53", "this library, bare metal, 1.2 GHz", "-"))
    quantities = (
        ("rate, GB/s", lambda result: result["bytes_per_s"] / GB, False),
        ("requests, thousands a second", lambda result: result["bytes_per_s"] / result["block"] / 1000, False),
        ("latency, mean, us", lambda result: result["latency"]["mean_ns"] / 1000, True),
        ("processor busy, %", lambda result: 100 * result["host_busy_share"], False),
    )
    rows = []
    for generation in ("gen3", "gen4"):
        with plots.figure(out / f"versal-{generation}.png", rows=2, columns=2, width=11.0, height=7.0, sharex=True) as axes:
            for axis, (name, pick, logarithmic) in zip(axes.flat, quantities):
                for host, what, style in hosts:
                    for op, color in (("read", plots.READ), ("write", plots.WRITE)):
                        prefix = f"block-990pro-{generation}-{host}"
                        blocks = _blocks_of(lab, prefix)
                        values = [pick(lab.result(f"{prefix}-{op}-{runs.block_name(block)}") | {"block": block}) for block in blocks]
                        axis.plot(blocks, values, style, color=color, label=f"{op}, {what}")
                plots.block_axis(axis, sorted({*kernel.SIZES, *blocks}))
                axis.set_ylabel(name)
                if logarithmic:
                    axis.set_yscale("log")
                else:
                    axis.set_ylim(bottom=0)
            peak = seeds.figure(f"{generation}-write-peak")
            plots.seed_line(axes[0, 0], peak.value / GB, blocks[4], blocks[-1], generation == "gen3",
                            f"write peak measured, {'host fitted' if generation == 'gen3' else 'predicted'}")
            plots.seed_point(axes[0, 1], 4096, 110, generation == "gen4", "reads measured, 4 KiB, processor full")
            plots.seed_point(axes[1, 1], 4096, 100, generation == "gen4", None)
            for axis in (axes[0, 0], axes[0, 1]):
                axis.legend(loc="best", fontsize=7.5)
            for axis in axes[0]:
                axis.set_xlabel("")
        for host, what, _ in hosts:
            for op in ("read", "write"):
                prefix = f"block-990pro-{generation}-{host}-{op}"
                small, large = lab.result(f"{prefix}-4k"), lab.result(f"{prefix}-1024k")
                rows.append([generation, what, op, f"{small['commands_per_s'] / 1000:.0f} k/s",
                             f"{small['latency']['mean_ns'] / 1000:.0f} us", text.percent(small["host_busy_share"], 0),
                             text.gbps(large["bytes_per_s"]), f"{large['latency']['mean_ns'] / 1000:.0f} us",
                             text.percent(large["host_busy_share"], 1)])
    return chapter("generations", Table(
        ["link", "host", "", "4 KiB", "latency", "processor", "1 MiB", "latency", "processor"], rows))


def stripes(lab: Lab, out: pathlib.Path) -> Chapter:
    counts = (1, 2, 4)
    rows = []
    with plots.figure(out / "stripes.png", width=8.0, height=3.8) as axis:
        for place, (op, color) in enumerate((("write", plots.WRITE), ("read", plots.READ), ("files", plots.OURS))):
            rates = [lab.rate(f"stripe-980pro-{count}-{op}") / GB for count in counts]
            places = [at + 0.27 * (place - 1) for at in range(len(counts))]
            axis.bar(places, rates, width=0.25, color=color, label={"files": "into exFAT files"}.get(op, f"raw {op}"))
            for at, rate in zip(places, rates):
                axis.text(at, rate + 0.15, f"{rate:.2f}", ha="center", fontsize=8)
        axis.set_xticks(range(len(counts)), ["one drive", "two", "four"])
        axis.grid(axis="x", visible=False)
        plots.rate_axis(axis)
        axis.legend(loc="upper left")
        axis.set_title("980 PRO, each on its own Gen3 x4 link")
    for count in counts:
        write, read, files = (lab.result(f"stripe-980pro-{count}-{op}") for op in ("write", "read", "files"))
        walk = lab.results[f"stripe-980pro-{count}-files"]["walk"]
        rows.append([str(count), text.gbps(write["bytes_per_s"]), text.gbps(read["bytes_per_s"]),
                     text.gbps(files["bytes_per_s"]), text.percent(files["bytes_per_s"] / write["bytes_per_s"]),
                     text.percent(files["host_busy_share"]), f"{walk['wrong_pages']} of {walk['pages']}"])
    return chapter("stripes", Table(
        ["drives", "raw write", "raw read", "files", "files ÷ raw", "processor", "wrong pages"], rows))
