# SPDX-License-Identifier: Apache-2.0
"""cocotbext-pcie models the UltraScale+ block as an endpoint only. This makes a root port of the parts: our requests go to
the link, the device's requests and completions come from it."""

import itertools
import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.core.port import SimPort
from cocotbext.pcie.core.tlp import CplStatus, TlpType
from cocotbext.pcie.xilinx.us.interface import CcSink, CqSource, RcSource, RqSink
from cocotbext.pcie.xilinx.us.tlp import ErrorCode, Tlp_us

COMPLETIONS = {TlpType.CPL, TlpType.CPL_DATA, TlpType.CPL_LOCKED, TlpType.CPL_LOCKED_DATA}
POSTED = {TlpType.MEM_WRITE, TlpType.MEM_WRITE_64}


class RootPort:
    def __init__(self, dut, stall: float = 0.0):
        self.dut, self.credits, self.sent_nonposted = dut, 0, 0
        sides = [kind(AxiStreamBus.from_prefix(dut, name), dut.user_clk, dut.user_reset)
                 for kind, name in ((CqSource, "cq"), (CcSink, "cc"), (RqSink, "rq"), (RcSource, "rc"))]
        self.cq, self.cc, self.rq, self.rc = sides
        if stall:
            for side in sides:
                side.set_pause_generator(self.pauses(stall))
        self.port = SimPort(fc_init=[[64, 1024, 64, 64, 0, 0]] * 8)
        self.port.max_link_speed, self.port.max_link_width = 3, 4
        self.port.rx_handler = self.from_link
        self.waiting: deque[Tlp_us] = deque()  # requests without a credit
        self.completions: list[Tlp_us] = []
        for task in (self._credits(), self._to_link(self.rq, Tlp_us.unpack_us_rq),
                     self._to_link(self.cc, Tlp_us.unpack_us_cc)):
            cocotb.start_soon(task)

    @staticmethod
    def pauses(stall: float):
        while True:
            yield from itertools.repeat(random.random() < stall, random.randint(1, 8))

    async def _to_link(self, sink, unpack):
        while True:
            tlp = unpack(await sink.recv())
            assert tlp.check(), f"not a good packet: {tlp}"
            if tlp.fmt_type in COMPLETIONS:
                self.completions.append(tlp)
            await self.port.send(tlp)

    async def from_link(self, tlp):
        tlp.release_fc()
        tlp = Tlp_us(tlp)
        if tlp.fmt_type in COMPLETIONS:
            tlp.request_completed = True  # we ask for single dwords
            tlp.error_code = ErrorCode.NORMAL_TERMINATION if tlp.status == CplStatus.SC else ErrorCode.BAD_STATUS
            await self.rc.send(tlp.pack_us_rc())
        elif tlp.fmt_type in POSTED:
            await self.cq.send(tlp.pack_us_cq())
        else:
            self.waiting.append(tlp)

    async def _credits(self):
        while True:
            await ReadOnly()
            asks = int(self.dut.pcie_cq_np_req.value) if not self.dut.user_reset.value else 0
            await RisingEdge(self.dut.user_clk)
            self.credits = min(self.credits + asks, 32)
            if self.waiting and self.credits:
                self.credits -= 1
                self.cq.send_nowait(self.waiting.popleft().pack_us_cq())
