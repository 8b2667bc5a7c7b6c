# SPDX-License-Identifier: Apache-2.0
"""The command spate in an emulated Linux machine: runs a script there, and reports the status and the output of each of its
checks. Tests that import this module start QEMU: they are in folders qemu/."""

import dataclasses
import re
import struct

import linux_guest
import program
import pytest
import volume as judge

DRIVE_BYTES = 1 << 30
VFIO = "0000:01:00.0"  # the first drive of a machine with an IOMMU
PCI = "0000:00:01.0"  # the first drive of a machine without one

# check NAME COMMAND... reports the status and output of a command to the test. begin NAME COMMAND... and end NAME do the same for
# a command in the background. underway NAME waits until that command has recorded for two seconds. settle waits until the kernel
# has a drive. disk ADDRESS [NAMESPACE] prints the kernel's disk of a namespace of a PCI function when there is one: the kernel
# numbers controllers and namespaces in the order in which they answer.
PRELUDE = """
check() { name=$1; shift; "$@" > /tmp/said 2>&1 < /dev/null; echo "[$name] status $?"; sed "s/^/[$name] /" /tmp/said; }
begin() { name=$1; shift; : > /tmp/$name; "$@" > /tmp/$name 2>&1 < /dev/null & eval "$name=$!"; }
end() { eval "wait \\$$1"; echo "[$1] status $?"; sed "s/^/[$1] /" /tmp/$1; }
underway() { n=0; while [ "$(grep -c '"bytes"' /tmp/$1)" -lt 2 ] && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done; }
settle() { n=0; while [ ! -e "${1:-/dev/nvme0n1}" ] && [ $n -lt 600 ]; do n=$((n + 1)); sleep 0.1; done; }
disk() {
  n=0
  while [ $n -lt 600 ]; do
    for found in /sys/bus/pci/devices/$1/nvme/nvme*/nvme*n*; do
      [ "$(cat $found/nsid 2> /dev/null)" = "${2:-1}" ] && echo /dev/${found##*/} && return
    done
    n=$((n + 1)); sleep 0.1
  done
}
has() { echo "[$1] status 0"; echo "[$1] $(basename "$(readlink /sys/bus/pci/devices/$2/driver)")"; }
"""


@dataclasses.dataclass
class Said:
    status: int
    text: str


def guest(script, drives, folder, files=(), **options) -> dict[str, Said]:
    """Runs a script in a guest, and returns the result of each of its checks. `files`: programs in addition to spate."""
    files = linux_guest.spate(options.get("architecture", "arm64")) | dict(files)
    done = linux_guest.run(PRELUDE + script, drives, folder, files=files, memory="1G", timeout_s=120, **options)
    said: dict[str, Said] = {}
    for name, line in re.findall(r"^\[([\w-]+)\] (.*)$", done.output, re.M):
        if name not in said:
            assert line.startswith("status "), done.output
            said[name] = Said(int(line.removeprefix("status ")), "")
        else:
            said[name].text += line + "\n"
    print(done.output)
    return said


def application_files():
    """The applications of firmware/ and the command: {path in the machine: content}."""
    files = linux_guest.spate()
    for name in ("demo", "hello"):
        path = program.BUILD / "linux-aarch64" / "command" / "firmware" / name
        assert path.exists(), f"{path} is not built: make build-linux-aarch64"
        files[f"bin/{name}"] = path.read_bytes()
    return files


def good(said, *names):
    """The commands of these checks ended well."""
    for name in names:
        assert said[name].status == 0, f"{name}: {said[name]}"


@pytest.fixture
def drive(make_image):
    """An empty drive for a machine."""
    return make_image(DRIVE_BYTES)


def check_outside(image, folder, sector_bytes=512):
    """Checks the drive with fsck.exfat on the host. Returns the files that The Sleuth Kit finds."""
    start, length = judge.partition_offset_bytes(image, sector_bytes)
    partition = folder / "partition.img"
    judge.copy_sparse(image, start, length, partition)
    judge.fsck(partition)
    return judge.files(partition)


def without_coherency(folder, iommu):
    """The emulator's options for the machine's device tree without dma-coherent."""
    tree = folder / "machine.dtb"
    command = linux_guest.machine({}, None, iommu, "1G", "", folder / "none", folder / "none", ())
    kind = command[command.index("-M") + 1]
    words = ["qemu-system-aarch64", "-M", f"{kind},dumpdtb={tree}", "-cpu", "cortex-a53", "-m", "1G", "-nodefaults", "-display",
             "none"]
    program.run(*words)
    data = bytearray(tree.read_bytes().replace(b"\0dma-coherent\0", b"\0xma-coherent\0"))
    assert b"\0xma-coherent\0" in data
    # QEMU pads the tree to a megabyte, which the kernel refuses. The strings are the last part: cut behind them.
    strings, length = struct.unpack_from(">I", data, 12)[0], struct.unpack_from(">I", data, 32)[0]
    struct.pack_into(">I", data, 4, strings + length)
    tree.write_bytes(data[: strings + length])
    return ("-dtb", tree)
