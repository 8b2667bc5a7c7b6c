# SPDX-License-Identifier: Apache-2.0
"""Measures throughput and latency of the gateware in cycles, with an ideal drive, and compares them with the link's upper bound.

Runs build/gateware/bench/rtl/throughput_*, two at a time, and writes build/bench/rtl.json and docs/reference/gateware-figures.md. A
share above 100 % is an error, because the bound would be wrong. With --quick the runs are too short to judge the core: no
figure has an aim, and the page is not written. The bound must still hold.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import figures
import program
import qemu

PROGRAMS = qemu.BUILD / "gateware" / "bench" / "rtl"
STRIPE = qemu.BUILD / "gateware" / "tests" / "rtl" / "testbench" / "stripe_drives"
PAGE = qemu.ROOT / "docs" / "reference" / "gateware-figures.md"
SHARE_MIN = 99.0  # per cent of the bound
SHARE_MAX = 100.0
QUICK = "These runs are quick: too short to judge the core. No figure has an aim."
COMMANDS_MIN = 850_000  # random, of 4 KiB, on Gen3 x4
DRIVES_MIN = 1.98  # two drives, in the rate of one
LITENVME = {4096: 58, 8192: 72}  # per cent of its link's payload limit, real drive
RECORDER = 79  # per cent of the raw rate: the best segment of a recorder in pure logic, real drive

WHERE = {"stream": "", "ring": ", ring in memory", "memory": ", memory mode"}
PAYLOADS = {"stream": ["256", "128", "512"], "ring": ["256"], "memory": []}  # MPS of the streams


@dataclass(frozen=True)
class Model:
    name: str
    mode: str
    generation: int
    bits: int
    clock_mhz: int = 250

    @property
    def where(self) -> str:
        clock = "" if self.clock_mhz == 250 else f" at {self.clock_mhz} MHz"
        return f"Gen{self.generation} x4, {self.bits} bit{clock}{WHERE[self.mode]}"

    @property
    def parts(self) -> list[str]:
        return ["core", "random", *PAYLOADS[self.mode]]


MODELS = (
    Model("stream128", "stream", 3, 128),
    Model("stream256_125", "stream", 3, 256, 125),
    Model("stream256", "stream", 4, 256),
    Model("stream512", "stream", 4, 512),
    Model("ring128", "ring", 3, 128),
    Model("ring256", "ring", 4, 256),
    Model("memory128", "memory", 3, 128),
    Model("memory256", "memory", 4, 256),
)


def lines_of(command: list[str]) -> list[dict]:
    """The JSON lines in a program's output."""
    try:
        text = program.run(*command).stdout
    except program.Failed as failed:
        figures.die("measuring", str(failed))
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def run(model: Model, part: str, quick: bool) -> list[dict]:
    lines = lines_of([str(PROGRAMS / f"throughput_{model.name}"), model.mode, str(model.generation), str(model.clock_mhz), part] +
                     ["quick"] * quick)
    print(f"bench  {model.where}: {part}", flush=True)
    return lines


@dataclass(frozen=True)
class Result:
    model: Model
    core: dict  # its parameters and latencies
    rows: list[dict]  # one per measurement

    @property
    def built(self) -> str:
        ring = f"a ring of {self.core['ring_bytes'] >> 10} KiB" if self.core["ring_bytes"] else "no ring"
        return (f"{self.core['slots']} slots, {self.core['entries']} entries in each queue, {ring}, "
                f"{self.core['clock_mhz']} MHz")


def measure(quick: bool) -> list[Result]:
    jobs = [(model, part) for model in MODELS for part in model.parts]
    jobs.sort(key=lambda job: not job[1].isdigit())  # the long ones first
    with ThreadPoolExecutor(max_workers=2) as workers:
        lines = dict(zip(jobs, workers.map(lambda job: run(*job, quick), jobs)))
    results = []
    for model in MODELS:
        all_lines = [line for part in model.parts for line in lines[model, part]]
        core = {name: value for line in all_lines if "rate" not in line for name, value in line.items()}
        results.append(Result(model, core, [line for line in all_lines if "rate" in line]))
    return results


def share(row: dict) -> float:
    return 100 * row["least_seconds"] / row["seconds"]


def commands_per_s(row: dict) -> float:
    return row["rate"] / row["bytes"]


def beyond_bound(results: list[Result]) -> list[str]:
    return [f"{result.model.where}: {label(row)}: {share(row):.3f} %" for result in results for row in result.rows
            if share(row) > SHARE_MAX]


def payload_share(row: dict) -> float | None:
    """In turns, both directions carry data at times, so this limit does not apply."""
    return None if row["mix"] == "alternate" else 100 * row["rate"] / row["payload_limit"]


def label(row: dict) -> str:
    return f"{row['mix']} {row['bytes'] >> 10} KiB, MPS {row['mps']}"


def peer(row: dict) -> dict:
    if row["mix"] == "read" and row["bytes"] in LITENVME and row["generation"] == 3:
        return {"peer": "LiteNVMe (real drive, of its payload limit)", "peer_value": LITENVME[row["bytes"]]}
    if row["mix"] == "read" and row["bytes"] == 131072 and row["generation"] == 3:
        return {"peer": "a recorder in pure logic (real drive, of raw)", "peer_value": RECORDER}
    return {}


def at_least(aim: float, quick: bool) -> dict:
    return {} if quick else {"aim": aim, "aim_is": "min"}


def collect(bench: figures.Bench, result: Result, quick: bool) -> None:
    where = result.model.where
    for row in result.rows:
        if row["random"]:
            aim = at_least(COMMANDS_MIN, quick) if row["generation"] == 3 else {}
            bench.add(f"{where}: random {label(row)}", commands_per_s(row), "commands/s", **aim)
        else:
            bench.add(f"{where}: {label(row)}", round(share(row), 2), "% of the bound", **at_least(SHARE_MIN, quick))
            if (payload := payload_share(row)) is not None:
                bench.add(f"{where}: {label(row)}", round(payload, 2), "% of the payload limit", **peer(row))
    for name in ("command_to_doorbell", "fetch_to_entry", "completion_to_response"):
        bench.add(f"{where}: {name.replace('_', ' ')}", result.core[name], "cycles")


def collect_stripe(bench: figures.Bench, stripe: dict, quick: bool) -> None:
    for kind in ("write", "read"):
        ratio = stripe[f"{kind}_bytes_per_cycle"] / stripe[f"{kind}_bytes_per_cycle_one"]
        bench.add(f"two drives as one, Gen3 x4, 256 bit: {kind}", round(ratio, 3), "x one drive",
                  **at_least(DRIVES_MIN, quick))


def table(result: Result) -> list[str]:
    lines = ["| command | MPS | write | read | 128 MiB of each by turns |", "|---|---|---|---|---|"]
    places: dict[tuple[int, int], dict[str, str]] = {}
    for row in result.rows:
        if not row["random"]:
            payload = payload_share(row)
            of_payload = "" if payload is None else f" ({payload:.1f})"
            text = f"{share(row):.2f}{of_payload}, {row['rate'] / 1e9:.2f} GB/s"
            places.setdefault((row["bytes"], row["mps"]), {})[row["mix"]] = text
    for (size, mps), cells in sorted(places.items()):
        lines.append(f"| {size >> 10} KiB | {mps} | {cells['write']} | {cells['read']} | {cells['alternate']} |")
    return lines


def random_table(results: list[Result]) -> list[str]:
    lines = ["| | slots | MPS | writes/s | of the bound | reads/s | of the bound | reads at once |",
             "|---|---|---|---|---|---|---|---|"]
    for result in results:
        places: dict[int, dict[str, dict]] = {}
        for row in result.rows:
            if row["random"]:
                places.setdefault(row["mps"], {})[row["mix"]] = row
        for mps, cells in sorted(places.items()):
            write, read = cells["write"], cells["read"]
            lines.append(f"| {result.model.where} | {result.core['slots']} | {mps} | {commands_per_s(write):,.0f} | "
                         f"{share(write):.1f} % | {commands_per_s(read):,.0f} | {share(read):.1f} % | "
                         f"{read['in_flight_max']} |")
    return lines


def latency_table(results: list[Result]) -> list[str]:
    lines = ["| | command → doorbell | entry: read address → data | completion → response |", "|---|---|---|---|"]
    for result in results:
        core = result.core
        lines.append(f"| {result.model.where} | {core['command_to_doorbell']:.1f} | {core['fetch_to_entry']:.1f} | "
                     f"{core['completion_to_response']:.1f} |")
    return lines


def stripe_table(stripe: dict) -> list[str]:
    lines = ["| | one drive | two |", "|---|---|---|"]
    for kind in ("write", "read"):
        one, all_drives = (stripe[f"{kind}_bytes_per_cycle{which}"] * stripe["clock_mhz"] / 1e3 for which in ("_one", ""))
        lines.append(f"| {kind} | {one:.2f} GB/s | {all_drives:.2f} GB/s, {all_drives / one:.2f} times |")
    return lines


def missed_list(results: list[Result]) -> list[str]:
    lines = [f"- {result.model.where}: {label(row)}: {share(row):.2f} %" for result in results for row in result.rows
             if not row["random"] and share(row) < SHARE_MIN]
    return [f"Below {SHARE_MIN:.0f} % of the bound:", "", *lines] if lines else [
        f"No figure of streams is below {SHARE_MIN:.0f} % of the bound."]


TEXT = """<!-- Written by `make bench-rtl`. -->
# What the gateware's core loses

These are figures of the Verilated core behind a model of an AXI-PCIe bridge and of the link, counted in cycles. The drive is
ideal: each write takes 10 µs from its last data, each read 80 µs until its first, any number at once. The link never idles
while there is something to move. So the figures say what the core loses, not what a drive does. Data are checked on both
sides. A millisecond of the core is 16 µs here, so that nobody waits for PERST#. The core therefore reads CSTS every 1.6 ms,
62 times as often as it would. The drive's response to that goes out before data that it has not begun to send.

The **bound** is what the link can carry when every byte on it counts, or width × clock if that is less. Both sides of the
share are data that crossed the link in the time measured. These bytes count, in the direction in which they go:

- data, with header and framing of each packet, and the requests for them;
- submission entries, read 8 at a time (MRRS 512), PRP lists, completions;
- doorbells, shared by as many commands as possible: the tail's by all slots, the head's by all entries of the queue. Where
  the core rings more often, that is its loss;
- acknowledgements and flow-control updates, 8 bytes each: an ACK for each two packets, and an UpdateFC for each two
  requests and each two writes, or when the first of the two has waited for the limit of the specification (PCI Express
  base specification 4.0, 3.6.3.1 and 2.6.1.2: 85 to 250 ns here). They go in the opposite direction of the packets that
  they answer. They cost a stream of writes 8 bytes per 512-byte request. They cost a stream of reads nothing, because they
  are in its idle direction;
- SKP ordered sets, a block of 16 bytes on each lane and a token of 4 bytes (EDS) for each 370 blocks, the most that the
  specification allows (4.2.7.3): 0.29 % of both directions.

Writes alone fill one direction of the link, and reads alone the other. Each also sends a few bytes in the opposite
direction. **By turns** is 128 MiB of writes, then 128 MiB of reads, and so on. Within a turn only one direction is full.
Around the change to the next turn, commands of both kinds are under way, and both directions carry data. How much that is
has a limit: the core completes commands in order, so no more are under way than it has slots, and no more data than fit the
ring. For that much data of each kind the bound is the best case: both kinds together take only the time of the busier
direction. After a turn of writes the overlap is 90 µs shorter. A read takes the place of a write only when that write has
ended, 10 µs after its data, and the read's own data begin 80 µs later. The bound of a row by turns is therefore above the
mean of the bounds of writes and of reads: by 0.3 % with 512 KiB under way, 0.5 to 0.7 % with 1 MiB, and 2.9 % with 4 MiB.
A run that beats its bound is an error of `make bench-rtl`.

The share of the plain payload limit, which counts data packets only, is in brackets beside the share of the bound. One way
takes 250 ns, and the drive has at most 256 read requests under way.

For comparison, shares of the plain payload limit on Gen3 x4 with real drives: LiteNVMe about 58 % at 4 KiB and 72 % at 8 KiB;
a recorder in pure logic 79 % of the raw rate at its best. Ours are with an ideal drive.
"""

SLOTS = """
Reads of 4 KiB at 80 µs: 128 slots hold 128 × 4096 bytes / 80 µs = 6.55 GB/s at the most, and less by what waits for the
doorbell that commands share. That is enough for Gen3 x4; Gen4 x4 has 256 slots here (`SlotBits` 8, `QueueShiftMax` 9).
"""


def write_page(results: list[Result], stripe: dict) -> None:
    lines = [TEXT]
    for result in results:
        if PAYLOADS[result.model.mode]:
            lines += [f"## {result.model.where}", "", f"{result.built}. Per cent of the bound (of the payload limit).", "",
                      *table(result), ""]
    lines += [SLOTS.strip(), "", *missed_list(results), ""]
    lines += ["## Random commands of 4 KiB", "", *random_table(results), ""]
    lines += ["Memory mode moves data between the drive and a memory beside the core, which returns reads in 100 ns and "
              "writes", "in 40 to 400 ns, in any order. A ring in memory is in the same memory, and the core's own port to it answers as "
              "soon, in order;", "the memory is as fast as both ports together.", ""]
    lines += ["## Latency, in cycles at the core's pins", "",
              "One command at a time, an idle drive. Clock crossings of both sides are in it.", "",
              *latency_table(results), ""]
    lines += ["## Two drives as one", "",
              f"`spate_nvme_stripe_axi`, {stripe['data_bits']} bit, {stripe['clock_mhz']} MHz, chunks of "
              f"{stripe['chunk_bytes'] >> 10} KiB, {stripe['drives']} drives on Gen{stripe['generation']} x4. Here a read takes "
              f"{stripe['read_ns'] // 1000} µs,", f"a write {stripe['write_ns'] // 1000} µs, and each member's ring has "
              f"{stripe['ring_bytes'] >> 10} KiB: the table shows what the striped top adds, not what latency costs.", "",
              *stripe_table(stripe)]
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"bench  tables in {PAGE.relative_to(qemu.ROOT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter runs; does not write the page")
    quick = parser.parse_args().quick
    if quick:
        print(QUICK, flush=True)
    results = measure(quick)
    if beyond := beyond_bound(results):
        figures.die("checking the bound", "more than the link can carry, so its bound is wrong:\n  " + "\n  ".join(beyond))
    stripe = lines_of([str(STRIPE)])[-1]
    bench = figures.Bench("rtl", "make bench-rtl")
    for result in results:
        collect(bench, result, quick)
    collect_stripe(bench, stripe, quick)
    if quick:
        print(QUICK)
    bench.show()
    bench.write()
    if not quick:
        write_page(results, stripe)


if __name__ == "__main__":
    main()
