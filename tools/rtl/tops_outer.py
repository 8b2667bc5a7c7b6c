# SPDX-License-Identifier: Apache-2.0
"""The ports of a top as the outside names them: in its Verilog wrapper and its IP-XACT component.

Names have no direction, clocks end with aclk and resets with aresetn, as tools expect. What a top has once for each drive is
a port, and an interface, for each drive: s_axi_1_awaddr. What a bus must have and the top does not is a constant.
"""

import re
from typing import NamedTuple

from tops_described import Clock, Interface, Top, stem
from tops_design import Port

# The cores that are packaged: {name: (top, number of drives, if it has several)}.
CORES = {"spate_nvme_axi": ("spate_nvme_axi", 0), "spate_nvme_usp": ("spate_nvme_usp", 0),
         "spate_nvme_stripe_axi_2": ("spate_nvme_stripe_axi", 2), "spate_nvme_stripe_axi_4": ("spate_nvme_stripe_axi", 4)}


class Outer(NamedTuple):
    name: str
    direction: str
    width: str  # a number, or an expression over the parameters
    inner: Port | None  # None: a constant
    constant: int = 0


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
