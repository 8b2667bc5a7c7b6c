# SPDX-License-Identifier: Apache-2.0
"""A camera of 2 MiB frames that writes them straight into the recorder's ring: nothing is copied.

    spate record rec.img camera.raw --from ring:camera &
    python3 numpy_camera.py camera 100
"""

import sys
import time

import numpy
import spate_ring

HEIGHT, WIDTH = 1024, 1024  # pixels of 16 bits: 2 MiB, one slot


def expose(frame: numpy.ndarray, number: int) -> None:
    """Stands for a driver's call that reads a frame into a given buffer."""
    numpy.add.outer(numpy.arange(HEIGHT, dtype=numpy.uint16), numpy.arange(WIDTH, dtype=numpy.uint16), out=frame)
    frame += numpy.uint16(number)


def main(name: str, frames: int) -> None:
    with spate_ring.Ring(name, slot_bytes=2 * HEIGHT * WIDTH, slots=32) as ring:
        for number in range(frames):
            time.sleep(0.005)  # 200 frames a second
            slot = ring.claim(dtype=numpy.uint16)
            if slot is None:
                ring.lost(ring.slot_bytes)
            else:
                expose(slot.reshape(HEIGHT, WIDTH), number)
                ring.publish()


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(sys.argv[1], int(sys.argv[2]))
