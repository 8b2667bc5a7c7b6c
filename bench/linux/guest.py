# SPDX-License-Identifier: Apache-2.0
"""Two of Debian's kernels and its programs for arm64, as machines for tools/linux_guest.py. setup/install linux-bench fetches the
packages."""

import lzma
import pathlib
import re

import linux_guest
import program

FOLDER = program.BUILD / "linux-bench"
KERNELS = ("6.1", "6.12")
LIBRARIES = "usr/lib/aarch64-linux-gnu"
# The modules that a kernel loads at the start, in addition to those of linux_guest. Their own dependencies are found in the
# modules. The CRCs are requested by name when a file system is mounted.
MODULES = ["nvme", "exfat", "ext4", "crc32c_generic", "vfio-pci", "vfio_iommu_type1"]
PROGRAMS = {
    "fio": "usr/bin/fio",
    "coreutils": "bin/dd",
    "e2fsprogs": "sbin/mke2fs",
    "exfatprogs": "usr/sbin/mkfs.exfat",
    "pciutils": "usr/bin/lspci",
    "nvme-cli": "usr/sbin/nvme",
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


def depends(module: bytes) -> list[str]:
    """The modules on which a module depends."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [name for name in found[1].decode().split(",") if name] if found else []


def in_order(wanted: list[str], modules: dict[str, bytes]) -> list[str]:
    """`wanted` and their dependencies, each after its dependencies. A module that does not exist is built into the kernel."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in order or name not in modules:
            return
        for needed in depends(modules[name]):
            visit(needed.replace("-", "_"))
        order.append(name)

    for name in wanted:
        visit(name.replace("-", "_"))
    return order


def kernel_files(version: str) -> tuple[bytes, dict[str, bytes]]:
    """The kernel, and those of its modules that may be needed."""
    found = sorted(FOLDER.glob(f"packages/linux-image-{version}.[0-9]*-arm64_*.deb"))
    assert len(found) == 1, f"{FOLDER} has {len(found)} packages of kernel {version}: setup/install linux-bench"
    kernel, modules = b"", {}
    for name, _, read in linux_guest.contents(found[0]):
        if re.fullmatch(r"boot/vmlinuz-.*", name):
            kernel = read()
        elif read and re.search(r"/kernel/(drivers/(nvme|vfio|iommu)|fs/(exfat|ext4|jbd2|nls|mbcache)|fs/mbcache|lib|crypto|block|"
                                r"arch/arm64/crypto|virt/lib)/?.*\.ko(\.xz)?$", name):
            content = read()
            stem = pathlib.PurePosixPath(name).name.split(".ko")[0].replace("-", "_")
            modules[stem] = lzma.decompress(content) if name.endswith(".xz") else content
    return kernel, modules


def needed_libraries(path: pathlib.Path) -> list[str]:
    text = program.run("readelf", "--wide", "--dynamic", path).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def unpack(folder: pathlib.Path) -> None:
    """Unpacks every package except the kernels, as one root file system on this machine."""
    for path in FOLDER.glob("packages/*.deb"):
        if not path.name.startswith("linux-image"):
            program.run("dpkg-deb", "--extract", path, folder)


def programs(root: pathlib.Path) -> dict[str, bytes]:
    """The programs and their shared libraries: {path in the guest: content}."""
    files = {place: root / place for place in [*PROGRAMS.values(), *DATA.values(), "bin/busybox"]}
    files[LOADER] = root / LOADER
    waiting = [root / place for place in PROGRAMS.values()]
    while waiting:
        for name in needed_libraries(waiting.pop()):
            place = f"{LIBRARIES}/{name}"
            if place in files or name.startswith("ld-linux"):
                continue
            # Debian keeps some libraries in separate folders.
            paths = [path for folder in (LIBRARIES, "lib/aarch64-linux-gnu", f"{LIBRARIES}/ceph")
                     if (path := root / folder / name).exists()]
            assert paths, f"no package has {name}"
            files[place] = paths[0]
            waiting.append(paths[0])
    return {place: path.read_bytes() for place, path in files.items()}


def build(version: str) -> tuple[pathlib.Path, pathlib.Path]:
    """Builds kernel and initial file system, unless they are up to date with the packages."""
    stamp, kernel, initial = (FOLDER / f"{name}-{version}" for name in ("built-from", "vmlinuz", "initial"))
    names = sorted(path.name for path in FOLDER.glob("packages/*.deb"))
    text = "\n".join(names) + INIT + repr((MODULES, PROGRAMS, DATA))
    if stamp.exists() and stamp.read_text() == text:
        return kernel, initial
    root = FOLDER / "root"
    if not (root / PROGRAMS["fio"]).exists():
        unpack(root)
    image, modules = kernel_files(version)
    order = in_order(MODULES, modules)
    archive = linux_guest.Archive()
    archive.file("init", INIT.replace("MODULES", " ".join(order)).encode())
    for name in order:
        archive.file(f"modules/{name}.ko", modules[name])
    for place, content in programs(root).items():
        archive.file(place, content)
    kernel.write_bytes(image)
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
