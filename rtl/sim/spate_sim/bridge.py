# SPDX-License-Identifier: Apache-2.0
"""A drive behind an AXI-PCIe bridge in root port mode. The bridge's master takes the drive's reads and writes to the core's
window, s_axi. Its slave takes the core's accesses to BAR 0, m_axi. Its control port takes accesses to configuration space,
c_axil.
"""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Event, Timer, ValueChange
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteSlave, AxiMaster

from .controller import BAR, DEVICE, LOCAL, STEP_NS
from .nvme import Drive
from .ports import Ports
from .streams import pauses

CHANNEL = {"aw": ("valid", "ready", "addr"), "w": ("valid", "ready", "data", "strb"), "b": ("valid", "ready", "resp"),
           "ar": ("valid", "ready", "addr"), "r": ("valid", "ready", "data", "resp")}
LITE = [f"{channel}{field}" for channel, fields in CHANNEL.items() for field in fields]
FULL = [*LITE, *(f"{channel}{field}" for channel in ("aw", "ar") for field in ("id", "len", "size", "burst")), "wlast", "bid",
        "rid", "rlast"]
BAR_SPACE = 1 << 20  # a BAR 0 is at most as large; BarAxiBase is a multiple of it


class AccessFailed(Exception):
    """The bridge answers with an error."""


class Registers:
    """What the bridge does with the core's accesses on one of its AXI ports."""

    def __init__(self, drive: "BridgeDrive", place):
        self.drive, self.place = drive, place  # place: address → (space, address in it)

    async def read(self, address: int, length: int) -> bytes:
        """A whole beat. Registers besides the one that the core wants are read, too, which has no effect."""
        await self.drive.port.pushed()  # a completion does not pass earlier writes
        await self.drive.cycles(random.randint(1, 8))
        words = []
        for at in range(address, address + length, 4):
            error, value = self.drive.access(*self.of(at, False, 0))
            if error:
                raise AccessFailed
            words.append(value.to_bytes(4, "little"))
        return b"".join(words)

    async def write(self, address: int, data: bytes) -> None:
        assert len(data) == 4, f"a register is written with {len(data)} bytes"
        await self.drive.cycles(random.randint(1, 8))
        if self.drive.access(*self.of(address, True, int.from_bytes(data, "little")))[0]:
            raise AccessFailed

    def of(self, address: int, write: bool, data: int) -> tuple[int, bool, int, int]:
        space, register = self.place(address)
        return space, write, register, data


class MasterPort:
    """The bridge's master. A drive whose link is down, or that was reset, reads zeros, and its writes have no effect."""

    def __init__(self, master: AxiMaster, is_on, identifiers: bool):
        self.master, self.is_on = master, is_on
        self.of_reads, self.of_writes = ({}, {}) if identifiers else ({"arid": 0}, {"awid": 0})
        self.writes, self.writing, self.wake = deque(), False, Event()
        cocotb.start_soon(self._write())

    async def read(self, address: int, length: int) -> bytes:
        if not self.is_on():
            return bytes(length)
        return bytes((await self.master.read(address, length, **self.of_reads)).data)

    def write(self, address: int, data: bytes) -> None:
        """Posted; in order."""
        self.writes.append((address, bytes(data)))
        self.wake.set()

    async def _write(self):
        while True:
            await self.wake.wait()
            self.wake.clear()
            self.writing = True
            while self.writes:
                address, data = self.writes.popleft()
                if self.is_on():
                    await self.master.write(address, data, **self.of_writes)
            self.writing = False

    async def pushed(self) -> None:
        while self.writes or self.writing:
            await Timer(STEP_NS, unit="ns")


def names(prefix: str) -> dict[str, list[str]]:
    stems = {f"{bus}_{signal}": [f"{prefix}{bus}_{signal}"] for bus, signals in (("s_axi", FULL), ("m_axi", LITE), ("c_axil", LITE))
             for signal in signals}
    return stems | {name: [f"{prefix}{name}", name] for name in ("axi_aclk", "axi_aresetn", "user_link_up", "perst_n")}


class BridgeDrive(Drive):
    """Takes the bridge's place at the ports of `dut`: those of spate_nvme_axi, with `prefix` before them. It drives the bridge's
    clock, `clock` (250 MHz), axi_aresetn and user_link_up. The design's own clocks and resets are the testbench's.
    `device_config_offset` is DeviceConfigOffset. `identifiers`: the bridge's master uses them (PG055's does not). If the design has an
    interconnect between the bridge's master and s_axi, name its port s_axi."""

    def __init__(self, dut, prefix: str = "", *, clock: Clock | None = None, window: tuple[int, int] | None = None,
                 device_config_offset: int = 0x10_0000, identifiers: bool = True, stall: float = 0.0, **properties):
        self.pins = pins = Ports(dut, names(prefix))
        self.window, self.offset = window, device_config_offset
        pins.axi_aresetn.value = pins.user_link_up.value = 0
        (clock or Clock(pins.axi_aclk, 4, unit="ns")).start(start_high=False)
        of_bridge = {"clock": pins.axi_aclk, "reset": pins.axi_aresetn, "reset_active_level": False}
        master = AxiMaster(AxiBus.from_prefix(pins, "s_axi"), **of_bridge)
        bar = AxiLiteSlave(AxiLiteBus.from_prefix(pins, "m_axi"), target=Registers(self, self.in_bar), **of_bridge)
        control = AxiLiteSlave(AxiLiteBus.from_prefix(pins, "c_axil"), target=Registers(self, self.in_configuration), **of_bridge)
        for side in (master, bar, control):
            for half in (side.write_if, side.read_if):
                for channel in ("aw", "w", "b", "ar", "r"):
                    if stall and (found := getattr(half, f"{channel}_channel", None)):
                        found.set_pause_generator(pauses(stall))
        super().__init__(MasterPort(master, lambda: self.link_up, identifiers), stall=stall, **properties)
        cocotb.start_soon(self.run())

    async def run(self) -> None:
        await ClockCycles(self.pins.axi_aclk, 8)
        self.pins.axi_aresetn.value = 1
        await ClockCycles(self.pins.axi_aclk, 8)
        cocotb.start_soon(self.io())
        cocotb.start_soon(self.show_link())
        while True:
            self.see_perst(not self.pins.perst_n.value)
            await ValueChange(self.pins.perst_n)

    def enable(self, on: bool) -> None:
        super().enable(on)
        if not on:
            self.port.writes.clear()

    def silence(self) -> None:
        super().silence()
        self.port.writes.clear()

    async def show_link(self) -> None:
        while True:
            self.pins.user_link_up.value = int(self.link_up)
            await ClockCycles(self.pins.axi_aclk, 2)

    def after(self, cycles: int, action) -> None:
        async def later():
            await self.cycles(max(cycles, 1))
            action()
        cocotb.start_soon(later())

    def in_bar(self, address: int) -> tuple[int, int]:
        return BAR, address % BAR_SPACE

    def in_configuration(self, address: int) -> tuple[int, int]:
        return (DEVICE, address - self.offset) if address >= self.offset else (LOCAL, address)
