# SPDX-License-Identifier: Apache-2.0
"""Values in the assembly: numbers, names, and + - * / % << >> & | ^ ~ of them. What depends on a parameter of the module has no
number here. It stays an expression of SystemVerilog."""

import ast
import dataclasses
import difflib
import operator
import re

TOKEN = re.compile(r"\s*(?:(?P<number>0x[0-9a-fA-F_]+|[0-9][0-9_]*)\b|(?P<name>[A-Za-z]\w*)(?P<select>\[[^\]]*\])?"
                   r"|(?P<operator><<|>>|[-+*/%&|^~()]))")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
             ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
             ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.Invert: operator.invert, ast.USub: operator.neg}


class Wrong(Exception):
    """What is wrong in a line of the assembly, and what to do."""


@dataclasses.dataclass(frozen=True)
class Value:
    number: int | None  # None: it depends on a parameter
    text: str  # in SystemVerilog; 32 bits
    names: frozenset[str] = frozenset()  # that it uses


def similar(name: str, known) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def evaluate(text: str, numbers: dict[str, int], symbols: set[str]) -> Value:
    """`numbers`: names with a value; `symbols`: parameters and what depends on them."""
    names, here, systemverilog, arithmetic, at = set(), False, [], [], 0
    text = text.strip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Wrong(f"`{text}` is no value: names, numbers and operators make one")
        at = match.end()
        if match["number"]:
            digits = match["number"].replace("_", "")
            amount = int(digits, 16 if digits.startswith("0x") else 10)
        elif match["name"]:
            name = match["name"]
            names.add(name)
            if name in symbols:
                here = True
                systemverilog.append(f"32'({name}{match['select'] or ''})")
                continue
            if name not in numbers or match["select"]:
                raise Wrong(f"`{name}` is no register, source, constant or parameter{similar(name, [*numbers, *symbols])}"
                            if name not in numbers else f"{name}{match['select']}: only a parameter can be selected from")
            amount = numbers[name]
        else:
            systemverilog.append(f" {match['operator']} ")
            arithmetic.append("//" if match["operator"] == "/" else match["operator"])
            continue
        systemverilog.append(f"32'd{amount}")
        arithmetic.append(str(amount))
    if here:
        return Value(None, "".join(systemverilog).strip(), frozenset(names))
    return Value(calculate(" ".join(arithmetic), text), "", frozenset(names))


def calculate(arithmetic: str, text: str) -> int:
    def of(node: ast.AST) -> int:
        match node:
            case ast.Expression(body):
                return of(body)
            case ast.Constant(int() as amount):
                return amount
            case ast.BinOp(left, kind, right):
                return OPERATORS[type(kind)](of(left), of(right))
            case ast.UnaryOp(kind, operand):
                return OPERATORS[type(kind)](of(operand))
        raise Wrong(f"`{text}` is no value")
    try:
        return of(ast.parse(arithmetic, mode="eval"))
    except (SyntaxError, KeyError, ZeroDivisionError, ValueError):
        raise Wrong(f"`{text}` is no value: names, numbers and operators make one") from None
