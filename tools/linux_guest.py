# SPDX-License-Identifier: Apache-2.0
"""A Linux machine with NVMe drives, which shows how a PC reads them: Debian's kernel with a small initial file system, under
QEMU, as an arm64 machine or a PC. setup/install fetches the packages. This module builds kernel and file system from them, once.

    run("sha256sum /drives/a", {"a": image}, folder).output
"""

import dataclasses
import pathlib
import re
import signal
import subprocess
import tarfile
import tempfile

import linux_modules
import linux_programs
import program
import qemu

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Architecture:
    folder: pathlib.Path  # kernel and initial file system; packages/ has their packages
    programs: tuple[str, ...]  # the packages' programs, besides their shared libraries
    emulator: tuple[str, ...]
    iommu: tuple[tuple[str, str], ...]  # the options that enable it; an option that exists gets a longer value
    boot_words: str
    preset: str  # the preset that builds spate for it


# The second list is for machines with an IOMMU. linux_modules adds what they need.
MODULES = ("nvme", "raid0", "exfat")
VFIO_MODULES = ("vfio_iommu_type1", "vfio-pci")
ARCHITECTURES = {
    "arm64": Architecture(
        ROOT / "build" / "linux-guest",
        ("bin/busybox", "sbin/mdadm", "sbin/mkfs.exfat", "sbin/fsck.exfat"),
        ("qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "cortex-a53"),
        (("-M", ",iommu=smmuv3"),),
        "console=ttyAMA0",
        "linux-aarch64",
    ),
    # Its IOMMU has 39-bit addresses, like Intel's first ones. no_timer_check: at its start the kernel counts the timer's interrupts
    # during 10 jiffies of the host's time, and panics if a busy host has delayed them.
    "amd64": Architecture(
        ROOT / "build" / "linux-guest-amd64",
        ("bin/busybox",),
        ("qemu-system-x86_64", "-M", "q35", "-cpu", "Nehalem"),
        (("-device", "intel-iommu,aw-bits=39"),),
        "console=ttyS0 intel_iommu=on no_timer_check",
        "linux-x86-64",
    ),
}

# Drives get names by their serial numbers, because Linux numbers them in the order in which they answer.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /mnt /drives /sbin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/sbin
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs devtmpfs /dev
modules="MODULES"
grep -q ' vfio' /proc/cmdline && modules="$modules VFIO"
for module in $modules; do
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
    """A cpio archive in the kernel's "newc" format, from which it unpacks its first file system."""

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


def package(name, architecture="arm64"):
    packages = ARCHITECTURES[architecture].folder / "packages"
    found = sorted(packages.glob(f"{name}_*_{architecture}.deb"))
    assert len(found) == 1, f"{packages} has {len(found)} packages of {name}: make setup"
    return found[0]


def contents(path):
    """The files of a package: (name, link target or None, how to read it)."""
    command = ["dpkg-deb", "--fsys-tarfile", path]
    with program.process(command, stdout=subprocess.PIPE) as unpack:
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if member.issym():
                    yield name, member.linkname, None
                elif member.isfile():
                    yield name, None, archive.extractfile(member).read
        unpack.wait()
    if unpack.returncode != 0:
        raise program.Failed(command, program.ending(unpack.returncode), None)


def kernel_of(architecture="arm64"):
    return linux_modules.read(contents(package("linux-image-[0-9]*", architecture)))


def add_kernel(archive, image, architecture):
    """Adds the modules, and the program that loads them. Writes the kernel itself to `image`."""
    kernel = kernel_of(architecture)
    image.write_bytes(kernel.image)
    always = kernel.in_order(MODULES)
    later = [name for name in kernel.in_order(VFIO_MODULES) if name not in always]
    archive.file("init", INIT.replace("MODULES", " ".join(always)).replace("VFIO", " ".join(later)).encode())
    for name in (*always, *later):
        archive.file(f"modules/{name}.ko", kernel.modules[name])


def add_programs(archive, programs, architecture="arm64"):
    """Adds programs of the packages, and the shared libraries that they need."""
    folder = ARCHITECTURES[architecture].folder
    packages = sorted(path for path in (folder / "packages").glob("*.deb") if not path.name.startswith("linux-image"))
    with tempfile.TemporaryDirectory(dir=folder) as name:
        linux_programs.unpack(packages, pathlib.Path(name))
        for place, content in linux_programs.with_libraries(pathlib.Path(name), programs).items():
            archive.file(place, content)


def build(architecture="arm64"):
    """Builds kernel and initial file system, unless they are up to date with the packages."""
    machine = ARCHITECTURES[architecture]
    stamp = machine.folder / "built-from"
    names = sorted(path.name for path in (machine.folder / "packages").glob("*.deb"))
    text = "\n".join(names) + INIT + repr((MODULES, VFIO_MODULES, machine.programs))
    kernel, initial = machine.folder / "vmlinuz", machine.folder / "initial.cpio"
    if stamp.exists() and stamp.read_text() == text:
        return kernel, initial

    archive = Archive()
    add_kernel(archive, kernel, architecture)
    add_programs(archive, machine.programs, architecture)
    initial.write_bytes(archive.finished())
    stamp.write_text(text)
    return kernel, initial


@dataclasses.dataclass
class Result:
    status: int
    output: str


def spate(architecture="arm64"):
    """The command for the guest: {path in the guest: content}."""
    preset = ARCHITECTURES[architecture].preset
    command = program.BUILD / preset / "bin" / "spate"
    assert command.exists(), f"{command} is not built: make build-{preset}"
    return {"bin/spate": command.read_bytes()}


def machine(drives, block_bytes, iommu, memory, boot_words, kernel, initial, options, architecture="arm64"):
    """The emulator's command. With an IOMMU, each drive is behind its own root port: 0000:01:00.0, 0000:02:00.0, ..."""
    kind = ARCHITECTURES[architecture]
    words = f"{kind.boot_words} quiet panic=-1 drives={len(drives)}{' vfio' if iommu else ''} {boot_words}"
    command = [*kind.emulator, "-m", memory, "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"]
    for option, value in kind.iommu if iommu else ():
        if option in command:
            command[command.index(option) + 1] += value
        else:
            command += [option, value]
    command += ["-kernel", kernel, "-initrd", initial, "-append", words.strip()]
    for number, (name, image) in enumerate(drives.items(), start=1):
        size = (block_bytes or {}).get(name, 512)
        command += ["-drive", f"if=none,id={name},format=raw,cache=unsafe,discard=unmap,file={qemu.escape(str(image))}"]
        drive = f"nvme,id=nvme-{name},serial={name},drive={name},logical_block_size={size},physical_block_size={size}"
        if iommu:
            command += ["-device", f"pcie-root-port,id=port{number},slot={number}"]
            drive += f",bus=port{number}"
        command += ["-device", drive]
    return [*command, *options]


def run(script, drives, folder, block_bytes=None, timeout_s=240, files=None, *, iommu=False, memory="512M", boot_words="",
        echo=None, options=(), boot=None, architecture="arm64"):
    """Boots, runs a shell script in which /drives/NAME is each drive, and shuts down. `drives`: {name: image file}.
    `block_bytes`: {name: 4096} for drives whose logical blocks are not 512 bytes. `folder` is for temporary files.
    `files`: {path in the guest: content}, executable. `iommu`: the machine has one, and VFIO is loaded. `boot_words` are for the
    kernel, `options` for the emulator. `boot`: kernel and initial file system instead of build()'s. `echo` is called with each
    line of the script's output as it comes."""
    kernel, initial = boot or build(architecture)
    archive = Archive()
    archive.file("script", script.encode())
    for path, content in (files or {}).items():
        archive.file(path, content)
    combined = pathlib.Path(folder) / "initrd"
    combined.write_bytes(initial.read_bytes() + archive.finished())

    command = machine(drives, block_bytes, iommu, memory, boot_words, kernel, combined, options, architecture)
    text = converse(command, timeout_s, echo)
    match = re.search(r"guest: begin\n(.*)guest: exit (\d+)\n", text, re.DOTALL)
    assert match, "the guest did not finish:\n" + program.report(command, "no exit of its script", text)
    return Result(int(match[2]), match[1])


def converse(command, timeout_s, echo):
    """The output of the guest's console until it shuts down. QEMU 7.2 did not always end when the guest powered off and a drive
    had failed. So once the guest has said how its script ended, QEMU has a minute left, and is then killed."""
    lines = [b""]  # the last one is not complete yet

    def see(piece):
        whole = len(lines) - 1
        lines[-1:] = (lines[-1] + piece).split(b"\n")
        for number in range(whole, len(lines) - 1):
            line = lines[number] = lines[number].replace(b"\r", b"")
            if echo and b"guest: begin" in lines[:number] and not line.startswith(b"guest: exit "):
                echo(line.decode("utf-8", "replace"))

    def has_said_all():
        return any(line.startswith(b"guest: exit ") for line in lines[:-1])

    status, timed_out = program.watch(command, see, timeout_s=timeout_s, has_said_all=has_said_all)
    text = b"\n".join(lines).decode("utf-8", "replace")
    was_killed = status == -signal.SIGKILL and has_said_all()
    if timed_out or (status != 0 and not was_killed):
        ending = program.stopped(timeout_s) if timed_out else program.ending(status)
        raise program.Failed(command, ending, text)
    return text
