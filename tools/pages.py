# SPDX-License-Identifier: Apache-2.0
"""Pages in Markdown: which headings, links and anchors they have. For the links' test and for the site."""

import pathlib
import re
import typing

FENCE = re.compile(r"^ {0,3}(```|~~~)")
HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?) *#* *$")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+(?:\([^()\s]*\))?)(?: \"[^\"]*\")?\)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


class Link(typing.NamedTuple):
    line: int
    target: str


def prose(text: str) -> list[tuple[int, str]]:
    """(number, line) of each line that is in no block of code."""
    lines, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if found and fence in (None, found[1]):
            fence = None if fence else found[1]
        elif fence is None:
            lines.append((number, line))
    return lines


def slug(heading: str, separator: str = "-") -> str:
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", separator)


def anchors(text: str) -> set[str]:
    """Of all headings. The second of two equal headings gets -1, the third -2."""
    found: dict[str, int] = {}
    for _, line in prose(text):
        if heading := HEADING.match(line):
            name = slug(heading[1])
            found[name] = found.get(name, -1) + 1
            if found[name]:
                found[f"{name}-{found[name]}"] = 0
    return set(found)


def links(text: str) -> list[Link]:
    """To files and headings of this repository. A link may be broken over two lines."""
    lines = [(number, CODE.sub(lambda code: "x" * len(code[0]), line)) for number, line in prose(text)]
    joined = "\n".join(line for _, line in lines)
    found = []
    for link in LINK.finditer(joined):
        if not ELSEWHERE.match(link[1]):
            found.append(Link(lines[joined.count("\n", 0, link.start())][0], link[1]))
    return found


def broken(root: pathlib.Path, pages: list[pathlib.Path]) -> list[str]:
    """One sentence for each link that leads nowhere."""
    found = []
    for page in pages:
        for line, target in links(page.read_text()):
            place, _, anchor = target.partition("#")
            file = (page.parent / place).resolve() if place else page
            where = f"{page.relative_to(root)}:{line}: ({target})"
            if not file.exists():
                found.append(f"{where}: there is no such file")
            elif not file.is_relative_to(root):
                found.append(f"{where}: this file is not in the repository")
            elif anchor and (file.suffix != ".md" or anchor not in anchors(file.read_text())):
                found.append(f"{where}: the page has no such heading")
    return found
