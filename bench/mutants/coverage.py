# SPDX-License-Identifier: Apache-2.0
"""Finds out with gcov which programs execute which lines of the library.

The lines of a program are kept until the program or the library changes."""

import gzip
import hashlib
import json
import pathlib

import program

from mutants import judge, tree

COUNTING = ("--coverage", "-fno-sanitize=all")
COVERED_TIMES = 6.0  # a program compiled for coverage is slower


class Coverage:
    """lines[program][file]: the lines that the program executes. executable[file]: the lines that have code."""

    def __init__(self, library: tree.Library):
        self.sources = library
        self.folder = tree.BUILD / "coverage"
        self.lines: dict[str, dict[str, set[int]]] = {}
        self.executable: dict[str, list[int]] = {}
        self.identity = hashlib.sha256("".join([library.headers, *map(library.original, library.files)]).encode()).hexdigest()

    def compile_one(self, file: str) -> None:
        """Compiles an object for coverage. gcov finds its notes by the object's name."""
        target = self._object(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = self.sources.original(file)
        made_from = target.with_suffix(".made-from")
        identity = hashlib.sha256(repr((self.sources.headers, COUNTING, text)).encode()).hexdigest()
        if made_from.exists() and made_from.read_text() == identity:
            return
        self.sources.compile(file, f'#line 1 "{file}"\n{text}', target, *COUNTING)
        made_from.write_text(identity)

    def _object(self, file: str) -> pathlib.Path:
        return (self.folder / "objects" / file).with_suffix(".o")

    def measure(self, test: tree.Program, baseline_s: float) -> None:
        """Runs one program, and fills in its lines."""
        kept = self.folder / "lines" / f"{test.name}.json"
        identity = hashlib.sha256((self.identity + test.identity).encode()).hexdigest()
        if kept.exists() and (found := json.loads(kept.read_text()))["identity"] == identity:
            self._take(test.name, found["files"])
            return
        with tree.scratch("coverage-") as name:
            folder = pathlib.Path(name)
            tree.link([self._object(file) for file in self.sources.files], test, folder / "program", "--coverage")
            environment = test.environment() | {"GCOV_PREFIX": str(folder / "counts")}
            ending = judge.run(folder / "program", test.words, environment, folder, COVERED_TIMES * baseline_s)
            if not ending.passed:
                raise program.Failed([test.name], "failed during the coverage run", ending.said)
            files = self._read(folder)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"identity": identity, "files": files}))
        self._take(test.name, files)

    def _read(self, folder: pathlib.Path) -> dict[str, list[list[int]]]:
        """For each file, the lines that ran and those that did not."""
        counts = sorted((folder / "counts").rglob("*.gcda"))
        files: dict[str, list[list[int]]] = {}
        if not counts:
            return files
        for count in counts:  # the notes must be beside the counts
            notes = self.folder / "objects" / count.relative_to(folder / "counts" / str(self.folder / "objects").lstrip("/"))
            count.with_suffix(".gcno").symlink_to(notes.with_suffix(".gcno"))
        reports = folder / "reports"
        reports.mkdir()
        program.run("gcov", "--json-format", "--preserve-paths", *counts, cwd=reports, timeout_s=300)
        for report in reports.glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
                if file["file"] not in self.sources.commands:
                    continue
                ran, idle = files.setdefault(file["file"], [[], []])
                for line in file["lines"]:
                    (ran if line["count"] > 0 else idle).append(line["line_number"])
        return files

    def _take(self, name: str, files: dict[str, list[list[int]]]) -> None:
        self.lines[name] = {file: set(ran) for file, (ran, _) in files.items()}
        for file, (ran, idle) in files.items():
            self.executable[file] = sorted({*self.executable.get(file, []), *ran, *idle})

    def covering(self, file: str, line: int, function_start: int) -> list[str]:
        """The programs that execute this line. A line without its own code, such as the second of a statement, counts as the
        last line with code above it in its function. A line outside functions, such as a table, counts as the whole file."""
        above = [number for number in self.executable.get(file, []) if function_start <= number <= line]
        if function_start == 0:
            return [name for name, files in self.lines.items() if files.get(file)]
        if not above:
            return [name for name, files in self.lines.items() if function_start in files.get(file, ())]
        return [name for name, files in self.lines.items() if above[-1] in files.get(file, ())]
