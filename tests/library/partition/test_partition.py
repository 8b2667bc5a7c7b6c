# SPDX-License-Identifier: Apache-2.0
"""Partition tables compared with sfdisk and sgdisk: they read our tables, and we read theirs."""

import json
import re

import pytest
from conftest import run

MIB = 1 << 20
SIZE = 200 * MIB + 12 * 4096
BASIC_DATA = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"
LINUX = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"

sectors = pytest.mark.parametrize("sector", [512, 4096])


@pytest.fixture
def part(tool):
    def call(image, sector, *words, check=True):
        done = run(tool("part"), image, sector, *words, statuses=(0,) if check else (0, 1))
        return done.stdout.split()

    return call


def fdisk(image, sector, commands):
    """fdisk for sectors of 4096 bytes, which this sfdisk has no option for. Both take the same scripts."""
    done = run("fdisk", "--wipe=never", f"--sector-size={sector}", image, input="\n".join(commands) + "\n")
    said = done.stdout + done.stderr
    assert "corrupt" not in said and "rror" not in said.replace("No errors detected", ""), said
    return said


def partition_with_fdisk(image, sector, script):
    if sector == 512:
        run("sfdisk", "--no-reread", "--no-tell-kernel", "--wipe=never", image, input=script)
        return
    file = image.with_suffix(".script")
    file.write_text(script)
    fdisk(image, sector, ["I", str(file), "w"])


def read_with_fdisk(image, sector):
    """In the form of sfdisk --json."""
    if sector == 512:
        done = run("sfdisk", "--json", image)
        assert "corrupt" not in done.stderr, done.stderr
        return json.loads(done.stdout)["partitiontable"]
    file = image.with_suffix(".dump")
    file.unlink(missing_ok=True)
    fdisk(image, sector, ["O", str(file), "q"])
    head, _, body = file.read_text().partition("\n\n")
    table = {key.replace("-", ""): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
    table["id"] = table["labelid"]
    table["lastlba"] = int(table.get("lastlba", 0))
    table["partitions"] = []
    for line in body.splitlines():
        fields = dict(field.strip().split("=", 1) for field in line.partition(" : ")[2].split(",") if "=" in field)
        numbers = {key: int(fields[key]) for key in ("start", "size")}
        table["partitions"].append({**fields, **numbers, "name": fields.get("name", "").strip('"')})
    return table


def patch(image, offset, data):
    with open(image, "r+b") as file:
        file.seek(offset)
        file.write(data)


def damage(image, offset, length=8):
    with open(image, "r+b") as file:
        file.seek(offset)
        old = file.read(length)
        file.seek(offset)
        file.write(bytes(byte ^ 0x41 for byte in old))


@sectors
@pytest.mark.parametrize("align", [MIB, 4 * MIB, 32 * MIB])
def test_sfdisk_reads_ours(part, make_image, sector, align):
    image = make_image(SIZE)
    table, index, first, blocks, copy = part(image, sector, "write", align, 1)
    assert (table, index, copy) == ("gpt", "0", "primary")
    found = read_with_fdisk(image, sector)
    assert found["label"] == "gpt" and found["lastlba"] == SIZE // sector - 2 - 16384 // sector
    (entry,) = found["partitions"]
    assert entry["type"] == BASIC_DATA and entry["name"] == "Spate"
    assert (entry["start"], entry["size"]) == (int(first), int(blocks))
    assert entry["start"] * sector == align
    assert (entry["start"] + entry["size"]) * sector == (SIZE - 16384 - sector) // align * align
    guids = {found["id"], entry["uuid"]}
    assert len(guids) == 2
    assert all(re.fullmatch(r"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}", guid) for guid in guids)
    assert "No errors detected" in fdisk(image, sector, ["v", "q"])


def test_sgdisk_verifies_ours(part, make_image):
    """sgdisk assumes 512-byte sectors for an image file."""
    image = make_image(SIZE)
    part(image, 512, "write", MIB, 1)
    assert "No problems found" in run("sgdisk", "--verify", image).stdout
    assert "Microsoft basic data" in run("sgdisk", "--info=1", image).stdout


def test_sgdisk_rebuilds_from_our_backup(part, make_image):
    image = make_image(SIZE)
    part(image, 512, "write", MIB, 1)
    before = image.read_bytes()[: 34 * 512]
    patch(image, 512, bytes(33 * 512))
    run("gdisk", image, input="1\nr\nb\nw\ny\n")
    assert "No problems found" in run("sgdisk", "--verify", image).stdout
    assert part(image, 512, "find")[-1] == "primary"
    assert image.read_bytes()[512 : 34 * 512] == before[512:]


@sectors
def test_theirs_is_read(part, make_image, sector):
    image = make_image(SIZE)
    partition_with_fdisk(image, sector, f"label: gpt\nsize=10MiB, type={LINUX}\nsize=50MiB, type={BASIC_DATA}\ntype={BASIC_DATA}\n")
    second = read_with_fdisk(image, sector)["partitions"][1]
    assert part(image, sector, "find") == ["gpt", "1", str(second["start"]), str(second["size"]), "primary"]
    assert part(image, sector, "check", check=False) == ["FOREIGN"]
    assert part(image, sector, "write", MIB, 1, check=False) == ["FOREIGN"]


@sectors
@pytest.mark.parametrize("where", ["header", "entries", "wiped"])
def test_their_backup_is_used(part, make_image, sector, where):
    image = make_image(SIZE)
    partition_with_fdisk(image, sector, f"label: gpt\nsize=50MiB, type={BASIC_DATA}\n")
    whole = part(image, sector, "find")
    if where == "header":
        damage(image, sector + 40)
    if where == "entries":
        damage(image, 2 * sector + 32)
    if where == "wiped":
        patch(image, sector, bytes(sector + 16384))
    assert part(image, sector, "find") == [*whole[:-1], "backup"]
    damage(image, SIZE - sector + 40)
    assert part(image, sector, "find", check=False) == ["TABLE"]


@sectors
def test_gpt_with_a_large_array(part, make_image, sector):
    image = make_image(SIZE)
    partition_with_fdisk(image, sector, f"label: gpt\ntable-length: 600\n200: start={40 * MIB // sector}, size=50MiB, type={BASIC_DATA}\n")
    assert part(image, sector, "find") == ["gpt", "199", str(40 * MIB // sector), str(50 * MIB // sector), "primary"]


@sectors
def test_mbr_of_theirs(part, make_image, sector):
    image = make_image(SIZE)
    partition_with_fdisk(image, sector, "label: dos\nsize=10MiB, type=83\nsize=50MiB, type=7\ntype=5\n")
    second = read_with_fdisk(image, sector)["partitions"][1]
    assert part(image, sector, "find") == ["mbr", "1", str(second["start"]), str(second["size"]), "primary"]
    assert part(image, sector, "check", check=False) == ["FOREIGN"]


@sectors
def test_mbr_with_an_extended_partition_only(part, make_image, sector):
    image = make_image(SIZE)
    partition_with_fdisk(image, sector, "label: dos\nsize=100MiB, type=5\n")
    assert read_with_fdisk(image, sector)["partitions"]
    assert part(image, sector, "find", check=False) == ["NOT_FOUND"]


FOREIGN = {
    "exFAT on the whole disk": ["mkfs.exfat"],
    "ext4 on the whole disk": ["mkfs.ext4", "-q", "-F"],
    "swap": ["mkswap", "-q"],
}


@pytest.mark.parametrize("what", FOREIGN)
def test_file_systems_are_foreign(part, make_image, what):
    image = make_image(SIZE)
    run(*FOREIGN[what], image)
    before = image.read_bytes()
    assert part(image, 512, "check", check=False) == ["FOREIGN"]
    assert part(image, 512, "write", MIB, 1, check=False) == ["FOREIGN"]
    assert image.read_bytes() == before
    if what.startswith("exFAT"):
        assert part(image, 512, "find") == ["whole", "0", "0", str(SIZE // 512), "primary"]


@sectors
def test_erased_drive_shows_nothing_old(part, make_image, sector):
    image = make_image(SIZE)
    run("mkfs.exfat", image)
    part(image, sector, "write", MIB, 1, "erase")
    assert read_with_fdisk(image, sector)["label"] == "gpt"
    signatures = run("wipefs", "--no-act", "--output", "TYPE", "--noheadings", image).stdout.split()
    assert set(signatures) <= {"gpt", "PMBR"}


@sectors
def test_own_table_may_be_replaced(part, make_image, sector):
    image = make_image(SIZE)
    part(image, sector, "write", MIB, 1)
    assert part(image, sector, "check") == ["blank"]
    part(image, sector, "write", 4 * MIB, 2)
    assert read_with_fdisk(image, sector)["partitions"][0]["start"] * sector == 4 * MIB
