# SPDX-License-Identifier: Apache-2.0
"""spate_pcie_usp above a device of cocotbext-pcie: enumeration, its BAR, and its reads and writes, packet by packet over a
modelled link."""

import random
import warnings

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from spate_sim.root_port import RootPort

from core_model import BAR, DEVICE, CoreModel, Registers
from usp_block import StoppableClock

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from cocotbext.pcie.core import Device, MemoryEndpoint

WINDOW_BASE, BAR_BASE = 0x8_0020_0000, 0x9000_0000


class Testbench:
    def __init__(self, dut, stall: float, payload: int):
        self.dut, self.payload = dut, payload
        dut.rst_n.value = dut.adapter_reset.value = dut.epoch.value = dut.user_lnk_up.value = 0
        dut.user_reset.value = 1
        dut.cfg_mgmt_read_write_done.value = 0
        dut.cfg_max_payload.value = payload
        StoppableClock(dut.clk, 4000)
        StoppableClock(dut.user_clk, 4000)
        self.core, self.registers = CoreModel(dut, stall), Registers(dut)
        self.core.memory[:] = random.randbytes(len(self.core.memory))
        self.root = RootPort(dut, stall)
        self.function = MemoryEndpoint()
        self.function.vendor_id, self.function.device_id = 0x1234, 0x5678
        self.bar = self.function.add_mem_region(16384)
        self.root.connect(Device([self.function]))

    async def start(self):
        dut = self.dut
        await ClockCycles(dut.clk, 8)
        dut.rst_n.value = 1
        await ClockCycles(dut.user_clk, 8)
        dut.user_reset.value = 0
        dut.user_lnk_up.value = 1
        while not dut.link_up.value:
            await RisingEdge(dut.clk)
        await ClockCycles(dut.clk, 250)  # the link's flow control starts
        self.function.pcie_cap.max_payload_size = self.payload

    async def enumerate(self):
        ports = self.registers
        assert await ports.read(DEVICE, 0) == (False, 0x5678_1234)
        assert not await ports.write(DEVICE, 0x10, 0xffff_ffff)
        assert (await ports.read(DEVICE, 0x10))[1] & ~0xf == 0x1_0000_0000 - 16384
        assert not await ports.write(DEVICE, 0x10, BAR_BASE)
        assert not await ports.write(DEVICE, 0x04, 0x406)
        assert self.function.bus_master_enable and self.function.pcie_id.bus == 1


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_device_is_enumerated_and_its_bar_reached(dut):
    tb = Testbench(dut, 0.3, 1)
    await tb.start()
    assert (await tb.registers.read(BAR, 0))[0], "a read without a BAR did not fail"
    await tb.enumerate()
    for _ in range(20):
        offset, value = 4 * random.randrange(4096), random.getrandbits(32)
        assert not await tb.registers.write(BAR, offset, value)
        assert await tb.registers.read(BAR, offset) == (False, value)
        assert int.from_bytes(tb.bar[offset:offset + 4], "little") == value


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(payload=[0, 1, 2], stall=[0.0, 0.5])
async def a_device_reads_and_writes(dut, payload, stall):
    tb = Testbench(dut, stall, payload)
    await tb.start()
    await tb.enumerate()
    expected = bytearray(tb.core.memory)
    half = len(expected) // 2

    async def reads():
        for _ in range(6):
            tb.function.pcie_cap.max_read_request_size = random.randrange(6)
            address, length = random.randrange(half - 8192), random.randrange(1, 6000)
            assert await tb.function.mem_read(WINDOW_BASE + address, length) == expected[address:address + length]

    async def writes():
        for _ in range(6):
            address, data = half + random.randrange(half - 8192), random.randbytes(random.randrange(1, 2000))
            await tb.function.mem_write(WINDOW_BASE + address, data)
            expected[address:address + len(data)] = data

    tasks = [cocotb.start_soon(reads()), cocotb.start_soon(reads()), cocotb.start_soon(writes())]
    for task in tasks:
        await task
    # A read pushes the writes before it.
    await tb.function.mem_read(WINDOW_BASE, 4)
    await ClockCycles(dut.clk, 50)
    assert tb.core.memory[half:] == expected[half:]
    assert all(len(tlp.data) <= 128 << payload for tlp in tb.root.completions)
