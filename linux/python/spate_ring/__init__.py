# SPDX-License-Identifier: Apache-2.0
"""
Hand a stream to `spate record TARGET PATH --from ring:NAME` without a copy. The slots of a ring in shared memory are NumPy
arrays, and the recorder writes them to the drive straight from that memory.

    with spate_ring.Ring("camera", slot_bytes=1 << 20, slots=64) as ring:
        while running:
            frame = ring.claim()          # an array of bytes, or None: the recorder is behind
            if frame is None:
                ring.lost(frame_bytes)
            else:
                camera.read_into(frame)
                ring.publish(frame_bytes)

ring.write(array) copies data that already lie in other memory. Errors raise RingError, an OSError with the errno values of
spate/ring.h.

The module loads the library libspate-ring, which `make install` installs: the file that SPATE_RING_LIBRARY names, or the one
that the system's loader finds, or that of the prefix of this Python, of ~/.local or of /usr/local, in this order.
"""

import errno
import os
import sys

import cffi
import numpy

__all__ = ["Ring", "RingError"]

LIBRARY = "libspate-ring.so.0"
# The same as in spate/ring.h; tests/linux/test_ring_python.py compares the two.
DECLARATIONS = """
struct spate_ring_counts {
  uint32_t slot_bytes, slots;
  uint64_t filled;
  uint64_t released;
  uint64_t lost_bytes;
};
int spate_ring_create(struct spate_ring **ring, const char *name, uint32_t slot_bytes, uint32_t slots);
void *spate_ring_claim(struct spate_ring *ring, int timeout_ms);
int spate_ring_publish(struct spate_ring *ring, uint32_t bytes);
void spate_ring_lost(struct spate_ring *ring, uint64_t bytes);
int spate_ring_write(struct spate_ring *ring, const void *data, size_t bytes, int timeout_ms);
void spate_ring_end(struct spate_ring *ring);
void spate_ring_close(struct spate_ring *ring);
bool spate_ring_has_recorder(const struct spate_ring *ring);
void spate_ring_count(const struct spate_ring *ring, struct spate_ring_counts *counts);
const char *spate_ring_sentence(int error);
"""

_ffi = cffi.FFI()
_ffi.cdef("struct spate_ring;" + DECLARATIONS)


def _places() -> list[str]:
    """Where the library may be. A name without a folder asks the system's loader."""
    named = os.environ.get("SPATE_RING_LIBRARY")
    if named:
        return [named]
    prefixes = (sys.prefix, os.path.expanduser("~/.local"), "/usr/local")
    return [LIBRARY, *(f"{prefix}/{folder}/{LIBRARY}" for prefix in prefixes for folder in ("lib", "lib64"))]


def _load():
    places = _places()
    reasons = []
    for place in places:
        try:
            return _ffi.dlopen(place)
        except OSError as error:
            if os.path.exists(place):
                reasons.append(f". {error}")
    raise OSError(f"libspate-ring was not found as {', '.join(places)}. `make install` installs it; SPATE_RING_LIBRARY may name "
                  f"its file{''.join(reasons)}")


_library = _load()


class RingError(OSError):
    """A ring cannot be made or used; `errno` says which error of spate/ring.h it is."""

    def __init__(self, number: int):
        super().__init__(number, _ffi.string(_library.spate_ring_sentence(number)).decode())


def _check(number: int) -> None:
    if number != 0:
        raise RingError(number)


def _timeout_ms(timeout_s: float | None) -> int:
    """None waits without limit."""
    return -1 if timeout_s is None else round(timeout_s * 1000)


class Ring:
    """A new ring of slots for a recorder. `name` is a name of shared memory, or the absolute path of an existing file or
    device. Sizes are powers of two: 2 to 65536 slots of 64 KiB to 4 MiB. Only one thread may use a ring at a time.

    Leaving a `with` block ends the ring, and the recorder closes its file. If an exception leaves the block, the ring is
    closed without an end, and the recorder reports that its producer went away."""

    def __init__(self, name: str | os.PathLike, slot_bytes: int = 1 << 20, slots: int = 64):
        made = _ffi.new("struct spate_ring **")
        _check(_library.spate_ring_create(made, os.fsencode(name), slot_bytes, slots))
        # The memory is unmapped when neither this object nor an array from claim() refers to it any more.
        self._ring = _ffi.gc(made[0], _library.spate_ring_close)
        self.slot_bytes = slot_bytes
        self.slots = slots

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.end()
        self.close()

    def _open(self):
        if self._ring is None:
            raise RingError(errno.EPIPE)
        return self._ring

    def claim(self, timeout_s: float | None = 0, dtype=numpy.uint8) -> numpy.ndarray | None:
        """Returns the next free slot as an array, to be filled and then published. Returns None if every slot stayed full
        for `timeout_s`; a timeout of None waits without limit. After publish() the memory belongs to the recorder."""
        ring = self._open()
        slot = _library.spate_ring_claim(ring, _timeout_ms(timeout_s))
        if slot == _ffi.NULL:
            if _ffi.errno == errno.EAGAIN:
                return None
            raise RingError(_ffi.errno)
        # This pointer keeps the ring's memory mapped as long as an array refers to it.
        kept = _ffi.gc(slot, lambda _, ring=ring: None)
        return numpy.frombuffer(_ffi.buffer(kept, self.slot_bytes), dtype)

    def publish(self, bytes: int | None = None) -> None:
        """Hands the claimed slot to the recorder, with `bytes` in it; None: the whole slot. Only the last slot may have a
        length that is not a multiple of 4096."""
        _check(_library.spate_ring_publish(self._open(), self.slot_bytes if bytes is None else bytes))

    def write(self, data, timeout_s: float | None = 0) -> bool:
        """Appends a copy of contiguous data (an array, bytes, anything with a buffer). Returns False if there was not
        enough room in this time: then nothing was copied, and the data are counted as lost."""
        view = _ffi.from_buffer(data)
        number = _library.spate_ring_write(self._open(), view, len(view), _timeout_ms(timeout_s))
        if number == errno.EAGAIN:
            return False
        _check(number)
        return True

    def lost(self, bytes: int) -> None:
        """Counts bytes that the source lost because no slot was free. The recorder reports them."""
        _library.spate_ring_lost(self._open(), bytes)

    def end(self) -> None:
        """Ends the stream: the recorder closes the file once it has written all published slots."""
        _library.spate_ring_end(self._open())

    def close(self) -> None:
        self._ring = None

    @property
    def has_recorder(self) -> bool:
        return bool(_library.spate_ring_has_recorder(self._open()))

    def _count(self):
        counts = _ffi.new("struct spate_ring_counts *")
        _library.spate_ring_count(self._open(), counts)
        return counts

    @property
    def filled(self) -> int:
        """Slots published so far."""
        return self._count().filled

    @property
    def released(self) -> int:
        """Slots that the recorder has written."""
        return self._count().released

    @property
    def lost_bytes(self) -> int:
        return self._count().lost_bytes
