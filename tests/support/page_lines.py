# SPDX-License-Identifier: Apache-2.0
"""The page of figures beside what is measured now. Sizes and counts of instructions depend on the compiler. So they are compared
when the compiler is of the version that made the page. With another one the aims are what is tested: see aims_missed()."""

import dataclasses
import json
import re
import string
import sys

import program

sys.path.insert(0, str(program.ROOT / "bench"))

import figures_page  # noqa: E402 - the path comes first

SIZE_TOLERANCE = 0.02  # a share: a fix of a few hundred bytes needs no new page
SIZE_TOLERANCE_KB = 0.3
NUMBER, COMPILER = r"(-?\d+(?:\.\d+)?)", r"([\w-]+ \d+[\w.]*)"
FIELD = re.compile(r"(\w+)\[(.*)\](?:\.(\w+))?")
FIXED = {"aim", "peer"}  # what no compiler changes


def benches_of(line):
    """The names of the benchmarks that a line of the template needs."""
    return {name for name in figures_page.COMMANDS if re.search(rf"\{{{name}[\[.]|\[{name}\|", line)}


def names_compiler(line):
    return ".compiler}" in line


def same_compiler(one, other):
    """The same program, of the same major version."""
    return one.split(".")[0] == other.split(".")[0]


@dataclasses.dataclass(frozen=True)
class Value:
    """A field of a line: its form in the template, as the page has it, and as it is now."""

    field: str
    said: str
    now: str

    @property
    def fixed(self):
        return FIELD.fullmatch(self.field)[3] in FIXED

    def agrees(self, exactly):
        if exactly or self.fixed:
            return self.said == self.now
        tolerance = max(SIZE_TOLERANCE * abs(float(self.now)), SIZE_TOLERANCE_KB if "." in self.now else 0.0)
        return abs(float(self.said) - float(self.now)) <= tolerance


def said_by(template, page):
    """[(field, form, as the page has it)] of a line; None if the page has another text around the fields."""
    parts = list(string.Formatter().parse(template))
    kinds = [COMPILER if names_compiler("{" + (field or "") + "}") else NUMBER for _, field, _, _ in parts]
    pattern = "".join(re.escape(text) + ("" if field is None else kind) for (text, field, _, _), kind in zip(parts, kinds))
    found = re.fullmatch(pattern, page)
    fields = [(field, form) for _, field, form, _ in parts if field is not None]
    return None if found is None else [(*field, said) for field, said in zip(fields, found.groups(), strict=True)]


def values(template, page, fields):
    """The fields of a line, or None as above. `fields`: figures_page.fields()."""
    said = said_by(template, page)
    return said and [Value(field, text, ("{" + field + ":" + form + "}").format_map(fields)) for field, form, text in said]


def judge(line, exactly, page_made_by, now_made_by):
    """(the values that should agree and do not, both columns if the compilers differ). `line`: what values() returned."""
    same = same_compiler(page_made_by, now_made_by)
    wrong = [value for value in line if (same or value.fixed) and not value.agrees(exactly)]
    said, now = (" / ".join(getattr(value, which) for value in line if not value.fixed) for which in ("said", "now"))
    return wrong, None if same else f"{page_made_by}: {said}; {now_made_by}: {now}"


def compiler_on(templates, page, name):
    """The compiler that the page names for a benchmark."""
    (said,) = (said_by(line, page[number]) for number, line in enumerate(templates) if f"{{{name}.compiler}}" in line)
    return next(text for field, _, text in said if field == f"{name}.compiler")


def documented(templates, page, name):
    """{figure: value on the page} of the aims that the page says are missed."""
    lines = [said_by(line, page[number]) for number, line in enumerate(templates) if "**missed**" in line]
    found = ((FIELD.fullmatch(field), said) for line in lines for field, _, said in line)
    return {field[2]: float(said) for field, said in found if (field[1], field[3]) == (name, None)}


def aims_missed(path, allowed):
    """The figures of a benchmark's results that miss their aim. `allowed`: what documented() returned. These figures may miss their
    aim, but by no more than on the page, within the tolerance of sizes. This holds for each compiler: the page must not say less
    than what a reader will measure."""
    missed = []
    for figure in json.loads(path.read_text())["figures"]:
        name, value, aim, sign = figure["name"], figure["value"], figure["aim"], {"max": 1, "min": -1, "none": 0}[figure["aim_is"]]
        limit = aim if name not in allowed else allowed[name] * (1 + sign * SIZE_TOLERANCE)
        if sign != 0 and sign * value > sign * limit and sign * value > sign * aim:
            missed.append(f"{name}: {value:g} {figure['unit']}, aim {aim:g}" + (f", on the page {allowed[name]:g}" if name in allowed else ""))
    return missed
