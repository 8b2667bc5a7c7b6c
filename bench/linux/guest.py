# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels and programs for arm64, as machines for tools/linux_guest.py. setup/install linux-bench fetches the packages:
the release's kernel, and a later one of its backports."""

import pathlib
import re

import linux_guest
import linux_modules
import program

FOLDER = program.BUILD / "linux-bench"
LIBRARIES = "lib/aarch64-linux-gnu"
MODULES = ("nvme", "exfat", "ext4", "vfio-pci", "vfio_iommu_type1")  # with what they need: linux_modules
PROGRAMS = {
    "fio": "bin/fio",
    "coreutils": "bin/dd",
    "e2fsprogs": "sbin/mke2fs",
    "exfatprogs": "sbin/mkfs.exfat",
    "pciutils": "bin/lspci",
    "nvme-cli": "sbin/nvme",
}
DATA = {"pci.ids": "usr/share/misc/pci.ids", "e2fsprogs": "etc/mke2fs.conf"}
LOADER = "lib/ld-linux-aarch64.so.1"

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


def packages() -> dict[str, pathlib.Path]:
    """The packages of the kernels by version, such as 6.12, the oldest first."""
    found = {}
    for path in FOLDER.glob("packages/linux-image-[0-9]*-arm64_*.deb"):
        version = re.match(r"linux-image-(\d+[.]\d+)[.]", path.name)[1]
        assert version not in found, f"{FOLDER} has two packages of kernel {version}: setup/install linux-bench"
        found[version] = path
    assert found, f"{FOLDER} has no kernel: setup/install linux-bench"
    return dict(sorted(found.items(), key=lambda one: [int(number) for number in one[0].split(".")]))


def kernels() -> tuple[str, ...]:
    return tuple(packages())


def needed_libraries(path: pathlib.Path) -> list[str]:
    text = program.run("readelf", "--wide", "--dynamic", path).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def unpack(folder: pathlib.Path) -> None:
    """Unpacks every package except the kernels, as one root file system on this machine."""
    for path in FOLDER.glob("packages/*.deb"):
        if not path.name.startswith("linux-image"):
            program.run("dpkg-deb", "--extract", path, folder)


def unpacked(root: pathlib.Path, place: str) -> pathlib.Path:
    """The file for this place in the guest. Packages of some releases have in usr/ what others have in /."""
    paths = [path for path in (root / place, root / "usr" / place) if path.exists()]
    assert paths, f"no package has {place}"
    return paths[0]


def library(root: pathlib.Path, name: str) -> pathlib.Path:
    """Debian keeps some libraries in separate folders."""
    separate = root / "usr" / LIBRARIES / "ceph" / name
    return separate if separate.exists() else unpacked(root, f"{LIBRARIES}/{name}")


def programs(root: pathlib.Path) -> dict[str, bytes]:
    """The programs and their shared libraries: {path in the guest: content}."""
    files = {place: unpacked(root, place) for place in [*PROGRAMS.values(), *DATA.values(), "bin/busybox", LOADER]}
    waiting = [files[place] for place in PROGRAMS.values()]
    while waiting:
        for name in needed_libraries(waiting.pop()):
            place = f"{LIBRARIES}/{name}"
            if place not in files and not name.startswith("ld-linux"):
                files[place] = library(root, name)
                waiting.append(files[place])
    return {place: path.read_bytes() for place, path in files.items()}


def build(version: str) -> tuple[pathlib.Path, pathlib.Path]:
    """Builds kernel and initial file system, unless they are up to date with the packages."""
    stamp, kernel, initial = (FOLDER / f"{name}-{version}" for name in ("built-from", "vmlinuz", "initial"))
    names = sorted(path.name for path in FOLDER.glob("packages/*.deb"))
    text = "\n".join(names) + INIT + repr((MODULES, PROGRAMS, DATA))
    if stamp.exists() and stamp.read_text() == text:
        return kernel, initial
    root = FOLDER / "root"
    if not (root / "usr" / PROGRAMS["fio"]).exists():
        unpack(root)
    kernel_package = linux_modules.read(linux_guest.contents(packages()[version]))
    order = kernel_package.in_order(MODULES)
    archive = linux_guest.Archive()
    archive.file("init", INIT.replace("MODULES", " ".join(order)).encode())
    for name in order:
        archive.file(f"modules/{name}.ko", kernel_package.modules[name])
    for place, content in programs(root).items():
        archive.file(place, content)
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
