# SPDX-License-Identifier: Apache-2.0
"""integrations/vitis compiled as its users compile it: cross compilers, and in the place of a BSP the folder
tests/integrations/vitis/bsp, which declares exactly what is used of one."""

import dataclasses
import pathlib

import program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VITIS = ROOT / "integrations/vitis"
BSP = ROOT / "tests/integrations/vitis/bsp"
EXAMPLE = [VITIS / "example/main.c", VITIS / "example/record.c"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-align", "-Wcast-qual",
            "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wundef", "-Wvla", "-Wwrite-strings", "-Werror"]
AARCH64 = ["-mstrict-align", "-mgeneral-regs-only", "-mno-outline-atomics"]


@dataclasses.dataclass(frozen=True)
class Processor:
    compiler: str
    options: tuple[str, ...]
    image_start: int


# -mstrict-align, because the programs in QEMU run without an MMU.
PROCESSORS = {
    "zynqmp": Processor("aarch64-linux-gnu-gcc", ("-mcpu=cortex-a53", *AARCH64), 0x40200000),
    "versal": Processor("aarch64-linux-gnu-gcc", ("-mcpu=cortex-a72", *AARCH64), 0xFFFC0000),
    "zynq7000": Processor("arm-linux-gnueabihf-gcc", ("-mcpu=cortex-a9", "-marm", "-mfpu=vfpv3"), 0x40200000),
    "zynqmp-r5": Processor("arm-linux-gnueabihf-gcc", ("-mcpu=cortex-r5", "-marm", "-mfpu=vfpv3-d16"), 0x100000),
}


def compiler_options(processor: Processor) -> list[str]:
    return [*processor.options, "-O2", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-fno-pic", "-fno-pie", "-fno-stack-protector",
            "-fno-asynchronous-unwind-tables", "-ffunction-sections", "-isystem", str(ROOT / "ports/common/freestanding")]


def linker_options(processor: Processor) -> list[str]:
    return ["-nostdlib", "-static", "-no-pie", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments", "-Wl,--no-warn-mismatch",
            f"-Wl,--defsym=IMAGE_START={processor.image_start}", "-T", str(BSP / "link.ld")]


def bsp_sources(processor: Processor) -> list[pathlib.Path]:
    """What the BSP, its C library and the compiler's library have; and what EL2 or hypervisor mode does."""
    above = "aarch64/el2.S" if "aarch64" in processor.compiler else "armv7/hypervisor.S"
    return [BSP / "start.S", BSP / "bsp.c", ROOT / "ports/common" / above, *(ROOT / "ports/common" / name for name in ("print.c", "semihosting.c", "string.c"))]


def bsp_includes() -> list[str]:
    return [word for folder in (BSP, ROOT / "ports/common", ROOT / "ports", ROOT / "include") for word in ("-I", str(folder))]


def listed_sources() -> list[pathlib.Path]:
    """The two plain lists, which name files relative to the repository."""
    return [ROOT / name for listed in (ROOT / "src/files.txt", VITIS / "files.txt") for name in listed.read_text().split()]


def includes(design: pathlib.Path) -> list[str]:
    return [word for folder in (ROOT / "include", VITIS / "port", VITIS, design) for word in ("-I", str(folder))]


def build(name: str, design: pathlib.Path, sources, to: pathlib.Path, only: tuple[str, ...] = ("",), options=()) -> pathlib.Path:
    """A program of these sources, the two lists and the BSP. `design` is the folder of design.h. `only`: the folders of src/
    that it needs."""
    processor = PROCESSORS[name]
    library = [path for path in listed_sources() if path.is_relative_to(VITIS) or
               any(path.is_relative_to(ROOT / "src" / folder) for folder in only)]
    program.run(processor.compiler, *compiler_options(processor), *WARNINGS, *options, *bsp_includes(), *includes(design), *sources,
                *library, *bsp_sources(processor), *linker_options(processor), "-lgcc", "-o", to)
    return to
