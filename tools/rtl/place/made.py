# SPDX-License-Identifier: Apache-2.0
"""Remembers what a file was made from, so that minutes of work are not done again for the same input."""

import hashlib
import pathlib


def digest(*inputs: bytes | str) -> str:
    return hashlib.sha256(b"\0".join(part.encode() if isinstance(part, str) else part for part in inputs)).hexdigest()[:16]


def _stamp(file: pathlib.Path) -> pathlib.Path:
    return file.with_name(f"{file.name}.made-from")


def is_from(file: pathlib.Path, source: str) -> bool:
    return file.exists() and _stamp(file).exists() and _stamp(file).read_text() == source


def begin(file: pathlib.Path) -> None:
    """What ends early leaves nothing that looks made."""
    _stamp(file).unlink(missing_ok=True)


def end(file: pathlib.Path, source: str) -> None:
    _stamp(file).write_text(source)
