# SPDX-License-Identifier: Apache-2.0
"""
Records through the gateware. The Verilated core brings up QEMU's NVMe drive without a processor, and streams two clips into
extents that the C library has armed. Then independent tools check the drive.

Exit status 0: all checks passed. Otherwise the last line names the step that failed.
"""

import argparse
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

import demo
import pattern
import program
import volume

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build" / "gateware" / "tests" / "rtl" / "demo" / "rtl_demo"
CLIP_MIB = 16
IMAGE_BYTES = 512 << 20


def expected_clips(clip_mib: int) -> dict[str, tuple[str, int]]:
    """The clips that the sensor at the core's write stream sends: name, SHA-256, length. The second ends inside a block."""
    first = clip_mib << 20
    second = first // 2 + demo.ODD_TAIL_BYTES
    return {
        "CLIPS/CLIP_A.RAW": (pattern.sha256(1, first), first),
        "CLIPS/CLIP_B.RAW": (pattern.sha256(2, second), second),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--clip-mib", type=int, default=CLIP_MIB, help="size of the first clip; the second is half as large")
    parser.add_argument("--keep", action="store_true", help="keep the drive's image in build/rtl-demo/")
    options = parser.parse_args()

    output = ROOT / "build" / "rtl-demo"
    output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    expected = expected_clips(options.clip_mib)
    demo.check_space(output, sum(length for _, length in expected.values()), 2)
    with tempfile.TemporaryDirectory(dir=output) as name:
        image = pathlib.Path(name) / "drive.img"
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        lengths = [str(length) for _, length in expected.values()]
        words = [str(options.program), str(image), *lengths]
        with program.process(words) as process:
            process.wait()
        if process.returncode != 0:
            why = f"{shlex.join(words)}: {program.ending(process.returncode)}; the lines above say why"
            demo.fail("recording through the core", why)
        try:
            demo.judge(image, pathlib.Path(name), expected, None)
        except volume.Refused as refused:
            demo.fail("checking on the host", str(refused))
        if options.keep:
            shutil.move(image, output / "drive.img")
            demo.say("host   the drive is kept in build/rtl-demo/drive.img")
    demo.say("note   QEMU checked the core's submission entries, PRP lists and doorbells, and the core checked its phases.")
    demo.say("       Nothing here checks the size of the drive's reads, what they overtake, or timing: the other benches do.")
    demo.say(f"demo   passed in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
