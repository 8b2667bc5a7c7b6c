# SPDX-License-Identifier: Apache-2.0
"""A firmware that finds CNTFRQ at 0 takes the frequency from the system counter's registers, and turns the counter on. QEMU
has no such registers: the test lets the firmware find them in DDR."""

import json
import re
import socket
import struct

import pytest

import first_loader
import qemu
from board_without_host import stopped

pytestmark = pytest.mark.thorough

LOADER_AT = 0x200000
COUNTERS = {"zynqmp": 0xFF260000, "versal": 0xFF140000}
COUNTER_IN_DDR = 0x300000
HZ = 99_990_005


def firmware(board, folder):
    """`hello` with another address of the counter, and its entry point."""
    image = (qemu.BUILD / board / "firmware" / "hello.elf").read_bytes()
    address = struct.pack("<Q", COUNTERS[board])
    assert image.count(address) == 1
    path = folder / "hello.elf"
    path.write_bytes(image.replace(address, struct.pack("<Q", COUNTER_IN_DDR)))
    return path, struct.unpack_from("<Q", image, 24)[0]


def ask(machine_socket, command):
    """What QEMU's monitor says."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(str(machine_socket))
        stream = channel.makefile("rw")
        stream.readline()
        for request in ({"execute": "qmp_capabilities"},
                        {"execute": "human-monitor-command", "arguments": {"command-line": command}}):
            stream.write(json.dumps(request))
            stream.flush()
            answer = json.loads(stream.readline())
    return answer["return"]


@pytest.mark.parametrize("board", COUNTERS)
@pytest.mark.parametrize("control", [0, 1, 2])
def test_it_gives_the_frequency_and_is_on(board, control, tmp_path):
    image, entry = firmware(board, tmp_path)
    registers = [value for offset, data in ((0, control), (0x20, HZ))
                 for value in ("-device", f"loader,addr={COUNTER_IN_DDR + offset:#x},data={data},data-len=4")]
    loader = first_loader.build(tmp_path / "loader.elf", at=LOADER_AT, image=entry, counter_hz=0)
    monitor = tmp_path / "qmp"
    with stopped(board, "hello", "-device", f"loader,file={image}", *registers, "-qmp", f"unix:{monitor},server=on,wait=off",
                 image=loader) as (_, said):
        after = int(re.search(r": 0x([0-9a-f]+)", ask(monitor, f"xp /1wx {COUNTER_IN_DDR:#x}"))[1], 16)
    assert "started in EL3" in said and f" {HZ} ticks/s" in said, said
    assert after == control | 1
