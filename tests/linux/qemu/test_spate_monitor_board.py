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


def test_a_board_is_seen_over_its_uart(tmp_path):
    image = tmp_path / "drive.img"
    with open(image, "wb") as file:
        file.truncate(256 * MIB)
    arguments = {"streams": str(STREAMS), "stream_mib": str(STREAM_MIB), "report_ms": "100"}
    words = qemu.command("qemu-virt", "streams", qemu.Drive.image(image), arguments)
    with program.process(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as machine, \
         started(SPATE, "monitor", "-", "--at", "0", stdin=machine.stdout, stderr=subprocess.PIPE) as monitor:
        port = int(re.search(r":(\d+)/", monitor.stderr.readline())[1])
        durable, end = set(), time.monotonic() + 120
        while any((found := metrics(port)).get(("spate_durable_bytes_total", str(stream), None)) != STREAM_MIB * MIB
                  for stream in range(STREAMS)):
            durable.add(found.get(("spate_durable_bytes_total", "0", None), 0))
            assert time.monotonic() < end, found
            time.sleep(0.05)
        assert machine.wait(60) == 0
        assert any(0 < count < STREAM_MIB * MIB for count in durable)  # it was seen while it ran, and not only at the end
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
