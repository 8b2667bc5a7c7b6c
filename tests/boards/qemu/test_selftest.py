# SPDX-License-Identifier: Apache-2.0
"""The firmware `selftest` on each board that an emulator has: exFAT and the recorder on its processor, and the probe of its
bridge, whether there is one or not."""

import re

import pytest

import program
import qemu

pytestmark = pytest.mark.thorough

TIMEOUT_S = 120
KINDS = {"program": "cached", "variables": "cached", "queue memory": "not cached", "ordinary memory": "cached",
         "ring": "not cached", "registers": "registers", "address 0": "not mapped"}
# The last line, without a drive.
SENTENCE = r"{}: [A-Z][^\n]*\?"
OTHER_DEVICE = "devices found: 1"


def selftest(board, *options):
    result = qemu.run(board, "selftest", None, {"clip_kib": qemu.ALL[board].clip_kib}, timeout_s=TIMEOUT_S, options=options)
    assert result.status == 0, result.report()
    return result.output


def probe(board):
    if not board.drive_at:
        return SENTENCE.format("NO_BRIDGE")
    return OTHER_DEVICE if board.without_drive == "WRONG_CLASS" else SENTENCE.format(board.without_drive)


def check(board, output):
    kinds = dict(re.findall(r"^memory (.*?) +at 0x[0-9a-f]+: (.*?)\r?$", output, re.M))
    assert list(kinds) == list(KINDS)
    assert {what: kind for what, kind in kinds.items() if kind != "not known"}.items() <= KINDS.items()
    first = int(qemu.ALL[board].clip_kib) * 1024
    second = first * 3 // 2 + 12345
    assert re.search(rf"^exfat  A\.RAW: all {first} bytes as recorded\r?\nexfat  B\.RAW: all {second} bytes as recorded\r?\n"
                     rf"pcie   {probe(qemu.ALL[board])}\r?\n\Z", output, re.M), output


@pytest.mark.parametrize("board", qemu.ALL)
def test_each_board(board):
    check(board, selftest(board))


@pytest.mark.parametrize("machine, level", [("virtualization=off,secure=off", 1), ("virtualization=on,secure=off", 2),
                                            ("virtualization=off,secure=on", 3), ("virtualization=on,secure=on", 3)])
def test_each_level_at_which_a_zynqmp_may_start(machine, level):
    output = selftest("zynqmp", "-machine", f"xlnx-zcu102,{machine}")
    check("zynqmp", output)
    assert re.search(rf"^board  .*, started in EL{level}\r?$", output, re.M), output


def test_a_cortex_a15_may_start_in_hypervisor_mode():
    """That it does is what test_faults.py shows: only then is there an error that comes late."""
    check("qemu-virt-a15", selftest("qemu-virt-a15", "-machine", "virt,highmem=off,virtualization=on"))


def logic_is_configured():
    """PCFG_DONE of DEVCFG's INT_STS (UG585). QEMU 7.2 has no such register, and in QEMU 11's the bit is set."""
    said = program.run("qemu-system-arm", "-M", "xilinx-zynq-a9", "-S", "-display", "none", "-nodefaults", "-monitor", "stdio",
                       input="xp /1wx 0xf800700c\nquit\n").stdout
    value = re.search(r"f800700c: (0x[0-9a-f]+)", said)
    return value is not None and int(value[1], 16) & 4 != 0


@pytest.mark.parametrize("board", ["zynq7000", "zynq7000-ocm"])
def test_a_zynq7000_says_that_its_logic_is_not_configured(board):
    """On hardware an access to logic that is not configured would never end, so nothing after this line touches it."""
    lines = selftest(board).splitlines()
    assert ("board  the logic is not configured: load the bitstream first" in lines) == (not logic_is_configured())
