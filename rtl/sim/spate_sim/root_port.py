# SPDX-License-Identifier: Apache-2.0
"""cocotbext-pcie models the UltraScale+ block only as an endpoint. This builds a root port from its parts: the core's requests go
to the link, the device's requests and completions come from it. The link may drop, and the block be reset, at any time."""

import functools
from collections import deque

import cocotb
from cocotb.triggers import Event, FallingEdge, First, RisingEdge
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.core.port import SimPort
from cocotbext.pcie.core.tlp import CplStatus, TlpType
from cocotbext.pcie.xilinx.us.interface import CcSink, CqSource, RcSource, RqSink, UsPcieFrame
from cocotbext.pcie.xilinx.us.tlp import ErrorCode, Tlp_us

from .ports import quiet
from .streams import pauses

COMPLETIONS = {TlpType.CPL, TlpType.CPL_DATA, TlpType.CPL_LOCKED, TlpType.CPL_LOCKED_DATA}
POSTED = {TlpType.MEM_WRITE, TlpType.MEM_WRITE_64}


def with_reset(kind):
    """The model's stream ends continue a packet after a reset. These drop it, and the packets that wait."""
    class Side(kind):
        async def _run(self):
            while True:
                packets = cocotb.start_soon(super()._run())
                await RisingEdge(self.reset)
                packets.cancel()
                self.clear()
                self.drive_obj = self.sample_obj = None
    return Side


def aligned(frame: UsPcieFrame, lanes: int) -> UsPcieFrame:
    """The model packs a request for streams that are aligned to dwords. Here its data begin in a new word, in the lane of their
    address."""
    if len(frame.data) > 4:
        null = [0] * (lanes - 4 + (frame.data[0] >> 2) % lanes)
        frame.data[4:4], frame.byte_en[4:4] = null, null
        frame.update_parity()
    return frame


def packed(frame: UsPcieFrame, lanes: int) -> UsPcieFrame:
    """The other way, for a completion."""
    status, place = frame.data[1] >> 11 & 7, (frame.data[0] >> 2) % lanes
    del frame.data[3:lanes + (0 if status else place)]
    return frame


class RootPort:
    """`pins` has the signals of the block by the names of hard_block.py."""

    def __init__(self, dut, stall: float = 0.0):
        self.dut, self.credits, self.lanes = dut, 0, len(dut.cq_tdata) // 32
        sides = [with_reset(kind)(AxiStreamBus.from_prefix(dut, name), dut.user_clk, dut.user_reset)
                 for kind, name in ((CqSource, "cq"), (CcSink, "cc"), (RqSink, "rq"), (RcSource, "rc"))]
        self.cq, self.cc, self.rq, self.rc = sides
        if stall:
            for side in sides:
                side.set_pause_generator(pauses(stall))
        self.waiting: deque[Tlp_us] = deque()  # requests without a credit
        self.completions: list[Tlp_us] = []
        self.on_request = lambda tlp: None  # called for each request of the core, as the block takes it
        self.break_writes = 0  # this many of the next writes arrive marked as broken, as if the block could not read them
        self.port, self.lost = None, Event()
        for side in sides:
            quiet(side.log)
        for task in (self._credits(), self._to_link(self.rq, Tlp_us.unpack_us_rq),
                     self._to_link(self.cc, lambda frame: Tlp_us.unpack_us_cc(packed(frame, self.lanes)))):
            cocotb.start_soon(task)

    def connect(self, device) -> None:
        """The link comes up. Packets that were on the way over an earlier link do not arrive."""
        self.lost = Event()
        self.port = SimPort(fc_init=[[64, 1024, 64, 64, 0, 0]] * 8)
        self.port.max_link_speed, self.port.max_link_width = 3, 4
        self.port.rx_handler = functools.partial(self.from_link, self.port)
        device.upstream_port.max_link_speed, device.upstream_port.max_link_width = 3, 4
        self.port.connect(device.upstream_port)

    def disconnect(self) -> None:
        self.port = None
        self.lost.set()

    async def _to_link(self, sink, unpack):
        while True:
            tlp = unpack(await sink.recv())
            assert tlp.check(), f"not a good packet: {tlp}"
            if tlp.fmt_type in COMPLETIONS:
                self.completions.append(tlp)
            else:
                self.on_request(tlp)
            if self.port:
                await First(cocotb.start_soon(self.port.send(tlp)), self.lost.wait())

    async def from_link(self, port, tlp):
        tlp.release_fc()
        if port is not self.port:
            return
        tlp = Tlp_us(tlp)
        if tlp.fmt_type in COMPLETIONS:
            tlp.request_completed = True  # the core requests single dwords
            tlp.error_code = ErrorCode.NORMAL_TERMINATION if tlp.status == CplStatus.SC else ErrorCode.BAD_STATUS
            await self.rc.send(tlp.pack_us_rc())
        elif tlp.fmt_type in POSTED:
            tlp.discontinue = self.break_writes > 0
            self.break_writes -= tlp.discontinue
            await self.cq.send(aligned(tlp.pack_us_cq(), self.lanes))
        else:
            self.waiting.append(tlp)

    async def _credits(self):
        """In the middle of each cycle, because the requests come from flip-flops."""
        while True:
            await FallingEdge(self.dut.user_clk)
            if self.dut.user_reset.value:
                self.credits = 0
                self.waiting.clear()
                continue
            self.credits = min(self.credits + int(self.dut.pcie_cq_np_req.value), 32)
            if self.waiting and self.credits:
                self.credits -= 1
                self.cq.send_nowait(aligned(self.waiting.popleft().pack_us_cq(), self.lanes))
