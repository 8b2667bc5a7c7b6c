# SPDX-License-Identifier: Apache-2.0
"""The drive of drive_model as a PCI Express device: a function of cocotbext-pcie with its configuration space, behind a link
to usp_root_port. Register accesses arrive as requests for its BAR. Its own reads and writes leave as requests, split by the
sizes that the core has written into its Device Control. A link drop, PERST# or a function reset replaces the function by a
new one without any state of the old.
"""

import random
import warnings

import cocotb
from cocotb.triggers import ClockCycles, Event, First, RisingEdge

from admin_drive import ALL_ONES, BAR, BRIDGE_CONTROL, CONTROL_2, DEVICE, LOCAL, TIMEOUT_210_MS
from linked_drive import LinkedDrive, TlpPort
from usp_root_port import RootPort

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from cocotbext.pcie.core import Device, MemoryEndpoint

COMMAND, ROOT_CONTROL, PAYLOAD_SHIFT = 0x04, 0x68, 5
LINK_FALL_CYCLES = 24 * 16  # 24 ms in the core's time
ROOT_REGISTERS = {0x04, 0x18, 0x20, 0x24, BRIDGE_CONTROL, ROOT_CONTROL, CONTROL_2[LOCAL]}  # may be written; no bridge's registers


class DriveFunction(MemoryEndpoint):
    def __init__(self, drive):
        super().__init__()
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


class UspDrive(LinkedDrive):
    """`dut` is nvme_usp_top, `clock` the block's. `way` is how the link drops: "link": only user_lnk_up falls; "reset": the
    block's reset comes with it; "clock": its clock stops as well. Nothing here runs in every cycle, because there are many.
    """

    link_is_up, clock_runs = False, True

    def __init__(self, dut, profile, clock, *, window: int, bar: int, stall: float):
        self.pcie_clock, self.way = clock, "reset"
        self.root, self.function, self.device = RootPort(dut, stall), None, None
        self.fallen = Event()  # the block has noticed that the link is down
        self.fallen.set()
        for name in ("cfg_mgmt_read_write_done", "cfg_max_payload", "user_lnk_up", "rst_n"):
            getattr(dut, name).value = 0
        dut.user_reset.value = 1
        clock.start()
        super().__init__(dut, profile, window=window, bar=bar, window_bits=int(dut.WindowBits.value), stall=stall,
                         port=TlpPort())
        cocotb.start_soon(self.management())

    async def run(self) -> None:
        dut = self.dut
        await ClockCycles(dut.user_clk, 8)
        dut.rst_n.value, dut.user_reset.value = 1, 0
        await self.follow_perst()

    # ---- the link ----

    @property
    def link_up(self) -> bool:
        return self.link_is_up

    @link_up.setter
    def link_up(self, up: bool) -> None:
        if up and not self.link_is_up:
            cocotb.start_soon(self.train())
        elif not up and self.link_is_up:
            self.lose_link()
        self.link_is_up = up

    def lose_link(self) -> None:
        """The other end is silent at once. The block reports it when Recovery has timed out."""
        self.root.disconnect()
        self.port.attach(None)
        self.fallen.clear()
        cocotb.start_soon(self.show_loss())

    async def show_loss(self) -> None:
        await ClockCycles(self.dut.clk, LINK_FALL_CYCLES)
        self.dut.user_lnk_up.value = 0
        self.dut.user_reset.value = int(self.way != "link")
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
        self.root.connect(self.device)
        if not self.clock_runs:
            self.pcie_clock.start()
        self.clock_runs = True
        await ClockCycles(self.dut.user_clk, random.randint(4, 20))
        if self.generation == generation:
            self.dut.user_reset.value, self.dut.user_lnk_up.value = 0, 1

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
        assert self.function.bar[0] & ~0xF | self.function.bar[1] << 32 == self.bar
        self.configuration[DEVICE][COMMAND] = self.function.command
        self.write_log.append((BAR, address, int.from_bytes(data, "little")))
        self.register(True, address, int.from_bytes(data, "little"))

    def control_2(self, space: int) -> int:
        return self.function.pcie_cap.completion_timeout_value if space == DEVICE else super().control_2(space)

    async def management(self) -> None:
        """The root port's own configuration space, at the block's management port."""
        dut = self.dut
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
