# SPDX-License-Identifier: Apache-2.0
"""What the library needs of a design: one bridge, one window, memory. Each thing that is missing, double or out of reach ends
in a sentence that says what to do."""

import dataclasses

from hardware import FOUR_GIB, Bridge, Dma, Hardware, Unusable, Window

MIB = 1 << 20
PAGE_BYTES = 4096
WINDOW_MIN_BYTES = 16 << 10  # BAR 0 of a drive
BUSES = 256
IMAGE_MIN_BYTES = 16 * MIB
LENGTH_BITS_MIN = 21  # pieces of 1 MiB
# Where 32-bit processors reach logic.
LOW_APERTURE = {"zynq7000": "0x40000000 to 0xBFFFFFFF (M_AXI_GP0, M_AXI_GP1)",
                "zynqmp-r5": "0xA0000000 to 0xBFFFFFFF (M_AXI_HPM0_FPD), or from 0x80000000 on (M_AXI_HPM0_LPD)"}
PORT_PROCESSOR = {"zynq7000": "cortex-a9", "zynqmp": "cortex-a53", "zynqmp-r5": "cortex-r5", "versal": "cortex-a72"}
PORT_FAMILY = {"zynq7000": "zynq7000", "zynqmp": "zynqmp", "zynqmp-r5": "zynqmp", "versal": "versal"}


@dataclasses.dataclass
class Layout:
    memory: int
    memory_bytes: int
    queue: int
    queue_bytes: int
    ring: int
    ring_bytes: int


def check_family(hardware: Hardware, port: str):
    if hardware.families and PORT_FAMILY[port] not in hardware.families:
        raise Unusable(f"{hardware.path} is of a {', '.join(sorted(hardware.families))}, not of a {PORT_FAMILY[port]}. Give another "
                       "--port, or the file of the other platform.")


def check_processor(hardware: Hardware, port: str):
    """A file that names processors names this one. One without any passes ("")."""
    named = sorted(name for name in hardware.clocks if name)
    if named and PORT_PROCESSOR[port] not in named:
        raise Unusable(f"{hardware.path} is for {', '.join(map(str.title, named))}, not for {PORT_PROCESSOR[port].title()}. "
                       "Give xparameters.h of this processor's BSP, or its device tree.")


def processor_hz(hardware: Hardware, port: str) -> int:
    hz = hardware.clocks.get(PORT_PROCESSOR[port], hardware.clocks.get(""))
    if hz is None:
        raise Unusable(f"{hardware.path} does not say the processor's clock. Give xparameters.h of this processor's BSP.")
    return hz


def one(kind: str, found: list, wanted: str | None, option: str, none: str):
    """The only one, or the one that is asked for."""
    names = ", ".join(item.name for item in found)
    if wanted is not None:
        for item in found:
            if item.name.lower() == wanted.lower():
                return item
        raise Unusable(f"There is no {kind} {wanted}. The file has: {names or 'none'}.")
    if not found:
        raise Unusable(none)
    if len(found) > 1:
        raise Unusable(f"There are {len(found)} {kind}s: {names}. Say which one: {option} {found[0].name}.")
    return found[0]


def choose_bridge(hardware: Hardware, wanted: str | None) -> Bridge:
    bridge = one("bridge", hardware.bridges, wanted, "--bridge",
                 f"{hardware.path} has no PCIe bridge that this script knows (XDMA in bridge mode, AXI Memory Mapped to PCI Express, "
                 "AXI PCIe Gen3, QDMA, CPM). Check that the platform was made of the design with the bridge, and that the bridge is "
                 "mapped in the address editor for this processor. If it has another name, write design.h by hand: ports/zynqmp/"
                 "design.h explains each line.")
    if bridge.root_port is False:
        raise Unusable(f"{bridge.name} is an endpoint. Set its port type to Root Port of PCI Express Root Complex, and make the "
                       "platform again.")
    return bridge


def choose_last_bus(bridge: Bridge, last_bus: int | None) -> int:
    if bridge.control % MIB:
        raise Unusable(f"The control interface of {bridge.name} is at {bridge.control:#x}, which is no multiple of 1 MiB. Move it in "
                       "the address editor.")
    buses = BUSES if bridge.control_bytes is None else min(bridge.control_bytes // MIB, BUSES)
    if last_bus is not None:
        if not 1 <= last_bus < BUSES:
            raise Unusable(f"--last-bus {last_bus} is not between 1, where the drive is, and {BUSES - 1}.")
        if 2 <= buses <= last_bus:  # a file with less than two is taken for wrong
            raise Unusable(f"--last-bus {last_bus} is beyond the control interface of {bridge.name}, which has {bridge.control_bytes:#x} "
                           f"bytes, 1 MiB for each bus. Give {buses - 1} or less, or enlarge it in the address editor.")
        return last_bus
    if bridge.control_bytes is None:
        return 1
    if buses < 2:
        raise Unusable(f"The control interface of {bridge.name} has {bridge.control_bytes:#x} bytes. Each bus needs 1 MiB, and the "
                       "drive is on bus 1: give it 2 MiB or more in the address editor. If the file is wrong and the address editor "
                       "says more: --last-bus 1.")
    return buses - 1


def choose_window(bridge: Bridge, given: Window | None) -> Window:
    if given is not None:
        if given.bus + given.bytes > FOUR_GIB:
            raise Unusable(f"--window ends at {given.bus + given.bytes:#x} on the bus, above 4 GiB. BAR 0 of a drive that is not "
                           "prefetchable needs a window below: --window ADDRESS:BYTES:BUS_ADDRESS.")
        return given
    if not bridge.windows:
        raise Unusable(f"The file does not say which window {bridge.name} has. Take it from the address editor (BAR 0 of the bridge): "
                       "--window ADDRESS:BYTES, or --window ADDRESS:BYTES:BUS_ADDRESS.")
    fitting = [window for window in bridge.windows if window.bus + window.bytes <= FOUR_GIB and window.bytes >= WINDOW_MIN_BYTES]
    known = [window for window in fitting if window.cpu is not None]
    if known:
        return known[0]
    if any(window.cpu is None for window in bridge.windows):
        raise Unusable(f"The file does not say where the processor sees the window of {bridge.name}, only its address on the bus. "
                       "Take it from the address editor: --window ADDRESS:BYTES:BUS_ADDRESS.")
    if all(window.bytes < WINDOW_MIN_BYTES for window in bridge.windows):
        raise Unusable(f"The windows of {bridge.name} are smaller than 16 KiB, and BAR 0 of a drive does not fit. Enlarge AXI BAR 0.")
    raise Unusable(f"All windows of {bridge.name} have addresses on the bus above 4 GiB. BAR 0 of a drive that is not prefetchable "
                   "needs one below: set AXI BAR translation in the bridge, or move the AXI BAR.")


def choose_registers(port: str, bridge: Bridge, given: list[int] | None):
    """Of a Versal: address and size. Without a size they are among the registers of the processing system."""
    if port != "versal":
        if given:
            raise Unusable(f"--registers is for a Versal. The bridges of a {PORT_FAMILY[port]} have no second region of registers.")
        return
    if given:
        bridge.registers, bridge.registers_bytes = (given + [None])[:2]
    if bridge.in_logic and bridge.registers_bytes is None:
        raise Unusable(f"The file does not say where the registers of {bridge.name} are, or which size they have. Take the base address "
                       "and the range of S_AXI_LITE_CSR from the address editor: --registers ADDRESS:BYTES.")
    if bridge.registers is None:
        raise Unusable(f"The file does not say where the registers of {bridge.name} are. CPM5: 0xFCE20000 or 0xFCEA0000; CPM4: "
                       "0x600000000. Give it: --registers ADDRESS.")


def check_reach(port: str, bridge: Bridge, last_bus: int, window: Window):
    if port == "versal":
        if window.cpu != window.bus:
            raise Unusable(f"The window of {bridge.name} is at {window.cpu:#x} for the processor and at {window.bus:#x} on the bus. "
                           "Versal's bridges do not translate: make both equal.")
    if port not in LOW_APERTURE:
        return
    for what, end in ((f"control interface of {bridge.name}", bridge.control + (last_bus + 1) * MIB),
                      (f"window of {bridge.name}", window.cpu + window.bytes)):
        if end > FOUR_GIB:
            raise Unusable(f"The {what} ends at {end:#x}, above 4 GiB, and this processor has addresses of 32 bits. Move it in the "
                           f"address editor to {LOW_APERTURE[port]}.")


def choose_dma(hardware: Hardware, wanted: str | None) -> Dma | None:
    """None: the design has none, or none that records."""
    usable = [dma for dma in hardware.dmas if dma.s2mm]
    if not usable and wanted is None:
        return None
    dma = one("recording AXI DMA", usable, wanted, "--dma", "")
    if not dma.scatter_gather:
        raise Unusable(f"{dma.name} has no scatter-gather engine. Enable it in AXI DMA, or record without --dma: --dma none.")
    if dma.length_bits < LENGTH_BITS_MIN:
        raise Unusable(f"The buffer length register of {dma.name} has {dma.length_bits} bits: the largest piece would be "
                       f"{(1 << dma.length_bits) - 1} bytes. Set its width to 26 in AXI DMA, or leave it out: --dma none.")
    return dma


def choose_memory(hardware: Hardware, port: str, ring_bytes: int, queue_bytes: int, memory_bytes: int) -> Layout:
    """At the end of the largest memory below 4 GiB, where spate_vitis_not_cached() can map the parts. On a Cortex-R5 each takes
    one region of the MPU, at a multiple of its size. A Cortex-A53 and a Cortex-A72 map blocks of 2 MiB, a Cortex-A9 of 1 MiB.
    The ports in ports/ map any multiple of 4 KiB."""
    align = max(ring_bytes, queue_bytes) if port == "zynqmp-r5" else 2 * MIB
    reachable = [(start, min(size, FOUR_GIB - start)) for start, size in hardware.memory if start < FOUR_GIB]
    if not reachable:
        raise Unusable(f"{hardware.path} has no DDR below 4 GiB. Write DESIGN_QUEUE and DESIGN_RING by hand, or give the file of a "
                       "platform with DDR.")
    start, size = max(reachable, key=lambda pair: pair[1])
    ring = (start + size - ring_bytes) // align * align
    queue = ring - queue_bytes
    memory = queue - memory_bytes
    if memory < start + IMAGE_MIN_BYTES:
        raise Unusable(f"The memory at {start:#x} has {size // MIB} MiB, too few for a ring of {ring_bytes // MIB} MiB, queues and a "
                       "program. Give a smaller ring, a power of two: --ring-mib 64.")
    return Layout(memory, memory_bytes, queue, queue_bytes, ring, ring_bytes)
