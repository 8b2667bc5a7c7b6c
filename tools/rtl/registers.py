# SPDX-License-Identifier: Apache-2.0
"""Generates from rtl/regs/spate_regs.rdl the RTL, the C header and the documentation page.

    registers.py            writes them (make generate)
    registers.py --check    compares them with the files in the repository; prints the different ones and ends with status 1

They are kept in the repository, so that users of the gateware and the library do not need the generator.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import program
import rules
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, MemNode, RegNode

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "rtl" / "regs" / "spate_regs.rdl"
PEAKRDL = pathlib.Path(sys.executable).with_name("peakrdl")
SPDX = "SPDX-License-Identifier: Apache-2.0"
ORIGIN = "Generated from rtl/regs/spate_regs.rdl by tools/rtl/registers.py: do not edit."
# The generated read-back keeps a copy of the address for slow registers, and first chooses between the copy and the address.
# spate_axil holds the address until the acknowledge, so the copy is not needed. The choice was in the host's longest path.
HELD = re.compile(r"    logic \[13:0\] pending_rd_addr;\n.*?(    assign rd_mux_addr = )[^;]*;", re.S)

# The read-back has two stages: the first chooses within each group of registers, the second between the groups. The generator makes
# groups of 256 bytes, in which all of these registers would be one, and compares whole addresses in the first stage. Groups of 16
# bytes are those of address bits 8 to 4. So the first stage needs bits 3 and 2 only, and the second one looks at the bits above.
GROUPS = {
    "function automatic bit [7:0] ad_low(bit [13:0] addr);\n        return addr[7:0];":
        "function automatic bit [3:0] ad_low(bit [13:0] addr);\n        return addr[3:0];",
    "function automatic bit [5:0] ad_hi(bit [13:0] addr);\n        return addr[13:8];":
        "function automatic bit [4:0] ad_hi(bit [13:0] addr);\n        return addr[8:4];",
    "logic [31:0] readback_data_rt_c[64];": "logic [31:0] readback_data_rt_c[32];",
    "automatic logic [31:0] readback_data_var[64];\n        for(int i=0; i<64; i++)":
        "automatic logic [31:0] readback_data_var[32];\n        for(int i=0; i<32; i++)",
    "logic [31:0] readback_data_rt[64];": "logic [31:0] readback_data_rt[32];",
    "for(int i=0; i<64; i++) readback_data_rt[i] <= '0;": "for(int i=0; i<32; i++) readback_data_rt[i] <= '0;",
    "readback_data_rt[readback_addr_rt[13:8]]": "readback_addr_rt[13:9] == '0 ? readback_data_rt[readback_addr_rt[8:4]] : '0",
}
GROUPS_END = 0x200  # the addresses that the second stage tells apart


def peakrdl(*arguments: str) -> None:
    program.run(PEAKRDL, *arguments)


def two_stages(text: str) -> str:
    if len(HELD.findall(text)) != 1 or any(text.count(written) != 1 for written in GROUPS):
        raise SystemExit(f"spate_regs.sv: the generator writes the read-back in another way; see HELD and GROUPS in {__file__}")
    text = HELD.sub(r"\1decoded_addr;", text)
    for written, wanted in GROUPS.items():
        text = text.replace(written, wanted)
    if beyond := [node.inst_name for node in registers() if isinstance(node, RegNode) and node.absolute_address >= GROUPS_END]:
        raise SystemExit(f"spate_regs.rdl: the read-back has no group for {', '.join(beyond)}: see GROUPS in {__file__}")
    return text


def rtl(folder: pathlib.Path) -> dict[str, str]:
    """The generated files: {path in the repository: text}."""
    options = ("--cpuif", "passthrough", "--default-reset", "rst_n", "--addr-width", "14", "--rt-read-fanin", "--rt-read-response")
    peakrdl("regblock", str(SOURCE), "-o", str(folder), *options)
    texts = {}
    for name in ("spate_regs_pkg.sv", "spate_regs.sv"):
        text = "\n".join(line.rstrip() for line in (folder / name).read_text().splitlines())
        if name == "spate_regs.sv":
            text = two_stages(text)
        texts[f"rtl/regs/generated/{name}"] = f"// {SPDX}\n// {ORIGIN}\n{rules.with_nettype(text)}\n"
    return texts


def header() -> dict[str, str]:
    """Offsets and masks without structs: the library accesses registers through the port's functions, by address."""
    lines = [f"/* {SPDX} */", f"/* {ORIGIN}", " * Fields and what they mean: docs/reference/registers.md. */"]
    lines += ["#ifndef SPATE_GATEWARE_REGISTERS_H", "#define SPATE_GATEWARE_REGISTERS_H", "", "#include <stdint.h>", ""]
    for register in registers():
        name = f"SPATE_REGS_{register.inst_name.upper()}"
        lines.append(f"#define {name} 0x{register.absolute_address:03x}u")
        if isinstance(register, MemNode):
            lines.append(f"#define {name}_WORDS {register.get_property('mementries')}u")
            continue
        for field in register.fields():
            stem = f"{name}_{field.inst_name.upper()}"
            if field.width < 32:
                lines.append(f"#define {stem} UINT32_C(0x{((1 << field.width) - 1) << field.low:x})")
            if field.low > 0 and field.width > 1:
                lines.append(f"#define {stem}_SHIFT {field.low}u")
            if field.get_property("hw").name == "na":
                lines.append(f"#define {stem}_NOW UINT32_C(0x{field.get_property('reset'):x})")
    lines += [f"#define SPATE_REGS_BYTES 0x{top().size:x}u", "", "#endif"]
    return {"include/spate/gateware_registers.h": formatted("\n".join(lines) + "\n")}


def formatted(text: str) -> str:
    """Formatted like the other headers."""
    command = (program.BUILD / "venv-lint/bin/clang-format", "--assume-filename=include/spate/gateware_registers.h")
    return program.run(*command, cwd=ROOT, input=text).stdout


def top() -> AddrmapNode:
    compiler = RDLCompiler()
    compiler.compile_file(str(SOURCE))
    return compiler.elaborate().top


def registers() -> list[RegNode | MemNode]:
    return list(top().children())


def plain(text: str) -> str:
    return " ".join((text or "").split())


def access(field: FieldNode) -> str:
    if field.get_property("onwrite") is not None:
        return "read, write 1 to clear"
    readable, writable = field.is_sw_readable, field.is_sw_writable
    return "read, write" if readable and writable else "read" if readable else "write"


def bits(field: FieldNode) -> str:
    return str(field.low) if field.width == 1 else f"{field.high}:{field.low}"


def page() -> dict[str, str]:
    lines = [f"<!-- {SPDX} -->", f"<!-- {ORIGIN} -->", f"# {plain(top().get_property('name'))}", ""]
    lines += [plain(top().get_property("desc")), "", "| offset | name | description |", "|---|---|---|"]
    for register in registers():
        link = f"[`{register.inst_name}`](#{register.inst_name})"
        lines.append(f"| {register.absolute_address:04x}h | {link} | {plain(register.get_property('name'))} |")
    for register in registers():
        lines += ["", f"## `{register.inst_name}`", "", f"{register.absolute_address:04x}h: "
                  f"{plain(register.get_property('name'))}. {plain(register.get_property('desc'))}".rstrip()]
        if isinstance(register, MemNode):
            continue
        lines += ["", "| bits | field | access | after reset | |", "|---|---|---|---|---|"]
        for field in register.fields():
            reset = field.get_property("reset")
            after = "" if reset is None else f"{reset:x}h" if reset > 9 else str(reset)
            lines.append(f"| {bits(field)} | `{field.inst_name}` | {access(field)} | {after} "
                         f"| {plain(field.get_property('desc'))} |")
    return {"docs/reference/registers.md": "\n".join(lines) + "\n"}


def main() -> int:
    parser = argparse.ArgumentParser(description="Registers: RTL, C header and documentation from one file")
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        texts = rtl(pathlib.Path(folder)) | header() | page()
    different = []
    for path, text in texts.items():
        target = ROOT / path
        if target.is_file() and target.read_text() == text:
            continue
        different.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    for path in different:
        print(f"{path}: {'differs from' if check else 'generated from'} rtl/regs/spate_regs.rdl")
    return 1 if check and different else 0


if __name__ == "__main__":
    sys.exit(main())
