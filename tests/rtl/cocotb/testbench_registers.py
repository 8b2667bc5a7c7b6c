# SPDX-License-Identifier: Apache-2.0
"""spate_registers between a bus master and a core that takes commands and gives responses at random."""

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

import records

RAM_BYTES = int(os.environ["RAM_BYTES"])
MAGIC, PARAMETERS, RING, CONTROL, INTERRUPTS, INTERRUPT_ENABLE, STATUS = 0x00, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C
BRING_UP, ERROR_DETAIL, BLOCKS_LOW, BLOCKS_HIGH, GEOMETRY, NSID, CAP_LOW = 0x20, 0x24, 0x28, 0x2C, 0x30, 0x34, 0x38
POWER, HEALTH, WEAR, MEDIA_ERRORS, UNSAFE_SHUTDOWNS = 0x3C, 0x68, 0x6C, 0x70, 0x74
COMMAND_LBA, COMMAND_BLOCKS, COMMAND_ADDRESS, COMMAND = 0x40, 0x48, 0x4C, 0x54
RESPONSE, DONE_LOW, DONE_HIGH, TAKE, RAW, COUNTERS, MAILBOX, ADMIN_PAGE = 0x58, 0x5C, 0x60, 0x64, 0x80, 0xC0, 0x1000, 0x2000
COMMAND_READY, RESPONSE_VALID, START, FUA = 1 << 8, 1 << 9, 1 << 7, 1 << 6
FLUSH, WRITE, READ, STREAM, ADDRESS, MAILBOX_SOURCE = 0, 1, 2, 0, 1, 2
DEPTH = 16


class Core:
    """Takes commands, answers in any order after a while, and has pages that are sometimes busy."""

    def __init__(self, dut, ready_share: float, answers: bool):
        self.dut, self.ready_share, self.answers = dut, ready_share, answers
        self.data, self.side, self.waiting = [], [], deque()
        self.pages = [random.getrandbits(32) for _ in range(2048)]
        for name in ("command_ready_i", "side_ready_i", "response_valid_i", "page_done_i", "drive_i", "events_i"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self._commands())
        cocotb.start_soon(self._pages())

    async def _commands(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            for taken, ready, valid, command in ((self.data, dut.command_ready_i, dut.command_valid_o, dut.command_o),
                                                 (self.side, dut.side_ready_i, dut.side_valid_o, dut.side_o)):
                if ready.value and valid.value:
                    fields = records.get(command, "command_t")
                    taken.append(fields)
                    self.waiting.append(fields.tag)
                ready.value = int(random.random() < self.ready_share)
            if self.answers and self.waiting and random.random() < 0.3:
                self.answer(random.randrange(len(self.waiting)))
            else:
                dut.response_valid_i.value = 0

    def answer(self, which: int) -> None:
        """The status is the tag's complement, `done` is the tag three times."""
        self.waiting.rotate(-which)
        tag = self.waiting.popleft()
        records.put(self.dut.response_i, "response_t", from_registers=1, tag=tag, status=tag ^ 0x7FFF,
                    done=tag << 32 | tag << 16 | tag)
        self.dut.response_valid_i.value = 1

    async def _pages(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            dut.page_done_i.value = 0
            await ReadOnly()
            if not dut.page_valid_o.value:
                continue
            page = records.get(dut.page_o, "page_access_t")
            for _ in range(random.randrange(20)):
                await RisingEdge(dut.clk_i)
                await ReadOnly()
                assert dut.page_valid_o.value and records.get(dut.page_o, "page_access_t") == page, "a page access was withdrawn"
            await RisingEdge(dut.clk_i)
            if page.write:
                self.pages[page.dword] = page.data
            dut.page_data_i.value = self.pages[page.dword]
            dut.page_done_i.value = 1


async def start(dut, ready_share: float = 0.5, answers: bool = True) -> tuple[AxiLiteMaster, Core]:
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    bus = AxiLiteBus.from_entity(Renamed(dut))
    master = AxiLiteMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
    core = Core(dut, ready_share, answers)
    for name in ("beat_in_i", "beat_out_i", "command_taken_i", "response_given_i", "bring_up_i", "health_i", "power_i",
                 "raw_dword_i"):
        getattr(dut, name).value = 0
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return master, core


class Renamed:
    """The bus under the names that cocotbext-axi expects."""

    def __init__(self, dut):
        self._name, self._log = dut._name, dut._log
        for channel in ("aw", "w", "b", "ar", "r"):
            for signal in ("addr", "valid", "ready", "data", "strb", "resp"):
                for direction in ("i", "o"):
                    port = getattr(dut, f"s_axil_{channel}{signal}_{direction}", None)
                    if port is not None:
                        setattr(self, f"{channel}{signal}", port)

    def __iter__(self):
        return iter(())


async def give(master, *, op: int, source: int, tag: int, lba: int, blocks: int, address: int, fua: bool) -> None:
    while not await master.read_dword(STATUS) & COMMAND_READY:
        pass
    await master.write_qword(COMMAND_LBA, lba)
    await master.write_dword(COMMAND_BLOCKS, blocks)
    await master.write_qword(COMMAND_ADDRESS, address)
    await master.write_dword(COMMAND, op | source << 4 | (FUA if fua else 0) | START | tag << 16)


async def take_all(master, answers: list) -> None:
    while await master.read_dword(STATUS) & RESPONSE_VALID:
        response = await master.read_dword(RESPONSE)
        done = await master.read_dword(DONE_LOW) | await master.read_dword(DONE_HIGH) << 32
        tag = response & 0xFFFF
        assert response >> 16 == tag ^ 0x7FFF and done == tag << 32 | tag << 16 | tag
        answers.append(tag)
        await master.write_dword(TAKE, 1)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_command_is_offered_once_and_answered_once(dut):
    master, core = await start(dut)
    given, answers = {}, []
    for tag in range(60):
        command = dict(op=random.choice([FLUSH, WRITE, READ]), source=random.choice([STREAM, ADDRESS, MAILBOX_SOURCE]),
                       lba=random.getrandbits(64), blocks=random.getrandbits(32), address=random.getrandbits(64),
                       fua=random.random() < 0.5)
        given[tag] = {"from_registers": 1, "tag": tag} | command
        await give(master, tag=tag, **command)
        if random.random() < 0.4 or not await master.read_dword(STATUS) & COMMAND_READY:
            await take_all(master, answers)
    while len(answers) < len(given):
        await take_all(master, answers)
    assert sorted(answers) == sorted(given)
    assert sorted((vars(taken) for taken in core.data + core.side), key=lambda taken: taken["tag"]) == list(given.values())
    assert all(taken.op in (WRITE, READ) and taken.source != MAILBOX_SOURCE for taken in core.data)
    assert not any(taken.op in (WRITE, READ) and taken.source != MAILBOX_SOURCE for taken in core.side)
    assert [taken.tag for taken in core.data] == sorted(taken.tag for taken in core.data), "the data lane is out of order"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_side_command_does_not_wait_for_the_data_lane(dut):
    master, core = await start(dut, ready_share=0.0, answers=False)
    for tag in range(4):
        await give(master, op=WRITE, source=STREAM, tag=tag, lba=tag, blocks=1, address=0, fua=False)
    await give(master, op=FLUSH, source=STREAM, tag=4, lba=0, blocks=0, address=0, fua=False)
    await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)
    assert dut.command_valid_o.value and dut.side_valid_o.value
    assert records.get(dut.command_o, "command_t").tag == 0 and records.get(dut.side_o, "command_t").tag == 4


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def responses_always_have_a_place_and_more_commands_are_refused(dut):
    master, core = await start(dut, ready_share=1.0)
    for tag in range(DEPTH):
        await give(master, op=WRITE, source=STREAM, tag=tag, lba=0, blocks=1, address=0, fua=False)
    for _ in range(400):
        await RisingEdge(dut.clk_i)
    assert not core.waiting, "all were answered"
    assert not await master.read_dword(STATUS) & COMMAND_READY
    assert await master.read_dword(INTERRUPTS) & 0x10 == 0
    await master.write_dword(COMMAND, WRITE | START | 99 << 16)
    assert await master.read_dword(INTERRUPTS) & 0x10
    await master.write_dword(INTERRUPTS, 0x10)
    assert await master.read_dword(INTERRUPTS) & 0x10 == 0
    answers = []
    await take_all(master, answers)
    assert sorted(answers) == list(range(DEPTH)) and len(core.data) == DEPTH
    assert await master.read_dword(STATUS) & COMMAND_READY


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def pages_are_read_and_written_through_a_busy_port(dut):
    master, core = await start(dut)
    before = list(core.pages)
    for _ in range(60):
        dword, word = random.randrange(1024), random.getrandbits(32)
        await master.write_dword(MAILBOX + 4 * dword, word)
        assert await master.read_dword(MAILBOX + 4 * dword) == word == core.pages[1024 + dword]
        await master.write_dword(ADMIN_PAGE + 4 * dword, word)  # has no effect
        assert await master.read_dword(ADMIN_PAGE + 4 * dword) == before[dword]
    assert core.pages[:1024] == before[:1024]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def raw_commands_are_seen_by_the_core(dut):
    master, _ = await start(dut)
    words = [random.getrandbits(32) for _ in range(16)]
    for i, word in enumerate(words):
        await master.write_dword(RAW + 4 * i, word)
    await master.read_dword(RAW)  # answered, with any value
    for i, word in enumerate(words):
        dut.raw_dword_i.value = i
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert int(dut.raw_data_o.value) == word
        await RisingEdge(dut.clk_i)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def what_the_drive_is_can_be_read(dut):
    master, _ = await start(dut)
    assert await master.read_dword(MAGIC) == 0x53505445
    parameters = await master.read_dword(PARAMETERS)
    assert parameters & 0xFF == 16 and parameters >> 16 & 0x1FF == 64
    assert parameters >> 31 == int(RAM_BYTES == 8192) and await master.read_dword(RING) == RAM_BYTES - 8192
    records.put(dut.drive_i, "drive_t", ready=1, block_4096=1, blocks=0xAB_1234_5678, nsid=9, command_sectors_max=4096,
                queue_shift=7)
    assert await master.read_dword(STATUS) & 0x47 == 0x41
    assert await master.read_dword(BLOCKS_LOW) == 0x1234_5678 and await master.read_dword(BLOCKS_HIGH) == 0xAB
    assert await master.read_dword(GEOMETRY) == 7 << 16 | 4096 and await master.read_dword(NSID) == 9
    assert await master.read_dword(INTERRUPTS) == 2, "ready has changed"
    records.put(dut.drive_i, "drive_t", gone=1)
    assert await master.read_dword(STATUS) & 3 == 2 and await master.read_dword(INTERRUPTS) == 6
    await master.write_dword(INTERRUPTS, 4)
    assert await master.read_dword(INTERRUPTS) == 2
    assert dut.enable_o.value == 1, "a core without a processor does not start by itself"
    await master.write_dword(CONTROL, 0)
    assert dut.enable_o.value == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def bring_up_and_health_can_be_read(dut):
    master, _ = await start(dut)
    records.put(dut.bring_up_i, "bring_up_t", step=0x12, error=0x34, error_detail=0x5678_9ABC, link_status=0xDEF0,
                cap_low=0x1357_9BDF, volatile_cache=1)
    assert await master.read_dword(BRING_UP) == 0xDEF0_3412 and await master.read_dword(ERROR_DETAIL) == 0x5678_9ABC
    assert await master.read_dword(CAP_LOW) == 0x1357_9BDF and await master.read_dword(STATUS) & 0x30 == 0x20
    records.put(dut.health_i, "health_t", valid=1, critical_warning=0x12, temperature_k=0x3456, spare_percent=0x78,
                spare_threshold_percent=0x9A, used_percent=0xBC, media_errors=0x2468_ACE0)
    records.put(dut.power_i, "power_t", losses=0x1234, unknown=0x5678, unsafe_shutdowns=0x0F1E_2D3C)
    assert await master.read_dword(HEALTH) == 0x3456_0012 and await master.read_dword(WEAR) == 0x00BC_9A78
    assert await master.read_dword(MEDIA_ERRORS) == 0x2468_ACE0
    assert await master.read_dword(UNSAFE_SHUTDOWNS) == 0x0F1E_2D3C and await master.read_dword(POWER) == 0x5678_1234
    assert await master.read_dword(STATUS) & 0x30 == 0x30


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def interrupts_follow_what_is_enabled(dut):
    master, core = await start(dut, ready_share=1.0)
    await master.write_dword(INTERRUPT_ENABLE, 0x7F)
    assert dut.irq_o.value == 0
    await give(master, op=FLUSH, source=STREAM, tag=7, lba=0, blocks=0, address=0, fua=False)
    while not dut.irq_o.value:
        await RisingEdge(dut.clk_i)
    assert await master.read_dword(INTERRUPTS) == 1
    await take_all(master, [])
    assert dut.irq_o.value == 0
    records.put(dut.health_i, "health_t", critical_warning=4)
    await RisingEdge(dut.clk_i)
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    assert await master.read_dword(INTERRUPTS) == 8 and dut.irq_o.value == 1
    await master.write_dword(INTERRUPTS, 8)
    assert await master.read_dword(INTERRUPTS) == 0 and dut.irq_o.value == 0
    records.put(dut.health_i, "health_t", critical_warning=0)
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    assert await master.read_dword(INTERRUPTS) == 0, "a falling critical warning raised an interrupt"
    for losses, unknown in ((1, 0), (1, 1), (2, 1)):
        records.put(dut.power_i, "power_t", losses=losses, unknown=unknown)
        for _ in range(3):
            await RisingEdge(dut.clk_i)
        assert await master.read_dword(INTERRUPTS) == 0x40 and dut.irq_o.value == 1
        await master.write_dword(INTERRUPTS, 0x40)
        assert await master.read_dword(INTERRUPTS) == 0 and dut.irq_o.value == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def counters_can_be_read(dut):
    master, _ = await start(dut)
    first = await master.read_dword(COUNTERS + 40)
    dut.beat_in_i.value = 1
    for _ in range(100):
        await RisingEdge(dut.clk_i)
    dut.beat_in_i.value = 0
    for _ in range(20):
        await RisingEdge(dut.clk_i)
    assert await master.read_dword(COUNTERS + 44) == 100
    assert await master.read_dword(COUNTERS + 48) == 0
    assert 110 <= await master.read_dword(COUNTERS + 40) - first <= 200


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_event_has_its_counter(dut):
    """Event number i comes i + 1 times. Number 10 counts cycles, and the last one interrupts."""
    master, _ = await start(dut)
    events = [name for name, _, _ in records.structs()["events_t"]]
    ports = [dut.beat_in_i, dut.beat_out_i, dut.command_taken_i, dut.response_given_i]
    assert len(events) == 10
    await master.read_dword(COUNTERS)  # answered when the counters are ready
    for cycle in range(20):
        records.put(dut.events_i, "events_t", **{name: cycle <= i for i, name in enumerate(events)})
        for i, port in enumerate(ports, 11):
            port.value = int(cycle <= i)
        await RisingEdge(dut.clk_i)
    for _ in range(20):
        await RisingEdge(dut.clk_i)
    for i in [*range(10), *range(11, 15)]:
        assert await master.read_dword(COUNTERS + 4 * i) == i + 1, f"counter {i}"
    assert await master.read_dword(COUNTERS + 4 * 15) == 0
    await master.write_dword(INTERRUPT_ENABLE, 2)
    for ready in (1, 0, 1):
        records.put(dut.drive_i, "drive_t", ready=ready)
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        await master.write_dword(INTERRUPTS, 0x3F)
    for _ in range(20):  # a count is at most 17 cycles late
        await RisingEdge(dut.clk_i)
    assert await master.read_dword(COUNTERS + 4 * 15) == 3, "interrupts"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_address_without_a_register_reads_as_0(dut):
    """Also one that differs from a register's in its high bits only."""
    master, _ = await start(dut)
    for name in ("bring_up_i", "health_i", "power_i", "drive_i"):
        port = getattr(dut, name)
        port.value = (1 << len(port)) - 1
    assert await master.read_dword(MAGIC) != 0 and await master.read_dword(MEDIA_ERRORS) == 0xFFFFFFFF
    for address in (*range(COMMAND_LBA, COMMAND, 4), TAKE, *range(RAW, COUNTERS, 4), *range(0x104, MAILBOX, 4),
                    *range(0x3000, 0x3200, 4)):
        assert await master.read_dword(address) == 0, f"{address:04x}h"
