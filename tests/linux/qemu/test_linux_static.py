# SPDX-License-Identifier: Apache-2.0
"""The static programs for boards record onto an NVMe drive in an emulated Linux machine. The host checks the drive."""

import hashlib
import json
import random
import re

import linux_guest
import program
import pytest
import volume as judge

from conftest import ROOT

pytestmark = pytest.mark.thorough

MIB = 1 << 20
DRIVE_BYTES = 6 << 30  # above 4 GiB: offsets of 32 bits do not reach the second partition table

# The guest's AArch64 kernel also runs ARMv7 programs.
SCRIPT = """set -e
test_crc32c
date -s '2040-05-06 07:08:09' > /dev/null
spate format /drives/rec --yes
cat /drives/data | spate record /drives/rec flight/clip
spate record /drives/rec run --from synthetic --size 8MB
spate verify /drives/rec run
spate verify /drives/rec flight/clip --against /drives/data
spate ls /drives/rec --output-format=json > /listing
echo "listing: $(tr -d '\\n' < /listing)"
spate extract /drives/rec flight/clip - | sha256sum
"""


# On AArch64 the program asks the kernel at run time whether there are CRC instructions; ARMv7 has none.
@pytest.mark.parametrize("preset,machine,crc32c", [("linux-aarch64", "AArch64", "by instruction"), ("linux-armv7", "ARM", "by table")])
def test_a_static_program_records_on_another_root_file_system(preset, machine, crc32c, make_image, tmp_path):
    command, agree = (ROOT / "build" / preset / place for place in ("bin/spate", "tests/test_crc32c"))
    for built in (command, agree):
        assert built.exists(), f"{built} is not built: make build-{preset}"
    header = program.run("readelf", "--wide", "--file-header", "--program-headers", command).stdout
    assert re.search(rf"Machine: +{machine}\n", header)
    assert "INTERP" not in header and "DYNAMIC" not in header

    data = random.Random(preset).randbytes(7 * MIB)
    source = tmp_path / "data"
    source.write_bytes(data)
    drive = make_image(DRIVE_BYTES)
    done = linux_guest.run(SCRIPT, {"rec": drive, "data": source}, tmp_path, files={"bin/spate": command.read_bytes(), "bin/test_crc32c": agree.read_bytes()})
    digest = hashlib.sha256(data).hexdigest()
    assert done.status == 0 and f"{digest}  -" in done.output, done.output
    assert f"crc32c: all ways agree, taken {crc32c}\n" in done.output.replace("\r", ""), done.output
    listing = json.loads(re.search(r"listing: (.*)", done.output)[1])
    files = [entry for entry in listing["entries"] if entry["kind"] == "file"]
    assert len(files) == 2 and all(entry["modified"].startswith("2040-05-06T07:") for entry in files), listing

    start, length = judge.partition_offset_bytes(drive)
    partition = tmp_path / "partition.img"
    judge.copy_sparse(drive, start, length, partition)
    judge.fsck(partition)
    assert judge.extract(partition, judge.files(partition)["flight/clip"]) == (digest, len(data))
