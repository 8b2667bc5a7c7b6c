# SPDX-License-Identifier: Apache-2.0
"""The UltraScale+ block's side of spate_pcie_usp, as far as the product guide and the PCI Express rules define it. It sends the
drive's requests, counts credits for those that want a completion, takes completions and the core's requests, and has a
configuration space."""

import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from spate_sim.streams import Stall

from usp_packets import DWORD, Request, completion

CREDITS_MAX = 32


class StoppableClock:
    def __init__(self, signal, period_ps: int):
        self.signal, self.half_ps, self.running = signal, period_ps // 2, True
        signal.value = 0
        cocotb.start_soon(self._run())

    async def _run(self):
        while True:
            await Timer(self.half_ps, unit="ps")
            if self.running:
                self.signal.value = int(not self.signal.value)


class Block:
    """The testbench drives the clocks of pcie_usp_top's user side. `stall` is the share of cycles in which a stream pauses."""

    def __init__(self, dut, stall: float = 0.0):
        self.dut, self.width = dut, len(dut.cq_tdata)
        self.lanes = self.width // 32
        self.requests: deque[Request] = deque()
        self.words: deque[dict] = deque()  # of the request that is being sent
        self.shown: list[Request] = []  # in the order in which they were sent
        self.credits, self.cycle, self.cq_waits = 0, 0, 0
        self.on_shown = self.on_completion = lambda packet: None
        self.completion_words: list[dict] = []
        self.cc_cycles: list[int] = []  # cycles in which a word was taken
        self.rq_packets: deque[list[dict]] = deque()
        self.rq_words: list[dict] = []
        self.rc_words: deque[dict] = deque()
        self.stalls = {name: Stall(stall) for name in ("cq", "cc", "rq", "rc", "cfg")}
        self.config = {k: random.getrandbits(32) for k in range(1024)}
        self.config_accesses = 0
        for name in ("cq_tvalid", "cc_tready", "rq_tready", "rc_tvalid", "cfg_mgmt_read_write_done", "cfg_max_payload"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self._run())

    def show(self, request: Request) -> None:
        self.requests.append(request)

    def next_words(self) -> None:
        """The block keeps the order, but a posted request passes one that has no credit."""
        for index, request in enumerate(self.requests):
            if request.posted or self.credits > 0:
                if not request.posted and any(not earlier.posted for earlier in list(self.requests)[:index]):
                    continue
                del self.requests[index]
                self.words.extend(request.words(self.width))
                if not request.posted:
                    self.delivering = True
                self.shown.append(request)
                self.on_shown(request)
                return

    async def _run(self):
        dut, user = self.dut, self.dut.user_clk
        cq_showing = rc_showing = done = False
        self.delivering = False
        while True:
            await ReadOnly()
            alive = not dut.user_reset.value
            asks = int(dut.pcie_cq_np_req.value) if alive else 0
            assert asks in (0, 1), "more than one credit in a cycle"
            cq_taken = cq_showing and bool(dut.cq_tready.value)
            self.cq_waits += cq_showing and not cq_taken
            rc_taken = rc_showing and bool(dut.rc_tready.value)
            if alive:
                self._take_completions()
                self._take_requests()
            read, write = bool(dut.cfg_mgmt_read.value), bool(dut.cfg_mgmt_write.value)
            local = (int(dut.cfg_mgmt_addr.value), int(dut.cfg_mgmt_write_data.value)) if alive and (read or write) else None
            await RisingEdge(user)
            self.cycle += 1
            if not alive:
                self.words.clear()
                self.requests.clear()
                self.rc_words.clear()
                self.completion_words.clear()
                self.rq_words.clear()
                self.rq_packets.clear()
                self.credits, cq_showing, rc_showing, self.delivering = 0, False, False, False
                cq_taken = rc_taken = False
            if cq_taken:
                self.words.popleft()
                cq_showing = False
            if not self.words and alive:
                self.next_words()
            # A request is delivered, and uses its credit, in the cycle of its first word.
            paid = self.delivering
            self.delivering = False
            self.credits = min(self.credits + asks - paid, CREDITS_MAX)
            assert self.credits >= 0
            if not cq_showing and self.words and not self.stalls["cq"].next():
                cq_showing = True
            self._put("cq", self.words[0] if cq_showing else None)
            if rc_taken:
                self.rc_words.popleft()
                rc_showing = False
            rc_showing = rc_showing or (bool(self.rc_words) and not self.stalls["rc"].next())
            self._put("rc", self.rc_words[0] if rc_showing else None)
            dut.cc_tready.value = int(not self.stalls["cc"].next())
            dut.rq_tready.value = int(not self.stalls["rq"].next())
            done = local is not None and not done and not self.stalls["cfg"].next()
            dut.cfg_mgmt_read_write_done.value = int(done)
            dut.cfg_mgmt_read_data.value = self.config[local[0]] if done and read else random.getrandbits(32)
            if done:
                self.config_accesses += 1
                if write:
                    assert int(dut.cfg_mgmt_byte_enable.value) == 0xf
                    self.config[local[0]] = local[1]

    def _put(self, name: str, word: dict | None) -> None:
        dut = self.dut
        getattr(dut, f"{name}_tvalid").value = int(word is not None)
        for field in ("tdata", "tuser", "tlast"):
            signal = getattr(dut, f"{name}_{field}")
            signal.value = word[field] if word else random.getrandbits(len(signal))

    def _take_completions(self) -> None:
        dut = self.dut
        if dut.cc_tvalid.value and dut.cc_tready.value:
            assert int(dut.cc_tuser.value) == 0
            self.cc_cycles.append(self.cycle)
            self.completion_words.append(
                {name: int(getattr(dut, f"cc_{name}").value) for name in ("tdata", "tkeep", "tlast")})
            if dut.cc_tlast.value:
                words, self.completion_words = self.completion_words, []
                self.on_completion(completion(words, self.width))

    def _take_requests(self) -> None:
        dut = self.dut
        if dut.rq_tvalid.value and dut.rq_tready.value:
            self.rq_words.append(
                {name: int(getattr(dut, f"rq_{name}").value) for name in ("tdata", "tkeep", "tuser", "tlast")})
            if dut.rq_tlast.value:
                words, self.rq_words = self.rq_words, []
                self.rq_packets.append(words)

    async def rq_request(self) -> tuple[Request, int]:
        """The core's next request, and the bus, device and function that it names."""
        while not self.rq_packets:
            await RisingEdge(self.dut.user_clk)
        words = self.rq_packets.popleft()
        dwords = []
        for place, word in enumerate(words):
            count = bin(word["tkeep"]).count("1")
            assert word["tkeep"] == (1 << count) - 1 and (count == self.lanes or place == len(words) - 1)
            dwords += [(word["tdata"] >> 32 * k) & DWORD for k in range(count)]
        a, b, c, d = dwords[:4]
        assert words[0]["tuser"] == 0x0f, "the byte enables are not those of one dword"
        assert a & 3 == 0 and c & 0x7ff == 1 and not c >> 15 & 1 and c >> 16 == 0 and d >> 24 == 1
        return Request(kind=c >> 11 & 0xf, address=a | b << 32, dwords=1, last=0, tag=d & 0xff, requester=0,
                       data=dwords[4:]), d >> 8 & 0xffff

    def answer(self, tag: int, data: list[int] | None = None, status: int = 0, error: int = 0, poisoned: bool = False,
               broken: bool = False, completed: bool = True) -> None:
        data = data or []
        dwords = [error << 12 | 4 << 16 | int(completed) << 30, len(data) | status << 11 | int(poisoned) << 14,
                  tag | 0x0100 << 8] + data
        dwords += [random.getrandbits(32) for _ in range(self.lanes - len(dwords))]
        self.rc_words.append({"tdata": sum(value << 32 * k for k, value in enumerate(dwords)),
                              "tuser": 1 << 32 | int(broken) << 42, "tlast": 1})
