# SPDX-License-Identifier: Apache-2.0
"""spate record --from udp:PORT: the payloads of datagrams, one behind the other; what the kernel drops is counted."""

import json
import random
import signal
import socket
import subprocess
import time

import pytest

from test_ring import started
from test_spate_image import DONE, FAILED, LOST, MIB, SPATE, USAGE, answer, image, judged, spate  # noqa: F401


@pytest.fixture
def port():
    """Free a moment ago; nobody else's tests use it by chance."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def receiver(image, source, *words):
    return started(SPATE, "record", image, "clip", "--from", source, "--output-format=json", *words, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE)


def listening(port, family=""):
    """Once the recording has begun: the socket is open, and the file is made before."""
    end = time.monotonic() + 20
    while f":{port:04X} " not in open(f"/proc/net/udp{family}").read():
        assert time.monotonic() < end, "nobody listens"
        time.sleep(0.01)
    time.sleep(0.3)  # it may have been the first look, before the target was opened


def told(process, status=DONE):
    out, error = process.communicate(timeout=60)
    assert process.returncode == status, error
    return json.loads(out)["files"][0], error


def send(port, payloads, host="127.0.0.1", family=socket.AF_INET, paced=True):
    """Paced, no more at once than the smallest socket's buffer bridges: who is not root may not have a larger one."""
    burst = 0
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        for payload in payloads:
            sender.sendto(payload, (host, port))
            burst += len(payload) + 1000  # what the kernel needs for each
            if paced and burst > 60_000:
                time.sleep(0.002)
                burst = 0


CHANCE = random.Random(5)
STREAMS = {
    "one size": [CHANCE.randbytes(1472) for _ in range(3000)],
    "a size that divides the slot": [CHANCE.randbytes(1024) for _ in range(3000)],
    "any sizes": [CHANCE.randbytes(CHANCE.randrange(0, 3000)) for _ in range(3000)],
    "growing": [CHANCE.randbytes(size) for size in range(0, 9000, 7)],
    "the largest": [CHANCE.randbytes(65507) for _ in range(60)],
    "one": [b"x"],
}


@pytest.mark.parametrize("stream", STREAMS)
def test_payloads_come_back_byte_for_byte(image, port, stream):
    data = b"".join(STREAMS[stream])
    with receiver(image, f"udp:{port}", "--for", "30s") as taking:
        listening(port)
        send(port, STREAMS[stream])
        time.sleep(0.7)
        taking.send_signal(signal.SIGINT)
        taken, _ = told(taking)
    assert (taken["bytes"], taken["lost_bytes"], taken["lost_datagrams"]) == (len(data), 0, 0)
    assert spate("extract", image, "clip", "-", text=False).stdout == data


def test_the_end_by_size_is_exact(image, port, tmp_path):
    with receiver(image, f"udp:127.0.0.1:{port}", "--size", "100001") as taking:
        listening(port)
        send(port, STREAMS["one size"])
        assert told(taking)[0]["bytes"] == 100_001
    assert judged(image, tmp_path)["clip"][0] == 100_001


def test_the_end_by_time_without_a_datagram(image, port):
    with receiver(image, f"udp:{port}", "--for", "500ms") as taking:
        _, error = taking.communicate(timeout=60)
        assert taking.returncode == FAILED and "no file was made" in error


def test_ipv6(image, port):
    with receiver(image, f"udp:[::1]:{port}", "--size", "4096") as taking:
        listening(port, "6")
        send(port, [b"y" * 1024] * 4, "::1", socket.AF_INET6)
        assert told(taking)[0]["bytes"] == 4096


@pytest.mark.parametrize("more", [True, False])
def test_what_the_kernel_drops_is_counted(image, port, more):
    """The recorder is stopped until the socket's buffer is full; whether more comes afterwards makes no difference."""
    count, size = 80_000, 1400
    with receiver(image, f"udp:{port}") as taking:
        listening(port)
        taking.send_signal(signal.SIGSTOP)
        send(port, (number.to_bytes(8, "little") * (size // 8) for number in range(count)), paced=False)
        taking.send_signal(signal.SIGCONT)
        time.sleep(1)
        if more:
            send(port, [bytes(size)])
            time.sleep(0.3)
        taking.send_signal(signal.SIGINT)
        taken, error = told(taking, LOST)
    assert taken["lost_datagrams"] > 0 and taken["bytes"] // size + taken["lost_datagrams"] == count + more
    assert f"{taken['lost_datagrams']} datagrams were LOST" in error
    data = spate("extract", image, "clip", "-", text=False).stdout
    numbers = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data) - size * more, size)]
    assert numbers == sorted(set(numbers)) and len(data) == taken["bytes"]


def test_a_slow_stream_is_on_the_drive_soon(image, port):
    with receiver(image, f"udp:{port}") as taking:
        listening(port)
        for _ in range(30):
            send(port, [b"z" * 1400])
            time.sleep(0.1)
        assert answer("ls", image)["entries"][0]["bytes"] >= 4096
        taking.send_signal(signal.SIGINT)
        assert told(taking)[0]["bytes"] == 30 * 1400


@pytest.mark.parametrize("source", ["udp:", "udp:0", "udp:65536", "udp:abc", "udp:localhost:5000", "udp:[::1]", "udp:[::1:5000",
                                    "udp::5000", "udp:1.2.3:5000", "udp:5000x"])
def test_addresses_that_are_none(image, source):
    assert "is not udp:PORT" in spate("record", image, "clip", "--from", source, status=USAGE).stderr


def test_a_port_that_is_taken(image):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("0.0.0.0", 0))
        said = spate("record", image, "clip", "--from", f"udp:{other.getsockname()[1]}", status=FAILED).stderr
    assert "in use" in said and answer("ls", image)["entries"] == []
