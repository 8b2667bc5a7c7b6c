# SPDX-License-Identifier: Apache-2.0
"""
The benchmarks of recorders in pure logic, reproduced with the gateware in simulation and the virtual drives. Writes
build/bench/rtl-seeds.json and a table, with the published figures of such recorders on real hardware.

Rates are MB/s. Ours are simulated: the core cycle by cycle, the drive from a profile (sim/profiles), the link Gen3 x4 with
512-byte packets, and the media scaled down as the report says. Theirs were measured.
"""

import argparse
import json
import pathlib

import figures
import program
import qemu

PROGRAM = qemu.BUILD / "gateware" / "tests" / "rtl" / "sim" / "seeds"

# Averages over 1000 GB each, except for the 970 EVO Plus (raw transfers by a processor, inside the SLC cache).
PEERS = {
    "980pro": {"source": "pure logic on a ZU7EV, Gen3 x4", "read": 3000, "write": 2800, "alternating": 2940},
    "960pro": {"source": "pure logic on a ZU7EV, Gen3 x4", "read": 3050, "write": 2000},
    "starblaze": {"source": "pure logic on a ZU7EV, Gen3 x4", "read": 3000, "write": 2300},
    "exascend": {"source": "pure logic on a ZU7EV, Gen3 x4", "read": 2450, "write": 2650, "alternating": 2520},
    "970evoplus": {"source": "bare metal on a Zynq UltraScale+, Gen3 x4", "read": 3150, "write": 2500},
}
CLOCK_TOLERANCE = 0.001


def measure(seeds: pathlib.Path, profile: str) -> dict:
    try:
        return json.loads(program.run(seeds, profile).stdout)
    except program.Failed as failed:
        figures.die(f"seeds {profile}", str(failed))


def row(ours: dict, peer: dict) -> str:
    cells = [ours["profile"]]
    for kind in ("write", "read"):
        cells += [f"{ours[kind]['average']} ({ours[kind]['best_segment']})", str(peer[kind])]
    cells += [str(ours["alternating"]), str(peer.get("alternating", "not published"))]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("profiles", nargs="*", default=list(PEERS))
    options = parser.parse_args()

    bench = figures.Bench("rtl-seeds", "make bench-rtl-seeds")
    print("| drive | write: average (best segment) | theirs | read: average (best segment) | theirs | alternating | theirs |")
    print("|---|---|---|---|---|---|---|")
    for profile in options.profiles:
        ours, peer = measure(options.program, profile), PEERS[profile]
        print(row(ours, peer), flush=True)
        for kind, value in (("write", ours["write"]["average"]), ("read", ours["read"]["average"]),
                            ("alternating", ours["alternating"])):
            published = {"peer": peer["source"], "peer_value": peer[kind]} if kind in peer else {}
            bench.add(f"{profile}: {kind}", value, "MB/s", **published)
        if abs(ours["clock_ratio"] - 1) > CLOCK_TOLERANCE:
            figures.die(profile, f"the core's clock and the drive's differ by {ours['clock_ratio']}")
    scale, megabytes = ours["scale"], ours["bytes"] // 1_000_000
    print(f"\nOurs: simulated, {megabytes} MB for 1000 GB: the media's amounts and times are 1/{scale} of the profile's; link,")
    print("latencies and rates are not scaled; 64 slots, a ring of 1 MiB; turns of 1 MiB, theirs of 128 MB. Every block was "
          "compared.")
    bench.write()


if __name__ == "__main__":
    main()
