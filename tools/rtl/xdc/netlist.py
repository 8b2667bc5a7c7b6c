# SPDX-License-Identifier: Apache-2.0
"""A design as a timing analyser sees it: flip-flops of one bit, memories, ports, and which bits each bit depends on without a
clock edge. Bits have one number in the whole design, through all of the hierarchy."""

import dataclasses
import re

from . import boxes, names
from .through import depends

DRIVER = "$driver$"


@dataclasses.dataclass(eq=False)
class Cell:
    """A flip-flop or a primitive of a memory. `pins` are its inputs, but for the clock: {pin: bits}. Of a vendor's module, each
    pin with a clock is a cell of its own, with the pin's name."""

    name: str
    kind: str  # "flop", "memory" or "box"
    clock: int | None
    clock_pin: str
    pins: dict[str, list[int]]
    outputs: dict[str, list[int]]
    attributes: dict[str, str]
    asynchronous: tuple[str, ...] = ()  # of the pins


@dataclasses.dataclass
class Port:
    name: str
    direction: str
    bit: int | None


@dataclasses.dataclass
class Instance:
    name: str
    module: str
    ports: dict[str, list[int | None]]


def plain(module: str) -> str:
    """A module's name without the place of the instance, which slang appends."""
    return re.split(r"[$\\]", module.lstrip("\\"))[0]


class Design:
    def __init__(self, modules: dict, top: str):
        self.top = top
        self.cells: dict[str, Cell] = {}
        self.ports: dict[str, Port] = {}
        self.instances: dict[str, Instance] = {}
        self.nets: dict[str, int] = {}
        self.sources: dict[int, list[int]] = {}  # of a bit that logic drives
        self.formulas: dict[int, tuple] = {}  # the same: (type, place in the output, inputs), for a comparison
        self._modules, self._bits = modules, 0
        self._add("", modules[top], {})
        self._add_ports(modules[top])

    def _add_ports(self, module: dict) -> None:
        for name, port in module["ports"].items():
            for index, bit in enumerate(port["bits"]):
                bit_name = name if len(port["bits"]) == 1 else f"{name}[{index}]"
                self.ports[bit_name] = Port(bit_name, port["direction"], self.nets[bit_name] if isinstance(bit, int) else None)

    def _add(self, path: str, module: dict, local: dict[int, int | None]) -> None:
        """Adds a module's contents. `local` maps those of its bits that the parent knows, and then all."""
        def bits(connection: list) -> list[int | None]:
            return [number(bit) for bit in connection]

        def number(bit: int | str) -> int | None:
            if not isinstance(bit, int):
                return None
            if bit not in local:
                self._bits += 1
                local[bit] = self._bits
            return local[bit]

        before = f"{path}/" if path else ""
        for name, net in module["netnames"].items():
            if not net["hide_name"]:
                for index, bit in enumerate(bits(net["bits"])):
                    self.nets[before + (name if len(net["bits"]) == 1 else f"{name}[{index}]")] = bit
        for name, cell in module["cells"].items():
            connections = {port: bits(connection) for port, connection in cell["connections"].items()}
            if cell["type"] in self._modules:
                inner = self._modules[cell["type"]]
                self.instances[before + name] = Instance(before + name, plain(cell["type"]), connections)
                inside = {bit: outer for port, outers in connections.items()
                          for bit, outer in zip(inner["ports"][port]["bits"], outers) if isinstance(bit, int)}
                if boxes.is_box(inner):
                    self._add_box(self.instances[before + name])
                else:
                    self._add(before + name, inner, inside)
            else:
                self._add_cell(before, name, cell, connections, module)

    def _add_box(self, instance: Instance) -> None:
        """What is inside is not known: paths begin at its outputs and end at its inputs, in the clock of the module."""
        for pin, port, direction, bit in boxes.pins(self._modules[instance.module], instance):
            clock, asynchronous = boxes.of(instance, port)
            if direction == "output":
                self.cells[pin] = Cell(pin, "box", clock, "C", {}, {"Q": [bit]}, {})
            else:
                end = "CLR" if asynchronous else "D"
                self.cells[pin] = Cell(pin, "box", clock, "C", {end: [bit]}, {}, {}, ("CLR",) if asynchronous else ())

    def _add_cell(self, before: str, name: str, cell: dict, bits: dict, module: dict) -> None:
        kind = cell["type"]
        if kind in ("$dff", "$adff", "$aldff"):
            self._add_flops(before, name, cell, bits, module)
        elif kind == "$mem_v2":
            self._add_memory(before, name, cell, bits)
        else:
            constants = cell["connections"]
            for output, inputs, place in depends(cell, bits):
                self.sources[output] = [bit for bit in inputs if bit is not None]
                self.formulas[output] = (kind, place, bits, constants)

    def _add_flops(self, before: str, name: str, cell: dict, bits: dict, module: dict) -> None:
        if not name.startswith(DRIVER):
            raise SystemExit(f"{before}{name}: a flip-flop without the name of a signal; see tools/rtl/xdc/netlist.py")
        signal = name.removeprefix(DRIVER)
        attributes = module["netnames"].get(re.split(r"[.\[]", signal)[0], {}).get("attributes", {})
        if "CLK" not in bits or int(cell["parameters"]["CLK_POLARITY"], 2) != 1:
            raise SystemExit(f"{before}{name}: a flip-flop of a falling edge is not supported")
        reset = bits.get("ARST") or bits.get("ALOAD")
        values = cell["connections"].get("AD") or [*reversed(cell["parameters"].get("ARST_VALUE", ""))]
        for index, flop in enumerate(names.registers(signal, len(bits["Q"]))):
            pins, asynchronous = {"D": [bits["D"][index]]}, ()
            if reset:
                if values[index] not in ("0", "1"):
                    raise SystemExit(f"{before}{flop}: an asynchronous load is not supported")
                asynchronous = ("CLR" if values[index] == "0" else "PRE",)
                pins[asynchronous[0]] = reset
            self.cells[before + flop] = Cell(before + flop, "flop", bits["CLK"][0], "C", pins, {"Q": [bits["Q"][index]]},
                                             attributes, asynchronous)

    def _add_memory(self, before: str, name: str, cell: dict, bits: dict) -> None:
        """Reads are asynchronous, as elaboration leaves them: a register after the memory is one of its own."""
        value = {key: int(number, 2) for key, number in cell["parameters"].items() if key != "MEMID" and set(number) <= {"0", "1"}}
        width, depth, ports = value["WIDTH"], value["SIZE"], value["RD_PORTS"]
        address = value["ABITS"]
        if value["RD_CLK_ENABLE"] != 0:
            raise SystemExit(f"{before}{name}: a memory with a clocked read port is not supported")
        for port in range(ports):
            index = bits["RD_ADDR"][port * address:(port + 1) * address]
            for bit in range(width):
                output = bits["RD_DATA"][port * width + bit]
                if output is not None:
                    self.sources[output] = [source for source in index if source is not None]
                    self.formulas[output] = ("$mem_v2", (name, port, bit), {"A": index}, {"A": index})
        if value["WR_PORTS"] == 0:
            return
        if len(set(bits["WR_CLK"])) != 1:
            raise SystemExit(f"{before}{name}: a memory that two clocks write is not supported")
        for primitive, held in names.memory(name, depth, width):
            inputs = {pin: bits[port] for pin, port in (("DI", "WR_DATA"), ("ADDR", "WR_ADDR"), ("WE", "WR_EN"))}
            outputs = {"DO": [bits["RD_DATA"][port * width + bit] for port in range(ports) for bit in held]}
            self.cells[before + primitive] = Cell(before + primitive, "memory", bits["WR_CLK"][0], "CLK", inputs, outputs,
                                                  cell["attributes"])
