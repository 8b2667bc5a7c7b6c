# SPDX-License-Identifier: Apache-2.0
"""Measures raw and exFAT rates by block size and queue depth, on an emulated board. The rates show Spate's own overhead compared
with raw requests in the same run; the speed of the emulated drive says nothing about a real one."""

import argparse
import pathlib
import re
import tempfile

import figures
import program
import qemu

ROW = re.compile(r"^ +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) %", re.M)
ROWS = 27
DRIVE_BYTES = 1 << 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default="qemu-virt", choices=list(qemu.BOARDS))
    parser.add_argument("--total-mib", type=int, default=16, help="for each figure (default %(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        try:
            program.need_space(pathlib.Path(name), max(DRIVE_BYTES // 4, options.total_mib << 21), "the speed test")
        except program.NoSpace as full:
            figures.die("checking free disk space", str(full))
        image = pathlib.Path(name) / "drive.img"
        with open(image, "wb") as file:
            file.truncate(max(DRIVE_BYTES, options.total_mib << 23))
        # No discard: a deleted file's blocks stay allocated on the host, so that files and raw blocks are comparable.
        drive = qemu.Drive(f"file={image},format=raw,cache=unsafe")
        result = qemu.run(options.board, "speedtest", drive,
                          {"total_mib": str(options.total_mib)}, timeout_s=3600, echo=True)
    rows = ROW.findall(result.output)
    if result.status != 0 or len(rows) != ROWS:
        figures.die("the speed test", f"{len(rows)} of {ROWS} rows were printed\n{result.report()}")

    bench = figures.Bench("speedtest", f"make speedtest BOARD={options.board}")
    for kib, depth, raw_write, raw_read, file_write, file_read, _ in rows:
        where = f"{kib} KiB, depth {depth}"
        bench.add(f"raw write, {where}", float(raw_write), "MB/s, emulated")
        bench.add(f"raw read, {where}", float(raw_read), "MB/s, emulated")
        bench.add(f"exFAT write, {where}", float(file_write), "MB/s, emulated", peer="raw write in the same run",
                    peer_value=float(raw_write))
        bench.add(f"exFAT read, {where}", float(file_read), "MB/s, emulated", peer="raw read in the same run",
                    peer_value=float(raw_read))
    by_size: dict[str, list[float]] = {}
    for kib, _, raw_write, _, file_write, _, _ in rows:
        by_size.setdefault(kib, []).append(float(file_write) / max(float(raw_write), 0.1))
    print("\n  exFAT write rate ÷ raw write rate, median over the queue depths")
    for kib, ratios in by_size.items():
        ratio = sorted(ratios)[len(ratios) // 2]
        print(f"  {kib:>5} KiB  {ratio:.2f}")
        bench.add(f"exFAT write ÷ raw write, {kib} KiB", round(ratio, 3), "ratio")
    bench.write()


if __name__ == "__main__":
    main()
