# SPDX-License-Identifier: Apache-2.0
"""spate record --from udp:PORT records the payloads of datagrams in order, and counts the datagrams that the kernel drops."""

import json
import random
import signal
import socket
import subprocess
import time

import pytest

from ring_programs import started
from spate_command import DONE, FAILED, LOST, SPATE, USAGE, answer, judged, spate
from spate_command import image  # noqa: F401 (a fixture)
from udp_port import listening
from udp_port import port  # noqa: F401 (a fixture)


def receiver(image, source, *words):
    return started(SPATE, "record", image, "clip", "--from", source, "--output-format=json", *words, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE)


def finish(process, status=DONE):
    out, error = process.communicate(timeout=60)
    assert process.returncode == status, error
    return json.loads(out)["files"][0], error


def send(port, payloads, host="127.0.0.1", family=socket.AF_INET, paced=True):
    """Sends datagrams. If paced, no burst is larger than the smallest socket buffer: without root the recorder may not have a
    larger one."""
    burst = 0
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        for payload in payloads:
            sender.sendto(payload, (host, port))
            burst += len(payload) + 1000  # the kernel's overhead for each
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
    with receiver(image, f"udp:{port}", "--for", "30s") as recording:
        listening(port)
        send(port, STREAMS[stream])
        time.sleep(0.7)
        recording.send_signal(signal.SIGINT)
        report, _ = finish(recording)
    assert (report["bytes"], report["lost_bytes"], report["lost_datagrams"]) == (len(data), 0, 0)
    assert spate("extract", image, "clip", "-", text=False).stdout == data


GROUP = "239.255.83.80"


def send_to_group(port, payloads, group=GROUP, sender="127.0.0.1"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        sending.bind((sender, 0))
        for payload in payloads:
            sending.sendto(payload, (group, port))
            time.sleep(0.001)


@pytest.mark.parametrize("name", ["udp:{}:{}?if=lo", "udp://{}:{}?if=lo", "udp:{}:{}?if=lo&source=127.0.0.2"])
def test_a_multicast_group(image, port, name):
    """Not what others send to another group, nor, with source=, what another sender sends."""
    with receiver(image, name.format(GROUP, port), "--for", "30s") as recording:
        listening(port)
        for number in range(20):
            send_to_group(port, [b"ours %d" % number], sender="127.0.0.2")
            send_to_group(port, [b"of another group"], group="239.255.83.81")
            if "source" in name:
                send_to_group(port, [b"of another sender"])
        time.sleep(0.7)
        recording.send_signal(signal.SIGINT)
        finish(recording)
    assert spate("extract", image, "clip", "-", text=False).stdout == b"".join(b"ours %d" % number for number in range(20))


def test_two_recorders_take_one_group(image, port, tmp_path):
    other = tmp_path / "other.img"
    spate("format", other, "--size", "64MiB")
    name = f"udp:{GROUP}:{port}?if=lo"
    with receiver(image, name, "--size", "3") as first, receiver(other, name, "--size", "3") as second:
        time.sleep(1)
        send_to_group(port, [b"abc"])
        assert finish(first)[0]["bytes"] == finish(second)[0]["bytes"] == 3


def test_the_times_of_arrival(image, port):
    before = time.time_ns()
    with receiver(image, f"udp:{port}", "--size", "4") as recording:
        listening(port)
        send(port, [b"ab"])
        time.sleep(0.2)
        send(port, [b"cd"])
        report, _ = finish(recording)
    assert before < report["first_datagram_ns"] < report["last_datagram_ns"] - 100_000_000 < time.time_ns()


def test_what_a_stopped_recorder_loses_is_told_at_once(image, port):
    """Not at the end: with the time, and why."""
    with receiver(image, f"udp:{port}", "--for", "60s", "--progress", "json") as recording:
        listening(port)
        recording.send_signal(signal.SIGSTOP)
        send(port, [b"x" * 1400] * 40_000, paced=False)
        recording.send_signal(signal.SIGCONT)
        send(port, [b"x" * 1400] * 10)
        lines = (json.loads(line) for line in recording.stderr if line.startswith("{"))
        lost = next(line for line in lines if line.get("event") == "lost")
        assert lost["what"] == "clip" and lost["cause"] in ("not read in time", "ring full") and lost["seconds"] > 0
        shown = next(line for line in lines if "event" not in line)
        assert shown["lost_datagrams"] >= lost["datagrams"] > 0 and shown["gaps"] >= 1
        recording.send_signal(signal.SIGINT)
        report, _ = finish(recording, LOST)
    assert report["lost_datagrams"] >= lost["datagrams"]


def test_the_end_by_size_is_exact(image, port, tmp_path):
    with receiver(image, f"udp:127.0.0.1:{port}", "--size", "100001") as recording:
        listening(port)
        send(port, STREAMS["one size"])
        assert finish(recording)[0]["bytes"] == 100_001
    assert judged(image, tmp_path)["clip"][0] == 100_001


def test_the_end_by_time_without_a_datagram(image, port):
    with receiver(image, f"udp:{port}", "--for", "500ms") as recording:
        _, error = recording.communicate(timeout=60)
        assert recording.returncode == FAILED and "no file was made" in error


def test_ipv6(image, port):
    with receiver(image, f"udp:[::1]:{port}", "--size", "4096") as recording:
        listening(port, "6")
        send(port, [b"y" * 1024] * 4, "::1", socket.AF_INET6)
        assert finish(recording)[0]["bytes"] == 4096


@pytest.mark.parametrize("more", [True, False])
def test_datagrams_that_the_kernel_drops_are_counted(image, port, more):
    """The recorder is stopped until the socket's buffer is full. The drops are counted even if no datagram follows them."""
    count, size = 80_000, 1400
    with receiver(image, f"udp:{port}") as recording:
        listening(port)
        recording.send_signal(signal.SIGSTOP)
        send(port, (number.to_bytes(8, "little") * (size // 8) for number in range(count)), paced=False)
        recording.send_signal(signal.SIGCONT)
        time.sleep(1)
        if more:
            send(port, [bytes(size)])
            time.sleep(0.3)
        recording.send_signal(signal.SIGINT)
        report, error = finish(recording, LOST)
    assert report["lost_datagrams"] > 0 and report["bytes"] // size + report["lost_datagrams"] == count + more
    assert f"{report['lost_datagrams']} datagrams were LOST" in error
    data = spate("extract", image, "clip", "-", text=False).stdout
    numbers = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data) - size * more, size)]
    assert numbers == sorted(set(numbers)) and len(data) == report["bytes"]


def test_a_slow_stream_is_on_the_drive_soon(image, port):
    with receiver(image, f"udp:{port}") as recording:
        listening(port)
        for _ in range(30):
            send(port, [b"z" * 1400])
            time.sleep(0.1)
        assert answer("ls", image)["entries"][0]["bytes"] >= 4096
        recording.send_signal(signal.SIGINT)
        assert finish(recording)[0]["bytes"] == 30 * 1400


def test_groups_that_cannot_be_joined(image):
    said = spate("record", image, "clip", "--from", "udp:127.0.0.1:5000?if=lo", status=USAGE).stderr
    assert "for multicast addresses" in said
    said = spate("record", image, "clip", "--from", "udp:239.1.1.1:5000?if=none0", status=FAILED).stderr
    assert "there is no interface none0" in said


@pytest.mark.parametrize("source", ["udp:", "udp:0", "udp:65536", "udp:abc", "udp:localhost:5000", "udp:[::1]", "udp:[::1:5000",
                                    "udp::5000", "udp:1.2.3:5000", "udp:5000x", "udp:239.1.1.1:5000?if=", "udp:239.1.1.1:5000?port=1",
                                    "udp:239.1.1.1:5000?source=abc", "udp:239.1.1.1:5000?source=::1", "udp://239.1.1.1",
                                    "udp:[239.1.1.1]:5000"])
def test_invalid_addresses(image, source):
    assert "is not udp:PORT" in spate("record", image, "clip", "--from", source, status=USAGE).stderr


def test_a_port_in_use(image):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("0.0.0.0", 0))
        said = spate("record", image, "clip", "--from", f"udp:{other.getsockname()[1]}", status=FAILED).stderr
    assert "in use" in said and answer("ls", image)["entries"] == []
