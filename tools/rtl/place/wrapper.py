# SPDX-License-Identifier: Apache-2.0
"""A module around a design that leaves three pins, so that a design with thousands of ports fits a package.

Each input comes from a register of one long shift register. Each output ends in a register; a chain of XORs folds these
registers into one output, so that none is removed. So all paths of the design begin and end at registers. All clocks are one.
"""

import re
from typing import NamedTuple

TOP = "place_wrapper"
INSTANCE = "u_top"
CLOCK = re.compile(r"(^|_)a?clk(_i)?$")


class Port(NamedTuple):
    name: str
    direction: str
    bits: int


def top_of(modules: dict) -> str:
    """The name of the top module in Yosys's JSON."""
    return next(name for name, module in modules.items() if int(module["attributes"].get("top", "0"), 2))


def ports_of(module: dict) -> list[Port]:
    """The ports of a module of Yosys's JSON."""
    return [Port(name, port["direction"], len(port["bits"])) for name, port in module["ports"].items()]


def is_clock(port: Port) -> bool:
    return port.direction == "input" and CLOCK.search(port.name) is not None


def slices(ports: list[Port], vector: str) -> list[str]:
    """Connects each port to its own bits of a vector."""
    lines, first = [], 0
    for port in ports:
        lines.append(f".{port.name}({vector}[{first} +: {port.bits}])")
        first += port.bits
    return lines


def verilog(module: str, parameters: dict[str, int | str], ports: list[Port]) -> str:
    """The wrapper's text. Raises SystemExit if the design has no clock, no input or no output, or a port that is both."""
    clocks = [port for port in ports if is_clock(port)]
    inputs = [port for port in ports if port.direction == "input" and not is_clock(port)]
    outputs = [port for port in ports if port.direction == "output"]
    if not (clocks and inputs and outputs) or len(clocks) + len(inputs) + len(outputs) != len(ports):
        raise SystemExit(f"{module} cannot be placed alone: it needs a clock (a name that ends in clk or clk_i), other inputs and "
                         "outputs, and no inout")
    values = ", ".join(f".{name}({value})" for name, value in parameters.items())
    connections = [*(f".{port.name}({{{port.bits}{{clk}}}})" for port in clocks), *slices(inputs, "inputs"),
                   *slices(outputs, "outputs")]
    joined = ",\n      ".join(connections)
    return f"""module {TOP} (input wire clk, input wire si, output wire so);
  localparam integer Inputs = {sum(port.bits for port in inputs)};
  localparam integer Outputs = {sum(port.bits for port in outputs)};
  reg [Inputs-1:0] inputs;
  wire [Outputs-1:0] outputs;
  reg [Outputs-1:0] registered, folded;
  always @(posedge clk) begin
    inputs <= {{inputs[Inputs-2:0], si}};
    registered <= outputs;
    folded <= registered ^ {{folded[Outputs-2:0], 1'b0}};
  end
  assign so = folded[Outputs-1];
  {module} {f"#({values}) " if values else ""}{INSTANCE} (
      {joined});
endmodule
"""
