# SPDX-License-Identifier: Apache-2.0
"""A firmware that finds CNTFRQ at 0 takes the frequency from the system counter's registers, and turns the counter on. QEMU
has no such registers: the test lets the firmware find them in DDR."""

import json
import pathlib
import re
import socket
import struct

import pytest

import program
import qemu

LOADER = pathlib.Path(__file__).resolve().parents[2] / "support" / "first_loader.S"
LOADER_AT = 0x200000
COUNTERS = {"zynqmp": 0xFF260000}
COUNTER_IN_DDR = 0x300000
HZ = 99_990_005


def firmware(board, folder):
    """`hello` with another address of the counter, and its entry point."""
    image = (qemu.BUILD / board / "apps" / "hello.elf").read_bytes()
    address = struct.pack("<Q", COUNTERS[board])
    assert image.count(address) == 1
    path = folder / "hello.elf"
    path.write_bytes(image.replace(address, struct.pack("<Q", COUNTER_IN_DDR)))
    return path, struct.unpack_from("<Q", image, 24)[0]


def loader(entry, folder):
    path = folder / "loader.elf"
    program.run("aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", f"-Wl,-Ttext={LOADER_AT:#x}",
                f"-Wl,--defsym=image={entry:#x}", LOADER, "-o", path)
    return path


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
    words = qemu.command(board, "hello", None, {}, host=False, image=loader(entry, tmp_path),
                         options=("-device", f"loader,file={image}", *registers,
                                  "-qmp", f"unix:{tmp_path / 'qmp'},server=on,wait=off"))
    with program.process(words, stdout=program.subprocess.PIPE, stderr=program.subprocess.STDOUT, text=True) as machine:
        said = ""
        for line in machine.stdout:
            said += line
            if "stopped" in line:
                break
        after = int(re.search(r": 0x([0-9a-f]+)", ask(tmp_path / "qmp", f"xp /1wx {COUNTER_IN_DDR:#x}"))[1], 16)
    assert f"started in EL3" in said and f" {HZ} ticks/s" in said, said
    assert after == control | 1
