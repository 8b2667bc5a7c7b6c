# SPDX-License-Identifier: Apache-2.0
"""Expressions of -filter: {NAME =~ *_reg && (ASYNC_REG == TRUE || !IS_SEQUENTIAL)}, and Vivado's patterns."""

import functools
import re
from collections.abc import Callable

from .interpreter import Wrong

TOKEN = re.compile(r"\s*(?:(&&|\|\||\(|\)|==|!=|=~|!~|!)|\"([^\"]*)\"|\{([^}]*)\}|([^\s()!=&|~\"]+))")


@functools.cache
def glob(pattern: str, levels: bool) -> re.Pattern:
    """A pattern with * and ?. Brackets stand for themselves. With `levels`, * does not pass a /."""
    anything = "[^/]" if levels else "."
    parts = {"*": f"{anything}*", "?": anything}
    return re.compile("".join(parts.get(letter) or re.escape(letter) for letter in pattern))


def matcher(expression: str, value: Callable[[str, str], str]) -> Callable[[str], bool]:
    """A function that tells whether an object passes. `value(object, property)` is a property's value."""
    tokens = tokenise(expression)
    test = either(tokens, value)
    if tokens:
        raise Wrong(f"-filter: {tokens[0]!r} was not expected")
    return test


def tokenise(expression: str) -> list[str]:
    tokens, position = [], 0
    while expression[position:].strip():
        match = TOKEN.match(expression, position)
        if not match:
            raise Wrong(f"-filter: {expression[position:]!r} is not understood")
        tokens.append(next(group for group in match.groups() if group is not None))
        position = match.end()
    return tokens


def either(tokens: list[str], value) -> Callable[[str], bool]:
    tests = [both(tokens, value)]
    while tokens[:1] == ["||"]:
        tokens.pop(0)
        tests.append(both(tokens, value))
    return lambda thing: any(test(thing) for test in tests)


def both(tokens: list[str], value) -> Callable[[str], bool]:
    tests = [single(tokens, value)]
    while tokens[:1] == ["&&"]:
        tokens.pop(0)
        tests.append(single(tokens, value))
    return lambda thing: all(test(thing) for test in tests)


def single(tokens: list[str], value) -> Callable[[str], bool]:
    if not tokens:
        raise Wrong("-filter: it ends too early")
    word = tokens.pop(0)
    if word == "!":
        inner = single(tokens, value)
        return lambda thing: not inner(thing)
    if word == "(":
        inner = either(tokens, value)
        if tokens[:1] != [")"]:
            raise Wrong("-filter: a ) is missing")
        tokens.pop(0)
        return inner
    if tokens[:1] and tokens[0] in ("==", "!=", "=~", "!~"):
        operator, operand = tokens.pop(0), tokens.pop(0) if tokens else ""
        return comparison(word, operator, operand, value)
    return lambda thing: value(thing, word).upper() in ("1", "TRUE")


def comparison(name: str, operator: str, operand: str, value) -> Callable[[str], bool]:
    if operator in ("==", "!="):
        return lambda thing: (value(thing, name).upper() == operand.upper()) == (operator == "==")
    pattern = glob(operand, False)
    return lambda thing: (pattern.fullmatch(value(thing, name)) is not None) == (operator == "=~")
