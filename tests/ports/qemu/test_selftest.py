# SPDX-License-Identifier: Apache-2.0
"""The firmware `selftest` on each board that an emulator has: exFAT and the recorder on its processor, and the probe of its
bridge, whether there is one or not."""

import re

import pytest

import qemu

TIMEOUT_S = 120
KINDS = {"program": "cached", "variables": "cached", "queue memory": "not cached", "ordinary memory": "cached",
         "ring": "not cached", "registers": "registers", "address 0": "not mapped"}
# The last line. Boston has a SATA controller behind its bridge; the root port of the others is empty, or there is none.
NO_DEVICE, NO_BRIDGE = (rf"{name}: [A-Z][^\n]*\?" for name in ("NO_DEVICE", "NO_BRIDGE"))
PROBE = {"qemu-virt": NO_DEVICE, "qemu-virt-a15": NO_DEVICE, "qemu-boston": "devices found: 1", "zynqmp": NO_BRIDGE,
         "zynqmp-ocm": NO_BRIDGE}
CLIP_KIB = {"zynqmp-ocm": 400} # its drive is the rest of a small ring


def selftest(board, *options):
    result = qemu.run(board, "selftest", None, {"clip_kib": str(CLIP_KIB.get(board, 4000))}, timeout_s=TIMEOUT_S, options=options)
    assert result.status == 0, result.report()
    return result.output


def check(board, output):
    kinds = dict(re.findall(r"^memory (.*?) +at 0x[0-9a-f]+: (.*?)\r?$", output, re.M))
    assert kinds == KINDS or set(kinds.values()) == {"not known"}
    first = CLIP_KIB.get(board, 4000) * 1024
    second = first * 3 // 2 + 12345
    assert re.search(rf"^exfat  A\.RAW: all {first} bytes as recorded\r?\nexfat  B\.RAW: all {second} bytes as recorded\r?\n"
                     rf"pcie   {PROBE[board]}\r?\n\Z", output, re.M), output


@pytest.mark.parametrize("board", qemu.ALL)
def test_each_board(board):
    check(board, selftest(board))


@pytest.mark.parametrize("machine, level", [("virtualization=off,secure=off", 1), ("virtualization=on,secure=off", 2),
                                            ("virtualization=off,secure=on", 3), ("virtualization=on,secure=on", 3)])
def test_each_level_at_which_a_zynqmp_may_start(machine, level):
    output = selftest("zynqmp", "-machine", f"xlnx-zcu102,{machine}")
    check("zynqmp", output)
    assert re.search(rf"^board  .*, started in EL{level}\r?$", output, re.M), output
