# SPDX-License-Identifier: Apache-2.0
"""Predicts, for boards that nobody here has, the rate of a recording and its share of the processor, and compares them with what was
published. Counts instructions on emulated boards, makes times of them (bench/lab/boards.py), and runs the virtual drives with these
times. Writes build/bench/boards.json and docs/reference/board-figures.md. All of it is prediction."""

import argparse
import pathlib

import compiler
import counted
import figures
import program
import qemu
from lab import boards, runner, text

PAGE = runner.ROOT / "docs/reference/board-figures.md"
HEAD = """<!-- Written by `make bench-boards`: do not edit. -->
# Predictions for boards

**Everything on this page is a prediction. None of it was measured on a board.** `make bench-boards` counts instructions on
emulated boards, makes times of them by the numbers at the end of this page, and records into exFAT files on virtual drives
with these times. [How, why, and what it leaves out](../understand/boards.md).

Each prediction has two cases: all uncertain numbers at their worst, and all at their best. Neither is likely. The *limit* is
what gives a higher rate if it is removed: the processor (one core, polling), the link with the bridge, or the drive. A drive's
limit is the profile's, before its fast cache runs out. *Processor* is the part of the time in which it has work: in the
rest it polls in vain. It comes close to 100 % long before the processor is the limit, because a turn of the recorder costs
much of what it costs whether it finds one piece or thirty. What *one core feeds*, in turns of thirty-two pieces, is the rate
at which the processor becomes the limit.

A published rate is compared where the system is comparable. *Fitted* says that a number of the link or of the drive was chosen
so that this rate is met: the deviation then says nothing. No published figure tests the processor's part.
"""


def both(worst: str, best: str) -> str:
    return worst if worst == best else f"{worst} … {best}"


def cases(row: boards.Row, show) -> str:
    return both(*(show(row.cases[bound]) for bound in boards.BOUNDS))


def at_pace(case: boards.Case) -> str:
    return "–" if case.share_at_pace is None else text.percent(case.share_at_pace)


def compared(row: boards.Row) -> list[str]:
    if row.published is None:
        return ["none", ""]
    said = f"{row.published.rate / 1e9:.2f}: system {row.published.seed.system}, {row.published.seed.what}"
    if not row.published.comparable:
        return [said, row.published.against]
    deviation = both(*(text.deviation(row.deviation(bound)) for bound in boards.BOUNDS))
    return [said, f"{deviation} ({row.published.against})"]


def cells(row: boards.Row) -> list[str]:
    return [text.size(row.block), "prediction", cases(row, lambda case: f"{case.rate / 1e9:.2f}"), cases(row, lambda case: case.limit),
            cases(row, lambda case: text.percent(case.share)), cases(row, at_pace), *compared(row)]


COLUMNS = ["pieces", "", "rate, GB/s", "limit", "processor", "… at 1 GB/s", "published, GB/s", "deviation"]


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (columns, ["---"] * len(columns), *rows)]


def number_rows(processors: list[boards.Processor]) -> list[list[str]]:
    rows = []
    for processor in processors:
        for name, number in processor.numbers().items():
            rows.append([processor.name, name.replace("_ns", ", ns").replace("_", " "), f"{number.worst:g}", f"{number.best:g}",
                         number.kind, number.source])
    return rows


def count_rows(counts: dict[str, counted.Counted]) -> list[list[str]]:
    rows = []
    for build, of in counts.items():
        call, above = of.call("write", boards.MIB), of.recordings[-1]
        rows.append([f"`{build}`", *(f"{value:g}" for value in (call.submit, call.doorbell, round(call.complete, 1), of.idle, above.push,
                                                                above.turn, above.piece, above.checkpoint, above.clip))])
    return rows


def page(rows: list[boards.Row], counts: dict[str, counted.Counted]) -> str:
    lines = [HEAD]
    all_boards = list(dict.fromkeys(row.board for row in rows))
    for board in all_boards:
        lines += [f"## {board.name}", "", f"Clock: {board.clock_source}. Link: {link_text(board)}. Drive: `{board.profile}`"
                  f"{', full' if board.filled else ''}. {one_core(board, counts)}", ""]
        lines += table(COLUMNS, [cells(row) for row in rows if row.board == board])
        notes = [f"{one.seed.what}: {one.note}." for one in board.published]
        lines += ["", *(f"- {note}" for note in notes), ""] if notes else [""]
    lines += ["## Instructions", "", "Counted by the emulator: the driver in batches of 32 commands, the rest in the recorder and exFAT.", ""]
    lines += table(["counted on", "submit", "doorbell", "complete", "idle poll", "push", "turn", "piece", "checkpoint", "clip of 16 GiB"],
                   count_rows(counts))
    lines += ["", "## Numbers", "", "`bench/boards.toml` is the only place of these.", ""]
    lines += table(["processor", "number", "worst", "best", "kind", "source"],
                   number_rows(list(dict.fromkeys(board.processor for board in all_boards))))
    return "\n".join(lines) + "\n"


def fed(board: boards.Board, counts: dict[str, counted.Counted], bound: str) -> float:
    """Millions of pieces a second that one core feeds."""
    return boards.costs(board, counts, bound).pieces_per_s() / 1e6


def one_core(board: boards.Board, counts: dict[str, counted.Counted]) -> str:
    return f"One core feeds {both(*(f'{fed(board, counts, bound):.2f}' for bound in boards.BOUNDS))} million pieces a second."


def link_text(board: boards.Board) -> str:
    link = getattr(boards.runs, board.link)
    fetch = f", the bridge fetches {text.gbps(link['fetch'])}" if "fetch" in link else ""
    return f"Gen{link['gen']} x{link['lanes']}, payloads of {link['mps']} bytes{fetch}"


def collect(rows: list[boards.Row], counts: dict[str, counted.Counted], bench: figures.Bench) -> None:
    for build, of in counts.items():
        call, above = of.call("write", boards.MIB), of.recordings[-1]
        for name, value in (("submit", call.submit), ("doorbell", call.doorbell), ("complete", call.complete), ("idle poll", of.idle),
                            ("push", above.push), ("turn", above.turn), ("piece", above.piece), ("checkpoint", above.checkpoint),
                            ("clip of 16 GiB", above.clip)):
            bench.add(f"counted on {build}: {name}", value, "instructions")
    for board in dict.fromkeys(row.board for row in rows):
        for bound in boards.BOUNDS:
            bench.add(f"{board.key}, {bound} case: what one core feeds", round(fed(board, counts, bound), 4),
                      "million pieces a second, predicted")
    for row in rows:
        known = row.published if row.published is not None and row.published.comparable else None
        for bound, case in row.cases.items():
            name = f"{row.board.key}, {text.size(row.block)}, {bound} case"
            peer = {} if known is None else {"peer": f"published, {known.against}", "peer_value": known.rate / 1e9}
            bench.add(f"{name}: rate", round(case.rate / 1e9, 4), "GB/s, predicted", note=f"limited by the {case.limit}", **peer)
            bench.add(f"{name}: processor", round(100 * case.share, 3), "%, predicted")
            if case.share_at_pace is not None:
                bench.add(f"{name}: processor at 1 GB/s", round(100 * case.share_at_pace, 3), "%, predicted")


def show(rows: list[boards.Row], counts: dict[str, counted.Counted]) -> None:
    for board in dict.fromkeys(row.board for row in rows):
        lines = [COLUMNS, *(cells(row) for row in rows if row.board == board)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
        print(f"\n{board.name}. {one_core(board, counts)}")
        for line in lines:
            print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def predict(lab: runner.Lab, all_boards: list[boards.Board], counts: dict[str, counted.Counted], jobs: int) -> list[boards.Row]:
    lab.all([run for board in all_boards for block in board.blocks for run in boards.runs_of(board, counts, block)], jobs)
    return [boards.row(lab, board, block) for board in all_boards for block in board.blocks]


def count_all(all_boards: list[boards.Board]) -> dict[str, counted.Counted]:
    builds = dict.fromkeys(board.processor.build(bound) for board in all_boards for bound in reversed(boards.BOUNDS))
    return {build: counted.count(build) for build in builds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=runner.BUILD / "host-release/lab")
    parser.add_argument("--out", type=pathlib.Path, default=runner.OUT / "boards", help="folder of the results (default: build/lab/boards)")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, help="page of the tables (default: docs/reference/board-figures.md)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    all_boards = boards.load()
    lab = runner.Lab(options.programs, options.out)
    try:
        counts = count_all(all_boards)
        rows = predict(lab, all_boards, counts, options.jobs)
    except runner.Failed as failure:
        figures.die("an experiment", str(failure))
    except program.Failed as failure:
        figures.die("counting instructions", str(failure))
    bench = figures.Bench("boards", "make bench-boards", compiler.of(*(qemu.BUILD / build for build in counts)))
    collect(rows, counts, bench)
    show(rows, counts)
    print("\nAll of these are predictions.")
    bench.write()
    options.page.write_text(page(rows, counts))
    print(f"page   {options.page}")


if __name__ == "__main__":
    main()
