# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/gateware-timing.md from bench/place.json and bench/place_cores.json."""

import statistics

import place_kept
import place_meaning
import place_ratio
import program
import tops
from place import report

PAGE = program.ROOT / "docs" / "reference" / "gateware-timing.md"
TEXT = """# Timing of the gateware on a fabric

Written by `make place KEEP=1`, with Yosys and nextpnr, placed and routed on an xc7a200t (Artix-7, 28 nm).

These figures show a trend between designs and between versions. They do not promise a frequency on any part. nextpnr routes on
the real wires of the device and has the delay of each wire. But it knows one speed grade, and its primitives have fixed delays:
a LUT 0.125 ns, clock-to-Q 0.35 ns, setup 0.10 ns. The core is meant for 250 MHz on UltraScale+: another process, with
UltraRAM. None of this was measured there. [What a figure means](#what-a-figure-means) compares open cores with what others have
published of them on UltraScale+.

Each design stands alone in a wrapper with three pins. A shift register supplies its inputs. Its outputs end in registers, which a
chain of XORs combines. So LUTs and flops contain those of the wrapper, and a path may begin or end in it. All clocks are one:
paths between clock domains count, though the design does not need them within one cycle. Neither hard block nor bridge is in it.
What Yosys is told: `synth_xilinx -family xc7 -flatten -abc9 -nosrl`. nextpnr cannot route the shift registers of LUTs, so flops
take their place. A LUT site that is memory counts as LUT. The wire length is the placer's estimate, in tiles.

With another seed the placer finds another result. Compare medians of five seeds. `make place CHECK=1` does this: it fails if the
median of a design is less than the committed one by more than the seeds differ.

## How to read a path

Each row is a primitive of the critical path, in order. `routing` is the delay of the net that leads to it, `fan-out` the number
of inputs that this net drives, `logic` the primitive's own delay. The module of a register comes from its source file, that of
a memory from its instance. A LUT has lost its name in the mapping: it counts for the module of the registers or memories that it
leads to first. A carry chain is one row and one level. If routing is much more than logic, then placement or fan-out is the
cause, not the number of levels. End points are sorted by the arrival of their data, the clock's own way included. `make place
TOP=axi-stream` draws a picture of the placed design in `build/rtl/place`.

## LiteNVMe's core

`make place LITENVME=folder` measures LiteNVMe's core without a processor in the same way. The folder holds the Verilog that its
generator writes, with the streams of the PCIe block as ports instead of the block. Files that its memories are loaded from are not
read. No package registry has its sources, so the command does not fetch them.
"""
TABLE = """| design | MHz | seeds | LUT | FF | RAM18 | RAM36 | wire length | levels | logic ns | routing ns |
|---|---|---|---|---|---|---|---|---|---|---|"""


def parameters_of(area: tops.Area) -> str:
    return ", ".join(f"{name} {value}" for name, value in area.parameters.items())


def title_of(name: str) -> str:
    """The design of a name: LiteNVMe's is in no table."""
    found = [placed.area for placed in tops.PLACED if placed.name == name]
    return f"{found[0].name}: `{found[0].module}`, {parameters_of(found[0])}" if found else "LiteNVMe's core without a processor"


def summary(name: str, entry: dict) -> str:
    found = place_kept.frequencies(entry)
    first = entry["seeds"][min(entry["seeds"], key=int)]
    spread = f" ({min(found):.1f} … {max(found):.1f})" if len(found) > 1 else ""
    return (f"| `{name}`: {title_of(name)} | {statistics.median(found):.1f}{spread} | {len(found)} | {entry['luts']} | {entry['ffs']} | "
            f"{entry['ramb18']} | {entry['ramb36']} | {first['wire_length']} | {first['levels']} | {first['logic_ns']:.2f} | "
            f"{first['routing_ns']:.2f} |")


def path_table(entry: dict) -> list[str]:
    lines = ["| at ns | fan-out | routing | logic | primitive | module | drives |", "|---|---|---|---|---|---|---|"]
    at_ns = 0.0
    for row in (report.Row(*values) for values in entry["rows"]):
        at_ns += row.routing_ns + row.logic_ns
        drives = f"`{row.signal}`" if row.signal else ""
        lines.append(f"| {at_ns:.2f} | {row.fan_out or ''} | {row.routing_ns:.2f} | {row.logic_ns:.2f} | {row.primitive} | `{row.module}` | {drives} |")
    return lines


def ends_text(entry: dict) -> str:
    ends = [report.End(*values) for values in entry["ends"]]
    parts = [f"`{module}` ({', '.join(signals)}), the latest at {arrival_ns:.2f} ns" for module, signals, arrival_ns in report.grouped(ends)]
    return f"The {len(ends)} worst end points: {'; '.join(parts)}."


def section(name: str, entry: dict) -> list[str]:
    seed = min(entry["seeds"], key=int)
    return ["", f"## {name}", "", f"Critical path, seed {seed}:", "", *path_table(entry), "", ends_text(entry), "",
            f"nextpnr {entry['nextpnr']}, Yosys {entry['yosys']}, sources of commit {entry['commit']}."]


def page(kept: dict, measured: dict) -> str:
    """`measured`: the open cores of bench/place_cores.json."""
    order = [placed.name for placed in tops.PLACED]
    names = sorted(kept, key=lambda name: order.index(name) if name in order else len(order))
    lines = [TEXT, "## Results", "", "Path, levels and wire length are those of the lowest seed.", "", TABLE]
    lines += [summary(name, kept[name]) for name in names]
    lines += [f"\nThe {len(entry['seeds'])} seeds of `{name}` differ by {spread:.1%} of their median: less than that is no change."
              for name, entry in kept.items() if (spread := place_kept.spread(entry)) is not None]
    absent = [name for name in (*order, "litenvme") if name not in kept]
    if absent:
        lines += ["", f"Not measured yet: {', '.join(f'`{name}`' for name in absent)}."]
    lines += ["", *place_meaning.section({name: kept[name] for name in names}, measured)]
    return "\n".join(lines + [line for name in names for line in section(name, kept[name])]) + "\n"


def write(kept: dict) -> None:
    PAGE.write_text(page(kept, place_kept.load(place_ratio.PATH)))
    print(f"tables in {PAGE.relative_to(program.ROOT)}")
