# SPDX-License-Identifier: Apache-2.0
"""ports/common/riscv64: each way to start it, a processor without a host, and the beginning of a board for a PolarFire SoC."""

import dataclasses
import re

import program
import pytest
import qemu

pytestmark = pytest.mark.thorough

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


def run(app, *options, status=0, board=BOARD, **arguments):
    result = qemu.run(board, app, None, arguments, timeout_s=TIMEOUT_S, options=options)
    assert result.status == status, result.report()
    return result.output


def test_it_starts_in_supervisor_mode(started):
    behind_firmware(started)
    output = run("selftest")
    assert re.search("Domain0 Next Mode +: S-mode", output) and "B.RAW: all 6156345 bytes as recorded" in output, output


@pytest.mark.parametrize(("fault", "sentence"), [("stack", "stack overflow"), ("null", "null pointer"), ("constant", "a write to constants")])
def test_faults_behind_firmware(started, fault, sentence):
    behind_firmware(started)
    assert re.search(rf"^fault: .*{sentence}", run("hello", fault=fault, status=120), re.M)


def test_a_register_without_a_device_behind_firmware(started):
    behind_firmware(started)
    assert "read 0xffffffff" in run("hello", fault="register", status=1)


def test_one_of_four_harts_goes_on():
    others = [word for hart in (1, 2, 3) for word in ("-device", f"loader,addr={START:#x},cpu-num={hart}")]
    output = run("hello", "-smp", "4", *others, status=1)
    assert output.count("QEMU virt, RISC-V") == 1 and output.count("NO_DEVICE") == 1, output


def test_without_a_host_the_calls_to_it_fail():
    """Then there are no words, so that nothing faults, and the test device ends the run."""
    output = run("hello", "-semihosting-config", "enable=off", status=1, fault="null")
    assert "fault" not in output and "NO_DEVICE" in output, output


def test_a_polarfire_soc_up_to_its_bridge(tmp_path, monkeypatch):
    """As its page says: all harts start the image in machine mode and hart 1 continues; the clock is read at its address."""
    build = tmp_path / "icicle"
    program.run("cmake", "-G", "Ninja", "-S", qemu.ROOT, "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={qemu.ROOT}/cmake/riscv64.cmake",
                f"-DSPATE_PORT_DIR={qemu.ROOT}/tests/boards/qemu/icicle", "-DCMAKE_BUILD_TYPE=Release")
    program.run("cmake", "--build", build, "--target", "selftest", "hello", "-j", "2", timeout_s=300)
    for folder, has_rdtime in ((qemu.BUILD / BOARD, True), (build, False)):
        assert ("rdtime" in program.run("riscv64-linux-gnu-objdump", "-d", folder / "firmware/selftest.elf").stdout) == has_rdtime
    monkeypatch.setattr(qemu, "BUILD", tmp_path)
    # QEMU 11 starts no machine without -bios and -kernel. Earlier ones load no image that is given by -kernel without -bios.
    version = int(re.search(r"version (\d+)", program.run("qemu-system-riscv64", "--version").stdout)[1])
    image = "-kernel {}" if version >= 11 else "-device loader,file={}"
    harts = [f"-device loader,addr={START:#x},cpu-num={hart}" for hart in range(5)]
    monkeypatch.setitem(qemu.ALL, "icicle", qemu.Board(
        "qemu-system-riscv64", "-M microchip-icicle-kit -smp 5 -m 2G -bios none -display none -monitor none -serial stdio",
        image=" ".join([image, *harts])))
    output = run("selftest", board="icicle")
    assert output.count("clock  1000000 ticks per second") == 1, output
    assert re.search(r"B\.RAW: all 6156345 bytes as recorded\s+pcie   NO_BRIDGE: ", output), output
    assert "read 0xffffffff" in run("hello", board="icicle", fault="register", status=1)


def test_what_a_command_costs():
    """README.md has these figures."""
    drive = qemu.Drive("driver=null-co,size=8589934592,read-zeroes=on", "mdts=8")
    result = qemu.run(BOARD, "instructions", drive, timeout_s=TIMEOUT_S, options=("-icount", "shift=0,sleep=off"))
    assert result.status == 0, result.report()
    costs = re.findall(r"^cost (?:write|read) \d+ submit (\d+) doorbell (\d+) complete (\d+) batch 32", result.output, re.M)
    callback = int(re.search(r"^cost callback (\d+)", result.output, re.M)[1])
    assert len(costs) == 6
    for submit, doorbell, complete in costs:
        assert int(submit) <= 87 and int(doorbell) <= 24 and int(complete) / 32 - callback < 23.5, result.output


@pytest.mark.parametrize(("defines", "missing"), [([], "must define SPATE_PORT_COHERENT"), (["0"], "spate_port_cache_clean"), (["1"], None)])
def test_a_board_says_whether_it_is_coherent(tmp_path, defines, missing):
    header = "".join(f"#define SPATE_PORT_COHERENT {value}\n" for value in defines)
    source = tmp_path / "coherent.c"
    source.write_text(f"{header}#define SPATE_PORT_TICKS_PER_SECOND 1\n#include <spate/port/riscv64.h>\n"
                      "void clean(void *at);\nvoid clean(void *at) { spate_port_cache_clean(at, 64); }\n")
    done = program.run("riscv64-linux-gnu-gcc", "-ffreestanding", "-fsyntax-only", "-Werror", f"-I{qemu.ROOT}/include", source,
                       statuses=(0,) if missing is None else (1,))
    assert missing is None or missing in done.stderr
