# SPDX-License-Identifier: Apache-2.0
"""Of an IP-XACT component: clocks, resets, buses with the ports that they map, address spaces and memory maps."""

import xml.etree.ElementTree as tree

from tops_described import Interface
from tops_kinds import CLOCK, KINDS, RESET
from tops_outer import Bus, Core, Outer, bus_facts, clock_facts, is_bus, reset_facts
from tops_templates import is_present
from tops_xml import dependent, element, enabled, some, value_of, vlnv, xpath

SIGNS = {"==": "=", ">": ">"}
REGISTERS_BYTES = 1 << 14
APERTURE_BYTES = 1 << 23  # with the defaults


def condition(interface: Interface) -> str:
    return " or ".join(f"({value_of(name)} {SIGNS[how]} {limit})" for name, how, limit in interface.present)


def presence(kind: str, name: str, interface: Interface, one: Core) -> tree.Element | None:
    """Vivado's condition for an interface (BUSIF) or a port (PORT) to be there; None: always."""
    if not interface.present:
        return None
    return enabled(kind, name, condition(interface), is_present(interface, one.top, {}))


def width_element(name: str, outer: Outer, less: str) -> tree.Element:
    """A width, or with less = "-1" the left end of a range."""
    now = outer.bits + int(less or 0)
    if outer.width.isdigit():
        return element(name, str(now), format="long")
    return dependent(name, f"({xpath(outer.width)}{less})", now)


def facts(bus: str, said: dict[str, str]) -> tree.Element | None:
    return some("parameters", [
        element("parameter", element("name", name), element("value", value, id=f"BUSIFPARAM_VALUE.{bus.upper()}.{name}"))
        for name, value in said.items()])


def bus_interface(name: str, definition: str, what: str, role: tree.Element, ports: dict[str, str],
                  said: dict[str, str]) -> tree.Element:
    vendor, library, bus, version = definition.split(":")
    maps = [element("portMap", element("logicalPort", element("name", signal)), element("physicalPort", element("name", port)))
            for signal, port in ports.items()]
    return element("busInterface", element("name", name), element("description", what), vlnv("busType", definition),
                   vlnv("abstractionType", f"{vendor}:{library}:{bus}_rtl:{version}"), role, element("portMaps", *maps),
                   facts(name, said))


def role_of(bus: Bus) -> tree.Element:
    """Memory-mapped masters have an address space, slaves a memory map."""
    memory_mapped = bool(KINDS[bus.interface.kind].protocol)
    if bus.interface.role == "monitor":
        return element("monitor", interfaceMode="slave")
    if bus.interface.role == "master":
        return element("master", element("addressSpaceRef", addressSpaceRef=bus.name) if memory_mapped else None)
    return element("slave", element("memoryMapRef", memoryMapRef=bus.name) if memory_mapped else None)


def clocks_and_resets(one: Core) -> list[tree.Element]:
    found = []
    for clock in one.clocks:
        port, reset = clock.port.name, clock.reset.name
        found += [bus_interface(port, CLOCK, clock.clock.what, element("slave"), {"CLK": port}, clock_facts(one, clock)),
                  bus_interface(reset, RESET, f"The reset of {port}.", element("slave"), {"RST": reset},
                                reset_facts(clock.clock.active))]
    return found


def interfaces(one: Core) -> list[tree.Element]:
    found = clocks_and_resets(one)
    for bus in one.buses:
        definition = KINDS[bus.interface.kind].vlnv
        if definition:
            ports = {signal: port.name for signal, port in bus.ports.items()}
            said = bus_interface(bus.name, definition, bus.interface.what, role_of(bus), ports, bus_facts(bus))
            extension = presence("BUSIF", bus.name, bus.interface, one)
            said.extend([extension] if extension is not None else [])
            found.append(said)
    return found


def memory_mapped(one: Core, role: str) -> list[Bus]:
    return [bus for bus in one.buses if is_bus(bus) and KINDS[bus.interface.kind].protocol and bus.interface.role == role]


def address_space(bus: Bus) -> tree.Element:
    address, now = bus.ports["AWADDR"], 1 << bus.ports["AWADDR"].bits
    fixed = address.width.isdigit()
    size = element("range", str(now)) if fixed else dependent("range", f"pow(2,{xpath(address.width)})", now)
    return element("addressSpace", element("name", bus.name), size, width_element("width", bus.ports["WDATA"], ""))


def memory_map(bus: Bus) -> tree.Element:
    registers = KINDS[bus.interface.kind].protocol == "AXI4LITE"
    name, size, usage = ("registers", REGISTERS_BYTES, "register") if registers else ("aperture", APERTURE_BYTES, "memory")
    what = "docs/reference/registers.md describes them." if registers else bus.interface.what
    block = element("addressBlock", element("name", name), element("description", what), element("baseAddress", "0"),
                    element("range", str(size)), width_element("width", bus.ports["WDATA"], ""), element("usage", usage))
    return element("memoryMap", element("name", bus.name), block)
