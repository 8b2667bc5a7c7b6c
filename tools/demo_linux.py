# SPDX-License-Identifier: Apache-2.0
"""
Records with the command spate in an emulated Linux machine with Debian's kernel, an IOMMU, and an NVMe drive that the library
drives itself through VFIO. Then the kernel's own drivers, fsck.exfat and The Sleuth Kit check the drive.

Exit status 0: all checks passed. Otherwise the last line names the step that failed.
"""

import argparse
import pathlib
import re
import shutil
import tempfile
import time

import demo
import linux_guest
import program
import volume

IMAGE_BYTES = 2 << 30
RECORDED_BYTES = 200_000_000
TARGET = "vfio:0000:01:00.0"

# The script runs exactly what it shows. It leaves out progress bars: the console is a slow serial line.
SCRIPT = f"""set -e
show() {{ echo "# $*"; "$@"; }}
echo "# uname -srm: $(uname -srm)"
show spate format {TARGET} --bind --yes
show spate record {TARGET} flight/run1.raw --from synthetic --size 150MB --bind --progress none
echo "# head -c 50000000 /dev/urandom | spate record {TARGET} flight/noise.bin --bind"
head -c 50000000 /dev/urandom | spate record {TARGET} flight/noise.bin --bind --progress none
show spate ls {TARGET} --bind
show spate verify {TARGET} flight/run1.raw --bind --progress none
for name in flight/run1.raw flight/noise.bin; do
  echo "spate    $(spate extract {TARGET} $name - --bind --progress none | sha256sum | cut -d' ' -f1) $name"
done
echo "# the drive is the kernel's again: mount -t exfat /dev/nvme0n1p1 /mnt"
while [ ! -e /dev/nvme0n1p1 ]; do sleep 0.1; done
mount -t exfat -o ro /dev/nvme0n1p1 /mnt
for name in flight/run1.raw flight/noise.bin; do
  echo "exfat.ko $(sha256sum < /mnt/$name | cut -d' ' -f1) $name"
done
umount /mnt
"""


def sums(output: str) -> dict[str, dict[str, str]]:
    """{who: {file: SHA-256}} from the guest's lines."""
    found: dict[str, dict[str, str]] = {}
    for who, digest, name in re.findall(r"^(spate|exfat\.ko) +([0-9a-f]{64}) (\S+)$", output, re.M):
        found.setdefault(who, {})[name] = digest
    return found


def judge(image: pathlib.Path, folder: pathlib.Path, said: dict[str, dict[str, str]]) -> None:
    """All checks on the host. volume.Refused if one fails."""
    if len(said.get("spate", {})) != 2 or said["spate"] != said.get("exfat.ko"):
        raise volume.Refused(f"spate and exfat.ko do not read the same: {said}")
    start, length = volume.partition_offset_bytes(image)
    part = folder / "partition.img"
    volume.copy_sparse(image, start, length, part)
    demo.say(f"host     fsck.exfat: {volume.fsck(part)}")
    found = volume.files(part)
    for name, digest in said["spate"].items():
        if name not in found:
            raise volume.Refused(f"The Sleuth Kit does not see {name}, only {sorted(found)}")
        got, length = volume.extract(part, found[name])
        if got != digest:
            raise volume.Refused(f"{name}: icat reads {got}, but spate read {digest}")
        demo.say(f"icat     {got} {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", default="arm64", choices=list(linux_guest.ARCHITECTURES))
    parser.add_argument("--keep", action="store_true", help="keep the drive's image in build/demo/")
    options = parser.parse_args()

    output = program.BUILD / "demo"
    output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    demo.check_space(output, RECORDED_BYTES, 2)
    with tempfile.TemporaryDirectory(dir=output) as name:
        folder = pathlib.Path(name)
        image = folder / "drive.img"
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        demo.say(f"demo     an emulated {options.machine} machine boots Debian's kernel; its NVMe drive is at 0000:01:00.0")
        demo.say("demo     how fast it records here says nothing about a real machine")
        try:
            result = linux_guest.run(SCRIPT, {"drive": image}, folder, files=linux_guest.spate(options.machine),
                                     iommu=True, memory="1G", timeout_s=600, echo=demo.say, architecture=options.machine)
            if result.status != 0:
                demo.fail("recording in the guest", f"the script ended with {result.status}")
            judge(image, folder, sums(result.output))
        except (program.Failed, volume.Refused) as refused:
            demo.fail("the demonstration", str(refused))
        if options.keep:
            kept = output / "linux.img"
            shutil.move(image, kept)
            demo.say(f"host     the drive is kept in {kept.relative_to(program.ROOT)}")
    demo.say(f"demo     passed in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
