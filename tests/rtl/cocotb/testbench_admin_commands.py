# SPDX-License-Identifier: Apache-2.0
"""Commands that spate_admin carries out: side commands, raw commands, format, sanitize, shutdown and restart."""

import random

import cocotb

import admin_drive
import records
from admin_drive import AdminDrive
from admin_bench import ERROR, STEP, ready, some, start


def window(drive: AdminDrive, offset: int) -> int:
    return drive.base + offset


def fields(sqe: list) -> dict:
    return {"opcode": sqe[0] & 0xFF, "nsid": sqe[1], "prp1": sqe[6] | sqe[7] << 32, "prp2": sqe[8] | sqe[9] << 32,
            "lba": sqe[10] | sqe[11] << 32, "dw10": sqe[10], "dw11": sqe[11], "dw12": sqe[12]}


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(block_shift=[9, 12])
async def side_commands(dut, block_shift):
    drive = start(dut, block_shift=block_shift)
    drive.response_stall = 0.5
    await ready(drive)
    drive.written = 0x12_8000_0001
    answer = await drive.respond(op="flush", tag=7, from_registers=1)
    assert answer == {"status": 0, "done": 0x12_8000_0001, "tag": 7, "from_registers": 1}
    assert fields(drive.side_log[-1])["opcode"] == 0 and drive.side_log[-1][1] == 1

    most = 4096 >> block_shift
    last = drive.profile.blocks - most
    assert await drive.respond(op="write", lba=last, blocks=most, fua=1) == \
        {"status": 0, "done": most, "tag": 0, "from_registers": 0}
    sqe = fields(drive.side_log[-1])
    assert (sqe["opcode"], sqe["lba"], sqe["prp1"]) == (1, last, window(drive, 0x3000))
    assert sqe["dw12"] == 1 << 30 | most - 1
    assert (await drive.respond(op="read", lba=5, blocks=1))["done"] == 1
    sqe = fields(drive.side_log[-1])
    assert (sqe["opcode"], sqe["lba"], sqe["dw12"], sqe["prp2"]) == (2, 5, 0, 0)

    # Ranges that end on a carry out of 32 bits, and one block past the end.
    assert (await drive.respond(op="read", lba=0xFFFF_FFFF, blocks=1))["status"] == 0
    assert (await drive.respond(op="deallocate", lba=drive.profile.blocks - 0xFFFF_FFFF, blocks=0xFFFF_FFFF))["status"] == 0
    sqe = fields(drive.side_log[-1])
    assert (sqe["opcode"], sqe["dw10"], sqe["dw11"], sqe["prp1"]) == (9, 0, 4, window(drive, 0x4000))
    shown = records.get(dut.range_o, "range_t")
    assert shown.lba == drive.profile.blocks - 0xFFFF_FFFF and shown.blocks == 0xFFFF_FFFF
    before = len(drive.side_log)
    for command, status in (
            ({"op": "read", "lba": last + 1, "blocks": most}, 0x8002), ({"op": "write", "lba": 1 << 40, "blocks": 1}, 0x8002),
            ({"op": "deallocate", "lba": drive.profile.blocks - 0xFFFF_FFFE, "blocks": 0xFFFF_FFFF}, 0x8002),
            ({"op": "write", "lba": 0, "blocks": 0}, 0x8001), ({"op": "deallocate", "lba": 0, "blocks": 0}, 0x8001),
            ({"op": "write", "lba": 0, "blocks": most + 1}, 0x8001),
            ({"op": "read", "lba": 0, "blocks": 1, "source": admin_drive.STREAM}, 0x8001)):
        assert (await drive.respond(**command)) == {"status": status, "done": 0, "tag": 0, "from_registers": 0}, command
    assert len(drive.side_log) == before, "a command that cannot be carried out went to the drive"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def errors_without_dnr_are_retried(dut):
    drive = start(dut)
    await ready(drive)
    drive.side_faults.extend([0x0281] * 7)
    assert (await drive.respond(op="write", lba=1, blocks=1))["status"] == 0 and len(drive.side_log) == 8
    drive.side_faults.extend([0x0281] * 8)
    assert (await drive.respond(op="write", lba=1, blocks=1)) == \
        {"status": 0x0281, "done": 0, "tag": 0, "from_registers": 0} and len(drive.side_log) == 16
    drive.side_faults.append(0x4281)
    assert (await drive.respond(op="flush"))["status"] == 0x4281 and len(drive.side_log) == 17
    drive.written = 5
    drive.side_faults.append(0x0281)
    assert (await drive.respond(op="flush"))["done"] == 5
    assert drive.recoveries == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def raw_commands(dut):
    drive = start(dut)
    await ready(drive)
    drive.raw = [random.getrandbits(32) for _ in range(16)]
    drive.raw[0] = 0xBEEF_C302  # a read with an identifier and flags that software must not set
    answer = await drive.respond(op="raw_io")
    assert answer["status"] == 0 and answer["done"] == 0x51DE
    sqe = drive.side_log[-1]
    assert sqe[0] & 0xFFFF == 2 and sqe[1:4] == drive.raw[1:4] and sqe[10:] == drive.raw[10:]
    assert fields(sqe)["prp1"] == window(drive, 0x3000) and sqe[4:6] == sqe[8:10] == [0, 0]
    drive.raw[0] = 0x08  # no data
    await drive.respond(op="raw_io")
    assert drive.side_log[-1][6:10] == [0] * 4
    drive.side_faults.append(0x0002)
    assert (await drive.respond(op="raw_io"))["status"] == 2, "a raw command was retried, or its status is not the drive's"
    drive.raw = [0x0000_000A, 0] + [0] * 14  # Get Features
    answer = await drive.respond(op="raw_admin")
    assert answer["status"] == 0 and answer["done"] == 0xABCD_000A
    assert fields(drive.admin_log[-1])["prp1"] == window(drive, 0x3000)
    for opcode in (0, 1, 4, 5, 0x0C, 0x0D, 0x15, 0x80):
        drive.raw[0] = opcode
        before = len(drive.admin_log)
        assert (await drive.respond(op="raw_admin"))["status"] == 0x8001
        assert all(sqe[0] & 0xFF == admin_drive.GET_LOG for sqe in drive.admin_log[before:]), "other commands than health logs"
    # A command that a reset interrupted is not repeated.
    drive.side_faults.append(admin_drive.LOST)
    drive.raw[0] = 0x02
    before = len(drive.side_log)
    assert (await drive.respond(op="raw_io"))["status"] == 0x8005 and len(drive.side_log) == before + 1
    assert drive.recoveries == 1


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def commands_that_the_drive_lacks_are_refused(dut):
    drive = start(dut, oacs=0, oncs=0, sanicap=0)
    await ready(drive)
    for op in ("deallocate", "format", "sanitize"):
        assert (await drive.respond(op=op, blocks=1))["status"] == 0x8003


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def format_brings_the_drive_up_again(dut):
    drive = start(dut)
    await ready(drive)
    drive.idle = False
    assert (await drive.respond(op="format", address=0x200))["status"] == 0x8006, "a format did not wait for commands in flight"
    drive.idle = True
    drive.faults[admin_drive.FORMAT].append(0x410A)
    assert (await drive.respond(op="format", address=0x20F))["status"] == 0x410A and drive.recoveries == 0
    drive.profile.block_shift = 12
    answer = await drive.respond(op="format", address=0x201)
    assert answer["status"] == 0 and drive.ready and drive.field("block_4096") == 1 and drive.recoveries == 1
    sqe = [sqe for sqe in drive.admin_log if sqe[0] & 0xFF == admin_drive.FORMAT][-1]
    assert sqe[10] == 0x201 and sqe[1] == 1


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def sanitize_ends_when_the_drive_has_finished(dut):
    drive = start(dut)
    await ready(drive)
    assert (await drive.respond(op="sanitize", address=2))["status"] == 0 and drive.sanitize_polls == 0
    logs = [sqe for sqe in drive.admin_log if sqe[0] & 0xFF == admin_drive.GET_LOG and sqe[10] & 0xFF == 0x81]
    assert len(logs) == 4
    drive.put(op="sanitize", address=2)
    await drive.until(lambda: drive.sanitize_polls == 2, what="in progress")
    drive.sanitize_end = 3
    drive.drop_link(100)  # a reset does not stop it
    await drive.until(lambda: len(drive.responses) == 2, 100000, "response")
    assert drive.responses[-1]["status"] == 0x001C and drive.recoveries == 1


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def sanitize_that_was_never_sent_is_sent_after_a_reset(dut):
    drive = start(dut)
    await ready(drive)
    drive.idle = False  # it waits for the data path
    drive.put(op="sanitize", address=2)
    await drive.cycles(400)
    drive.drop_link(100)
    await drive.until(lambda: drive.recoveries == 1, 100000, "recovery")
    assert not [sqe for sqe in drive.admin_log if sqe[0] & 0xFF == admin_drive.SANITIZE]
    drive.idle = True
    await drive.until(lambda: drive.responses, 100000, "response")
    assert drive.responses[-1]["status"] == 0 and drive.sanitize_polls == 0
    assert len([sqe for sqe in drive.admin_log if sqe[0] & 0xFF == admin_drive.SANITIZE]) == 1


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(what=["flush", "commands"])
async def shutdown_reports_what_was_not_completed(dut, what):
    """After a flush that failed, or with commands of the data path that did not end, the drive is shut down, and the status tells
    it."""
    drive = start(dut)
    await ready(drive)
    drive.idle = what != "commands"
    drive.side_faults.extend([0x4281] if what == "flush" else [])
    answer = await drive.respond(op="shutdown")
    assert answer["status"] == {"flush": 0x4281, "commands": 0x8006}[what] and drive.gone
    assert drive.bring_up().error == ERROR["shut down"] and len(drive.side_log) == 1


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(cache=some([True, False], 2))
async def shutdown_and_restart(dut, cache):
    drive = start(dut, volatile_cache=cache)
    await ready(drive)
    answer = await drive.respond(op="shutdown")
    assert answer["status"] == 0 and drive.gone and not drive.ready and not dut.perst_no.value
    assert drive.bring_up().error == ERROR["shut down"] and drive.bring_up().step == STEP["shutdown"]
    assert len(drive.side_log) == int(cache) and not drive.queues
    assert (admin_drive.BAR, admin_drive.CC, 0x0046_4001) in drive.write_log
    assert (await drive.respond(op="flush"))["status"] == 0x8004
    assert (await drive.respond(op="restart", tag=3))["status"] == 0 and drive.ready and not drive.gone
    assert (await drive.respond(op="flush"))["status"] == 0
    generation = drive.generation
    assert (await drive.respond(op="restart", tag=3))["status"] == 0 and drive.generation == generation + 1
    drive.profile.shutdown_cycles = None
    assert (await drive.respond(op="shutdown"))["status"] == 0x8005 and drive.gone
    assert drive.bring_up().error == ERROR["shutdown deadline"]
    drive.profile.class_code = 0
    drive.power_up()
    assert (await drive.respond(op="restart"))["status"] == 0x8004 and drive.gone
