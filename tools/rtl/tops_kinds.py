# SPDX-License-Identifier: Apache-2.0
"""The kinds of interfaces that rtl/top/interfaces.toml names: their signals, and what IP-XACT and Vivado call them."""

import functools
from typing import NamedTuple


class Signal(NamedTuple):
    """A signal of a bus. Its name in a port is the same in lower case."""

    name: str
    source: str  # "master", "slave": which side drives it
    width: int | None = None  # None: any
    needed: str = ""  # "both" sides have it; "slave": a master may do without
    constant: int | None = None  # what a master drives that has no such port. Tools take a bus without it for another kind


class Kind(NamedTuple):
    vlnv: str  # of the bus definition, "" if there is none
    signals: tuple[Signal, ...] = ()  # () : those that the top has
    protocol: str = ""  # Vivado's PROTOCOL


def channel(letter: str, protocol: str) -> list[Signal]:
    """The address channel of writes (AW) or reads (AR)."""
    signals = [Signal(f"{letter}ADDR", "master", needed="both"), Signal(f"{letter}PROT", "master", 3, constant=0),
               Signal(f"{letter}VALID", "master", 1, "both"), Signal(f"{letter}READY", "slave", 1, "both")]
    if protocol == "AXI4":
        signals += [Signal(f"{letter}ID", "master"), Signal(f"{letter}LEN", "master", 8, "slave", 0),
                    Signal(f"{letter}SIZE", "master", 3, "both"), Signal(f"{letter}BURST", "master", 2, "slave", 1),
                    Signal(f"{letter}LOCK", "master", 1, constant=0), Signal(f"{letter}CACHE", "master", 4, constant=0),
                    Signal(f"{letter}QOS", "master", 4), Signal(f"{letter}REGION", "master", 4)]
    return signals


def axi(protocol: str) -> tuple[Signal, ...]:
    lite = protocol == "AXI4LITE"
    signals = channel("AW", protocol) + channel("AR", protocol)
    signals += [Signal("WDATA", "master", 32 if lite else None, "both"), Signal("WSTRB", "master", 4 if lite else None, "both"),
                Signal("WVALID", "master", 1, "both"), Signal("WREADY", "slave", 1, "both"),
                Signal("BRESP", "slave", 2, "both"), Signal("BVALID", "slave", 1, "both"), Signal("BREADY", "master", 1, "both"),
                Signal("RDATA", "slave", 32 if lite else None, "both"), Signal("RRESP", "slave", 2, "both"),
                Signal("RVALID", "slave", 1, "both"), Signal("RREADY", "master", 1, "both")]
    if not lite:
        signals += [Signal("WLAST", "master", 1, "slave", 1), Signal("RLAST", "slave", 1, "slave"), Signal("BID", "slave"),
                    Signal("RID", "slave")]
    return tuple(signals)


def stream() -> tuple[Signal, ...]:
    return (Signal("TVALID", "master", 1, "both"), Signal("TREADY", "slave", 1, "both"), Signal("TDATA", "master", needed="both"),
            Signal("TKEEP", "master"), Signal("TLAST", "master", 1), Signal("TUSER", "master"))


# The hard block's configuration interface has a definition, but another one in each of the vendor's IPs.
KINDS = {
    "axi4": Kind("xilinx.com:interface:aximm:1.0", axi("AXI4"), "AXI4"),
    "axi4-lite": Kind("xilinx.com:interface:aximm:1.0", axi("AXI4LITE"), "AXI4LITE"),
    "axi4-stream": Kind("xilinx.com:interface:axis:1.0", stream()),
    "block-stream": Kind("xilinx.com:interface:axis:1.0", stream()),
    "block-config": Kind(""),
    "handshake": Kind("", (Signal("VALID", "master", 1, "both"), Signal("READY", "slave", 1, "both"))),
    "interrupt": Kind("xilinx.com:signal:interrupt:1.0", (Signal("INTERRUPT", "master", 1),)),
    "reset": Kind("xilinx.com:signal:reset:1.0", (Signal("RST", "master", 1),)),
    "signals": Kind(""),
}
CLOCK = "xilinx.com:signal:clock:1.0"
RESET = "xilinx.com:signal:reset:1.0"


@functools.cache
def signals_of(kind: str) -> dict[str, Signal]:
    return {signal.name: signal for signal in KINDS[kind].signals}
