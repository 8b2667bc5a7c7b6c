# SPDX-License-Identifier: Apache-2.0
"""The tops as IP-XACT components (IEEE 1685-2009), rtl/ip/*/component.xml, with what Vivado's IP integrator wants to know. Vivado
has not read them. The component's module is the Verilog wrapper, its files are those of rtl/spate.f that the top needs."""

import os.path
import pathlib
import xml.etree.ElementTree as tree

import filelist
import tops_verilog
import tops_xgui
from tops_core import VERSION
from tops_described import Interface, Top
from tops_design import Parameter
from tops_kinds import CLOCK, KINDS, RESET
from tops_outer import CORES, Bus, Core, Outer, bus_facts, clock_facts, core, is_bus, parameters, reset_facts
from tops_templates import is_present
from tops_xml import dependent, element, enabled, some, text, value_of, vlnv, xpath

ULTRASCALE_PLUS = ("artixuplus", "kintexuplus", "virtexuplus", "virtexuplusHBM", "zynquplus", "zynquplusRFSOC")
FAMILIES = {"spate_nvme_usp": ULTRASCALE_PLUS}  # the block's; of the others all
OTHERS = ("artix7", "kintex7", "virtex7", "zynq", "kintexu", "virtexu", *ULTRASCALE_PLUS, "versal")
SIGNS = {"==": "=", ">": ">"}
REGISTERS_BYTES = 1 << 14


def condition(interface: Interface) -> str:
    return " or ".join(f"({value_of(name)} {SIGNS[how]} {limit})" for name, how, limit in interface.present)


def facts(bus: str, said: dict[str, str]) -> tree.Element | None:
    return some("parameters", [element("parameter", element("name", name), element("value", value, id=f"BUSIFPARAM_VALUE.{bus.upper()}.{name}"))
                               for name, value in said.items()])


def bus_interface(name: str, definition: str, role: tree.Element, ports: dict[str, str], said: dict[str, str], what: str = "",
                  extension: tree.Element | None = None) -> tree.Element:
    vendor, library, bus, version = definition.split(":")
    maps = [element("portMap", element("logicalPort", element("name", signal)), element("physicalPort", element("name", port)))
            for signal, port in ports.items()]
    return element("busInterface", element("name", name), element("description", what) if what else None, vlnv("busType", definition),
                   vlnv("abstractionType", f"{vendor}:{library}:{bus}_rtl:{version}"), role, element("portMaps", *maps),
                   facts(name, said), extension)


def role_of(bus: Bus) -> tree.Element:
    """Memory-mapped masters have an address space, slaves a memory map."""
    memory_mapped = bool(KINDS[bus.interface.kind].protocol)
    if bus.interface.role == "monitor":
        return element("monitor", interfaceMode="slave")
    if bus.interface.role == "master":
        return element("master", element("addressSpaceRef", addressSpaceRef=bus.name) if memory_mapped else None)
    return element("slave", element("memoryMapRef", memoryMapRef=bus.name) if memory_mapped else None)


def interfaces(one: Core) -> list[tree.Element]:
    found = []
    for clock in one.clocks:
        found += [bus_interface(clock.port.name, CLOCK, element("slave"), {"CLK": clock.port.name}, clock_facts(one, clock), clock.clock.what),
                  bus_interface(clock.reset.name, RESET, element("slave"), {"RST": clock.reset.name}, reset_facts(clock.clock.active))]
    for bus in one.buses:
        if not KINDS[bus.interface.kind].vlnv:
            continue
        extension = enabled("BUSIF", bus.name, condition(bus.interface), is_present(bus.interface, one.top, {})) if bus.interface.present else None
        found.append(bus_interface(bus.name, KINDS[bus.interface.kind].vlnv, role_of(bus),
                                   {signal: port.name for signal, port in bus.ports.items()}, bus_facts(bus), bus.interface.what, extension))
    return found


def mapped(one: Core, role: str) -> list[Bus]:
    return [bus for bus in one.buses if is_bus(bus) and KINDS[bus.interface.kind].protocol and bus.interface.role == role]


def data_bits(bus: Bus, one: Core) -> tree.Element:
    width = bus.ports["WDATA"].width
    return width_element("width", width, "", one)


def width_element(name: str, width: str, less: str, one: Core) -> tree.Element:
    """A width, or with less = "-1" the left end of a range."""
    if width.isdigit():
        return element(name, str(int(width) + int(less or 0)), format="long")
    now = eval(width.replace("/", "//"), {}, {parameter.name: parameter.value for parameter in one.top.design.parameters.values()})
    return dependent(name, f"({xpath(width)}{less})", now + int(less or 0))


def address_range(bus: Bus, one: Core) -> tree.Element:
    width = bus.ports["AWADDR"].width
    if width.isdigit():
        return element("range", str(1 << int(width)))
    return dependent("range", f"pow(2,{xpath(width)})", 1 << int(one.top.design.parameters[width].value))


def memory_map(bus: Bus, one: Core) -> tree.Element:
    if KINDS[bus.interface.kind].protocol == "AXI4LITE":
        return element("memoryMap", element("name", bus.name), element(
            "addressBlock", element("name", "registers"), element("description", "docs/reference/registers.md describes them."),
            element("baseAddress", "0"), element("range", str(REGISTERS_BYTES)), element("width", "32"), element("usage", "register")))
    return element("memoryMap", element("name", bus.name), element(
        "addressBlock", element("name", "aperture"), element("description", bus.interface.what), element("baseAddress", "0"),
        element("range", str(1 << 23)), data_bits(bus, one), element("usage", "memory")))


def port(one: Core, outer: Outer, interface: Interface | None) -> tree.Element:
    vector = element("vector", width_element("left", outer.width, "-1", one), element("right", "0", format="long")) if outer.width else None
    views = [element("viewNameRef", name) for name in ("synthesis", "simulation")]
    types = element("wireTypeDefs", element("wireTypeDef", element("typeName", "wire"), *views))
    present = interface.present if interface else ()
    driver = element("driver", element("defaultValue", "0", format="long")) if outer.direction == "in" and present else None
    extension = enabled("PORT", outer.name, condition(interface), is_present(interface, one.top, {})) if interface and present else None
    return element("port", element("name", outer.name), element("wire", element("direction", outer.direction), vector, types, driver), extension)


def ports(one: Core) -> list[tree.Element]:
    found = [port(one, outer, None) for clock in one.clocks for outer in (clock.port, clock.reset)]
    return found + [port(one, outer, bus.interface) for bus in one.buses for outer in bus.ports.values()]


def value(parameter: Parameter, resolve: str, identifier: str) -> tree.Element:
    how = {"resolve": resolve, "id": identifier}
    if parameter.kind == "":
        return element("value", str(parameter.value), **how)
    if parameter.kind == "int unsigned":
        return element("value", str(parameter.value), format="long", **how)
    digits = -(-parameter.bits // 4)
    return element("value", f"0x{parameter.value:0{digits}X}", format="bitString", bitStringLength=str(parameter.bits), **how)


def data_type(parameter: Parameter) -> str:
    return {"": "string", "int unsigned": "integer"}.get(parameter.kind, "std_logic_vector")


def named(parameter: Parameter) -> list[tree.Element]:
    return [element("name", parameter.name), element("displayName", parameter.name), element("description", parameter.what)]


def file(path: str, folder: pathlib.PurePath) -> tree.Element:
    kind = "verilogSource" if path.endswith(".v") else "systemVerilogSource"
    return element("file", element("name", os.path.relpath(path, folder)), element("fileType", kind))


def file_sets(one: Core) -> list[tree.Element]:
    path = tops_verilog.path(one.name)
    folder = pathlib.PurePath(path).parent
    files = [file(source, folder) for source in (*filelist.needed_by(one.top.design.top), path)]
    gui = element("file", element("name", os.path.relpath(tops_xgui.path(one), folder)), element("fileType", "tclSource"),
                  element("userFileType", "XGUI_VERSION_2"))
    return [element("fileSet", element("name", "sources"), *files), element("fileSet", element("name", "xgui"), gui)]


def view(name: str, environment: str, module: str, files: str) -> tree.Element:
    return element("view", element("name", name), element("envIdentifier", f":vivado.xilinx.com:{environment}"),
                   *([element("language", "Verilog"), element("modelName", module)] if module else []),
                   element("fileSetRef", element("localName", files)))


def model(one: Core) -> tree.Element:
    views = [view(name, name, one.wrapper, "sources") for name in ("synthesis", "simulation")] + [view("xgui", "xgui.ui", "", "xgui")]
    shown = [element("modelParameter", *named(parameter), value(parameter, "generated", f"MODELPARAM_VALUE.{parameter.name}"),
                     dataType=data_type(parameter)) for parameter in parameters(one)]
    return element("model", element("views", *views), element("ports", *ports(one)), element("modelParameters", *shown))


def extensions(one: Core) -> tree.Element:
    families = [element("x_family", name, lifeCycle="Beta") for name in FAMILIES.get(one.top.design.top, OTHERS)]
    return element("vendorExtensions", element("x_coreExtensions", element("x_supportedFamilies", *families), element(
        "x_taxonomies", element("x_taxonomy", "/Memories_&_Storage_Elements")), element("x_displayName", one.name), element("x_coreRevision", "1")))


def write(one: Core) -> str:
    shown = [element("parameter", *named(parameter), value(parameter, "user", f"PARAM_VALUE.{parameter.name}")) for parameter in parameters(one)]
    shown += [element("parameter", element("name", "Component_Name"), element("value", one.name, resolve="user", id="PARAM_VALUE.Component_Name"))]
    spaces = [element("addressSpace", element("name", bus.name), address_range(bus, one), data_bits(bus, one)) for bus in mapped(one, "master")]
    maps = [memory_map(bus, one) for bus in mapped(one, "slave")]
    major, minor, _ = VERSION.split(".")
    root = element("component", element("vendor", "spate"), element("library", "storage"), element("name", one.name),
                   element("version", f"{major}.{minor}"), element("busInterfaces", *interfaces(one)), some("addressSpaces", spaces),
                   element("memoryMaps", *maps), model(one), element("fileSets", *file_sets(one)),
                   element("description", "NVMe host core without a CPU, for recording streams to drives"), element("parameters", *shown),
                   extensions(one))
    return text(root, "SPDX-License-Identifier: Apache-2.0. Generated by tools/rtl/tops_generate.py: do not edit.")


def texts(tops: dict[str, Top]) -> dict[str, str]:
    cores = [core(name, tops) for name in CORES]
    return {f"rtl/ip/{one.name}/component.xml": write(one) for one in cores} | {tops_xgui.path(one): tops_xgui.write(one) for one in cores}
