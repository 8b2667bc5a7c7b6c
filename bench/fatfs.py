# SPDX-License-Identifier: Apache-2.0
"""FatFs over integrations/fatfs, on the virtual drive and host of system 1, and with its files: 1 GiB each, FAT32 in clusters of
64 KiB. Beside it: exFAT through the same disk layer, both through the disk layer of that system, and the recorder. Time is
virtual, so that every run gives the same figures. FatFs's own instructions cost nothing: the rates are upper bounds."""

import argparse
import pathlib

import figures
from lab import runner, runs, seeds


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
    bench = figures.Bench("fatfs", "make bench-fatfs")
    collect(lab, bench)
    bench.show()
    bench.write()
    if any(bench.missed(figure) for figure in bench.figures):
        figures.die("the figures", "an aim was missed")


if __name__ == "__main__":
    main()
