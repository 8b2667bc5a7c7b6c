# SPDX-License-Identifier: Apache-2.0
"""The plots of the lab: lines are simulated, markers are published measurements of real drives. A hollow marker is a point on
which the drive's profile was fitted; a filled one is a predicted point."""

import contextlib
import html
import pathlib
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 - the backend is chosen first
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

GB = 1e9
WRITE, READ = "#c2410c", "#1d4ed8"
OURS, PEER, RAW = "#047857", "#b45309", "#a8a29e"
# One color per drive, all easily distinguished.
SEQUENCE = ("#1d4ed8", "#c2410c", "#047857", "#7e22ce", "#eab308", "#06b6d4", "#1c1917")

plt.rcParams.update({
    "figure.dpi": 110, "savefig.dpi": 110, "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e7e5e4",
    "grid.linewidth": 0.8, "legend.frameon": False, "legend.fontsize": 8.5, "lines.linewidth": 1.7,
    "axes.axisbelow": True, "font.family": "DejaVu Sans", "svg.hashsalt": "spate",
})


def size_name(size: float) -> str:
    """1024 -> 1 KiB"""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


@contextlib.contextmanager
def figure(path: pathlib.Path, rows: int = 1, columns: int = 1, width: float = 9.0, height: float = 4.2, **options):
    drawing, axes = plt.subplots(rows, columns, figsize=(width, height), **options)
    try:
        yield axes
        drawing.tight_layout()
        drawing.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
    finally:
        plt.close(drawing)


def describe(path: pathlib.Path, title: str, description: str) -> None:
    """Gives an SVG a title and a description, which programs read aloud, and places that are exact to a tenth of a point."""
    drawn = re.sub(r'"[^"]*"', lambda value: re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", value[0]),
                   path.read_text())
    end = drawn.index(">", drawn.index("<svg")) + 1
    told = f"\n <title>{html.escape(title)}</title>\n <desc>{html.escape(description)}</desc>"
    path.write_text(drawn[:end] + told + drawn[end:])


def rate_axis(axis, label: str = "rate, GB/s") -> None:
    """Call it after everything is drawn: it fixes the limits of the axis."""
    axis.set_ylabel(label)
    axis.set_ylim(bottom=0)


def block_axis(axis, blocks) -> None:
    axis.set_xscale("log", base=2)
    axis.set_xticks(list(blocks))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_name(value).replace(" ", "\n")))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xlabel("block size of one request")


def depth_axis(axis, depths) -> None:
    axis.set_xscale("log", base=2)
    ticks = [depth for depth in depths if depth & (depth - 1) == 0]
    axis.set_xticks(ticks)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xlabel("requests in flight")


def seed_point(axis, x, y, fitted: bool, label: str | None, color: str = "black") -> None:
    axis.plot([x], [y], marker="o" if fitted else "D", markersize=8.5, linestyle="none", color=color, label=label, zorder=5,
              markerfacecolor="white" if fitted else color, markeredgewidth=1.6)


def seed_line(axis, y, x0, x1, fitted: bool, label: str | None, color: str = "black") -> None:
    axis.plot([x0, x1], [y, y], linestyle=(0, (5, 2)) if fitted else "-.", linewidth=1.4, color=color, label=label,
              zorder=4)


def bars(axis, names, values, colors, value_format="{:.2f}", unit_scale: float = GB) -> None:
    """Horizontal bars with their values beside them, the first at the top."""
    places = range(len(names))
    axis.barh(places, [value / unit_scale for value in values], color=colors, height=0.66)
    axis.set_yticks(list(places), names)
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    most = max(values) / unit_scale or 1
    for place, value in zip(places, values):
        axis.text(value / unit_scale + most * 0.01, place, value_format.format(value / unit_scale), va="center", fontsize=8.5)
    axis.set_xlim(0, most * 1.14)
