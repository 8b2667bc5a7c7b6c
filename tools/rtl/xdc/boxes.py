# SPDX-License-Identifier: Apache-2.0
"""The vendor's modules in a board's netlist. They are black boxes: the table says which clock their pins belong to."""

from collections.abc import Iterator

# {module: (the pin of its clock, the inputs that it takes as asynchronous ones)}. Pins of other modules, such as buffers and the
# MMCM, have no clock: no path begins or ends there, so that of LOCKED into a reset is not checked.
CLOCKS = {
    "pcie4_uscale_plus_0": ("user_clk", ("sys_reset",)),
    "axi_pcie_0": ("axi_aclk_out", ("axi_aresetn",)),
    "jtag_axi_0": ("aclk", ()),
    "ila_0": ("clk", ()),
}


def is_box(module: dict) -> bool:
    return int(module["attributes"].get("blackbox", "0"), 2) == 1


def pins(module: dict, instance) -> Iterator[tuple[str, str, str, int]]:
    """(pin, port, direction, bit) of each pin that has a clock and is connected."""
    if instance.module not in CLOCKS:
        return
    for port, bits in instance.ports.items():
        if port != CLOCKS[instance.module][0]:
            for index, bit in enumerate(bits):
                name = f"{instance.name}/{port}" + (f"[{index}]" if len(bits) > 1 else "")
                if bit is not None:
                    yield name, port, module["ports"][port]["direction"], bit


def of(instance, port: str) -> tuple[int, bool]:
    """The bit of the clock of a port, and whether the port is an asynchronous input."""
    clock, asynchronous = CLOCKS[instance.module]
    return instance.ports[clock][0], port in asynchronous
