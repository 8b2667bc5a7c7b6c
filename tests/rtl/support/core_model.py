# SPDX-License-Identifier: Apache-2.0
"""The core as an adapter sees it: a memory behind the read and write ports, and the port for registers, whose every request must
get one response."""

import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.streams import Stall

LATENCY_CYCLES = 5  # from a request to its first beat, at least


class CoreModel:
    """Drives the core's side of pcie_axi_top. `stall` is the share of cycles in which each stream pauses."""

    def __init__(self, dut, stall: float = 0.0):
        self.dut, self.beat_bytes = dut, len(dut.read_data) // 8
        self.memory = bytearray(1 << len(dut.read_address))
        self.stray_reads = self.stray_writes = self.cycle = 0
        self.read_stall, self.data_stall, self.write_stall = Stall(stall), Stall(stall), Stall(stall)
        self.owed: deque = deque()  # beats: (first cycle in which it may be sent, address or None, last)
        dut.read_ready.value = dut.write_ready.value = dut.read_data_valid.value = 0
        cocotb.start_soon(self._run())

    def beat(self, address: int | None) -> int:
        if address is None:
            return 0
        return int.from_bytes(self.memory[address:address + self.beat_bytes], "little")

    def _take_read(self) -> None:
        address = int(self.dut.read_address.value) // self.beat_bytes * self.beat_bytes
        beats, stray = int(self.dut.read_beats.value), bool(self.dut.read_stray.value)
        assert 1 <= beats <= 257
        self.stray_reads += stray
        for index in range(beats):
            at = None if stray else address + index * self.beat_bytes
            self.owed.append((self.cycle + LATENCY_CYCLES, at, index == beats - 1))

    def _take_write(self) -> None:
        address = int(self.dut.write_address.value)
        assert address % self.beat_bytes == 0, "a beat's address is not aligned to it"
        if self.dut.write_stray.value:
            self.stray_writes += 1
            return
        data = int(self.dut.write_data.value).to_bytes(self.beat_bytes, "little")
        strobe = int(self.dut.write_strobe.value)
        for lane in range(self.beat_bytes):
            if strobe >> lane & 1:
                self.memory[address + lane] = data[lane]

    async def _run(self):
        dut, shown = self.dut, False
        while True:
            await ReadOnly()
            alive = bool(dut.rst_n.value)
            if alive and dut.read_valid.value and dut.read_ready.value:
                self._take_read()
            if alive and dut.write_valid.value and dut.write_ready.value:
                self._take_write()
            taken = shown and bool(dut.read_data_ready.value)
            await RisingEdge(dut.clk)
            self.cycle += 1
            if taken:
                self.owed.popleft()
                shown = False
            if not shown and self.owed and self.cycle >= self.owed[0][0] and not self.data_stall.next():
                shown = True
                dut.read_data.value = self.beat(self.owed[0][1])
                dut.read_last.value = int(self.owed[0][2])
            dut.read_data_valid.value = int(shown)
            dut.read_ready.value = int(alive and not self.read_stall.next())
            dut.write_ready.value = int(alive and not self.write_stall.next())


LOCAL, DEVICE, BAR = 0, 1, 2


class Registers:
    """The core's end of the register port: one access at a time, like spate_mmio."""

    def __init__(self, dut):
        self.dut, self.id, self.responses, self.requests = dut, 0, [], 0
        dut.request_valid.value = 0
        cocotb.start_soon(self._watch())

    async def _watch(self):
        while True:
            await ReadOnly()
            if self.dut.rst_n.value and self.dut.response_valid.value:
                self.responses.append((int(self.dut.response_id.value), bool(self.dut.response_error.value),
                                       int(self.dut.response_data.value)))
            await RisingEdge(self.dut.clk)

    async def request(self, space: int, write: bool, address: int, data: int = 0) -> None:
        """Returns when the request is taken."""
        dut = self.dut
        self.id ^= 1
        for name, value in (("id", self.id), ("space", space), ("write", int(write)), ("address", address), ("data", data)):
            getattr(dut, f"request_{name}").value = value
        dut.request_valid.value = 1
        while True:
            await ReadOnly()
            ready = bool(dut.request_ready.value)
            await RisingEdge(dut.clk)
            if ready:
                break
        self.requests += 1
        dut.request_valid.value = 0
        for name in ("id", "space", "write", "address", "data"):
            signal = getattr(dut, f"request_{name}")
            signal.value = random.getrandbits(len(signal))

    async def response(self) -> tuple[bool, int]:
        while len(self.responses) < self.requests:
            await RisingEdge(self.dut.clk)
        assert len(self.responses) == self.requests, "a response without a request"
        identifier, error, data = self.responses[-1]
        assert identifier == self.id, "the response carries another request's id"
        return error, data

    async def read(self, space: int, address: int) -> tuple[bool, int]:
        await self.request(space, False, address)
        return await self.response()

    async def write(self, space: int, address: int, data: int) -> bool:
        await self.request(space, True, address, data)
        return (await self.response())[0]
