# SPDX-License-Identifier: Apache-2.0
"""Files with which other tools read the gateware, generated from rtl/spate.f and the tops' ports: the FuseSoC core file
spate.core, and the instantiation templates of rtl/templates.

    templates.py            writes them (make generate)
    templates.py --check    compares them with the existing files; status 1 and the names if they differ
"""

import argparse
import re
import sys

import filelist
import program  # noqa: F401: imported so that Ctrl-C ends it cleanly

SPDX = "SPDX-License-Identifier: Apache-2.0"
VERSION = ".".join(re.findall(r"^#define SPATE_VERSION_[A-Z]+ (\d+)$",
                              (filelist.ROOT / "include" / "spate" / "version.h").read_text(), re.M))
TOPS = ("spate_nvme_axi", "spate_nvme_usp", "spate_nvme_stripe_axi")
PORT = re.compile(r"^\s*(input|output)\s+logic\s*((?:\[[^\]]*\])*)\s*(\w+),?", re.M)
PARAMETER = re.compile(r"^\s*parameter ([^=]*?)\s*\b(\w+) = (.*?),?\s*// (.*)$", re.M)

# A template: its top, its purpose, the parameters that it sets (all others are shown with their defaults), and the prefixes of
# the ports that are unused then. Unused inputs are zero, unused outputs are open.
TEMPLATES = {
    "nvme_axi_stream": ("spate_nvme_axi", "one drive behind an AXI-PCIe bridge, data streams through a ring of 256 KiB", {},
                        ("tap_", "ring_axi_")),
    "nvme_axi_memory": ("spate_nvme_axi", "one drive behind an AXI-PCIe bridge, data between memory and the drive",
                        {"RamBytes": "8192"}, ("s_axis_", "m_axis_", "ring_axi_")),
    "nvme_axi_memory_ring": ("spate_nvme_axi", "one drive behind an AXI-PCIe bridge, data streams through a ring of 1 GiB in "
                             "memory", {"RamBytes": "8192", "MemoryRingBytes": "64'h4000_0000",
                                        "MemoryRingBase": "64'h1_0000_0000", "MemoryRingDriveBase": "64'h1_0000_0000"}, ()),
    "nvme_usp_stream": ("spate_nvme_usp", "one drive on the UltraScale+ integrated block, data streams through a ring of "
                        "256 KiB", {}, ()),
    "nvme_stripe_axi_stream": ("spate_nvme_stripe_axi", "two drives as one, each behind an AXI-PCIe bridge, data streams "
                               "through a ring of 256 KiB each", {}, ("tap_",)),
}


def core_file() -> str:
    lines = ["CAPI=2:", f"# {SPDX}", "# Made by tools/rtl/templates.py from rtl/spate.f.", f"name: spate:storage:spate:{VERSION}",
             "description: NVMe host core without a CPU, for recording streams to drives", "", "filesets:", "  rtl:", "    files:"]
    lines += [f"      - {path}" for path in filelist.sources()]
    lines += ["    file_type: systemVerilogSource", "  lint:", "    files:", "      - rtl/lint/waivers.vlt:",
              "          file_type: vlt", "", "targets:", "  default:", "    filesets: [rtl]"]
    for top in TOPS:
        lines += [f"  {top}:", "    description: Look for mistakes in this top", "    flow: lint", "    flow_options:",
                  "      tool: verilator", "      verilator_options: [-Wall]", "    filesets: [rtl, lint]",
                  f"    toplevel: {top}", "    parameters: [DataWidth, RamBytes]"]
    lines += ["", "parameters:"]
    for name, what in (("DataWidth", "Bits of the data streams"), ("RamBytes", "Of the data buffer")):
        lines += [f"  {name}:", f"    description: {what}", "    datatype: int", "    paramtype: vlogparam"]
    return "\n".join(lines) + "\n"


def template(name: str) -> str:
    top, purpose, chosen, unused = TEMPLATES[name]
    text = (filelist.ROOT / next(path for path in filelist.sources() if path.endswith(f"/{top}.sv"))).read_text()
    head = text[:text.index("\n);")]
    # Leaves out parameters whose default follows from others.
    parameters = [(match[1], chosen.get(match[1], match[2]), match[3]) for match in PARAMETER.findall(head)
                  if "RamBytes" not in match[2]]
    values = {parameter: value for parameter, value, _ in parameters}
    assert set(chosen) <= set(values), f"{top} has no such parameter: {set(chosen) - set(values)}"
    zero = "'0"
    every_port = PORT.findall(head)
    ports = [port for port in every_port if not port[2].startswith(unused)]
    lines = [f"// {SPDX}", f"// Made by tools/rtl/templates.py. {top}: {purpose}.", "// What each port is stands in "
             f"rtl/top/{top}.sv, the registers in docs/REGISTERS.md.", ""]
    widths = " ".join(width for _, width, _ in ports)
    # Written once, because the wires and the instance must agree.
    named = {parameter for parameter in values if parameter in widths or parameter in chosen}
    lines += [f"localparam {kind} {parameter} = {values[parameter]};" for kind, parameter, _, _ in PARAMETER.findall(head)
              if parameter in named]
    lines += ["localparam int unsigned Lanes = DataWidth / 32;"] if "Lanes" in widths else []
    lines += [" ".join(f"logic {declared(width)} {wire(port)};".split()) for _, width, port in ports]
    lines += ["", f"{top} #("]
    shown = [f"    .{parameter}({parameter if parameter in named else value})" for parameter, value, _ in parameters]
    lines += [f"{line}{',' if i < len(shown) - 1 else ''}  // {parameters[i][2]}" for i, line in enumerate(shown)]
    lines += [") u_spate ("]
    joined = [f"    .{port}({wire(port) if not port.startswith(unused) else zero if direction == 'input' else ''})"
              for direction, _, port in every_port]
    lines += [f"{line}{',' if i < len(joined) - 1 else ''}" for i, line in enumerate(joined)]
    return "\n".join(lines + [");"]) + "\n"


def declared(width: str) -> str:
    return width.replace(" ", "").replace("LbaWidth", "spate_pkg::LbaWidth")


def wire(port: str) -> str:
    return re.sub(r"_n[io]$", "_n", port) if re.search(r"_n[io]$", port) else re.sub(r"_[io]$", "", port)


def main() -> int:
    parser = argparse.ArgumentParser(description="FuseSoC core file and instantiation templates")
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    texts = {"spate.core": core_file()} | {f"rtl/templates/{name}.veo": template(name) for name in TEMPLATES}
    different = [path for path, text in texts.items()
                 if not (filelist.ROOT / path).is_file() or (filelist.ROOT / path).read_text() != text]
    for path in different:
        print(f"{path}: {'differs from' if check else 'made from'} rtl/spate.f and the tops")
        if not check:
            (filelist.ROOT / path).write_text(texts[path])
    return 1 if check and different else 0


if __name__ == "__main__":
    sys.exit(main())
