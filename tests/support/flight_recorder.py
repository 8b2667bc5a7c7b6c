# SPDX-License-Identifier: Apache-2.0
"""A running recorder of a loop for tests in Python: does it listen, and what does it answer on its socket?"""

import os
import pathlib
import socket
import time

LIMIT_S = 20


def until(condition, seconds=LIMIT_S):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def address(image, partition=""):
    """The recorder's socket is named by the image's device and inode, and by the partition."""
    status = os.stat(image)
    return f"\0spate-file-{status.st_dev:x}-{status.st_ino:x}{partition}"


def listens(image, partition=""):
    names = [line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines()]
    return address(image, partition).replace("\0", "@") in names


def connected(image):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(address(image))  # waits while the queue is full, which a socket with a limit does not
    client.settimeout(LIMIT_S)
    return client


def said_by(client):
    """What the recorder sends; "": it has closed the connection."""
    try:
        return client.recv(1 << 16).decode()
    except (ConnectionResetError, BrokenPipeError):
        return ""


def ask(client, request):
    try:
        client.send(request)
    except (ConnectionResetError, BrokenPipeError):
        return ""
    return said_by(client)


def kept(said):
    return [event["what"] for event in said["events"] if event.get("event") == "kept"]
