# SPDX-License-Identifier: Apache-2.0
"""Linux opens our arrays, and we open those of Linux: its kernel, its mdadm, its exFAT."""

import hashlib
import random
import re

import pytest

import linux_guest
import program
from exfat_tools import Volume

MIB = 1 << 20
KIB = 1 << 10


class Array:
    """Image files of an array, which the library's own tool creates and opens."""

    def __init__(self, tool, make_image, name, count, block_bytes=512, megabytes=96):
        self.tool = tool("stripe")
        self.name = name
        self.block_bytes = block_bytes
        # The smallest image determines the size; the others are larger by less than a chunk.
        self.images = [make_image(megabytes * MIB + (count - 1 - i) * 8 * KIB) for i in range(count)]
        self.drives = {f"{name}{i}": image for i, image in enumerate(self.images)}

    def run(self, *words, images=None):
        images = ",".join(map(str, images or self.images))
        done = program.run(self.tool, self.block_bytes, images, *words, statuses=(0, 1), timeout_s=120)
        return done.stdout if done.returncode == 0 else done.stdout.splitlines()[-1]

    def record(self, path, data, folder):
        source = folder / "source"
        source.write_bytes(data)
        assert self.run("record", source, path) == ""

    def get(self, path, folder):
        target = folder / "target"
        assert self.run("get", path, target) == ""
        return target.read_bytes()

    def info(self):
        """(chunk size, the members' images in the array's order)"""
        text = self.run("info")
        return int(re.search(r"chunk (\d+)", text)[1]), re.findall(r"member (\S+)", text)


def content(name, size):
    return random.Random(name).randbytes(size)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def guest(script, arrays, folder, more=()):
    """The output of a script that ran without an error."""
    drives = {name: image for array in arrays for name, image in array.drives.items()}
    sizes = {name: array.block_bytes for array in arrays for name in array.drives}
    done = linux_guest.run("set -e\n" + script, drives | dict(more), folder, sizes)
    assert done.status == 0, done.output
    return done.output


# Mounts the arrays that `mdadm --assemble --scan` found, each on /mnt/NAME, and stops them afterwards.
MOUNT_ALL = """
mdadm --assemble --scan
for array in /dev/md12?; do
  blockdev --rereadpt $array
  name=$(mdadm --detail $array | sed -n 's/.*Name : \\(.*:\\)*\\([a-z0-9]*\\).*/\\2/p')
  part=$array; [ -e ${array}p1 ] && part=${array}p1
  mkdir /mnt/$name
  mount -t exfat $part /mnt/$name
  echo "mounted $name $part"
done
"""
UNMOUNT_ALL = """
for folder in /mnt/*; do
  part=$(grep " $folder " /proc/mounts | cut -d' ' -f1)
  umount $folder
  fsck.exfat -n $part
done
mdadm --stop --scan
"""


def test_ours_by_linux(tool, make_image, tmp_path):
    arrays = [
        Array(tool, make_image, "two", 2),
        Array(tool, make_image, "three", 3, block_bytes=4096),
        Array(tool, make_image, "four", 4),
    ]
    chunks = [512 * KIB, 64 * KIB, 128 * KIB]
    for seed, (array, chunk) in enumerate(zip(arrays, chunks)):
        assert array.run("create", chunk, seed, array.name) == ""
        assert array.run("create", chunk, seed, array.name) == "FOREIGN"
        assert array.run("format", seed) == ""
        array.record("clip.bin", content(array.name, 7 * MIB + 12345), tmp_path)
    single = Volume(tool("volume"), make_image(1))
    single.format(8 << 30)
    five_gib = (5 << 30) + 4321
    single.run("put-zeros", five_gib, "five.bin")

    output = guest(
        "for drive in /drives/*[0-9]; do mdadm --examine $drive; done\n"
        + MOUNT_ALL
        + "mkdir /mnt/single\nmount -t exfat /drives/single /mnt/single\n"
        + "cd /mnt && sha256sum two/clip.bin three/clip.bin four/clip.bin\n"
        + "for name in two three four; do\n"
        + "  dd if=/dev/urandom of=$name/theirs bs=10k count=300; sha256sum $name/theirs\n"
        + "done\n"
        # Beyond 32 bits the two drivers have to agree where a byte lies.
        + "stat -c '%s %n' single/five.bin; echo marker | dd of=single/five.bin bs=512 seek=9437185 conv=notrunc\n"
        + "tail -c 4321 single/five.bin | sha256sum\n"
        + "cd /\n"
        + UNMOUNT_ALL,
        arrays,
        tmp_path,
        {"single": single.path}.items(),
    )

    assert output.count("Version : 1.2") == output.count("State : clean") == 9
    assert output.count(" - correct") == 9 and "Raid Level : raid0" in output
    for count, name, chunk in ((2, "two", "512K"), (3, "three", "64K"), (4, "four", "128K")):
        for place in range(count):
            said = re.search(rf"/drives/{name}{place}:\n(.*?)Array State", output, re.DOTALL)[1]
            assert re.search(rf"Name : {name}\n", said) and f"Raid Devices : {count}" in said
            assert f"Chunk Size : {chunk}" in said and f"Device Role : Active device {place}" in said
            assert "Data Offset : 2048 sectors" in said and "Feature Map : 0x0" in said
        assert re.search(rf"mounted {name} /dev/md12\dp1", output)
    assert output.count("clean. directories 1, files 3") == 3
    assert f"{five_gib} single/five.bin" in output and sha256(bytes(4321)) in output
    assert single.run("cat", "five.bin", 9437185 * 512 - 5, 15) == bytes(5) + b"marker\n" + bytes(3)
    for array, chunk in zip(arrays, chunks):
        sums = dict(reversed(line.split("  ")) for line in output.splitlines() if f"  {array.name}/" in line)
        ours = content(array.name, 7 * MIB + 12345)
        assert sums[f"{array.name}/clip.bin"] == sha256(ours)
        theirs = array.get("theirs", tmp_path)
        assert len(theirs) == 300 * 10 * KIB and sums[f"{array.name}/theirs"] == sha256(theirs)
        assert array.get("clip.bin", tmp_path) == ours
        assert array.info() == (chunk, [str(image) for image in array.images])


@pytest.mark.thorough
def test_linux_by_ours(tool, make_image, tmp_path):
    usual = Array(tool, make_image, "usual", 3)
    large_blocks = Array(tool, make_image, "large", 2, block_bytes=4096)
    uneven = Array(tool, make_image, "uneven", 2)
    at_end = Array(tool, make_image, "end", 2)
    with open(uneven.images[1], "r+b") as image:
        image.truncate(80 * MIB)
    ours = content("ours", 7 * MIB + 12345)

    output = guest(
        """
create="mdadm --create --run --level=0 --homehost=any"
$create /dev/md0 --name=usual --metadata=1.2 --raid-devices=3 /drives/usual2 /drives/usual0 /drives/usual1
$create /dev/md1 --name=large --metadata=1.2 --chunk=64 --raid-devices=2 /drives/large0 /drives/large1
$create /dev/md2 --metadata=1.2 --raid-devices=2 /drives/uneven0 /drives/uneven1
$create /dev/md3 --metadata=1.0 --raid-devices=2 /drives/end0 /drives/end1
mkdir /mnt/usual /mnt/large
mkfs.exfat /dev/md0
mkfs.exfat /dev/md1
mount -t exfat /dev/md0 /mnt/usual
mount -t exfat /dev/md1 /mnt/large
cd /mnt
for name in usual large; do
  dd if=/dev/urandom of=$name/theirs bs=10k count=300; sha256sum $name/theirs
done
cd /
umount /mnt/usual
umount /mnt/large
mdadm --stop --scan
""",
        [usual, large_blocks, uneven, at_end],
        tmp_path,
    )
    assert uneven.run("info") == "STRIPE"  # two zones
    assert usual.run("info", images=usual.images[:2]) == "STRIPE"
    assert usual.run("info", images=[usual.images[0], usual.images[1], uneven.images[0]]) == "STRIPE"
    assert at_end.run("info") == "NO_STRIPE"
    assert at_end.run("create", 65536, 1, "new") == "FOREIGN"
    assert usual.info() == (512 * KIB, [str(usual.images[i]) for i in (2, 0, 1)])
    assert large_blocks.info() == (64 * KIB, [str(image) for image in large_blocks.images])
    for array in (usual, large_blocks):
        theirs = array.get("theirs", tmp_path)
        assert len(theirs) == 300 * 10 * KIB and f"{sha256(theirs)}  {array.name}/theirs" in output
        array.record("ours.bin", ours, tmp_path)

    second = guest(
        MOUNT_ALL + "cd /mnt; sha256sum */theirs */ours.bin; cd /\n" + UNMOUNT_ALL, [usual, large_blocks], tmp_path
    )
    for name in ("usual", "large"):
        assert f"{sha256(ours)}  {name}/ours.bin" in second
        assert re.search(rf"^\w+  {name}/theirs$", output, re.MULTILINE)[0] in second
    assert second.count("clean. directories 1, files 3") == 2


def test_no_stripe(tool, make_image):
    assert Array(tool, make_image, "blank", 2, megabytes=8).run("info") == "NO_STRIPE"
