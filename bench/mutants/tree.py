# SPDX-License-Identifier: Apache-2.0
"""The tests that CMake has built (preset mutants), and the library with one source file replaced."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import tempfile

import program

ROOT = program.ROOT
BUILD = program.BUILD / "mutants"
UNWANTED = ("-Werror", "-g")
# Without warnings, except for code that is not valid C.
STRICT = [f"-Werror={what}" for what in ("implicit-int", "implicit-function-declaration", "int-conversion", "incompatible-pointer-types")]

REFUSED = re.compile(r"^\S+:\d+:(\d+:)? error: ", re.MULTILINE)  # GCC in English, for a place in the text
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
CANNOT = "fatal error:"  # the compiler was killed, or the disk is full


class Invalid(Exception):
    """The text does not compile."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A test: the parts that it is linked from, and how to start it."""

    name: str
    parts: tuple[str, ...]
    words: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    identity: str  # a hash of all this, without the library

    def environment(self) -> dict[str, str]:
        return os.environ | dict(self.settings)


def programs() -> list[Program]:
    """All tests of ctest that run a program linked with the library."""
    described = json.loads(program.run("ctest", "--test-dir", BUILD, "--show-only=json-v1").stdout)
    found = []
    for test in described["tests"]:
        parts_file = BUILD / "made-of" / test["name"]
        if not parts_file.exists():
            continue
        settings = next((p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT"), [])
        parts = tuple(part for part in parts_file.read_text().split(";") if part)
        words = tuple(test["command"][3:])  # after tools/run, its dash and the program
        pairs = tuple(tuple(setting.split("=", 1)) for setting in settings)
        found.append(Program(test["name"], parts, words, pairs, _hash_of_parts(parts, words, pairs)))
    return found


def _hash_of_parts(parts, words, settings) -> str:
    mixed = hashlib.sha256(repr((words, settings)).encode())
    for part in parts:
        path = pathlib.Path(part)
        if part.endswith("/libspate.a"):
            continue
        mixed.update(_content(path) if path.is_absolute() else part.encode())
    for word in words:  # a folder of inputs
        if os.path.isdir(word):
            for path in sorted(pathlib.Path(word).iterdir()):
                mixed.update(path.read_bytes())
    return mixed.hexdigest()


_contents: dict[pathlib.Path, bytes] = {}


def _content(path: pathlib.Path) -> bytes:
    if path not in _contents:
        _contents[path] = hashlib.sha256(path.read_bytes()).digest()
    return _contents[path]


class Library:
    """The library's sources, and the compile command of each."""

    def __init__(self):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        self.commands = {}
        for command in commands:
            file = pathlib.Path(command["file"])
            if file.is_relative_to(ROOT / "src"):
                self.commands[str(file.relative_to(ROOT))] = self._words(shlex.split(command["command"]))
        self.files = sorted(self.commands)
        self.header_files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.h"))
        self.headers = self._hash_of_headers()

    @staticmethod
    def _words(words: list[str]) -> list[str]:
        kept = [word for word in words[1:words.index("-o")] if word not in UNWANTED and not word.startswith("-W")]
        return [words[0], *kept, *STRICT]

    @staticmethod
    def _hash_of_headers() -> str:
        mixed = hashlib.sha256((BUILD / "compile_commands.json").read_bytes())
        for folder in ("include", "src", "ports/host"):
            for path in sorted((ROOT / folder).rglob("*.h")):
                mixed.update(path.read_bytes())
        return mixed.hexdigest()

    def compile(self, file: str, text: str, object_file: pathlib.Path, *more: str, where: pathlib.Path | None = None) -> None:
        """Compiles a file of the library with the content `text`. Invalid if the compiler rejects the text. If the compiler was
        killed, or could not write, the text is not judged: program.Failed or program.Stopped. Headers are first looked for from the
        folder `where`."""
        words = [*self.commands[file], f"-I{(ROOT / file).parent}", *more]  # where its "internal.h" is
        words += ["-x", "c", "-c", "-", "-o", object_file]
        try:
            done = program.run(*words, statuses=(0, 1), input=text, cwd=where or object_file.parent, env=os.environ | {"LC_ALL": "C"},
                               timeout_s=300)
        finally:
            if program.is_ending():
                raise program.Stopped
        if done.returncode == 0:
            return
        if REFUSED.search(done.stderr) and CANNOT not in done.stderr:
            raise Invalid(program.report(words, program.ending(1), done.stderr))
        raise program.Failed(words, program.ending(1), done.stderr)

    def units(self, file: str) -> list[str]:
        """The C files that this file is part of: itself, or those that include the header."""
        if file in self.commands:
            return [file]
        return [unit for unit in self.files if ROOT / file in self._included_by(ROOT / unit)]

    def _included_by(self, path: pathlib.Path) -> set[pathlib.Path]:
        found = {(path.parent / name).resolve() for name in INCLUDE.findall(path.read_text())}
        return found.union(*(self._included_by(header) for header in found if header.suffix == ".h"))

    def compile_changed(self, file: str, text: str, folder: pathlib.Path, *more: str) -> list[pathlib.Path]:
        """Compiles all that a changed file is part of."""
        if file in self.commands:
            self.compile(file, text, folder / "changed.o", *more)
            return [folder / "changed.o"]
        for header in self.header_files:  # beside one another, because they include one another
            (folder / header).parent.mkdir(parents=True, exist_ok=True)
            (folder / header).write_text(text if header == file else self.original(header))
        objects = []
        for unit in self.units(file):
            objects.append((folder / unit).with_suffix(".o"))
            self.compile(unit, self.original(unit), objects[-1], *more, where=objects[-1].parent)
        return objects

    def code(self, file: str, text: str, folder: pathlib.Path) -> str:
        """A hash of the optimised code. Two texts with the same code behave the same."""
        objects = self.compile_changed(file, text, folder, "-O2", "-fno-sanitize=all")
        return hashlib.sha256(b"".join(made.read_bytes() for made in objects)).hexdigest()

    def original(self, file: str) -> str:
        return (ROOT / file).read_text()


def link(objects: list[pathlib.Path], test: Program, to: pathlib.Path, *more: str) -> None:
    """Links a test with these objects in place of the library's. Uses gold, which takes a tenth of the time of other linkers."""
    words = ["gcc", "-fuse-ld=gold", "-fsanitize=undefined", *more, *objects]
    program.run(*words, "-Wl,--start-group", *test.parts, "-Wl,--end-group", "-o", to, timeout_s=300)


def scratch(prefix: str) -> tempfile.TemporaryDirectory:
    """A temporary folder for one mutant."""
    return tempfile.TemporaryDirectory(prefix=f"spate-{prefix}")
