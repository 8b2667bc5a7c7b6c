# SPDX-License-Identifier: Apache-2.0
"""An NVMe drive to simulate a design with, in a cocotb testbench: docs/use/gateware-simulation.md.

HardBlockDrive takes the place of the UltraScale+ hard block at spate_nvme_usp's ports. BridgeDrive takes that of an AXI-PCIe bridge
at spate_nvme_axi's. Both are a Drive: its contents, faults and counts.
"""

from .bridge import BridgeDrive
from .controller import DNR, DOUBLE, LOST, Profile
from .hard_block import HardBlockDrive
from .nvme import AHEAD, LATE, MEDIA_ERROR, PATH_ERROR, WRONG_HEAD, WRONG_ID, WRONG_PHASE, Counts, Drive
from .streams import Sink, Source, Stall

__all__ = ["AHEAD", "DNR", "DOUBLE", "LATE", "LOST", "MEDIA_ERROR", "PATH_ERROR", "WRONG_HEAD", "WRONG_ID", "WRONG_PHASE",
           "BridgeDrive", "Counts", "Drive", "HardBlockDrive", "Profile", "Sink", "Source", "Stall"]
