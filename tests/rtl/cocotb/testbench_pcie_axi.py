# SPDX-License-Identifier: Apache-2.0
"""spate_pcie_axi between a bridge (cocotbext-axi) and a memory in the core's place: a little of all that the bus can do, judged by
a model that others wrote. tests/rtl/testbench/pcie_axi has the volume, each width and each ratio of the clocks."""

import itertools
import logging
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Combine, ReadOnly, RisingEdge, with_timeout
from cocotbext.axi import AxiBurstType, AxiBus, AxiLiteBus, AxiLiteRam, AxiMaster, AxiRam, AxiResp

from core_model import BAR, DEVICE, LOCAL, CoreModel, Registers

CORE_PS, BRIDGE_PS = 3334, 4000
WINDOW_BASE, WINDOW_BITS, BAR_BASE, DEVICE_OFFSET = 0x1_4020_0000, 21, 0x2_6000_0000, 0x10_0000
REGION_BYTES = 16384


class Bridge(AxiRam):
    """The bridge's slave port: the drive's BAR, which may answer with an error."""

    failing = False

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        read, write = self.read_if._read, self.write_if._write

        async def read_or_fail(address, length):
            if self.failing:
                raise OSError("fails on request")
            return await read(address, length)

        async def write_or_fail(address, data):
            if self.failing:
                raise OSError("fails on request")
            await write(address, data)

        self.read_if._read, self.write_if._write = read_or_fail, write_or_fail


class Testbench:
    def __init__(self, dut, stall: float):
        self.dut = dut
        for name in ("s_axi", "m_axi", "c_axil"):
            logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.WARNING)
        dut.rst_n.value = dut.axi_rst_n.value = dut.adapter_reset.value = 0
        dut.user_link_up.value = 0
        Clock(dut.clk, CORE_PS, unit="ps").start()
        Clock(dut.axi_clk, BRIDGE_PS, unit="ps").start()
        self.master = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.axi_clk, dut.axi_rst_n, False, max_burst_len=256)
        self.bar = Bridge(AxiBus.from_prefix(dut, "m_axi"), dut.axi_clk, dut.axi_rst_n, False, size=2**20)
        self.control = AxiLiteRam(AxiLiteBus.from_prefix(dut, "c_axil"), dut.axi_clk, dut.axi_rst_n, False, size=2**21)
        self.core, self.registers = CoreModel(dut, stall), Registers(dut)
        self.beat_bytes = self.core.beat_bytes
        for side in (self.master, self.bar, self.control):
            for channel in (side.write_if.aw_channel, side.write_if.w_channel, side.write_if.b_channel,
                            side.read_if.ar_channel, side.read_if.r_channel):
                channel.set_pause_generator(self.pauses(stall))

    @staticmethod
    def pauses(stall: float):
        while True:
            yield from itertools.repeat(random.random() < stall, random.randint(1, 8))

    async def start(self):
        await ClockCycles(self.dut.clk, 6)
        self.dut.rst_n.value = 1
        await ClockCycles(self.dut.clk, 3)
        await self.bridge_out_of_reset()

    async def bridge_out_of_reset(self):
        await RisingEdge(self.dut.axi_clk)
        self.dut.axi_rst_n.value = 1
        self.dut.user_link_up.value = 1
        while not self.dut.link_up.value:
            await RisingEdge(self.dut.clk)

    async def quiet(self):
        await ClockCycles(self.dut.axi_clk, 8)
        while not self.dut.quiet.value:
            await RisingEdge(self.dut.clk)


async def begin(dut) -> Testbench:
    tb = Testbench(dut, 0.3)
    await tb.start()
    return tb


# ---- traffic ----

async def one_region(tb: Testbench, region: int, rounds: int) -> None:
    """Writes and reads of any size and alignment in a region of its own, compared with a copy."""
    base = region * REGION_BYTES
    copy = bytearray(tb.core.memory[base:base + REGION_BYTES])
    for _ in range(rounds):
        size = random.choice([None, None, random.randint(0, tb.beat_bytes.bit_length() - 1)])
        length = random.choice([4, 16, 64, 512, random.randint(1, 300), random.randint(1, 1200 if size is None else 200)])
        offset = random.randrange(REGION_BYTES - length)
        if random.random() < 0.3:
            offset &= ~511 if length <= 512 else ~15
        if random.random() < 0.5:
            data = random.randbytes(length)
            copy[offset:offset + length] = data
            response = await tb.master.write(WINDOW_BASE + base + offset, data, size=size)
        else:
            response = await tb.master.read(WINDOW_BASE + base + offset, length, size=size)
            assert response.data == copy[offset:offset + length], f"region {region}, {length} bytes at {offset:#x}"
        assert response.resp == AxiResp.OKAY
    assert tb.core.memory[base:base + REGION_BYTES] == copy


async def traffic(tb: Testbench, workers: int, rounds: int) -> None:
    await Combine(*[cocotb.start_soon(one_region(tb, region, rounds)) for region in range(workers)])


@cocotb.test(timeout_time=2000, timeout_unit="us")
async def what_was_written_is_read(dut):
    tb = await begin(dut)
    await traffic(tb, 6, 12)
    await tb.quiet()
    assert tb.core.stray_reads == tb.core.stray_writes == 0


@cocotb.test(timeout_time=200, timeout_unit="us")
async def fixed_bursts_stay_at_their_address(dut):
    tb = await begin(dut)
    lanes = tb.beat_bytes
    tb.core.memory[0x1000:0x1100] = content = random.randbytes(256)
    for size in range(lanes.bit_length()):
        # The model advances by a lane for each byte, also in a FIXED burst; what matters here is that the beat stays the same.
        at, beat = 3 << size, (3 << size) // lanes * lanes
        response = await tb.master.read(WINDOW_BASE + 0x1000 + at, 5 << size, burst=AxiBurstType.FIXED, size=size)
        assert response.data == bytes(content[beat + (at + index) % lanes] for index in range(5 << size))
        data, expected = random.randbytes(3 << size), bytearray(tb.core.memory)
        await tb.master.write(WINDOW_BASE + 0x2000 + at, data, burst=AxiBurstType.FIXED, size=size)
        for index, byte in enumerate(data):
            expected[0x2000 + beat + (at + index) % lanes] = byte
        assert tb.core.memory == expected


@cocotb.test(timeout_time=200, timeout_unit="us")
async def outside_the_aperture_is_stray(dut):
    tb = await begin(dut)
    tb.core.memory[:] = b"\x5a" * len(tb.core.memory)
    aperture = 1 << WINDOW_BITS
    for count, address in enumerate((WINDOW_BASE - 64, WINDOW_BASE + aperture, WINDOW_BASE ^ 1 << 63, 0), 1):
        assert (await tb.master.read(address, 64)).data == bytes(64)
        response = await tb.master.write(address, random.randbytes(8))
        assert response.resp == AxiResp.OKAY
        assert tb.core.stray_reads == tb.core.stray_writes == count
    for address in (WINDOW_BASE, WINDOW_BASE + aperture - 64):
        assert (await tb.master.read(address, 64)).data == b"\x5a" * 64
    assert tb.core.memory == b"\x5a" * aperture


# ---- registers ----

@cocotb.test(timeout_time=500, timeout_unit="us")
async def registers_and_configuration(dut):
    tb = await begin(dut)
    background = cocotb.start_soon(traffic(tb, 2, 4))
    spaces = {BAR: (tb.bar, BAR_BASE % 2**20), DEVICE: (tb.control, DEVICE_OFFSET), LOCAL: (tb.control, 0)}
    for count in range(40):
        space, address = list(spaces)[count % 3], 4 * random.randrange(1024)
        ram, base = spaces[space]
        around = ram.read(base + address & ~63, 64)
        value = random.getrandbits(32)
        if random.random() < 0.5:
            assert await tb.registers.write(space, address, value) is False
            at = address % 64
            around = around[:at] + value.to_bytes(4, "little") + around[at + 4:]
        else:
            ram.write(base + address, value.to_bytes(4, "little"))
            assert await tb.registers.read(space, address) == (False, value)
            around = ram.read(base + address & ~63, 64)
        assert ram.read(base + address & ~63, 64) == around
    tb.bar.failing = True
    assert (await tb.registers.read(BAR, 0x1c))[0] is True
    assert await tb.registers.write(BAR, 0x1000, 1) is True
    tb.bar.failing = False
    assert await tb.registers.write(BAR, 0x1000, 1) is False
    await background


# ---- resets ----

@cocotb.test(timeout_time=500, timeout_unit="us")
async def adapter_reset_answers_and_drops(dut):
    tb = await begin(dut)
    tb.core.memory[:65536] = b"\x33" * 65536
    dut.adapter_reset.value = 1
    await ClockCycles(dut.clk, 3)
    for index in range(3):
        assert (await tb.master.read(WINDOW_BASE + 1024 * index + 5, 700)).data == bytes(700)
        response = await tb.master.write(WINDOW_BASE + 1024 * index + 5, random.randbytes(300))
        assert response.resp == AxiResp.OKAY
    await tb.quiet()
    assert tb.core.memory[:65536] == b"\x33" * 65536
    dut.adapter_reset.value = 0
    await ClockCycles(dut.clk, 3)
    await traffic(tb, 2, 4)


async def swallow(coroutine) -> None:
    """The master aborts its accesses when its reset comes; how it reports that does not matter."""
    try:
        await coroutine
    except Exception:  # noqa: BLE001
        pass


@cocotb.test(timeout_time=1500, timeout_unit="us")
async def the_bridge_is_reset_in_mid_burst(dut):
    """Data that the bridge had not issued are never written, at whatever moment the reset comes; afterwards everything works as
    before."""
    tb = await begin(dut)
    marked = bytes(range(1, 256)) * 4
    for _ in range(2):
        for index in range(6):
            cocotb.start_soon(swallow(tb.master.read(WINDOW_BASE + 0x8000 + 2048 * index, 1024)))
            cocotb.start_soon(swallow(tb.master.write(WINDOW_BASE + 0x20000 + 2048 * index, marked)))
        await tb.registers.request(BAR, random.random() < 0.5, 0x14, 1)
        await ClockCycles(dut.axi_clk, random.randint(1, 90))
        dut.axi_rst_n.value = 0
        dut.user_link_up.value = 0
        await ClockCycles(dut.clk, 60)
        await ReadOnly()
        assert not dut.link_up.value
        await RisingEdge(dut.clk)
        await with_timeout(tb.registers.response(), 20 * CORE_PS, "ps")
        assert (await with_timeout(tb.registers.read(DEVICE, 0), 20 * CORE_PS, "ps"))[0] is True
        await ClockCycles(dut.clk, 1000)
        await ReadOnly()
        assert dut.quiet.value and not dut.read_valid.value and not dut.write_valid.value
        await RisingEdge(dut.clk)
        for index in range(6):
            at = 0x20000 + 2048 * index
            assert all(byte in (0, expected) for byte, expected in zip(tb.core.memory[at:at + 1020], marked))
            assert tb.core.memory[at + 1020:at + 2048] == bytes(1028)
        await tb.bridge_out_of_reset()
        await traffic(tb, 2, 4)
        assert await tb.registers.write(BAR, 0x14, 0x11) is False
        assert await tb.registers.read(BAR, 0x14) == (False, 0x11)
