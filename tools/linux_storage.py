# SPDX-License-Identifier: Apache-2.0
"""Additions to the guest of linux_guest.py, for tests of storage beyond one drive: NVMe over TCP with its target, ext4, the
device mapper and LVM. Scripts that use it begin with PRELUDE.

    linux_guest.run(linux_storage.PRELUDE + script, drives, folder, boot=linux_storage.build())
"""

import pathlib

import linux_guest

MACHINE = linux_guest.ARCHITECTURES["arm64"]
MODULES = ("nvmet-tcp", "nvme-tcp", "ext4", "dm-flakey")  # with what they need: linux_modules
PROGRAMS = ("sbin/lvm", "sbin/dmsetup")

# There is no udev, so libdevmapper and lvm do its work themselves.
#
# serve NAME FILE: exports this file as a namespace over TCP on this machine, through the page cache.
#
# attach NAME [OPTION...]: the kernel's driver connects to it; then $device is the block device. The options are those of
# /dev/nvme-fabrics. While the kernel is still removing an earlier connection, it refuses a new one, so attach tries again.
PRELUDE = """
for module in $(cat /modules/storage); do insmod /modules/$module.ko || echo "guest: no module $module"; done
mount -t configfs none /sys/kernel/config
export DM_DISABLE_UDEV=1
serve() {
  nvmet=/sys/kernel/config/nvmet
  ip link set lo up
  mkdir $nvmet/subsystems/$1 $nvmet/subsystems/$1/namespaces/1
  echo 1 > $nvmet/subsystems/$1/attr_allow_any_host
  echo $2 > $nvmet/subsystems/$1/namespaces/1/device_path
  echo 1 > $nvmet/subsystems/$1/namespaces/1/buffered_io
  echo 1 > $nvmet/subsystems/$1/namespaces/1/enable
  mkdir $nvmet/ports/1
  echo ipv4 > $nvmet/ports/1/addr_adrfam
  echo tcp > $nvmet/ports/1/addr_trtype
  echo 127.0.0.1 > $nvmet/ports/1/addr_traddr
  echo 4420 > $nvmet/ports/1/addr_trsvcid
  ln -s $nvmet/subsystems/$1 $nvmet/ports/1/subsystems/$1
}
attach() {
  subsystem=$1; shift
  words="nqn=$subsystem,transport=tcp,traddr=127.0.0.1,trsvcid=4420"
  for word in "$@"; do words=$words,$word; done
  n=0
  until echo $words > /dev/nvme-fabrics || [ $n = 50 ]; do n=$((n + 1)); sleep 0.2; done 2> /dev/null
  n=0
  while device=$(served $subsystem) && [ -z "$device" ] && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.1; done
}
served() {
  for folder in /sys/class/nvme-subsystem/*; do
    [ "$(cat $folder/subsysnqn)" = $1 ] || continue
    for disk in $folder/nvme*n1; do [ -e /dev/${disk##*/} ] && echo /dev/${disk##*/}; done
  done
}
"""


def add_modules(archive) -> None:
    """Adds the modules that the guest does not load itself, and a list of them in loading order."""
    kernel = linux_guest.kernel_of()
    loaded = kernel.in_order(linux_guest.MODULES)
    order = [name for name in kernel.in_order(MODULES) if name not in loaded]
    for name in order:
        archive.file(f"modules/{name}.ko", kernel.modules[name])
    archive.file("modules/storage", "\n".join(order).encode())


def build() -> tuple[pathlib.Path, pathlib.Path]:
    """Builds kernel and initial file system, unless they are up to date with the packages."""
    kernel, initial = linux_guest.build()
    stamp, whole = MACHINE.folder / "storage-built-from", MACHINE.folder / "storage.cpio"
    text = (MACHINE.folder / "built-from").read_text() + repr((MODULES, PROGRAMS))
    if not (stamp.exists() and stamp.read_text() == text):
        archive = linux_guest.Archive()
        add_modules(archive)
        linux_guest.add_programs(archive, PROGRAMS)
        whole.write_bytes(initial.read_bytes() + archive.finished())
        stamp.write_text(text)
    return kernel, whole
