# SPDX-License-Identifier: Apache-2.0
"""
Extracts a file's text for people: the text of Markdown, and the comments and strings of programs.

Everything else is replaced by blanks, so that each character keeps its line and column.
"""

import io
import pathlib
import re
import tokenize

# A string or character constant is skipped as a whole: it contains no comments.
C_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# Fenced code, code within a line, the target of a link, HTML's tags and comments.
MARKDOWN_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$|`[^`]*`|\]\([^)\s]*\)|<!--.*?-->|<[a-zA-Z/][^>\n]*>",
                           re.DOTALL | re.MULTILINE)
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
SVG_TEXT = re.compile(r"(?<=>)[^<>]+(?=</(?:text|tspan|title|desc)>)")

C_LIKE = {".c", ".h", ".cpp", ".hpp", ".sv", ".svh", ".veo", ".asm"}
HASH_LIKE = {".sh", ".cmake", ".toml", ".yml", ".yaml", ".profile", ".in", ".rdl", ".f", ".supp", ""}


def blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def only(text: str, spans: list[tuple[int, int]]) -> str:
    """The text within the spans, which are in order, and blanks for the rest."""
    parts, at = [], 0
    for begin, end in spans:
        parts += [blank(text[at:begin]), text[begin:end]]
        at = end
    return "".join([*parts, blank(text[at:])])


def python_spans(text: str, strings: bool) -> list[tuple[int, int]]:
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    told = {tokenize.COMMENT, tokenize.STRING} if strings else {tokenize.COMMENT}
    return [(begins[token.start[0] - 1] + token.start[1], begins[token.end[0] - 1] + token.end[1])
            for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type in told]


def c_spans(text: str, strings: bool) -> list[tuple[int, int]]:
    return [(begin, end) for begin, end in matches(C_TOKENS, text) if strings or text[begin] == "/"]


def matches(pattern: re.Pattern, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def of(path: pathlib.Path, text: str, strings: bool = True) -> str:
    """The prose of a file with this name, with blanks for everything else. Without `strings`, constants of programs are left out:
    they may be for another program."""
    if path.suffix == ".md":
        return MARKDOWN_CODE.sub(lambda match: blank(match[0]), text)
    if path.suffix == ".py" or text.startswith("#!/usr/bin/python3"):
        return only(text, python_spans(text, strings))
    if path.suffix in C_LIKE:
        return only(text, c_spans(text, strings))
    if path.suffix == ".svg":
        return only(text, matches(SVG_TEXT, text))
    if path.suffix in HASH_LIKE or path.name == "CMakeLists.txt":
        return only(text, matches(HASH_COMMENT, text))
    return blank(text)
