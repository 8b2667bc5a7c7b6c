# SPDX-License-Identifier: Apache-2.0
"""A Linux machine with NVMe drives, as the judge of what a PC makes of them: Debian's arm64 kernel with a small initial
file system, under QEMU. setup/install fetches the packages; kernel and file system are put together here, once.

    run("sha256sum /drives/a", {"a": image}, folder).output
"""

import dataclasses
import pathlib
import re
import subprocess
import tarfile

import program
import qemu

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GUEST = ROOT / "build" / "linux-guest"
PACKAGES = GUEST / "packages"

# In the order in which they are loaded; insmod says so if one of them needs another.
MODULES = [
    "crc64",
    "crc64_rocksoft_generic",
    "crc64-rocksoft",
    "crct10dif_common",
    "crct10dif_generic",
    "crc-t10dif",
    "t10-pi",
    "nvme-core",
    "nvme",
    "md-mod",
    "raid0",
    "exfat",
]
PROGRAMS = {
    "busybox-static": ["bin/busybox"],
    "mdadm": ["sbin/mdadm"],
    "exfatprogs": ["usr/sbin/mkfs.exfat", "usr/sbin/fsck.exfat"],
    "libc6": ["lib/ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu/ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu/libc.so.6"],
    "libudev1": ["usr/lib/aarch64-linux-gnu/libudev.so.1"],
}

# Drives get names by their serial numbers, because Linux numbers them as they answer.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /mnt /drives /sbin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/sbin
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs devtmpfs /dev
for module in MODULES; do
  insmod /modules/$module.ko || echo "guest: no module $module"
done
wanted=$(sed 's/.*drives=\\([0-9]*\\).*/\\1/' /proc/cmdline)
tries=0
while [ "$(ls -d /sys/block/nvme*n1 2>/dev/null | wc -l)" -lt "$wanted" ] && [ $tries -lt 300 ]; do
  tries=$((tries + 1)); sleep 0.1
done
for drive in /sys/block/nvme*n1; do
  ln -s "/dev/${drive##*/}" "/drives/$(tr -d ' ' < "$drive/device/serial")"
done
echo "guest: begin"
sh /script
echo "guest: exit $?"
sync
poweroff -f
"""


class Archive:
    """A cpio archive in the kernel's "newc" format, which it unpacks as its first file system."""

    def __init__(self):
        self.data = bytearray()
        self.folders = set()
        self.count = 0

    def _entry(self, name, mode, content=b""):
        self.count += 1
        fields = [self.count, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self.data += bytes(-len(self.data) % 4) + content
        self.data += bytes(-len(self.data) % 4)

    def _folders_of(self, name):
        for folder in reversed(pathlib.PurePosixPath(name).parents[:-1]):
            if folder not in self.folders:
                self.folders.add(folder)
                self._entry(str(folder), 0o040755)

    def file(self, name, content):
        self._folders_of(name)
        self._entry(name, 0o100755, content)

    def link(self, name, target):
        self._folders_of(name)
        self._entry(name, 0o120777, target.encode())

    def finished(self):
        self._entry("TRAILER!!!", 0)
        self.data += bytes(-len(self.data) % 512)
        return bytes(self.data)


def package(name):
    found = sorted(PACKAGES.glob(f"{name}_*_arm64.deb"))
    assert len(found) == 1, f"{PACKAGES} has {len(found)} packages of {name}: make setup"
    return found[0]


def contents(path):
    """The files of a package one after the other: (name, link target or None, how to read it)."""
    command = ["dpkg-deb", "--fsys-tarfile", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as unpack:
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if member.issym():
                    yield name, member.linkname, None
                elif member.isfile():
                    yield name, None, archive.extractfile(member).read
    if unpack.returncode != 0:
        raise program.Failed(command, program.ending(unpack.returncode), None)


def build():
    """Kernel and initial file system from the packages as they are now."""
    stamp = GUEST / "built-from"
    text = "\n".join(sorted(path.name for path in PACKAGES.glob("*.deb"))) + INIT + repr((MODULES, PROGRAMS))
    kernel, initial = GUEST / "vmlinuz", GUEST / "initial.cpio"
    if stamp.exists() and stamp.read_text() == text:
        return kernel, initial

    archive = Archive()
    archive.file("init", INIT.replace("MODULES", " ".join(MODULES)).encode())
    missing = set(MODULES)
    for name, _, read in contents(package("linux-image-[0-9]*")):
        if re.fullmatch(r"boot/vmlinuz-.*", name):
            kernel.write_bytes(read())
        module = pathlib.PurePosixPath(name)
        if read and module.suffix == ".ko" and module.stem in missing:
            archive.file(f"modules/{module.name}", read())
            missing.remove(module.stem)
    assert not missing, f"the kernel's package has no {missing}"
    for name, files in PROGRAMS.items():
        missing = set(files)
        for path, target, read in contents(package(name)):
            # A library's name is a link to the file beside it.
            if path in missing or any(path.startswith(f"{file}.") for file in files):
                archive.link(path, target) if target else archive.file(path, read())
                missing.discard(path)
        assert not missing, f"the package {name} has no {missing}"
    initial.write_bytes(archive.finished())
    stamp.write_text(text)
    return kernel, initial


@dataclasses.dataclass
class Result:
    status: int
    output: str


def run(script, drives, folder, block_bytes=None, timeout_s=240, files=None):
    """Boot, run a shell script in which /drives/NAME is each drive, and shut down. `drives`: {name: image file},
    `block_bytes`: {name: 4096} for those whose logical blocks are not 512 bytes. `folder` is for files on the way.
    `files`: {path in the guest: content}, executable."""
    kernel, initial = build()
    archive = Archive()
    archive.file("script", script.encode())
    for path, content in (files or {}).items():
        archive.file(path, content)
    combined = pathlib.Path(folder) / "initrd"
    combined.write_bytes(initial.read_bytes() + archive.finished())

    command = ["qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "cortex-a53", "-m", "512M", "-nodefaults"]
    command += ["-display", "none", "-serial", "stdio", "-no-reboot", "-kernel", kernel, "-initrd", combined]
    command += ["-append", f"console=ttyAMA0 quiet panic=-1 drives={len(drives)}"]
    for name, image in drives.items():
        size = (block_bytes or {}).get(name, 512)
        command += ["-drive", f"if=none,id={name},format=raw,cache=unsafe,discard=unmap,file={qemu.escape(str(image))}"]
        command += ["-device", f"nvme,serial={name},drive={name},logical_block_size={size},physical_block_size={size}"]
    done = program.run(*command, stdin=subprocess.DEVNULL, text=False, timeout_s=timeout_s)
    text = done.stdout.decode("utf-8", "replace").replace("\r", "")
    match = re.search(r"guest: begin\n(.*)guest: exit (\d+)\n", text, re.DOTALL)
    assert match, "the guest did not come to its end:\n" + program.report(command, program.ending(0), text)
    return Result(int(match[2]), match[1])
