# SPDX-License-Identifier: Apache-2.0
"""A root port and a drive as spate_admin sees them: behind its register port, its two submission entries, the admin page
and the side queue. It follows the specifications until a test asks for a fault.

One step is one clock cycle: the core's outputs are read once they are settled, and answered after the next edge.
"""

import random
from collections import defaultdict, deque
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, ValueChange

import records

LOCAL, DEVICE, BAR = 0, 1, 2
BRIDGE_CONTROL = 0x3C  # of the root port; bit 22 resets its bus
CONTROL_2 = {LOCAL: 0x88, DEVICE: 0x98}  # Device Control 2; bits 4:0 are the completion time-out
TIMEOUT_210_MS = 0x0006  # 65 ms and more; the value before bring-up
CAP_LOW, CAP_HIGH, VS, INTMS, CC, CSTS, AQA, ASQ, ACQ = 0x00, 0x04, 0x08, 0x0C, 0x14, 0x1C, 0x24, 0x28, 0x30
ALL_ONES = 0xFFFF_FFFF
DNR = 0x4000
DELETE_SQ, CREATE_SQ, GET_LOG, DELETE_CQ, CREATE_CQ, IDENTIFY, SET_FEATURES = 0, 1, 2, 4, 5, 6, 9
FORMAT, SANITIZE = 0x80, 0x84
PAGE = 0x2000
LOST, DOUBLE, NO_DATA = "lost", "double", "no data"  # behaviours of a command, besides a status

OPS = {name: number for number, name in enumerate(
    ("flush", "write", "read", "deallocate", "format", "sanitize", "shutdown", "restart", "raw_admin", "raw_io"))}
STREAM, MEMORY, MAILBOX = 0, 1, 2


def encode(op: str, *, lba: int = 0, blocks: int = 0, source: int = MAILBOX, fua: int = 0, address: int = 0,
           tag: int = 0, from_registers: int = 0) -> int:
    """command_t."""
    return records.pack("command_t", from_registers=from_registers, tag=tag, op=OPS[op], source=source, fua=fua,
                        address=address, lba=lba, blocks=blocks)


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
    link_fall_ms: int = 24  # time for which the root port reports a link whose other end is silent as up
    perst_wired: bool = True  # otherwise the drive came up with the board's power
    bus_reset: bool = True  # the root port can reset its bus
    ready_cycles: int = 40  # None: CSTS.RDY never comes
    disable_cycles: int = 40  # None: it never falls
    fatal: bool = False  # CSTS.CFS instead of RDY
    shutdown_cycles: int = 40  # None: never ends
    smart: dict = field(default_factory=lambda: {0: 0x64_0133_00, 1: 0x0000_050A, 36: 7, 40: 3})


class AdminDrive:
    def __init__(self, dut, profile: Profile | None = None, *, tick_cycles: int = 8, window: int, bar: int):
        self.dut, self.profile, self.tick_cycles = dut, profile or Profile(), tick_cycles
        self.window, self.bar = window, bar
        self.cycle = 0
        self.later = defaultdict(list)  # cycle → actions in it
        self.link_enabled, self.quiet, self.idle, self.fatal_now = True, True, True, False
        self.link_up, self.falls_at, self.trained_at = False, 0, None
        self.first_access_at = None  # since this training
        self.resets = {"perst"} if self.profile.perst_wired else set()  # the causes that hold the drive in reset
        self.configuration = {LOCAL: {}, DEVICE: {}}
        self.registers, self.entries, self.page = {}, [[0] * 16, [0] * 16], [0] * 2048
        self.faults = defaultdict(deque)  # admin opcode → behaviours, each used once
        self.side_faults = deque()
        self.access_faults = {}  # (space, address) → "error", "zeros", "lost"
        self.any_access_fault = None
        self.admin_log, self.side_log, self.write_log = [], [], []
        self.admin_heads_rung = 0
        self.responses, self.written = [], 0
        self.commands, self.raw = deque(), [0] * 16
        self.ready_falls, self.recoveries, self.pages_read = 0, 0, 0
        self.pending_access = None
        self.admin_done, self.side_done = deque(), deque()
        self.sanitize_polls, self.response_stall = 0, 0.0
        self.written_shown = self.pushed_at = 0
        self.power_up()
        if not self.resets:
            self.train_in(self.profile.link_cycles)
        cocotb.start_soon(self.run())
        cocotb.start_soon(self.show_raw())

    # ---- time ----

    def after(self, cycles: int, action) -> None:
        self.later[self.cycle + max(1, cycles)].append(action)

    # ---- the link and resets ----

    @property
    def shown_link_up(self) -> bool:
        """The root port's view: it notices late that the other end is silent."""
        return self.link_up or self.cycle < self.falls_at

    def silence(self) -> None:
        if self.link_up:
            self.falls_at = self.cycle + self.profile.link_fall_ms * self.tick_cycles
        self.link_up = False
        self.power_up()

    def power_up(self) -> None:
        p = self.profile
        self.generation = getattr(self, "generation", 0) + 1
        self.device_since = self.cycle
        self.configuration[DEVICE] = {0x00: 0xA808144D, 0x04: 0x0010_0000, 0x08: p.class_code << 8, 0x0C: p.header << 16,
                                      0x10: p.bar_type, 0x14: 0, 0x34: 0x40, 0x40: 0x5001 | 0x0003_0000,
                                      0x50: 0x7005 if p.capability else 0x0005,
                                      0x70: p.express_version << 16 | 0x0010, CONTROL_2[DEVICE]: TIMEOUT_210_MS, 0x74: p.payload | (p.extended_tags << 5), 0x78: 0x2810,
                                      0x80: 0x1043_0000}
        self.configuration[LOCAL].setdefault(0x34, 0x60)
        self.configuration[LOCAL] |= {0x60: p.express_version << 16 | 0x8010, 0x64: p.root_payload, 0x68: 0x5810,
                                      CONTROL_2[LOCAL]: TIMEOUT_210_MS}
        self.configuration[LOCAL].setdefault(0x148, 0x0000_0000)
        self.reset_controller()
        self.registers[CC] = 0

    def reset_controller(self) -> None:
        p = self.profile
        self.registers = {CAP_LOW: p.mqes | (p.timeout << 24) | (1 << 16), VS: p.version, CC: self.registers.get(CC, 0),
                          CAP_HIGH: p.stride | (p.command_sets << 5) | (p.mpsmin << 16), CSTS: 0,
                          AQA: self.registers.get(AQA, 0), ASQ: self.registers.get(ASQ, 0),
                          ASQ + 4: self.registers.get(ASQ + 4, 0), ACQ: self.registers.get(ACQ, 0),
                          ACQ + 4: self.registers.get(ACQ + 4, 0)}
        self.admin_head, self.admin_given, self.admin_rung = 0, 0, 0
        self.queues, self.life = {}, getattr(self, "life", 0) + 1
        self.admin_done, self.side_done = deque(), deque()

    def drop_link(self, cycles: int | None) -> None:
        """The link drops. After `cycles` it is up again, with a drive that was reset."""
        self.silence()
        if cycles is not None:
            self.train_in(cycles)

    def train_in(self, cycles: int) -> None:
        """Both ends train, but not before the root port has noticed that the link was down."""
        generation = self.generation
        cycles = max(cycles, self.falls_at + 8 - self.cycle)
        self.after(cycles, lambda: self.raise_link(generation))

    def raise_link(self, generation: int) -> None:
        if self.link_enabled and self.generation == generation and not self.resets:
            self.link_up, self.trained_at = True, self.cycle
            self.device_since = self.cycle

    def see_perst(self, low: bool) -> None:
        if self.profile.perst_wired:
            self.see_reset("perst", low)

    def see_reset(self, kind: str, held: bool) -> None:
        if held == (kind in self.resets):
            return
        before = bool(self.resets)
        self.resets ^= {kind}
        if not before:
            self.silence()
        elif not self.resets and self.profile.link_cycles is not None:
            self.train_in(self.profile.link_cycles)

    # ---- registers ----

    def access(self, space: int, write: bool, address: int, data: int):
        """Returns (error, data), or None: no answer before the deadline, which becomes an error later."""
        fault = self.access_faults.get((space, address), self.any_access_fault)
        if fault == "lost":
            return None
        if fault:
            return fault == "error", 0
        if space == LOCAL:
            if write and address == BRIDGE_CONTROL and self.profile.bus_reset:
                self.see_reset("bus", bool(data >> 22 & 1))
            return self.configure(LOCAL, write, address, data)
        if not self.link_up or not self.configuration[LOCAL].get(0x148, 0) & 1:
            return True, ALL_ONES
        if self.first_access_at is None or self.first_access_at < self.trained_at:
            self.first_access_at = self.cycle
        if space == DEVICE:
            if self.cycle - self.device_since < self.profile.retry_cycles:
                return False, 0xFFFF_0001
            assert self.configuration[LOCAL][0x18] == 0x0001_0100, "a device access before the bus numbers are set"
            return self.configure(DEVICE, write, address, data)
        device = self.configuration[DEVICE]
        if not device[0x04] & 2 or device[0x10] & ~0xF != self.bar:
            return True, ALL_ONES
        assert address < self.profile.bar_bytes, f"access beyond the BAR: {address:#x}"
        return self.register(write, address, data)

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
            status = self.registers.get(address, 0)
            if address == CSTS and self.fatal_now:
                status |= 2
            return False, status
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
                assert self.control_2(space) == timeout, "a completion time-out is not the default, or was set without a register"
            assert self.configuration[DEVICE][0x04] & 0x406 == 0x406, "bus master, memory, no INTx before CC.EN"
            half = self.shown_epoch() << self.window_shift
            assert self.registers[ASQ] | self.registers[ASQ + 4] << 32 == self.window + half
            assert self.registers[ACQ] | self.registers[ACQ + 4] << 32 == self.window + half + 0x1000
            assert self.registers[AQA] == 0x0003_0003 and self.registers[CC] == 0x0046_0001
            self.base = self.window + half
            if p.fatal:
                self.registers[CSTS] = 2
            elif p.ready_cycles is not None:
                self.after(p.ready_cycles, lambda: life == self.life and self.registers.update({CSTS: 1}))
        else:
            self.life += 1
            self.fatal_now = False
            if p.disable_cycles is not None:
                life = self.life
                self.after(p.disable_cycles, lambda: life == self.life and self.reset_controller())

    def shown_epoch(self) -> int:
        return records.get(self.dut.drive_o, "drive_t").epoch

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
            self.admin_heads_rung += 1
            self.admin_rung += 1
            assert data == self.admin_rung & 3 and self.admin_rung <= self.admin_given, f"admin completion head {data}"

    def fetch(self) -> None:
        assert self.entry_valid and self.entry_index == self.admin_head, "the doorbell was rung before the entry was shown"
        self.admin_head = (self.admin_head + 1) & 3
        sqe = list(self.entries[0])
        opcode, cid = sqe[0] & 0xFF, sqe[0] >> 16
        assert cid >> 8 & 1 == 0 and cid >> 15 == self.epoch, f"admin identifier {cid:#x}"
        self.admin_log.append(sqe)
        fault = self.faults[opcode].popleft() if self.faults[opcode] else None
        if fault == LOST:
            return
        status, result = (fault, 0) if isinstance(fault, int) else self.execute(opcode, sqe, fault == NO_DATA)
        for _ in range(2 if fault == DOUBLE else 1):
            self.admin_done.append((cid, status, result))

    def to_page(self, sqe: list, dwords: dict) -> None:
        assert sqe[6] | sqe[7] << 32 == self.base + PAGE, "PRP1 is not the admin page"
        self.page[:1024] = [dwords.get(i, 0) for i in range(1024)]

    def execute(self, opcode: int, sqe: list, no_data: bool):
        p = self.profile
        if opcode == IDENTIFY:
            pages = {1: self.identify_controller, 2: self.namespace_list, 0: self.identify_namespace}
            status, data = pages[sqe[10]](sqe[1])
            if not no_data and not status:
                self.to_page(sqe, data)
            return status, 0
        if opcode == GET_LOG and sqe[10] & 0xFF == 2:
            assert sqe[10] == 0x007F_0002 and sqe[1] == ALL_ONES
            self.to_page(sqe, p.smart)
        elif opcode == GET_LOG and sqe[10] & 0xFF == 0x81:
            state = 2 if self.sanitize_polls else 1
            self.sanitize_polls -= self.sanitize_polls > 0
            self.to_page(sqe, {0: (state if self.sanitize_end is None or state == 2 else self.sanitize_end) << 16})
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
        elif opcode == SANITIZE:
            if self.sanitize_polls:
                return 0x001D, 0  # in progress
            self.sanitize_polls, self.sanitize_end = 3, None
        return 0, 0xABCD_0000 | opcode

    sanitize_end = None

    def identify_controller(self, _):
        p = self.profile
        serial = p.serial.ljust(20).encode()
        return 0, {**{1 + i: int.from_bytes(serial[4 * i:4 * i + 4], "little") for i in range(5)}, 19: p.mdts << 8, 22: 2_000_000, 64: p.oacs, 66: p.apsta << 8, 68: p.hmpre, 82: p.sanicap,
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

    # ---- the side command ----

    def side(self) -> None:
        sqe = list(self.entries[1])
        cid = sqe[0] >> 16
        assert cid & 0xFF00 == 0x0100 | self.epoch << 15, f"side identifier {cid:#x}"
        assert not self.side_log or self.side_log[-1][0] >> 16 != cid, "two commands in a row have the same identifier"
        self.side_log.append(sqe)
        fault = self.side_faults.popleft() if self.side_faults else None
        if fault == LOST:
            return
        life = self.life
        status = fault if isinstance(fault, int) else 0
        self.after(random.randint(1, 80), lambda: life == self.life and self.side_done.append((cid, status, 0x51DE)))

    # ---- the testbench's interface ----

    def put(self, **command) -> None:
        self.commands.append(command)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    async def until(self, condition, limit: int = 60000, what: str = "") -> None:
        for _ in range(limit):
            if condition():
                return
            await RisingEdge(self.dut.clk_i)
        bring_up = self.bring_up()
        raise AssertionError(f"not in {limit} cycles: {what}; step {bring_up.step} error {bring_up.error} "
                             f"detail {bring_up.error_detail:#x}")

    def bring_up(self):
        """The values that the registers would show."""
        return records.get(self.dut.bring_up_o, "bring_up_t")

    def health(self):
        return records.get(self.dut.health_o, "health_t")

    async def respond(self, limit: int = 60000, **command) -> dict:
        """Gives a command and waits for the next response."""
        before = len(self.responses)
        self.put(**command)
        await self.until(lambda: len(self.responses) > before, limit, f"response to {command}")
        assert len(self.responses) == before + 1
        return self.responses[-1]

    # ---- a clock cycle ----

    async def run(self) -> None:
        d = self.dut
        self.window_shift = int(d.WindowBits.value) - 1
        d.rst_ni.value, d.enable_i.value = 0, 1
        for name in ("ms_tick_i", "link_up_i", "mmio_ready_i", "mmio_done_i", "mmio_result_i", "page_done_i", "recover_i",
                     "retired_i", "admin_completion_valid_i", "side_push_ready_i", "side_completion_valid_i", "command_valid_i",
                     "response_ready_i"):
            getattr(d, name).value = 0
        d.adapter_quiet_i.value, d.slots_idle_i.value, d.written_blocks_i.value = 1, 1, 0
        for _ in range(4):
            await RisingEdge(d.clk_i)
        d.rst_ni.value = 1
        showing, access_wait, page_wait, held, ready_before = False, None, None, None, 0
        while True:
            await ReadOnly()
            self.cycle += 1
            self.fields = records.get(d.drive_o, "drive_t")
            self.ready, self.gone, self.epoch = self.fields.ready, self.fields.gone, self.fields.epoch
            self.ready_falls += ready_before and not self.ready
            ready_before = self.ready
            self.recoveries += int(d.recovery_o.value)
            self.entry_valid, self.entry_index = int(d.admin_entry_valid_o.value), d.admin_entry_o.value.to_unsigned()
            if d.queues_reset_o.value:
                assert not self.registers[CC] & 1 or not self.link_up, "queues reset while the controller is enabled"
                self.admin_done.clear()
                self.side_done.clear()
            if d.sqe_write_o.value:
                sqe = records.get(d.sqe_o, "sqe_dword_t")
                self.entries[sqe.side][sqe.dword] = sqe.data
            self.see_perst(not d.perst_no.value)
            for action in self.later.pop(self.cycle, ()):
                action()
            # register accesses
            done = None
            if access_wait is not None:
                access_wait[0] -= 1
                if access_wait[0] <= 0:
                    done, access_wait = access_wait[1], None
            elif d.mmio_valid_o.value and d.mmio_ready_i.value:
                access = records.get(d.mmio_access_o, "mmio_access_t")
                if access.write:
                    self.write_log.append((access.space, access.address, access.data))
                answer = self.access(access.space, access.write, access.address, access.data)
                access_wait = [random.randint(1, 12) if answer else 200, answer or (True, 0)]
            page_data = None
            if page_wait is not None:
                page_wait -= 1
                if page_wait <= 0:
                    page_data, page_wait = self.page[d.page_dword_o.value.to_unsigned()], None
            elif d.page_valid_o.value and not d.page_done_i.value:
                page_wait = random.randint(1, 5)
            push_taken = d.side_push_o.value and d.side_push_ready_i.value
            if push_taken:
                assert self.ready, "pushed while not ready"
                self.pushed_at = self.written_shown
                self.side()
            if showing and d.command_ready_o.value:
                self.commands.popleft()
                showing = False
            if d.response_valid_o.value:
                shown = records.get(d.response_o, "response_t")
                assert held is None or held == shown, "a response changed before it was taken"
                held = shown
                if d.response_ready_i.value:
                    self.responses.append(vars(shown))
                    held = None
            else:
                assert held is None, "a response vanished"
            admin_done = self.admin_done.popleft() if self.admin_done and random.random() < 0.1 else None
            self.admin_given += admin_done is not None
            side_done = self.side_done.popleft() if self.side_done and random.random() < 0.1 else None
            await RisingEdge(d.clk_i)
            d.ms_tick_i.value = int(self.cycle % self.tick_cycles == 0)
            d.link_up_i.value = int(self.shown_link_up)
            d.raw_data_i.value = self.raw[d.raw_dword_o.value.to_unsigned()]
            d.mmio_ready_i.value = int(random.random() < 0.5)
            d.mmio_done_i.value = int(done is not None)
            if done is not None:
                records.put(d.mmio_result_i, "mmio_result_t", error=done[0], data=done[1])
            d.page_done_i.value = int(page_data is not None)
            d.page_data_i.value = page_data if page_data is not None else random.getrandbits(32)
            d.adapter_quiet_i.value, d.slots_idle_i.value = int(self.quiet), int(self.idle)
            d.side_push_ready_i.value = int(bool(self.ready) and random.random() < 0.3)
            self.written_shown = self.written
            d.written_blocks_i.value = self.written
            for valid, bus, completion in ((d.admin_completion_valid_i, d.admin_completion_i, admin_done),
                                           (d.side_completion_valid_i, d.side_completion_i, side_done)):
                valid.value = int(completion is not None)
                if completion:
                    cid, status, result = completion
                    records.put(bus, "completion_t", result=result, sq_head=random.getrandbits(16), cid=cid, status=status)
            if not showing and self.commands:
                showing = True
                d.command_i.value = encode(**self.commands[0])
            d.command_valid_i.value = int(showing)
            d.response_ready_i.value = int(random.random() >= self.response_stall)

    async def show_raw(self) -> None:
        """The registers show the requested dword in the same cycle."""
        while True:
            self.dut.raw_data_i.value = self.raw[self.dut.raw_dword_o.value.to_unsigned()]
            await ValueChange(self.dut.raw_dword_o)

    def field(self, name: str) -> int:
        """Of drive_o."""
        return getattr(self.fields, name)
