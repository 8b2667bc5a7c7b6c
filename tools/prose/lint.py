# SPDX-License-Identifier: Apache-2.0
"""
Checks text for people: spelling (codespell), words that this project does not use (words.txt), doubled words, and faults that are
faults in any style (proselint, as configured in proselint.json).

    python3 tools/prose/lint.py PATH...    files and folders of the repository

Prints one line per finding: file, line, column, tool, and what to write. Exit status 1 if there are findings.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import sys

import program
import prose

HERE = pathlib.Path(__file__).resolve().parent
CODESPELL = ["--ignore-words", str(HERE / "spelling.txt"), "--quiet-level", "3", "--disable-colors"]
PROSELINT = json.loads((HERE / "proselint.json").read_text())
LEFT_OUT = ("/generated/", "/tests/fuzz/corpus/", "/__pycache__/")
# Lists of hashes, and the lists of words themselves.
NOT_PROSE = ("setup/python.txt", "setup/gateware.txt", "setup/boards.txt", "setup/site.txt", "tests/tools/test_prose.py",
             "tools/prose/words.txt", "tools/prose/spelling.txt")
# Between two words: blanks, or a line end and the beginning of a comment's next line.
LINE_END = r"\n[ \t]*(?:\*|//|#)?[ \t]*"
GAP = rf"(?:[ \t]+|{LINE_END})"
# Proselint's own check also finds "0 0" in programs, and tables.
TWICE = re.compile(rf"\b(?!(?:that|had)\b)([a-z]+)(?: |{LINE_END})\1\b(?!-)")


@dataclasses.dataclass(frozen=True)
class Rule:
    pattern: re.Pattern
    instead: str


def rules(text: str) -> list[Rule]:
    """Parses a list such as words.txt."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, bar, instead = line.rpartition("|")
        if not bar or not instead.strip():
            raise ValueError(f"line {number} is no rule: {line!r}; write PATTERN | WHAT TO WRITE")
        words = GAP.join(pattern.split())
        found.append(Rule(re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE), instead.strip()))
    return found


def place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"{line}:{at - text.rfind(chr(10), 0, at)}"


def banned(path: pathlib.Path, text: str, all_rules: list[Rule]) -> list[str]:
    return [f'{path}:{place(text, match.start())}: words: "{" ".join(match[0].split())}": {rule.instead}'
            for rule in all_rules for match in rule.pattern.finditer(text)]


def twice(path: pathlib.Path, text: str, whole: str) -> list[str]:
    """Finds doubled words, unless `whole` has code between them."""
    return [f'{path}:{place(text, match.start())}: words: "{match[1]} {match[1]}": write the word once'
            for match in TWICE.finditer(text) if match[0] == whole[match.start():match.end()]]


def proselint(path: pathlib.Path, text: str) -> list[str]:
    # Slow to import, and each process that checks needs it.
    from proselint.checks import __register__
    from proselint.registry import CheckRegistry
    from proselint.tools import LintFile

    if not CheckRegistry().checks:
        CheckRegistry().register_many(__register__)
    found = []
    for result in LintFile(str(path), text).lint(PROSELINT):
        check = result.check_result
        # proselint puts a line end before the text.
        begin = check.span[0] - 1
        found.append(f"{path}:{place(text, begin + len(text[begin:]) - len(text[begin:].lstrip()))}: {check.check_path}: {check.message}")
    return found


def check(path: pathlib.Path, root: pathlib.Path) -> list[str]:
    whole = (root / path).read_text()
    text = prose.of(path, whole)
    found = banned(path, text, rules((HERE / "words.txt").read_text())) + twice(path, prose.of(path, whole, strings=False), whole)
    return found + (proselint(path, text) if text.strip() else [])


def files_in(root: pathlib.Path, paths: list[str]) -> list[pathlib.Path]:
    """The text files at or below these paths, relative to the root."""
    found = set()
    for path in paths:
        if not (root / path).exists():
            sys.exit(f"prose: {path} does not exist; PROSE_IN in the Makefile lists what is checked")
        below = [root / path] if (root / path).is_file() else (root / path).rglob("*")
        found |= {file.relative_to(root) for file in below if file.is_file()}
    return [file for file in sorted(found) if not left_out(file) and is_text(root / file)]


def left_out(file: pathlib.Path) -> bool:
    name = file.as_posix()
    return name in NOT_PROSE or any(part in f"/{name}" for part in LEFT_OUT)


def is_text(file: pathlib.Path) -> bool:
    try:
        file.read_text()
    except UnicodeDecodeError:
        return False
    return True


def spelling(files: list[pathlib.Path], root: pathlib.Path) -> list[str]:
    done = program.run(sys.executable, "-m", "codespell_lib", *CODESPELL, *files, cwd=root, statuses=(0, 65))
    return [re.sub(r"^(?:\./)?([^:]+:\d+): ", r"\1: codespell: ", line) for line in done.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--root", type=pathlib.Path, default=program.ROOT, help="folder of the paths, if it is not the repository")
    options = parser.parse_args()
    files = files_in(options.root, options.paths)
    if not files:
        sys.exit("prose: no text file in " + " ".join(options.paths))
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        each = pool.map(check, files, [options.root] * len(files), chunksize=8)
        found = spelling(files, options.root) + [line for lines in each for line in lines]
    print("\n".join(found) if found else f"prose  {len(files)} files, no finding")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
