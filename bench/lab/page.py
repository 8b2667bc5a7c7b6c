# SPDX-License-Identifier: Apache-2.0
"""A report: chapters with text, pictures and tables, on one page."""

import dataclasses
import html
import pathlib


@dataclasses.dataclass
class Table:
    header: list[str]
    rows: list[list[str]]
    caption: str = ""


@dataclasses.dataclass
class Chapter:
    key: str
    title: str
    text: list[str]
    images: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # file beside the page, caption; an SVG is embedded
    tables: list[Table] = dataclasses.field(default_factory=list)
    listing: str = ""  # terminal output


STYLE = """
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #1c1917; background: #fff;
       max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.2rem 5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .4rem; padding-top: .8rem; border-top: 1px solid #d6d3d1; }
p { max-width: 46rem; }
nav ol { columns: 2; column-gap: 2.5rem; padding-left: 1.3rem; max-width: 54rem; }
a { color: #1d4ed8; text-decoration: none; } a:hover { text-decoration: underline; }
figure { margin: 1.2rem 0; } img { max-width: 100%; height: auto; }
figcaption, caption { font-size: .86rem; color: #57534e; text-align: left; padding: .25rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: 1rem 0; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid #a8a29e; padding: .3rem .8rem .3rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid #e7e5e4; padding: .28rem .8rem .28rem 0; vertical-align: top; font-variant-numeric: tabular-nums; }
pre { font-size: .78rem; line-height: 1.35; background: #f5f5f4; padding: .8rem; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
.lead { color: #44403c; font-size: 1.05rem; }
.missed { color: #b91c1c; font-weight: 600; } .met { color: #047857; }
"""


def _cell(text: str) -> str:
    """A cell's text, with "MISSED" and "met" highlighted."""
    escaped = html.escape(text)
    if escaped.startswith("MISSED"):
        return f'<span class="missed">{escaped}</span>'
    return f'<span class="met">{escaped}</span>' if escaped == "met" else escaped


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table.header)
    rows = "\n".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _image(folder: pathlib.Path, name: str, caption: str) -> str:
    image = f'<img src="{name}" alt="{html.escape(caption)}" loading="lazy">'
    if name.endswith(".svg"):
        text = (folder / name).read_text()
        image = text[text.index("<svg"):]
    return f"<figure>{image}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _chapter(number: int, chapter: Chapter, folder: pathlib.Path) -> str:
    parts = [f'<h2 id="{chapter.key}">{number}. {html.escape(chapter.title)}</h2>']
    parts += [f"<p>{html.escape(text)}</p>" for text in chapter.text]
    parts += [_image(folder, name, caption) for name, caption in chapter.images]
    parts += [_table(table) for table in chapter.tables]
    parts += [f"<pre>{html.escape(chapter.listing)}</pre>"] if chapter.listing else []
    return "\n".join(parts)


def write(path: pathlib.Path, title: str, lead: list[str], chapters: list[Chapter], foot: str,
          pictures: pathlib.Path | None = None) -> None:
    """`pictures`: the folder of the embedded pictures, by default the page's own."""
    links = "\n".join(f'<li><a href="#{chapter.key}">{html.escape(chapter.title)}</a></li>' for chapter in chapters)
    body = "\n".join(_chapter(number, chapter, pictures or path.parent) for number, chapter in enumerate(chapters, 1))
    intro = "\n".join(f'<p class="lead">{html.escape(text)}</p>' for text in lead)
    path.write_text(f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>{STYLE}</style></head>
<body>
<h1>{html.escape(title)}</h1>
{intro}
<nav><ol>
{links}
</ol></nav>
{body}
<p><small>{html.escape(foot)}</small></p>
</body></html>
""")
