# SPDX-License-Identifier: Apache-2.0
"""What nextpnr's report says of a placed and routed design: frequency, use, the critical path and the worst end points."""

import collections
import json
import re
from typing import NamedTuple

from place import nextpnr, owners

WORST = 10  # end points


class Step(NamedTuple):
    """A part of a path: a net, or a primitive between two nets, or the register at an end."""

    kind: str  # clk-to-q, logic, routing or setup
    delay_ns: float
    cell: str
    primitive: str  # its type; of a net, the one that it leads to
    module: str
    signal: str  # the net that the primitive drives, if it has a name
    fan_out: int  # of a net: the inputs that it drives


class End(NamedTuple):
    arrival_ns: float  # after the clock's source, so the clock's own way counts
    module: str
    signal: str
    port: str


class Result(NamedTuple):
    fmax_mhz: float
    luts: int  # sites: a LUTRAM is counted with the LUTs that it consists of
    ffs: int
    ramb18: int
    ramb36: int
    wire_length: int  # the placer's estimate, in tiles
    path: list[Step]
    ends: list[End]

    @property
    def levels(self) -> int:
        return levels(self.path)


def levels(path: list[Step]) -> int:
    """Primitives between the registers; a carry chain is one."""
    kinds = [step.primitive for step in path if step.kind == "logic"]
    return sum(1 for before, kind in zip([None, *kinds], kinds) if kind != "CARRY4" or before != "CARRY4")


def delay_ns(path: list[Step], *kinds: str) -> float:
    return sum(step.delay_ns for step in path if not kinds or step.kind in kinds)


class Row(NamedTuple):
    """A primitive of a path with the net that leads to it; a carry chain is one row."""

    module: str
    primitive: str
    signal: str
    fan_out: int  # of the net that leads to it
    routing_ns: float
    logic_ns: float  # clock-to-Q of the first register, setup of the last

    def carries_on(self, before: "Row") -> bool:
        return self.primitive == before.primitive == "CARRY4" and self.module == before.module


def rows(path: list[Step]) -> list[Row]:
    found: list[Row] = []
    routing_ns, fan_out = 0.0, 0
    for step in path:
        if step.kind == "routing":
            routing_ns, fan_out = step.delay_ns, step.fan_out
            continue
        row = Row(step.module, step.primitive, step.signal, fan_out, routing_ns, step.delay_ns)
        if found and row.carries_on(found[-1]):
            before = found.pop()
            row = before._replace(signal=step.signal, routing_ns=before.routing_ns + routing_ns, logic_ns=before.logic_ns + step.delay_ns)
        found.append(row)
    return found


def steps(path: list[dict], known: owners.Owners, types: dict[str, str]) -> list[Step]:
    """`types`: {primitive: its type}, as nextpnr calls it."""
    found = []
    for part in path:
        cell = part["to" if part["type"] == "routing" else "from"]["cell"]
        fan_out = known.fan_out(part["from"]["cell"]) if part["type"] == "routing" else 0
        found.append(Step(part["type"], part["delay"], cell, types.get(cell, "?"), known[cell], known.signal(cell), fan_out))
    return found


def worst_ends(nets: list[dict], known: owners.Owners) -> list[End]:
    """All bits and pins of a register or memory are one end point."""
    found: dict[tuple[str, str], End] = {}
    for arrival_ns, cell, port in sorted(((end["delay"][1], end["cell"], end["port"]) for net in nets for end in net["endpoints"]), reverse=True):
        end = End(arrival_ns, known[cell], re.sub(r"(\[\d+\]|\.\d+)+$", "", known.signal(cell)), port)
        found.setdefault((end.module, end.signal), end)
        if len(found) == WORST:
            break
    return list(found.values())


def grouped(ends: list[End]) -> list[tuple[str, list[str], float]]:
    """Of each module: its end points, without their path, and the latest arrival; the module with most of them first."""
    counts = collections.Counter(end.module for end in ends)
    return [(module, [end.signal.rpartition(".")[2] for end in ends if end.module == module],
             max(end.arrival_ns for end in ends if end.module == module)) for module, _ in counts.most_common()]


def wire_length(log: str) -> int:
    return int(re.findall(r"at iteration #\d+: temp = .*, wirelen = (\d+)", log)[-1])


def critical(paths: list[dict]) -> list[dict]:
    """The longest path from clock to clock; others begin or end at a pin."""
    between = [path["path"] for path in paths if "edge" in path["from"] and "edge" in path["to"]]
    return max(between, key=lambda path: sum(part["delay"] for part in path))


def read(files: nextpnr.Files, known: owners.Owners) -> Result:
    report = json.loads(files.report.read_text())
    (fmax,) = report["fmax"].values()
    used = {kind: number["used"] for kind, number in report["utilization"].items()}
    types = {name: cell.primitive for name, cell in nextpnr.placed_cells(files).items()}
    return Result(fmax["achieved"], used["SLICE_LUTX"], used["SLICE_FFX"], used["RAMB18E1_RAMB18E1"], used["RAMB36E1_RAMB36E1"],
                  wire_length(files.log.read_text()), steps(critical(report["critical_paths"]), known, types),
                  worst_ends(report["detailed_net_timings"], known))
