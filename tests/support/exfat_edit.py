# SPDX-License-Identifier: Apache-2.0
"""Changes an exFAT image byte by byte, as a failing drive or a careless system may: without the library, and with checksums that
fit again where the damage is meant to be elsewhere."""

import contextlib
import dataclasses
import struct

ENTRY_BYTES = 32
FILE, BITMAP = 0x85, 0x81


@dataclasses.dataclass
class Set:
    """An entry set, and where it lies in the image."""
    offset: int
    data: bytearray

    @property
    def name(self) -> str:
        units = b"".join(self.data[at + 2:at + 32] for at in range(2 * ENTRY_BYTES, len(self.data), ENTRY_BYTES))
        return units[:2 * self.data[35]].decode("utf-16-le", "surrogatepass")

    @property
    def first_cluster(self) -> int:
        return struct.unpack_from("<I", self.data, 52)[0]

    def rename(self, name: str) -> None:
        """Another name of the same length, with its hash. Only ASCII letters have an upper case here."""
        units = name.encode("utf-16-le", "surrogatepass")
        assert len(units) == 2 * self.data[35]
        for index in range(0, len(units), 2):
            at = 2 * ENTRY_BYTES + index // 30 * ENTRY_BYTES + 2 + index % 30
            self.data[at:at + 2] = units[index:index + 2]
        upper = "".join(letter.upper() if letter.isascii() else letter for letter in name)
        total = 0
        for byte in upper.encode("utf-16-le", "surrogatepass"):
            total = ((total << 15 | total >> 1) + byte) & 0xffff
        struct.pack_into("<H", self.data, 36, total)

    def seal(self) -> None:
        total = 0
        for index, byte in enumerate(self.data):
            if index not in (2, 3):
                total = ((total << 15 | total >> 1) + byte) & 0xffff
        struct.pack_into("<H", self.data, 2, total)


class Volume:
    """The volume at the image's start."""

    def __init__(self, file):
        self.file = file
        boot = self.read(0, 512)
        shift = boot[108]
        self.cluster_bytes = 1 << shift + boot[109]
        self.heap, self.count, self.root = (number for number in struct.unpack_from("<III", boot, 88))
        self.heap <<= shift

    def read(self, offset: int, size: int) -> bytes:
        self.file.seek(offset)
        return self.file.read(size)

    def write(self, offset: int, data: bytes) -> None:
        self.file.seek(offset)
        self.file.write(data)

    def offset(self, cluster: int) -> int:
        return self.heap + (cluster - 2) * self.cluster_bytes

    def sets(self, cluster: int = 0):
        """Those of the first cluster of a directory; 0: of the root."""
        start = self.offset(cluster or self.root)
        entries = self.read(start, self.cluster_bytes)
        at = 0
        while at < len(entries) and entries[at] != 0:
            size = ENTRY_BYTES * (1 + entries[at + 1]) if entries[at] == FILE else ENTRY_BYTES
            if entries[at] == FILE:
                yield Set(start + at, bytearray(entries[at:at + size]))
            at += size

    def find(self, name: str, cluster: int = 0) -> Set:
        return next(found for found in self.sets(cluster) if found.name == name)

    def put(self, entry_set: Set) -> None:
        self.write(entry_set.offset, entry_set.data)

    def mark(self, cluster: int, used: bool) -> None:
        entries = self.read(self.offset(self.root), self.cluster_bytes)
        entry = next(entries[at:at + 32] for at in range(0, len(entries), 32) if entries[at] == BITMAP)
        at = self.offset(struct.unpack_from("<I", entry, 20)[0]) + (cluster - 2) // 8
        bit = 1 << (cluster - 2) % 8
        byte = self.read(at, 1)[0]
        self.write(at, bytes([byte | bit if used else byte & ~bit]))


@contextlib.contextmanager
def edited(image):
    with open(image, "r+b") as file:
        yield Volume(file)
