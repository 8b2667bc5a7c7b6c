# SPDX-License-Identifier: Apache-2.0
"""The applications of firmware/ as Linux programs in a machine, on an emulated drive with and without an IOMMU. The machine's
exfat.ko reads the recordings, and fsck.exfat checks them."""

import re

import linux_guest
import pattern
import pytest
import volume

from spate_command import MIB
from spate_guest import PCI, VFIO, application_files

pytestmark = pytest.mark.thorough


def test_the_demo_records_without_the_kernels_driver(make_image, tmp_path):
    """Behind an emulated IOMMU. The kernel's driver gets the drive back, and reads both clips."""
    image = make_image(1 << 30)
    script = f"""
      hello vfio:{VFIO}; echo "unbound $?"
      hello --bind vfio:{VFIO}; echo "hello $?"
      demo --bind vfio:{VFIO} clip_mib=200 > /tmp/long 2>&1 &
      n=0; while ! grep -q '^mount' /tmp/long && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
      kill -TERM $!; wait $!; echo "ended $?"; tail -n 1 /tmp/long
      echo "driver $(basename "$(readlink /sys/bus/pci/devices/{VFIO}/driver)")"
      demo --bind vfio:{VFIO} clip_mib=16 erase=1 | tr '\\r' '\\n'
      demo --bind vfio:{VFIO} clip_mib=16 > /tmp/again; echo "again $?"
      n=0; while [ ! -e /dev/nvme0n1p1 ] && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
      mount -t exfat -o ro /dev/nvme0n1p1 /mnt
      sha256sum /mnt/CLIPS/CLIP_A.RAW /mnt/CLIPS/CLIP_B.RAW
      umount /mnt
    """
    said = linux_guest.run(script, {"rec": image}, tmp_path, files=application_files(), iommu=True, memory="1G", timeout_s=120).output
    assert "unbound 3" in said and "--bind" in said
    assert "1 endpoint, 0 left out" in said and "01:00.0 1b36:0010 class 010802" in said and "hello 0" in said
    assert "ended 1" in said and "Terminated" in said and "driver nvme\n" in said
    assert re.search(r"link 2500 MT/s x1 \(both ends can do 2500 x1\), payload 128, read requests \d+ bytes", said), said
    assert "done   the volume is clean, the drive shut down" in said and "again 1" in said
    for clip, (name, length) in enumerate({"A": 16 * MIB, "B": 24 * MIB + 12345}.items(), start=1):
        assert f"{pattern.sha256(clip, length)}  /mnt/CLIPS/CLIP_{name}.RAW" in said
    start, length = volume.partition_offset_bytes(image)
    part = tmp_path / "part.img"
    volume.copy_sparse(image, start, length, part)
    assert "clean" in volume.fsck(part)


def test_the_demo_on_a_machine_without_an_iommu(make_image, tmp_path):
    """The application's memory and its queues are in one huge page; the ring's pages may lie anywhere. The demo records a file,
    because that takes the most memory."""
    image = make_image(512 * MIB)
    script = f"""
      echo 40 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
      dd if=/dev/urandom of=/tmp/sent bs=1M count=9 2>/dev/null
      demo --bind pci:{PCI} input=/tmp/sent name=back | tr '\\r' '\\n'
      n=0; while [ ! -e /dev/nvme0n1p1 ] && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
      mount -t exfat -o ro /dev/nvme0n1p1 /mnt
      cmp /tmp/sent /mnt/back && echo same
      umount /mnt
    """
    said = linux_guest.run(script, {"rec": image}, tmp_path, files=application_files(), memory="512M", timeout_s=120).output
    assert "link not reported" in said and "done   the volume is clean, the drive shut down" in said, said
    assert "\nsame\n" in said
