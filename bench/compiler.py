# SPDX-License-Identifier: Apache-2.0
"""Which compiler made a build: sizes and counts of instructions are those of one compiler."""

import json
import pathlib
import re
import shlex

import figures
import program

COMMENT = re.compile(r"^\s*\[\s*[0-9a-f]+\]\s+(.*)$", re.M)
GCC = re.compile(r"GCC: \(.*\) (\d+\.\d+\.\d+)")


def version(comments: set[str], build: str) -> str:
    """The version that all objects name."""
    versions = {found[1] if (found := GCC.match(comment)) else comment for comment in comments}
    if len(versions) != 1:
        figures.die("looking for the compiler", f"the objects of {build} name {sorted(versions) or 'none'}, and one is needed")
    return versions.pop()


def name(build: pathlib.Path) -> str:
    """Of the program that compiles."""
    commands = json.loads((build / "compile_commands.json").read_text())
    return pathlib.Path(shlex.split(commands[0]["command"])[0]).name


def of(*builds: pathlib.Path) -> str:
    """Such as "aarch64-linux-gnu-gcc 12.2.0". The version is that in the objects of the library, and not that of the program:
    it may have been replaced since."""
    found = set()
    for build in builds:
        text = program.run("aarch64-linux-gnu-readelf", "-p", ".comment", build / "libspate.a").stdout
        found.add(f"{name(build)} {version(set(COMMENT.findall(text)), build.name)}")
    return ", ".join(sorted(found))
