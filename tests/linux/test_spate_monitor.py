# SPDX-License-Identifier: Apache-2.0
"""A recording is seen while it runs: spate record --monitor and spate monitor. The numbers are judged by Prometheus' own parser,
the page by a browser. No client makes a recording lose anything."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import tty

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ring_programs import started
from spate_command import DONE, FAILED, SPATE, USAGE, answer, spate
from spate_command import image  # noqa: F401 (a fixture)

LINE = ("spate1 stream=%d hz=1000000 ticks=%d pushed=%d completed=70 durable=60 lost=%d overrun=0 unknown=0 requests=7 checkpoints=1 "
        "gap_ticks_max=5 left=1000 part=1 error=0 pieces=64 held=16 held_max=32 in=10 out=9 level=1 left_ms=2500 "
        "latency_ticks_max=900 latency_ticks=3000 latency=0,0,0,1,2,4,0,0,0,0,0,0,0,0,0,0,0,0,0,0 celsius=-3 warning=80 "
        "critical=85 heat=0\n")


@contextlib.contextmanager
def serving(*words, **options):
    """Runs a command that serves a page. Gives the process and the port."""
    with started(SPATE, *words, stderr=subprocess.PIPE, **options) as process:
        said = ""
        while not (found := re.search(r"http://\S+:(\d+)/", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield process, int(found[1])


@contextlib.contextmanager
def recording(image, *words, rate="20MB/s", seconds=6, statuses=(DONE,)):
    """Gives the port. The recording must end by itself, or is stopped at the end if `seconds` is None. It has lost nothing."""
    limit = () if seconds is None else ("--for", f"{seconds}s")
    with serving("record", image, "run 1.raw", "--from", "synthetic", "--rate", rate, *limit, "--monitor", "0",
                 "--output-format=json", *words, stdout=subprocess.PIPE) as (process, port):
        yield port
        if seconds is None:
            process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        assert process.returncode in statuses, error
        file = json.loads(out)["files"][0]
        assert file["lost_bytes"] == 0 and file["bytes"] > 0
        assert seconds is None or abs(file["bytes"] / (float(rate[:-4]) * 1e6 * seconds) - 1) < 0.05


def get(port, path="/", method="GET", host=None, address="127.0.0.1"):
    connection = http.client.HTTPConnection(address, port, timeout=10)
    with contextlib.closing(connection):
        connection.request(method, path, headers={} if host is None else {"Host": host})
        got = connection.getresponse()
        return got.status, dict(got.getheaders()), got.read().decode()


def metrics(port):
    """{sample: {labels: value}} of all families, each of which has a type and a help text."""
    status, headers, text = get(port, "/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.name.startswith("spate_") and family.documentation and family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            assert sample.labels["stream"] if sample.labels else True
            key = tuple(sorted(sample.labels.items()))
            assert key not in found.setdefault(sample.name, {})
            found[sample.name][key] = sample.value
    return found


def value(found, name, **labels):
    (only,) = (number for key, number in found[f"spate_{name}"].items() if labels.items() <= dict(key).items())
    return only


def seen(port, name):
    """Waits for the first report."""
    end = time.monotonic() + 10
    while name not in (found := metrics(port)):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def test_prometheus_reads_a_recording(image):
    with recording(image) as port:
        first = seen(port, "spate_pushed_bytes_total")
        time.sleep(2)
        second = metrics(port)
        rate = (value(second, "pushed_bytes_total") - value(first, "pushed_bytes_total")) / (
            value(second, "clock_seconds") - value(first, "clock_seconds"))
        assert 15e6 < rate < 25e6
        assert value(second, "pushed_bytes_total", file="run 1.raw", stream="0") >= value(second, "durable_bytes_total") > 0
        assert value(second, "latency_seconds_count") == value(second, "latency_seconds_bucket", le="+Inf") > 20
        buckets = list(second["spate_latency_seconds_bucket"].values())
        assert buckets == sorted(buckets) and len(buckets) == 20
        assert 0 < value(second, "latency_seconds_sum") <= buckets[-1] * value(second, "latency_seconds_max")
        for zero in ("lost_bytes_total", "overrun_bytes_total", "lost_datagrams_total", "gaps_total"):
            assert value(second, zero) == 0


def test_the_page_asks_no_other_machine(image):
    with recording(image) as port:
        for path in ("/", "/page.css", "/page.js", "/?x=1"):
            status, headers, text = get(port, path)
            assert status == 200 and len(text) > 1000
            assert "default-src 'none'" in headers["Content-Security-Policy"] and "unsafe" not in headers["Content-Security-Policy"]
            assert "//" not in re.sub(r"^\s*//.*$|, // .*$|; // .*$|^// .*$", "", text, flags=re.M)
        status, headers, text = get(port, "/", method="HEAD")
        assert status == 200 and text == "" and int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize(("method", "path", "host", "status"), [
    ("POST", "/", None, 405), ("DELETE", "/metrics", None, 405), ("GET", "/../../etc/passwd", None, 404),
    ("GET", "/%2e%2e/etc/passwd", None, 404), ("GET", "//etc/passwd", None, 404), ("GET", "/" + 60 * "a", None, 404),
    ("GET", "/" + 70 * "a", None, 400), ("GET", "/metrics", "evil.example", 403), ("GET", "/metrics", "127.0.0.1.evil.example", 403),
    ("GET", "/metrics", "localhost.evil.example:80", 403), ("GET", "/metrics", "", 403), ("GET", "/metrics", "localhost:1", 200),
    ("GET", "/metrics", "127.0.0.1", 200), ("GET", "/metrics", "[::1]:9000", 200)])
def test_requests(monitor, method, path, host, status):
    answer = get(monitor.port, path, method, host)
    assert answer[0] == status, answer
    assert "root:" not in answer[2]


@pytest.mark.parametrize("bytes_", [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n",
                                    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", b"\0\0\n\n", bytes(range(256)) + b"\n\n",
                                    b"GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\n\n", b"GET / HTTP/1.1\n\n"])
def test_what_is_no_request_is_refused(monitor, bytes_):
    with socket.create_connection(("127.0.0.1", monitor.port), timeout=10) as client:
        client.sendall(bytes_)
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert get(monitor.port)[0] == 200


class Monitor:
    def __init__(self, process, port):
        self.process, self.port = process, port

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()


@pytest.fixture
def monitor():
    with serving("monitor", "-", "--at", "0", stdin=subprocess.PIPE) as (process, port):
        yield Monitor(process, port)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == DONE


def wait_for(port, condition):
    end = time.monotonic() + 10
    while not condition(found := metrics(port)):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def test_lines_of_a_board(monitor):
    monitor.write(LINE % (0, 1_000_000, 100, 0))
    monitor.write(LINE % (3, 2_000_000, 200, 5))
    found = wait_for(monitor.port, lambda found: len(found.get("spate_pushed_bytes_total", ())) == 2)
    assert value(found, "pushed_bytes_total", stream="0") == 100 and value(found, "pushed_bytes_total", stream="3") == 200
    assert value(found, "clock_seconds", stream="3") == 2 and value(found, "ring_left_seconds", stream="0") == 2.5
    assert value(found, "drive_celsius", stream="0") == -3 and value(found, "latency_seconds_sum", stream="0") == 0.003
    assert value(found, "latency_seconds_bucket", stream="0", le="0.000244140625") == 3
    assert value(found, "loss_age_seconds", stream="3") < 10  # only this stream has lost something
    time.sleep(1)
    assert value(metrics(monitor.port), "report_age_seconds", stream="0") > 1  # a board that fell silent


@pytest.mark.parametrize("line", ["hello", "spate2 stream=0", "spate1", "spate1 stream=8 hz=1", "spate1 stream=-1 hz=1", "spate1 stream=0 hz=0",
                                  "spate1 stream=0", "spate1 stream=0 hz=1 pushed=12x", "spate1 stream=0 hz=1 pushed=1.5",
                                  "spate1 stream=0 hz=1 pushed=", "spate1 stream=0 hz=1 latency=1,2", "spate1 stream=0 hz=1 pushed=nan",
                                  "spate1 stream=0 hz=1 latency=" + ",".join(21 * "1"), "spate1 stream=0 hz=1 puspate1 stream=0 hz=1",
                                  "spate1 stream=0 hz=1 name=%4", "spate1 stream=0 hz=1 " + 5000 * "x", "spate1 stream=0 hz=1 \0"])
def test_lines_that_are_no_report_are_counted(monitor, line):
    monitor.write(f"{line}\n\n\r\n".replace("\r", ""))
    found = wait_for(monitor.port, lambda found: value(found, "monitor_skipped_lines_total") == 1)
    assert "spate_pushed_bytes_total" not in found
    monitor.write("spate1 stream=0 hz=1 pushed=7 later=1 name=a%22%5C%20%7D\r\n")
    found = wait_for(monitor.port, lambda found: "spate_pushed_bytes_total" in found)
    assert value(found, "pushed_bytes_total", file='a"\\ }') == 7


def test_datagrams_of_a_board():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind(("127.0.0.1", 0))
        port = sender.getsockname()[1] ^ 1
        with serving("monitor", f"udp:{port}", "--at", "0") as (process, page):
            end = time.monotonic() + 10
            while "spate_pushed_bytes_total" not in metrics(page):
                assert time.monotonic() < end
                sender.sendto((LINE % (0, 1, 123, 0)).rstrip().encode(), ("127.0.0.1", port))
            assert value(metrics(page), "pushed_bytes_total") == 123
            process.terminate()
            assert process.wait(10) == DONE


def lines_show(monitor, port, write):
    write((LINE % (0, 1, 123, 0)).encode())
    assert value(wait_for(port, lambda found: "spate_pushed_bytes_total" in found), "pushed_bytes_total") == 123
    monitor.terminate()
    assert monitor.wait(10) == DONE


def test_lines_from_a_fifo(tmp_path):
    """The monitor stays when a writer ends, and shows what the next one writes."""
    os.mkfifo(tmp_path / "fifo")
    with serving("monitor", tmp_path / "fifo", "--at", "0") as (process, port):
        (tmp_path / "fifo").write_bytes(b"no report\n")
        wait_for(port, lambda found: value(found, "monitor_skipped_lines_total") == 1)
        lines_show(process, port, (tmp_path / "fifo").write_bytes)


def test_lines_from_a_serial_device():
    """A pseudo-terminal is a terminal to the monitor, as a serial device is."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)  # as stty would
    with serving("monitor", os.ttyname(theirs), "--at", "0") as (process, port):
        lines_show(process, port, lambda data: os.write(ours, data))
    os.close(ours)
    os.close(theirs)


def test_hostile_clients_cost_a_recording_nothing(image):
    with recording(image, seconds=10) as port, contextlib.ExitStack() as stack:
        seen(port, "spate_pushed_bytes_total")
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)) for _ in range(100)]
        large = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        large.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + 20000 * b"y")
        assert large.recv(4096).startswith(b"HTTP/1.1 431 ")
        for _ in range(20):  # slowly, byte by byte, and without an end
            for client in clients:
                with contextlib.suppress(OSError):
                    client.send(b"G")
            assert get(port, "/metrics")[0] == 200
            time.sleep(0.1)
        deaf = stack.enter_context(socket.socket())  # takes no answer
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        deaf.connect(("127.0.0.1", port))
        deaf.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert get(port, "/metrics")[0] == 200


def test_a_silent_client_is_closed(monitor):
    with socket.create_connection(("127.0.0.1", monitor.port), timeout=20) as client:
        begun = time.monotonic()
        assert client.recv(1) == b""
        assert 3 < time.monotonic() - begun < 8


def test_a_port_in_use_is_said_before_anything_is_recorded(image):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = spate("record", image, "clip", "--from", "synthetic", "--for", "1s", "--monitor", str(port), status=FAILED).stderr
        assert "Another program uses this port" in said
    assert answer("ls", image)["entries"] == []


@pytest.mark.parametrize("address", ["", "x", "70000", "1.2.3:9", "localhost", "example.org:80", "[::1]", "[x]:1", "::1", "-1", "80x", ":80x"])
def test_wrong_addresses(image, address):
    spate("monitor", "-", "--at", address, status=USAGE)
    spate("record", image, "clip", "--from", "synthetic", "--monitor", address, status=USAGE)


@pytest.mark.parametrize(("address", "bound"), [("0", "127.0.0.1"), ("127.0.0.1:0", "127.0.0.1"), ("localhost:0", "127.0.0.1"),
                                                ("127.0.0.2:0", "127.0.0.2"), ("0.0.0.0:0", "0.0.0.0")])
def test_a_port_alone_is_on_loopback(address, bound):
    with serving("monitor", "-", "--at", address, stdin=subprocess.PIPE) as (process, port):
        host = "evil.example" if bound == "0.0.0.0" else None  # who names an address has to name his machine too
        assert get(port, host=host, address="127.0.0.1" if bound == "0.0.0.0" else bound)[0] == 200
        assert f":{port:04X}" in open("/proc/net/tcp").read()
        little = "".join(f"{int(byte):02X}" for byte in reversed(bound.split(".")))
        assert f"{little}:{port:04X}" in open("/proc/net/tcp").read()
        process.terminate()
        assert process.wait(10) == DONE


def test_a_page_on_loopback_of_ipv6():
    with serving("monitor", "-", "--at", "[::1]:0", stdin=subprocess.PIPE) as (process, port):
        assert get(port, address="::1")[0] == 200 and get(port, address="::1", host="evil.example")[0] == 403
        process.terminate()
        assert process.wait(10) == DONE


CHROMIUM = shutil.which("chromium")


class Page:
    """The page after some seconds, as a browser shows it."""

    def __init__(self, port, profile):
        # Chromium keeps its crash reports in the home, whatever --user-data-dir says.
        self.html = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                                    "--virtual-time-budget=3000", "--dump-dom", f"http://127.0.0.1:{port}/"],
                                   check=True, capture_output=True, text=True, timeout=60,
                                   env={"PATH": os.environ["PATH"], "HOME": str(profile)}).stdout

    def text(self, name):
        return re.sub("<[^>]*>", "", re.search(rf'id="{name}"[^>]*>(.*?)</(?:span|p|b|tbody|small)>', self.html, re.S)[1])


in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: setup/install browser")


@pytest.mark.thorough
@in_a_browser
def test_a_browser_shows_the_numbers(image, tmp_path):
    with recording(image, rate="4MB/s", seconds=None) as port: # a browser on a busy machine needs a minute
        wait_for(port, lambda found: sum(found.get("spate_pushed_bytes_total", {}).values()) > 3e6)
        page = Page(port, tmp_path / "profile")
        text = page.text
        assert text("status") == "recording" and "run 1.raw" in text("files")
        assert re.fullmatch(r"[0-9.]+ MB", text("pushed")) and 2 < float(text("pushed").split()[0]) < 500
        assert re.fullmatch(r"[0-9.]+ [kM]?B/s", text("rate-in")) and re.fullmatch(r"\d+ %", text("ring"))
        assert text("lost") == "0 B" and text("loss-text") == "nothing" and text("p99") != "–"
        assert len(re.findall("<li[ >]", page.html)) == 20 and re.search(r'id="line"[^>]* d="M', page.html)


@pytest.mark.thorough
@in_a_browser
def test_a_browser_shows_the_temperature_and_the_file_that_ends_first(monitor, tmp_path):
    report = LINE % (0, 1_000_000, 100, 0)
    monitor.write(report)  # 1000 bytes of room, 10 bytes a second
    monitor.write(report.replace("stream=0", "stream=1").replace("left=1000", "left=600").replace(" in=10 ", " in=100 "))
    wait_for(monitor.port, lambda found: len(found.get("spate_pushed_bytes_total", ())) == 2)
    text = Page(monitor.port, tmp_path / "profile").text
    assert text("time-left") == "6.0 s" and text("room") == "room 1.60 kB"
    assert text("celsius") == "-3 °C" and text("forecast") == "limit 80 °C, not rising"
