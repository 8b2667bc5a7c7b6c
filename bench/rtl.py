# SPDX-License-Identifier: Apache-2.0
"""Throughput and latency of the gateware against what the link can carry, from cycles, with an ideal drive.

Runs build/gateware/bench/rtl/throughput_*, writes build/bench/rtl.json and docs/GATEWARE-FIGURES.md. With --quick the
runs are shorter and the page is left alone: shares differ by a per cent then, as each begins with an empty ring.
"""

import argparse
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import figures
import qemu

PROGRAMS = qemu.BUILD / "gateware" / "bench" / "rtl"
PAGE = qemu.ROOT / "docs" / "GATEWARE-FIGURES.md"
SHARE_MIN = 99.0  # per cent of the bound
COMMANDS_MIN = 850_000
LITENVME = {4096: 58, 8192: 72}  # per cent of what its link can carry, real drive
RECORDER = 79  # per cent of the raw rate: the best segment of a recorder in pure logic, real drive
CLOCK_MHZ = 250


@dataclass(frozen=True)
class Model:
    name: str
    mode: str
    generation: int
    bits: int
    ring: str

    @property
    def where(self) -> str:
        memory = ", memory mode" if self.mode == "memory" else ""
        return f"Gen{self.generation} x4, {self.bits} bit{memory}"


MODELS = (
    Model("stream128", "stream", 3, 128, "1 MiB"),
    Model("stream256", "stream", 4, 256, "1 MiB"),
    Model("stream512", "stream", 4, 512, "1 MiB"),
    Model("memory128", "memory", 3, 128, "none"),
)


def run(model: Model, quick: bool) -> list[dict]:
    command = [str(PROGRAMS / f"throughput_{model.name}"), model.mode, str(model.generation)] + ["quick"] * quick
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        figures.die(f"throughput_{model.name}", result.stderr.strip() or f"status {result.returncode}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def share(row: dict) -> float:
    return 100 * row["rate"] / min(row["link_bound"], row["interface_bound"])


def payload_share(row: dict) -> float:
    return 100 * row["rate"] / row["payload_limit"]


def label(row: dict) -> str:
    return f"{row['mix']} {row['bytes'] >> 10} KiB, MPS {row['mps']}"


def peer(row: dict) -> dict:
    if row["mix"] == "read" and row["bytes"] in LITENVME and row["generation"] == 3:
        return {"peer": "LiteNVMe (real drive, of its payload limit)", "peer_value": LITENVME[row["bytes"]]}
    if row["mix"] == "read" and row["bytes"] == 131072 and row["generation"] == 3:
        return {"peer": "a recorder in pure logic (real drive, of raw)", "peer_value": RECORDER}
    return {}


def collect(bench: figures.Bench, model: Model, rows: list[dict]) -> None:
    for row in rows:
        if "rate" not in row:
            for name, cycles in row.items():
                bench.add(f"{model.where}: {name.replace('_', ' ')}", cycles, "cycles")
        elif row["random"]:
            bench.add(f"{model.where}: random {label(row)}", row["commands_per_s"], "commands/s",
                      aim=COMMANDS_MIN if row["generation"] == 3 else None,
                      aim_is="min" if row["generation"] == 3 else "none")
        else:
            bench.add(f"{model.where}: {label(row)}", round(share(row), 2), "% of the bound", aim=SHARE_MIN,
                      aim_is="min")
            bench.add(f"{model.where}: {label(row)}", round(payload_share(row), 2), "% of the payload limit",
                      **peer(row))


def table(model: Model, rows: list[dict]) -> list[str]:
    lines = ["| command | MPS | write | read | write, read 128 MB by turns |", "|---|---|---|---|---|"]
    places: dict[tuple[int, int], dict[str, str]] = {}
    for row in rows:
        if "rate" in row and not row["random"]:
            text = f"{share(row):.2f} ({payload_share(row):.1f}), {row['rate'] / 1e9:.2f} GB/s"
            places.setdefault((row["bytes"], row["mps"]), {})[row["mix"]] = text
    for (size, mps), cells in sorted(places.items()):
        turns = cells.get("alternate", "")
        lines.append(f"| {size >> 10} KiB | {mps} | {cells['write']} | {cells['read']} | {turns} |")
    return lines


def random_table(results: list[tuple[Model, list[dict]]]) -> list[str]:
    lines = ["| | MPS | writes/s | reads/s | reads at once |", "|---|---|---|---|---|"]
    for model, rows in results:
        places: dict[int, dict[str, dict]] = {}
        for row in rows:
            if row.get("random"):
                places.setdefault(row["mps"], {})[row["mix"]] = row
        for mps, cells in sorted(places.items()):
            lines.append(f"| {model.where} | {mps} | {cells['write']['commands_per_s']:,.0f} | "
                         f"{cells['read']['commands_per_s']:,.0f} | {cells['read']['in_flight_max']} |")
    return lines


def latency_table(results: list[tuple[Model, list[dict]]]) -> list[str]:
    lines = ["| | command → doorbell | entry: read address → data | completion → response |", "|---|---|---|---|"]
    for model, rows in results:
        row = next(row for row in rows if "command_to_doorbell" in row)
        lines.append(f"| {model.where} | {row['command_to_doorbell']:.1f} | {row['fetch_to_entry']:.1f} | "
                     f"{row['completion_to_response']:.1f} |")
    return lines


TEXT = """<!-- Written by `make bench-rtl`. -->
# What the gateware's core loses

Figures of the Verilated core behind a model of an AXI-PCIe bridge and of the link, counted in cycles. The drive is ideal:
each write takes 10 µs from its last data, each read 80 µs until its first, any number at once, and the link never idles
while there is something to move. So these say what the core loses, not what a drive does. Data are checked on both
sides.

The **bound** is the lesser of what the link can carry when every byte of every packet counts (data with headers and
framing, submission entries read {entries} at a time, PRP lists, read requests, doorbells shared by 16 and 32 commands,
completions), and of width × clock. In brackets beside it: the share of the plain payload limit, which counts data
packets only. Clock {clock} MHz, MRRS 512, one way 250 ns, 128 slots, a ring of 1 MiB, 256 entries in the queue. No share
of the link is taken off for acknowledge and flow-control packets.

For orientation, of the plain payload limit on Gen3 x4: LiteNVMe about 58 % at 4 KiB and 72 % at 8 KiB; a recorder
in pure logic 79 % of the raw rate at its best. Those are with real drives, ours is with an ideal one.
"""

SLOTS = """
Reads of 4 KiB at 80 µs: 128 slots hold 128 × 4096 bytes / 80 µs = 6.55 GB/s at the most, and less by what waits for the
doorbell that commands share. On Gen4 x4 that is the limit of such reads.
"""


def write_page(results: list[tuple[Model, list[dict]]]) -> None:
    lines = [TEXT.format(entries=8, clock=CLOCK_MHZ)]
    for model, rows in results:
        if model.mode == "stream":
            lines += [f"## {model.where}, per cent of the bound (of the payload limit)", "", *table(model, rows), ""]
    lines += [SLOTS.strip(), "", "## Random commands of 4 KiB", "", *random_table(results), ""]
    lines += ["Memory mode moves data between the drive and a memory beside the core, which answers reads in 100 ns and "
              "writes", "in 40 to 400 ns, in any order.", ""]
    lines += ["## Latency, in cycles at the core's pins", "",
              "One command at a time, an idle drive. Clock crossings of both sides are in it.", "",
              *latency_table(results)]
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"bench  tables in {PAGE.relative_to(qemu.ROOT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter runs; the page is left alone")
    arguments = parser.parse_args()
    with ThreadPoolExecutor(max_workers=2) as workers:
        rows = list(workers.map(lambda model: run(model, arguments.quick), MODELS))
    results = list(zip(MODELS, rows))
    bench = figures.Bench("rtl", "make bench-rtl")
    for model, model_rows in results:
        collect(bench, model, model_rows)
    bench.show()
    bench.write()
    if not arguments.quick:
        write_page(results)


if __name__ == "__main__":
    main()
