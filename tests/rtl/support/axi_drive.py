# SPDX-License-Identifier: Apache-2.0
"""The drive of drive_model behind an AXI-PCIe bridge in root port mode, with cocotbext-axi for its three ports. The registers are at
the bridge's slave, the configuration space of root port and drive at its control port. The drive's own reads and writes leave
at its master, in bursts of at most 256 bytes.
"""

import random
from types import SimpleNamespace

from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteRam, AxiMaster, AxiRam

from admin_drive import ALL_ONES, BAR, DEVICE, LOCAL
from linked_drive import LinkedDrive, TlpPort

DEVICE_OFFSET = 0x10_0000
COMMAND = 0x04
BURST_BYTES = 256


class AxiDrive(LinkedDrive):
    """`dut` is board_axi_top, `clock` the bridge's."""

    link_is_up = False

    def __init__(self, dut, profile, clock, *, window: int, bar: int, stall: float):
        for name in ("rst_n", "locked", "user_link_up"):
            getattr(dut, name).value = 0
        clock.start()
        reset = (dut.user_clk, dut.axi_rst_n, False)
        self.master = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), *reset, max_burst_len=BURST_BYTES // 16)
        self.answer(AxiRam(AxiBus.from_prefix(dut, "m_axi"), *reset, size=2**32), lambda address: (BAR, address - bar))
        self.answer(AxiLiteRam(AxiLiteBus.from_prefix(dut, "c_axil"), *reset, size=2**32), lambda address: (
            (DEVICE, address - DEVICE_OFFSET) if address >= DEVICE_OFFSET else (LOCAL, address)))
        super().__init__(dut, profile, window=window, bar=bar, window_bits=int(dut.WindowBits.value), stall=stall, port=TlpPort())

    async def run(self) -> None:
        dut = self.dut
        await ClockCycles(dut.user_clk, 8)
        dut.rst_n.value = dut.locked.value = 1
        await self.follow_perst()

    # ---- the link ----

    @property
    def link_up(self) -> bool:
        return self.link_is_up

    @link_up.setter
    def link_up(self, up: bool) -> None:
        if up != self.link_is_up:
            self.port.attach(self.function() if up else None)
            self.dut.user_link_up.value = int(up)
        self.link_is_up = up

    def function(self) -> SimpleNamespace:
        return SimpleNamespace(bus_master_enable=True, mem_read=self.mem_read, mem_write=self.mem_write)

    async def mem_read(self, address: int, length: int) -> bytes:
        self.may_master()
        return (await self.master.read(address, length, arid=0)).data  # the bridge has no identifiers

    async def mem_write(self, address: int, data: bytes) -> None:
        self.may_master()
        await self.master.write(address, data, awid=0)

    def may_master(self) -> None:
        assert all(self.configuration[space][COMMAND] & 4 for space in (LOCAL, DEVICE)), "bus mastering is off"

    # ---- what the core reads and writes ----

    def answer(self, slave, place) -> None:
        """`place` says of an address at a port of the bridge to which space it belongs, and its address there."""
        async def read(address, length):
            if address % 4 or length % 4:
                raise OSError("not in words")
            return b"".join([await self.word(*place(at), slave) for at in range(address, address + length, 4)])

        async def write(address, data):
            assert len(data) == 4 and address % 4 == 0, f"a write of {len(data)} bytes"
            space, at = place(address)
            value = int.from_bytes(data, "little")
            self.write_log.append((space, at, value))
            if self.access(space, True, at, value)[0]:
                raise OSError("an error")

        slave.read_if._read, slave.write_if._write = read, write

    async def word(self, space: int, address: int, slave) -> bytes:
        if space == BAR:
            await self.port.pushed()  # a completion does not pass earlier writes
        error, value = self.access(space, False, address, random.getrandbits(32))
        if error:
            raise OSError("an error")
        return (value & ALL_ONES).to_bytes(4, "little")
