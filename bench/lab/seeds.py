# SPDX-License-Identifier: Apache-2.0
"""Published measurements of real drives: every figure of the five published systems that the lab predicts, and those that it does
not, with the reason. Rates are in bytes per second."""

import dataclasses

GB = 1e9
GEN3_X4 = 4 * 8e9 * 128 / 130 / 8  # 3.938 GB/s


@dataclasses.dataclass(frozen=True)
class System:
    number: int
    name: str
    host: str
    year: str


SYSTEMS = {
    1: System(1, "Zynq UltraScale+, bare metal, FatFs on FAT32", "Cortex-A53, 1.2 GHz, AXI-PCIe bridge, Gen3 x4", "2019"),
    2: System(2, "Zynq UltraScale+ and Zynq-7030, Linux", "PetaLinux and others, Gen3 x4", "2019"),
    3: System(3, "Zynq UltraScale+, bare metal, FatFs on exFAT", "Cortex-A53, AXI-PCIe bridge, Gen3 x4", "2021"),
    4: System(4, "Versal VE2302, Linux, full system stack", "Cortex-A72, fio, Gen4 x4 and Gen3 x4", "2024"),
    5: System(5, "Pure logic on ZU7EV", "NVMe host in logic, Xilinx PCIe block, Gen3 x4", "not dated"),
}


@dataclasses.dataclass(frozen=True)
class Figure:
    """One number. `key` names the lab's result. `bound` says what kind of number it is: "value", "at least" (the text says "over"
    or ">"), or "about"."""

    key: str
    system: int
    profile: str
    what: str
    value: float
    unit: str = "B/s"
    bound: str = "value"
    note: str = ""


FIGURES = (
    # 1: states the rates for blocks of 64 KiB and more, as 64 % and 80 % of the raw rate of Gen3 x4.
    Figure("raw-write-64k", 1, "970evoplus", "raw write, 64 KiB blocks, in the SLC cache", 0.64 * GEN3_X4),
    Figure("raw-write-1m", 1, "970evoplus", "raw write, 1 MiB blocks, in the SLC cache", 0.64 * GEN3_X4),
    Figure("raw-read-32k", 1, "970evoplus", "raw read, 32 KiB blocks", 0.80 * GEN3_X4),
    Figure("raw-read-1m", 1, "970evoplus", "raw read, 1 MiB blocks", 0.80 * GEN3_X4),
    Figure("slc-edge", 1, "970evoplus", "written when the rate falls", 42 * GB, "B", "about",
           "seen after 32 GiB, when the next test size was written; a review says 42 GB"),
    Figure("sustained", 1, "970evoplus", "raw write after the SLC edge", 1.7 * GB),
    Figure("fat32-1g", 1, "970evoplus", "FatFs, FAT32, 64 KiB clusters, 1 GiB files", 1.0 * GB, bound="at least"),
    # 2: the board's author, then a reader with a Zynq-7030; rates in MB.
    Figure("linux-zynqmp-write", 2, "970evoplus", "Zynq UltraScale+: dd, buffered write", 460e6),
    Figure("linux-zynqmp-read", 2, "970evoplus", "Zynq UltraScale+: dd, buffered read", 630e6),
    Figure("linux-zynqmp-direct", 2, "970evoplus", "Zynq UltraScale+: dd from /dev/zero, O_DIRECT, 8 MB, ext4", 1.2 * GB,
           note="on a 960 EVO, by another reader"),
    Figure("linux-zynq7-direct", 2, "960pro", "Zynq-7030: O_DIRECT writes of 2 MB", 242e6, note="240 to 244 MB/s"),
    Figure("linux-zynq7-memcpy", 2, "960pro", "Zynq-7030: memcpy from logic's buffer, then O_DIRECT, ext4", 108e6),
    Figure("linux-zynq7-mmap", 2, "960pro", "Zynq-7030: write() of logic's buffer, ext4", 72e6),
    Figure("linux-zynq7-dd", 2, "960pro", "Zynq-7030: dd, 2 MB, buffered, ext4", 78e6),
    # 3
    Figure("exfat-2tb", 3, "980pro", "FatFs, exFAT, 1 MiB clusters, 16 GiB files, the whole drive", 2.0 * GB,
           bound="about"),
    # 4
    Figure("gen4-write-peak", 4, "990pro", "Gen4 x4: write, peak over block sizes", 5.6 * GB),
    Figure("gen4-iops-4k", 4, "990pro", "Gen4 x4: reads of 4 KiB per second", 110e3, "1/s", "about"),
    Figure("gen4-write-iops-4k", 4, "990pro", "Gen4 x4: writes of 4 KiB per second", 110e3, "1/s", "about"),
    Figure("gen4-iops-peak-at", 4, "990pro", "Gen4 x4: block size with the most reads per second", 4096, "size"),
    Figure("gen4-cpu-4k", 4, "990pro", "Gen4 x4: processor busy at 4 KiB", 1.0, "share", "about"),
    Figure("gen3-write-peak", 4, "990pro", "Gen3 x4: write, peak over block sizes", 2.9 * GB),
    Figure("gen3-iops-4k", 4, "990pro", "Gen3 x4: reads of 4 KiB per second", 110e3, "1/s", "about"),
    # 5
    Figure("kilo-read-960pro", 5, "960pro", "1000 GB in sequence: read, average", 3.05 * GB),
    Figure("kilo-write-960pro", 5, "960pro", "1000 GB in sequence: write, average", 2.0 * GB),
    Figure("kilo-read-980pro", 5, "980pro", "1000 GB in sequence: read, average", 3.0 * GB),
    Figure("kilo-write-980pro", 5, "980pro", "1000 GB in sequence: write, average", 2.8 * GB),
    Figure("kilo-edge-980pro", 5, "980pro", "1000 GB in sequence: written when the rate falls", 200 * GB, "B", "about"),
    Figure("kilo-read-starblaze", 5, "starblaze", "1000 GB in sequence: read, average", 3.0 * GB),
    Figure("kilo-write-starblaze", 5, "starblaze", "1000 GB in sequence: write, average", 2.3 * GB),
    Figure("kilo-read-exascend", 5, "exascend", "1000 GB in sequence: read, average", 2.45 * GB),
    Figure("kilo-write-exascend", 5, "exascend", "1000 GB in sequence: write, average", 2.65 * GB),
    Figure("segment-read-960pro", 5, "960pro", "best segment: read", 3125e6),
    Figure("segment-write-980pro", 5, "980pro", "best segment: write", 2960e6),
    Figure("turns-980pro", 5, "980pro", "128 MB written, 128 MB read, in turns", 2.94 * GB),
    Figure("turns-exascend", 5, "exascend", "128 MB written, 128 MB read, in turns", 2.52 * GB),
    Figure("depth-ratio", 5, "starblaze", "queue depth for the top rate, over the 980 PRO's", 3.0, "ratio", "at least"),
)

# Published figures that are not simulated here, with the reason.
NOT_SIMULATED = (
    (1, "27 KB of memory for driver and FatFs; 12960 LUT for the bridge", "not a rate: the first is in `make bench-size`"),
    (4, "Gen3 x4: the link saturated from 6 KiB reads", "contradicts the 110 000 reads per second of the same page: "
        "110 000 x 6 KiB is 0.68 GB/s, and 3 GB/s in 6 KiB are 490 000 per second. With this library, 8 KiB saturate it"),
)


def figure(key: str) -> Figure:
    return next(figure for figure in FIGURES if figure.key == key)
