# SPDX-License-Identifier: Apache-2.0
"""Rules for the gateware's sources that no linter here has. Each returns its findings, with file and line.

Selects of call results (`f(x)[0]`, `f(x).field`, also of casts and parentheses) are in no production of IEEE 1800-2017, A.8.4.
Verilator, slang and Verible accept them; simulators are reported to reject them.

`default_nettype none` makes a misspelt name an error in every tool. With it an input needs a net type of its own: without one,
`input logic` is a net of the default type (23.2.2.3), which Vivado and Questa refuse. At the end of the file the default is
back, because the directive continues into the next file, and vendors' sources need it.
"""

import pathlib
import re

import filelist

BLANK = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
# A method's call is no select.
SELECT = re.compile(r"\)\s*(?:\[|\.\s*[A-Za-z_]\w*\b(?!\s*\())")
INPUT = re.compile(r"\b(?:input|inout)\s+(?!\s|wire\b|var\b)")
NONE, WIRE = "`default_nettype none", "`default_nettype wire"
MODULE = re.compile(r"^(?:\(\*[^\n]*\*\)\n)?(?:module|package)\b.*?^end(?:module|package)\b", re.M | re.S)


def bare(text: str) -> str:
    """The text without comments and strings. Lines keep their numbers."""
    return BLANK.sub(lambda match: "\n" * match[0].count("\n") or " ", text)


def found(path: str, text: str, at: int, what: str) -> str:
    return f"{path}:{text.count(chr(10), 0, at) + 1}: {what}"


def selects(path: str, text: str) -> list[str]:
    code = bare(text)
    return [found(path, code, match.start(), "a select of the result of a call, a cast or parentheses: name the result first")
            for match in SELECT.finditer(code)]


def nettype(path: str, text: str) -> list[str]:
    code = bare(text)
    findings = [found(path, code, match.end(), "an input without `wire` or `var`") for match in INPUT.finditer(code)]
    if MODULE.sub("|", code).split() != [*NONE.split(), "|", *WIRE.split()]:
        findings.append(f"{path}: must have {NONE} before its module or package, {WIRE} behind it, and nothing else")
    return findings


def with_nettype(text: str) -> str:
    """A generated file that keeps the rule. Its inputs without a net type are unpacked structs, of which few tools make nets."""
    text = INPUT.sub(lambda match: f"{match[0]}var ", text)
    return MODULE.sub(lambda match: f"{NONE}\n\n{match[0]}\n\n{WIRE}", text)


def order(paths: tuple[str, ...]) -> list[str]:
    """Each file after those whose modules and packages it names."""
    place = {pathlib.PurePath(path).stem: index for index, path in enumerate(paths)}
    return [f"rtl/spate.f: {path} is before {paths[place[name]]}, which it uses"
            for index, path in enumerate(paths) for name in sorted(filelist.names_used(path)) if place.get(name, 0) > index]


def findings(paths: list[str]) -> list[str]:
    texts = [(path, (filelist.ROOT / path).read_text()) for path in paths]
    return [finding for path, text in texts for rule in (selects, nettype) for finding in rule(path, text)]
