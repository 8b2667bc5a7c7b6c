# SPDX-License-Identifier: Apache-2.0
"""The applications of apps/ as Linux programs, on a virtual drive and on an emulated drive behind an IOMMU. Their main.c is the
same as on boards. fsck.exfat, The Sleuth Kit, exfat.ko and the command spate check the recordings."""

import hashlib
import json
import os
import pathlib
import re

import linux_guest
import pattern
import pytest
import volume
from conftest import ROOT, run
from spate_guest import application_files

MIB = 1 << 20
BUILD = ROOT / "build" / os.environ.get("SPATE_LINUX_BUILD", "linux-asan")
FAILED, USAGE, SOME = 1, 2, "some failure"
VFIO = "0000:01:00.0"


def app(name, *words, status=0, build=BUILD, **options):
    path = build / "hosted" / "apps" / name
    assert path.exists(), f"{path} is not built: make build-{build.name}"
    return run(path, *words, statuses=range(1, 128) if status == SOME else (status,), **options)


def spate(*words, **options):
    return run(BUILD / "bin" / "spate", *words, **options)


def digests(profile, kept, folder):
    """{path: SHA-256} of a volume, after fsck.exfat has found it clean. spate extracts the files, because The Sleuth Kit would
    read all of a virtual drive's 2 TB."""
    part = folder / "partition.img"
    volume.copy_sparse(kept, *volume.partition_offset_bytes(kept), part)
    assert "clean" in volume.fsck(part)
    drive = f"sim:{profile}:{kept}"
    entries = json.loads(spate("ls", drive, "--output-format=json").stdout)["entries"]
    names = [entry["path"] for entry in entries if entry["kind"] == "file"]
    return {name: hashlib.sha256(spate("extract", drive, name, "-", text=False).stdout).hexdigest() for name in names}


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "kept"
    yield path
    for left in tmp_path.iterdir():
        left.unlink()


def test_hello_reads_the_registers_of_a_virtual_drive():
    said = app("hello", "sim:970evoplus").stdout
    assert re.match(r"Linux, 20\d\d-", said)
    assert "1 bridges, 1 endpoints" in said and "class 010802" in said and "8.0 GT/s x4" in said
    assert said.endswith("NVMe VS 0x00010400\n")


def test_an_absent_register_reads_as_ones():
    said = app("hello", "sim:970evoplus", "fault=register").stdout
    assert "read 0xffffffff and 0xffffffffffffffff" in said and said.endswith("NVMe VS 0x00010400\n")


def test_the_demo_records_onto_a_virtual_drive(kept, tmp_path):
    said = app("demo", f"sim:990pro:{kept}", "clip_mib=48").stdout
    assert "Samsung SSD 990 PRO" in said and "done   the volume is clean" in said
    expected = {"CLIPS/CLIP_A.RAW": pattern.sha256(1, 48 * MIB), "CLIPS/CLIP_B.RAW": pattern.sha256(2, 72 * MIB + 12345)}
    assert digests("990pro", kept, tmp_path) == expected
    # A second run does not erase the drive without erase=1.
    assert "FOREIGN" in app("demo", f"sim:990pro:{kept}", status=FAILED).stdout
    assert digests("990pro", kept, tmp_path) == expected
    app("demo", f"sim:990pro:{kept}", "clip_mib=1", "erase=1")


def test_rewritten_lines_become_plain_lines_without_a_terminal():
    said = app("demo", "sim:ideal", "clip_mib=8", text=False).stdout.decode()  # text mode would turn \r into a newline
    assert "\r" not in said and not re.search(r" $", said, re.M)
    assert len(re.findall(r"^record  ", said, re.M)) == 1 and len(re.findall("closed a clip", said)) == 2
    demo = BUILD / "hosted" / "apps" / "demo"
    typed = run("script", "-qec", f"'{demo}' sim:ideal clip_mib=8", "/dev/null", text=False).stdout.decode()
    assert typed.count("\rrecord  ") >= 1 and typed.count("\r       closed a clip") == 2


def test_the_demo_records_a_file_of_this_machine(kept, tmp_path):
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(5 * MIB + 4321))
    app("demo", f"sim:ideal:{kept}", f"input={sent}", "name=back.bin")
    assert digests("ideal", kept, tmp_path) == {"back.bin": hashlib.sha256(sent.read_bytes()).hexdigest()}
    assert "not there" in app("demo", "sim:ideal", "input=/none", status=FAILED).stdout


def test_recorder_only_adds_a_clip_to_a_volume_made_by_spate(kept, tmp_path):
    spate("format", f"sim:980pro:{kept}", "--yes")
    app("recorder_only", f"sim:980pro:{kept}")
    assert digests("980pro", kept, tmp_path) == {"CLIP.RAW": hashlib.sha256(bytes(64 * MIB)).hexdigest()}
    app("recorder_only", "sim:980pro", status=SOME)  # a new drive holds no volume


def test_eight_streams(kept, tmp_path):
    app("streams", f"sim:970evoplus:{kept}", "stream_mib=6", "file_mib=4")
    digests("970evoplus", kept, tmp_path)
    for number in range(1, 9):
        whole = hashlib.sha256()
        for name in (f"STREAM_{number}.RAW", f"STREAM_{number}_0002.RAW"):
            whole.update(spate("extract", f"sim:970evoplus:{kept}", name, "-", text=False).stdout)
        assert whole.hexdigest() == pattern.sha256(number, 6 * MIB), number


def test_the_speed_test_asserts_what_the_drive_sees():
    said = app("speedtest", "sim:ideal", "total_mib=8", "rounds=1").stdout
    assert re.search(r"done   commands between arm and stop: data and \d+ checkpoints, nothing else", said)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "no drive is named"),
        (["sim:860evo"], "970evoplus"),
        (["drive.img"], "vfio:, pci: or sim:"),
        (["stripe:sim:ideal,sim:ideal"], "vfio:, pci: or sim:"),
        (["sim:ideal", "clip_mib"], "is not NAME=VALUE"),
        (["--binde", "sim:ideal"], "unrecognized option"),
    ],
)
def test_a_wrong_command_line_is_refused(words, says):
    assert says in app("demo", *words, status=USAGE).stderr


def first_bytes(path):
    with path.open("rb") as file:
        return file.read(4 * MIB)


@pytest.mark.parametrize("place", ["n1p1", "n1", "n2"])
def test_a_part_of_a_drive_is_refused(kept, place):
    """An application uses the whole drive: erase=1 would also format the parts that are not in the name."""
    spate("format", f"sim:ideal:{kept}", "--yes")
    before = first_bytes(kept)
    refused = app("demo", f"sim:ideal/{place}:{kept}", "erase=1", "clip_mib=4", status=USAGE)
    assert f"leave out /{place}" in refused.stderr
    assert first_bytes(kept) == before


def test_help():
    assert "Usage: " in app("demo", "--help").stdout


def test_the_demo_records_without_the_kernels_driver(make_image, tmp_path):
    """Behind an emulated IOMMU. The kernel's driver gets the drive back, and reads both clips."""
    image = make_image(1 << 30)
    script = f"""
      hello vfio:{VFIO}; echo "unbound $?"
      hello --bind vfio:{VFIO}; echo "hello $?"
      demo --bind vfio:{VFIO} clip_mib=200 > /tmp/long 2>&1 &
      n=0; while ! grep -q '^mount' /tmp/long && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
      kill -TERM $!; wait $!; echo "ended $?"; tail -n 1 /tmp/long
      echo "driver $(basename "$(readlink /sys/bus/pci/devices/{VFIO}/driver)")"
      demo --bind vfio:{VFIO} clip_mib=16 erase=1 | tr '\\r' '\\n'
      demo --bind vfio:{VFIO} clip_mib=16 > /tmp/again; echo "again $?"
      n=0; while [ ! -e /dev/nvme0n1p1 ] && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
      mount -t exfat -o ro /dev/nvme0n1p1 /mnt
      sha256sum /mnt/CLIPS/CLIP_A.RAW /mnt/CLIPS/CLIP_B.RAW
      umount /mnt
    """
    said = linux_guest.run(script, {"rec": image}, tmp_path, files=application_files(), iommu=True, memory="1G", timeout_s=120).output
    assert "unbound 3" in said and "--bind" in said
    assert "1 endpoints" in said and "01:00.0 1b36:0010 class 010802" in said and "hello 0" in said
    assert "ended 1" in said and "Terminated" in said and "driver nvme\n" in said
    assert re.search(r"link 2500 MT/s x1 \(both ends can do 2500 x1\), payload 128, read requests \d+ bytes", said), said
    assert "done   the volume is clean, the drive shut down" in said and "again 1" in said
    for clip, (name, length) in enumerate({"A": 16 * MIB, "B": 24 * MIB + 12345}.items(), start=1):
        assert f"{pattern.sha256(clip, length)}  /mnt/CLIPS/CLIP_{name}.RAW" in said
    start, length = volume.partition_offset_bytes(image)
    part = pathlib.Path(tmp_path) / "part.img"
    volume.copy_sparse(image, start, length, part)
    assert "clean" in volume.fsck(part)


def test_the_demo_on_a_machine_without_an_iommu(make_image, tmp_path):
    """The application's memory and its queues are in one huge page; the ring's pages may lie anywhere. The demo records a file,
    because that takes the most memory."""
    image = make_image(512 * MIB)
    address = "0000:00:01.0"
    script = f"""
      echo 40 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
      dd if=/dev/urandom of=/tmp/sent bs=1M count=9 2>/dev/null
      demo --bind pci:{address} input=/tmp/sent name=back | tr '\\r' '\\n'
      n=0; while [ ! -e /dev/nvme0n1p1 ] && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
      mount -t exfat -o ro /dev/nvme0n1p1 /mnt
      cmp /tmp/sent /mnt/back && echo same
      umount /mnt
    """
    said = linux_guest.run(script, {"rec": image}, tmp_path, files=application_files(), memory="512M", timeout_s=120).output
    assert "link not reported" in said and "done   the volume is clean, the drive shut down" in said, said
    assert "\nsame\n" in said
