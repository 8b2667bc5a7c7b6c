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
         "zynq7000": NO_BRIDGE, "zynq7000-ocm": NO_BRIDGE, "zynqmp-r5": NO_BRIDGE}


def selftest(board, *options, **arguments):
    result = qemu.run(board, "selftest", None, arguments, timeout_s=TIMEOUT_S, options=options)
    assert result.status == 0, result.report()
    return result.output


def check(board, output):
    kinds = dict(re.findall(r"^memory (.*?) +at 0x[0-9a-f]+: (.*?)\r?$", output, re.M))
    assert kinds == KINDS or set(kinds.values()) == {"not known"}
    assert re.search(r"^exfat  A\.RAW: all 4096000 bytes as recorded\r?\nexfat  B\.RAW: all 6156345 bytes as recorded\r?\n"
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


def test_a_cortex_a15_may_start_in_hypervisor_mode():
    """That it does is what test_faults.py shows: only then is there an error that comes late."""
    check("qemu-virt-a15", selftest("qemu-virt-a15", "-machine", "virt,highmem=off,virtualization=on"))


@pytest.mark.parametrize("board", ["zynq7000", "zynq7000-ocm"])
def test_a_zynq7000_says_that_its_logic_is_not_configured(board):
    """QEMU has no logic. On hardware an access to it would never end, so nothing behind this line touches it."""
    lines = selftest(board).splitlines()
    assert "board  the logic is not configured: load the bitstream first" in lines
