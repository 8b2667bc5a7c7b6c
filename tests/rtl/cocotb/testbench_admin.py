# SPDX-License-Identifier: Apache-2.0
"""spate_admin with a model of a drive: bring-up, each possible fault of a drive, side commands, faults and recovery. A
millisecond is three cycles here."""

import os
import random

import cocotb
from cocotb.clock import Clock

import admin_drive
import records
from admin_drive import AdminDrive, Profile

WINDOW, BAR = 0x12_4000_0000, 0xA000_0000
ALL = os.environ["ALL"] != "0"


def some(cases, of: int, always: tuple = ()) -> list:
    """All of the cases, or every n-th and those that no other case replaces."""
    return [case for number, case in enumerate(cases) if ALL or number % of == 0 or case in always]


MS = 3


def start(dut, **profile) -> AdminDrive:
    Clock(dut.clk_i, 4, unit="ns").start()
    return AdminDrive(dut, Profile(**profile), tick_cycles=MS, window=WINDOW, bar=BAR)


async def ready(drive: AdminDrive) -> None:
    await drive.cycles(8)
    await drive.until(lambda: drive.ready, what="ready")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_good_drive_comes_up(dut):
    drive = start(dut)
    await ready(drive)
    assert not drive.gone and drive.bring_up().error == 0
    assert drive.field("blocks") == drive.profile.blocks and drive.field("nsid") == 1
    assert drive.field("command_sectors_max") == 8 << 5 and drive.field("block_4096") == 0
    assert drive.field("queue_shift") == 7 and drive.field("doorbell_stride") == 0
    assert drive.queues == {"cq": 128, "sq": 128}
    dut._log.info("ready after %d cycles", drive.cycle)


async def gone(drive: AdminDrive, limit: int = 400000) -> tuple[int, int]:
    """→ (step, error)."""
    await drive.cycles(8)
    await drive.until(lambda: drive.gone or drive.ready, limit, "gone")
    assert drive.gone and not drive.ready, "a drive that should have been refused is ready"
    return drive.bring_up().step, drive.bring_up().error


STEP = {name: number for number, name in enumerate(
    ("disabled", "perst", "link", "root port", "device", "bar", "capabilities", "controller", "disable", "quiet", "enable",
     "identify controller", "namespace list", "features", "identify namespace", "queues", "health", "ready", "recovery",
     "shutdown"))}
ERROR = {name: number for number, name in enumerate(
    ("none", "access", "link", "no device", "class", "header", "bar type", "bar size", "capability", "version",
     "command set", "page size", "queue size", "disable", "quiet", "enable", "fatal", "admin deadline", "identify",
     "entry size", "no namespace", "block size", "metadata", "too large", "features", "create queue", "link lost",
     "data path", "side deadline", "shut down", "shutdown deadline", "other drive"))}

# The drive's fault → the step at which bring-up stops, the error and its detail (None: not defined), as in
# docs/reference/gateware-bringup.md.
REFUSED = {
    "no link": ({"link_cycles": None}, "link", "link", None),
    "never configured": ({"retry_cycles": 10**9}, "device", "no device", 0xFFFF_0001),
    "class": ({"class_code": 0x010601}, "device", "class", 0x0106_0100),
    "bridge": ({"header": 1}, "device", "header", 0x0001_0000),
    "I/O BAR": ({"bar_type": 1}, "bar", "bar type", 1),
    "BAR below 1 MiB": ({"bar_type": 2}, "bar", "bar type", 2),
    "small BAR": ({"bar_bytes": 0x1000}, "controller", "bar size", 0x1000 >> 4),
    "large BAR": ({"bar_bytes": 0x200000}, "bar", "bar size", 0x20_0000 >> 4),
    "no BAR": ({"bar_bytes": 0}, "bar", "bar size", None),
    "no capability": ({"capability": False}, "capabilities", "capability", None),
    "BAR too small for its stride": ({"bar_bytes": 0x2000, "stride": 9}, "controller", "bar size", 0x2000 >> 4),
    "version 0": ({"version": 0}, "controller", "version", 0),
    "no NVM commands": ({"command_sets": 2}, "controller", "command set", 0x40),
    "pages of 8 KiB": ({"mpsmin": 1}, "controller", "page size", 0x1_0020),
    "queues of one entry": ({"mqes": 0}, "controller", "queue size", 1),
    "never ready": ({"ready_cycles": None}, "enable", "enable", 0),
    "fatal": ({"fatal": True}, "enable", "fatal", 2),
    "large submission entries": ({"entry_sizes": 0x4477}, "identify controller", "entry size", 0x4477),
    "small submission entries": ({"entry_sizes": 0x4455}, "identify controller", "entry size", 0x4455),
    "large completion entries": ({"entry_sizes": 0x5566}, "identify controller", "entry size", 0x5566),
    "small completion entries": ({"entry_sizes": 0x3366}, "identify controller", "entry size", 0x3366),
    "no namespace": ({"namespaces": ()}, "namespace list", "no namespace", None),
    "empty namespace": ({"blocks": 0}, "identify namespace", "no namespace", None),
    "blocks of 1 KiB": ({"block_shift": 10}, "identify namespace", "block size", 10 << 16),
    "metadata": ({"metadata": 8}, "identify namespace", "metadata", 9 << 16 | 8),
    "too large": ({"blocks": 1 << 40}, "identify namespace", "too large", 0x100),
}


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(case=some(REFUSED, 4))
async def a_bad_drive_is_refused(dut, case):
    profile, step, error, detail = REFUSED[case]
    drive = start(dut, **profile)
    assert await gone(drive) == (STEP[step], ERROR[error])
    assert detail in (None, drive.bring_up().error_detail)
    assert not dut.perst_no.value, "a drive that was given up is not held in reset"
    assert (await drive.respond(op="flush", tag=0x1234))["status"] == 0x8004
    assert drive.responses[-1]["tag"] == 0x1234


ACCEPTED = {
    "32-bit BAR": ({"bar_type": 0}, {}),
    "least BAR": ({"bar_bytes": 0x2000}, {}),
    "largest BAR": ({"bar_bytes": 0x100000}, {}),
    "doorbell stride of 8": ({"stride": 1}, {"doorbell_stride": 1}),
    "doorbell stride of 32": ({"stride": 3}, {"doorbell_stride": 3}),
    "queues of two entries": ({"mqes": 1}, {"queue_shift": 1}),
    "queues of 100 entries": ({"mqes": 99}, {"queue_shift": 6}),
    "blocks of 4 KiB": ({"block_shift": 12, "format_index": 3, "mdts": 0}, {"block_4096": 1, "command_sectors_max": 4096}),
    "MDTS of a page": ({"mdts": 1}, {"command_sectors_max": 16}),
    "MDTS of 2 MiB": ({"mdts": 9}, {"command_sectors_max": 4096}),
    "MDTS beyond ours": ({"mdts": 11}, {"command_sectors_max": 4096}),
    "namespace 7": ({"namespaces": (7, 9)}, {"nsid": 7}),
    "version 1.0": ({"version": 0x10000, "namespace_list": False}, {"nsid": 1}),
    "PCI Express capability of version 1": ({"express_version": 1}, {}),
    "few features": ({"apsta": False, "hmpre": 0, "oacs": 0, "oncs": 0, "sanicap": 0, "volatile_cache": False}, {}),
    "slow after PERST#": ({"retry_cycles": 2400}, {}),
    "slow to be ready": ({"ready_cycles": 2500}, {}),
    "largest namespace": ({"blocks": (1 << 40) - 1}, {"blocks": (1 << 40) - 1}),
    "wide entries allowed": ({"entry_sizes": 0x5476}, {}),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(case=some(ACCEPTED, 4, ("doorbell stride of 8", "doorbell stride of 32", "PCI Express capability of version 1")))
async def an_unusual_drive_comes_up(dut, case):
    profile, fields = ACCEPTED[case]
    drive = start(dut, **profile)
    await ready(drive)
    entries = min(128, 1 << (drive.profile.mqes + 1).bit_length() - 1)
    usual = {"ready": 1, "gone": 0, "block_4096": 0, "blocks": drive.profile.blocks, "nsid": 1, "command_sectors_max": 256,
             "queue_shift": 7, "doorbell_stride": 0}
    for name, value in (usual | fields).items():
        assert drive.field(name) == value, f"{name} = {drive.field(name)}"
    assert drive.queues == {"cq": entries, "sq": entries} and drive.generation == 1, "it did not come up at the first attempt"
    assert drive.admin_heads_rung >= len(drive.admin_log), "the head's doorbell was not rung for each admin completion"
    payload = min(drive.profile.payload, drive.profile.root_payload)
    control = drive.configuration[admin_drive.DEVICE][0x78]
    assert control == 0x2000 | payload << 5 | 0x100 and drive.configuration[admin_drive.LOCAL][0x68] == 0x2000 | payload << 5
    assert drive.bring_up().link_status == 0x1043
    features = {sqe[10] for sqe in drive.admin_log if sqe[0] & 0xFF == admin_drive.SET_FEATURES}
    assert features == {7} | ({0x0C} if drive.profile.apsta else set()) | ({0x0D} if drive.profile.hmpre else set())
    assert drive.bring_up().volatile_cache == drive.profile.volatile_cache
    assert vars(drive.health()) == {"valid": 1, "critical_warning": 0, "temperature_k": 0x133, "spare_percent": 0x64,
                                    "spare_threshold_percent": 10, "used_percent": 5, "media_errors": 3, "unsafe_shutdowns": 7}


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(fall_ms=[0, 24, 120], train_ms=[3, 60, 120])
async def the_link_of_the_life_before_is_not_believed(dut, fall_ms, train_ms):
    """PERST# falls while the link is up. The root port reports the link as up for `fall_ms` more. The first access to the device
    comes 100 ms after the training that follows, at the first attempt."""
    drive = start(dut, link_fall_ms=fall_ms, link_cycles=train_ms * MS)
    await ready(drive)
    for turn in range(2):
        assert drive.first_access_at - drive.trained_at >= 100 * MS
        assert drive.generation == 1 + turn, "it did not come up at the first attempt"
        if turn == 0:
            assert (await drive.respond(op="restart"))["status"] == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(perst_wired=[True, False], bus_reset=[True, False])
async def a_restart_resets_the_drive(dut, perst_wired, bus_reset):
    """By PERST#, and by the root port's bus reset where the logic has no PERST#. It comes up even if both have no effect."""
    drive = start(dut, perst_wired=perst_wired, bus_reset=bus_reset)
    await ready(drive)
    generation = drive.generation
    assert (await drive.respond(op="restart"))["status"] == 0 and drive.ready
    assert drive.generation == generation + (perst_wired or bus_reset)
    assert not drive.configuration[admin_drive.LOCAL].get(admin_drive.BRIDGE_CONTROL, 0) >> 22 & 1, "the bus is still in reset"


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
async def errors_that_may_pass_are_tried_again(dut):
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
async def what_a_drive_does_not_have(dut):
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
async def sanitize_is_waited_for(dut):
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
async def shutdown_tells_what_was_not_done(dut, what):
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


def fault(name: str, drive: AdminDrive) -> None:
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
async def a_drive_that_gets_on_is_not_given_up(dut, between):
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
async def another_drive_in_its_place_is_not_its(dut, what):
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


async def gone_after_ready(drive: AdminDrive) -> tuple[int, int]:
    await drive.until(lambda: not drive.ready, what="not ready")
    return await gone(drive)


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def enable_low_holds_the_drive_in_reset(dut):
    drive = start(dut)
    await drive.cycles(2000)
    dut.enable_i.value = 0
    await drive.cycles(2)
    assert not dut.perst_no.value, "at once"
    await drive.until(lambda: drive.gone, what="gone")
    refused = await drive.respond(op="read", blocks=1)
    assert (refused["status"], refused["done"]) == (0x8004, 0)
    dut.enable_i.value = 1
    await drive.until(lambda: drive.ready, what="ready")
    dut.enable_i.value = 0
    await drive.until(lambda: drive.gone, what="gone again")
    assert not drive.ready and not dut.perst_no.value
    await drive.cycles(2000)  # without any command
    dut.enable_i.value = 1
    await drive.until(lambda: drive.ready, what="ready by itself")


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(opcode=some([admin_drive.IDENTIFY, admin_drive.CREATE_CQ, admin_drive.CREATE_SQ,
                                 admin_drive.SET_FEATURES, admin_drive.GET_LOG], 3),
                    behaviour=some(["lost", "passes", "stays", "double"], 3))
async def admin_commands_that_go_wrong(dut, opcode, behaviour):
    drive = start(dut)
    faults = {"passes": [0x0006] * 3, "stays": [0x4006], "lost": [admin_drive.LOST], "double": [admin_drive.DOUBLE] * 3}
    drive.faults[opcode].extend(faults[behaviour])
    await ready(drive)
    # A feature that is optional, or a log, may fail. If something necessary fails, the attempt fails.
    needed = opcode not in (admin_drive.SET_FEATURES, admin_drive.GET_LOG)
    first = behaviour in ("passes", "double") or (behaviour == "stays" and not needed)
    assert drive.generation == (1 if first else 2)
    await drive.cycles(3000)
    assert drive.health().valid and drive.recoveries == 0
    assert (await drive.respond(op="flush"))["status"] == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(kind=some(["error", "lost", "zeros"], 3), space=[0, 1, 2])
async def accesses_that_fail(dut, kind, space):
    """An access fails at some time after PERST#: the next attempt succeeds, or nothing was lost."""
    drive = start(dut)
    drive.access_faults[[(0, 0x20), (1, 0x08), (2, 0x00)][space]] = kind
    drive.after(600, drive.access_faults.clear)
    await ready(drive)
    assert (await drive.respond(op="flush"))["status"] == 0


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
async def the_geometry_changes_after_gone_alone(dut, what):
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
async def a_format_that_a_reset_cut_short_may_have_been_done(dut):
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
async def gone_waits_for_what_is_under_way(dut, how, ends):
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
