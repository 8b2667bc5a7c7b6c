# SPDX-License-Identifier: Apache-2.0
"""A drive behind the UltraScale+ hard block: a function of cocotbext-pcie with its configuration space, behind a link to the root
port of root_port.py. Register accesses arrive as requests for its BAR. Its own reads and writes leave as requests, split by the
sizes that the core has written into its Device Control. A link drop, PERST# or a function reset replaces the function by a
new one without any state of the old.
"""

import random
import warnings
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Event, First, RisingEdge, Timer, ValueChange

from .controller import ALL_ONES, BAR, BRIDGE_CONTROL, CONTROL_2, DEVICE, LOCAL, STEP_NS, TIMEOUT_210_MS
from .nvme import Drive
from .ports import Ports, find, quiet
from .root_port import RootPort

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from cocotbext.pcie.core import Device, MemoryEndpoint

COMMAND, ROOT_CONTROL, PAYLOAD_SHIFT = 0x04, 0x68, 5
LINK_FALL_CYCLES = 24 * 16  # from a loss of the link until the block reports it: 24 ms, if 16 cycles are a millisecond
ROOT_REGISTERS = {0x04, 0x18, 0x20, 0x24, BRIDGE_CONTROL, ROOT_CONTROL, CONTROL_2[LOCAL]}  # may be written; no bridge's registers


class DriveFunction(MemoryEndpoint):
    def __init__(self, drive):
        super().__init__()
        quiet(self.log)
        profile = drive.profile
        self.vendor_id, self.device_id, self.class_code = 0x144D, 0xA808, profile.class_code
        self.header_layout = profile.header
        self.pcie_cap.max_payload_size_supported = profile.payload
        self.pcie_cap.extended_tag_supported = profile.extended_tags
        self.pcie_cap.completion_timeout_value = TIMEOUT_210_MS
        self.pcie_cap.current_link_speed, self.pcie_cap.negotiated_link_width = 3, 4
        self.add_region(profile.bar_bytes, read=drive.bar_read, write=drive.bar_write, ext=True)

    @property
    def command(self) -> int:
        return self.memory_space_enable << 1 | self.bus_master_enable << 2 | self.interrupt_disable << 10


class TlpPort:
    """The drive's reads and writes, through its current function. Those of a function that was replaced, or of a controller that
    was reset, have no effect: they read zeros."""

    def __init__(self):
        self.function, self.ended, self.wake = None, Event(), Event()
        self.writes, self.writing = deque(), False
        cocotb.start_soon(self._write())

    def attach(self, function: DriveFunction | None) -> None:
        self.function = function
        self.abort()

    def abort(self) -> None:
        self.writes.clear()
        self.ended.set()
        self.ended = Event()

    async def read(self, address: int, length: int) -> bytes:
        if not self.function or not self.function.bus_master_enable:
            return bytes(length)
        ended, task = self.ended, cocotb.start_soon(self.function.mem_read(address, length))
        await First(task, ended.wait())
        return task.result() if task.done() else bytes(length)

    def write(self, address: int, data: bytes) -> None:
        """Posted; in order."""
        self.writes.append((address, bytes(data)))
        self.wake.set()

    async def _write(self):
        while True:
            await self.wake.wait()
            self.wake.clear()
            self.writing = True
            while self.writes:
                address, data = self.writes.popleft()
                if self.function and self.function.bus_master_enable:
                    await First(cocotb.start_soon(self.function.mem_write(address, data)), self.ended.wait())
            self.writing = False

    async def pushed(self) -> None:
        """Earlier writes are on the link."""
        while self.writes or self.writing:
            await Timer(STEP_NS, unit="ns")


STREAMS = {"cq": "m_axis_cq", "cc": "s_axis_cc", "rq": "s_axis_rq", "rc": "m_axis_rc"}
SIGNALS = [f"{stream}_{name}" for stream in STREAMS for name in ("tdata", "tuser", "tlast", "tvalid", "tready", "tkeep")]
OTHERS = ["pcie_cq_np_req", "cfg_max_payload", *(f"cfg_mgmt_{name}" for name in (
    "addr", "write", "write_data", "byte_enable", "read", "read_data", "read_write_done"))]


def names(prefix: str) -> dict[str, list[str]]:
    """Where each signal of the block may be among a design's ports, without an ending."""
    stems = {signal: [f"{prefix}{STREAMS[signal[:2]]}{signal[2:]}", signal] for signal in SIGNALS}
    stems |= {name: [f"{prefix}{name}", name] for name in OTHERS}
    return stems | {f"user_{name}": [f"user_{name}", f"{prefix}{name}"] for name in ("clk", "reset", "lnk_up")} | {
        "perst_n": [f"{prefix}perst_n", "perst_n"]}


class HardBlockDrive(Drive):
    """Takes the hard block's place at the ports of `dut`: those of spate_nvme_usp, or of the block itself, with `prefix` before
    them. It drives the block's clock, `clock` (250 MHz), its reset, user_lnk_up and all its outputs. The design's own clocks and
    resets are the testbench's. `way` is how the link drops: "link": only user_lnk_up falls; "reset": the block's reset comes
    with it; "clock": its clock stops as well. Nothing here runs in every cycle, because there are many.
    """

    link_is_up, clock_runs = False, True

    def __init__(self, dut, prefix: str = "pcie_", *, clock: Clock | None = None, window: tuple[int, int] | None = None,
                 stall: float = 0.0, **properties):
        stems = names(prefix)
        lanes = len(find(dut, "cq_tdata", stems["cq_tdata"])) // 32
        # The core does not have these, because it does not need them.
        self.pins = pins = Ports(dut, stems, absent={"cq_tkeep": lanes, "rc_tkeep": lanes, "rc_tlast": 1})
        self.pcie_clock, self.way, self.window = clock or Clock(pins.user_clk, 4, unit="ns"), "reset", window
        self.root, self.function, self.device = RootPort(pins, stall), None, None
        self.fallen = Event()  # the block has noticed that the link is down
        self.fallen.set()
        for name in ("cfg_mgmt_read_write_done", "cfg_max_payload", "user_lnk_up"):
            getattr(pins, name).value = 0
        pins.user_reset.value = 1
        self.pcie_clock.start(start_high=False)
        super().__init__(TlpPort(), stall=stall, **properties)
        cocotb.start_soon(self.management())
        cocotb.start_soon(self.run())

    async def run(self) -> None:
        await ClockCycles(self.pins.user_clk, 8)
        self.pins.user_reset.value = 0
        cocotb.start_soon(self.io())
        while True:
            self.see_perst(not self.pins.perst_n.value)
            await ValueChange(self.pins.perst_n)

    def after(self, cycles: int, action) -> None:
        async def later():
            await self.cycles(max(cycles, 1))
            action()
        cocotb.start_soon(later())

    # ---- the link ----

    @property
    def link_up(self) -> bool:
        return self.link_is_up

    @link_up.setter
    def link_up(self, up: bool) -> None:
        if up and not self.link_is_up:
            cocotb.start_soon(self.train())
        elif not up and self.link_is_up:
            self.fall_silent()
        self.link_is_up = up

    def fall_silent(self) -> None:
        """The other end is silent at once. The block reports it when Recovery has timed out."""
        self.root.disconnect()
        self.port.attach(None)
        self.fallen.clear()
        cocotb.start_soon(self.show_loss())

    async def show_loss(self) -> None:
        await self.cycles(LINK_FALL_CYCLES)
        self.pins.user_lnk_up.value = 0
        self.pins.user_reset.value = int(self.way != "link")
        if self.way == "clock" and self.clock_runs:
            self.pcie_clock.stop()
            self.clock_runs = False
        self.fallen.set()

    async def train(self) -> None:
        generation = self.generation
        await self.fallen.wait()
        if self.generation != generation:
            return
        self.new_function()
        self.device = Device([self.function])
        quiet(self.device.log)
        self.root.connect(self.device)
        if not self.clock_runs:
            self.pcie_clock.start(start_high=False)
        self.clock_runs = True
        await ClockCycles(self.pins.user_clk, random.randint(4, 20))
        if self.generation == generation:
            self.pins.user_reset.value, self.pins.user_lnk_up.value = 0, 1

    def new_function(self) -> None:
        self.function = DriveFunction(self)
        self.port.attach(self.function)

    def reset_function(self) -> None:
        """A reset of the function alone: the link stays up, and the function is as after power-up."""
        self.device.functions.clear()
        self.power_up()
        self.new_function()
        self.device.append_function(self.function)

    # ---- registers ----

    async def bar_read(self, address: int, length: int) -> bytes:
        assert length == 4 and address + 4 <= self.profile.bar_bytes
        await self.port.pushed()  # a completion does not pass earlier writes
        return self.register(False, address, 0)[1].to_bytes(4, "little")

    async def bar_write(self, address: int, data: bytes) -> None:
        assert len(data) == 4 and address + 4 <= self.profile.bar_bytes
        self.configuration[DEVICE][COMMAND] = self.function.command
        self.write_log.append((BAR, address, int.from_bytes(data, "little")))
        self.register(True, address, int.from_bytes(data, "little"))

    def control_2(self, space: int) -> int:
        return self.function.pcie_cap.completion_timeout_value if space == DEVICE else super().control_2(space)

    def enable(self, on: bool) -> None:
        super().enable(on)
        if not on:
            self.port.abort()

    async def management(self) -> None:
        """The root port's own configuration space, at the block's management port."""
        dut = self.pins
        while True:
            await First(RisingEdge(dut.cfg_mgmt_read), RisingEdge(dut.cfg_mgmt_write))
            for _ in range(random.randint(1, 8)):
                await RisingEdge(dut.user_clk)
            read, write, address = dut.cfg_mgmt_read.value, dut.cfg_mgmt_write.value, 4 * int(dut.cfg_mgmt_addr.value)
            if not read and not write:
                continue  # a reset came
            assert int(dut.cfg_mgmt_byte_enable.value) == 0xF
            assert not write or address in ROOT_REGISTERS, f"the root port's {address:#x} is written"
            error, data = self.configure(LOCAL, bool(write), address, int(dut.cfg_mgmt_write_data.value))
            assert not error
            dut.cfg_mgmt_read_data.value = data & ALL_ONES if read else random.getrandbits(32)
            dut.cfg_mgmt_read_write_done.value = 1
            dut.cfg_max_payload.value = self.configuration[LOCAL][ROOT_CONTROL] >> PAYLOAD_SHIFT & 3
            await RisingEdge(dut.user_clk)
            dut.cfg_mgmt_read_write_done.value = 0
