# SPDX-License-Identifier: Apache-2.0
"""What the testbenches of spate_admin share: the drive that they start, the steps and errors of the bring-up by name, and faults
of the drive. A millisecond is three cycles here."""

import os

from cocotb.clock import Clock

import admin_drive
from admin_drive import AdminDrive, Profile

WINDOW, BAR = 0x12_4000_0000, 0xA000_0000
ALL = os.environ["ALL"] != "0"
MS = 3  # cycles

STEP = {name: number for number, name in enumerate(
    ("disabled", "perst", "link", "root port", "device", "bar", "capabilities", "controller", "disable", "quiet", "enable",
     "identify controller", "namespace list", "features", "identify namespace", "queues", "health", "ready", "recovery",
     "shutdown"))}
ERROR = {name: number for number, name in enumerate(
    ("none", "access", "link", "no device", "class", "header", "bar type", "bar size", "capability", "version",
     "command set", "page size", "queue size", "disable", "quiet", "enable", "fatal", "admin deadline", "identify",
     "entry size", "no namespace", "block size", "metadata", "too large", "features", "create queue", "link lost",
     "data path", "side deadline", "shut down", "shutdown deadline", "other drive"))}


def some(cases, of: int, always: tuple = ()) -> list:
    """All of the cases, or every n-th and those that no other case replaces."""
    return [case for number, case in enumerate(cases) if ALL or number % of == 0 or case in always]


def start(dut, **profile) -> AdminDrive:
    Clock(dut.clk_i, 4, unit="ns").start()
    return AdminDrive(dut, Profile(**profile), tick_cycles=MS, window=WINDOW, bar=BAR)


async def ready(drive: AdminDrive) -> None:
    await drive.cycles(8)
    await drive.until(lambda: drive.ready, what="ready")


async def gone(drive: AdminDrive, limit: int = 400000) -> tuple[int, int]:
    """Waits until the drive is given up. Returns (step, error)."""
    await drive.cycles(8)
    await drive.until(lambda: drive.gone or drive.ready, limit, "gone")
    assert drive.gone and not drive.ready, "a drive that should have been refused is ready"
    return drive.bring_up().step, drive.bring_up().error


async def gone_after_ready(drive: AdminDrive) -> tuple[int, int]:
    await drive.until(lambda: not drive.ready, what="not ready")
    return await gone(drive)


def fault(name: str, drive: AdminDrive) -> None:
    """Makes the drive, its link or the data path fail. The caller takes recover_i back after a cycle."""
    if name == "data path":
        drive.dut.recover_i.value = 1
    elif name == "link":
        drive.drop_link(300)
    elif name == "link for long":
        drive.drop_link(None)
    elif name == "fatal":
        drive.fatal_now = True
    elif name == "health lost":
        drive.faults[admin_drive.GET_LOG].append(admin_drive.LOST)
    elif name == "stuck":
        drive.profile.disable_cycles = None
        drive.dut.recover_i.value = 1
    elif name == "access error":
        drive.access_faults[admin_drive.BAR, admin_drive.CSTS] = "error"
