# SPDX-License-Identifier: Apache-2.0
"""What the drives behind a bus of a vendor's block have in common: nothing of them runs in every cycle, because there are many."""

from collections import deque

import cocotb
from cocotb.triggers import Event, First, Timer, ValueChange

from drive_model import PERIOD_NS, DriveModel


class TlpPort:
    """The drive's reads and writes, through its current function. Those of a function that was replaced, or of a controller that
    was reset, have no effect: they read zeros."""

    def __init__(self):
        self.function, self.ended, self.wake = None, Event(), Event()
        self.writes, self.writing = deque(), False
        cocotb.start_soon(self._write())

    def attach(self, function) -> None:
        self.function = function
        self.abort()

    def abort(self) -> None:
        self.writes.clear()
        self.ended.set()
        self.ended = Event()

    async def read(self, address: int, length: int) -> bytes:
        if not self.function or not self.function.bus_master_enable:
            return bytes(length)
        ended, task = self.ended, cocotb.start_soon(self.function.mem_read(address, length))
        await First(task, ended.wait())
        return task.result() if task.done() else bytes(length)

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
                if self.function and self.function.bus_master_enable:
                    await First(cocotb.start_soon(self.function.mem_write(address, data)), self.ended.wait())
            self.writing = False

    async def pushed(self) -> None:
        """Earlier writes are on the link."""
        while self.writes or self.writing:
            await Timer(PERIOD_NS, unit="ns")


class LinkedDrive(DriveModel):
    """`function` of its port has bus_master_enable, mem_read() and mem_write()."""

    async def follow_perst(self) -> None:
        cocotb.start_soon(self.io())
        while True:
            self.see_perst(not self.dut.perst_n.value)
            await ValueChange(self.dut.perst_n)

    async def cycles(self, count: int) -> None:
        await Timer(max(count, 8) * PERIOD_NS, unit="ns")

    def after(self, cycles: int, action) -> None:
        async def later():
            await Timer(max(cycles, 1) * PERIOD_NS, unit="ns")
            action()
        cocotb.start_soon(later())

    async def until(self, condition, limit: int = 60000, what: str = "") -> None:
        for _ in range(limit // 8):
            if condition():
                return
            await self.cycles(8)
        raise AssertionError(f"not in {limit} cycles: {what}")

    def shown_epoch(self) -> int:
        return self.epoch

    def enable(self, on: bool) -> None:
        if on:
            self.epoch = int(self.registers[0x28] | self.registers[0x2C] << 32 != self.window)
        super().enable(on)
        if not on:
            self.port.abort()
