# SPDX-License-Identifier: Apache-2.0
"""The command spate on storage that is more than a drive: NVMe over TCP, LVM and the device mapper, drives that fail."""

import random
import re
import time

import linux_guest
import linux_storage
import program
import pytest

from test_spate_drive import DRIVE_BYTES, FAILED, MIB, PRELUDE, REFUSED, check_outside, good, guest
from test_spate_image import DONE, LOST, SPATE, spate


def storage_guest(script, drives, folder, **options):
    return guest(linux_storage.PRELUDE + script, drives, folder, boot=linux_storage.build(), **options)


# ---- NVMe over TCP ----


class Enough(Exception):
    """The machine's power is to be cut."""


def cut_power_of(script, drives, folder, durable_bytes, more_s):
    """A guest that is killed `more_s` after it said that so many bytes are durable. How many it said at the end."""
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
    """A file of an ext4 disk that nobody unmounted."""
    program.run("e2fsck", "-f", "-y", disk, statuses=(0, 1))
    copy = folder / name
    program.run("debugfs", "-R", f'dump "/{name}" "{copy}"', disk)
    return copy


# What the target writes back without being asked would hide that a flush is missing.
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
    """What the target's file holds then, and how much was durable by then."""
    disk = make_image(DRIVE_BYTES)
    program.run("mkfs.ext4", "-q", disk)
    # In the kernel's words: the device has no volatile cache. So it drops every flush and FUA.
    take_away = "echo 'write through' > /sys/block/${device##*/}/queue/write_cache" if without_flush else ""
    script = RECORD_UNTIL_THE_POWER_FAILS.replace("WITHOUT_FLUSH", take_away)
    durable_bytes = cut_power_of(script, {"disk": disk}, folder, 20_000_000 + random.randrange(10_000_000), random.random())
    return file_of(disk, "namespace", folder), durable_bytes


def bytes_found(namespace):
    """Of the recording: so many, and all of them are right. 0: there is none."""
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


def test_it_is_the_flush_that_makes_it_survive(make_image, tmp_path):
    """The same without one: otherwise the test above would prove nothing."""
    namespace, durable_bytes = recorded_until_the_power_fails(make_image, tmp_path, without_flush=True)
    assert bytes_found(namespace) < durable_bytes
