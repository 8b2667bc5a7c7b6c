# SPDX-License-Identifier: Apache-2.0
"""The command on this machine's disk beside dd, cat and fio: rates, and processor time, as ratios of the same run. Each round runs
every program once, one after the other, so that a machine that is slow for a while is slow for all. The median of the rounds'
ratios counts. Files are in build/files, on the file system of the sources."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import time

import figures
import program
import qemu

SPATE = qemu.BUILD / "linux/bin/spate"
CAMERA = SPATE.parent / "ring_camera"
FRAME = 2 << 20  # bytes, of that camera
MIB, GIB = 1 << 20, 1 << 30
DEPTHS = (1, 8, 32)


class Files:
    """A folder with an image, a file of data, and a file of holes."""

    def __init__(self, folder: pathlib.Path, size: int):
        self.folder, self.bytes = folder, size
        self.image, self.data, self.holes, self.out = (folder / name for name in ("rec.img", "data", "holes", "out"))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with open(self.data, "wb") as file:
            for _ in range(size // MIB):
                file.write(os.urandom(MIB))
            os.fsync(file.fileno())
        with open(self.holes, "wb") as file:
            file.truncate(size)
        run(SPATE, "format", self.image, "--size", str(3 * size))
        os.posix_fallocate(fd := os.open(self.image, os.O_RDWR), 0, 3 * size)  # as a drive: no file system allocates
        os.close(fd)


def run(*words, shell: bool = False, statuses=(0,)) -> tuple[float, float]:
    """Seconds, and seconds of the processor, of a program and its children."""
    before, begun = os.times(), time.monotonic()
    try:
        program.run(*(("sh", "-c", words[0]) if shell else words), statuses=statuses)
    except program.Failed as failed:
        figures.die(" ".join(map(str, words)), str(failed))
    seconds, after = time.monotonic() - begun, os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def write_back(*paths: pathlib.Path) -> None:
    """Nothing that one program leaves in the page cache is written, or read, on another one's time."""
    for path in paths:
        if not path.exists():
            continue
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def spate(files: Files, *words, **options) -> tuple[float, float]:
    write_back(files.image, files.data, files.holes, files.out)
    return run(SPATE, *words, "--progress", "none", **options)


def record(files: Files, *words, **options) -> tuple[float, float]:
    run(SPATE, "rm", files.image, "clip", statuses=(0, 1))
    return spate(files, "record", files.image, "clip", *words, **options)


def dd(files: Files, source, target, *words) -> tuple[float, float]:
    write_back(files.image, files.data, files.holes, files.out)
    return run("dd", f"if={source}", f"of={target}", "bs=1M", "conv=notrunc,fsync", *words)


def fio(files: Files, depth: int) -> tuple[float, float]:
    write_back(files.out)
    return run("fio", "--name=write", f"--filename={files.out}", "--rw=write", "--bs=1M", f"--size={files.bytes}", "--direct=1",
               "--ioengine=io_uring", f"--iodepth={depth}", "--end_fsync=1", "--fallocate=none", "--overwrite=1", "--output-format=json")


def pipe(files: Files, command: str) -> tuple[float, float]:
    """From the page cache, so that the disk only writes."""
    write_back(files.image, files.out)
    run(f"cat '{files.data}' > /dev/null", shell=True)
    return run(f"cat '{files.data}' | {command}", shell=True)


def ring(files: Files) -> tuple[float, float]:
    """The camera's own processor time does not count: it is that of whoever makes the data."""
    with program.process([CAMERA, "bench-files", str(files.bytes // FRAME)]) as camera:
        result = record(files, "--from", "ring:bench-files")
        if camera.wait(60) != 0:
            figures.die(f"{CAMERA}: exit status {camera.returncode}")
    return result


def a_round(files: Files) -> dict:
    """(seconds, processor's seconds) of everything, once."""
    result = {"file": record(files, "--from", files.data)}
    result["extract"] = extract(files)
    result["dd write"] = dd(files, files.data, files.out, "iflag=direct", "oflag=direct")
    result["cat"] = run(f"cat '{files.data}' > '{files.out}' && sync '{files.out}'", shell=True)
    files.out.unlink()
    result["dd out"] = dd(files, files.data, files.out, "iflag=direct", "oflag=direct")
    result["holes"] = record(files, "--from", files.holes)
    result["dd holes"] = dd(files, files.holes, files.out, "oflag=direct")
    run(SPATE, "rm", files.image, "clip")
    result["pipe"] = pipe(files, f"'{SPATE}' record '{files.image}' clip --progress none")
    result["dd pipe"] = pipe(files, f"dd of='{files.out}' bs=1M iflag=fullblock oflag=direct conv=notrunc,fsync")
    result["synthetic"] = record(files, "--from", "synthetic", "--size", str(files.bytes))
    result["ring"] = ring(files)
    for depth in DEPTHS:
        result[f"fio {depth}"] = fio(files, depth)
    return result


def extract(files: Files) -> tuple[float, float]:
    files.out.unlink(missing_ok=True)
    return spate(files, "extract", files.image, "clip", files.out)


def small(files: Files, count: int) -> dict:
    """What waits for each request: short recordings, beside short files of dd's."""
    image = files.folder / "small.img"
    run(SPATE, "format", image, "--size", str(GIB))
    begun = time.monotonic()
    for number in range(count):
        run(SPATE, "record", image, f"{number}", "--from", "synthetic", "--size", "100kB", "--progress", "none")
    recorded, begun = time.monotonic() - begun, time.monotonic()
    for number in range(count):
        run("dd", "if=/dev/zero", f"of={files.folder}/small-{number}", "bs=100k", "count=1", "conv=fsync")
    copied = time.monotonic() - begun
    return {"records": recorded / copied}


def ratio(rounds: list[dict], ours: str, *theirs: str, of: int = 0) -> float:
    """The median over the rounds of ours to the best of theirs: seconds (0), or processor's seconds (1)."""
    return statistics.median(each[ours][of] / min(each[name][of] for name in theirs) for each in rounds)


def collect(bench: figures.Bench, rounds: list[dict], some: dict) -> None:
    fios = [f"fio {depth}" for depth in DEPTHS]
    for what, ours, theirs, peer in (("a file", "file", ["dd write"], "dd, both sides direct"),
                                     ("a file", "file", ["cat"], "cat and sync"),
                                     ("a file of holes", "holes", ["dd holes"], "dd"),
                                     ("a pipe", "pipe", ["dd pipe"], "dd from the same pipe, direct"),
                                     ("the synthetic sensor", "synthetic", fios, f"the best of fio, depth {', '.join(map(str, DEPTHS))}"),
                                     ("another process's memory", "ring", fios, f"the best of fio, depth {', '.join(map(str, DEPTHS))}"),
                                     ("extract to a new file", "extract", ["dd out"], "dd, both sides direct")):
        bench.add(f"rate, {what}, of {peer}", round(1 / ratio(rounds, ours, *theirs), 2), "times", peer=peer, peer_value=1)
        bench.add(f"processor time, {what}, of {peer}", round(ratio(rounds, ours, *theirs, of=1), 2), "times", peer=peer, peer_value=1)
    bench.add("time of a recording of 100 kB, of dd with fsync", round(some["records"], 2), "times", peer="dd", peer_value=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    size, count, times = (128 * MIB, 10, 1) if options.quick else (GIB, 100, 3)
    files = Files(qemu.BUILD / "files", size)
    try:
        rounds = []
        for number in range(times):
            print(f"round {number + 1} of {times}", flush=True)
            rounds.append(a_round(files))
        some = small(files, count)
    finally:
        shutil.rmtree(files.folder, ignore_errors=True)
    bench = figures.Bench("files", "make bench-files")
    collect(bench, rounds, some)
    bench.show()
    bench.write()
    (qemu.BUILD / "bench/files-rounds.json").write_text(json.dumps(rounds, indent=1) + "\n")


if __name__ == "__main__":
    main()
