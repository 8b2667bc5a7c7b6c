# SPDX-License-Identifier: Apache-2.0
"""A whole board, commanded by its own console.tcl: from the MMCM's lock to a recording that is verified, and what the console
says of a drive or a clock that is not there."""

import logging
import os
import pathlib
import re
from types import SimpleNamespace

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiLiteBus, AxiLiteMaster
from spate_sim.controller import DNR, STEP_NS
from spate_sim.nvme import MEDIA_ERROR

from bridged_board import BridgedBoard
from checked_drive import CheckedDrive
from tcl_console import Console

for model in ("cocotb.board_usp_top", "cocotb.board_axi_top"):  # the JTAG master's model logs each access
    logging.getLogger(model).setLevel(logging.WARNING)
WINDOW, BAR = 0x8000_0000, 0xE000_0000  # the core's defaults
MS_CYCLES, POWER_GOOD_MS = 16, 100
BLOCKS, BLOCK = 4096 * 8, 512
CONSOLE = pathlib.Path(os.environ["CONSOLE"])
BYTES = os.environ["BYTES"]
PAGES = "".join(pathlib.Path(page).read_text() for page in os.environ["PAGES"].split())
BRIDGE = os.environ["TOP"] == "board_axi_top"
UP, DOWN = ("up, PERST# high", "down, PERST#") if BRIDGE else ("up, 8 GT/s, x4, LTSSM 10h", "down, LTSSM 00h")
BEATS_OF_KIB = 64 if BRIDGE else 32
REFERENCE = os.environ["REFERENCE"]  # where the board's reference clock comes in
KIB = int(BYTES.removesuffix("K"))
FIRST = 2048  # 1 MiB
QUICK = KIB < 1024  # in make test: what a person sees first


def stands_on_the_page(lines: list[str]) -> bool:
    """Whether a block of the pages is this output, but for its numbers and the board's name."""
    def plain(text):
        return re.sub(r"\d+(?:\.\d+)?", "N", re.sub(r"^(board +)\w+", r"\1NAME", text, flags=re.M))
    return any(plain(block) == plain("\n".join(lines)) for block in re.findall(r"^```\w*\n(.*?)\n```$", PAGES, re.M | re.S))


class Board:
    def __init__(self, dut, **profile):
        self.dut = dut
        Clock(dut.clk, STEP_NS, unit="ns").start()
        bus = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "jtag"), dut.clk, dut.board_rst_n, reset_active_level=False)
        self.console = Console(bus, lambda ms: ClockCycles(dut.clk, ms * MS_CYCLES))
        profile = {"blocks": BLOCKS, "mdts": 5, "payload": 1} | profile
        if profile.pop("reference_clock", True):
            clock = Clock(dut.axi_aclk if BRIDGE else dut.user_clk, 4100, unit="ps")
            model = BridgedBoard if BRIDGE else CheckedDrive
            self.drive = model(dut, bar=BAR, clock=clock, window=(WINDOW, int(dut.WindowBits.value)), **profile)
        else:
            self.without_reference_clock()

    def without_reference_clock(self) -> None:
        dut = self.dut
        if BRIDGE:
            dut.axi_aclk.value = 0
            BridgedBoard(dut, bar=BAR, clock=SimpleNamespace(start=lambda **_: None))
            return
        for name in ("user_clk", "user_lnk_up", "cfg_max_payload", "cq_tvalid", "cc_tready", "rq_tready", "rc_tvalid",
                     "cfg_mgmt_read_write_done"):
            getattr(dut, name).value = 0
        dut.user_reset.value = dut.rst_n.value = 1

    async def open(self) -> None:
        await RisingEdge(self.dut.board_rst_n)
        await self.console.do(f"source {{{CONSOLE}}}")

    def close(self) -> None:
        self.console.close()


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def a_recording_is_verified(dut):
    board = Board(dut)
    console, drive = board.console, board.drive
    await RisingEdge(dut.rst_n)
    locked = get_sim_time("ns")
    assert not dut.perst_n.value and not dut.sys_reset.value
    await RisingEdge(dut.board_rst_n)
    held_cycles = (get_sim_time("ns") - locked) / STEP_NS
    assert POWER_GOOD_MS * MS_CYCLES <= held_cycles < POWER_GOOD_MS * MS_CYCLES + 8, f"reset was held for {held_cycles} cycles"
    assert not dut.perst_n.value and dut.sys_reset.value, "the block leaves reset before the drive"
    await console.do(f"source {{{CONSOLE}}}")
    recorded = await console.do(f"record {BYTES}")
    assert f"{KIB * 1024} bytes to blocks {FIRST} ... {FIRST + 2 * KIB - 1}" in recorded and "written and flushed" in recorded
    assert drive.io_log[-1][0] & 0xFF == 0, "the last command is no flush"
    words = b"".join(((0x53504154 + i * 0x9E3779B97F4A7C15) % 2**64).to_bytes(8, "little") for i in range(KIB * 128))
    assert b"".join(drive.media[FIRST + i] for i in range(2 * KIB)) == words
    state = await console.do("status")
    assert UP in state and f"ready, {BLOCKS} blocks of 512 bytes" in state and "step 17 (ready)" in state
    verified = await console.do(f"verify {BYTES}")
    assert f"all {KIB * BEATS_OF_KIB} beats are as recorded" in verified
    assert stands_on_the_page(console.transcript[1:]), "\n".join(console.transcript)
    assert int(dut.led.value) == 0b1101
    # A bit of the last block but one: verify names the byte.
    at = FIRST + 2 * KIB - 2
    drive.media[at] = bytes([drive.media[at][0] ^ 4]) + drive.media[at][1:]
    error = await console.fails(f"verify {BYTES}")
    assert f"1 of {KIB * BEATS_OF_KIB} beats are wrong, the first at byte {KIB * 1024 - 1024}, in block {at}" in error
    # Another seed is another pattern, and another place has none of it.
    assert f"{KIB * BEATS_OF_KIB} of {KIB * BEATS_OF_KIB} beats are wrong" in await console.fails(f"verify {BYTES} {FIRST} 7")
    await console.do(f"record 4K {FIRST + 9} 7")
    await console.do(f"verify 4K {FIRST + 9} 7")
    board.close()


@cocotb.test(skip=QUICK, timeout_time=40, timeout_unit="ms")
async def errors_say_what_to_do(dut):
    board = Board(dut)
    console, drive = board.console, board.drive
    await board.open()
    for command, expected in (
            ("record 100", "BYTES must be a multiple of the drive's blocks of 512 bytes"),
            ("record 12Q", "BYTES must be a number, or one with K, M, G or T: 12Q"),
            ("verify 4K -3", "LBA must be a number: -3"),
            (f"record 1K {BLOCKS - 1}", f"the drive has {BLOCKS} blocks, and 2 from {BLOCKS - 1} on are more")):
        assert expected in await console.fails(command), command
    # The drive cannot write, and later not read, a block.
    drive.bad_blocks[FIRST] = [MEDIA_ERROR | DNR, 1]
    error = await console.fails("record 4K")
    assert "the write ended with 4281h, the drive's own: type 2, code 81h, after 0 good blocks" in error
    await console.do("record 4K")
    drive.bad_blocks[FIRST] = [MEDIA_ERROR | DNR, 1]
    assert "the read ended with 4281h" in await console.fails("verify 4K")
    await console.do("verify 4K")
    assert "core   0024h  error_detail" in await console.do("registers")
    # Shut down, and brought up again.
    await console.do("shut_drive_down")
    assert "gone" in await console.do("status")
    assert "step 19 (shutdown), error 29: shut down, as asked" in await console.fails("verify 4K")
    await console.do("restart_drive")
    await console.do("verify 4K")
    board.close()


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def a_drive_that_is_not_there_is_named(dut):
    board = Board(dut)
    board.drive.see_perst = lambda low: None  # the slot is empty
    await board.open()
    error = await board.console.fails(f"record {BYTES}")
    assert "there is no drive: step 2 (wait for the link), error 2: the link did not come up. To do: reference clock" in error
    assert stands_on_the_page(board.console.transcript[1:]), board.console.transcript
    state = await board.console.do("status")
    assert "drive     gone" in state and DOWN in state and "no reference clock" not in state
    board.close()


@cocotb.test(skip=QUICK, timeout_time=40, timeout_unit="ms")
async def a_reference_clock_that_is_not_there_is_named(dut):
    board = Board(dut, reference_clock=False)
    dut.rst_n.value = 0
    await FallingEdge(dut.clk)
    dut.rst_n.value = 1
    await board.open()
    state = await board.console.do("status")
    assert f"0.0 MHz: no reference clock reaches {REFERENCE}" in state
    assert "error 2" in await board.console.fails(f"record {BYTES}")
    board.close()
