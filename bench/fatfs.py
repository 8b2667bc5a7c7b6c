# SPDX-License-Identifier: Apache-2.0
"""FatFs over integrations/fatfs, on the virtual drive and host of system 1, and with its files: 1 GiB each, FAT32 in clusters of
64 KiB. Beside it: exFAT through the same disk layer, both through the disk layer of that system, and the recorder. Time is
virtual, so that every run gives the same figures. FatFs's own instructions cost nothing: the rates are upper bounds. What a call of
the disk layer costs is counted in the emulator."""

import argparse
import pathlib
import re

import compiler
import figures
import qemu
from lab import runner, runs, seeds


CALLS = re.compile(r"^calls write (\d+) (\d+) (\d+) copy (\d+) busy (\d+) poll (\d+) idle (\d+)", re.M)
COUNTED = ["disk_write() of 64 KiB, none in flight", "disk_write() of 64 KiB, 16 in flight", "disk_write() of 64 KiB, 31 in flight",
           "disk_write() of one sector, copied", "spate_diskio_busy(), 32 in flight", "a completion, in polls of 16",
           "a poll that finds nothing"]
DRIVE = qemu.Drive("driver=null-co,size=8589934592,read-zeroes=on,latency-ns=20000000", "mdts=8")


def count_calls(bench: figures.Bench) -> None:
    """Instructions of a call, the driver's included. The disk layer has 32 requests."""
    result = qemu.run("qemu-virt", "disk_calls", DRIVE, timeout_s=300, options=("-icount", "shift=0,sleep=off"))
    counts = CALLS.search(result.output)
    if result.status != 0 or counts is None:
        figures.die("counting", f"no counts were printed\n{result.report()}")
    for name, count in zip(COUNTED, counts.groups(), strict=True):
        bench.add(name, int(count), "instructions")


def ways(lab: runner.Lab) -> list[tuple[str, str]]:
    """(what, name of the run), in the order in which they are shown."""
    return [(what, name) for name, what in runs.ONE_GIB_FILES.items() if name in lab.results]


def collect(lab: runner.Lab, bench: figures.Bench) -> None:
    published = seeds.figure("fat32-1g").value / 1e9
    for what, name in ways(lab):
        result = lab.result(name)
        aims = {"aim": published, "aim_is": "min", "peer": "system 1", "peer_value": published} if name == "gib-fat32" else {}
        bench.add(f"rate, {what}", round(result["bytes_per_s"] / 1e9, 3), "GB/s", **aims)
        if "change_ms_mean" in result:
            bench.add(f"close a file and create the next, {what}", round(result["change_ms_mean"], 3), "ms")
        if "gap_ms_max" in result:
            bench.add(f"longest time without a data command, {what}", round(result["gap_ms_max"], 3), "ms")
            commands = sum(result[key] for key in ("metadata_reads", "metadata_writes", "flushes"))
            bench.add(f"commands that carry no data, {what}", round(commands / result["files"]), "per file")
    bench.add("wrong pages, exFAT", lab.results["gib-exfat"]["walk"]["wrong_pages"], "pages", aim=0, aim_is="max")
    bench.add("files", lab.result("gib-fat32")["files"], "files")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=runner.BUILD / "host-release/lab")
    options = parser.parse_args()
    lab = runner.Lab(options.programs)
    try:
        lab.all(runs.one_gib_files(32 * runs.GIB))
    except runner.Failed as failure:
        figures.die("an experiment", str(failure))
    bench = figures.Bench("fatfs", "make bench-fatfs", compiler.of(qemu.BUILD / "qemu-virt"))
    collect(lab, bench)
    count_calls(bench)
    bench.show()
    bench.write()
    if any(bench.missed(figure) for figure in bench.figures):
        figures.die("the figures", "an aim was missed")


if __name__ == "__main__":
    main()
