# SPDX-License-Identifier: Apache-2.0
"""docs/use/rtos.md: its tables name every function of the port, and its spate_board.h compiles with the library."""

import re

from conftest import ROOT, run

PAGE = (ROOT / "docs/use/rtos.md").read_text()
# How the tables name the functions that are supplied together.
GROUPS = {"registers": ("read32", "write32"), "barriers": ("dma_write_barrier", "dma_read_barrier"),
          "caches": ("cache_clean", "cache_invalidate"), "clock": ("ticks", "ticks_per_second")}


def test_each_function_of_the_port_has_its_row():
    header = (ROOT / "include/spate/port.h").read_text()
    wanted = set(re.findall(r"spate_port_(\w+)\(", header[: header.index("#ifndef")]))  # what a board supplies
    assert {name for names in GROUPS.values() for name in names} < wanted
    for system in ("## Zephyr\n", "## FreeRTOS\n"):
        table = PAGE[PAGE.index(system):].split("\n\n")[1]
        first = "".join(row.split("|")[1] for row in table.splitlines())
        named = set(re.findall(r"spate_port_(\w+)", first)) | {name for group, names in GROUPS.items() if group in first for name in names}
        assert named == wanted, system


def test_the_board_header_for_freertos_compiles(tmp_path):
    text = re.search(r"^```c\n(#define SPATE_PORT_OWN_RELAX\n.*?)^```$", PAGE, re.M | re.S)[1]
    for compiler, options, header in (("aarch64-linux-gnu-gcc", [], text),
                                      ("arm-linux-gnueabihf-gcc", ["-marm"], text.replace("aarch64.h", "armv7.h"))):
        (tmp_path / "spate_board.h").write_text(header)
        compiled = tmp_path / "block.o"
        run(compiler, *options, "-std=c17", "-O2", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", tmp_path,
            "-I", ROOT / "include", "-isystem", ROOT / "ports/common/freestanding", "-c", ROOT / "src/core/block.c", "-o", compiled)
        assert "spate_port_relax" in run("nm", "--undefined-only", compiled).stdout


def test_the_module_for_zephyr_reads_the_list():
    assert "src/files.txt" in PAGE and (ROOT / "src/files.txt").exists()
