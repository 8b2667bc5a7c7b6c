# SPDX-License-Identifier: Apache-2.0
"""Numbers of the headers and of an application, worked out by the compiler for AArch64."""

import pathlib
import struct
import tempfile

import program
import qemu


def work_out(sources: list[str], folders: list[str], expressions: list[str]) -> list[int]:
    """What the expressions come to where `sources` are included. `folders` are those of headers besides include/."""
    lines = [f'#include "{qemu.ROOT / source}"' for source in sources]
    lines.append(f"const unsigned long long numbers[] = {{{', '.join(expressions)}}};\n")
    with tempfile.TemporaryDirectory() as name:
        source, obj, raw = (pathlib.Path(name) / f"numbers.{end}" for end in ("c", "o", "bin"))
        source.write_text("\n".join(lines))
        program.run("aarch64-linux-gnu-gcc", "-c", "-ffreestanding", "-fdata-sections",
                    *(f"-I{qemu.ROOT / folder}" for folder in [*folders, "include"]), source, "-o", obj)
        program.run("aarch64-linux-gnu-objcopy", "-O", "binary", "--only-section=.rodata.numbers", obj, raw)
        data = raw.read_bytes()
        return list(struct.unpack(f"<{len(data) // 8}Q", data))
