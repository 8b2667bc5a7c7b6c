# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that one NVMe command costs the processor, in the emulator."""

import compiler
import counted
import figures
import qemu

# A plain driver's submit by size (at most 512 KiB), doorbell and completion, counted earlier in the same way.
PEER_SUBMIT = {4096: ("a plain driver", 106), 128 << 10: ("a plain driver", 243)}
PEER_SUBMIT_LARGE = ("a plain driver (512 KiB)", 627)
PEER_DOORBELL, PEER_COMPLETE = 13, 28


def main() -> None:
    counts = counted.count("qemu-virt", echo=True)
    bench = figures.Bench("instructions", "make bench-instructions", compiler.of(qemu.BUILD / "qemu-virt"))
    for call in counts.calls:
        name = f"{call.kind} {call.size >> 10} KiB at queue depth {call.batch}"
        peer, peer_submit = PEER_SUBMIT.get(call.size, PEER_SUBMIT_LARGE)
        peers = {"submit": peer_submit, "doorbell": PEER_DOORBELL, "complete": PEER_COMPLETE}
        bench.add(f"{name}: submit", call.submit, "instructions", aim=55, aim_is="max", peer=peer,
                  peer_value=peers["submit"])
        bench.add(f"{name}: doorbell, shared by {call.batch}", call.doorbell / call.batch, "instructions", peer=peer,
                  peer_value=peers["doorbell"])
        bench.add(f"{name}: complete", call.complete, "instructions", aim=20, aim_is="max", peer=peer,
                  peer_value=peers["complete"])
        bench.add(f"{name}: in all", call.all, "instructions", aim=75, aim_is="max", peer=peer,
                  peer_value=sum(peers.values()))
    for row in counts.recordings:
        name = f"recording pieces of {row.size >> 10} KiB, above the driver"
        bench.add(f"{name}: push a piece", row.push, "instructions")
        bench.add(f"{name}: a turn", row.turn, "instructions")
        bench.add(f"{name}: … and each piece in it", row.piece, "instructions")
        bench.add(f"{name}: a checkpoint", row.checkpoint, "instructions")
        bench.add(f"{name}: arming and closing a clip of 16 GiB", row.clip, "instructions")
    bench.add("a loop: a turn that finds nothing to do", counts.loop_work, "instructions")
    bench.add("a loop: deleting a part, arming and listing the next", counts.loop_lap, "instructions")
    bench.add("the body of the benchmark's own callback, not included above", counts.callback, "instructions")
    bench.add("a poll that finds nothing", counts.idle, "instructions", peer="libvfn (x86-64)", peer_value=19)
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
