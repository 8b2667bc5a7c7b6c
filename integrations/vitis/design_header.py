#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the design header (design.h) of a board: of xparameters.h, classic or of the newer tools, or of a device tree."""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "design"))

import choose  # noqa: E402
import device_tree  # noqa: E402
import xparameters  # noqa: E402
from hardware import Hardware, Unusable, Window  # noqa: E402

MIB = 1 << 20
QUEUE_BYTES = MEMORY_BYTES = 16 * MIB
RING_MIN_MIB = 2  # a Cortex-A53 maps blocks of 2 MiB
PS_CLOCK_HZ = 33333333
PAGE_TABLES = {"zynqmp": 8, "versal": 9}
# Pins that PERST# can have (UG585, chapter 14; UG1085, chapter 27; AM011, PMC_GPIO). AXI GPIO: two channels of 32.
PINS = {"zynq7000": {"mio": 54, "emio": 64}, "zynqmp": {"mio": 78, "emio": 96}, "versal": {"mio": 52, "emio": 64}}
AXI_GPIO_PINS = 64
PERST_KINDS = {"mio": "PERST_BY_MIO", "emio": "PERST_BY_EMIO", "gpio": "PERST_BY_AXI_GPIO"}


class Parser(argparse.ArgumentParser):
    """One sentence instead of the usage."""

    def error(self, message):
        self.exit(2, f"design_header: {message}\n")


def ring_mib(text: str) -> int:
    value = number(text)
    if value < RING_MIN_MIB or value & (value - 1):
        raise argparse.ArgumentTypeError(f"{text} is no power of two from {RING_MIN_MIB} on")
    return value


def number(text: str) -> int:
    """Decimal, or hexadecimal with 0x."""
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,16}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


def addresses(text: str, form: str, counts: tuple[int, ...], multiple: int) -> list[int]:
    """Numbers between colons. The second one is a size."""
    words = [number(word) for word in text.split(":")] if len(text.split(":")) in counts else []
    if not words:
        raise argparse.ArgumentTypeError(f"{text} is not {form}")
    if any(word % multiple for word in words):
        raise argparse.ArgumentTypeError(f"{text}: all numbers of {form} must be multiples of {multiple:#x}")
    if len(words) > 1 and words[1] == 0:
        raise argparse.ArgumentTypeError(f"{text} has no bytes")
    return words


def window(text: str) -> Window:
    """BAR 0 of a drive has 16 KiB, at a multiple of them."""
    words = addresses(text, "ADDRESS:BYTES[:BUS]", (2, 3), choose.WINDOW_MIN_BYTES)
    return Window(words[0], words[2] if len(words) > 2 else words[0], words[1], "--window")


def registers(text: str) -> list[int]:
    return addresses(text, "ADDRESS[:BYTES]", (1, 2), choose.PAGE_BYTES)


def arguments():
    parser = Parser(description=__doc__)
    parser.add_argument("file", help="xparameters.h of the BSP, or a device tree (.dts)")
    parser.add_argument("--port", required=True, choices=sorted(choose.PORT_FAMILY), help="the processor that runs the library")
    parser.add_argument("--bridge", metavar="NAME", help="which bridge, if there are several")
    parser.add_argument("--window", metavar="ADDRESS:BYTES[:BUS]", type=window, help="the window, if the file does not say it")
    parser.add_argument("--registers", metavar="ADDRESS[:BYTES]", type=registers, help="Versal: the bridge's own registers")
    parser.add_argument("--last-bus", metavar="N", type=number, help="the last bus that the control interface reaches")
    parser.add_argument("--dma", metavar="NAME", help="which AXI DMA records, if there are several; none: leave it out")
    parser.add_argument("--perst", metavar="mio:PIN|emio:PIN|gpio:NAME:PIN[:high]",
                        help="what releases PERST#; high: an inverter is behind the pin")
    parser.add_argument("--ring-mib", metavar="MIB", type=ring_mib, default=256, help="size of the ring, a power of two")
    parser.add_argument("-o", "--output", metavar="FILE", help="the header to write; without it, standard output")
    return parser.parse_args()


def read(path: str) -> Hardware:
    return device_tree.read(path) if path.endswith((".dts", ".dtsi")) else xparameters.read(path)


def perst_lines(hardware: Hardware, port: str, text: str | None) -> list[tuple[str, str]]:
    if text is None:
        return [("DESIGN_PERST", "PERST_BY_NOTHING"), ("DESIGN_PERST_PIN", "0"), ("DESIGN_PERST_ACTIVE_HIGH", "false")]
    kind, *words = text.split(":")
    high = words[-1:] == ["high"]
    words = words[:-1] if high else words
    if kind not in PERST_KINDS or len(words) != (2 if kind == "gpio" else 1) or not re.fullmatch("[0-9]{1,3}", words[-1], re.ASCII):
        raise Unusable(f"--perst {text} is none of mio:PIN, emio:PIN, gpio:NAME:PIN, each with :high or without.")
    pin, pins = int(words[-1]), AXI_GPIO_PINS if kind == "gpio" else PINS[choose.PORT_FAMILY[port]][kind]
    if pin >= pins:
        raise Unusable(f"--perst {text}: the pins are 0 to {pins - 1}.")
    lines = [("DESIGN_PERST", PERST_KINDS[kind]), ("DESIGN_PERST_PIN", str(pin)), ("DESIGN_PERST_ACTIVE_HIGH", str(high).lower())]
    if kind == "gpio":
        known = {name.lower(): address for name, address in hardware.gpios.items()}
        if words[0].lower() not in known:
            raise Unusable(f"There is no AXI GPIO {words[0]}. The file has: {', '.join(sorted(hardware.gpios)) or 'none'}.")
        lines += [("DESIGN_PERST_AXI_GPIO", f"{known[words[0].lower()]:#x}"), ("DESIGN_PERST_OTHER_OUTPUTS", "0")]
    return lines


def header(hardware: Hardware, asked) -> str:
    choose.check_family(hardware, asked.port)
    choose.check_processor(hardware, asked.port)
    bridge = choose.choose_bridge(hardware, asked.bridge)
    choose.choose_registers(asked.port, bridge, asked.registers)
    last_bus = choose.choose_last_bus(bridge, asked.last_bus)
    window = choose.choose_window(bridge, asked.window)
    choose.check_reach(asked.port, bridge, last_bus, window)
    dma = None if asked.dma == "none" else choose.choose_dma(hardware, asked.dma)
    layout = choose.choose_memory(hardware, asked.port, asked.ring_mib * MIB, QUEUE_BYTES, MEMORY_BYTES)

    unknown = " The file does not say\n * whether it is a root port: look at its port type in Vivado." if bridge.root_port is None else ""
    parts = [(f"The bridge. Its control interface, and the last bus that this reaches.{unknown}",
              [("DESIGN_BRIDGE_CONTROL", f"{bridge.control:#x}"), ("DESIGN_BRIDGE_LAST_BUS", str(last_bus))])]
    if asked.port == "versal":
        size = [("DESIGN_BRIDGE_REGISTERS_BYTES", f"{bridge.registers_bytes:#x}")] if bridge.registers_bytes else []
        parts.append(("The bridge's own registers.", [("DESIGN_BRIDGE_REGISTERS", f"{bridge.registers:#x}"), *size]))
    parts += [(f"The window to the drive's registers: {window.note}.",
               [("DESIGN_BRIDGE_WINDOW", f"{window.cpu:#x}"), ("DESIGN_BRIDGE_WINDOW_BUS", f"{window.bus:#x}"),
                ("DESIGN_BRIDGE_WINDOW_BYTES", f"{window.bytes:#x}")])]
    parts.append(("What releases PERST# of the slot (ports/common/xilinx/perst.h).", perst_lines(hardware, asked.port, asked.perst)))
    if hardware.uart is not None:
        parts.append(("Console.", [("DESIGN_UART", f"{hardware.uart:#x}")]))
    clocks = [("DESIGN_PS_CLOCK_HZ", str(PS_CLOCK_HZ))] if asked.port == "zynq7000" else []
    if asked.port in ("zynq7000", "zynqmp-r5"):
        hz = choose.processor_hz(hardware, asked.port)
        parts.append(("Clocks: the processor's, and on a Zynq-7000 the oscillator at PS_CLK, which the file does not say."
                      if clocks else "The processor's clock.", [("DESIGN_CPU_HZ", str(hz)), *clocks]))
    parts.append(("DDR. Take it out of the memory of lscript.ld: nothing of a program may be in it.",
                  [("DESIGN_MEMORY", f"{layout.memory:#x}"), ("DESIGN_MEMORY_BYTES", f"{layout.memory_bytes:#x}"),
                   ("DESIGN_QUEUE", f"{layout.queue:#x}"), ("DESIGN_QUEUE_BYTES", f"{layout.queue_bytes:#x}"),
                   ("DESIGN_RING", f"{layout.ring:#x}"), ("DESIGN_RING_BYTES", f"{layout.ring_bytes:#x}")]))
    if dma is not None:
        parts.append((f"AXI DMA: {dma.name}.", [("DESIGN_DMA", f"{dma.address:#x}"), ("DESIGN_DMA_LENGTH_BITS", str(dma.length_bits)),
                                                ("DESIGN_DMA_ADDRESS_BITS", str(dma.address_bits))]))
    if asked.port in PAGE_TABLES:
        parts.append(("For ports/: page tables of 4 KiB. The board says when they are too few.",
                      [("DESIGN_PAGE_TABLES", str(PAGE_TABLES[asked.port]))]))
    text = "".join(f"\n/* {comment} */\n" + "".join(f"#define {name} {value}\n" for name, value in lines) for comment, lines in parts)
    return (f"/* Made by design_header.py of {pathlib.Path(hardware.path).name}, bridge {bridge.name}, for {asked.port}. Check it with "
            f"the address editor.\n * ports/zynqmp/design.h of Spate explains each line. */\n#ifndef SPATE_PORTS_DESIGN_H\n"
            f"#define SPATE_PORTS_DESIGN_H\n{text}\n#endif\n")


def main() -> int:
    asked = arguments()
    try:
        text = header(read(asked.file), asked)
    except OSError as error:
        print(f"design_header: {error.strerror}: {error.filename}", file=sys.stderr)
        return 1
    except Unusable as unusable:
        print(f"design_header: {unusable}", file=sys.stderr)
        return 1
    if not asked.output:
        print(text, end="")
        return 0
    try:
        pathlib.Path(asked.output).write_text(text)
    except OSError as error:
        print(f"design_header: {asked.output} cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
