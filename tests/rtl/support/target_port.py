# SPDX-License-Identifier: Apache-2.0
"""The adapter's side of the windows: reads of any address and length, answered in order, and writes, both as beats of the core's
width with random stalls. Its users work with bytes at bus addresses."""

from collections import deque

from cocotb.triggers import Event
from spate_sim.streams import Stall

import records

BEATS_MAX = 32


class TargetPort:
    def __init__(self, dut, window: int, window_bits: int, stall: float):
        self.dut, self.window = dut, window
        self.beat_bytes, self.bits = len(dut.read_data_o) // 8, window_bits
        self.read_stall, self.data_stall, self.write_stall = Stall(stall), Stall(stall), Stall(stall)
        self.asked, self.owed, self.writes = deque(), deque(), deque()
        self.reading = self.writing = self.ready = False
        dut.read_valid_i.value = dut.write_valid_i.value = dut.read_data_ready_i.value = 0

    # ---- for the drive ----

    async def read(self, address: int, length: int, *, beats_max: int = BEATS_MAX) -> bytes:
        """Reads from any address, in requests of at most `beats_max` beats."""
        reads = []
        while length:
            skip = address % self.beat_bytes
            take = min(length, beats_max * self.beat_bytes - skip)
            event, data = Event(), bytearray()
            beats = -(-(skip + take) // self.beat_bytes)
            self.asked.append((address, beats, data, event))
            reads.append((event, data, skip, take))
            address, length = address + take, length - take
        found = b""
        for event, data, skip, take in reads:
            await event.wait()
            found += data[skip:skip + take]
        return bytes(found)

    def write(self, address: int, data: bytes) -> None:
        """Posted; in order."""
        while data:
            skip = address % self.beat_bytes
            take = min(len(data), self.beat_bytes - skip)
            beat, strobe = int.from_bytes(data[:take], "little") << skip * 8, ((1 << take) - 1) << skip
            self.writes.append((address - skip, beat, strobe))
            address, data = address + take, data[take:]

    @property
    def idle(self) -> bool:
        return not (self.asked or self.owed or self.writes)

    # ---- for each clock cycle ----

    def settled(self) -> None:
        """The core's outputs, and what it takes at the next edge."""
        d = self.dut
        self.read_taken = self.reading and bool(d.read_ready_o.value)
        self.write_taken = self.writing and bool(d.write_ready_o.value)
        self.answer = None
        if self.ready and d.read_data_valid_o.value:
            self.answer = d.read_data_o.value.to_unsigned(), bool(d.read_last_o.value)

    def edge(self) -> None:
        d = self.dut
        if self.read_taken:
            address, beats, data, event = self.asked.popleft()
            self.owed.append([beats, data, event])
            self.reading = False
        if self.write_taken:
            self.writes.popleft()
            self.writing = False
        if self.answer:
            assert self.owed, "a beat that was not requested"
            owed = self.owed[0]
            owed[0] -= 1
            owed[1] += self.answer[0].to_bytes(self.beat_bytes, "little")
            assert self.answer[1] == (owed[0] == 0), "`last` is not at the last beat"
            if owed[0] == 0:
                self.owed.popleft()
                owed[2].set()
        if not self.reading and self.asked and not self.read_stall.next():
            self.reading = True
            address, beats = self.asked[0][:2]
            records.put(d.read_i, "window_read_t", beats=beats, **self.place(address))
        if not self.writing and self.writes and not self.write_stall.next():
            self.writing = True
            address, data, strobe = self.writes[0]
            records.put(d.write_i, "window_write_t", **self.place(address))
            d.write_data_i.value, d.write_strobe_i.value = data, strobe
        self.ready = not self.data_stall.next()
        d.read_valid_i.value, d.write_valid_i.value = int(self.reading), int(self.writing)
        d.read_data_ready_i.value = int(self.ready)

    def place(self, address: int) -> dict[str, int]:
        """The address's offset in the aperture, and whether it is outside."""
        offset = address - self.window
        return {"address": offset & (1 << self.bits) - 1, "stray": int(not 0 <= offset < 1 << self.bits)}
