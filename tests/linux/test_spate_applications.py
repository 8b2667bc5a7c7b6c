# SPDX-License-Identifier: Apache-2.0
"""The applications of firmware/ as Linux programs, on a virtual drive. Their main.c is the same as on boards. fsck.exfat and the
command spate check the recordings."""

import hashlib
import os
import re

import needs
import pattern
import program
import pytest
import volume

from spate_command import DONE, FAILED, MIB, SPATE, USAGE, answer, spate

APPLICATIONS = SPATE.parent.parent / "command" / "firmware"
ANY_FAILURE = range(1, 128)


def app(name, *words, status=DONE, **options):
    """Runs an application, which must end with this status, or with one of these."""
    path = APPLICATIONS / name
    assert path.exists(), f"{path} is not built: make build-{SPATE.parent.parent.name}"
    statuses = (status,) if isinstance(status, int) else status
    return program.run(path, *words, statuses=statuses, timeout_s=300, **options)


def digests(profile, kept, folder):
    """{path: SHA-256} of a volume, after fsck.exfat has found it clean. spate extracts the files, because The Sleuth Kit would
    read all of a virtual drive's 2 TB."""
    part = folder / "partition.img"
    volume.copy_sparse(kept, *volume.partition_offset_bytes(kept), part)
    assert "clean" in volume.fsck(part)
    drive = f"sim:{profile}:{kept}"
    entries = answer("ls", drive)["entries"]
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
    assert "1 bridge, 1 endpoint, 0 left out" in said and "class 010802" in said and "8.0 GT/s x4" in said
    assert said.endswith("NVMe VS 0x00010400\n")


def test_an_absent_register_reads_as_ones():
    said = app("hello", "sim:970evoplus", "fault=register").stdout
    assert "read 0xffffffff\n" in said and said.endswith("NVMe VS 0x00010400\n")


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


@needs.terminals
def test_lines_are_rewritten_on_a_terminal():
    typed = program.run("script", "-qec", f"'{APPLICATIONS / 'demo'}' sim:ideal clip_mib=8", "/dev/null", timeout_s=300,
                        text=False).stdout.decode()
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
    assert list(digests("980pro", kept, tmp_path)) == ["CLIP.RAW"]
    clip = spate("extract", f"sim:980pro:{kept}", "CLIP.RAW", "-", text=False).stdout
    assert len(clip) == 64 * MIB and clip[:32 * MIB] == clip[32 * MIB:]  # the whole ring twice: what it holds does not matter
    app("recorder_only", "sim:980pro", status=ANY_FAILURE)  # a new drive has no volume


def test_the_program_of_the_readme_records(kept, tmp_path):
    spate("format", f"sim:980pro:{kept}", "--yes")
    app("first_recorder", f"sim:980pro:{kept}")
    clip = spate("extract", f"sim:980pro:{kept}", "CLIP.RAW", "-", text=False).stdout
    assert len(clip) == 64 * MIB and clip[:4 * MIB] * 16 == clip  # the pieces of the ring, again and again
    assert "FAILED at find" in app("first_recorder", "sim:980pro", status=FAILED).stdout


def test_recorder_own_adds_a_clip_to_a_volume_made_by_spate(kept, tmp_path):
    spate("format", f"sim:980pro:{kept}", "--yes")
    app("recorder_own", f"sim:980pro:{kept}")
    assert digests("980pro", kept, tmp_path) == {"CLIP.RAW": hashlib.sha256(bytes(64 * MIB)).hexdigest()}
    app("recorder_own", "sim:980pro", status=ANY_FAILURE)


def test_eight_streams(kept, tmp_path):
    app("streams", f"sim:970evoplus:{kept}", "stream_mib=6", "file_mib=4")
    digests("970evoplus", kept, tmp_path)
    for number in range(1, 9):
        whole = hashlib.sha256()
        for name in (f"STREAM_{number}.RAW", f"STREAM_{number}_0002.RAW"):
            whole.update(spate("extract", f"sim:970evoplus:{kept}", name, "-", text=False).stdout)
        assert whole.hexdigest() == pattern.sha256(number, 6 * MIB), number


def test_a_flight_recorder(kept, tmp_path):
    said = app("flight_recorder", f"sim:970evoplus:{kept}").stdout
    deleted, on_volume = map(int, re.search(r"(\d+) deleted, (\d+) on the volume", said).groups())
    names = set(digests("970evoplus", kept, tmp_path))
    assert deleted > 0 and len([name for name in names if name.startswith("LOOP/SENSOR_")]) == on_volume > 0
    event = answer("verify", f"sim:970evoplus:{kept}", "EVENT.RAW")
    assert event["whole"] and event["chunks_good"] * (128 << 10) == event["bytes"] > 4 * MIB


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
