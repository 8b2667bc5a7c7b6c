# SPDX-License-Identifier: Apache-2.0
"""Valid/ready streams for cocotb testbenches: a source and a sink that stall at random, controlled by cocotb's random seed.

Signals change at the rising edge and are read once they are settled, as flip-flops see them at the next edge. Nothing is
put or taken during reset.
"""

import itertools
import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge


class Stall:
    """Whether to pause in this cycle: never, always, or in runs, so that queues fill up and run empty."""

    def __init__(self, share: float, run_cycles: int = 8):
        self.share, self.run_cycles, self.left, self.standing = share, run_cycles, 0, False

    def next(self) -> bool:
        if self.left == 0:
            self.left = random.randint(1, self.run_cycles)
            self.standing = random.random() < self.share
        self.left -= 1
        return self.standing


def pauses(share: float):
    """A pause generator of cocotbext-axi: it pauses in this share of the cycles, in runs."""
    while True:
        yield from itertools.repeat(random.random() < share, random.randint(1, 8))


class Source:
    """Puts words on a stream. A word is a dict of signal name → value. A word that is shown stays until it is taken."""

    def __init__(self, clock, reset_n, valid, ready, signals: dict, stall: float = 0.0):
        self.clock, self.reset_n, self.valid, self.ready, self.signals = clock, reset_n, valid, ready, signals
        self.stall, self.words = Stall(stall), deque()
        self.taken = 0
        valid.value = 0
        cocotb.start_soon(self._run())

    def put(self, **word) -> None:
        self.words.append(word)

    async def _run(self):
        showing = False
        while True:
            await ReadOnly()
            taken = showing and bool(self.ready.value)
            await RisingEdge(self.clock)
            if taken:
                self.words.popleft()
                self.taken += 1
                showing = False
            if not showing:
                showing = bool(self.reset_n.value) and bool(self.words) and not self.stall.next()
                for name, signal in self.signals.items():
                    signal.value = self.words[0][name] if showing else random.getrandbits(len(signal))
            self.valid.value = int(showing)


class Sink:
    """Takes words from a stream, and fails when a word changes or vanishes before it was taken."""

    def __init__(self, clock, reset_n, valid, ready, signals: dict, stall: float = 0.0):
        self.clock, self.reset_n, self.valid, self.ready, self.signals = clock, reset_n, valid, ready, signals
        self.stall, self.words = Stall(stall), deque()
        ready.value = 0
        cocotb.start_soon(self._run())

    async def _run(self):
        waiting = None
        while True:
            await ReadOnly()
            shown = None
            if self.reset_n.value and self.valid.value:
                shown = {name: int(signal.value) for name, signal in self.signals.items()}
            assert waiting is None or shown == waiting, f"a word changed before it was taken: {waiting} → {shown}"
            taken = shown is not None and bool(self.ready.value)
            waiting = None if taken else shown
            await RisingEdge(self.clock)
            if taken:
                self.words.append(shown)
            self.ready.value = int(bool(self.reset_n.value) and not self.stall.next())
