# SPDX-License-Identifier: Apache-2.0
"""Compares each published figure with the lab's result."""

import dataclasses

from lab import kernel, seeds, sources
from lab.runner import Lab

# What a figure depends on: lines of the drive's profile, or "host" for a number of a host that was fitted on this figure
# (runs.HOSTS). The figure is fitted if one of these lines is, and predicted otherwise.
DEPENDS = {
    "raw-write-64k": (), "raw-write-1m": ("host",), "raw-read-32k": (), "raw-read-1m": ("host",),
    "slc-edge": ("slc_bytes",), "sustained": ("direct_rate",), "fat32-1g": (), "exfat-2tb": ("full_rate",),
    "linux-zynqmp-write": (), "linux-zynqmp-read": ("host",), "linux-zynqmp-direct": (), "linux-zynq7-direct": ("host",),
    "linux-zynq7-memcpy": (), "linux-zynq7-mmap": (), "linux-zynq7-dd": (),
    "gen4-write-peak": (), "gen4-iops-4k": ("host",), "gen4-write-iops-4k": (), "gen4-iops-peak-at": (),
    "gen4-cpu-4k": ("host",), "gen3-write-peak": ("host",), "gen3-iops-4k": (), "segment-read-960pro": (), "segment-write-980pro": ("host",), "kilo-edge-980pro": ("slc_bytes",),
    "turns-980pro": (), "turns-exascend": (), "depth-ratio": ("write_latency_ns",),
}
for _profile in ("960pro", "980pro", "starblaze", "exascend"):
    DEPENDS[f"kilo-read-{_profile}"] = ("read_rate",)
    DEPENDS[f"kilo-write-{_profile}"] = ("direct_rate",)

# Why a result deviates, or what it means. Shown beside the deviation.
_SAME_LINK = "only the link limits here, as for the 960 PRO, whose best segment was 3.125 GB/s; this drive reached less"
REMARKS: dict[str, str] = {
    **{point.key: "see the chapter on Linux" for point in kernel.POINTS},
    "raw-write-64k": "predicted: 64 KiB are enough; the level is that of the next row",
    "raw-read-32k": "predicted: 32 KiB are enough; the level is that of the next row",
    "slc-edge": "the data sheet's 42 GB",
    "sustained": "the data sheet's rate, with a pause of 10 ms every 2 GB",
    "fat32-1g": "FatFs's own instructions cost nothing here, and clusters are 64 KiB in one command; with other disk layers: "
                "`make bench-fatfs`",
    "gen4-write-peak": "the share of the link is the one fitted at Gen3",
    "gen4-cpu-4k": "follows from the reads per second, which the processor limits",
    "gen3-iops-4k": "the same processor as at Gen4",
    "gen4-write-iops-4k": "a write costs more instructions than a read: the kernel's counts",
    "gen4-iops-peak-at": "below 4 KiB, fio and the kernel take more instructions per request, not fewer",
    "kilo-read-960pro": "the measured mean is 2.4 % below the best segment; the model's rate is constant",
    "kilo-read-980pro": _SAME_LINK,
    "kilo-read-starblaze": _SAME_LINK,
    "kilo-edge-980pro": "the data sheet's 226 GB; the text says about 200",
    "segment-read-960pro": "the link as fitted on system 1",
    "turns-980pro": "its reads are already 5 % too high",
    "turns-exascend": "its buffer (32 MiB, assumed) continues to drain while the drive is read",
}


def fitted(key: str, profile: str) -> bool:
    lines = sources.read(profile)
    return any(name == "host" or (name in lines and lines[name].kind in ("seed", "fitted")) for name in DEPENDS[key])


@dataclasses.dataclass
class Answer:
    figure: seeds.Figure
    ours: float
    fitted: bool

    @property
    def deviation(self) -> float:
        return self.ours / self.figure.value - 1


def edge_bytes(series: dict) -> float:
    """Bytes written when the rate first stayed low: two points in a row below 90 % of the initial rate."""
    rates = series["bytes_per_s"]
    first = sorted(rates[: max(3, len(rates) // 20)])
    top = first[len(first) // 2]
    for at, rate, after in zip(series["at_bytes"], rates, rates[1:] + rates[-1:]):
        if rate < 0.9 * top and after < 0.9 * top:
            return at
    return float("nan")


def _after_edge(series: dict) -> float:
    """Mean rate from twice the edge on."""
    edge = edge_bytes(series)
    late = [rate for at, rate in zip(series["at_bytes"], series["bytes_per_s"]) if at > 2 * edge]
    return sum(late) / len(late)


def depth_needed(lab: Lab, profile: str, op: str, depths) -> int:
    """The smallest depth that reaches 98 % of the highest rate."""
    rates = {depth: lab.rate(f"depth-{profile}-{op}-{depth}") for depth in depths}
    best = max(rates.values())
    return min(depth for depth, rate in rates.items() if rate >= 0.98 * best)


def _most_commands_at(lab: Lab, prefix: str) -> int:
    """The block size with the most commands per second."""
    names = [name for name in lab.results if name.startswith(prefix)]
    return lab.results[max(names, key=lambda name: lab.result(name)["commands_per_s"])]["options"]["block"]


def _peak(lab: Lab, prefix: str) -> float:
    return max(lab.rate(name) for name in lab.results if name.startswith(prefix))


def answers(lab: Lab, depths) -> list[Answer]:
    raw = "block-970evoplus-bridge"
    versal = "block-990pro"
    edge = lab.series("sustained-970evoplus-bridge")
    ours = {
        "raw-write-64k": lab.rate(f"{raw}-write-64k"), "raw-write-1m": lab.rate(f"{raw}-write-1024k"),
        "raw-read-32k": lab.rate(f"{raw}-read-32k"), "raw-read-1m": lab.rate(f"{raw}-read-1024k"),
        "slc-edge": edge_bytes(edge), "sustained": _after_edge(edge),
        "fat32-1g": lab.rate("peer-970evoplus-fat32"), "exfat-2tb": lab.rate("whole-980pro"),
        "gen4-write-peak": _peak(lab, f"{versal}-gen4-linux-write"),
        "gen4-iops-4k": lab.result(f"{versal}-gen4-linux-read-4k")["commands_per_s"],
        "gen4-write-iops-4k": lab.result(f"{versal}-gen4-linux-write-4k")["commands_per_s"],
        "gen4-iops-peak-at": _most_commands_at(lab, f"{versal}-gen4-linux-read"),
        "gen4-cpu-4k": lab.result(f"{versal}-gen4-linux-read-4k")["host_busy_share"],
        "gen3-write-peak": _peak(lab, f"{versal}-gen3-linux-write"),
        "gen3-iops-4k": lab.result(f"{versal}-gen3-linux-read-4k")["commands_per_s"],
        "segment-read-960pro": max(lab.series("kilo-960pro-read")["bytes_per_s"]),
        "segment-write-980pro": max(lab.series("kilo-980pro-write")["bytes_per_s"]),
        "kilo-edge-980pro": edge_bytes(lab.series("kilo-980pro-write")),
        "turns-980pro": lab.rate("turns-980pro-alternate"), "turns-exascend": lab.rate("turns-exascend-alternate"),
        "depth-ratio": depth_needed(lab, "starblaze", "write", depths) / depth_needed(lab, "980pro", "write", depths),
    }
    ours |= {point.key: lab.rate(point.key) for point in kernel.POINTS}
    for profile in ("960pro", "980pro", "starblaze", "exascend"):
        for op in ("read", "write"):
            ours[f"kilo-{op}-{profile}"] = lab.rate(f"kilo-{profile}-{op}")
    return [Answer(figure, ours[figure.key], fitted(figure.key, figure.profile)) for figure in seeds.FIGURES]
