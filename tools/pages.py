# SPDX-License-Identifier: Apache-2.0
"""Pages in Markdown: which headings, links and anchors they have. For the links' test and for the site."""

import pathlib
import re
import typing

FENCE = re.compile(r"^ {0,3}(```|~~~)")
HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?) *#* *$")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\))?)(?: \"[^\"]*\")?\)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


class Link(typing.NamedTuple):
    line: int
    start: int  # of the text in brackets, in the page
    end: int  # behind the closing parenthesis
    text: str
    target: str


def blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def without_blocks(text: str) -> str:
    """The page with blocks of code blanked out: all else stays where it is."""
    lines, fence = [], None
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        inside = fence is not None
        if found and fence in (None, found[1]):
            fence = None if inside else found[1]
        lines.append(blank(line) if inside or found else line)
    return "".join(lines)


def slug(heading: str, separator: str = "-") -> str:
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", separator)


def anchors(text: str) -> set[str]:
    """Of all headings. The second of two equal headings gets -1, the third -2."""
    found: dict[str, int] = {}
    for line in without_blocks(text).splitlines():
        if heading := HEADING.match(line):
            name = slug(heading[1])
            found[name] = found.get(name, -1) + 1
            if found[name]:
                found[f"{name}-{found[name]}"] = 0
    return set(found)


def links(text: str) -> list[Link]:
    """To files and headings of this repository. A link may be broken over two lines."""
    plain = CODE.sub(lambda code: "x" * len(code[0]), without_blocks(text))
    return [Link(plain.count("\n", 0, link.start()) + 1, link.start(1), link.end(), text[link.start(1):link.end(1)], link[2])
            for link in LINK.finditer(plain) if not ELSEWHERE.match(link[2])]


def broken(root: pathlib.Path, pages: list[pathlib.Path]) -> list[str]:
    """One sentence for each link that leads nowhere."""
    found = []
    for page in pages:
        for link in links(page.read_text()):
            place, _, anchor = link.target.partition("#")
            file = (page.parent / place).resolve() if place else page
            where = f"{page.relative_to(root)}:{link.line}: ({link.target})"
            if not file.exists():
                found.append(f"{where}: there is no such file")
            elif not file.is_relative_to(root):
                found.append(f"{where}: this file is not in the repository")
            elif anchor and (file.suffix != ".md" or anchor not in anchors(file.read_text())):
                found.append(f"{where}: the page has no such heading")
    return found
