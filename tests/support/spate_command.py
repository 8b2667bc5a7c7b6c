# SPDX-License-Identifier: Apache-2.0
"""The command spate for tests in Python: how to run it, an image to run it on, and programs of others that check the image."""

import hashlib
import json
import os

import program
import pytest
import volume as judge

SPATE = program.BUILD / os.environ.get("SPATE_LINUX_BUILD", "linux-asan") / "bin" / "spate"
MANUAL_PAGE = SPATE.parent.parent / "command" / "spate.1"
DONE, FAILED, USAGE, REFUSED, LOST, FOUND = range(6)  # exit statuses
MIB = 1 << 20


def spate(*words, status=DONE, **options):
    """Runs the command, which must end with this status."""
    return program.run(SPATE, *words, statuses=(status,), timeout_s=120, **options)


def answer(*words, **options):
    """The answer of a command as a program reads it."""
    return json.loads(spate(*words, "--output-format=json", **options).stdout)


def digest(path):
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@pytest.fixture
def image(tmp_path):
    """An image file with an empty volume."""
    path = tmp_path / "rec.img"
    spate("format", path, "--size", "512MiB", "--label", "FLIGHT")
    return path


def judged(image, folder):
    """Checks the image with fdisk and fsck.exfat. Returns the files that The Sleuth Kit finds: {path: (bytes, SHA-256)}."""
    start, length = judge.partition_offset_bytes(image)
    part = folder / "partition.img"
    judge.copy_sparse(image, start, length, part)
    judge.fsck(part)
    found = {}
    for path, address in judge.files(part).items():
        if not path.startswith("$") and path != ".spate" and not path.endswith("(Volume Label Entry)"):
            sha256, size = judge.extract(part, address)
            found[path] = (size, sha256)
    return found
