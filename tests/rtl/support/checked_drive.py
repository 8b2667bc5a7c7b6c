# SPDX-License-Identifier: Apache-2.0
"""The drive of spate_sim behind spate_nvme_usp, with checks that only we can make: where BAR 0 is, how to wait, and when the core
leaves its reset."""

from cocotb.triggers import ClockCycles
from spate_sim import HardBlockDrive
from spate_sim.controller import STEP_NS


class CheckedDrive(HardBlockDrive):
    """`dut` has also rst_n: it rises a little after the clock of the block begins."""

    def __init__(self, dut, *, bar: int, **properties):
        self.dut, self.bar = dut, bar
        dut.rst_n.value = 0
        super().__init__(dut, "", **properties)

    async def run(self) -> None:
        await ClockCycles(self.dut.user_clk, 8)
        self.dut.rst_n.value = 1
        await super().run()

    async def bar_write(self, address: int, data: bytes) -> None:
        assert self.function.bar[0] & ~0xF | self.function.bar[1] << 32 == self.bar
        await super().bar_write(address, data)

    async def until(self, condition, limit: int = 60000, what: str = "") -> None:
        for _ in range(limit // 8):
            if condition():
                return
            await self.cycles(8)
        raise AssertionError(f"not in {limit} cycles of {STEP_NS} ns: {what}")
