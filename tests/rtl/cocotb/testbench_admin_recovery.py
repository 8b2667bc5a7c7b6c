# SPDX-License-Identifier: Apache-2.0
"""Recovery by spate_admin: a drive that was ready fails. It is recovered, or given up, or another drive is in its place."""

import random

import cocotb

import admin_drive
from admin_bench import ERROR, MS, STEP, fault, gone_after_ready, ready, some, start


# A fault while nothing else happens → the reported error, and whether PERST# was needed.
FAULTS = {"data path": ("data path", False), "link": ("link lost", False), "link for long": ("link", True),
          "fatal": ("fatal", False), "health lost": ("admin deadline", False), "stuck": ("data path", True),
          "access error": ("access", False)}


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(name=some(FAULTS, 2), command=some([True, False], 2), fall_ms=[0, 24])
async def faults_are_recovered_from(dut, name, command, fall_ms):
    drive = start(dut, link_fall_ms=fall_ms)
    await ready(drive)
    await drive.cycles(1000)
    epoch, generation = drive.epoch, drive.generation
    if command:
        drive.put(op="write", lba=9, blocks=1)
        await drive.until(lambda: dut.side_push_o.value, what="push")
    fault(name, drive)
    await drive.cycles(1)
    dut.recover_i.value = 0
    await drive.until(lambda: not drive.ready, what="not ready")
    assert not drive.health().valid
    drive.access_faults.clear()
    await drive.until(lambda: drive.ready, what="ready again")
    error, perst = FAULTS[name]
    errors = {ERROR[error]}
    if "link" in name and fall_ms:
        errors.add(ERROR["access"])  # the drive may be found silent before the root port reports that the link is down
    if name == "link":
        errors.add(ERROR["data path"])  # the link was up again before the core looked
    assert drive.bring_up().error in errors
    assert drive.epoch != epoch and drive.recoveries == 1 and drive.health().valid
    resets = drive.generation - generation - (1 if "link" in name else 0)
    assert resets == int(perst), f"PERST# {resets} times"
    if command:
        await drive.until(lambda: drive.responses, what="response")
        assert drive.responses[-1]["status"] == 0
    assert (await drive.respond(op="flush"))["status"] == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_drive_that_never_answers_a_command(dut):
    """The command is started again three times, then given up; the drive stays."""
    drive = start(dut)
    await ready(drive)
    drive.side_faults.extend([admin_drive.LOST] * 4)
    assert (await drive.respond(limit=200000, op="flush"))["status"] == 0x8005
    assert len(drive.side_log) == 4 and drive.recoveries == 4
    assert (await drive.respond(op="flush"))["status"] == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_drive_that_fails_again_and_again_is_given_up(dut):
    drive = start(dut)
    await ready(drive)
    drive.profile.class_code = 0x010601
    fault("stuck", drive)
    await drive.cycles(1)
    dut.recover_i.value = 0
    assert await gone_after_ready(drive) == (STEP["device"], ERROR["class"])
    assert drive.recoveries == 1


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(between=["nothing", "a command retired", "a side command was answered"])
async def a_drive_that_makes_progress_is_not_given_up(dut, between):
    """It fails each time before it was well for 100 ms. The fourth time is the last, unless commands ended in between."""
    drive = start(dut)
    await ready(drive)
    for life in range(1, 9):
        await drive.cycles(10 * MS)
        if between == "a command retired":
            dut.retired_i.value = 1
            await drive.cycles(1)
            dut.retired_i.value = 0
        elif between == "a side command was answered":
            assert (await drive.respond(op="flush"))["status"] == 0
        fault("data path", drive)
        await drive.cycles(1)
        dut.recover_i.value = 0
        await drive.until(lambda: not drive.ready, what="not ready")
        await drive.until(lambda: drive.gone or drive.ready, what="ready or gone")
        assert drive.gone == (between == "nothing" and life == 4), f"after {life} recoveries"
        if drive.gone:
            return


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(what=["serial", "serial's neighbour", "size", "namespace", "block size"])
async def another_drive_is_refused_after_a_recovery(dut, what):
    """Commands that wait are not replayed onto a drive that was plugged in after a recovery began. A restart accepts that
    drive."""
    drive = start(dut)
    await ready(drive)
    profile, known = drive.profile, drive.field("blocks")
    fault("data path", drive)
    await drive.cycles(1)
    dut.recover_i.value = 0
    await drive.until(lambda: drive.ready and drive.recoveries == 1, what="ready with the same drive")
    if what == "size":
        profile.blocks += 1
    elif what == "namespace":
        profile.eui64 += 1
    elif what == "block size":
        profile.block_shift = 12
    else:
        profile.serial = "S4EVNX0M" if what == "serial" else "SPATE-00002"
    fault("link", drive)
    assert await gone_after_ready(drive) == (STEP["identify namespace"], ERROR["other drive"])
    assert drive.field("blocks") == known and drive.field("block_4096") == 0, "the properties of the other drive are visible"
    assert (await drive.respond(op="flush"))["status"] == 0x8004
    assert (await drive.respond(op="restart"))["status"] == 0 and drive.ready
    assert drive.field("blocks") == profile.blocks and drive.field("block_4096") == (what == "block size")


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(idle=[True, False])
async def a_restart_takes_another_drive_when_nothing_waits(dut, idle):
    drive = start(dut)
    await ready(drive)
    drive.profile.serial, drive.idle = "SPATE-00002", idle
    drive.put(op="restart")
    await drive.until(lambda: not drive.ready, what="not ready")
    other = ERROR["other drive"]
    await drive.until(lambda: drive.ready or drive.bring_up().error == other, what="ready, or another drive")
    assert drive.ready == idle


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize(run=some(range(4), 4))
async def each_command_is_answered_once(dut, run):
    """Random commands and random faults: each command gets one response, in order, and in the end the drive is ready or gone."""
    drive = start(dut)
    drive.response_stall = 0.3
    await ready(drive)
    kinds = ["data path", "link", "fatal", "health lost", "none", "none", "none"]
    for number in range(25):
        op = random.choice(["flush", "write", "read", "deallocate", "raw_io", "flush"])
        drive.raw = [0x02] + [0] * 15
        drive.put(op=op, lba=random.getrandbits(30), blocks=random.randint(0, 9), tag=number)
        drive.side_faults.extend(random.choices([None, 0x0281, 0x4281, admin_drive.LOST], [8, 3, 1, 1], k=2))
        await drive.cycles(random.randint(1, 3000))
        fault(random.choice(kinds), drive)
        await drive.cycles(1)
        dut.recover_i.value = 0
    await drive.until(lambda: len(drive.responses) == 25, 400000, "25 responses")
    await drive.cycles(3000)
    assert [answer["tag"] for answer in drive.responses] == list(range(25))
    assert all(answer["status"] in (0, 0x0281, 0x4281, 0x8001, 0x8004, 0x8005) for answer in drive.responses)
    assert drive.ready or drive.gone


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(what=["format", "restart", "restart of the same"])
async def the_geometry_changes_only_after_gone(dut, what):
    """A module that splits requests before the data path, or that waits for a restart with one, learns from `gone` that the
    request was for another drive."""
    drive = start(dut)
    await ready(drive)
    names = ("block_4096", "blocks", "command_sectors_max")
    before, seen = [drive.field(name) for name in names], False

    async def watch():
        nonlocal seen
        while True:
            await drive.cycles(1)
            seen |= bool(drive.gone)
            assert seen or [drive.field(name) for name in names] == before, "the geometry changed without `gone`"

    cocotb.start_soon(watch())
    if what != "restart of the same":
        drive.profile.block_shift = 12
    answer = await drive.respond(op="format" if what == "format" else "restart", address=0x201)
    assert answer["status"] == 0 and drive.ready
    assert drive.field("block_4096") == (what != "restart of the same")
    assert seen == (what != "restart of the same")


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_format_that_a_reset_interrupted_may_have_succeeded(dut):
    """The drive comes back with another block size, because it was formatted: it is still accepted as the same one."""
    drive = start(dut)
    await ready(drive)
    drive.faults[admin_drive.FORMAT].append(admin_drive.LOST)
    drive.put(op="format", address=0x201)
    await drive.until(lambda: not drive.faults[admin_drive.FORMAT], what="format")
    drive.profile.block_shift = 12
    drive.drop_link(100)
    await drive.until(lambda: drive.responses, 100000, "response")
    assert drive.responses[0]["status"] == 0x8005, "the result of a format that a reset interrupted is unknown"
    assert drive.ready and drive.field("block_4096") == 1
    # After that, the next drive must be this one.
    drive.profile.serial = "SPATE-00002"
    drive.drop_link(100)
    await drive.until(lambda: drive.gone, 100000, "gone")
    assert drive.bring_up().error == ERROR["other drive"]


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(how=["recoveries", "enable", "shutdown"], ends=[True, False])
async def gone_waits_for_accesses_in_flight(dut, how, ends):
    """In memory mode a response tells that the drive no longer writes to that memory. When the drive is given up, its writes may
    still be in flight. PERST# was asserted, so they end; if they do not, the wait is bounded."""
    drive = start(dut)
    await ready(drive)
    if how == "recoveries":
        for _ in range(3):
            await drive.cycles(10 * MS)
            drive.dut.recover_i.value = 1
            await drive.cycles(1)
            drive.dut.recover_i.value = 0
            await drive.until(lambda: not drive.ready, what="not ready")
            await drive.until(lambda: drive.ready, what="ready")
        await drive.cycles(10 * MS)
        dut.recover_i.value = 1
        await drive.cycles(1)
        dut.recover_i.value = 0
    elif how == "enable":
        dut.enable_i.value = 0
    else:
        drive.put(op="shutdown")
    drive.quiet = False
    await drive.until(lambda: not dut.perst_no.value, what="PERST#")
    await drive.cycles(40 * MS)
    assert not drive.gone and not drive.responses, "gone while accesses are in flight"
    if ends:
        drive.quiet = True
    await drive.until(lambda: drive.gone, 100 if ends else 200 * MS, "gone")
