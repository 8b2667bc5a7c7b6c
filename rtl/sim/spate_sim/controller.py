# SPDX-License-Identifier: Apache-2.0
"""The root port and the controller of a drive: configuration space, registers and the admin queue. It follows the specifications
until somebody asks for a fault. A class that inherits from it connects it to pins, and to_page() writes the data of a command.
"""

import random
from collections import defaultdict, deque
from dataclasses import dataclass, field

from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

LOCAL, DEVICE, BAR = 0, 1, 2
BRIDGE_CONTROL = 0x3C  # of the root port; bit 22 resets its bus
CONTROL_2 = {LOCAL: 0x88, DEVICE: 0x98}  # Device Control 2; bits 4:0 are the completion timeout
TIMEOUT_210_MS = 0x0006  # 65 ms and more; the value before bring-up
CAP_LOW, CAP_HIGH, VS, INTMS, CC, CSTS, AQA, ASQ, ACQ = 0x00, 0x04, 0x08, 0x0C, 0x14, 0x1C, 0x24, 0x28, 0x30
ALL_ONES = 0xFFFF_FFFF
DNR = 0x4000
DELETE_SQ, CREATE_SQ, GET_LOG, DELETE_CQ, CREATE_CQ, IDENTIFY, SET_FEATURES = 0, 1, 2, 4, 5, 6, 9
LOST, DOUBLE = "lost", "double"  # behaviours of a command, besides a status
STEP_NS = 4  # what the model counts as a cycle, whatever the clocks of the design are


@dataclass
class Profile:
    """The drive's properties."""
    serial: str = "SPATE-00001"
    class_code: int = 0x010802
    header: int = 0
    bar_bytes: int = 0x4000
    bar_type: int = 4
    payload: int = 1  # as in Device Capabilities: 128 << n
    root_payload: int = 2
    capability: bool = True
    express_version: int = 2  # of the PCI Express capability; version 1 has no Device Control 2
    extended_tags: bool = True
    mqes: int = 1023
    timeout: int = 1  # CAP.TO
    stride: int = 0
    command_sets: int = 1
    mpsmin: int = 0
    version: int = 0x10400
    entry_sizes: int = 0x4466
    mdts: int = 5
    volatile_cache: bool = True
    oacs: int = 2
    oncs: int = 4
    sanicap: int = 2
    apsta: bool = True
    hmpre: int = 0x1000
    namespaces: tuple = (1,)
    namespace_list: bool = True
    blocks: int = 0x12_3456_789A
    block_shift: int = 9
    metadata: int = 0
    format_index: int = 0
    eui64: int = 0x0025_38FF_0012_3456
    retry_cycles: int = 0  # configuration retry after PERST#
    link_cycles: int = 20  # from PERST# to the link; None: never
    ready_cycles: int = 40  # None: CSTS.RDY never comes
    disable_cycles: int = 40  # None: it never falls
    fatal: bool = False  # CSTS.CFS instead of RDY
    shutdown_cycles: int = 40  # None: never ends
    smart: dict = field(default_factory=lambda: {0: 0x64_0133_00, 1: 0x0000_050A, 36: 7, 40: 3})


class Controller:
    """`window`: WindowBase and log2 of the aperture's size. If it is given, the addresses of the queues are checked."""

    window: tuple[int, int] | None = None
    link_up, in_reset, present = False, True, True
    steps_min = 8  # of a wait, because each wait costs time

    def __init__(self, profile: Profile):
        self.profile = profile
        self.base, self.epoch = None, None  # of the queues: where the host has put them; its half of the aperture, if known
        self.configuration = {LOCAL: {}, DEVICE: {}}
        self.registers, self.entries = {}, [[0] * 16]
        self.faults = defaultdict(deque)  # admin opcode → behaviours, each used once
        self.any_access_fault = None
        self.admin_log, self.write_log = [], []
        self.admin_done = deque()
        self.enables = 0
        self.power_up()

    # ---- time ----

    def now(self) -> int:
        return int(get_sim_time("ns")) // STEP_NS

    async def cycles(self, count: int) -> None:
        """One wake-up for any number of steps, because there are many commands."""
        await Timer(max(count, self.steps_min) * STEP_NS, unit="ns")

    def after(self, cycles: int, action) -> None:
        raise NotImplementedError

    # ---- the link and resets ----

    def silence(self) -> None:
        self.link_up = False
        self.power_up()

    def power_up(self) -> None:
        p = self.profile
        self.generation = getattr(self, "generation", 0) + 1
        self.device_since = self.now()
        self.configuration[DEVICE] = {0x00: 0xA808144D, 0x04: 0x0010_0000, 0x08: p.class_code << 8, 0x0C: p.header << 16,
                                      0x10: p.bar_type, 0x14: 0, 0x34: 0x40, 0x40: 0x5001 | 0x0003_0000,
                                      0x50: 0x7005 if p.capability else 0x0005,
                                      0x70: p.express_version << 16 | 0x0010, CONTROL_2[DEVICE]: TIMEOUT_210_MS,
                                      0x74: p.payload | (p.extended_tags << 5), 0x78: 0x2810,
                                      0x80: 0x1043_0000}
        self.configuration[LOCAL].setdefault(0x34, 0x60)
        self.configuration[LOCAL] |= {0x60: p.express_version << 16 | 0x8010, 0x64: p.root_payload, 0x68: 0x5810,
                                      CONTROL_2[LOCAL]: TIMEOUT_210_MS}
        self.configuration[LOCAL].setdefault(0x148, 0x0000_0000)
        self.reset_controller()
        for address in (CC, AQA, ASQ, ASQ + 4, ACQ, ACQ + 4):  # a reset by CC.EN keeps the last five (NVMe 1.4, 7.3.2)
            self.registers[address] = 0

    def reset_controller(self) -> None:
        p = self.profile
        self.registers = {CAP_LOW: p.mqes | (p.timeout << 24) | (1 << 16), VS: p.version, CC: self.registers.get(CC, 0),
                          CAP_HIGH: p.stride | (p.command_sets << 5) | (p.mpsmin << 16), CSTS: 0,
                          AQA: self.registers.get(AQA, 0), ASQ: self.registers.get(ASQ, 0),
                          ASQ + 4: self.registers.get(ASQ + 4, 0), ACQ: self.registers.get(ACQ, 0),
                          ACQ + 4: self.registers.get(ACQ + 4, 0)}
        self.admin_head, self.admin_given, self.admin_rung = 0, 0, 0
        self.queues, self.life = {}, getattr(self, "life", 0) + 1
        self.admin_done = deque()

    def drop_link(self, cycles: int) -> None:
        """The link drops. After `cycles` it is up again, with a drive that was reset."""
        self.silence()
        self.train_in(cycles)

    def train_in(self, cycles: int) -> None:
        generation = self.generation
        self.after(max(cycles, 8), lambda: self.raise_link(generation))

    def raise_link(self, generation: int) -> None:
        if self.generation == generation and not self.in_reset and self.present:
            self.link_up = True
            self.device_since = self.now()

    def see_perst(self, low: bool) -> None:
        if low == self.in_reset:
            return
        self.in_reset = low
        if low:
            self.silence()
        elif self.profile.link_cycles is not None:
            self.train_in(self.profile.link_cycles)

    # ---- registers ----

    def access(self, space: int, write: bool, address: int, data: int) -> tuple[bool, int]:
        """Returns (error, data)."""
        if self.any_access_fault:
            return self.any_access_fault == "error", 0
        if space == LOCAL:
            return self.configure(LOCAL, write, address, data)
        if not self.link_up or not self.configuration[LOCAL].get(0x148, 0) & 1:
            return True, ALL_ONES
        if space == DEVICE:
            if self.now() - self.device_since < self.profile.retry_cycles:
                return False, 0xFFFF_0001
            assert self.configuration[LOCAL][0x18] == 0x0001_0100, "a device access before the bus numbers are set"
            return self.configure(DEVICE, write, address, data)
        device = self.configuration[DEVICE]
        if not device[0x04] & 2 or not self.bar_is_set(device[0x10] & ~0xF):
            return True, ALL_ONES
        assert address < self.profile.bar_bytes, f"access beyond the BAR: {address:#x}"
        return self.register(write, address, data)

    def bar_is_set(self, address: int) -> bool:
        return address != 0

    def configure(self, space: int, write: bool, address: int, data: int):
        registers = self.configuration[space]
        if write and space == DEVICE and address == 0x10:
            size = self.profile.bar_bytes
            registers[0x10] = (data & ~(size - 1) & ALL_ONES if size else 0) | self.profile.bar_type
        elif write and address == 0x04:
            registers[0x04] = (registers.get(0x04, 0) & 0xFFFF_0000) | (data & 0xFFFF)
        elif write and (space, address) not in ((DEVICE, 0x74), (DEVICE, 0x08), (DEVICE, 0x00)):
            registers[address] = data
        return False, registers.get(address, 0)

    def register(self, write: bool, address: int, data: int):
        if not write:
            return False, self.registers.get(address, 0)
        if address >= 0x1000:
            self.doorbell(address, data)
            return False, 0
        old = self.registers.get(address, 0)
        self.registers[address] = data
        if address == CC and (old ^ data) & 1:
            self.enable(bool(data & 1))
        if address == CC and data & 0xC000 and not old & 0xC000 and self.profile.shutdown_cycles is not None:
            self.registers[CSTS] |= 4
            self.after(self.profile.shutdown_cycles, lambda: self.registers.update({CSTS: self.registers[CSTS] & ~0xC | 8}))
        return False, 0

    def control_2(self, space: int) -> int:
        return self.configuration[space][CONTROL_2[space]]

    def enable(self, on: bool) -> None:
        p, life = self.profile, self.life
        if on:
            timeout = 0 if p.express_version >= 2 else TIMEOUT_210_MS
            for space in (LOCAL, DEVICE):
                assert self.control_2(space) == timeout, "a completion timeout is not the default, or was set without a register"
            assert self.configuration[DEVICE][0x04] & 0x406 == 0x406, "bus master, memory, no INTx before CC.EN"
            assert self.registers[AQA] == 0x0003_0003 and self.registers[CC] == 0x0046_0001
            self.find_queues()
            self.enables += 1
            if p.fatal:
                self.registers[CSTS] = 2
            elif p.ready_cycles is not None:
                self.after(p.ready_cycles, lambda: life == self.life and self.registers.update({CSTS: 1}))
        else:
            self.life += 1
            if p.disable_cycles is not None:
                life = self.life
                self.after(p.disable_cycles, lambda: life == self.life and self.reset_controller())

    def find_queues(self) -> None:
        base = self.registers[ASQ] | self.registers[ASQ + 4] << 32
        assert self.registers[ACQ] | self.registers[ACQ + 4] << 32 == base + 0x1000
        if self.window:
            first, bits = self.window
            assert base != self.base, "the epoch is the old one: the queues of before the reset are used again"
            self.epoch = int(base != first)
            assert base == first + (self.epoch << bits - 1), f"the admin queue at {base:#x} is not in the aperture"
        self.base = base

    # ---- the admin queue ----

    def doorbell(self, address: int, data: int) -> None:
        step = 4 << self.profile.stride
        number, left = divmod(address - 0x1000, step)
        assert left == 0 and number < 2, f"a doorbell at {address:#x}"
        if number == 0:
            assert data == (self.admin_head + 1) & 3 and self.registers[CSTS] & 1
            life = self.life
            self.after(random.randint(5, 60), lambda: life == self.life and self.fetch())
        else:
            self.admin_rung += 1
            assert data == self.admin_rung & 3 and self.admin_rung <= self.admin_given, f"admin completion head {data}"

    def fetch(self) -> None:
        assert self.entry_valid and self.entry_index == self.admin_head, "the doorbell was rung before the entry was shown"
        self.admin_head = (self.admin_head + 1) & 3
        sqe = list(self.entries[0])
        opcode, cid = sqe[0] & 0xFF, sqe[0] >> 16
        assert cid >> 8 & 1 == 0 and self.epoch in (None, cid >> 15), f"admin identifier {cid:#x}"
        self.admin_log.append(sqe)
        fault = self.faults[opcode].popleft() if self.faults[opcode] else None
        if fault == LOST:
            return
        status, result = (fault, 0) if isinstance(fault, int) else self.execute(opcode, sqe)
        for _ in range(2 if fault == DOUBLE else 1):
            self.admin_done.append((cid, status, result))

    def execute(self, opcode: int, sqe: list):
        p = self.profile
        if opcode == IDENTIFY:
            pages = {1: self.identify_controller, 2: self.namespace_list, 0: self.identify_namespace}
            status, data = pages[sqe[10]](sqe[1])
            if not status:
                self.to_page(sqe, data)
            return status, 0
        if opcode == GET_LOG:
            assert sqe[10] == 0x007F_0002 and sqe[1] == ALL_ONES
            self.to_page(sqe, p.smart)
        elif opcode == SET_FEATURES:
            assert sqe[11] == 0
        elif opcode == CREATE_CQ:
            entries = (sqe[10] >> 16) + 1
            assert sqe[10] & 0xFFFF == 1 and sqe[11] == 1 and sqe[6] | sqe[7] << 32 == self.base + 0x20000
            assert entries <= p.mqes + 1 and entries & (entries - 1) == 0
            self.queues["cq"] = entries
        elif opcode == CREATE_SQ:
            assert sqe[11] == 0x0001_0001 and sqe[6] | sqe[7] << 32 == self.base + 0x10000
            assert (sqe[10] >> 16) + 1 == self.queues["cq"]
            self.queues["sq"] = self.queues["cq"]
        elif opcode in (DELETE_SQ, DELETE_CQ):
            assert sqe[10] == 1
            self.queues.pop("sq" if opcode == DELETE_SQ else "cq")
        return 0, 0xABCD_0000 | opcode

    def identify_controller(self, _):
        p = self.profile
        serial = p.serial.ljust(20).encode()
        return 0, {**{1 + i: int.from_bytes(serial[4 * i:4 * i + 4], "little") for i in range(5)},
                   19: p.mdts << 8, 22: 2_000_000, 64: p.oacs, 66: p.apsta << 8, 68: p.hmpre, 82: p.sanicap,
                   128: p.entry_sizes, 129: 1, 130: p.oncs, 131: p.volatile_cache << 8}

    def namespace_list(self, _):
        if not self.profile.namespace_list:
            return 0x0002 | DNR, {}
        return 0, dict(enumerate(self.profile.namespaces))

    def identify_namespace(self, nsid: int):
        p = self.profile
        if p.namespaces and nsid != p.namespaces[0]:
            return 0x000B | DNR, {}
        return 0, {0: p.blocks & ALL_ONES, 1: p.blocks >> 32, 6: p.format_index << 16,
                   30: p.eui64 & ALL_ONES, 31: p.eui64 >> 32, 32 + p.format_index: p.metadata | p.block_shift << 16}
