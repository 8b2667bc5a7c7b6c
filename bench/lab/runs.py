# SPDX-License-Identifier: Apache-2.0
"""All experiments of the lab. The chapters show their results."""

from lab import kernel
from lab.runner import Run, run

PROFILES = ("960pro", "970evoplus", "980pro", "990pro", "starblaze", "exascend")
ALL = (*PROFILES, "ideal")

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
MB, GB = 10**6, 10**9

BLOCKS = tuple(4 * KIB << i for i in range(10))  # 4 KiB … 2 MiB
DEPTHS_QUICK = (1, 4, 16, 64)
DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)

# Hosts. One number of each host's bridge is fitted, on the point named in HOSTS. Everything else about the hosts follows from the
# link's arithmetic. None of the systems states its payload size.
FREE3 = {"gen": 3, "lanes": 4, "mps": 256}
FREE4 = {"gen": 4, "lanes": 4, "mps": 256}
BRIDGE = {"gen": 3, "lanes": 4, "mps": 128, "link_percent": 5, "fetch": 2_520_000_000}
LOGIC = {"gen": 3, "lanes": 4, "mps": 128, "link_percent": 5, "fetch": 2_960_000_000, "host": "none"}
FIC = {"gen": 2, "lanes": 4, "mps": 256, "fetch": 1_000_000_000}  # PolarFire SoC: 64 bits at 125 MHz (ports/qemu-riscv/README.md)
VERSAL3 = {"gen": 3, "lanes": 4, "mps": 256, "fetch": 2_900_000_000}
VERSAL4 = {"gen": 4, "lanes": 4, "mps": 256, "fetch": 5_800_000_000}

HOSTS = (  # name, what is assumed, what is fitted and on which point, what is predicted
    ("Zynq UltraScale+, AXI-PCIe bridge (systems 1 and 3)", "Gen3 x4, payloads of 128 bytes",
     "5 % of the link for acknowledge and flow-control packets: system 1's read of 3.15 GB/s. Bridge fetches 2.52 GB/s: "
     "system 1's write", "block sizes, files, FatFs"),
    ("pure logic on ZU7EV (system 5)", "the same link",
     "fetches 2.96 GB/s: its best segment of the 980 PRO", "all its reads; writes of the other drives; turns"),
    ("Versal (system 4)", "payloads of 256 bytes",
     "fetches 2.9 GB/s at Gen3: its write there. Linux: instructions per cycle, on 110 000 reads of 4 KiB a second",
     "Gen4 by the same share of the link: 5.8 GB/s; writes, other block sizes, latency, processor"),
    ("Zynq UltraScale+ under Linux (system 2)", "the bridge of systems 1 and 3",
     "instructions per cycle: the buffered read of 630 MB/s", "its two writes"),
    ("Zynq-7030 under Linux (system 2)", "Gen2 x4, payloads of 128 bytes, instructions per cycle as the Zynq UltraScale+",
     "the rate of cleaning caches: 242 MB/s past the page cache", "its three other ways"),
    ("no host limit", "payloads of 256 bytes, 2 % of the link for its own packets", "nothing", "what a drive itself does"),
)

VERSAL = {"gen3": VERSAL3, "gen4": VERSAL4}
STREAM = {"block": MIB, "depth": 16}
PACE = 1_800_000_000  # bytes per second of the camera in the comparison of library and FatFs


def block_name(block: int) -> str:
    return f"{block // KIB}k" if block >= KIB else f"{block}b"


def by_block(profile: str, label: str, options: dict, most: int, blocks=BLOCKS, command_ns=None) -> list[Run]:
    """Reads and writes of each block size, enough for a steady rate. `command_ns(op, block)`: the processor's time."""
    runs = []
    for block in blocks:
        total = min(most, block * 65536)
        for op in ("read", "write"):
            cost = {} if command_ns is None else {"command_ns": command_ns(op, block)}
            runs.append(run(f"block-{profile}-{label}-{op}-{block_name(block)}", "raw", profile=profile, op=op, block=block,
                            bytes=total, samples=1, turn=GIB, **options, **cost))
    return runs


def versal_linux(most: int, blocks=kernel.SIZES) -> list[Run]:
    """fio on system 4's machine: each size has its own cost."""
    counts = kernel.load()
    machine = kernel.machines(counts)["versal"]
    return [one for generation, link in VERSAL.items()
            for one in by_block("990pro", f"{generation}-linux", {"depth": 32, "host": "linux", **link}, most, blocks,
                                lambda op, block: kernel.command_ns(machine, counts, op, block))]


ZYNQ7 = {"gen": 2, "lanes": 4, "mps": 128, "link_percent": 5}
LINUX_LINKS = {"zynqmp": BRIDGE, "zynq7": ZYNQ7}


def ways_linux(total: int) -> list[Run]:
    """System 2's ways of writing and reading, in commands of 1 MiB. A way that waits has one command in flight."""
    counts = kernel.load()
    machines = kernel.machines(counts)
    return [run(point.key, "raw", profile=point.profile, op=point.op, block=MIB, depth=1 if point.waits else 32, bytes=total,
                samples=1, turn=GIB, host="linux",
                command_ns=round(1e9 * kernel.way_seconds(machines[point.machine], counts, point.way, point.volume)),
                **LINUX_LINKS[point.machine]) for point in kernel.POINTS]


def sustained(profile: str, total: int, filled: float, label: str, **options) -> Run:
    return run(f"sustained-{profile}-{label}", "raw", profile=profile, op="write", bytes=total, filled=filled,
               samples=400, **STREAM, **options)


def by_depth(profile: str, most: int, depths=DEPTHS) -> list[Run]:
    return [run(f"depth-{profile}-{op}-{depth}", "raw", profile=profile, op=op, block=128 * KIB, depth=depth,
                bytes=most, samples=1, turn=GIB, **LOGIC)
            for depth in depths for op in ("read", "write")]


def kilo(profile: str, total: int) -> list[Run]:
    """1000 GB in sequence, as system 5 did, one sample per gigabyte."""
    return [run(f"kilo-{profile}-{op}", "raw", profile=profile, op=op, block=MIB, depth=16, bytes=total,
                samples=max(1, total // GB), **LOGIC) for op in ("read", "write")]


def turns(profile: str, total: int) -> list[Run]:
    return [run(f"turns-{profile}-{op}", "raw", profile=profile, op=op, block=MIB, depth=16, bytes=total,
                turn=128 * MIB, samples=50, **LOGIC) for op in ("alternate", "read", "write")]


def aim(profile: str, total: int, files: int) -> list[Run]:
    """Writes the same bytes raw and into files, and reads both: the aim of 99 %."""
    common = {"profile": profile, "bytes": total, "samples": 200, **STREAM}
    return [
        run(f"aim-{profile}-raw-write", "raw", op="write", **common),
        run(f"aim-{profile}-raw-read", "raw", op="read", **common),
        run(f"aim-{profile}-files", "files", file=total // files, cluster=MIB, read_back=True, verify=True, **common),
    ]


FATFS = {
    # label: (what, options)
    "fat32": ("FAT32, 64 KiB clusters, 1 GiB files", {"format": "fat32", "cluster": 64 * KIB, "file": GIB}),
    "fat32-best": ("FAT32, 64 KiB clusters, 1 GiB files, f_expand, f_sync",
                   {"format": "fat32", "cluster": 64 * KIB, "file": GIB, "expand": True, "sync_ms": 500}),
    "exfat": ("exFAT, 1 MiB clusters", {"format": "exfat", "cluster": MIB}),
    "exfat-expand": ("exFAT, f_expand", {"format": "exfat", "cluster": MIB, "expand": True}),
    "exfat-best": ("exFAT, f_expand, f_sync each 500 ms",
                   {"format": "exfat", "cluster": MIB, "expand": True, "sync_ms": 500}),
    "fat32-diskio": ("integrations/fatfs, FAT32, 64 KiB clusters, 1 GiB files", {"format": "fat32", "cluster": 64 * KIB, "file": GIB}),
    "exfat-diskio": ("integrations/fatfs, exFAT, 1 MiB clusters", {"format": "exfat", "cluster": MIB}),
}


def peer(profile: str, total: int, file: int, rate: int, labels=tuple(FATFS), **options) -> list[Run]:
    """FatFs and the library: as fast as the drive takes data, and at a camera's rate."""
    runs = []
    common = {"profile": profile, "bytes": total, "samples": 400, **STREAM, **options}
    for label in labels:
        theirs = {"file": file, **FATFS[label][1]}
        experiment = "diskio" if label.endswith("-diskio") else "record"
        # At its best, FatFs writes as much per command as its clusters allow.
        runs.append(run(f"peer-{profile}-{label}", experiment, **{**common, **theirs}))
        runs.append(run(f"peer-{profile}-{label}-paced", experiment, rate=rate, ring=GIB, **{**common, **theirs}))
    ours = {"file": file, "cluster": MIB}
    runs.append(run(f"peer-{profile}-ours", "files", **{**common, **ours}))
    runs.append(run(f"peer-{profile}-ours-paced", "files", rate=rate, ring=GIB, **{**common, **ours}))
    runs.append(run(f"peer-{profile}-raw", "raw", op="write", **common))
    return runs


ONE_GIB_FILES = {  # name of the run: what it is
    "gib-fat32": "FAT32",
    "gib-fat32-expand": "FAT32, f_expand",
    "gib-exfat": "exFAT",
    "gib-exfat-expand": "exFAT, f_expand",
    "gib-fat32-published": "FAT32, system 1's disk layer",
    "gib-exfat-published": "exFAT, system 1's disk layer",
    "gib-spate": "the recorder",
    "gib-raw": "raw",
}


def one_gib_files(total: int) -> list[Run]:
    """System 1's files, with its drive, host and block size: FatFs with two disk layers, the recorder, and no files at all."""
    common = {"profile": "970evoplus", "bytes": total, "block": 64 * KIB, "depth": 16, "samples": 100, **BRIDGE}
    clusters = {"fat32": 64 * KIB, "exfat": MIB}
    runs = []
    for name in ONE_GIB_FILES:
        _, kind, *rest = name.split("-")
        if kind in clusters:
            experiment = "record" if "published" in rest else "diskio"
            runs.append(run(name, experiment, format=kind, cluster=clusters[kind], file=GIB, expand="expand" in rest,
                            verify=kind == "exfat", **common)) # the library, which verifies, does not read FAT32
    runs.append(run("gib-spate", "files", file=GIB, cluster=MIB, verify=True, **common))
    runs.append(run("gib-raw", "raw", op="write", **common))
    return runs


def striped(profile: str, total: int, **link) -> list[Run]:
    runs = []
    for drives in (1, 2, 4):
        common = {"profile": profile, "drives": drives, "bytes": total * drives, "block": 2 * MIB, "depth": 16 * drives,
                  "samples": 50, **link}
        runs.append(run(f"stripe-{profile}-{drives}-write", "raw", op="write", turn=GIB, **common))
        runs.append(run(f"stripe-{profile}-{drives}-read", "raw", op="read", turn=GIB, **common))
        runs.append(run(f"stripe-{profile}-{drives}-files", "files", file=total * drives // 2, cluster=4 * MIB,
                        ring=512 * MIB, verify=True, **common))
    return runs


def warned(name: str, profile: str, total: int, rate: int, slow_rate: int, ring: int, **options) -> list[Run]:
    """A source that is faster than the drive in the long run: one that listens, and one that does not."""
    common = {"profile": profile, "bytes": total, "rate": rate, "ring": ring, "file": total, "cluster": MIB,
              "samples": 1500, **STREAM, **options}
    return [run(f"warned-{name}-ignores", "files", **common),
            run(f"warned-{name}-listens", "files", slow_rate=slow_rate, **common)]


def edge() -> list[Run]:
    """The fast cache runs out."""
    return warned("edge", "970evoplus", 60 * GB, 2_300_000_000, 1_400_000_000, 2 * GIB, **BRIDGE)


def hot() -> list[Run]:
    """Boxes without a fan. The second drive throttles at 80 C, but states 85."""
    return (warned("hot", "starblaze", 180 * GB, 2_200_000_000, 1_500_000_000, 2 * GIB, celsius=70, ambient=45, **LOGIC) +
            warned("late", "970evoplus", 170 * GB, 1_600_000_000, 800_000_000, 2 * GIB, celsius=74, ambient=55, **BRIDGE))


PLANS = (  # profile, rate of the stream, bytes, share of the drive that was written
    ("970evoplus", 1_600_000_000, 400 * GB, 0),
    ("970evoplus", 2_000_000_000, 100 * GB, 0),
    ("980pro", 2_000_000_000, 600 * GB, 0),
    ("980pro", 2_500_000_000, 600 * GB, 0),
    ("990pro", 2_500_000_000, 600 * GB, 0),
    ("starblaze", 2_000_000_000, 600 * GB, 0),
    ("exascend", 2_400_000_000, 600 * GB, 0),
    ("980pro", 1_900_000_000, 600 * GB, 1),
)


LOOP = "970evoplus"
LOOP_PART = GIB


def loop(total: int, keep: int, filled: float) -> list[Run]:
    """A stream into parts of which the last ones are kept, and into plain files of the same size, as many as fit. At the end every
    page that is left is checked."""
    common = {"profile": LOOP, "file": LOOP_PART, "cluster": MIB, "samples": 100, "filled": filled,
              "verify": True, **STREAM, **FREE3}
    return [run("loop-round", "files", bytes=total, keep=keep, **common),
            run("loop-files", "files", bytes=min(total, 1000 * GB), **common)]


def plans() -> list[Run]:
    return [run(f"plan-{profile}-{rate // MB}", "plan", profile=profile, rate=f"{rate // MB}MB/s", bytes=f"{total // GB}GB",
                filled=filled, ring="2GiB", piece="1MiB", generation=3, output_format="json")
            for profile, rate, total, filled in PLANS]


def full() -> list[Run]:
    runs = [run("profiles", "profiles")]
    runs.append(run("whole-980pro", "files", profile="980pro", bytes=2000 * GB, file=16 * GIB, cluster=MIB, samples=1000,
                    filled=1, verify=True, **STREAM, **BRIDGE))
    for profile in ("960pro", "980pro", "starblaze", "exascend"):
        runs += kilo(profile, 1000 * GB)
    for profile in PROFILES:
        runs.append(sustained(profile, 400 * GB, 0, "trimmed", **FREE3))
        runs.append(sustained(profile, 400 * GB, 1, "full", **FREE3))
    runs.append(sustained("970evoplus", 120 * GB, 0, "bridge", **BRIDGE))
    runs.append(sustained("990pro", 400 * GB, 0, "gen4", **FREE4))
    for profile in ALL:
        runs += aim(profile, 64 * GIB, 4)
    runs += peer("970evoplus", 32 * GIB, 16 * GIB, PACE, **BRIDGE)
    for profile in PROFILES:
        if profile != "970evoplus":
            runs += peer(profile, 32 * GIB, 16 * GIB, PACE, labels=("exfat-best",), **BRIDGE)
    for profile in ("980pro", "exascend"):
        runs += turns(profile, 32 * GIB)
    runs += by_block("970evoplus", "bridge", {"depth": 16, **BRIDGE}, 8 * GIB)
    for generation, link in VERSAL.items():
        runs += by_block("990pro", f"{generation}-a53", {"depth": 32, "host": "a53", **link}, 8 * GIB)
    runs += versal_linux(8 * GIB)
    runs += ways_linux(4 * GIB)
    for profile in PROFILES:
        runs += by_depth(profile, 4 * GIB)
    runs += striped("980pro", 64 * GIB, **FREE3)
    runs += edge()
    runs += hot()
    runs += loop(2700 * GB, 929 * GIB, 1)  # nearly all of the drive: the loop goes round almost twice
    runs += plans()
    return runs


def quick() -> list[Run]:
    """The same kinds of experiments on fewer bytes, for the tests. Those that need the SLC edge go beyond it."""
    runs = [run("profiles", "profiles")]
    for profile in ALL:
        runs += aim(profile, 16 * GIB, 2)
    runs += by_block("970evoplus", "bridge", {"depth": 16, **BRIDGE}, GIB, BLOCKS[::3])
    runs += versal_linux(GIB, (512, 4 * KIB, 128 * KIB, MIB))
    runs += ways_linux(GIB)
    runs += by_depth("980pro", GIB, DEPTHS_QUICK)
    runs += turns("980pro", 4 * GIB)
    runs.append(sustained("970evoplus", 60 * GB, 0, "bridge", **BRIDGE))
    runs += peer("970evoplus", 8 * GIB, 4 * GIB, PACE, labels=("exfat-best",), **BRIDGE)
    runs += striped("980pro", 4 * GIB, **FREE3)
    runs += edge()
    runs += loop(24 * GIB, 10 * GIB, 1)
    runs += plans()
    return runs
