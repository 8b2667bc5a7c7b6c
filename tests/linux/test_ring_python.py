# SPDX-License-Identifier: Apache-2.0
"""The Python package spate_ring and the examples for Linux. Each runs in its own process, with spate on the other side."""

import os
import re
import subprocess
import sys
import textwrap

import numpy
import pytest

from conftest import ROOT
from ring_programs import SLOT, finish, recorder, started
from ring_programs import name  # noqa: F401 (a fixture)
from spate_command import FAILED, LOST, MIB, SPATE, spate
from spate_command import image  # noqa: F401 (a fixture)
from udp_port import listening
from udp_port import port  # noqa: F401 (a fixture)

pytestmark = pytest.mark.thorough

LIBRARY = ROOT / "build" / "linux" / "lib"
EXAMPLES = ROOT / "examples" / "linux"
# The system's Python has Debian's GStreamer and GNU Radio; cffi and NumPy are those of build/venv for both.
SITE = next((ROOT / "build" / "venv" / "lib").glob("python*/site-packages"))
ENVIRONMENT = os.environ | {"LD_LIBRARY_PATH": str(LIBRARY), "PYTHONPATH": f"{ROOT / 'linux/python'}:{SITE}",
                            "XDG_CACHE_HOME": str(ROOT / "build" / "cache"), "GST_REGISTRY_FORK": "no"}


def python(*words, interpreter=sys.executable, **options):
    assert (LIBRARY / "libspate-ring.so.0").exists(), "the library is not built: make build-linux"
    return started(interpreter, *words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def script(text, name, **options):
    head = "import errno, os, sys, time\nimport numpy\nimport spate_ring\nname = sys.argv[1]\n"
    return python("-c", head + textwrap.dedent(text), name, **options)


def ended(process, status=0):
    out, error = process.communicate(timeout=60)
    assert process.returncode == status, error
    return out


def recorded(image, path="clip"):
    return numpy.frombuffer(spate("extract", image, path, "-", text=False).stdout, numpy.uint8)


# ---- the package ----


def test_arrays_are_the_slots(image, name):
    with recorder(image, name) as recording, script("""
            with spate_ring.Ring(name, slot_bytes=65536, slots=4) as ring:
                for number in range(200):
                    slot = ring.claim(timeout_s=None, dtype=numpy.uint32)
                    assert slot.flags.writeable and slot.shape == (16384,) and slot.ctypes.data % 4096 == 0
                    slot[:] = number
                    ring.publish()
                ring.claim(timeout_s=None)[:5] = 7
                ring.publish(5)
            """, name) as producing:
        ended(producing)
        assert finish(recording)[0]["files"][0]["bytes"] == 200 * SLOT + 5
    data = recorded(image)
    assert (data[:-5].view(numpy.uint32).reshape(200, -1) == numpy.arange(200, dtype=numpy.uint32)[:, None]).all()
    assert (data[-5:] == 7).all()


def test_arrays_bytes_and_frames_are_written(image, name):
    with recorder(image, name) as recording, script("""
            with spate_ring.Ring(name, slot_bytes=65536, slots=4) as ring:
                for number in range(100):
                    assert ring.write(numpy.full((77, 333), number, numpy.int16), timeout_s=None)
                assert ring.write(b"the end", timeout_s=None)
            """, name) as producing:
        ended(producing)
        finish(recording)
    data = recorded(image)
    frames = data[:-7].view(numpy.int16).reshape(100, -1)
    assert (frames == numpy.arange(100, dtype=numpy.int16)[:, None]).all() and data[-7:].tobytes() == b"the end"


def test_losses_are_counted(image, name):
    with script("""
            with spate_ring.Ring(name, slot_bytes=65536, slots=2) as ring:
                assert ring.claim() is not None
                ring.publish(4096)
                assert ring.write(bytes(65536)) and not ring.write(bytes(50000))
                assert ring.claim() is None
                ring.lost(123)
                assert (ring.lost_bytes, ring.filled, ring.released, ring.has_recorder) == (50123, 2, 0, False)
            """, name) as producing:
        ended(producing)
    with recorder(image, name) as recording:
        assert finish(recording, LOST)[0]["files"][0]["lost_bytes"] == 50123


def test_errors_are_exceptions_with_a_message(name):
    with script("""
            def refused(number, what, *words, **options):
                try:
                    what(*words, **options)
                except spate_ring.RingError as error:
                    assert error.errno == number and len(error.strerror) > 20, error
                else:
                    raise AssertionError("no exception")
            refused(errno.EINVAL, spate_ring.Ring, "a/b")
            refused(errno.EINVAL, spate_ring.Ring, name, slot_bytes=65537)
            refused(errno.EINVAL, spate_ring.Ring, name, slots=3)
            ring = spate_ring.Ring(name, slot_bytes=65536, slots=2)
            refused(errno.EBUSY, spate_ring.Ring, name)
            refused(errno.EINVAL, ring.publish)
            refused(errno.EMSGSIZE, ring.write, bytes(200000))
            slot = ring.claim()
            refused(errno.EINVAL, ring.publish, 65537)
            ring.end()
            refused(errno.EPIPE, ring.publish)
            refused(errno.EPIPE, ring.claim)
            ring.close()
            refused(errno.EPIPE, ring.claim)
            slot[:] = 1  # the memory stays mapped as long as the array exists
            try:
                spate_ring.Ring("x").write("text")
            except TypeError:
                pass
            """, name) as producing:
        ended(producing)


def test_an_exception_is_not_the_end(image, name):
    with recorder(image, name) as recording, script("""
            with spate_ring.Ring(name, slot_bytes=65536, slots=4) as ring:
                ring.write(bytes(65536), timeout_s=None)
                raise RuntimeError("the camera is gone")
            """, name) as producing:
        ended(producing, 1)
        assert "went away without ending the ring" in finish(recording, FAILED)[1]
    assert len(recorded(image)) == SLOT


def test_declarations_are_the_header():
    """Compared word by word, because nothing compares them when the package loads the library at run time."""
    package = (ROOT / "linux/python/spate_ring/__init__.py").read_text()
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "linux/ring/include/spate/ring.h").read_text(), flags=re.S)
    declarations = re.search(r'DECLARATIONS = """(.*?)"""', package, re.S)[1]
    words = " ".join(header.split())
    for declaration in re.split(r";\n(?! )", declarations.strip()):
        assert " ".join(declaration.split()).removesuffix(";") in words, declaration


# ---- the examples ----


def test_the_numpy_camera(image, name):
    """The camera cannot wait. It makes fewer frames than the ring has slots, so that a slow machine loses none."""
    with recorder(image, name) as recording, python(EXAMPLES / "numpy_camera.py", name, "30") as producing:
        ended(producing)
        assert finish(recording)[0]["files"][0]["bytes"] == 30 * 2 * MIB
    frames = recorded(image).view(numpy.uint16).reshape(30, 1024, 1024)
    assert all(frame[3, 5] == 8 + number for number, frame in enumerate(frames))


def test_the_camera_in_c(image, name):
    with recorder(image, name) as recording, started(SPATE.parent / "ring_camera", name, "20") as producing:
        assert producing.wait(60) == 0
        finish(recording)
    frames = recorded(image).view(numpy.uint16).reshape(20, MIB)
    expected = numpy.arange(MIB, dtype=numpy.uint32) * 7
    assert all((frame == (expected + number).astype(numpy.uint16)).all() for number, frame in enumerate(frames))


def test_the_udp_camera(image, port):
    words = [SPATE, "record", image, "clip", "--from", f"udp:{port}", "--size", "20MiB", "--output-format=json"]
    with started(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recording:
        listening(port)
        with python(EXAMPLES / "udp_camera.py", "127.0.0.1", str(port), "20") as producing:
            ended(producing)
        finish(recording)
    assert (recorded(image).reshape(20, MIB) == numpy.arange(20, dtype=numpy.uint8)[:, None]).all()


def test_the_gstreamer_camera(image, name):
    pipeline = "videotestsrc num-buffers=30 pattern=ball ! video/x-raw,format=GRAY8,width=1280,height=720"
    with recorder(image, name) as recording:
        with python(EXAMPLES / "gstreamer_camera.py", name, pipeline, interpreter="python3") as producing:
            ended(producing)
        assert finish(recording)[0]["files"][0]["bytes"] == 30 * 1280 * 720
    frames = recorded(image).reshape(30, 720, 1280)
    assert frames.any() and all((a != b).any() for a, b in zip(frames, frames[1:]))


@pytest.mark.skipif("SPATE_GNURADIO" not in os.environ, reason="GNU Radio is large: make example-gnuradio")
def test_the_gnuradio_receiver(image, name, tmp_path):
    """Uses Debian's NumPy, for which its GNU Radio was built."""
    samples = 3_000_000
    with recorder(image, name) as recording:
        environment = ENVIRONMENT | {"PYTHONPATH": str(ROOT / "linux/python"), "HOME": str(tmp_path)}
        with started("python3", EXAMPLES / "gnuradio_receiver.py", name, samples, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, env=environment) as producing:
            ended(producing)
        assert finish(recording)[0]["files"][0]["bytes"] == 8 * samples
    tone = recorded(image).view(numpy.complex64)
    # 1 MHz at 10 million samples a second: each sample is the one before, rotated by a tenth of a turn. So a missing sample
    # is noticed.
    assert numpy.abs(tone[1:] - tone[:-1] * numpy.exp(0.2j * numpy.pi)).max() < 0.001
