# SPDX-License-Identifier: Apache-2.0
"""ports/common/riscv64: each way to start it, a processor without a host, and a clock that is read by its address."""

import dataclasses
import os
import re

import program
import pytest
import qemu

BOARD = "qemu-riscv"
TIMEOUT_S = 120
START = 0x80200000  # link.ld


@pytest.fixture
def started(monkeypatch):
    """Changes how the board is started."""
    def change(**fields):
        monkeypatch.setitem(qemu.ALL, BOARD, dataclasses.replace(qemu.ALL[BOARD], **fields))
    return change


def behind_firmware(started):
    """OpenSBI, which QEMU has, starts the image in supervisor mode."""
    started(machine=qemu.ALL[BOARD].machine.replace("-bios none", "-bios default"), image="-kernel {}")


def run(app, *options, status=0, **arguments):
    result = qemu.run(BOARD, app, None, arguments, timeout_s=TIMEOUT_S, options=options)
    assert result.status == status, result.report()
    return result.output


def test_it_starts_in_supervisor_mode(started):
    behind_firmware(started)
    output = run("selftest")
    assert "Domain0 Next Mode         : S-mode" in output and "B.RAW: all 6156345 bytes as recorded" in output, output


@pytest.mark.parametrize(("fault", "sentence"), [("stack", "stack overflow"), ("null", "null pointer"), ("constant", "a write to constants")])
def test_faults_behind_firmware(started, fault, sentence):
    behind_firmware(started)
    assert re.search(rf"^fault: .*{sentence}", run("hello", fault=fault, status=120), re.M)


def test_a_register_without_a_device_behind_firmware(started):
    behind_firmware(started)
    assert "read 0xffffffff and 0xffffffffffffffff" in run("hello", fault="register", status=1)


def test_one_of_four_harts_goes_on():
    others = [word for hart in (1, 2, 3) for word in ("-device", f"loader,addr={START:#x},cpu-num={hart}")]
    output = run("hello", "-smp", "4", *others, status=1)
    assert output.count("QEMU virt, RISC-V") == 1 and output.count("NO_DEVICE") == 1, output


def test_without_a_host_the_calls_to_it_fail():
    """Then there are no words, so that nothing faults, and the test device ends the run."""
    output = run("hello", "-semihosting-config", "enable=off", status=1, fault="null")
    assert "fault" not in output and "NO_DEVICE" in output, output


def test_the_clock_at_an_address(tmp_path, monkeypatch):
    """SPATE_PORT_MTIME_ADDRESS: without RDTIME in the program."""
    build = tmp_path / BOARD
    program.run("cmake", "--preset", BOARD, "-B", build, cwd=qemu.ROOT,
                env=os.environ | {"CFLAGS": "-DSPATE_PORT_MTIME_ADDRESS=0x0200bff8"})
    program.run("cmake", "--build", build, "--target", "selftest", "-j", "2", timeout_s=300)
    for folder, has_rdtime in ((qemu.BUILD / BOARD, True), (build, False)):
        assert ("rdtime" in program.run("riscv64-linux-gnu-objdump", "-d", folder / "apps/selftest.elf").stdout) == has_rdtime
    monkeypatch.setattr(qemu, "BUILD", tmp_path)
    assert "clock  10000000 ticks per second" in run("selftest")


@pytest.mark.parametrize(("defines", "missing"), [([], "must define SPATE_PORT_COHERENT"), (["0"], "spate_port_cache_clean"), (["1"], None)])
def test_a_board_says_whether_it_is_coherent(tmp_path, defines, missing):
    header = "".join(f"#define SPATE_PORT_COHERENT {value}\n" for value in defines)
    source = tmp_path / "coherent.c"
    source.write_text(f"{header}#define SPATE_PORT_TICKS_PER_SECOND 1\n#include <spate/port/riscv64.h>\n"
                      "void clean(void *at);\nvoid clean(void *at) { spate_port_cache_clean(at, 64); }\n")
    done = program.run("riscv64-linux-gnu-gcc", "-ffreestanding", "-fsyntax-only", "-Werror", f"-I{qemu.ROOT}/include", source,
                       statuses=(0,) if missing is None else (1,))
    assert missing is None or missing in done.stderr
