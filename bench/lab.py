# SPDX-License-Identifier: Apache-2.0
"""The lab: reproduces every published benchmark of comparable recorders with the library on virtual drives, and compares the
figures. Writes results to build/lab and build/bench/lab.json, and the report to build/report/index.html."""

import argparse
import functools
import pathlib
import re

import figures
import program
from lab import chapters_drive, chapters_files, chapters_kernel, chapters_overview, gates, page, runner, runs

SPACE_BYTES = 100 << 20  # results and pictures; the drives are in memory
TITLE = "Spate's lab: what the library does with drives that behave like real ones"
LEAD = (
    "Spate records streams of gigabytes per second onto NVMe drives as exFAT files. This page shows what it does with six drives "
    "and an ideal one, all simulated at the level of registers, page lists and packets, in virtual time. If the same was "
    "measured on a real drive, and published, the table shows both figures.",
    "In each picture, lines are simulated, and markers or dashes are published measurements: hollow or dashed if a model's "
    "number was fitted on that point, filled or dash-dotted where the model predicts it.",
)


QUICK = ("This is the report of a quick run: the same kinds of experiments on fewer bytes, drives, sizes and depths, without the "
         "long ones. Figures that are quoted elsewhere come from the full one, `make lab`.")


def chapters(quick: bool):
    """The chapters in order. A quick run has only the chapters of its experiments."""
    depths = runs.DEPTHS_QUICK if quick else runs.DEPTHS
    always = [chapters_files.aim, chapters_files.peer, chapters_files.warnings, chapters_files.loop]
    if quick:
        return [chapters_overview.systems, *always, chapters_drive.block_size, functools.partial(chapters_drive.depth, depths=depths),
                chapters_drive.sustained, chapters_drive.turns, chapters_kernel.predicted,
                chapters_drive.stripes, chapters_files.plan]
    return [chapters_overview.systems, chapters_overview.figures, *always, chapters_files.whole, chapters_drive.block_size,
            functools.partial(chapters_drive.depth, depths=depths), chapters_drive.sustained, chapters_drive.trimmed,
            chapters_drive.kilo, chapters_drive.turns, chapters_drive.generations, chapters_kernel.predicted,
            chapters_drive.stripes,
            chapters_files.plan, chapters_overview.models]


def report(lab: runner.Lab, folder: pathlib.Path, quick: bool) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    made = [chapter(lab, folder) for chapter in chapters(quick)]
    foot = f"{len(lab.results)} experiments. Made by `make lab{' QUICK=1' if quick else ''}`; each one's options and " \
           "results are in build/lab."
    page.write(folder / "index.html", TITLE, [QUICK, *LEAD] if quick else list(LEAD), made, foot)
    return folder / "index.html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the same kinds of experiments on fewer bytes")
    parser.add_argument("--only", metavar="REGEX", help="run these experiments, take the others from build/lab")
    parser.add_argument("--report-only", action="store_true", help="run none, only draw the results in build/lab")
    parser.add_argument("--programs", type=pathlib.Path, default=runner.BUILD / "host-release/lab",
                        help="folder of the lab's programs (default: build/host-release/lab); `spate plan` is that of build/linux")
    parser.add_argument("--out", type=pathlib.Path, default=runner.OUT, help="folder of the results (default: build/lab)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    lab = runner.Lab(options.programs, options.out / "quick" if options.quick else options.out)
    chosen = runs.quick() if options.quick else runs.full()
    try:
        program.need_space(runner.BUILD, SPACE_BYTES, "the lab")
        wanted = re.compile("$^" if options.report_only else options.only or "")
        lab.all([run for run in chosen if wanted.search(run.name)], options.jobs)
        lab.load([run for run in chosen if not wanted.search(run.name)])
    except program.NoSpace as full:
        figures.die("checking free disk space", str(full))
    except runner.Failed as failure:
        figures.die("an experiment", str(failure))
    except KeyboardInterrupt:
        print(f"\nlab    stopped; finished results are in {lab.out}", flush=True)
        raise
    bench = figures.Bench("lab-quick" if options.quick else "lab", "make lab" + (" QUICK=1" if options.quick else ""))
    gates.collect(lab, bench)
    bench.show()
    bench.write()
    folder = runner.BUILD / ("report/quick" if options.quick else "report")
    print(f"report {report(lab, folder, options.quick).relative_to(runner.ROOT)}")
    if any(bench.missed(figure) for figure in bench.figures):
        figures.die("the figures", "an aim was missed")


if __name__ == "__main__":
    main()
