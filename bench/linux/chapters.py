# SPDX-License-Identifier: Apache-2.0
"""The figures with their aims, and the report page."""

import pathlib

from lab import plots
from lab.page import Chapter, Table
from linux import cases, parse
from linux.results import Results

KIB, MIB = cases.KIB, cases.MIB
UNIT_IO, UNIT_MIB = "instructions per I/O", "instructions per MiB"
AIM_SIZES = (4 * KIB, 128 * KIB, 512 * KIB)
KERNEL_WAYS = ("fio-libaio", "fio-io_uring", *(f"uring-{mode}" for mode in cases.URING_MODES))

TITLE = "What recording costs on Linux, in instructions"
LEAD = (
    "An emulated arm64 machine (Cortex-A53) runs Debian's kernels, with an NVMe drive behind a root port and an "
    "SMMUv3. The emulator counts instructions exactly, and counts everything that the processor retires: the program, the "
    "kernel, interrupts, sleeping and waking up. The start of a program is not included: each cost is the difference of a long "
    "run and a short one.",
    "Bandwidth, requests per second and latency of an emulated machine say nothing about a real one, and are not shown. "
    "Instruction counts do; how long an instruction takes depends on the processor.",
)


def thousands(value: float) -> str:
    """1234567 -> 1.23 M"""
    for factor, unit in ((1e6, " M"), (1e3, " k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g}{unit}"
    return f"{value:.0f}"


def sweep_keys(op: str, size: int) -> list[str]:
    return [f"sweep/{way}/{op}/{size}" for way in KERNEL_WAYS]


def exfat_ways(kind: str) -> list[str]:
    names = {"append": ("append-dd", "append-direct"),
             "there": ("there-dd", "there-fio-io_uring", *(f"there-uring-{mode}" for mode in cases.URING_MODES))}[kind]
    return [f"record/{volume}/{name}" for volume in ("exfat-default", "exfat-1m") for name in names]


def described(key: str, mode: str) -> str:
    return f"{key.split('/', 1)[1].replace('/', ', ')}, IOMMU {mode}"


# ---- figures ----


def collect_calls(results: Results, bench) -> None:
    for kernel, calls in results.calls.items():
        for (op, size), call in sorted(calls.items()):
            aim = {"aim": 82, "aim_is": "max"} if size in AIM_SIZES else {}
            bench.add(f"{kernel}: the library's calls over VFIO, {op} {plots.size_name(size)}", round(call.all, 1), UNIT_IO,
                      **aim)
        bench.add(f"{kernel}: a poll that finds nothing", results.idle[kernel], "instructions")
        best, key, mode = results.best(kernel, sweep_keys("write", 4 * KIB))
        kernel_io = best * 4 * KIB / MIB
        bench.add(f"{kernel}: the kernel's best at 4 KiB, as a multiple of the library's calls",
                  round(kernel_io / calls["write", 4 * KIB].all, 1), "times", aim=50, aim_is="min",
                  peer=described(key, mode), peer_value=round(kernel_io))


def collect_recordings(results: Results, bench) -> None:
    for kernel in results.kernels:
        best, key, mode = results.best(kernel, exfat_ways("append"))
        for suffix, rate in (("", "as fast as the drive takes it"), ("-05GBs", "at 0.5 GB/s"), ("-1GBs", "at 1 GB/s")):
            aim = {"aim": 1500, "aim_is": "max"} if suffix == "" else {}
            bench.add(f"{kernel}: exFAT recording over VFIO, {rate}",
                      round(results.per_mib(kernel, "strict", f"record/spate-vfio/no-source{suffix}")), UNIT_MIB, **aim,
                      peer=f"exfat.ko's best append ({described(key, mode)})", peer_value=round(best))
        bench.add(f"{kernel}: exfat.ko's best append ({described(key, mode)})", round(best), UNIT_MIB)
        best, key, mode = results.best(kernel, exfat_ways("there"))
        bench.add(f"{kernel}: exfat.ko's best, into a file that is there ({described(key, mode)})", round(best), UNIT_MIB)
        for mode in results.modes:
            ours = results.per_mib(kernel, mode, "record/spate-io_uring/no-source")
            plain = results.per_mib(kernel, mode, "record/raw/uring-plain")
            bench.add(f"{kernel} {mode}: exFAT recording over io_uring", round(ours), UNIT_MIB, peer="raw io_uring, plain",
                      peer_value=round(plain))
            bench.add(f"{kernel} {mode}: exFAT recording over io_uring, above raw io_uring without registered buffers",
                      round(100 * (ours / plain - 1), 1), "%", aim=5, aim_is="max")
            best, key, _ = results.best(kernel, [f"record/raw/uring-{name}" for name in cases.URING_MODES], (mode,))
            bench.add(f"{kernel} {mode}: exFAT recording over io_uring, above raw io_uring at its best",
                      round(100 * (ours / best - 1), 1), "%", aim=5, aim_is="max", peer=key.rsplit("-", 1)[1], peer_value=round(best))


def collect_others(results: Results, bench) -> None:
    for kernel in results.kernels:
        for size in AIM_SIZES:
            for op in ("write", "read"):
                best, key, mode = results.best(kernel, sweep_keys(op, size))
                bench.add(f"{kernel}: the kernel's best {op} of {plots.size_name(size)} ({described(key, mode)})",
                          round(best * size / MIB), UNIT_IO)
                fio, key, mode = results.best(kernel, sweep_keys(op, size)[:2])
                bench.add(f"{kernel}: fio's best {op} of {plots.size_name(size)} ({described(key, mode)})",
                          round(fio * size / MIB), UNIT_IO)
                bench.add(f"{kernel} strict: spate speedtest over io_uring, {op} {plots.size_name(size)}",
                          round(results.per_io(kernel, "strict", f"sweep/spate-io_uring/{op}/{size}")), UNIT_IO)
        for way in ("sensor", "pipe"):
            bench.add(f"{kernel}: record over VFIO from {'the synthetic sensor' if way == 'sensor' else 'a pipe'}, its own "
                      "cost included", round(results.per_mib(kernel, "strict", f"record/spate-vfio/{way}")), UNIT_MIB)


def check(bench) -> None:
    """A cost must be positive. Otherwise the difference of the runs was smaller than their variation."""
    for figure in bench.figures:
        if figure["unit"] != "%" and figure["value"] <= 0:
            raise parse.Wrong(f"{figure['name']}: {figure['value']:g} is less than the variation from run to run. Run it again")


def collect(results: Results, bench) -> None:
    collect_calls(results, bench)
    collect_recordings(results, bench)
    collect_others(results, bench)
    check(bench)


# ---- the page ----


def aims(bench) -> Chapter:
    rows = []
    for figure in bench.figures:
        if figure["aim_is"] == "none":
            continue
        limit = f"{'at most' if figure['aim_is'] == 'max' else 'at least'} {figure['aim']:g}"
        rows.append([figure["name"], f"{figure['value']:g} {figure['unit']}", limit,
                     "MISSED" if bench.missed(figure) else "met", figure.get("peer", "")])
    return Chapter("aims", "The aims", ["Each aim was set before it was measured."], [],
                   [Table(["what", "counted", "aim", "", "compared with"], rows)])


def found(results: Results) -> Chapter:
    (kernel, mode), text = list(results.found.items())[-1]
    return Chapter("found", "What the kernel finds",
                   [f"Kernel {kernel}, IOMMU {mode}. Link speed and width are those of the emulator."], listing=text)


def calls(results: Results) -> Chapter:
    tables = []
    for kernel, found_calls in results.calls.items():
        rows = [[op, plots.size_name(size), str(call.submit), f"{call.doorbell:.1f}", f"{call.complete:.1f}",
                 f"{call.all:.1f}"] for (op, size), call in sorted(found_calls.items())]
        tables.append(Table(["", "request", "submit", "share of the doorbell", "complete", "total"], rows,
                            f"Kernel {kernel}. A poll that finds nothing: {results.idle[kernel]}."))
    return Chapter(
        "calls", "The library's calls",
        ["These are the command's own objects, with the port that chooses at run time between mapped registers and a simulated "
         "drive. Requests come in batches of 32. Only user space is counted; the kernel has no part in it. Waiting is not "
         "included in these figures. Requests of 512 bytes are not aligned to pages, so they take the library's general path."],
        [], tables)


LINES = (  # key, label, colour, style
    ("fio-libaio", "fio, libaio", plots.PEER, "-"),
    ("fio-io_uring", "fio, io_uring", "#7e22ce", "-"),
    ("uring-plain", "raw io_uring, plain", plots.READ, "-"),
    ("uring-fixed", "raw io_uring, buffers registered", plots.READ, ":"),
    ("spate-io_uring", "spate speedtest, io_uring", plots.WRITE, "-"),
)


def sweep_picture(results: Results, path: pathlib.Path, kernel: str, per_mib: bool) -> None:
    sizes = results.sizes()
    with plots.figure(path, columns=2, width=11.0, height=4.4, sharey=True) as axes:
        for axis, op in zip(axes, ("write", "read")):
            for name, label, color, style in LINES:
                value = results.per_mib if per_mib else results.per_io
                axis.plot(sizes, [value(kernel, "strict", f"sweep/{name}/{op}/{size}") for size in sizes], label=label,
                          color=color, linestyle=style, marker=".")
            made = results.calls[kernel]
            there = [size for size in sizes if (op, size) in made]
            axis.plot(there, [made[op, size].all * (MIB / size if per_mib else 1) for size in there], label="spate, VFIO (calls)",
                      color=plots.OURS, marker=".")
            plots.block_axis(axis, sizes)
            axis.set_yscale("log")
            axis.set_title(f"{op}, kernel {kernel}, queue depth {cases.DEPTH}")
        axes[0].set_ylabel(UNIT_MIB if per_mib else UNIT_IO)
        axes[0].legend(loc="lower left" if per_mib else (0.45, 0.13))


def sweep(results: Results, out: pathlib.Path) -> Chapter:
    images, tables = [], []
    ways = [*KERNEL_WAYS, "spate-io_uring"]
    for kernel in results.kernels:
        for per_mib, name in ((False, "io"), (True, "mib")):
            picture = f"sweep-{kernel}-{name}.svg"
            sweep_picture(results, out / picture, kernel, per_mib)
            images.append((picture, f"{'Per MiB' if per_mib else 'Per I/O'}, kernel {kernel}, IOMMU strict."))
        for mode in results.modes:
            rows = []
            for op in ("write", "read"):
                for size in results.sizes():
                    row = [op, plots.size_name(size)]
                    row += [thousands(results.per_io(kernel, mode, f"sweep/{way}/{op}/{size}")) for way in ways]
                    call = results.calls[kernel].get((op, size))
                    row.append(f"{call.all:.0f}" if call else "")
                    rows.append(row)
            tables.append(Table(["", "request", *(way.replace("uring-", "raw io_uring, ") if way.startswith("uring-") else way
                                                  for way in ways), "VFIO, calls"], rows,
                                 f"Instructions per I/O, kernel {kernel}, IOMMU {mode}"))
    return Chapter(
        "sweep", "By block size: fio, io_uring and spate on the same drive",
        ["Requests are sequential, 32 in flight. If the kernel merges small ones before they reach the drive, this lowers its "
         "cost. fio 3.33 reads no clock, and submits and reaps in batches. Raw io_uring is a program that does nothing else. Its "
         "modes: plain; single (one issuer, deferred task work); half (as single, but waits for half of the requests); fixed (as "
         "single, with buffers and file registered). Polling by the kernel (IOPOLL) is left out: what it retires while it polls "
         "depends on the emulated drive. spate speedtest reads the clock for every request, which fio's options avoid.",
         "Over VFIO, the speedtest ran the same number of requests. It polls without sleeping, so what it retires while it waits "
         "depends on the emulated drive, and is not shown. The last column has the library's calls."],
        images, tables)


WAYS = (("dd-buffered-2", "dd, 2 MiB, then sync"), ("dd-buffered-8", "dd, 8 MiB, then sync"),
        ("dd-fdatasync-2", "dd, 2 MiB, conv=fdatasync"), ("dd-fdatasync-8", "dd, 8 MiB, conv=fdatasync"),
        ("dd-direct-2", "dd, 2 MiB, O_DIRECT"), ("dd-direct-8", "dd, 8 MiB, O_DIRECT"),
        ("dd-direct-fdatasync-2", "dd, 2 MiB, O_DIRECT, conv=fdatasync"),
        ("dd-direct-fdatasync-8", "dd, 8 MiB, O_DIRECT, conv=fdatasync"),
        ("mmap-write", "mmap of /dev/mem, write, fsync"), ("memcpy", "mmap of /dev/mem, memcpy, write O_DIRECT"),
        ("direct", "write O_DIRECT from aligned memory"), ("sendfile", "sendfile from a memfd, O_DIRECT"),
        ("dd-cached", "dd, 2 MiB, into the page cache only"), ("read-buffered", "dd, 2 MiB, reading"), ("read-direct", "dd, 2 MiB, reading, O_DIRECT"))


def ways(results: Results, out: pathlib.Path) -> Chapter:
    tables, images = [], []
    there = [way for way in WAYS if (results.kernels[0], results.modes[0], f"ways/raw/{way[0]}") in results.costs]
    for kernel in results.kernels:
        for mode in results.modes:
            rows = [[label, *(thousands(results.per_mib(kernel, mode, f"ways/{name}/{way}")) for name in cases.FILE_SYSTEMS)]
                    for way, label in there]
            tables.append(Table(["", *(name.replace("-", " ") for name in cases.FILE_SYSTEMS)], rows,
                                f"Instructions per MiB, kernel {kernel}, IOMMU {mode}"))
    kernel, mode = results.kernels[-1], results.modes[-1]
    with plots.figure(out / "ways.svg", height=5.2) as axis:
        width = 0.8 / len(cases.FILE_SYSTEMS)
        for place, (name, color) in enumerate(zip(cases.FILE_SYSTEMS, plots.SEQUENCE)):
            values = [results.per_mib(kernel, mode, f"ways/{name}/{way}") / 1e6 for way, _ in there]
            axis.barh([row + width * (place - 1.5) for row in range(len(there))], values, height=width * 0.9, color=color,
                      label=name.replace("-", " "))
        axis.set_yticks(range(len(there)), [label for _, label in there])
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("million instructions per MiB")
        axis.legend(loc="lower right")
        axis.set_title(f"Kernel {kernel}, IOMMU {mode}")
    images.append(("ways.svg", "The ways of writing, by file system."))
    refusal = next(iter(results.refused.values()), "no answer")
    return Chapter(
        "ways", "Published ways of writing",
        ["System 2's page and its readers tried these ways before a driver was written. dd's figures include reading /dev/zero. "
         "Buffered writes are counted until the data are on the drive. The memory that logic fills is RAM that the kernel does "
         "not use (mem=), mapped from /dev/mem. A memfd takes the place of u-dma-buf, which Debian's kernels do not have.",
         f"The kernel refuses O_DIRECT from that memory, as the page says: \"{refusal}\"."], images, tables)


RECORDINGS = (
    ("exfat-default/append-dd", "exfat.ko, append: dd O_DIRECT, mkfs.exfat's clusters"),
    ("exfat-1m/append-dd", "exfat.ko, append: dd O_DIRECT"),
    ("exfat-default/append-direct", "exfat.ko, append: write O_DIRECT, mkfs.exfat's clusters"),
    ("exfat-1m/append-direct", "exfat.ko, append: write O_DIRECT"),
    ("exfat-1m/there-dd", "exfat.ko, file that is there: dd O_DIRECT"),
    ("exfat-1m/there-fio-io_uring", "exfat.ko, file that is there: fio io_uring"),
    *((f"exfat-1m/there-uring-{mode}", f"exfat.ko, file that is there: raw io_uring, {mode}") for mode in cases.URING_MODES),
    *((f"raw/uring-{mode}", f"no file system: raw io_uring, {mode}") for mode in cases.URING_MODES),
    ("spate-io_uring/no-source", "spate over io_uring"),
    ("spate-io_uring/no-source-05GBs", "spate over io_uring, at 0.5 GB/s"),
    ("spate-io_uring/no-source-1GBs", "spate over io_uring, at 1 GB/s"),
    ("spate-vfio/no-source", "spate over VFIO"),
    ("spate-vfio/no-source-05GBs", "spate over VFIO, at 0.5 GB/s"),
    ("spate-vfio/no-source-1GBs", "spate over VFIO, at 1 GB/s"),
    ("spate-io_uring/pipe", "dd | spate record over io_uring"),
    ("spate-vfio/pipe", "dd | spate record over VFIO"),
    ("spate-io_uring/sensor", "spate record --from synthetic over io_uring"),
    ("spate-vfio/sensor", "spate record --from synthetic over VFIO"),
)


def recordings(results: Results, out: pathlib.Path) -> Chapter:
    kernel = results.kernels[-1]
    shown = [(key, label) for key, label in RECORDINGS if not key.endswith(("sensor", "GBs"))]
    values = [results.per_mib(kernel, "strict", f"record/{key}") for key, _ in shown]
    with plots.figure(out / "record.svg", height=5.4) as axis:
        colors = [plots.OURS if key.startswith("spate") else plots.RAW if key.startswith("raw") else plots.PEER
                  for key, _ in shown]
        axis.barh(range(len(shown)), values, color=colors, height=0.66)
        axis.set_xscale("log")
        axis.set_yticks(range(len(shown)), [label for _, label in shown])
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlabel(UNIT_MIB)
        axis.set_xlim(max(100, min(values) / 2), max(values) * 3)
        axis.set_title(f"Recording in writes of 1 MiB, kernel {kernel}, IOMMU strict")
        for place, value in enumerate(values):
            axis.text(value * 1.08, place, thousands(value), va="center", fontsize=8.5)
    columns = [(kernel, mode) for kernel in results.kernels for mode in results.modes]
    rows = []
    for key, label in RECORDINGS:
        row = [label]
        for column in columns:
            place = (*column, f"record/{key}")
            row.append(thousands(results.per_mib(*place)) if place in results.costs else "")
        rows.append(row)
    parts = []
    for kernel in results.kernels:
        for key, label in RECORDINGS:
            if key.startswith("spate-vfio/no-source") or key == "spate-io_uring/no-source":
                cost = results.costs[kernel, "strict", f"record/{key}"]
                parts.append([kernel, label, thousands(cost.user), thousands(cost.kernel), f"{cost.switches:.2f}",
                              f"{cost.interrupts:.2f}"])
    return Chapter(
        "record", "Recording into exFAT, all instructions",
        ["Writes have 1 MiB. While the processor idles, the emulator's clock follows this machine's clock: how often a recorder "
         "that sleeps wakes up per MiB depends on the speed of the emulated drive, several GB/s. The kernel writes onto the same "
         "volume, with clusters of 1 MiB, or, where the row says so, onto one formatted by mkfs.exfat. A file that is there has "
         "its clusters already; exfat.ko has no other way to reserve them.",
         "The source of spate costs nothing here: slots are full as soon as they are free, or when a stream of that rate would "
         "have filled them. The thread that reports them is counted. The last rows have sources with their own cost: a pipe "
         "copies twice, and the synthetic sensor computes a CRC of every byte."],
        [("record.svg", "Logarithmic. Green: spate; grey: no file system; brown: the kernel's exFAT.")],
        [Table(["", *(f"{kernel} {mode}" for kernel, mode in columns)], rows, "Instructions per MiB"),
         Table(["kernel", "", "user", "kernel", "context switches", "interrupts"], parts,
               "The parts of the cost, per MiB, IOMMU strict. Sleeping and waking up once costs the kernel about 10 k.")])


def chapters(results: Results, bench, out: pathlib.Path) -> list[Chapter]:
    return [aims(bench), recordings(results, out), sweep(results, out), calls(results), ways(results, out), found(results)]
