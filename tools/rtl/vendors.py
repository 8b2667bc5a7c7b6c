# SPDX-License-Identifier: Apache-2.0
"""Rules for what Verilator, slang and Yosys accept, and a vendor's synthesis excludes or is reported to get wrong. The page
docs/use/gateware.md, "What the vendors' tools accept", has the document or the report for each. No vendor's tool was run.

What only verification sees, below `ifdef FORMAL, is free.
"""

import json
import pathlib
import re
import tempfile

import filelist
import program
from rules import bare, found

PARAMETER_BITS_MAX = 1024  # a tool prints a parameter's value in each message that names the instance

# What | what to write instead
CONSTRUCTS = [
    (r"\binside\b", "`inside`: compare with each value by ==, joined with ||"),
    (r"\{\s*(?:<<|>>)", "a streaming operator: a loop"),
    (r"\bstring\b", "`string`: a parameter without a type whose default is a text"),
    (r"\bunique0\b|\b(?:unique|priority)\s+if\b", "unique0, or unique or priority before `if`: `unique case`, or a plain `if`"),
    (r"\bcase[xz]?\s*\(\s*1(?:'b1)?\s*\)", "a `case` of a constant: if ... else if"),
    (r"\bunion\b", "a union: a struct, or a vector of which parts are selected"),
    (r"\bparameter\s+type\b|\btype\s*\(", "a type parameter, or the operator `type`: a width as a parameter"),
    (r"\b(?:alias|fork|force|release|wait|deassign)\b|\$cast\b",
     "alias, $cast, fork, wait, force, release or deassign: an assign, or a clocked process"),
]
LOCALPARAM = "a localparam among a module's parameters: a parameter that no instance sets"
OUTER = "a function that reads `{0}` of its module: give it as an argument, or name the result with an assign"
MODULE = re.compile(r"\bmodule\s+\w+[^;(#]*(?:;[^;(#]*)*#\s*\(")  # imports end with a semicolon
FUNCTION = re.compile(r"\bfunction\b(?P<head>[^;]*);(?P<body>.*?)\bendfunction\b", re.S)
NAME = re.compile(r"(?<![.'\w`$])[a-z][a-z0-9_]*\b(?!\s*(?:'|\(|::))")
DECLARED = re.compile(r"\b([a-z]\w*)\s*(?=[,)=;])")
KEYWORDS = frozenset("""automatic begin bit byte case casez default else end endcase for if int integer input logic longint output
    priority return shortint signed unique unsigned void""".split())


def synthesised(text: str) -> str:
    """The code without comments and strings, and without what only verification sees. Lines keep their numbers."""
    lines, hidden = [], []
    for line in bare(text).split("\n"):
        directive, *words = line.split() or [""]
        if directive in ("`ifdef", "`ifndef"):
            hidden.append((directive, words[0]) == ("`ifdef", "FORMAL"))
        elif directive == "`else":
            hidden[-1] = False
        elif directive == "`endif":
            hidden.pop()
        lines.append("" if directive.startswith("`") or any(hidden) else line)
    return "\n".join(lines)


def why(what: str) -> str:
    return f"a vendor's synthesis does not accept {what} (tools/rtl/vendors.py)"


def constructs(path: str, text: str) -> list[str]:
    code = synthesised(text)
    return [found(path, code, match.start(), why(what)) for pattern, what in CONSTRUCTS for match in re.finditer(pattern, code)]


def localparams(path: str, text: str) -> list[str]:
    code, findings = synthesised(text), []
    for module in MODULE.finditer(code):
        end, depth = module.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        findings += [found(path, code, module.end() + match.start(), why(LOCALPARAM))
                     for match in re.finditer(r"\blocalparam\b", code[module.end():end])]
    return findings


def outer_names(path: str, text: str) -> list[str]:
    """Signals have names in small letters, constants and types of values do not: what a function reads besides its arguments and
    its own variables is the module's. Quartus excludes it, and a continuous assignment does not follow it."""
    code, findings = synthesised(text), []
    for function in FUNCTION.finditer(code):
        own = set(DECLARED.findall(function["head"] + ";"))
        own |= {name for line in re.findall(r"\b(?:automatic|logic|int|bit|\w+_t)\b[^;]*", function["body"])
                for name in re.findall(r"([a-z]\w*)\s*(?==|$)", line)}
        for match in NAME.finditer(function["body"]):
            if match[0] not in own | KEYWORDS and not match[0].endswith(("_t", "_e")):
                findings.append(found(path, code, function.start("body") + match.start(), why(OUTER.format(match[0]))))
    return findings


def findings(paths: list[str]) -> list[str]:
    texts = [(path, (filelist.ROOT / path).read_text()) for path in paths]
    return [finding for path, text in texts for rule in (constructs, localparams, outer_names) for finding in rule(path, text)]


# ---- in the elaborated design ----

def wide_parameters(top: str, parameters: dict[str, int | str], sources: list[str]) -> list[str]:
    """The parameters of all instances below a top that have too many bits."""
    with tempfile.TemporaryDirectory() as folder:
        program.run("tools/rtl/verilator", "--json-only", "--quiet", "-Wno-lint", "--no-json-edit-nums",
                    "--Mdir", folder, "--top-module", top, *(f"-G{name}={value}" for name, value in parameters.items()),
                    "rtl/lint/waivers.vlt", *sources, cwd=filelist.ROOT)
        tree = json.loads(pathlib.Path(folder, f"V{top}.tree.json").read_text())
    types = {node["addr"]: node for node in nodes(tree["miscsp"])}
    wide = {(module.get("origName", module["name"]), node.get("origName", node["name"]), bits(node["dtypep"], types))
            for module in tree["modulesp"] for node in nodes(module.get("stmtsp", [])) if node.get("isGParam")}
    return [f"{module}: the parameter {name} has {count} bits. A vendor's tool prints its value in each message: make it a "
            f"localparam, or a memory (tools/rtl/vendors.py)" for module, name, count in sorted(wide) if count > PARAMETER_BITS_MAX]


def nodes(tree):
    for node in tree if isinstance(tree, list) else [tree]:
        if isinstance(node, dict):
            yield node
            for value in node.values():
                if isinstance(value, list):
                    yield from nodes(value)


def bits(address: str, types: dict) -> int:
    """Of a value of this type: a vector, an array, a struct, or another name for one of these."""
    kind = types[address]
    if "declRange" in kind:
        first, last = map(int, kind["declRange"].strip("[]").split(":"))
        return (abs(first - last) + 1) * bits(kind["refDTypep"], types)
    if kind.get("membersp"):
        return sum(bits(member["dtypep"], types) for member in kind["membersp"])
    if "refDTypep" in kind:
        return bits(kind["refDTypep"], types)
    first, last = map(int, kind.get("range", "0:0").split(":"))
    return abs(first - last) + 1
