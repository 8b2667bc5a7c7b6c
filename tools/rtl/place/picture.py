# SPDX-License-Identifier: Apache-2.0
"""Draws where the primitives of a design were placed, coloured by module, with the critical path over them."""

import collections
import pathlib

from place import nextpnr, owners

PLAIN = (owners.WRAPPER, owners.UNKNOWN)  # drawn in grey
GREY = (0.75, 0.75, 0.75)
KINDS = ("SLICE_LUTX", "SLICE_FFX", "CARRY4", "RAMB18E1_RAMB18E1", "RAMB36E1_RAMB36E1")


def places(cells: dict[str, nextpnr.Cell], known: owners.Owners) -> dict[str, list[tuple[int, int]]]:
    """{module: the tile of each of its primitives}, the largest module first."""
    found = collections.defaultdict(list)
    for name, cell in cells.items():
        if cell.column is not None and cell.site in KINDS:
            found[known[name]].append((cell.column, cell.row))
    return dict(sorted(found.items(), key=lambda item: (item[0] in PLAIN, -len(item[1]), item[0])))


def spread(tiles: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """The primitives of a tile, one beside the other in rows of four: else one would hide the others."""
    seen: collections.Counter = collections.Counter()
    columns, rows = [], []
    for column, row in tiles:
        number = seen[column, row]
        seen[column, row] += 1
        columns.append(column + number % 4 / 4)
        rows.append(row + number // 4 % 4 / 4)
    return columns, rows


def draw(path: pathlib.Path, title: str, found: dict[str, list[tuple[int, int]]], critical: list[tuple[int, int]]) -> None:
    import matplotlib.pyplot as plt  # here: the gateware's environment does not have it, and its tests do not draw

    figure, axes = plt.subplots(figsize=(14, 12))
    colours = [colour for colour in plt.get_cmap("tab20").colors if len(set(colour)) > 1]  # without its greys
    for number, (module, tiles) in enumerate(found.items()):
        grey = module in PLAIN or number >= len(colours)
        named = module in PLAIN or not grey
        axes.scatter(*spread(tiles), s=3, linewidths=0, color=GREY if grey else colours[number], zorder=1 if grey else 2,
                     label=f"{module} ({len(tiles)})" if named else None)
    axes.plot(*zip(*critical), color="black", linewidth=1, label="critical path", zorder=3)
    axes.invert_yaxis()  # nextpnr's rows begin at the top
    axes.set(title=title, xlabel="column of tiles", ylabel="row of tiles", aspect="equal")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=4, frameon=False)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)


def of_design(path: pathlib.Path, title: str, files: nextpnr.Files, known: owners.Owners, critical: list[str]) -> None:
    """`critical`: the primitives of the critical path in its order."""
    cells = nextpnr.placed_cells(files)
    draw(path, title, places(cells, known), [(cells[name].column, cells[name].row) for name in critical])
