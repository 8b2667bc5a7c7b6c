# SPDX-License-Identifier: Apache-2.0
"""Additions to the guest of linux_guest.py, for tests of storage beyond one drive: NVMe over TCP with its target, ext4, the
device mapper and LVM. Scripts that use it begin with PRELUDE.

    linux_guest.run(linux_storage.PRELUDE + script, drives, folder, boot=linux_storage.build())
"""

import pathlib
import re

import linux_guest

MACHINE = linux_guest.ARCHITECTURES["arm64"]
# In loading order.
MODULES = ("configfs", "nvmet", "nvmet-tcp", "nvme-fabrics", "nvme-tcp", "crc16", "crc32c_generic", "mbcache", "jbd2", "ext4",
           "dax", "dm-mod", "dm-flakey")
PROGRAMS = {"lvm2": "sbin/lvm", "dmsetup": "sbin/dmsetup", "libc6": "lib/aarch64-linux-gnu/libm.so.6"}
# The shared libraries of lvm2 and dmsetup: all libraries in these packages.
LIBRARIES = ("libaio1", "libblkid1", "libbsd0", "libcap2", "libdevmapper-event1.02.1", "libdevmapper1.02.1", "libedit2",
             "libgcrypt20", "libgpg-error0", "liblz4-1", "liblzma5", "libmd0", "libpcre2-8-0", "libselinux1", "libsystemd0",
             "libtinfo6", "libzstd1")
LIBRARY = re.compile(r"(usr/)?lib/aarch64-linux-gnu/lib[^/]*[.]so[.][^/]*")

# There is no udev, so libdevmapper and lvm do its work themselves.
#
# serve NAME FILE: exports this file as a namespace over TCP on this machine, through the page cache.
#
# attach NAME [OPTION...]: the kernel's driver connects to it; then $device is the block device. The options are those of
# /dev/nvme-fabrics. While the kernel is still removing an earlier connection, it refuses a new one, so attach tries again.
PRELUDE = """
for module in MODULES; do insmod /modules/$module.ko || echo "guest: no module $module"; done
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
""".replace("MODULES", " ".join(MODULES))


def add_modules(archive) -> None:
    missing = set(MODULES)
    for name, _, read in linux_guest.contents(linux_guest.package("linux-image-[0-9]*")):
        module = pathlib.PurePosixPath(name)
        if read and module.suffix == ".ko" and module.stem in missing:
            archive.file(f"modules/{module.name}", read())
            missing.remove(module.stem)
    assert not missing, f"the kernel's package has no {missing}"


def add_programs(archive) -> None:
    for package, wanted in PROGRAMS.items():
        found = {name: read() for name, _, read in linux_guest.contents(linux_guest.package(package)) if name == wanted}
        assert found, f"the package {package} has no {wanted}"
        archive.file(wanted, found[wanted])


def add_libraries(archive) -> None:
    for package in LIBRARIES:
        count = 0
        for name, target, read in linux_guest.contents(linux_guest.package(package)):
            if LIBRARY.fullmatch(name):
                archive.link(name, target) if target else archive.file(name, read())
                count += 1
        assert count > 0, f"the package {package} has no shared library"


def build() -> tuple[pathlib.Path, pathlib.Path]:
    """Builds kernel and initial file system, unless they are up to date with the packages."""
    kernel, initial = linux_guest.build()
    stamp, whole = MACHINE.folder / "storage-built-from", MACHINE.folder / "storage.cpio"
    text = (MACHINE.folder / "built-from").read_text() + repr((MODULES, PROGRAMS, LIBRARIES))
    if not (stamp.exists() and stamp.read_text() == text):
        archive = linux_guest.Archive()
        add_modules(archive)
        add_programs(archive)
        add_libraries(archive)
        whole.write_bytes(initial.read_bytes() + archive.finished())
        stamp.write_text(text)
    return kernel, whole
