# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels and programs for arm64, as machines for tools/linux_guest.py. setup/install linux-bench fetches the packages:
the release's kernel, a later one of its backports, and the newest of Debian 13's backports."""

import itertools
import pathlib
import re

import linux_guest
import linux_modules
import linux_programs
import program

FOLDER = program.BUILD / "linux-bench"
MODULES = ("nvme", "exfat", "ext4", "vfio-pci", "vfio_iommu_type1")  # with what they need: linux_modules
PROGRAMS = ("bin/busybox", "bin/fio", "bin/dd", "sbin/mke2fs", "sbin/mkfs.exfat", "bin/lspci", "sbin/nvme")
DATA = ("usr/share/misc/pci.ids", "etc/mke2fs.conf")

# The machine's own programs do not wait for drives: scripts count them.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /mnt /drives /sbin /usr/sbin /usr/bin /results
/bin/busybox --install -s /bin
export PATH=/own:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs devtmpfs /dev && mount -t tmpfs tmpfs /tmp
for module in MODULES; do
  insmod /modules/$module.ko || echo "guest: no module $module"
done
wanted=$(sed 's/.*drives=\\([0-9]*\\).*/\\1/' /proc/cmdline)
while [ "$(ls -d /sys/block/nvme*n1 2>/dev/null | wc -l)" -lt "$wanted" ]; do sleep 0.1; done
for drive in /sys/block/nvme*n1; do
  ln -s "/dev/${drive##*/}" "/drives/$(tr -d ' ' < "$drive/device/serial")"
done
echo 1 > /proc/sys/kernel/perf_user_access
echo "guest: begin"
sh /script
echo "guest: exit $?"
sync
poweroff -f
"""


# Later releases divide a kernel into several packages.
KERNEL_PACKAGE = re.compile(r"linux-(?:image|binary|modules)-(\d+[.]\d+)[.]")


def packages() -> dict[str, list[pathlib.Path]]:
    """The packages of each kernel by version, such as 6.12, the oldest first."""
    found: dict[str, list[pathlib.Path]] = {}
    for path in sorted(FOLDER.glob("packages/*.deb")):
        if match := KERNEL_PACKAGE.match(path.name):
            found.setdefault(match[1], []).append(path)
    assert found, f"{FOLDER} has no kernel: setup/install linux-bench"
    return dict(sorted(found.items(), key=lambda one: [int(number) for number in one[0].split(".")]))


def kernels() -> tuple[str, ...]:
    return tuple(packages())


def unpack(root: pathlib.Path) -> None:
    """Unpacks every package except the kernels."""
    unfinished = root.with_name("unfinished")
    programs = [path for path in FOLDER.glob("packages/*.deb") if not path.name.startswith("linux-")]
    linux_programs.unpack(programs, unfinished)
    unfinished.rename(root)


def build(version: str) -> tuple[pathlib.Path, pathlib.Path]:
    """Builds kernel and initial file system, unless they are up to date with the packages."""
    stamp, kernel, initial = (FOLDER / f"{name}-{version}" for name in ("built-from", "vmlinuz", "initial"))
    names = sorted(path.name for path in FOLDER.glob("packages/*.deb"))
    text = "\n".join(names) + INIT + repr((MODULES, PROGRAMS, DATA))
    if stamp.exists() and stamp.read_text() == text:
        return kernel, initial
    root = FOLDER / "root"
    if not root.exists():
        unpack(root)
    kernel_package = linux_modules.read(itertools.chain.from_iterable(map(linux_guest.contents, packages()[version])))
    order = kernel_package.in_order(MODULES)
    archive = linux_guest.Archive()
    archive.file("init", INIT.replace("MODULES", " ".join(order)).encode())
    for name in order:
        archive.file(f"modules/{name}.ko", kernel_package.modules[name])
    for place, content in linux_programs.with_libraries(root, PROGRAMS).items():
        archive.file(place, content)
    for place in DATA:
        archive.file(place, (root / place).read_bytes())
    kernel.write_bytes(kernel_package.image)
    initial.write_bytes(archive.finished())
    stamp.write_text(text)
    return kernel, initial


def own_programs() -> dict[str, bytes]:
    built = program.BUILD / "linux-aarch64"
    paths = [built / "bin" / "spate", *(built / "bench" / name for name in ("count", "ways", "uring", "calls", "spate-no-source"))]
    for path in paths:
        assert path.exists(), f"{path} is not built: make bench-linux"
    return {f"own/{path.name}": path.read_bytes() for path in paths}


def run(version: str, script: str, drives: dict, folder: pathlib.Path, *, strict: bool, timeout_s: float,
        echo) -> linux_guest.Result:
    """A machine of 1 GiB, 256 MiB of which the kernel does not use, with an IOMMU. With `strict`, each request is mapped;
    otherwise the kernel's drivers bypass it. Its time is its instructions, one per nanosecond. While it idles, time passes as
    on this machine. If it jumped to the next timer instead (sleep=off), a request that takes this machine a millisecond could
    take thirty seconds there, and the kernel would abort it. Drives take commands of 1 MiB."""
    words = "mem=768M" + ("" if strict else " iommu.passthrough=1")
    options = ["-smp", "1", "-icount", "shift=0,sleep=on", "-global", "nvme.mdts=8"]
    return linux_guest.run(script, drives, folder, files=own_programs(), iommu=True, memory="1G", boot_words=words,
                           options=options, boot=build(version), timeout_s=timeout_s, echo=echo)
