# SPDX-License-Identifier: Apache-2.0
"""Both sides of a ring for tests in Python: a recorder, how to start and to end programs, and a program that uses the library."""

import contextlib
import json
import os
import pathlib
import re
import subprocess

import pytest

from spate_command import DONE, SPATE

SHM = pathlib.Path("/dev/shm")
SLOT = 65536  # bytes
LIBRARY_USER = """#include <spate/ring.h>
int main(void) {
  struct spate_ring *ring;
  return spate_ring_create(&ring, "a/b", 65536, 2) == 22 /* EINVAL */ ? 0 : 1;
}
"""


@pytest.fixture
def name(request):
    """A ring's name for this test alone. Fails if the ring still exists after the test."""
    text = re.sub(r"\W", "-", f"{request.node.name}-{os.getpid()}")
    yield text
    left = SHM / f"spate-{text}"
    there = left.exists()
    left.unlink(missing_ok=True)
    assert not there, f"{left} was left"


@contextlib.contextmanager
def started(*words, **options):
    """Starts a program, and kills it at the end if the test has not waited for it."""
    with subprocess.Popen([str(word) for word in words], text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def recorder(image, name, *words, path="clip"):
    """spate record from this ring."""
    return started(SPATE, "record", image, path, "--from", f"ring:{name}", "--output-format=json", *words,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, status=DONE):
    """Waits for the end of a program with this status. Returns the JSON of its standard output, and its standard error."""
    out, error = process.communicate(timeout=60)
    assert process.returncode == status, error
    return json.loads(out), error
