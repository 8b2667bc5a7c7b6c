# SPDX-License-Identifier: Apache-2.0
"""Reads a recorded image with independent tools: fdisk, fsck.exfat, The Sleuth Kit."""

import hashlib
import os
import pathlib
import re
import subprocess
import tempfile

import program

BASIC_DATA = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"


class Refused(Exception):
    """A tool rejected the image. The message has the tool's own words."""


def _run(*words) -> subprocess.CompletedProcess:
    """Runs a tool, with its output in English."""
    try:
        return program.run(*words, env=os.environ | {"LC_ALL": "C"})
    except program.Failed as failed:
        raise Refused(str(failed)) from failed


def partition_offset_bytes(image: pathlib.Path, sector_bytes: int = 512) -> tuple[int, int]:
    """Start and size of the only Basic Data partition, according to fdisk."""
    answer = _run("fdisk", f"--sector-size={sector_bytes}", "-l", "-o", "Start,Sectors,Type-UUID", image)
    rows = re.findall(r"^ *(\d+) +(\d+) +(\S+)$", answer.stdout, re.M)
    if "Disklabel type: gpt" not in answer.stdout or len(rows) != 1 or rows[0][2] != BASIC_DATA:
        raise Refused(f"fdisk sees no GPT with one Basic Data partition: {answer.stdout}{answer.stderr}")
    if answer.stderr:
        raise Refused(f"fdisk complains: {answer.stderr}")
    return int(rows[0][0]) * sector_bytes, int(rows[0][1]) * sector_bytes


def copy_sparse(source: pathlib.Path, offset_bytes: int, length_bytes: int, target: pathlib.Path) -> None:
    """Copies the partition to a separate file. Holes stay holes."""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        writer.truncate(length_bytes)
        at, end = offset_bytes, offset_bytes + length_bytes
        while at < end:
            try:
                at = os.lseek(reader.fileno(), at, os.SEEK_DATA)
            except OSError:  # no data after this point
                break
            hole = min(os.lseek(reader.fileno(), at, os.SEEK_HOLE), end)
            while at < hole:
                piece = os.pread(reader.fileno(), min(hole - at, 4 << 20), at)
                os.pwrite(writer.fileno(), piece, at - offset_bytes)
                at += len(piece)


def fsck(volume: pathlib.Path) -> str:
    """fsck.exfat's result line. Refused unless the volume is clean."""
    answer = _run("fsck.exfat", "-n", volume)
    text = answer.stdout + answer.stderr
    if "clean" not in text:
        raise Refused(f"fsck.exfat -n does not call the volume clean: {text}")
    return text.strip().splitlines()[-1].rpartition(f"{volume.name}: ")[2]


def files(volume: pathlib.Path) -> dict[str, str]:
    """All files on the volume with their addresses for icat, as The Sleuth Kit lists them."""
    found = {}
    for line in _run("fls", "-f", "exfat", "-r", "-p", "-u", volume).stdout.splitlines():
        if match := re.fullmatch(r"r/r (\S+):\t(.*)", line):
            found[match[2]] = match[1]
    return found


def extract(volume: pathlib.Path, address: str, target: pathlib.Path | None = None) -> tuple[str, int]:
    """SHA-256 and length of a file read by icat. Also writes it to `target`, if given."""
    command = ["icat", "-f", "exfat", str(volume), address]
    digest, length_bytes = hashlib.sha256(), 0
    with open(target or os.devnull, "wb") as writer, tempfile.TemporaryFile() as errors:
        with program.process(command, stdout=subprocess.PIPE, stderr=errors) as process:
            while piece := process.stdout.read(1 << 20):
                digest.update(piece)
                writer.write(piece)
                length_bytes += len(piece)
            process.wait()
        if process.returncode != 0:
            errors.seek(0)
            raise Refused(program.report(command, program.ending(process.returncode), errors.read()))
    return digest.hexdigest(), length_bytes
