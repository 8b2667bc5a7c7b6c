# SPDX-License-Identifier: Apache-2.0
"""The section of docs/reference/gateware-timing.md that says what a frequency of `make place` means."""

import statistics

import place_cores
import place_kept
import place_ratio

INTRODUCTION = """## What a figure means

`make place-calibrate` places and routes open cores of which others have published frequencies on UltraScale+, with Vivado. It takes
the same wrapper, options and device as `make place`, and five seeds; `seeds` says how many of them are measured. The ratio is the
published frequency divided by the median here. `≥` marks a clock that was met and is no maximum: the core may be faster there."""
CAVEATS = """This is a range of ratios, and no promise for our designs:

- {routing}. On wide buses more of the delay is routing, and routing is what differs most between the devices and the placers.
- nextpnr leads each signal into a carry chain through a LUT1 of its own and a routed net. No netlist of Yosys has these LUTs.
- With nextpnr-xilinx, the program from which this one comes, others report what Vivado reaches for modules of 30 LUTs
  (drewbabel/uart, pull request 8), and a third of it for a processor that runs Linux (openXC7/nextpnr-xilinx, issue 91). A ratio
  of a small core may therefore be too small for a large design.
- The published frequencies come from different versions, directives and parts. For PicoRV32 Vivado was told to move
  registers (retiming), which nothing does here.
- Three cores are few, and a ratio with `≥` bounds nothing from above. The range does not show that a design meets 250 MHz, nor
  that it does not. Only a vendor's tool shows it."""
NOT_CALIBRATED = """A range needs {least} cores, and {cores} are measured. So the figures of this page show levels and a trend only. No frequency on
another device follows from them."""
CORES = """| core | LUT | FF | MHz here | seeds | routing | published MHz | part | with | ratio |
|---|---|---|---|---|---|---|---|---|---|"""
BOTH = """The ratios do not tell how much is due to the device and how much to the tools. For a design that Vivado would place no better
than nextpnr does, only the device's part remains. Vivado alone, on both families:

| core | 7 series | UltraScale+ | ratio | source |
|---|---|---|---|---|"""


def core_rows(core: place_cores.Core, entry: dict) -> list[str]:
    found = place_ratio.here_mhz(entry)
    here = (f"{core.title}, {core.what} | {entry['luts']} | {entry['ffs']} | {statistics.median(found):.1f} "
            f"({min(found):.1f} … {max(found):.1f}) | {len(found)} | {place_ratio.routing_share(entry):.0%}")
    rows = []
    for figure, ratio in place_ratio.of_core(core, found):
        least = "≥ " if figure.is_least else ""
        rows.append(f"| {here} | {least}{figure.mhz:g} | {figure.part} | {figure.tool} | {least}{ratio:.2f} |")
        here = " | | | | | "
    return rows


def source_line(core: place_cores.Core) -> str:
    published = "; ".join(f"{figure.mhz:g} MHz: {figure.source}" for figure in core.published)
    compared = "" if core.fetched else " The measured text was not compared with a clone of the repository."
    return f"- {core.title}: github.com/{core.repository}, commit {core.commit[:12]}. {published}.{compared}"


def design_table(designs: dict, least: float, most: float) -> list[str]:
    lines = ["| design | MHz here | routing | with the smallest ratio | with the largest |", "|---|---|---|---|---|"]
    for name, entry in designs.items():
        mhz = statistics.median(place_kept.frequencies(entry))
        lines.append(f"| `{name}` | {mhz:.1f} | {place_ratio.routing_share(entry):.0%} | {mhz * least:.0f} | {mhz * most:.0f} |")
    return lines


def shares(entries) -> str:
    found = [place_ratio.routing_share(entry) for entry in entries]
    return f"{min(found):.0%} to {max(found):.0%}" if found else "an unknown part"


def both_rows(both: list[place_cores.Both]) -> list[str]:
    return [f"| {row.name} | {row.seven_series_mhz:g} MHz, {row.seven_series_part} | {row.ultrascale_plus_mhz:g} MHz, "
            f"{row.ultrascale_plus_part} | {row.ultrascale_plus_mhz / row.seven_series_mhz:.1f} | {row.source} |" for row in both]


def ratio_text(ratio: place_ratio.Ratio) -> str:
    return f"{'≥ ' if ratio.figure.is_least else ''}{ratio.value:.1f} ({ratio.core}, {ratio.figure.part})"


def conclusion(measured: dict, designs: dict, ratios: list[place_ratio.Ratio]) -> list[str]:
    found = place_ratio.extent(ratios)
    if found is None:
        return ["", NOT_CALIBRATED.format(cores=len(measured), least=place_ratio.LEAST_CORES)]
    least, most = found
    said = (f"On speed grade -{place_ratio.GRADE}, the published frequencies are {ratio_text(least)} to {ratio_text(most)} times those "
            "here. A design of ours that behaved as these cores would have there, in MHz:")
    routing = f"Routing is {shares(measured.values())} of the critical paths of the cores, and {shares(designs.values())} of ours"
    return ["", said, "", *design_table(designs, least.value, most.value), "",
            CAVEATS.format(routing=routing)]


def section(designs: dict, measured: dict) -> list[str]:
    """`designs`: bench/place.json. `measured`: bench/place_cores.json."""
    cores = [core for core in place_cores.load() if core.name in measured]
    lines = [INTRODUCTION]
    if cores:
        lines += ["", CORES, *(row for core in cores for row in core_rows(core, measured[core.name]))]
    lines += conclusion(measured, designs, place_ratio.all_ratios(cores, measured))
    if cores:
        lines += ["", BOTH, *both_rows(place_cores.load_both()), "", "Sources:", "", *map(source_line, cores)]
    return lines
