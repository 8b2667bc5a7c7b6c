# SPDX-License-Identifier: Apache-2.0
"""A UDP port of this machine for a recorder, and how to wait until the recorder has opened it."""

import socket
import time

import pytest


@pytest.fixture
def port():
    """A port that the kernel has just chosen and freed, so that another program hardly uses it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(port, family=""):
    """Waits until the recording has begun: the recorder makes the file before it opens the socket."""
    end = time.monotonic() + 20
    while f":{port:04X} " not in open(f"/proc/net/udp{family}").read():
        assert time.monotonic() < end, "no socket was opened"
        time.sleep(0.01)
    time.sleep(0.3)  # this may have been the first socket, which tests the address before the target is opened
