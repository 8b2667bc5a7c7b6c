# SPDX-License-Identifier: Apache-2.0
"""The disk layer in the builds of its users: cross compilers without a library, 32 and 64 bit, and FatFs's own options."""

import program
import pytest

from conftest import ROOT

pytestmark = pytest.mark.thorough

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-align", "-Wcast-qual", "-Werror"]
COMPILERS = {"aarch64-linux-gnu-gcc": "qemu-virt", "arm-linux-gnueabihf-gcc -marm": "qemu-virt-a15"}
OPTIONS = {
    "exfat-lba64": {"FF_FS_EXFAT": 1, "FF_LBA64": 1},
    "fat32-lba32": {"FF_FS_EXFAT": 0, "FF_LBA64": 0},
    "tiny-512-two": {"FF_FS_TINY": 1, "FF_MAX_SS": 512, "FF_VOLUMES": 2},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_compiles_and_needs_only_the_library(compiler, options, tmp_path):
    lines = [f"#undef {name}\n#define {name} {value}\n" for name, value in OPTIONS[options].items()]
    (tmp_path / "settings.h").write_text("#include <ffconf.h>\n" + "".join(lines))
    compiled = tmp_path / "spate_diskio.o"
    program.run(*compiler.split(), "-std=c17", "-Os", "-ffreestanding", *WARNINGS, "-include", tmp_path / "settings.h",
                "-isystem", ROOT / "build/fatfs-source", "-I", ROOT / "include", "-I", ROOT / "ports" / COMPILERS[compiler],
                "-I", ROOT / "ports/common", "-c", ROOT / "integrations/fatfs/spate_diskio.c", "-o", compiled)
    needed = {line.split()[0] for line in program.run("nm", "--undefined-only", "--format=posix", compiled).stdout.splitlines()}
    assert "spate_block_yield" in needed
    assert {name for name in needed if not name.startswith("spate_")} <= {"memcpy", "memset"}  # so it has no division either
