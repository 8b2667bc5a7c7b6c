# SPDX-License-Identifier: Apache-2.0
"""A design of a Zynq UltraScale+ whose ring is in memory of the logic, above 4 GiB: the firmware is built for it and starts. With too
few page tables it says so, although the console is opened only later."""

import shutil

import pytest

import program
import qemu
from conftest import ROOT

pytestmark = pytest.mark.thorough

BUILD = ROOT / "build/ring-in-logic"
DESIGN = (ROOT / "ports/zynqmp/design.h").read_text()


def build(tables):
    """hello for this design. The second design builds only the board again."""
    BUILD.mkdir(exist_ok=True)
    text = DESIGN.replace("DESIGN_RING       0x10000000", "DESIGN_RING       0x1000000000")
    text = text.replace("DESIGN_PAGE_TABLES 6", f"DESIGN_PAGE_TABLES {tables}")
    assert "0x1000000000\n" in text and f"TABLES {tables}\n" in text
    (BUILD / "design.h").write_text(text)
    program.run("cmake", "--preset", "zynqmp", "-B", BUILD, f"-DSPATE_DESIGN_DIR={BUILD}", timeout_s=120)
    program.run("cmake", "--build", BUILD, "--target", "hello", timeout_s=600)
    return BUILD / "firmware/hello.elf"


@pytest.fixture(scope="module", autouse=True)
def folder():
    yield
    shutil.rmtree(BUILD, ignore_errors=True)


def test_the_firmware_starts():
    result = qemu.run("zynqmp", "hello", None, timeout_s=60, image=build(7))
    assert "\nZynq UltraScale+, Cortex-A53, started in EL3, " in result.output.replace("\r", ""), result.report()


def test_too_few_page_tables_are_reported():
    result = qemu.run("zynqmp", "hello", None, timeout_s=60, image=build(6))
    assert "mmu    the page tables need more than the 6 " in result.output, result.report()
    assert result.status == 1, result.report()
