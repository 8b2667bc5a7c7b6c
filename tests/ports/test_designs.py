# SPDX-License-Identifier: Apache-2.0
"""The choices that design.h of a Xilinx board offers: each compiles, and has its effect on the memory map."""

import re

import pytest

from conftest import ROOT, run

COMMON = [f"-I{ROOT / folder}" for folder in ("include", "ports", "ports/common", "ports/common/freestanding")]
AXI_GPIO = "#define DESIGN_PERST_AXI_GPIO 0xA0000000\n#define DESIGN_PERST_OTHER_OUTPUTS 0\n"


def without(*names):
    return lambda text: re.sub(rf"^#define ({'|'.join(names)}) .*\n", "", text, flags=re.M)


def perst(kind, more=""):
    return lambda text: text.replace("DESIGN_PERST             PERST_BY_NOTHING", f"DESIGN_PERST {kind}\n{more}")


CHOICES = {"as it is": lambda text: text, "MIO": perst("PERST_BY_MIO"), "EMIO": perst("PERST_BY_EMIO"),
           "AXI GPIO": perst("PERST_BY_AXI_GPIO", AXI_GPIO), "queues in on-chip memory": without("DESIGN_QUEUE"),
           "ordinary memory in on-chip memory": without("DESIGN_MEMORY", "DESIGN_MEMORY_BYTES"),
           "CPM": without("DESIGN_BRIDGE_REGISTERS_BYTES")}


@pytest.mark.parametrize("port, choice", [(port, choice) for port in ("zynqmp", "versal") for choice in CHOICES
                                          if (port, choice) != ("zynqmp", "CPM")])
def test_each_choice_compiles(port, choice, tmp_path):
    text = (ROOT / "ports" / port / "design.h").read_text()
    changed = CHOICES[choice](text)
    assert (changed == text) == (choice == "as it is")
    (tmp_path / "design.h").write_text(changed)
    for source in ("board.c", "layout.c"):
        run("aarch64-linux-gnu-gcc", "-c", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
            f"-I{tmp_path}", f"-I{ROOT / 'ports' / port}", *COMMON, ROOT / "ports/common/xilinx" / source, "-o",
            tmp_path / f"{source}.o")
    sections = run("aarch64-linux-gnu-size", "-A", tmp_path / "layout.c.o").stdout
    queue = re.search(r"^\.queue +(\d+)", sections, re.M)
    assert (queue is not None) == (choice == "queues in on-chip memory")
