# SPDX-License-Identifier: Apache-2.0
"""What the exFAT tests share: the library's volume tool, and the programs of others that judge it."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time

class Failed(Exception):
    """The volume tool answered with an error; str() is its name."""


class Volume:
    """An image file as the library sees it."""

    def __init__(self, tool, path, block_bytes=512, window_bytes=None):
        self.tool = str(tool)
        self.path = str(path)
        self.block_bytes = block_bytes
        self.options = ["-b", str(block_bytes)] + (["-w", str(window_bytes)] if window_bytes else [])

    def run(self, *words, data=None):
        command = [self.tool, self.path, *self.options, *[str(w) for w in words]]
        done = subprocess.run(command, input=data, capture_output=True, timeout=120)
        if done.returncode == 1:
            raise Failed(done.stderr.decode().split(": ")[1])
        assert done.returncode == 0, done.stderr.decode()
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
    """fsck.exfat finds nothing, in exit status and in words."""
    with loop_device(path, block_bytes) if block_bytes != 512 else contextlib.nullcontext(str(path)) as device:
        done = subprocess.run(["fsck.exfat", "-n", "-v", device], capture_output=True, text=True, timeout=120)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert "clean" in text and "corrupt" not in text.lower() and "error" not in text.lower(), text
    return text


@contextlib.contextmanager
def loop_device(path, block_bytes=512):
    command = ["losetup", "--find", "--show", "--sector-size", str(block_bytes), str(path)]
    device = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def why_no_fuse():
    """The reason why exfat-fuse cannot be used here; None if it can."""
    if shutil.which("mount.exfat-fuse") is None:
        return "mount.exfat-fuse is not installed"
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    with tempfile.NamedTemporaryFile() as image:
        image.truncate(8 << 20)
        try:
            with loop_device(image.name):
                return None
        except subprocess.CalledProcessError as error:
            return f"no loop device: {error.stderr.strip()}"


@contextlib.contextmanager
def fuse_mount(path, folder, block_bytes=512, read_only=False):
    """exfat-fuse's view of an image, as a folder."""
    folder.mkdir(exist_ok=True)
    with loop_device(path, block_bytes) as device:
        options = ["-o", "ro"] if read_only else []
        subprocess.run(["mount.exfat-fuse", *options, device, str(folder)], check=True, capture_output=True)
        try:
            yield folder
        finally:
            subprocess.run(["sync"], check=True)
            for _ in range(50):
                if subprocess.run(["umount", str(folder)], capture_output=True).returncode == 0:
                    break
                time.sleep(0.1)
            # The daemon writes its last blocks after umount has returned.
            for _ in range(100):
                if subprocess.run(["fuser", device], capture_output=True).returncode != 0:
                    break
                time.sleep(0.05)
