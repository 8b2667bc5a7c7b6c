# SPDX-License-Identifier: Apache-2.0
"""What SystemVerilog says of a top: its parameters and ports, as slang elaborates them. The widths are kept as they are written,
and as numbers for one set of parameters."""

import functools
import re
from typing import NamedTuple

import filelist
from pyslang import DiagnosticEngine, ast, driver

NAME = re.compile(r"[A-Za-z_]\w*")
LITERAL = re.compile(r"\d[\d_]*|\d*'[hd][0-9a-fA-F_]+|\d+'b[01]+|\"[^\"]*\"")


class Parameter(NamedTuple):
    name: str
    kind: str  # as it is written: "int unsigned", "logic [63:0]", "bit", or "" for a string
    bits: int
    default: str  # as it is written
    value: int | str  # in this elaboration
    what: str  # the comment behind it

    @property
    def follows(self) -> bool:
        """Its default follows from other parameters, so a user need not know it."""
        return not LITERAL.fullmatch(self.default)


class Dimension(NamedTuple):
    text: str  # its size: a number, or an expression over the top's parameters
    size: int  # in this elaboration


class Port(NamedTuple):
    name: str
    direction: str  # "in", "out"
    dimensions: tuple[Dimension, ...]  # packed, outermost first; a port of one bit may have none
    what: str  # the comment behind it

    @property
    def bits(self) -> int:
        bits = 1
        for dimension in self.dimensions:
            bits *= dimension.size
        return bits


class Design(NamedTuple):
    top: str
    parameters: dict[str, Parameter]
    ports: dict[str, Port]


def compile_top(top: str, values: dict[str, int | str], extra: tuple[str, ...]) -> ast.Compilation:
    """`values` are written as Verilog has them. slang's warnings are the business of `make lint-rtl`."""
    paths = [str(filelist.ROOT / path) for path in filelist.needed_by(top, extra)]
    parser = driver.Driver()
    parser.addStandardArgs()
    values_set = [f'"-G{name}={value}"' for name, value in values.items()]
    words = ["slang", "-Wnone", "--top", top, *values_set, *(f'"{path}"' for path in paths)]
    understood = parser.parseCommandLine(" ".join(words), driver.CommandLineOptions()) and parser.processOptions()
    if not (understood and parser.parseAllSources()):
        raise SystemExit(f"slang cannot read the sources of {top}")
    compilation = parser.createCompilation()
    if wrong := [diagnostic for diagnostic in compilation.getAllDiagnostics() if diagnostic.isError()]:
        said = DiagnosticEngine.reportAll(compilation.sourceManager, wrong)
        raise SystemExit(f"slang cannot elaborate {top} with {values or 'its defaults'}:\n{said}")
    return compilation


def comment(compilation: ast.Compilation, location) -> str:
    """The comment behind a declaration, on its line."""
    manager = compilation.sourceManager
    line = manager.getSourceText(location.buffer).split("\n")[manager.getLineNumber(location) - 1]
    return line.partition("//")[2].strip()


def parameter(compilation: ast.Compilation, symbol: ast.ParameterSymbol) -> Parameter:
    declaration = symbol.syntax.parent
    kind = " ".join(str(declaration.type).split())
    value = symbol.value.value
    text = symbol.value.convertToStr().value if not kind else int(value)
    return Parameter(symbol.name, kind, symbol.type.bitWidth, str(symbol.syntax.initializer.expr).strip(), text,
                     comment(compilation, symbol.location))


def dimension(syntax, size: int, parameters: dict[str, Parameter]) -> Dimension:
    """A size without the top's parameters is a number: packages' names need not be known outside."""
    left, right = (re.sub(r"\s", "", str(side)) for side in (syntax.specifier.selector.left, syntax.specifier.selector.right))
    names = set(NAME.findall(left))
    if not names & set(parameters):
        return Dimension(str(size), size)
    if right != "0" or not names <= set(parameters):
        raise SystemExit(f"[{left}:{right}]: a port's range is [Size-1:0], where Size names only parameters of the top")
    return Dimension(left.removesuffix("-1") if left.endswith("-1") else f"{left}+1", size)


def port(compilation: ast.Compilation, symbol: ast.PortSymbol, parameters: dict[str, Parameter]) -> Port:
    data_type, dimensions = symbol.type, []
    for syntax in symbol.syntax.parent.header.dataType.dimensions:
        dimensions.append(dimension(syntax, data_type.fixedRange.width, parameters))
        data_type = data_type.elementType
    direction = {ast.ArgumentDirection.In: "in", ast.ArgumentDirection.Out: "out"}[symbol.direction]
    return Port(symbol.name, direction, tuple(dimensions), comment(compilation, symbol.location))


@functools.cache
def _elaborate(top: str, values: tuple[tuple[str, int | str], ...], extra: tuple[str, ...]) -> Design:
    compilation = compile_top(top, dict(values), extra)
    body = compilation.getRoot().topInstances[0].body
    parameters = {symbol.name: parameter(compilation, symbol) for symbol in body.parameters if not symbol.isLocalParam}
    ports = {symbol.name: port(compilation, symbol, parameters) for symbol in body.portList}
    return Design(top, parameters, ports)


def elaborate(top: str, values: dict[str, int | str] | None = None, extra: tuple[str, ...] = ()) -> Design:
    """A top with some parameters, the others with their defaults. `extra` are files that are not on the list."""
    return _elaborate(top, tuple(sorted((values or {}).items())), extra)
