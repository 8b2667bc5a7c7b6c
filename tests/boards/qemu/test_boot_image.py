# SPDX-License-Identifier: Apache-2.0
"""make boot-image: where its partitions are loaded, and that the firmware runs from there. A stand-in takes the place of the
first-stage loader."""

import os
import re
import struct
import subprocess

import pytest

import first_loader
import program
import qemu

pytestmark = pytest.mark.thorough

OCM, FIRMWARE_AT = 0xFFFC0000, 0x100000
PMUFW_AT = 0xFFDC0000  # RAM of the platform management unit
# Offsets in the boot header (UG1283, "Boot Image Format"; the same chapter has the partition header).
BOOT_PMUFW_BYTES, BOOT_FSBL_BYTES, BOOT_PARTITIONS = 0x34, 0x3C, 0x9C


def make_boot_image(**files):
    output = qemu.BUILD / "BOOT.BIN"
    output.unlink(missing_ok=True)
    run = subprocess.run(["make", "boot-image", *(f"{name.upper()}={path}" for name, path in files.items())], cwd=qemu.ROOT,
                         capture_output=True, text=True, check=False, env=os.environ)
    return run, output


def word(data, at):
    return struct.unpack_from("<I", data, at)[0]


def partitions(data):
    """{load address: (start address, contents)}"""
    found = {}
    at = word(data, BOOT_PARTITIONS)
    while True:
        words = struct.unpack_from("<16I", data, at)
        start, load = words[4] | words[5] << 32, words[6] | words[7] << 32
        found[load] = start, data[words[8] * 4:words[8] * 4 + words[1] * 4]
        if words[3] == 0:
            return found
        at = words[3] * 4


@pytest.fixture
def loader(tmp_path):
    return first_loader.build(tmp_path / "my fsbl.elf", at=OCM, image=FIRMWARE_AT, counter_hz=62500000)


@pytest.mark.parametrize("board", ["zynqmp", "zynqmp-ocm"])
def test_the_firmware_is_loaded_into_ddr_and_runs_in_on_chip_memory(board, loader, tmp_path):
    elf = qemu.BUILD / board / "firmware" / "selftest.elf"
    run, output = make_boot_image(fsbl=loader, elf=elf)
    assert run.returncode == 0, run.stdout + run.stderr
    loads = partitions(output.read_bytes())
    assert {load: start for load, (start, _) in loads.items()} == {OCM: OCM, FIRMWARE_AT: FIRMWARE_AT}

    # The boot ROM loads the loader, which loads the firmware.
    assert loads[OCM][1].rstrip(b"\0") in loader.read_bytes()
    flat = tmp_path / "firmware.bin"
    flat.write_bytes(loads[FIRMWARE_AT][1])
    options = ("-device", f"loader,file={flat},addr={FIRMWARE_AT:#x},force-raw=on")
    result = qemu.run(board, "selftest", None, {"clip_kib": qemu.ALL[board].clip_kib}, timeout_s=60, image=loader, options=options)
    assert result.status == 0, result.report()
    assert re.search(r"^memory program +at 0xfff", result.output, re.M), result.output


def test_the_platform_management_units_firmware_goes_before_the_loader(loader, tmp_path):
    firmware, source = tmp_path / "pmufw.elf", tmp_path / "pmufw.S"
    source.write_text(".global _start\n_start: .word 1, 2, 3, 4\n")
    program.run("arm-linux-gnueabihf-gcc", "-nostdlib", "-static", "-Wl,--build-id=none", f"-Wl,-Ttext={PMUFW_AT:#x}", source,
                "-o", firmware)  # 32 bits, as the unit's MicroBlaze
    run, output = make_boot_image(fsbl=loader, pmufw=firmware, elf=qemu.BUILD / "zynqmp" / "firmware" / "hello.elf")
    assert run.returncode == 0, run.stdout + run.stderr
    data = output.read_bytes()
    assert word(data, BOOT_PMUFW_BYTES) > 0 and word(data, BOOT_FSBL_BYTES) > 0
    assert FIRMWARE_AT in partitions(data)


def test_what_is_missing_is_named(loader, tmp_path):
    run, output = make_boot_image(fsbl=loader, elf=tmp_path / "none.elf")
    assert run.returncode != 0 and re.search(r"FAILED at looking for the files: .*none\.elf is not there", run.stdout)
    run, _ = make_boot_image(fsbl=loader, elf=qemu.BUILD / "qemu-boston" / "firmware" / "hello.elf")
    assert run.returncode != 0 and "FAILED at reading the firmware" in run.stdout
    assert not output.exists()
