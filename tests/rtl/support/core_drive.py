# SPDX-License-Identifier: Apache-2.0
"""A drive on the adapter's side of spate_drive: that of spate_sim, but queues are read and completions written through the windows,
and registers through the port for them. It also gives the commands and takes the responses.
"""

import random
from collections import defaultdict, deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from spate_sim.nvme import Drive

import records
from target_port import TargetPort

OPS = {name: number for number, name in enumerate(
    ("flush", "write", "read", "deallocate", "format", "sanitize", "shutdown", "restart", "raw_admin", "raw_io"))}
STREAM, MEMORY, MAILBOX = 0, 1, 2


def encode(op: str, *, lba: int = 0, blocks: int = 0, source: int = MAILBOX, fua: int = 0, address: int = 0,
           tag: int = 0, from_registers: int = 0) -> int:
    """command_t."""
    return records.pack("command_t", from_registers=from_registers, tag=tag, op=OPS[op], source=source, fua=fua,
                        address=address, lba=lba, blocks=blocks)


def port_of(op: str, *, source: int = MAILBOX, **_) -> str:
    """Where spate_drive takes it: in the data lane or in the side lane."""
    return "command" if op in ("read", "write") and source != MAILBOX else "side"


class CoreDrive(Drive):
    memory_base = 0x8_0000_0000
    steps_min = 1

    def __init__(self, dut, *, window: int, bar: int, window_bits: int, stall: float, **properties):
        self.dut, self.window, self.bar = dut, (window, window_bits), bar
        self.cycle = 0
        self.later = defaultdict(list)  # cycle → actions in it
        self.memory = bytearray()
        self.events = defaultdict(int)
        self.responses, self.commands = [], deque()
        self.ready_falls = 0
        super().__init__(TargetPort(dut, window, window_bits, stall), stall=stall, **properties)
        cocotb.start_soon(self.run())

    def now(self) -> int:
        return self.cycle

    def after(self, cycles: int, action) -> None:
        self.later[self.cycle + max(1, cycles)].append(action)

    def bar_is_set(self, address: int) -> bool:
        return address == self.bar

    def find_queues(self) -> None:
        super().find_queues()
        assert self.epoch == records.get(self.dut.drive_o, "drive_t").epoch

    # ---- memory mode ----

    def in_window(self, address: int) -> bool:
        first, bits = self.window
        return first <= address < first + (1 << bits)

    async def bus_read(self, address: int, length: int) -> bytes:
        if self.in_window(address):
            return await super().bus_read(address, length)
        offset = address - self.memory_base
        assert 0 <= offset and offset + length <= len(self.memory), f"a read of {address:#x}, where nothing is mapped"
        return bytes(self.memory[offset:offset + length])

    def bus_write(self, address: int, data: bytes) -> None:
        if self.in_window(address):
            super().bus_write(address, data)
        else:
            offset = address - self.memory_base
            self.memory[offset:offset + len(data)] = data

    # ---- a clock cycle ----

    async def run(self) -> None:
        d = self.dut
        d.rst_ni.value, d.enable_i.value, d.idle_i.value = 0, 1, 1
        for name in ("link_up_i", "quiet_i", "mmio_request_ready_i", "mmio_response_valid_i", "command_valid_i",
                     "side_valid_i", "response_ready_i", "page_valid_i", "fence_answer_i"):
            getattr(d, name).value = 0
        for _ in range(4):
            await RisingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.io())
        showing, access_wait, held, ready_before = {}, None, None, 0  # showing: the command at each port
        while True:
            await ReadOnly()
            self.cycle += 1
            self.fields = records.get(d.drive_o, "drive_t")
            self.ready, self.gone, self.epoch = self.fields.ready, self.fields.gone, self.fields.epoch
            self.ready_falls += ready_before and not self.ready
            ready_before = self.ready
            self.count_events(d.events_o.value.to_unsigned())
            self.see_perst(not d.perst_no.value)
            for action in self.later.pop(self.cycle, ()):
                action()
            done = None
            if access_wait is not None:
                access_wait[0] -= 1
                if access_wait[0] <= 0:
                    done, access_wait = access_wait[1], None
            elif d.mmio_request_valid_o.value and d.mmio_request_ready_i.value:
                access_wait = self.accessed(records.get(d.mmio_request_o, "mmio_request_t"))
            for port in [port for port in showing if getattr(d, f"{port}_ready_o").value]:
                self.commands.remove(showing.pop(port))
            held = self.see_response(held)
            fence, quiet = d.fence_request_o.value, self.port.idle
            self.port.settled()
            await RisingEdge(d.clk_i)
            self.port.edge()
            d.link_up_i.value = int(self.link_up)
            d.quiet_i.value = int(quiet)
            if random.random() < 0.2:
                d.fence_answer_i.value = fence
            d.mmio_request_ready_i.value = int(random.random() < 0.7)
            d.mmio_response_valid_i.value = int(done is not None)
            if done is not None:
                d.mmio_response_i.value = done
            for port in ("command", "side"):
                waiting = next((command for command in self.commands if port_of(**command) == port), None)
                if port not in showing and waiting and random.random() >= self.stall:
                    showing[port] = waiting
                    getattr(d, f"{port}_i").value = encode(**waiting)
                getattr(d, f"{port}_valid_i").value = int(port in showing)
            d.response_ready_i.value = int(random.random() >= self.stall)

    def accessed(self, request) -> list:
        """Returns [cycles until the response, the response]."""
        access = request.access
        error, value = self.access(access.space, access.write, access.address, access.data)
        result = records.pack("mmio_result_t", error=error, data=value)
        return [random.randint(1, 12), records.pack("mmio_response_t", id=request.id, result=result)]

    def see_response(self, held: int | None) -> int | None:
        d = self.dut
        if not d.response_valid_o.value:
            assert held is None, "a response vanished"
            return None
        shown = d.response_o.value.to_unsigned()
        assert held is None or held == shown, "a response changed before it was taken"
        if not d.response_ready_i.value:
            return shown
        self.responses.append(vars(records.unpack("response_t", shown)))
        return None

    def count_events(self, value: int) -> None:
        if value:
            for name, seen in vars(records.unpack("events_t", value)).items():
                self.events[name] += seen

    # ---- the testbench's interface ----

    def put(self, **command) -> None:
        self.commands.append(command)

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
