# SPDX-License-Identifier: Apache-2.0
"""Lists of Tcl."""

from .interpreter import Wrong


def split(text: str) -> list[str]:
    """The elements of a list, as Tcl writes it: names with brackets are in braces."""
    words, position = [], 0
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            return words
        word, position = braced(text, position) if text[position] == "{" else bare(text, position)
        words.append(word)


def braced(text: str, start: int) -> tuple[str, int]:
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start + 1:position], position + 1
    raise Wrong(f"a brace is not closed: {text[start:]}")


def bare(text: str, start: int) -> tuple[str, int]:
    """A word without braces; a backslash keeps the next character."""
    word, position = "", start
    while position < len(text) and not text[position].isspace():
        position += text[position] == "\\"
        word += text[position:position + 1]
        position += 1
    return word, position
