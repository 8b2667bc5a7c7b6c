# SPDX-License-Identifier: Apache-2.0
"""The parameters with which modules are linted and measured, besides their defaults."""

from typing import NamedTuple

MEMORY_RING = {"RamBytes": 8192, "MemoryRingBytes": "64'h40000000", "MemoryRingBase": "64'h100000000",
               "MemoryRingDriveBase": "64'h100000000"}

# Every module of rtl/spate.f is linted as a top with its defaults. These are other parameters that change its structure.
LINT: dict[str, list[dict[str, int | str]]] = {
    "spate_fifo": [{"Width": 1, "Depth": 2}],
    "spate_buffer": [{"RamBytes": 8192}, {"DataWidth": 512, "RamBytes": 12288}],
    "spate_splitter": [{"RamBytes": 8192, "BaseBits": 62}],
    "spate_retire": [{"RamBytes": 8192}],
    "spate_stripe": [{"Drives": 3, "MemberRamBytes": 8192}, {"Drives": 7, "DataWidth": 512}],
    "spate_ring_ddr": [{"DataWidth": 512, "AddressWidth": 33}],
    "spate_pcie_usp": [{"DataWidth": 256}],
    "spate_host": [MEMORY_RING, {"WriteFrames": 1}],
    "spate_write_frames": [{"DataWidth": 512, "LbaBits": 43, "Beats": 64}],
    "spate_registers": [{"WriteFrames": 1}],
    "spate_nvme_axi": [{"RamBytes": 8192}, {"DataWidth": 512}, MEMORY_RING | {"DataWidth": 256, "WriteFrames": 1}],
    "spate_nvme_usp": [{"WriteFrames": 1}],
    "spate_nvme_stripe_axi": [{"RamBytes": 8192}, {"WriteFrames": 1}],
    "spate_user_side": [{"HasStreams": 0}, {"WriteFrames": 1}],
    "spate_data_lane": [{"RamBytes": 8192}],
    "spate_queue_pair": [{"HasFence": 1}],
    "spate_drive": [{"RamBytes": 8192}, {"DataWidth": 256, "RamBytes": 1048576}, {"DataWidth": 512, "SlotBits": 7, "QueueShiftMax": 8}],
}


class Area(NamedTuple):
    """A design that `make bench-rtl-area` synthesises."""

    name: str  # in the table of figures
    module: str
    parameters: dict[str, int | str]
    luts_max: int | None = None  # the target
    levels_max: int | None = None  # the target
    uram: bool = False  # large memories may become UltraRAM


AREAS = [
    Area("stream mode, core", "spate_drive", {"DataWidth": 128}, luts_max=3900, uram=True),
    Area("memory mode, core", "spate_drive", {"DataWidth": 128, "RamBytes": 8192}, luts_max=3200),
    Area("stream mode, core, 256 wide", "spate_drive", {"DataWidth": 256, "RamBytes": 1048576}, uram=True),
    Area("whole host behind a bridge", "spate_nvme_axi", {"DataWidth": 128}, levels_max=7, uram=True),
    Area("whole host behind a bridge, memory mode", "spate_nvme_axi", {"DataWidth": 128, "RamBytes": 8192}, levels_max=7),
    Area("whole host behind a bridge, ring in memory", "spate_nvme_axi", {"DataWidth": 128} | MEMORY_RING, levels_max=7),
    Area("whole host on the hard block", "spate_nvme_usp", {"DataWidth": 128}, luts_max=6200, levels_max=7, uram=True),
    Area("whole host on the hard block, 256 wide", "spate_nvme_usp", {"DataWidth": 256}, luts_max=8500, levels_max=7, uram=True),
    Area("bridge adapter", "spate_pcie_axi", {"DataWidth": 128}),
    Area("registers", "spate_registers", {"DataWidth": 128}),
    Area("application's clock crossing", "spate_user_side", {"DataWidth": 128}),
    Area("command arbiter", "spate_command_arbiter", {}),
    Area("block adapter, 128", "spate_pcie_usp", {"DataWidth": 128}),
    Area("block adapter, 256", "spate_pcie_usp", {"DataWidth": 256}),
    Area("stripe of two, above the cores", "spate_stripe", {"Drives": 2, "DataWidth": 128}, levels_max=7),
    Area("DDR ring, before a core", "spate_ring_ddr", {"DataWidth": 128}),
    Area("pattern generator", "spate_pattern_source", {"DataWidth": 128}),
    Area("pattern checker", "spate_pattern_check", {"DataWidth": 128}),
]


class Placed(NamedTuple):
    """A design that `make place` places and routes."""

    name: str  # what TOP= says
    area: Area
    aim_mhz: float  # of the median


def area(name: str) -> Area:
    return next(area for area in AREAS if area.name == name)


PLACED = [
    Placed("axi-stream", area("whole host behind a bridge"), 140.0),
    Placed("axi-memory", area("whole host behind a bridge, memory mode"), 140.0),
    Placed("axi-memory-ring", area("whole host behind a bridge, ring in memory"), 140.0),
    Placed("usp-128", area("whole host on the hard block"), 125.0),
    Placed("usp-256", area("whole host on the hard block")._replace(name="whole host on the hard block, 256 wide", parameters={"DataWidth": 256}), 125.0),
    Placed("stripe", area("stripe of two, above the cores"), 140.0),
]
