# SPDX-License-Identifier: Apache-2.0
"""The firmware on every emulated board: normal recordings, and each way in which they can fail."""

import hashlib
import pathlib
import re
import sys
import tarfile

import pytest

import pattern
import program
import qemu
import volume
from spate_command import answer

BOARDS = [name if board.in_make_test else pytest.param(name, marks=pytest.mark.thorough) for name, board in qemu.BOARDS.items()]
DEMO = [sys.executable, str(qemu.ROOT / "tools" / "demo.py")]
TIMEOUT_S = 300


def sparse(path: pathlib.Path, mib: int) -> pathlib.Path:
    with open(path, "wb") as file:
        file.truncate(mib << 20)
    return path


def run_demo(board: str, image: pathlib.Path, device: str = "mdts=7", **arguments: str) -> qemu.Result:
    return qemu.run(board, "demo", qemu.Drive.image(image, device), arguments, timeout_s=TIMEOUT_S)


def failure(result: qemu.Result) -> str:
    """The message with which the firmware failed. Its exit status must say so as well."""
    assert not result.timed_out, result.report()
    assert result.status == 1, result.report()
    match = re.search(r"^FAILED at (.*)$", result.output, re.M)
    assert match, result.output
    return match[1]


# ---- recordings ----


@pytest.mark.parametrize("board", BOARDS)
def test_the_demo_passes_its_own_and_the_hosts_checks(board):
    answer = program.run(*DEMO, "--board", board, timeout_s=TIMEOUT_S)
    for words in ["fsck.exfat: ", "CLIP_A.RAW", "CLIP_B.RAW", "matches the generator", "drive shut down"]:
        assert words in answer.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("device", ["mdts=1", "mdts=7,logical_block_size=4096,physical_block_size=4096", "mdts=9"])
def test_the_demo_records_on_drives_of_every_kind(board, device, tmp_path):
    image = sparse(tmp_path / "drive.img", 512)
    result = run_demo(board, image, device, clip_mib="16")
    assert result.status == 0, result.report()
    start, length = volume.partition_offset_bytes(image, 4096 if "4096" in device else 512)
    part = tmp_path / "part.img"
    volume.copy_sparse(image, start, length, part)
    assert "clean" in volume.fsck(part)


@pytest.mark.thorough
def test_a_real_file_of_some_hundred_megabytes_comes_back_bit_for_bit(tmp_path):
    """Everything in /usr/bin and the shared libraries, as one archive: real bytes, not a pattern."""
    real = tmp_path / "real-files.tar"
    with tarfile.open(real, "w") as archive:
        for path in sorted(pathlib.Path("/usr/bin").iterdir()):
            if path.is_file() and not path.is_symlink() and real.stat().st_size < 350 << 20:
                archive.add(path)
    assert real.stat().st_size > 100 << 20
    program.run(*DEMO, "--input", real, timeout_s=900)
    given_back = qemu.BUILD / "demo" / "real-files.tar"
    try:
        with open(real, "rb") as sent, open(given_back, "rb") as got:
            assert hashlib.file_digest(sent, "sha256").digest() == hashlib.file_digest(got, "sha256").digest()
    finally:
        given_back.unlink()


def streams_on(image: pathlib.Path, tmp_path: pathlib.Path) -> dict[str, bytes]:
    """The contents of each stream's files, concatenated."""
    part = tmp_path / "part.img"
    volume.copy_sparse(image, *volume.partition_offset_bytes(image), part)
    assert "clean" in volume.fsck(part)
    found = volume.files(part)
    contents: dict[str, bytes] = {}
    for name in sorted(found):
        if match := re.fullmatch(r"(STREAM_\d)(_\d{4})?\.RAW", name):
            target = tmp_path / name
            volume.extract(part, found[name], target)
            contents[match[1]] = contents.get(match[1], b"") + target.read_bytes()
            target.unlink()
    return contents


@pytest.mark.parametrize("board", BOARDS)
def test_eight_streams_at_once_roll_over_without_losing_a_byte(board, tmp_path):
    image = sparse(tmp_path / "drive.img", 512)
    result = qemu.run(board, "streams", qemu.Drive.image(image), {"stream_mib": "24"}, timeout_s=TIMEOUT_S)
    assert result.status == 0, result.report()
    contents = streams_on(image, tmp_path)
    assert len(contents) == 8
    for number in range(1, 9):
        digest = hashlib.sha256(contents[f"STREAM_{number}"]).hexdigest()
        assert digest == pattern.sha256(number, 24 << 20), number
    assert int(re.search(r"(\d+) checkpoints", result.output)[1]) > 0


def test_a_full_volume_is_announced_and_keeps_what_it_has(tmp_path):
    image = sparse(tmp_path / "drive.img", 128)
    result = qemu.run(
        "qemu-virt", "streams", qemu.Drive.image(image), {"streams": "3", "stream_mib": "80"}, timeout_s=TIMEOUT_S
    )
    assert result.status == 2, result.report()
    assert re.search(r"the volume ends in [1-9]\d* bytes", result.output)
    sent = {int(n): int(b) for n, b in re.findall(r"stream (\d): sent (\d+) bytes", result.output)}
    dropped = {int(n): int(b) for n, b in re.findall(r"stream (\d): OVERRUN by (\d+) bytes", result.output)}
    contents = streams_on(image, tmp_path)
    for number in sent:
        assert sent[number] + dropped[number] == 80 << 20
        assert hashlib.sha256(contents[f"STREAM_{number}"]).hexdigest() == pattern.sha256(number, sent[number])


ONE_BOARD = [name if name == "qemu-virt" else pytest.param(name, marks=pytest.mark.thorough) for name in qemu.BOARDS]


@pytest.mark.parametrize("board", ONE_BOARD)
def test_a_flight_recorder_keeps_a_file_without_a_gap_and_goes_on(board, tmp_path):
    image = sparse(tmp_path / "drive.img", 512)
    result = qemu.run(board, "flight_recorder", qemu.Drive.image(image), {"stream_mib": "128"}, timeout_s=TIMEOUT_S)
    assert result.status == 0, result.report()
    deleted, on_volume = map(int, re.search(r"(\d+) deleted, (\d+) on the volume", result.output).groups())
    assert deleted > 0 and on_volume > 0, result.output
    part = tmp_path / "part.img"
    volume.copy_sparse(image, *volume.partition_offset_bytes(image), part)
    assert "clean" in volume.fsck(part)
    found = volume.files(part)
    kept = answer("verify", part, "EVENT.RAW")
    assert kept["whole"] and kept["bytes"] > 4 << 20, kept
    assert kept["chunks_good"] * (128 << 10) == kept["bytes"]
    parts = sorted(name for name in found if re.fullmatch(r"LOOP/SENSOR_\d{8}\.RAW", name))
    assert len(parts) == on_volume
    after = answer("verify", part, *parts, "--parts")
    assert after["whole"], after


# ---- mistakes ----


def test_a_drive_with_a_foreign_table_is_not_touched(tmp_path):
    image = sparse(tmp_path / "drive.img", 512)
    program.run("sfdisk", "-q", image, input="2048,+,83\n")
    before = hashlib.sha256(image.read_bytes()).digest()
    assert "FOREIGN" in failure(run_demo("qemu-virt", image))
    assert hashlib.sha256(image.read_bytes()).digest() == before
    assert run_demo("qemu-virt", image, erase="1", clip_mib="4").status == 0


def test_a_whole_disk_volume_on_a_trimmed_drive(tmp_path):
    """With table=none the drive has no partition table, and no remains of the old one."""
    image = sparse(tmp_path / "drive.img", 256)
    assert run_demo("qemu-virt", image, clip_mib="4").status == 0
    used = image.stat().st_blocks
    result = run_demo("qemu-virt", image, clip_mib="1", erase="1", trim="1", table="none")
    assert result.status == 0, result.report()
    assert image.stat().st_blocks < used // 2  # the old clips were trimmed
    assert "clean" in volume.fsck(image)
    found = volume.files(image)
    assert volume.extract(image, found["CLIPS/CLIP_A.RAW"])[0] == pattern.sha256(1, 1 << 20)
    with pytest.raises(volume.Refused):
        volume.partition_offset_bytes(image)


def test_a_drive_with_recordings_is_not_formatted_again(tmp_path):
    image = sparse(tmp_path / "drive.img", 256)
    assert run_demo("qemu-virt", image, clip_mib="4").status == 0
    before = hashlib.sha256(image.read_bytes()).digest()
    assert "FOREIGN" in failure(run_demo("qemu-virt", image, clip_mib="4"))
    assert hashlib.sha256(image.read_bytes()).digest() == before


@pytest.mark.parametrize("board", BOARDS)
def test_no_drive(board):
    result = qemu.run(board, "demo", None, timeout_s=TIMEOUT_S)
    assert qemu.BOARDS[board].without_drive in failure(result)


def test_another_device_in_its_place():
    options = ("-device", "virtio-rng-pci,bus=rp")
    result = qemu.run("qemu-virt", "demo", None, timeout_s=TIMEOUT_S, options=options)
    assert "WRONG_CLASS" in failure(result)


def test_a_drive_too_small(tmp_path):
    assert "TOO_SMALL" in failure(run_demo("qemu-virt", sparse(tmp_path / "drive.img", 2)))


def test_a_clip_larger_than_the_volume(tmp_path):
    assert "NO_SPACE" in failure(run_demo("qemu-virt", sparse(tmp_path / "drive.img", 128), clip_mib="4096"))


@pytest.mark.parametrize("name", ["a?b.raw", "dir/none.raw", "ends-with-dot.", "x" * 211])
def test_a_bad_name(name, tmp_path):
    source = tmp_path / "input"
    source.write_bytes(b"x" * 100000)
    result = run_demo("qemu-virt", sparse(tmp_path / "drive.img", 128), input=str(source), name=name)
    expected = {"dir/none.raw": "NOT_FOUND", "x" * 211: "NAME_LONG"}.get(name, "NAME")
    assert expected in failure(result)


def test_an_input_that_does_not_exist(tmp_path):
    result = run_demo("qemu-virt", sparse(tmp_path / "drive.img", 128), input="none", name="X")
    assert "not there" in failure(result)
    answer = program.run(*DEMO, "--input", "/none", statuses=(1,))
    assert "FAILED at opening the input" in answer.stdout


BAD = 300000  # a sector in the middle of the second clip, which the demo reads back


def blkdebug(image: pathlib.Path, rule: str) -> qemu.Drive:
    """A drive whose media fails: `rule` is one inject-error rule of QEMU's blkdebug filter."""
    backend = f"driver=blkdebug,image.driver=file,image.filename={qemu.escape(str(image))},{rule}"
    return qemu.Drive(backend)


@pytest.mark.parametrize("way", ["write", "read"])
def test_a_medium_that_fails_for_good_is_reported(way, tmp_path):
    image = sparse(tmp_path / "drive.img", 256)
    rule = f"inject-error.0.event=none,inject-error.0.iotype={way},inject-error.0.errno=5,inject-error.0.sector={BAD}"
    result = qemu.run("qemu-virt", "demo", blkdebug(image, rule), {"clip_mib": "64"}, timeout_s=TIMEOUT_S)
    assert re.search(r"(recording|playing back): (MEDIA|COMMAND)", failure(result)), result.output


def test_a_retry_recovers_from_a_medium_that_fails_once(tmp_path):
    image = sparse(tmp_path / "drive.img", 512)
    rule = (
        "inject-error.0.event=none,inject-error.0.iotype=write,inject-error.0.errno=5,"
        f"inject-error.0.sector={BAD},inject-error.0.once=on"
    )
    result = qemu.run("qemu-virt", "demo", blkdebug(image, rule), {"clip_mib": "64"}, timeout_s=TIMEOUT_S)
    assert result.status == 0, result.report()
    assert re.search(r"recovered: [1-9]\d* retries", result.output), result.output
