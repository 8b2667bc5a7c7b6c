# SPDX-License-Identifier: Apache-2.0
"""The bring-up by spate_admin: drives that come up, drives that are refused, and faults while a drive comes up."""

import cocotb

import admin_drive
from admin_bench import ERROR, MS, STEP, gone, ready, some, start


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
async def a_link_that_is_up_before_its_training_is_not_used(dut, fall_ms, train_ms):
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
async def failed_admin_commands_of_the_bring_up(dut, opcode, behaviour):
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
async def failed_accesses_of_the_bring_up(dut, kind, space):
    """An access fails at some time after PERST#: the next attempt succeeds, or nothing was lost."""
    drive = start(dut)
    drive.access_faults[[(0, 0x20), (1, 0x08), (2, 0x00)][space]] = kind
    drive.after(600, drive.access_faults.clear)
    await ready(drive)
    assert (await drive.respond(op="flush"))["status"] == 0
