# SPDX-License-Identifier: Apache-2.0
"""The command spate on other storage than a plain drive: NVMe over TCP, LVM and the device mapper, drives that fail."""

import mmap
import random
import re
import time

import linux_guest
import linux_storage
import program
import pytest
import qemu

from spate_command import DONE, FAILED, LOST, REFUSED, SPATE, spate
from spate_guest import DRIVE_BYTES, PRELUDE, application_files, check_outside, good, guest
from spate_guest import drive  # noqa: F401 (a fixture)

pytestmark = pytest.mark.thorough


def storage_guest(script, drives, folder, **options):
    return guest(linux_storage.PRELUDE + script, drives, folder, boot=linux_storage.build(), **options)


# ---- NVMe over TCP ----


class Enough(Exception):
    """Raised to cut the machine's power."""


def cut_power_of(script, drives, folder, durable_bytes, more_s):
    """Runs a guest, and kills it `more_s` after it has reported `durable_bytes`. Returns the last number that it reported."""
    said = [0]

    def echo(line):
        if match := re.search(r'"durable_bytes": ?(\d+)', line):
            said.append(int(match[1]))
        print(line)
        if said[-1] >= durable_bytes:
            time.sleep(more_s)
            raise Enough

    with pytest.raises(Enough):
        linux_guest.run(PRELUDE + linux_storage.PRELUDE + script, drives, folder, files=linux_guest.spate(), memory="1G",
                        timeout_s=120, boot=linux_storage.build(), echo=echo)
    return said[-1]


def file_of(disk, name, folder):
    """Copies a file from an ext4 disk that was not unmounted."""
    program.run("e2fsck", "-f", "-y", disk, statuses=(0, 1))
    copy = folder / name
    program.run("debugfs", "-R", f'dump "/{name}" "{copy}"', disk)
    return copy


# Background writeback in the target would hide a missing flush, so it is turned off.
RECORD_UNTIL_THE_POWER_FAILS = """
  echo 0 > /proc/sys/vm/dirty_writeback_centisecs
  echo 90 > /proc/sys/vm/dirty_ratio
  echo 80 > /proc/sys/vm/dirty_background_ratio
  mount -t ext4 -o commit=300 /drives/disk /mnt
  truncate -s 512M /mnt/namespace
  serve storage /mnt/namespace
  attach storage
  spate format $device --yes
  WITHOUT_FLUSH
  cat /sys/block/${device##*/}/queue/write_cache
  spate record $device run.raw --from synthetic --rate 10MB/s --progress json
"""


def recorded_until_the_power_fails(make_image, folder, without_flush):
    """Returns a copy of the target's file, and how many bytes were reported as durable."""
    disk = make_image(DRIVE_BYTES)
    program.run("mkfs.ext4", "-q", disk)
    # This tells the kernel that the device has no volatile cache. The kernel then drops every flush and FUA.
    take_away = "echo 'write through' > /sys/block/${device##*/}/queue/write_cache" if without_flush else ""
    script = RECORD_UNTIL_THE_POWER_FAILS.replace("WITHOUT_FLUSH", take_away)
    durable_bytes = cut_power_of(script, {"disk": disk}, folder, 20_000_000 + random.randrange(10_000_000), random.random())
    return file_of(disk, "namespace", folder), durable_bytes


def bytes_found(namespace):
    """The length of the recording, after verifying it. 0: there is no recording."""
    done = program.run(SPATE, "verify", namespace, "run.raw", statuses=(DONE, FAILED))
    match = re.search(r": (\d+) bytes", done.stdout)
    assert match or "NOT_FOUND" in done.stderr, done
    assert done.returncode == DONE or not match, done
    return int(match[1]) if match else 0


def test_a_recording_over_the_network_survives_a_power_cut(make_image, tmp_path):
    namespace, durable_bytes = recorded_until_the_power_fails(make_image, tmp_path, without_flush=False)
    spate("recover", namespace)
    assert bytes_found(namespace) >= durable_bytes
    assert set(check_outside(namespace, tmp_path, sector_bytes=4096)) >= {"run.raw"}


def test_without_flushes_it_would_not_survive(make_image, tmp_path):
    """Without flushes data are lost. Otherwise the test above would prove nothing."""
    namespace, durable_bytes = recorded_until_the_power_fails(make_image, tmp_path, without_flush=True)
    assert bytes_found(namespace) < durable_bytes


def durable_bytes_of(said):
    """The last number of durable bytes that a recording has reported."""
    return max(map(int, re.findall(r'"durable_bytes": ?(\d+)', said.text)), default=0)


def bytes_verified(said):
    good({"verify": said}, "verify")
    return int(re.search(r": (\d+) bytes", said.text)[1])


def test_a_network_that_fails(tmp_path):
    """A failure shorter than ctrl_loss_tmo only costs time. A longer failure ends the recording; the checkpointed data are there
    when the network is back."""
    said = storage_guest("""
      mkdir /store; mount -t tmpfs -o size=400M none /store
      truncate -s 400M /store/namespace
      serve storage /store/namespace
      attach storage keep_alive_tmo=1 reconnect_delay=1 ctrl_loss_tmo=2
      check format spate format $device --yes
      begin short spate record $device short.raw --from synthetic --rate 10MB/s --for 6s --progress json; underway short
      ip link set lo down
      n=0; while grep -q live /sys/class/nvme/nvme*/state && [ $n -lt 200 ]; do n=$((n + 1)); sleep 0.1; done
      check connection cat /sys/class/nvme/nvme0/state
      ip link set lo up
      end short
      begin long spate record $device long.raw --from synthetic --rate 10MB/s --progress json; underway long
      ip link set lo down
      end long
      ip link set lo up
      check gone ls $device
      attach storage
      check recover spate recover $device
      for file in short long; do check verify-$file spate verify $device $file.raw; done
    """, {}, tmp_path)
    good(said, "format", "short")
    assert "live" not in said["connection"].text
    assert bytes_verified(said["verify-short"]) == 60_000_000
    assert said["long"].status == LOST and "were LOST" in said["long"].text  # a sensor does not wait
    assert "GONE. The kernel has removed the device" in said["long"].text and "closing failed: GONE" in said["long"].text
    assert "replace the drive" not in said["long"].text
    assert said["gone"].status != 0
    good(said, "recover")
    assert bytes_verified(said["verify-long"]) >= durable_bytes_of(said["long"])


# ---- drives that fail ----

# A device mapper volume over the drive; `table` replaces its table between two requests.
MAPPER = """
  sectors=$(cat /sys/block/nvme0n1/size)
  table() { dmsetup suspend rec; echo "$1" | dmsetup load rec; dmsetup resume rec; }
  good="0 $sectors linear /dev/nvme0n1 0"
  echo "$good" | dmsetup create rec
  check format spate format /dev/mapper/rec --yes
"""


def test_a_device_that_fails(drive, tmp_path):
    """Intermittent errors, permanent errors, write errors: the checkpointed data are there."""
    record = "spate record /dev/mapper/rec --from synthetic --rate 20MB/s --progress json"
    said = storage_guest(MAPPER + f"""
      begin flaky {record} flaky.raw; underway flaky
      table "0 $sectors flakey /dev/nvme0n1 0 1 1 1 error_writes"; end flaky; table "$good"
      begin dead {record} dead.raw; underway dead; table "0 $sectors error"; end dead; table "$good"
      begin writes {record} writes.raw; underway writes; table "0 $sectors flakey /dev/nvme0n1 0 0 60 1 error_writes"
      end writes; table "$good"
      check recover spate recover /dev/mapper/rec
      for file in flaky dead writes; do check verify-$file spate verify /dev/mapper/rec $file.raw; done
      check check spate check /dev/mapper/rec
      dmsetup remove rec
    """, {"rec": drive}, tmp_path)
    good(said, "format", "recover", "check")
    for name in ("flaky", "dead", "writes"):
        assert said[name].status == LOST and "MEDIA" in said[name].text and "were LOST" in said[name].text, said[name]
        assert bytes_verified(said[f"verify-{name}"]) >= durable_bytes_of(said[name])
    check_outside(drive, tmp_path)


BAD_SECTOR = 160_000  # at 82 MB, in the middle of the recording


def failing_drive(name, image, port, once=False, iotype="write", sector=BAD_SECTOR):
    """The emulator's options for a drive behind its own port that cannot write (or read) one of its sectors; `once`: only the
    first of these requests fails."""
    rules = {"event": "none", "iotype": iotype, "sector": sector, "errno": 5, "once": "on" if once else "off"}
    words = ",".join(f"file.inject-error.0.{key}={value}" for key, value in rules.items())
    return ("-drive", f"if=none,id={name},driver=raw,file.driver=blkdebug,file.image.driver=file,file.image.filename="
            f"{qemu.escape(str(image))},{words}", "-device", f"pcie-root-port,id=port{port},slot={port}",
            "-device", f"nvme,serial={name},drive={name},bus=port{port}")


def test_a_drive_with_a_bad_sector(make_image, tmp_path):
    """Under the library's own driver, and under the kernel's. A write that fails only once is repeated, and loses nothing."""
    bad, once = make_image(DRIVE_BYTES), make_image(DRIVE_BYTES)
    sensor = "--from synthetic --size 120MB --progress json"  # without a rate the sensor waits
    record = f"--rate 40MB/s {sensor}"
    said = storage_guest(f"""
      settle $(disk 0000:01:00.0); settle $(disk 0000:02:00.0)
      check format spate format vfio:0000:01:00.0 --bind --yes
      check own spate record vfio:0000:01:00.0 own.raw --bind {record}
      check own-recover spate recover vfio:0000:01:00.0 --bind
      check own-verify spate verify vfio:0000:01:00.0 own.raw --bind
      check own-rm spate rm vfio:0000:01:00.0 own.raw --bind
      bad=$(disk 0000:01:00.0); settle $bad
      check kernel spate record $bad kernel.raw {record}
      check kernel-recover spate recover $bad
      check kernel-verify spate verify $bad kernel.raw
      check once-format spate format vfio:0000:02:00.0 --bind --yes
      check once spate record vfio:0000:02:00.0 once.raw --bind {sensor}
      check once-verify spate verify vfio:0000:02:00.0 once.raw --bind
    """, {}, tmp_path, iommu=True, options=failing_drive("bad", bad, 1) + failing_drive("once", once, 2, once=True))
    good(said, "format", "own-recover", "own-rm", "kernel-recover", "once-format", "once")
    for name in ("own", "kernel"):
        assert said[name].status == LOST and "MEDIA" in said[name].text, said[name]
        assert durable_bytes_of(said[name]) <= bytes_verified(said[f"{name}-verify"]) < 120_000_000
    assert "could not read or write its media" in said["kernel"].text
    assert bytes_verified(said["once-verify"]) == 120_000_000


def test_a_drive_that_cannot_read_its_reservation_record(make_image, tmp_path):
    """The volume can be used. After a cut nothing is recovered, and the command says what to do."""
    image = make_image(DRIVE_BYTES)
    spate("format", image, "--yes")
    spate("record", image, "whole.raw", "--from", "synthetic", "--size", "5MB")
    with image.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        slot = content.find(b"SPATE\x1a\r\n")
    assert slot > 0 and slot % 512 == 0
    record = "spate record /dev/nvme0n1"
    said = storage_guest(f"""
      settle
      check verify spate verify /dev/nvme0n1 whole.raw
      check record {record} more.raw --from synthetic --size 5MB
      begin cut {record} cut.raw --from synthetic --size 300MB --rate 20MB/s --progress json; underway cut; kill -9 $cut; end cut
      check info spate info /dev/nvme0n1
      check beside {record} beside.raw --from synthetic --size 5MB
      for file in more cut beside; do check verify-$file spate verify /dev/nvme0n1 $file.raw; done
    """, {}, tmp_path, iommu=True, options=failing_drive("bad", image, 1, iotype="read", sector=slot // 512))
    warning = "the drive cannot read its reservation record (1 of 17 blocks)"
    good(said, "verify", "record", "info", "verify-more", "verify-cut", "verify-beside")
    assert bytes_verified(said["verify-cut"]) >= durable_bytes_of(said["cut"]) > 0
    assert said["beside"].status == FAILED and "closing failed: CORRUPT" in said["beside"].text
    for name in ("verify", "record", "info", "beside"):
        assert warning in said[name].text, said[name]
        assert ("not recovered: check the volume with fsck.exfat" in said[name].text) == (name in ("info", "beside"))


# ---- drives in use ----


def test_drives_in_use_by_lvm_and_the_device_mapper_are_refused(make_image, tmp_path):
    """A drive and a partition, as the kernel's block device and with --bind. An LVM volume is an ordinary target."""
    said = storage_guest("""
      rec=$(disk 0000:01:00.0); two=$(disk 0000:02:00.0)
      lvm pvcreate -qq $rec && lvm vgcreate -qq films $rec && lvm lvcreate -qq -y -L 200M -n raw films
      check lvm-format spate format $rec --erase --yes
      check lvm-record spate record $rec run --from synthetic --size 1MB
      check lvm-bind spate format vfio:0000:01:00.0 --bind --erase --yes
      check lvm-erase spate erase $rec --yes
      check volume-format spate format /dev/films/raw --yes
      check volume spate record /dev/films/raw run --from synthetic --size 40MB
      check volume-verify spate verify /dev/films/raw run
      lvm vgchange -qq -an films
      check inactive spate format $rec --yes
      lvm vgchange -qq -ay films
      check lvm-still spate verify /dev/films/raw run

      spate format $two --yes 2>/dev/null; settle ${two}p1
      dmsetup create part --table "0 2048 linear ${two}p1 0"
      check dm-format spate format $two --erase --yes
      check dm-bind spate format vfio:0000:02:00.0 --bind --erase --yes
      check dm-part spate record ${two}p1 run --from synthetic --size 1MB
      check dm-read spate info $two
      dmsetup remove part
      check free spate record $two run --from synthetic --size 1MB
      has driver 0000:01:00.0
      has driver-2 0000:02:00.0
    """, {"rec": make_image(DRIVE_BYTES), "two": make_image(DRIVE_BYTES)}, tmp_path, iommu=True)
    for name in ("lvm-format", "lvm-record", "lvm-bind"):
        assert said[name].status == REFUSED and "is part of /dev/mapper/films-raw (LVM)" in said[name].text, said[name]
    assert said["lvm-erase"].status == REFUSED
    assert said["inactive"].status == REFUSED and "LVM2_member" in said["inactive"].text
    good(said, "volume-format", "volume", "volume-verify", "lvm-still", "dm-read", "free")
    for name in ("dm-format", "dm-bind"):
        assert said[name].status == REFUSED, said[name]
        assert re.search(r"has a partition /dev/nvme\dn1p1 that is part of /dev/mapper/part \(device mapper\)", said[name].text), said[name]
    assert said["dm-part"].status == REFUSED and "is part of /dev/mapper/part (device mapper)" in said["dm-part"].text
    assert said["driver"].text == said["driver-2"].text == "nvme\n"


# ---- one namespace, two controllers ----


def two_controllers(image):
    """The emulator's options for one subsystem with one namespace and two controllers, each behind its own port."""
    options = ["-device", "nvme-subsys,id=both,nqn=both"]
    for number in (1, 2):
        options += ["-device", f"pcie-root-port,id=port{number},slot={number}",
                    "-device", f"nvme,id=controller{number},serial=both,subsys=both,bus=port{number}"]
    return (*options, "-drive", f"if=none,id=shared,format=raw,cache=unsafe,discard=unmap,file={qemu.escape(str(image))}",
            "-device", "nvme-ns,drive=shared,nsid=1,bus=controller1")


KERNELS, OURS = "0000:01:00.0", "0000:02:00.0"
# By hand, as an administrator does for a program without root.
GIVE_TO_VFIO = f"""
  echo vfio-pci > /sys/bus/pci/devices/{OURS}/driver_override
  echo {OURS} > /sys/bus/pci/devices/{OURS}/driver/unbind
  echo {OURS} > /sys/bus/pci/drivers_probe
"""


# The disk has the number of the controller that was ready first.
SHARED_DISK = "n=0; while ! ls /dev/nvme?n1p1 > /dev/null 2>&1 && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.1; done; " \
              "disk=$(ls /dev/nvme?n1)"


def test_a_namespace_that_the_kernel_reaches_by_another_controller(drive, tmp_path):
    """spate does not write to a partition that the kernel uses, and the kernel cannot mount one while spate writes to it."""
    program.run("sfdisk", "--quiet", drive, input="label: gpt\n,256M\n,256M\n")
    said = storage_guest(f"""
      {SHARED_DISK}
      mkfs.exfat ${{disk}}p1 > /dev/null; mount -t exfat ${{disk}}p1 /mnt; echo theirs > /mnt/theirs
      check bind spate format vfio:{OURS} --bind --erase --yes
      has bind-driver {OURS}
      {GIVE_TO_VFIO}
      check format spate format vfio:{OURS} --erase --yes
      check erase spate erase vfio:{OURS} --yes
      check application demo vfio:{OURS} erase=1 clip_mib=1
      check read spate info vfio:{OURS}
      umount /mnt
      mount -t exfat ${{disk}}p1 /mnt; check theirs cat /mnt/theirs; umount /mnt

      check free-format spate format vfio:{OURS} --erase --yes
      begin own spate record vfio:{OURS} run.raw --from synthetic --rate 20MB/s --progress json; underway own
      check mount-meanwhile mount -t exfat ${{disk}}p1 /mnt
      kill -TERM $own; end own
      settle ${{disk}}p1
      check mount mount -t exfat ${{disk}}p1 /mnt
      check kernel sha256sum /mnt/run.raw
      umount /mnt
      spate extract vfio:{OURS} run.raw - --progress none > /tmp/run
      check ours sha256sum /tmp/run
      spate release {OURS}
      has driver {OURS}
    """, {}, tmp_path, files=application_files(), iommu=True, options=two_controllers(drive))
    for name in ("bind", "format", "erase", "application"):
        assert said[name].status == REFUSED, said[name]
        assert f"through the controller {KERNELS}, which has a partition" in said[name].text, said[name]
        assert "that is mounted on /mnt" in said[name].text, said[name]
    good(said, "read", "theirs", "free-format", "own", "mount")  # reading claims nothing
    assert said["theirs"].text == "theirs\n"
    assert said["mount-meanwhile"].status != 0
    assert said["kernel"].text.split()[0] == said["ours"].text.split()[0]
    assert said["bind-driver"].text == said["driver"].text == "nvme\n"


def test_the_kernel_mounts_one_partition_while_spate_records_to_another(drive, tmp_path):
    program.run("sfdisk", "--quiet", drive, input="label: gpt\n,256M\n,256M\n")
    said = storage_guest(f"""
      {SHARED_DISK}
      {GIVE_TO_VFIO}
      mkfs.exfat ${{disk}}p1 > /dev/null; mount -t exfat ${{disk}}p1 /mnt
      check format spate format vfio:{OURS}/n1p2 --yes
      begin own spate record vfio:{OURS}/n1p2 run.raw --from synthetic --rate 20MB/s --progress json; underway own
      dd if=/dev/urandom of=/mnt/theirs bs=1M count=50 2> /dev/null; sync
      check mount-meanwhile mount -t exfat ${{disk}}p2 /drives
      check running kill -0 $own
      kill -TERM $own; end own
      check first spate record vfio:{OURS}/n1p1 run.raw --from synthetic --size 1MB
      check whole spate format vfio:{OURS}/n1 --erase --yes
      check theirs sha256sum /mnt/theirs
      umount /mnt
      mount -t exfat ${{disk}}p1 /mnt; check theirs-again sha256sum /mnt/theirs; umount /mnt
      check mount mount -t exfat ${{disk}}p2 /mnt
      check kernel sha256sum /mnt/run.raw
      umount /mnt
      spate extract vfio:{OURS}/n1p2 run.raw - --progress none > /tmp/run
      check ours sha256sum /tmp/run
      check verify spate verify vfio:{OURS}/n1p2 run.raw
    """, {}, tmp_path, iommu=True, options=two_controllers(drive))
    good(said, "format", "running", "own", "mount", "verify")
    assert said["mount-meanwhile"].status != 0
    assert said["first"].status == REFUSED and "/mnt" in said["first"].text, said["first"]
    assert re.search(r"is also the kernel's /dev/nvme\dn1p1, through", said["first"].text), said["first"]
    assert said["whole"].status == REFUSED and "mounted on /mnt" in said["whole"].text
    assert said["theirs"].text.split()[0] == said["theirs-again"].text.split()[0]
    assert said["kernel"].text.split()[0] == said["ours"].text.split()[0]
    assert bytes_verified(said["verify"]) >= durable_bytes_of(said["own"]) > 0


# ---- at random moments ----


def test_ends_at_random_moments(drive, tmp_path):
    """SIGKILL and removal, even before the first byte. Durable data are there, and the kernel gets the drive back."""
    address = "0000:01:00.0"
    words = "--from synthetic --rate 20MB/s --checkpoint 50ms --progress json"
    script = f"check format spate format vfio:{address} --bind --yes\n"
    names = []
    for number in range(4):
        kind = ("killed", "removed")[number % 2]
        name = f"{kind}-{number}"
        names.append(name)
        end = (f"kill -9 ${kind}{number}; wait; sleep 0.1; spate release {address}" if kind == "killed" else
               f"echo 1 > /sys/bus/pci/devices/{address}/remove; wait; echo 1 > /sys/bus/pci/rescan")
        script += f"""
          settle
          begin {kind}{number} spate record vfio:{address} {name} --bind {words}
          sleep {random.uniform(0.05, 2.5):.2f}
          {{ {end}; }} 2> /dev/null
          check {name} cat /tmp/{kind}{number}
        """
    script += "settle\ncheck recover spate recover /dev/nvme0n1\n"
    for name in names:
        script += f"check verify-{name} spate verify /dev/nvme0n1 {name}\n"
    said = storage_guest(script + f"check check spate check /dev/nvme0n1\nhas driver {address}", {"rec": drive}, tmp_path, iommu=True)
    good(said, "format", "recover", "check")
    assert said["driver"].text == "nvme\n"
    for name in names:
        durable_bytes, verify = durable_bytes_of(said[name]), said[f"verify-{name}"]
        if durable_bytes > 0 or "NOT_FOUND" not in verify.text:
            assert bytes_verified(verify) >= durable_bytes
