# SPDX-License-Identifier: Apache-2.0
"""Rings in an emulated Linux machine, with spate's own NVMe driver, behind an IOMMU or without one. The drive reads the slots of
another process, or memory of a PCI device that logic fills, without a copy. The kernel's own drivers read the files."""

import hashlib
import re
import threading
import time

import linux_guest
import numpy
import program
import pytest

pytestmark = pytest.mark.thorough

MIB = 1 << 20
SLOT, SLOTS, COUNT = MIB, 8, 60
TARGET = "vfio:0000:01:00.0"

HEAD = """set -e
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
spate format /drives/drive --yes
"""
TAIL = """
while [ ! -e /dev/nvme0n1p1 ]; do sleep 0.1; done
mount -t exfat -o ro /dev/nvme0n1p1 /mnt
for name in $(ls /mnt); do echo "sum $(sha256sum < /mnt/$name | cut -d' ' -f1) $name"; done
"""
# Host and guest share the memory of this PCI device, which is a file on the host.
BAR = "/sys/bus/pci/devices/$bar/resource2_wc"


def files(preset):
    folder = program.BUILD / preset / "bin"
    return {f"bin/{name}": (folder / name).read_bytes() for name in ("spate", "ring_camera")}


def sums(done):
    return {name: digest for digest, name in re.findall(r"^sum ([0-9a-f]{64}) (\S+)$", done.output, re.M)}


@pytest.mark.parametrize("preset,target", [("linux-aarch64", f"{TARGET} --bind"), ("linux-armv7", "/drives/drive")])
def test_a_drive_reads_the_slots_of_another_process(make_image, tmp_path, preset, target):
    """Also with 32-bit programs, which record through the kernel's driver."""
    script = HEAD + f"""ring_camera camera 40 &
    spate record {target} clip --from ring:camera --progress none 2>&1
    wait
    ls /dev/shm | sed 's/^/left /'
    """ + TAIL
    done = linux_guest.run(script, {"drive": make_image(1 << 30)}, tmp_path, files=files(preset), iommu=True, memory="1G")
    pixels = numpy.arange(MIB, dtype=numpy.uint32) * 7
    data = b"".join((pixels + number).astype(numpy.uint16).tobytes() for number in range(40))
    assert done.status == 0 and sums(done) == {"clip": hashlib.sha256(data).hexdigest()}, done.output
    assert "copied" not in done.output and "left" not in done.output, done.output


def logic(memory):
    """Fills the ring like logic with DMA and without a processor: writes data, length and counter in this order."""
    word = lambda at, kind: memory[at : at + numpy.dtype(kind).itemsize].view(kind)  # noqa: E731
    filled, released, slots_at = word(64, numpy.uint64), word(128, numpy.uint64), 2 * MIB
    word(8, numpy.uint32)[0], word(12, numpy.uint32)[0], word(16, numpy.uint32)[0] = 1, SLOT, SLOTS
    word(24, numpy.uint64)[0], word(32, numpy.uint64)[0], word(40, numpy.uint64)[0] = 4096, slots_at, slots_at + SLOT * SLOTS
    memory[0:8] = numpy.frombuffer(b"SPATERNG", numpy.uint8)
    end = time.monotonic() + 200
    for number in range(COUNT):
        while number - int(released[0]) >= SLOTS and time.monotonic() < end:
            time.sleep(0.001)
        at = slots_at + number % SLOTS * SLOT
        memory[at : at + SLOT] = numpy.arange(SLOT, dtype=numpy.uint32).astype(numpy.uint8) + numpy.uint8(number)
        word(4096 + number % SLOTS * 4, numpy.uint32)[0] = SLOT
        filled[0] = number + 1
    memory[80] = 1


@pytest.mark.parametrize("target,copied,iommu", [(TARGET, False, True), ("pci:0000:00:01.0", False, False),
                                                 ("/drives/drive", True, True)])
def test_a_drive_reads_memory_that_logic_fills(make_image, tmp_path, target, copied, iommu):
    """The kernel's own driver needs struct pages, which such memory does not have: then spate copies the data, and says so.
    Without an IOMMU the drive gets the addresses of the device's memory."""
    memory = tmp_path / "memory"
    memory.touch()
    memory.open("r+b").truncate(16 * MIB)
    bind = "" if copied else "--bind"
    script = HEAD + f"""
    for bar in $(ls /sys/bus/pci/devices); do grep -q 0x1110 /sys/bus/pci/devices/$bar/device && break; done
    echo 1 > /sys/bus/pci/devices/$bar/enable
    echo 60 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
    spate record {target} clip --from ring:{BAR} {bind} --progress none 2>&1
    """ + TAIL
    options = ["-object", f"memory-backend-file,id=bar,size=16M,share=on,mem-path={memory}",
               "-device", "ivshmem-plain,memdev=bar"]
    thread = threading.Thread(target=logic, args=[numpy.memmap(memory, numpy.uint8, "r+")])
    thread.start()
    done = linux_guest.run(script, {"drive": make_image(1 << 30)}, tmp_path, files=files("linux-aarch64"), iommu=iommu,
                           memory="1G", options=options)
    thread.join()
    pattern = numpy.arange(SLOT, dtype=numpy.uint32).astype(numpy.uint8)
    data = b"".join((pattern + numpy.uint8(number)).tobytes() for number in range(COUNT))
    assert done.status == 0 and sums(done) == {"clip": hashlib.sha256(data).hexdigest()}, done.output
    assert ("is copied, as the target cannot write from it: its driver maps it without struct pages" in done.output) == copied
    assert ("is copied" in done.output) == copied
