# SPDX-License-Identifier: Apache-2.0
"""The sources of the numbers in a drive's profile: the notes in sim/profiles/*.profile."""

import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "sim/profiles"
LINE = re.compile(r'^(?P<key>\w+)\s+(?P<value>"[^"]*"|[^#]*?)\s*#\s*(?P<kind>[a-z ]+?):\s*(?P<note>.*)$')


@dataclasses.dataclass(frozen=True)
class Line:
    key: str
    value: str
    kind: str  # data sheet, report, review, seed, fitted, derived or assumed
    note: str


def read(profile: str) -> dict[str, Line]:
    lines = {}
    for text in (FOLDER / f"{profile}.profile").read_text().splitlines():
        match = LINE.match(text)
        if match:
            line = Line(**{key: value.strip() for key, value in match.groupdict().items()})
            lines[line.key] = line
    return lines
