# SPDX-License-Identifier: Apache-2.0
"""Makes a boot image of a first-stage loader and a firmware, by bootgen and a template (ports/zynqmp/boot.bif)."""

import argparse
import pathlib
import shutil
import struct
import sys
import tempfile

import program

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "ports" / "zynqmp" / "boot.bif"
PT_LOAD = 1


def fail(step: str, why: str) -> None:
    print(f"\nFAILED at {step}: {why}")
    sys.exit(1)


def is_flat(elf: pathlib.Path) -> bool:
    """Whether a flat copy of an ELF file begins with its entry point, so that it can be started where it is loaded."""
    data = elf.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return False
    entry, headers = struct.unpack_from("<QQ", data, 24)
    size, count = struct.unpack_from("<HH", data, 54)
    loaded = []
    for at in range(headers, headers + size * count, size):
        kind, = struct.unpack_from("<I", data, at)
        address, file_bytes = struct.unpack_from("<QQ", data, at + 24)
        if kind == PT_LOAD and file_bytes > 0:
            loaded.append(address)
    return bool(loaded) and min(loaded) == entry


def make(template: pathlib.Path, files: dict[str, pathlib.Path], output: pathlib.Path, arch: str) -> None:
    """`files`: the names in the template that stand for files."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for place, path in files.items():
            shutil.copy(path, folder / place)
        names = ("pmufw.elf", "fsbl.elf", "logic.bit", "firmware.bin")
        lines = [line for line in template.read_text().splitlines()
                 if line.lstrip().startswith("//") or not any(place in line for place in names if place not in files)]
        (folder / "boot.bif").write_text("\n".join(lines) + "\n")
        program.run("bootgen", "-arch", arch, "-image", "boot.bif", "-o", "BOOT.BIN", "-w", cwd=folder)
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "BOOT.BIN", output)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--fsbl", type=pathlib.Path, required=True, help="the first-stage loader that Vitis built")
    words.add_argument("--elf", type=pathlib.Path, required=True, help="the firmware, such as build/zynqmp/firmware/hello.elf")
    words.add_argument("--pmufw", type=pathlib.Path, help="the firmware of the platform management unit")
    words.add_argument("--bitstream", type=pathlib.Path, help="the logic")
    words.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "BOOT.BIN")
    given = words.parse_args()

    files = {"fsbl.elf": given.fsbl, "pmufw.elf": given.pmufw, "logic.bit": given.bitstream}
    for path in (given.elf, *filter(None, files.values())):
        if not path.is_file():
            fail("looking for the files", f"{path} is not there")
    if not is_flat(given.elf):
        fail("reading the firmware", f"{given.elf} does not begin with its entry point: is it an application of this repository?")
    try:
        with tempfile.TemporaryDirectory() as folder:
            flat = pathlib.Path(folder) / "firmware.bin"
            program.run("aarch64-linux-gnu-objcopy", "-O", "binary", given.elf, flat)
            make(TEMPLATE, {name: path for name, path in files.items() if path} | {"firmware.bin": flat}, given.output, "zynqmp")
    except program.Failed as failed:
        fail("making the boot image", str(failed))
    print(f"boot   {given.output}: {given.elf.name} after {given.fsbl.name}, {given.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
