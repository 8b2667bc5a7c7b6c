# SPDX-License-Identifier: Apache-2.0
"""The command spate with the library's own driver, in emulated Linux machines: behind an IOMMU (vfio:), and without one (pci:).
The kernel's own drivers in the machine and fsck.exfat on the host check the drive."""

import re

import pytest

from spate_command import FAILED, REFUSED, USAGE
from spate_guest import DRIVE_BYTES, PCI, VFIO, check_outside, good, guest, without_coherency
from spate_guest import drive  # noqa: F401 (a fixture)


def test_a_recording_behind_an_iommu(drive, tmp_path):
    said = guest(f"""
      check format spate format vfio:{VFIO} --bind --yes
      check record spate record vfio:{VFIO} a/run --from synthetic --size 40MB --bind
      check speed spate speedtest vfio:{VFIO} --bind --write --block 512 --block 4KiB --block 1MiB --size 2MB
      check verify spate verify vfio:{VFIO} a/run --bind
      has driver {VFIO}
      settle /dev/nvme0n1p1
      mount -t exfat /dev/nvme0n1p1 /mnt
      check kernel sha256sum /mnt/a/run
      dd if=/dev/urandom of=/mnt/theirs bs=1M count=7 2>/dev/null
      check theirs sha256sum /mnt/theirs
      umount /mnt
      spate extract vfio:{VFIO} a/run - --bind --progress none > /tmp/run
      check ours sha256sum /tmp/run
      spate extract vfio:{VFIO} theirs - --bind --progress none > /tmp/theirs-read
      check theirs-read sha256sum /tmp/theirs-read
    """, {"rec": drive}, tmp_path, iommu=True)
    good(said, "format", "record", "speed", "verify")
    assert said["driver"].text == "nvme\n"
    assert said["kernel"].text.split()[0] == said["ours"].text.split()[0]
    assert said["theirs"].text.split()[0] == said["theirs-read"].text.split()[0]
    assert set(check_outside(drive, tmp_path)) >= {"a/run", "theirs"}


@pytest.mark.thorough
def test_a_pc_whose_iommu_has_39_bits(drive, tmp_path):
    """Also compares health and erase through the library's own driver with those through the kernel."""
    said = guest(f"""
      check health spate health vfio:{VFIO} --bind
      settle
      check kernel-health spate health /dev/nvme0n1
      check format spate format vfio:{VFIO} --bind --yes
      check record spate record vfio:{VFIO} run --from synthetic --size 40MB --bind
      check verify spate verify vfio:{VFIO} run --bind
      settle /dev/nvme0n1p1
      mount -t exfat /dev/nvme0n1p1 /mnt
      check kernel sha256sum /mnt/run
      umount /mnt
      spate extract vfio:{VFIO} run - --bind --progress none > /tmp/run
      check ours sha256sum /tmp/run
      settle
      check kernel-sanitize spate erase /dev/nvme0n1 --yes --sanitize
      check sanitize spate erase vfio:{VFIO} --bind --yes --sanitize
      check spared spate verify vfio:{VFIO} run --bind
      settle
      check kernel-erase spate erase /dev/nvme0n1 --yes
      check empty spate info vfio:{VFIO} --bind
      spate format vfio:{VFIO} --bind --yes 2>/dev/null
      check erase spate erase vfio:{VFIO} --bind --yes
      check empty-again spate info vfio:{VFIO} --bind
    """, {"rec": drive}, tmp_path, iommu=True, architecture="amd64")
    good(said, "health", "kernel-health", "format", "record", "verify", "spared", "kernel-erase", "erase")
    for name in ("kernel-sanitize", "sanitize"):  # QEMU's drive does not support it
        assert said[name].status == REFUSED and "does not support Sanitize" in said[name].text, said[name]
    assert said["kernel"].text.split()[0] == said["ours"].text.split()[0]
    for name in ("health", "kernel-health"):
        assert "serial rec" in said[name].text and "temperature   50 C" in said[name].text, said[name]
        assert "link" in said[name].text
    assert said["empty"].status == FAILED == said["empty-again"].status
    assert "has no volume" in said["empty"].text and "has no volume" in said["empty-again"].text


@pytest.mark.thorough
def test_nothing_is_taken_from_the_kernel_by_mistake(drive, make_image, tmp_path):
    said = guest(f"""
      rec=$(disk {VFIO}); one=$(disk 0000:02:00.0); two=$(disk 0000:03:00.0)
      check bound spate info vfio:{VFIO}
      check absent spate info vfio:0000:09:00.0
      check address spate info vfio:nonsense
      check bridge spate info vfio:0000:00:01.0 --bind
      spate format /drives/rec --yes 2>/dev/null
      settle ${{rec}}p1
      mount -t exfat ${{rec}}p1 /mnt
      check mounted spate format vfio:{VFIO} --bind --erase --yes
      umount /mnt
      mkswap ${{rec}}p1 > /dev/null; swapon ${{rec}}p1
      check swap spate format vfio:{VFIO} --bind --erase --yes
      check swap-disk spate format $rec --erase --yes
      swapoff ${{rec}}p1
      mdadm --create /dev/md0 --run --level=0 --raid-devices=2 $one $two > /dev/null 2>&1
      check md spate format vfio:0000:02:00.0 --bind --erase --yes
      check md-disk spate format $one --erase --yes
      mdadm --stop /dev/md0 2>/dev/null
      check array spate format vfio:0000:02:00.0 --bind --yes
      check iommu spate info pci:{VFIO} --bind
      mv $rec /dev/elsewhere
      mkfs.exfat ${{rec}}p1 > /dev/null
      mount -t exfat ${{rec}}p1 /mnt
      check hidden spate info vfio:{VFIO} --bind
      umount /mnt
      check no-node spate info vfio:{VFIO} --bind
      mv /dev/elsewhere $rec
      check kinds spate info stripe:vfio:{VFIO},sim:ideal --bind
      check part-erase spate erase ${{rec}}p1 --yes
      check md-erase spate erase /dev/md0 --yes
      check still spate info $rec
      has bridge-driver 0000:00:01.0
      has driver {VFIO}
    """, {"rec": drive, "one": make_image(DRIVE_BYTES), "two": make_image(DRIVE_BYTES)}, tmp_path, iommu=True)
    assert said["bound"].status == REFUSED and '"nvme"' in said["bound"].text and "--bind" in said["bound"].text
    assert said["absent"].status == FAILED and "no PCI function" in said["absent"].text
    assert said["address"].status == USAGE
    assert said["bridge"].status == REFUSED and "not an NVMe drive" in said["bridge"].text
    assert said["bridge-driver"].text == "pcieport\n"
    assert said["hidden"].status == REFUSED and "mounted on /mnt" in said["hidden"].text
    assert said["no-node"].status == REFUSED and "node" in said["no-node"].text
    assert said["kinds"].status == USAGE
    assert said["part-erase"].status == REFUSED and "is a partition" in said["part-erase"].text
    assert said["md-erase"].status != 0
    assert said["still"].status == 0, said["still"]
    assert said["mounted"].status == REFUSED and "mounted on /mnt" in said["mounted"].text
    assert said["swap"].status == REFUSED and "used for swap" in said["swap"].text
    assert said["swap-disk"].status == REFUSED and "used for swap" in said["swap-disk"].text
    assert said["md"].status == REFUSED and "part of /dev/md" in said["md"].text
    assert said["md-disk"].status == REFUSED and "part of /dev/md" in said["md-disk"].text
    assert said["array"].status == REFUSED and "--erase" in said["array"].text
    assert said["driver"].text == "nvme\n"
    assert said["iommu"].status == REFUSED and f"vfio:{VFIO}" in said["iommu"].text


@pytest.mark.thorough
def test_abrupt_ends(drive, tmp_path):
    """SIGKILL, removal, a reset behind the driver's back, SIGTERM: no checkpointed data are lost, and the kernel gets the drive
    back."""
    record = f"spate record vfio:{VFIO} --from synthetic --rate 20MB/s --bind --progress json"
    said = guest(f"""
      check format spate format vfio:{VFIO} --bind --yes
      begin killed {record} killed.raw; underway killed
      check in-use spate release {VFIO}
      check second spate info vfio:{VFIO}
      kill -9 $killed; wait
      has left {VFIO}
      check release spate release vfio:{VFIO}
      check again spate release vfio:{VFIO}/n1p2
      has back {VFIO}
      begin speed spate speedtest vfio:{VFIO} --bind --for 60s; sleep 2; kill -TERM $speed; end speed
      has after-speed {VFIO}
      spate extract vfio:{VFIO} killed.raw - --bind --progress none 2>/dev/null | head -c 100 > /dev/null
      has after-pipe {VFIO}
      begin removed {record} removed.raw; underway removed
      echo 1 > /sys/bus/pci/devices/{VFIO}/remove
      end removed
      echo 1 > /sys/bus/pci/rescan; settle
      for method in flr bus; do
        echo $method > /sys/bus/pci/devices/{VFIO}/reset_method
        begin reset_$method {record} $method.raw --for 5s; underway reset_$method
        echo 1 > /sys/bus/pci/devices/{VFIO}/reset
        end reset_$method
      done
      begin term {record} term.raw; underway term; kill -TERM $term; end term
      has driver {VFIO}
      settle /dev/nvme0n1
      for file in killed removed flr bus term; do check verify-$file spate verify /dev/nvme0n1 $file.raw; done
    """, {"rec": drive}, tmp_path, iommu=True)
    good(said, "format", "release", "again", "reset_flr", "reset_bus", "term")
    assert said["in-use"].status == REFUSED and "in use" in said["in-use"].text
    assert said["second"].status == REFUSED and "in use" in said["second"].text
    assert said["speed"].status == FAILED and "Terminated" in said["speed"].text
    assert said["after-speed"].text == said["after-pipe"].text == "nvme\n"
    assert said["left"].text == "vfio-pci\n" and said["back"].text == "nvme\n" == said["driver"].text
    assert said["removed"].status == FAILED and "asked for the drive back" in said["removed"].text
    for name, bytes_min in {"killed": 20e6, "removed": 20e6, "flr": 99e6, "bus": 99e6, "term": 20e6}.items():
        check = said[f"verify-{name}"]
        assert check.status == 0, f"{name}: {check}"
        assert int(re.search(r": (\d+) bytes", check.text)[1]) >= bytes_min, check
    check_outside(drive, tmp_path)


@pytest.mark.thorough
def test_a_machine_without_an_iommu(drive, tmp_path):
    said = guest(f"""
      check none spate format pci:{PCI} --bind --yes
      has given-back {PCI}
      echo 40 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
      check vfio spate info vfio:{PCI} --bind
      check format spate format pci:{PCI} --bind --yes
      check record spate record pci:{PCI} run --from synthetic --size 40MB --bind
      check verify spate verify pci:{PCI} run --bind
      begin first spate record pci:{PCI} first.raw --from synthetic --rate 20MB/s --for 4s --bind --progress json
      underway first
      check second spate info pci:{PCI}
      end first
      has ended {PCI}
      begin killed spate record pci:{PCI} killed.raw --from synthetic --rate 20MB/s --bind --progress json; underway killed
      kill -9 $killed; wait
      n=0; while [ "$(grep -c 'HugePages_Free: *40$' /proc/meminfo)" = 0 ] && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.1; done
      check command dd if=/sys/bus/pci/devices/{PCI}/config bs=1 skip=4 count=1 of=/tmp/command
      check bus-master od -An -tx1 /tmp/command
      check pages grep HugePages_Free /proc/meminfo
      check release spate release {PCI}
      settle
      check killed-verify spate verify /dev/nvme0n1 killed.raw
      has driver {PCI}
    """, {"rec": drive}, tmp_path)
    assert said["none"].status == REFUSED and "nr_hugepages" in said["none"].text
    assert said["given-back"].text == "nvme\n"
    assert said["vfio"].status == REFUSED
    good(said, "format", "record", "verify", "first", "release", "killed-verify")  # the second command did not disturb "first"
    assert said["ended"].text == "nvme\n"
    assert said["second"].status == REFUSED and "in use by another spate" in said["second"].text
    assert int(said["bus-master"].text, 16) & 0x04 == 0, "the drive of a killed spate may still write to memory"
    assert said["pages"].text.split()[-1] == "40"
    assert said["driver"].text == "nvme\n"
    assert set(check_outside(drive, tmp_path)) >= {"run", "killed.raw"}


@pytest.mark.parametrize("kind", ["vfio", "pci"])
@pytest.mark.thorough
def test_dma_that_is_not_known_to_be_coherent_is_refused(kind, drive, tmp_path):
    """Emulated DMA is always coherent, so the test removes the property from the device tree."""
    iommu = kind == "vfio"
    address = VFIO if iommu else PCI
    said = guest(f"""
      echo 40 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
      check refused spate format {kind}:{address} --bind --yes
      has driver {address}
    """, {"rec": drive}, tmp_path, iommu=iommu, options=without_coherency(tmp_path, iommu))
    assert said["refused"].status == REFUSED and "coherent" in said["refused"].text
    assert said["driver"].text == "nvme\n"


@pytest.mark.thorough
def test_a_stripe_that_mdadm_assembles(drive, make_image, tmp_path):
    stripe = f"stripe:vfio:{VFIO},vfio:0000:02:00.0"
    said = guest(f"""
      check format spate format {stripe} --bind --yes
      check record spate record {stripe} run --from synthetic --size 60MB --bind
      check verify spate verify {stripe} run --bind
      spate extract {stripe} run - --bind --progress none > /tmp/run
      check ours sha256sum /tmp/run
      settle /dev/nvme0n1; settle /dev/nvme1n1
      mdadm --assemble --scan > /dev/null 2>&1
      array=$(ls -d /dev/md12? | head -n 1)
      blockdev --rereadpt $array; settle ${{array}}p1
      mount -t exfat ${{array}}p1 /mnt
      check kernel sha256sum /mnt/run
    """, {"rec": drive, "two": make_image(DRIVE_BYTES)}, tmp_path, iommu=True)
    good(said, "format", "record", "verify")
    assert said["kernel"].text.split()[0] == said["ours"].text.split()[0]
