# SPDX-License-Identifier: Apache-2.0
"""What a power cut takes from a recording: the library, and FatFs used in four ways, on the same journalled drive, cut after
every event, and checked for the same promises (tests/power_cut). Writes build/bench/crash.json."""

import json
import os

import program
from figures import Bench, die
from qemu import BUILD, ROOT

BYTES, PIECE, PIECES_A_CHECKPOINT, STATES = 8 << 20, 16 << 10, 50, 10000

# Ways in which a recorder may use FatFs: (pieces between calls of f_sync, f_expand first).
WAYS = {
    "FatFs": (0, 0),
    "FatFs, f_expand": (0, 1),
    "FatFs, f_sync": (PIECES_A_CHECKPOINT, 0),
    "FatFs, f_expand and f_sync": (PIECES_A_CHECKPOINT, 1),
}


def run(name, *words, **settings):
    try:
        return json.loads(program.run(*words, env=os.environ | settings).stdout.splitlines()[-1])
    except program.Failed as failed:
        die(name, str(failed))


def main():
    bench = Bench("crash", "make bench-crash")
    host = BUILD / os.environ.get("SPATE_CRASH_BUILD", "host-release")
    try:
        program.run("make", "-s", "-C", ROOT / "tests/support/fatfs", f"HOST={host.name}", "crash")
    except program.Failed as failed:
        die("build", str(failed))
    theirs = {
        name: run(name, BUILD / "fatfs/fatfs-crash", BYTES, PIECE, every, expand, STATES)
        for name, (every, expand) in WAYS.items()
    }
    ours = run("spate", host / "tools/crash_figures", BYTES, PIECE, PIECES_A_CHECKPOINT, SPATE_CUTS=str(STATES))

    print(f"One clip of {BYTES >> 20} MiB in pieces of {PIECE >> 10} KiB, a checkpoint every {PIECES_A_CHECKPOINT} pieces")
    print(f"{'':<30}{'states':>8}{'stale bytes':>14}{'broken volume':>14}{'promise lost':>14}{'no mount':>10}"
          f"{'lost, mean':>14}{'most':>10}")
    for name, found in ({"Spate": ours} | theirs).items():
        shares = [f"{100 * found[key] / found['states']:.2f} %" for key in ("foreign", "broken", "short", "unmountable")]
        print(f"{name:<30}{found['states']:>8}{shares[0]:>14}{shares[1]:>14}{shares[2]:>14}{shares[3]:>10}"
              f"{found['loss_mean'] / 1024:>10.0f} KiB{found['loss_max'] // 1024:>6} KiB")

    bench.add("states of the library", ours["states"], "states", aim=1000, aim_is="min")
    for key, what in (("foreign", "files with bytes never written to them"), ("broken", "volumes that contradict themselves"),
                      ("short", "promised bytes missing"), ("unmountable", "volumes that do not mount")):
        for peer, found in theirs.items():
            bench.add(f"{what}, beside {peer}", 100 * ours[key] / ours["states"], "% of cuts", aim=0, aim_is="max",
                      peer=peer, peer_value=100 * found[key] / found["states"])
    for key, what in (("loss_mean", "mean loss"), ("loss_max", "greatest loss")):
        for peer, found in theirs.items():
            bench.add(f"{what}, beside {peer}", ours[key] / 1024, "KiB", peer=peer, peer_value=found[key] / 1024)
    bench.write()
    bench.show()
    if any(bench.missed(figure) for figure in bench.figures):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
