# SPDX-License-Identifier: Apache-2.0
"""Parameters that cannot work are refused when a top is elaborated, with a sentence that names the mistake."""

import subprocess

import pytest

import filelist
import program

RING = {"RamBytes": "8192", "MemoryRingBytes": "64'h40000000", "MemoryRingBase": "64'h100000000",
        "MemoryRingDriveBase": "64'h100000000"}
OVERLAP = "the aperture at WindowBase and BAR 0 at BarBase overlap"
REFUSED = {
    "both at 0": ("spate_nvme_axi", {"WindowBase": "64'h0", "BarBase": "64'h0"}, OVERLAP),
    "BAR 0 in the last MiB of the aperture": ("spate_nvme_axi", {"RamBytes": "8192", "BarBase": "64'h80300000"}, OVERLAP),
    "straight on the block": ("spate_nvme_usp", {"WindowBase": "64'he0000000"}, OVERLAP),
    "several drives": ("spate_nvme_stripe_axi", {"WindowBase": "64'h0", "BarBase": "64'h0"}, OVERLAP),
    "more slots than lists": ("spate_nvme_axi", {"SlotBits": "9", "QueueShiftMax": "10"}, "SlotBits must be 2 to 8"),
    "the aperture where the bridge does not reach": (
        "spate_nvme_axi", {"WindowBase": "64'h100000000", "AddressWidth": "32"}, "WindowBase must be below 2^AddressWidth"),
    "an aperture that no record can address": ("spate_pcie_usp", {"WindowBits": "33"}, "WindowBits must be 13 to 32"),
    "another width": ("spate_nvme_axi", {"DataWidth": "64"}, "DataWidth must be 128, 256 or 512"),
    "a master without identifiers": ("spate_nvme_axi", {"IdWidth": "0"}, "IdWidth must be 1 to 16"),
    "identifiers that no record has room for": ("spate_nvme_axi", {"IdWidth": "17"}, "IdWidth must be 1 to 16"),
    "a drive alone in a stripe": ("spate_nvme_stripe_axi", {"Drives": "1"}, "Drives must be 2 ... 8"),
    "a chunk that is no power of two": ("spate_nvme_stripe_axi", {"ChunkBytes": "98304"}, "ChunkBytes must be a power of two"),
    "a deadline beyond the counter": ("spate_nvme_axi", {"CommandDeadlineMs": "20000"}, "DeadlineMs must be 2 to 16000"),
    "no milliseconds": ("spate_nvme_axi", {"UsPerMs": "0"}, "UsPerMs must be 2 to 1000"),
    "a memory that no device has": ("spate_nvme_usp", {"RamStyle": '"flash"'}, "RamStyle must be auto, block or ultra"),
    "more registers than the queue behind them": ("spate_nvme_axi", {"RamRegisters": "5"}, "RamRegisters must be 1 to 4"),
    "a ring that is too small": ("spate_nvme_axi", {"RamBytes": "12288"}, "RamBytes 8192, or 40960 and more"),
    "a ring in memory, and one on chip": ("spate_nvme_axi", RING | {"RamBytes": "262144"}, "needs RamBytes 8192"),
    "frames without streams": ("spate_nvme_axi", {"RamBytes": "8192", "WriteFrames": "1"}, "WriteFrames needs streams"),
    "frames without streams, in a stripe": (
        "spate_nvme_stripe_axi", {"RamBytes": "8192", "WriteFrames": "1"}, "WriteFrames needs streams"),
    "a ring in memory of less than two parts": (
        "spate_nvme_axi", RING | {"MemoryRingBytes": "64'h80000"}, "a multiple of 4096, at least twice PartBytes"),
    "a ring in memory inside a page": (
        "spate_nvme_axi", RING | {"MemoryRingDriveBase": "64'h100000800"}, "must be multiples of 4096"),
    "a ring in memory that the addresses do not reach": (
        "spate_nvme_axi", RING | {"AddressBits": "32"}, "must end within AddressBits"),
    "a ring in memory on the aperture": (
        "spate_nvme_axi", RING | {"MemoryRingDriveBase": "64'h40001000"}, "and the aperture at WindowBase overlap"),
    "a ring in memory on BAR 0": ("spate_nvme_axi", RING | {"MemoryRingDriveBase": "64'ha0100000"}, "and BAR 0 at BarBase overlap"),
}


def elaborate(top: str, parameters: dict[str, str], status: int) -> str:
    """Verilator's output, which must end with this status."""
    return program.run("tools/rtl/verilator", "--lint-only", "--top-module", top,
                       *(f"-G{name}={value}" for name, value in parameters.items()), "rtl/lint/waivers.vlt",
                       *filelist.needed_by(top), cwd=filelist.ROOT, stderr=subprocess.STDOUT, statuses=(status,)).stdout


@pytest.mark.parametrize("top,parameters,why", REFUSED.values(), ids=REFUSED)
def test_what_cannot_work_is_refused(top, parameters, why):
    assert why in elaborate(top, parameters, status=1)


CAN = {
    "BAR 0 just behind the aperture": {"RamBytes": "8192", "BarBase": "64'h80400000"},
    "a slot for each list": {"SlotBits": "8", "QueueShiftMax": "10"},
    "a ring of 32 MiB": {"RamBytes": "33562624", "BarBase": "64'h70000000"},
    "UltraRAM with four registers": {"RamStyle": '"ultra"', "RamRegisters": "4"},
    "the smallest ring": {"RamBytes": "40960"},
    "the widest identifiers": {"IdWidth": "16"},
    "a ring in memory just before the aperture": RING | {"MemoryRingDriveBase": "64'h40000000"},
    "the smallest ring in memory": RING | {"MemoryRingBytes": "64'h2000", "PartBytes": "4096"},
}


@pytest.mark.parametrize("parameters", CAN.values(), ids=CAN)
def test_what_can_work_is_not(parameters):
    elaborate("spate_nvme_axi", parameters, status=0)
