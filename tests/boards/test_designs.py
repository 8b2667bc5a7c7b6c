# SPDX-License-Identifier: Apache-2.0
"""The choices that design.h of a Xilinx board offers: each compiles, and has its effect on the memory map."""

import json
import re

import pytest

from conftest import ROOT, run

pytestmark = pytest.mark.thorough

COMMON = [f"-I{ROOT / folder}" for folder in ("include", "ports", "ports/common", "ports/common/freestanding")]
ARM = ["-marm", "-mfloat-abi=hard", "-mfpu=vfpv3-d16"]
COMPILERS = {"zynqmp": ["aarch64-linux-gnu-gcc"], "versal": ["aarch64-linux-gnu-gcc"],
             "zynq7000": ["arm-linux-gnueabihf-gcc", "-mcpu=cortex-a9", *ARM],
             "zynqmp-r5": ["arm-linux-gnueabihf-gcc", "-mcpu=cortex-r5", *ARM]}
AXI_GPIO = "#define DESIGN_PERST_AXI_GPIO 0xA0000000\n#define DESIGN_PERST_OTHER_OUTPUTS 0\n"


def without(*names):
    return lambda text: re.sub(rf"^#define ({'|'.join(names)}) .*\n", "", text, flags=re.M)


def perst(kind, more=""):
    return lambda text: text.replace("DESIGN_PERST             PERST_BY_NOTHING", f"DESIGN_PERST {kind}\n{more}")


CHOICES = {"as it is": lambda text: text, "MIO": perst("PERST_BY_MIO"), "EMIO": perst("PERST_BY_EMIO"),
           "AXI GPIO": perst("PERST_BY_AXI_GPIO", AXI_GPIO), "queues in on-chip memory": without("DESIGN_QUEUE"),
           "ordinary memory in on-chip memory": without("DESIGN_MEMORY", "DESIGN_MEMORY_BYTES"),
           "CPM": without("DESIGN_BRIDGE_REGISTERS_BYTES")}


# What only some boards have: a second region of the bridge, and a linker script for the rest of the on-chip memory.
ONLY = {"CPM": {"versal"}, "queues in on-chip memory": {"zynqmp", "versal"},
        "ordinary memory in on-chip memory": {"zynqmp", "versal"}}


def compile_with(design, port, source, folder, statuses=(0,)):
    (folder / "design.h").write_text(design)
    return run(*COMPILERS[port], "-c", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
               f"-I{folder}", f"-I{ROOT / 'ports' / port}", *COMMON, ROOT / "ports/common/xilinx" / source, "-o",
               folder / f"{source}.o", statuses=statuses)


@pytest.mark.parametrize("port, choice", [(port, choice) for port in COMPILERS for choice in CHOICES
                                          if port in ONLY.get(choice, {port})])
def test_each_choice_compiles(port, choice, tmp_path):
    text = (ROOT / "ports" / port / "design.h").read_text()
    changed = CHOICES[choice](text)
    assert (changed == text) == (choice == "as it is")
    for source in ("board.c", "layout.c"):
        compile_with(changed, port, source, tmp_path)
    sections = run("aarch64-linux-gnu-size", "-A", tmp_path / "layout.c.o").stdout
    queue = re.search(r"^\.queue +(\d+)", sections, re.M)
    assert (queue is not None) == (choice == "queues in on-chip memory")


@pytest.mark.parametrize("name, value", [("DESIGN_BRIDGE_CONTROL", "0xA0080000"), ("DESIGN_BRIDGE_WINDOW_BYTES", "0x100"),
                                         ("DESIGN_QUEUE", "0x01000800"), ("DESIGN_QUEUE_BYTES", "1000"),
                                         ("DESIGN_MEMORY_BYTES", "1"), ("DESIGN_RING", "0x10000040")])
def test_a_number_that_no_page_table_can_hold_is_refused(name, value, tmp_path):
    """The start-up code would not end."""
    text = (ROOT / "ports/zynqmp/design.h").read_text()
    changed = re.sub(rf"^(#define {name}) +\S+$", rf"\1 {value}", text, flags=re.M)
    assert changed != text
    refused = compile_with(changed, "zynqmp", "layout.c", tmp_path, statuses=(1,))
    assert re.search(rf"design\.h: {name} must be a multiple of", refused.stderr)


@pytest.mark.parametrize("port", COMPILERS)
def test_the_design_that_is_named_counts(port, tmp_path):
    """Not the example in the board's folder."""
    (tmp_path / "design.h").write_text('#error "the design that is named"\n')
    presets = json.loads((ROOT / "ports/boards.json").read_text())["configurePresets"]
    toolchain, = (board["toolchainFile"] for board in presets if board["name"] == port)
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "build", f"-DSPATE_PORT_DIR={ROOT}/ports/{port}",
        f"-DCMAKE_TOOLCHAIN_FILE={toolchain.replace('${sourceDir}', str(ROOT))}", f"-DSPATE_DESIGN_DIR={tmp_path}",
        "-DCMAKE_BUILD_TYPE=Release")
    built = run("cmake", "--build", tmp_path / "build", "--target", "spate_board", "-j", "2", statuses=(1,))
    assert "the design that is named" in built.stdout
