# SPDX-License-Identifier: Apache-2.0
"""
Records on an emulated board, then checks the drive with independent tools.

Exit status 0: all checks passed. Otherwise the last line names the step that failed.
"""

import argparse
import hashlib
import pathlib
import re
import shutil
import sys
import tempfile
import time

import pattern
import program
import qemu
import volume

CLIP_MIB = 128
ODD_TAIL_BYTES = 12345
BESIDE_BYTES = 64 << 20  # tables, directories, the program's own files


def say(text: str) -> None:
    print(text, flush=True)


def fail(step: str, why: str) -> None:
    say(f"\nFAILED at {step}: {why}")
    sys.exit(1)


def sha256_of(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def name_on_volume(path: pathlib.Path) -> str:
    """The file's name, with every character replaced that a board's argument or an exFAT volume cannot hold."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", path.name).rstrip(".")
    return plain if plain else "INPUT.BIN"


def synthetic() -> dict[str, tuple[str, int]]:
    """The clips that the firmware's sensor will send: name, SHA-256, length."""
    first = CLIP_MIB << 20
    second = first + first // 2 + ODD_TAIL_BYTES
    return {
        "CLIPS/CLIP_A.RAW": (pattern.sha256(1, first), first),
        "CLIPS/CLIP_B.RAW": (pattern.sha256(2, second), second),
    }


def judge(image: pathlib.Path, folder: pathlib.Path, expected: dict[str, tuple[str, int]], given_back: pathlib.Path | None):
    """All checks on the host. volume.Refused if one fails."""
    start, length = volume.partition_offset_bytes(image)
    say(f"host   fdisk: a GPT, one Basic Data partition of {length >> 20} MiB at {start >> 20} MiB")
    part = folder / "partition.img"
    volume.copy_sparse(image, start, length, part)
    say(f"host   fsck.exfat: {volume.fsck(part)}")
    found = volume.files(part)
    for name, (digest, length) in expected.items():
        if name not in found:
            raise volume.Refused(f"The Sleuth Kit does not see {name}, only {sorted(found)}")
        got, got_length = volume.extract(part, found[name], given_back)
        if (got, got_length) != (digest, length):
            raise volume.Refused(f"{name}: {got_length} bytes {got}, but the generator sent {length} bytes {digest}")
        say(f"host   icat: {name}, {length} bytes, SHA-256 {digest[:16]}... matches the generator")


def check_space(folder: pathlib.Path, recorded_bytes: int, copies: int) -> None:
    """Ends the command with a sentence unless the disk has room for `copies` times the recorded bytes."""
    try:
        program.need_space(folder, recorded_bytes * copies + BESIDE_BYTES, "this demonstration")
    except program.NoSpace as full:
        fail("checking free disk space", str(full))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default="qemu-virt", choices=list(qemu.BOARDS))
    parser.add_argument("--input", type=pathlib.Path, help="record this file instead of the synthetic sensor's clips")
    parser.add_argument("--keep", action="store_true", help="keep the drive's image in build/demo/")
    options = parser.parse_args()

    output = qemu.BUILD / "demo"
    output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=output) as name:
        folder = pathlib.Path(name)
        arguments: dict[str, str] = {"clip_mib": str(CLIP_MIB)}
        given_back = None
        image_bytes = 2 << 30
        if options.input is not None:
            if not options.input.is_file() or options.input.stat().st_size == 0:
                fail("opening the input", f"{options.input} is not a file, or is empty")
            size = options.input.stat().st_size
            target = name_on_volume(options.input)
            arguments = {"input": "input", "name": target}
            (folder / "input").symlink_to(options.input.resolve())
            image_bytes = max(image_bytes, size + size // 8 + (256 << 20))
            expected = {target: (sha256_of(options.input), size)}
            given_back = output / target
        else:
            expected = synthetic()
        # The drive, its partition as a separate file, and the recorded file that is copied back.
        check_space(output, sum(length for _, length in expected.values()), 2 if given_back is None else 3)
        image = folder / "drive.img"
        with open(image, "wb") as file:
            file.truncate(image_bytes)

        say(f"demo   {options.board}, a drive of {image_bytes >> 20} MiB, sparse")
        result = qemu.run(
            options.board, "demo", qemu.Drive.image(image), arguments, timeout_s=3600, echo=True, cwd=folder
        )
        if result.timed_out or result.status != 0:
            fail("running the firmware", result.report())
        try:
            judge(image, folder, expected, given_back)
        except volume.Refused as refused:
            fail("checking on the host", str(refused))
        if options.keep:
            kept = output / f"{options.board}.img"
            shutil.move(image, kept)
            say(f"host   the drive is kept in {kept.relative_to(qemu.ROOT)}")
        if given_back is not None:
            say(f"host   the recorded file is in {given_back.relative_to(qemu.ROOT)}")
    say(f"demo   passed in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
