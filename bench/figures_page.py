# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/figures.md: bench/figures.md.in, with its fields replaced by the figures in build/bench/*.json. A field
is a format string: {size[NAME]:.0f} is a figure of build/bench/size.json, {size[NAME].peer} the figure that it is compared
with, and {size.compiler} the compiler that made what was measured. least, most, median, sum, roughly and span combine all figures whose "NAME / UNIT" matches a regular expression:
{least[lab|^files written]:.3f}."""
import json
import pathlib
import re
import statistics
import sys

from program import ROOT

TEMPLATE, PAGE = ROOT / "bench/figures.md.in", ROOT / "docs/reference/figures.md"
COMMANDS = {"size": "bench-size", "instructions": "bench-instructions", "speedtest": "speedtest", "lab": "lab", "crash": "bench-crash", "boards": "bench-boards",
            "fatfs": "bench-fatfs", "files": "bench-files", "linux": "bench-linux",
            "rtl": "bench-rtl", "rtl_area": "bench-rtl-area", "rtl_seeds": "bench-rtl-seeds", "place": "place"}


class Figure(float):
    """A value, its aim, and the value that it is compared with. k and m are the value in thousands and millions, and peer_g the
    other value in thousands of millions."""

    peer = aim = float("nan")

    k = property(lambda self: self / 1e3)
    m = property(lambda self: self / 1e6)
    peer_g = property(lambda self: self.peer / 1e9)


class Missing(Exception):
    pass


class Bench:
    """build/bench/NAME.json, read at its first use."""

    def __init__(self, name: str, folder: pathlib.Path):
        self.path, self.command, self.read = folder / f"{name.replace('_', '-')}.json", COMMANDS[name], None

    def results(self) -> dict:
        if not self.path.exists():
            raise Missing(f"{self.path} is not there: make {self.command} writes it")
        return json.loads(self.path.read_text())

    @property
    def compiler(self) -> str:
        results = self.results()
        if "compiler" not in results:
            raise Missing(f"{self.path} names no compiler: make {self.command} writes it again")
        return results["compiler"]

    @property
    def figures(self) -> list[tuple[str, str, Figure]]:
        if self.read is None:
            self.read = []
            for entry in self.results()["figures"]:
                figure = Figure(entry["value"])
                for name, key in (("peer", "peer_value"), ("aim", "aim")):
                    if entry.get(key) is not None:
                        setattr(figure, name, entry[key])
                self.read.append((entry["name"], entry["unit"], figure))
        return self.read

    def __getitem__(self, name: str) -> Figure:
        for its_name, _, figure in self.figures:
            if its_name == name:
                return figure
        raise Missing(f"{self.path} has no figure named {name!r}")

    def found(self, expression: str) -> list[Figure]:
        return [figure for name, unit, figure in self.figures if re.search(expression, f"{name} / {unit}")]


class Of:
    """Combines several figures into one value."""

    def __init__(self, benches: dict[str, Bench], function):
        self.benches, self.function = benches, function

    def combined(self, where: str):
        name, expression = where.split("|", 1)
        figures = self.benches[name].found(expression)
        if not figures:
            raise Missing(f"{self.benches[name].path} has no figure like {expression!r}")
        return self.function(figures)

    def __getitem__(self, where: str) -> Figure:
        return Figure(self.combined(where))


class Span:
    """Figures as text: the least and the most, or one of them if both are written in the same way."""

    def __init__(self, figures: list[Figure]):
        self.figures = figures

    def __format__(self, form: str) -> str:
        least, most = (format(figure, form) for figure in (min(self.figures), max(self.figures)))
        return least if least == most else f"{least} … {most}"


class Spans(Of):
    def __init__(self, benches: dict[str, Bench]):
        super().__init__(benches, Span)

    def __getitem__(self, where: str) -> Span:
        return self.combined(where)


def roughly(values: list[Figure]) -> float:
    """The first figure, rounded to one digit."""
    return float(f"{values[0]:.1g}")


def fields(folder: pathlib.Path) -> dict:
    benches = {name: Bench(name, folder) for name in COMMANDS}
    functions = {"least": min, "most": max, "median": statistics.median, "sum": sum, "roughly": roughly}
    return benches | {name: Of(benches, function) for name, function in functions.items()} | {"span": Spans(benches)}


def main() -> None:
    try:
        PAGE.write_text(TEMPLATE.read_text().format_map(fields(ROOT / "build/bench")))
    except Missing as missing:
        sys.exit(f"figures: {missing}")
    print(f"figures in {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
