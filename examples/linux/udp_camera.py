# SPDX-License-Identifier: Apache-2.0
"""A camera that sends its frames as UDP datagrams. It uses nothing of Spate.

    spate record rec.img camera.raw --from udp:5000 --size 50MiB &
    python3 udp_camera.py 127.0.0.1 5000 50
"""

import socket
import sys
import time

import numpy

FRAME_BYTES, DATAGRAM_BYTES = 1 << 20, 8192


def main(host: str, port: int, frames: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect((host, port))
        for number in range(frames):
            frame = numpy.full(FRAME_BYTES, number, numpy.uint8)
            for at in range(0, FRAME_BYTES, DATAGRAM_BYTES):
                link.send(frame[at : at + DATAGRAM_BYTES])
                if at % (8 * DATAGRAM_BYTES) == 0:
                    time.sleep(0.001)  # spread the datagrams over the frame time, as a sensor spreads its lines


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
