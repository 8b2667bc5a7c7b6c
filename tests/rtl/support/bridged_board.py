# SPDX-License-Identifier: Apache-2.0
"""The drive of spate_sim behind a board's bridge, and the board's own lock, which rises a little after the bridge's clock begins."""

from cocotb.triggers import ClockCycles
from spate_sim import BridgeDrive


class BridgedBoard(BridgeDrive):
    """`dut` is board_axi_top, `bar` where BAR 0 must be."""

    def __init__(self, dut, *, bar: int, **properties):
        self.dut, self.bar = dut, bar
        dut.rst_n.value = 0
        super().__init__(dut, "", identifiers=False, **properties)

    async def run(self) -> None:
        await ClockCycles(self.dut.axi_aclk, 8)
        self.dut.rst_n.value = 1
        await super().run()

    def in_bar(self, address: int) -> tuple[int, int]:
        space, register = super().in_bar(address)
        assert address - register == self.bar, f"{address:x}h is not in BAR 0 at {self.bar:x}h"
        return space, register
