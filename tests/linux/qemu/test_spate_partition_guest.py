# SPDX-License-Identifier: Apache-2.0
"""Targets that are a part of a drive, in an emulated Linux machine: a partition and another namespace, through the kernel and
through the library's own driver. The rest of the drive stays unchanged, byte for byte."""

import re

import pytest

from partitioned_drive import SECOND, judged_partition, outside, partitioned
from spate_command import FAILED, MIB
from spate_guest import VFIO, good, guest

pytestmark = pytest.mark.thorough


def test_partitions_and_namespaces_of_a_drive_in_a_machine(make_image, tmp_path):
    """Through the kernel, and through the library's own driver."""
    drive, second = partitioned(make_image(1), 512 * MIB), make_image(256 * MIB)
    before = outside(drive, *SECOND)
    options = ("-drive", f"if=none,id=second,format=raw,cache=unsafe,discard=unmap,file={second}", "-device",
               "nvme-ns,drive=second,bus=nvme-rec,nsid=2")
    said = guest(f"""
      first=$(disk {VFIO})
      check device spate format ${{first}}p2 --yes
      mount -t exfat ${{first}}p2 /mnt
      dd if=/dev/urandom of=/mnt/theirs bs=1M count=7 2>/dev/null
      check theirs sha256sum /mnt/theirs
      for part in p2 ""; do
        check mounted-info$part spate info $first$part
        check mounted-check$part spate check $first$part
      done
      umount /mnt
      check record spate record vfio:{VFIO}/n1p2 run --from synthetic --size 40MB --bind
      spate extract vfio:{VFIO}/n1p2 theirs - --bind --progress none > /tmp/theirs
      check theirs-read sha256sum /tmp/theirs
      first=$(disk {VFIO}); settle ${{first}}p2
      check verify spate verify ${{first}}p2 run
      check third spate format vfio:{VFIO}/n3 --bind --yes
      check format-second spate format vfio:{VFIO}/n2 --bind --yes
      check record-second spate record vfio:{VFIO}/n2 run2 --from synthetic --size 20MB --bind
      second=$(disk {VFIO} 2); settle ${{second}}p1
      check verify-second spate verify $second run2
      check erase spate erase vfio:{VFIO}/n2 --bind --yes
      first=$(disk {VFIO}); settle ${{first}}p2
      check first-stays spate verify ${{first}}p2 run
      check type spate format ${{first}}p3 --erase --yes
    """, {"rec": drive}, tmp_path, iommu=True, options=options)
    good(said, "device", "record", "verify", "format-second", "record-second", "verify-second", "first-stays", "type")
    assert "Windows will not show" in said["type"].text and "Windows" not in said["device"].text
    for part, what in ("p2", "it is mounted on /mnt"), ("", r"has a partition /dev/nvme0n\dp2 that is mounted"):
        for command in "info", "check":
            report = said[f"mounted-{command}{part}"]
            assert report.status == 0 and "currently in use" in report.text and re.search(what, report.text), report
            assert "not closed properly" not in report.text
    assert said["theirs"].text.split()[0] == said["theirs-read"].text.split()[0]
    assert said["third"].status == FAILED and "no active namespace 3" in said["third"].text
    assert judged_partition(drive, tmp_path, *SECOND) >= {"run", "theirs"}
    third = range(321 * MIB, 385 * MIB)  # formatted by the last command
    assert outside(drive, SECOND[0], third.stop - SECOND[0]) == {at: page for at, page in before.items() if at not in third}
