# SPDX-License-Identifier: Apache-2.0
"""Shared by the exFAT tests: the library's volume tool, and the programs of others that check its volumes."""

import contextlib
import os
import tempfile
import time

import program
import pytest


class Failed(Exception):
    """The volume tool answered with an error; str() is its name."""


class Volume:
    """An image file that the library uses."""

    def __init__(self, tool, path, block_bytes=512, window_bytes=None):
        self.tool = str(tool)
        self.path = str(path)
        self.block_bytes = block_bytes
        self.options = ["-b", str(block_bytes)] + (["-w", str(window_bytes)] if window_bytes else [])

    def run(self, *words, data=None):
        command = [self.tool, self.path, *self.options, *[str(w) for w in words]]
        done = program.run(*command, statuses=(0, 1), input=data, text=False, timeout_s=120)
        if done.returncode == 1:
            raise Failed(done.stderr.decode().split(": ")[1])
        return done.stdout

    def format(self, size, *options):
        with open(self.path, "wb") as image:
            image.truncate(size)
        self.run("format", *options)

    def put(self, path, data, checkpoints=0):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.run("put", file.name, path, checkpoints)

    def get(self, path):
        return self.run("cat", path, 0, 1 << 62)

    def tree(self):
        """{path: (is directory, bytes, valid bytes, contiguous)} without the record's file."""
        found = {}
        for line in self.run("tree").decode().splitlines():
            kind, size, valid, contiguous, path = line.split(" ", 4)
            if path != ".spate":
                found[path] = (kind == "d", int(size), int(valid), contiguous == "1")
        return found

    def info(self):
        return dict(line.split(" ", 1) for line in self.run("info").decode().splitlines())

    def batch(self, commands):
        """The answers to commands given as lists of words."""
        text = "".join("\t".join(str(w) for w in words) + "\n" for words in commands)
        return self.run("batch", data=text.encode()).decode().splitlines()


def fsck(path, block_bytes=512):
    """fsck.exfat reports a clean volume: by its exit status, and in its output."""
    with loop_device(path, block_bytes) if block_bytes != 512 else contextlib.nullcontext(str(path)) as device:
        done = program.run("fsck.exfat", "-n", "-v", device, timeout_s=120)
    text = (done.stdout + done.stderr).replace(str(device), "")  # the path has the name of the test in it
    assert "clean" in text and "corrupt" not in text.lower() and "error" not in text.lower(), text
    return text


def may_use_loop_devices():
    return os.access("/dev/loop-control", os.R_OK | os.W_OK)


@contextlib.contextmanager
def loop_device(path, block_bytes=512):
    """An image file as a device with blocks of this size, because tools assume 512-byte blocks for a file."""
    if not may_use_loop_devices():
        pytest.skip("loop devices are for root: run make test-system as root, too")
    device = program.run("losetup", "--find", "--show", "--sector-size", block_bytes, path).stdout.strip()
    try:
        yield device
    finally:
        program.run("losetup", "--detach", device)


def why_no_fuse():
    """The reason why exfat-fuse cannot be used here; None if it can."""
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    return None if may_use_loop_devices() else "loop devices are for root: run make test-system as root, too"


@contextlib.contextmanager
def fuse_mount(path, folder, block_bytes=512, read_only=False):
    """An image mounted by exfat-fuse, as a folder."""
    folder.mkdir(exist_ok=True)
    with loop_device(path, block_bytes) as device:
        options = ["-o", "ro"] if read_only else []
        program.run("mount.exfat-fuse", *options, device, folder)
        try:
            yield folder
        finally:
            program.run("sync")
            for _ in range(50):
                if program.run("umount", folder, statuses=(0, 32)).returncode == 0:  # 32: busy
                    break
                time.sleep(0.1)
            else:
                pytest.fail(f"{folder} stays busy for 5 s")
            # The daemon writes its last blocks after umount has returned.
            for _ in range(100):
                if program.run("fuser", device, statuses=(0, 1)).returncode == 1: # no process has it open
                    break
                time.sleep(0.05)
            else:
                pytest.fail(f"exfat-fuse keeps {device} open for 5 s")
