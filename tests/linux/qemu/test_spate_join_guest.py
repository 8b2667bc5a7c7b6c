# SPDX-License-Identifier: Apache-2.0
"""Linux reads, extends and deletes a file that spate join has made, in an emulated machine."""

from spate_guest import check_outside, good, guest
from spate_guest import drive  # noqa: F401 (a fixture)


def test_the_kernel_uses_a_joined_file(drive, tmp_path):
    said = guest("""
      check format spate format /dev/nvme0n1 --yes
      for size in 3MiB 5MiB 2000001; do
        check record-$size spate record /dev/nvme0n1 flight/$size --from synthetic --size $size
        check between-$size spate record /dev/nvme0n1 between-$size --from synthetic --size 100kB
        spate extract /dev/nvme0n1 flight/$size - --progress none >> /tmp/whole
      done
      spate extract /dev/nvme0n1 between-3MiB - --progress none > /tmp/other
      check whole sha256sum /tmp/whole
      check join spate join /dev/nvme0n1 flight
      spate protect /dev/nvme0n1 between-3MiB
      settle /dev/nvme0n1p1
      mount -t exfat /dev/nvme0n1p1 /mnt
      check kernel sha256sum /mnt/flight
      check protected stat -c %a /mnt/between-3MiB
      cat /tmp/other >> /mnt/flight
      cat /tmp/other >> /tmp/whole
      umount /mnt
      check longer sha256sum /tmp/whole
      spate extract /dev/nvme0n1 flight - --progress none > /tmp/again
      check ours sha256sum /tmp/again
      mount -t exfat /dev/nvme0n1p1 /mnt
      rm /mnt/flight
      umount /mnt
      check volume spate check /dev/nvme0n1
    """, {"rec": drive}, tmp_path)
    good(said, "format", "record-3MiB", "record-5MiB", "join", "volume")
    assert "flight: 3 parts, 10.4 MB" in said["join"].text
    assert said["kernel"].text.split()[0] == said["whole"].text.split()[0]
    assert said["ours"].text.split()[0] == said["longer"].text.split()[0]
    assert said["protected"].text.strip().startswith("5")  # nobody may write
    found = set(check_outside(drive, tmp_path))
    assert found >= {"between-3MiB", "between-5MiB", "between-2000001"} and "flight" not in found
