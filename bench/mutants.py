# SPDX-License-Identifier: Apache-2.0
"""make mutants: finds changes of the sources that no test notices (docs/understand/mutants.md). Writes build/bench/mutants.json."""

import argparse
import dataclasses
import json
import pathlib
import sys

import program
from figures import Bench, die

BUILD, HALVES_FOLDER = program.BUILD, pathlib.Path(__file__).with_suffix("")
JUDGED = ("killed", "timed out", "survived")
SURVIVORS = 1  # the exit status of a half with survivors


@dataclasses.dataclass(frozen=True)
class Half:
    """One half: a script of bench/mutants, what it mutates, what runs it, what it writes, the percentage of noticeable mutants
    that tests should notice, and which endings count as noticed. src/ has a second one, with semantic mutants."""

    folder: str
    script: str
    venv: str
    sample: int
    aim: float
    kind: str = "mutants"
    noticed: tuple[str, ...] = ("killed", "timed out")

    @property
    def document(self) -> pathlib.Path:
        return BUILD / "mutants" / f"{pathlib.Path(self.script).stem}.json"

    def run(self, only: str, seed: int, sample: int) -> list[dict]:
        """Runs the script, and returns all its mutants. The script shows its progress, and prints why if it does not finish."""
        words = [BUILD / self.venv / "bin/python", HALVES_FOLDER / self.script, "--sample", sample, "--seed", seed]
        words += ["--only", only] if only else []
        self.document.unlink(missing_ok=True)  # from an earlier run
        sys.stdout.flush()
        with program.process(words) as started:
            status = started.wait()
        document = json.loads(self.document.read_text()) if self.document.exists() else {}
        if status not in (0, SURVIVORS) or not document.get("complete"):
            die(f"mutants of {self.folder}",
                f"it ended ({program.ending(status)}) before all mutants were judged; the lines above say why")
        return document["mutants"]


HALVES = [half for half in (Half("src", "library.py", "venv", 400, 98.0),
                            Half("src", "semantic.py", "venv", 240, 95.0, "semantic mutants", ("killed",)),
                            Half("rtl", "gateware.py", "venv-gateware", 100, 95.0))
          if (HALVES_FOLDER / half.script).exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a file or folder of src/ or rtl/")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=400, help="how many mutants of src/; for rtl/, a quarter of them")
    options = parser.parse_args()
    wanted = [half for half in HALVES if options.only.split("/")[0] in ("", half.folder)]
    if not wanted:
        die("mutants", f"ONLY={options.only} must begin with one of {', '.join(half.folder for half in HALVES)}")
    bench = Bench("mutants", "make mutants")
    for half in wanted:
        sample = -(-options.sample * half.sample // HALVES[0].sample)
        found = [mutant["status"] for mutant in half.run(options.only, options.seed, sample)]
        noticed = sum(found.count(status) for status in half.noticed)
        judged = sum(found.count(status) for status in JUDGED)
        aim = {} if options.only else {"aim": half.aim, "aim_is": "min"}
        bench.add(f"{half.kind} of {half.folder} that a test notices", round(100.0 * noticed / max(1, judged), 1), "%", **aim)
        bench.add(f"{half.kind} of {half.folder} judged", judged, "mutants")
    if not options.only:
        bench.write()
    bench.show()
    if any(bench.missed(figure) for figure in bench.figures):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
