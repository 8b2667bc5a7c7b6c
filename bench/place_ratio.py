# SPDX-License-Identifier: Apache-2.0
"""What a frequency of `make place` means: published frequencies of open cores, divided by those that they have here.

bench/place_cores.json has the results of `make place-calibrate`, in the form of bench/place.json. The section of
docs/reference/gateware-timing.md is made from it.
"""

import re
import statistics
from typing import NamedTuple

import place_cores
import place_kept
import program

PATH = program.ROOT / "bench" / "place_cores.json"
LEAST_CORES = 3  # with less there is no range
GRADE = 2  # of the parts that the gateware is meant for


class Ratio(NamedTuple):
    core: str
    figure: place_cores.Published
    value: float


def grade(part: str) -> int:
    """The speed grade in the name of a part: 2 of xcku3p-ffva676-2-e."""
    return int(re.search(r"-(\d)(?:-[a-z])?$", part)[1])


def of_core(core: place_cores.Core, here_mhz: list[float]) -> list[tuple[place_cores.Published, float]]:
    """`here_mhz`: the frequencies of the seeds."""
    return [(figure, figure.mhz / statistics.median(here_mhz)) for figure in core.published]


def here_mhz(entry: dict) -> list[float]:
    return place_kept.frequencies(entry, place_kept.GATE_SEEDS)


def all_ratios(cores: list[place_cores.Core], kept: dict) -> list[Ratio]:
    return [Ratio(core.name, figure, value) for core in cores if core.name in kept
            for figure, value in of_core(core, here_mhz(kept[core.name]))]


def extent(ratios: list[Ratio]) -> tuple[Ratio, Ratio] | None:
    """The smallest and the largest on UltraScale+ of the speed grade; None if they are of too few cores."""
    found = sorted((ratio for ratio in ratios if ratio.figure.ultrascale_plus and grade(ratio.figure.part) == GRADE),
                   key=lambda ratio: ratio.value)
    return (found[0], found[-1]) if len({ratio.core for ratio in found}) >= LEAST_CORES else None


def routing_share(entry: dict) -> float:
    """The median part of the critical path that is routing."""
    return statistics.median(seed["routing_ns"] / (seed["routing_ns"] + seed["logic_ns"]) for seed in entry["seeds"].values())
