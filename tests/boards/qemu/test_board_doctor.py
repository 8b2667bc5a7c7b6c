# SPDX-License-Identifier: Apache-2.0
"""firmware/doctor on every emulated board: with a sound drive, and with what QEMU can break."""

import pathlib
import re

import pytest

import qemu
import volume

pytestmark = pytest.mark.thorough

BOARDS = list(qemu.BOARDS)
TIMEOUT_S = 300
NOTHING, WARNING, ERROR = 0, 1, 2


def sparse(path: pathlib.Path, mib: int = 64) -> pathlib.Path:
    with open(path, "wb") as file:
        file.truncate(mib << 20)
    return path


def doctor(board: str, drive: qemu.Drive | None, status: int, /, options: tuple[str, ...] = (), **arguments: str) -> str:
    result = qemu.run(board, "doctor", drive, arguments, timeout_s=TIMEOUT_S, options=options)
    assert not result.timed_out, result.report()
    assert result.status == status, result.report()
    return result.output.replace("\r\n", "\n")


def findings(output: str) -> list[tuple[str, str, str]]:
    """Severity, problem and advice."""
    return re.findall(r"^  (note|warning|error|not done) +(\S.*)\n {11}(\S.*)$", output, re.M)


def problems(output: str, *severities: str) -> list[str]:
    return [problem for severity, problem, _ in findings(output) if severity in severities]


@pytest.mark.parametrize("board", BOARDS)
def test_a_sound_drive(board, tmp_path):
    image = sparse(tmp_path / "drive.img")
    output = doctor(board, qemu.Drive.image(image), NOTHING)
    assert "nothing wrong was found" in output
    assert problems(output, "warning", "error", "not done") == []
    for fact in ["ticks/s", "bridge   OK", "class 0x10802, BAR 0 with 16 KiB", "GT/s x", "read requests", "CAP 0x",
                 "queue memory at 0x", "ms for the drive", "DMA      data to 0x", "the drive reads what the processor stored",
                 "serial SPATE0001", "temperature 50 C", "read     64 MiB, ", "after the transfer", "shutdown: OK"]:
        assert fact in output, fact
    assert image.read_bytes() == bytes(64 << 20)  # nothing was written


def test_data_and_clock_are_compared_with_the_drives(tmp_path):
    """QEMU's drive has Compare and Timestamp; its memory is coherent, and its clock is the board's."""
    output = doctor("qemu-virt", qemu.Drive.image(sparse(tmp_path / "drive.img")), NOTHING)
    drive_ms, board_ms = map(int, re.search(r"clock +(\d+) ms for the drive, (\d+) ms for the port", output).groups())
    assert drive_ms >= 450 and board_ms >= 500
    assert re.search(r"data to 0x\w+: seen at once", output)


@pytest.mark.parametrize("board", BOARDS)
def test_no_drive(board):
    output = doctor(board, None, ERROR)
    assert any("no NVMe drive" in problem for problem in problems(output, "error"))
    if qemu.ALL[board].without_drive == "WRONG_CLASS":  # a SATA controller is in the drive's place
        assert any("its class is 0x10601" in problem for problem in problems(output, "error"))
    else:
        assert any("slot below this port is empty" in problem for problem in problems(output, "note"))
    assert problems(output, "not done") == ['The steps from "path" on were not made.']


def test_another_card_in_the_drives_place():
    output = doctor("qemu-virt", None, ERROR, options=("-device", "virtio-rng-pci,bus=rp"))
    assert any("is not an NVMe drive" in problem for problem in problems(output, "error"))


def test_a_drive_without_a_namespace():
    output = doctor("qemu-virt", None, ERROR,
                    options=("-device", "nvme-subsys,id=s", "-device", "nvme,serial=EMPTY,bus=rp,subsys=s"))
    assert "serial EMPTY" in output
    assert any("no active namespace" in problem for problem in problems(output, "error"))


def test_a_drive_with_blocks_that_are_not_used(tmp_path):
    drive = qemu.Drive.image(sparse(tmp_path / "drive.img"), "logical_block_size=2048,physical_block_size=2048")
    output = doctor("qemu-virt", drive, ERROR)
    assert any("neither 512 nor 4096" in problem for problem in problems(output, "error"))


def test_a_medium_that_cannot_be_read(tmp_path):
    image = sparse(tmp_path / "drive.img")
    drive = qemu.Drive(f"driver=blkdebug,image.driver=file,image.filename={qemu.escape(str(image))},"
                       "inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.errno=5,inject-error.0.sector=9000")
    output = doctor("qemu-virt", drive, ERROR)
    assert any(problem.startswith("Reading from the drive failed after") for problem in problems(output, "error"))


def test_a_drive_that_warns(tmp_path):
    drive = qemu.Drive.image(sparse(tmp_path / "drive.img"), "smart_critical_warning=9")
    output = doctor("qemu-virt", drive, ERROR)
    assert any("reads only" in problem for problem in problems(output, "error"))
    assert any("of the spare blocks are left" in problem for problem in problems(output, "warning"))


def test_a_drive_below_a_switch(tmp_path):
    image = sparse(tmp_path / "drive.img")
    options = ("-device", "x3130-upstream,id=up,bus=rp", "-device", "xio3130-downstream,id=down,bus=up,chassis=1,slot=2",
               "-drive", f"if=none,id=d,file={qemu.escape(str(image))},format=raw", "-device", "nvme,serial=BELOW,drive=d,bus=down")
    output = doctor("qemu-virt", None, NOTHING, options=options)
    for fact in ["3 bridges, 1 device", "00:01.0: class 0x60400, buses 1 to 3", "01:00.0: class 0x60400, buses 2 to 3",
                 "02:00.0: class 0x60400, buses 3 to 3", "03:00.0: class 0x10802", "serial BELOW", "nothing wrong was found"]:
        assert fact in output, output


def test_the_second_port_of_a_board_is_empty(tmp_path):
    """A port without a drive is no fault if another has one."""
    drive = qemu.Drive.image(sparse(tmp_path / "drive.img"))
    output = doctor("qemu-virt", drive, NOTHING, options=("-device", "pcie-root-port,id=second,slot=2,addr=2"))
    assert "empty" not in output


# ---- arguments ----


@pytest.mark.parametrize(("board", "guide"), [("zynq7000", "PG054"), ("zynqmp", "PG213")])
def test_link_states_have_the_numbers_of_the_boards_bridge(board, guide):
    """There is no bridge in these machines."""
    for arguments, said in (({}, guide), ({"ltssm": "pg054"}, "PG054"), ({"ltssm": "pg213"}, "PG213")):
        output = doctor(board, None, ERROR, **arguments)
        assert re.search(rf"^doctor .*, link states of {said}$", output, re.M), output
        assert any("no PCIe root port" in problem for problem in problems(output, "error"))


def test_one_of_two_drives_is_checked(tmp_path):
    options = ("-device", "pcie-root-port,id=second,slot=2,addr=2",
               "-drive", f"if=none,id=d2,file={qemu.escape(str(sparse(tmp_path / 'second.img')))},format=raw",
               "-device", "nvme,serial=SECOND,drive=d2,bus=second")
    first = qemu.Drive.image(sparse(tmp_path / "drive.img"))
    for number, serial in (("0", "SPATE0001"), ("1", "SECOND")):
        output = doctor("qemu-virt", first, NOTHING, options=options, drive=number)
        assert f"serial {serial}" in output and re.search(r"device +0\d:00.0: vendor 0x1b36, device 0x10, class 0x10802", output)
    assert "There is no NVMe drive 2" in problems(doctor("qemu-virt", first, ERROR, options=options, drive="2"), "error")[0]


@pytest.mark.parametrize("board", BOARDS)
def test_the_write_test_writes_where_it_is_told_to(board, tmp_path):
    image = sparse(tmp_path / "drive.img")
    output = doctor(board, qemu.Drive.image(image), NOTHING, write="1", lba="8192", blocks="4096")
    assert re.search(r"write +2 MiB, \d+ MB/s", output)
    assert "were written, read and compared" in output
    data = image.read_bytes()
    assert any(data[4 << 20:6 << 20])
    assert not any(data[: 4 << 20]) and not any(data[6 << 20:])


@pytest.mark.parametrize("arguments", [{}, {"lba": "0"}, {"blocks": "8"}])
def test_the_write_test_needs_a_range(arguments, tmp_path):
    image = sparse(tmp_path / "drive.img")
    output = doctor("qemu-virt", qemu.Drive.image(image), 1, write="1", **arguments)
    assert "write=1 needs lba=N and blocks=N" in output
    assert not any(image.read_bytes())


def test_a_range_beyond_the_drive_is_refused(tmp_path):
    image = sparse(tmp_path / "drive.img")
    output = doctor("qemu-virt", qemu.Drive.image(image), ERROR, write="1", lba="131071", blocks="2")
    assert any(problem.startswith("Writing to the drive failed") for problem in problems(output, "error"))
    assert not any(image.read_bytes())


def test_the_clock_is_counted_aloud():
    output = doctor("qemu-virt", None, ERROR, clock="2")
    assert re.findall(r"^  clock +(\d+) s$", output, re.M) == ["0", "1", "2"]


# ---- a recorder that checks first ----


@pytest.mark.parametrize("board", BOARDS)
def test_a_recorder_that_checks_first(board, tmp_path):
    image = sparse(tmp_path / "drive.img", 512)
    formatted = qemu.run(board, "demo", qemu.Drive.image(image), {"clip_mib": "4"}, timeout_s=TIMEOUT_S)
    assert formatted.status == 0, formatted.report()
    result = qemu.run(board, "recorder_checked", qemu.Drive.image(image), {}, timeout_s=TIMEOUT_S)
    assert result.status == 0, result.report()
    assert "the drive reads what the processor stored" in result.output and problems(result.output, "warning", "error") == []
    part = tmp_path / "part.img"
    volume.copy_sparse(image, *volume.partition_offset_bytes(image), part)
    assert "clean" in volume.fsck(part)
    assert "CLIP.RAW" in volume.files(part)


def test_a_recorder_that_checks_first_records_nothing_after_an_error(tmp_path):
    drive = qemu.Drive.image(sparse(tmp_path / "drive.img"), "smart_critical_warning=9")
    result = qemu.run("qemu-virt", "recorder_checked", drive, {}, timeout_s=TIMEOUT_S)
    assert result.status == 1, result.report()
    assert "nothing was recorded (see above)" in result.output
    assert not any((tmp_path / "drive.img").read_bytes())
