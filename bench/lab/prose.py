# SPDX-License-Identifier: Apache-2.0
"""The sentences of the report: report.md, with its fields in braces replaced."""

import pathlib
import re

from lab.page import Chapter, Table

TEMPLATE = pathlib.Path(__file__).with_name("report.md")


def sections() -> dict[str, str]:
    """{key: the rest} of the chapters of the template, which begin with "## key: title"."""
    return dict(section.split(": ", 1) for section in TEMPLATE.read_text().split("\n## ")[1:])


def chapter(key: str, *tables: Table, **fields: str) -> Chapter:
    """The chapter with this key: its title, paragraphs and then pictures as ![caption](file)."""
    title, *parts = [" ".join(part.split()) for part in sections()[key].format(**fields).strip().split("\n\n")]
    pictures = [re.fullmatch(r"!\[(.*)\]\((.*)\)", part) for part in parts]
    text = [part for part, picture in zip(parts, pictures) if not picture]
    return Chapter(key, title, text, [(picture[2], picture[1]) for picture in pictures if picture], list(tables))
