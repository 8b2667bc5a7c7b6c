# SPDX-License-Identifier: Apache-2.0
"""What a hardware description says of a design, whatever its form."""

import dataclasses
import re

FOUR_GIB = 1 << 32
BRIDGES = {"xlnx,xdma-host-3.00", "xlnx,qdma-host-3.00", "xlnx,versal-cpm-host-1.00", "xlnx,versal-cpm5-host", "xlnx,versal-cpm5-host1"}
# AXI PCIe and AXI PCIe Gen3: "host" of the Linux binding, or the version of the IP.
AXI_PCIE = re.compile(r"xlnx,axi-pcie3?-")
# What says whether a bridge is a root port, the best first. Names of device trees, without "xlnx,".
PORT_TYPES = ("device-port-type", "dev-port-type", "port-type", "include-rc")


class Unusable(Exception):
    """The description cannot be used as it is. str() says what is wrong and what to do."""


@dataclasses.dataclass
class Window:
    """An AXI BAR, or an entry of `ranges`. `cpu` is None where the file has only the address on the bus, and the size cannot be
    inferred from it."""

    cpu: int | None
    bus: int
    bytes: int
    note: str = ""


@dataclasses.dataclass
class Bridge:
    name: str
    control: int
    control_bytes: int | None  # None: the file does not say
    windows: list[Window]
    root_port: bool | None = True  # None: the file does not say
    registers: int | None = None  # Versal: the bridge's own registers
    registers_bytes: int | None = None  # None: among the registers of the processing system
    in_logic: bool = True  # not a CPM: its own registers are where the address editor puts them


@dataclasses.dataclass
class Dma:
    """An AXI DMA."""

    name: str
    address: int
    s2mm: bool
    scatter_gather: bool
    length_bits: int
    address_bits: int


@dataclasses.dataclass
class Hardware:
    path: str
    families: set[str]  # of processing systems that the file names: zynq7000, zynqmp, versal
    bridges: list[Bridge]
    memory: list[tuple[int, int]]  # DDR: start and size
    uart: int | None
    dmas: list[Dma]
    gpios: dict[str, int]  # AXI GPIO by name
    clocks: dict[str, int | None]  # Hz by processor ("cortex-r5"), as many as the file names; None: it does not say


def is_bridge(compatible: str) -> bool:
    return compatible in BRIDGES or AXI_PCIE.match(compatible) is not None


def is_root_port(said: dict[str, int | str]) -> bool | None:
    """Of what the file has under the names of PORT_TYPES. None: it does not say."""
    for name in PORT_TYPES:
        value = said.get(name)
        if isinstance(value, str):
            if re.search(r"root|endpoint", value, re.I):
                return "root" in value.lower()
        elif name == "dev-port-type":  # AXI PCIe Gen3: the number of its own parameter
            if value in (0, 2):
                return value == 2
        elif value is not None:
            return value != 0
    return None
