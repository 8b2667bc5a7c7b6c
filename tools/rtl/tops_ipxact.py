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
from tops_ipxact_buses import address_space, interfaces, memory_map, memory_mapped, presence, width_element
from tops_outer import CORES, Core, Outer, core, parameters
from tops_xml import element, some, text

ULTRASCALE_PLUS = ("artixuplus", "kintexuplus", "virtexuplus", "virtexuplusHBM", "zynquplus", "zynquplusRFSOC")
FAMILIES = {"spate_nvme_usp": ULTRASCALE_PLUS}  # the block's; of the others all
OTHERS = ("artix7", "kintex7", "virtex7", "zynq", "kintexu", "virtexu", *ULTRASCALE_PLUS, "versal")
VIEWS = ("synthesis", "simulation")
CONSTRAINTS = "rtl/constraints"
TYPES = {"": "string", "int unsigned": "integer"}  # of others: std_logic_vector


def port(one: Core, outer: Outer, interface: Interface | None) -> tree.Element:
    """An input that is not always there is zero otherwise."""
    vector = element("vector", width_element("left", outer, "-1"), element("right", "0", format="long")) if outer.width else None
    views = [element("viewNameRef", name) for name in VIEWS]
    types = element("wireTypeDefs", element("wireTypeDef", element("typeName", "wire"), *views))
    extension = presence("PORT", outer.name, interface, one) if interface else None
    zero = element("driver", element("defaultValue", "0", format="long"))
    driver = zero if extension is not None and outer.direction == "in" else None
    wire = element("wire", element("direction", outer.direction), vector, types, driver)
    return element("port", element("name", outer.name), wire, extension)


def ports(one: Core) -> list[tree.Element]:
    found = [port(one, outer, None) for clock in one.clocks for outer in (clock.port, clock.reset)]
    return found + [port(one, outer, bus.interface) for bus in one.buses for outer in bus.ports.values()]


def parameter(name: str, one: Parameter, resolve: str, identifier: str, **attributes: str) -> tree.Element:
    how = {"resolve": resolve, "id": f"{identifier}_VALUE.{one.name}"}
    if one.kind == "":
        value = element("value", str(one.value), **how)
    elif one.kind == "int unsigned":
        value = element("value", str(one.value), format="long", **how)
    else:
        digits = -(-one.bits // 4)
        value = element("value", f"0x{one.value:0{digits}X}", format="bitString", bitStringLength=str(one.bits), **how)
    return element(name, element("name", one.name), element("displayName", one.name), element("description", one.what), value,
                   **attributes)


def view(name: str, environment: str, module: str, *files: str) -> tree.Element:
    language = [element("language", "Verilog"), element("modelName", module)] if module else []
    return element("view", element("name", name), element("envIdentifier", f":vivado.xilinx.com:{environment}"), *language,
                   *(element("fileSetRef", element("localName", one)) for one in files))


def model(one: Core) -> tree.Element:
    views = [view("synthesis", "synthesis", one.wrapper, "sources", "constraints"),
             view("simulation", "simulation", one.wrapper, "sources"), view("xgui", "xgui.ui", "", "xgui")]
    shown = [parameter("modelParameter", said, "generated", "MODELPARAM", dataType=TYPES.get(said.kind, "std_logic_vector"))
             for said in parameters(one)]
    return element("model", element("views", *views), element("ports", *ports(one)), element("modelParameters", *shown))


def file(path: str, folder: pathlib.PurePath) -> tree.Element:
    kind = "verilogSource" if path.endswith(".v") else "systemVerilogSource"
    return element("file", element("name", os.path.relpath(path, folder)), element("fileType", kind))


def constraint(module: str, folder: pathlib.PurePath) -> tree.Element:
    """As Vivado's packager writes a file that is read in the scope of each instance of a module, after the design's own clocks."""
    kinds = ("xdc", f"SCOPED_TO_REF_{module}", "USED_IN_implementation")
    return element("file", element("name", os.path.relpath(f"{CONSTRAINTS}/{module}.xdc", folder)),
                   *(element("userFileType", kind) for kind in kinds),
                   element("define", element("name", "processing_order"), element("value", "late")))


def constrained(sources: list[str]) -> list[str]:
    """The modules that have constraints."""
    modules = [pathlib.PurePath(source).stem for source in sources]
    return [module for module in modules if (filelist.ROOT / CONSTRAINTS / f"{module}.xdc").is_file()]


def file_sets(one: Core) -> tree.Element:
    path = tops_verilog.path(one.name)
    folder = pathlib.PurePath(path).parent
    sources = filelist.needed_by(one.top.design.top)
    files = [file(source, folder) for source in (*sources, path)]
    gui = element("file", element("name", os.path.relpath(tops_xgui.path(one), folder)), element("fileType", "tclSource"),
                  element("userFileType", "XGUI_VERSION_2"))
    return element("fileSets", element("fileSet", element("name", "sources"), *files),
                   element("fileSet", element("name", "constraints"), *(constraint(module, folder) for module in constrained(sources))),
                   element("fileSet", element("name", "xgui"), gui))


def extensions(one: Core) -> tree.Element:
    families = [element("x_family", name, lifeCycle="Beta") for name in FAMILIES.get(one.top.design.top, OTHERS)]
    taxonomies = element("x_taxonomies", element("x_taxonomy", "/Memories_&_Storage_Elements"))
    said = element("x_coreExtensions", element("x_supportedFamilies", *families), taxonomies,
                   element("x_displayName", one.name), element("x_coreRevision", "1"))
    return element("vendorExtensions", said)


def write(one: Core) -> str:
    name = element("parameter", element("name", "Component_Name"),
                   element("value", one.name, resolve="user", id="PARAM_VALUE.Component_Name"))
    shown = [*(parameter("parameter", said, "user", "PARAM") for said in parameters(one)), name]
    head = [element("vendor", "spate"), element("library", "storage"), element("name", one.name),
            element("version", ".".join(VERSION.split(".")[:2]))]
    root = element("component", *head, element("busInterfaces", *interfaces(one)),
                   some("addressSpaces", [address_space(bus) for bus in memory_mapped(one, "master")]),
                   some("memoryMaps", [memory_map(bus) for bus in memory_mapped(one, "slave")]), model(one), file_sets(one),
                   element("description", "NVMe host core without a CPU, for recording streams to drives"),
                   element("parameters", *shown), extensions(one))
    return text(root, "SPDX-License-Identifier: Apache-2.0. Generated by tools/rtl/tops_generate.py: do not edit.")


def texts(tops: dict[str, Top]) -> dict[str, str]:
    cores = [core(name, tops) for name in CORES]
    components = {f"rtl/ip/{one.name}/component.xml": write(one) for one in cores}
    return components | {tops_xgui.path(one): tops_xgui.write(one) for one in cores}
