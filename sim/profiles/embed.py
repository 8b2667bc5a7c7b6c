#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the texts of profiles as C arrays: embed.py OUTPUT.c FILE.profile ...

The program parses a text at its first use (profile_text.c), by the same rules as users' files. The arrays hold bytes instead of
strings, because C compilers need not accept a string of more than 4095 characters.
"""

import pathlib
import re
import sys


def array(number, text):
    """The array of one file's bytes."""
    rows = (text[at : at + 20] for at in range(0, len(text), 20))
    body = "\n".join("  " + ", ".join(str(byte) for byte in row) + "," for row in rows)
    return f"static const char text_{number}[] = {{\n{body}\n}};\n"


def main(arguments):
    """Writes all named profiles, sorted by name."""
    if len(arguments) < 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    output, *names = arguments
    paths = sorted(pathlib.Path(name) for name in names)
    for path in paths:
        if not re.fullmatch(r"[0-9a-z]{1,31}", path.stem):
            print(f"{path}:1: the name of a profile's file must be 1 to 31 digits and small letters", file=sys.stderr)
            return 1
    parts = ["/* Written by embed.py from the profiles beside it. */\n#include \"profiles/profile_builtin.h\"\n"]
    parts += [array(number, path.read_bytes()) for number, path in enumerate(paths)]
    rows = [f'  {{"{path.stem}.profile", text_{number}, sizeof text_{number}}},' for number, path in enumerate(paths)]
    parts.append("\n".join(["const struct sim_profile_builtin sim_profile_builtin[] = {", *rows, "};\n"]))
    parts.append(f"const unsigned sim_profile_builtin_count = {len(paths)};\n")
    pathlib.Path(output).write_text("\n".join(parts), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
