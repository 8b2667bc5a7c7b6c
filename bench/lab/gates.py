# SPDX-License-Identifier: Apache-2.0
"""The figures that have aims, for build/bench/lab.json and for the tests."""

from lab import chapters_files, runs
from lab.runner import Lab


def loop(lab: Lab, bench) -> None:
    """A loop costs no rate: the deletions and the lists are beside the stream."""
    round_, files = lab.results["loop-round"], lab.results["loop-files"]
    bench.add("loop ÷ files: rate", round(lab.rate("loop-round") / lab.rate("loop-files"), 4), "ratio", aim=0.99, aim_is="min")
    bench.add("loop: rate", round(lab.rate("loop-round") / 1e6, 2), "MB/s", peer="plain files",
              peer_value=round(lab.rate("loop-files") / 1e6, 2))
    bench.add("loop: longest gap", round(round_["result"]["gap_ms_max"], 2), "ms", peer="plain files",
              peer_value=round(files["result"]["gap_ms_max"], 2))
    bench.add("loop: recorded", round(round_["result"]["bytes"] / 1e9), "GB")
    bench.add("loop: parts deleted", round_["result"]["deleted"], "parts")
    bench.add("loop: wrong pages", round_["walk"]["wrong_pages"] + files["walk"]["wrong_pages"], "pages", aim=0, aim_is="max")


def collect(lab: Lab, bench) -> None:
    """Adds them to `bench`, a figures.Bench."""
    for profile, (write, read) in chapters_files.aims(lab).items():
        bench.add(f"files written ÷ raw, {profile}", round(write, 4), "ratio", aim=chapters_files.AIM, aim_is="min")
        bench.add(f"files read ÷ raw, {profile}", round(read, 4), "ratio", aim=chapters_files.AIM, aim_is="min")
        files = lab.results[f"aim-{profile}-files"]
        bench.add(f"wrong pages, {profile}", files["walk"]["wrong_pages"] + files["read"]["wrong_pages"], "pages", aim=0,
                  aim_is="max")
    for profile in runs.PROFILES:
        if f"peer-{profile}-exfat-best-paced" not in lab.results:
            continue
        ours, theirs = (lab.result(f"peer-{profile}-{key}-paced") for key in ("ours", "exfat-best"))
        fast, slow = (lab.rate(f"peer-{profile}-{key}") for key in ("ours", "exfat-best"))
        bench.add(f"files, {profile}", round(fast / 1e9, 3), "GB/s", peer="FatFs at its best", peer_value=round(slow / 1e9, 3))
        bench.add(f"longest gap, {profile}", round(ours["gap_ms_max"], 3), "ms", peer="FatFs at its best",
                  peer_value=round(theirs["gap_ms_max"], 3))
        bench.add(f"ring that the stream needed, {profile}", ours["ring_bytes_max"] >> 20, "MiB", peer="FatFs at its best",
                  peer_value=theirs["ring_bytes_max"] >> 20)
    for name in chapters_files.WARNED:
        if f"warned-{name}-ignores" in lab.results:
            bench.add(f"lost by a source that listens, {name}", lab.result(f"warned-{name}-listens")["overrun_bytes"],
                      "bytes", aim=0, aim_is="max", peer="one that does not",
                      peer_value=lab.result(f"warned-{name}-ignores")["overrun_bytes"])
    if "whole-980pro" in lab.results:
        bench.add("2 TB recorded: rate", round(lab.rate("whole-980pro") / 1e9, 3), "GB/s", peer="system 3", peer_value=2.0)
        bench.add("2 TB recorded: wrong pages", lab.results["whole-980pro"]["walk"]["wrong_pages"], "pages", aim=0,
                  aim_is="max")
        if "whole-980pro" in lab.seconds:
            bench.add("2 TB recorded and checked: processor time", round(lab.seconds["whole-980pro"]), "s", aim=120,
                      aim_is="max")
        bench.add("2 TB recorded: pages checked", lab.results["whole-980pro"]["walk"]["pages"], "pages")
    loop(lab, bench)
    for drives in (1, 2, 4):
        bench.add(f"files on an array of {drives}, 980pro", round(lab.rate(f"stripe-980pro-{drives}-files") / 1e9, 3), "GB/s")
