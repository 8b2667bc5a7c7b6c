# SPDX-License-Identifier: Apache-2.0
"""spate monitor shows the recording of a board, whose firmware writes the lines of spate_stream_report() on its UART between
everything else that it says."""

import contextlib
import http.client
import re
import signal
import subprocess
import time

import program
import qemu
from prometheus_client.parser import text_string_to_metric_families

from ring_programs import started
from spate_command import DONE, SPATE

MIB = 1 << 20
STREAMS, STREAM_MIB = 3, 24


def metrics(port):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    return {(sample.name, sample.labels.get("stream"), sample.labels.get("le")): sample.value
            for family in text_string_to_metric_families(text) for sample in family.samples}


def shown(port, wanted):
    """The metrics, as soon as they contain `wanted`."""
    end = time.monotonic() + 60
    while not wanted.items() <= (found := metrics(port)).items():
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def test_a_board_is_seen_over_its_uart(tmp_path):
    image = tmp_path / "drive.img"
    with open(image, "wb") as file:
        file.truncate(256 * MIB)
    arguments = {"streams": str(STREAMS), "stream_mib": str(STREAM_MIB), "report_ms": "10"}
    words = qemu.command("qemu-virt", "streams", qemu.Drive.image(image), arguments)
    durable = ("spate_durable_bytes_total", "0", None)
    with program.process(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as machine, \
         started(SPATE, "monitor", "-", "--at", "0", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as monitor:
        port = int(re.search(r":(\d+)/", monitor.stderr.readline())[1])
        on_the_way = None
        for line in machine.stdout:  # a line a time, so that what the page shows in the middle does not hang on who is faster
            monitor.stdin.write(line)
            monitor.stdin.flush()
            count = re.search(r"\bstream=0 .*\bdurable=(\d+)", line)
            if on_the_way is None and count and 0 < int(count[1]) < STREAM_MIB * MIB:
                on_the_way = int(count[1])
                shown(port, {durable: on_the_way})
        assert machine.wait(60) == 0
        assert on_the_way  # it was seen while it ran, and not only at the end
        found = shown(port, {("spate_durable_bytes_total", str(stream), None): STREAM_MIB * MIB for stream in range(STREAMS)})
        for stream in map(str, range(STREAMS)):
            assert found["spate_pushed_bytes_total", stream, None] == STREAM_MIB * MIB
            assert found["spate_lost_bytes_total", stream, None] == 0
            count = found["spate_latency_seconds_count", stream, None]
            assert count == STREAM_MIB * MIB / (128 << 10) == found["spate_latency_seconds_bucket", stream, "+Inf"]
            assert 0 < found["spate_latency_seconds_sum", stream, None] / count <= found["spate_latency_seconds_max", stream, None] < 60
            assert found["spate_part", stream, None] > 1
        assert metrics(port)["spate_monitor_skipped_lines_total", None, None] > 0  # what the firmware says besides
        monitor.send_signal(signal.SIGINT)
        assert monitor.wait(10) == DONE
