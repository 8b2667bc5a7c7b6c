# SPDX-License-Identifier: Apache-2.0
"""The instruction set, read from the packages that the gateware uses. There is no second description of it."""

import dataclasses
import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ENUM = re.compile(r"\btypedef\s+enum\s+logic\s*\[(\d+):0\]\s*\{(.*?)\}\s*(\w+)\s*;", re.S)
NUMBER = re.compile(r"(?:\d*'([dh]))?([0-9a-fA-F_]+)$")
LOCALPARAM = re.compile(r"\blocalparam\s+[^=;]*?(\w+)\s*=\s*([^;]+);")
WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
OPERATIONS, SOURCES, CONDITIONS, OUTPUTS = "do_e", "in_e", "if_e", "out_e"
SPACES = "space_e"
REGISTER_BITS, IMMEDIATE_BITS = 5, 16


class Unreadable(Exception):
    """A package is written in a way that this file does not read."""


@dataclasses.dataclass(frozen=True)
class Machine:
    codes: dict[str, dict[str, int]]  # of each enumeration: {the name in the package: code}
    bits: dict[str, int]  # the width of each enumeration
    names: dict[str, dict[str, str]]  # of the four above: {the word in the assembly: the name in the package}
    values: dict[str, int]  # of all other names that have a number

    @property
    def size(self) -> int:
        return 2 ** self.values["AddressWidth"]

    @property
    def call_depth(self) -> int:
        return self.values["CallDepth"]

    @property
    def error_register(self) -> int:
        return self.values["ErrorRegister"]


def number(text: str) -> int | None:
    match = NUMBER.match(text.strip())
    if not match or (match[1] != "h" and not match[2].replace("_", "").isdigit()):
        return None
    return int(match[2].replace("_", ""), 16 if match[1] == "h" else 10)


def word(name: str) -> str:
    """IfNotZero is not_zero: without the enumeration's prefix, in small letters."""
    return "_".join(WORD.split(name)[1:]).lower()


def enumeration(members: str, name: str) -> dict[str, int]:
    codes, following = {}, 0
    for member in filter(None, (member.strip() for member in members.split(","))):
        title, _, text = (part.strip() for part in member.partition("="))
        code = number(text) if text else following
        if code is None:
            raise Unreadable(f"{name}: {title} has the code `{text}`, which is no number")
        codes[title], following = code, code + 1
    return codes


def read(*packages: str) -> Machine:
    """From the texts of the packages."""
    codes, bits, values = {}, {}, {}
    for package in packages:
        text = COMMENT.sub(" ", package)
        for high, members, name in ENUM.findall(text):
            codes[name], bits[name] = enumeration(members, name), int(high) + 1
        values |= {name: code for name, text in LOCALPARAM.findall(text) if (code := number(text)) is not None}
    language = (OPERATIONS, SOURCES, CONDITIONS, OUTPUTS)
    absent = [name for name in (*language, SPACES, "AddressWidth", "CallDepth", "ErrorRegister") if name not in codes | values]
    if absent:
        raise Unreadable(f"the packages do not declare {', '.join(absent)}")
    for name, members in codes.items():
        if name not in language:
            values |= members
    return Machine(codes, bits, {name: {word(member): member for member in codes[name]} for name in language}, values)
