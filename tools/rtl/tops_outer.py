# SPDX-License-Identifier: Apache-2.0
"""The ports of a top as the outside names them: in its Verilog wrapper and its IP-XACT component.

Names have no direction, clocks end with aclk and resets with aresetn, as tools expect. What a top has once for each drive is
a port, and an interface, for each drive: s_axi_1_awaddr. What a bus must have and the top does not is a constant.
"""

import re
from typing import NamedTuple

from tops_described import Clock, Interface, Top, stem
from tops_design import Parameter, Port
from tops_kinds import KINDS

# The cores that are packaged: {name: (top, number of drives, if it has several)}.
CORES = {"spate_nvme_axi": ("spate_nvme_axi", 0), "spate_nvme_usp": ("spate_nvme_usp", 0),
         "spate_nvme_stripe_axi_2": ("spate_nvme_stripe_axi", 2)}


class Outer(NamedTuple):
    name: str
    direction: str
    width: str  # a number, or an expression over the parameters
    inner: Port | None  # None: a constant
    constant: int = 0

    @property
    def bits(self) -> int:
        """With the defaults."""
        return int(self.width) if self.width.isdigit() else self.inner.dimensions[-1].size if self.width else 1


class Bus(NamedTuple):
    name: str
    interface: Interface
    clock: str  # the clock's name outside, "" if it is of any clock
    ports: dict[str, Outer]  # by the kind's names of signals


class OuterClock(NamedTuple):
    clock: Clock
    port: Outer
    reset: Outer


class Core(NamedTuple):
    name: str
    top: Top
    drives: int
    clocks: list[OuterClock]
    buses: list[Bus]

    @property
    def wrapper(self) -> str:
        return f"{self.name}_wrapper"

    @property
    def ports(self) -> list[Outer]:
        return [port for clock in self.clocks for port in (clock.port, clock.reset)] + [
            port for bus in self.buses for port in bus.ports.values()]


def outer(name: str, top: Top, port: Port) -> Outer:
    inner = port.dimensions[1:] if top.is_array(port) else port.dimensions
    assert len(inner) <= 1, f"{port.name}: more than one dimension, and none of them is for drives"
    return Outer(name, port.direction, inner[0].text if inner else "", port)


def clock_name(name: str, drive: int | None) -> str:
    """clk: aclk, rst_n: aresetn, axi_aclk of drive 1: axi_1_aclk."""
    usual = re.sub(r"(^|_)clk$", r"\1aclk", re.sub(r"(^|_)rst_n$", r"\1aresetn", name))
    return usual if drive is None else re.sub(r"_(\w+)$", rf"_{drive}_\1", usual)


def drives_of(core_drives: int, is_array: bool) -> list[int | None]:
    return list(range(core_drives)) if is_array else [None]


def clocks_of(top: Top, drives: int) -> list[OuterClock]:
    return [OuterClock(clock, outer(clock_name(stem(clock.port.name), drive), top, clock.port),
                       outer(clock_name(stem(clock.reset.name), drive), top, clock.reset))
            for clock in top.clocks.values() for drive in drives_of(drives, top.is_array(clock.port))]


def buses_of(top: Top, interface: Interface, drives: int) -> list[Bus]:
    """One, or one for each drive. In a group of single signals some may be for each drive."""
    buses: dict[int | None, dict[str, Outer]] = {}
    for signal, port in interface.signals.items():
        for drive in drives_of(drives, top.is_array(port)):
            prefix = interface.name if drive is None else f"{interface.name}_{drive}"
            rest = stem(port.name).removeprefix(interface.name)
            buses.setdefault(drive, {})[signal] = outer(prefix + rest, top, port)
    clock = top.clocks.get(interface.clock)
    found = []
    for drive, ports in buses.items():
        prefix = interface.name if drive is None else f"{interface.name}_{drive}"
        ports |= {signal: Outer(f"{prefix}_{signal.lower()}", "out", str(bits) if bits > 1 else "", None, value)
                  for signal, (bits, value) in interface.constants.items()}
        its_drive = drive if clock and top.is_array(clock.port) else None
        found.append(Bus(prefix, interface, clock_name(stem(clock.port.name), its_drive) if clock else "", ports))
    return found


def core(name: str, tops: dict[str, Top]) -> Core:
    top_name, drives = CORES[name]
    top = tops[top_name]
    buses = [bus for interface in top.interfaces.values() for bus in buses_of(top, interface, drives)]
    return Core(name, top, drives, clocks_of(top, drives), buses)


def parameters(one: Core) -> list[Parameter]:
    """Without those whose default is an expression: packagers refuse functions, and a user need not know them."""
    return [parameter for parameter in one.top.design.parameters.values()
            if not parameter.follows and not (one.drives and parameter.name == one.top.array)]


def is_bus(bus: Bus) -> bool:
    """With several signals and a definition."""
    return len(KINDS[bus.interface.kind].signals) > 1 and bool(KINDS[bus.interface.kind].vlnv)


def clock_facts(one: Core, clock: OuterClock) -> dict[str, str]:
    """What Vivado wants to know of a clock. The frequency is the design's."""
    buses = [bus.name for bus in one.buses if bus.clock == clock.port.name and is_bus(bus)]
    return ({"ASSOCIATED_BUSIF": ":".join(buses)} if buses else {}) | {"ASSOCIATED_RESET": clock.reset.name}


def reset_facts(active: str) -> dict[str, str]:
    return {"POLARITY": f"ACTIVE_{active.upper()}"}


def bus_facts(bus: Bus) -> dict[str, str]:
    kind = KINDS[bus.interface.kind]
    if bus.interface.kind == "reset":
        return reset_facts(bus.interface.active)
    if bus.interface.kind == "interrupt":
        return {"SENSITIVITY": "LEVEL_HIGH"}
    return {"PROTOCOL": kind.protocol} if kind.protocol else {}
