# SPDX-License-Identifier: Apache-2.0
"""A loader may leave the outer cache of a Cortex-A9 (PL310) on. QEMU has no such cache: the firmware finds its registers in
DDR, and the test plays the controller."""

import struct

import gdb
import pytest
import program
import qemu

pytestmark = pytest.mark.thorough

REGISTERS, REGISTERS_IN_DDR = 0xF8F02000, 0x00400000
CONTROL, AUXILIARY, SYNC, CLEAN_INVALIDATE_WAYS = (REGISTERS_IN_DDR + offset for offset in (0x100, 0x104, 0x730, 0x7FC))
IMAGE, IMAGE_BYTES = {"zynq7000": 0x00100000, "zynq7000-ocm": 0xFFFC0000}, 0x30000


def firmware(board, folder):
    image = (qemu.BUILD / board / "firmware" / "hello.elf").read_bytes()
    address = struct.pack("<I", REGISTERS)
    assert image.count(address) == 1  # start.S
    path = folder / "hello.elf"
    path.write_bytes(image.replace(address, struct.pack("<I", REGISTERS_IN_DDR)))
    return path


@pytest.mark.parametrize("board", IMAGE)
@pytest.mark.parametrize(("auxiliary", "ways"), [(0x02060000, 0xFF), (0x02070000, 0xFFFF)])
def test_what_a_loader_left_in_it_is_written_before_the_firmware_writes(board, auxiliary, ways, tmp_path):
    """Otherwise a line of the loader's would be written over the firmware's stack and variables."""
    def start(options):
        left = [word for address, value in ((CONTROL, 1), (AUXILIARY, auxiliary))
                for word in ("-device", f"loader,addr={address:#x},data={value},data-len=4")]
        return program.process(qemu.command(board, "hello", None, {}, image=firmware(board, tmp_path), options=(*left, *options)))

    with gdb.stopped_at_reset(tmp_path, start) as stub:
        stub.watch(IMAGE[board], IMAGE_BYTES)
        for address in (CONTROL, SYNC, CLEAN_INVALIDATE_WAYS):
            stub.watch(address, 4)
        assert stub.next_write() == CLEAN_INVALIDATE_WAYS
        assert stub.read(CLEAN_INVALIDATE_WAYS) == ways and stub.read(CONTROL) == 1
        stub.write(CLEAN_INVALIDATE_WAYS, 0)  # it is complete
        assert stub.next_write() == SYNC and stub.read(CONTROL) == 1
        assert stub.next_write() == CONTROL and stub.read(CONTROL) == 0
        assert stub.next_write() == IMAGE[board]
