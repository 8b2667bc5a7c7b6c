# SPDX-License-Identifier: Apache-2.0
"""
Records a stream of 2 GB/s as a loop on a virtual drive for MINUTES of the drive's time: loop_soak.py MINUTES.

Each part has two seconds, the loop keeps the last 32 of them, and goes over the whole drive many times a day. At the end every page
of the parts that are left is compared with the stream. The result is in build/loop-soak.json.
"""

import json
import sys
import time

import program

LAB = program.BUILD / "host-release/lab/spate-lab"
RESULT = program.BUILD / "loop-soak.json"
RATE_BYTES_PER_S = 2 * 10**9
PART_BYTES = 4 << 30
PARTS = 32
MINUTES_LEAST = 2  # the loop goes round
HOURS_MAX = 24


def options(total_bytes: int) -> list[str]:
    """An enterprise drive that was written before: it takes 2.6 GB/s for ever."""
    words = {"profile": "exascend", "filled": 1, "depth": 16, "block": 1 << 20, "cluster": 1 << 20, "ring": 256 << 20,
             "rate": RATE_BYTES_PER_S, "file": PART_BYTES, "keep": PARTS * PART_BYTES, "bytes": total_bytes}
    return [word for name, value in words.items() for word in (f"--{name}", str(value))] + ["--verify"]


def broken(result: dict, walk: dict) -> list[str]:
    """What is not as promised."""
    promises = {
        "bytes were lost": result["overrun_bytes"] + result["lost_bytes"] == 0,
        "no part was deleted": result["deleted"] > 0,
        "there is another number of parts": walk["files"] in (PARTS - 1, PARTS),
        "the parts are not the end of the stream": walk["complete"],
        "pages are wrong": walk["wrong_pages"] == 0,
    }
    return [name for name, kept in promises.items() if not kept]


def main() -> None:
    minutes = int(sys.argv[1])
    if minutes < MINUTES_LEAST:
        sys.exit(f"MINUTES={minutes}: at least {MINUTES_LEAST}, so that the loop goes round")
    begin = time.monotonic()
    total_bytes = minutes * 60 * RATE_BYTES_PER_S // PART_BYTES * PART_BYTES
    print(f"loop   {total_bytes / 1e12:.2f} TB at 2 GB/s, {total_bytes // PART_BYTES} parts of 4 GiB, {PARTS} are kept; a day takes about an "
          "hour", flush=True)
    words = [LAB, "files", *options(total_bytes)]
    said = program.run(*words, timeout_s=HOURS_MAX * 3600).stdout
    RESULT.write_text(said)
    result, walk = json.loads(said)["result"], json.loads(said)["walk"]
    print(f"       {result['parts']} parts made, {result['deleted']} deleted, {walk['files']} left with {walk['wrong_pages']} wrong pages of "
          f"{walk['pages']}")
    print(f"       lost {result['overrun_bytes'] + result['lost_bytes']} bytes; ring at most {result['ring_bytes_max'] >> 20} MiB, longest gap "
          f"{result['gap_ms_max']:.1f} ms, longest time without a next part {result['arm_ms_max']:.0f} ms; "
          f"{time.monotonic() - begin:.0f} s")
    if wrong := broken(result, walk):
        sys.exit(f"FAILED: {', '.join(wrong)}. {RESULT.relative_to(program.ROOT)} has the result")


if __name__ == "__main__":
    main()
