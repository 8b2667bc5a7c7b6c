# SPDX-License-Identifier: Apache-2.0
"""What a hardware description says of a design, whatever its form."""

import dataclasses

FOUR_GIB = 1 << 32


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
    root_port: bool = True
    registers: int | None = None  # Versal: the bridge's own registers
    registers_bytes: int | None = None  # None: among the registers of the processing system


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
    cpu_hz: int | None
