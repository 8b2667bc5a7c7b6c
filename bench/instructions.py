# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that one NVMe command costs the processor, in the emulator."""

import re

import figures
import qemu

ROW = re.compile(r"cost (write|read) (\d+) submit (\d+) doorbell (\d+) complete (\d+) batch (\d+)")
CALLBACK = re.compile(r"cost callback (\d+)")
IDLE = re.compile(r"cost idle poll (\d+)")
DRIVE = qemu.Drive("driver=null-co,size=8589934592,read-zeroes=on", "mdts=8")
# A plain driver's submit by size (at most 512 KiB), doorbell and completion, counted earlier in the same way.
PEER_SUBMIT = {4096: ("a plain driver", 106), 128 << 10: ("a plain driver", 243)}
PEER_SUBMIT_LARGE = ("a plain driver (512 KiB)", 627)
PEER_DOORBELL, PEER_COMPLETE = 13, 28


def main() -> None:
    result = qemu.run("qemu-virt", "instructions", DRIVE, timeout_s=300, echo=True,
                      options=("-icount", "shift=0,sleep=off"))
    rows = ROW.findall(result.output)
    callback = CALLBACK.search(result.output)
    idle = IDLE.search(result.output)
    if result.status != 0 or len(rows) != 6 or callback is None or idle is None:
        figures.die("counting", f"{len(rows)} of 6 rows were printed\n{result.report()}")
    bench = figures.Bench("instructions", "make bench-instructions")
    for kind, size_text, submit, doorbell, complete, batch in rows:
        size, per_batch = int(size_text), int(batch)
        completion = int(complete) / per_batch - int(callback[1])  # the driver's part: reap, check, call
        name = f"{kind} {size >> 10} KiB at queue depth {batch}"
        peer, peer_submit = PEER_SUBMIT.get(size, PEER_SUBMIT_LARGE)
        total = int(submit) + int(doorbell) / per_batch + completion
        peers = {"submit": peer_submit, "doorbell": PEER_DOORBELL, "complete": PEER_COMPLETE}
        bench.add(f"{name}: submit", int(submit), "instructions", aim=55, aim_is="max", peer=peer,
                  peer_value=peers["submit"])
        bench.add(f"{name}: doorbell, shared by {batch}", int(doorbell) / per_batch, "instructions", peer=peer,
                  peer_value=peers["doorbell"])
        bench.add(f"{name}: complete", completion, "instructions", aim=20, aim_is="max", peer=peer,
                  peer_value=peers["complete"])
        bench.add(f"{name}: in all", total, "instructions", aim=75, aim_is="max", peer=peer,
                  peer_value=sum(peers.values()))
    bench.add("the body of the benchmark's own callback, not included above", int(callback[1]), "instructions")
    bench.add("a poll that finds nothing", int(idle[1]), "instructions", peer="libvfn (x86-64)", peer_value=19)
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
