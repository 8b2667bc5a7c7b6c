# SPDX-License-Identifier: Apache-2.0
"""Packets of the UltraScale+ block's streams, written from the product guide and the PCI Express rules alone, so that they
judge the adapter independently of any model: requests as the block sends them, and a check of completions. Both streams are
aligned to addresses.
"""

import dataclasses

MEMORY_READ, MEMORY_WRITE, IO_READ, IO_WRITE, FETCH_ADD, SWAP, COMPARE_SWAP, LOCKED_READ = range(8)
MESSAGE = 12
DWORD = (1 << 32) - 1


@dataclasses.dataclass
class Request:
    """One request on CQ. `address` is that of its first dword; `data` are the dwords of a write."""
    kind: int
    address: int
    dwords: int
    first: int = 0xf
    last: int = 0xf
    tag: int = 0
    requester: int = 0x0100
    traffic_class: int = 0
    attributes: int = 0
    address_type: int = 0
    data: list[int] = dataclasses.field(default_factory=list)
    broken: bool = False
    cut: int = 0  # a broken one ends after as many words; 0: after all

    @property
    def posted(self) -> bool:
        return self.kind == MEMORY_WRITE or self.kind >= MESSAGE

    def descriptor(self) -> int:
        return (self.address_type | (self.address & ~3) | self.dwords << 64 | self.kind << 75 | self.requester << 80
                | self.tag << 96 | self.traffic_class << 121 | self.attributes << 124)

    def words(self, width: int) -> list[dict]:
        """The words on the stream, a dict for each. Each byte of data is in the lane of its address, in words behind that of the
        descriptor. Lanes without data are undefined; here they are all ones."""
        lanes = width // 32
        before = self.address // 4 % lanes if self.kind < MESSAGE else 0
        after = -(before + len(self.data)) % lanes
        data = [DWORD] * before + self.data + [DWORD] * after
        enables = [0] * before + [self.enables(k) for k in range(len(self.data))] + [0] * after
        stream = [(self.descriptor() >> 32 * k) & DWORD for k in range(4)] + [DWORD] * (lanes - 4) + data
        enables = [0] * lanes + enables
        words = []
        for at in range(0, len(stream), lanes):
            user = sum(value << 8 + 4 * k for k, value in enumerate(enables[at:at + lanes]))
            ends = at + lanes == len(stream)
            if at == 0:
                user |= self.first | (self.last if self.dwords > 1 else 0) << 4 | 1 << 40
            if ends and self.broken:
                user |= 1 << 41
            words.append({"tdata": sum(value << 32 * k for k, value in enumerate(stream[at:at + lanes])), "tuser": user,
                          "tlast": int(ends)})
        if self.broken and self.cut:
            words = words[:self.cut]
            words[-1]["tuser"] |= 1 << 41
            words[-1]["tlast"] = 1
        return words

    def enables(self, dword: int) -> int:
        if dword == 0:
            return self.first
        return self.last if dword == self.dwords - 1 else 0xf

    def span(self) -> tuple[int, int]:
        """The first byte that is requested, and the byte count of the completions."""
        bits = [4 * k + b for k, on in ((0, self.first), (self.dwords - 1, self.enables(self.dwords - 1)))
                for b in range(4) if on >> b & 1]
        if not bits:
            return self.address, 1
        return self.address + min(bits), max(bits) - min(bits) + 1


@dataclasses.dataclass
class Completion:
    """One packet on CC."""
    lower_address: int
    bytes: int
    locked: int
    dwords: int
    status: int
    poisoned: int
    requester: int
    tag: int
    completer: int
    completer_enable: int
    traffic_class: int
    attributes: int
    reserved: int
    rest: list[int]  # dwords after the descriptor


def completion(words: list[dict], width: int) -> Completion:
    """Builds it from the words of a packet, and checks the rules for all packets. What follows the descriptor begins in a new word,
    a read's data in the lane of their address."""
    lanes = width // 32
    dwords = []
    for place, word in enumerate(words):
        count = bin(word["tkeep"]).count("1")
        assert word["tkeep"] == (1 << count) - 1, "dwords are contiguous"
        assert count == lanes or place == len(words) - 1, "a word before the last is partial"
        assert bool(word["tlast"]) == (place == len(words) - 1)
        dwords += [(word["tdata"] >> 32 * k) & DWORD for k in range(count)]
    assert len(dwords) >= 3
    a, b, c = dwords[:3]
    begin = lanes + (0 if b >> 11 & 7 else (a & 0x7f) // 4 % lanes)
    return Completion(
        lower_address=a & 0x7f, bytes=a >> 16 & 0x1fff, locked=a >> 29 & 1, dwords=b & 0x7ff, status=b >> 11 & 7,
        poisoned=b >> 14 & 1, requester=b >> 16, tag=c & 0xff, completer=c >> 8 & 0xffff, completer_enable=c >> 24 & 1,
        traffic_class=c >> 25 & 7, attributes=c >> 28 & 7,
        reserved=a & 0xc000_ff80 | b & 0x8000 | c & 0x8000_0000, rest=dwords[begin:])


class Judge:
    """Compares completions with the requests that wait for them. `memory` gives the byte at an address."""

    def __init__(self, memory, max_payload_bytes: int, boundary_bytes: int = 64):
        self.memory, self.max_payload_bytes, self.boundary_bytes = memory, max_payload_bytes, boundary_bytes
        self.waiting: list[Request] = []
        self.at = self.left = None  # next byte, and bytes left, of the first request that waits
        self.packets = self.done = 0

    def ask(self, request: Request) -> None:
        self.waiting.append(request)

    def answer(self, found: Completion) -> None:
        assert self.waiting, f"a completion without a request: {found}"
        request = self.waiting[0]
        asked = (request.requester, request.tag, request.traffic_class, request.attributes)
        assert (found.requester, found.tag, found.traffic_class, found.attributes) == asked, (request, found)
        assert found.reserved == 0 and not found.poisoned and (found.completer, found.completer_enable) == (0, 1)
        assert found.locked == (request.kind == LOCKED_READ)
        self.packets += 1
        if request.kind == MEMORY_READ and request.address_type == 0:
            self.answer_read(request, found)
        else:
            self.answer_unsupported(request, found)

    def answer_unsupported(self, request: Request, found: Completion) -> None:
        assert (found.status, found.dwords, found.lower_address) == (1, 0, 0), (request, found)
        expected = request.span()[1] if request.kind in (MEMORY_READ, LOCKED_READ) else 4
        assert found.bytes == expected, (request, found)
        enables = request.first | (request.last if request.dwords > 1 else 0) << 4
        log = [enables] + [(request.descriptor() >> 32 * k) & DWORD for k in range(4)]
        assert found.rest == log, "the copy of the request for the log is wrong"
        self.end()

    def answer_read(self, request: Request, found: Completion) -> None:
        if self.at is None:
            self.at, self.left = request.span()
        assert found.status == 0, (request, found)
        assert found.lower_address == self.at & 0x7f, (request, found, hex(self.at))
        assert found.bytes == self.left, (request, found, self.left)
        assert len(found.rest) == found.dwords
        assert 1 <= found.dwords * 4 <= self.max_payload_bytes
        begin = self.at & ~3
        end = begin + found.dwords * 4
        asked_end = request.address + request.dwords * 4
        assert end <= asked_end, "more than was requested"
        if end != asked_end:
            assert end % self.boundary_bytes == 0, "a completion ends between two read completion boundaries"
            assert end % min(self.max_payload_bytes, 512) == 0, "a completion is shorter than necessary"
        for byte in range(self.at, min(end, self.at + self.left)):
            value = found.rest[(byte - begin) // 4] >> 8 * (byte % 4) & 0xff
            assert value == self.memory(byte), f"byte {byte:#x} of {request}"
        self.left -= min(end, self.at + self.left) - self.at
        self.at = end
        if end == asked_end:
            assert self.left == 0, (request, found)
            self.end()

    def end(self) -> None:
        self.waiting.pop(0)
        self.at = self.left = None
        self.done += 1
